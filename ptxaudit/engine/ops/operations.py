"""The results of operations on values that are not fully known: exact rules where they exist, else derived or opaque.

`apply(op, values)` is the only entry. Where all sources are known it runs the row of
`OPS`. Otherwise it tries, in this order:

1. the affine rule of the operation, which keeps the form `base + Σ coeff·u`;
2. for values without lane dependence, a derived unknown named by the expression;
3. the low bits: sums, products and left shifts of partly known values are known as far down as
   their sources are;
4. opaque, with the reason of the first source that was.

Sources of which a few numbers are known are gone through one alternative after the other (`alternatives`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.engine.domain import alternatives
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
    unknowns_of,
    zero_extend,
)
from ptxaudit.engine.domain.bits import shake
from ptxaudit.engine.domain.comparisons import within_half_of_each_other
from ptxaudit.engine.domain.known_bits import folded, has_constants, known_part, total, with_bits
from ptxaudit.engine.domain.value import (
    BITS,
    DTYPES,
    EVERYWHERE,
    Uniform,
    Value,
    because,
    combine_terms,
    constant,
    either,
    fingerprint,
    fits_signed,
    lane_spans,
    least,
    opaque,
    same,
    span,
    squeeze,
    unknown,
)
from ptxaudit.engine.ops import mufu
from ptxaudit.engine.ops.floats import division_check
from ptxaudit.engine.ops.halves import KEEP, Carry, UpperHalf, carried, joined, rejoin
from ptxaudit.engine.ops.row import OPS, Row, source_bits
from ptxaudit.engine.ops.tristates import product
from ptxaudit.hardware.machine_model import SpecialFunctions
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

UNITS = {
    mufu.UNIT: {
        f"mufu.{name}": Row(lambda bits, attrs, a, run=run: run(a), "s") for name, run in mufu.FUNCTIONS.items()
    }
}
"""By the name of a unit for special functions: what its functions give, bit for bit."""

# Functions of their sources alone that have no row: approximations, whose last bits no document gives.
_OF_ITS_SOURCES = (
    "mufu.",
    "sqrt.approx",
    "rsqrt.approx",
    "rcp.approx",
    "ex2.approx",
    "lg2.approx",
    "sin.approx",
    "cos.approx",
    "tanh.approx",
    "div.approx",
    "div.full",
)


_BITWISE = ("and", "or", "xor", "lop3")  # each bit of the result depends on those at its place alone
_SIGNS = {"add": 1, "sub": -1}  # of operations that leave unknowns apart
_APART = frozenset((*_SIGNS, "mov"))  # … and constants


def of_its_sources(name: str) -> bool:
    """Equal sources give equal results, though no document says which."""
    return name.startswith(_OF_ITS_SOURCES)


meaning_of = OPS.get


def ever_known(name: str) -> bool:
    """Some machine has a meaning for it."""
    return name in OPS or any(name in unit for unit in UNITS.values())


@cache
def on_machine(special: SpecialFunctions) -> dict[str, Row]:
    """The operations that mean more on a machine than `OPS` says: name -> row."""
    unit = UNITS.get(special.unit, {})
    found = {name: row for name, row in unit.items() if name.removeprefix("mufu.") in special.measured}
    if special.division_check:
        found["fsetp.check"] = replace(OPS["fsetp.check"], concrete=division_check, undefined=None)
    return found


@lru_cache(1 << 12)
def _source_types(row: Row, bits: int, count: int) -> tuple[np.dtype | None, ...]:
    """As what an operation of a width reads so many sources; None: as they are."""
    return tuple(
        None if letter == "o" else np.dtype(DTYPES[source_bits(letter, bits, bits)]) for letter in row.letters(count)
    )


def lop3(table: int, bits: int, a: Value, b: Value, c: Value) -> Value | None:
    """A three-input function as and/or/xor of two, where one source is known or does not matter."""
    sources = [a, b, c]

    def depends(i: int) -> bool:
        bit = (4, 2, 1)[i]
        return any((table >> r & 1) != (table >> (r ^ bit) & 1) for r in range(8))

    used = [i for i in range(3) if depends(i)]
    if bits == 1 and all(not v.terms for v in sources):
        return _lop3_predicates(table, sources)
    if not used:
        return constant(-1 if table & 1 else 0, bits)
    if len(used) == 1:
        x = sources[used[0]]
        row = (4, 2, 1)[used[0]]
        return x if table >> row & 1 else invert(x)
    if len(used) == 2:
        return _lop2(table, used, sources)
    # three live sources: cofactor on one whose bits are known and uniform 0 or 1 where it matters
    return _lop3_by_parts(table, sources)


def _lop3_predicates(table: int, sources: Sequence[Value]) -> Value:
    from ptxaudit.engine.ops.concrete import lop3_table

    bases = [v.base for v in sources]
    poison = None
    for v in sources:
        poison = either(poison, v.poison)
    if poison is None:
        return Value(lop3_table(table, *bases), why=because(*sources))
    unknown_bits = [np.zeros((1, 1), bool) if v.poison is None else v.poison for v in sources]
    base, shaken = shake(lambda *operands: lop3_table(table, *operands), bases, unknown_bits)
    poison = poison & shaken
    return Value(base, poison=poison if poison.any() else None, why=because(*sources))


_TWO_INPUT = {  # 4-entry truth table (index 2a + b) -> how to write it
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
    bit_i, bit_j = (4, 2, 1)[i], (4, 2, 1)[j]
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
    """f(a,b,c) = (c & f(a,b,1)) | (~c & f(a,b,0)) with c known: each part touches disjoint bits."""
    for k in (2, 1, 0):
        c = sources[k]
        if not c.known:
            continue
        bit = (4, 2, 1)[k]
        ones = zeros = 0
        for r in range(8):
            if table >> (r | bit) & 1:
                ones |= 1 << r
            if table >> (r & ~bit) & 1:
                zeros |= 1 << r
        bits = c.bits
        one, zero = lop3(ones, bits, *sources), lop3(zeros, bits, *sources)
        if one is None or zero is None:
            return None
        # the sum of disjoint parts: x&c + y&~c
        x, y = binary("and", one, c), binary("and", zero, invert(c))
        return None if x.poison is not None or y.poison is not None else add(x, y)
    return None


def binary(name: str, a: Value, b: Value) -> Value:
    """add/sub/mul/and/or/xor on two values of one width, whatever is known of them."""
    return _one(Op(name, bits=a.bits), (a, b))


def _one(op: Op, values: tuple[Value, ...]) -> Value:
    """The result of an operation that has one."""
    out = apply(op, values)
    assert isinstance(out, Value)
    return out


def _number(value: Value) -> int | None:
    """The value of a known scalar, else None."""
    return int(value.base.flat[0]) if value.known and value.base.size == 1 else None


def _symbolic(op: Op, values: tuple[Value, ...]) -> Value | tuple[Value, ...] | None:
    """The affine rule of an operation, or None where it has none for these sources."""
    rule = OPS[op.name].affine if op.name in OPS else None
    return None if rule is None else rule(op, *values)


def wide_product(op: Op, a: Value, b: Value, *more: Value) -> Value:
    """mulwide, madwide."""
    extend = sign_extend if op.name.endswith(".s") else zero_extend
    product = multiply(extend(a, op.bits), extend(b, op.bits))
    return add(product, *more) if more else product


def shift_left(op: Op, a: Value, by: Value) -> Value | None:
    bits, n = op.bits, _number(by)
    if n is not None:
        return constant(0, bits) if n >= bits else scale(a, constant(1 << n, bits).base)
    if not by.known:
        return None
    inside = by.base < bits
    factor = np.where(
        inside, np.array(1, DTYPES[bits]) << np.where(inside, by.base, 0).astype(DTYPES[bits]), DTYPES[bits](0)
    )
    return scale(a, factor)


def shift_down(op: Op, a: Value, by: Value) -> Value | None:
    n = _number(by)
    if n is None:
        return None
    return a if n == 0 else shift_right(a, n, op.name == "shr.s")


def extended(op: Op, a: Value) -> Value:
    return fit(a, op.bits) if a.bits >= op.bits else sign_extend(a, op.bits)


def selected(a: Value, b: Value, p: Value) -> Value | None:
    if same(a, b):
        return a
    if p.terms or p.valid is not None:
        choice = _choice(a, b, p)
        return choice
    if p.poison is not None and p.poison.all():
        return None
    chosen = p.base
    terms: dict[Uniform, np.ndarray] = {}
    zero = a.base.dtype.type(0)
    for u, c in a.terms:
        terms[u] = np.where(chosen, c, zero if a.base.dtype != bool else False)
    for u, c in b.terms:
        rest = np.where(chosen, zero if a.base.dtype != bool else False, c)
        terms[u] = terms[u] + rest if u in terms else rest
    poison = None
    if a.poison is not None or b.poison is not None:
        none = np.zeros((1, 1), bool)
        poison = np.where(chosen, none if a.poison is None else a.poison, none if b.poison is None else b.poison)
    poison = either(poison, p.poison)
    if poison is not None and not poison.any():
        poison = None
    return Value(
        np.where(chosen, a.base, b.base),
        tuple((u, c) for u, c in terms.items() if c.any()),
        least(a.valid, b.valid),
        poison,
        because(a, b, p),
    )


def _choice(a: Value, b: Value, p: Value) -> Value | None:
    """p ? a : b for a uniform unknown p: b + (a − b)·p with p in {0, 1}."""
    p = squeeze(p)
    if a.base.dtype == bool or not p.uniform or p.poison is not None or a.poison is not None or b.poison is not None:
        return None
    if len(p.terms) != 1 or p.base.any():
        return None
    difference = subtract(a, b)
    if difference.terms or difference.valid is not None:
        return None
    u = p.terms[0][0]
    as_number = Uniform(u.name, a.bits, 0, 0, 1, "choice", ("choice", u), u.data, blocks=u.blocks)
    return add(b, scale(unknown(as_number), difference.base))


def _concatenate(values: tuple[Value, ...], bits: int, keep: bool = False) -> Value | None:
    """Register pairs: the low part zero-extended plus the high part shifted."""
    # two halves cut from one 64-bit value come back as that value
    if len(values) == 2 and values[0].bits == 32 and bits == 64:
        whole = joined(*values) if keep else rejoin(*values)
        if whole is not None:
            return whole
    out, at = None, 0
    for v in values:
        own = v.bits
        piece = scale(fit(v, bits), np.full((1, 1), 1 << at, DTYPES[bits])) if at else fit(v, bits)
        if v.poison is not None and at and (not v.terms or v.poison.all()):
            # an opaque upper half: the lower one stays known
            piece = Value(np.zeros((1, 1), DTYPES[bits]), (), at, None, v.why)
        out = piece if out is None else add(out, piece)
        at += own
    return out


class _Kept:
    """A value inside a symbol's key: compared by identity of meaning."""

    __slots__ = ("value", "identity")

    def __init__(self, value: Value):
        self.value, self.identity = value, fingerprint(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)


