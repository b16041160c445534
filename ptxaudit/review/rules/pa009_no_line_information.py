"""A kernel has shared-memory accesses without a source position.

Without line information, a finding can only name an instruction, comments that allow a finding do
not apply, and sites are matched across builds by their order alone.

What to do
- Compile with `-lineinfo` (nvcc and NVRTC), which costs nothing at run time. `-G` is not needed,
  and changes the code.
- Triton and Numba enable it by default; `ptxas` keeps it with `--generate-line-info`.
"""

from collections.abc import Iterator

from ptxaudit.base.words import plural
from ptxaudit.report.model import Report
from ptxaudit.review.findings import Finding, Place
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        without = tuple(site for site in kernel.sites if site.source is None)
        if without:
            what = (
                f"{kernel.demangled}: {plural(len(without), 'shared-memory access', 'shared-memory accesses')} without"
                " line information"
            )
            yield Finding("PA009", what, kernel, place=Place(kernel.input), sites=without)


_PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
    .shared .align 4 .b8 s[128];
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.s32 %r2, %r2, %r3;
    LOC
    st.shared.u32 [%r2], %r1;
    ret;
}
.file 1 "k.cu"
"""

RULE = Rule(
    id="PA009",
    name="no-line-information",
    title="Missing line information",
    level="note",
    check=check,
    concerns=lambda kernel, site: True,
    example=Example(triggers=_PTX.replace("LOC", ""), clean=_PTX.replace("LOC", ".loc 1 3 5")),
)
