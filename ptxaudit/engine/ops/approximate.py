"""Approximate special functions as far as documents bound them: all the floats that a result may be.

    rcp.approx.f32 of 3.0  ->  0x3EAAAAAA, 0x3EAAAAAB            "the maximum ulp error is 1" (PTX ISA, rcp)

This is what PTX guarantees for every GPU, and what holds for machine code of a generation whose unit was not measured
(`mufu` has the measured one). The bounds are those of the PTX ISA manual, "Floating Point Instructions": rcp, sqrt,
rsqrt, lg2, ex2, div. ptxas turns each `.ftz` form into one MUFU. The bounds of sin, cos and tanh are too loose to be
useful; they have no row. The manual gives no bound for the upper word of a double (rcp.approx.ftz.f64,
rsqrt.approx.ftz.f64): the 20 bits to which sm_90 truncates it are assumed to be accurate to two units. The 32-bit
reciprocal of a power of two is assumed to be exact.

Candidates are computed in doubles, with an allowance for the error of these. Lanes that may have more candidates than
are listed are marked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.engine.ops.row import Row, Run

SLACK = 1 + 2.0**-20  # factor of every bound, for the error of the double
NAN = np.uint32(0x7FFFFFFF)
SIGN, SIZE = np.uint32(1 << 31), np.uint32((1 << 31) - 1)
INFINITY, LEAST_NORMAL = np.uint32(0x7F800000), np.uint32(0x00800000)
UPPER_WORD_UNITS = 2  # see the module


def flushed(bits: np.ndarray) -> np.ndarray:
    """Subnormal floats as zeros of the same sign."""
    return np.where(bits & SIZE < LEAST_NORMAL, bits & SIGN, bits)


def _unit(exact: np.ndarray) -> np.ndarray:
    """The distance between neighbouring 32-bit floats at a number."""
    result: np.ndarray = np.maximum(2.0 ** (np.frexp(exact)[1] - 24.0), 2.0**-149)
    return result


def _listed(exact: np.ndarray, within: np.ndarray, steps: int, ftz: bool) -> tuple[np.ndarray, np.ndarray]:
    """(candidates, lanes that have more): the floats no further than `within` from the exact result.

    The nearest comes first, and fills the places of candidates that a lane lacks. steps: how many floats to either
    side of the nearest are considered.
    """
    nearest = exact.astype(np.float32)
    most = np.finfo(np.float32).max
    out, missing = [nearest], [np.zeros(exact.shape, bool)]
    beyond = np.zeros(exact.shape, bool)
    for direction in (np.float32(-np.inf), np.float32(np.inf)):
        other = nearest
        for step in range(steps + 1):
            other = np.nextafter(other, direction)
            there = (np.abs(other.astype(np.float64) - exact) <= within * SLACK) | np.isinf(other) & (
                np.abs(exact) + within * SLACK >= most
            )
            if step == steps:
                beyond |= there
            else:
                out.append(np.where(there, other, nearest))
                missing.append(~there)
    absent = np.stack(missing)
    order = np.argsort(absent, axis=0, kind="stable")[: int((~absent).sum(axis=0).max())]
    stack = np.take_along_axis(np.stack(out), order, axis=0).view(np.uint32)
    return flushed(stack) if ftz else stack, beyond


def _within(exact: np.ndarray, bound: np.ndarray, steps: int, ftz: bool) -> tuple[np.ndarray, np.ndarray]:
    """As `_listed`, for any results: one that is infinite, zero or NaN is its only candidate."""
    special = ~np.isfinite(exact) | (exact == 0)
    numbers, beyond = _listed(np.where(special, 1.0, exact), np.where(special, 0.0, bound), steps, ftz)
    plain = np.where(np.isnan(exact), NAN, np.ascontiguousarray(exact.astype(np.float32)).view(np.uint32))
    return np.where(special, plain, numbers), beyond & ~special


def _as_doubles(bits: np.ndarray, ftz: bool) -> np.ndarray:
    """32-bit floats as doubles; ftz: subnormal numbers are zeros."""
    return (flushed(bits) if ftz else bits).view(np.float32).astype(np.float64)


def _of_one(
    function: Callable[[np.ndarray], np.ndarray],
    bound: Callable[..., np.ndarray],
    steps: int,
    ftz: bool | None = None,
    sure: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Run:
    """Candidates of a function of one float.

    bound(x, exact): the error; ftz: subnormal numbers are zeros, None: if attrs say so; sure(x): where the result is
    the nearest float.
    """

    def candidates(width: int, attrs: tuple[Any, ...], bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flush = attrs[1] if ftz is None else ftz
        with np.errstate(all="ignore"):
            x = _as_doubles(bits, flush)
            exact = function(x)
            error = bound(x, exact)
            return _within(exact, error if sure is None else np.where(sure(x), 0.0, error), steps, flush)

    return candidates


def _units(count: float) -> Callable[..., np.ndarray]:
    return lambda x, exact: count * _unit(exact)


def _relative(error: float) -> Callable[..., np.ndarray]:
    return lambda x, exact: error * np.abs(exact)


def _of_logarithm(x: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """2**-22, absolute between one half and two, relative outside."""
    return np.where((x > 0.5) & (x < 2), 2.0**-22, 2.0**-22 * np.abs(exact))


def _reciprocal(x: np.ndarray) -> np.ndarray:
    return 1 / x


def _power_of_two(x: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.abs(np.frexp(x)[0]) == 0.5
    return result


def _inverse_root(x: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.where(x == 0, np.copysign(np.inf, x), 1 / np.sqrt(x))
    return result


def _logarithm(x: np.ndarray) -> np.ndarray:
    return np.log2(np.where(x == 0, 0.0, x))


def _quotient(full: bool) -> Run:
    """div.full: 2 units over the full range; div.approx: for divisors between 2**-126 and 2**126."""

    def candidates(width: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            x, y = (_as_doubles(bits, attrs[1]) for bits in (a, b))
            exact = np.array(x / y, ndmin=x.ndim)
            numbers, beyond = _within(exact, 2 * _unit(exact), 4, attrs[1])
            size = np.abs(y)
            beyond |= np.isnan(exact)  # of a division by one, ptxas makes a copy
        inside = full | (size >= 2.0**-126) & (size <= 2.0**126)
        return numbers, beyond | ~inside

    return candidates


def _upper_word(function: Callable[[np.ndarray], np.ndarray]) -> Run:
    """The upper word of a function of a double, given only the upper word of its argument."""

    def candidates(width: int, attrs: tuple[Any, ...], bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        exponent = bits >> np.uint32(20) & np.uint32(2047)
        bits = np.where(exponent == 0, bits & SIGN, bits)
        x = (bits.astype(np.uint64) << np.uint64(32)).view(np.float64)
        with np.errstate(all="ignore"):
            exact = function(x)
        word = (np.ascontiguousarray(exact).view(np.uint64) >> np.uint64(32)).astype(np.int64)
        special = ~np.isfinite(exact) | (exact == 0)
        moved = [
            np.where(special, word, word + k)
            for k in (0, *range(-UPPER_WORD_UNITS, 0), *range(1, UPPER_WORD_UNITS + 1))
        ]
        moved = [np.where(w & 0x7FF00000 == 0, w & 0x80000000, w) for w in moved]
        stack = np.where(
            np.isnan(exact) | (exponent == 2047) & (bits & np.uint32(0xFFFFF) != 0),
            NAN,
            np.stack(moved).astype(np.uint32),
        )
        return stack, np.zeros(bits.shape, bool)

    return candidates


def not_one_number(bits: int, attrs: tuple[Any, ...], *sources: np.ndarray) -> np.ndarray:
    """Takes the place of `run` in a row that has only candidates."""
    raise TypeError("only candidates of its result are known")


def _row(candidates: Run, widths: str = "s") -> Row:
    return Row(not_one_number, widths, candidates=candidates)


# Machine code of generations that were not measured: subnormal numbers are zeros.
MUFU = {
    "mufu.rcp": _row(_of_one(_reciprocal, _units(1), 2, True, _power_of_two)),
    "mufu.sqrt": _row(_of_one(np.sqrt, _relative(2.0**-23), 2, True)),
    "mufu.rsq": _row(_of_one(_inverse_root, _relative(2.0**-22.9), 3, True)),
    "mufu.ex2": _row(_of_one(np.exp2, _units(2.5), 5, True)),  # two units from the correctly rounded result
    "mufu.lg2": _row(_of_one(_logarithm, _of_logarithm, 8, True)),
    "mufu.rcp64h": _row(_upper_word(_reciprocal)),
    "mufu.rsq64h": _row(_upper_word(_inverse_root)),
}
# PTX, on every machine: attrs are (rounding, whether subnormal numbers are zeros).
PTX = {
    "rcp.approx": _row(_of_one(_reciprocal, _units(1), 2, sure=_power_of_two)),
    "sqrt.approx": _row(_of_one(np.sqrt, _relative(2.0**-23), 2)),
    "rsqrt.approx": _row(_of_one(_inverse_root, _relative(2.0**-22.9), 3)),
    "ex2.approx": _row(_of_one(np.exp2, _units(2.5), 5)),
    "lg2.approx": _row(_of_one(_logarithm, _of_logarithm, 8)),
    "div.approx": _row(_quotient(False), "ss"),
    "div.full": _row(_quotient(True), "ss"),
}
