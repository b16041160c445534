"""Lanes of an atomic operation are serialised: they access one word, or words of one bank.

Unlike a load, an atomic cannot serve several lanes with one word at once: n lanes on the same
counter take n wavefronts. Counters of different lanes in one bank are serialised as well. If
ptxas proves that all lanes add the same constant, it may combine them into one operation
(`ATOMS.POPC.INC`). Machine code shows this (`--isa sass`); PTX figures are then a range.

What to do
- Give each warp or lane its own counter and sum them at the end: a histogram with a copy for each
  warp, or `bins[bin][lane]`.
- Combine within the warp first: `__match_any_sync` and one atomic by the leader, or
  `__reduce_add_sync`.
"""

from ptxaudit.review.rules import Example, Rule
from ptxaudit.review.rules._conflicts import TURNS, concerned, conflicts

_SOURCE = """
extern "C" __global__ void count(float* out) {
    __shared__ float bins[32];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicExch(&bins[INDEX], 1.0f);
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
"""

RULE = Rule(
    id="PA003",
    name="same-address-atomics",
    title="Serialised atomics",
    level="warning",
    check=lambda report: conflicts(report, "PA003", TURNS),
    concerns=lambda kernel, site: concerned(TURNS, site),
    example=Example(
        triggers=_SOURCE.replace("INDEX", "threadIdx.x % 2"),
        clean=_SOURCE.replace("INDEX", "threadIdx.x"),
        options={"launches": [{"kernel": "count", "grid": (1,), "block": (32,)}]},
    ),
)
