"""A request to global memory moves more sectors than its bytes need.

Global memory moves in sectors of 32 bytes. A warp whose lanes access bytes side by side, from an
address that is a multiple of 32, moves no others; lanes that are far apart move a sector each, of
which most bytes are not used. Accesses to global memory are looked at with `--space global` or
`--space all`; where a pointer's place is not specified (`--assume ptr%256`), what it decides is possible only.

What to do
- Let neighbouring lanes access neighbouring elements: exchange the indices, or the layout
  (an array for each member instead of an array of structures).
- Go through shared memory where one side has to be read the other way, as a transpose has.
- Begin rows at multiples of 32 bytes: pad them.
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
        return f"{site.opcode}: its sectors are not known" + (f": {site.reason}" if site.reason else "")
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
