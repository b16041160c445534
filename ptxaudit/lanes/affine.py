"""Operations on values that are not fully known: exact rules where they exist, else derived or opaque.

`apply(op, values)` is the only entry. Where all sources are known it runs the row of
`MEANINGS`. Otherwise it tries, in this order:

1. the affine rule of the operation, which keeps the form `base + Σ coeff·u`;
2. for values without lane dependence, a derived unknown named by the expression;
3. the low bits: sums, products and left shifts of partly known values are known as far down as
   their sources are;
4. opaque, with the reason of the first source that was.

Every rule is an identity modulo 2**valid; where an identity needs the absence of wrapping, the rule
asks for the ranges that prove it.
"""

from __future__ import annotations

import numpy as np

from ..ir import Op
from .floats import FLOATS
from .meaning import MEANINGS, source_bits
from .value import (
    DTYPES, EVERYWHERE, Lost, Uniform, Value, array_zeros, because, combine_terms, constant, either, fingerprint, fits_signed,
    lane_uniform, least, low_zeros, opaque, resize, same, signed, span, squeeze, sure_bits, term_zeros, unknown,
)

ROWS = MEANINGS | FLOATS

MAX_BITS = 6        # bits of an unknown that are told apart: a swizzle takes three to five


# Functions of their sources alone that have no row: approximations, whose last bits no document gives.
_OF_ITS_SOURCES = ("mufu.", "sqrt.approx", "rsqrt.approx", "rcp.approx", "ex2.approx", "lg2.approx", "sin.approx", "cos.approx",
                   "tanh.approx", "div.approx", "div.full")


def of_its_sources(name: str) -> bool:
    """Equal sources give equal results, though no document says which."""
    return name.startswith(_OF_ITS_SOURCES)


meaning_of = ROWS.get


def fit(value: Value, bits: int) -> Value:
    """Zero-extend or truncate a value to a width."""
    own = value.bits
    if own == bits:
        return value
    if value.known:
        return Value(resize(value.base, bits))
    if bits < own and bits > 1:
        valid = None if value.valid is None or value.valid >= bits else value.valid
        terms = tuple((u, c) for u, c in ((u, resize(c, bits)) for u, c in value.terms) if c.any())
        return Value(resize(value.base, bits), terms, valid, value.poison, value.why)
    if bits == 1:
        return truth(value)
    return zero_extend(value, bits)


def truth(value: Value) -> Value:
    """Bit 0 as a predicate."""
    if value.known:
        return Value(resize(value.base, 1))
    if term_zeros(value) >= 1:
        return Value(resize(value.base, 1), poison=value.poison, why=value.why)
    return _derived("bit0", (value,), 1) or _lost((value,), 1, "bit 0 of an unknown")


def zero_extend(value: Value, bits: int) -> Value:
    if value.base.dtype == bool:
        return Value(resize(value.base, bits), poison=value.poison, why=value.why) if not value.terms else \
            _derived("zext", (value,), bits) or _lost((value,), bits, "an unknown predicate as a number")
    if value.known:
        return Value(resize(value.base, bits))
    s = span(value)
    if s is not None and s[0] >= 0 and s[1] < 1 << (value.bits - 1):
        return Value(resize(value.base, bits) if (signed(value.base) >= 0).all() else _sign_extend_array(value.base, bits),
                     tuple((u, _sign_extend_array(c, bits)) for u, c in value.terms))
    if value.poison is not None and not value.terms and value.valid is None:
        return Value(resize(value.base, bits), poison=value.poison, why=value.why)
    # the upper half is lost, the lower one is not
    return _widened("zext", value, bits) or _partial(value, bits, value.valid if value.valid is not None else value.bits)


def sign_extend(value: Value, bits: int) -> Value:
    if value.base.dtype == bool or (value.known):
        return _known("sext", bits, (), (value,))
    if fits_signed(value):
        return Value(_sign_extend_array(value.base, bits), tuple((u, _sign_extend_array(c, bits)) for u, c in value.terms))
    if not value.terms and value.valid is None:
        return Value(_sign_extend_array(value.base, bits), poison=value.poison, why=value.why)
    return _widened("sext", value, bits) or _partial(value, bits, value.valid if value.valid is not None else value.bits)


def _sign_extend_array(array, bits):
    return signed(array).astype(f"i{bits // 8}").view(DTYPES[bits])


def _widened(name: str, value: Value, bits: int) -> Value | None:
    """A value that is the same in all lanes, extended: the sum in more bits, less a multiple of what it wrapped
    around; how often it did is one more unknown."""
    flat = squeeze(value)
    if not flat.uniform or flat.poison is not None or flat.valid is not None or not flat.terms:
        return None
    wraps = Uniform("wraps", bits, 0, key=(name, fingerprint(flat)), data=_from_data(flat))
    more = unknown(wraps).terms[0]
    terms = tuple((u, resize(c, bits)) for u, c in flat.terms)
    return Value(resize(flat.base, bits), (*terms, (wraps, more[1] << more[1].dtype.type(flat.bits))))


