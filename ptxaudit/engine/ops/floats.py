"""Floating-point operations that occur in index arithmetic, on bit patterns.

Integer division becomes I2F, MUFU.RCP, F2I and integer corrections in machine code, and sampling code computes
indices in floats. Conversions, sums, products and fused products follow IEEE 754 exactly, in all rounding modes
(`rounding`; PTX ISA, "Floating-Point Instructions"). What IEEE 754 leaves open was measured on an H100, with some 480
instructions on 2,048 inputs each (tests/data/float_operations_sm90.npz): NaN results are 0x7FFFFFFF and 0x7FFF; of 64
bits they are the first NaN among b, c, a of a · b + c, made quiet, else 0xFFF8000000000000; .SAT turns a NaN into 0;
.FTZ flushes a result that is subnormal after rounding with an unbounded exponent. FCHK depends only on the exponents.

Approximations have rows of their own: `approximate`, and `mufu` for the measured generation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.engine.domain.value import BITS, DTYPES, signed
from ptxaudit.engine.ops.concrete import COMPARISONS
from ptxaudit.engine.ops.rounding import (
    FLOAT,
    fused_64,
    product_64,
    quotient_64,
    root_64,
    rounded,
    sticky,
    sum_64,
    two_sum,
)
from ptxaudit.engine.ops.row import Row, Run
from ptxaudit.ir.nodes import ANY_NAN, IN_THIS_ORDER

CANONICAL_NAN: dict[int, Any] = {16: np.uint16(0x7FFF), 32: np.uint32(0x7FFFFFFF)}
_NOWHERE = np.zeros((1, 1), bool)
QUIET_64, INDEFINITE_64 = np.uint64(1 << 51), np.uint64(0xFFF8 << 48)
FRACTION = {16: 10, 32: 23, 64: 52}  # bits
_UP = {16: 2.0**12, 32: 2.0**64}  # scales subnormal numbers into the normal range


def as_float(array: np.ndarray) -> np.ndarray:
    return array.view(FLOAT[BITS[array.dtype]])


def as_bits(array: np.ndarray, bits: int) -> np.ndarray:
    """The bits of floats of a width, with NaN as the GPU writes it (for 64 bits see `_with_nan`)."""
    out = np.ascontiguousarray(array).view(DTYPES[bits])
    result: np.ndarray = out if bits == 64 else np.where(np.isnan(array), CANONICAL_NAN[bits], out)
    return result


def _with_nan(out: np.ndarray, *sources: np.ndarray) -> np.ndarray:
    """The result of a 64-bit operation: a NaN becomes the first source that is NaN, made quiet."""
    bits = np.where(np.isnan(as_float(out)), INDEFINITE_64, out)
    for source in reversed(sources):
        bits = np.where(np.isnan(as_float(source)), source | QUIET_64, bits)
    return bits


def _flush(array: np.ndarray, ftz: bool) -> np.ndarray:
    """Flushes subnormals of 16 and 32 bits to zero, keeping the sign."""
    if not ftz or array.dtype == np.float64:
        return array
    zero = array.dtype.type(0)
    return np.where(np.abs(array) < np.finfo(array.dtype).tiny, np.copysign(zero, array), array)


def _flush_32(array: np.ndarray, ftz: bool) -> np.ndarray:
    """As `_flush`, in a conversion, where it applies only to 32 bits."""
    return _flush(array, ftz) if array.dtype == np.float32 else array


def _attrs(attrs: tuple[Any, ...]) -> tuple[str, bool, bool]:
    """(rounding mode, subnormals are zeros, saturated to [0, 1]) from attrs, whose last elements may be missing."""
    mode, ftz, saturated = attrs[:3] + ("rn", False, False)[len(attrs) :]
    return mode or "rn", bool(ftz), bool(saturated)


def _saturated(array: np.ndarray) -> np.ndarray:
    zero = array.dtype.type(0)
    result: np.ndarray = np.where(array > 0, np.minimum(array, array.dtype.type(1)), zero)
    return result


def _arithmetic(narrow: Callable[..., np.ndarray], wide: Callable[..., np.ndarray]) -> Run:
    """An arithmetic operation, from its functions of doubles and the rounding mode.

    narrow: its result is rounded to 16 or 32 bits; wide: its result is the 64-bit one.
    """

    def run(bits: int, attrs: tuple[Any, ...], *sources: np.ndarray) -> np.ndarray:
        mode, ftz, saturated = _attrs(attrs)
        with np.errstate(all="ignore"):
            if bits == 64:
                out = np.ascontiguousarray(wide(*map(as_float, sources), mode)).view(np.uint64)
                return _with_nan(out, *sources[1:], sources[0])
            exact = narrow(*(_flush(as_float(s), ftz).astype(np.float64) for s in sources), mode)
            out = rounded(exact, bits, mode)
            if ftz:
                out = np.where(_tiny(exact, bits, mode), np.copysign(out.dtype.type(0), exact), out).astype(out.dtype)
            return as_bits(_saturated(out) if saturated else out, bits)

    return run


def _tiny(exact: np.ndarray, bits: int, mode: str) -> np.ndarray:
    """Where a result is flushed: below the least normal number after rounding with an unbounded exponent."""
    least = float(np.finfo(FLOAT[bits]).tiny)
    return np.abs(rounded(exact * _UP[bits], bits, mode).astype(np.float64)) < least * _UP[bits]


def exact_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A double that rounds to 32 bits and fewer as the exact sum does."""
    return sticky(*two_sum(a, b))


