"""An array in local memory is indexed by a value that differs between lanes.

A thread's array cannot live in registers if its index is not a compile-time constant; it goes to
local memory instead, which resides in device memory. Its words are interleaved by thread. Lanes that access the
same element share a 128-byte line. Lanes that access different elements take a line each, up to 32.

What to do
- Index by a value that is uniform across lanes, or unroll so that the index is a constant.
- Put the array into shared memory with the lane as the fastest index, `a[i][lane]`: this is free
  of conflicts for any i.
- For a few elements, select instead of indexing.
"""

from collections.abc import Iterator

from ptxaudit.report.model import Report
from ptxaudit.review.findings import Certainty, Finding, Place
from ptxaudit.review.rules import Example, Rule

_BY = {"lane": "the lane's number", "data": "loaded data"}


def check(report: Report) -> Iterator[Finding]:
    for kernel in report.kernels:
        for access in kernel.local:
            place = None if access.source else Place(kernel.input, access.ptx_line if kernel.is_ptx_file else None)
            what = f"{access.opcode}: an array in local memory is indexed by {_BY[access.by]}"
            certainty = Certainty.CERTAIN if access.by == "lane" else Certainty.POSSIBLE  # the loaded data may be equal
            yield Finding("PA008", what, kernel, source=access.source, place=place, certainty=certainty)


_SOURCE = """
extern "C" __global__ void turn(float* out, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[i * n];
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += a[INDEX & 15];
    out[threadIdx.x] = sum;
}
"""

RULE = Rule(
    id="PA008",
    name="lane-indexed-local",
    title="Local-memory array indexed by lane",
    level="note",
    check=check,
    example=Example(
        triggers=_SOURCE.replace("INDEX", "(threadIdx.x + i)"),
        clean=_SOURCE.replace("INDEX", "(i * 3)"),
    ),
)
