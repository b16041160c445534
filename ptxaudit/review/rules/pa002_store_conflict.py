"""A store to shared memory takes more wavefronts than it needs: lanes meet in a bank.

The same as PA001 for `st.shared`, `stmatrix` and copies `cp.async.ca` that write to shared
memory. Lanes that store to the same word do not conflict (one of them wins); lanes that store to
different words of one bank take turns. Bulk copies and stores that no counter sees are not judged.

What to do
- Change the pitch of the array (`tile[32][33]`), or swizzle the column, on the store and on the
  loads alike: `tile[row][col ^ (row % 32)]`.
- Where one side must conflict, let it be the one that runs less often.
`ptxaudit explain INPUT SITE` draws which lanes meet in which bank.
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
    title="Bank conflict of a store",
    level="warning",
    check=lambda report: conflicts(report, "PA002", WRITES),
    concerns=lambda kernel, site: concerned(WRITES, site),
    example=Example(
        triggers=_SOURCE.replace("PITCH", "32"),
        clean=_SOURCE.replace("PITCH", "33"),
        options={"launches": [{"kernel": "column", "grid": (1,), "block": (32, 32)}]},
    ),
)
