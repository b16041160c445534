"""Compares a report with a profiler's counts, by instruction and then by hardware counter.

    report   k+0x1c0 LDS.64    exact, 4 requests, 8 wavefronts     ┐
    profile  k+0x1c0           4 executed, 12 wavefronts           ├─▶ disputed: the launch's load counter
    counter  …mem_shared_op_ld 8                                   ┘   agrees with the report

A profiler has two sources. Its *per-instruction* metric, `memory_l1_wavefronts_shared`, is derived from sampled
addresses, and is wrong for some LDS.64, LDS.128 and cp.async (`DISPUTED`). The *hardware counters* of a launch are
right, but are sums over all instructions of a kind. So a site is compared with the first, and where that is known to
be wrong the second decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.report.model import Kernel, MemorySite, Site, plain

SCHEMA = "ptxaudit/compare/1"


class Verdict(StrEnum):
    """How a site of the report compares with the profiler's figure, worst first."""

    DIFFERS = "differs"  # requests or wavefronts differ from the count, or a range does not contain it
    UNLISTED = "unlisted"  # counted, but not a site of the report
    OPEN = "open"  # the report gives no figure
    DISPUTED = "disputed"  # the profiler's per-instruction metric is known to be wrong for such instructions
    WITHIN = "within"  # the counted figure lies in the report's range
    REQUESTS = "requests"  # requests are equal; the report or the counter has no wavefronts
    EQUAL = "equal"  # requests and wavefronts are equal, or there are no wavefronts and the profile lists none


AGREEING = frozenset({Verdict.EQUAL, Verdict.REQUESTS, Verdict.WITHIN, Verdict.DISPUTED})

# Instructions whose per-instruction figure disagrees with the hardware counters of the same launch of a single
# request: 16 of 150 LDS.64, 20 of 150 LDS.128, 140 of 630 cp.async.ca (docs/hardware.md). The profiler merges a wide
# generic load as it does an LDS, the hardware does not: 19 wavefronts of loads by instruction, 21 by the counter
# (docs/truth.md).
DISPUTED = {
    re.compile(
        r"(LDS(\.U)?|LD\b.*)\.(64|128)\b"
    ): "lanes share an address: the profiler groups them differently from the hardware",
    re.compile(
        r"LDGSTS\b(?!.*\.BYPASS)"
    ): "the profiler treats cp.async as a store; its cost also depends on its source lines",
}
NO_COUNTER = "no hardware counter covers the wavefronts of cp.async.cg"


class Counted(Record):
    """One instruction in a profile. offset: bytes from the start of the function; requests: how often a warp executed
    it; the others: the per-instruction metrics, None where not exported."""

    offset: int
    text: str
    requests: int
    wavefronts: int | None = None
    ideal: int | None = None
    sectors: int | None = None  # of global memory, like tag_requests
    tag_requests: int | None = None


class Profile(Record):
    """One profiled launch. counters: the hardware's totals of wavefronts by kind: "" (all), "op_ld", "op_st",
    "op_atom", "op_misc"; {} where not exported. grid, block: None where not exported."""

    kernel: str
    counted: tuple[Counted, ...]
    counters: Mapping[str, int] = field(default_factory=dict)
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None


class Row(Record):
    """One instruction in both; site or counted is None where only one has it. why: an explanation, or ""."""

    verdict: Verdict
    site: Site | MemorySite | None
    counted: Counted | None
    why: str = ""

    @property
    def offset(self) -> int:
        offset = self.site.offset if self.site else self.counted.offset if self.counted else None
        return offset or 0


class Total(Record):
    """A hardware counter of the launch, and sums over the sites that it covers.

    low, high: from the report, equal if all sites are exact; high is None if a site has no figure. profiler: the sum
    of the per-instruction figures.
    """

    name: str
    counted: int
    low: int
    high: int | None
    profiler: int

    @property
    def agrees(self) -> bool:
        """Whether the counter fits the report: arbitration between warps adds a little to the instructions' own cost;
        nothing reduces it."""
        return self.low <= self.counted and (self.high is None or self.counted <= self.high * (1 + ARBITRATION))

    @property
    def settles(self) -> bool:
        """Every site has an exact figure, and the counter is closer to the report's sum than to the profiler's."""
        return (
            self.low == self.high and self.agrees and abs(self.counted - self.low) < abs(self.counted - self.profiler)
        )

    @property
    def refutes(self) -> bool:
        """Whether the counter contradicts the report: it is below the report's sum, or it matches the profiler's
        within arbitration and exceeds the report's by more than single launches were seen to differ. A counter above
        the report's sum that does not match the profiler's includes other traffic of the L1, and decides nothing."""
        off = abs(self.counted - self.profiler)
        is_the_profilers = self.profiler > self.low + STRAY and off <= ARBITRATION * (self.profiler - self.low)
        return self.counted < self.low or is_the_profilers and (self.low == self.high or not self.agrees)


