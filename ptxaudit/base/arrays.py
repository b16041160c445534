"""Faster versions of NumPy functions.

distinct([3, 1, 3])       ->  [1, 3]
distinct_rows([[[5, 6], [0, 1], [5, 6]]])    ->  [0, 1], [0, 1, 0]
among([4, 9], [9, 7])     ->  [False, True]
quotient([-1, 70], 32)    ->  [-1, 2]
remainder([-1, 70], 32)   ->  [31, 6]
anywhere([0, 1])          ->  True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sorted distinct values, like np.unique, whose import of numpy.ma takes as long as a small kernel."""
    ordered = np.sort(values, axis=None)
    if len(ordered) < 2:
        return ordered
    first = np.empty(len(ordered), bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def anywhere(numbers: npt.NDArray[Any] | np.bool_) -> bool:
    """Whether any value is not zero. Takes a fifth of numpy.any's time for small arrays, which most are."""
    size = numbers.nbytes
    return numbers.tobytes() != _ZEROS[size] if size <= FEW_BYTES else bool(numbers.any())


def throughout(truths: npt.NDArray[Any] | np.bool_) -> bool:
    """Whether all values are non-zero. Small arrays of truth values are as fast as in `anywhere`."""
    if truths.dtype is not _TRUTH or truths.nbytes > FEW_BYTES:
        return bool(truths.all())
    return b"\0" not in truths.tobytes()


FEW_BYTES = 1 << 12
_TRUTH = np.dtype(bool)


class _Zeros(dict[int, bytes]):
    def __missing__(self, size: int) -> bytes:
        self[size] = bytes(size)
        return self[size]


_ZEROS = _Zeros()


def distinct_rows(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(index of the first row of each kind, the kind of every row) of rows that span several arrays (n, …).

    Kinds are numbered in order of first occurrence.
    """
    if len(columns[0]) < FEW_ROWS:
        return _rows_one_by_one(columns)
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        row = column.reshape(len(column), -1)
        numbers = row if row.dtype.itemsize == 8 else row.astype(np.int64)
        mixed = mixed * _GOLDEN + numbers.view(np.uint64) @ _mixers(numbers.shape[1])
    order = np.argsort(mixed, kind="stable")
    new = np.ones(len(order), bool)
    np.not_equal(mixed[order[1:]], mixed[order[:-1]], out=new[1:])
    firsts = order[new]
    kinds = np.empty(len(order), np.int64)
    kinds[order] = np.argsort(np.argsort(firsts))[np.cumsum(new) - 1]
    firsts = np.sort(firsts)
    if all(np.array_equal(column[firsts[kinds]], column) for column in columns):
        return firsts, kinds
    return _rows_one_by_one(columns)  # hash collision


FEW_ROWS = 32
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@cache
def _mixers(size: int) -> npt.NDArray[np.uint64]:
    """Unrelated odd multipliers.

    Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, OOPSLA 2014.
    """
    z: npt.NDArray[np.uint64] = np.arange(1, size + 1, dtype=np.uint64) * _GOLDEN
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31) | np.uint64(1)


def _rows_one_by_one(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    kinds: dict[bytes, int] = {}
    firsts, every = list[int](), list[int]()
    for at in range(len(columns[0])):
        row = b"".join(column[at].tobytes() for column in columns)
        if row not in kinds:
            kinds[row] = len(firsts)
            firsts.append(at)
        every.append(kinds[row])
    return np.array(firsts, np.int64), np.array(every, np.int64)


def among(indices: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each index is one of the others. Faster than np.isin, which first chooses an algorithm."""
    there: npt.NDArray[np.bool_] = np.zeros(1 + max(indices.max(initial=-1), others.max(initial=-1)), bool)
    there[others] = True
    found: npt.NDArray[np.bool_] = there[indices]
    return found


def quotient(values: npt.NDArray[Any], divisor: int) -> npt.NDArray[Any]:
    """Integers divided by a positive number, rounded down; a power of two shifts."""
    result: npt.NDArray[Any]
    result = values // divisor if divisor & divisor - 1 else values >> divisor.bit_length() - 1
    return result


def remainder(values: npt.NDArray[Any], divisor: int) -> npt.NDArray[Any]:
    """The remainder of integers by a positive divisor; it is never negative.

    NumPy multiplies to divide an array by one number, but divides for remainders, which takes three times as long.
    For a power of two, the remainder is the low bits.
    """
    result: npt.NDArray[Any]
    if divisor & divisor - 1 == 0:
        result = values & divisor - 1
        return result
    result = values // divisor
    result *= divisor
    np.subtract(values, result, out=result)
    return result
