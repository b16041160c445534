"""Judges one site, or the sites into which the same work was cut: worse, better, the same, or undecided.

    exact, 32 wavefronts    ->  exact, 64 wavefronts, less excess        worse: the cost rose
    exact, 32 wavefronts    ->  bounded, 16 to 64                        status-changed
    LDS ×4, 4 wavefronts    ->  LDS.128, 4 wavefronts                    widened

The cost decides: first wavefronts (for global and local memory sectors), then excess, their share caused by
conflicts; for cp.async.cg, whose wavefronts no counter covers, line classes. Sums over the launch are compared if both
launches are the same, single requests otherwise. Intervals count if they do not overlap, or if a range of the same
status moved. `status-changed` is what no figure decides: an exact figure that became a range around it, an unknown,
other cases within the same range, or other figures of the block shapes that are tried where none is specified.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from ptxaudit.base.places import base_name
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.report.model import AnySite, Site, Span
from ptxaudit.review.diff.sitematch import signature
from ptxaudit.review.figures import above_ideal, of_tried_shapes, total_above_ideal

Interval = tuple[int, int]


class Verdict(StrEnum):
    """The change of a site, worst first. The last four cost the same as before."""

    WORSE = "worse"
    NEW = "new"
    STATUS_CHANGED = "status-changed"
    GONE = "gone"
    BETTER = "better"
    NARROWED = "narrowed"  # more, narrower accesses: a v4 that became four scalars
    WIDENED = "widened"
    MOVED = "moved"  # on another line, or in another file
    SAME = "same"


QUIET = frozenset((Verdict.SAME, Verdict.MOVED))


class Change(Record, dict=True):
    """One site, or the sites into which the same work was cut; () on a side without a counterpart."""

    verdict: Verdict
    olds: tuple[AnySite, ...]
    news: tuple[AnySite, ...]

    @cached_property
    def old(self) -> AnySite | None:
        return together(self.olds)

    @cached_property
    def new(self) -> AnySite | None:
        return together(self.news)

    @property
    def site(self) -> AnySite:
        site = self.new or self.old
        assert site is not None
        return site

    @cached_property
    def impact(self) -> int:
        """The increase in wavefronts or sectors, negative for a decrease: over the launch if both are known, else of
        one request each, by their lower bounds; where no counter covers wavefronts, in line classes."""
        olds, news = (_cost(self.old, self.new), _cost(self.new, self.old))
        return news - olds

    @property
    def moved(self) -> bool:
        """The same site on another line, or in a file with another name."""
        return bool(self.olds and self.news) and _moved(self.olds[0], self.news[0])

    @property
    def width(self) -> Verdict | None:
        """WIDENED or NARROWED if the accesses are wider or narrower than before, whatever they cost."""
        return _width_change(self.olds, self.news)


def verdict_of(olds: tuple[AnySite, ...], news: tuple[AnySite, ...], same_launch: bool) -> Verdict:
    """Compares the sites of both sides, by their sums if there are several."""
    before, after = together(olds), together(news)
    if before is None or after is None:
        return Verdict.NEW if before is None else Verdict.GONE
    copies = (
        len(olds) != len(news)
        and before.active_requests is None
        and len({signature(site) for site in (*olds, *news)}) == 1
    )
    verdict = Verdict.SAME if copies else judge(before, after, same_launch)
    if verdict is not Verdict.SAME:
        return verdict
    return _width_change(olds, news) or (Verdict.MOVED if _moved(olds[0], news[0]) else Verdict.SAME)


_SUMS = ("requests", "active_requests", "wavefronts", "ideal", "excess", "lines", "lines_proved", "lines_ideal")
_SECTORS = ("sectors", "sectors_ideal", "sectors_excess", "tag_requests", "bytes_moved", "bytes_used")
_MEMORY_SUMS = ("requests", "active_requests", *_SECTORS)
_LARGEST = ("ways", "line_class_max", "line_class_proved")
_SPANS = ("per_request", "ideal_per_request", "excess_per_request")
_SUREST_FIRST = (
    Status.UNREACHED,
    Status.EXACT,
    Status.INVARIANT,
    Status.CONDITIONAL,
    Status.BOUNDED,
    Status.DATA_DEPENDENT,
    Status.UNKNOWN,
)


def together(sites: tuple[AnySite, ...]) -> AnySite | None:
    """Several sites as one: sums, the largest ways, the least sure status; other fields are those of the first site.
    None for ()."""
    if len(sites) < 2:
        return sites[0] if sites else None
    shared = isinstance(sites[0], Site)
    sums, largest = (_SUMS, _LARGEST) if shared else (_MEMORY_SUMS, ("same_address",))
    figures: dict[str, Any] = {name: _sum([_settled(site, name) for site in sites]) for name in sums}
    for name in _SPANS:
        low = _sum([span and span.low for span in (getattr(site, name) for site in sites)])
        high = _sum([span and span.high for span in (getattr(site, name) for site in sites)])
        figures[name] = None if low is None or high is None else Span(low, high)
    bounds = [paid_of(site) for site in sites]
    low, high = _sum([one and one[0] for one in bounds]), _sum([one and one[1] for one in bounds])
    known_sum = figures["wavefronts" if shared else "sectors"] is not None
    figures["bounds"] = (low, high) if not known_sum and low is not None and high is not None else None
    for name in largest:
        known = [getattr(site, name) for site in sites]
        figures[name] = None if None in known else max(known)
    status = max((site.status for site in sites), key=_SUREST_FIRST.index)
    first = next(site for site in sites if site.status is status)
    tried = next((site.why for site in sites if of_tried_shapes(site)), None)
    return replace(
        sites[0],
        **figures,
        status=status,
        reason=first.reason,
        reason_kind=first.reason_kind,
        why=first.why if tried is None else tried,
        conditions=(),
        cases=(),
        trips=(),
    )


def _settled(site: AnySite, name: str) -> int | None:
    return 0 if site.status is Status.UNREACHED else getattr(site, name)


def _sum(values: list[int | None]) -> int | None:
    return None if any(value is None for value in values) else sum(value for value in values if value is not None)


def _moved(old: AnySite, new: AnySite) -> bool:
    a, b = old.source, new.source
    return a is not None and b is not None and (a.line != b.line or base_name(a.file) != base_name(b.file))


def _width_change(olds: tuple[AnySite, ...], news: tuple[AnySite, ...]) -> Verdict | None:
    widths = [_sum([site.width for site in sites]) for sites in (olds, news)]
    if not olds or not news or widths[0] is None or widths[1] is None:
        return None
    before, after = widths[0] * len(news), widths[1] * len(olds)  # mean widths, over a common denominator
    return Verdict.NARROWED if after < before else Verdict.WIDENED if after > before else None


def judge(old: AnySite, new: AnySite, same_launch: bool) -> Verdict:
    """Compares the figures of one site: first wavefronts, then excess."""
    changed = old.status is not new.status
    undecided = Verdict.STATUS_CHANGED if changed else Verdict.SAME
    tried = of_tried_shapes(old) or of_tried_shapes(new)
    for before, after in _figures(old, new, same_launch):
        if before == after:
            continue
        if tried:
            return Verdict.STATUS_CHANGED
        if after[0] > before[1]:
            return Verdict.WORSE
        if after[1] < before[0]:
            return Verdict.BETTER
        if changed or (before[0] == before[1]) is not (after[0] == after[1]):
            return Verdict.STATUS_CHANGED
        if after[0] >= before[0] and after[1] >= before[1]:
            return Verdict.WORSE
        if after[0] <= before[0] and after[1] <= before[1]:
            return Verdict.BETTER
        return Verdict.STATUS_CHANGED  # a range that grew or shrank at both ends
    if old.conditions and new.conditions and set(old.conditions) != set(new.conditions):
        return Verdict.STATUS_CHANGED  # by which numbers it costs what, within the same range
    if same_launch and old.cases and new.cases and _costs(old) != _costs(new):
        return Verdict.STATUS_CHANGED
    return undecided


def _costs(site: AnySite) -> set[tuple[int | None, int, int, int | None]]:
    """The figures of its cases. What decides them may have other words after a rebuild."""
    return {(case.requests, case.low, case.high, case.ideal) for case in site.cases}


def _figures(old: AnySite, new: AnySite, same_launch: bool) -> Iterator[tuple[Interval, Interval]]:
    """Wavefronts, then excess of both, over the launch if both know it, else per request; then the lines of
    cp.async.cg."""
    for of_launch, of_request in ((paid_of, "per_request"), (excess_of, "excess_per_request")):
        before, after = of_launch(old), of_launch(new)
        if same_launch and before is not None and after is not None:
            yield before, after
            continue
        spans = getattr(old, of_request), getattr(new, of_request)
        if spans[0] is not None and spans[1] is not None:
            yield (spans[0].low, spans[0].high), (spans[1].low, spans[1].high)
    lines = _lines(old, same_launch), _lines(new, same_launch)
    if same_launch and None in lines:
        lines = _lines(old, False), _lines(new, False)
    if lines[0] is not None and lines[1] is not None:
        yield lines[0], lines[1]


def _lines(site: AnySite, of_launch: bool) -> Interval | None:
    """Of cp.async.cg: the line classes, summed over the launch or those of the largest request; None for other
    accesses, and where there is no upper bound."""
    if not isinstance(site, Site) or site.status is Status.UNREACHED:
        return (0, 0) if isinstance(site, Site) else None
    low, high = (site.lines_proved, site.lines) if of_launch else (site.line_class_proved, site.line_class_max)
    return None if high is None else (low or 0, high)


def excess_of(site: AnySite) -> Interval | None:
    """Excess over the launch, as bounds if it is not exact."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.wasted is not None:
        return (site.wasted, site.wasted)
    if site.bounds is not None and site.needed is not None:
        return (max(0, site.bounds[0] - site.needed), max(0, site.bounds[1] - site.needed))
    return site.excess_by_case


def paid_of(site: AnySite) -> Interval | None:
    """Wavefronts or sectors over the launch, as bounds if they are not exact."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.paid is not None:
        return (site.paid, site.paid)
    return site.bounds


def surely_conflicts(site: AnySite) -> bool:
    """It is proved that some request costs more than its ideal."""
    return above_ideal(site)[0] > 0 or total_above_ideal(site)[0] > 0


def _cost(site: AnySite | None, other: AnySite | None) -> int:
    """The lower bound of a site's wavefronts, over the launch if the other site's are known there as well; where no
    counter covers them, of the line classes of a request."""
    if site is None or site.status is Status.UNREACHED:
        return 0
    if (whole := paid_of(site)) is not None and (other is None or paid_of(other) is not None):
        return whole[0]
    if site.per_request is not None:
        return site.per_request.low
    return (site.line_class_proved or 0) if isinstance(site, Site) else 0
