"""One audited launch against what was counted: every claim of every site.

`ptxaudit.review.compare` holds requests and wavefronts against the counters. This adds what follows from the lanes that
ran:

    lanes      the lanes of all requests together are the counted ones
    active     requests with an active lane: at least a 32nd of the lanes, at most one a lane
    least      what requests cost at least, times the least number of requests with an active lane
    inside     ideal <= wavefronts <= ways x ideal
    generic    a claim about a generic access that was one of shared memory in no lane
    totals     a hardware counter of a launch that does not fill the chip is the sum of its exact sites, but for what
               other warps add (twice the ARBITRATION of `ptxaudit.review.compare`, and a few; to stores anything: loads
               and copies that fill L1 do)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bench.adversary.truth import Counts
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.report.model import Site
from ptxaudit.review.compare import ARBITRATION, COUNTERS, DISPUTED, Comparison, Row, Total
from ptxaudit.review.compare import Verdict as Judged

_GENERIC = re.compile(r"(LD|ST|ATOM|RED)\b")
LANES = 32
FEW = 8  # wavefronts that a counter of a small launch may have beside its accesses


class Verdict(StrEnum):
    """What became of a claim, as a table has it."""

    EQUAL = "equal"  # requests and wavefronts are the counted ones
    WITHIN = "range holds"
    REQUESTS = "by requests"  # requests are equal, wavefronts are not claimed or not counted
    OPEN = "open"  # no figure
    DISPUTED = "disputed"  # the profiler's two sources differ, and one is the report's
    ASSUMED = "assumed"  # it differs where the report says that it takes lanes of PTX to have met
    WRONG = "WRONG"


_OF = {
    Judged.EQUAL: Verdict.EQUAL,
    Judged.WITHIN: Verdict.WITHIN,
    Judged.REQUESTS: Verdict.REQUESTS,
    Judged.OPEN: Verdict.OPEN,
    Judged.DISPUTED: Verdict.DISPUTED,
    Judged.DIFFERS: Verdict.WRONG,
    Judged.UNLISTED: Verdict.WRONG,
}


@dataclass(frozen=True)
class Finding:
    """One site under one telling. kind: the check that failed ("" when none did); claim, truth: in words."""

    verdict: Verdict
    place: int
    text: str
    kind: str = ""
    claim: str = ""
    truth: str = ""
    line: int | None = None  # of the source


def findings(
    comparison: Comparison,
    results: Mapping[int, SiteResult],
    ran: Mapping[int, Counts],
    elsewhere: Sequence[Counts],
    small: bool,
) -> Iterator[Finding]:
    """Every site of the report. results: the engine's, by place; ran: what ran, by place; elsewhere: accesses that
    ran in functions that the report does not list; small: the launch does not fill the chip."""
    wrong = False
    for row in comparison.rows:
        found = _finding(row, results.get(row.offset), ran.get(row.offset))
        wrong = wrong or found.verdict is Verdict.WRONG
        yield found
    for one in elsewhere:
        yield Finding(
            Verdict.WRONG,
            one.offset,
            one.text,
            "unlisted",
            f"no site in {one.section}",
            f"{one.warps} requests, {one.wavefronts} wavefronts",
        )
    if not wrong and small:
        yield from (_of_total(total) for total in comparison.totals if _exact(comparison, total) and not _near(total))


def _finding(row: Row, result: SiteResult | None, counted: Counts | None) -> Finding:
    site = row.site
    threads, warps = (counted.threads, counted.warps) if counted else (0, 0)
    truth = f"{warps} requests, {counted.wavefronts if counted else 0} wavefronts, {threads} lanes"
    line = site.source.line if site and site.source else None
    if site is None:
        return Finding(Verdict.WRONG, row.offset, row.counted.text if row.counted else "", "unlisted", "no site", truth)
    verdict = _OF[row.verdict]
    kind, why = ("compare", row.why) if verdict is Verdict.WRONG else ("", "")
    if not kind:
        kind, why = next(
            _broken(site, result, warps, threads, counted.wavefronts if counted else 0, row.verdict is Judged.DISPUTED),
            ("", ""),
        )
        verdict = Verdict.WRONG if kind else verdict
    if kind and counted and threads and not counted.wavefronts and _GENERIC.match(site.opcode):
        kind = "generic"
    return Finding(verdict, row.offset, site.text, kind, f"{claim_of(site)}{': ' + why if why else ''}", truth, line)


def claim_of(site: Site) -> str:
    """The figures of a site in a line."""
    parts = [str(site.status)]
    parts += [
        f"{name} {value}"
        for name, value in (
            ("requests", site.requests),
            ("active", site.active_requests),
            ("wavefronts", site.wavefronts),
            ("ideal", site.ideal),
            ("ways", site.ways),
            ("bounds", list(site.bounds) if site.bounds else None),
            ("per request", f"{site.per_request.low}..{site.per_request.high}" if site.per_request else None),
        )
        if value is not None
    ]
    return ", ".join(parts)


def _broken(
    site: Site, result: SiteResult | None, warps: int, threads: int, wavefronts: int, disputed: bool
) -> Iterator[tuple[str, str]]:
    """(kind, words) of each claim that cannot hold."""
    least, most = -(-threads // LANES), min(warps, threads)
    active = site.active_requests
    if active is not None and not least <= active <= most:
        yield "active", f"{active} requests with an active lane, and it is {least} to {most}"
    if (
        site.status is Status.EXACT
        and result is not None
        and active
        and sum(p.count for p in result.patterns) == active
    ):
        lanes = sum(p.count * int(p.active.sum()) for p in result.patterns)
        if lanes != threads:
            yield "lanes", f"{lanes} lanes in its requests"
    counted = site.wavefronts is not None and site.ideal is not None and ".BYPASS" not in site.opcode
    if counted and site.ways is not None and not site.ideal <= site.wavefronts <= site.ways * site.ideal:
        yield "inside", "ideal, wavefronts and ways do not go together"
    if not disputed:
        yield from each(site, warps, threads, wavefronts)


def each(site: Site, warps: int, threads: int, wavefronts: int) -> Iterator[tuple[str, str]]:
    """(kind, words) where what a single request costs cannot be what it is said to."""
    if any(pattern.match(site.opcode) for pattern in DISPUTED) or ".BYPASS" in site.opcode or site.access == "cp.async":
        return  # the profiler's figure of one instruction is not to be had
    least, most = -(-threads // LANES), min(warps, threads)
    span = site.per_request
    if (
        span is not None
        and not site.conditions
        and site.status in (Status.INVARIANT, Status.BOUNDED, Status.DATA_DEPENDENT)
    ):
        if wavefronts < span.low * least or wavefronts > span.high * most:
            yield "each", f"{least} to {most} requests of {span.low} to {span.high} wavefronts"
    if site.conditions and site.status is not Status.EXACT:
        low, high = min(c.low for c in site.conditions), max(c.high for c in site.conditions)
        if wavefronts < low * least or wavefronts > high * most:
            yield "conditions", f"{least} to {most} requests of {low} to {high} wavefronts in all its cases"


def _exact(comparison: Comparison, total: Total) -> bool:
    covered = [site for site in comparison.kernel.sites if site.access in COUNTERS[total.name]]
    return total.name != "copies" and total.low == total.high and all(site.settled for site in covered)


def _near(total: Total) -> bool:
    return (
        total.low <= total.counted <= total.low * (1 + 2 * ARBITRATION) + FEW
        or total.name == "op_st"
        and total.counted >= total.low
    )


def _of_total(total: Total) -> Finding:
    return Finding(
        Verdict.WRONG,
        0,
        total.name,
        "totals",
        f"{total.low} wavefronts of all its sites",
        f"{total.counted} by the hardware, {total.profiler} by instruction",
    )
