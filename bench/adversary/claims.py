"""Compares one audited launch with the counters: every claim about every site.

`ptxaudit.review.compare` compares requests and wavefronts with the counters. This module adds the consequences of the
lanes that ran:

    lanes      the lanes of all requests add up to the number counted
    active     requests with an active lane: at least a 32nd of the lanes, at most one per lane
    least      the lowest cost of a request, times the smallest possible number of requests with an active lane
    inside     ideal <= wavefronts <= ways x ideal
    generic    a claim about a generic access that accessed shared memory in no lane
    totals     a hardware counter of a launch that does not fill the chip is the sum of its exact sites, plus the
               interference of other warps (twice the ARBITRATION of `ptxaudit.review.compare`, and a few; to the
               counter of stores any number, since loads and copies that fill L1 add to it)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bench.adversary.truth import Counts
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.report.model import AnySite, Site
from ptxaudit.review.compare import ARBITRATION, COUNTERS, DISPUTED, Comparison, Row, Total
from ptxaudit.review.compare import Verdict as Judged

_GENERIC = re.compile(r"(LD|ST|ATOM|RED)\b")
LANES = 32
FEW = 8  # wavefronts by which a counter of a small launch may exceed those of its accesses


class Verdict(StrEnum):
    """The verdict on a claim, as tables show it."""

    EQUAL = "equal"  # requests and wavefronts equal the counted ones
    WITHIN = "range holds"
    REQUESTS = "by requests"  # requests are equal, wavefronts are not claimed or not counted
    OPEN = "open"  # no figure
    DISPUTED = "disputed"  # the profiler's two sources differ, and the report agrees with one
    ASSUMED = "assumed"  # it differs where the report assumes that lanes reconverge in PTX
    WRONG = "WRONG"


OF_COMPARE = {
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
    """One site under one telling. kind: the check that failed ("" if none did); claim, truth: in words."""

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
    """Yields a finding for every site of the report.

    results: the engine's results, by place; ran: the instructions that ran, by place; elsewhere: accesses that ran in
    functions that the report does not list; small: the launch does not fill the chip.
    """
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
    verdict = OF_COMPARE[row.verdict]
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


def claim_of(site: AnySite) -> str:
    """The figures of a site on one line."""
    parts = [str(site.status)]
    parts += [
        f"{name} {value}"
        for name, value in (
            ("requests", site.requests),
            ("active", site.active_requests),
            ("wavefronts", getattr(site, "wavefronts", None)),
            ("ideal", getattr(site, "ideal", None)),
            ("ways", getattr(site, "ways", None)),
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
    """(kind, words) if the claimed cost of a single request is impossible."""
    if any(pattern.match(site.opcode) for pattern in DISPUTED) or ".BYPASS" in site.opcode or site.access == "cp.async":
        return  # the profiler has no reliable figure for a single instruction
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
    by_instruction = total.low == total.high == total.profiler
    return Finding(
        Verdict.DISPUTED if by_instruction else Verdict.WRONG,
        0,
        total.name,
        "" if by_instruction else "totals",
        f"{total.low} wavefronts of all its sites",
        f"{total.counted} by the hardware, {total.profiler} by instruction",
    )
