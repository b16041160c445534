"""Operations on values with known bits, lane by lane: the domain of tristate numbers (`known_bits`).

    add(4·tid with all bits known, 0 with 0x380 unknown)  ->  4·tid with 0x380 unknown

A rule takes an operation and its sources, each at its own width, and returns the bits of the result that are known
whatever the unknown bits are; None: none of them. Vishwanathan et al., "Sound, precise, and fast abstract
interpretation with tristate numbers", CGO 2022: addition and subtraction are theirs, and so are products as sums,
here of constants only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.engine.domain.known_bits import Tristate, add, either, logic, resized
from ptxaudit.engine.domain.value import BITS, DTYPES, signed
from ptxaudit.ir.nodes import Op

Rule = Callable[..., Tristate | None]  # (op, one tristate number for each source)

MOST_FACTOR_BITS = 6  # ones in a constant factor: a product is a sum of as many


def subtract(a: Tristate, b: Tristate) -> Tristate:
    total = a.bits - b.bits
    borrowed = (total + a.unknown) ^ (total - b.unknown)
    unknown = borrowed | a.unknown | b.unknown
    return Tristate(total & ~unknown, unknown)


def up(a: Tristate, n: int) -> Tristate:
    return a.each(lambda array: array << array.dtype.type(n))


def down(a: Tristate, n: int) -> Tristate:
    return a.each(lambda array: array >> array.dtype.type(n))


def signed_down(a: Tristate, n: int) -> Tristate:
    """An arithmetic shift, which copies the sign bit, known or unknown."""
    return a.each(lambda array: (signed(array) >> n).view(array.dtype))


def masked(a: Tristate, mask: np.ndarray) -> Tristate:
    """The number with the bits outside a mask cleared."""
    return a.each(lambda array: array & mask)


def _from_highest(array: np.ndarray) -> np.ndarray:
    """All bits from the highest set bit down."""
    for n in (1, 2, 4, 8, 16, 32):
        if n < BITS[array.dtype]:
            array = array | array >> array.dtype.type(n)
    return array


def multiply(a: Tristate, factor: int) -> Tristate | None:
    """The product with a constant, a sum of shifted copies; for a constant with many ones, only its low known bits."""
    width = BITS[a.bits.dtype]
    factor &= (1 << width) - 1
    places = [n for n in range(width) if factor >> n & 1]
    if not places:
        return _zero(a)
    if len(places) > MOST_FACTOR_BITS:
        least = a.unknown & (~a.unknown + a.bits.dtype.type(1))  # the lowest unknown bit
        below = (least << a.bits.dtype.type(places[0])) - a.bits.dtype.type(1)
        unknown = np.where(a.unknown == 0, a.bits.dtype.type(0), ~below)
        return Tristate((a.bits * a.bits.dtype.type(factor)) & ~unknown, unknown)
    out = up(a, places[0])
    for n in places[1:]:
        out = add(out, up(a, n))
    return out


def product(a: Tristate, b: Tristate) -> Tristate | None:
    for x, y in ((a, b), (b, a)):
        if (factor := y.number) is not None:
            return multiply(x, factor)
    return None


def shifted(shift: Callable[[Tristate, int], Tristate], whole: int) -> Rule:
    """A shift rule. whole: shifts by the width or more act as shifts by the width − 1; else they yield zero."""

    def of(op: Op, source: Tristate, by: Tristate) -> Tristate | None:
        a, n = resized(source, op.bits), by.number
        if n is None:
            return None
        if n >= op.bits:
            return shift(a, op.bits - 1) if whole else _zero(a)
        return shift(a, n)

    return of


def of_width(function: Callable[..., Tristate | None]) -> Rule:
    return lambda op, *given: function(*(resized(a, op.bits) for a in given))


def fitted(op: Op, a: Tristate) -> Tristate:
    return resized(a, op.bits)


def sign_extended(op: Op, a: Tristate) -> Tristate | None:
    if a.bits.dtype == bool:
        return None
    width = BITS[a.bits.dtype]
    if width >= op.bits:
        return resized(a, op.bits)
    return signed_down(up(resized(a, op.bits), op.bits - width), op.bits - width)


def bitwise(table: int | None) -> Rule:
    """A bitwise rule by its truth table; None: the table is the operation's first attribute."""
    return lambda op, *given: logic(op.attrs[0] if table is None else table, [resized(a, op.bits) for a in given])


