"""Where lanes reconverge in PTX, which does not specify it: at the post-dominator of the branch at which they diverged.

    @p bra L; …; bra M;  L: …;  M: …      lanes that diverge wait at M for each other, where ptxas would let them

The scheduler (`running`) reconverges lanes earlier if they happen to be at the same instruction. That lanes reconverge
is an assumption, as ptxas need not let them: results that depend on it say so (`meeting_assumed`).
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import among, anywhere, distinct, throughout
from ptxaudit.engine.domain.lanes import FULL_MASK, LANES, first_active, pack, unpack
from ptxaudit.engine.exec.cohorts import Cohort, State, either_state
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.running import Met, Run
from ptxaudit.ir.blocks import END
from ptxaudit.ir.reasons import Kind, Reason


class Meetings:
    """calls_diverge: points where lanes that call different functions join, which ptxas need not reconverge. barriers:
    place -> (rows, LANES) uint32, the lanes for which each lane waits there. same_way: (rows, LANES) uint32, the lanes
    with which each has taken the same path since lanes certainly reconverged.
    """

    def __init__(self, run: Run, warps: Warps):
        self.run, self.warps = run, warps
        self.calls_diverge: dict[Met, Reason] = {}
        self.barriers: dict[Met, np.ndarray] = {}
        self.same_way = np.full((run.env.rows, LANES), FULL_MASK, np.uint32)
        self.went_diverged = False
        self.met = 0  # the number of times that lanes certainly reconverged since
        # the last query (lanes, paths) and its result; None once the paths were changed in place
        self._assumed: tuple[np.ndarray, np.ndarray, np.ndarray, bool] | None = None

    def expand(self, index: np.ndarray) -> None:
        """New row i is old row index[i]."""
        self.barriers = {k: v[index] for k, v in self.barriers.items()}
        self.same_way = self.same_way[index]

    def meeting_assumed(self, cohort: Cohort) -> bool:
        """PTX: lanes of a warp are together here because they are assumed to reconverge where their paths join."""
        if not self.went_diverged:
            return False
        last, ways, rows, mask = self._assumed, self.same_way, cohort.rows, cohort.mask
        if last is not None and last[0] is ways and last[1] is rows and last[2] is mask:
            return last[3]
        assumed = anywhere(pack(mask) & ~first_active(ways[rows], mask)[:, 0])
        self._assumed = ways, rows, mask, assumed
        return assumed

    def diverge_from_now(self, cohort: Cohort, words: np.ndarray) -> None:
        """PTX: each lane shares its path at most with the lanes of its word. words: (n or 1, LANES or 1) uint32."""
        self.went_diverged, self._assumed = True, None
        ways = self.same_way[cohort.rows]
        self.same_way[cohort.rows] = np.where(cohort.mask, ways & words, ways)

    def surely_met(self, cohort: Cohort) -> None:
        if not self.went_diverged:
            return
        self._assumed = None
        self.met += 1
        ways = self.same_way[cohort.rows]
        self.same_way[cohort.rows] = np.where(cohort.mask, pack(cohort.mask)[:, None], ways)

    def all_meet(self, cohort: Cohort) -> None:
        """Records that all living lanes of these warps certainly reconverge, in warps of which all are there."""
        whole = (cohort.mask == self.run.alive[cohort.rows]).all(axis=1)
        if not throughout(whole):
            cohort = cohort.some(whole)
        self.warps.loose[cohort.rows] = False
        cohort.diverged = None
        self.surely_met(cohort)

    def expect(self, meeting: int, cohort: Cohort, torn: np.ndarray) -> None:
        """Lets diverging lanes reconverge at the beginning of a block, unless they already wait there. END: nowhere."""
        if meeting == END:
            return
        name = ("at", meeting, len(cohort.calls))
        words = self.barriers.setdefault(name, np.zeros((self.run.registers.rows, LANES), np.uint32))
        rows = cohort.rows[torn]
        mask = cohort.mask[torn]
        already = ((words[rows] != 0) & mask).any(axis=1)
        rows, mask = rows[~already], mask[~already]
        words[rows] = np.where(mask, pack(mask)[:, None], words[rows])

    def meet(self, cohort: Cohort, name: Met, pc: int) -> Cohort | None:
        """At a post-dominator: the lanes that are expected here wait. Lanes that arrived with them but wait for others,
        or for none, do so separately.
        """
        words = self.barriers.get(name)
        if words is None:
            return cohort
        named = words[cohort.rows]
        waits = cohort.mask & (named != 0)
        if not anywhere(waits):
            return cohort
        first = first_active(named, waits)
        together = waits & (named == first)
        if throughout(together == cohort.mask):
            return self._sync(name, cohort, pc, first[:, 0])
        cohort.pc = pc
        for lanes in (together, cohort.mask & ~together):
            some = lanes.any(axis=1)
            part = self.meet(cohort.of(cohort.rows[some], lanes[some]), name, pc)
            if part is not None:
                self.run.push(part)
        return None

    def _sync(self, name: Met, cohort: Cohort, pc: int, named: np.ndarray) -> Cohort | None:
        """Continues at pc when every expected living lane has arrived; otherwise waits. named: (rows,) the expected
        lanes.
        """
        cohort.pc = pc
        expected = (unpack(named) & self.run.alive[cohort.rows]) | cohort.mask
        return self._gather(cohort, expected, ("sync", name, pc), self.barriers[name])

    def _gather(
        self, cohort: Cohort, expected: np.ndarray, key: tuple[str, Met, int], words: np.ndarray
    ) -> Cohort | None:
        if key[1] in self.calls_diverge:
            self.warps.loosen(
                cohort.rows[((words[cohort.rows] != 0) & cohort.mask).any(axis=1)], self.calls_diverge[key[1]]
            )
            cohort.diverged = cohort.diverged or self.calls_diverge[key[1]]
        complete = (expected == cohort.mask).all(axis=1)
        if throughout(complete):
            if not self.warps.is_loose(cohort):
                cohort.diverged = None  # the barrier holds until all have arrived
            words[cohort.rows] = np.where(cohort.mask, 0, words[cohort.rows])
            return cohort
        mask, kind, states = self._joined_by_waiting(cohort, expected, key)
        complete = ((expected & ~mask) == 0).all(axis=1)
        for k in distinct(kind):
            of_kind = kind == k
            ready = Cohort(
                cohort.pc, cohort.rows[complete & of_kind], mask[complete & of_kind], cohort.calls, *states[k]
            )
            late = Cohort(
                cohort.pc, cohort.rows[~complete & of_kind], mask[~complete & of_kind], cohort.calls, *states[k]
            )
            if self.warps.is_loose(ready) and not ready.diverged:
                ready.diverged = Reason(Kind.YIELD)
            if len(late.rows):
                self.run.waiting.append((late, key))
            if len(ready.rows):
                words[ready.rows] = np.where(ready.mask, 0, words[ready.rows])
            self.run.push(ready)
        return None

    def _joined_by_waiting(
        self, cohort: Cohort, expected: np.ndarray, key: tuple[str, Met, int]
    ) -> tuple[np.ndarray, np.ndarray, list[State]]:
        """Takes in expected lanes that already wait here.

        Returns (the lanes of each warp, the index of its state, those states).
        """
        mask = cohort.mask.copy()
        still = []
        kind, states = np.zeros(len(cohort.rows), int), [cohort.state]  # of each warp: the combined state of its lanes
        for other, other_key in self.run.waiting:
            if other_key != key or other.calls != cohort.calls:
                still.append((other, other_key))
                continue
            shared = among(other.rows, cohort.rows)
            position = np.searchsorted(cohort.rows, other.rows[shared])
            left = other.mask.copy()
            left[shared] &= ~expected[position]  # they wait for others
            joining = other.mask[shared] & ~left[shared]
            mask[position] |= joining
            position = position[joining.any(axis=1)]
            for k in distinct(kind[position]) if other.state != cohort.state else ():
                kind[position[kind[position] == k]] = len(states)
                states.append(either_state(states[k], other.state))
            some = left.any(axis=1)
            if anywhere(some):
                still.append((other.of(other.rows[some], left[some]), other_key))
        self.run.waiting = still
        return mask, kind, states

    def release_all(self) -> None:
        """Handles a deadlock: lanes that are waited for will not arrive (they ended, or wait elsewhere)."""
        if (
            not self.run.waiting
        ):  # machine code never waits here, and lanes at a bar.warp.sync of PTX do not wait at a post-dominator
            return self.warps.idle()
        waiting, self.run.waiting = self.run.waiting, []
        first = min(c.pc for c, _ in waiting)
        elsewhere = np.zeros(len(self.same_way), np.uint32)
        for cohort in self.warps.waiting():
            elsewhere[cohort.rows] |= pack(cohort.mask)
        for cohort, key in waiting:
            if cohort.pc == first:
                words = self.barriers[key[1]]
                named = first_active(words[cohort.rows], cohort.mask)[:, 0]
                words[cohort.rows] = np.where(cohort.mask, 0, words[cohort.rows])
                # others wait at a bar.warp.sync: whether ptxas makes these wait here, and for which lanes, is unknown
                apart = cohort.rows[named & elsewhere[cohort.rows] != 0]
                self.warps.loosen(apart, Reason(Kind.WAITS_FOR_EVER, first), cohort)
                self.run.push(cohort)
            else:
                self.run.waiting.append((cohort, key))
