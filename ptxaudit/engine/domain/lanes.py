"""Lanes of warps: arrays (rows, lanes) in which some lanes are active, and words with one bit per lane.

first_active([[7, 5, 5]], [[no, yes, yes]])     [[5]]
varies([[7, 5, 5]], [[no, yes, yes]])           no: all active lanes of the row are equal
pack([[no, yes, yes]])                          [0b110]
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import anywhere

LANES = 32  # in a warp, on every NVIDIA GPU
FULL_MASK = 0xFFFFFFFF
LANE_BITS = np.uint32(1) << np.arange(LANES, dtype=np.uint32)
_WORD = np.dtype("<u4")  # four bytes, each for eight lanes


def first_active(array: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(rows, 1): the number in the first active lane of each row; one row if all lanes of all rows share one number."""
    if array.shape[1] == 1:
        return array
    rows = 0 if len(array) == 1 else np.arange(len(array))  # np.take_along_axis takes three times as long
    return array[rows, active.argmax(axis=1), None]


def varies(array: np.ndarray, active: np.ndarray) -> bool:
    """Whether the active lanes of any row differ."""
    return array.shape[1] > 1 and anywhere((array != first_active(array, active)) & active)


def pack(mask: np.ndarray) -> np.ndarray:
    """(…, LANES) bool -> (…) uint32, lane 0 in bit 0."""
    words: np.ndarray = np.packbits(mask, axis=-1, bitorder="little").view(_WORD)[..., 0]
    return words.astype(np.uint32, copy=False)


def unpack(words: np.ndarray) -> np.ndarray:
    """(…) uint32 -> (…, LANES) bool."""
    bits: np.ndarray = (words[..., None] & LANE_BITS) != 0
    return bits


class _RowsAtHand:
    """Which rows of a run the current values belong to: those read last (`registers.View`).

    grouping: a number for the current meaning of the run's rows; rows: some of them, None: all.
    """

    __slots__ = ("grouping", "rows")

    def __init__(self) -> None:
        self.grouping = 0
        self.rows: np.ndarray | None = None

    @property
    def key(self) -> bytes:
        return f"{self.grouping}|".encode() + (b"" if self.rows is None else self.rows.tobytes())


ROWS_AT_HAND = _RowsAtHand()
