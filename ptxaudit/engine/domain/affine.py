"""Sums, products and shifts of values that are not fully known: exact rules on `base + Σ coeff·u`.

Every rule is an identity modulo 2**valid; a rule that holds only without wrapping checks the ranges that rule
wrapping out. A uniform result without an affine form becomes a *derived* unknown, named by its expression; any other
is opaque, with the reason of the first opaque source. (`bits` has the bitwise operations, `operations` all of them.)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from hashlib import blake2b
from operator import or_
from typing import Any, TypedDict

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain import alternatives, naming, truths
from ptxaudit.engine.domain.known_bits import known_part, total
from ptxaudit.engine.domain.value import (
    DTYPES,
    MAX_TERMS,
    Terms,
    Uniform,
    Value,
    array_zeros,
    as_uniform,
    because,
    combine_terms,
    constant,
    either,
    fingerprint,
    fits_signed,
    known,
    lane_spans,
    lane_uniform,
    least,
    opaque,
    resize,
    sign_extended,
    signed,
    some,
    span,
    squeeze,
    term_zeros,
    unknown,
    wrapped_spans,
)
from ptxaudit.ir.reasons import Kind, Reason

_GATHERED = frozenset(("parameter", "symbol", "loaded", "choice", "bit", "derived", "special", "block shape"))
_SHARED_BY_LANES = _GATHERED | {"extension"}
LONGEST_NAME = 200  # characters in the name of an unknown that is named by its expression


def fit(value: Value, bits: int) -> Value:
    """Zero-extends or truncates a value to a width."""
    own = value.bits
    if own == bits:
        return value
    if value.known:
        return Value(resize(value.base, bits))
    if value.alternatives is not None:
        return alternatives.changed(value, lambda v: fit(v, bits), lambda array: resize(array, bits))
    if bits < own and bits > 1:
        valid = None if value.valid is None or value.valid >= bits else value.valid
        terms = tuple([(u, d) for u, c in value.terms if some(d := resize(c, bits))])
        poison, sure = value.poison, None if value.sure is None else resize(value.sure, bits)
        if poison is not None and sure is not None:  # in some lanes, perhaps only bits above these are unknown
            poison = poison & (sure != DTYPES[bits]((1 << bits) - 1))
            if not anywhere(poison):
                poison = sure = None
        return Value(resize(value.base, bits), terms, valid, poison, value.why, sure)
    if bits == 1:
        return truth(value)
    return zero_extend(value, bits)


def truth(value: Value) -> Value:
    """Bit 0 as a predicate."""
    if value.known:
        return Value(resize(value.base, 1))
    if term_zeros(value) >= 1:
        return Value(resize(value.base, 1), poison=value.poison, why=value.why)
    return derived("bit0", (value,), 1) or give_up((value,), 1, Kind.BIT_OF_UNKNOWN)


def zero_extend(value: Value, bits: int) -> Value:
    if value.base.dtype == bool:
        if not value.terms:
            return Value(resize(value.base, bits), poison=value.poison, why=value.why)
        number = truths.extended(value, bits) or derived("zext", (value,), bits)
        return number or give_up((value,), bits, Kind.PREDICATE_AS_NUMBER)
    if value.known:
        return Value(resize(value.base, bits))
    s = span(value)
    if s is not None and s[0] >= 0 and s[1] < 1 << (value.bits - 1):
        return Value(
            resize(value.base, bits) if throughout(signed(value.base) >= 0) else sign_extended(bits, value.base),
            tuple((u, sign_extended(bits, c)) for u, c in value.terms),
        )
    if (spans := wrapped_spans(value)) is not None:  # read as unsigned
        base = resize(value.base, bits) - resize(spans[2].view(np.uint64), bits) * DTYPES[bits](1 << value.bits)
        return Value(base, tuple((u, sign_extended(bits, c)) for u, c in value.terms))
    if value.poison is not None and not value.terms and value.valid is None:
        above = DTYPES[bits]((1 << bits) - (1 << value.bits))
        sure = np.full((1, 1), above) if value.sure is None else resize(value.sure, bits) | above
        return Value(resize(value.base, bits), poison=value.poison, why=value.why, sure=sure)
    # the upper half is unknown, the lower one is not
    return _widened("zext", value, bits) or partial(value, bits, value.valid if value.valid is not None else value.bits)


def sign_extend(value: Value, bits: int) -> Value:
    if value.alternatives is not None:
        return alternatives.changed(value, lambda v: sign_extend(v, bits), lambda array: sign_extended(bits, array))
    if value.bits >= bits:
        return fit(value, bits)
    if value.known:
        return Value(sign_extended(bits, value.base))
    if value.base.dtype == bool and value.terms:
        return subtract(constant(0, bits), zero_extend(value, bits))
    if fits_signed(value):
        return Value(sign_extended(bits, value.base), tuple((u, sign_extended(bits, c)) for u, c in value.terms))
    if not value.terms and value.valid is None:
        return Value(sign_extended(bits, value.base), poison=value.poison, why=value.why)
    return _widened("sext", value, bits) or partial(value, bits, value.valid if value.valid is not None else value.bits)


def _widened(name: str, value: Value, bits: int) -> Value | None:
    """Extends a value whose lanes wrap together: the wide sum less 2**width times the number of wraps.

    That number is one more unknown, uniform in a warp. None if the lanes may wrap differently.
    """
    flat = squeeze(value)
    if flat.poison is not None or flat.valid is not None or not flat.terms or not _wraps_together(flat):
        return None
    wraps = Uniform("wraps", bits, kind="extension", key=(name, fingerprint(flat)), **made_of(flat))
    more = unknown(wraps).terms[0]
    terms = tuple((u, resize(c, bits)) for u, c in flat.terms)
    return Value(resize(flat.base, bits), (*terms, (wraps, more[1] << more[1].dtype.type(flat.bits))))


def _wraps_together(value: Value) -> bool:
    """Whether all lanes of a warp wrap the same number of times, read signed or unsigned.

    They do if they are equal, or differ only below the lowest bit that the unknowns reach, so that no lane carries
    where another does not.

        8·u + {0, …, 7}: together;  8·u + {4, …, 11}: 8·u may be 2**32 - 8
    """
    if value.uniform:
        return True
    if any(c.shape[1] > 1 for _, c in value.terms):
        return False
    above = value.base >> value.base.dtype.type(min(term_zeros(value), value.bits - 1))
    return throughout(above == above[:, :1])


def partial(value: Value, bits: int, valid: int) -> Value:
    terms = tuple((u, resize(c, bits)) for u, c in value.terms)
    return Value(resize(value.base, bits), terms, valid, value.poison, value.why)


def derived(
    name: str, values: tuple[Value, ...], bits: int, attrs: tuple[Any, ...] = (), zeros: int = 0
) -> Value | None:
    """A uniform unknown for an operation on uniform values; None if a source varies by lane."""
    flat = []
    for v in values:
        if (one := as_uniform(v)) is None:
            return None
        flat.append(one)
    values = tuple(flat)
    text = brief(naming.expression(name, [short(v) for v in values]))
    key = name, attrs, tuple(fingerprint(v) for v in values)
    symbol = Uniform(text, bits, zeros, key=key, address=addresses(*values), **made_of(*values))
    return unknown(symbol)


def brief(text: str) -> str:
    """A name, or the beginning of a long one with a digest: in some loops, names of names double with each trip."""
    return (
        text
        if len(text) <= LONGEST_NAME
        else f"{text[:LONGEST_NAME]}…{blake2b(text.encode(), digest_size=4).hexdigest()}"
    )


def short(value: Value) -> str:
    """A uniform value as a formula."""
    parts = []
    for u, c in value.terms:
        factor = int(signed(c).flat[0]) if c.dtype != bool else 1
        name = naming.operand(u.name)
        parts.append(name if factor == 1 else f"{factor}*{name}")
    if value.base.size > 1:
        parts.append("…")
    else:
        number = int(value.base.flat[0]) if value.base.dtype == bool else int(signed(value.base).flat[0])
        if number or not parts:
            parts.append(str(number))
    return " + ".join(parts).replace("+ -", "- ")


def give_up(values: Iterable[Value], bits: int, kind: Kind, index: int = -1, given: tuple[Any, ...] = ()) -> Value:
    """An opaque result: for the first opaque source's reason, else for this one with the unknowns of the sources."""
    return opaque(bits, because(*values) or Reason(kind, index, given, unknowns_of(*values)))


