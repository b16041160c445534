"""The address of a vector access is not a multiple of its width.

The hardware faults on such an access (`cudaErrorMisalignedAddress`): 8-byte accesses need
multiples of 8, 16-byte accesses multiples of 16, in every lane. A finding is certain if the launch
or the lane index leads to such an address. It is possible if an unknown number (a parameter, a
counter) multiplies a step that is not a multiple of the width.

What to do
- Make the row pitch a multiple of the vector, and the array `alignas(16)`.
- Access single elements if the start of the data is not aligned.
- Specify the launch, or `--assume NAME%16` if the number is known to be a multiple.
"""

from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.base.words import listing
from ptxaudit.ir.reasons import Kind
from ptxaudit.report.model import MemorySite, Report, Site
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule

MISALIGNED = Kind.MISALIGNED.text
ACCESSES = frozenset(("load", "store", "cp.async", "ldmatrix", "stmatrix", "atomic"))
VECTOR = 8  # bytes: the narrowest vector access


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for site in kernel.accesses:
            if site.why is not None and any(why.kind == MISALIGNED for why in site.why.walk()):
                what = site.reason if site.reason_kind == MISALIGNED else f"{site.opcode}: {site.reason}"
                yield Finding("PA006", what, kernel, site)
            elif not concerned(site) or site.status is Status.UNREACHED:
                continue
            elif site.unaligned is None:
                what = f"{site.opcode}: its address is unknown" + (f": {site.reason}" if site.reason else "")
                yield Finding("PA006", what, kernel, site, certainty=Certainty.UNKNOWN)
            elif site.unaligned:
                what = (
                    f"its address moves by {listing(list(site.unaligned), 'or')}, which may not be a multiple of"
                    f" {site.width}"
                )
                yield Finding("PA006", f"{site.opcode}: {what}", kernel, site, certainty=Certainty.POSSIBLE)


def concerned(site: Site | MemorySite) -> bool:
    """A vector access, which faults at a misaligned address."""
    return (site.width or 0) >= VECTOR and site.access in ACCESSES


_SOURCE = """
extern "C" __global__ void __launch_bounds__(32) rows(float* out, int n) {
    __shared__ alignas(16) float tile[2048];
    for (int i = threadIdx.x; i < 2048; i += 32) tile[i] = i;
    __syncthreads();
    float4 v = *reinterpret_cast<const float4*>(&tile[STEP * n + threadIdx.x * 4]);
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
"""

RULE = Rule(
    id="PA006",
    name="misaligned-vector",
    title="Misaligned vector access",
    level="error",
    check=check,
    concerns=lambda kernel, site: concerned(site),
    of_memory=concerned,
    example=Example(
        triggers=_SOURCE.replace("STEP", "1"),
        clean=_SOURCE.replace("STEP", "4"),
    ),
)
