"""The strongest answer that the combined requests of a site (`Found`) allow.

Figures in all groups of rows: exact or invariant; figures by case: conditional; else a range, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache, partial

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.answer.result import Case, Common, SiteResult
from ptxaudit.engine.answer.scoring import rule_range
from ptxaudit.engine.answer.shape import Shape
from ptxaudit.engine.answer.totals import most
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Uniform, least
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.reasons import Kind, Reason, several

OWN_FORMULA = "each site's own"
OTHER_BLOCKS = "any other block, or one whose last warp has fewer lanes"  # the case of shapes that were not tried

Answer = Callable[..., SiteResult]  # SiteResult with its first fields given


class Figures(Struct, eq=False):
    """Figures per request of one group of rows: wavefronts, the ideal, and the lines of a copy that no counter sees."""

    low: int | None = None
    high: int | None = None
    ideal_low: int | None = None
    ideal_high: int | None = None
    lines_low: int | None = None
    lines_high: int | None = None

    @property
    def wavefronts(self) -> tuple[int, int]:
        """The least and the most wavefronts, of requests that a counter sees."""
        assert self.low is not None and self.high is not None
        return self.low, self.high

    @property
    def ideal(self) -> int | None:
        """The ideal of a request; None if it is not known, or requests differ in it."""
        return self.ideal_low if self.ideal_low == self.ideal_high else None

    def put(
        self,
        low: int | None,
        high: int | None,
        ideal_low: int | None,
        ideal_high: int | None,
        lines_low: int | None = None,
        lines_high: int | None = None,
    ) -> None:
        """Widens the figures by those of another request; None: it has no such figure."""
        self.low, self.high = least(self.low, low), most(self.high, high)
        self.ideal_low, self.ideal_high = least(self.ideal_low, ideal_low), most(self.ideal_high, ideal_high)
        self.lines_low, self.lines_high = least(self.lines_low, lines_low), most(self.lines_high, lines_high)


class Undecided(Record):
    """Why lanes that may be active may be inactive. data: one of the reasons is loaded data."""

    reasons: tuple[Reason, ...]
    data: bool


class Bounds(Record):
    """A request without a figure: the range that its lanes allow, and the reason."""

    reason: Reason
    status: Status
    low: int
    high: int


class Found(Struct, eq=False):
    """The combined observations of a site."""

    ranges: dict[str, Figures] = field(default_factory=dict)  # group -> figures
    cases: list[Case] = field(default_factory=list)
    unknowns: list[Uniform] = field(default_factory=list)  # those that multiply the lane
    reasons: list[Reason] = field(default_factory=list)
    bounded: list[tuple[str, Bounds]] = field(default_factory=list)  # by group
    inexact: list[Undecided] = field(default_factory=list)
    least: list[int | None] = field(default_factory=list)  # per entry of `inexact`: as in `observe._Asked`
    patterns: dict[str, set[Hashable]] = field(default_factory=dict)  # group -> distinct requests
    ways: int = 0  # the most ways of any lane group in the main group's requests; -1: one has no such figure
    uncounted: bool = False
    record: SiteRecord | None = None
    common: Common | None = None  # of all requests with figures
    every: bool = True  # these are all requests, whatever the unknowns are
    open: list[Reason] = field(default_factory=list)  # why it is unknown whether lanes go to shared memory
    more: int = 0  # wavefronts that lanes which access other memory may add
    some_none: bool = False  # some requests access only other memory
    wrapped: Case | None = None  # of requests whose lanes a 32-bit index may bring gigabytes apart

    def fewest(self, one_lane: int) -> int:
        """The least that a request with unknown lanes costs. one_lane: the cost of a request of one lane."""
        return min((one_lane if least is None else max(least, one_lane) for least in self.least), default=one_lane)


class Shapes(Record):
    """What an unspecified block shape leaves open of a request.

    decides: it decides more than the lanes of a block's last warp; low, high: of any request under any shape, None if
    the shapes tried determine them; ideals: the same for its ideal.
    """

    decides: bool
    low: int | None
    high: int | None
    ideals: tuple[int, int] | None

    @classmethod
    def of(cls, machine: Machine, access: Access, shape: Shape, wide: int | None) -> Shapes:
        """wide: the most that a request costs if the shape decides only its lanes; None: unknown."""
        if (
            shape is Shape.SPECIFIED or shape is Shape.DECIDES_NOTHING and access.address_lanes is not None
        ):  # all lanes make that access
            return cls(False, None, None, None)
        low, most = banks.bounds(machine, access, 1, LANES)
        high = None if shape is Shape.DECIDES_NOTHING else most if wide is None else wide
        return cls(shape.decides, low, high, (low, _widest_ideal(machine, access)))

    def rest(self, cases: Iterable[Case], whole: tuple[int, int], found: Found) -> tuple[Case, ...]:
        """The observed cases, that of lanes gigabytes apart, and that of all other blocks if they may cost more or
        less.
        """
        cases = tuple(cases)
        if self.low is not None and any((case.low, case.high) != whole for case in cases):
            cases = *cases, Case(OTHER_BLOCKS, *whole, None)
        return cases if found.wrapped is None else (*cases, found.wrapped)

    def around(self, low: int, high: int) -> tuple[int, int]:
        """An observed range, widened by what other shapes may cost."""
        return low if self.low is None else min(low, self.low), high if self.high is None else max(high, self.high)


@lru_cache(1 << 8)
def _widest_ideal(machine: Machine, access: Access) -> int:
    """The ideal of a request without merged lanes: adjacent addresses."""
    lanes = np.arange(machine.lanes)[None, :]
    scores = banks.score(machine, access, lanes * (access.width or 1), np.ones((1, machine.lanes), bool), None)
    return int(scores.ideal[0])


def strongest(index: int, access: Access, machine: Machine, shapes: Shapes, found: Found) -> SiteResult:
    """The strongest answer that these requests allow; each case applies if those before it do not."""
    first, main = next(iter(found.ranges.items()))
    one_lane = banks.bounds(machine, access, 1, 1)[0]
    groups = tuple(found.ranges) if shapes.decides else (first,)
    answer = _answering(index, access, machine, shapes, found, groups)
    if found.uncounted:
        return _of_lines(answer, groups, shapes, found)
    low, high = main.wavefronts
    if found.inexact:
        low = min(low, found.fewest(one_lane))
        if access.address_lanes is not None:  # a matrix with inactive lanes is a range of its own
            high = max(high, banks.bounds(machine, access, 1, LANES)[1])
    if found.open or found.more or found.some_none:
        return _partly_elsewhere(answer, access, machine, low, high, shapes, found)
    without_figure = [bounds for group, bounds in found.bounded if group == first]
    if without_figure:
        return _open_answer(answer, without_figure, low, high, shapes, found)
    whole = shapes.around(*_hull(low, high, found))
    masks = _mask_reason(found.inexact) if found.inexact else None
    same = whole[0] == whole[1] and found.wrapped is None and not found.reasons
    if found.cases and not same:
        return answer(
            Status.DATA_DEPENDENT if any(d.data for d in found.inexact) else Status.CONDITIONAL,
            several(_dependence(found), masks),
            per_request=whole,
            conditions=shapes.rest(found.cases, whole, found),
        )
    if same and (found.cases or not found.unknowns):
        note = _mask_reason(found.inexact, Kind.LANES_COST_ALIKE) if found.inexact else None
        return answer(Status.INVARIANT, note, per_request=whole, ways=None if found.unknowns else _ways(found))
    if shapes.decides and (
        len(found.ranges) == 1
        or whole != (low, high)
        or any(p != found.patterns[first] for p in found.patterns.values())
    ):
        table = tuple(_of_group(name, r, low, found) for name, r in found.ranges.items())
        reason = several(Reason(Kind.BY_SHAPE), *found.reasons, masks)
        return answer(Status.CONDITIONAL, reason, per_request=whole, conditions=shapes.rest(table, whole, found))
    return _by_lanes(answer, access, machine, (low, high), whole, shapes, found)


def _of_group(name: str, figures: Figures, low: int, found: Found) -> Case:
    """The case of a group of rows. low: the least that any request costs, also with fewer lanes."""
    if not found.inexact:
        return Case(name, *figures.wavefronts, figures.ideal)
    return Case(name, min(low, figures.wavefronts[0]), figures.wavefronts[1], None)


def _answering(
    index: int, access: Access, machine: Machine, shapes: Shapes, found: Found, groups: tuple[str, ...]
) -> partial[SiteResult]:
    """An answer without its status and the wavefronts of a request."""
    record = found.record
    one_lane = banks.bounds(machine, access, 1, 1)[0]
    ideals = None
    if not {group for group, _ in found.bounded}.intersection(groups):
        ideals = _ideals([found.ranges[g] for g in groups], one_lane if found.inexact else None, shapes)
    if ideals is not None and found.wrapped is not None:
        ideals = min(ideals[0], one_lane), max(ideals[1], _widest_ideal(machine, access))
    return partial(
        SiteResult,
        index,
        formula=OWN_FORMULA,
        patterns=record.patterns() if record is not None else (),
        distinct=len(record.scored) if record is not None else 0,
        common=_common(found, shapes),
        ideal_per_request=ideals,
        evidence=record.evidence if record is not None else machine.evidence(access),
    )


def _common(found: Found, shapes: Shapes) -> Common | None:
    """What the requests have in common, under all shapes of a block."""
    common = found.common
    if common is not None and shapes.low is not None:
        # with fewer lanes, another address may be the lowest; with fewer warps, the others may not be there
        adjacent = common.adjacent or (False if common.apart and found.every else None)
        common = replace(common, split=None, adjacent=adjacent)
    if common is None or found.every and not shapes.decides:
        return common
    return replace(common, complete=False)


def _by_lanes(
    answer: Answer,
    access: Access,
    machine: Machine,
    each: tuple[int, int],
    whole: tuple[int, int],
    shapes: Shapes,
    found: Found,
) -> SiteResult:
    """A range by the lanes that are active, or one that no case explains.

    each: wavefronts of a request in the first group; whole: of any request.
    """
    main = next(iter(found.ranges.values()))
    masks = _mask_reason(found.inexact) if found.inexact else None
    all_do = Case("all lanes that can take part do", *main.wavefronts, main.ideal)
    fewer = Case("fewer lanes do", *each, None)
    if found.wrapped is not None:
        near = [all_do, fewer] if found.inexact else [all_do]
        return answer(
            Status.CONDITIONAL,
            several(*found.reasons, masks),
            per_request=whole,
            conditions=shapes.rest(near, whole, found),
        )
    if found.inexact:
        data = any(d.data for d in found.inexact)
        return answer(
            Status.DATA_DEPENDENT if data else Status.CONDITIONAL,
            masks,
            per_request=whole,
            conditions=shapes.rest((all_do, fewer), whole, found),
        )
    if each[0] == each[1] and not found.reasons and not found.unknowns:
        cases = (
            Case("all lanes of a warp exist", *main.wavefronts, main.ideal),
            Case("the block's last warp has fewer", *whole, None),
        )
        return answer(Status.CONDITIONAL, Reason(Kind.BY_LAST_WARP), per_request=whole, conditions=cases)
    reason = _dependence(found) or rule_range(machine, access) or Reason(Kind.REQUESTS_DIFFER)
    return answer(Status.BOUNDED, reason, per_request=whole, ways=_ways(found))


def _ideals(ranges: list[Figures], one_lane: int | None, shapes: Shapes) -> tuple[int, int] | None:
    """The least and the greatest ideal of a request.

    one_lane: the ideal of a request with one lane, if lanes may be inactive: with fewer lanes, more may be merged.
    """
    lows = [r.ideal_low for r in ranges if r.ideal_low is not None]
    highs = [r.ideal_high for r in ranges if r.ideal_high is not None]
    if len(lows) < len(ranges) or len(highs) < len(ranges):
        return None
    low, high = min(lows), max(highs)
    if shapes.ideals is not None:
        low, high = min(low, shapes.ideals[0]), max(high, shapes.ideals[1]) if shapes.high is not None else high
    return low if one_lane is None else min(low, one_lane), high


def _of_lines(answer: Answer, groups: tuple[str, ...], shapes: Shapes, found: Found) -> SiteResult:
    """The answer for cp.async.cg: an upper bound of k, and a lower bound that some request reaches.

    It has neither if any of the requests has no figure.
    """
    without = [bounds for group, bounds in found.bounded if group in groups]
    reason = several(Reason(Kind.COPY_LINE_CLASS), _dependence(found), *(bounds.reason for bounds in without[:1]))
    if without:
        return answer(Status.BOUNDED, reason)
    cases = [Case(g, r.lines_low or 0, r.lines_high or 0, 1) for g, r in found.ranges.items() if g in groups]
    low, high = min(case.low for case in cases), max(case.high for case in cases)
    least = min(low, found.fewest(1)) if found.inexact else low
    if shapes.decides:
        rest = Case(OTHER_BLOCKS, 1, LANES)
        return answer(
            Status.CONDITIONAL,
            several(reason, Reason(Kind.BY_SHAPE)),
            line_class_max=LANES,
            conditions=(*cases, rest),
        )
    same = least == high and found.wrapped is None and not found.reasons and not found.unknowns
    status = Status.INVARIANT if same else Status.BOUNDED
    if shapes.low is None or least <= 1:  # one lane takes one step
        return answer(status, reason, line_class_max=high, line_class_proved=least)
    fewer = Case("all lanes of a warp exist", least, high, 1), Case("the block's last warp has fewer", 1, high, 1)
    return answer(
        Status.CONDITIONAL if same else status,
        several(reason, Reason(Kind.BY_LAST_WARP)),
        line_class_max=high,
        line_class_proved=1,
        conditions=fewer if same else (),
    )


def _partly_elsewhere(
    answer: Callable[..., SiteResult],
    access: Access,
    machine: Machine,
    low: int | None,
    high: int | None,
    shapes: Shapes,
    found: Found,
) -> SiteResult:
    """The answer for a generic access some of whose lanes may access other memory: never one figure for all
    requests.
    """
    first, main = next(iter(found.ranges.items()))
    if low is None or high is None or any(group == first for group, _ in found.bounded):
        low, high = 0, banks.bounds(machine, access, 1, LANES)[1]
    cases = [
        Case(
            f"all lanes that may go to {access.space} memory do{', ' + case.when if case.when else ''}",
            0 if found.some_none else case.low,
            case.high + found.more,
            None if found.some_none or found.more else case.ideal,
        )
        for case in found.cases or [Case("", low, high, None if found.inexact else main.ideal)]
    ]
    reason = several(
        *found.open,
        Reason(Kind.SOME_ELSEWHERE) if found.some_none else None,
        Reason(Kind.MIXED_SPACES) if found.more else None,
        *found.reasons,
        _mask_reason(found.inexact) if found.inexact else None,
    )
    low, high = shapes.around(*_hull(low, high, found))
    fewer = bool(found.inexact) or shapes.low is not None  # of lanes that may be away, all may go elsewhere
    floor = 0 if found.open or found.some_none or shapes.high is not None or found.more and fewer else low
    data = any(unknown.data for unknown in found.open)
    status = Status.DATA_DEPENDENT if data else Status.CONDITIONAL if found.open else Status.BOUNDED
    if found.open or found.more and found.inexact:
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
    without_figure: list[Bounds],
    low: int,
    high: int,
    shapes: Shapes,
    found: Found,
) -> SiteResult:
    """The answer if requests of the first group have no figure: the reason, and a range if it says anything."""
    worst = next((bounds for bounds in without_figure if bounds.status == Status.DATA_DEPENDENT), without_figure[0])
    status = worst.status
    whole = shapes.around(*_hull(low, high, found))
    unresolved = {group for group, _ in found.bounded}
    faults = any(bounds.reason.of_kind(Kind.MISALIGNED, Kind.MAY_FAULT) for bounds in without_figure)
    if whole[0] == whole[1] and not faults and not found.reasons and not found.unknowns:
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
            _of_group(name + (" (not resolved)" if name in unresolved else ""), r, low, found)
            for name, r in found.ranges.items()
        )
        return answer(
            Status.CONDITIONAL,
            several(Reason(Kind.BY_SHAPE), worst.reason),
            per_request=whole,
            conditions=shapes.rest(table, whole, found),
        )
    return answer(status, worst.reason, per_request=None if status == Status.UNKNOWN else whole)


def _dependence(found: Found) -> Reason | None:
    """The unknowns that multiply the lane, and the other reasons for a range."""
    return several(Reason(Kind.DEPENDS, unknowns=tuple(found.unknowns)) if found.unknowns else None, *found.reasons)


def _hull(low: int, high: int, found: Found) -> tuple[int, int]:
    """The range of a request's cost over all cases."""
    seen = [r.wavefronts for r in found.ranges.values() if r.low is not None]
    if found.wrapped is not None:
        seen.append((found.wrapped.low, found.wrapped.high))
    return min([low, *(few for few, _ in seen)]), max([high, *(many for _, many in seen)])


def _ways(found: Found) -> int | None:
    """The most ways of any request, if all its lanes are active; None if one has no such figure."""
    return found.ways if found.ways > 0 and not found.bounded else None


def _mask_reason(undecided_by: list[Undecided], kind: Kind = Kind.LANES) -> Reason:
    """What decides which lanes are active."""
    return Reason(kind, given=tuple(dict.fromkeys(reason for d in undecided_by for reason in d.reasons)))