def _partial(value: Value, bits: int, valid: int) -> Value:
    terms = tuple((u, resize(c, bits)) for u, c in value.terms)
    return Value(resize(value.base, bits), terms, valid, value.poison, value.why)


# --- derived and opaque ---------------------------------------------------------------------

def _derived(name: str, values: tuple[Value, ...], bits: int, attrs: tuple = (), zeros: int = 0) -> Value | None:
    """A uniform unknown for an operation on uniform values; None when a source varies over the lanes."""
    values = tuple(squeeze(v) for v in values)
    if any(not v.uniform or v.poison is not None or v.base.shape[0] > 1 and _rows_differ(v) for v in values):
        return None
    if any(v.valid is not None for v in values):
        return None
    text = f"{name}({', '.join(map(short, values))})"
    symbol = Uniform(text, bits, zeros, key=(name, attrs, tuple(fingerprint(v) for v in values)), data=_from_data(*values))
    if bits == 1:
        return Value(np.zeros((1, 1), bool), ((symbol, np.ones((1, 1), bool)),))
    return unknown(symbol)


def _rows_differ(value: Value) -> bool:
    return False        # a symbol means one number per row: rows may differ


def short(value: Value) -> str:
    """A uniform value as a formula."""
    parts = []
    for u, c in value.terms:
        factor = int(signed(c).flat[0]) if c.dtype != bool else 1
        parts.append(u.name if factor == 1 else f"{factor}*{u.name}")
    if value.base.size > 1:
        parts.append("…")
    else:
        number = int(value.base.flat[0]) if value.base.dtype == bool else int(signed(value.base).flat[0])
        if number or not parts:
            parts.append(str(number))
    return "+".join(parts)


def _lost(values, bits: int, reason: str, index: int = -1) -> Value:
    return opaque(bits, because(*values) or Lost(reason, index, _from_data(*values)))


def _from_data(*values: Value) -> bool:
    return any(u.data for v in values for u, _ in v.terms)


def _known(name: str, bits: int, attrs: tuple, values: tuple[Value, ...]):
    row = meaning_of(name)
    out = row.run(bits, attrs, *(v.base for v in values))
    return tuple(map(Value, out)) if isinstance(out, tuple) else Value(out)


# --- affine rules ---------------------------------------------------------------------------

def add(a: Value, b: Value) -> Value:
    terms = combine_terms(a.terms, b.terms)
    if terms is None:
        return _lost((a, b), a.bits, "a sum of too many unknowns")
    return Value(a.base + b.base, terms, least(a.valid, b.valid), either(a.poison, b.poison), because(a, b))


def subtract(a: Value, b: Value) -> Value:
    terms = combine_terms(a.terms, b.terms, -1)
    if terms is None:
        return _lost((a, b), a.bits, "a sum of too many unknowns")
    return Value(a.base - b.base, terms, least(a.valid, b.valid), either(a.poison, b.poison), because(a, b))


def scale(a: Value, factor: np.ndarray) -> Value:
    """a times a known array of a's width."""
    terms = tuple((u, c) for u, c in ((u, c * factor) for u, c in a.terms) if c.any())
    valid = a.valid
    if valid is not None:
        valid = min(a.bits, valid + array_zeros(factor))
        valid = None if valid == a.bits else valid
    poison = a.poison
    if poison is not None and not factor.all():
        poison = poison & (factor != 0)
    return Value(a.base * factor, terms, valid, poison, a.why)


def product_symbol(u: Uniform, v: Uniform) -> Uniform:
    if (v.name, repr(v.key)) < (u.name, repr(u.key)):
        u, v = v, u
    low = high = None
    if None not in (u.low, u.high, v.low, v.high):
        ends = [x * y for x in (u.low, u.high) for y in (v.low, v.high)]
        low, high = min(ends), max(ends)
    return Uniform(f"{u.name}*{v.name}", max(u.bits, v.bits), u.zeros + v.zeros, low, high, key=("*", u, v), data=u.data or v.data)


def multiply(a: Value, b: Value) -> Value:
    if b.known:
        return scale(a, b.base)
    if a.known:
        return scale(b, a.base)
    terms: dict[Uniform, np.ndarray] = {}
    def put(u, c):
        terms[u] = terms[u] + c if u in terms else c
    for u, c in a.terms:
        put(u, c * b.base)
    for v, d in b.terms:
        put(v, d * a.base)
    for u, c in a.terms:
        for v, d in b.terms:
            put(product_symbol(u, v), c * d)
    kept = tuple((u, c) for u, c in terms.items() if c.any())
    if len(kept) > 12:
        return _lost((a, b), a.bits, "a product of too many unknowns")
    return Value(a.base * b.base, kept, least(a.valid, b.valid), either(a.poison, b.poison), because(a, b))


def invert(a: Value) -> Value:
    """~a = −a − 1."""
    if a.base.dtype == bool:
        if a.terms:
            return _derived("not", (a,), 1) or _lost((a,), 1, "not of an unknown")
        return Value(~a.base, poison=a.poison, why=a.why)
    minus = scale(a, np.full((1, 1), -1 & ((1 << a.bits) - 1), a.base.dtype))
    return Value(minus.base - a.base.dtype.type(1), minus.terms, a.valid, a.poison, a.why)


