"""Operations on ranges of unsigned integers (the interval domain: Cousot and Cousot 1976).

    add(0 to 255, 16)  ->  16 to 271

None: anything, or it may have wrapped. A range may count from a variable instead of zero: an offset.
"""

from __future__ import annotations

from ptxaudit.base.records import Record
from ptxaudit.ir.nodes import Op


class Range(Record):
    """low to high, inclusive, from the beginning of a variable; name "": of the number itself."""

    low: int
    high: int
    name: str = ""

    def united(self, other: Range | None) -> Range | None:
        if other is None or other.name != self.name:
            return None
        return Range(min(self.low, other.low), max(self.high, other.high), self.name)


def plus(a: Range, b: Range, bits: int) -> Range | None:
    if a.name and b.name:
        return None
    for r in (a, b):
        if not r.name and r.low == r.high and r.high >> (bits - 1):  # a negative constant
            other = b if r is a else a
            moved = Range(other.low + r.low - (1 << bits), other.high + r.high - (1 << bits), other.name)
            return moved if moved.name or moved.low >= 0 else None
    return Range(a.low + b.low, a.high + b.high, a.name or b.name)


def times(a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(a.low * b.low, a.high * b.high)


def below(*ranges: Range) -> Range | None:
    """As many bits as the largest has."""
    return None if any(r.name for r in ranges) else Range(0, (1 << max(r.high for r in ranges).bit_length()) - 1)


def and_(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(0, min(a.high, b.high))


def lop3(op: Op, a: Range, b: Range, c: Range) -> Range | None:
    """Bounded by an operand without whose bit there is none in the result, else by all of them."""
    table = op.attrs[0]
    masks = [r.high for r, zero in zip((a, b, c), (0x0F, 0x33, 0x55)) if not table & zero]
    if any(r.name for r in (a, b, c)) or table & 1 and not masks:
        return None
    return Range(0, min(masks)) if masks else below(a, b, c)


def shift_left(op: Op, a: Range, n: Range) -> Range | None:
    return Range(a.low << n.low, a.high << n.low) if n.low == n.high < op.bits and not a.name else None


def shift_right(op: Op, a: Range, n: Range) -> Range | None:
    return Range(a.low >> n.low, a.high >> n.low) if n.low == n.high < op.bits and not a.name else None


def minus(op: Op, a: Range, b: Range) -> Range | None:
    return None if b.name else Range(a.low - b.high, a.high - b.low, a.name)


def same(op: Op, a: Range) -> Range | None:
    return a


def mad(op: Op, a: Range, b: Range, c: Range) -> Range | None:
    product = times(a, b)
    return None if product is None or product.high >> op.bits else plus(product, c, op.bits)


def field(op: Op, a: Range, place: Range, length: Range) -> Range | None:
    return Range(0, (1 << length.high) - 1) if length.high < 32 else None


def remainder(op: Op, a: Range, b: Range) -> Range | None:
    return Range(0, b.high - 1) if b.low > 0 and not b.name else None


def sum3(op: Op, a: Range, b: Range, c: Range, *carries: Range) -> Range | None:
    """Without carries."""
    both = None if any(x.high for x in carries) else plus(a, b, op.bits)
    return None if both is None else plus(both, c, op.bits)


def minimum(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(min(a.low, b.low), min(a.high, b.high))
