"""A copy could move more bytes per instruction.

The rule finds two cases
- An asynchronous copy of 4 or 8 bytes per lane whose lanes write consecutive addresses. With
  16 bytes (`cp.async.cg`), a quarter or half as many lanes or instructions move the same data,
  which then bypasses L1.
- Adjacent scalar accesses of one lane, `[r]`, `[r+4]`, `[r+8]`, `[r+12]`, that conflict, with
  lanes at multiples of 8 or 16 bytes. One vector access moves the same bytes in fewer wavefronts,
  without excess if lanes are no further apart than its width.

What to do
- Copy 16 bytes: `__pipeline_memcpy_async(to, from, 16)`, with both addresses multiples of 16.
- Access through `float4` or `float2`, with the array `alignas(16)`, or use
  `__builtin_assume_aligned`.
The rule does not check that the first address is a multiple of the vector's width, neither in
shared memory nor, for a copy, in global memory. Check this yourself.
"""

import re
from collections.abc import Iterator, Sequence

from ptxaudit.report.model import Kernel, Report, Site
from ptxaudit.review.figures import Judgement, against, excess_of_request, total_excess
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule

VIOLATED, SATISFIED = Judgement.VIOLATED, Judgement.SATISFIED
WIDEST = 16  # bytes that one lane can copy or access at once
_ADDRESS = re.compile(r"\[([^\]]*?)(?:\+(-?(?:0x[0-9a-fA-F]+|\d+)))?\]")


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.sites:
            if _is_narrow_copy(site) and site.consecutive is not False:
                yield _of_copy(kernel, site)
        for run, judged in _runs(kernel):
            first, total = run[0], sum(site.width or 0 for site in run)
            could = f"accesses to adjacent addresses could be one of {total} bytes"
            if judged is VIOLATED:
                what = f"{first.opcode}: {len(run)} conflicting {could}"
                yield Finding("PA005", what, kernel, first, weight=sum(total_excess(site)[0] for site in run))
                continue
            what = f"{first.opcode}: {len(run)} {could} if they conflict"
            yield from (Finding("PA005", what, kernel, site, certainty=Certainty.UNKNOWN) for site in run)


def _of_copy(kernel: Kernel, site: Site) -> Finding:
    what = f"lanes copy {site.width} bytes each at consecutive addresses; {WIDEST} bytes would take fewer instructions"
    if site.consecutive:
        return Finding("PA005", f"{site.opcode}: {what}", kernel, site)
    return Finding("PA005", f"{site.opcode}: whether {what} is unknown", kernel, site, certainty=Certainty.UNKNOWN)


def _is_scalar(site: Site) -> bool:
    return site.access in ("load", "store") and (site.width or WIDEST) < WIDEST


def _lanes_distinct(site: Site, total: int) -> bool | None:
    """Whether all lanes are multiples of `total` bytes apart; None where their addresses are unknown."""
    if site.lane_step is not None:
        return site.lane_step % total == 0
    return False if site.consecutive or (site.lane_step_most or total) % total else None


def _is_narrow_copy(site: Site) -> bool:
    return site.access == "cp.async" and site.width is not None and site.width < WIDEST


def _runs(kernel: Kernel) -> Iterator[tuple[Sequence[Site], Judgement]]:
    """Scalar accesses of one line that are consecutive in the code and in memory, all with excess or possible excess,
    which an access of two or four times the width could replace."""
    sites = [(site, *_address(site)) for site in kernel.sites]
    at = 0
    while at < len(sites):
        runs = [(run, _vector(run)) for run in (sites[at : at + count] for count in (4, 2)) if len(run) > 1]
        could = [found for found in runs if found[1] is not SATISFIED]
        run, judged = min(could, key=lambda found: found[1] is not VIOLATED, default=((), SATISFIED))
        if run:
            yield [site for site, _, _ in run], judged
        at += len(run) or 1


def _vector(run: Sequence[tuple[Site, str, int]]) -> Judgement:
    """Whether one vector access could replace them with fewer wavefronts: conflicting accesses to neighbouring
    addresses, from a multiple of its width on, in every lane. SATISFIED: it could not."""
    first, base, offset = run[0]
    width = first.width or 0
    total = len(run) * width
    if not base or not _is_scalar(first) or width not in (4, 8) or total > WIDEST or offset % total:
        return SATISFIED
    behind = all((own, start) == (base, offset + at * width) for at, (_, own, start) in enumerate(run))
    if not behind or any(site.opcode != first.opcode or site.source != first.source for site, _, _ in run):
        return SATISFIED
    judged = {against(excess_of_request(site), 1) for site, _, _ in run}
    apart = {_lanes_distinct(site, total) for site, _, _ in run}
    if SATISFIED in judged or False in apart:
        return SATISFIED
    return VIOLATED if judged == {VIOLATED} and apart == {True} else Judgement.OPEN


def _address(site: Site) -> tuple[str, int]:
    match = _ADDRESS.search(site.text)
    return (match[1], int(match[2] or "0", 0)) if match else ("", 0)


_SOURCE = """
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float* in, float* out) {
    __shared__ alignas(128) float tile[32 * 4];
    __pipeline_memcpy_async(&tile[threadIdx.x * COUNT], in + threadIdx.x * COUNT, 4 * COUNT);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
"""

RULE = Rule(
    id="PA005",
    name="wider-copy",
    title="Copy that could be wider",
    level="note",
    check=check,
    concerns=lambda kernel, site: _is_narrow_copy(site) or _is_scalar(site),
    example=Example(
        triggers=_SOURCE.replace("COUNT", "1"),
        clean=_SOURCE.replace("COUNT", "4"),
        options={"launches": [{"kernel": "copy", "grid": (1,), "block": (32,)}]},
    ),
)
