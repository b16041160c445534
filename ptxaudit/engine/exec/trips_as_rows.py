"""Trips of a loop as rows of a run: the state of such a run, and the requests that it makes.

    2 warps, 3 trips      rows 0 and 1 are trip 0 of both, 2 and 3 trip 1, 4 and 5 trip 2

A row ends when its warp is back at the head of the loop, or leaves it. `side_by_side` checks that such rows equal the
trips executed in sequence; then their requests are added, in the order of the trips.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, distinct, throughout
from ptxaudit.base.records import Record
from ptxaudit.engine.answer.kept import Keeper
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.domain.lanes import FULL_MASK, varies
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import ADDRESS_BITS, Uniform, Value, resize
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.memory.registers import take

BLOCKS_A_TRIP = 32  # basic blocks that may be executed per trip: an inner loop is executed for all trips together
MOST_REQUESTS = 1 << 18  # requests of all trips, if each has as many as rows
FLUSHED = 1 << 10  # requests of a site from which on they are scored at once
VISITS, ROWS = 24, 44  # the bit positions of the instruction and of the row in a number of `Visits`

_NEVER = Uniform("no symbol", 64, kind="rounds", key=("side by side",))


class Fewer(Exception):
    """Too many trips: in this one, and perhaps in earlier ones, lanes of a warp diverge from the others."""

    def __init__(self, trips: int):
        self.trips = trips


class Trips(Round):
    """The run of a number of trips.

    limit: the trips before the first in which a warp leaves the loop; back: the rows that have returned to its head.
    """

    def __init__(self, cohort: Cohort, body: frozenset[int], trips: int):
        super().__init__(-1, _NEVER, 0, trips)
        self.warps, self.body, self.trips = len(cohort.rows), body, trips
        rows, mask = np.arange(self.warps * trips), np.tile(cohort.mask, (trips, 1))
        self.start = Cohort(cohort.pc, rows, mask, cohort.calls, *cohort.state)
        self.back = np.zeros(len(rows), bool)
        self._begun, self._blocks = False, 0

    def mentions(self, value: Value | None) -> bool:
        return False

    def ends(self, block: int, pc: int, cohort: Cohort) -> bool:
        inside, head = block in self.body, pc == self.start.pc
        if inside and not (head and self._begun):
            self._begun, self._blocks = True, self._blocks + 1
            if self._blocks > BLOCKS_A_TRIP * self.trips:
                raise NotAffine
            return False
        if cohort.calls != self.start.calls or cohort.state != self.start.state:
            raise NotAffine
        some = (cohort.mask != self.start.mask[cohort.rows]).any(axis=1)
        if anywhere(some):
            raise Fewer(int(cohort.rows[some].min()) // self.warps)
        if head:
            self.back[cohort.rows] = True
        else:
            self.limit = min(self.limit, int(cohort.rows.min()) // self.warps)
        return True

    def note(self, add: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if len(self.requests) * len(self.back) > MOST_REQUESTS:
            raise Fewer(self.trips // 4)
        super().note(add, arguments)

    @property
    def kept(self) -> int:
        """The number of rows in the trips before the first incomplete one."""
        return self.limit * self.warps


class Visits(dict[int, Any]):
    """Replaces the visit counts of each row and access by numbers that also encode the row and the access."""

    def __init__(self, rows: int):
        super().__init__()
        self._rows = np.arange(rows) << ROWS

    def __missing__(self, index: int) -> np.ndarray:
        if index >> (ROWS - VISITS):
            raise NotAffine
        self[index] = found = self._rows + (index << VISITS)
        return found

    def counts(self, warps: int, kept: int) -> dict[int, np.ndarray]:
        """instruction -> (trips, warps) the number of visits, in the kept trips."""
        return {i: (numbers - self._rows - (i << VISITS))[:kept].reshape(-1, warps) for i, numbers in self.items()}


class Ways:
    """The lanes with which each lane has shared its path since lanes certainly reconverged (`Meetings.same_way`), for
    trips that all began as the first one did.

    before: (rows, lanes) uint32, which of these remain at the beginning of each trip; last: (warps, lanes) after the
    last one.
    """

    def __init__(self, start: np.ndarray, after: np.ndarray, lap: Trips, met: bool):
        """start: (warps, lanes) before the first trip; after: (rows, lanes); met: lanes certainly reconverged."""
        trips = after[: lap.kept].reshape(lap.limit, *start.shape)
        if throughout(trips == start):
            self.before, self.last = np.full_like(after, FULL_MASK), start
        elif met:  # the trips' results cannot be combined then
            raise NotAffine
        else:
            behind = np.bitwise_and.accumulate(trips, axis=0)
            self.before = np.concatenate([start[None], behind[:-1]]).reshape(lap.kept, -1)
            self.last = behind[-1]


class Mark(Record, eq=False):
    """The lanes of an access: (n,) rows; the first active lane of each; the lanes that shared its path since the trip
    began; and all active lanes, as bits.
    """

    rows: np.ndarray
    first: np.ndarray
    ways: np.ndarray
    lanes: np.ndarray

    def assumed(self, ways: Ways, kept: int) -> bool:
        """In one of the kept rows, lanes are together that have taken different paths."""
        here = self.rows < kept
        since = self.ways[here] & ways.before[self.rows[here], self.first[here]]
        return anywhere(self.lanes[here] & ~since)


def no_request(mark: Mark) -> None:
    """Marks an entry of `Round.requests` that precedes a request and has its lanes. Never called."""
    raise NotAffine


Columns = tuple[np.ndarray | None, ...]  # (n, lanes) or (n,) each


class Requests:
    """The requests of the kept trips, to be added in the order of the trips."""

    def __init__(self, lap: Trips, ways: Ways):
        self._lap = lap
        self._of_records: dict[tuple[Any, ...], list[Columns]] = {}  # record and other common properties -> columns
        self._of_keepers: dict[tuple[Any, ...], tuple[Keeper, list[_Placed]]] = {}
        self._owners: dict[int, SiteRecord] = {}
        self._assumed: list[SiteRecord] = []
        rows, mark = np.zeros(0, int), None
        for add, arguments in lap.requests:
            owner = getattr(add, "__self__", None)
            if add is no_request:
                (mark,) = arguments
            elif isinstance(owner, SiteRecord) and add.__name__ in ("add", "add_issue"):
                rows = self._of_record(owner, add.__name__, arguments)
                if mark is not None and mark.assumed(ways, lap.kept):
                    self._assumed.append(owner)
                mark = None
            elif isinstance(owner, Keeper):
                self._of_keeper(owner, rows, *arguments)
            else:
                raise NotAffine

    def _of_record(self, record: SiteRecord, name: str, arguments: tuple[Any, ...]) -> np.ndarray:
        """Takes in requests of a record; returns their rows."""
        if name == "add_issue":
            issue, footprint, offset, trip, sources, zeros = arguments
            places, line, filled = footprint.everywhere() + offset, 0, None
            active, weights, warps = issue.active, issue.weights, issue.warps
        else:
            after_four = (None, 32, 0, None, None)[len(arguments) - 4 :]
            places, active, weights, trip, sources, zeros, line, filled, warps = arguments + after_four
        if not record.access.unscored and (
            line or 1 << zeros < record.machine.invariant_shift(record.access)
        ):  # some of the trips might need less
            raise NotAffine
        rows: np.ndarray = trip >> ROWS
        columns = places, active, weights, trip, sources, filled, warps
        key = id(record), *(c is None for c in columns)
        self._owners[id(record)] = record
        here = rows < self._lap.kept
        self._of_records.setdefault(key, []).append(tuple(None if c is None else c[here] for c in columns))
        return rows

    def _of_keeper(
        self, keeper: Keeper, rows: np.ndarray, address: Value, active: np.ndarray, weights: np.ndarray, *rest: object
    ) -> None:
        if type(address) is not Value or address.valid is not None or any(one is not None for one in rest):
            raise NotAffine
        here = np.flatnonzero(rows < self._lap.kept)
        part = _Placed(rows[here] // self._lap.warps, take(address, here), active[here], weights[here])
        poison = part.address.poison
        if poison is not None and anywhere(poison & part.active):
            raise NotAffine
        if not all(_moves_all(u, c, part.active) for u, c in part.address.terms):
            raise NotAffine
        key = id(keeper), *(u for u, _ in address.terms)
        self._of_keepers.setdefault(key, (keeper, []))[1].append(part)

    def add(self, before: dict[int, np.ndarray]) -> None:
        """Adds the requests to their records and keepers.

        before: instruction -> (trips, warps) how often each had made its access.
        """
        for record in self._assumed:
            record.meeting_assumed = True
        for (owner, *_), parts in self._of_records.items():
            record, columns = self._owners[owner], [None if c[0] is None else np.concatenate(c) for c in zip(*parts)]
            trip = columns.pop(3)
            assert trip is not None
            of_trip, warp = np.divmod(trip >> ROWS, self._lap.warps)
            number, index = trip & (1 << VISITS) - 1, trip >> VISITS & (1 << ROWS - VISITS) - 1
            for i in distinct(index).tolist():
                number = np.where(index == i, number + before[i][of_trip, warp], number)
            order = np.argsort(of_trip, kind="stable")
            places, active, weights, sources, filled, warps = (None if c is None else c[order] for c in columns)
            assert places is not None and active is not None and weights is not None
            record.add(places, active, weights, number[order], sources, filled=filled, warps=warps)
            if len(order) >= FLUSHED:
                record.flush()
        for keeper, placed in self._of_keepers.values():
            _keep(keeper, placed)


class _Placed(Record, eq=False):
    """Requests at their places: (n,) trips, addresses, (n, lanes) active lanes, (n,) weights."""

    trips: np.ndarray
    address: Value
    active: np.ndarray
    weights: np.ndarray

    def column(self, array: np.ndarray) -> np.ndarray:
        return np.broadcast_to(resize(array, ADDRESS_BITS), self.active.shape)


def _keep(keeper: Keeper, parts: list[_Placed]) -> None:
    """Adds requests in one call instead of many, in the order of the trips."""
    order = np.argsort(np.concatenate([p.trips for p in parts]), kind="stable")
    unknowns = [u for u, _ in parts[0].address.terms]
    terms = [np.concatenate([p.column(p.address.terms[k][1]) for p in parts])[order] for k in range(len(unknowns))]
    base = np.concatenate([p.column(p.address.base) for p in parts])[order]
    active, weights = (np.concatenate(c)[order] for c in zip(*((p.active, p.weights) for p in parts)))
    keeper.add(Value(base, tuple(zip(unknowns, terms))), active, weights)


def _moves_all(u: Uniform, factors: np.ndarray, active: np.ndarray) -> bool:
    """The unknown moves the addresses of all active lanes alike; the place of an array has the factor 1."""
    return not (anywhere((factors != 1) & active) if u.kind == "shared" else varies(factors, active))