def _extract(value: Value, offset: int, bits: int, keep: bool = False) -> Value | None:
    """keep: the upper half remembers what it is the half of."""
    plain = _plain_extract(value, offset, bits)
    return UpperHalf(value, plain) if keep and (offset, bits, value.bits, value.valid) == (32, 32, 64, None) else plain


def _plain_extract(value: Value, offset: int, bits: int) -> Value | None:
    if offset == 0:
        return fit(value, bits)
    shifted = shift_right(value, offset, False)
    if shifted is not None and (shifted.valid is None or shifted.valid >= bits):
        return fit(shifted, bits)
    # the upper half of a 64-bit form with uniform unknowns: one unknown a value, found again by `cat`
    flat = squeeze(value)
    if offset == 32 and bits == 32 and flat.poison is None and flat.valid is None and flat.uniform:
        symbol = Uniform(
            f"hi({short(flat)})", 32, key=("upper half", _Kept(flat)), address=addresses(flat), **made_of(flat)
        )
        return unknown(symbol)
    return None


def sum_with_carry(op: Op, *values: Value) -> tuple[Value, Value, Value]:
    """add3.carry."""
    return _add3_carry(values, op.bits, KEEP in op.attrs)


def concatenated(op: Op, *parts: Value) -> Value | None:
    """cat."""
    return _concatenate(parts, op.bits, KEEP in op.attrs)


