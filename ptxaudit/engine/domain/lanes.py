"""Lanes of warps: arrays (rows, lanes) of which some lanes are active, and words with a bit a lane.

first_active([[7, 5, 5]], [[no, yes, yes]])     [[5]]
varies([[7, 5, 5]], [[no, yes, yes]])           no: all active lanes of the row have the same
pack([[no, yes, yes]])                          [0b110]
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import anywhere

LANES = 32  # of a warp, on every NVIDIA machine
FULL_MASK = 0xFFFFFFFF
LANE_BITS = np.uint32(1) << np.arange(LANES, dtype=np.uint32)
_WORD = np.dtype("<u4")  # of a byte for each eight lanes


def first_active(array: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(rows, 1): what the first active lane of each row has; one row where all lanes of all rows have one number."""
    if array.shape[1] == 1:
        return array
    wide = array if array.shape == active.shape else np.broadcast_to(array, active.shape)
    return np.take_along_axis(wide, active.argmax(axis=1)[:, None], 1)


def varies(array: np.ndarray, active: np.ndarray) -> bool:
    """It is not the same in all active lanes of each row."""
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
    """Which rows of a run the values are of that are at hand: those that were read last (`registers.View`). grouping: a
    number for what the rows of the run are just now; rows: some of them, None: all."""

    __slots__ = ("grouping", "rows")

    def __init__(self) -> None:
        self.grouping = 0
        self.rows: np.ndarray | None = None

    @property
    def key(self) -> bytes:
        return f"{self.grouping}|".encode() + (b"" if self.rows is None else self.rows.tobytes())


ROWS_AT_HAND = _RowsAtHand()
