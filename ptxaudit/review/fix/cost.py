"""Computes the cost of all requests to an array under a layout: the proof of a repair.

    Costs(machine, array.uses).under(Pad(((128, 4),)))  ->  Figures(wavefronts=256, excess=0, uses=(…))

`banks.score` scores every request at its new place. An address with an unknown part that all lanes share is scored at
each residue of that part modulo the layout's period: a shift by whole periods moves all lanes alike, and changes no
count (`layouts` has the theory). Requests that differ by such a shift are scored once.

If the number of each request is known, figures are sums over the launch; otherwise they are of each site's worst
request. Sites whose requests cost a range (a copy with unknown source lines) have a range here as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from math import gcd

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ptxaudit.base.arrays import distinct_rows
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account
from ptxaudit.engine.answer.kept import Move, Requests
from ptxaudit.hardware import banks
from ptxaudit.hardware.accesses import of_width
from ptxaudit.hardware.banks import Access, Machine
from ptxaudit.review.fix import bounds
from ptxaudit.review.fix.arrays import Use
from ptxaudit.review.fix.layouts import SAME, Layout, Pad

MOST_PLACES = 4096  # residues of one request, or places of an unknown part
_STEPS_A_REQUEST, _STEPS_A_PLACE = 2, 4
_ROWS_AT_ONCE = 1 << 8  # requests scored together: 64 kB per array, so that several fit in the cache
MOST_ROWS = 1 << 18  # requests that are scored for one layout


class NotProvable(Exception):
    """The reason why a layout's cost cannot be computed for all requests."""


class Figure(Record):
    """low, high: wavefronts, equal if exact; ideal: without conflicts; lines, lines_ideal: for cp.async.cg, else 0.
    Sums over a launch, or of the worst request (see the module)."""

    low: int = 0
    high: int = 0
    ideal: int = 0
    lines: int = 0
    lines_ideal: int = 0

    @property
    def excess(self) -> int:
        """The upper bound."""
        return self.high - self.ideal

    def __add__(self, other: Figure) -> Figure:
        return Figure(
            self.low + other.low,
            self.high + other.high,
            self.ideal + other.ideal,
            self.lines + other.lines,
            self.lines_ideal + other.lines_ideal,
        )

    @property
    def weight(self) -> tuple[int, int]:
        """The key that a better layout minimises."""
        return self.low - self.ideal + self.high - self.ideal, self.lines


class Group(Record, eq=False):
    """Requests that are scored by one rule: offsets, active (m, lanes), all distinct; sources, filled or None.

    rows (k,): the distinct request for each residue of each request; firsts (g,): where a request's residues begin;
    weight (k,): the number of times that each residue occurs, where known; times (g,): -1 where it is known, else the
    number of times that all residues occur together. uses: indices of the uses that the requests belong to; starts:
    where each use's requests begin; pieces: the number of accesses that each of its accesses is cut into.
    """

    access: Access
    offsets: np.ndarray
    active: np.ndarray
    sources: np.ndarray | None
    filled: np.ndarray | None
    rows: np.ndarray
    firsts: np.ndarray
    weight: np.ndarray
    times: np.ndarray
    uses: np.ndarray
    starts: np.ndarray
    pieces: np.ndarray


# low, high, ideal, lines, lines_ideal: combines residues, least or most, if it is unknown which of them occurs
_REDUCE = (np.minimum, np.maximum, np.minimum, np.maximum, np.minimum)