def unknowns_of(*values: Value) -> tuple[Uniform, ...]:
    return tuple(dict.fromkeys(u for v in values for u, _ in v.terms))


def from_data(*values: Value) -> bool:
    return any(u.data for v in values for u, _ in v.terms)


def addresses(*values: Value) -> bool:
    """Whether some of the values may be an address or computed from one."""
    return any(u.address or u.kind == "window" for v in values for u, _ in v.terms)


class Made(TypedDict):
    """Fields of `Uniform`."""

    data: bool
    blocks: int
    launch_wide: bool


def made_of(*values: Value) -> Made:
    """The fields that an unknown inherits from the values from which it is computed."""
    return {
        "data": from_data(*values),
        "blocks": reduce(or_, (u.blocks for v in values for u, _ in v.terms), 0),
        "launch_wide": all(map(_launch_wide, values)),
    }


def _launch_wide(value: Value) -> bool:
    """It is made of unknowns that are, and of numbers that do not differ by warp."""
    return len(value.base) == 1 and all(u.launch_wide and len(c) == 1 for u, c in value.terms)


def _weaker(a: Value, b: Value) -> tuple[int | None, np.ndarray | None, Reason | None]:
    """(valid, poison, why) of a result that needs both operands."""
    if a.why is None and b.why is None and a.poison is None and b.poison is None:
        return least(a.valid, b.valid), None, None
    return least(a.valid, b.valid), either(a.poison, b.poison), because(a, b)


