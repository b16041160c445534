"""A register is spilled to memory inside a loop.

If a kernel needs more registers than it may use, ptxas spills some: it stores them to local memory
and loads them again later. Outside loops this costs little; in a loop it is paid in every
iteration, four sectors per warp for each store and load. Since CUDA 13, a kernel may request spills
to shared memory, which take one wavefront for each store and load, and shared memory. Spills exist
in machine code (`--isa sass`), which marks them since CUDA 12.6; audit those to local memory with
`--space local` or `--space all`. How often they run depends on the launch: without one they are not
judged, nor are accesses to the stack that may be spills, in files that do not mark them.

What to do
- Allow more registers: a smaller block in `__launch_bounds__`, or a larger `--maxrregcount`.
- Keep fewer values live across the loop: a smaller tile per thread, or less unrolling.
"""

from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.hardware.opcode_classes import is_of_stack
from ptxaudit.report.model import AnySite, Report
from ptxaudit.report.shares import warps_of
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        warps = warps_of(kernel)
        for site in kernel.accesses:
            if not concerned(site) or site.status is Status.UNREACHED or site.requests == 0:
                continue
            if not warps or site.requests is None:
                yield Finding("PA013", _open(site), kernel, site, certainty=Certainty.UNKNOWN)
            elif site.requests > warps:
                often = f"runs {site.requests / warps:,.3g} times per warp"
                what = f"{site.opcode}: a spill to {site.space} memory that {often}"
                if site.kind == "spill":
                    yield Finding("PA013", what, kernel, site)
                else:
                    what = f"{site.opcode}: an access to the stack that {often} may be a spill"
                    yield Finding("PA013", what, kernel, site, certainty=Certainty.UNKNOWN)


def concerned(site: AnySite) -> bool:
    """A spill, or an access to the stack that may be one: files before CUDA 12.6 do not mark spills."""
    return site.kind == "spill" or site.kind is None and is_of_stack(site.opcode)


def _open(site: AnySite) -> str:
    subject = f"a spill to {site.space} memory" if site.kind == "spill" else "an access to the stack"
    whether = f"{site.opcode}: how often {subject} runs is unknown"
    return whether + (f": {site.reason}" if site.reason else "")


_SOURCE = """
extern "C" __global__ void __launch_bounds__(BOUNDS) heavy(const float* in, float* out, int n) {
    float v[48];
#pragma unroll
    for (int k = 0; k < 48; k++) v[k] = in[threadIdx.x + k * 32];
    for (int t = 0; t < n; t++) {
#pragma unroll
        for (int k = 0; k < 48; k++) v[k] = v[k] * v[(k * 7 + 1) % 48] + v[(k + 3) % 48];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 48; k++) sum += v[k] * (k + 1);
    out[threadIdx.x] = sum;
}
"""

RULE = Rule(
    id="PA013",
    name="spill-in-loop",
    title="Spill in a loop",
    level="note",
    check=check,
    concerns=lambda kernel, site: concerned(site),
    of_memory=concerned,
    example=Example(
        triggers=_SOURCE.replace("BOUNDS", "1024, 2"),
        clean=_SOURCE.replace("BOUNDS", "128"),
        options={
            "space": "local",
            "isa": "sass",
            "launches": [{"kernel": "heavy", "grid": (1,), "block": (32,), "params": [None, None, 9]}],
        },
    ),
)
