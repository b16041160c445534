"""Trips of a loop side by side: many at once as rows, where a loop has no closed form but its counters have steps.

    for (j = k + 1; j < 32; ++j)  if (lane >= j) s[lane ^ j] …       30 trips of a warp as 30 rows: j is 2 … 31 in them

That trip t begins with the registers `now + step·t` is a hypothesis. It is tried for t = 0, 1, … by one run in which
each warp has a row a trip, and it is proved where trip t has ended with what trip t + 1 was begun with, in all that a
trip leaves to the next: registers that are read before they are written, local memory, living lanes, convergence
barriers. For trip 0 begins with what is there. Nothing is a symbol here: whatever is computed of a counter is a number.
A trip in which a warp leaves the loop, and those behind it, are left out, and run later.

What may differ between trips in any other way breaks the attempt off (`NotAffine`), and all is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.domain.value import DTYPES, Value, known, same
from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.induction import after_trips, moves_by, step_between
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import NeedBlocks, Run
from ptxaudit.engine.exec.trips_as_rows import Fewer, Mark, Requests, Trips, Visits, Ways, no_request
from ptxaudit.engine.memory.registers import Registers, _scatter, pack, take
from ptxaudit.ir.live import live_at

if TYPE_CHECKING:
    from ptxaudit.engine.memory.registers import Name

    Kept = dict[Name, Value]
    Steps = dict[Name, Value | None]

FIRST = 64  # trips that are tried at once
GROWS = 4  # … as many times more where all of them were run
MOST_ROWS = 1 << 12  # trips of all warps together
WORTH = 4  # fewer trips than this are run one by one
TRIES = 3  # each of as many trips as the one before found out
OF_BARRIERS = ("words", "firm", "opened", "shared", "used")  # of `Warps`: barrier -> an array over the warps
OF_GROUPS = ("loose", "ever_loose", "stopped", "free", "occupied", "covered")  # … arrays over the warps
MOST_FAILED = 2  # times that a loop was not to be run so


class SideBySide:
    """Tries it at the heads of loops, for one simulation."""

    def __init__(self, run: Run, warps: Warps, meetings: Meetings, accesses: Accesses, drain: Callable[[], None]):
        """drain: runs until no cohort is left."""
        self.run, self.warps, self.meetings, self.accesses, self.drain = run, warps, meetings, accesses, drain
        self._sizes: dict[int, int] = {}  # head of a loop that was run so -> trips to try next
        self._stepped: dict[int, Steps] = {}  # … by these steps
        self._failed: dict[int, int] = {}  # head -> attempts in vain

    def expected(self, block: int, now: Kept, before: Kept) -> bool:
        """The loop was run so, and in its last trip the registers had the steps of then."""
        steps = self._stepped.get(block)
        return steps is not None and _all_step(now, before, steps)

    def several(self, block: int, cohort: Cohort, now: Kept, before: Kept, earlier: Kept | None = None) -> bool:
        """Some trips of the loop with this head; whether there were any. before, earlier: the registers one trip ago,
        and two; earlier None: what is `expected` is tried."""
        body = self._bodies.get(block)
        size = self._sizes.pop(block, FIRST)
        self._stepped.pop(block, None)
        if body is None or self.run.shadow is not None or self.warps.loose.any():
            return False
        if self._failed.get(block, 0) >= MOST_FAILED:
            return False
        steps = self._steps(block, now, before)
        if steps is None or earlier is not None and not _all_step(before, earlier, steps):
            return False
        if (done := self._tried(block, cohort, body, min(size, MOST_ROWS // len(cohort.rows)), steps)) is None:
            self._failed[block] = self._failed.get(block, 0) + 1
            return False
        trips, most = done
        self._sizes[block], self._stepped[block] = most * GROWS if trips == most else max(2 * trips, WORTH), steps
        return True

    def _tried(
        self, block: int, cohort: Cohort, body: frozenset[int], most: int, steps: Steps
    ) -> tuple[int, int] | None:
        """(how many trips there were, of how many that were tried); None: none."""
        for _ in range(TRIES):
            if most < WORTH:
                return None
            try:
                return _Attempt(self, cohort, body, most, steps, self._live[block]).trips(), most
            except Fewer as fewer:
                most = fewer.trips
            except (NotAffine, NeedBlocks):
                return None
        return None

    @cached_property
    def _bodies(self) -> dict[int, frozenset[int]]:
        return {loop.head: loop.blocks for loop in self.run.graph.loops.loops}

    @cached_property
    def _live(self) -> dict[int, frozenset[str]]:
        return live_at(self.run.graph, self.run.part)

    def _steps(self, block: int, now: Kept, before: Kept) -> Steps | None:
        """By what each register that a trip leaves to the next has grown in the last one, None: it has not; None for
        all, where one has no step."""
        live, steps = self._live[block], dict["Name", Value | None]()
        for name, value in now.items():
            if type(name) is str and name not in live:
                continue
            last = before.get(name)
            if last is None:
                return None
            if value is last or _unknown(value) and _unknown(last):
                steps[name] = None
            elif type(value) is not Value or type(last) is not Value:
                return None
            elif same(value, last):
                steps[name] = None
            elif _number(value) and _number(last) and (step := step_between(last, value)) and not step.terms:
                steps[name] = step
            else:
                return None
        return steps


class _Attempt:
    """So many trips at once. What is not those trips is as it was until all is proved."""

    def __init__(
        self, of: SideBySide, cohort: Cohort, body: frozenset[int], trips: int, steps: Steps, live: frozenset[str]
    ):
        self.of, self.cohort, self.steps, self.live = of, cohort, steps, live
        self.run, self.warps, self.meetings, self.accesses = of.run, of.warps, of.meetings, of.accesses
        self.lap = Trips(cohort, body, trips)
        self.index = np.tile(cohort.rows, trips)
        self.number = np.repeat(np.arange(trips), len(cohort.rows))[:, None]
        self.visits = Visits(len(self.index))

    def trips(self) -> int:
        """How many there were. Raises Fewer, NotAffine, NeedBlocks, Exhausted."""
        run, lap, meetings = self.run, self.lap, self.meetings
        with self._as_rows():
            start, executions = dict(run.registers.values), run.env.executions
            before, calls = self._behind(copied=True), dict(meetings.calls_diverge)
            ways, met = meetings.same_way[: lap.warps].copy(), meetings.met
            run.push(Cohort(lap.start.pc, lap.start.rows, lap.start.mask, lap.start.calls, *lap.start.state))
            self.of.drain()
            if lap.limit < WORTH or not lap.back[: lap.kept].all() or self.warps.others() or run.held:
                raise NotAffine
            if executions != run.env.executions or calls != meetings.calls_diverge:
                raise NotAffine
            after, behind = run.registers.values, self._behind()
            self._same(before, behind)
            self._inductive(start, after)
            of_lanes = Ways(ways, meetings.same_way, lap, meetings.met != met)
            requests, counts = Requests(lap, of_lanes), self.visits.counts(lap.warps, lap.kept)
            last = np.arange(lap.kept - lap.warps, lap.kept)
            left = {name: _narrow(take(value, last)) for name, value in after.items()}
            groups = {key: array[last] for key, array in behind.items() if key[0] not in ("alive", "met")}
            turn, diverged = self.warps.turn, meetings.went_diverged
        self._leave(left, groups)
        requests.add(self._visits_before(counts))
        meetings.same_way[self.cohort.rows] = of_lanes.last
        meetings.went_diverged, self.warps.turn, meetings._assumed = diverged, turn, None
        return lap.limit

    @contextmanager
    def _as_rows(self) -> Iterator[None]:
        """All of the run in rows of trips; behind, as it was."""
        run, rows = self.run, self.index
        saved = [(part, dict(vars(part))) for part in (run, run.env, self.warps, self.meetings, self.accesses)]
        records = [(r, r.undecided, r.meeting_assumed) for r in {id(r): r for r in run.records.values()}.values()]
        start = {name: self._begun(run.registers.values[name], step) for name, step in self.steps.items()}
        try:
            run.registers = Registers(run.registers.rows)
            run.heap, run.waiting, run.held = [], [], []
            run.expand(rows, run.low[rows], run.high[rows], lambda cohort: cohort)
            run.registers.values = start
            run.registers.rows = len(rows)
            self.meetings.expand(rows)
            self.meetings.calls_diverge = dict(self.meetings.calls_diverge)
            self.accesses.expand(rows)
            self.accesses.visits, self.accesses.meeting_assumed = self.visits, self._mark
            self.warps.expand(rows, lambda cohort: (cohort, np.arange(len(cohort.rows))))
            run.round = self.lap
            yield
            if any((r.undecided, r.meeting_assumed) != (undecided, met) for r, undecided, met in records):
                raise NotAffine
        finally:
            for part, attributes in saved:
                vars(part).update(attributes)
            for record, undecided, met in records:
                record.undecided, record.meeting_assumed = undecided, met
            self.accesses.places.forget()

    def _begun(self, value: Value, step: Value | None) -> Value:
        """What a register holds at the beginning of each trip."""
        at = take(value, self.index)
        if step is None:
            return at
        return after_trips(at, take(step, self.index), lambda bits: known(self.number.astype(DTYPES[bits])))

    def _mark(self, cohort: Cohort) -> bool:
        """Where `Meetings.meeting_assumed` is asked: that is known when all trips are."""
        if not self.run.explicit:
            first = cohort.mask.argmax(axis=1)
            ways = self.meetings.same_way[cohort.rows, first]
            self.lap.requests.append((no_request, (Mark(cohort.rows, first, ways, pack(cohort.mask)[:, 0]),)))
        return False

    def _behind(self, copied: bool = False) -> dict[tuple[Any, ...], np.ndarray]:
        """What a trip leaves to the next but for registers, as arrays over rows: living lanes, what convergence
        barriers are, and where lanes are waited for. copied: the run does not change them."""
        warps = self.warps
        found: dict[tuple[Any, ...], np.ndarray] = {("alive",): self.run.alive}
        found |= {("met", place): words for place, words in self.meetings.barriers.items()}
        for kind in OF_BARRIERS:
            found |= {(kind, name): array for name, array in getattr(warps, kind).items()}
        found |= {(kind,): getattr(warps, kind) for kind in OF_GROUPS}
        return {key: array.copy() for key, array in found.items()} if copied else found

    def _same(self, before: dict[tuple[Any, ...], np.ndarray], after: dict[tuple[Any, ...], np.ndarray]) -> None:
        """It is behind each trip that is kept what it is before; what is not there is zeros. When a barrier was set is
        not asked: only which was later, of those that were set in the trip."""
        for key, array in after.items():
            first = before.get(key, np.zeros_like(array))
            if key[0] != "opened" and not np.array_equal(array[: self.lap.kept], first[: self.lap.kept]):
                raise NotAffine

    def _inductive(self, start: Kept, after: Kept) -> None:
        """Each trip leaves the registers that the next one was begun with."""
        lap = self.lap
        ended, begun = np.arange(lap.kept - lap.warps), np.arange(lap.warps, lap.kept)
        for name, value in after.items():
            first = start.get(name)
            if first is None:
                if type(name) is not str or name in self.live:
                    raise NotAffine
            elif first is value and self.steps[name] is None or _unknown(first) and _unknown(value):
                pass
            elif (
                type(first) is not Value or type(value) is not Value or not same(take(value, ended), take(first, begun))
            ):
                raise NotAffine
        if start.keys() - after.keys():
            raise NotAffine

    def _leave(self, registers: Kept, groups: dict[tuple[Any, ...], np.ndarray]) -> None:
        """What the last trip has left, in the rows of the warps."""
        run, rows = self.run, self.cohort.rows
        values, whole = run.registers.values, len(rows) == run.registers.rows
        for name, value in registers.items():
            old = values.get(name)
            values[name] = value if whole or old is None else _scatter(old, value, rows, run.registers.rows)
        for (kind, *names), array in groups.items():
            kept = getattr(self.warps, kind)
            for name in names:
                kept = self.warps._of(kept, name, array.dtype.type)
            kept[rows] = array

    def _visits_before(self, counts: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """(trips, warps): how often each access had been made before each trip; those of the trips are counted."""
        rows, visits, before = self.cohort.rows, self.accesses.visits, {}
        for index, each in counts.items():
            had = visits[index]
            first = np.full(len(rows), had) if isinstance(had, int) else had[rows]
            behind = first + np.cumsum(each, axis=0)
            before[index] = behind - each
            if isinstance(had, int) and len(rows) == self.run.env.rows and (behind[-1] == behind[-1, 0]).all():
                visits[index] = int(behind[-1, 0])
                continue
            if isinstance(had, int):
                had = visits[index] = np.full(self.run.env.rows, had)
            had[rows] = behind[-1]
        return before


def _number(value: Value) -> bool:
    """Known but for unknowns that it is a sum of."""
    return type(value) is Value and value.poison is None and value.valid is None and value.alternatives is None


def _unknown(value: Value) -> bool:
    """Nothing is known of it in any lane."""
    return (
        type(value) is Value
        and value.poison is not None
        and value.sure is None
        and value.alternatives is None
        and bool(value.poison.all())
    )


def _all_step(now: Kept, before: Kept, steps: Steps) -> bool:
    """These registers have grown by their steps."""
    return all(
        step is None or name in now and name in before and _steps_by(now[name], before[name], step)
        for name, step in steps.items()
    )


def _steps_by(now: Value, before: Value, step: Value) -> bool:
    return _number(now) and _number(before) and now.bits == before.bits and moves_by(before, now, step)


def _narrow(value: Value) -> Value:
    """In one row what is the same in all."""

    def narrow(array: np.ndarray) -> np.ndarray:
        return array[:1] if len(array) > 1 and bool((array == array[:1]).all()) else array

    if type(value) is not Value or value.alternatives is not None:
        return value
    poison, sure = (None if array is None else narrow(array) for array in (value.poison, value.sure))
    terms = tuple((u, narrow(c)) for u, c in value.terms)
    return Value(narrow(value.base), terms, value.valid, poison, value.why, sure)
