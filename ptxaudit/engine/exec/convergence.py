"""Which lanes of a warp go on together where the code names convergence barriers, and in which order their groups run.

One group of lanes of a warp runs at a time. Where its lanes part, the smaller part goes on; the other is suspended, on
top of those that are suspended already. A group that waits, or ends, makes way for the one on top. A warp has one
register for each barrier: BSSY adds lanes to it, BREAK takes lanes out, and the last of them that comes to a BSYNC, or
leaves, lets all go on together.

    BSSY B0; @P0 BRA a; x; a: y; BSYNC B0        P0 in 4 of 32 lanes: those run y, then the other 28 run x, y; 32 go on
    @P0 BRA a; x; a: y                           without barrier: 4 lanes run y and all that follows, then 28 run x, y,
                                                 …

These rules are measured (docs/convergence.md). What is not covered by them makes a warp *loose*: which of its lanes are
together is not known until all of them meet at a WARPSYNC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.exec.cohorts import Cohort, united
from ptxaudit.engine.exec.registers import FULL_MASK, View, guard_mask, pack
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.environment import LANES
from ptxaudit.ir.nodes import Guard
from ptxaudit.ir.reasons import Kind, Reason, first_of, several

Bits = dict[str, np.ndarray]  # convergence barrier -> an array over the warps
Saved = tuple[Bits, Bits, Bits, Bits, int, np.ndarray, np.ndarray, Reason | None]
ELSEWHERE = -1  # a barrier was used at several places, or waited at
LEVELS = 4  # of suspended groups that there is room for at first


@dataclass
class Suspended:
    """A cohort that is suspended. levels: (n,) at which place from below in each of its warps. alone: it joins no
    other.
    """

    cohort: Cohort
    levels: np.ndarray
    alone: bool = False

    def some(self, rows: np.ndarray) -> Suspended:
        return Suspended(self.cohort.some(rows), self.levels[rows], self.alone)


@dataclass
class Syncing:
    """A cohort that waits at a WARPSYNC for the lanes that its lanes name. words: (n, LANES) uint32; named: the mask
    where the code states it, else 0; alone: lanes that name other masks go on diverged; again: None, or the barrier at
    which lanes meet again that part behind it."""

    cohort: Cohort
    words: np.ndarray
    named: int
    alone: bool
    again: str | None = None


class Warps:
    """The groups of all warps of a simulation, but for the one of each that runs."""

    def __init__(self, run: Run, ordered: Callable[[Cohort, int], None]):
        """ordered: told of lanes that have waited for those that they name."""
        self.run, self._ordered = run, ordered
        rows = run.registers.rows
        self.words: dict[str, np.ndarray] = {}  # barrier -> (rows,) the lanes in it
        self.firm: dict[str, np.ndarray] = {}  # barrier -> (rows,) these are known
        self.opened: dict[str, np.ndarray] = {}  # barrier -> (rows,) when last
        self.shared: dict[str, np.ndarray] = {}  # barrier -> (rows,) lanes were in it when it was opened last
        # barrier -> (rows,) of warps that are loose, the place behind the one BSSY that has used it since; 0: none has
        self.used: dict[str, np.ndarray] = {}
        self.turn = 0
        self.loose = np.zeros(rows, bool)
        self.ever_loose = np.zeros(rows, bool)
        self.why: Reason | None = None  # they are
        self.doubted: set[int] = set()  # blocks that lanes may have come to from where others wait
        self._forget_groups(rows)

    def _forget_groups(self, rows: int) -> None:
        self.stopped = np.zeros(rows, np.uint32)  # the lanes that wait at any barrier
        self.blocked: list[tuple[str, Cohort]] = []  # each stands behind its BSYNC
        self.syncing: list[Syncing] = []
        self.suspended: list[Suspended] = []
        self.free = np.zeros(rows, bool)  # warps whose group waits or has ended: another may go on
        self.occupied = np.zeros((rows, LEVELS), bool)  # the levels that a warp has suspended groups at
        self.covered = np.zeros((rows, LEVELS), bool)  # those that another was suspended on

    # --- the whole ---

    def standing(self) -> list[Cohort]:
        """All cohorts that wait or are suspended."""
        return self.waiting() + [s.cohort for s in self.suspended]

    def waiting(self) -> list[Cohort]:
        return [c for _, c in self.blocked] + [s.cohort for s in self.syncing]

    def saved(self) -> Saved:
        """What a round of a loop that is tried may change; no group stands anywhere."""
        words, firm, opened, shared = (
            {n: a.copy() for n, a in kept.items()} for kept in (self.words, self.firm, self.opened, self.shared)
        )
        return words, firm, opened, shared, self.turn, self.loose.copy(), self.ever_loose.copy(), self.why

    def restore(self, saved: Saved) -> None:
        self.words, self.firm, self.opened, self.shared, self.turn, self.loose, self.ever_loose, self.why = saved
        self._forget_groups(len(self.loose))

    def as_before(self, saved: Saved) -> bool:
        """Nothing but times has changed since, and no group stands anywhere."""
        return (
            not self.standing()
            and all(
                np.array_equal(a, before[n] if n in before else np.zeros_like(a))
                for now, before in ((self.words, saved[0]),)
                for n, a in now.items()
            )
            and np.array_equal(self.loose, saved[5])
        )

    def expand(self, index: np.ndarray, renumber: Callable[[Cohort], tuple[Cohort, np.ndarray]]) -> None:
        """New row i is old row index[i]. renumber: a cohort -> the same in the new rows, and which of its old ones each
        was.
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
        """From now on it is not known which lanes of these warps are together. acting: cohorts of theirs that neither
        wait nor are suspended."""
        if len(rows) and not self.loose[rows].all():
            self.run.no_round()
            self.why = first_of(self.why, why)
            for used in self.used.values():
                used[rows[~self.loose[rows]]] = 0
            self.loose[rows] = self.ever_loose[rows] = True
        if len(rows) and why.kind is Kind.BARRIER_SHARED:  # lanes may go on where others wait
            self._doubt_ahead(rows, why, acting)
        for firm in self.firm.values():
            firm[rows] = False

    def _doubt_ahead(self, rows: np.ndarray, why: Reason, acting: Iterable[Cohort]) -> None:
        """No count is certain of what these warps may still come to."""
        run = self.run
        new = self.ahead(rows, acting, self.doubted)
        self.doubted |= new
        for index, record in run.records.items() if new else ():
            if run.graph.block_of[index] in new:
                record.undecided = several(record.undecided, why)

    def _use(self, name: str, rows: np.ndarray, place: int = ELSEWHERE) -> None:
        """A barrier is opened behind a place, or waited at, left or loaded, by lanes of these warps."""
        used, rows = self._of(self.used, name, np.int64), rows[self.loose[rows]]
        used[rows] = np.where((used[rows] == 0) | (used[rows] == place), place, ELSEWHERE)

    # --- what a cohort sees ---

    def view(self, cohort: Cohort) -> View:
        whole = len(cohort.rows) == self.run.registers.rows
        alive = self.run.alive if whole else self.run.alive[cohort.rows]
        return View(
            self.run.registers,
            self.run.env,
            None if whole else cohort.rows,
            cohort.mask,
            whole and not (alive & ~cohort.mask).any(),
            exact=not (cohort.diverged or self.is_loose(cohort)),
            alive=alive,
        )

    def is_loose(self, cohort: Cohort) -> bool:
        """It is not known which lanes of some of its warps are together."""
        return b"\1" in self.loose.tobytes() and bool(self.loose[cohort.rows].any())

    def lanes_of(self, guard: Guard | None, cohort: Cohort) -> tuple[np.ndarray | None, Value | None]:
        """(lanes in which a control guard holds or None for all, doubt)."""
        return guard_mask(self.view(cohort), guard) if guard is not None else (None, None)

    def others(self) -> bool:
        """There are cohorts that wait for lanes of their warps, or are suspended."""
        return bool(self.run.waiting or self.blocked or self.suspended or self.syncing)

    def everywhere(self) -> list[Cohort]:
        """All cohorts, but for those that the step which is made now has taken out."""
        of_queues = [c for _, _, c in self.run.heap] + [c for c, _ in self.run.waiting] + [c for c, _ in self.run.held]
        return of_queues + self.standing() + ([self.run.running] if self.run.running is not None else [])

    def ahead(self, rows: np.ndarray, acting: Iterable[Cohort], known: set[int]) -> set[int]:
        """The blocks that lanes of these warps may still come to, wherever one goes on where another stands, but for
        those that are known of already, with all that they lead to."""
        return self.reached((c for c in (*self.everywhere(), *acting) if np.isin(c.rows, rows).any()), known)

    def reached(self, cohorts: Iterable[Cohort], known: set[int]) -> set[int]:
        """The blocks where they and their calls go on, and what these lead to; without those that are known."""
        places = {k for c in cohorts for k in (c.pc, *c.calls) if k < len(self.run.instructions)}
        new: set[int] = set()
        stack = [self.run.graph.block_of[k] for k in places]
        while stack:
            block = stack.pop()
            if block not in known and block not in new:
                new.add(block)
                stack += self.run.graph.cfg.successors(block)
        return new

    # --- who runs ---

    def choose(self, groups: Iterable[Cohort]) -> list[Cohort]:
        """Of groups of the same warps: those that go on. Of a warp's that with the fewest lanes does, of as many the
        last.
        """
        groups = [g for g in groups if len(g.rows)]
        rows = np.concatenate([g.rows for g in groups]) if groups else np.zeros(0, int)
        every, counts = np.unique(rows, return_counts=True)
        if not (counts > 1).any():
            return groups
        lanes = np.full((len(every), len(groups)), LANES + 1)
        for k, g in enumerate(groups):
            lanes[np.searchsorted(every, g.rows), len(groups) - 1 - k] = g.mask.sum(axis=1)
        order = len(groups) - 1 - np.argsort(lanes, axis=1, kind="stable")
        going = []
        for rank in range(len(groups) - 1, -1, -1):
            for k, g in enumerate(groups):
                chosen = order[np.searchsorted(every, g.rows), rank] == k
                if chosen.any():
                    part = g if chosen.all() else g.some(chosen)
                    going.append(part) if rank == 0 else self.suspend(part)
        return going

    def _top(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the level of the group on top; -1 where there is none."""
        occupied = self.occupied[rows]
        return np.where(occupied.any(axis=1), occupied.shape[1] - 1 - occupied[:, ::-1].argmax(axis=1), -1)

    def _cover(self, rows: np.ndarray) -> np.ndarray:
        """Something is put on the group on top: the level at which."""
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
            ) and not np.isin(s.cohort.rows, cohort.rows).any():
                rows = np.concatenate([s.cohort.rows, cohort.rows])
                order = np.argsort(rows)
                mask = np.concatenate([s.cohort.mask, cohort.mask])[order]
                s.cohort = type(cohort)(cohort.pc, rows[order], mask, cohort.calls, *cohort.state)
                s.levels = np.concatenate([s.levels, levels])[order]
                return
        self.suspended.append(Suspended(cohort, levels, alone))

    def resume(self) -> bool:
        """In each warp of which no group runs that on top goes on, with those of the same place if others were
        suspended on it since; where none was, they join it in some programs that were measured, and not in others.
        False when there is none."""
        if not self.suspended or not self.free.any():
            return False
        top = np.where(self.free, self._top(np.arange(len(self.free))), -1)
        self.free[:] = False
        going: dict[tuple[int, tuple[int, ...]], list[Cohort]] = defaultdict(list)
        rest: list[Suspended] = []
        joining, perhaps = np.zeros(len(top), bool), np.zeros(len(top), bool)
        for s in self.suspended:
            chosen = s.levels == top[s.cohort.rows]
            if chosen.any():
                part = s.cohort.some(chosen)
                going[part.pc, part.calls].append(part)
                joining[part.rows] = self.covered[part.rows, s.levels[chosen]] & (not s.alone)
                perhaps[part.rows] = not s.alone
                self.occupied[part.rows, s.levels[chosen]] = False
            if not chosen.all():
                rest.append(s.some(~chosen))
        self.suspended = rest
        if (joining | perhaps).any():
            self._join(going, joining, perhaps & ~joining)
        for parts in going.values():
            for cohort in united(parts):
                self.run.push(cohort)
        return bool(going)

    def _join(
        self, going: dict[tuple[int, tuple[int, ...]], list[Cohort]], joining: np.ndarray, perhaps: np.ndarray
    ) -> None:
        """Suspended groups at the places of those that go on join them, in these warps; perhaps: in those they may."""
        place = self.run.hardware_place
        standing, self.suspended = self.suspended, []
        for s in standing:
            c = s.cohort
            left = np.ones(len(c.rows), bool)
            for (pc, calls), parts in going.items():
                if s.alone or place(pc) != place(c.pc):
                    continue
                same = np.isin(c.rows, np.concatenate([p.rows for p in parts]))
                there = same & joining[c.rows]
                if not self.run.waits_at(c.pc):
                    self.loosen(c.rows[same & perhaps[c.rows]], Reason(Kind.MAY_JOIN, c.pc))
                if not there.any():
                    continue
                if (pc, calls) == (c.pc, c.calls):
                    parts.append(c.some(there))
                    self.occupied[c.rows[there], s.levels[there]] = False
                    left &= ~there
                else:
                    self.loosen(c.rows[there], Reason(Kind.CALLS_JOIN, c.pc))
            if left.any():
                self.suspended.append(s.some(left))

    # --- barriers ---

    def _of(self, kept: dict[str, np.ndarray], name: str, dtype: type[Any]) -> np.ndarray:
        if name not in kept:
            kept[name] = np.zeros(len(self.loose), dtype)
        return kept[name]

    def open(self, name: str, cohort: Cohort, lanes: np.ndarray) -> None:
        some = lanes.any(axis=1)
        rows = cohort.rows[some]
        self.turn += 1
        self._use(name, rows, cohort.pc + 1)
        word = self._of(self.words, name, np.uint32)
        self._of(self.shared, name, bool)[rows] = word[rows] & self._alive(rows) != 0
        word[rows] |= pack(lanes[some])[:, 0]
        self._of(self.firm, name, bool)[rows] = ~self.loose[rows] & (cohort.diverged is None)
        self._of(self.opened, name, np.int64)[rows] = self.turn

    def load(self, name: str, cohort: Cohort, word: np.ndarray | None) -> None:
        """The register is put back. word: (n,), None where it is not known."""
        rows = cohort.rows
        self._use(name, rows)
        self._of(self.words, name, np.uint32)[rows] = pack(cohort.mask)[:, 0] if word is None else word
        self._of(self.firm, name, bool)[rows] = ~self.ever_loose[rows] & (cohort.diverged is None and word is not None)
        self._of(self.opened, name, np.int64)

    def word(self, name: str, cohort: Cohort) -> np.ndarray | None:
        """(n,) the lanes in it; None where they are not known."""
        if name not in self.words:
            return np.zeros(len(cohort.rows), np.uint32)
        return (
            self.words[name][cohort.rows]
            if self.firm[name][cohort.rows].all() or not self.words[name][cohort.rows].any()
            else None
        )

    def undecided(self, name: str, cohort: Cohort) -> None:
        """Which lanes of a cohort leave it is not known."""
        self._of(self.firm, name, bool)[cohort.rows] = False
        self.ever_loose[cohort.rows] = True

    def leave(self, name: str, cohort: Cohort, lanes: np.ndarray) -> list[Cohort]:
        """BREAK: who goes on of each warp."""
        if name not in self.words:
            return [cohort]
        self._use(name, cohort.rows)
        self.words[name][cohort.rows] &= ~pack(lanes)[:, 0]
        full = self._complete(name, cohort.rows)
        return self.choose([*self._release(name, cohort.rows[full]), cohort]) if full.any() else [cohort]

    def sync(self, name: str, cohort: Cohort) -> list[Cohort]:
        """BSYNC, of a cohort that stands behind it: who goes on of each warp."""
        if name not in self.words:
            return [cohort]
        self._use(name, cohort.rows)
        rows, mine = cohort.rows, pack(cohort.mask)[:, 0]
        word, alive = self.words[name][rows], self._alive(rows)
        firm = self.firm[name][rows] & ~self.loose[rows]
        inside = (word & mine) != 0
        if not firm[inside].all():
            whole = (mine == alive) & ~self.loose[rows]
            if not whole[inside].all() and cohort.diverged is None:
                cohort.diverged = self.why or Reason(Kind.BARRIER_OPEN, cohort.pc - 1)
        some_out = inside & (word & mine != mine)
        if some_out.any():
            self.loosen(rows[some_out], Reason(Kind.BARRIER_SHARED, cohort.pc - 1), cohort)
        if not inside.any():
            return [cohort]
        out = [] if inside.all() else [cohort.some(~inside)]
        coming = cohort if inside.all() else cohort.some(inside)
        if not any(n == name and np.isin(c.rows, coming.rows).any() for n, c in self.blocked):
            missing = (word & alive & ~mine)[inside] != 0
            if not missing.any() and not self._of(self.shared, name, bool)[coming.rows].any():
                self.words[name][coming.rows] = 0
                if firm[inside].all():
                    coming.diverged = None
                return [*out, coming]
        self.blocked.append((name, coming))
        self.stopped[coming.rows] |= mine[inside]
        full = self._complete(name, coming.rows)
        self.free[coming.rows[~full]] = True
        return [*out, *self._release(name, coming.rows[full])]

    def _alive(self, rows: np.ndarray) -> np.ndarray:
        return pack(self.run.alive[rows])[:, 0]

    def _complete(self, name: str, rows: np.ndarray) -> np.ndarray:
        """(n,) whether lanes wait at the barrier, and none that they wait for is missing."""
        there = np.zeros(len(self.loose), bool)
        for n, c in self.blocked:
            if n == name:
                there[c.rows] = True
        result: np.ndarray = there[rows] & ((self.words[name][rows] & self._alive(rows) & ~self.stopped[rows]) == 0)
        return result

    def _release(self, name: str, rows: np.ndarray) -> list[Cohort]:
        """The barrier opens in these warps: who goes on of each; where lanes wait at several places, those that came
        last.
        """
        if not len(rows):
            return []
        waiting = np.zeros(len(self.loose), np.uint32)
        for n, c in self.blocked:
            if n == name:
                waiting[c.rows] |= pack(c.mask)[:, 0]
        unsure = self._of(self.shared, name, bool)[rows] | (
            (self.words[name][rows] & self._alive(rows) & ~waiting[rows]) != 0
        )
        self.loosen(rows[unsure], Reason(Kind.BARRIER_SHARED, next(c.pc for n, c in self.blocked if n == name) - 1))
        firm = self.firm[name][rows].all() and not self.loose[rows].any()
        self.words[name][rows] = 0
        freed: dict[tuple[int, tuple[int, ...]], list[Cohort]] = {}
        kept = []
        for n, c in self.blocked:
            here = np.isin(c.rows, rows) if n == name else np.zeros(len(c.rows), bool)
            if here.any():
                freed.setdefault((c.pc, c.calls), []).append(c.some(here))
                self.stopped[c.rows[here]] &= ~pack(c.mask[here])[:, 0]
            if not here.all():
                kept.append((n, c if not here.any() else c.some(~here)))
        self.blocked = kept
        groups = [cohort for parts in reversed(freed.values()) for cohort in united(parts)]
        taken = np.zeros(len(self.loose), bool)
        going = []
        for cohort in groups:
            again = taken[cohort.rows]
            if again.any():
                self.loosen(cohort.rows[again], Reason(Kind.BARRIER_SHARED, cohort.pc - 1), *groups)
                self.suspend(cohort.some(again))
                cohort = cohort.some(~again)
            if firm:
                cohort.diverged = None
            taken[cohort.rows] = True
            going.append(cohort)
        return [c for c in going if len(c.rows)]

    def exited(self, rows: np.ndarray, rest: Cohort | None) -> list[Cohort]:
        """Lanes of these warps have ended; rest: those that have not: who goes on of each warp."""
        self._check_syncing(rows)
        groups = []
        first = np.full(len(self.loose), -1, np.int64)
        names = dict.fromkeys(n for n, _ in self.blocked)
        for name in names:
            full = rows[self._complete(name, rows)]
            first[full] = np.maximum(first[full], self.opened[name][full])
        for name in names:
            full = rows[self._complete(name, rows)]
            groups += self._release(name, full[self.opened[name][full] == first[full]])
        going = self.choose([*groups, *([rest] if rest is not None else ())])
        self.free[rows] = True
        for cohort in going:
            self.free[cohort.rows] = False
        return going

    # --- the whole warp ---

    def warpsync(
        self, cohort: Cohort, words: np.ndarray | None, named: int, alone: bool, again: str | None = None
    ) -> list[Cohort]:
        """Lanes wait for those that they name; where none of those is missing they do not wait, so that lanes that
        stand at another WARPSYNC go on waiting for them.

        words: (n, LANES) uint32, None: all; alone: those with other masks go on diverged; again: None, or the barrier
        at which those meet again that part behind it."""
        rows, mine, alive = cohort.rows, pack(cohort.mask)[:, 0], self._alive(cohort.rows)
        if words is None:
            words, named = np.full((len(rows), LANES), FULL_MASK, np.uint32), FULL_MASK
        words = np.where(cohort.mask, words, np.uint32(0))
        union = np.bitwise_or.reduce(words, axis=1)
        if not (union & alive & ~mine).any() and not (alone and self._differ(words, cohort.mask).any()):
            self._cover(rows)
            self._tighten(cohort, words, again, arrived=True)
            self._ordered(cohort, named)
            return [cohort]
        self.syncing.append(Syncing(cohort, words, named, alone, again))
        self._check_syncing(rows)
        self.free[rows] = True
        return []

    @staticmethod
    def _differ(words: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """(n,) whether active lanes have different words."""
        first = np.take_along_axis(words, mask.argmax(axis=1)[:, None], 1)
        result: np.ndarray = ((words != first) & mask).any(axis=1)
        return result

    def _tighten(self, cohort: Cohort, words: np.ndarray, again: str | None, arrived: bool = False) -> None:
        """All living lanes of these warps come together for certain: each of them names all.

        again: lanes that came apart to a WARPSYNC.COLLECTIVE part again behind it, and meet at a BSYNC if its barrier
        holds all of them: it does where nothing else has used it since they came apart. (Measured: where one part was
        let go by a YIELD and had set the barrier when the other came to a BSYNC of it, they go on apart.) arrived: all
        came to it as one group, which stays one where nothing let lanes of it go on before."""
        of_all = np.bitwise_and.reduce(np.where(cohort.mask, words, np.uint32(FULL_MASK)), axis=1)
        alive, mine = self._alive(cohort.rows), pack(cohort.mask)[:, 0]
        whole = (mine == alive) & (alive & ~of_all == 0)
        if again is not None:
            held = self._of(self.words, again, np.uint32)[cohort.rows] & mine == mine
            loose = self.loose[cohort.rows]
            held |= arrived & ~loose
            self.loosen(cohort.rows[~held & ~loose], Reason(Kind.BARRIER_SHARED, cohort.pc - 1), cohort)
            whole &= held & (~loose | (self._of(self.used, again, np.int64)[cohort.rows] != ELSEWHERE))
        self.loose[cohort.rows[whole]] = False
        if whole.all():
            cohort.diverged = None

    def _check_syncing(self, rows: np.ndarray) -> None:
        """Lanes that wait for none that is missing are suspended, to go on."""
        have = np.zeros(len(self.loose), np.uint32)
        concerned = np.zeros(len(self.loose), bool)
        concerned[rows] = True
        for s in self.syncing:
            have[s.cohort.rows] |= pack(s.cohort.mask)[:, 0]
        ready: dict[tuple[Any, ...], list[tuple[Cohort, np.ndarray, int, str | None]]] = {}
        kept = []
        for s in self.syncing:
            c = s.cohort
            missing = s.words & (self._alive(c.rows) & ~have[c.rows])[:, None]
            go = c.mask & (missing == 0) & concerned[c.rows][:, None]
            torn = go.any(axis=1) & (c.mask & ~go).any(axis=1)
            if torn.any() and not s.alone:
                self.loosen(c.rows[torn], Reason(Kind.MASKS_NAMED, c.pc - 1))
            for word in distinct(s.words[go]) if s.alone else (None,):
                part = go if word is None else go & (s.words == word)
                some = part.any(axis=1)
                if some.any():
                    one = type(c)(c.pc, c.rows[some], part[some], c.calls, *c.state)
                    ready.setdefault((c.pc, c.calls, word), []).append((one, s.words[some], s.named, s.again))
            stay = c.mask & ~go
            some = stay.any(axis=1)
            if some.any():
                kept.append(
                    Syncing(
                        type(c)(c.pc, c.rows[some], stay[some], c.calls, *c.state),
                        s.words[some],
                        s.named,
                        s.alone,
                        s.again,
                    )
                )
        self.syncing = kept
        for (_, _, word), parts in ready.items():
            for cohort in united([c for c, _, _, _ in parts]):
                words = np.full(cohort.mask.shape, FULL_MASK, np.uint32)
                for c, w, _, _ in parts:
                    at = np.isin(cohort.rows, c.rows)
                    mine = np.searchsorted(c.rows, cohort.rows[at])
                    words[at] = np.where(c.mask[mine], w[mine], words[at])
                self._tighten(cohort, words, parts[0][3])
                self._ordered(cohort, parts[0][2])
                self.suspend(cohort, word is not None)

    def idle(self) -> None:
        """All lanes that are left wait, for others that will not come: the measurements do not say who goes on."""
        first = min(c.pc for c in self.waiting())
        freed: dict[tuple[int, ...], list[Cohort]] = defaultdict(list)
        for name, c in self.blocked:
            if c.pc == first:
                freed[c.calls].append(c)
                self.words[name][c.rows] = 0
                self.stopped[c.rows] &= ~pack(c.mask)[:, 0]
        for s in self.syncing:
            if s.cohort.pc == first:
                freed[s.cohort.calls].append(s.cohort)
        self.blocked = [(n, c) for n, c in self.blocked if c.pc != first]
        self.syncing = [s for s in self.syncing if s.cohort.pc != first]
        groups = [cohort for parts in freed.values() for cohort in united(parts)]
        for cohort in groups:
            self.loosen(cohort.rows, Reason(Kind.WAITS_FOR_EVER, first - 1))
        for cohort in self.choose(groups):
            self.free[cohort.rows] = False
            self.run.push(cohort)