def shift_right(a: Value, n: int, is_signed: bool) -> Value | None:
    """Floor division by 2**n: exact where every unknown's term is a multiple of 2**n."""
    if n >= a.bits or a.poison is not None and not a.terms and a.valid is None:
        return None
    if a.valid is not None and a.valid <= n:
        return None
    if term_zeros(a) < n:
        return _shift_right_by_bits(a, n, is_signed)
    s = span(a)
    half = 1 << (a.bits - 1)
    whole = s is not None and (-half <= s[0] and s[1] < half if is_signed else 0 <= s[0] and s[1] < half)
    shift = a.base.dtype.type(n)
    def down(array):
        return (signed(array) >> signed(np.array(shift, a.base.dtype).reshape(1, 1))[0, 0]).view(array.dtype)
    # base and coefficients are read as signed: floor((b + 2^n m) / 2^n) = floor(b / 2^n) + m.
    # A coefficient below 2^n owes its low zeros to the unknown: then u/2^k is a new unknown.
    terms = []
    for u, c in a.terms:
        have = array_zeros(c)
        if have >= n:
            terms.append((u, down(c)))
        else:
            rest = n - have
            low = None if u.low is None else u.low >> rest
            high = None if u.high is None else u.high >> rest
            part = Uniform(f"{u.name}/{1 << rest}", u.bits, u.zeros - rest, low, high, u.kind, ("/", rest, u), u.data)
            odd = (signed(c) >> have).view(c.dtype)
            if u.bits < a.bits and (low is None or high is None):
                return None
            terms.append((part, odd))
    valid = None if whole else (a.bits if a.valid is None else a.valid) - n
    return Value(down(a.base), tuple(terms), valid, a.poison, a.why)


def _shift_right_by_bits(a: Value, n: int, is_signed: bool) -> Value | None:
    """The same where the unknowns reach one or two bits below 2**n: one of two or four quotients a lane.

    With w the sum of the unknowns and s its bits below 2**n, floor((b + s) / 2**n) is a function of
    one or two bits: written as a polynomial in them.
    """
    zeros = term_zeros(a)
    whole = Value(np.zeros((1, 1), a.base.dtype), a.terms)
    if n - zeros > 2 or a.poison is not None or a.valid is not None or not all(lane_uniform(c) for _, c in a.terms):
        return None
    bits = [bit_of(whole, b) for b in range(zeros, n)]
    if None in bits:
        return None
    flat = squeeze(whole)
    s = span(a)
    half = 1 << (a.bits - 1)
    if s is None or not (-half <= s[0] if is_signed else 0 <= s[0]) or s[1] >= half:
        return None
    low, high = (s[0] - int(signed(a.base).max())) >> n, (s[1] - int(signed(a.base).min())) >> n
    quotient = unknown(Uniform(f"({short(flat)})/{1 << n}", a.bits, 0, low, high, "derived", ("quotient", n, fingerprint(flat)), _from_data(flat)))
    def at(k: int) -> np.ndarray:
        moved = signed(a.base) + np.array(k << zeros, a.base.dtype).astype(signed(a.base).dtype)
        return (moved >> n).view(a.base.dtype)
    out = add(Value(at(0)), quotient)
    out = add(out, scale(unknown(bits[0]), at(1) - at(0)))
    if len(bits) == 2:
        both = product_symbol(bits[0], bits[1])
        out = add(out, scale(unknown(bits[1]), at(2) - at(0)))
        out = add(out, scale(unknown(both), at(3) - at(2) - at(1) + at(0)))
    return out


def _split(a: Value, zeros: int) -> tuple[np.ndarray, Value]:
    """a = low + high: low < 2**zeros known by lane, high a multiple of 2**zeros with all unknowns."""
    mask = a.base.dtype.type((1 << zeros) - 1) if zeros < a.bits else a.base.dtype.type((1 << a.bits) - 1)
    low = a.base & mask
    return low, Value(a.base - low, a.terms, a.valid, a.poison, a.why)


