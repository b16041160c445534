"""Arithmetic on values of which some bits are known: 4·tid + (loaded << 7 & 0x380) has its low seven bits.

    value, unknown:  4·tid, 0   +   0, 0x380        ->        4·tid, 0x380

A *tristate number* is a value and a mask of the bits that are not known, whose bits in the value are zero (Vishwanathan
et al., "Sound, precise, and fast abstract interpretation with tristate numbers", CGO 2022; the addition is theirs).
Here it is of each lane. Of a value with unknowns it is that of the rest: of the value less their sum, which addition,
subtraction and scaling leave apart. What operations make of tristate numbers is in `ops.tristates`.

A constant whose carries would hide bits stays apart as well, as one more term whose number is known: where an array
begins changes no count, and 0x240 + (0, with 0x3fc open) is 9 lines of a bank's words by its bits, but 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import (
    BITS,
    DTYPES,
    EVERYWHERE,
    Uniform,
    Value,
    because,
    combine_terms,
    constant,
    low_zeros,
    some,
    term_zeros,
)

CONSTANT = "constant"  # kind of a term whose number is known


class Tristate(Record):
    """bits: known bits, zero elsewhere; unknown: the others. Both unsigned arrays of one width, broadcastable to (rows,
    lanes).
    """

    bits: np.ndarray
    unknown: np.ndarray

    def each(self, change: Callable[[np.ndarray], np.ndarray]) -> Tristate:
        """Both arrays changed alike, by what moves bits or drops them."""
        return Tristate(change(self.bits), change(self.unknown))

    def beside(self, other: Tristate) -> Tristate:
        """The bits of both, of which none has those of the other."""
        return Tristate(self.bits | other.bits, self.unknown | other.unknown)

    @property
    def number(self) -> int | None:
        """The constant that it is in all lanes, if any."""
        return int(self.bits.flat[0]) if self.bits.size == 1 and not anywhere(self.unknown) else None


def known_part(value: Value) -> Tristate:
    """What is known of a value less its unknowns, bit by bit."""
    base, bits, poison = value.base, value.bits, value.poison
    if poison is None and (value.valid is None or bits == 1):
        return Tristate(base, constant(0, bits).base)
    if poison is not None and bits == 1:
        return Tristate(base & ~poison, poison)
    unknown = constant(0 if value.valid is None else -1 << value.valid, bits).base
    if poison is not None:
        poisoned = constant(-1, bits).base if value.sure is None else ~value.sure
        unknown = poisoned if poison is EVERYWHERE else np.where(poison, poisoned, unknown)
    return Tristate(base & ~unknown, unknown)


def whole_part(value: Value) -> Tristate:
    """What is known of a value with its unknowns, bit by bit: those below the lowest that an unknown reaches."""
    rest = known_part(value)
    if not value.terms:
        return rest
    if value.bits == 1:
        return Tristate(np.zeros((1, 1), bool), EVERYWHERE)
    return add(rest, Tristate(constant(0, value.bits).base, constant(-1 << term_zeros(value), value.bits).base))


def with_bits(out: Value, found: Tristate) -> Value:
    """A value with what is known of its bits in the lanes in which it is not."""
    if found.bits.dtype != out.base.dtype or out.base.dtype == bool or out.valid is not None:
        return out
    if out.poison is not None and out.poison is not EVERYWHERE and not throughout(out.poison):
        base, unknown = (
            np.where(out.poison, found.bits, out.base),
            np.where(out.poison, found.unknown, found.unknown.dtype.type(0)),
        )
    else:
        base, unknown = found.bits, found.unknown
    if not some(unknown):
        return Value(base, out.terms)
    sure = ~unknown
    if not some(sure):
        return out
    poison = unknown != 0
    return Value(base, out.terms, None, EVERYWHERE if poison.size == 1 else poison, out.why, sure)


def add(a: Tristate, b: Tristate) -> Tristate:
    total = a.bits + b.bits
    carried = (a.unknown + b.unknown + total) ^ total
    unknown = carried | a.unknown | b.unknown
    return Tristate(total & ~unknown, unknown)


def logic(table: int, given: Sequence[Tristate]) -> Tristate:
    """A bitwise function by its truth table, whose index has the first operand's bit highest: known where no choice
    changes it.
    """
    ones = [a.bits | a.unknown for a in given]
    zeros = [~a.bits for a in given]
    may = [np.zeros_like(ones[0]), np.zeros_like(ones[0])]
    for index in range(1 << len(given)):
        here = None
        for place, (one, zero) in enumerate(zip(reversed(ones), reversed(zeros), strict=True)):
            chosen = one if index >> place & 1 else zero
            here = chosen if here is None else here & chosen
        may[table >> index & 1] = may[table >> index & 1] | here
    unknown = may[0] & may[1]
    return Tristate(may[1] & ~unknown, unknown)


def truth_function(table: int, *values: Value) -> Value:
    """The same of predicates without unknowns."""
    found = logic(table, [known_part(v) for v in values])
    return Value(found.bits, poison=found.unknown if anywhere(found.unknown) else None, why=because(*values))


def either(a: Tristate, b: Tristate) -> Tristate:
    """One of the two: the bits in which they agree."""
    unknown = a.unknown | b.unknown | (a.bits ^ b.bits)
    return Tristate(a.bits & ~unknown, unknown)


def resized(a: Tristate, bits: int) -> Tristate:
    """Truncated, or extended with zeros."""
    if a.bits.dtype == DTYPES[bits]:
        return a
    return a.each(lambda array: array.astype(DTYPES[bits], copy=False))


def total(out: Value, a: Tristate, b: Tristate) -> Value:
    """A sum, of which nothing but its unknowns is known so far, with the bits that are."""
    found = add(a, b)
    if out.poison is None or out.valid is not None or not anywhere(found.unknown & ~(a.unknown | b.unknown)):
        return with_bits(out, found)  # no bit is lost to a carry
    for rest, other in ((a, b), (b, a)):
        if (term := _constant(other)) is not None and throughout(out.poison):
            terms = combine_terms(out.terms, (term,))
            if terms is not None:
                return with_bits(Value(out.base, terms, None, out.poison, out.why), rest)
    return with_bits(out, found)


def _constant(of: Tristate) -> tuple[Uniform, np.ndarray] | None:
    """A number as a term; those of lanes that have none yet are 0."""
    if anywhere(of.unknown):
        return None
    number = int(of.bits.max())
    there = of.bits == number
    if not number or anywhere(of.bits[~there] != 0):
        return None
    symbol = Uniform(hex(number), BITS[of.bits.dtype], low_zeros(number), number, number, CONSTANT, number)
    return symbol, there.astype(of.bits.dtype)


def has_constants(value: Value) -> bool:
    if not value.terms or value.poison is None:
        return False
    return any([u.kind == CONSTANT for u, _ in value.terms])


def folded(value: Value) -> Value:
    """The same without constants apart: they are added to what is known of its bits."""
    part = known_part(value)
    for u, c in value.terms:
        if u.kind == CONSTANT:
            part = add(part, Tristate(c * c.dtype.type(u.key), np.zeros((1, 1), c.dtype)))
    rest = tuple((u, c) for u, c in value.terms if u.kind != CONSTANT)
    return with_bits(Value(value.base, rest, value.valid, value.poison, value.why), part)
