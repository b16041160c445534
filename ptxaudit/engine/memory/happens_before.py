"""Which accesses of a warp's lanes precede which others, where the lanes have diverged in between.

    if (lane == 4) s[0] = 1;  __syncwarp();  if (lane == 0) s[0] = 2;      the store of lane 4 precedes that of lane 0

Lanes that are together at an instruction have issued all of their earlier accesses, and so have lanes that have waited
for each other at a WARPSYNC: whatever any of them does next comes after (Lamport: *Time, Clocks, and the Ordering of
Events in a Distributed System*, CACM 1978; Mattern: *Virtual Time and Global States*, 1989).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.lanes import LANES, pack

NONE = -1  # no access precedes
Meetings = tuple[np.ndarray | None, np.ndarray, np.ndarray]


class Past(Record, eq=False):
    """What precedes an access of these rows.

    times: as in `HappensBefore`; rows: (n,); together: (n, LANES) the lanes that are issued together, None: each lane
    alone.
    """

    times: np.ndarray
    rows: np.ndarray
    together: np.ndarray | None

    def words(self, lane: np.ndarray, when: np.ndarray) -> np.ndarray:
        """(m,) uint32: the lanes whose accesses up to the time `when` (m,) precede that of `lane`, (m,) row * LANES +
        lane."""
        row = lane // LANES
        if self.together is None:
            seen = self.times[self.rows[row], lane % LANES]
        else:
            which, at = np.unique(row, return_inverse=True)
            of_rows = np.where(self.together[which][:, :, None], self.times[self.rows[which]], NONE)
            seen = of_rows.max(axis=1)[at.reshape(-1)]
        return pack(seen >= when[:, None])


class HappensBefore:
    """times: (rows, LANES, LANES) int32: the accesses of the last lane up to this time precede whatever the second does
    next; None as long as nothing is recorded.

    met, lanes: (rows,) the time of each row's last meeting, and a word of the lanes that met; accessed: (rows,) the
    time of its last access.
    """

    def __init__(self, rows: int, spend: Callable[[int], None]):
        """spend: called with the number of elements to be computed."""
        self.rows, self._spend = rows, spend
        self.times: np.ndarray | None = None
        self._marked = False  # a copy of `times` has been promised
        self.met = np.full(rows, NONE, np.int64)
        self.lanes = np.zeros(rows, np.uint32)
        self.accessed = np.full(rows, NONE, np.int64)

    def expand(self, index: np.ndarray) -> None:
        """New row i is old row index[i]."""
        self.rows = len(index)
        self.times = None if self.times is None else self.times[index]
        self.met, self.lanes, self.accessed = self.met[index], self.lanes[index], self.accessed[index]

    def mark(self) -> Meetings:
        """What `restore` returns to."""
        self._marked = True
        return self.times, self.met.copy(), self.lanes.copy()

    def restore(self, mark: Meetings) -> None:
        self.times, self.met, self.lanes = mark
        self._marked = True  # the mark may be restored once more

    def meet(self, rows: np.ndarray, mask: np.ndarray, clock: int) -> None:
        """Records that these lanes, (n, LANES) bool, of these rows are together, or have waited for each other.

        clock: the time of the last access of all.
        """
        words = pack(mask)
        new = (self.accessed[rows] > self.met[rows]) | (words & ~self.lanes[rows] != 0)
        new &= (self.accessed[rows] != NONE) & (words & (words - np.uint32(1)) != 0)  # more than one lane
        if not anywhere(new):
            return
        rows, mask, words = rows[new], mask[new], words[new]
        self._spend(len(rows) * LANES * LANES)
        if self.times is None:
            self._spend(self.rows * LANES * LANES)
            self.times = np.full((self.rows, LANES, LANES), NONE, np.int32)
        elif self._marked:
            self._spend(self.rows * LANES * LANES)
            self.times = self.times.copy()
        self._marked = False
        before = self.times[rows]
        latest = np.where(mask, clock, np.where(mask[:, :, None], before, NONE).max(axis=1))
        self.times[rows] = np.where(mask[:, :, None], latest[:, None, :], before)
        self.met[rows], self.lanes[rows] = clock, words

    def past(self, rows: np.ndarray, together: np.ndarray | None) -> Past | None:
        """What precedes an access of these rows; None: nothing of other lanes."""
        return None if self.times is None else Past(self.times, rows, together)


def alike(words: np.ndarray, mask: np.ndarray) -> list[np.ndarray]:
    """The lanes of each row that name the same word, as (n, LANES) masks; each lane of `mask` is in one of them."""
    if not len(words):
        return []
    out, left = [], mask
    while anywhere(left):
        first = np.take_along_axis(words, left.argmax(axis=1)[:, None], 1)
        one = left & (words == first)
        out.append(one)
        left = left & ~one
    return out