def extracted(op: Op, a: Value) -> Value | None:
    """extract."""
    return _extract(a, op.attrs[0], op.bits, KEEP in op.attrs)


def _add3_carry(values: tuple[Value, ...], bits: int, keep: bool = False) -> tuple[Value, Value, Value]:
    """The sum is affine; the carries are not, unless everything is known. keep: halves of 64-bit sums are."""
    if keep and bits == 32:
        return _carry_kept(values)
    a, b, c, in0, in1 = values
    total = add(add(a, b), c)
    for carry in (in0, in1):
        total = add(total, fit(carry, bits) if not carry.terms else give_up((carry,), bits, Kind.UNKNOWN_CARRY))
    unknown = give_up(values, 1, Kind.CARRY_OF_UNKNOWNS)
    spans = [ends for v in (a, b, c) if (ends := lane_spans(v)) is not None]
    if bits < 64 and len(spans) == 3 and in0.known and in1.known:
        more = in0.base.astype(np.int64) + in1.base
        low, high = (sum(ends) + more >> bits for ends in zip(*spans))
        if (low == high).all():
            return total, Value(low >= 1), Value(low >= 2)
    return total, unknown, unknown


def _carry_kept(values: tuple[Value, ...]) -> tuple[Value, Value, Value]:
    """The same where what carries, and the upper half of a sum of pairs, are remembered (`halves`)."""
    total, once, twice = _add3_carry(values, 32)
    *addends, in0, in1 = values
    for carry, other in ((in0, in1), (in1, in0)):
        if isinstance(carry, Carry) and other.known and not other.base.any():
            whole = carried(tuple(addends), carry)
            half = None if whole is None else _extract(whole, 32, 32, keep=True)
            total = total if half is None else half
    if in0.known and in1.known and in0.base.size == in1.base.size == 1 and once.poison is not None:
        once = Carry(once, tuple(addends), int(in0.base.flat[0]) + int(in1.base.flat[0]))
    return total, once, twice