def add(a: Value, b: Value) -> Value:
    if a.alternatives is not None or b.alternatives is not None:
        out = alternatives.symbolic(lambda plain: add(*plain), (a, b))
        return out if isinstance(out, Value) else give_up((a, b), a.bits, Kind.MANY_ALTERNATIVES)
    terms = combine_terms(a.terms, b.terms)
    if terms is None and (terms := _gathered(a, b, 1)) is None:
        return give_up((a, b), a.bits, Kind.MANY_TERMS)
    out = Value(a.base + b.base, terms, *_weaker(a, b))
    if a.sure is None and b.sure is None:
        return out
    return total(out, known_part(a), known_part(b))


def subtract(a: Value, b: Value) -> Value:
    terms = combine_terms(a.terms, b.terms, -1)
    if terms is None and (terms := _gathered(a, b, -1)) is None:
        return give_up((a, b), a.bits, Kind.MANY_TERMS)
    return Value(a.base - b.base, terms, *_weaker(a, b))


def _gathered(a: Value, b: Value, sign: int) -> Terms | None:
    """The terms of a + b or a − b where there are too many: uniform ones become a single unknown, their sum.

    None if too many remain. Terms that change with trips or blocks stay separate, and so do possible parts of
    addresses where there is room: later analyses look for them by name. A sum that includes a possible part of an
    address may be an address.
    """
    terms = combine_terms(a.terms, b.terms, sign, len(a.terms) + len(b.terms)) or ()
    for chosen in (_is_plain, _is_shared):
        plain = tuple([(u, c) for u, c in terms if chosen(u, c)])
        rest = tuple([term for term in terms if term[0] not in dict(plain)])
        if len(plain) >= 2 and len(rest) < MAX_TERMS:
            return (*rest, (_sum_of(plain, a.bits, chosen is _is_shared), np.ones((1, 1), a.base.dtype)))
    return None


def _sum_of(terms: Terms, bits: int, address: bool) -> Uniform:
    """A sum of unknowns as one unknown. address: it may be an address."""
    total = Value(np.zeros((1, 1), DTYPES[bits]), terms)
    low, high = (span(total) if fits_signed(total) else None) or (None, None)
    name, key = brief(short(total)), ("sum", fingerprint(total))
    return Uniform(name, bits, term_zeros(total), low, high, key=key, address=address, **made_of(total))


def _is_plain(u: Uniform, c: np.ndarray) -> bool:
    """Whether the term is a count with a uniform coefficient that does not move it to the upper half of a number."""
    return u.kind in _GATHERED and not u.address and _is_small_factor(c)


def _is_shared(u: Uniform, c: np.ndarray) -> bool:
    """Whether the term is uniform, and neither the base of an object nor changed by trips or blocks."""
    return u.kind in _SHARED_BY_LANES and c.shape[1] == 1