def bitwise(name: str, a: Value, b: Value, function) -> Value | None:
    """and/or/xor: exact where above the known low bits one side is all zeros or all ones."""
    if a.base.dtype == bool:
        return _predicate_logic(name, a, b, function)
    if a.known:
        a, b = b, a
    if not a.terms and a.valid is None:      # only poison
        return None
    if not b.known:
        if name == "or" and not b.terms and b.valid is None:
            return None
        return _disjoint(name, a, b)
    zeros = term_zeros(a)
    low, high = _split(a, zeros)
    bits = a.bits
    if zeros >= bits:
        return Value(function(a.base, b.base), poison=a.poison, why=a.why)
    mask_low = b.base.dtype.type((1 << zeros) - 1)
    upper = b.base & ~mask_low
    ones = b.base.dtype.type(((1 << bits) - 1) ^ ((1 << zeros) - 1))
    new_low = function(low, b.base & mask_low)
    if not upper.any():
        kept = {"and": None, "or": high, "xor": high}[name]
    elif (upper == ones).all():
        kept = {"and": high, "or": constant(int(ones), bits), "xor": invert(high)}[name]
        if name == "xor":       # ~high has ones below: take them off
            kept = subtract(kept, Value(np.full((1, 1), int(mask_low), b.base.dtype)))
    elif name in ("or", "xor") and lane_uniform(upper) and span(high) is not None:
        return _above(name, high, upper, new_low)
    elif name == "and" and lane_uniform(upper) and lane_uniform(high.base) \
            and all(lane_uniform(c) for _, c in high.terms) and a.poison is None and a.valid is None:
        part = _derived("and", (high, Value(upper[:, :1])), bits, zeros=zeros)
        if part is None:
            return None
        part = _bounded_by_mask(part, int(upper.max()) if upper.size else 0)
        return add(Value(new_low), part)
    elif lane_uniform(high.base) and all(lane_uniform(c) for _, c in high.terms) and a.poison is None:
        return _by_bits(name, high, upper, new_low)
    else:
        return None
    result = Value(new_low, poison=a.poison, why=a.why)
    return result if kept is None else add(result, kept)


def bit_of(value: Value, bit: int) -> Uniform | None:
    """Bit `bit` of a uniform unknown value, as an unknown of its own in {0, 1}; None if it is not uniform."""
    flat = squeeze(value)
    if not flat.uniform or flat.poison is not None or flat.valid is not None and flat.valid <= bit:
        return None
    return Uniform(f"bit {bit} of ({short(flat)})", value.bits, 0, 0, 1, "bit", ("bit", bit, fingerprint(flat)), _from_data(flat))


def _by_bits(name: str, high: Value, upper: np.ndarray, new_low: np.ndarray) -> Value | None:
    """A uniform unknown combined with bits that are known lane by lane: affine in the unknown's bits.

    With v_b the bits of v and x_b those of x:  v & x = Σ 2^b x_b v_b,  v | x = v + x − (v & x),
    v ^ x = v + x − 2 (v & x).
    """
    common = int(np.bitwise_or.reduce(upper, axis=None))
    places = [b for b in range(high.bits) if common >> b & 1]
    if len(places) > MAX_BITS:
        return None
    both = Value(np.zeros((1, 1), upper.dtype))
    for b in places:
        symbol = bit_of(high, b)
        if symbol is None:
            return None
        here = ((upper >> upper.dtype.type(b)) & upper.dtype.type(1)) << upper.dtype.type(b)
        both = add(both, scale(unknown(symbol), here))
    low = Value(new_low)
    if name == "and":
        return add(low, both)
    total = add(add(low, high), Value(upper))
    return subtract(total, both if name == "or" else scale(both, np.full((1, 1), 2, upper.dtype)))


def _bounded_by_mask(value: Value, mask: int) -> Value:
    """A masked unknown lies in 0…mask and has the mask's low zeros."""
    if len(value.terms) == 1 and mask < 1 << (value.bits - 1):
        u, c = value.terms[0]
        bounded = Uniform(u.name, u.bits, max(u.zeros, low_zeros(mask)), 0, mask, u.kind, u.key, u.data)
        return Value(value.base, ((bounded, c),))
    return value


def _above(name, high: Value, upper: np.ndarray, new_low: np.ndarray) -> Value | None:
    """or/xor with bits that lie above everything that `high` can reach."""
    low, top = span(high)
    if low < 0:
        return None
    reach = top.bit_length()
    if array_zeros(upper) < reach:
        return None
    return add(Value(new_low + upper), high)


def _disjoint(name: str, a: Value, b: Value) -> Value | None:
    """or/xor of two symbolic values whose bits cannot meet are sums."""
    if name == "and" or a.poison is not None or b.poison is not None:
        return None
    for x, y in ((a, b), (b, a)):
        s = span(y)
        zeros = min(term_zeros(x), array_zeros(x.base)) if x.terms else array_zeros(x.base)
        if s is not None and s[0] >= 0 and s[1] < 1 << zeros and x.valid is None and y.valid is None:
            return add(x, y)
    return None


def _predicate_logic(name, a: Value, b: Value, function) -> Value | None:
    """Predicates: a known false decides an `and`, a known true an `or`, lane by lane."""
    if a.terms or b.terms:
        for x, y in ((a, b), (b, a)):
            if x.known and x.base.size and lane_uniform(x.base) and bool(x.base.all()) == bool(x.base.any()):
                value = bool(x.base.flat[0])
                if name == "and":
                    return y if value else Value(np.zeros((1, 1), bool))
                if name == "or":
                    return Value(np.ones((1, 1), bool)) if value else y
                return invert(y) if value else y
        return None
    poison = either(a.poison, b.poison)
    if poison is not None and name != "xor":
        sure = (lambda v: (~v.base if name == "and" else v.base) & (True if v.poison is None else ~v.poison))
        poison = poison & ~sure(a) & ~sure(b)
    return Value(function(a.base, b.base), poison=poison if poison is not None and poison.any() else None, why=because(a, b))