# Measured: about 1 % of loads in launches that fill the chip, up to 5 % of copies; in a few launches of third-party
# programs 24 % of stores and 16 to 29 % of copies, which the same instructions do not show in isolation
# (docs/hardware.md).
ARBITRATION = 0.05
# Measured: the excess of a small launch's counter over its loads, in some runs only: 115 to 118 in six runs of one,
# 301 for 300 in five of forty of another (docs/truth.md).
STRAY = 3


class Comparison(Record, dict=True):
    """One launch of one kernel in both. chosen_of: of so many of the report's launches, which the profile does not tell
    apart, this is the one that agrees best."""

    kernel: Kernel
    profile: Profile
    rows: tuple[Row, ...]  # in program order
    totals: tuple[Total, ...]
    memory: tuple[Row, ...] = ()  # accesses to global memory, if the report has them: their sectors
    chosen_of: int = 1

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        counter = Counter(row.verdict for row in (*self.rows, *self.memory))
        return {verdict: counter[verdict] for verdict in Verdict if counter[verdict]}

    @property
    def differs(self) -> bool:
        """A figure of the report differs from the count."""
        return Verdict.DIFFERS in self.counts or Verdict.UNLISTED in self.counts

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.kernel.name,
            "demangled": self.kernel.demangled,
            "launch": plain(self.kernel.launch),
            "chosen_of": self.chosen_of,
            "differs": self.differs,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "totals": [plain(total) | {"agrees": total.agrees} for total in self.totals],
            "sites": [_row_dict(row) for row in self.rows],
            "memory": [_memory_dict(row) for row in self.memory],
        }


def compare(kernel: Kernel, profile: Profile) -> Comparison:
    """Compares one machine-code entry of a report with one profiled launch of the same code."""
    counted = {entry.offset: entry for entry in profile.counted}
    totals = tuple(_totals(kernel.sites, counted, profile.counters))
    known = {site.offset for site in kernel.sites}
    rows = [_row(site, counted.get(site.offset or 0), totals) for site in kernel.sites]
    rows += [
        Row(Verdict.UNLISTED, None, entry, "the profiler counted wavefronts here, but the report has no such site")
        for entry in profile.counted
        if entry.wavefronts and entry.offset not in known
    ]
    memory = tuple(
        judge_memory(site, counted.get(site.offset or 0)) for site in kernel.memory if site.space == "global"
    )
    return Comparison(kernel, profile, tuple(sorted(rows, key=lambda row: row.offset)), totals, memory)


# --- global memory ------------------------------------------------------------------------------

SECTORS_OF_A_TAG = 4  # a tag covers a line of 128 bytes
# Of 64 copies in CUTLASS's products that do the same in one launch, those predicated by P0 have other sectors than the
# rest (docs/truth.md).
PREDICATED_COPY = re.compile(r"^@!?P\d.*LDGSTS\b.*\.BYPASS|LDGSTS\b.*\.BYPASS.*\bP\d\b")
SECTORS_OF_PREDICATED = "the profiler miscounts the sectors of a predicated cp.async, but not its tag requests"


