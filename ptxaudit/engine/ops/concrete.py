"""The concrete semantics of integer and predicate operations on arrays of lanes.

Each operation is a plain function of unsigned arrays (bool for predicates) that returns an array, or a tuple of
arrays if the operation has several results. Arrays broadcast against each other over (rows, lanes). The semantics are
those of the PTX ISA manual ("Integer Arithmetic", "Logic and Shift", "Comparison and Selection", "Data Movement":
docs.nvidia.com/cuda/parallel-thread-execution); the lifter of machine code expresses its instructions by the same
operations.

    add.32(0xFFFFFFFF, 2)              -> 1
    shr.s.32(0x80000000, 40)           -> 0xFFFFFFFF         (clamped at the width)
    bfe.u.32(0xABCD, 8, 4)             -> 0xB
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxaudit.engine.domain.value import BITS, DTYPES, SIGNED, resize, sign_extended, signed


def _shifted(shift: np.ufunc, bits: int, a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """A shift that yields zero for counts of the width or more."""
    if n.size == 1:
        k = int(n.flat[0])
        moved: np.ndarray = shift(a, a.dtype.type(k)) if k < bits else np.zeros_like(a)
        return moved
    inside = n < bits
    left: np.ndarray = np.where(inside, shift(a, np.where(inside, n, 0).astype(a.dtype)), a.dtype.type(0))
    return left


def shift_left(bits: int, attrs: tuple[Any, ...], a: np.ndarray, n: np.ndarray) -> np.ndarray:
    return _shifted(np.left_shift, bits, a, n)


def shift_right(bits: int, attrs: tuple[Any, ...], a: np.ndarray, n: np.ndarray) -> np.ndarray:
    return _shifted(np.right_shift, bits, a, n)


def shift_right_signed(bits: int, attrs: tuple[Any, ...], a: np.ndarray, n: np.ndarray) -> np.ndarray:
    count = np.minimum(n, bits - 1).astype(SIGNED[bits])
    result: np.ndarray = (signed(a) >> count).view(a.dtype)
    return result


def funnel(bits: int, attrs: tuple[Any, ...], lo: np.ndarray, hi: np.ndarray, n: np.ndarray, left: bool) -> np.ndarray:
    wide = (hi.astype(np.uint64) << np.uint64(32)) | lo.astype(np.uint64)
    count = (n & np.uint32(31) if attrs and attrs[0] == "wrap" else np.minimum(n, 32)).astype(np.uint64)
    wide = (wide << count) >> np.uint64(32) if left else wide >> count
    return wide.astype(np.uint32)


def wide(bits: int, array: np.ndarray, is_signed: bool) -> np.ndarray:
    """A source of half the result's width, extended to that width."""
    return sign_extended(bits, array) if is_signed else array.astype(DTYPES[bits])


def mulhi(bits: int, a: np.ndarray, b: np.ndarray, is_signed: bool) -> np.ndarray:
    if bits < 64:
        product = wide(2 * bits, a, is_signed) * wide(2 * bits, b, is_signed)
        result: np.ndarray = (product >> product.dtype.type(bits)).astype(a.dtype)
        return result
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    al, ah, bl, bh = a & low, a >> half, b & low, b >> half
    middle = ah * bl + ((al * bl) >> half)
    carry = (middle & low) + al * bh
    high = ah * bh + (middle >> half) + (carry >> half)
    if is_signed:
        high = high - np.where(signed(a) < 0, b, np.uint64(0)) - np.where(signed(b) < 0, a, np.uint64(0))
    high_half: np.ndarray = high
    return high_half


def divide(bits: int, a: np.ndarray, b: np.ndarray, is_signed: bool, remainder: bool) -> np.ndarray:
    safe = np.where(b == 0, b.dtype.type(1), b)
    if not is_signed:
        return a % safe if remainder else a // safe
    x, y = np.broadcast_arrays(a, safe)
    one = a.dtype.type(1)
    xm = np.where(signed(x) < 0, ~x + one, x)
    ym = np.where(signed(y) < 0, ~y + one, y)
    if remainder:
        out, negative = xm % ym, signed(x) < 0
    else:
        out, negative = xm // ym, (signed(x) < 0) ^ (signed(y) < 0)
    return np.where(negative, ~out + one, out)


