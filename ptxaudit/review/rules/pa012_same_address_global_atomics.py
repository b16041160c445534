"""Lanes of a global atomic access one address and are serialised in L2.

A load of one address by all lanes moves one sector, once. An atomic operation on one address moves
it once per lane: hardware counters show 32 sectors if 32 lanes add to one counter
(docs/hardware.md, Where the profiler differs). If ptxas proves that all lanes use one address, it
combines their values first, which machine code shows (`--isa sass`). Audit global memory with
`--space global` or `--space all`.

What to do
- Sum within the warp first (`__reduce_add_sync`, `__match_any_sync`), and let one lane add the sum.
- Count in shared memory, and add the block's counts to global memory once.
"""

from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.report.model import Report
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.memory:
            if site.space == "global" and (site.same_address or 0) > 1:
                sure = kernel.isa == "sass" and site.status in (Status.EXACT, Status.INVARIANT)
                what = f"{site.opcode}: up to {site.same_address} lanes of a request access the same address"
                yield Finding("PA012", what, kernel, site, certainty=Certainty.CERTAIN if sure else Certainty.POSSIBLE)


_SOURCE = """
extern "C" __global__ void count(float* counts) {
    atomicAdd(counts + threadIdx.xINDEX, threadIdx.x * 0.5f);
}
"""

RULE = Rule(
    id="PA012",
    name="same-address-global-atomics",
    title="Global atomics on the same address",
    level="note",
    check=check,
    of_memory=lambda site: site.space == "global" and site.access == "atomic",
    example=Example(
        triggers=_SOURCE.replace("INDEX", " / 4"),
        clean=_SOURCE.replace("INDEX", ""),
        options={
            "space": "global",
            "isa": "sass",
            "assume": {"*": 256},
            "launches": [{"kernel": "count", "grid": (1,), "block": (256,)}],
        },
    ),
)
