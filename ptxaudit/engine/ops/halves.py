"""64-bit numbers in two registers, where the upper half has no form of its own: it remembers the number that it is the
half of.

    R2:R3 = pointer + 4·lane + 1024·ctaid       R2 = 4·lane + 1024·ctaid + low(pointer); R3 = UpperHalf(of that sum)
    LDG R0, [R2:R3]                             `rejoined`: the sum, because its lower half is what R2 holds
    R2, P0 = R4 + R6; R3 = R5 + R7 + P0         `carried`: the sum of both pairs

Shared memory has addresses of 32 bits, and does without. Operations keep halves where their attributes ask for it
(KEEP), as `memory.sites` writes them.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from ptxaudit.engine.domain.value import EVERYWHERE, Lost, Value, opaque
from ptxaudit.ir.reasons import Kind

KEEP = "halves"
WORD, PAIR = 32, 64


class UpperHalf(Value):
    """A value of 32 bits, which whoever does not look further takes for what its other fields say: unknown, but in
    lanes that hold something else. whole: of 64 bits, poisoned in these lanes."""

    __slots__ = ("whole",)

    def __init__(self, whole: Value, plain: Value | None = None):
        plain = opaque(WORD, Lost(Kind.UPPER_HALF)) if plain is None else plain
        super().__init__(plain.base, plain.terms, plain.valid, plain.poison, plain.why, plain.sure)
        self.whole = whole


class Carry(Value):
    """A carry that is not known, out of a sum of lower halves and of ones."""

    __slots__ = ("addends", "ones")

    def __init__(self, plain: Value, addends: tuple[Value, ...], ones: int):
        super().__init__(plain.base, plain.terms, plain.valid, plain.poison, plain.why, plain.sure)
        self.addends, self.ones = addends, ones


def whole_of(value: Value) -> Value:
    """The number that a register holds the upper half of; nothing known where it does not say."""
    return value.whole if isinstance(value, UpperHalf) else opaque(PAIR, value.why or Lost(Kind.UPPER_HALF))


def rejoined(low: Value, high: UpperHalf) -> Value | None:
    """The number whose halves these are; None where the lower one is another's."""
    from ptxaudit.engine.domain.affine import fit

    whole = high.whole
    if whole.valid is not None or whole.poison is EVERYWHERE or low.valid is not None and low.valid < WORD:
        return None
    here = np.ones((1, 1), bool) if whole.poison is None else ~whole.poison
    if low.poison is not None and (low.poison & here).any():
        return None
    mine, others = fit(Value(whole.base, whole.terms), WORD), Value(low.base, low.terms)
    first, second = dict(mine.terms), dict(others.terms)
    pairs = [(mine.base, others.base), *((first.get(u), second.get(u)) for u in {**first, **second})]
    nothing = np.zeros((1, 1), np.uint32)
    differ = lambda a, b: (nothing if a is None else a) != (nothing if b is None else b)
    return None if any((differ(a, b) & here).any() for a, b in pairs) else whole


def joined(low: Value, high: Value) -> Value | None:
    """The number of two halves, exactly; None where that is not known."""
    from ptxaudit.engine.domain.affine import fit, zero_extend
    from ptxaudit.engine.ops.operations import rejoin

    found = rejoin(low, high)
    if found is not None:
        return found
    if not high.known:
        return None
    wide = zero_extend(low, PAIR)
    if wide.valid is not None or any(u.kind == "extension" for u, _ in wide.terms):
        return None
    return Value(wide.base + (fit(high, PAIR).base << np.uint64(WORD)), wide.terms, None, wide.poison, wide.why)


def carried(highs: tuple[Value, ...], carry: Value) -> Value | None:
    """The sum of 64 bits whose upper half these and a carry add up to; None where its parts are not found."""
    from ptxaudit.engine.domain.affine import add

    if not isinstance(carry, Carry):
        return None
    for lows in permutations(carry.addends):
        parts = [joined(low, high) for low, high in zip(lows, highs)]
        if None not in parts:
            total = parts[0]
            for part in parts[1:]:
                total = add(total, part)
            return Value(total.base + np.uint64(carry.ones), total.terms, total.valid, total.poison, total.why)
    return None


def as_plain(value: Value) -> Value:
    """It without what it remembers."""
    if type(value) is Value:
        return value
    return Value(value.base, value.terms, value.valid, value.poison, value.why, value.sure, value.alternatives)


def kept(plain: Value, *sources: Value, whole) -> Value:
    """What is made of values, with the same made of the numbers that they are the upper halves of. whole: makes it of
    those.
    """
    return (
        UpperHalf(whole(*map(whole_of, sources)), plain)
        if any(isinstance(v, UpperHalf) for v in sources) and plain.bits == WORD
        else plain
    )