def selected(op: Op, first: Tristate, second: Tristate, choice: Tristate) -> Tristate:
    a, b = resized(first, op.bits), resized(second, op.bits)
    both = either(a, b)

    def pick(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        picked: np.ndarray = np.where(choice.unknown, z, np.where(choice.bits, x, y))
        return picked

    return Tristate(pick(a.bits, b.bits, both.bits), pick(a.unknown, b.unknown, both.unknown))


def minimum(a: Tristate, b: Tristate) -> Tristate:
    """One of two numbers, and at most the lesser of their maxima."""
    both = either(a, b)
    return masked(both, _from_highest(np.minimum(a.bits | a.unknown, b.bits | b.unknown)))


def field(op: Op, source: Tristate, place: Tristate, size: Tristate) -> Tristate | None:
    start, length = place.number, size.number
    if start is None or length is None or op.bits > 32 and max(start, length) > 0xFF:
        return None
    start, length = start & 0xFF, length & 0xFF
    a = resized(source, op.bits)
    if start >= op.bits:
        return _zero(a)
    mask = a.bits.dtype.type((1 << min(length, op.bits)) - 1)
    return masked(down(a, start), mask)


def extracted(op: Op, a: Tristate) -> Tristate | None:
    if a.bits.dtype == bool:
        return None
    return resized(down(a, op.attrs[0]) if op.attrs[0] else a, op.bits)


def concatenated(op: Op, *given: Tristate) -> Tristate | None:
    """Adjacent parts, the lowest first."""
    at, out = 0, None
    for part in given:
        if part.bits.dtype == bool:
            return None
        piece = up(resized(part, op.bits), at) if at else resized(part, op.bits)
        out = piece if out is None else out.beside(piece)
        at += BITS[part.bits.dtype]
    return out


def permuted(op: Op, a: Tristate, b: Tristate, selector: Tristate) -> Tristate | None:
    """Bytes of two words, each copied or replaced by eight copies of its sign."""
    s = selector.number
    if s is None or op.attrs and op.attrs[0]:
        return None
    out = _zero(a)
    byte = a.bits.dtype.type(0xFF)
    for place in range(4):
        chosen = s >> 4 * place & 0xF
        piece = masked(down((a, b)[chosen >> 2 & 1], 8 * (chosen & 3)), byte)
        if chosen & 8:
            piece = masked(signed_down(up(piece, 24), 31), byte)
        out = out.beside(up(piece, 8 * place))
    return out


def wide_product(op: Op, a: Tristate, b: Tristate, *more: Tristate) -> Tristate | None:
    """The unsigned product of two words at twice their width, plus the third source if there is one."""
    if BITS[a.bits.dtype] >= op.bits:
        return None
    both = product(resized(a, op.bits), resized(b, op.bits))
    return both if both is None or not more else add(both, resized(more[0], op.bits))


def sum_with_carry(op: Op, *given: Tristate) -> Tristate | None:
    """The sum of three sources and two carries, as numbers."""
    out = resized(given[0], op.bits)
    for part in given[1:]:
        out = add(out, resized(part, op.bits))
    return out


def counted(op: Op, a: Tristate) -> Tristate:
    """The number of ones: between the number of known ones, and that plus the number of unknown bits."""
    a = resized(a, max(8, BITS[a.bits.dtype]))
    least = np.bitwise_count(a.bits).astype(DTYPES[op.bits])
    most = least + np.bitwise_count(a.unknown).astype(DTYPES[op.bits])
    differ = _from_highest(least ^ most)
    return Tristate(least & ~differ, differ)


def multiplied_and_added(a: Tristate, b: Tristate, c: Tristate) -> Tristate | None:
    both = product(a, b)
    return None if both is None else add(both, c)


def invert(a: Tristate) -> Tristate:
    return Tristate(~a.bits & ~a.unknown, a.unknown)


def negate(a: Tristate) -> Tristate:
    return subtract(_zero(a), a)


def _zero(a: Tristate) -> Tristate:
    """Zero at the width of another number."""
    return Tristate(np.zeros_like(a.bits), np.zeros_like(a.bits))
