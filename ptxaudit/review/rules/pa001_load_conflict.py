"""A load from shared memory takes more wavefronts than necessary because of bank conflicts.

Shared memory has 32 banks of 4 bytes. A wavefront serves one word of each bank; a request whose
lanes need n words of one bank takes at least n wavefronts. *Excess* is the number of wavefronts
above those that the request's bytes need anyway.

What to do
- Pad the array so that the lanes' stride in words is odd: `tile[32][33]`.
- Or keep the pitch and swizzle the column: `tile[row][col ^ (row % 32)]`. For vector accesses,
  swizzle in units of the vector.
- Or let neighbouring lanes read neighbouring words, and transpose elsewhere.
`ptxaudit explain INPUT SITE` draws the bank that each lane accesses.

The rule also covers the matrix loads `ldmatrix`, where each lane's address is a row. Tensor core
products (`wgmma`) read shared memory too; those without a proved figure are not judged.
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
    title="Bank conflict in a load",
    level="warning",
    check=lambda report: conflicts(report, "PA001", READS),
    concerns=lambda kernel, site: concerned(READS, site),
    example=Example(
        triggers=_SOURCE.replace("PITCH", "32"),
        clean=_SOURCE.replace("PITCH", "33"),
        options={"launches": [{"kernel": "column", "grid": (1,), "block": (32, 32)}]},
    ),
)
