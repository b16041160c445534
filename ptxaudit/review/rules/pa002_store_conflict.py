"""A store to shared memory takes more wavefronts than necessary because of bank conflicts.

This is PA001 for `st.shared`, `stmatrix` and `cp.async.ca`. Lanes that store to the same word do
not conflict (one of them wins); stores to different words of one bank are serialised. Bulk copies,
and stores that no hardware counter covers, are not judged.

What to do
- Pad the array (`tile[32][33]`), or swizzle the column in the store and in the loads alike:
  `tile[row][col ^ (row % 32)]`.
- If either the store or the load must conflict, choose the one that runs less often.
`ptxaudit explain INPUT SITE` draws the bank that each lane accesses.
"""

from ptxaudit.review.rules import Example, Rule
from ptxaudit.review.rules._conflicts import WRITES, concerned, conflicts

_SOURCE = """
extern "C" __global__ void column(const float* in, float* out) {
    __shared__ float tile[32][PITCH];
    tile[threadIdx.x][threadIdx.y] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
"""

RULE = Rule(
    id="PA002",
    name="store-conflict",
    title="Bank conflict in a store",
    level="warning",
    check=lambda report: conflicts(report, "PA002", WRITES),
    concerns=lambda kernel, site: concerned(WRITES, site),
    example=Example(
        triggers=_SOURCE.replace("PITCH", "32"),
        clean=_SOURCE.replace("PITCH", "33"),
        options={"launches": [{"kernel": "column", "grid": (1,), "block": (32, 32)}]},
    ),
)
