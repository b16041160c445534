"""What NumPy has, too, and takes longer for.

distinct([3, 1, 3])       ->  [1, 3]
among([4, 9], [9, 7])     ->  [False, True]
remainder([-1, 70], 32)   ->  [31, 6]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In order, as np.unique has them: that imports numpy.ma first, which takes as long as a small kernel."""
    ordered = np.sort(values, axis=None)
    if len(ordered) < 2:
        return ordered
    first = np.empty(len(ordered), bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def among(indices: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which of some indices are among others: np.isin weighs first how to find out."""
    there: npt.NDArray[np.bool_] = np.zeros(1 + max(indices.max(initial=-1), others.max(initial=-1)), bool)
    there[others] = True
    found: npt.NDArray[np.bool_] = there[indices]
    return found


def remainder(values: npt.NDArray[Any], divisor: int) -> npt.NDArray[Any]:
    """Of integers, with the sign of the divisor: NumPy multiplies to divide all by one number, but divides for
    remainders, which takes three times as long.
    """
    result: npt.NDArray[Any] = values // divisor
    result *= divisor
    np.subtract(values, result, out=result)
    return result