def lop3(table: int, bits: int, a: Value, b: Value, c: Value) -> Value | None:
    """A three-input function as and/or/xor of two, where one source is known or does not matter."""
    sources = [a, b, c]
    def depends(i):
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


def _lop3_predicates(table: int, sources) -> Value:
    from .meaning import lop3_table
    bases = [v.base for v in sources]
    poison = None
    for v in sources:
        poison = either(poison, v.poison)
    if poison is None:
        return Value(lop3_table(table, *bases), why=because(*sources))
    unknown_bits = [np.zeros((1, 1), bool) if v.poison is None else v.poison for v in sources]
    base, shaken = _shaken(lambda *operands: lop3_table(table, *operands), bases, unknown_bits)
    poison = poison & shaken
    return Value(base, poison=poison if poison.any() else None, why=because(*sources))


def _shaken(run, bases, unknown_bits) -> tuple[np.ndarray, np.ndarray]:
    """A bitwise operation on operands of which some bits are not known: its result, and the bits of it that flipping
    those of the operands, some or all, changes."""
    out = run(*bases)
    flipped = [b ^ u for b, u in zip(bases, unknown_bits)]
    shaken = out ^ out
    for which in range(1, 1 << len(bases)):
        shaken = shaken | (out ^ run(*(flipped[i] if which >> i & 1 else b for i, b in enumerate(bases))))
    return out, shaken


_TWO_INPUT = {          # 4-entry truth table (index 2a + b) -> how to write it
    0b1000: ("and", False, False, False), 0b1110: ("or", False, False, False), 0b0110: ("xor", False, False, False),
    0b0111: ("and", False, False, True), 0b0001: ("or", False, False, True), 0b1001: ("xor", False, False, True),
    0b0100: ("and", False, True, False), 0b0010: ("and", True, False, False),
    0b1101: ("or", False, True, False), 0b1011: ("or", True, False, False),
}


def _lop2(table, used, sources) -> Value | None:
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


def _lop3_by_parts(table, sources) -> Value | None:
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


# --- the entry ------------------------------------------------------------------------------

_BITWISE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def binary(name: str, a: Value, b: Value) -> Value:
    """add/sub/mul/and/or/xor on two values of one width, whatever is known of them."""
    return apply(Op(name, bits=a.bits), (a, b))


def _number(value: Value) -> int | None:
    """The value of a known scalar, else None."""
    return int(value.base.flat[0]) if value.known and value.base.size == 1 else None


def _symbolic(op: Op, values: tuple[Value, ...]):
    """The affine rule of an operation, or None where it has none for these sources."""
    rule = _RULES.get(op.name)
    if rule is not None:
        return rule(op, *values)
    if op.name.startswith("setp."):
        return compare(op.name[5:], *values)
    return None


def _wide_product(op: Op, a: Value, b: Value, *more: Value) -> Value:
    """mulwide, madwide."""
    extend = sign_extend if op.name.endswith(".s") else zero_extend
    product = multiply(extend(a, op.bits), extend(b, op.bits))
    return add(product, *more) if more else product


def _shift_left(op: Op, a: Value, by: Value) -> Value | None:
    bits, n = op.bits, _number(by)
    if n is not None:
        return constant(0, bits) if n >= bits else scale(a, constant(1 << n, bits).base)
    if not by.known:
        return None
    inside = by.base < bits
    factor = np.where(inside, np.array(1, DTYPES[bits]) << np.where(inside, by.base, 0).astype(DTYPES[bits]), DTYPES[bits](0))
    return scale(a, factor)


def _shift_down(op: Op, a: Value, by: Value) -> Value | None:
    n = _number(by)
    if n is None:
        return None
    return a if n == 0 else shift_right(a, n, op.name == "shr.s")


def _extended(op: Op, a: Value) -> Value:
    return fit(a, op.bits) if a.bits >= op.bits else sign_extend(a, op.bits)


_RULES = {
    "mov": lambda op, a: a,
    "add": lambda op, a, b: add(a, b),
    "sub": lambda op, a, b: subtract(a, b),
    "neg": lambda op, a: subtract(constant(0, op.bits), a),
    "not": lambda op, a: invert(a),
    "mul": lambda op, a, b: multiply(a, b),
    "mad": lambda op, a, b, c: add(multiply(a, b), c),
    "mulwide.u": _wide_product, "mulwide.s": _wide_product, "madwide.u": _wide_product, "madwide.s": _wide_product,
    "shl": _shift_left,
    "shr.u": _shift_down, "shr.s": _shift_down,
    "lop3": lambda op, a, b, c: lop3(op.attrs[0], op.bits, a, b, c),
    "zext": lambda op, a: fit(a, op.bits), "trunc": lambda op, a: fit(a, op.bits),
    "sext": _extended,
    "select": lambda op, a, b, p: _select(a, b, p),
    "cat": lambda op, *parts: _concatenate(parts, op.bits),
    "extract": lambda op, a: _extract(a, op.attrs[0], op.bits),
    "add3.carry": lambda op, *values: _add3_carry(values, op.bits),
    "bfe.u": lambda op, *values: _field(op.name, values, op.bits), "szext.u": lambda op, *values: _field(op.name, values, op.bits),
    "shf.l": lambda op, *values: _funnel(op.name, values, op.attrs), "shf.r": lambda op, *values: _funnel(op.name, values, op.attrs),
    "prmt": lambda op, *values: _permute(values, op.attrs),
}
_RULES |= {name: (lambda op, a, b, run=run: bitwise(op.name, a, b, run)) for name, run in _BITWISE.items()}
_RULES |= {name: (lambda op, a, b: _extremum(op.name, a, b)) for name in ("min.s", "max.s", "min.u", "max.u")}
_RULES |= {name: (lambda op, a, b: _divide_power(op.name, a, b)) for name in ("rem.u", "rem.s", "div.u", "div.s")}


