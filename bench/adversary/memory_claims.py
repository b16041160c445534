"""Compares the claims about global and local memory in one audited launch with the counters.

Per instruction, `memory_l2_theoretical_sectors_global` and `_local` and `memory_l1_tag_requests_global` equal the
counters of the unit (docs/hardware.md). A claim is wrong if one of these does not hold:

    compare    requests, sectors and tag requests, or their range, as `ptxaudit.review.compare` compares them
    ideal      of an exact site, the metric's ideal
    active     requests with an active lane: at least a 32nd of the lanes, at most one per lane
    lanes      the active lanes of all requests, by the bytes that they use; only as an upper bound for generic accesses,
               and for copies with a predicate or a source size, whose lanes may read nothing
    each       the sectors of a request, times the possible numbers of requests
    conditions the same for a conditional site, of all its cases
    unlisted   sectors that were counted where the report has no site
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bench.adversary.claims import LANES, OF_COMPARE, Finding, Verdict, claim_of
from bench.adversary.truth import Counts
from ptxaudit.base.status import Status
from ptxaudit.report.model import MemorySite
from ptxaudit.review.compare import PREDICATED_COPY, Counted, judge_memory

SOME_LANES = re.compile(r"(@!?U?P\d )?((LD|ST|ATOM|RED)\b|LDGSTS\b.*(\bU?P\d$|ZFILL))")
_SURE = (Status.INVARIANT, Status.BOUNDED, Status.DATA_DEPENDENT)


def findings(sites: Sequence[MemorySite], ran: Mapping[int, Counts]) -> Iterator[Finding]:
    """Yields a finding for every site in global and local memory, and for what was counted elsewhere. ran: the
    instructions that ran, by place."""
    listed = {(site.offset, site.space) for site in sites}
    for site in sites:
        yield _finding(site, ran.get(site.offset or 0))
    for place, one in ran.items():
        for space, sectors in _of_spaces(one).items():
            if sectors and (place, space) not in listed:
                yield Finding(Verdict.WRONG, place, one.text, "unlisted", f"no site in {space} memory", _truth(one))


def _of_spaces(one: Counts) -> dict[str, int]:
    return {"global": one.memory[0], "local": one.memory[2]}


def _truth(one: Counts | None) -> str:
    if one is None:
        return "it did not run"
    sectors, ideal, local, tags = one.memory
    return (
        f"{one.warps} requests, {one.threads} lanes, global: {sectors} sectors (ideal {ideal}), {tags} tag requests,"
        f" local: {local} sectors"
    )


def _finding(site: MemorySite, one: Counts | None) -> Finding:
    counted = Counted(site.offset or 0, site.text, 0, 0, 0, 0, 0)
    if one is not None:
        tags = one.memory[3] if site.space == "global" else None
        counted = Counted(one.offset, one.text, one.warps, sectors=_of_spaces(one)[site.space], tag_requests=tags)
    row = judge_memory(site, counted)
    verdict = OF_COMPARE[row.verdict]
    kind, why = ("compare", row.why) if verdict is Verdict.WRONG else ("", "")
    if not kind and verdict is not Verdict.DISPUTED:
        kind, why = next(_broken(site, one, counted), ("", ""))
        verdict = Verdict.WRONG if kind else verdict
    line = site.source.line if site.source else None
    text = f"{site.text} ({site.space})"
    return Finding(
        verdict, site.offset or 0, text, kind, f"{_claim(site)}{': ' + why if why else ''}", _truth(one), line
    )


def _claim(site: MemorySite) -> str:
    figures = (
        ("sectors", site.sectors),
        ("ideal", site.sectors_ideal),
        ("tag requests", site.tag_requests),
        ("bytes used", site.bytes_used),
    )
    return ", ".join([claim_of(site), *(f"{name} {value}" for name, value in figures if value is not None)])


def _broken(site: MemorySite, one: Counts | None, counted: Counted) -> Iterator[tuple[str, str]]:
    """(kind, words) of each claim that cannot hold."""
    threads, warps = (one.threads, one.warps) if one else (0, 0)
    some = SOME_LANES.match(site.text) is not None
    sectors = counted.sectors or 0
    if (
        site.status is Status.EXACT
        and one is not None
        and site.space == "global"
        and site.sectors_ideal != one.memory[1]
    ):
        yield "ideal", f"ideal {site.sectors_ideal}"
    least, most = min(1, sectors) if some else -(-threads // LANES), min(warps, threads)
    active = site.active_requests
    if active is not None and not least <= active <= most:
        yield "active", f"{active} requests with an active lane, and it is {least} to {most}"
    lanes = None if site.bytes_used is None or not site.width else site.bytes_used // site.width
    if lanes is not None and (lanes > threads if some else lanes != threads):
        yield "lanes", f"{lanes} lanes in its requests"
    if not PREDICATED_COPY.search(site.text):  # whose sectors the profiler miscounts
        yield from _each(site, sectors, least, most)


def _each(site: MemorySite, sectors: int, least: int, most: int) -> Iterator[tuple[str, str]]:
    span = site.per_request
    if span is not None and not site.conditions and site.status in _SURE:
        if not span.low * least <= sectors <= span.high * most:
            yield "each", f"{least} to {most} requests of {span.low} to {span.high} sectors"
    if site.conditions and site.status is not Status.EXACT:
        low, high = min(c.low for c in site.conditions), max(c.high for c in site.conditions)
        if not low * least <= sectors <= high * most:
            yield "conditions", f"{least} to {most} requests of {low} to {high} sectors in all its cases"