def judge_memory(site: MemorySite, counted: Counted | None) -> Row:
    """Compares the requests and sectors of an access to global memory with the per-instruction metric, which is right
    for them (docs/hardware.md)."""
    counted = counted or Counted(site.offset or 0, site.text, 0, 0, 0, 0, 0)
    requests = 0 if site.status is Status.UNREACHED else site.requests
    if requests is not None and requests != counted.requests:
        return Row(Verdict.DIFFERS, site, counted, f"{requests:,} requests in the report, {counted.requests:,} counted")
    if counted.sectors is None:
        return Row(Verdict.OPEN if requests is None else Verdict.REQUESTS, site, counted, "the profile has no sectors")
    bounds = (site.sectors, site.sectors) if site.sectors is not None else site.bounds
    if site.status is Status.UNREACHED:
        bounds = (0, 0)
    if bounds is None and site.per_request is not None and not site.conditions:
        bounds = (0, counted.requests * site.per_request.high)
    if bounds is None:
        return Row(Verdict.OPEN if requests is None else Verdict.REQUESTS, site, counted, site.reason)
    low, high = bounds
    if not low <= counted.sectors <= high:
        tags = counted.tag_requests
        if tags is not None and not tags <= counted.sectors <= SECTORS_OF_A_TAG * tags:
            return Row(Verdict.DISPUTED, site, counted, _contradiction(counted))
        if tags is not None and tags == site.tag_requests and PREDICATED_COPY.search(counted.text):
            return Row(Verdict.DISPUTED, site, counted, f"{SECTORS_OF_PREDICATED}: {tags:,} as in the report")
        ours = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        return Row(Verdict.DIFFERS, site, counted, f"{ours} sectors in the report, {counted.sectors:,} counted")
    if None not in (site.tag_requests, counted.tag_requests) and site.tag_requests != counted.tag_requests:
        return Row(
            Verdict.DIFFERS,
            site,
            counted,
            f"{site.tag_requests:,} tag requests in the report, {counted.tag_requests:,} counted",
        )
    return Row(Verdict.EQUAL if low == high and requests is not None else Verdict.WITHIN, site, counted)


def _contradiction(counted: Counted) -> str:
    return (
        f"the profiler's figures contradict each other: {counted.sectors:,} sectors, and {counted.tag_requests:,} tag"
        f" requests, each of which is for 1 to {SECTORS_OF_A_TAG} sectors of a line"
    )


def _memory_dict(row: Row) -> dict[str, Any]:
    site, counted = row.site, row.counted
    assert site is not None  # the profile alone lists no access to global memory
    return {
        "verdict": str(row.verdict),
        "why": row.why,
        "offset": row.offset,
        "text": site.text,
        "id": site.id,
        "report": {
            name: plain(getattr(site, name))
            for name in ("status", "requests", "sectors", "tag_requests", "bounds", "reason")
        },
        "profile": {name: getattr(counted, name) for name in ("requests", "sectors", "tag_requests")},
    }


# --- one site -----------------------------------------------------------------------------------


def _row(site: Site, counted: Counted | None, totals: tuple[Total, ...]) -> Row:
    if counted is None:  # a profile may omit instructions that never ran, or that have no wavefronts
        counted = Counted(site.offset or 0, site.text, 0, 0, 0)
        if site.status is Status.UNKNOWN:
            return Row(Verdict.OPEN, site, counted, site.reason)
        if site.requests and site.wavefronts == 0:
            return Row(Verdict.EQUAL, site, counted, "no wavefronts, and the profile lists none")
    verdict, why = judge(site, counted)
    if verdict is Verdict.DISPUTED:
        total = next((total for total in totals if site.access in COUNTERS[total.name]), None)
        if total is None:
            why += f"; no counter of this launch can decide: measure {METRIC.format('*')}"
        elif total.settles:
            why += (
                f"; the launch's counter agrees with the report ({total.name}: {total.counted:,}, by instructions"
                f" {total.profiler:,})"
            )
        elif total.refutes:
            verdict = Verdict.DIFFERS
            why = f"the launch's counter {total.name} has {total.counted:,}, the report's sites {total.low:,} together"
        elif total.low == total.high:
            why += (
                f"; the launch's counter is inconclusive ({total.name}: {total.counted:,}, by instructions"
                f" {total.profiler:,}, the report's sites {total.low:,} together)"
            )
    return Row(verdict, site, counted, why)


def judge(site: Site, counted: Counted) -> tuple[Verdict, str]:
    """The verdict on one site by the per-instruction figures alone, and why."""
    requests = 0 if site.status is Status.UNREACHED else site.requests
    if requests is not None and requests != counted.requests:
        return Verdict.DIFFERS, f"{requests:,} requests in the report, {counted.requests:,} counted"
    bounds = _bounds(site, counted.requests)
    if requests and ".BYPASS" in site.opcode:
        return Verdict.REQUESTS, NO_COUNTER
    if bounds is None:
        return (Verdict.OPEN if requests is None else Verdict.REQUESTS), site.reason
    if counted.wavefronts is None:
        return (
            (Verdict.REQUESTS, "the profile has no wavefronts") if requests is not None else (Verdict.OPEN, site.reason)
        )
    low, high = bounds
    if low <= counted.wavefronts <= high:
        return (Verdict.EQUAL, "") if low == high and requests is not None else (Verdict.WITHIN, "")
    for pattern, why in DISPUTED.items():
        if pattern.match(site.opcode):
            return Verdict.DISPUTED, why
    ours = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return Verdict.DIFFERS, f"{ours} wavefronts in the report, {counted.wavefronts:,} counted"


