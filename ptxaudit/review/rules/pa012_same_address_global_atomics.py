"""Lanes of a global atomic access one address and are serialised in L2.

A load of one address by all lanes moves one sector, once. An atomic operation on one address moves
it once per lane: hardware counters show 32 sectors if 32 lanes add to one counter
(docs/hardware.md, Where the profiler differs). If ptxas proves that all lanes use one address, it
combines their values first, which machine code shows (`--isa sass`). Atomics at addresses that depend
on data are not judged. Audit global memory with `--space global` or `--space all`.

What to do
- Sum within the warp first (`__reduce_add_sync`, `__match_any_sync`), and let one lane add the sum.
- Count in shared memory, and add the block's counts to global memory once.
"""

from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.ir.reasons import Kind
from ptxaudit.report.model import Kernel, MemorySite, Report
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.memory:
            if concerned(site) and (certainty := _certainty(kernel, site)) is not None:
                yield Finding("PA012", _what(site), kernel, site, certainty=certainty)


def concerned(site: MemorySite) -> bool:
    """An atomic operation in global memory."""
    return site.space == "global" and site.access == "atomic"


def _certainty(kernel: Kernel, site: MemorySite) -> Certainty | None:
    """The certainty of a finding; None if no two lanes of a request access one address."""
    idle = site.per_request is not None and site.per_request.high == 0
    if site.status is Status.UNREACHED or idle or site.same_address in (0, 1):
        return None
    if site.same_address is None:
        return Certainty.UNKNOWN
    sure = site.status is Status.EXACT or site.alike and not _lanes_open(site)
    return Certainty.CERTAIN if sure and kernel.isa == "sass" else Certainty.POSSIBLE


def _lanes_open(site: MemorySite) -> bool:
    """Fewer lanes than those that are counted may be active."""
    return site.why is not None and any(why.kind == Kind.LANES_COST_ALIKE.text for why in site.why.walk())


def _what(site: MemorySite) -> str:
    if site.same_address is None:
        what = "whether lanes of a request access the same address is unknown"
        return f"{site.opcode}: {what}" + (f": {site.reason}" if site.reason else "")
    return f"{site.opcode}: up to {site.same_address} lanes of a request access the same address"


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
    of_memory=concerned,
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
