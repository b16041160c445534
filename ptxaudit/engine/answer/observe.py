"""Turns the observed requests of a site into an answer per request, if they were not counted by execution.

    address 4·lane + n          ->  invariant: 1 wavefront, whatever n is
    address 4·lane·pitch        ->  conditional on pitch: a table by pitch mod 32
    unknown lanes               ->  from the cost of one lane to the cost of all of them
    a loaded index              ->  data-dependent, with the range that the lanes allow

A request does not get more expensive when lanes leave it: by no rule of any machine do fewer words cost more. So the
full mask is an upper bound for every subset. Matrices are the exception, as inactive lanes may supply their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import BLOCK, REQUEST, Account
from ptxaudit.engine.answer.at_most import most_wavefronts
from ptxaudit.engine.answer.cases import Table, united
from ptxaudit.engine.answer.common import unaligned_by
from ptxaudit.engine.answer.conclusion import OTHER_BLOCKS, Bounds, Figures, Found, Shapes, Undecided, strongest
from ptxaudit.engine.answer.formula import formula
from ptxaudit.engine.answer.result import Case, SiteResult
from ptxaudit.engine.answer.scoring import base_cases
from ptxaudit.engine.answer.shape import Shape
from ptxaudit.engine.answer.tabulate import Counted, NoFigure, Observation, place_of, scored
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.lane_classes import one_by_one
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import EVERYWHERE, Uniform
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.reasons import Kind, Reason

CONCLUDING = "concluding from requests"
WRAPPED = "some lanes are gigabytes apart, as where an index of 32 bits wraps around between them"


class Seen(Record):
    """An observation in one group of rows, named by the block shape that the group represents."""

    group: str
    observation: Observation


class _Asked(Record):
    """What an answer depends on in one observation. Equal ones get equal answers."""

    group: str
    request: Bounds | Counted
    undecided_by: Undecided | None
    open: Reason | None = None  # why it is unknown which lanes of a generic access go to shared memory
    more: int = 0  # wavefronts that lanes which access other memory may add
    some_none: bool = False  # some requests access other memory in all lanes, at no cost in shared memory
    least: int | None = None  # lower bound if some lanes are active, if it is known which are together


class Conclusions:
    """The answers for the sites of one kernel.

    A loop that ptxas or the front end unrolled is many sites with the same query, up to what changes no answer. So
    each distinct request is scored once, and each distinct set of requests is answered once. (Queries are keyed by the
    identity of objects, which must outlive this.)
    """

    def __init__(self, machine: Machine, account: Account, function: Function):
        """account: pays for the scoring. function: contains the sites."""
        self.machine, self.account, self.function = machine, account, function
        self._answers: dict[tuple[Any, ...], SiteResult] = {}  # keyed by the observations, by identity
        self._concluded: dict[tuple[Any, ...], SiteResult] = {}  # keyed by what was asked, by its figures
        self._requests: dict[tuple[Any, ...], Counted] = {}
        self._lanes: dict[int, _Lanes] = {}
        self._undecided: dict[int, Undecided] = {}

    def conclude(
        self,
        index: int,
        access: Access,
        seen: list[Seen],
        shape: Shape = Shape.SPECIFIED,
        one_place: bool = False,
    ) -> SiteResult:
        """One answer for a site from all its abstract requests; those of the assumed group come first.

        shape: whether the block's shape is specified, and otherwise what it decides of the site.
        one_place: the code gives all lanes that make the access together one address. Raises Exhausted.
        """
        self.account.spend(BLOCK + len(seen), CONCLUDING)
        shift = self.machine.invariant_shift(access)  # an offset matters only modulo the shift
        question = (
            access,
            shape,
            one_place,
            tuple(
                [
                    (
                        s.group,
                        id(o.base),
                        o.offset % shift,
                        id(o.mask),
                        o.exact,
                        id(o.undecided_by),
                        id(o.located),
                        id(o.classes),
                        o.single,
                    )
                    for s in seen
                    for o in (s.observation,)
                ]
            ),
        )
        answer = self._answers.get(question)
        if answer is None:
            answer = self._conclusion(index, access, seen, shape, shift, one_place)
            answer = self._answers[question] = replace(answer, unaligned=_unaligned(access, seen))
        first = seen[0].observation if answer.formula else None
        return replace(
            answer, index=index, formula="" if first is None else formula(first.base, first.offset, self.function)
        )

    def _conclusion(
        self, index: int, access: Access, seen: list[Seen], shape: Shape, shift: int, one_place: bool
    ) -> SiteResult:
        self.account.spend(REQUEST * (1 + len(seen)), CONCLUDING)
        machine = self.machine
        seen = [_of_one_lane(s) if s.observation.single and access.address_lanes is None else s for s in seen]
        here = [s for s in seen if anywhere(s.observation.lanes) or not anywhere(s.observation.mask)]
        taking_part = [s for s in here if self._lanes_of(s.observation).some]
        if not taking_part:
            return _by_nobody(index, access, machine, seen, here, shape)
        asked, exact = [], True
        for s in taking_part:
            exact = exact and s.observation.exact
            asked.append(
                _Asked(
                    s.group,
                    self._request(access, s, shift, exact),
                    self._undecided_of(s.observation),
                    *_elsewhere(machine, access, s.observation),
                    None if s.observation.exact else self._of_some_classes(access, s, shift),
                )
            )
        wide = self._of_whole_warps(access, taking_part, shift, one_place) if shape is Shape.DECIDES_LANES else None
        question = access, shape, tuple(asked), len(here) < len(seen), wide
        if question not in self._concluded:
            found = _added_up(machine, access, asked, here[0].group, len(here) < len(seen))
            if any(isinstance(one.request, Counted) and one.request.wraps for one in asked):
                low, high = banks.bounds(machine, access, 1, LANES)
                found.wrapped = Case(WRAPPED, low, high, None)
                found.reasons.append(Reason(Kind.WRAPS))
            self._concluded[question] = strongest(
                index, access, machine, Shapes.of(machine, access, shape, wide), found
            )
        return self._concluded[question]

    def _of_whole_warps(self, access: Access, seen: list[Seen], shift: int, one_place: bool) -> int | None:
        """The most that a request costs, whichever of its lanes are active; None if an address leaves it open.

        The values seen in inactive lanes are not those that they would have if they were active.
        """
        most = 0
        for s in seen:
            o = s.observation
            if not o.base.uniform or not one_place and not throughout(o.mask):
                return None
            request = self._request(
                access, Seen(s.group, replace(o, mask=np.ones_like(o.mask), located=None)), shift, False
            )
            if not isinstance(request, Counted) or request.table is not None:
                return None
            most = max(most, request.record.totals().per_high or 0)
        return most

    def _of_some_classes(self, access: Access, s: Seen, shift: int) -> int | None:
        """The least that a request costs if whole classes of lanes are active: that of the cheapest class; None if any
        lane may be active alone. (For a copy whose wavefronts no counter sees, the least k.)
        """
        o = s.observation
        if o.classes is None or o.located is not None or access.address_lanes is not None:
            return None
        least: list[int | None] = []
        for mask in one_by_one(o.mask, o.classes):
            request = self._request(access, Seen(s.group, replace(o, mask=mask, classes=None)), shift, False)
            if not isinstance(request, Counted) or request.table is not None or request.wraps:
                return None
            totals = request.record.totals()
            least.append(totals.line_class_each if totals.uncounted else totals.per_low)
        return min((one for one in least if one is not None), default=None) if None not in least else None

    def _lanes_of(self, o: Observation) -> _Lanes:
        """The lanes that may be active in shared memory."""
        lanes = self._lanes.get(id(o.lanes))
        if lanes is None:
            lanes = self._lanes[id(o.lanes)] = _Lanes(o.lanes)
        return lanes

    def _undecided_of(self, o: Observation) -> Undecided | None:
        """Why lanes may be inactive; None if all are active."""
        if o.exact:
            return None
        undecided_by = self._undecided.get(id(o.undecided_by))
        if undecided_by is None:
            every = o.undecided_by or (Reason(Kind.BRANCHES),)
            undecided_by = self._undecided[id(o.undecided_by)] = Undecided(
                tuple(dict.fromkeys(every)), any(d.data for d in every)
            )
        return undecided_by

    def _request(self, access: Access, s: Seen, shift: int, exact: bool) -> Bounds | Counted:
        """The figures of an observation, or why it has none.

        exact: all lanes of this observation and of those before it are certainly active.
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
            elsewhere = o.space in ("generic", "shared::cluster")  # lanes may access other memory
            return Bounds(none.reason, none.status, 0 if elsewhere else low, high)
        undecided = request.record.undecided
        if undecided is not None and request.record.faults:
            return Bounds(undecided, Status.UNKNOWN, *banks.bounds(self.machine, access, 1, lanes.most))
        return request


