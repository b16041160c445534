"""A register is spilled to memory inside a loop.

If a kernel needs more registers than it may use, ptxas spills some: it stores them to local memory
and loads them again later. Outside loops this costs little; in a loop it is paid in every
iteration, four sectors per warp for each store and load. Since CUDA 13, a kernel may request spills
to shared memory, which take one wavefront for each store and load, and shared memory. Spills exist
in machine code (`--isa sass`), which marks them since CUDA 12.6; audit those to local memory with
`--space local` or `--space all`. How often they run depends on the launch.

What to do
- Allow more registers: a smaller block in `__launch_bounds__`, or a larger `--maxrregcount`.
- Keep fewer values live across the loop: a smaller tile per thread, or less unrolling.
"""

from collections.abc import Iterator

from ptxaudit.report.model import Report
from ptxaudit.report.shares import warps_of
from ptxaudit.review.findings import Finding
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        warps = warps_of(kernel)
        for site in kernel.accesses:
            if site.kind == "spill" and warps and site.requests is not None and site.requests > warps:
                times = site.requests / warps
                yield Finding(
                    "PA013",
                    f"{site.opcode}: a spill to {site.space} memory that runs {times:,.3g} times per warp",
                    kernel,
                    site,
                )


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
    concerns=lambda kernel, site: site.kind == "spill",
    of_memory=lambda site: site.kind == "spill",
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