def _is_small_factor(c: np.ndarray) -> bool:
    """Whether the coefficient is uniform and does not move a number to the upper half of another."""
    return c.shape[1] == 1 and throughout(np.abs(signed(c).astype(np.int64)) < 1 << 31)


def scale(a: Value, factor: np.ndarray) -> Value:
    """The product of a value and a known array of the same width."""
    terms = tuple([(u, d) for u, c in a.terms if some(d := c * factor)])
    valid = a.valid
    if valid is not None:
        valid = min(a.bits, valid + array_zeros(factor))
        valid = None if valid == a.bits else valid
    poison = a.poison
    if poison is not None and not throughout(factor):
        poison = poison & (factor != 0)
    return Value(a.base * factor, terms, valid, poison, a.why)


def product_symbol(u: Uniform, v: Uniform) -> Uniform:
    if v.identity < u.identity:
        u, v = v, u
    low = high = None
    if u.low is not None and u.high is not None and v.low is not None and v.high is not None:
        ends = [x * y for x in (u.low, u.high) for y in (v.low, v.high)]
        low, high = min(ends), max(ends)
    name = brief("*".join(sorted((naming.operand(u.name), naming.operand(v.name)))))
    return Uniform(
        name,
        max(u.bits, v.bits),
        u.zeros + v.zeros,
        low,
        high,
        key=("*", u, v),
        data=u.data or v.data,
        blocks=u.blocks | v.blocks,
        launch_wide=u.launch_wide and v.launch_wide,
    )


def multiply(a: Value, b: Value) -> Value:
    if b.known:
        return scale(a, b.base)
    if a.known:
        return scale(b, a.base)
    terms: dict[Uniform, np.ndarray] = {}

    def put(u: Uniform, c: np.ndarray) -> None:
        terms[u] = terms[u] + c if u in terms else c

    for u, c in a.terms:
        put(u, c * b.base)
    for v, d in b.terms:
        put(v, d * a.base)
    for u, c in a.terms:
        for v, d in b.terms:
            put(product_symbol(u, v), c * d)
    kept = tuple((u, c) for u, c in terms.items() if some(c))
    if len(kept) > MAX_TERMS:
        return give_up((a, b), a.bits, Kind.MANY_FACTORS)
    return Value(a.base * b.base, kept, *_weaker(a, b))


def invert(a: Value) -> Value:
    """~a = −a − 1."""
    if a.alternatives is not None:
        return alternatives.changed(a, invert, np.invert)
    if a.base.dtype == bool:
        if a.terms:
            return derived("not", (a,), 1) or give_up((a,), 1, Kind.NOT_OF_UNKNOWN)
        out = Value(~a.base, poison=a.poison, why=a.why, classes=a.classes)
        out.lone = (a.lone[1], a.lone[0])
        return out
    minus = scale(a, np.full((1, 1), -1 & ((1 << a.bits) - 1), a.base.dtype))
    return Value(minus.base - a.base.dtype.type(1), minus.terms, a.valid, a.poison, a.why)


def shift_right(a: Value, n: int, is_signed: bool) -> Value | None:
    """Floor division by 2**n: exact if every term is a multiple of 2**n."""
    if n >= a.bits or a.poison is not None and not a.terms and a.valid is None:
        return None
    if a.valid is not None and a.valid <= n:
        return None
    if (alike := _same_quotient(a, n)) is not None:
        return alike
    if term_zeros(a) < n:
        return _shift_right_by_bits(a, n, is_signed)
    s = span(a)
    half = 1 << (a.bits - 1)
    whole = s is not None and (-half <= s[0] and s[1] < half if is_signed else 0 <= s[0] and s[1] < half)
    shift = signed(np.full((1, 1), n, a.base.dtype))[0, 0]

    def down(array: np.ndarray) -> np.ndarray:
        lower: np.ndarray = signed(array) >> shift
        return lower.view(array.dtype)

    # base and coefficients are read as signed: floor((b + 2^n m) / 2^n) = floor(b / 2^n) + m.
    terms = []
    for u, c in a.terms:
        have = array_zeros(c)
        if have >= n:
            terms.append((u, down(c)))
            continue
        part = _quotient(u, n - have)
        if u.bits < a.bits and (part.low is None or part.high is None):
            return None
        terms.append((part, (signed(c) >> have).view(c.dtype)))
    base = down(a.base)
    if whole:
        return Value(base, tuple(terms), None, a.poison, a.why)
    if n and len(terms) < MAX_TERMS and (flat := as_uniform(a)) is not None:
        # the number of wraps is uniform: one more unknown
        key = ("shr.s" if is_signed else "shr.u", n, fingerprint(flat))
        wraps = Uniform("wraps", a.bits, kind="extension", key=key, **made_of(flat))
        return Value(base, (*terms, (wraps, np.full((1, 1), 1 << (a.bits - n), a.base.dtype))))
    return Value(base, tuple(terms), (a.bits if a.valid is None else a.valid) - n, a.poison, a.why)