def _of_one_lane(s: Seen) -> Seen:
    """Reduces a request of at most one lane to the first that may be active, as any single lane costs the same."""
    o = s.observation
    first = np.zeros_like(o.mask)
    np.put_along_axis(first, o.mask.argmax(axis=1)[:, None], True, axis=1)
    return s if o.located is not None else replace(s, observation=replace(o, mask=o.mask & first, classes=None))


def _by_nobody(
    index: int, access: Access, machine: Machine, seen: list[Seen], here: list[Seen], shape: Shape
) -> SiteResult:
    """The answer if no lane is active in shared memory.

    here: the observations with a lane that may go there, or with no lane at all.
    """
    evidence = machine.evidence(access)
    never = bool(seen) and all(s.observation.located is not None and s.observation.located.never for s in seen)
    if seen and not here and (never or not shape.decides):
        answer = SiteResult(index, Status.INVARIANT, never_there(access), per_request=(0, 0), ideal_per_request=(0, 0))
        return replace(answer, ways=0, evidence=evidence)
    if shape.decides:  # the shapes tried do not represent all others
        most = banks.bounds(machine, access, 1, LANES)[1]
        return SiteResult(
            index,
            Status.CONDITIONAL,
            Reason(Kind.NO_SHAPE_REACHES),
            per_request=(0, most),
            evidence=evidence,
            conditions=(Case("the block's shape is one of those taken here", 0, 0, 0), Case(OTHER_BLOCKS, 0, most)),
        )
    if not here:
        return SiteResult(index, Status.UNREACHED, Reason(Kind.NO_LANE), evidence=evidence)
    reason = Reason(Kind.NO_LANE_TAKES_PART)
    return SiteResult(index, Status.INVARIANT, reason, per_request=(0, 0), ideal_per_request=(0, 0))


