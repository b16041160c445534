"""Finds the sites of some accesses whose requests take more wavefronts than their ideal.

An access without a figure belongs to the rule for its direction (reads or writes), with an unknown finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxaudit.base.words import interval, plural
from ptxaudit.hardware.accesses import is_past_l1
from ptxaudit.report.model import Kernel, Report, Site
from ptxaudit.review.figures import excess_of_request, total_excess
from ptxaudit.review.findings import Certainty, Finding, certainty_of

READS = frozenset(("load", "ldmatrix", "wmma", "wgmma", "tcgen05"))
WRITES = frozenset(("store", "stmatrix", "cp.async", "async store", "bulk store", "bulk copy"))
TURNS = frozenset(("atomic", "mbarrier"))


def bypasses(site: Site) -> bool:
    """cp.async.cg, which has its own rule."""
    return site.line_class_max is not None or site.access == "cp.async" and is_past_l1(site.opcode)


def concerned(accesses: frozenset[str], site: Site) -> bool:
    """One of these accesses, or one whose effect is unknown."""
    return not bypasses(site) and (site.access in accesses or site.access not in READS | WRITES | TURNS)


def conflicts(report: Report, rule: str, accesses: frozenset[str]) -> Iterator[Finding]:
    """A finding for each site of such an access that has excess, or may have."""
    for kernel in report.kernels:
        for site in kernel.sites:
            if concerned(accesses, site) and (finding := conflict(rule, kernel, site)) is not None:
                yield finding


def conflict(rule: str, kernel: Kernel, site: Site) -> Finding | None:
    """The finding for a site; None if it has no excess."""
    low, high = excess_of_request(site)
    certainty = certainty_of(site, low, high)
    if certainty is None:
        return None
    return Finding(rule, cost(site, certainty), kernel, site, certainty=certainty, weight=total_excess(site)[0] or low)


def cost(site: Site, certainty: Certainty) -> str:
    """The figure in a sentence: over the launch where known, else of one request."""
    why = f": {site.cause}" if site.cause and certainty is not Certainty.UNKNOWN else ""
    each, ideal = site.per_request, site.ideal_per_request
    if certainty is Certainty.UNKNOWN:
        text = f"{site.opcode}: its cost is unknown"
        if each is not None and ideal is not None:
            text += f", perhaps {interval(each.low, each.high)} per request, ideal {interval(ideal.low, ideal.high)}"
        return text + (f": {site.reason}" if site.reason else "")
    if site.excess:
        factor = f"{site.wavefronts:,} wavefronts instead of {site.ideal:,}"
        ways = f", {site.ways}-way" if site.ways and site.ways > 1 else ""
        return f"{site.opcode}: {plural(site.excess, 'excess wavefront')} over the launch ({factor}{ways}){why}"
    may = "takes" if certainty is Certainty.CERTAIN else "may take"
    if each is None or ideal is None:
        return f"{site.opcode}: a request {may} more wavefronts than its ideal{why}"
    return (
        f"{site.opcode}: a request {may} {interval(each.low, each.high)} wavefronts, ideal"
        f" {interval(ideal.low, ideal.high)}{why}"
    )
