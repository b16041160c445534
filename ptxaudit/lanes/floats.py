"""Floating-point operations that index arithmetic meets, on bit patterns.

Integer division reaches machine code as I2F, MUFU.RCP, F2I and integer corrections; sampling
code computes indices in floats. Conversions, sums, products and fused products are IEEE exact
with their rounding modes (PTX ISA, "Floating-Point Instructions"). MUFU.RCP is the correctly
rounded reciprocal here and within one unit in the last place of it on the chip; the division
sequences correct for more than that. Other MUFU functions have no meaning: their results are opaque.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .meaning import BITS, COMPARISONS, Meaning
from .value import DTYPES, SIGNED, signed

FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}
CANONICAL_NAN = np.uint32(0x7FFFFFFF)       # what 32-bit operations give; the bits of other NaN are the chip's own
SPARE_BITS = np.uint64((1 << 28) - 1)       # of a double, below the last bit of a 32-bit float and the one after it


def as_float(array: np.ndarray) -> np.ndarray:
    return array.view(FLOAT[BITS[array.dtype]])


def as_bits(array: np.ndarray, bits: int) -> np.ndarray:
    out = np.ascontiguousarray(array.astype(FLOAT[bits])).view(DTYPES[bits])
    return np.where(np.isnan(array), CANONICAL_NAN, out) if bits == 32 else out


def _flush(array: np.ndarray, ftz: bool) -> np.ndarray:
    """Subnormals to zero, keeping the sign."""
    if not ftz or array.dtype != np.float32:
        return array
    tiny = np.abs(array) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), array), array)


def round_to(exact: np.ndarray, bits: int, mode: str) -> np.ndarray:
    """A wider float rounded to a width with PTX's rounding mode ("rn", "rz", "rm", "rp")."""
    target = FLOAT[bits]
    with np.errstate(all="ignore"):
        near = exact.astype(target)
        if mode in ("rn", "", None):
            return near
        back = near.astype(exact.dtype)
        down = np.nextafter(near, target(-np.inf))
        up = np.nextafter(near, target(np.inf))
        if mode == "rm":
            return np.where(back > exact, down, near)
        if mode == "rp":
            return np.where(back < exact, up, near)
        away = np.abs(back) > np.abs(exact)
        return np.where(away, np.where(near > 0, down, up), near)


