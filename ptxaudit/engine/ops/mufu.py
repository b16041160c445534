"""The special function unit of sm_90 (MUFU), bit for bit, for every 32-bit input.

    rcp(0x40400000)  ->  0x3EAAAAAB           1 / 3
    rcp(0x42040000)  ->  0x3CF83E0F           1 / 33: one unit below the nearest float

The unit interpolates by quadratics (Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator",
ARITH 2005). The upper bits of the reduced argument select a segment with integers c0, c1, c2; its lower 17 bits are
x:

    V = (c0 << grain) + bias + c1·x + c2·s(x)          s(x) = x² / 2**17, as the squarer computes it

The squarer omits every partial product below 2**19. V has 17 bits (SQRT: 18) below the last place of the result,
which are truncated, never rounded. The rest of what the unit does, measured for all inputs:

    RCP, RSQ, SQRT  subnormal inputs are zeros, subnormal results too; RSQ of an even power of two is exact
    RCP64H, RSQ64H  the same on the upper word of a double: 20 bits of the fraction in and, truncated, out
    EX2             the argument is truncated to 23 bits of fraction; a negative one is replaced by its ones' complement
                    unless that fraction is zero
    LG2             exponent + V, with 36 bits of fraction (of a negative sum the ones' complement); LG2 of 1 is 0
    EX2.F16, .BF16  as EX2, truncated
    SIN, COS        of revolutions, truncated to 25 bits of fraction; every second quarter is mirrored by ones'
                    complement

NaN results are 0x7FFFFFFF. Nothing here is inferred from the name of an instruction: a generation that was not
measured uses `approximate` instead.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from ptxaudit.base import resources
from ptxaudit.engine.ops.rounding import rounded

_TABLES = "hardware/special_functions.json"  # as measured on a GPU
X_BITS = 17  # low bits of the reduced argument, which are interpolated
FRACTION = 23  # bits of a 32-bit float's fraction
ONE = 1 << FRACTION
LOW = ONE - 1
BIAS, TOP = 127, 255
BIAS_64, TOP_64, FRACTION_64 = 1023, 2047, 20  # in the upper word of a double
SIGN, NAN = np.uint32(1 << 31), np.uint32(0x7FFFFFFF)
INFINITY, INFINITY_64 = TOP << FRACTION, TOP_64 << FRACTION_64
_SQUARER = 19  # the least power of two that the squarer adds

# function: (grain, bias)
FORMS = {
    "rcp": (15, 0x1F9C),
    "rsq": (15, 0x7FFE),
    "sqrt": (16, 0xFFFE),
    "ex2": (15, 0x5F88),
    "lg2": (14, 0x0D14),
    "sin": (16, 0),
}


@cache
def tables() -> dict[str, list[list[int]]]:
    """(constant, slope, curvature) of each segment of each function's period.

    The results for every input of one period (RCP: [1, 2); RSQ and SQRT: [1, 4); EX2: [1, 2); LG2: [2, 4); SIN: a
    quarter of a revolution) determine all of them, up to bits of the constants that change no result. They reproduce
    the results of all 2**32 inputs of each function, bit for bit. `bench/special_functions` measures and derives
    them.
    """
    found: dict[str, list[list[int]]] = json.loads(resources.data(_TABLES).read_text(encoding="utf-8"))
    return {name: found[name] for name in FORMS}


@cache
def _coefficients(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(constant, slope, curvature) of each segment, int64; read when a function is first evaluated."""
    grain, bias = FORMS[name]
    c0, c1, c2 = np.array(tables()[name], np.int64).T
    return (c0 << grain) + bias, c1, c2


@cache
def squares() -> np.ndarray:
    """s(x) / 4 for every x, uint16."""
    x = np.arange(1 << X_BITS, dtype=np.uint32)
    total = np.zeros(1 << X_BITS, np.uint64)
    for bit in range(X_BITS):
        first = max(0, _SQUARER - 1 - bit)  # x_bit · x_first has the weight 2**(bit + first + 1)
        others = (x & np.uint32((1 << bit) - 1)) >> np.uint32(first) if first < bit else np.zeros_like(x)
        row = (others.astype(np.uint64) << np.uint64(first + bit + 1)) + np.uint64(
            1 << 2 * bit if 2 * bit >= _SQUARER else 0
        )
        total += np.where(x >> np.uint32(bit) & np.uint32(1), row, np.uint64(0))
    return (total >> np.uint64(_SQUARER)).astype(np.uint16)


