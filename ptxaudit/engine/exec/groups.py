"""The groups of lanes of many warps that wait or are suspended, and the choice of the one that continues.

One group of lanes of a warp runs at a time. When its lanes diverge, the smaller part continues; the other is
suspended, on top of those already suspended. (An indirect branch: `choose_indirect`.) A group that waits or ends
yields to the one on top (`resume`).
`convergence` decides when waiting groups continue. The rules are measured (docs/convergence.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from msgspec import Struct

from ptxaudit.base.arrays import among, anywhere, distinct, throughout
from ptxaudit.engine.domain.lanes import FULL_MASK, LANES, pack, unpack
from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.exec.cohorts import Cohort, united
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.nodes import Control, Guard
from ptxaudit.ir.reasons import Kind, Reason, first_of, several

LEVELS = 4  # the initial capacity for suspended groups

_STANDING = ("stopped", "blocked", "syncing", "suspended", "free", "occupied", "covered")  # where groups are


class Suspended(Struct, eq=False):
    """A suspended cohort.

    levels: (n,) its position from the bottom of the stack in each of its warps. alone: it joins no other.
    """

    cohort: Cohort
    levels: np.ndarray
    alone: bool = False

    def some(self, rows: np.ndarray) -> Suspended:
        return Suspended(self.cohort.some(rows), self.levels[rows], self.alone)


class Syncing(Struct, eq=False):
    """A cohort that waits at a WARPSYNC for the lanes that its lanes name.

    words: (n, LANES) uint32; named: the mask if the code states it, else 0; alone: lanes that name other masks
    continue diverged; again: None, or the barrier at which lanes that diverge after it reconverge.
    """

    cohort: Cohort
    words: np.ndarray
    named: int
    alone: bool
    again: str | None = None


class Groups:
    """The groups of all warps of a simulation, except the running one of each."""

    def __init__(self, run: Run, ordered: Callable[[Cohort, np.ndarray], None]):
        """ordered: called with lanes that have waited for those that they name."""
        self.run, self._ordered = run, ordered
        rows = run.registers.rows
        self.words: dict[str, np.ndarray] = {}  # barrier -> (rows,) the lanes in it
        self.firm: dict[str, np.ndarray] = {}  # barrier -> (rows,) whether these are known
        self.opened: dict[str, np.ndarray] = {}  # barrier -> (rows,) when it was last opened
        self.shared: dict[str, np.ndarray] = {}  # barrier -> (rows,) lanes were in it when it was last opened
        self.used: dict[str, np.ndarray] = {}  # barrier -> (rows,) used since the warp became loose
        self.turn = 0
        self.loose = np.zeros(rows, bool)
        self.ever_loose = np.zeros(rows, bool)
        self.why: Reason | None = None  # why warps are loose
        self.uncertain: set[int] = set()  # blocks that lanes may have reached from where others wait
        self._forget_groups(rows)

    def _forget_groups(self, rows: int) -> None:
        self.stopped = np.zeros(rows, np.uint32)  # the lanes that wait at any barrier
        self.blocked: list[tuple[str, Cohort]] = []  # the pc of each is after its BSYNC
        self.syncing: list[Syncing] = []
        self.suspended: list[Suspended] = []
        self.free = np.zeros(rows, bool)  # warps whose group waits or has ended: another may continue
        self.occupied = np.zeros((rows, LEVELS), bool)  # the levels at which a warp has suspended groups
        self.covered = np.zeros((rows, LEVELS), bool)  # those on which another was suspended

    # --- all groups ---

    def standing(self) -> list[Cohort]:
        """All cohorts that wait or are suspended."""
        return self.waiting() + [s.cohort for s in self.suspended]

    def waiting(self) -> list[Cohort]:
        return [c for _, c in self.blocked] + [s.cohort for s in self.syncing]

    def expand(self, index: np.ndarray, renumber: Callable[[Cohort], tuple[Cohort, np.ndarray]]) -> None:
        """New row i is old row index[i].

        renumber: maps a cohort to the same in the new rows, and gives the index of each among its old ones.
        """
        self.words, self.firm, self.opened, self.shared, self.used = (
            {n: a[index] for n, a in kept.items()}
            for kept in (self.words, self.firm, self.opened, self.shared, self.used)
        )
        self.loose, self.ever_loose, self.stopped = self.loose[index], self.ever_loose[index], self.stopped[index]
        self.occupied, self.covered, self.free = self.occupied[index], self.covered[index], self.free[index]
        self.blocked = [(name, renumber(c)[0]) for name, c in self.blocked]
        suspended, self.suspended = self.suspended, []
        for s in suspended:
            cohort, where = renumber(s.cohort)
            self.suspended.append(Suspended(cohort, s.levels[where], s.alone))
        syncing, self.syncing = self.syncing, []
        for w in syncing:
            cohort, where = renumber(w.cohort)
            self.syncing.append(Syncing(cohort, w.words[where], w.named, w.alone, w.again))

    def loosen(self, rows: np.ndarray, why: Reason, *acting: Cohort) -> None:
        """Records that it is unknown from now on which lanes of these warps are together.

        acting: their cohorts that neither wait nor are suspended.
        """
        if len(rows) and not throughout(self.loose[rows]):
            self.run.no_round()
            self.why = first_of(self.why, why)
            for used in self.used.values():
                used[rows[~self.loose[rows]]] = False
            self.loose[rows] = self.ever_loose[rows] = True
        if len(rows) and why.kind is Kind.BARRIER_SHARED:  # lanes may continue where others wait
            self.uncertain_ahead(rows, why, acting)
        for firm in self.firm.values():
            firm[rows] = False

    def give_way(self, rows: np.ndarray, lanes: np.ndarray) -> None:
        """These lanes, (n, LANES) bool, yield: lanes that wait for them at a convergence barrier may continue before
        they arrive. (At a WARPSYNC of all lanes they still wait.)
        """
        held = np.zeros((len(self.loose), LANES), bool)
        for waiting in self.syncing:
            if waiting.named == FULL_MASK:
                held[waiting.cohort.rows] |= waiting.cohort.mask
        for suspended in self.suspended:
            if _of_all_lanes(self.run.instructions[suspended.cohort.pc].control):
                held[suspended.cohort.rows] |= suspended.cohort.mask
        others = self.run.alive[rows] & ~lanes & ~held[rows]
        self.loosen(rows[others.any(axis=1)], Reason(Kind.YIELD))

    def uncertain_ahead(self, rows: np.ndarray, why: Reason, acting: Iterable[Cohort]) -> None:
        """Marks the accesses that these warps may still reach: their counts are uncertain."""
        run = self.run
        new = self.ahead(rows, acting, self.uncertain)
        self.uncertain = self.uncertain | new
        for index, record in run.records.items() if new else ():
            if run.graph.block_of[index] in new:
                record.undecided = several(record.undecided, why)

    def set_aside(self) -> dict[str, Any]:
        """Removes all groups that wait or are suspended, until `put_back`."""
        kept = {name: getattr(self, name) for name in _STANDING}
        self._forget_groups(len(self.loose))
        return kept

    def put_back(self, kept: dict[str, Any]) -> None:
        """Restores the removed groups."""
        vars(self).update(kept)

    def lanes_in(self, cohorts: Iterable[Cohort]) -> np.ndarray:
        """(rows,) words: the lanes of these cohorts in each warp."""
        words = np.zeros(len(self.loose), np.uint32)
        for cohort in cohorts:
            words[cohort.rows] |= pack(cohort.mask)
        return words

    def _use(self, name: str, rows: np.ndarray) -> None:
        """Records that lanes of these warps set, wait at, leave or load a barrier."""
        self._of(self.used, name, bool)[rows[self.loose[rows]]] = True

    # --- the view of a cohort ---

    def view(self, cohort: Cohort) -> View:
        whole = len(cohort.rows) == self.run.registers.rows
        alive = self.run.alive if whole else self.run.alive.take(cohort.rows, 0)
        grouped = not (cohort.diverged or self.is_loose(cohort))
        return View(
            self.run.registers,
            self.run.env,
            None if whole else cohort.rows,
            cohort.mask,
            whole and not anywhere(alive & ~cohort.mask),
            exact=grouped and not cohort.undecided,  # else some of them may have ended
            alive=None if anywhere(self.run.may_have_ended[cohort.rows]) else alive,
            grouped=grouped,
        )

    def is_loose(self, cohort: Cohort) -> bool:
        """It is unknown which lanes of some of its warps are together."""
        return b"\1" in self.loose.tobytes() and anywhere(self.loose[cohort.rows])

    def lanes_of(self, guard: Guard | None, cohort: Cohort) -> tuple[np.ndarray, Value | None]:
        """(lanes in which a control guard holds or may hold; the guard if it is unknown there)."""
        lanes, undecided = guard_mask(self.view(cohort), guard) if guard is not None else (None, None)
        return cohort.mask if lanes is None else lanes, undecided

    def others(self) -> bool:
        """There are cohorts that wait for lanes of their warps, or are suspended."""
        return bool(self.run.waiting or self.blocked or self.suspended or self.syncing)

    def everywhere(self) -> list[Cohort]:
        """All cohorts except those that the current step has taken out."""
        of_queues = [c for _, _, c in self.run.heap] + [c for c, _ in self.run.waiting] + [c for c, _ in self.run.held]
        return of_queues + self.standing() + ([self.run.running] if self.run.running is not None else [])

    def ahead(self, rows: np.ndarray, acting: Iterable[Cohort], known: set[int]) -> set[int]:
        """The blocks that lanes of these warps may still reach, if any continues where another waits.

        Excludes known blocks and all that are reachable only through them.
        """
        return self.reached((c for c in (*self.everywhere(), *acting) if anywhere(among(c.rows, rows))), known)

    def accesses_of(self, cohorts: Iterable[Cohort]) -> list[int]:
        """The requested accesses that cohorts may still reach."""
        graph, blocks = self.run.graph, self.reached(cohorts, set())
        hidden = graph.hidden if any(graph.block_of[k] in blocks for k in graph.unresolved) else frozenset[int]()
        return [i for i in self.run.records if graph.block_of[i] in blocks or graph.block_of[i] in hidden]

    def reached(self, cohorts: Iterable[Cohort], known: set[int]) -> set[int]:
        """The blocks where cohorts and their calls continue, and all that these reach without passing known blocks."""
        places = {k for c in cohorts for k in (c.pc, *c.calls) if k < len(self.run.instructions)}
        return reached((self.run.graph.block_of[k] for k in places), self.run.graph.cfg.successors, set(known))

    # --- the choice of running groups ---

    def choose(self, groups: Iterable[Cohort]) -> list[Cohort]:
        """The groups that continue, of groups of the same warps: in each warp the one with the fewest lanes, and of
        several with as many lanes, the last one. The others are suspended.
        """
        groups = [g for g in groups if len(g.rows)]
        rows = np.concatenate([g.rows for g in groups]) if groups else np.zeros(0, int)
        every, counts = np.unique(rows, return_counts=True)
        if not anywhere(counts > 1):
            return groups
        lanes = np.full((len(every), len(groups)), LANES + 1)
        for k, g in enumerate(groups):
            lanes[np.searchsorted(every, g.rows), len(groups) - 1 - k] = g.mask.sum(axis=1)
        order = len(groups) - 1 - np.argsort(lanes, axis=1, kind="stable")
        going = []
        for rank in range(len(groups) - 1, -1, -1):
            for k, g in enumerate(groups):
                chosen = order[np.searchsorted(every, g.rows), rank] == k
                if anywhere(chosen):
                    part = g if throughout(chosen) else g.some(chosen)
                    going.append(part) if rank == 0 else self.suspend(part)
        return going

    def choose_indirect(self, at: int, groups: list[Cohort]) -> list[Cohort]:
        """The groups that continue, of groups that an indirect branch sends to several places: in each warp the one of
        the lowest lane, or, if this has more than half of the lanes, the one of the lowest lane of the others. All
        other lanes remain at the branch, instruction `at`, and are suspended.
        """
        rows = distinct(np.concatenate([g.rows for g in groups]))
        words = np.zeros((len(groups), len(rows)), np.uint32)
        for k, g in enumerate(groups):
            words[k, np.searchsorted(rows, g.rows)] = pack(g.mask)
        whole: np.ndarray = np.bitwise_or.reduce(words, axis=0)
        first = _with_lowest(words, whole)
        rest = whole & ~first
        most = (rest != 0) & (2 * unpack(first).sum(axis=1) > unpack(whole).sum(axis=1))
        chosen = np.where(most, _with_lowest(words, rest), first)
        remaining = whole & ~chosen
        some = remaining != 0
        if anywhere(some):
            self.suspend(groups[0].of(rows[some], unpack(remaining[some])).at(at))
        parts = [(g, word != 0, word) for g, word in zip(groups, words & chosen, strict=True)]
        return [g.of(rows[here], unpack(word[here])) for g, here, word in parts if anywhere(here)]

    def _top(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the level of the group on top; -1 if there is none."""
        occupied = self.occupied[rows]
        return np.where(occupied.any(axis=1), occupied.shape[1] - 1 - occupied[:, ::-1].argmax(axis=1), -1)

    def _cover(self, rows: np.ndarray) -> np.ndarray:
        """Puts something on the group on top; returns its level."""
        top = self._top(rows)
        some = top >= 0
        self.covered[rows[some], top[some]] = True
        return top + 1

    def suspend(self, cohort: Cohort, alone: bool = False) -> None:
        levels = self._cover(cohort.rows)
        if levels.max() >= self.occupied.shape[1]:
            self.occupied, self.covered = (np.pad(a, ((0, 0), (0, a.shape[1]))) for a in (self.occupied, self.covered))
        self.occupied[cohort.rows, levels] = True
        self.covered[cohort.rows, levels] = False
        for s in self.suspended:
            if (s.cohort.pc, s.cohort.calls, s.cohort.state, s.alone) == (
                cohort.pc,
                cohort.calls,
                cohort.state,
                alone,
            ) and not anywhere(among(s.cohort.rows, cohort.rows)):
                rows = np.concatenate([s.cohort.rows, cohort.rows])
                order = np.argsort(rows)
                mask = np.concatenate([s.cohort.mask, cohort.mask])[order]
                s.cohort = cohort.of(rows[order], mask)
                s.levels = np.concatenate([s.levels, levels])[order]
                return
        self.suspended.append(Suspended(cohort, levels, alone))

    def resume(self) -> bool:
        """In each warp without a running group, the one on top continues. False if there is none.

        Groups at the same place join it if others were suspended on it since. If none was, they remain diverged in
        all random programs, but not in one compiled kernel.
        """
        if not self.suspended or not anywhere(self.free):
            return False
        top = np.where(self.free, self._top(np.arange(len(self.free))), -1)
        self.free[:] = False
        going: dict[tuple[int, tuple[int, ...]], list[Cohort]] = defaultdict(list)
        rest: list[Suspended] = []
        joining, perhaps = np.zeros(len(top), bool), np.zeros(len(top), bool)
        for s in self.suspended:
            chosen = s.levels == top[s.cohort.rows]
            if anywhere(chosen):
                part = s.cohort.some(chosen)
                going[part.pc, part.calls].append(part)
                joining[part.rows] = self.covered[part.rows, s.levels[chosen]] & (not s.alone)
                perhaps[part.rows] = not s.alone
                self.occupied[part.rows, s.levels[chosen]] = False
            if not throughout(chosen):
                rest.append(s.some(~chosen))
        self.suspended = rest
        if anywhere(joining | perhaps):
            self._join(going, joining, perhaps & ~joining)
        for parts in going.values():
            for cohort in united(parts):
                self.run.push(cohort)
        return bool(going)

    def _join(
        self, going: dict[tuple[int, tuple[int, ...]], list[Cohort]], joining: np.ndarray, perhaps: np.ndarray
    ) -> None:
        """Lets suspended groups join those that continue at the same place, in the warps `joining`; in the warps
        `perhaps` they may or may not.
        """
        place = self.run.hardware_place
        standing, self.suspended = self.suspended, []
        for s in standing:
            c = s.cohort
            left = np.ones(len(c.rows), bool)
            for (pc, calls), parts in going.items():
                if s.alone or place(pc) != place(c.pc):
                    continue
                same = among(c.rows, np.concatenate([p.rows for p in parts]))
                there = same & joining[c.rows]
                if not self.run.waits_at(c.pc):
                    self.loosen(c.rows[same & perhaps[c.rows]], Reason(Kind.MAY_JOIN, c.pc))
                if not anywhere(there):
                    continue
                if (pc, calls) == (c.pc, c.calls):
                    parts.append(c.some(there))
                    self.occupied[c.rows[there], s.levels[there]] = False
                    left &= ~there
                else:
                    self.loosen(c.rows[there], Reason(Kind.CALLS_JOIN, c.pc))
            if anywhere(left):
                self.suspended.append(s.some(left))

    # --- registers of barriers ---

    def _of(self, kept: dict[str, np.ndarray], name: str, dtype: type[Any]) -> np.ndarray:
        if name not in kept:
            kept[name] = np.zeros(len(self.loose), dtype)
        return kept[name]

    def _alive(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the lanes that others may wait for. In PTX, lanes that only end need not wait for others to do so."""
        alive, run = self.run.alive[rows], self.run
        if not run.explicit:
            for cohort in (*(c for _, _, c in run.heap), *(c for c, _ in run.waiting)):
                if not cohort.calls and run.graph.only_exits(run.graph.block_of[cohort.pc]):
                    here = among(rows, cohort.rows)
                    alive[here] &= ~cohort.mask[np.searchsorted(cohort.rows, rows[here])]
        return pack(alive)


def _with_lowest(groups: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """(n,) words: the group with the lowest of these lanes. groups: (…, n) words."""
    lowest = lanes & (~lanes + np.uint32(1))
    found: np.ndarray = np.bitwise_or.reduce(np.where(groups & lowest != 0, groups, np.uint32(0)), axis=0)
    return found


def _of_all_lanes(control: Control | None) -> bool:
    """A WARPSYNC at which all lanes of the warp wait for each other."""
    return control is not None and control.kind == "warpsync" and control.selector is None and control.guard is None
