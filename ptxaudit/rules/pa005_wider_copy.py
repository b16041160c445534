"""A copy could move more bytes with each instruction.

Two cases are found
- An asynchronous copy of 4 or 8 bytes a lane whose lanes write addresses next to each other. With
  16 bytes (`cp.async.cg`) a quarter of the lanes or of the instructions do the same, and the data
  bypass L1.
- Neighbouring scalar accesses of one lane, `[r]`, `[r+4]`, `[r+8]`, `[r+12]`, that conflict because
  lanes are 8 or 16 bytes apart. As one vector access the same bytes take no excess wavefront.

What to do
- Copy 16 bytes: `__pipeline_memcpy_async(to, from, 16)` with both addresses multiples of 16.
- Access through `float4` or `float2`, with the array `alignas(16)`; or `__builtin_assume_aligned`.
The rule does not know how the global side is aligned: that is for the reader to check.
"""

import re
from collections.abc import Iterator, Sequence

from ptxaudit.figures import excess_of_request, total_excess
from ptxaudit.findings import Finding
from ptxaudit.report import Kernel, Report, Site
from ptxaudit.rules import Example, Rule

WIDEST = 16                  # bytes that one lane can copy or access at once
_ADDRESS = re.compile(r"\[([^\]]*?)(?:\+(-?(?:0x[0-9a-fA-F]+|\d+)))?\]")


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.sites:
            if site.access == "cp.async" and site.consecutive and site.width and site.width < WIDEST:
                what = f"{site.opcode}: lanes copy {site.width} bytes each, next to each other; {WIDEST} bytes would take fewer instructions"
                yield Finding("PA005", what, kernel, site)
        for run in _runs(kernel):
            first, total = run[0], sum(site.width or 0 for site in run)
            what = f"{first.opcode}: {len(run)} conflicting accesses to neighbouring addresses could be one of {total} bytes"
            yield Finding("PA005", what, kernel, first, weight=sum(total_excess(site)[0] for site in run))


def _runs(kernel: Kernel) -> Iterator[Sequence[Site]]:
    """Scalar accesses of one line that follow each other in the code and in memory, all with excess."""
    sites = [(site, *_address(site)) for site in kernel.sites]
    at = 0
    while at < len(sites):
        site, base, offset = sites[at]
        run = [site]
        if site.access in ("load", "store") and site.width in (4, 8) and base and _conflicts(site):
            for other, other_base, other_offset in sites[at + 1 :]:
                alike = other.opcode == site.opcode and other_base == base and other.source == site.source
                if not alike or other_offset != offset + len(run) * (site.width or 0) or not _conflicts(other):
                    break
                run.append(other)
                if len(run) * (site.width or 0) == WIDEST:
                    break
        usable = 1 << (len(run).bit_length() - 1)       # two or four of three or five
        if usable > 1:
            yield run[:usable]
        at += usable
    return


def _address(site: Site) -> tuple[str, int]:
    match = _ADDRESS.search(site.text)
    return (match[1], int(match[2] or "0", 0)) if match else ("", 0)


def _conflicts(site: Site) -> bool:
    return excess_of_request(site)[0] > 0


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
    example=Example(
        triggers=_SOURCE.replace("COUNT", "1"),
        clean=_SOURCE.replace("COUNT", "4"),
        options={"launches": [{"kernel": "copy", "grid": (1,), "block": (32,)}]},
    ),
)