class _Lanes:
    """A mask of lanes that may be active.

    code: its bytes; some: any lane is set; fewest, most: lanes in a row that has any.
    """

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
    """Why a generic access costs nothing in the memory under analysis."""
    return Reason(Kind.NEVER_SHARED) if access.space == "shared" else Reason(Kind.NEVER_THERE, given=(access.space,))


def _added_up(machine: Machine, access: Access, asked: list[_Asked], main: str, some_none: bool) -> Found:
    """Combines the requests of a site.

    main: the group whose figures are listed by the place of the array. some_none: other requests access other memory.
    """
    found = Found(some_none=some_none)
    for one in asked:
        found.open += [one.open] if one.open is not None else []
        found.more, found.some_none = max(found.more, one.more), found.some_none or one.some_none
        if one.undecided_by is not None:
            found.inexact.append(one.undecided_by)
            found.least.append(one.least)
        here = found.ranges.setdefault(one.group, Figures())
        request = one.request
        if isinstance(request, Bounds):
            found.bounded.append((one.group, request))
            here.put(request.low, request.high, None, None)
            found.patterns.setdefault(one.group, set()).add("?")
            found.every = False
            continue
        requests = request.record
        t = requests.totals()
        found.record = found.record or requests
        _put_common(found, one, request)
        found.uncounted = found.uncounted or t.uncounted
        found.patterns.setdefault(one.group, set()).update(k[:2] for k in requests.scored)
        of_lines = (t.line_class_each, t.line_class_max) if t.uncounted else (None, None)
        here.put(t.per_low, t.per_high, t.ideal_low, t.ideal_high, *of_lines)
        if one.group == main:
            found.ways = -1 if t.ways < 0 or found.ways < 0 else max(found.ways, t.ways)
        if request.table is not None and request.table.unknown not in found.unknowns:
            found.unknowns.append(request.table.unknown)
        if requests.loose is not None and requests.loose not in found.reasons:
            found.reasons.append(requests.loose)
    for group in found.ranges:
        found.cases += _cases(machine, access, [one for one in asked if one.group == group], group == main)
    return found


