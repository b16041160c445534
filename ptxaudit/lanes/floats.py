"""Floating-point operations that index arithmetic meets, on bit patterns.

Integer division reaches machine code as I2F, MUFU.RCP, F2I and integer corrections; sampling
code computes indices in floats. Conversions, sums, products and fused products are IEEE exact
with their rounding modes (PTX ISA, "Floating-Point Instructions"). MUFU.RCP is the correctly
rounded reciprocal here and within one unit in the last place of it on the chip; the division
sequences correct for more than that. Other MUFU functions have no meaning: their results are opaque.
"""

from __future__ import annotations

import numpy as np

from .meaning import BITS, COMPARISONS, Meaning
from .value import DTYPES, SIGNED, signed

FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}
WIDER = {16: np.float32, 32: np.float64, 64: np.longdouble}


def as_float(array: np.ndarray) -> np.ndarray:
    return array.view(FLOAT[BITS[array.dtype]])


def as_bits(array: np.ndarray, bits: int) -> np.ndarray:
    return np.ascontiguousarray(array.astype(FLOAT[bits])).view(DTYPES[bits])


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


def _arithmetic(function):
    def run(bits, attrs, *sources):
        mode, ftz = _modes(attrs)
        with np.errstate(all="ignore"):
            wide = [_flush(as_float(s), ftz).astype(WIDER[bits]) for s in sources]
            out = _flush(round_to(function(*wide), bits, mode), ftz)
        return as_bits(out, bits)
    return run


def _fma(bits, attrs, a, b, c):
    mode, ftz = _modes(attrs)
    with np.errstate(all="ignore"):
        a, b, c = (_flush(as_float(s), ftz).astype(np.longdouble) for s in (a, b, c))
        return as_bits(_flush(round_to(a * b + c, bits, mode), ftz), bits)


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


def _float_to_float(bits, attrs, a):
    mode, ftz = _modes(attrs)
    value = _flush(as_float(a), ftz).astype(np.longdouble)
    if mode in ("rni", "rzi", "rmi", "rpi"):
        return as_bits(_TO_INTEGER[mode](value), bits)
    return as_bits(_flush(round_to(value, bits, mode), ftz), bits)


def _reciprocal(bits, attrs, a):
    with np.errstate(all="ignore"):
        return as_bits(round_to(np.longdouble(1) / as_float(a).astype(np.longdouble), bits, "rn"), bits)


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
    "fadd": Meaning(_arithmetic(lambda a, b: a + b), "ss"),
    "fsub": Meaning(_arithmetic(lambda a, b: a - b), "ss"),
    "fmul": Meaning(_arithmetic(lambda a, b: a * b), "ss"),
    "fdiv": Meaning(_arithmetic(lambda a, b: a / b), "ss"),
    "fsqrt": Meaning(_arithmetic(np.sqrt), "s"),
    "frcp": Meaning(_arithmetic(lambda a: 1 / a), "s"),
    "fmin": Meaning(_arithmetic(np.fmin), "ss"),
    "fmax": Meaning(_arithmetic(np.fmax), "ss"),
    "fma": Meaning(_fma, "sss"),
    "fneg": Meaning(lambda bits, attrs, a: a ^ a.dtype.type(1 << (bits - 1)), "s"),
    "fabs": Meaning(lambda bits, attrs, a: a & a.dtype.type((1 << (bits - 1)) - 1), "s"),
    "i2f.s": Meaning(_int_to_float(True), "o"),
    "i2f.u": Meaning(_int_to_float(False), "o"),
    "f2i.s": Meaning(_float_to_int(True), "o"),
    "f2i.u": Meaning(_float_to_int(False), "o"),
    "f2f": Meaning(_float_to_float, "o"),
    "mufu.rcp": Meaning(_reciprocal, "s"),
}
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
    FLOATS[f"fsetp.{_name}"] = Meaning(_compare(_name), "ss")