def _quotient(u: Uniform, n: int) -> Uniform:
    """u / 2**n, for an unknown whose low zeros a coefficient below 2**n needs."""
    low, high = (None if limit is None else limit >> n for limit in (u.low, u.high))
    name = f"{naming.operand(u.name)}/{1 << n}"
    inherited = Made(data=u.data, blocks=u.blocks, launch_wide=u.launch_wide)
    return Uniform(name, u.bits, u.zeros - n, low, high, u.kind, ("/", n, u), **inherited)


def _same_quotient(a: Value, n: int) -> Value | None:
    """The quotient, if it is the same in each lane whatever the unknowns are: the sign of a nonnegative number is 0."""
    spans = lane_spans(a) if a.terms else None
    if spans is None:
        return None
    low, high = spans
    if high.max() >= 1 << (a.bits - 1):  # below, signed and unsigned agree
        return None
    quotient = low >> n
    return known(quotient.astype(a.base.dtype)) if throughout(quotient == high >> n) else None


def _shift_right_by_bits(a: Value, n: int, is_signed: bool) -> Value | None:
    """The quotient where the unknowns reach one or two bits below 2**n: one of two or four numbers per lane.

    With w the sum of the unknowns and s its bits below 2**n, the quotient is floor(w / 2**n) + floor((b + s) / 2**n).
    The second summand is a function of one or two bits, written as a polynomial in them.
    """
    zeros = term_zeros(a)
    whole = Value(np.zeros((1, 1), a.base.dtype), a.terms)
    if n - zeros > 2 or a.poison is not None or a.valid is not None or not all(lane_uniform(c) for _, c in a.terms):
        return None
    bits = [bit for b in range(zeros, n) if (bit := bit_of(whole, b)) is not None]
    if len(bits) < n - zeros:
        return None
    flat = squeeze(whole)
    s = span(a)
    half = 1 << (a.bits - 1)
    if s is None or not (-half <= s[0] if is_signed else 0 <= s[0]) or s[1] >= half:
        return None
    if int(signed(a.base).max()) + (1 << n) > half:  # the base plus the bits may wrap
        return None
    low, high = (s[0] - int(signed(a.base).max())) >> n, (s[1] - int(signed(a.base).min())) >> n
    quotient = unknown(
        Uniform(
            f"({short(flat)})/{1 << n}",
            a.bits,
            0,
            low,
            high,
            "derived",
            ("quotient", n, fingerprint(flat)),
            **made_of(flat),
        )
    )

    def at(k: int) -> np.ndarray:
        moved = signed(a.base) + np.array(k << zeros, a.base.dtype).astype(signed(a.base).dtype)
        result: np.ndarray = (moved >> n).view(a.base.dtype)
        return result

    out = add(Value(at(0)), quotient)
    out = add(out, scale(unknown(bits[0]), at(1) - at(0)))
    if len(bits) == 2:
        both = product_symbol(bits[0], bits[1])
        out = add(out, scale(unknown(bits[1]), at(2) - at(0)))
        out = add(out, scale(unknown(both), at(3) - at(2) - at(1) + at(0)))
    return out


def bit_of(value: Value, bit: int) -> Uniform | None:
    """Bit `bit` of a uniform value as an unknown in {0, 1}; None if the value is not uniform."""
    flat = squeeze(value)
    if not flat.uniform or flat.poison is not None or flat.valid is not None and flat.valid <= bit:
        return None
    return Uniform(
        f"bit {bit} of ({short(flat)})", value.bits, 0, 0, 1, "bit", ("bit", bit, fingerprint(flat)), **made_of(flat)
    )
