"""Floats of 16, 32 and 64 bits as bit patterns, computed with exact fractions and rounded once."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from functools import lru_cache

FORMATS = {16: (11, -14, 15), 32: (24, -126, 127), 64: (53, -1022, 1023)}  # precision, least and greatest exponent
NAN = {
    16: 0x7FFF,
    32: 0x7FFFFFFF,
    64: 0xFFF8000000000000,
}  # as measured on an H100: tests/data/float_operations_sm90.npz
_CODES = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


def decode(bits: int, width: int) -> float:
    """The number as a double, which holds every format here."""
    f, i = _CODES[width]
    return struct.unpack(f, struct.pack(i, bits))[0]


def encode(x: float, width: int) -> int:
    """The bits of a double that is a number of the format, an infinity or NaN."""
    if math.isnan(x):
        return NAN[width]
    f, i = _CODES[width]
    return struct.unpack(i, struct.pack(f, x))[0]


def rounded(x: Fraction, width: int, mode: str = "rn", negative_zero: bool = False) -> int:
    """The bits of the format's number nearest to a fraction in the rounding mode rn, rz, rm or rp."""
    precision, least, most = FORMATS[width]
    sign = x < 0 or x == 0 and negative_zero
    top = 1 << (width - 1) if sign else 0
    a = abs(x)
    if a == 0:
        return top
    exponent = a.numerator.bit_length() - a.denominator.bit_length()
    if a.denominator << max(exponent, 0) > a.numerator << max(-exponent, 0):  # 2 ** exponent > a
        exponent -= 1
    exponent = max(exponent, least)
    unit = exponent - precision + 1  # the unit in the last place is 2 ** unit
    units = a.numerator << max(-unit, 0), a.denominator << max(unit, 0)
    count = _divided(*units, {"rm": "rp" if sign else "rm", "rp": "rm" if sign else "rp"}.get(mode, mode))
    if count == 1 << precision:
        count, exponent = count >> 1, exponent + 1
    if exponent > most:
        up = mode == "rn" or mode == "rp" and not sign or mode == "rm" and sign
        infinity = ((1 << (width - precision)) - 1) << (precision - 1)
        return top | (infinity if up else infinity - 1)
    if count < 1 << (precision - 1):
        return top | count
    return top | (exponent - least + 1) << (precision - 1) | count - (1 << (precision - 1))


def is_nan(bits: int, width: int) -> bool:
    return math.isnan(decode(bits, width))


def quiet(bits: int, width: int) -> int:
    return bits | 1 << (FORMATS[width][0] - 2)


def nan_between(bits: int, width: int, out: int) -> int:
    """A NaN converted to another width, one of the two being 64 bits: its sign and the top of its fraction, made
    quiet.
    """
    mine, others = FORMATS[width][0] - 1, FORMATS[out][0] - 1
    fraction = quiet(bits, width) & (1 << mine) - 1
    fraction = fraction << others - mine if others >= mine else fraction >> mine - others
    return (bits >> (width - 1)) << (out - 1) | ((1 << (out - 1 - others)) - 1) << others | fraction


def integer(x: Fraction, mode: str) -> int:
    """A fraction rounded to an integer."""
    return _divided(x.numerator, x.denominator, mode)


def _divided(n: int, d: int, mode: str) -> int:
    """n / d rounded to an integer. d is positive."""
    low, rest = divmod(n, d)
    match mode:
        case "rm":
            return low
        case "rp":
            return low + (rest > 0)
        case "rz":
            return low + (rest > 0 and n < 0)
    return low + (2 * rest > d or 2 * rest == d and low % 2 == 1)


def flush(bits: int, width: int) -> int:
    """Replaces a subnormal by a zero of its sign."""
    precision, _, _ = FORMATS[width]
    exponent = bits >> (precision - 1) & ((1 << (width - precision)) - 1)
    return bits if exponent else bits & 1 << (width - 1)