def _sum(a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    exact = exact_sum(a, b)
    return np.where((exact == 0) & (np.signbit(a) | np.signbit(b)), -0.0, exact) if mode == "rm" else exact


def _extremum(choose: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Run:
    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        _, ftz, _ = _attrs(attrs)
        with np.errstate(all="ignore"):
            x, y = _flush(as_float(a), ftz), _flush(as_float(b), ftz)
            return as_bits(choose(x, y), bits)

    return run


def _least(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a == b, np.where(np.signbit(a), a, b), np.fmin(a, b))


def _greatest(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a == b, np.where(np.signbit(a), b, a), np.fmax(a, b))


def _both_nan(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where both operands of a minimum or maximum are NaN, of which either may result.

    That is so for 64 bits, and in PTX for equal operands, whose minimum ptxas may take to be a copy. In PTX, signalling
    NaN are also open: the GPU returns NaN, and ptxas the other operand where both are constants.
    """
    if bits != 64 and ANY_NAN not in attrs:
        return _NOWHERE
    first, second = np.isnan(as_float(a)), np.isnan(as_float(b))
    both: np.ndarray = first & second
    if ANY_NAN not in attrs:
        return both
    if bits != 64:
        both = both & (a == b) & (a != CANONICAL_NAN[bits])
    quiet = a.dtype.type(1 << FRACTION[bits] - 1)
    result: np.ndarray = both | first & (a & quiet == 0) | second & (b & quiet == 0)
    return result


def _any_nan(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """Where a NaN is copied or its sign changed, which ptxas may do by an operation that returns another NaN."""
    lost: np.ndarray = np.isnan(as_float(a)) if ANY_NAN in attrs else _NOWHERE
    return lost


# --- conversions ----------------------------------------------------------------------------


def _int_to_float(is_signed: bool) -> Run:
    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
        mode, _, _ = _attrs(attrs)
        number = signed(a) if is_signed and a.dtype != bool else a
        near = number.astype(np.float64)
        if BITS[a.dtype] <= 32:
            rest = np.zeros_like(near)
        else:
            half = number >> number.dtype.type(32)  # the error of a sum of two exact doubles
            low = (number & number.dtype.type(0xFFFFFFFF)).astype(np.float64)
            near, rest = two_sum(half.astype(np.float64) * 2.0**32, low)
        with np.errstate(all="ignore"):
            if bits == 64:
                return np.ascontiguousarray(sum_64(near, rest, mode) + 0.0).view(np.uint64)
            return as_bits(rounded(sticky(near, rest), bits, mode), bits)

    return run


_WHOLE = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}


def _whole(mode: str) -> Callable[..., np.ndarray]:
    """The function that rounds to whole numbers in a mode such as "rni" or "rn"."""
    return _WHOLE[mode.removesuffix("i")]


def _float_to_int(is_signed: bool) -> Run:
    """A saturating conversion to integers.

    attrs: (mode, subnormals are zeros, NaN is zero); otherwise NaN is the sign bit.
    """

    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
        mode, ftz, nan_is_zero = _attrs(attrs)
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        kind: type[Any] = np.int64 if is_signed else np.uint64
        with np.errstate(all="ignore"):
            value = _whole(mode)(_flush_32(as_float(a), ftz).astype(np.float64))
            inside = (value >= low) & (value < 2.0 ** (bits - is_signed))
            number = np.where(inside, value, 0.0).astype(kind)
        number = np.where(inside, number, np.where(value > 0, kind(high), kind(low)))
        nan = 0 if nan_is_zero else 1 << bits - 1
        out = number.view(np.uint64).astype(DTYPES[bits])
        return np.where(np.isnan(value), DTYPES[bits](nan), out)

    return run


def _float_to_float(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """Converts between widths, or to whole numbers of the same width.

    If either side has 64 bits, a NaN keeps the top of its fraction.
    """
    mode, ftz, saturated = _attrs(attrs)
    with np.errstate(all="ignore"):
        exact = _flush_32(as_float(a), ftz).astype(np.float64)
        out = rounded(_whole(mode)(exact), bits, "rn") if mode.endswith("i") else rounded(exact, bits, mode)
        out = _flush_32(out, ftz)
    if saturated:
        return as_bits(_saturated(out), bits)
    if 64 not in (bits, BITS[a.dtype]):
        return as_bits(out, bits)
    a = np.where(np.isnan(exact), CANONICAL_NAN[32], a) if ftz and a.dtype == np.uint32 else a
    return np.where(np.isnan(exact), _nan_between(a, bits), np.ascontiguousarray(out).view(DTYPES[bits]))


def _at_the_edge(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """Where a double just below the least normal 32-bit float may become it or zero: ptxas emits a threshold.

    Or where a NaN is copied or converted, if ptxas may do either.
    """
    if ANY_NAN in attrs:
        return _any_nan(bits, attrs, a)
    if bits != 32 or a.dtype != np.uint64 or not _attrs(attrs)[1]:
        return np.zeros((1, 1), bool)
    size, least = np.abs(as_float(a)), 2.0**-126
    result: np.ndarray = (size < least) & (size > least * (1 - 2.0**-22))
    return result


def _nan_between(a: np.ndarray, bits: int) -> np.ndarray:
    """A NaN at another width: the sign and the top of the fraction, made quiet."""
    own = BITS[a.dtype]
    wide = a.astype(np.uint64) << np.uint64(64 - own)
    fraction = wide << np.uint64(own - FRACTION[own])  # at the top of the word
    nan = wide & np.uint64(1 << 63) | INDEFINITE_64 & np.uint64((1 << 63) - 1) | fraction >> np.uint64(12)
    if bits == 64:
        return nan
    exponent = (1 << bits - 1) - (1 << FRACTION[bits])
    kept = nan >> np.uint64(52 - FRACTION[bits]) & np.uint64((1 << FRACTION[bits]) - 1)
    return (nan >> np.uint64(63) << np.uint64(bits - 1) | np.uint64(exponent) | kept).astype(DTYPES[bits])


def _opposite(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """Flips the sign bit, as the minus of an operand does; a 64-bit NaN is only made quiet."""
    changed = a ^ a.dtype.type(1 << (bits - 1))
    return np.where(np.isnan(as_float(a)), a | QUIET_64, changed) if bits == 64 else changed


def _size(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    """Clears the sign bit, as |x| of an operand does; a 64-bit NaN is only made quiet."""
    cleared = a & a.dtype.type((1 << (bits - 1)) - 1)
    return np.where(np.isnan(as_float(a)), a | QUIET_64, cleared) if bits == 64 else cleared


# --- comparisons ----------------------------------------------------------------------------

# Exponent fields for which FCHK does not take the slow path of a / b; for all others it does, whatever the signs and
# fractions are.
# Measured on an H100 for all pairs of exponents, four pairs of signs and 64 of fractions.
_DIVIDEND, _DIVISOR, _APART = (25, 254), (2, 251), (-124, 126)


def division_check(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where FCHK takes the slow path of a division."""
    x, y = ((number >> np.uint32(23) & np.uint32(255)).astype(np.int64) for number in (a, b))
    within: Callable[[np.ndarray, tuple[int, int]], np.ndarray] = lambda number, limits: (
        (number >= limits[0]) & (number <= limits[1])
    )
    result: np.ndarray = ~(within(x, _DIVIDEND) & within(y, _DIVISOR) & within(x - y, _APART))
    return result


def near_the_limits(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where FCHK may take the slow path on a generation that was not measured.

    It tests whether an intermediate result could leave the range of normal numbers; none can if both exponents are
    within a quarter of the range.
    """
    with np.errstate(invalid="ignore"):
        inside: Callable[[np.ndarray], np.ndarray] = lambda x: (np.abs(x) >= 2.0**-30) & (np.abs(x) <= 2.0**30)
        result: np.ndarray = ~(inside(as_float(a)) & inside(as_float(b)))
        return result


def _compare(name: str) -> Run:
    unordered = name.endswith("u") and name not in ("eq", "num")
    relation = COMPARISONS.get(name[:-1] if unordered else name, np.equal)  # unused for num and nan

    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        x, y = as_float(a), as_float(b)
        nan = np.isnan(x) | np.isnan(y)
        if name in ("num", "nan"):
            result: np.ndarray = nan if name == "nan" else ~nan
            return result
        with np.errstate(invalid="ignore"):
            holds: np.ndarray = relation(x, y) | nan if unordered else relation(x, y) & ~nan
            return holds

    return run


def _row(narrow: Callable[..., np.ndarray], wide: Callable[..., np.ndarray], widths: str) -> Row:
    run = _arithmetic(narrow, wide)

    def undefined(bits: int, attrs: tuple[Any, ...], *sources: np.ndarray) -> np.ndarray:
        """Where a result is NaN, in PTX: ptxas exchanges operands, drops factors of one, and folds constants."""
        if (bits != 64 or IN_THIS_ORDER in attrs) and ANY_NAN not in attrs:
            return _NOWHERE
        lost: np.ndarray = np.isnan(as_float(run(bits, attrs, *sources)))
        return lost

    return Row(run, widths, undefined)


FLOATS: dict[str, Row] = {
    "fadd": _row(_sum, sum_64, "ss"),
    "fsub": _row(lambda a, b, mode: _sum(a, -b, mode), lambda a, b, mode: sum_64(a, -b, mode), "ss"),
    "fmul": _row(lambda a, b, mode: a * b, product_64, "ss"),
    "fma": _row(lambda a, b, c, mode: _sum(a * b, c, mode), fused_64, "sss"),
    "fdiv": _row(lambda a, b, mode: a / b, quotient_64, "ss"),
    "fsqrt": _row(lambda a, mode: np.sqrt(a), root_64, "s"),
    "frcp": _row(lambda a, mode: 1 / a, lambda a, mode: quotient_64(np.ones_like(a), a, mode), "s"),
    "fmin": Row(_extremum(_least), "ss", _both_nan),
    "fmax": Row(_extremum(_greatest), "ss", _both_nan),
    "fneg": Row(_opposite, "s", _any_nan),
    "fabs": Row(_size, "s", _any_nan),
    "i2f.s": Row(_int_to_float(True), "o"),
    "i2f.u": Row(_int_to_float(False), "o"),
    "f2i.s": Row(_float_to_int(True), "o"),
    "f2i.u": Row(_float_to_int(False), "o"),
    "f2f": Row(_float_to_float, "o", _at_the_edge),
    "fsetp.check": Row(
        lambda bits, attrs, a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape), bool),
        "ss",
        near_the_limits,
        predicate=True,
    ),
}
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
    FLOATS[f"fsetp.{_name}"] = Row(_compare(_name), "ss", predicate=True)