def field(name: str, values: tuple[Value, ...], bits: int) -> Value | None:
    """A bit field with known place: shift and mask."""
    if name == "bfe.u":
        a, pos, length = values
        p, n = _number(pos), _number(length)
        if p is None or n is None:
            return None
        p, n = p & 0xFF, n & 0xFF
    else:
        a, length = values
        p, n = 0, _number(length)
        if n is None:
            return None
    if p >= bits or n == 0:
        return constant(0, bits)
    shifted = a if p == 0 else _one(Op("shr.u", bits=bits), (a, constant(p, 32)))
    return shifted if p + n >= bits else binary("and", shifted, constant((1 << n) - 1, bits))


def extremum(name: str, a: Value, b: Value) -> Value | None:
    """min/max where one side is never larger."""
    if a.poison is not None or b.poison is not None or not (fits_signed(a) and fits_signed(b)):
        return None
    difference = subtract(a, b)
    s = span(difference)
    if s is None or not within_half_of_each_other(a, b):
        return None
    if name.endswith(".u") and any(own is None or own[0] < 0 for own in (span(a), span(b))):
        return None
    if s[1] <= 0:
        return a if name.startswith("min") else b
    if s[0] >= 0:
        return b if name.startswith("min") else a
    return None


def divided_by_a_power(name: str, a: Value, b: Value) -> Value | None:
    """Division by a power of two of a value that cannot be negative."""
    d = _number(b)
    if d is None or d == 0 or d & (d - 1):
        return None
    if name.endswith(".s"):
        s = span(a)
        if s is None or s[0] < 0 or not fits_signed(a):
            return None
    if name.startswith("div"):
        return _one(Op("shr.u", bits=a.bits), (a, constant(d.bit_length() - 1, 32)))
    return binary("and", a, constant(d - 1, a.bits))


