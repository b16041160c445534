"""A request to global memory moves more sectors than its bytes need.

Global memory transfers sectors of 32 bytes. A warp whose lanes access consecutive bytes, starting
at a multiple of 32, moves no more than it needs; lanes that are far apart move one sector each and
use few of its bytes. Audit global memory with `--space global` or `--space all`. If a pointer's
alignment is not specified (`--assume ptr%256`), findings that depend on it are only possible.

What to do
- Let neighbouring lanes access neighbouring elements: exchange the indices, or the layout (a
  structure of arrays instead of an array of structures).
- Go through shared memory if one side must be read in another order, as in a transpose.
- Pad rows so that they begin at multiples of 32 bytes.
"""

from collections.abc import Iterator

from ptxaudit.base.words import interval
from ptxaudit.report.model import MemorySite, Report
from ptxaudit.review.figures import excess_of_request
from ptxaudit.review.findings import Certainty, Finding, certainty_of
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.memory:
            if site.space == "global":
                low, high = excess_of_request(site)
                certainty = certainty_of(site, low, high)
                if certainty is not None:
                    yield Finding("PA011", _cost(site, certainty), kernel, site, certainty=certainty)


def _cost(site: MemorySite, certainty: Certainty) -> str:
    if certainty is Certainty.UNKNOWN:
        return f"{site.opcode}: its number of sectors is unknown" + (f": {site.reason}" if site.reason else "")
    why = f": {site.cause}" if site.cause else ""
    if site.sectors_excess:
        return (
            f"{site.opcode}: {site.sectors:,} sectors over the launch where {site.sectors_ideal:,} hold its bytes{why}"
        )
    each, ideal = site.per_request, site.ideal_per_request
    bounds = (
        ""
        if each is None or ideal is None
        else f": {interval(each.low, each.high)} sectors, its bytes need {interval(ideal.low, ideal.high)}"
    )
    return (
        f"{site.opcode}: a request {'moves' if certainty is Certainty.CERTAIN else 'may move'} more than its"
        f" bytes{bounds}"
    )


_SOURCE = """
extern "C" __global__ void copy(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x * STEP];
}
"""

RULE = Rule(
    id="PA011",
    name="uncoalesced-access",
    title="Uncoalesced access to global memory",
    level="note",
    check=check,
    of_memory=lambda site: site.space == "global",
    example=Example(
        triggers=_SOURCE.replace("STEP", "8"),
        clean=_SOURCE.replace(" * STEP", ""),
        options={
            "space": "global",
            "assume": {"*": 256},
            "launches": [{"kernel": "copy", "grid": (1,), "block": (256,)}],
        },
    ),
)
