"""Arithmetic on values of which some bits are known: 4·tid + (loaded << 7 & 0x380) has its low seven bits.

    value, unknown:  4·tid, 0   +   0, 0x380        ->        4·tid, 0x380

A *tristate number* is a value and a mask of the bits that are not known, whose bits in the value are zero (Vishwanathan
et al., "Sound, precise, and fast abstract interpretation with tristate numbers", CGO 2022; the addition and subtraction
are theirs). Here it is of each lane. What `operations` gives up, `refined` looks at once more; bitwise operations on
numbers are told apart there already. Of a value with unknowns it is that of the rest: of the value less their sum,
which addition, subtraction and scaling leave apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ptxaudit.engine.domain.value import BITS, DTYPES, EVERYWHERE, Value, array_zeros, combine_terms, lane_uniform
from ptxaudit.engine.memory.environment import LANES
from ptxaudit.hardware.banks import partial
from ptxaudit.hardware.banks.access import Access
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.nodes import Op

ADDRESS_BITS = 32  # of shared memory
MOST_FACTOR_BITS = 6  # ones of a constant factor: a product is a sum of so many


@dataclass(frozen=True, slots=True)
class Tristate:
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
        lost = everything if value.sure is None else ~value.sure
        unknown = np.where(value.poison, lost, unknown)
    return Tristate(base & ~unknown, unknown)


def refined(op: Op, values: tuple[Value, ...], out: Value) -> Value:
    """The result of an operation that was not known in some lanes, with the bits of it that are."""
    transfer = _TRANSFERS.get(op.name)
    if transfer is None or any(v.alternatives is not None for v in values):
        return out
    if any(v.terms for v in values):
        if op.name not in _SIGNS or not out.poison.all() or any(v.bits != op.bits for v in values):
            return out
        terms = combine_terms(values[0].terms, values[1].terms, _SIGNS[op.name])
        if terms is None:
            return out
        out = Value(out.base, terms, None, out.poison, out.why)
    found = transfer(op, [known_part(v) for v in values])
    return out if found is None else with_bits(out, found)


def most_wavefronts(
    machine: Machine, access: Access, address: Value, offset: int, lanes: np.ndarray
) -> np.ndarray | None:
    """(n,): the most that each request costs whose address, less an offset, is known bit by bit; None where that says
    nothing.

    lanes: (n, LANES) bool, those that may take part.
    """
    shift = machine.invariant_shift(access)
    if address.alternatives is not None or address.poison is None and address.valid is None:
        return None
    if any(not lane_uniform(c) or 1 << min(ADDRESS_BITS, u.zeros + array_zeros(c)) < shift for u, c in address.terms):
        return None
    part = known_part(address)
    part = add(
        part, Tristate(*(np.full((1, 1), number, part.bits.dtype) for number in (offset & (1 << address.bits) - 1, 0)))
    )
    part = resized(part, ADDRESS_BITS)
    if (part.unknown == np.uint32(0xFFFFFFFF)).all():
        return None
    return _most(
        machine, access, *(np.broadcast_to(array, lanes.shape).tobytes() for array in (part.bits, part.unknown, lanes))
    )


@lru_cache(1 << 10)
def _most(machine: Machine, access: Access, bits: bytes, unknown: bytes, lanes: bytes) -> np.ndarray | None:
    """The same of arrays as bytes: an access in a loop asks the same in every trip."""
    taking = np.frombuffer(lanes, bool).reshape(-1, LANES)
    numbers = [np.frombuffer(array, np.uint32).reshape(taking.shape).astype(np.int64) for array in (bits, unknown)]
    return partial.most(machine, access, *numbers, taking)


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


# --- the operations -------------------------------------------------------------------------


def add(a: Tristate, b: Tristate) -> Tristate:
    total = a.bits + b.bits
    carried = (a.unknown + b.unknown + total) ^ total
    unknown = carried | a.unknown | b.unknown
    return Tristate(total & ~unknown, unknown)


def subtract(a: Tristate, b: Tristate) -> Tristate:
    total = a.bits - b.bits
    borrowed = (total + a.unknown) ^ (total - b.unknown)
    unknown = borrowed | a.unknown | b.unknown
    return Tristate(total & ~unknown, unknown)


def either(a: Tristate, b: Tristate) -> Tristate:
    """One of the two: the bits in which they agree."""
    unknown = a.unknown | b.unknown | (a.bits ^ b.bits)
    return Tristate(a.bits & ~unknown, unknown)


def resized(a: Tristate, bits: int) -> Tristate:
    """Truncated, or extended with zeros."""
    return Tristate(a.bits.astype(DTYPES[bits]), a.unknown.astype(DTYPES[bits]))


def _up(a: Tristate, n: int) -> Tristate:
    shift = a.bits.dtype.type(n)
    return Tristate(a.bits << shift, a.unknown << shift)


def _down(a: Tristate, n: int) -> Tristate:
    shift = a.bits.dtype.type(n)
    return Tristate(a.bits >> shift, a.unknown >> shift)


def _signed_down(a: Tristate, n: int) -> Tristate:
    """The sign is copied: known, or not."""
    width = BITS[a.bits.dtype]
    shift = np.dtype(f"i{width // 8}").type(n)
    down = lambda array: (array.view(f"i{width // 8}") >> shift).view(array.dtype)
    return Tristate(down(a.bits), down(a.unknown))


def multiply(a: Tristate, factor: int) -> Tristate | None:
    """Times a constant: a sum of shifted ones; of one with many ones the low zeros and the low known bits alone."""
    width = BITS[a.bits.dtype]
    factor &= (1 << width) - 1
    places = [n for n in range(width) if factor >> n & 1]
    if not places:
        return Tristate(a.bits & a.bits.dtype.type(0), a.unknown & a.bits.dtype.type(0))
    if len(places) > MOST_FACTOR_BITS:
        least = a.unknown & (~a.unknown + a.bits.dtype.type(1))  # the lowest bit that is not known
        below = (least << a.bits.dtype.type(places[0])) - a.bits.dtype.type(1)
        unknown = np.where(a.unknown == 0, a.bits.dtype.type(0), ~below)
        return Tristate((a.bits * a.bits.dtype.type(factor)) & ~unknown, unknown)
    out = _up(a, places[0])
    for n in places[1:]:
        out = add(out, _up(a, n))
    return out


def _product(a: Tristate, b: Tristate) -> Tristate | None:
    for x, y in ((a, b), (b, a)):
        if (factor := y.number) is not None:
            return multiply(x, factor)
    return None


def _shifted(shift: Callable[[Tristate, int], Tristate], whole: int) -> Callable[[Op, list[Tristate]], Tristate | None]:
    """whole: what a shift by the width or more is taken as less than the width."""

    def of(op: Op, given: list[Tristate]) -> Tristate | None:
        a, n = resized(given[0], op.bits), given[1].number
        if n is None:
            return None
        if n >= op.bits:
            return (
                shift(a, op.bits - 1)
                if whole
                else Tristate(a.bits & a.bits.dtype.type(0), a.unknown & a.bits.dtype.type(0))
            )
        return shift(a, n)

    return of


def _of_width(function: Callable[..., Tristate | None]) -> Callable[[Op, list[Tristate]], Tristate | None]:
    return lambda op, given: function(*(resized(a, op.bits) for a in given))


def _sign_extended(op: Op, given: list[Tristate]) -> Tristate | None:
    a = given[0]
    if a.bits.dtype == bool:
        return None
    width = BITS[a.bits.dtype]
    if width >= op.bits:
        return resized(a, op.bits)
    return _signed_down(_up(resized(a, op.bits), op.bits - width), op.bits - width)


def _logic(table: int, given: list[Tristate]) -> Tristate:
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


def _bitwise(table: int | None) -> Callable[[Op, list[Tristate]], Tristate]:
    return lambda op, given: _logic(op.attrs[0] if table is None else table, [resized(a, op.bits) for a in given])


def _selected(op: Op, given: list[Tristate]) -> Tristate:
    a, b, choice = resized(given[0], op.bits), resized(given[1], op.bits), given[2]
    both = either(a, b)
    pick = lambda x, y, z: np.where(choice.unknown, z, np.where(choice.bits, x, y))
    return Tristate(pick(a.bits, b.bits, both.bits), pick(a.unknown, b.unknown, both.unknown))


def _least(a: Tristate, b: Tristate) -> Tristate:
    """One of them, and not more than either can be."""
    both = either(a, b)
    most = np.minimum(a.bits | a.unknown, b.bits | b.unknown)
    for n in (1, 2, 4, 8, 16, 32):
        if n < BITS[most.dtype]:
            most = most | most >> most.dtype.type(n)
    return Tristate(both.bits & most, both.unknown & most)


def _field(op: Op, given: list[Tristate]) -> Tristate | None:
    start, length = given[1].number, given[2].number
    if start is None or length is None:
        return None
    start, length = start & 0xFF, length & 0xFF
    a = resized(given[0], op.bits)
    if start >= op.bits:
        return Tristate(a.bits & a.bits.dtype.type(0), a.unknown & a.bits.dtype.type(0))
    mask = a.bits.dtype.type((1 << min(length, op.bits)) - 1)
    down = _down(a, start)
    return Tristate(down.bits & mask, down.unknown & mask)


def _extracted(op: Op, given: list[Tristate]) -> Tristate | None:
    if given[0].bits.dtype == bool:
        return None
    return resized(_down(given[0], op.attrs[0]) if op.attrs[0] else given[0], op.bits)


def _joined(op: Op, given: list[Tristate]) -> Tristate | None:
    """Parts beside each other, the lowest first."""
    at, out = 0, None
    for part in given:
        if part.bits.dtype == bool:
            return None
        piece = _up(resized(part, op.bits), at) if at else resized(part, op.bits)
        out = piece if out is None else Tristate(out.bits | piece.bits, out.unknown | piece.unknown)
        at += BITS[part.bits.dtype]
    return out


def _wide(op: Op, given: list[Tristate]) -> Tristate | None:
    """The product of two words without a sign, in twice as many bits, and a sum with the third."""
    if BITS[given[0].bits.dtype] >= op.bits:
        return None
    product = _product(resized(given[0], op.bits), resized(given[1], op.bits))
    return product if product is None or len(given) < 3 else add(product, resized(given[2], op.bits))


def _summed(op: Op, given: list[Tristate]) -> Tristate | None:
    """Three sources and two carries, as numbers."""
    out = resized(given[0], op.bits)
    for part in given[1:]:
        out = add(out, resized(part, op.bits))
    return out


def _counted(op: Op, given: list[Tristate]) -> Tristate:
    """Of the ones of a number: not more than its width."""
    width = DTYPES[op.bits](2 * BITS[given[0].bits.dtype] - 1 if given[0].bits.dtype != bool else 1)
    shape = given[0].bits.shape
    return Tristate(np.zeros(shape, DTYPES[op.bits]), np.full(shape, width, DTYPES[op.bits]))


def _multiplied_and_added(a: Tristate, b: Tristate, c: Tristate) -> Tristate | None:
    product = _product(a, b)
    return None if product is None else add(product, c)


_SIGNS = {"add": 1, "sub": -1}  # of operations that leave unknowns apart
_TRANSFERS: dict[str, Callable[[Op, list[Tristate]], Tristate | None]] = {
    "add": _of_width(add),
    "sub": _of_width(subtract),
    "add3.carry": _summed,
    "not": _of_width(lambda a: Tristate(~a.bits & ~a.unknown, a.unknown)),
    "neg": _of_width(lambda a: subtract(Tristate(np.zeros_like(a.bits), np.zeros_like(a.bits)), a)),
    "mul": _of_width(_product),
    "mad": _of_width(_multiplied_and_added),
    "mulwide.u": _wide,
    "madwide.u": _wide,
    "shl": _shifted(_up, 0),
    "shr.u": _shifted(_down, 0),
    "shr.s": _shifted(_signed_down, 1),
    "zext": _of_width(lambda a: a),
    "trunc": _of_width(lambda a: a),
    "sext": _sign_extended,
    "extract": _extracted,
    "cat": _joined,
    "select": _selected,
    "min.u": _of_width(_least),
    "max.u": _of_width(either),
    "min.s": _of_width(either),
    "max.s": _of_width(either),
    "and": _bitwise(0b1000),
    "or": _bitwise(0b1110),
    "xor": _bitwise(0b0110),
    "lop3": _bitwise(None),
    "bfe.u": _field,
    "popc": _counted,
}