def funnel(name: str, values: tuple[Value, ...], attrs: tuple[Any, ...]) -> Value | None:
    """A funnel shift that is a plain shift because one half is zero."""
    lo, hi, n = values
    k = _number(n)
    if k is None:
        return None
    k = k & 31 if attrs and attrs[0] == "wrap" else min(k, 32)
    if name == "shf.r" and _number(hi) == 0:
        return _one(Op("shr.u", bits=32), (lo, constant(k, 32)))
    if name == "shf.l" and _number(lo) == 0:
        return _one(Op("shl", bits=32), (hi, constant(k, 32)))
    whole = _concatenate((lo, hi), 64)
    if whole is None:
        return None
    if name == "shf.l" and KEEP in attrs and whole.valid is None and whole.terms:
        return _extract(scale(whole, np.full((1, 1), 1 << k, np.uint64)), 32, 32, keep=True)
    moved = _one(Op("shr.u", bits=64), (whole, constant(k if name == "shf.r" else 32 - k, 32)))
    return fit(moved, 32)


def permuted(values: tuple[Value, ...], attrs: tuple[Any, ...]) -> Value | None:
    """A byte permutation that moves whole known low bytes, or selects one source unchanged."""
    a, b, sel = values
    s = _number(sel)
    if s is None or attrs and attrs[0]:
        return None
    if s & 0xFFFF == 0x3210:
        return a
    if s & 0xFFFF == 0x7654:
        return b
    parts = None
    for i in range(4):
        nibble = s >> (4 * i) & 0xF
        if nibble & 8:
            return None
        source = a if nibble < 4 else b
        byte = _one(Op("bfe.u", bits=32), (source, constant(8 * (nibble & 3), 32), constant(8, 32)))
        if byte.poison is not None:
            return None
        byte = scale(byte, np.full((1, 1), 1 << (8 * i), np.uint32)) if i else byte
        parts = byte if parts is None else add(parts, byte)
    return parts


def _known_bytes(values: tuple[Value, ...], attrs: tuple[Any, ...]) -> Value | None:
    """A permutation whose low bytes come from bytes that are known, whatever the others are: how ptxas moves
    16-bit values about in registers whose upper halves nobody wrote."""
    a, b, sel = values
    s = _number(sel)
    if s is None or attrs and attrs[0] or a.terms or b.terms:
        return None

    def good(byte: int) -> bool:
        source = a if byte < 4 else b
        return source.poison is None and (source.valid is None or source.valid >= 8 * ((byte & 3) + 1))

    low = next((i for i in range(4) if not good(s >> (4 * i) & 7)), 4)
    if not low:
        return None
    out = OPS["prmt"].concrete(32, attrs, a.base, b.base, sel.base)
    return Value(out) if low == 4 else Value(out, (), 8 * low, None, because(a, b))


def apply(op: Op, values: tuple[Value, ...], index: int = -1, row: Row | None = None) -> Value | tuple[Value, ...]:
    """The results of an operation: a Value, or a tuple for rows with several results. For the rest see `_applied`."""
    for v in values:
        if v.terms and v.poison is not None and op.name not in _APART:
            values = tuple([folded(v) if has_constants(v) else v for v in values])
            break
    out = _applied(op, values, index, row)
    first = out[0] if isinstance(out, tuple) else out
    if (
        op.name == "shl"
        and first.valid is not None
        and first.poison is None
        and values[0].sure is not None
        and not values[0].terms
    ):
        first = Value(first.base, (), None, EVERYWHERE, first.why)
    if first.poison is None or first.sure is not None or first.alternatives is not None or isinstance(first, UpperHalf):
        return out
    better = _refined(op, values, first)
    return out if better is first else (better, *out[1:]) if isinstance(out, tuple) else better


