"""A site's cost as intervals, and how they compare with a limit: violated, satisfied, or not judged.

    exact, excess 992 over 32 requests   ->  excess_of_request (31, 31), total_excess (992, 992)
    bounded, 1 to 8 wavefronts, ideal 1  ->  excess_of_request (0, 7)
    unknown                              ->  excess_of_request (0, None)

    against((0, 7), 8) satisfied         against((0, 7), 4) open         against((4, None), 4) violated

The gate, the rules and the baseline judge by these. Both ends are proved: figures that rest on an assumption, such as
those of the block shapes that are tried where none is specified, give (0, None).
"""

from __future__ import annotations

from enum import StrEnum

from ptxaudit.base.status import Status
from ptxaudit.ir.reasons import Kind
from ptxaudit.report.model import AnySite, MemorySite, Site, Span

Interval = tuple[int, int | None]  # high None = no proved upper bound

NOTHING_PROVED: Interval = (0, None)
BY_SHAPE = frozenset((Kind.BY_SHAPE.text, Kind.NO_SHAPE_REACHES.text))  # figures of some block shapes, not of all


class Judgement(StrEnum):
    """How a figure compares with a limit. open: neither is proved."""

    VIOLATED = "violated"
    SATISFIED = "satisfied"
    OPEN = "open"


def against(figure: Interval, limit: int) -> Judgement:
    """Compares a figure with a limit; `limit` or more violates it."""
    low, high = figure
    if low >= limit:
        return Judgement.VIOLATED
    return Judgement.SATISFIED if high is not None and high < limit else Judgement.OPEN


def above_ideal(site: AnySite) -> Interval:
    """The largest excess of any one request, in the unit of its memory; for cp.async.cg, which no counter covers, the
    line classes above one."""
    if isinstance(site, MemorySite):
        return excess_of_request(site)
    return lines_excess(site) if site.line_class_max is not None else excess_of_request(site)


def total_above_ideal(site: AnySite) -> Interval:
    """The same over the launch."""
    if isinstance(site, MemorySite) or site.line_class_max is None:
        return total_excess(site)
    if site.status is Status.UNREACHED or site.line_class_max <= 1:
        return (0, 0)
    if site.lines is None or site.lines_ideal is None:
        return NOTHING_PROVED
    least = 0 if site.lines_proved is None else site.lines_proved
    return (max(0, least - site.lines_ideal), site.lines - site.lines_ideal)


def excess_of_request(site: AnySite) -> Interval:
    """The largest excess of any one request."""
    if site.status is Status.UNREACHED or site.wasted == 0:
        return (0, 0)
    span = _proved(site)
    if site.status is Status.EXACT and site.wasted is not None and site.active_requests:
        mean = -(-site.wasted // site.active_requests)  # some request has at least the mean
        return (max(mean, span.low if span else 0), span.high if span else site.wasted)
    return NOTHING_PROVED if span is None else (span.low, span.high)


def ways(site: Site) -> Interval:
    """The most wavefronts that any lane group of any request needs; for cp.async.cg its line classes, k."""
    if site.line_class_max is not None:
        low, high = lines_excess(site)
        return (low + 1, None if high is None else high + 1)
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.ways is not None and site.alike:
        return (site.ways, site.ways)
    span = _proved(site)
    if span is None:
        return NOTHING_PROVED
    if span.high == 0:  # the ideal is one per group: with excess, some group needs more
        return (0, 1)
    return (2 if span.low > 0 else 0, None)


def total_excess(site: AnySite) -> Interval:
    """The excess over the launch."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.wasted is not None:
        return (site.wasted, site.wasted)
    span = _proved(site)
    if span is not None and span.high == 0:
        return (0, 0)
    lows, highs = [0], []
    if site.excess_by_case is not None:
        lows.append(site.excess_by_case[0])
        highs.append(site.excess_by_case[1])
    if site.bounds is not None and site.needed is not None:
        lows.append(site.bounds[0] - site.needed)
        highs.append(max(0, site.bounds[1] - site.needed))
    if span is not None:
        lows.append((site.active_requests or 0) * span.low)
        highs += [] if site.requests is None else [site.requests * span.high]
    return (max(lows), min(highs, default=None))


def lines_excess(site: Site) -> Interval:
    """cp.async.cg: the line classes of the largest request above one, the minimum."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.line_class_max is None:
        return NOTHING_PROVED
    return (max(0, (site.line_class_proved or 0) - 1), max(0, site.line_class_max - 1))


def of_tried_shapes(site: AnySite) -> bool:
    """Its figures are those of the block shapes that are tried where none is specified."""
    return site.why is not None and any(why.kind in BY_SHAPE for why in site.why.walk())


def _proved(site: AnySite) -> Span | None:
    """Proved bounds of the excess of each request."""
    return None if of_tried_shapes(site) else site.excess_per_request
