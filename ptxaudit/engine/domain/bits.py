"""Bitwise operations on values that are not fully known.

(128·n + 4·lane) & 127      only low bits:  4·lane, whatever n is
(128·n + 4·lane) | 3        sums, if the operands have no bit in common
n ^ lane                    affine in the bits of n, each an unknown
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.affine import add, bit_of, derived, invert, scale, subtract
from ptxaudit.engine.domain.known_bits import truth_function
from ptxaudit.engine.domain.value import (
    Value,
    array_zeros,
    common_zeros,
    constant,
    lane_uniform,
    low_zeros,
    span,
    term_zeros,
    unknown,
)

_TRUTH = {"and": 0b1000, "or": 0b1110, "xor": 0b0110}
MAX_BITS = 6  # bits of an unknown that become unknowns: a swizzle uses three to five


def split(a: Value, zeros: int) -> tuple[np.ndarray, Value]:
    """a = low + high: low < 2**zeros is known by lane, high is a multiple of 2**zeros with all unknowns."""
    mask = a.base.dtype.type((1 << zeros) - 1) if zeros < a.bits else a.base.dtype.type((1 << a.bits) - 1)
    low = a.base & mask
    return low, Value(a.base - low, a.terms, a.valid, a.poison, a.why)


def bitwise(name: str, a: Value, b: Value, function: Callable[..., np.ndarray]) -> Value | None:
    """and/or/xor: exact if one side is all zeros or all ones above the known low bits."""
    if a.base.dtype == bool:
        return _predicate_logic(name, a, b)
    if a.known:
        a, b = b, a
    if not a.terms and a.valid is None:  # only poison
        return None
    if not b.known:
        if name == "or" and not b.terms and b.valid is None:
            return None
        return _disjoint(name, a, b)
    if name == "and" and a.valid is not None and not anywhere(b.base >> b.base.dtype.type(a.valid)):
        a = Value(a.base, a.terms, None, a.poison, a.why)  # the mask selects only valid bits
    zeros = term_zeros(a)
    low, high = split(a, zeros)
    bits = a.bits
    if zeros >= bits:
        return Value(function(a.base, b.base), poison=a.poison, why=a.why)
    mask_low = b.base.dtype.type((1 << zeros) - 1)
    upper = b.base & ~mask_low
    ones = b.base.dtype.type(((1 << bits) - 1) ^ ((1 << zeros) - 1))
    new_low = function(low, b.base & mask_low)
    if not anywhere(upper):
        kept = {"and": None, "or": high, "xor": high}[name]
    elif throughout(upper == ones):
        kept = {"and": high, "or": constant(int(ones), bits), "xor": invert(high)}[name]
        if name == "xor":  # ~high has ones in its low bits: subtract them
            kept = subtract(kept, Value(np.full((1, 1), int(mask_low), b.base.dtype)))
    elif name in ("or", "xor") and lane_uniform(upper) and span(high) is not None:
        return _above(name, high, upper, new_low)
    elif (
        name == "and"
        and lane_uniform(upper)
        and lane_uniform(high.base)
        and all(lane_uniform(c) for _, c in high.terms)
        and a.poison is None
        and a.valid is None
    ):
        part = derived("and", (high, Value(upper[:, :1])), bits, zeros=zeros)
        if part is None:
            return None
        part = _bounded_by_mask(part, int(np.bitwise_or.reduce(upper, axis=None)))
        return add(Value(new_low), part)
    elif lane_uniform(high.base) and all(lane_uniform(c) for _, c in high.terms) and a.poison is None:
        return _by_bits(name, high, upper, new_low)
    else:
        return None
    result = Value(new_low, poison=a.poison, why=a.why)
    return result if kept is None else add(result, kept)


def _by_bits(name: str, high: Value, upper: np.ndarray, new_low: np.ndarray) -> Value | None:
    """Combines a uniform unknown with bits that are known by lane: affine in the unknown's bits.

    With v_b the bits of v and x_b those of x:

        v & x = Σ 2^b x_b v_b,  v | x = v + x − (v & x),  v ^ x = v + x − 2 (v & x)
    """
    common = int(np.bitwise_or.reduce(upper, axis=None))
    places = [b for b in range(high.bits) if common >> b & 1]
    if len(places) > MAX_BITS:
        return None
    both = Value(np.zeros((1, 1), upper.dtype))
    for b in places:
        symbol = bit_of(high, b)
        if symbol is None:
            return None
        here = ((upper >> upper.dtype.type(b)) & upper.dtype.type(1)) << upper.dtype.type(b)
        both = add(both, scale(unknown(symbol), here))
    low = Value(new_low)
    if name == "and":
        return add(low, both)
    total = add(add(low, high), Value(upper))
    return subtract(total, both if name == "or" else scale(both, np.full((1, 1), 2, upper.dtype)))


def _bounded_by_mask(value: Value, mask: int) -> Value:
    """Bounds a masked unknown: it lies in 0…mask and has the mask's low zeros."""
    if len(value.terms) == 1 and mask < 1 << (value.bits - 1):
        u, c = value.terms[0]
        bounded = replace(u, zeros=max(u.zeros, low_zeros(mask)), low=0, high=mask)
        return Value(value.base, ((bounded, c),))
    return value


def _above(name: str, high: Value, upper: np.ndarray, new_low: np.ndarray) -> Value | None:
    """or/xor with bits above every bit that `high` can reach."""
    reached = span(high)
    if reached is None or reached[0] < 0:
        return None
    reach = reached[1].bit_length()
    if array_zeros(upper) < reach:
        return None
    return add(Value(new_low + upper), high)


def _disjoint(name: str, a: Value, b: Value) -> Value | None:
    """or/xor as a sum of two symbolic values that have no bit in common."""
    if name == "and" or a.poison is not None or b.poison is not None:
        return None
    for x, y in ((a, b), (b, a)):
        s = span(y)
        zeros = common_zeros(x)
        if s is not None and s[0] >= 0 and s[1] < 1 << zeros and x.valid is None and y.valid is None:
            return add(x, y)
    return None


def _predicate_logic(name: str, a: Value, b: Value) -> Value | None:
    """Logic on predicates: a known false decides an `and`, a known true an `or`, lane by lane."""
    if a.terms or b.terms:
        for x, y in ((a, b), (b, a)):
            if x.known and x.base.size and lane_uniform(x.base) and throughout(x.base) == anywhere(x.base):
                value = bool(x.base.flat[0])
                if name == "and":
                    return y if value else constant(0, 1)
                if name == "or":
                    return constant(1, 1) if value else y
                return invert(y) if value else y
        return None
    return truth_function(_TRUTH[name], a, b)
