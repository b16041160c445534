"""Decides which lanes of a warp execute together where the code names convergence barriers, and in what order.

One group of lanes of a warp runs at a time. When its lanes diverge, the smaller part continues; the other is
suspended, on top of those already suspended. A group that waits or ends yields to the one on top. A warp has one
register for each barrier: BSSY adds lanes to it and BREAK removes lanes; when the last of them reaches a BSYNC, or
leaves, all continue together.

    BSSY B0; @P0 BRA a; x; a: y; BSYNC B0        P0 in 4 of 32 lanes: those run y, then the other 28 run x, y; then all
                                                 32 continue
    @P0 BRA a; x; a: y                           without barrier: 4 lanes run y and all that follows, then 28 run x, y,
                                                 …

These rules are measured (docs/convergence.md). Anything that they do not cover makes a warp *loose*: which of its
lanes are together is unknown until all of them reconverge at a WARPSYNC.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ptxaudit.base.arrays import among, anywhere, distinct, throughout
from ptxaudit.engine.domain.lanes import FULL_MASK, LANES, pack, varies
from ptxaudit.engine.exec.cohorts import Cohort, united
from ptxaudit.engine.exec.groups import Groups, Syncing
from ptxaudit.ir.reasons import Kind, Reason

NOWHERE = ""  # instead of the barrier at which lanes that diverge after a WARPSYNC.COLLECTIVE reconverge


class Warps(Groups):
    """Groups of lanes, with the effects of convergence barriers and WARPSYNC on them."""

    # --- barriers ---

    def open(self, name: str, cohort: Cohort, lanes: np.ndarray) -> None:
        some = lanes.any(axis=1)
        rows = cohort.rows[some]
        self.turn += 1
        self._use(name, rows)
        word = self._of(self.words, name, np.uint32)
        self._of(self.shared, name, bool)[rows] = word[rows] & self._alive(rows) != 0
        word[rows] |= pack(lanes[some])
        self._of(self.firm, name, bool)[rows] = ~self.loose[rows] & (cohort.diverged is None)
        self._of(self.opened, name, np.int64)[rows] = self.turn

    def load(self, name: str, cohort: Cohort, word: np.ndarray | None) -> None:
        """Restores the register of a barrier. word: (n,), None if unknown."""
        rows = cohort.rows
        self._use(name, rows)
        self._of(self.words, name, np.uint32)[rows] = pack(cohort.mask) if word is None else word
        self._of(self.firm, name, bool)[rows] = ~self.ever_loose[rows] & (cohort.diverged is None and word is not None)
        self._of(self.opened, name, np.int64)

    def word(self, name: str, cohort: Cohort) -> np.ndarray | None:
        """(n,) the lanes in the barrier; None if unknown."""
        if name not in self.words:
            return np.zeros(len(cohort.rows), np.uint32)
        return (
            self.words[name][cohort.rows]
            if throughout(self.firm[name][cohort.rows]) or not anywhere(self.words[name][cohort.rows])
            else None
        )

    def holds(self, name: str, cohort: Cohort) -> np.ndarray:
        """(n,) bool, whether the barrier has lanes of the cohort."""
        if name not in self.words:
            return np.zeros(len(cohort.rows), bool)
        result: np.ndarray = self.words[name][cohort.rows] & pack(cohort.mask) != 0
        return result

    def undecided(self, name: str, cohort: Cohort) -> None:
        """Records that the lanes of a cohort which leave the barrier are unknown."""
        self._of(self.firm, name, bool)[cohort.rows] = False
        self.ever_loose[cohort.rows] = True

    def leave(self, name: str, cohort: Cohort, lanes: np.ndarray) -> list[Cohort]:
        """BREAK: the cohorts that continue."""
        if name not in self.words:
            return [cohort]
        self._use(name, cohort.rows)
        self.words[name][cohort.rows] &= ~pack(lanes)
        full = self._complete(name, cohort.rows)
        return self.choose([*self._release(name, cohort.rows[full]), cohort]) if anywhere(full) else [cohort]

    def sync(self, name: str, cohort: Cohort) -> list[Cohort]:
        """BSYNC, for a cohort whose pc is after it: the cohorts that continue."""
        if name not in self.words:
            return [cohort]
        self._use(name, cohort.rows)
        rows, mine = cohort.rows, pack(cohort.mask)
        word, alive = self.words[name][rows], self._alive(rows)
        firm = self.firm[name][rows] & ~self.loose[rows]
        inside = (word & mine) != 0
        if not throughout(firm[inside]):
            whole = (mine == alive) & ~self.loose[rows]
            if not throughout(whole[inside]) and cohort.diverged is None:
                cohort.diverged = self.why or Reason(Kind.BARRIER_OPEN, cohort.pc - 1)
        some_out = inside & (word & mine != mine)
        if anywhere(some_out):
            self.loosen(rows[some_out], Reason(Kind.BARRIER_SHARED, cohort.pc - 1), cohort)
        perhaps_in = ~firm & ~inside & (mine != alive)
        if anywhere(perhaps_in):
            self.loosen(rows[perhaps_in], self.why or Reason(Kind.BARRIER_OPEN, cohort.pc - 1), cohort)
        if not anywhere(inside):
            return [cohort]
        out = [] if throughout(inside) else [cohort.some(~inside)]
        coming = cohort if throughout(inside) else cohort.some(inside)
        if not any(n == name and anywhere(among(c.rows, coming.rows)) for n, c in self.blocked):
            missing = (word & alive & ~mine)[inside] != 0
            if not anywhere(missing) and not anywhere(self._of(self.shared, name, bool)[coming.rows]):
                self.words[name][coming.rows] = 0
                if throughout(firm[inside]):
                    coming.diverged = None
                return [*out, coming]
        self.blocked.append((name, coming))
        self.stopped[coming.rows] |= mine[inside]
        full = self._complete(name, coming.rows)
        self.free[coming.rows[~full]] = True
        return [*out, *self._release(name, coming.rows[full])]

    def _complete(self, name: str, rows: np.ndarray) -> np.ndarray:
        """(n,) whether lanes wait at the barrier, and all that they wait for wait, too: there or elsewhere."""
        there = np.zeros(len(self.loose), bool)
        for n, c in self.blocked:
            if n == name:
                there[c.rows] = True
        waiting = self.stopped | self.lanes_in(s.cohort for s in self.syncing)
        result: np.ndarray = there[rows] & ((self.words[name][rows] & self._alive(rows) & ~waiting[rows]) == 0)
        return result

    def _release(self, name: str, rows: np.ndarray) -> list[Cohort]:
        """Opens the barrier in these warps: the cohorts that continue.

        If lanes wait at several places, those that arrived last continue.
        """
        if not len(rows):
            return []
        waiting = self.lanes_in(c for n, c in self.blocked if n == name)
        others = (self.words[name] ^ waiting)[rows] & self._alive(rows)  # in it and elsewhere, or here and not in it
        unsure = self._of(self.shared, name, bool)[rows] | (others != 0)
        self.loosen(rows[unsure], Reason(Kind.BARRIER_SHARED, next(c.pc for n, c in self.blocked if n == name) - 1))
        firm = throughout(self.firm[name][rows]) and not anywhere(self.loose[rows])
        self.words[name][rows] = 0
        freed: dict[tuple[int, tuple[int, ...]], list[Cohort]] = {}
        kept = []
        for n, c in self.blocked:
            here = among(c.rows, rows) if n == name else np.zeros(len(c.rows), bool)
            if anywhere(here):
                freed.setdefault((c.pc, c.calls), []).append(c.some(here))
                self.stopped[c.rows[here]] &= ~pack(c.mask[here])
            if not throughout(here):
                kept.append((n, c if not anywhere(here) else c.some(~here)))
        self.blocked = kept
        groups = [cohort for parts in reversed(freed.values()) for cohort in united(parts)]
        taken = np.zeros(len(self.loose), bool)
        going = []
        for cohort in groups:
            again = taken[cohort.rows]
            if anywhere(again):
                self.loosen(cohort.rows[again], Reason(Kind.BARRIER_SHARED, cohort.pc - 1), *groups)
                self.suspend(cohort.some(again))
                cohort = cohort.some(~again)
            if firm:
                cohort.diverged = None
            taken[cohort.rows] = True
            going.append(cohort)
        return [c for c in going if len(c.rows)]

    def exited(self, rows: np.ndarray, rest: Cohort | None) -> list[Cohort]:
        """Handles the end of lanes of these warps: the cohorts that continue. rest: the lanes that have not ended."""
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
        """Lanes wait for those that they name. If none of these is missing, they do not wait, so lanes at another
        WARPSYNC continue to wait for them.

        words: (n, LANES) uint32, None: all. alone: lanes that name other masks continue diverged. again: None, or the
        barrier at which lanes that diverge after the WARPSYNC reconverge.
        """
        rows, mine, alive = cohort.rows, pack(cohort.mask), self._alive(cohort.rows)
        if words is None:
            words, named = np.full((len(rows), LANES), FULL_MASK, np.uint32), FULL_MASK
        words = np.where(cohort.mask, words, np.uint32(0))
        union = np.bitwise_or.reduce(words, axis=1)
        lacking = union & alive & ~mine != 0
        if not anywhere(lacking) and not (alone and varies(words, cohort.mask)):
            if again is None:
                self._cover(rows)
            self._tighten(cohort, words, again, arrived=True)
            self._ordered(cohort, words)
            return [cohort]
        if alone and not throughout(lacking):
            self._part(cohort.some(~lacking), words[~lacking], again)
            cohort, words = cohort.some(lacking), words[lacking]
        if len(rows := cohort.rows):
            self.syncing.append(Syncing(cohort, words, named, alone, again))
            self._check_syncing(rows)
            self.free[rows] = True
        return []

    def _part(self, cohort: Cohort, words: np.ndarray, again: str | None) -> None:
        """Suspends the lanes that name each mask, to continue one group after the other: all lanes of the masks are
        here, so that these wait for nobody, and lanes at another WARPSYNC go on waiting for them.
        """
        for word in distinct(words[cohort.mask]):
            part = cohort.mask & (words == word)
            some = part.any(axis=1)
            self._met(cohort.of(cohort.rows[some], part[some]), words[some], again, True)
        self.free[cohort.rows] = True

    def _met(self, cohort: Cohort, words: np.ndarray, again: str | None, alone: bool) -> None:
        """Suspends lanes that have waited for those that they name, so that they can resume."""
        self._tighten(cohort, words, again)
        self._ordered(cohort, words)
        self.suspend(cohort, alone)

    def masks_unknown(self, cohort: Cohort, alone: bool, why: Reason) -> None:
        """The lanes wait at a WARPSYNC for unknown others: unless all living lanes arrive together, it is unknown which
        continue together, and when.

        alone: lanes that name other masks continue diverged, even if all arrive together.
        """
        few = cohort.mask.sum(axis=1) > 1 if alone else False
        rows = cohort.rows[few | (pack(cohort.mask) != self._alive(cohort.rows))]
        self.loosen(rows, why, cohort)
        if len(rows):
            self.uncertain_ahead(rows, why, (cohort,))

    def _tighten(self, cohort: Cohort, words: np.ndarray, again: str | None, arrived: bool = False) -> None:
        """Marks warps as converged if all their living lanes certainly wait for each other: each of them names all. (In
        PTX, those that wait at `bar.warp.sync` need not continue together.)

        again: lanes that arrive diverged at a WARPSYNC.COLLECTIVE diverge again after it, and reconverge at a BSYNC
        if its barrier holds all of them: it does if it was set before they diverged, and not since. (Measured: if a
        YIELD let one part go, each part sets the barrier separately, even at one BSSY, and they continue diverged.)
        arrived: all arrived as one group, which stays one if nothing let some of its lanes continue before.
        """
        of_all = np.bitwise_and.reduce(np.where(cohort.mask, words, np.uint32(FULL_MASK)), axis=1)
        alive, mine = self._alive(cohort.rows), pack(cohort.mask)
        whole = (mine == alive) & (alive & ~of_all == 0) & self.run.explicit
        if again is not None:
            held = self._of(self.words, again, np.uint32)[cohort.rows] & mine == mine
            loose = self.loose[cohort.rows]
            held |= arrived & ~loose
            self.loosen(cohort.rows[~held & ~loose], Reason(Kind.BARRIER_SHARED, cohort.pc - 1), cohort)
            whole &= held & ~(loose & self._of(self.used, again, bool)[cohort.rows])
        self.loose[cohort.rows[whole]] = False
        if throughout(whole) and again != NOWHERE:  # else they are together only up to its target, then as before
            cohort.diverged = None

    def _check_syncing(self, rows: np.ndarray) -> None:
        """Suspends waiting lanes for which none is missing any more, so that they can resume."""
        have = self.lanes_in(s.cohort for s in self.syncing)
        concerned = np.zeros(len(self.loose), bool)
        concerned[rows] = True
        ready: dict[tuple[Any, ...], list[tuple[Cohort, np.ndarray, str | None]]] = {}
        kept = []
        for s in self.syncing:
            c = s.cohort
            missing = s.words & (self._alive(c.rows) & ~have[c.rows])[:, None]
            go = c.mask & (missing == 0) & concerned[c.rows][:, None]
            torn = go.any(axis=1) & (c.mask & ~go).any(axis=1)
            if anywhere(torn) and not s.alone:
                self.loosen(c.rows[torn], Reason(Kind.MASKS_NAMED, c.pc - 1))
            for word in distinct(s.words[go]) if s.alone else (None,):
                part = go if word is None else go & (s.words == word)
                some = part.any(axis=1)
                if anywhere(some):
                    one = c.of(c.rows[some], part[some])
                    ready.setdefault((c.pc, c.calls, word), []).append((one, s.words[some], s.again))
            stay = c.mask & ~go
            some = stay.any(axis=1)
            if anywhere(some):
                kept.append(
                    Syncing(
                        c.of(c.rows[some], stay[some]),
                        s.words[some],
                        s.named,
                        s.alone,
                        s.again,
                    )
                )
        self.syncing = kept
        for (_, _, word), parts in ready.items():
            for cohort in united([c for c, _, _ in parts]):
                words = np.full(cohort.mask.shape, FULL_MASK, np.uint32)
                for c, w, _ in parts:
                    at = among(cohort.rows, c.rows)
                    mine = np.searchsorted(c.rows, cohort.rows[at])
                    words[at] = np.where(c.mask[mine], w[mine], words[at])
                self._met(cohort, words, parts[0][2], word is not None)

    def idle(self) -> None:
        """Handles a deadlock: all remaining lanes wait for others that will not arrive.

        The measurements do not say which lanes continue. If none waits, the groups above the suspended ones have ended.
        """
        if not self.waiting():
            self.free[:] = True
            return
        first = min(c.pc for c in self.waiting())
        freed: dict[tuple[int, ...], list[Cohort]] = defaultdict(list)
        for name, c in self.blocked:
            if c.pc == first:
                freed[c.calls].append(c)
                self.words[name][c.rows] = 0
                self.stopped[c.rows] &= ~pack(c.mask)
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