def _select(a: Value, b: Value, p: Value) -> Value | None:
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
    return Value(np.where(chosen, a.base, b.base), tuple((u, c) for u, c in terms.items() if c.any()),
                 least(a.valid, b.valid), poison, because(a, b, p))


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
    as_number = Uniform(u.name, a.bits, 0, 0, 1, "choice", ("choice", u), u.data)
    return add(b, scale(unknown(as_number), difference.base))


def _concatenate(values, bits: int) -> Value | None:
    """Register pairs: the low part zero-extended plus the high part shifted."""
    # two halves cut from one 64-bit value come back as that value
    if len(values) == 2 and values[0].bits == 32 and bits == 64:
        whole = _rejoin(values[0], values[1])
        if whole is not None:
            return whole
    out, at = None, 0
    for v in values:
        own = v.bits
        piece = scale(fit(v, bits), np.full((1, 1), 1 << at, DTYPES[bits])) if at else fit(v, bits)
        if v.poison is not None and at and not v.terms:
            # an opaque upper half: the lower one stays known
            piece = Value(np.zeros((1, 1), DTYPES[bits]), (), at, None, v.why)
        out = piece if out is None else add(out, piece)
        at += own
    return out


def _rejoin(low: Value, high: Value) -> Value | None:
    """The 64-bit value of which the two are extracts, when the upper one says so by its name."""
    if len(high.terms) == 1 and not high.base.any():
        u = high.terms[0][0]
        if isinstance(u.key, tuple) and len(u.key) == 2 and u.key[0] == "upper half":
            whole: Value = u.key[1].value
            if (int(high.terms[0][1].flat[0]) == 1 and high.terms[0][1].size == 1) and same(fit(whole, 32), low):
                return whole
    return None


class _Kept:
    """A value inside a symbol's key: compared by identity of meaning."""

    __slots__ = ("value", "print")

    def __init__(self, value: Value):
        self.value, self.print = value, fingerprint(value)

    def __eq__(self, other):
        return isinstance(other, _Kept) and self.print == other.print

    def __hash__(self):
        return hash(self.print)

    def __repr__(self):
        return f"<{hash(self.print)}>"


def _extract(value: Value, offset: int, bits: int) -> Value | None:
    if offset == 0:
        return fit(value, bits)
    shifted = shift_right(value, offset, False)
    if shifted is not None and (shifted.valid is None or shifted.valid >= bits):
        return fit(shifted, bits)
    # the upper half of a 64-bit form with uniform unknowns: one unknown a value, found again by `cat`
    flat = squeeze(value)
    if offset == 32 and bits == 32 and flat.poison is None and flat.valid is None and flat.uniform:
        symbol = Uniform(f"hi({short(flat)})", 32, key=("upper half", _Kept(flat)), data=_from_data(flat))
        return unknown(symbol)
    return None


def _add3_carry(values, bits: int):
    """The sum is affine; the carries are not, unless everything is known."""
    a, b, c, in0, in1 = values
    total = add(add(a, b), c)
    for carry in (in0, in1):
        total = add(total, fit(carry, bits) if not carry.terms else _lost((carry,), bits, "an unknown carry"))
    lost = _lost(values, 1, "the carry of a sum with unknowns")
    s = [span(v) for v in (a, b, c)]
    if all(x is not None and x[0] >= 0 for x in s) and in0.known and in1.known:
        top = sum(x[1] for x in s) + int(in0.base.any()) + int(in1.base.any())
        if top < 1 << bits:
            none = Value(np.zeros((1, 1), bool))
            return total, none, none
    return total, lost, lost


def _field(name, values, bits):
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
    shifted = a if p == 0 else apply(Op("shr.u", bits=bits), (a, constant(p, 32)))
    return shifted if p + n >= bits else binary("and", shifted, constant((1 << n) - 1, bits))


def _extremum(name, a: Value, b: Value) -> Value | None:
    """min/max where one side is never larger."""
    if a.poison is not None or b.poison is not None or not (fits_signed(a) and fits_signed(b)):
        return None
    difference = subtract(a, b)
    s = span(difference)
    if s is None or not _apart_by_less_than_half(a, b) or name.endswith(".u") and (span(a)[0] < 0 or span(b)[0] < 0):
        return None
    if s[1] <= 0:
        return a if name.startswith("min") else b
    if s[0] >= 0:
        return b if name.startswith("min") else a
    return None