def _interpolated(name: str, segment: np.ndarray, x: np.ndarray) -> np.ndarray:
    """V as defined by the module."""
    c0, c1, c2 = _coefficients(name)
    result: np.ndarray = c0[segment] + c1[segment] * x + (c2[segment] * squares()[x] << 2)
    return result


def _parts(bits: np.ndarray, fraction: int = FRACTION) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(sign bit in its place, exponent field, fraction scaled to 23 bits) of bit patterns."""
    exponent = (bits >> np.uint32(fraction) & np.uint32((1 << 31 - fraction) - 1)).astype(np.int64)
    return bits & SIGN, exponent, (bits & np.uint32((1 << fraction) - 1)).astype(np.int64) << FRACTION - fraction


def _packed(exponent: np.ndarray, significand: np.ndarray) -> np.ndarray:
    """A positive float from an exponent field and 24 bits (or 2**24); underflow yields zero, overflow infinity."""
    bits = (exponent << FRACTION) + significand - ONE
    return np.where(bits < ONE, 0, np.minimum(bits, INFINITY)).astype(np.uint32)


def _normalised(value: np.ndarray, unit: int) -> np.ndarray:
    """value · 2**-unit as a float, truncated. value: int64, nonnegative."""
    above = np.frexp(value.astype(np.float64))[1].astype(np.int64) - 1
    above -= value >> np.maximum(above, 0) == 0  # the double was rounded up to a power of two
    more = above - FRACTION
    significand = np.where(more >= 0, value >> np.maximum(more, 0), value << np.maximum(-more, 0))
    return np.where(value > 0, _packed(above - unit + BIAS, significand), np.uint32(0))


# --- the functions --------------------------------------------------------------------------


def _reciprocal(fraction: np.ndarray) -> np.ndarray:
    """24 bits of 1 / 1.fraction, above one half; 2**24 for 1."""
    return _interpolated("rcp", fraction >> 16, (fraction & 0xFFFF) << 1) >> X_BITS


def rcp(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits)
    out = _packed(2 * BIAS - 1 - exponent, _reciprocal(fraction))
    out = np.where(exponent == 0, np.uint32(INFINITY), out) | sign
    return np.where(exponent == TOP, np.where(fraction != 0, NAN, sign), out)


def rcp64h(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits, FRACTION_64)
    out = _packed_64(2 * BIAS_64 - 1 - exponent, _reciprocal(fraction))
    out = np.where(exponent == 0, np.uint32(INFINITY_64), out) | sign
    return np.where(exponent == TOP_64, np.where(fraction != 0, NAN, sign), out)


def _packed_64(exponent: np.ndarray, significand: np.ndarray) -> np.ndarray:
    """The upper word of a positive double, whose exponents exceed those of all results here."""
    bits = (exponent << FRACTION_64) + (significand >> FRACTION - FRACTION_64) - (1 << FRACTION_64)
    return np.where(bits < 1 << FRACTION_64, 0, bits).astype(np.uint32)


def _inverse_root(exponent: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    """24 bits of 1 / sqrt(1.fraction), or of 1 / sqrt(2 · 1.fraction) if the exponent field is even."""
    even = (exponent & 1) == 0
    out = _interpolated("rsq", (fraction >> X_BITS) + 64 * even, fraction & (1 << X_BITS) - 1) >> X_BITS
    return np.where(even | (fraction != 0), out, 1 << FRACTION + 1)


def _without_negative(
    out: np.ndarray,
    sign: np.ndarray,
    exponent: np.ndarray,
    fraction: np.ndarray,
    top: int,
    at_zero: np.ndarray | int,
    at_infinity: np.ndarray | int,
) -> np.ndarray:
    """The results of a function that is undefined for negative numbers."""
    out = np.where((exponent == top) & (fraction == 0), np.uint32(at_infinity), out)
    out = np.where((sign != 0) | (exponent == top) & (fraction != 0), NAN, out)
    return np.where(exponent == 0, at_zero, out)


def rsq(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits)
    out = _packed(BIAS - 1 - (exponent - BIAS >> 1), _inverse_root(exponent, fraction))
    return _without_negative(out, sign, exponent, fraction, TOP, np.uint32(INFINITY) | sign, 0)


def rsq64h(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits, FRACTION_64)
    out = _packed_64(BIAS_64 - 1 - (exponent - BIAS_64 >> 1), _inverse_root(exponent, fraction))
    return _without_negative(out, sign, exponent, fraction, TOP_64, np.uint32(INFINITY_64) | sign, 0)


def sqrt(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits)
    segment = (fraction >> X_BITS) + 64 * ((exponent & 1) == 0)
    root = _interpolated("sqrt", segment, fraction & (1 << X_BITS) - 1) >> X_BITS + 1
    return _without_negative(
        _packed(BIAS + (exponent - BIAS >> 1), root), sign, exponent, fraction, TOP, sign, INFINITY
    )


def _fixed(exponent: np.ndarray, fraction: np.ndarray, places: int, most: int) -> np.ndarray:
    """A number as an integer with `places` bits of fraction, truncated; shifted left by at most `most`."""
    significand, up = fraction | ONE, exponent - BIAS + places - FRACTION
    result: np.ndarray = np.where(up >= 0, significand << np.clip(up, 0, most), significand >> np.clip(-up, 0, 31))
    return result


def ex2(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits)
    power = _fixed(exponent, fraction, FRACTION, 9)
    power = np.where(sign != 0, np.where(power & LOW, ~power, -power), power)
    part = power & LOW
    out = _packed(BIAS + (power >> FRACTION), _interpolated("ex2", part >> X_BITS, part & (1 << X_BITS) - 1) >> X_BITS)
    return np.where((exponent == TOP) & (fraction != 0), NAN, out)


def lg2(bits: np.ndarray) -> np.ndarray:
    sign, exponent, fraction = _parts(bits)
    unit = FRACTION + X_BITS
    value = _interpolated("lg2", fraction >> X_BITS, fraction & (1 << X_BITS) - 1) + (exponent - BIAS << unit)
    value = np.where((exponent == BIAS) & (fraction == 0), 0, value)
    below = np.where(value < 0, SIGN, np.uint32(0))
    out = _normalised(np.where(value < 0, ~value, value) & ~15, unit) | below
    return _without_negative(out, sign, exponent, fraction, TOP, INFINITY | int(SIGN), INFINITY)


def _wave(bits: np.ndarray, quarters: int, odd: bool) -> np.ndarray:
    """The sine of a number of revolutions plus so many quarters; odd: it changes its sign with the argument."""
    sign, exponent, fraction = _parts(bits)
    angle = _fixed(exponent, fraction, FRACTION + 2, 26)
    quarter = (angle >> FRACTION) + quarters
    part = np.where(quarter & 1, ~angle, angle) & LOW
    size = _normalised(_interpolated("sin", part >> X_BITS, part & (1 << X_BITS) - 1), FRACTION + 1 + X_BITS)
    below = np.where(quarter & 2, SIGN, np.uint32(0)) ^ (sign if odd else np.uint32(0))
    return np.where(exponent == TOP, NAN, size | below)


def sin(bits: np.ndarray) -> np.ndarray:
    return _wave(bits, 0, odd=True)


def cos(bits: np.ndarray) -> np.ndarray:
    return _wave(bits, 1, odd=False)


def ex2_f16(bits: np.ndarray) -> np.ndarray:
    """EX2 of a 16-bit float, truncated; infinite from 2**16 on."""
    out = ex2(bits.view(np.float16).astype(np.float32).view(np.uint32)).view(np.float32)
    with np.errstate(invalid="ignore"):
        cut = rounded(np.where(out < 2.0**16, out, 0).astype(np.float64), 16, "rz").view(np.uint16)
        return np.where(out < 2.0**16, cut, np.where(np.isnan(out), np.uint16(0x7FFF), np.uint16(0x7C00)))


def ex2_bf16(bits: np.ndarray) -> np.ndarray:
    """EX2 of the upper half of a 32-bit float, truncated."""
    return (ex2(bits.astype(np.uint32) << np.uint32(16)) >> np.uint32(16)).astype(np.uint16)


# bit patterns of any shape -> bit patterns of the results: uint32, in the 16-bit forms uint16
UNIT = "sm_90"
FUNCTIONS = {
    "rcp": rcp,
    "rsq": rsq,
    "sqrt": sqrt,
    "ex2": ex2,
    "lg2": lg2,
    "sin": sin,
    "cos": cos,
    "rcp64h": rcp64h,
    "rsq64h": rsq64h,
    "ex2.f16": ex2_f16,
    "ex2.bf16": ex2_bf16,
}
