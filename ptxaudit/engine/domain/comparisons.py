"""Comparisons of values that are not fully known: by their difference, its range and its low bits."""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain.affine import subtract
from ptxaudit.engine.domain.value import Value, fits_signed, lane_ends, span, term_zeros


def compare(relation: str, a: Value, b: Value) -> Value | None:
    """The result of a comparison that the ranges of the unknowns decide, else None."""
    if a.base.dtype == bool or a.poison is not None or b.poison is not None:
        return None
    kind, _, sign = relation.partition(".")
    difference = subtract(a, b)
    if difference.poison is not None:  # too many terms
        return None
    exact = difference.valid is None
    if kind in ("eq", "ne"):
        if exact and not difference.terms:
            return Value(np.equal(difference.base, 0) if kind == "eq" else np.not_equal(difference.base, 0))
        zeros = term_zeros(difference)
        if zeros and ((difference.base & difference.base.dtype.type((1 << zeros) - 1)) != 0).all():
            return Value(np.full((1, 1), kind == "ne"))
    ends = lane_ends(difference) if exact and difference_compares(sign, a, b, difference) else None
    if ends is None:
        return None
    yes, no = outcomes(kind, *ends)
    return Value(yes) if (yes | no).all() else None


def difference_compares(sign: str, a: Value, b: Value, difference: Value) -> bool:
    """Whether the sign of the form of a − b decides the comparison.

    Neither operand may wrap, nor their difference, and for an unsigned comparison ("u") neither may be negative. The
    form of the difference may be off by 2**bits where the unknowns are never 0: for 2**31 − 1 − n less 2**21·n −
    2**21, n = 1 to 1024, its constant 2**31 − 1 + 2**21 wraps.
    """
    sa, sb = span(a), span(b)
    if sa is None or sb is None or not fits_signed(difference):
        return False
    half = 1 << (a.bits - 1)
    floor = 0 if sign == "u" else -half
    fit = min(sa[0], sb[0]) >= floor and max(sa[1], sb[1]) < half
    return fit and sa[0] - sb[1] >= -half and sa[1] - sb[0] < half


def outcomes(kind: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where `d <kind> 0` holds, and where it fails, for every d between `low` and `high`."""
    return {
        "lt": (high < 0, low >= 0),
        "le": (high <= 0, low > 0),
        "gt": (low > 0, high <= 0),
        "ge": (low >= 0, high < 0),
        "eq": ((low == 0) & (high == 0), (low > 0) | (high < 0)),
        "ne": ((low > 0) | (high < 0), (low == 0) & (high == 0)),
    }[kind]
