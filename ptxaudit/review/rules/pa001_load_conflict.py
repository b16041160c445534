"""A load from shared memory takes more wavefronts than it needs: lanes meet in a bank.

Shared memory has 32 banks of 4 bytes. A wavefront serves one word of each bank; a request whose
lanes need several words of one bank takes as many wavefronts. *Excess* is what a request takes
above the number that its bytes need anyway.

What to do
- Change the pitch of the array so that the lanes' stride in words is odd: `tile[32][33]`.
- Or keep the pitch and swizzle the column: `tile[row][col ^ (row % 32)]`; vectors want the
  swizzle in units of the vector.
- Or let neighbouring lanes read neighbouring words, and transpose elsewhere.
`ptxaudit explain INPUT SITE` draws which lanes meet in which bank.

The matrix loads `ldmatrix` are judged by the same rule: there each lane's address is a row. Products
of tensor cores (`wgmma`) read shared memory too: one of which nothing is proved is not judged.
"""

from ptxaudit.review.rules import Example, Rule
from ptxaudit.review.rules._conflicts import READS, concerned, conflicts

_SOURCE = """
extern "C" __global__ void column(const float* in, float* out) {
    __shared__ float tile[32][PITCH];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""

RULE = Rule(
    id="PA001",
    name="load-conflict",
    title="Bank conflict of a load",
    level="warning",
    check=lambda report: conflicts(report, "PA001", READS),
    concerns=lambda kernel, site: concerned(READS, site),
    example=Example(
        triggers=_SOURCE.replace("PITCH", "32"),
        clean=_SOURCE.replace("PITCH", "33"),
        options={"launches": [{"kernel": "column", "grid": (1,), "block": (32, 32)}]},
    ),
)
