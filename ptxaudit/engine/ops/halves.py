"""64-bit numbers in two registers, where the upper half has no form of its own: it remembers the whole number.

    R2:R3 = pointer + 4·lane + 1024·ctaid       R2 = 4·lane + 1024·ctaid + low(pointer); R3 = UpperHalf(of that sum)
    LDG R0, [R2:R3]                             `rejoined`: the sum, because R2 equals its lower half
    R2, P0 = R4 + R6; R3 = R5 + R7 + P0         `carried`: the sum of both pairs

Shared memory has 32-bit addresses and does not need this. Operations keep halves if their attributes contain KEEP,
which `memory.sites` adds.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain.affine import add, fit
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    Uniform,
    Value,
    because,
    either,
    lane_spans,
    opaque,
    same,
    signed,
    unknown,
)
from ptxaudit.ir.reasons import Kind, Reason

KEEP = "halves"
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
    """An unknown carry out of a sum of lower halves and `ones`, a number of carries in."""

    __slots__ = ("ones",)

    def __init__(self, plain: Value, parts: tuple[Value, ...], ones: int):
        super().__init__(plain, parts)
        self.ones = ones

    def of(self, plain: Value, parts: tuple[Value, ...]) -> Carry:
        return Carry(plain, parts, self.ones)


def whole_of(value: Value) -> Value:
    """The number whose upper half a register holds; unknown if the register does not remember it."""
    return value.whole if isinstance(value, UpperHalf) else opaque(PAIR, value.why or Reason(Kind.UPPER_HALF))


def rejoined(low: Value, high: UpperHalf) -> Value | None:
    """The number with these halves; None if the lower one belongs to another number."""
    whole = high.whole
    if whole.valid is not None or whole.poison is EVERYWHERE or low.valid is not None and low.valid < WORD:
        return None
    here = EVERYWHERE if whole.poison is None else ~whole.poison
    if low.poison is not None and anywhere(low.poison & here):
        return None
    mine, others = fit(Value(whole.base, whole.terms), WORD), Value(low.base, low.terms)
    first, second = (_factors_modulo_word(value) for value in (mine, others))
    pairs = [(mine.base, others.base), *((first.get(u), second.get(u)) for u in {**first, **second})]
    nothing = np.zeros((1, 1), np.uint32)

    def differ(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray:
        found: np.ndarray = (nothing if a is None else a) != (nothing if b is None else b)
        return found

    return None if any(anywhere(differ(a, b) & here) for a, b in pairs) else whole


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
        or high.valid is not None
        or low.valid is not None
        or (low.terms and lane_spans(Value(low.base, low.terms)) is None)
    ):
        return None
    base = low.base.astype(np.uint64) + (high.base.astype(np.uint64) << np.uint64(WORD))
    terms = tuple((u, signed(c).astype(np.int64).view(np.uint64)) for u, c in low.terms)
    return Value(base, terms, None, either(low.poison, high.poison), because(low, high))


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
    """What identifies an unknown modulo 2**32: a 64-bit parameter and its own lower half are the same."""
    key = u.key
    if isinstance(key, tuple) and key[:1] == ("param",) and len(key) == 3 and not key[1] % (PAIR // 8):
        return "param", key[1]
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


def carried(highs: tuple[Value, ...], carry: Value) -> Value | None:
    """The 64-bit sum whose upper half is the sum of `highs` and the carry; None if its parts are not found."""
    if not isinstance(carry, Carry):
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
    parts = [_parts_as(like, v) for v in sources]
    return like.of(plain, tuple(make(*part) for part in zip(*parts)))


def _parts_as(like: WithParts, v: Value) -> tuple[Value, ...]:
    """The parts of a value, unknown if it is of another kind."""
    if isinstance(v, WithParts) and type(v) is type(like):
        if not isinstance(v, Carry) or isinstance(like, Carry) and v.ones == like.ones:
            return v.parts
    return tuple(opaque(part.bits, v.why or Reason(Kind.UPPER_HALF)) for part in like.parts)
