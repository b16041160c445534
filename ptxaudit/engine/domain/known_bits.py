"""Arithmetic on values with known bits: the low seven bits of 4·tid + (loaded << 7 & 0x380) are known.

    value, unknown:  4·tid, 0   +   0, 0x380        ->        4·tid, 0x380

A *tristate number* is a value and a mask of its unknown bits, which are zero in the value (Vishwanathan et al.,
"Sound, precise, and fast abstract interpretation with tristate numbers", CGO 2022; the addition is theirs). Here
there is one per lane. For a value with unknowns it describes the value less the sum of its unknowns, which addition,
subtraction and scaling keep separate. `ops.tristates` has the operations on tristate numbers.

A constant whose carries would make bits unknown stays separate as well, as a term whose number is known: where an
array begins changes no count, and 0x240 + (0, with 0x3fc unknown) spans 9 lines of the banks by its bits, in fact 8.
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
    """bits: the known bits, zero elsewhere; unknown: a mask of the others.

    Both are unsigned arrays of one width, broadcastable to (rows, lanes).
    """

    bits: np.ndarray
    unknown: np.ndarray

    def each(self, change: Callable[[np.ndarray], np.ndarray]) -> Tristate:
        """Applies a change that moves or drops bits to both arrays."""
        return Tristate(change(self.bits), change(self.unknown))

    def beside(self, other: Tristate) -> Tristate:
        """The bits of both, which have none in common."""
        return Tristate(self.bits | other.bits, self.unknown | other.unknown)

    @property
    def number(self) -> int | None:
        """The constant that it is in all lanes, if any."""
        return int(self.bits.flat[0]) if self.bits.size == 1 and not anywhere(self.unknown) else None


def known_part(value: Value) -> Tristate:
    """The known bits of a value less its unknowns."""
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
    """The known bits of a value including its unknowns: only those below the lowest bit that an unknown reaches."""
    rest = known_part(value)
    if not value.terms:
        return rest
    if value.bits == 1:
        return Tristate(np.zeros((1, 1), bool), EVERYWHERE)
    return add(rest, Tristate(constant(0, value.bits).base, constant(-1 << term_zeros(value), value.bits).base))


def with_bits(out: Value, found: Tristate) -> Value:
    """The value with these known bits in the lanes in which it is unknown."""
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
    """A bitwise function given by its truth table: a bit is known if no choice of the unknown bits changes it.

    The first operand's bit is the highest of the table's index.
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
    """As `logic`, of predicates without unknowns."""
    found = logic(table, [known_part(v) for v in values])
    return Value(found.bits, poison=found.unknown if anywhere(found.unknown) else None, why=because(*values))


def either(a: Tristate, b: Tristate) -> Tristate:
    """One of the two: known in the bits in which they agree."""
    unknown = a.unknown | b.unknown | (a.bits ^ b.bits)
    return Tristate(a.bits & ~unknown, unknown)


def resized(a: Tristate, bits: int) -> Tristate:
    """The number truncated, or extended with zeros."""
    if a.bits.dtype == DTYPES[bits]:
        return a
    return a.each(lambda array: array.astype(DTYPES[bits], copy=False))


def total(out: Value, a: Tristate, b: Tristate) -> Value:
    """The sum `out`, of which only the unknowns are known so far, with its known bits."""
    found = add(a, b)
    if out.poison is None or out.valid is not None or not anywhere(found.unknown & ~(a.unknown | b.unknown)):
        return with_bits(out, found)  # no carry makes a bit unknown
    for rest, other in ((a, b), (b, a)):
        if (term := _constant(other)) is not None and throughout(out.poison):
            terms = combine_terms(out.terms, (term,))
            if terms is not None:
                return with_bits(Value(out.base, terms, None, out.poison, out.why), rest)
    return with_bits(out, found)


def _constant(of: Tristate) -> tuple[Uniform, np.ndarray] | None:
    """A number as a term; it is 0 in lanes that do not have it yet."""
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
    """The value with its separate constants added to its known bits."""
    part = known_part(value)
    for u, c in value.terms:
        if u.kind == CONSTANT:
            part = add(part, Tristate(c * c.dtype.type(u.key), np.zeros((1, 1), c.dtype)))
    rest = tuple((u, c) for u, c in value.terms if u.kind != CONSTANT)
    return with_bits(Value(value.base, rest, value.valid, value.poison, value.why), part)
