"""64-bit numbers in two registers, where the upper half has no form of its own: it remembers the whole number.

    R2:R3 = pointer + 4·lane + 1024·ctaid       R2 = 4·lane + 1024·ctaid + low(pointer); R3 = UpperHalf(of that sum)
    LDG R0, [R2:R3]                             `rejoined`: the sum, because R2 equals its lower half
    R2, P0 = R4 + R6; R3 = R5 + R7 + P0         `carried`: the sum of both pairs

Machine code keeps the addresses of global and generic memory in such pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.affine import add, fit
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    NOWHERE,
    Terms,
    Uniform,
    Value,
    because,
    chosen,
    either,
    lane_spans,
    opaque,
    same,
    signed,
    unknown,
    wholly_opaque,
)
from ptxaudit.ir.reasons import Kind, Reason

WORD, PAIR = 32, 64


class WithParts(Value):
    """A value that remembers the 64-bit values, its parts, from which it is computed."""

    __slots__ = ("parts",)

    def __init__(self, plain: Value, parts: tuple[Value, ...]):
        super().__init__(plain.base, plain.terms, plain.valid, plain.poison, plain.why, plain.sure)
        self.parts = parts

    @property
    def elements(self) -> int:
        return super().elements + sum(part.elements for part in self.parts)

    def of(self, plain: Value, parts: tuple[Value, ...]) -> WithParts:
        """The same kind of value with other parts."""
        raise NotImplementedError


class UpperHalf(WithParts):
    """The upper 32 bits of a number.

    Code that does not look at `whole` sees an unknown value, except in lanes that hold something else. whole: 64
    bits, poisoned in these lanes.
    """

    __slots__ = ("whole",)

    def __init__(self, whole: Value, plain: Value | None = None):
        super().__init__(opaque(WORD, Reason(Kind.UPPER_HALF)) if plain is None else plain, (whole,))
        self.whole = whole

    def of(self, plain: Value, parts: tuple[Value, ...]) -> UpperHalf:
        (whole,) = parts
        return UpperHalf(whole, plain)


class Carry(WithParts):
    """An unknown carry out of a sum of lower halves and `ones`, a number of carries in.

    at_least: the carry says whether the sum carries 1 or more, or 2. alone: it is the only one of its sum.
    """

    __slots__ = ("ones", "at_least", "alone")

    def __init__(self, plain: Value, parts: tuple[Value, ...], ones: int, at_least: int = 1, alone: bool = True):
        super().__init__(plain, parts)
        self.ones, self.at_least, self.alone = ones, at_least, alone

    def of(self, plain: Value, parts: tuple[Value, ...]) -> Carry:
        return Carry(plain, parts, *self.place)

    @property
    def place(self) -> tuple[int, int, bool]:
        """What distinguishes it from other carries of the same addends."""
        return self.ones, self.at_least, self.alone


def upper_half(whole: Value, plain: Value | None) -> Value:
    """The upper half of a 64-bit value, which it remembers if that has unknowns. plain: what else is known of it."""
    if plain is not None and not whole.terms:
        return plain
    return UpperHalf(whole, _of_numbers(whole) if plain is None or wholly_opaque(plain) else plain)


def _of_numbers(value: Value) -> Value | None:
    """The upper half of a 64-bit value in the lanes where it is a number; None if there are none."""
    unknown = NOWHERE if value.poison is None else value.poison
    for _, factor in value.terms:
        unknown = unknown | (factor != 0)
    if throughout(np.broadcast_to(unknown, np.broadcast_shapes(unknown.shape, value.base.shape))):
        return None
    half = (value.base >> np.uint64(WORD)).astype(np.uint32)
    return Value(half, poison=unknown, why=because(value) or Reason(Kind.UPPER_HALF))


def whole_of(value: Value) -> Value:
    """The number whose upper half a register holds; unknown if the register does not remember it."""
    return value.whole if isinstance(value, UpperHalf) else opaque(PAIR, value.why or Reason(Kind.UPPER_HALF))


def rejoined(low: Value, high: UpperHalf) -> Value | None:
    """The number with these halves; unknown in lanes where the lower one belongs to another number, None if all are."""
    whole = high.whole
    if whole.valid is not None or whole.poison is EVERYWHERE or low.valid is not None and low.valid < WORD:
        return None
    mine, others = fit(Value(whole.base, whole.terms), WORD), Value(low.base, low.terms)
    arrays = [
        array for v in (whole, low) for array in (v.base, *(c for _, c in v.terms), v.poison) if array is not None
    ]
    if len({len(array) for array in arrays} - {1}) > 1:
        return None  # the warps at another time
    other = _unequal(mine, others) | (NOWHERE if low.poison is None else low.poison)
    if not anywhere(other):
        return whole
    unknown = other if whole.poison is None else other | whole.poison
    if throughout(np.broadcast_to(unknown, np.broadcast_shapes(unknown.shape, whole.base.shape))):
        return None
    return chosen(lambda of_low, of_whole: np.where(other, of_low, of_whole), _known_below(low, high), whole)


def _unequal(a: Value, b: Value) -> np.ndarray:
    """The lanes in which two values of 32 bits may differ, wherever they are known."""
    first, second = (_factors_modulo_word(value) for value in (a, b))
    nothing = np.zeros((1, 1), np.uint32)
    other: np.ndarray = a.base != b.base
    for u in {**first, **second}:
        other = other | (first.get(u, nothing) != second.get(u, nothing))
    return other


def _known_below(low: Value, high: Value) -> Value:
    """The number with a lower half, and an upper one that is unknown."""
    sure = np.where(NOWHERE if low.poison is None else low.poison, np.uint64(0), np.uint64((1 << WORD) - 1))
    why = because(high, low) or Reason(Kind.UPPER_HALF)
    return Value(low.base.astype(np.uint64), _wide_terms(low), None, EVERYWHERE, why, sure)


def _wide_terms(low: Value) -> Terms:
    return tuple((u, signed(c).astype(np.int64).view(np.uint64)) for u, c in low.terms)


def rejoin(low: Value, high: Value) -> Value | None:
    """The 64-bit value from which both were extracted, if the upper one names or remembers it."""
    if isinstance(high, UpperHalf):
        return rejoined(low, high)
    if len(high.terms) == 1 and not anywhere(high.base):
        u = high.terms[0][0]
        if isinstance(u.key, tuple) and len(u.key) == 2 and u.key[0] == "upper half":
            whole: Value = u.key[1].value
            if (int(high.terms[0][1].flat[0]) == 1 and high.terms[0][1].size == 1) and same(fit(whole, 32), low):
                return whole
    return None


def joined(low: Value, high: Value) -> Value | None:
    """The number with these halves, exactly; None if it is unknown."""
    found = rejoin(low, high) or _parameter(low, high)
    if found is not None:
        return found
    if (
        high.terms
        or high.poison is not None
        and throughout(high.poison)
        or high.valid is not None
        or low.valid is not None
        or (low.terms and lane_spans(Value(low.base, low.terms)) is None)
    ):
        return None
    base = low.base.astype(np.uint64) + (high.base.astype(np.uint64) << np.uint64(WORD))
    return Value(base, _wide_terms(low), None, either(low.poison, high.poison), because(low, high))


def agree(a: Value, b: Value) -> bool:
    """Whether two values are equal in every lane; for upper halves, whether the whole numbers are."""
    return same(a, b) or isinstance(a, UpperHalf) and isinstance(b, UpperHalf) and same(a.whole, b.whole)


def _factors_modulo_word(value: Value) -> dict[object, np.ndarray]:
    """The coefficients of a value, added up over unknowns that are equal modulo 2**32."""
    factors: dict[object, np.ndarray] = {}
    for u, c in value.terms:
        same_word = _modulo_word(u)
        factors[same_word] = factors[same_word] + c if same_word in factors else c
    return factors


def _modulo_word(u: Uniform) -> object:
    """What identifies an unknown modulo 2**32: a 64-bit parameter, or variable, and its own lower half are the same."""
    key = u.key
    if isinstance(key, tuple) and key[0] in ("param", "symbol") and key[-1] in (WORD, PAIR):
        return key[:-1]
    return u


def _parameter(low: Value, high: Value) -> Value | None:
    """The 64-bit parameter with these halves, which were read separately."""
    u, upper = _unknown_alone(low), _unknown_alone(high)
    if u is None or upper is None:
        return None
    first, second = u.key, upper.key
    if not (
        isinstance(first, tuple)
        and isinstance(second, tuple)
        and first[:1] == second[:1] == ("param",)
        and first[2] == second[2] == WORD
    ):
        return None
    if second[1] != first[1] + WORD // 8 or first[1] % (PAIR // 8):
        return None
    return unknown(
        Uniform(
            u.name.rpartition("[")[0] or u.name,
            PAIR,
            u.zeros,
            None,
            None,
            "pointer",
            ("param", first[1], PAIR),
            address=True,
            launch_wide=u.launch_wide and upper.launch_wide,
        )
    )


def _unknown_alone(value: Value) -> Uniform | None:
    """The unknown that equals a value: a single term with coefficient 1 and nothing added."""
    if len(value.terms) != 1 or value.poison is not None or value.valid is not None or anywhere(value.base):
        return None
    u, c = value.terms[0]
    return u if u.kind == "parameter" and c.size == 1 and int(c.flat[0]) == 1 else None


def carried(highs: tuple[Value, ...], one: Value, other: Value) -> Value | None:
    """The 64-bit sum whose upper half is the sum of `highs` and two carries; None if its parts are not found."""
    carry = _whole_carry(one, other) or _whole_carry(other, one)
    if carry is None:
        return None
    for lows in permutations(carry.parts):
        found = [joined(low, high) for low, high in zip(lows, highs)]
        parts = [part for part in found if part is not None]
        if len(parts) == len(found):
            total = parts[0]
            for part in parts[1:]:
                total = add(total, part)
            return (
                None
                if total.poison is EVERYWHERE
                else Value(total.base + np.uint64(carry.ones), total.terms, total.valid, total.poison, total.why)
            )
    return None


def _whole_carry(carry: Value, other: Value) -> Carry | None:
    """All that a sum carries: one of two values if the other is 0, or both if they are of one sum. It is unknown in
    lanes in which the two belong to different sums.
    """
    if not isinstance(carry, Carry) or carry.at_least != 1:
        return None
    if carry.alone:
        return carry if other.known and not anywhere(other.base) else None
    if not isinstance(other, Carry) or other.place != (carry.ones, 2, False):
        return None
    parts = tuple(_in_common(*parts) for parts in zip(carry.parts, other.parts))
    return None if any(map(wholly_opaque, parts)) else carry.of(carry, parts)


def _in_common(a: Value, b: Value) -> Value:
    """A value that is known where two are equal."""
    if agree(a, b):
        return a
    alike = type(a) is type(b) is Value and a.bits == b.bits == WORD and a.valid is b.valid is None
    arrays = [n for v in (a, b) for n in (v.base, *(c for _, c in v.terms), v.poison) if n is not None]
    if not alike or len({len(array) for array in arrays} - {1}) > 1:
        return opaque(a.bits, because(a, b) or Reason(Kind.UPPER_HALF))
    unknown = either(either(a.poison, b.poison), _unequal(a, b))
    return Value(a.base, a.terms, None, unknown, because(a, b) or Reason(Kind.UPPER_HALF))


def as_plain(value: Value) -> Value:
    """The value without its parts."""
    if type(value) is Value:
        return value
    return Value(value.base, value.terms, value.valid, value.poison, value.why, value.sure, value.alternatives)


def kept(plain: Value, *sources: Value, make: Callable[..., Value]) -> Value:
    """A value computed from `sources` with its parts, computed likewise by `make` from theirs."""
    like = next(v for v in reversed(sources) if isinstance(v, WithParts))
    if plain.bits != like.bits:
        return plain
    parts = tuple(make(*part) for part in zip(*[_parts_as(like, v) for v in sources]))
    return plain if any(map(wholly_opaque, parts)) else like.of(plain, parts)


def _parts_as(like: WithParts, v: Value) -> tuple[Value, ...]:
    """The parts of a value, unknown if it is of another kind."""
    if isinstance(v, WithParts) and type(v) is type(like):
        if not isinstance(v, Carry) or isinstance(like, Carry) and v.place == like.place:
            return v.parts
    return tuple(opaque(part.bits, v.why or Reason(Kind.UPPER_HALF)) for part in like.parts)
