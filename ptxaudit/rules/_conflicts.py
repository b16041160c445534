"""Finds the sites of some accesses whose requests take more wavefronts than their ideal."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxaudit.figures import excess_of_request, total_excess
from ptxaudit.findings import Certainty, Finding, certainty_of
from ptxaudit.render.words import interval, plural
from ptxaudit.report import Report, Site


def conflicts(report: Report, rule: str, accesses: Collection[str]) -> Iterator[Finding]:
    """A finding for each site of such an access that has excess, or may have."""
    for kernel in report.kernels:
        for site in kernel.sites:
            if site.access in accesses and site.line_class_max is None:
                low, high = excess_of_request(site)
                certainty = certainty_of(site, low, high)
                if certainty is not None:
                    yield Finding(rule, cost(site, certainty), kernel, site, certainty=certainty, weight=total_excess(site)[0] or low)


def cost(site: Site, certainty: Certainty) -> str:
    """The figure in a sentence: over the launch where it is known, else of one request."""
    why = f": {site.cause}" if site.cause and certainty is not Certainty.UNKNOWN else ""
    if certainty is Certainty.UNKNOWN:
        return f"{site.opcode}: its cost is not known" + (f": {site.reason}" if site.reason else "")
    if site.excess:
        factor = f"{site.wavefronts:,} wavefronts instead of {site.ideal:,}"
        ways = f", {site.ways}-way" if site.ways and site.ways > 1 else ""
        return f"{site.opcode}: {plural(site.excess, 'excess wavefront')} over the launch ({factor}{ways}){why}"
    each, ideal = site.per_request, site.ideal_per_request
    may = "takes" if certainty is Certainty.CERTAIN else "may take"
    if each is None or ideal is None:
        return f"{site.opcode}: a request {may} more wavefronts than its ideal{why}"
    return f"{site.opcode}: a request {may} {interval(each.low, each.high)} wavefronts, ideal {interval(ideal.low, ideal.high)}{why}"