def _refined(op: Op, values: tuple[Value, ...], out: Value) -> Value:
    """The result of an operation that was not known in some lanes, with the bits of it that are."""
    rule = OPS[op.name].bits if op.name in OPS else None
    if rule is None or any(v.alternatives is not None for v in values):
        return out
    if any(v.terms for v in values):
        nowhere_known = out.poison is not None and out.poison.all()
        if op.name not in _SIGNS or not nowhere_known or any(v.bits != op.bits for v in values):
            return out
        terms = combine_terms(values[0].terms, values[1].terms, _SIGNS[op.name])
        if terms is None:
            return out
        out = Value(out.base, terms, None, out.poison, out.why)
    parts = [known_part(v) for v in values]
    if op.name in ("add", "mad") and op.bits > 1 and {part.bits.dtype for part in parts} == {out.base.dtype}:
        addend = parts[0] if op.name == "add" else product(*parts[:2])
        return out if addend is None else total(out, addend, parts[-1])
    found = rule(op, *parts)
    return out if found is None else with_bits(out, found)


def _applied(op: Op, values: tuple[Value, ...], index: int = -1, row: Row | None = None) -> Value | tuple[Value, ...]:
    """The results of an operation, bits of what is not known left out but for those of bitwise operations.

    values: one per source, any width; they are fitted to the row's. index: the instruction, for reasons. row: what the
    operation means on the machine at hand, where that is not what `OPS` says.
    """
    row = row or meaning_of(op.name)
    if row is None:
        if of_its_sources(op.name) and values:  # equal sources, equal result, whatever it is
            same_everywhere = derived(op.name, values, op.bits, op.attrs)
            if same_everywhere is not None:
                return same_everywhere
        return opaque(op.bits, because(*values) or Reason(Kind.NO_MEANING, index, (op.name,)))
    if row.strict:
        for v in values:
            if v.poison is EVERYWHERE:
                return opaque(1 if row.predicate else op.bits, because(*values))
    elif (
        op.name == "select"
        and values[2].poison is EVERYWHERE
        and values[0].poison is EVERYWHERE
        and values[0] is not values[1]
    ):
        return opaque(op.bits, because(*values))
    values = tuple(
        [
            v if t is None or v.base.dtype == t else fit(v, BITS[t])
            for v, t in zip(values, _source_types(row, op.bits, len(values)))
        ]
    )
    known = numbers = True  # in all lanes, in those that are not poisoned
    several = row.candidates is not None
    for v in values:
        if v.terms or v.valid is not None:
            known = numbers = False
        elif v.poison is not None:
            known = False
        if v.alternatives is not None:
            several = True
    if several:
        out = _several(row, op, values, index, numbers)
        if out is not None:
            return out
    if op.name == "prmt" and not known:
        kept = _known_bytes(values, op.attrs)
        if kept is not None:
            return kept
    if known:
        arrays = row.concrete(op.bits, op.attrs, *(v.base for v in values))
        if row.undefined is not None:
            bad = row.undefined(op.bits, op.attrs, *(v.base for v in values))
            if bad.any():
                return Value(arrays, poison=bad, why=Reason(Kind.UNDEFINED, index, (op.name,)))
        return tuple([Value(each) for each in arrays]) if isinstance(arrays, tuple) else Value(arrays)
    if numbers:
        return _poisoned(row, op, values, index)
    out = _symbolic(op, values)
    if out is None:
        out = _lane_by_lane(row, op, values, index)
    if out is None:
        bits = 1 if row.predicate else op.bits
        if row.results == 1:
            out = derived(op.name, values, bits, op.attrs)
        if out is None:
            out = give_up(values, bits, Kind.UNKNOWN_SOURCES, index, (op.name,))
    return out


def _several(
    row: Row, op: Op, values: tuple[Value, ...], index: int, numbers: bool
) -> Value | tuple[Value, ...] | None:
    """The result where the operation has candidates, or a source has alternatives; None where these are too many."""
    if row.candidates is not None:
        return (
            _candidates(row, op, values, index)
            if numbers
            else derived(op.name, values, op.bits, op.attrs)
            or give_up(values, op.bits, Kind.UNKNOWN_SOURCES, index, (op.name,))
        )
    if not numbers:
        return alternatives.symbolic(lambda plain: apply(op, plain, index, row), values)
    if op.name == "mov":
        return values[0]
    if op.name == "select":
        return alternatives.selected(values)
    undefined = row.undefined
    return alternatives.elementwise(
        lambda *bases: row.concrete(op.bits, op.attrs, *bases),
        None if undefined is None else lambda *bases: undefined(op.bits, op.attrs, *bases),
        values,
        op.name,
        index,
    )