def _bounds(site: Site, requests: int) -> tuple[int, int] | None:
    """Wavefronts over the launch; for a site whose cost is known per request only, the bounds for `requests` of
    them."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.wavefronts is not None:
        return (site.wavefronts, site.wavefronts)
    if site.bounds is not None:
        return site.bounds
    if site.per_request is not None and (not site.conditions or site.status is Status.DATA_DEPENDENT):
        most = max([site.per_request.high, *(case.high for case in site.conditions)])
        return (0, requests * most)  # an issue without active lanes costs nothing
    return None


# --- hardware counters --------------------------------------------------------------------------

METRIC = "l1tex__data_pipe_lsu_wavefronts_mem_shared_{}.sum"
COUNTERS = {
    "op_ld": ("load", "ldmatrix"),
    "op_st": ("store", "stmatrix"),
    "op_atom": ("atomic",),
    "copies": ("cp.async",),  # has no counter of its own: the remainder of the total
}


def _totals(sites: Iterable[Site], counted: Mapping[int, Counted], counters: Mapping[str, int]) -> Iterable[Total]:
    """The counters that can be compared with sites of the report."""
    sites = tuple(sites)
    measured = {name: counters[name] for name in COUNTERS if name in counters}
    parts = [counters[name] for name in ("", "op_ld", "op_st", "op_atom", "op_misc") if name in counters]
    # The remainder also includes warpgroup products and the zero-filled lanes of cp.async.cg.
    if len(parts) == 5 and not any(site.access == "wgmma" or ".BYPASS" in site.opcode for site in sites):
        measured["copies"] = parts[0] - sum(parts[1:])
    for name, count in measured.items():
        covered = _covered(sites, name)
        if not covered:
            continue
        by_instruction = [
            counted[site.offset].wavefronts or 0
            for site in covered
            if site.offset is not None and site.offset in counted
        ]
        bounds = [_counter_bounds(site) for site in covered]
        known = [pair for pair in bounds if pair is not None]
        high = sum(high for _, high in known) if len(known) == len(bounds) else None
        low = sum(low for low, _ in known)
        if name == "copies" and count < low:
            count += min(low - count, _counted_as_stores(sites, counters["op_st"]))
        yield Total(name, count, low, high, sum(by_instruction))


def _covered(sites: Iterable[Site], counter: str) -> list[Site]:
    return [site for site in sites if site.access in COUNTERS[counter] and ".BYPASS" not in site.opcode]


def _counted_as_stores(sites: Iterable[Site], counted: int) -> int:
    """The wavefronts of copies that are counted as stores: the excess of the store counter over what other stores
    cost (docs/hardware.md); 0 if that is unknown."""
    bounds = [_counter_bounds(site) for site in _covered(sites, "op_st")]
    high = sum(pair[1] for pair in bounds if pair is not None)
    return 0 if None in bounds else max(0, counted - high)


def _counter_bounds(site: Site) -> tuple[int, int] | None:
    """A site's contribution to its counter. A request of a generic atomic operation that goes to other memory only
    adds one, although it costs no wavefront of shared memory (docs/hardware.md)."""
    bounds = _bounds(site, site.requests) if site.requests is not None else site.bounds
    of_shared = site.per_request is not None and site.per_request.low > 0  # each request has lanes there
    if bounds is None or of_shared or site.status is Status.UNREACHED or not _GENERIC_ATOMIC.match(site.opcode):
        return bounds
    if bounds == (0, 0) and site.active_requests is not None:
        return site.active_requests, site.active_requests
    return None if site.requests is None else (bounds[0], bounds[1] + site.requests)


_GENERIC_ATOMIC = re.compile(r"(ATOM|RED)\b")


# --- JSON ---------------------------------------------------------------------------------------


def _row_dict(row: Row) -> dict[str, Any]:
    site, counted = row.site, row.counted
    assert site is not None  # the profile alone lists no access to global memory
    return {
        "verdict": str(row.verdict),
        "why": row.why,
        "offset": row.offset,
        "text": site.text if site else counted.text if counted else "",
        "id": site.id if site else None,
        "report": (
            None
            if site is None
            else {
                name: plain(getattr(site, name))
                for name in ("status", "requests", "wavefronts", "ideal", "bounds", "reason")
            }
        ),
        "profile": (
            None if counted is None else {name: getattr(counted, name) for name in ("requests", "wavefronts", "ideal")}
        ),
    }
