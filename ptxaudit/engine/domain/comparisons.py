"""Comparisons of values that are not fully known: by their difference, its range, its low bits."""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain.affine import subtract
from ptxaudit.engine.domain.value import Value, fits_signed, signed, span, term_zeros


def compare(relation: str, a: Value, b: Value) -> Value | None:
    """A comparison decided by the ranges of the unknowns, else None."""
    if a.base.dtype == bool or a.poison is not None or b.poison is not None:
        return None
    if a.valid is not None or b.valid is not None:
        return _unequal_low_bits(relation, a, b)
    difference = subtract(a, b)
    kind, _, sign = relation.partition(".")
    if not difference.terms:
        if kind in ("eq", "ne"):
            return Value(np.equal(difference.base, 0) if kind == "eq" else np.not_equal(difference.base, 0))
        if fits_signed(a) and fits_signed(b) and within_half_of_each_other(a, b):
            return _sign_of(kind, difference)
        return None
    if kind in ("eq", "ne"):
        zeros = term_zeros(difference)
        if zeros:
            mask = difference.base.dtype.type((1 << zeros) - 1)
            apart = (difference.base & mask) != 0
            if apart.all():
                return Value(np.full((1, 1), kind == "ne"))
    sa, sb = span(a), span(b)
    if sa is None or sb is None or not (fits_signed(a) and fits_signed(b)):
        return None
    if sign == "u" and (sa[0] < 0 or sb[0] < 0) or not within_half_of_each_other(a, b):
        return None
    return _by_range(kind, difference)


def within_half_of_each_other(a: Value, b: Value) -> bool:
    """True when the difference of the integers fits the width: its sign is the comparison's."""
    sa, sb = span(a), span(b)
    half = 1 << (a.bits - 1)
    return sa is not None and sb is not None and sa[0] - sb[1] >= -half and sa[1] - sb[0] < half


def _unequal_low_bits(relation: str, a: Value, b: Value) -> Value | None:
    if relation not in ("eq", "ne"):
        return None
    difference = subtract(a, b)
    zeros = min(term_zeros(difference), difference.valid or difference.bits)
    if zeros and ((difference.base & difference.base.dtype.type((1 << zeros) - 1)) != 0).all():
        return Value(np.full((1, 1), relation == "ne"))
    return None


def _sign_of(kind: str, difference: Value) -> Value:
    d = signed(difference.base)
    return Value({"lt": d < 0, "le": d <= 0, "gt": d > 0, "ge": d >= 0}[kind])


def _by_range(kind: str, difference: Value) -> Value | None:
    """lane by lane: the comparison's result where the whole range of the difference agrees."""
    low, high = signed(difference.base).astype(np.int64), signed(difference.base).astype(np.int64)
    for u, c in difference.terms:
        c = signed(c).astype(np.int64)
        if u.low is None or u.high is None:
            return None
        if max(abs(int(c.min())), abs(int(c.max()))) * max(abs(u.low), abs(u.high), 1) >= 1 << 62:
            return None
        low = low + np.minimum(c * u.low, c * u.high)
        high = high + np.maximum(c * u.low, c * u.high)
    yes, no = {
        "lt": (high < 0, low >= 0),
        "le": (high <= 0, low > 0),
        "gt": (low > 0, high <= 0),
        "ge": (low >= 0, high < 0),
        "eq": ((low == 0) & (high == 0), (low > 0) | (high < 0)),
        "ne": ((low > 0) | (high < 0), (low == 0) & (high == 0)),
    }[kind]
    sure = yes | no
    if sure.all():
        return Value(yes)
    return None
