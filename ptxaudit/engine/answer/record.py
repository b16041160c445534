"""Collects the requests of one site over a launch and scores each distinct one once.

Requests that differ by a uniform shift which changes no count (the machine's *invariant shift*)
are one pattern: a tile loop of 512 trips leaves as many patterns behind as one trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.base.errors import InputError
from ptxaudit.base.work import REQUEST, Account, elements
from ptxaudit.engine.answer.kept import Keeper
from ptxaudit.engine.answer.result import Case, Pattern, ranges
from ptxaudit.engine.answer.totals import EVIDENCE, Scores, Totals
from ptxaudit.hardware import banks
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.hardware.memory import sectors
from ptxaudit.ir.reasons import Kind, Reason, first_of, several

MAX_TRIPS = 256  # trips listed one by one; longer loops are reported as sums
PENDING = 4096  # distinct request groups kept before they are scored
FARTHEST = np.iinfo(np.int64).max  # of an address: beyond all others
SCORING = "scoring requests"
NO_LIMIT = 1 << 30  # wavefronts of a request of whose addresses nothing is known
FLUSHED = 4  # steps of keeping one request that was scored


def _hull(each: tuple[int, int] | None, low: int, high: int) -> tuple[int, int]:
    """A range, and another one."""
    return (low, high) if each is None else (min(each[0], low), max(each[1], high))


def rule_range(machine: Machine, access: banks.Access) -> Reason | None:
    """Why a machine's rule gives a range for requests of an access; None where it does not."""
    said = machine.why_range(access)
    return Reason(Kind.RULE_RANGE, given=(said,)) if said else None


