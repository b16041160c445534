"""Operations on ranges of unsigned integers (the interval domain: Cousot and Cousot 1976).

    add(0 to 255, 16)  ->  16 to 271

None: any number, or it may wrap. A range may be relative to a variable instead of zero: an offset.
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.base.records import Record
from ptxaudit.ir.nodes import Op


class Range(Record):
    """low to high, inclusive, relative to the beginning of a variable; name "": of the number itself."""

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
    if not (a.name or b.name) and not a.high + b.high >> bits:
        return Range(a.low + b.low, a.high + b.high)
    for r in (a, b):
        if not r.name and r.low >> (bits - 1):  # a negative number
            other = b if r is a else a
            moved = Range(other.low + r.low - (1 << bits), other.high + r.high - (1 << bits), other.name)
            return moved if moved.name or moved.low >= 0 else None
    return Range(a.low + b.low, a.high + b.high, a.name or b.name)


def times(a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(a.low * b.low, a.high * b.high)


def below(*ranges: Range) -> Range | None:
    """Numbers with as many bits as the largest."""
    return None if any(r.name for r in ranges) else Range(0, (1 << max(r.high for r in ranges).bit_length()) - 1)


def and_(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(0, min(a.high, b.high))


_INVERSE = (0x0F, 0x33, 0x55)  # tables of the functions ~a, ~b and ~c


def inverse(op: Op, a: Range) -> Range | None:
    largest = (1 << op.bits) - 1
    return None if a.name else Range(largest - a.high, largest - a.low)


def lop3(op: Op, a: Range, b: Range, c: Range) -> Range | None:
    """A bitwise function: bounded by each operand whose zero bits are zero in the result, else by all operands."""
    table = op.attrs[0]
    if table in _INVERSE:
        return inverse(op, (a, b, c)[_INVERSE.index(table)])
    masks = [r.high for r, zero in zip((a, b, c), (0x0F, 0x33, 0x55)) if not table & zero]
    if any(r.name for r in (a, b, c)) or table & 1 and not masks:
        return None
    return Range(0, min(masks)) if masks else below(a, b, c)


def shift_left(op: Op, a: Range, n: Range) -> Range | None:
    return Range(a.low << n.low, a.high << n.low) if n.low == n.high < op.bits and not (a.name or n.name) else None


def shift_right(op: Op, a: Range, n: Range) -> Range | None:
    return Range(a.low >> n.low, a.high >> n.low) if n.low == n.high < op.bits and not (a.name or n.name) else None


def minus(op: Op, a: Range, b: Range) -> Range | None:
    return None if b.name else Range(a.low - b.high, a.high - b.low, a.name)


def same(op: Op, a: Range) -> Range | None:
    return a


def mad(op: Op, a: Range, b: Range, c: Range) -> Range | None:
    product = times(a, b)
    return None if product is None or product.high >> op.bits else plus(product, c, op.bits)


def field(op: Op, a: Range, place: Range, length: Range) -> Range | None:
    known = not length.name and (op.bits <= 32 or not place.name and place.high <= 0xFF)
    return Range(0, (1 << length.high) - 1) if known and length.high < 32 else None


def ones(op: Op, a: Range) -> Range | None:
    """How many bits of a number are set."""
    return None if a.name else Range(0, a.high.bit_length())


def remainder(op: Op, a: Range, b: Range) -> Range | None:
    return Range(0, min(a.high, b.high - 1)) if b.low > 0 and not (a.name or b.name) else None


def sum3(op: Op, a: Range, b: Range, c: Range, *carries: Range) -> Range | None:
    """A sum with known carries."""
    if any(x.low != x.high for x in carries):
        return None
    both = plus(a, b, op.bits)
    every = None if both is None else plus(both, c, op.bits)
    more = sum(x.low for x in carries)
    return every if every is None or not more else plus(every, Range(more, more), op.bits)


def carries(op: Op, which: int, *sources: Range) -> Range | None:
    """The carry of a sum: whether at least `which`, 1 or 2, is carried; 0, 1 or either."""
    if any(r.name for r in sources):
        return None
    low, high = (sum(numbers) >> op.bits >= which for numbers in zip(*((r.low, r.high) for r in sources)))
    return Range(int(low), int(high))


def funnel_left(op: Op, low: Range, high: Range, n: Range) -> Range | None:
    """The upper word of two that are shifted left."""
    if n.low != n.high or n.high > 31 or high.low != high.high or low.name or high.name or n.name:
        return None
    above, down = high.low << n.low, 32 - n.low
    return None if above >> 32 else Range(above | low.low >> down, above | low.high >> down)


def minimum(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(min(a.low, b.low), min(a.high, b.high))


def maximum(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(max(a.low, b.low), max(a.high, b.high))


def _as_signed(a: Range, bits: int) -> tuple[int, int]:
    half = 1 << bits - 1
    if a.low >= half:
        return a.low - 2 * half, a.high - 2 * half
    return (a.low, a.high) if a.high < half else (-half, half - 1)


def signed_extremum(op: Op, a: Range, b: Range) -> Range | None:
    """The minimum or maximum of two signed numbers, if it is not negative."""
    if a.name or b.name:
        return None
    (a_low, a_high), (b_low, b_high) = (_as_signed(r, op.bits) for r in (a, b))
    choose = min if op.name.startswith("min") else max
    low, high = choose(a_low, b_low), choose(a_high, b_high)
    return Range(low, high) if low >= 0 else None


def quotient(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name or b.low <= 0 else Range(a.low // b.high, a.high // b.low)


def of_sign(sign: str, rule: Callable[..., Range | None]) -> Callable[..., Range | None]:
    """A rule for unsigned numbers; sign "s": the same for signed numbers, if none is negative."""
    if sign == "u":
        return rule
    return lambda op, *given: None if any(r.high >> op.bits - 1 for r in given) else rule(op, *given)


def upper_product(op: Op, a: Range, b: Range) -> Range | None:
    """The upper half of a product."""
    both = times(a, b)
    return None if both is None else Range(both.low >> op.bits, both.high >> op.bits)


def times_signed(op: Op, a: Range, b: Range, c: Range | None = None) -> Range | None:
    """A product of signed numbers of half its width, plus c if given; only if all results have one sign."""
    if a.name or b.name:
        return None
    ends = [x * y for x in _as_signed(a, op.bits // 2) for y in _as_signed(b, op.bits // 2)]
    low, high = min(ends), max(ends)
    if low < 0 <= high:
        return None
    around = 0 if low >= 0 else 1 << op.bits
    product = Range(low + around, high + around)
    return product if c is None else plus(product, c, op.bits)


def piece(op: Op, a: Range) -> Range | None:
    """Some bits of a number, if the bits above them are constant over the range."""
    start = op.attrs[0]
    end = start + op.bits
    if a.name or a.low >> end != a.high >> end:
        return None
    mask = (1 << op.bits) - 1
    return Range(a.low >> start & mask, a.high >> start & mask)


def joined(op: Op, low: Range, *high: Range) -> Range | None:
    """Two words as one number, if the upper one is known."""
    if len(high) != 1 or low.name or high[0].name or high[0].low != high[0].high:
        return None
    above = high[0].low << op.bits // 2
    return Range(above + low.low, above + low.high)
