"""The result of scoring: one figure per request, for any memory."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

_bits = np.bitwise_or.reduce  # the ufunc itself: an array's method takes a microsecond longer


class Scores(Struct, eq=False):
    """One figure per request, all arrays (n,) int64.

    low, high: bounds of the wavefronts, equal if exact.
    ideal: wavefronts without any conflict. ways: -1 where only a range is known.
    cp.async.cg, which no counter sees, has -1 in all four, and instead
    lines: k of the lanes that copy; lines_low: its minimum, if lanes may be zero-filled and which ones is not
    specified; lines_ideal. All three None for other accesses.
    evidence: "measured" | "by rule".
    """

    low: np.ndarray
    high: np.ndarray
    ideal: np.ndarray
    ways: np.ndarray
    lines: np.ndarray | None
    lines_ideal: np.ndarray | None
    evidence: str
    lines_low: np.ndarray | None = None


def first_with(bits: int, numbers: np.ndarray, active: np.ndarray) -> tuple[int, int] | None:
    """(lane, number) of the first active lane whose number has one of the bits, or None."""
    if not int(_bits(numbers, None)) & bits:
        return None
    bad = (numbers & bits != 0) & active
    if not bad.any():
        return None
    row, lane = (int(i) for i in np.argwhere(bad)[0])
    return lane, int(numbers[row, lane])