@dataclass
class SiteRecord:
    """All requests of one site. weights are numbers of blocks."""

    machine: Machine
    access: banks.Access
    account: Account  # pays for the scoring; Exhausted where it cannot
    requests: int = 0
    active_requests: int = 0
    elsewhere: int = 0  # issues of a generic access to other memory
    elsewhere_active: int = 0  # those with an active lane
    mixed: int = 0  # wavefronts that lanes which go to other memory may add to requests of others
    mixed_most: int = 0  # and to one of them
    undecided: Reason | None = None  # why the counts are not exact; None = they are
    unknown: Reason | None = None  # why addresses are not known; None = they are
    maybe: bool = False  # whether lanes take part is not known for some requests
    unknown_low: int = 0
    unknown_high: int = 0
    unknown_each: tuple[int, int] | None = None  # the range of one of them
    some_each: tuple[int, int] | None = None  # the range of one of them in which a lane takes part
    ideal_each: tuple[int, int] | None = None  # … of its ideal
    pending: dict[tuple[Any, ...], list[Any]] = field(default_factory=dict)
    scored: dict[tuple[bytes | None, ...], list[Any]] = field(
        default_factory=dict
    )  # (addresses, active, sources, zeros) bytes -> [Pattern fields, weight]
    residues: dict[int, list[int]] = field(
        default_factory=dict
    )  # base modulo the shift -> [low, high, ideal] of a request
    meeting_assumed: bool = False  # PTX: counted as one where lanes are taken to have met again
    loose: Reason | None = None  # why a range remains although the addresses are known up to a shift
    evidence: str = ""  # the machine's for this access; "by rule" as soon as one request is
    trips: list[list[int]] = field(default_factory=list)  # trip -> [requests, {key: weights}]
    many_trips: bool = False
    lanes: int = 0  # active ones of all requests, of global and local memory
    kept: Keeper | None = None  # the requests with their places, where these are asked for
    seen: bool = False  # the warps and trips of each distinct request are asked for, too
    _patterns: tuple[Pattern, ...] | None = None
    _sums: Totals | None = None

    def __post_init__(self) -> None:
        self.evidence = self.machine.evidence(self.access)

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
        """addresses (n, lanes) int64, active (n, lanes) bool, weights (n,) blocks, trip (n,) visit numbers.

        zeros: the addresses are known up to a uniform shift by a multiple of 2**zeros bytes.
        line: not 0: each lane's address is known up to a multiple of `line` bytes of its own, after
        which banks repeat: the banks are known, whether lanes share a word is not.
        filled: (n, lanes) bool, lanes of a cp.async that write zeros; None = none, or not known where the access says
        so. warps: (n,) numbers of the warps in their block. times: as many requests one after the other, alike.
        """
        if times > 1:
            weights = weights * times
            self.many_trips, self.trips = True, []
        full = bool(np.logical_and.reduce(active, axis=None))
        some: np.ndarray = np.logical_or.reduce(active, axis=1)
        issued = int(np.add.reduce(weights))
        issued_active = issued if full else int(weights[some].sum())
        self.requests += issued
        self.active_requests += issued_active
        if self.access.unscored:
            return
        if self.access.space != "shared":
            self.lanes += int((active.sum(axis=1) * weights).sum())
        self._count_trips(trip, weights, some, issued_active)
        if not full and not some.all():
            addresses, active, weights, trip = addresses[some], active[some], weights[some], trip[some]
            sources = None if sources is None else sources[some]
            filled = None if filled is None else filled[some]
            warps = None if warps is None else warps[some]
        if not len(weights):
            return
        self.account.spend(elements(addresses.size), SCORING)
        shift = self.machine.invariant_shift(self.access)
        low = np.minimum.reduce(addresses if full else np.where(active, addresses, FARTHEST), axis=1, keepdims=True)
        relative = addresses - low // shift * shift
        if not full:
            relative = np.where(active, relative, 0)
        if sources is not None:
            floor = np.where(active, sources, FARTHEST).min(axis=1, keepdims=True)
            sources = np.where(active, sources - (floor & ~np.int64(127)), 0)
        step = min(1 << zeros, shift)
        if step < shift:
            width = self.access.width or 1
            if step < width:  # an access that is not aligned would fault: the base aligns it
                step = min(width, shift)
                relative = np.where(active, addresses - low, 0)
        if line:
            relative = relative % line
        key = (
            relative.tobytes(),
            active.tobytes(),
            None if sources is None else sources.tobytes(),
            step,
            line,
            None if filled is None else filled.tobytes(),
        )
        entry = self.pending.get(key)
        if entry is None:
            if len(self.pending) >= PENDING:
                self.flush()
            none = np.zeros(len(weights), np.int64)
            entry = self.pending[key] = [relative, active, sources, none, {}, step, line, filled, []]
        entry[3] += weights
        if self.seen and warps is not None:
            entry[8].append((warps, None if times > 1 else trip.copy()))
        if not self.many_trips:
            by_trip = entry[4]
            if np.logical_and.reduce(trip == (t := int(trip[0]))):
                by_trip[t] = by_trip[t] + weights if t in by_trip else weights.copy()
            else:
                for t in distinct(trip):
                    part = np.where(trip == t, weights, 0)
                    by_trip[int(t)] = by_trip[int(t)] + part if int(t) in by_trip else part

    def _count_trips(self, trip: np.ndarray, weights: np.ndarray, some: np.ndarray, issued: int) -> None:
        """issued: with an active lane, of all trips together."""
        if self.many_trips or not len(trip):
            return
        top = int(np.maximum.reduce(trip))
        if top >= MAX_TRIPS:
            self.many_trips = True
            self.trips = []
            return
        while len(self.trips) <= top:
            self.trips.append([0, 0, 0])
        if np.logical_and.reduce(trip == top):
            self.trips[top][0] += issued
            return
        for t in distinct(trip):
            self.trips[int(t)][0] += int(weights[(trip == t) & some].sum())

    @property
    def faults(self) -> bool:
        """An address is one that no access of this width may have."""
        return self.undecided is not None and self.undecided.of_kind(Kind.MISALIGNED)

    def add_unknown(
        self, active: np.ndarray, weights: np.ndarray, reason: Reason, most: np.ndarray | None = None
    ) -> None:
        """Requests with known lanes whose addresses are not known. most: (n,) what each costs at most, where bits of
        them are.
        """
        some = active.any(axis=1)
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
        """Requests of which is known which lanes may take part, not which do. whole: (3, n) the least and the most that
        each costs where all of these do, if no others may, and its ideal."""
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
        """Score what is pending, all of one site in one call (sources, and zeros, told and not distinguished)."""
        if not self.pending:
            return
        entries, self.pending = list(self.pending.values()), {}
        self._sums = self._patterns = None
        self.account.spend(FLUSHED * sum(len(e[0]) for e in entries), SCORING)
        for specified in ((False, False), (True, False), (False, True), (True, True)):
            part = [e for e in entries if (e[2] is not None, e[7] is not None) == specified]
            if part:
                try:
                    self._flush(part)
                except InputError as error:  # the launch would fault there: this site alone has no figure
                    self.undecided = several(self.undecided, Reason(Kind.MISALIGNED, given=(error.what,)))

    def _flush(self, entries: list[list[Any]]) -> None:
        addresses = np.concatenate([e[0] for e in entries])
        active = np.concatenate([e[1] for e in entries])
        sources = None if entries[0][2] is None else np.concatenate([e[2] for e in entries])
        weights = np.concatenate([e[3] for e in entries])
        steps = np.concatenate([np.full(len(e[3]), e[5]) for e in entries])
        lines = np.concatenate([np.full(len(e[3]), e[6]) for e in entries])
        filled = None if entries[0][7] is None else np.concatenate([e[7] for e in entries])
        scores = self._score(addresses, active, sources, steps, lines, filled)
        at = 0
        for e in entries:
            n = len(e[3])
            part = slice(at, at + n)
            for t, w in e[4].items():
                if t < len(self.trips):
                    self.trips[t][1] += int((scores.low[part] * w).sum())
                    self.trips[t][2] += int((scores.ideal[part] * w).sum())
            at += n
        of_lines = (scores.lines, scores.lines_ideal, scores.lines_low)
        seen = self._seen(entries) if self.seen else [{}] * len(weights)
        for i in range(len(weights)):
            key = (
                addresses[i].tobytes(),
                active[i].tobytes(),
                None if sources is None else sources[i].tobytes(),
                None if filled is None else filled[i].tobytes(),
            )
            slot = self.scored.get(key)
            if slot is None:
                self.scored[key] = [
                    addresses[i],
                    active[i],
                    None if sources is None else sources[i],
                    int(weights[i]),
                    int(scores.low[i]),
                    int(scores.high[i]),
                    int(scores.ideal[i]),
                    int(scores.ways[i]),
                    *(None if one is None else int(one[i]) for one in of_lines),
                    int(scores.ideal_most[i]),
                    seen[i],
                ]
            else:
                slot[3] += int(weights[i])
                for trip, warps in seen[i].items():
                    slot[12][trip] = slot[12].get(trip, 0) | warps
        self.evidence = min(self.evidence, scores.evidence, key=EVIDENCE.index)

    def _seen(self, entries: list[Any]) -> list[dict[int, int]]:
        """For each request {trip: mask of warps}; trip -1 where it is not known."""
        found: list[dict[int, int]] = []
        for e in entries:
            rows: list[dict[int, int]] = [{} for _ in range(len(e[3]))]
            self.account.spend(elements(len(rows) * len(e[8])), SCORING)
            for warps, trips in e[8]:
                for row, warp, trip in zip(
                    rows, warps.tolist(), [-1] * len(warps) if trips is None else trips.tolist()
                ):
                    row[trip] = row.get(trip, 0) | 1 << warp
            found += rows
        return found

    def _score(
        self,
        addresses: np.ndarray,
        active: np.ndarray,
        sources: np.ndarray | None,
        steps: np.ndarray,
        words: np.ndarray,
        filled: np.ndarray | None = None,
    ) -> Scores:
        """Scores of all requests; where the base is not known well enough, the range over its residues;
        where words are known modulo a line only, from all equal to all distinct (both extremes: no
        rule lets fewer distinct words cost more)."""
        shift = self.machine.invariant_shift(self.access)
        scores = self._by_rule(addresses, active, sources, filled)
        if scores.lines_low is not None and (scores.lines_low < scores.lines).any():
            self.loose = self.loose or Reason(Kind.ZERO_LANES)
        loose = steps < shift
        out = Scores.of(scores)
        if not loose.any() and not words.any():
            return out
        low, high, ideal, ideal_most, ways = out.low, out.high, out.ideal, out.ideal_most, out.ways
        if words.any():
            rows = np.flatnonzero(words)
            apart = addresses[rows] + words[rows, None] * np.arange(addresses.shape[1])[None, :]
            s = self._by_rule(
                apart,
                active[rows],
                None if sources is None else sources[rows],
                None if filled is None else filled[rows],
            )
            if (low[rows] != s.high).any() or (ideal[rows] != s.ideal).any():
                self.loose = self.loose or Reason(Kind.SAME_WORDS)
            high[rows], ways[rows] = np.maximum(high[rows], s.high), np.maximum(ways[rows], s.ways)
            ideal[rows], ideal_most[rows] = np.minimum(ideal[rows], s.ideal), np.maximum(ideal_most[rows], s.ideal)
        residues: dict[int, list[int]] = {}

        def put(residue: int, lo: np.ndarray, hi: np.ndarray, best: np.ndarray) -> None:
            old = residues.get(residue, [int(lo.min()), int(hi.max()), int(best.min())])
            residues[residue] = [min(old[0], int(lo.min())), max(old[1], int(hi.max())), min(old[2], int(best.min()))]

        for step in distinct(steps[loose]):
            rows = np.flatnonzero(steps == step)
            put(0, np.asarray(scores.low)[rows], np.asarray(scores.high)[rows], np.asarray(scores.ideal)[rows])
            every = self._moved(
                addresses[rows],
                active[rows],
                None if sources is None else sources[rows],
                None if filled is None else filled[rows],
                range(int(step), shift, int(step)),
            )
            for residue, s in every:
                put(residue, s.low, s.high, s.ideal)
                low[rows] = np.minimum(low[rows], s.low)
                high[rows] = np.maximum(high[rows], s.high)
                ideal[rows], ideal_most[rows] = np.minimum(ideal[rows], s.ideal), np.maximum(ideal_most[rows], s.ideal)
                ways[rows] = np.maximum(ways[rows], s.ways)
                if out.lines is not None and out.lines_low is not None and out.lines_ideal is not None:
                    if not self.loose and self.access.space == "shared" and (out.lines[rows] != s.lines).any():
                        self.loose = Reason(Kind.BASE, given=(shift,))
                    out.lines[rows] = np.maximum(out.lines[rows], s.lines)
                    out.lines_low[rows] = np.minimum(
                        out.lines_low[rows], s.lines if s.lines_low is None else s.lines_low
                    )
                    out.lines_ideal[rows] = np.minimum(out.lines_ideal[rows], s.lines_ideal)
        if loose.any() and ((low < high)[loose].any() or (np.asarray(scores.ideal) != ideal)[loose].any()):
            self.loose = self.loose or Reason(Kind.BASE, given=(shift,))
            for residue, (lo, hi, best) in residues.items():
                old = self.residues.get(residue, [lo, hi, best])
                self.residues[residue] = [min(lo, old[0]), max(hi, old[1]), min(best, old[2])]
        return out

    def _moved(
        self,
        addresses: np.ndarray,
        active: np.ndarray,
        sources: np.ndarray | None,
        filled: np.ndarray | None,
        residues: range,
    ) -> Iterator[tuple[int, banks.Scores]]:
        """The requests by the machine's rule, all of their addresses further by each residue."""
        if sources is None and filled is None and sectors.moves(self.access, residues.step):
            for moved in sectors.moved(self.access, addresses, active, residues, self.evidence):
                self.account.spend(REQUEST + len(addresses), SCORING)
                yield moved
            return
        for residue in residues:
            yield residue, self._by_rule(addresses + residue, active, sources, filled)

    def _by_rule(
        self, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray | None, filled: np.ndarray | None
    ) -> banks.Scores:
        self.account.spend(REQUEST + len(addresses), SCORING)
        return banks.score(self.machine, self.access, addresses, active, sources, zero_filled=filled)

    def figures(self, addresses: np.ndarray, active: np.ndarray, zeros: int) -> np.ndarray:
        """(3, n): least and most wavefronts and the ideal of each request. addresses, active, zeros: as in `add`."""
        shift = self.machine.invariant_shift(self.access)
        step = min(1 << zeros, shift)
        width = self.access.width or 1
        if step < min(shift, width):
            step = min(shift, width)
            addresses = addresses - np.where(active, addresses, FARTHEST).min(axis=1, keepdims=True)
        addresses = np.where(active, addresses, 0)
        n = len(addresses)
        scores = self._score(addresses, active, None, np.full(n, step), np.zeros(n, np.int64))
        return np.stack([scores.low, scores.high, scores.ideal])

    def base_cases(self) -> tuple[Case, ...]:
        """The figure of a request by the place of the array, where it decides."""
        shift = self.machine.invariant_shift(self.access)
        folded: dict[tuple[int, ...], list[int]] = {}
        for residue, figure in sorted(self.residues.items()):
            folded.setdefault(tuple(figure), []).append(residue)
        return tuple(Case(f"base mod {shift} in {ranges(where)}", *figure) for figure, where in folded.items())

    def totals(self) -> Totals:
        """Sums over everything recorded with addresses."""
        self.flush()
        if self._sums is None:
            self._sums = self._summed()
        return self._sums

    def _summed(self) -> Totals:
        t = Totals()
        for (
            _,
            _,
            _,
            count,
            low,
            high,
            ideal,
            ways,
            lines,
            lines_ideal,
            lines_low,
            ideal_most,
            _,
        ) in self.scored.values():
            if low < 0:
                t.uncounted = True
            t.low += low * count
            t.high += high * count
            t.ideal += ideal * count
            t.ideal_most += ideal_most * count
            t.ways = -1 if ways < 0 or t.ways < 0 else max(t.ways, ways)
            t.per_low = low if t.per_low is None else min(t.per_low, low)
            t.per_high = high if t.per_high is None else max(t.per_high, high)
            t.ideal_low = ideal if t.ideal_low is None else min(t.ideal_low, ideal)
            t.ideal_high = ideal_most if t.ideal_high is None else max(t.ideal_high, ideal_most)
            if lines is not None:
                t.lines += lines * count
                t.lines_ideal += lines_ideal * count
                t.lines_low += lines_low * count
                t.line_class_max, t.line_class_low = max(t.line_class_max, lines), max(t.line_class_low, lines_low)
                t.line_class_each = lines_low if t.line_class_each is None else min(t.line_class_each, lines_low)
        return t

    def patterns(self, most: int = 8) -> tuple[Pattern, ...]:
        """The most frequent distinct requests."""
        self.flush()
        if self._patterns is None:
            self._patterns = self._most_frequent(most)
        return self._patterns

    def _most_frequent(self, most: int) -> tuple[Pattern, ...]:
        rows = sorted(self.scored.values(), key=lambda s: (-s[3], -s[4]))[:most]
        worst = max(self.scored.values(), key=lambda s: s[4], default=None)
        if worst is not None and all(worst is not r for r in rows):
            rows[-1] = worst
        return tuple(
            Pattern(a, act, n, lo, hi, ideal, ways, src, tuple(sorted(seen.items())))
            for a, act, src, n, lo, hi, ideal, ways, *_, seen in rows
        )

    def trip_table(self) -> tuple[tuple[int, int, int], ...]:
        self.flush()
        return () if self.many_trips or len(self.trips) < 2 else tuple((t[0], t[1], t[2]) for t in self.trips)
