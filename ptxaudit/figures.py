"""What a site costs as intervals: the proved lower end, and the upper one where there is one.

    exact, excess 992 over 32 requests   ->  excess_of_request (31, 31), total_excess (992, 992)
    bounded, 1 to 8 wavefronts, ideal 1  ->  excess_of_request (0, 7)
    unknown                              ->  excess_of_request (0, None)

The gate, the rules and the baseline judge by these. A lower end is a fact; an upper end is what
the analysis could not exclude.
"""

from __future__ import annotations

from ptxaudit.report import Site
from ptxaudit.status import Status

Interval = tuple[int, int | None]        # high None = no proved upper end


def above_ideal(site: Site) -> Interval:
    """The largest excess of any one request; of cp.async.cg, which no counter sees, the line classes above one."""
    return lines_excess(site) if site.line_class_max is not None else excess_of_request(site)


def total_above_ideal(site: Site) -> Interval:
    """The same over the launch."""
    if site.line_class_max is None:
        return total_excess(site)
    if site.status is Status.UNREACHED or site.lines is None or site.lines_ideal is None:
        return (0, 0 if site.status is Status.UNREACHED or site.line_class_max == 1 else None)
    return (site.lines - site.lines_ideal, site.lines - site.lines_ideal)


def excess_of_request(site: Site) -> Interval:
    """The largest excess of any one request."""
    if site.status is Status.UNREACHED or site.excess == 0:
        return (0, 0)
    span = site.excess_per_request
    if site.status is Status.EXACT and site.excess is not None and site.active_requests:
        mean = -(-site.excess // site.active_requests)      # some request has at least the mean
        return (max(mean, span.low if span else 0), span.high if span else site.excess)
    return (0, None) if span is None else (span.low, span.high)


def ways(site: Site) -> Interval:
    """The most wavefronts that any lane group of any request needs; for cp.async.cg its line classes, k."""
    if site.line_class_max is not None:
        low, high = lines_excess(site)
        return (low + 1, None if high is None else high + 1)
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.ways is not None:
        return (site.ways, site.ways)
    # some group needs at least its share of the wavefronts above the ideal
    if site.excess_per_request and site.excess_per_request.high == 0:
        return (0, 1)
    return (2 if site.excess_per_request and site.excess_per_request.low > 0 else 0, None)


def total_excess(site: Site) -> Interval:
    """Over the launch."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.excess is not None:
        return (site.excess, site.excess)
    if site.bounds and site.ideal is not None:
        return (max(0, site.bounds[0] - site.ideal), max(0, site.bounds[1] - site.ideal))
    if site.excess_per_request and site.excess_per_request.high == 0:
        return (0, 0)
    return (0, None)


def lines_excess(site: Site) -> Interval:
    """cp.async.cg: what the largest request takes above the one line class that it needs at best."""
    if site.status is Status.UNREACHED or site.lines is not None and site.lines == site.lines_ideal:
        return (0, 0)
    if site.line_class_max is None:
        return (0, None)
    above = site.line_class_max - 1
    return (above if site.lines is not None else 0, above)      # without a launch k is the most that it may be