def _divide_power(name, a: Value, b: Value) -> Value | None:
    """Division by a power of two of a value that cannot be negative."""
    d = _number(b)
    if d is None or d == 0 or d & (d - 1):
        return None
    if name.endswith(".s"):
        s = span(a)
        if s is None or s[0] < 0 or not fits_signed(a):
            return None
    if name.startswith("div"):
        return apply(Op("shr.u", bits=a.bits), (a, constant(d.bit_length() - 1, 32)))
    return binary("and", a, constant(d - 1, a.bits))


def _funnel(name, values, attrs):
    """A funnel shift that is a plain shift because one half is zero."""
    lo, hi, n = values
    k = _number(n)
    if k is None:
        return None
    k = k & 31 if attrs and attrs[0] == "wrap" else min(k, 32)
    if name == "shf.r" and _number(hi) == 0:
        return apply(Op("shr.u", bits=32), (lo, constant(k, 32)))
    if name == "shf.l" and _number(lo) == 0:
        return apply(Op("shl", bits=32), (hi, constant(k, 32)))
    whole = _concatenate((lo, hi), 64)
    if whole is None:
        return None
    moved = apply(Op("shr.u", bits=64), (whole, constant(k if name == "shf.r" else 32 - k, 32)))
    return fit(moved, 32)


def _permute(values, attrs):
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
        byte = apply(Op("bfe.u", bits=32), (source, constant(8 * (nibble & 3), 32), constant(8, 32)))
        if byte.poison is not None:
            return None
        byte = scale(byte, np.full((1, 1), 1 << (8 * i), np.uint32)) if i else byte
        parts = byte if parts is None else add(parts, byte)
    return parts


def _known_bytes(values: tuple[Value, ...], attrs) -> Value | None:
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
    out = meaning_of("prmt").run(32, attrs, a.base, b.base, sel.base)
    return Value(out) if low == 4 else Value(out, (), 8 * low, None, because(a, b))


def compare(relation: str, a: Value, b: Value) -> Value | None:
    """A comparison decided by the ranges of the unknowns, else None."""
    if a.base.dtype == bool or a.poison is not None or b.poison is not None:
        return None
    if a.valid is not None or b.valid is not None:
        return _unequal_low_bits(relation, a, b)
    difference = subtract(a, b)
    kind, _, sign = relation.partition(".")
    if not difference.terms:
        if kind in ("eq", "ne"):
            return Value(np.equal(difference.base, 0) if kind == "eq" else np.not_equal(difference.base, 0))
        if fits_signed(a) and fits_signed(b) and _apart_by_less_than_half(a, b):
            return _sign_of(kind, difference)
        return None
    if kind in ("eq", "ne"):
        zeros = term_zeros(difference)
        if zeros:
            mask = difference.base.dtype.type((1 << zeros) - 1)
            apart = (difference.base & mask) != 0
            if apart.all():
                return Value(np.full((1, 1), kind == "ne"))
    sa, sb = span(a), span(b)
    if sa is None or sb is None or not (fits_signed(a) and fits_signed(b)):
        return None
    if sign == "u" and (sa[0] < 0 or sb[0] < 0) or not _apart_by_less_than_half(a, b):
        return None
    return _by_range(kind, difference)


def _apart_by_less_than_half(a: Value, b: Value) -> bool:
    """True when the difference of the integers fits the width: its sign is the comparison's."""
    sa, sb = span(a), span(b)
    half = 1 << (a.bits - 1)
    return sa[0] - sb[1] >= -half and sa[1] - sb[0] < half


def _unequal_low_bits(relation, a, b):
    if relation not in ("eq", "ne"):
        return None
    difference = subtract(a, b)
    zeros = min(term_zeros(difference), difference.valid or difference.bits)
    if zeros and ((difference.base & difference.base.dtype.type((1 << zeros) - 1)) != 0).all():
        return Value(np.full((1, 1), relation == "ne"))
    return None


def _sign_of(kind, difference: Value) -> Value:
    d = signed(difference.base)
    return Value({"lt": d < 0, "le": d <= 0, "gt": d > 0, "ge": d >= 0}[kind])


def _by_range(kind: str, difference: Value) -> Value | None:
    """lane by lane: the comparison's result where the whole range of the difference agrees."""
    low, high = signed(difference.base).astype(np.int64), signed(difference.base).astype(np.int64)
    for u, c in difference.terms:
        c = signed(c).astype(np.int64)
        if max(abs(int(c.min())), abs(int(c.max()))) * max(abs(u.low), abs(u.high), 1) >= 1 << 62:
            return None
        low = low + np.minimum(c * u.low, c * u.high)
        high = high + np.maximum(c * u.low, c * u.high)
    yes, no = {
        "lt": (high < 0, low >= 0), "le": (high <= 0, low > 0), "gt": (low > 0, high <= 0), "ge": (low >= 0, high < 0),
        "eq": ((low == 0) & (high == 0), (low > 0) | (high < 0)), "ne": ((low > 0) | (high < 0), (low == 0) & (high == 0)),
    }[kind]
    sure = yes | no
    if sure.all():
        return Value(yes)
    return None


