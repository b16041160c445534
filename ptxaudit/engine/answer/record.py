"""Collects the requests of one site over a launch and scores each distinct one once.

Requests that differ by a uniform shift which changes no count (the machine's *invariant shift*) are one pattern: a
tile loop of 512 trips leaves as many patterns as one trip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import mul
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ptxaudit.base.arrays import distinct, throughout
from ptxaudit.base.errors import InputError
from ptxaudit.base.work import elements
from ptxaudit.engine.answer.common import in_common
from ptxaudit.engine.answer.footprint import FARTHEST, Folded, Footprint, Issue
from ptxaudit.engine.answer.kept import Keeper
from ptxaudit.engine.answer.result import Common, Pattern
from ptxaudit.engine.answer.scoring import ANY, SCORING, Scoring
from ptxaudit.engine.answer.totals import EVIDENCE, Totals
from ptxaudit.engine.memory.extents import Extent
from ptxaudit.hardware import banks
from ptxaudit.ir.reasons import Kind, Reason, first_of, several

MAX_TRIPS = 256  # trips listed one by one; longer loops are reported as sums
PENDING = 8192  # requests kept before they are scored
NO_LIMIT = 1 << 30  # upper bound for a request whose addresses are unknown
FEW, AT_ONCE = 64, 64  # sites with up to FEW requests are scored together, up to AT_ONCE sites in one call
SHOWN = 8  # distinct requests reported per site, the most frequent ones
FLUSHED = 4  # steps charged for storing one scored request


def _hull(each: tuple[int, int] | None, low: int, high: int) -> tuple[int, int]:
    """Extends a range to include another."""
    return (low, high) if each is None else (min(each[0], low), max(each[1], high))


class _Entry(Struct, eq=False):
    """Requests of one issue, to be scored.

    addresses, active, sources, filled: (n, lanes), as in `SiteRecord.add`, less a multiple of the shift. below: as in
    `Folded`. step: the base is a multiple of it. weights: (n,) number of occurrences. by_trip: trip -> (n,) occurrences
    in it. seen: (warps, trips, indices into the n) of each addition; indices None: in order.
    """

    addresses: np.ndarray
    active: np.ndarray
    sources: np.ndarray | None
    filled: np.ndarray | None
    below: int | None
    step: int
    line: int
    weights: np.ndarray
    by_trip: dict[int, np.ndarray] = field(default_factory=dict)
    seen: list[tuple[np.ndarray, np.ndarray | None, np.ndarray | None]] = field(default_factory=list)


class SiteRecord(Scoring):
    """All requests of one site. Weights are numbers of blocks."""

    requests: int = 0
    active_requests: int = 0
    elsewhere: int = 0  # issues of a generic access to other memory
    elsewhere_active: int = 0  # those with an active lane
    mixed: int = 0  # upper bound of the wavefronts that lanes which access other memory add, in all requests
    mixed_most: int = 0  # … in one request
    undecided: Reason | None = None  # why the counts are not exact; None = they are
    unknown: Reason | None = None  # why addresses are unknown; None = they are known
    maybe: bool = False  # some requests have unknown lanes
    unknown_low: int = 0
    unknown_high: int = 0
    unknown_each: tuple[int, int] | None = None  # the range of one unknown request
    some_each: tuple[int, int] | None = None  # the range of one with an active lane
    ideal_each: tuple[int, int] | None = None  # … of its ideal
    pending: dict[tuple[Any, ...], _Entry] = field(default_factory=dict)
    waiting: int = 0  # the number of pending requests
    scored: dict[tuple[bytes | int | None, ...], list[Any]] = field(
        default_factory=dict
    )  # (addresses, active, sources, filled) bytes, below, step, line, as in _Entry -> [Pattern fields, scores]
    meeting_assumed: bool = False  # PTX: counted on the assumption that lanes have reconverged
    trips: list[list[int]] = field(default_factory=list)  # trip -> [active requests, wavefronts, ideal]
    many_trips: bool = False
    lanes: int = 0  # active lanes of all requests to global or local memory
    kept: Keeper | None = None  # the requests with their places, if requested
    settled: bool = False  # some addresses may be others that cost the same (`alike`)
    unaligned: dict[str, None] = field(default_factory=dict)  # unknowns that may move an address off its alignment
    extent: Extent | None = None  # the bytes that the requests access, if requested
    seen: bool = False  # the warps and trips of each distinct request are requested, too
    _patterns: tuple[Pattern, ...] | None = None
    _sums: Totals | None = None
    _common: Common | None = None
    _known: banks.Scores | None = None  # the rule's scores of all pending requests, if already computed

    def add(
        self,
        addresses: np.ndarray,
        active: np.ndarray,
        weights: np.ndarray,
        trip: np.ndarray,
        sources: np.ndarray | None = None,
        zeros: int = 32,
        line: int = 0,
        filled: np.ndarray | None = None,
        warps: np.ndarray | None = None,
        times: int = 1,
    ) -> None:
        """Adds requests: addresses (n, lanes) int64, active (n, lanes) bool, weights (n,) blocks, trip (n,) visits
        before.

        zeros: the addresses are known up to a uniform shift by a multiple of 2**zeros bytes. line: if not 0, each
        lane's address is known up to its own multiple of `line` bytes, the distance after which banks repeat: the
        banks are known, but not whether lanes share a word. filled: (n, lanes) bool, lanes of a cp.async that write
        zeros; None = none, or unknown if the access says so. warps: (n,) numbers of the warps in their block. times:
        how often the requests repeat.
        """
        issue = Issue(active, weights, warps)
        self.add_issue(issue, Footprint(issue, addresses), 0, trip, sources, zeros, line, filled, times)

    def add_issue(
        self,
        issue: Issue,
        footprint: Footprint,
        offset: int,
        trip: np.ndarray | int,
        sources: np.ndarray | None = None,
        zeros: int = 32,
        line: int = 0,
        filled: np.ndarray | None = None,
        times: int = 1,
    ) -> None:
        """As `add`, with the data that accesses of the same lanes share.

        offset: is added to the addresses of the footprint. trip: one number if all rows have the same.
        """
        if times > 1:
            self.many_trips, self.trips = True, []
        self.requests += issue.issued * times
        self.active_requests += issue.issued_active * times
        if self.access.unscored:
            return
        if self.access.space != "shared":
            self.lanes += int((issue.active.sum(axis=1) * issue.weights).sum()) * times
        self._count_trips(trip, issue)
        weights = issue.own(issue.weights)
        if not len(weights):
            return
        self.account.spend(elements(footprint.size), SCORING)
        entry, folded = self._entry(issue, footprint, offset, sources, zeros, line, filled)
        own = folded.sums(weights)
        entry.weights = entry.weights + (own if times == 1 else own * times)
        if not isinstance(trip, int):
            trip = issue.own(trip)
        if self.seen and issue.warps is not None:
            trips = None if times > 1 else np.full(len(weights), trip) if isinstance(trip, int) else trip.copy()
            entry.seen.append((issue.own(issue.warps), trips, folded.kind))
        if not self.many_trips:
            by_trip = entry.by_trip
            for t in distinct(trip).tolist() if not isinstance(trip, int) else (trip,):
                part = own if isinstance(trip, int) else folded.sums(np.where(trip == t, weights, 0))
                by_trip[t] = by_trip[t] + part if t in by_trip else part

    def _entry(
        self,
        issue: Issue,
        footprint: Footprint,
        offset: int,
        sources: np.ndarray | None,
        zeros: int,
        line: int,
        filled: np.ndarray | None,
    ) -> tuple[_Entry, Folded]:
        """The pending entry that equals the requests up to what changes no count, and the requests folded to its
        rows.
        """
        shift = self.machine.invariant_shift(self.access)
        step, unit, align = min(1 << zeros, shift), 1, self.access.align
        if step < min(align, shift):  # a misaligned access would fault, so the base aligns it
            step = unit = min(align, shift)
        folded = footprint.relative(offset, shift, unit, line, sources is None and filled is None)
        if sources is not None:
            active, sources = issue.own(issue.active), issue.own(sources)
            floor = np.where(active, sources, FARTHEST).min(axis=1, keepdims=True)
            sources = np.where(active, sources - (floor & ~np.int64(127)), 0)
        filled = None if filled is None else issue.own(filled)
        others = (None if array is None else array.tobytes() for array in (sources, filled))
        key = (*folded.key, *others, folded.below, step, line)
        entry = self.pending.get(key)
        if entry is None:
            if self.waiting >= PENDING:
                self.flush()
            count = len(folded.active)
            self._known = None
            none = np.zeros(count, np.int64)
            entry = _Entry(folded.relative, folded.active, sources, filled, folded.below, step, line, none)
            self.pending[key] = entry
            self.waiting += count
        return entry, folded

    def _count_trips(self, trip: np.ndarray | int, issue: Issue) -> None:
        """Adds one request per row to its trip."""
        if self.many_trips or not len(issue.weights):
            return
        top = trip if isinstance(trip, int) else int(np.maximum.reduce(trip))
        if top >= MAX_TRIPS:
            self.many_trips = True
            self.trips = []
            return
        while len(self.trips) <= top:
            self.trips.append([0, 0, 0])
        if isinstance(trip, int) or throughout(trip == top):
            self.trips[top][0] += issue.issued_active
            return
        each = np.zeros(top + 1, np.int64)
        np.add.at(each, issue.own(trip), issue.own(issue.weights))
        for counts, issued in zip(self.trips, each.tolist()):
            counts[0] += issued

    @property
    def faults(self) -> bool:
        """An address is misaligned for the access."""
        return self.undecided is not None and self.undecided.of_kind(Kind.MISALIGNED)

    def add_elsewhere(self, weights: np.ndarray, active: np.ndarray, times: int = 1) -> None:
        """Adds issues of a generic access to other memory. active: the weights of those with an active lane."""
        self.elsewhere += int(weights.sum()) * times
        self.elsewhere_active += int(active.sum()) * times

    def add_mixed(self, weights: np.ndarray, more: np.ndarray, times: int = 1) -> None:
        """Adds requests of a generic access that access shared memory in some lanes only.

        more: (n,) wavefronts that the other lanes may add.
        """
        self.mixed += int((weights * more).sum()) * times
        self.mixed_most = max(self.mixed_most, int(more[weights > 0].max(initial=0)))

    def add_unknown(
        self, active: np.ndarray, weights: np.ndarray, reason: Reason, most: np.ndarray | None, times: int = 1
    ) -> None:
        """Adds requests with known lanes and unknown addresses.

        most: (n,) upper bound of the cost of each, from known bits of the addresses.
        """
        some, weights = active.any(axis=1), weights * times
        self.requests += int(weights.sum())
        self.active_requests += int(weights[some].sum())
        self.unknown = first_of(self.unknown, reason)
        self.many_trips = True
        lanes = active.sum(axis=1)
        self.lanes += int((lanes * weights).sum())
        most = np.full(len(active), NO_LIMIT) if most is None else most
        for count, limit in sorted({*zip(lanes[some].tolist(), most[some].tolist())}):
            low, high = banks.bounds(self.machine, self.access, count, count)
            high = min(high, max(low, limit))
            blocks = int(weights[(lanes == count) & (most == limit)].sum())
            self.unknown_low += low * blocks
            self.unknown_high += high * blocks
            self.unknown_each, self.some_each = _hull(self.unknown_each, low, high), _hull(self.some_each, low, high)
            self.ideal_each = _hull(self.ideal_each, low, high)

    def add_maybe(
        self, possible: np.ndarray, weights: np.ndarray, reason: Reason, whole: np.ndarray | None = None
    ) -> None:
        """Adds requests with unknown lanes. possible: (n, lanes), the lanes that may be active.

        whole: (3, n) the least and the most that each costs with all of these active, if no others can be, and its
        ideal.
        """
        self.requests += int(weights.sum())
        self.maybe = True
        self.unknown = first_of(self.unknown, reason)
        self.many_trips = True
        if self.access.unscored:
            return
        lanes = possible.sum(axis=1)
        if whole is not None:
            low, high, ideal = whole[:, lanes > 0]
            self.unknown_high += int((high * weights[lanes > 0]).sum())
            self.unknown_each = _hull(self.unknown_each, 0, int(high.max(initial=0)))
            if len(low):
                self.some_each = _hull(self.some_each, int(low.min()), int(high.max()))
                self.ideal_each = _hull(self.ideal_each, int(ideal.min()), int(ideal.max()))
            return
        for count in distinct(lanes[lanes > 0]):
            low, high = banks.bounds(self.machine, self.access, 1, int(count))
            self.unknown_high += high * int(weights[lanes == count].sum())
            self.unknown_each, self.some_each = _hull(self.unknown_each, 0, high), _hull(self.some_each, low, high)
            self.ideal_each = _hull(self.ideal_each, low, high)

    def flush(self) -> None:
        """Scores the pending requests: one call for all of a site with the same optional columns (sources, filled)."""
        if not self.pending:
            return
        entries, self.pending, self.waiting = list(self.pending.values()), {}, 0
        known, self._known = self._known, None
        self._sums = self._patterns = self._common = None
        self.account.spend(FLUSHED * sum(len(e.addresses) for e in entries), SCORING)
        for specified in ((False, False), (True, False), (False, True), (True, True)):
            part = [e for e in entries if (e.sources is not None, e.filled is not None) == specified]
            if part:
                try:
                    self._flush(part, known)
                except InputError as error:  # the launch would fault there: only this site has no figure
                    self.undecided = several(self.undecided, Reason(Kind.MISALIGNED, given=(error.what,)))

    def expect(self, known: banks.Scores) -> None:
        """Takes the rule's scores of all pending requests, in order."""
        self._known = known

    @property
    def plain(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(addresses, active) of the pending requests, if each can be scored independently of its site; None if there
        are none, or many.
        """
        access, entries = self.access, self.pending.values()
        if not 0 < self.waiting <= FEW or access.space != "shared" or access.address_lanes is not None:
            return None
        if access.unscored or any(e.sources is not None or e.filled is not None for e in entries):
            return None
        return np.concatenate([e.addresses for e in entries]), np.concatenate([e.active for e in entries])

    def _flush(self, entries: list[_Entry], known: banks.Scores | None = None) -> None:
        addresses = np.concatenate([e.addresses for e in entries])
        active = np.concatenate([e.active for e in entries])
        sources, filled = (
            np.concatenate([c for c in column if c is not None]) if column[0] is not None else None
            for column in ([e.sources for e in entries], [e.filled for e in entries])
        )
        weights = np.concatenate([e.weights for e in entries])
        counts = [len(e.weights) for e in entries]
        steps, lines, below = (
            np.array(column, np.int64).repeat(counts)
            for column in (
                [e.step for e in entries],
                [e.line for e in entries],
                [ANY if e.below is None else e.below for e in entries],
            )
        )
        scores = self.score(addresses, active, sources, steps, lines, filled, known, below)
        at = 0
        for e, n in zip(entries, counts, strict=True):
            low, ideal = scores.low[at : at + n], scores.ideal[at : at + n]
            for t, w in e.by_trip.items():
                if t < len(self.trips):
                    self.trips[t][1] += int(low @ w)
                    self.trips[t][2] += int(ideal @ w)
            at += n
        counted = weights.tolist()
        figures = zip(
            *(scores.low.tolist(), scores.high.tolist(), scores.ideal.tolist(), scores.ways.tolist()),
            *(
                repeat(None) if one is None else one.tolist()
                for one in (scores.lines, scores.lines_ideal, scores.lines_low)
            ),
            scores.ideal_most.tolist(),
        )
        columns = (_rows_as_bytes(column, len(counted)) for column in (addresses, active, sources, filled))
        keys = zip(*columns, below.tolist(), steps.tolist(), lines.tolist())
        seen = self._seen(entries) if self.seen else [{}] * len(counted)
        for i, (key, count, found) in enumerate(zip(keys, counted, figures)):
            slot = self.scored.get(key)
            if slot is None:
                source = None if sources is None else sources[i]
                self.scored[key] = [addresses[i], active[i], source, count, *found, seen[i]]
            else:
                slot[3] += count
                for trip, warps in seen[i].items():
                    slot[12][trip] = slot[12].get(trip, 0) | warps
        self.evidence = min(self.evidence, scores.evidence, key=EVIDENCE.index)

    def _seen(self, entries: list[_Entry]) -> list[dict[int, int]]:
        """For each request, {trip: mask of warps}; trip -1 if unknown."""
        found: list[dict[int, int]] = []
        for e in entries:
            rows: list[dict[int, int]] = [{} for _ in range(len(e.weights))]
            self.account.spend(elements(len(rows) * len(e.seen)), SCORING)
            for warps, trips, kind in e.seen:
                numbers = [-1] * len(warps) if trips is None else trips.tolist()
                own = rows if kind is None else [rows[k] for k in kind.tolist()]
                for row, warp, trip in zip(own, warps.tolist(), numbers):
                    row[trip] = row.get(trip, 0) | 1 << warp
            found += rows
        return found

    def totals(self) -> Totals:
        """Sums over all requests recorded with addresses."""
        self.flush()
        if self._sums is None:
            self._sums = self._summed()
        return self._sums

    def _summed(self) -> Totals:
        if not self.scored:
            return Totals()
        columns = zip(*(slot[3:12] for slot in self.scored.values()))
        counts, low, high, ideal, ways, lines, lines_ideal, lines_low, ideal_most = columns
        total: Callable[[Sequence[int]], int] = lambda figures: sum(map(mul, figures, counts))
        t = Totals(
            low=total(low),
            high=total(high),
            ideal=total(ideal),
            ideal_most=total(ideal_most),
            ways=-1 if min(ways) < 0 else max(ways),
            per_low=min(low),
            per_high=max(high),
            ideal_low=min(ideal),
            ideal_high=max(ideal_most),
            uncounted=min(low) < 0,
        )
        if None not in lines:
            t.lines, t.lines_ideal, t.lines_low = total(lines), total(lines_ideal), total(lines_low)
            t.line_class_max, t.line_class_low, t.line_class_each = max(lines), max(lines_low), min(lines_low)
        return t

    def patterns(self) -> tuple[Pattern, ...]:
        """The most frequent distinct requests."""
        self.flush()
        if self._patterns is None:
            self._patterns = self._most_frequent()
        return self._patterns

    def _most_frequent(self) -> tuple[Pattern, ...]:
        rows = sorted(self.scored.values(), key=lambda s: (-s[3], -s[4]))[:SHOWN]
        worst = max(self.scored.values(), key=lambda s: s[4], default=None)
        if worst is not None and all(worst is not r for r in rows):
            rows[-1] = worst
        return tuple(
            Pattern(a, act, n, lo, hi, ideal, ways, src, tuple(sorted(seen.items())))
            for a, act, src, n, lo, hi, ideal, ways, *_, seen in rows
        )

    def common(self) -> Common | None:
        """What the requests have in common; None if there are none with known addresses."""
        self.flush()
        if self._common is None and self.scored:
            steps, lines = (np.array([key[at] for key in self.scored], np.int64)[:, None] for at in (-2, -1))
            addresses, active = (np.array([slot[at] for slot in self.scored.values()]) for at in (0, 1))
            self._common = in_common(self.access, addresses, active, steps, lines)
        if self._common is None or not (self.settled or self.unknown or self.maybe or self.undecided):
            return self._common
        adjacent = None if self.settled else self._common.adjacent
        return replace(self._common, adjacent=adjacent, complete=False)

    def trip_table(self) -> tuple[tuple[int, int, int], ...]:
        self.flush()
        return () if self.many_trips or len(self.trips) < 2 else tuple((t[0], t[1], t[2]) for t in self.trips)


def score_together(records: Iterable[SiteRecord]) -> None:
    """Scores the pending requests of several sites in one call per access, before their `flush`: an unrolled loop is
    many sites with a few requests each.
    """
    alike: dict[tuple[int, banks.Access], list[tuple[SiteRecord, np.ndarray, np.ndarray]]] = {}
    for record in records:
        if (plain := record.plain) is not None:
            alike.setdefault((id(record.machine), record.access), []).append((record, *plain))
    for members in alike.values():
        for start in range(0, len(members), AT_ONCE):
            _score_some(members[start : start + AT_ONCE])


def _score_some(members: list[tuple[SiteRecord, np.ndarray, np.ndarray]]) -> None:
    if len(members) < 2:
        return
    records, addresses, active = zip(*members)
    first: SiteRecord = records[0]
    try:
        scores = banks.score(first.machine, first.access, np.concatenate(addresses), np.concatenate(active))
    except InputError:  # each record raises its own error in `flush`
        return
    if scores.lines is not None:
        return
    at = 0
    for record, mine in zip(records, addresses):
        part = slice(at, at := at + len(mine))
        figures = (column[part] for column in (scores.low, scores.high, scores.ideal, scores.ways))
        record.expect(banks.Scores(*figures, None, None, scores.evidence))


def _rows_as_bytes(column: np.ndarray | None, count: int) -> Iterable[bytes | None]:
    """The bytes of each row of an array; None `count` times if there is no array."""
    if column is None:
        return repeat(None, count)
    whole, size = column.tobytes(), column.nbytes // count
    return (whole[at : at + size] for at in range(0, size * count, size))
