"""Sums, products, quotients and roots of floats, rounded once, in every rounding mode.

    sum_64(1.0, 2**-60, "rp")      -> 1.0000000000000002
    rounded(0.1 (double), 32, "rz") -> 0.099999994

64 bits: the nearest double and the sign of its error, by error-free transformations (Knuth's two-sum, Dekker's
product; a fused product by Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
rounding to odd", IEEE Transactions on Computers 57, 2008). Lanes whose exponents would make these inexact use
fractions. 16 and 32 bits: in doubles, which hold products exactly, and whose quotients and roots are never so near to
a halfway point of 24 bits that a second rounding matters; the double of a sum is moved off such points (`sticky`).

Modes are those of PTX: "rn", "rz", "rm", "rp".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction  # few lanes need it, and it takes as long to load as ten modules

FLOAT: dict[int, type[Any]] = {16: np.float16, 32: np.float32, 64: np.float64}
SPARE_BITS = np.uint64((1 << 28) - 1)  # bits of a double below the last bit of a 32-bit float and the one after it
_SPLIT = float((1 << 27) + 1)  # Veltkamp's constant, which splits a double in halves
_SAFE_LOW, _SAFE_HIGH = 2.0**-400, 2.0**400  # magnitudes of factors whose product's error is a double
_ADDEND_LOW, _ADDEND_HIGH = 2.0**-850, 2.0**850


def rounded(exact: np.ndarray, bits: int, mode: str) -> np.ndarray:
    """Doubles rounded to a width."""
    target = FLOAT[bits]
    near = exact.astype(target)
    if mode == "rn":
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


def sticky(total: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """A double that rounds to 32 bits and fewer as total + rest does, in every mode; only the sign of `rest` matters.

    The two differ only if the double is a 32-bit float or halfway between two, so that its low bits are zero: then
    its neighbour stands for the sum.
    """
    on_edge = (np.ascontiguousarray(total).view(np.uint64) & SPARE_BITS) == 0
    beside = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
    return np.where((rest != 0) & np.isfinite(total) & on_edge, beside, total)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(a + b rounded, its error)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `two_sum`, of a · b, if no part of it underflows or overflows."""
    product = a * b
    high_a, high_b = _SPLIT * a, _SPLIT * b
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


# --- 64 bits --------------------------------------------------------------------------------


def directed(near: np.ndarray, rest: np.ndarray, mode: str) -> np.ndarray:
    """near + rest rounded, where `near` is the nearest double and only the sign of `rest` matters."""
    if mode == "rn":
        return near
    down, up = rest < 0, rest > 0
    if mode == "rz":
        down, up = down & ((near > 0) | np.isposinf(near)), up & ((near < 0) | np.isneginf(near))
    elif mode == "rm":
        up = np.zeros_like(up)
    else:
        down = np.zeros_like(down)
    return np.where(down, np.nextafter(near, -np.inf), np.where(up, np.nextafter(near, np.inf), near))


def _of_overflow(near: np.ndarray, rest: np.ndarray, *sources: np.ndarray) -> np.ndarray:
    """The error of a result; of an infinite result of finite numbers, its sign."""
    finite = np.isfinite(sources[0])
    for source in sources[1:]:
        finite = finite & np.isfinite(source)
    return np.where(np.isinf(near) & finite, -np.sign(near), np.where(np.isfinite(near), rest, 0.0))


def sum_64(a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    near, rest = two_sum(a, b)
    out = directed(near, _of_overflow(near, rest, a, b), mode)
    if mode == "rm":  # x - x is -0
        out = np.where((out == 0) & ~_both_positive(a, b), -0.0, out)
    return out


def _both_positive(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result: np.ndarray = ~(np.signbit(a) | np.signbit(b))
    return result


def product_64(a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    near = a * b
    if mode == "rn":
        result: np.ndarray = near
        return result
    _, rest = _two_product(a, b)
    rest = _of_overflow(near, rest, a, b)
    return directed(near, _by_fractions(rest, ~_safe_factors(a, b), lambda x, y, n: _sign(x * y - n), a, b, near), mode)


def fused_64(a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: str) -> np.ndarray:
    """a · b + c."""
    a, b, c = np.broadcast_arrays(a, b, c)
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, a * b + c)  # for zeros, infinities and NaN
    product, low = _two_product(a, b)
    middle, lowest = two_sum(c, low)
    high, between = two_sum(product, middle)
    rest, left = two_sum(lowest, between)
    even = (np.ascontiguousarray(rest).view(np.uint64) & np.uint64(1)) == 0
    odd = np.where((left != 0) & even, np.nextafter(rest, np.where(left > 0, np.inf, -np.inf)), rest)
    near, after = two_sum(high, odd)
    out = directed(near, np.where(after != 0, after, np.where(odd == rest, left, rest - odd)), mode)
    nothing = -0.0 if mode == "rm" else 0.0  # x - x
    out = np.where(near == 0, nothing, out)
    size = np.abs(c)
    safe = _safe_factors(a, b) & ((c == 0) | (size > _ADDEND_LOW) & (size < _ADDEND_HIGH))
    usual = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)
    if mode == "rm":
        plain = np.where((plain == 0) & ~_both_positive(a * b, c), -0.0, plain)
    return _by_fractions(
        np.where(usual, out, plain), usual & ~safe, lambda x, y, z: _of_fraction(x * y + z, mode, nothing), a, b, c
    )


def quotient_64(a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    near = a / b
    if mode == "rn":
        result: np.ndarray = near
        return result
    plain = ~np.isfinite(a) | ~np.isfinite(b) | (a == 0) | (b == 0)
    rest = np.where(np.isinf(near) & ~plain, -np.sign(near), 0.0)
    rest = _by_fractions(rest, np.isfinite(near) & ~plain, lambda x, y, n: _sign(x / y - n), a, b, near)
    return directed(near, rest, mode)


def root_64(a: np.ndarray, mode: str) -> np.ndarray:
    near = np.sqrt(a)
    if mode == "rn":
        result: np.ndarray = near
        return result
    rest = _by_fractions(np.zeros(a.shape), np.isfinite(near) & (a > 0), lambda x, n: _sign(x - n * n), a, near)
    return directed(near, rest, mode)


def _safe_factors(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = np.abs(a), np.abs(b)
    return (a > _SAFE_LOW) & (a < _SAFE_HIGH) & (b > _SAFE_LOW) & (b < _SAFE_HIGH)


def _by_fractions(
    out: np.ndarray, where: np.ndarray, function: Callable[..., float], *sources: np.ndarray
) -> np.ndarray:
    """`out` with the lanes in `where` replaced by a function of exact fractions, if their sources are finite."""
    if not where.any():
        return out
    from fractions import Fraction

    out = np.array(np.broadcast_to(out, where.shape))
    for at in zip(*np.nonzero(where)):
        numbers = [float(source[at]) for source in sources]
        if all(np.isfinite(number) for number in numbers):
            out[at] = function(*map(Fraction, numbers))
    return out


def _sign(exact: Fraction) -> float:
    return float((exact > 0) - (exact < 0))


def _of_fraction(exact: Fraction, mode: str, nothing: float) -> float:
    if exact == 0:
        return nothing
    try:
        near = float(exact)
    except OverflowError:
        near = np.inf if exact > 0 else -np.inf
    rest = _sign(exact - type(exact)(near)) if np.isfinite(near) else -np.sign(near)
    return float(directed(np.array(near), np.array(rest), mode))
