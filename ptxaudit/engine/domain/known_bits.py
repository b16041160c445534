"""Arithmetic on values of which some bits are known: 4·tid + (loaded << 7 & 0x380) has its low seven bits.

    value, unknown:  4·tid, 0   +   0, 0x380        ->        4·tid, 0x380

A *tristate number* is a value and a mask of the bits that are not known, whose bits in the value are zero (Vishwanathan
et al., "Sound, precise, and fast abstract interpretation with tristate numbers", CGO 2022; the addition is theirs).
Here it is of each lane. Of a value with unknowns it is that of the rest: of the value less their sum, which addition,
subtraction and scaling leave apart. What operations make of tristate numbers is in `ops.tristates`.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import DTYPES, EVERYWHERE, Value


class Tristate(Record):
    """bits: known bits, zero elsewhere; unknown: the others. Both unsigned arrays of one width, broadcastable to (rows,
    lanes).
    """

    bits: np.ndarray
    unknown: np.ndarray

    @property
    def number(self) -> int | None:
        """The constant that it is in all lanes, if any."""
        return int(self.bits.flat[0]) if self.bits.size == 1 and not self.unknown.any() else None


def known_part(value: Value) -> Tristate:
    """What is known of a value less its unknowns, bit by bit."""
    base, dtype = value.base, value.base.dtype
    if dtype == np.bool_:
        unknown = np.zeros((1, 1), bool) if value.poison is None else value.poison
        return Tristate(base & ~unknown, unknown)
    everything = dtype.type(-1 & ((1 << value.bits) - 1))
    unknown = np.zeros((1, 1), dtype)
    if value.valid is not None:
        unknown = unknown | dtype.type(everything - ((1 << value.valid) - 1))
    if value.poison is not None:
        poisoned = everything if value.sure is None else ~value.sure
        unknown = np.where(value.poison, poisoned, unknown)
    return Tristate(base & ~unknown, unknown)


def with_bits(out: Value, found: Tristate) -> Value:
    """A value with what is known of its bits in the lanes in which it is not."""
    if found.bits.dtype != out.base.dtype or out.base.dtype == bool or out.valid is not None:
        return out
    if out.poison is not None and not out.poison.all():
        base, unknown = (
            np.where(out.poison, found.bits, out.base),
            np.where(out.poison, found.unknown, found.unknown.dtype.type(0)),
        )
    else:
        base, unknown = found.bits, found.unknown
    if not unknown.any():
        return Value(base, out.terms)
    sure = ~unknown
    if not sure.any():
        return out
    poison = unknown != 0
    return Value(base, out.terms, None, EVERYWHERE if poison.size == 1 else poison, out.why, sure)


def add(a: Tristate, b: Tristate) -> Tristate:
    total = a.bits + b.bits
    carried = (a.unknown + b.unknown + total) ^ total
    unknown = carried | a.unknown | b.unknown
    return Tristate(total & ~unknown, unknown)


def either(a: Tristate, b: Tristate) -> Tristate:
    """One of the two: the bits in which they agree."""
    unknown = a.unknown | b.unknown | (a.bits ^ b.bits)
    return Tristate(a.bits & ~unknown, unknown)


def resized(a: Tristate, bits: int) -> Tristate:
    """Truncated, or extended with zeros."""
    return Tristate(a.bits.astype(DTYPES[bits], copy=False), a.unknown.astype(DTYPES[bits], copy=False))
