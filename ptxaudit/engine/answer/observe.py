"""From what a site's requests look like to an answer per request, when they were not counted.

    address 4·lane + n          ->  invariant: 1 wavefront, whatever n is
    address 4·lane·pitch        ->  conditional on pitch: a table by pitch mod 32
    a mask that is not known    ->  from the cost of one lane to the cost of all of them
    a loaded index              ->  data-dependent, with the range that the lanes allow

A request's cost cannot grow when lanes leave it (no rule of any machine lets fewer words cost more, but
for matrices, whose rows may come from lanes that are off), so the full mask bounds every part of
it from above.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import BLOCK, REQUEST, Account
from ptxaudit.engine.answer.at_most import most_wavefronts
from ptxaudit.engine.answer.formula import formula
from ptxaudit.engine.answer.record import SiteRecord, rule_range
from ptxaudit.engine.answer.result import Case, SiteResult
from ptxaudit.engine.answer.tabulate import ADDRESS_BITS, Counted, NoFigure, Observation, place_of, scored
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.value import EVERYWHERE, Uniform, array_zeros
from ptxaudit.engine.fixpoint.shape import Shape
from ptxaudit.engine.memory.environment import LANES
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.reasons import Kind, Reason, several

OWN_FORMULA = "each site's own"
CONCLUDING = "concluding from requests"
WRAPPED = "some lanes are gigabytes apart, as where an index of 32 bits wraps around between them"
PLACES = frozenset(("shared", "variable", "pointer", "window"))  # unknowns that say where an array lies


class Seen(Record):
    """An observation in one group of rows (what the group stands for)."""

    group: str
    observation: Observation


@dataclass
class _Range:
    """Figures of one group of rows, per request: wavefronts, the ideal, and the lines of a copy that no counter
    sees.
    """

    low: int | None = None
    high: int | None = None
    ideal_low: int | None = None
    ideal_high: int | None = None
    lines_low: int | None = None
    lines_high: int | None = None

    @property
    def wavefronts(self) -> tuple[int, int]:
        """The least and the most, of requests that a counter sees."""
        assert self.low is not None and self.high is not None
        return self.low, self.high

    def put(
        self,
        low: int | None,
        high: int | None,
        ideal_low: int | None,
        ideal_high: int | None,
        lines_low: int | None = None,
        lines_high: int | None = None,
    ) -> None:
        """Widens them by those of one more request; None: it has no such figure."""
        pick: Callable[[int | None, int | None, Callable[[int, int], int]], int | None] = lambda a, b, f: (
            b if a is None else a if b is None else f(a, b)
        )
        self.low, self.high = pick(self.low, low, min), pick(self.high, high, max)
        self.ideal_low, self.ideal_high = pick(self.ideal_low, ideal_low, min), pick(self.ideal_high, ideal_high, max)
        self.lines_low, self.lines_high = pick(self.lines_low, lines_low, min), pick(self.lines_high, lines_high, max)


class _Undecided(Record):
    """Why lanes that may take part may also not; data: one of the reasons is loaded data."""

    reasons: tuple[Reason, ...]
    data: bool


class _Bounds(Record):
    """A request that has no figure: only the range that its lanes allow, and why."""

    reason: Reason
    status: Status
    low: int
    high: int


class _Asked(Record):
    """What an answer needs of one observation. Equal ones get equal answers."""

    group: str
    request: _Bounds | Counted
    undecided_by: _Undecided | None
    open: Reason | None = None  # why it is not known which lanes of a generic access go to shared memory
    more: int = 0  # wavefronts that lanes which go to other memory may add
    some_none: bool = False  # requests all of whose lanes do, at no cost in shared memory


@dataclass
class _Found:
    """What the observations of a site add up to."""

    ranges: dict[str, _Range] = field(default_factory=dict)  # group -> figures
    cases: list[Case] = field(default_factory=list)
    unknowns: list[Uniform] = field(default_factory=list)  # that multiply the lane
    reasons: list[Reason] = field(default_factory=list)
    bounded: list[tuple[str, _Bounds]] = field(default_factory=list)  # by group
    inexact: list[_Undecided] = field(default_factory=list)
    patterns: dict[str, set[Hashable]] = field(default_factory=dict)  # group -> distinct requests
    ways: int = 0  # the most of any lane group of the main group's requests; -1: one has no such figure
    uncounted: bool = False
    record: SiteRecord | None = None
    open: list[Reason] = field(default_factory=list)  # why it is not known whether lanes go to shared memory
    more: int = 0  # wavefronts that lanes which go elsewhere may add
    some_none: bool = False  # some requests go elsewhere altogether
    wrapped: Case | None = None  # of requests whose lanes an index of 32 bits may bring gigabytes apart


class Conclusions:
    """The answers for the sites of one kernel.

    A loop that ptxas or the front end unrolled is many sites that ask the same, up to what changes no answer. So each
    distinct request is scored once, and each distinct set of requests answered once. (Objects that are asked about
    outlive this: it tells them apart by their identity.)
    """

    def __init__(self, machine: Machine, account: Account, function: Function):
        """account: pays for the scoring. function: the one whose sites these are."""
        self.machine, self.account, self.function = machine, account, function
        self._answers: dict[tuple[Any, ...], SiteResult] = {}  # by what was seen, distinguished by identity
        self._concluded: dict[tuple[Any, ...], SiteResult] = {}  # by what was asked, distinguished by its figures
        self._requests: dict[tuple[Any, ...], Counted] = {}
        self._lanes: dict[int, _Lanes] = {}
        self._doubts: dict[int, _Undecided] = {}

    def conclude(self, index: int, access: Access, seen: list[Seen], shape: Shape = Shape.SPECIFIED) -> SiteResult:
        """One answer for a site out of all its abstract requests; the assumed group's come first. Raises Exhausted
        where the account does not pay for it.

        shape: what is specified of the block's, and what it decides of the site.
        """
        self.account.spend(BLOCK + len(seen), CONCLUDING)
        shift = self.machine.invariant_shift(access)  # the rest of an offset changes nothing
        question = (
            access,
            shape,
            tuple(
                [
                    (s.group, id(o.base), o.offset % shift, id(o.mask), o.exact, id(o.undecided_by), id(o.located))
                    for s in seen
                    for o in (s.observation,)
                ]
            ),
        )
        answer = self._answers.get(question)
        if answer is None:
            answer = self._conclusion(index, access, seen, shape, shift)
            answer = self._answers[question] = replace(answer, unaligned=_unaligned(access, seen))
        first = seen[0].observation if answer.formula else None
        return replace(
            answer, index=index, formula="" if first is None else formula(first.base, first.offset, self.function)
        )

    def _conclusion(self, index: int, access: Access, seen: list[Seen], shape: Shape, shift: int) -> SiteResult:
        self.account.spend(REQUEST * (1 + len(seen)), CONCLUDING)
        machine = self.machine
        here = [s for s in seen if s.observation.lanes.any() or not s.observation.mask.any()]
        never = bool(seen) and all(s.observation.located is not None and s.observation.located.never for s in seen)
        if seen and not here and (never or not shape.decides):
            return SiteResult(
                index,
                Status.INVARIANT,
                never_there(access),
                per_request=(0, 0),
                ideal_per_request=(0, 0),
                ways=0,
                evidence=machine.evidence(access),
            )
        taking_part = [s for s in here if self._lanes_of(s.observation).some]
        if shape.decides and not taking_part:  # the shapes that are tried do not stand for all others
            return SiteResult(
                index,
                Status.CONDITIONAL,
                Reason(Kind.NO_SHAPE_REACHES),
                per_request=(0, banks.bounds(machine, access, 1, LANES)[1]),
                evidence=machine.evidence(access),
                conditions=(Case("the block's shape is one of those taken here", 0, 0, 0),),
            )
        if not here:
            return SiteResult(index, Status.UNREACHED, Reason(Kind.NO_LANE), evidence=machine.evidence(access))
        if not taking_part:
            return SiteResult(
                index,
                Status.INVARIANT,
                Reason(Kind.NO_LANE_TAKES_PART),
                per_request=(0, 0),
                ideal_per_request=(0, 0),
                evidence="by rule",
            )
        asked, exact = [], True
        for s in taking_part:
            exact = exact and s.observation.exact
            asked.append(
                _Asked(
                    s.group,
                    self._request(access, s, shift, exact),
                    self._undecided_of(s.observation),
                    *_elsewhere(machine, access, s.observation),
                )
            )
        wide = self._of_whole_warps(access, taking_part, shift) if shape is Shape.DECIDES_LANES else None
        question = access, shape, tuple(asked), len(here) < len(seen), wide
        if question not in self._concluded:
            found = _added_up(asked, here[0].group, len(here) < len(seen))
            if any(isinstance(one.request, Counted) and one.request.wraps for one in asked):
                low, high = banks.bounds(machine, access, 1, LANES)
                found.wrapped = Case(WRAPPED, low, high, None)
                found.reasons.append(Reason(Kind.WRAPS))
            self._concluded[question] = _answer(index, access, machine, _Shapes.of(machine, access, shape, wide), found)
        return self._concluded[question]

    def _of_whole_warps(self, access: Access, seen: list[Seen], shift: int) -> int | None:
        """The most that a request costs, whichever of its lanes take part; None where that is not known of an
        address.
        """
        most = 0
        for s in seen:
            o = s.observation
            if not o.base.uniform:
                return None
            request = self._request(
                access, Seen(s.group, replace(o, mask=np.ones_like(o.mask), located=None)), shift, False
            )
            if not isinstance(request, Counted) or request.unknown is not None:
                return None
            most = max(most, request.record.totals().per_high or 0)
        return most

    def _lanes_of(self, o: Observation) -> _Lanes:
        """The lanes that may take part."""
        lanes = self._lanes.get(id(o.lanes))
        if lanes is None:
            lanes = self._lanes[id(o.lanes)] = _Lanes(o.lanes)
        return lanes

    def _undecided_of(self, o: Observation) -> _Undecided | None:
        """Why they may not; None where they do."""
        if o.exact:
            return None
        undecided_by = self._doubts.get(id(o.undecided_by))
        if undecided_by is None:
            every = o.undecided_by or (Reason(Kind.BRANCHES),)
            undecided_by = self._doubts[id(o.undecided_by)] = _Undecided(
                tuple(dict.fromkeys(every)), any(d.data for d in every)
            )
        return undecided_by

    def _request(self, access: Access, s: Seen, shift: int, exact: bool) -> _Bounds | Counted:
        """The figures of an observation, or why it has none. exact: all lanes of it, and of those before, take part for
        certain.
        """
        o, lanes = s.observation, self._lanes_of(s.observation)
        try:
            place = place_of(access, o, shift, self.machine)
            question = access, place.code, lanes.code, *((s.group, exact) if place.varying else ())
            request = self._requests.get(question)
            if request is None:
                request = self._requests[question] = scored(
                    access, place, o.lanes, self.machine, s.group, exact, self.account
                )
        except NoFigure as none:
            fewest = lanes.fewest if o.exact and o.located is None else 1
            low, high = banks.bounds(self.machine, access, fewest, lanes.most)
            limit = most_wavefronts(self.machine, access, as_unknown(o.base), o.offset, o.lanes)
            if limit is not None:
                high = min(high, max(low, int(limit.max(initial=0))))
            return _Bounds(
                none.reason, none.status, 0 if o.space == "generic" else low, high
            )  # a generic access may be elsewhere
        undecided = request.record.undecided
        if undecided is not None and request.record.faults:
            return _Bounds(undecided, Status.UNKNOWN, *banks.bounds(self.machine, access, 1, lanes.most))
        return request


class _Lanes:
    """A mask of lanes that may take part. code: its bytes; some: there is one; fewest, most: in a row that has some."""

    def __init__(self, mask: np.ndarray):
        self.mask, self.code = mask, mask.tobytes()
        self.some = b"\1" in self.code

    @cached_property
    def most(self) -> int:
        return int(self.mask.sum(axis=1).max())

    @cached_property
    def fewest(self) -> int:
        lanes = self.mask.sum(axis=1)
        return int(lanes[lanes > 0].min(initial=self.most))


def never_there(access: Access) -> Reason:
    """Why a generic access costs nothing in the memory that is looked at."""
    return Reason(Kind.NEVER_SHARED) if access.space == "shared" else Reason(Kind.NEVER_THERE, given=(access.space,))


def _added_up(asked: list[_Asked], main: str, some_none: bool) -> _Found:
    """What the requests of a site come to. main: the group whose figures are shown by the place of the array.
    some_none: further requests go to other memory."""
    found = _Found(some_none=some_none)
    for one in asked:
        found.open += [one.open] if one.open is not None else []
        found.more, found.some_none = max(found.more, one.more), found.some_none or one.some_none
        if one.undecided_by is not None:
            found.inexact.append(one.undecided_by)
        here = found.ranges.setdefault(one.group, _Range())
        request = one.request
        if isinstance(request, _Bounds):
            found.bounded.append((one.group, request))
            here.put(request.low, request.high, None, None)
            found.patterns.setdefault(one.group, set()).add("?")
            continue
        requests = request.record
        t = requests.totals()
        found.record = found.record or requests
        found.uncounted = found.uncounted or t.uncounted
        found.patterns.setdefault(one.group, set()).update(k[:2] for k in requests.scored)
        of_lines = (t.line_class_each, t.line_class_max) if t.uncounted else (None, None)
        here.put(t.per_low, t.per_high, t.ideal_low, t.ideal_high, *of_lines)
        if one.group == main:
            found.ways = -1 if t.ways < 0 or found.ways < 0 else max(found.ways, t.ways)
        cases = [*request.cases, *(requests.base_cases() if requests.residues and one.group == main else ())]
        if request.unknown is not None and request.unknown not in found.unknowns:
            found.unknowns.append(request.unknown)
        if requests.loose is not None and requests.loose not in found.reasons:
            found.reasons.append(requests.loose)
        found.cases += [c for c in dict.fromkeys(cases) if c not in found.cases]
    return found


def _elsewhere(machine: Machine, access: Access, o: Observation) -> tuple[Reason | None, int, bool]:
    """Of a generic access: why it is not known whether lanes go to shared memory; wavefronts that lanes which do not
    may add to a request of others; whether there are requests none of whose lanes do."""
    if o.located is None:
        return None, 0, False
    if o.others is None:
        return o.located.why, 0, False
    some: np.ndarray = np.logical_or.reduce(o.lanes, axis=1)
    more = banks.passes(machine, access, o.others & some[:, None])
    return o.located.why, int(more.max(initial=0)), bool((o.others.any(axis=1) & ~some).any())


def _unaligned(access: Access, seen: list[Seen]) -> tuple[str, ...] | None:
    """The unknowns whose step is no multiple of what the access must be aligned to, but for where arrays lie; None
    where an address is not known."""
    names: dict[str, None] = {}
    for o in (s.observation for s in seen):
        value = o.base
        if value.poison is not None and (value.poison is EVERYWHERE or (value.poison & o.mask).any()):
            return None
        if value.valid is not None and 1 << value.valid < access.align:
            return None
        for u, c in value.terms:
            if u.kind not in PLACES and 1 << min(u.zeros + array_zeros(c), ADDRESS_BITS) < access.align:
                names[u.name] = None
    return tuple(names)


class _Shapes(Record):
    """What the block's shape, which is not specified, leaves open of a request. decides: it does anything but which
    lanes a block's last warp has; low, high: of any request of any shape, None where those that are tried show it;
    ideals: so of its ideal."""

    decides: bool
    low: int | None
    high: int | None
    ideals: tuple[int, int] | None

    @classmethod
    def of(cls, machine: Machine, access: Access, shape: Shape, wide: int | None) -> _Shapes:
        """wide: the most that a request costs where the shape decides its lanes only, None: not known."""
        if (
            shape is Shape.SPECIFIED or shape is Shape.DECIDES_NOTHING and access.address_lanes is not None
        ):  # all lanes make that access
            return cls(False, None, None, None)
        low, most = banks.bounds(machine, access, 1, LANES)
        high = None if shape is Shape.DECIDES_NOTHING else most if wide is None else wide
        return cls(shape.decides, low, high, (low, _widest_ideal(machine, access)))

    def rest(self, cases: Iterable[Case], whole: tuple[int, int], found: _Found) -> tuple[Case, ...]:
        """The cases that were seen, that of lanes which are not near each other, and all other blocks where they may
        cost more or less."""
        cases = tuple(cases)
        if self.low is not None and (min(case.low for case in cases), max(case.high for case in cases)) != whole:
            cases = *cases, Case("any other block, or one whose last warp has fewer lanes", *whole, None)
        return cases if found.wrapped is None else (*cases, found.wrapped)

    def around(self, low: int, high: int) -> tuple[int, int]:
        """A range that is seen, and what other shapes may make of it."""
        return low if self.low is None else min(low, self.low), high if self.high is None else max(high, self.high)


@lru_cache(1 << 8)
def _widest_ideal(machine: Machine, access: Access) -> int:
    """The ideal of a request in which nothing is merged: lanes beside each other."""
    lanes = np.arange(machine.lanes)[None, :]
    scores = banks.score(machine, access, lanes * (access.width or 1), np.ones((1, machine.lanes), bool), None)
    return int(scores.ideal[0])


def _answer(index: int, access: Access, machine: Machine, shapes: _Shapes, found: _Found) -> SiteResult:
    """The strongest that can be said of a site with these requests, each case where the ones before it do not hold."""
    first, main = next(iter(found.ranges.items()))
    record = found.record
    shown = record.patterns() if record is not None else ()
    one_lane = banks.bounds(machine, access, 1, 1)[0]
    groups = tuple(found.ranges) if shapes.decides else (first,)
    without = {group for group, _ in found.bounded}
    ideals = (
        None
        if without.intersection(groups)
        else _ideals([found.ranges[g] for g in groups], one_lane if found.inexact else None, shapes)
    )
    if ideals is not None and found.wrapped is not None:
        ideals = min(ideals[0], one_lane), max(ideals[1], _widest_ideal(machine, access))
    answer = partial(
        SiteResult,
        index,
        formula=OWN_FORMULA,
        patterns=shown,
        distinct=len(record.scored) if record is not None else 0,
        ideal_per_request=ideals,
        evidence=record.evidence if record is not None else machine.evidence(access),
    )
    if found.uncounted:
        return _of_lines(answer, groups, shapes.decides, found)
    low, high = main.wavefronts
    if found.inexact:
        low = min(low, one_lane)
        if access.address_lanes is not None:  # a matrix with lanes off is a range of its own
            high = max(high, banks.bounds(machine, access, 1, LANES)[1])
    if found.open or found.more or found.some_none:
        return _partly_elsewhere(answer, access, machine, low, high, shapes, found)
    without_figure = [bounds for group, bounds in found.bounded if group == first]
    if without_figure:
        return _open_answer(answer, without_figure, low, high, shapes, found)
    whole = shapes.around(*_hull(low, high, found))
    if found.cases:
        return answer(
            Status.CONDITIONAL, _dependence(found), per_request=whole, conditions=shapes.rest(found.cases, whole, found)
        )
    if found.wrapped is None and whole[0] == whole[1] and not found.reasons and not found.unknowns:
        note = _mask_reason(found.inexact, Kind.LANES_COST_ALIKE) if found.inexact else None
        return answer(Status.INVARIANT, note, per_request=whole, ways=_ways(found))
    if shapes.decides and (
        len(found.ranges) == 1
        or whole != (low, high)
        or any(p != found.patterns[first] for p in found.patterns.values())
    ):
        table = tuple(Case(name, *r.wavefronts, r.ideal_high) for name, r in found.ranges.items())
        reason = several(Reason(Kind.BY_SHAPE), *found.reasons, _mask_reason(found.inexact) if found.inexact else None)
        return answer(Status.CONDITIONAL, reason, per_request=whole, conditions=shapes.rest(table, whole, found))
    if found.wrapped is not None:
        near = [Case("all lanes that can take part do", *main.wavefronts, main.ideal_high)]
        if found.inexact:
            near.append(Case("fewer lanes do", low, high, None))
        reason = several(*found.reasons, _mask_reason(found.inexact) if found.inexact else None)
        return answer(Status.CONDITIONAL, reason, per_request=whole, conditions=shapes.rest(near, whole, found))
    if low == high and not found.reasons and not found.unknowns and not found.inexact:
        cases = (
            Case("all lanes of a warp exist", *main.wavefronts, main.ideal_high),
            Case("the block's last warp has fewer", *whole, None),
        )
        return answer(Status.CONDITIONAL, Reason(Kind.BY_LAST_WARP), per_request=whole, conditions=cases)
    if found.inexact:
        data = any(d.data for d in found.inexact)
        cases = (
            Case("all lanes that can take part do", *main.wavefronts, main.ideal_high),
            Case("fewer lanes do", low, high, None),
        )
        return answer(
            Status.DATA_DEPENDENT if data else Status.CONDITIONAL,
            _mask_reason(found.inexact),
            per_request=whole,
            conditions=shapes.rest(cases, whole, found),
        )
    reason = _dependence(found) or rule_range(machine, access) or Reason(Kind.REQUESTS_DIFFER)
    return answer(Status.BOUNDED, reason, per_request=whole, ways=_ways(found))


def _ideals(ranges: list[_Range], one_lane: int | None, shapes: _Shapes) -> tuple[int, int] | None:
    """The least and the most that a request's ideal is. one_lane: of a request with one lane, where lanes may not take
    part: with fewer of them more may be merged."""
    lows = [r.ideal_low for r in ranges if r.ideal_low is not None]
    highs = [r.ideal_high for r in ranges if r.ideal_high is not None]
    if len(lows) < len(ranges) or len(highs) < len(ranges):
        return None
    low, high = min(lows), max(highs)
    if shapes.ideals is not None:
        low, high = min(low, shapes.ideals[0]), max(high, shapes.ideals[1]) if shapes.high is not None else high
    return low if one_lane is None else min(low, one_lane), high


def _of_lines(answer: Callable[..., SiteResult], groups: tuple[str, ...], shaped: bool, found: _Found) -> SiteResult:
    """What is said of cp.async.cg, some request of which has a figure: k at most, and what some request has at least;
    neither where another request has none."""
    without = [bounds for group, bounds in found.bounded if group in groups]
    reason = several(Reason(Kind.COPY_LINE_CLASS), _dependence(found), *(bounds.reason for bounds in without[:1]))
    if without:
        return answer(Status.BOUNDED, reason)
    ranges = [found.ranges[group] for group in groups]
    low = min(r.lines_low for r in ranges if r.lines_low is not None)
    high = max(r.lines_high for r in ranges if r.lines_high is not None)
    least = min(low, 1) if found.inexact else low
    return answer(Status.BOUNDED, reason, line_class_max=high, line_class_proved=None if shaped else least)


def _partly_elsewhere(
    answer: Callable[..., SiteResult],
    access: Access,
    machine: Machine,
    low: int | None,
    high: int | None,
    shapes: _Shapes,
    found: _Found,
) -> SiteResult:
    """What is said of a generic access not all of whose lanes are known to go to shared memory: never one figure for
    all requests.
    """
    first, main = next(iter(found.ranges.items()))
    if low is None or high is None or any(group == first for group, _ in found.bounded):
        low, high = 0, banks.bounds(machine, access, 1, LANES)[1]
    cases = [
        Case(
            f"all lanes that may go to {access.space} memory do{', ' + case.when if case.when else ''}",
            case.low,
            case.high,
            case.ideal,
        )
        for case in found.cases or [Case("", low, high, main.ideal_high)]
    ]
    reason = several(
        *found.open,
        Reason(Kind.SOME_ELSEWHERE) if found.some_none else None,
        Reason(Kind.MIXED_SPACES) if found.more else None,
        *found.reasons,
        _mask_reason(found.inexact) if found.inexact else None,
    )
    low, high = shapes.around(*_hull(low, high, found))
    floor = 0 if found.open or found.some_none or shapes.high is not None else low
    data = any(unknown.data for unknown in found.open)
    status = Status.DATA_DEPENDENT if data else Status.CONDITIONAL if found.open else Status.BOUNDED
    if found.open:
        cases.append(Case("fewer do", 0, high + found.more, None))
    whole = floor, high + found.more
    return answer(
        status,
        reason,
        ideal_per_request=None,
        per_request=whole,
        conditions=shapes.rest(cases, whole, found) if found.open or found.cases else (),
    )


def _open_answer(
    answer: Callable[..., SiteResult],
    without_figure: list[_Bounds],
    low: int,
    high: int,
    shapes: _Shapes,
    found: _Found,
) -> SiteResult:
    """What is said where requests of the first group have no figure: why, and a range where that says anything."""
    worst = next((bounds for bounds in without_figure if bounds.status == Status.DATA_DEPENDENT), without_figure[0])
    status = worst.status
    whole = shapes.around(*_hull(low, high, found))
    unresolved = {group for group, _ in found.bounded}
    if whole[0] == whole[1] and status == Status.DATA_DEPENDENT and not found.reasons and not found.unknowns:
        return answer(
            Status.INVARIANT,
            several(worst.reason, Reason(Kind.ADDRESSES_COST_ALIKE)),
            per_request=whole,
            ideal_per_request=whole if whole[0] == 1 else None,
        )
    narrow = status == Status.UNKNOWN and high <= 2 * low
    if narrow and (whole == (low, high) or not shapes.decides):
        status = Status.BOUNDED
    if status == Status.UNKNOWN and shapes.decides and (narrow or not unresolved >= set(found.ranges)):
        table = tuple(
            Case(name + (" (not resolved)" if name in unresolved else ""), *r.wavefronts, r.ideal_high)
            for name, r in found.ranges.items()
        )
        return answer(
            Status.CONDITIONAL,
            several(Reason(Kind.BY_SHAPE), worst.reason),
            per_request=whole,
            conditions=shapes.rest(table, whole, found),
        )
    return answer(status, worst.reason, per_request=None if status == Status.UNKNOWN else whole)


def _dependence(found: _Found) -> Reason | None:
    """The unknowns that multiply the lane, and why else a range remains."""
    return several(Reason(Kind.DEPENDS, unknowns=tuple(found.unknowns)) if found.unknowns else None, *found.reasons)


def _hull(low: int, high: int, found: _Found) -> tuple[int, int]:
    """What a request costs in any of the cases."""
    seen = [r.wavefronts for r in found.ranges.values() if r.low is not None]
    if found.wrapped is not None:
        seen.append((found.wrapped.low, found.wrapped.high))
    return min([low, *(few for few, _ in seen)]), max([high, *(many for _, many in seen)])


def _ways(found: _Found) -> int | None:
    """The most ways of any request, if all its lanes take part; None where one has no such figure."""
    return found.ways if found.ways > 0 and not found.bounded else None


def _mask_reason(undecided_by: list[_Undecided], kind: Kind = Kind.LANES) -> Reason:
    """What decides which lanes take part."""
    return Reason(kind, given=tuple(dict.fromkeys(reason for d in undecided_by for reason in d.reasons)))