def _candidates(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value:
    """An operation of which only candidates are known, on numbers."""
    why = because(*values) or Reason(Kind.WITHIN_ERROR, index, (op.name,))
    together = alternatives.of_all(values)
    if together is None:
        return opaque(op.bits, why)
    axes, bases, unknown = together
    assert row.candidates is not None
    numbers, beyond = row.candidates(op.bits, op.attrs, *bases)
    if beyond.all() and not axes:  # as little is known of it as of any other function of its sources
        return derived(op.name, values, op.bits, op.attrs) or opaque(op.bits, why)
    beyond = beyond.any(axis=0)
    if numbers.shape[0] * numbers.shape[1] > alternatives.MOST:
        return opaque(op.bits, why)
    uniform = all(base.shape[-1] == 1 for base in bases)
    return alternatives.chosen(numbers, either(unknown, beyond if beyond.any() else None), axes, uniform, why)


def _lane_by_lane(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value | tuple[Value, ...] | None:
    """Where some lanes have no unknown in them (those that others left behind in a loop, say): the result there."""
    unknown = None
    for v in values:
        if v.valid is not None:
            return None
        for _, c in v.terms:
            unknown = either(unknown, c != 0)
        unknown = either(unknown, v.poison)
    assert unknown is not None  # something is not known in some lane
    if unknown.all():
        return None
    out = row.concrete(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        unknown = unknown | row.undefined(op.bits, op.attrs, *(v.base for v in values))
    why = because(*values) or Reason(Kind.UNKNOWN_SOURCES, index, (op.name,), unknowns_of(*values))
    return (
        tuple(Value(o, poison=unknown, why=why) for o in out)
        if isinstance(out, tuple)
        else Value(out, poison=unknown, why=why)
    )


def _poisoned(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value | tuple[Value, ...]:
    """Known lanes stay known: run the row, carry the poison."""
    if op.name == "mov":
        return values[0]
    if KEEP in op.attrs:
        out = _symbolic(op, values)
        if out is not None:
            return out
    if op.name in (*_BITWISE, "select", "mul"):
        bitwise = op.name in _BITWISE and op.bits > 1  # bits that are sure are found afterwards: `_refined`
        if bitwise and all(v.base.size == 1 and (v.poison is None or v.poison is EVERYWHERE) for v in values):
            return opaque(op.bits, because(*values))
        out = _symbolic(op, values)
        assert not isinstance(out, tuple)  # each has one result
        if out is not None and not (bitwise and out.poison is not None and out.poison.all()):
            return out
        if bitwise:
            return opaque(op.bits, because(*values))
    poison = None
    for v in values:
        poison = either(poison, v.poison)
    why = because(*values)
    assert poison is not None
    if poison.all():
        if row.results > 1:
            return tuple(opaque(op.bits if i == 0 else 1, why) for i in range(row.results))
        bits = 1 if row.predicate else op.bits
        return _partly_known(op, values, why) or opaque(bits, why)
    arrays = row.concrete(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        poison = poison | row.undefined(op.bits, op.attrs, *(v.base for v in values))
    if isinstance(arrays, tuple):
        return tuple(Value(each, poison=poison, why=why) for each in arrays)
    return Value(arrays, poison=poison, why=why)


def _partly_known(op: Op, values: tuple[Value, ...], why: Reason | None) -> Value | None:
    """Low zero bits of an opaque value: `loaded << 2` is a multiple of 4, `loaded & 31` of nothing."""
    if op.name == "shl":
        n = _number(values[1])
        if n is not None and 0 < n < op.bits:
            return Value(np.zeros((1, 1), DTYPES[op.bits]), (), n, None, why)
    return None