@lru_cache(1 << 16)
def compute(name: str, width: int, args: tuple[int, ...], mode: str = "rn", ftz: bool = False) -> int:
    """add, sub, mul, fma, div, rcp, sqrt, neg, abs, min, max."""
    if width == 64 and name not in ("min", "max"):  # the first NaN of b, c, a
        lost = next((a for a in (*args[1:], args[0]) if is_nan(a, 64)), None)
        if lost is not None:
            return quiet(lost, 64)
    if name == "neg":
        return args[0] ^ 1 << (width - 1)
    if name == "abs":
        return args[0] & ~(1 << (width - 1))
    if ftz:
        args = tuple(flush(a, width) for a in args)
    x = [decode(a, width) for a in args]
    if name in ("min", "max"):
        if math.isnan(x[0]) or math.isnan(x[1]):
            return NAN[width] if math.isnan(x[0]) and math.isnan(x[1]) else args[1] if math.isnan(x[0]) else args[0]
        if x[0] == x[1]:
            pair = sorted(args, key=lambda b: b >> (width - 1))  # +0 above −0
            return pair[0] if name == "max" else pair[1]
        return args[0] if (x[0] < x[1]) == (name == "min") else args[1]
    out = _special(name, x)
    if out is not None:
        return encode(out, width)
    f = [Fraction(v) for v in x]
    signs = [a >> (width - 1) for a in args]
    zero = False
    if name == "sqrt":
        bits = _root(f[0], width, mode)
        return flush(bits, width) if ftz else bits
    if name in ("add", "sub"):
        other = signs[1] ^ (name == "sub")
        exact = f[0] + f[1] if name == "add" else f[0] - f[1]
        zero = (signs[0] and other) if signs[0] == other else mode == "rm"
    elif name == "mul":
        exact, zero = f[0] * f[1], signs[0] ^ signs[1]
    elif name == "fma":
        product = signs[0] ^ signs[1]
        exact = f[0] * f[1] + f[2]
        zero = (product and signs[2]) if product == signs[2] else mode == "rm"
    elif name == "div":
        exact, zero = f[0] / f[1], signs[0] ^ signs[1]
    else:
        exact, zero = 1 / f[0], signs[0]
    bits = rounded(exact, width, mode, bool(zero))
    return flush(bits, width) if ftz else bits


def _root(x: Fraction, width: int, mode: str) -> int:
    if x == 0:
        return 0
    scale = 1 << 1200  # more than half the bits of the smallest double
    n = x.numerator * scale * scale // x.denominator
    r = math.isqrt(n)
    exact = r * r == n and n * x.denominator == x.numerator * scale * scale
    return rounded(Fraction(r, scale) if exact else Fraction(2 * r + 1, 2 * scale), width, mode)


def _special(name: str, x: list[float]) -> float | None:
    """Results where an operand is infinite or NaN, or a division by zero; None for ordinary numbers."""
    if all(math.isfinite(v) for v in x):
        if name == "div" and x[1] == 0 or name == "rcp" and x[0] == 0:
            a = x[0] if name == "div" else 1.0
            return math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1.0, x[-1])
        if name == "sqrt" and (x[0] < 0 or x[0] == 0):
            return math.nan if x[0] < 0 else x[0]
        return None
    if any(math.isnan(v) for v in x):
        return math.nan
    match name:
        case "add":
            return x[0] + x[1]
        case "sub":
            return x[0] - x[1]
        case "mul":
            return x[0] * x[1]
        case "fma":
            product = x[0] * x[1] if math.isinf(x[0]) or math.isinf(x[1]) else math.copysign(0.0, 1)
            return product + x[2]
        case "div":
            if math.isinf(x[0]):
                return math.nan if math.isinf(x[1]) else math.copysign(math.inf, x[0]) * math.copysign(1.0, x[1])
            return math.copysign(0.0, x[0]) * math.copysign(1.0, x[1])
        case "rcp":
            return math.copysign(0.0, x[0])
        case "sqrt":
            return math.inf if x[0] > 0 else math.nan
    return math.nan


def to_integer(bits: int, width: int, out_bits: int, is_signed: bool, mode: str, ftz: bool) -> int:
    """cvt.rzi.s32.f32 and the like: clamped; NaN becomes 0 (where either side has 64 bits, 0x8000…)."""
    if ftz:
        bits = flush(bits, width)
    x = decode(bits, width)
    low, high = (-(1 << (out_bits - 1)), (1 << (out_bits - 1)) - 1) if is_signed else (0, (1 << out_bits) - 1)
    if math.isnan(x):
        return 1 << (out_bits - 1) if 64 in (out_bits, width) else 0
    if math.isinf(x):
        n = high if x > 0 else low
    else:
        n = min(max(integer(Fraction(x), mode), low), high)
    return n & ((1 << out_bits) - 1)