def by_zero(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result: np.ndarray = b == 0
    return result


def add3_carry(
    bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray, c: np.ndarray, in0: np.ndarray, in1: np.ndarray
) -> tuple[np.ndarray, ...]:
    low = (1 << 32) - 1
    if bits == 32:
        total = a.astype(np.uint64) + b + c + in0 + in1
        high = total >> np.uint64(32)
        return total.astype(np.uint32), high >= 1, high >= 2
    parts_low = (a & np.uint64(low)) + (b & np.uint64(low)) + (c & np.uint64(low)) + in0 + in1
    parts_high = (a >> np.uint64(32)) + (b >> np.uint64(32)) + (c >> np.uint64(32)) + (parts_low >> np.uint64(32))
    high = parts_high >> np.uint64(32)
    return a + b + c + in0 + in1, high >= 1, high >= 2


def lop3_table(table: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Any bitwise function of three inputs, by its 8-entry truth table (index = 4a + 2b + c)."""
    out = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), a.dtype)
    for row in range(8):
        if table >> row & 1:
            out = out | ((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c))
    return out


def lop3(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return lop3_table(attrs[0], a, b, c)


def mask_below(bits: int, length: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """2**length − 1, length clamped to the width."""
    length = np.minimum(length, bits)
    full = length >= bits
    mask: np.ndarray = np.where(
        full, dtype.type((1 << bits) - 1), (dtype.type(1) << np.where(full, 0, length).astype(dtype)) - dtype.type(1)
    )
    return mask


def bfe(
    bits: int, attrs: tuple[Any, ...], a: np.ndarray, pos: np.ndarray, length: np.ndarray, is_signed: bool
) -> np.ndarray:
    pos, length = pos & np.uint32(0xFF), length & np.uint32(0xFF)
    field = shift_right(bits, (), a, pos) & mask_below(bits, length, a.dtype)
    if not is_signed:
        result: np.ndarray = field
        return result
    top = np.minimum(pos.astype(np.int64) + length - 1, bits - 1)
    sign = (shift_right(bits, (), a, np.maximum(top, 0).astype(np.uint32)) & a.dtype.type(1)).astype(bool)
    extended = np.where(
        sign, field | ~mask_below(bits, np.minimum(length, np.maximum(bits - pos.astype(np.int64), 0)), a.dtype), field
    )
    with_sign: np.ndarray = np.where(length == 0, a.dtype.type(0), extended)
    return with_sign


def beyond_the_field(bits: int, attrs: tuple[Any, ...], *arrays: np.ndarray) -> np.ndarray:
    """Where the place or the length of a field of 64 bits is more than 255: they are restricted to that, and ptxas does
    not cut off what is above."""
    pos, length = arrays[-2:]
    result: np.ndarray = (pos > 0xFF) | (length > 0xFF) if bits > 32 else np.zeros((1, 1), bool)
    return result


def bfi(
    bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray, pos: np.ndarray, length: np.ndarray
) -> np.ndarray:
    pos, length = pos & np.uint32(0xFF), length & np.uint32(0xFF)
    mask = shift_left(bits, (), mask_below(bits, length, a.dtype), pos)
    result: np.ndarray = (b & ~mask) | (shift_left(bits, (), a, pos) & mask)
    return result


def bmsk(bits: int, attrs: tuple[Any, ...], pos: np.ndarray, length: np.ndarray) -> np.ndarray:
    if attrs and attrs[0] == "wrap":
        pos, length = pos & np.uint32(31), length & np.uint32(31)
    return shift_left(bits, (), mask_below(bits, length, pos.dtype), pos)


def szext(bits: int, attrs: tuple[Any, ...], a: np.ndarray, n: np.ndarray, is_signed: bool) -> np.ndarray:
    if attrs and attrs[0] == "wrap":
        n = n & np.uint32(31)
    return bfe(bits, (), a, np.zeros_like(n), np.minimum(n, bits), is_signed)


def brev(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    out = np.zeros_like(a)
    one = a.dtype.type(1)
    for i in range(bits):
        out = (out << one) | ((a >> a.dtype.type(i)) & one)
    return out


def leading_zeros(a: np.ndarray, bits: int) -> np.ndarray:
    """The number of leading zeros, (…) int64; `bits` for zero."""
    length = np.zeros(a.shape, np.int64)
    rest = a.astype(np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        big = rest >= np.uint64(1 << step)
        length += np.where(big, step, 0)
        rest = np.where(big, rest >> np.uint64(step), rest)
    result: np.ndarray = bits - length - (rest != 0)
    return result


def bfind(bits: int, attrs: tuple[Any, ...], a: np.ndarray, is_signed: bool) -> np.ndarray:
    if is_signed:
        a = np.where(signed(a) < 0, ~a, a)
    zeros = leading_zeros(a, bits)
    found = zeros if attrs and attrs[0] else bits - 1 - zeros
    return np.where(a == 0, 0xFFFFFFFF, found).astype(np.uint32)


def prmt(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray, sel: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(a.shape, b.shape, sel.shape)
    wide = np.broadcast_to((b.astype(np.uint64) << np.uint64(32)) | a, shape)
    mode = attrs[0] if attrs else ""
    out = np.zeros(shape, np.uint32)
    for i in range(4):
        if mode == "":
            nibble = (sel >> np.uint32(4 * i)) & np.uint32(0xF)
            byte, sign = nibble & np.uint32(7), (nibble & np.uint32(8)).astype(bool)
        else:
            s = (sel & np.uint32(3)).astype(np.int64)
            byte = {
                "f4e": s + i,
                "b4e": (s - i) % 8,
                "rc8": s,
                "ecl": np.maximum(s, i),
                "ecr": np.minimum(s, i),
                "rc16": (s & 1) * 2 + (i & 1),
            }[mode]
            sign = np.zeros((1, 1), bool)
        value = (wide >> (byte.astype(np.uint64) * np.uint64(8))).astype(np.uint32) & np.uint32(0xFF)
        value = np.where(sign, np.where(value & 0x80, np.uint32(0xFF), np.uint32(0)), value)
        out = out | (value << np.uint32(8 * i))
    return out


def fns(bits: int, attrs: tuple[Any, ...], mask: np.ndarray, base: np.ndarray, offset: np.ndarray) -> np.ndarray:
    mask, base, offset = np.broadcast_arrays(mask, base, offset)
    out = np.full(mask.shape, 0xFFFFFFFF, np.uint32)
    for at in np.ndindex(mask.shape):
        m, b, n = int(mask[at]), int(base[at]), int(np.int32(offset[at]))
        if n == 0:
            hits = [b] if b < 32 and m >> b & 1 else []
        elif n > 0:
            hits = [i for i in range(b, 32) if m >> i & 1][n - 1 : n]
        else:
            hits = [i for i in range(min(b, 31), -1, -1) if m >> i & 1][-n - 1 : -n]
        if hits:
            out[at] = hits[0]
    return out


def outside(bits: int, attrs: tuple[Any, ...], mask: np.ndarray, base: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Where `fns` begins at no bit, or looks for the 2**31st: the manual does not say what it finds."""
    result: np.ndarray = (base > 31) | (offset == 1 << 31)
    return result


def extract(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    shifted = a >> a.dtype.type(attrs[0]) if attrs[0] else a
    return resize(shifted, bits)


def cat(bits: int, attrs: tuple[Any, ...], *parts: np.ndarray) -> np.ndarray:
    dtype = DTYPES[bits]
    out: np.ndarray = parts[0].astype(dtype)
    at = BITS[parts[0].dtype]
    for part in parts[1:]:
        out = out | part.astype(dtype) << dtype(at)
        at += BITS[part.dtype]
    return out


COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
