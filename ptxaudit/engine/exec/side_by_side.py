"""Executes many trips of a loop at once as rows, if the loop has no closed form but its counters have steps.

    for (j = k + 1; j < 32; ++j)  if (lane >= j) s[lane ^ j] …       30 trips of a warp as 30 rows, with j = 2 … 31

The hypothesis is that trip t begins with the registers `now + step·t`. One run executes trips t = 0, 1, … with one row
per warp and trip. It is proved by induction if trip t ends with everything that trip t + 1 began with: registers that
are read before they are written, local memory, living lanes, convergence barriers; trip 0 begins with the actual
state. Nothing is symbolic here: everything computed from a counter is a number. A trip in which a warp leaves the
loop, and those after it, are excluded and executed later.

Any other difference between trips aborts the attempt (`NotAffine`), and the state is restored (`attempts`).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import cached_property

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.lanes import pack
from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.domain.value import DTYPES, Value, known, mapped
from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.engine.exec.attempts import attempt
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.induction import Held, Steps, after_trips, moves_by, stays, steps_between
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import NeedBlocks, Run
from ptxaudit.engine.exec.trips_as_rows import Fewer, Mark, Requests, Trips, Visits, Ways, no_request
from ptxaudit.engine.memory.registers import _scatter, take
from ptxaudit.ir.live import live_at

FIRST = 64  # trips that are tried at once
GROWS = 4  # … multiplied by this if all of them were executed
MOST_ROWS = 1 << 12  # trips of all warps together
WORTH = 4  # fewer trips than this are executed one by one
TRIES = 3  # each with as many trips as the one before allowed
MOST_FAILED = 2  # failed attempts at a loop in succession


class SideBySide:
    """Tries this at the heads of loops, for one simulation."""

    def __init__(self, run: Run, warps: Warps, meetings: Meetings, accesses: Accesses, drain: Callable[[], None]):
        """drain: runs until no cohort is left."""
        self.run, self.warps, self.meetings, self.accesses, self.drain = run, warps, meetings, accesses, drain
        self._sizes: dict[int, int] = {}  # head of a loop that was executed so -> trips to try next
        self._stepped: dict[int, Steps] = {}  # … with these steps
        self._failed: dict[int, int] = {}  # head -> failed attempts since the last success

    def expected(self, block: int, now: Held, before: Held) -> bool:
        """The loop was executed so before, and its registers had the same steps in the last trip."""
        steps = self._stepped.get(block)
        return steps is not None and _all_step(now, before, steps)

    def several(self, block: int, cohort: Cohort, now: Held, before: Held, earlier: Held | None = None) -> bool:
        """Executes some trips of the loop with this head; whether there were any.

        before, earlier: the registers one trip ago, and two; earlier None: the loop is `expected` to succeed.
        """
        body = self._bodies.get(block)
        size = self._sizes.pop(block, FIRST)
        self._stepped.pop(block, None)
        if body is None or self.run.shadow is not None or anywhere(self.warps.loose):
            return False
        if self._failed.get(block, 0) >= MOST_FAILED:
            return False
        steps = self._steps(block, now, before)
        if steps is None or earlier is not None and not _all_step(before, earlier, steps):
            return False
        if (done := self._tried(block, cohort, body, min(size, MOST_ROWS // len(cohort.rows)), steps)) is None:
            self._failed[block] = self._failed.get(block, 0) + 1
            return False
        self._failed.pop(block, None)
        trips, most = done
        self._sizes[block], self._stepped[block] = most * GROWS if trips == most else max(2 * trips, WORTH), steps
        return True

    def _tried(
        self, block: int, cohort: Cohort, body: frozenset[int], most: int, steps: Steps
    ) -> tuple[int, int] | None:
        """(the number of trips executed, the number tried); None: none."""
        for _ in range(TRIES):
            if most < WORTH:
                return None
            try:
                return _Attempt(self, cohort, body, most, steps, self.live[block]).trips(), most
            except Fewer as fewer:
                most = fewer.trips
            except (NotAffine, NeedBlocks):
                return None
        return None

    @cached_property
    def _bodies(self) -> dict[int, frozenset[int]]:
        return {loop.head: loop.blocks for loop in self.run.graph.loops.loops}

    @cached_property
    def live(self) -> dict[int, dict[str, None]]:
        return live_at(self.run.graph, self.run.part, self.run.graph.cfg)

    def _steps(self, block: int, now: Held, before: Held) -> Steps | None:
        """What the last trip has added to each register that it leaves to the next; None if one has no step."""
        live = self.live[block]
        kept = {name: value for name, value in now.items() if type(name) is not str or name in live}
        steps = steps_between(before, kept)
        return steps if len(steps) == len(kept) else None


class _Attempt:
    """An attempt at many trips at once. Everything else is unchanged until they are proved."""

    def __init__(
        self, of: SideBySide, cohort: Cohort, body: frozenset[int], trips: int, steps: Steps, live: Container[str]
    ):
        self.of, self.cohort, self.steps, self.live = of, cohort, steps, live
        self.run, self.warps, self.meetings, self.accesses = of.run, of.warps, of.meetings, of.accesses
        self.lap = Trips(cohort, body, trips)
        self.index = np.tile(cohort.rows, trips)
        self.number = np.repeat(np.arange(trips), len(cohort.rows))[:, None]
        self.visits = Visits(len(self.index))

    def trips(self) -> int:
        """The number of trips executed. Raises Fewer, NotAffine, NeedBlocks, Exhausted."""
        run, lap, meetings = self.run, self.lap, self.meetings
        begun = {name: self._begun(run.registers.values[name], step) for name, step in self.steps.items()}
        said = [(r, r.undecided, r.meeting_assumed) for r in run.records.values()]
        with attempt(run, self.warps, meetings, self.accesses, self.index) as tried:
            run.registers.values, run.round = begun, lap
            self.accesses.visits, self.accesses.meeting_assumed = self.visits, self._mark
            start, executions, calls = dict(begun), run.env.executions, dict(meetings.calls_diverge)
            ways, met = meetings.same_way[: lap.warps].copy(), meetings.met
            run.push(lap.start.copy())
            self.of.drain()
            if lap.limit < WORTH or not throughout(lap.back[: lap.kept]) or not tried.unchanged(lap.kept):
                raise NotAffine
            if executions != run.env.executions or calls != meetings.calls_diverge:
                raise NotAffine
            if any((r.undecided, r.meeting_assumed) != (undecided, met_so) for r, undecided, met_so in said):
                raise NotAffine
            after = run.registers.values
            self._inductive(start, after)
            of_lanes = Ways(ways, meetings.same_way, lap, meetings.met != met)
            requests, counts = Requests(lap, of_lanes), self.visits.counts(lap.warps, lap.kept)
            last = np.arange(lap.kept - lap.warps, lap.kept)
            left = {name: _narrow(take(value, last)) for name, value in after.items()}
            opened = {name: times[last] for name, times in self.warps.opened.items()}
            turn, diverged = self.warps.turn, meetings.went_diverged
        self._leave(left, opened)
        requests.add(self._visits_before(counts))
        meetings.same_way[self.cohort.rows] = of_lanes.last
        meetings.went_diverged, self.warps.turn, meetings._assumed = diverged, turn, None
        return lap.limit

    def _begun(self, value: Value, step: Value | None) -> Value:
        """The value of a register at the beginning of each trip."""
        at = take(value, self.index)
        if step is None:
            return at
        return after_trips(at, take(step, self.index), lambda bits: known(self.number.astype(DTYPES[bits])))

    def _mark(self, cohort: Cohort) -> bool:
        """Replaces `Meetings.meeting_assumed`, whose answer is known only when all trips are."""
        if not self.run.explicit:
            first = cohort.mask.argmax(axis=1)
            ways = self.meetings.same_way[cohort.rows, first]
            self.lap.note(no_request, (Mark(cohort.rows, first, ways, pack(cohort.mask)),))
        return False

    def _inductive(self, start: Held, after: Held) -> None:
        """Checks that each trip leaves the registers with which the next one began."""
        lap = self.lap
        ended, begun = np.arange(lap.kept - lap.warps), np.arange(lap.warps, lap.kept)
        for name, value in after.items():
            first = start.get(name)
            if first is None:
                if type(name) is not str or name in self.live:
                    raise NotAffine
            elif first is value and self.steps[name] is None:
                pass
            elif not stays(take(first, begun), take(value, ended)):
                raise NotAffine
        if start.keys() - after.keys():
            raise NotAffine

    def _leave(self, registers: Held, opened: dict[str, np.ndarray]) -> None:
        """Stores what the last trip has left, in the rows of the warps. opened: when each barrier was set."""
        run, rows = self.run, self.cohort.rows
        values, whole = run.registers.values, len(rows) == run.registers.rows
        for name, value in registers.items():
            old = values.get(name)
            values[name] = value if whole or old is None else _scatter(old, value, rows, run.registers.rows)
        for barrier, times in opened.items():
            self.warps._of(self.warps.opened, barrier, np.int64)[rows] = times

    def _visits_before(self, counts: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """(trips, warps): how often each access had been made before each trip. Adds the visits of the trips."""
        rows, visits, before = self.cohort.rows, self.accesses.visits, {}
        for index, each in counts.items():
            had = visits[index]
            first = np.full(len(rows), had) if isinstance(had, int) else had[rows]
            behind = first + np.cumsum(each, axis=0)
            before[index] = behind - each
            if isinstance(had, int) and len(rows) == self.run.env.rows and throughout(behind[-1] == behind[-1, 0]):
                visits[index] = int(behind[-1, 0])
                continue
            if isinstance(had, int):
                had = visits[index] = np.full(self.run.env.rows, had)
            had[rows] = behind[-1]
        return before


def _all_step(now: Held, before: Held, steps: Steps) -> bool:
    """These registers have grown by their steps."""
    return all(
        step is None
        or name in now
        and name in before
        and now[name].bits == before[name].bits
        and moves_by(before[name], now[name], step)
        for name, step in steps.items()
    )


def _narrow(value: Value) -> Value:
    """Reduces a value that is the same in all rows to one row."""

    def narrow(array: np.ndarray) -> np.ndarray:
        return array[:1] if len(array) > 1 and throughout(array == array[:1]) else array

    if type(value) is not Value or value.alternatives is not None:
        return value
    return mapped(value, narrow)