def _modes(attrs):
    mode = attrs[0] if attrs else "rn"
    return mode or "rn", bool(attrs[1]) if len(attrs) > 1 else False


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A double that rounds to 32 bits as the exact sum of two doubles does, in every mode.

    Knuth's two-sum gives what the double leaves out. It matters only where the double is a 32-bit
    float or halfway between two, so its low bits are zero: then its neighbour stands for the sum.
    """
    total = a + b
    part = total - a
    rest = (a - (total - part)) + (b - part)
    on_edge = (np.ascontiguousarray(total).view(np.uint64) & SPARE_BITS) == 0
    beside = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
    return np.where((rest != 0) & np.isfinite(total) & on_edge, beside, total)


def _arithmetic(function, signed_zero=None, negate: bool = False):
    """16 and 32 bits in doubles, rounded once: products are exact there, and quotients and roots of 24 bits never come
    so near to a halfway point that the second rounding matters. 64 bits: to nearest, as numpy does it."""
    def run(bits, attrs, *sources):
        mode, ftz = _modes(attrs)
        with np.errstate(all="ignore"):
            wide = [_flush(as_float(s), ftz).astype(np.float64) for s in sources]
            if negate:
                wide[1] = -wide[1]
            exact = _sum(*wide) if function is np.add and bits < 64 else function(*wide)
            if signed_zero is not None and mode == "rm":
                exact = np.where(exact == 0, signed_zero(*wide), exact)
            return as_bits(_flush(round_to(exact, bits, mode), ftz), bits)
    return run


def _negative_unless_both_positive(a, b):
    """Rounded down, x − x is −0."""
    return np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0)


def _fma(bits, attrs, a, b, c):
    mode, ftz = _modes(attrs)
    with np.errstate(all="ignore"):
        a, b, c = (_flush(as_float(s), ftz).astype(np.float64) for s in (a, b, c))
        if bits == 64:
            return as_bits(_fma_64(*np.broadcast_arrays(a, b, c)), bits)
        exact = _sum(a * b, c)
        if mode == "rm":
            exact = np.where(exact == 0, _negative_unless_both_positive(a * b, c), exact)
        return as_bits(_flush(round_to(exact, bits, mode), ftz), bits)


def _fma_64(a, b, c) -> np.ndarray:
    """To nearest, through fractions, lane by lane."""
    out = a * b + c
    for at in np.ndindex(out.shape):
        if np.isfinite([a[at], b[at], c[at]]).all():
            exact = Fraction(float(a[at])) * Fraction(float(b[at])) + Fraction(float(c[at]))
            if exact:
                try:
                    out[at] = float(exact)
                except OverflowError:
                    out[at] = np.inf if exact > 0 else -np.inf
    return out


def _least(a, b):
    return np.where(a == b, np.where(np.signbit(a), a, b), np.fmin(a, b))


def _greatest(a, b):
    return np.where(a == b, np.where(np.signbit(a), b, a), np.fmax(a, b))


def _without_meaning(run, directed: bool = True):
    """Lanes without a result: NaN of 16 and 64 bits, and 64-bit results that are not rounded to nearest."""
    def undefined(bits, attrs, *sources):
        if bits == 64 and directed and _modes(attrs)[0] != "rn":
            return np.ones(np.broadcast_shapes(*(s.shape for s in sources)), bool)
        if bits == 32:
            return np.zeros((1, 1), bool)
        return np.isnan(as_float(run(bits, attrs, *sources)))
    return undefined


def _row(run, widths: str, directed: bool = True) -> Meaning:
    return Meaning(run, widths, _without_meaning(run, directed))


def _int_to_float(is_signed):
    def run(bits, attrs, a):
        number = signed(a) if is_signed and a.dtype != bool else a
        return as_bits(round_to(number.astype(np.longdouble), bits, _modes(attrs)[0]), bits)
    return run


_TO_INTEGER = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil,
               "rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}


def _float_to_int(is_signed):
    def run(bits, attrs, a):
        mode, ftz = _modes(attrs)
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        with np.errstate(all="ignore"):
            value = _flush(as_float(a), ftz).astype(np.longdouble)
            number = _TO_INTEGER.get(mode, np.trunc)(value)
            number = np.where(np.isnan(number), np.longdouble(0), np.clip(number, np.longdouble(low), np.longdouble(high)))
        return number.astype(SIGNED[bits]).view(DTYPES[bits]) if is_signed else number.astype(DTYPES[bits])
    return run


def _not_a_number(bits, attrs, a):
    """NaN becomes 0 only where neither side has 64 bits."""
    return np.isnan(as_float(a)) if bits == 64 or a.dtype == np.uint64 else np.zeros((1, 1), bool)


def _float_to_float(bits, attrs, a):
    mode, ftz = _modes(attrs)
    with np.errstate(all="ignore"):
        value = _flush(as_float(a), ftz).astype(np.longdouble)
        if mode in ("rni", "rzi", "rmi", "rpi"):
            return as_bits(_TO_INTEGER[mode](value), bits)
        return as_bits(_flush(round_to(value, bits, mode), ftz), bits)


def _reciprocal(bits, attrs, a):
    with np.errstate(all="ignore"):
        return as_bits(round_to(np.longdouble(1) / as_float(a).astype(np.longdouble), bits, "rn"), bits)


def _near_the_limits(bits, attrs, a, b):
    """Where FCHK may send a division to its slow path: it asks whether an intermediate result could leave the
    range of normal numbers; with both exponents within a quarter of the range none can."""
    with np.errstate(invalid="ignore"):
        inside = lambda x: (np.abs(x) >= 2.0 ** -30) & (np.abs(x) <= 2.0 ** 30)
        return ~(inside(as_float(a)) & inside(as_float(b)))


def _not_a_power_of_two(bits, attrs, a):
    """Where a reciprocal is not exact, and so the unit in its last place not known."""
    fraction = 10 if bits == 16 else 23 if bits == 32 else 52
    return (a & a.dtype.type((1 << fraction) - 1)) != 0


def _compare(name):
    unordered = name.endswith("u") and name not in ("eq", "num")
    relation = COMPARISONS.get(name[:-1] if unordered else name)
    def run(bits, attrs, a, b):
        x, y = as_float(a), as_float(b)
        nan = np.isnan(x) | np.isnan(y)
        if name in ("num", "nan"):
            return nan if name == "nan" else ~nan
        with np.errstate(invalid="ignore"):
            return relation(x, y) | nan if unordered else relation(x, y) & ~nan
    return run


FLOATS: dict[str, Meaning] = {
    "fadd": _row(_arithmetic(np.add, _negative_unless_both_positive), "ss"),
    "fsub": _row(_arithmetic(np.add, _negative_unless_both_positive, negate=True), "ss"),
    "fmul": _row(_arithmetic(lambda a, b: a * b), "ss"),
    "fdiv": _row(_arithmetic(lambda a, b: a / b), "ss"),
    "fsqrt": _row(_arithmetic(np.sqrt), "s"),
    "frcp": _row(_arithmetic(lambda a: 1 / a), "s"),
    "fmin": _row(_arithmetic(_least), "ss"),
    "fmax": _row(_arithmetic(_greatest), "ss"),
    "fma": _row(_fma, "sss"),
    "fneg": Meaning(lambda bits, attrs, a: a ^ a.dtype.type(1 << (bits - 1)), "s"),
    "fabs": Meaning(lambda bits, attrs, a: a & a.dtype.type((1 << (bits - 1)) - 1), "s"),
    "i2f.s": Meaning(_int_to_float(True), "o"),
    "i2f.u": Meaning(_int_to_float(False), "o"),
    "f2i.s": Meaning(_float_to_int(True), "o", _not_a_number),
    "f2i.u": Meaning(_float_to_int(False), "o", _not_a_number),
    "f2f": _row(_float_to_float, "o", directed=False),
    "fsetp.check": Meaning(lambda bits, attrs, a, b: np.zeros(np.broadcast(a, b).shape, bool), "ss", _near_the_limits),
    "mufu.rcp": Meaning(_reciprocal, "s"),
    "mufu.rcp.near": Meaning(_reciprocal, "s", _not_a_power_of_two),
}
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
    FLOATS[f"fsetp.{_name}"] = Meaning(_compare(_name), "ss", predicate=True)