# Of these nothing is known when nothing is known of one source.
_STRICT = frozenset(("add", "sub", "neg", "not", "zext", "sext", "trunc", "shr.u", "shr.s", *(n for n in ROWS if n.startswith("setp.")), *FLOATS))


def apply(op: Op, values: tuple[Value, ...], index: int = -1):
    """The results of an operation: a Value, or a tuple for rows with several results.

    values: one per source, any width; they are fitted to the row's. index: the instruction, for reasons.
    """
    row = meaning_of(op.name)
    if row is None:
        if of_its_sources(op.name) and values:      # equal sources, equal result, whatever it is
            same_everywhere = _derived(op.name, values, op.bits, op.attrs)
            if same_everywhere is not None:
                return same_everywhere
        return opaque(op.bits, because(*values) or Lost(f"no meaning for {op.name}", index))
    if op.name in _STRICT:
        for v in values:
            if v.poison is EVERYWHERE and v.sure is None:
                return opaque(1 if row.predicate else op.bits, because(*values))
    values = tuple(fit(v, want) if v.bits != (want := source_bits(letter, op.bits, v.bits)) else v
                   for v, letter in zip(values, row.letters(len(values))))
    known = all(v.known for v in values)
    if op.name == "prmt" and not known:
        kept = _known_bytes(values, op.attrs)
        if kept is not None:
            return kept
    if known:
        out = row.run(op.bits, op.attrs, *(v.base for v in values))
        if row.undefined is not None:
            bad = row.undefined(op.bits, op.attrs, *(v.base for v in values))
            if bad.any():
                return Value(out, poison=bad, why=Lost(f"{op.name} without a defined result", index))
        return tuple(map(Value, out)) if isinstance(out, tuple) else Value(out)
    if all(not v.terms and v.valid is None for v in values):
        return _poisoned(row, op, values, index)
    out = _symbolic(op, values)
    if out is None:
        out = _lane_by_lane(row, op, values, index)
    if out is None:
        bits = 1 if row.predicate else op.bits
        if row.results == 1:
            out = _derived(op.name, values, bits, op.attrs)
        if out is None:
            out = _lost(values, bits, f"{op.name} on values that are not known", index)
    return out


def _lane_by_lane(row, op: Op, values, index):
    """Where some lanes have no unknown in them (those that others left behind in a loop, say): the result there."""
    lost = None
    for v in values:
        if v.valid is not None:
            return None
        for _, c in v.terms:
            lost = either(lost, c != 0)
        lost = either(lost, v.poison)
    if lost.all():
        return None
    out = row.run(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        lost = lost | row.undefined(op.bits, op.attrs, *(v.base for v in values))
    why = because(*values) or Lost(f"{op.name} on values that are not known", index, _from_data(*values))
    return tuple(Value(o, poison=lost, why=why) for o in out) if isinstance(out, tuple) else Value(out, poison=lost, why=why)


_BITS_APART = ("and", "or", "xor", "lop3")


def _bit_by_bit(row, op: Op, values) -> Value | None:
    """A bitwise operation on values of which some bits are known: those of the result that flipping the others
    does not change."""
    out, shaken = _shaken(lambda *operands: row.run(op.bits, op.attrs, *operands), [v.base for v in values], [~sure_bits(v) for v in values])
    sure = ~shaken
    if not sure.any():
        return None
    poison = shaken != 0
    return Value(out, poison=poison, why=because(*values), sure=sure) if poison.any() else Value(out)


def _poisoned(row, op: Op, values, index):
    """Known lanes stay known: run the row, carry the poison."""
    if op.name == "mov":
        return values[0]
    if op.name in ("and", "or", "xor", "select", "lop3", "mul"):
        out = _symbolic(op, values)
        if out is not None and (out.poison is None or not out.poison.all() or op.name not in _BITS_APART):
            return out
        if op.name in _BITS_APART and values[0].base.dtype != bool:
            return _bit_by_bit(row, op, values) or out or opaque(op.bits, because(*values))
        if out is not None:
            return out
    poison = None
    for v in values:
        poison = either(poison, v.poison)
    why = because(*values)
    if poison.all():
        if row.results > 1:
            return tuple(opaque(op.bits if i == 0 else 1, why) for i in range(row.results))
        bits = 1 if row.predicate else op.bits
        return _partly_known(op, values, why) or opaque(bits, why)
    out = row.run(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        poison = poison | row.undefined(op.bits, op.attrs, *(v.base for v in values))
    if isinstance(out, tuple):
        return tuple(Value(o, poison=poison, why=why) for o in out)
    return Value(out, poison=poison, why=why)


def _partly_known(op: Op, values, why) -> Value | None:
    """Low zero bits of an opaque value: `loaded << 2` is a multiple of 4, `loaded & 31` of nothing."""
    if op.name == "shl":
        n = _number(values[1])
        if n is not None and 0 < n < op.bits:
            return Value(np.zeros((1, 1), DTYPES[op.bits]), (), n, None, why)
    return None
