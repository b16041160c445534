"""The result of a barrier (`__syncthreads_count`, `_or`, `_and`): a known number where the predicates of all threads of
the block are known, and otherwise one unknown that the block shares.
"""

from __future__ import annotations

import numpy as np

import ptxaudit

BLOCKS = 3
IN = np.arange(4096, dtype=np.int32)
HEAD = (
    'extern "C" __global__ void k{}(float* out, const int* in, const int* open, int n)'
    " {{ __shared__ float s[8192]; int x = threadIdx.x;"
)
USE = "out[x] = s[(x * a) % 8192]; }"
# a is the stride in words: a power of two up to 32 causes an a-way conflict
KNOWN = {
    "count of some": ("int a = __syncthreads_count(x % 48 < 2);", 64, 4),
    "count of all, no whole warps": ("int a = __syncthreads_count(1) / 5;", 40, 8),
    "or of one in another warp": ("int a = __syncthreads_or(x == 63) ? 8 : 1;", 64, 8),
    "or of none": ("int a = __syncthreads_or(x > 63) ? 8 : 1;", 64, 1),
    "and of all, no whole warps": ("int a = __syncthreads_and(x >= 0 && x < 40) ? 16 : 1;", 40, 16),
    "and of all but one": ("int a = __syncthreads_and(x != 63) ? 16 : 2;", 64, 2),
    "of given data": ("int a = __syncthreads_count(in[x] % 16 == 3);", 64, 4),
    "of a parameter": ("int a = __syncthreads_or(x * n == 70) ? 4 : 2;", 64, 4),
    "of the result of a barrier": (
        "int b = __syncthreads_count(in[x] < 30); int a = __syncthreads_count(x < b - 28) * 4;",
        64,
        8,
    ),
    "of what other threads have written": (
        "__shared__ int t[64]; t[x] = x * 3; __syncthreads(); int a = __syncthreads_count(t[(x + 1) % 64] == 9) * 16;",
        64,
        16,
    ),
    # as measured (`TrackedMemory`)
    "where a lane has ended": ("if (x == 5) return; int a = __syncthreads_or(x == 3) ? 8 : 1;", 64, 8),
    "count where lanes of a warp have ended": ("if (x > 60) return; int a = __syncthreads_count(x > 52);", 64, 8),
    "and where the one that says no has ended": (
        "if (x == 5) return; int a = __syncthreads_and(x != 5) ? 8 : 1;",
        64,
        8,
    ),
    "where the count is in a register": (
        'int a; asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 4; barrier.red.popc.u32 %0, 1, %2, p; }" : "=r"(a) '
        ': "r"(x), "r"(blockDim.x));',
        64,
        4,
    ),
    "of each warp by itself": (
        'int a; asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 4; barrier.red.popc.u32 %0, 1, 32, p; }" : "=r"(a) '
        ': "r"(x % 32));',
        64,
        4,
    ),
    "under a predicate that whole warps share": (
        "if (x == 70) return; int a = 1; if (x < 32) a = __syncthreads_count(x % 8 == 3); else a = "
        "__syncthreads_count(x % 8 == 3);",
        64,
        8,
    ),
    "by blocks in different trips, then of another kind": (
        "__shared__ int t[2][64]; t[0][x] = x; __syncthreads(); int c = 0, moved; do { int m = t[c][x], l = t[c][x >> 1];"
        " t[c ^ 1][x] = x < 16 << blockIdx.x ? l : m; c ^= 1; moved = __syncthreads_or(x < 16 << blockIdx.x && l != m);"
        " } while (moved); int a = __syncthreads_count(t[c][x] == 0) >> blockIdx.x; a = a == 16 ? 4 : 1;",
        64,
        4,
    ),
    "by warps in turn": ("if (x < 32) s[x] = 1; int a = __syncthreads_or(x == 3) ? 2 : 1;", 64, 2),
}
LOOP = "int a = 0; for (int i = 0; i < 5; i++) a += __syncthreads_count(x == i); a = a == 5 ? 8 : 1;"
UNKNOWN = {
    "of data that nothing specifies": ("int a = __syncthreads_or(open[x] > 1) ? 8 : 1;", 64),
    "of half of the threads": (
        'int a; asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 4; barrier.red.popc.u32 %0, 1, 64, p; }" : "=r"(a) '
        ': "r"(x));',
        128,
    ),
    "of all threads or of half, under one number": (
        'int a; asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 4; barrier.red.popc.u32 %0, 1, 64, p;'
        ' barrier.sync 1, 32; }" : "=r"(a) : "r"(x));',
        64,
    ),
    "where threads may have ended": ("if (open[x] == 5) return; int a = __syncthreads_or(x == 3) ? 8 : 1;", 64),
    "of warps of one block at two kinds": (
        'int a; if (x < 32) asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %1, 4; barrier.red.or.pred q, 1, %2, p;'
        ' selp.s32 %0, 8, 1, q; }" : "=r"(a) : "r"(x), "r"(blockDim.x)); else asm volatile("{ .reg .pred p;'
        ' setp.lt.s32 p, %1, 36; barrier.red.popc.u32 %0, 1, %2, p; }" : "=r"(a) : "r"(x), "r"(blockDim.x));',
        64,
    ),
    "in a branch on data": ("int a = 1; if (open[0] > 1) a = __syncthreads_count(x < 4);", 64),
}


def audited(tmp_path, ways: dict[str, tuple]) -> dict[tuple[str, str], object]:
    """(case, isa) -> the access whose stride the barrier decides."""
    path = tmp_path / "k.cu"
    path.write_text("\n".join(f"{HEAD.format(at)}\n{way}\n{USE}" for at, (way, *_) in enumerate(ways.values())))
    given = [np.zeros(4096, np.float32), IN, None, 2]
    launches = [
        ptxaudit.Launch(f"k{at}", grid=BLOCKS, block=threads, params=given)
        for at, (_, threads, *_) in enumerate(ways.values())
    ]
    report = ptxaudit.audit(path, arch="sm_90", isa="both", launches=launches)
    names = list(ways)
    return {
        (names[int(kernel.name[1:])], str(kernel.isa)): max(
            (site for site in kernel.sites if "ld" in site.opcode.lower()), key=lambda site: site.source.line
        )
        for kernel in report.kernels
    }


def test_barrier_results_of_known_predicates_are_exact(tmp_path):
    for key, site in audited(tmp_path, KNOWN | {"in a loop": (LOOP, 64, 8)}).items():
        _, threads, ways = (KNOWN | {"in a loop": (LOOP, 64, 8)})[key[0]]
        warps = -(-threads // 32)
        rest = min(ways, threads % 32 * ways // 32) if threads % 32 else ways
        assert str(site.status) == "exact", (key, site.reason)
        assert site.requests == warps * BLOCKS, key
        assert site.wavefronts == ((warps - 1) * ways + max(rest, 1)) * BLOCKS, (key, site.wavefronts)


def test_barrier_results_of_unknown_predicates_are_not_exact(tmp_path):
    """No figure, or a range that includes both results."""
    for key, site in audited(tmp_path, UNKNOWN).items():
        assert str(site.status) not in ("exact", "invariant"), (key, site.wavefronts)
