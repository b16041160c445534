"""A 16-byte asynchronous copy writes shared memory in a slow pattern that no profiler shows.

`cp.async.cg` (`LDGSTS.BYPASS`) reaches shared memory on a different path from loads and stores:
profilers count 0 wavefronts and 0 conflicts for it, whatever the pattern. It still slows down
when each group of 8 lanes writes 128-byte lines that are a multiple of 512 bytes apart. Such lines
are written one after another, in *steps* (the k of docs/hardware.md: the largest number of pairs of
an 8-lane group and a line with one line index mod 4). A finding is certain if some request is proved
to take more than one step. In PTX this may depend on the array's base address, which machine code has.

What to do
- Let each group of 8 neighbouring lanes write one whole 128-byte line.
- If rows are shorter than 128 bytes, pad or swizzle them so that the rows of one request lie in
  lines with different indices mod 4.
"""

from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.report.copy_words import steps
from ptxaudit.report.model import Report, Site
from ptxaudit.review.figures import lines_excess, total_above_ideal
from ptxaudit.review.findings import Finding, certainty_of
from ptxaudit.review.rules import Example, Rule
from ptxaudit.review.rules._conflicts import bypasses


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.sites:
            if not bypasses(site):
                continue
            low, high = lines_excess(site)
            certainty = certainty_of(site, low, high)
            if certainty is not None:
                yield Finding(
                    "PA004",
                    f"{site.opcode}: {_what(site)}",
                    kernel,
                    site,
                    certainty=certainty,
                    weight=total_above_ideal(site)[0],
                )


def _what(site: Site) -> str:
    if site.line_class_max is None or site.status is Status.UNKNOWN:
        return "its number of steps is unknown" + (f": {site.reason}" if site.reason else "")
    return f"{site.cause or steps(site)}; profilers do not count it"


_SOURCE = """
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float* in, float* out) {
    __shared__ alignas(128) float tile[32 * 128];
    __pipeline_memcpy_async(&tile[threadIdx.x * STRIDE], in + threadIdx.x * 4, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
"""

RULE = Rule(
    id="PA004",
    name="hidden-async-copy",
    title="Slow asynchronous copy hidden from profilers",
    level="warning",
    check=check,
    concerns=lambda kernel, site: bypasses(site),
    example=Example(
        triggers=_SOURCE.replace("STRIDE", "128"),
        clean=_SOURCE.replace("STRIDE", "4"),
        options={"launches": [{"kernel": "copy", "grid": (1,), "block": (32,)}]},
    ),
)
