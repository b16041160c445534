"""Rules of single operations on values that are not fully known: they keep the form `base + Σ coeff·u`, or return None.

The table assigns a rule to each operation (`table`, affine=); `operations.apply` tries it first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ptxaudit.base.arrays import throughout
from ptxaudit.engine.domain.affine import (
    add,
    addresses,
    derived,
    fit,
    give_up,
    invert,
    made_of,
    multiply,
    scale,
    shift_right,
    short,
    sign_extend,
    subtract,
    zero_extend,
)
from ptxaudit.engine.domain.comparisons import difference_compares
from ptxaudit.engine.domain.known_bits import truth_function
from ptxaudit.engine.domain.truths import as_number, extended, truth
from ptxaudit.engine.domain.value import (
    DTYPES,
    EVERYWHERE,
    Uniform,
    Value,
    as_uniform,
    because,
    chosen,
    constant,
    either,
    fingerprint,
    fits_signed,
    modulo,
    same,
    span,
    unknown,
    wrapped_spans,
)
from ptxaudit.engine.ops import concrete
from ptxaudit.engine.ops.halves import PAIR, WORD, Carry, UpperHalf, as_plain, carried, joined, upper_half
from ptxaudit.engine.ops.operations import number_of, one_result
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason


def lop3(table: int, bits: int, a: Value, b: Value, c: Value) -> Value | None:
    """A three-input function as and/or/xor of two sources, if the third is known or irrelevant."""
    sources = [a, b, c]

    used = [i for i in range(3) if _cofactor(table, i, False) != _cofactor(table, i, True)]
    if bits == 1 and all(not v.terms for v in sources):
        return truth_function(table, *sources)
    if not used:
        return constant(-1 if table & 1 else 0, bits)
    if len(used) == 1:
        x = sources[used[0]]
        return x if table >> _INDEX[used[0]] & 1 else invert(x)
    if len(used) == 2:
        return _lop2(table, used, sources)
    # three live sources: expand by one that is known
    return _lop3_by_parts(table, sources)


_INDEX = (4, 2, 1)  # weight of each source's bit in the index of a truth table


@cache
def _cofactor(table: int, source: int, bit: bool) -> int:
    """The truth table of the function with one source fixed to this bit (Shannon's expansion)."""
    places = [(r | _INDEX[source]) if bit else (r & ~_INDEX[source]) for r in range(8)]
    return sum(1 << r for r, place in enumerate(places) if table >> place & 1)


_TWO_INPUT = {  # 4-entry truth table (index 2a + b) -> (operation, inverted a, inverted b, inverted result)
    0b1000: ("and", False, False, False),
    0b1110: ("or", False, False, False),
    0b0110: ("xor", False, False, False),
    0b0111: ("and", False, False, True),
    0b0001: ("or", False, False, True),
    0b1001: ("xor", False, False, True),
    0b0100: ("and", False, True, False),
    0b0010: ("and", True, False, False),
    0b1101: ("or", False, True, False),
    0b1011: ("or", True, False, False),
}


def _lop2(table: int, used: Sequence[int], sources: Sequence[Value]) -> Value | None:
    i, j = used
    bit_i, bit_j = _INDEX[i], _INDEX[j]
    small = 0
    for x in (0, 1):
        for y in (0, 1):
            if table >> (bit_i * x | bit_j * y) & 1:
                small |= 1 << (2 * x + y)
    if small not in _TWO_INPUT:
        return None
    name, not_a, not_b, not_out = _TWO_INPUT[small]
    a, b = sources[i], sources[j]
    a = invert(a) if not_a else a
    b = invert(b) if not_b else b
    out = binary(name, a, b)
    return invert(out) if not_out else out


def _lop3_by_parts(table: int, sources: Sequence[Value]) -> Value | None:
    """f(a,b,c) = (c & f(a,b,1)) | (~c & f(a,b,0)) with c known: the two parts have no bit in common."""
    for k in (2, 1, 0):
        c = sources[k]
        if not c.known:
            continue
        one, zero = (lop3(_cofactor(table, k, bit), c.bits, *sources) for bit in (True, False))
        if one is None or zero is None:
            return None
        # the sum of disjoint parts: x&c + y&~c
        x, y = binary("and", one, c), binary("and", zero, invert(c))
        return None if x.poison is not None or y.poison is not None else add(x, y)
    return None


def binary(name: str, a: Value, b: Value) -> Value:
    """add/sub/mul/and/or/xor of two values of one width, whatever is known of them."""
    return one_result(Op(name, bits=a.bits), (a, b))


def wide_product(op: Op, a: Value, b: Value, *more: Value) -> Value:
    """mulwide, madwide."""
    extend = sign_extend if op.name.endswith(".s") else zero_extend
    product = multiply(extend(a, op.bits), extend(b, op.bits))
    return add(product, *more) if more else product


def shift_left(op: Op, a: Value, by: Value) -> Value | None:
    bits, n = op.bits, number_of(by)
    if n is not None:
        return constant(0, bits) if n >= bits else scale(a, constant(1 << n, bits).base)
    if not by.known:  # by 0 or 1, e.g. a truth value: a + a·by
        reach = span(by) if by.bits == bits else None
        return add(a, multiply(a, by)) if reach is not None and 0 <= reach[0] and reach[1] <= 1 else None
    return scale(a, concrete.shift_left(bits, (), np.ones((1, 1), DTYPES[bits]), by.base))


def shift_down(op: Op, a: Value, by: Value) -> Value | None:
    n = number_of(by)
    if n is None:
        return None
    return a if n == 0 else shift_right(a, n, op.name == "shr.s")


def selected(a: Value, b: Value, p: Value) -> Value | None:
    if same(a, b):
        return a
    if p.terms or p.valid is not None:
        return _choice(a, b, p)
    if p.poison is not None and throughout(p.poison):
        return None
    out = chosen(lambda x, y: np.where(p.base, x, y), a, b)
    return Value(out.base, out.terms, out.valid, either(out.poison, p.poison), because(a, b, p))


def _choice(a: Value, b: Value, p: Value) -> Value | None:
    """p ? a : b for a uniform unknown p: b + (a − b)·p with p in {0, 1}."""
    u = truth(p)
    if a.base.dtype == bool or u is None or a.poison is not None or b.poison is not None:
        return None
    difference = subtract(a, b)
    if difference.terms or difference.valid is not None or difference.poison is not None:  # too many terms
        return None
    return add(b, scale(unknown(as_number(u, a.bits)), difference.base))


def _concatenate(values: tuple[Value, ...], bits: int) -> Value | None:
    """A register pair: the low part zero-extended plus the high part shifted."""
    # two halves of one 64-bit value are that value
    if len(values) == 2 and values[0].bits == 32 and bits == 64:
        whole = joined(*values)
        if whole is not None:
            return _with_other_lanes(whole, *values)
    out, at = None, 0
    for v in values:
        own = v.bits
        piece = scale(fit(v, bits), np.full((1, 1), 1 << at, DTYPES[bits])) if at else fit(v, bits)
        if v.poison is not None and at and (not v.terms or throughout(v.poison)):
            # an opaque upper half: the lower one stays known
            piece = Value(np.zeros((1, 1), DTYPES[bits]), (), at, None, v.why)
        out = piece if out is None else add(out, piece)
        at += own
    return out


def _with_other_lanes(whole: Value, low: Value, high: Value) -> Value:
    """A remembered number, with the numbers of lanes whose halves have forms of their own: a mixture of addresses in
    several state spaces."""
    if not isinstance(high, UpperHalf) or whole.poison is None or whole.poison is EVERYWHERE:
        return whole
    if low.alternatives is not None or high.alternatives is not None:
        return whole
    apart, nothing = whole.poison, constant(0, low.bits)

    def choose(other: np.ndarray, own: np.ndarray) -> np.ndarray:
        return np.where(apart, other, own)

    rest = _concatenate((chosen(choose, low, nothing), chosen(choose, as_plain(high), nothing)), whole.bits)
    return whole if rest is None or rest.valid is not None else chosen(choose, rest, whole)


class _Kept:
    """A value inside the key of an unknown, compared by its fingerprint."""

    __slots__ = ("value", "identity")

    def __init__(self, value: Value):
        self.value, self.identity = value, fingerprint(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)


def _extract(value: Value, offset: int, bits: int) -> Value | None:
    """Some bits of a value; the upper half of an affine one remembers the whole."""
    plain = _plain_extract(value, offset, bits)
    if not value.terms or (offset, bits, value.bits, value.valid) != (WORD, WORD, PAIR, None):
        return plain
    return upper_half(value, plain)


def _plain_extract(value: Value, offset: int, bits: int) -> Value | None:
    if offset == 0:
        return fit(value, bits)
    shifted = shift_right(value, offset, False)
    if shifted is not None and (shifted.valid is None or shifted.valid >= bits):
        return fit(shifted, bits)
    # the upper half of a uniform 64-bit form: one unknown per value, which `cat` recognises
    if offset == 32 and bits == 32 and (flat := as_uniform(value)) is not None:
        symbol = Uniform(
            f"hi({short(flat)})", 32, key=("upper half", _Kept(flat)), address=addresses(flat), **made_of(flat)
        )
        return unknown(symbol)
    return None


def sum_with_carry(op: Op, *values: Value) -> tuple[Value, Value, Value]:
    """add3.carry."""
    carries = op.dst[1:] or values[-2:]
    out = _add3_carry(values, op.bits, [n for n, carry in enumerate(carries, 1) if carry is not None])
    return _with_parts(values, *out) if op.bits == WORD else out


def concatenated(op: Op, *parts: Value) -> Value | None:
    """cat."""
    return _concatenate(parts, op.bits)


def extracted(op: Op, a: Value) -> Value | None:
    """extract."""
    return _extract(a, op.attrs[0], op.bits)


def _add3_carry(values: tuple[Value, ...], bits: int, named: Sequence[int] = ()) -> tuple[Value, Value, Value]:
    """The affine sum of three sources and two carries, and its carries.

    A carry is known if all sums are below 2**bits or none is; else it is an unknown if all sources are uniform.
    named: the carries (1, 2) that are used.
    """
    a, b, c, in0, in1 = values
    total = add(add(a, b), c)
    for carry in (in0, in1):
        total = add(total, _as_number(carry, bits))
    if bits < 64 and in0.known and in1.known:
        spans = [ends[:2] for v in (a, b, c) if (ends := wrapped_spans(v)) is not None]
        if len(spans) == 3:
            more = in0.base.astype(np.int64) + in1.base
            low, high = (sum(ends) + more >> bits for ends in zip(*spans))
            if throughout(low == high):
                return total, Value(low >= 1), Value(low >= 2)
    unknown = give_up(values, 1, Kind.CARRY_OF_UNKNOWNS)
    own = {at_least: derived("carry", values, 1, (bits, at_least)) for at_least in named}
    return total, own.get(1) or unknown, own.get(2) or unknown


def _as_number(carry: Value, bits: int) -> Value:
    """A carry as a number, 0 or 1."""
    if not carry.terms:
        return fit(carry, bits)
    return extended(carry, bits) or give_up((carry,), bits, Kind.UNKNOWN_CARRY)


def _with_parts(values: tuple[Value, ...], total: Value, once: Value, twice: Value) -> tuple[Value, Value, Value]:
    """The results of `_add3_carry`: a carry with its addends, an upper half with its whole (`halves`)."""
    *addends, in0, in1 = values
    whole = carried(tuple(addends), in0, in1)
    if whole is not None:
        total = upper_half(whole, _plain_extract(whole, WORD, WORD) or (total if total.poison is None else None))
    first, second = number_of(in0), number_of(in1)
    if first is not None and second is not None and not once.known:
        alone = number_of(twice) == 0 or first + second < 2 and any(number_of(v) == 0 for v in addends)
        sum_of = tuple(addends), first + second
        once, twice = Carry(once, *sum_of, 1, alone), twice if alone else Carry(twice, *sum_of, 2, False)
    return total, once, twice


def field(op: Op, *values: Value) -> Value | None:
    """A bit field at a known position: a shift and a mask."""
    a, *place = values
    numbers, bits = [number for v in place if (number := number_of(v)) is not None], op.bits
    if len(numbers) < len(place) or op.name == "bfe.u" and bits > 32 and max(numbers) > 0xFF:
        return None
    if op.name == "bfe.u":
        p, n = (number & 0xFF for number in numbers)
    else:
        p, n = 0, numbers[0]
        n = n & 31 if op.attrs and op.attrs[0] == "wrap" else min(n, bits)
    if p >= bits or n == 0:
        return constant(0, bits)
    shifted = a if p == 0 else one_result(Op("shr.u", bits=bits), (a, constant(p, 32)))
    return shifted if p + n >= bits else binary("and", shifted, constant((1 << n) - 1, bits))


def extremum(name: str, a: Value, b: Value) -> Value | None:
    """min/max if one side is never larger."""
    difference = subtract(a, b)
    s = span(difference) if difference_compares(name[-1], a, b, difference) else None
    if s is None:
        return None
    if s[1] <= 0:
        return a if name.startswith("min") else b
    if s[0] >= 0:
        return b if name.startswith("min") else a
    return None


def divided_by_a_power(name: str, a: Value, b: Value) -> Value | None:
    """Division by a power of two of a value that cannot be negative."""
    d = number_of(b)
    if d is None or d == 0 or d & (d - 1):
        return None
    if name.endswith(".s"):
        s = span(a)
        if s is None or s[0] < 0 or not fits_signed(a):
            return None
    if name.startswith("div"):
        return one_result(Op("shr.u", bits=a.bits), (a, constant(d.bit_length() - 1, 32)))
    return binary("and", a, constant(d - 1, a.bits))


def funnel(name: str, values: tuple[Value, ...], attrs: tuple[Any, ...]) -> Value | None:
    """A funnel shift: a plain shift if one half is zero, else a shift of both halves as one number."""
    lo, hi, n = values
    k = number_of(n)
    if k is None:
        return None
    k = k & 31 if attrs and attrs[0] == "wrap" else min(k, 32)
    if name == "shf.r" and number_of(hi) == 0:
        return one_result(Op("shr.u", bits=32), (lo, constant(k, 32)))
    if name == "shf.l" and number_of(lo) == 0:
        return one_result(Op("shl", bits=32), (hi, constant(k, 32)))
    whole = _concatenate((lo, hi), 64)
    if whole is None:
        return None
    moved = fit(one_result(Op("shr.u", bits=PAIR), (whole, constant(k if name == "shf.r" else 32 - k, 32))), WORD)
    if name == "shf.r" or whole.valid is not None:
        return moved
    return upper_half(scale(whole, np.full((1, 1), 1 << k, np.uint64)), moved)


# selector -> (source, number of its low bits that are sign-extended)
_SIGN_EXTENSIONS = {0x9910: (0, 16), 0xDD54: (1, 16), 0x8880: (0, 8), 0xCCC4: (1, 8)}


def permuted(values: tuple[Value, ...], attrs: tuple[Any, ...]) -> Value | None:
    """A byte permutation that selects a source, sign-extends part of it, or moves bytes as far as they are known."""
    a, b, sel = values
    s = number_of(sel)
    if s is None or attrs and attrs[0]:
        return None
    if s & 0xFFFF == 0x3210:
        return a
    if s & 0xFFFF == 0x7654:
        return b
    if (narrow := _SIGN_EXTENSIONS.get(s & 0xFFFF)) is not None:
        source, bits = values[narrow[0]], narrow[1]
        part = None if source.poison is not None or source.alternatives is not None else fit(source, bits)
        return None if part is None or part.valid is not None else sign_extend(part, 32)
    parts = None
    for i in range(4):
        nibble = s >> (4 * i) & 0xF
        if nibble & 8:
            return None
        source = a if nibble < 4 else b
        byte = one_result(Op("bfe.u", bits=32), (source, constant(8 * (nibble & 3), 32), constant(8, 32)))
        if byte.poison is not None:
            return None if parts is None else modulo(parts, 8 * i, because(byte) or Reason(Kind.UNKNOWN_SOURCES))
        byte = scale(byte, np.full((1, 1), 1 << (8 * i), np.uint32)) if i else byte
        parts = byte if parts is None else add(parts, byte)
    return parts