class Costs(Struct, dict=True, eq=False):
    """The requests of an array's uses, prepared to be scored under many layouts.

    align: alignment of the array's beginning in bytes. parts: for each use the bytes of the narrower accesses that
    replace it, 0 = unchanged; () = all unchanged. account: is charged for scoring. groups: the prepared requests, by
    period.
    """

    machine: Machine
    uses: Sequence[Use]
    align: int = 16
    parts: tuple[int, ...] = ()
    account: Account | None = None
    groups: dict[int | None, list[Group]] = field(default_factory=dict)

    @cached_property
    def counted(self) -> bool:
        """Figures are sums over the launch."""
        return all(use.counted for use in self.uses)

    def under(self, layout: Layout) -> tuple[Figure, ...]:
        """The figure of each use. Raises NotProvable."""
        return tuple(Figure(*row) for row in self._of([layout])[0].tolist())

    def totals(self, layouts: Sequence[Layout]) -> list[Figure]:
        """The sum of all uses' figures under each of several layouts with one period. Raises NotProvable."""
        return [Figure(*row) for row in self._of(layouts).sum(axis=1).tolist()]

    def total(self, layout: Layout) -> Figure:
        """The sum of all uses' figures. Raises NotProvable."""
        return self.totals([layout])[0]

    def least(self, unit: int) -> Figure:
        """The lower bound for all layouts that keep vectors of `unit` bytes whole (`bounds`). Raises NotProvable."""
        floors = []
        for group in self.requests(SAME):
            low, high, ideal, _, lines_ideal = self.scores(group, [SAME])
            floor = np.maximum(ideal, bounds.least(self.machine, group.access, group.offsets, group.active, unit))
            floors.append(
                (group, np.stack([np.minimum(floor, low), np.minimum(floor, high), ideal, lines_ideal, lines_ideal]))
            )
        return Figure(*self.summed(floors, 1).sum(axis=1)[0].tolist())

    def requests(self, layout: Layout) -> list[Group]:
        """The distinct requests at all places that matter to a layout. Raises NotProvable."""
        period = self._period(layout)
        if period not in self.groups:
            places = _placed(self.uses, period, self.parts) if self._moving else self._as_they_are
            self.groups[period] = [_folded(group, period, self.account) for group in places]
        return self.groups[period]

    @cached_property
    def _moving(self) -> bool:
        """Some addresses have an unknown part."""
        return any(r.moves for use in self.uses for r in use.requests)

    @cached_property
    def _as_they_are(self) -> list[Group]:
        """The requests if no address has an unknown part: the same for every period."""
        return [_folded(group, None) for group in _placed(self.uses, None, self.parts)]

    def used(self, row: int) -> int:
        """The bytes at the beginning of each row of `row` bytes up to the last one that an access touches. Raises
        NotProvable."""
        ends = [
            ((group.offsets % row)[group.active] + (group.access.width or 1)).max(initial=0)
            for group in self.requests(Pad(((row, 0),)))
        ]
        return int(max(ends, default=0))

    def _period(self, layout: Layout) -> int | None:
        """The layout's period, multiplied such that a shift by it changes no count of any access."""
        if layout.period is None:
            return None
        begin, end = layout.place(np.array([0, layout.period])).tolist()
        return layout.period * (self._shift // gcd(end - begin, self._shift))

    @cached_property
    def _shift(self) -> int:
        """Bytes: a uniform shift of all addresses by a multiple of it changes no count of any access."""
        return max(self.machine.invariant_shift(use.access) for use in self.uses)

    def _of(self, layouts: Sequence[Layout]) -> np.ndarray:
        """(layouts, uses, 5) figures."""
        return self.summed(((group, self.scores(group, layouts)) for group in self.requests(layouts[0])), len(layouts))

    def summed(self, scored: Iterable[tuple[Group, np.ndarray]], layouts: int) -> np.ndarray:
        """(layouts, uses, 5): each use's sum over its requests, or its worst request, from the `scores` of all
        groups."""
        out = np.zeros((layouts, len(self.uses), 5), np.int64)
        for group, scores in scored:
            found = self._of_requests(group, scores)
            if self.counted:
                each = np.add.reduceat(found, group.starts, axis=2)
            else:
                low, high, ideal, lines, lines_ideal = found
                asked = np.stack([low, high, high - ideal, lines, lines - lines_ideal])
                each = group.pieces * np.maximum.reduceat(asked, group.starts, axis=2)
                each[2], each[4] = each[1] - each[2], each[3] - each[4]
            out[:, group.uses] += each.transpose(1, 2, 0)
        return out

    def _of_requests(self, group: Group, scores: np.ndarray) -> np.ndarray:
        """(5, layouts, g): each figure of each request, its residues combined."""
        at = scores[:, :, group.rows]
        if len(group.firsts) == len(group.rows):  # each request has one
            return np.where(group.times < 0, at * group.weight, at * group.times) if self.counted else at
        bound = np.stack([reduce.reduceat(one, group.firsts, axis=1) for reduce, one in zip(_REDUCE, at)])
        if not self.counted:
            return bound
        exact = np.add.reduceat(at * group.weight, group.firsts, axis=2)
        return np.where(group.times < 0, exact, bound * group.times)

    def scores(self, group: Group, layouts: Sequence[Layout]) -> np.ndarray:
        """(5, layouts, m): low, high, ideal, lines, lines_ideal of each distinct request under each layout."""
        access, many = group.access, len(layouts)
        at_once = max(1, _ROWS_AT_ONCE // max(1, len(group.offsets)))
        if many > at_once:
            parts = [self.scores(group, layouts[first : first + at_once]) for first in range(0, many, at_once)]
            return np.concatenate(parts, axis=1)
        shift = self.machine.invariant_shift(access)
        step = max(min(self.align, shift), min(access.width or 1, shift))
        if self.account is not None:
            self.account.spend(_STEPS_A_REQUEST * many * len(group.offsets) * (shift // step), "comparing layouts")
        places = np.concatenate([layout.place(group.offsets) for layout in layouts])
        active, sources, filled = (
            None if c is None else np.concatenate([c] * many) if many > 1 else c
            for c in (group.active, group.sources, group.filled)
        )
        found: list[np.ndarray] = []
        for base in range(0, shift, step):  # where the array may begin, as far as that changes a count
            try:
                s = banks.score(self.machine, access, places + base, active, sources, zero_filled=filled)
            except InputError as error:
                raise NotProvable(error.what) from None
            nothing = np.zeros(len(places), np.int64)
            if s.lines is not None and s.lines_ideal is not None:
                one = [nothing, nothing, nothing, s.lines, s.lines_ideal]
            else:
                one = [s.low, s.high, s.ideal, nothing, nothing]
            found = one if not found else [reduce(a, b) for reduce, a, b in zip(_REDUCE, found, one)]
        return np.stack(found).reshape(5, many, -1)


# --- preparing ----------------------------------------------------------------------------------


def _placed(uses: Sequence[Use], period: int | None, parts: tuple[int, ...]) -> list[Group]:
    """The requests of all uses at each residue, grouped by their access; equal ones not merged yet."""
    by_access: dict[tuple[Access, bool, bool], list[tuple[int, Requests, int]]] = {}
    for at, use in enumerate(uses):
        part = parts[at] if parts else 0
        access = of_width(use.access, part) if part else use.access
        for r in use.requests:
            for offset in range(0, use.access.width or 1, part) if part else (0,):
                key = access, r.sources is None, r.filled is None
                by_access.setdefault(key, []).append((at, r, offset))
    pieces = [(use.access.width or 1) // parts[at] if parts and parts[at] else 1 for at, use in enumerate(uses)]
    return [_of_rule(key[0], members, period, np.array(pieces)) for key, members in by_access.items()]


def _of_rule(access: Access, members: list[tuple[int, Requests, int]], period: int | None, pieces: np.ndarray) -> Group:
    columns: list[list[np.ndarray]] = [[], [], [], []]
    firsts, use, sizes, weight, times, at = [], [], [], [], [], 0
    for number, r, offset in members:
        places, often = residues(r.moves, period)
        n, m = len(r.offsets), len(places)
        if at + n * m > MOST_ROWS:
            raise NotProvable(f"more than {MOST_ROWS:,} requests would have to be tried")
        for column, new in zip(columns, _rows(r, places + offset), strict=True):
            if new is not None:
                column.append(new)
        firsts.append(at + m * np.arange(n))
        use.append(number)
        sizes.append(n)
        if r.weights is not None and often is not None:
            weight.append((r.weights[:, None] // int(often.sum()) * often[None, :]).reshape(-1))
            times.append(np.zeros(n, np.int64) - 1)
        else:
            weight.append(np.zeros(n * m, np.int64))
            times.append(np.zeros(n, np.int64) if r.weights is None else r.weights)
        at += n * m
    offsets, active, sources, filled = (np.concatenate(c) if c else None for c in columns)
    assert offsets is not None and active is not None  # every request has them
    numbers = np.repeat(use, sizes)  # the requests of each use are adjacent
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    return Group(
        access,
        offsets,
        active,
        sources,
        filled,
        np.arange(at),
        np.concatenate(firsts),
        np.concatenate(weight),
        np.concatenate(times),
        numbers[starts],
        starts,
        pieces[numbers[starts]],
    )


def _folded(group: Group, period: int | None, account: Account | None = None) -> Group:
    """The group with requests that are equal up to whole periods merged."""
    if account is not None:
        account.spend(_STEPS_A_PLACE * len(group.rows), "placing requests")
    offsets = canonical(group.offsets, group.active, period)
    columns = {"offsets": offsets, "active": group.active, "sources": group.sources, "filled": group.filled}
    first, rows = distinct_rows([c for c in columns.values() if c is not None])
    once = {name: None if c is None else c[first] for name, c in columns.items()}
    return replace(group, **once, rows=rows[group.rows])


def _rows(r: Requests, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """(offsets, active, sources, filled) of requests at each of the places; those of the first request come first."""
    if len(places) == 1 and not places[0]:
        return r.offsets, r.active, r.sources, r.filled
    placed = np.where(r.active[:, None, :], r.offsets[:, None, :] + places[None, :, None], 0)
    active, sources, filled = (
        None if c is None else np.repeat(c, len(places), axis=0) for c in (r.active, r.sources, r.filled)
    )
    assert active is not None
    return placed.reshape(len(active), -1), active, sources, filled


def canonical(offsets: np.ndarray, active: np.ndarray, period: int | None) -> np.ndarray:
    """The offsets without whole periods, the same number from all lanes of a request."""
    if period is None:
        return offsets
    low = np.where(active, offsets, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    return np.where(active, offsets - low // period * period, 0)


@lru_cache(maxsize=4096)
def residues(moves: tuple[Move, ...], period: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """(what the moves add, modulo the period if there is one; the number of times each occurs, None if unknown)."""
    places: np.ndarray = np.zeros(1, np.int64)
    often: np.ndarray | None = np.ones(1, np.int64)
    for move in moves:
        steps, times = _steps(move, period)
        if len(places) * len(steps) > MOST_PLACES:
            raise NotProvable(f"an unknown part of an address has more than {MOST_PLACES:,} places")
        total = (places[:, None] + steps[None, :]).reshape(-1)
        total = total if period is None else total % period
        places, inverse = np.unique(total, return_inverse=True)
        if often is not None:
            often = (
                None
                if times is None
                else np.bincount(inverse.reshape(-1), (often[:, None] * times[None, :]).reshape(-1)).astype(np.int64)
            )
    return places, often


def _steps(move: Move, period: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """The values that one move adds, and the number of times each occurs."""
    low, count = 0, None
    if move.low is not None and move.high is not None:
        low, count = move.low, move.high - move.low + 1
    if period is not None:
        cycle = period // gcd(move.step, period)
    elif count is not None:
        cycle = count
    else:
        raise NotProvable("an unknown part of an address has no bounds")
    if cycle > MOST_PLACES:
        raise NotProvable(f"an unknown part of an address has more than {MOST_PLACES:,} places")
    k = np.arange(cycle if count is None else min(cycle, count), dtype=np.int64)
    steps = move.step * (low + k)
    if not move.every or count is None:
        return steps, None
    return steps, count // cycle + (k < count % cycle)
