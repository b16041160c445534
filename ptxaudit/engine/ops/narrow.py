"""bfloat16 and 8-bit floats: results rounded once to a format that numpy lacks.

    fma.bf16(0x4040, 0x3F80, 0x3F80)  ->  0x4080          3 · 1 + 1
    f2f.e4m3(0x43E10000)              ->  0x7E            450.0, limited to the largest number, 448

A bfloat16 number is the upper half of a 32-bit float, so that everything else (comparisons, minima, conversions to
integers) works on 32-bit floats. Subnormal numbers are supported, in every format (PTX ISA, "Half Precision Floating
Point Instructions", "cvt"). Where the manual leaves a NaN open, the result is undefined: of arithmetic, and of 8-bit
floats in either direction. A conversion to bfloat16 gives 0x7FFF.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.ops.floats import as_float, exact_sum
from ptxaudit.engine.ops.row import Row, Run

_ROUND: dict[str, Callable[..., np.ndarray]] = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}
_BF16_NAN, _SHIFT = np.uint16(0x7FFF), np.uint32(16)


class Format(Record):
    """A binary format.

    digits: of the significand, the hidden one included; least: exponent of the least normal number; most: the largest
    number.
    """

    digits: int
    least: int
    most: float


BF16 = Format(8, -126, float.fromhex("0x1.fep127"))
E4M3 = Format(4, -6, 448.0)
E5M2 = Format(3, -14, 57344.0)


def _rounded(exact: np.ndarray, form: Format, mode: str) -> np.ndarray:
    """Doubles rounded to a format without a limit of its exponents; infinities and NaN as they are."""
    exponent = np.maximum(np.frexp(exact)[1] - 1, form.least) - (form.digits - 1)
    unit = np.ldexp(1.0, exponent)
    return np.where(np.isfinite(exact), np.copysign(_ROUND[mode](exact / unit) * unit, exact), exact)


def _bf16_bits(exact: np.ndarray, mode: str) -> np.ndarray:
    """Doubles as bfloat16."""
    out = _rounded(exact, BF16, mode)
    stays = np.isfinite(exact) & ((mode == "rz") | (mode == "rm") & (exact > 0) | (mode == "rp") & (exact < 0))
    out = np.where(stays & (np.abs(out) > BF16.most), np.copysign(BF16.most, out), out)
    bits = np.ascontiguousarray(out.astype(np.float32)).view(np.uint32) >> _SHIFT
    return np.where(np.isnan(out), _BF16_NAN, bits.astype(np.uint16))


def _from_bf16(bits: np.ndarray) -> np.ndarray:
    numbers: np.ndarray = (bits.astype(np.uint32) << _SHIFT).view(np.float32).astype(np.float64)
    return numbers


def _arithmetic(function: Callable[..., np.ndarray]) -> Run:
    def run(bits: int, attrs: tuple[Any, ...], *sources: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return _bf16_bits(function(*map(_from_bf16, sources)), "rn")

    return run


def _is_bf16_nan(run: Run) -> Run:
    def undefined(bits: int, attrs: tuple[Any, ...], *sources: np.ndarray) -> np.ndarray:
        result: np.ndarray = run(bits, attrs, *sources) == _BF16_NAN
        return result

    return undefined


def _to_bf16(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """attrs: (mode, whether a negative number becomes 0)."""
    mode, positive = attrs
    with np.errstate(all="ignore"):
        exact = as_float(a).astype(np.float64)
        return _bf16_bits(np.where(exact < 0, 0.0, exact) if positive else exact, mode)


def _unclear_to_bf16(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """−0 where negative numbers become 0, and 64-bit NaN."""
    exact = as_float(a)
    result: np.ndarray = attrs[1] & (exact == 0) & np.signbit(exact) | np.isnan(exact) & (exact.dtype == np.float64)
    return result


def _to_byte(form: Format) -> Run:
    """attrs: whether a negative number becomes 0. Numbers beyond the largest become that."""

    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            exact = as_float(a).astype(np.float64)
            if attrs[0]:
                exact = np.where(exact < 0, 0.0, exact)
            out = np.clip(_rounded(exact, form, "rn"), -form.most, form.most)
        size = np.where(np.isnan(out), 0.0, np.abs(out))
        exponent = np.where(size > 0, np.maximum(np.frexp(size)[1] - 1, form.least), form.least)
        units = np.ldexp(size, form.digits - 1 - exponent).astype(np.int64)
        code = (exponent.astype(np.int64) - form.least << form.digits - 1) + units
        result: np.ndarray = (code | np.where(np.signbit(out), 0x80, 0)).astype(np.uint16)
        return result

    return run


def _unclear_to_byte(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """NaN, and −0 where negative numbers become 0."""
    exact = as_float(a)
    result: np.ndarray = np.isnan(exact) | attrs[0] & (exact == 0) & np.signbit(exact)
    return result


def _from_byte(form: Format) -> Run:
    """The 16-bit float that equals the 8-bit float in the lower byte."""

    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
        code = a.astype(np.int64) & 0x7F
        fraction, exponent = code & (1 << form.digits - 1) - 1, code >> form.digits - 1
        whole = np.where(exponent > 0, fraction + (1 << form.digits - 1), fraction)
        number = np.ldexp(whole.astype(np.float64), np.maximum(exponent, 1) - 1 + form.least - (form.digits - 1))
        if form is E5M2:
            number = np.where(code == 0x7C, np.inf, number)
        with np.errstate(over="ignore"):
            half = np.ascontiguousarray(number.astype(np.float16)).view(np.uint16)
        return np.where(a & np.uint16(0x80), half | np.uint16(0x8000), half)

    return run


def _is_byte_nan(form: Format) -> Run:
    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
        code = a & np.uint16(0x7F)
        result: np.ndarray = code == 0x7F if form is E4M3 else code > 0x7C
        return result

    return run


_ADD = _arithmetic(exact_sum)
_MULTIPLY = _arithmetic(np.multiply)
_FUSED = _arithmetic(lambda a, b, c: exact_sum(a * b, c))

NARROW: dict[str, Row] = {
    "fadd.bf16": Row(_ADD, "ss", _is_bf16_nan(_ADD)),
    "fmul.bf16": Row(_MULTIPLY, "ss", _is_bf16_nan(_MULTIPLY)),
    "fma.bf16": Row(_FUSED, "sss", _is_bf16_nan(_FUSED)),
    "f2f.bf16": Row(_to_bf16, "o", _unclear_to_bf16),
    "f2f.e4m3": Row(_to_byte(E4M3), "o", _unclear_to_byte),
    "f2f.e5m2": Row(_to_byte(E5M2), "o", _unclear_to_byte),
    "e4m3.f2f": Row(_from_byte(E4M3), "s", _is_byte_nan(E4M3)),
    "e5m2.f2f": Row(_from_byte(E5M2), "s", _is_byte_nan(E5M2)),
}