def _cases(machine: Machine, access: Access, asked: list[_Asked], main: bool) -> Iterator[Case]:
    """The cases of a group of rows, each of which holds for all of its requests; none if one has no figure.

    main: the figures are listed by the place of the array, too.
    """
    counted = [one.request for one in asked if isinstance(one.request, Counted)]
    by_place = main and any(request.record.by_place for request in counted)
    if len(counted) < len(asked) or not (by_place or any(request.table for request in counted)):
        return
    one_lane, widest = (banks.bounds(machine, access, 1, lanes) for lanes in (1, LANES))
    fewer = []  # the cost of a request in which lanes are inactive
    for least in [one.least for one in asked if one.undecided_by is not None]:
        low = one_lane[0] if least is None else max(least, one_lane[0])
        fewer.append((low, low if access.address_lanes is None else widest[1]))  # a matrix may cost more
    tables: dict[Uniform, list[Table]] = {}
    for request in counted:
        if request.table is not None:
            tables.setdefault(request.table.unknown, []).append(request.table)
    for unknown, own in tables.items():
        table = united(own)
        for request in counted:
            t = request.record.totals()
            if (request.table is None or request.table.unknown != unknown) and t.per_low is not None:
                ideal = t.ideal_low if t.ideal_low == t.ideal_high else None
                table = table.widened((t.per_low, t.per_high or t.per_low, ideal))
        for low, high in fewer:
            table = table.widened((low, high, None))
        yield from table.cases()
    if by_place:
        kinds = [figures for request in counted for figures in request.record.by_base.values()]
        kinds += [{0: [low, high, *one_lane]} for low, high in fewer]
        yield from base_cases(machine.invariant_shift(access), kinds)


def _put_common(found: Found, one: _Asked, request: Counted) -> None:
    """Adds what the requests of an observation have in common to what those before it have."""
    common = request.record.common()
    if common is None or request.table is not None or request.wraps:  # its lanes are at other distances, too
        found.every = False
        return
    if one.undecided_by is not None:  # the lanes that are active may be adjacent, and begin at another address
        common = replace(common, adjacent=common.adjacent or None, split=None)
    if request.choices and not common.apart:  # it makes one of these requests, not each
        common = replace(common, adjacent=common.adjacent or None)
    if request.choices:
        common = replace(common, split=common.split and None)
    found.common = common if found.common is None else found.common.united(common)


def _elsewhere(machine: Machine, access: Access, o: Observation) -> tuple[Reason | None, int, bool]:
    """Of a generic access: why it is unknown whether lanes go to shared memory; the wavefronts that lanes which access
    other memory may add to a request; whether there are requests without a lane in shared memory.
    """
    if o.located is None:
        return None, 0, False
    if o.others is None:
        return o.located.why, 0, False
    some: np.ndarray = np.logical_or.reduce(o.lanes, axis=1)
    more = banks.passes(machine, access, o.others & some[:, None])
    return o.located.why, int(more.max(initial=0)), anywhere(o.others.any(axis=1) & ~some)


def _unaligned(access: Access, seen: list[Seen]) -> tuple[str, ...] | None:
    """The unknowns whose step is not a multiple of the access's alignment, except places of arrays.

    None if an address is unknown.
    """
    names: dict[str, None] = {}
    for o in (s.observation for s in seen):
        value = o.base
        if value.poison is not None and (value.poison is EVERYWHERE or anywhere(value.poison & o.mask)):
            return None
        if value.valid is not None and 1 << value.valid < access.align:
            return None
        names |= dict.fromkeys(unaligned_by(value.terms, access.align))
    return tuple(names)
