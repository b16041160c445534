"""A lane accesses adjacent addresses one by one instead of with one vector access.

Accesses of 4 bytes at `p`, `p + 4`, `p + 8` and `p + 12` by each lane are four requests, each of
which uses a quarter of its sectors; one access of 16 bytes is a single request. Compilers merge
them only if they can prove that the address is a multiple of 16 and that nothing is written in
between, and a new release may prove less (`ptxaudit diff` shows accesses that became narrower).
A finding is certain if the launch, or `--assume NAME%16`, establishes the alignment, and possible
if it is unknown. Audit global memory with `--space global` or `--space all`.

What to do
- Access through `float4`, `int2` or a structure that is `alignas(16)`, or use
  `__builtin_assume_aligned`.
- Declare read-only pointers `const __restrict__`, and load before you store.
"""

from collections.abc import Iterator

from ptxaudit.report.model import MemorySite, Report
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule

WIDEST = 16  # bytes


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.memory:
            if site.vector is not None and site.width:
                yield Finding("PA014", _cost(site, site.vector // site.width), kernel, site, certainty=_certainty(site))


def _cost(site: MemorySite, count: int) -> str:
    return (
        f"{site.opcode}: {count} accesses of {site.width} bytes at adjacent addresses of a lane could be one of"
        f" {site.vector}"
    )


def _certainty(site: MemorySite) -> Certainty:
    aligned = site.aligned is not None and site.vector is not None and site.aligned % site.vector == 0
    if site.alike and aligned:
        return Certainty.CERTAIN
    return Certainty.UNKNOWN if site.consecutive is None else Certainty.POSSIBLE


def concerned(site: MemorySite) -> bool:
    """A load or store of global memory that is narrower than the widest."""
    return site.space == "global" and site.access in ("load", "store") and (site.width or WIDEST) < WIDEST


_SOURCE = """
extern "C" __global__ void __launch_bounds__(64) sum(const float* in, float* out) {
    const float* p = in + threadIdx.x * STEP;
    out[threadIdx.x] = p[0] + p[1] + p[2] + p[3];
}
"""

RULE = Rule(
    id="PA014",
    name="lost-vector-width",
    title="Adjacent accesses that could be one vector",
    level="note",
    check=check,
    of_memory=concerned,
    example=Example(
        triggers=_SOURCE.replace("STEP", "4"),
        clean=_SOURCE.replace("STEP", "1"),
        options={
            "space": "global",
            "assume": {"*": 256},
            "launches": [{"kernel": "sum", "grid": (1,), "block": (64,)}],
        },
    ),
)
