"""Numbers that blocks draw from an atomic counter.

What depends on them sums to the same as for block indices if every block draws once; where that is uncertain, nothing
is claimed.
"""

from __future__ import annotations

import numpy as np
import pytest

import ptxaudit

BLOCKS, THREADS = 9, 64
HEAD = "__shared__ unsigned tile; __shared__ float s[8192]; const unsigned x = threadIdx.x;"
USE = """
__syncthreads();
const unsigned t = tile;
s[x * (t % 5 + 1)] = x;
__syncthreads();
if (t > 5) out[x] = s[(x * t * 4) % 8192];
"""
ONCE = {
    "one thread": ("if (x == 0) tile = atomicAdd(counter, 1u);", 1),
    "the last thread, by threes": ("if (x == blockDim.x - 1) tile = atomicAdd(counter, 3u);", 3),
    "down": ("if (x == 0) tile = 20 - atomicSub(counter, 1u);", 1),
    "around in time": ("if (x == 0) tile = atomicInc(counter, 1000u);", 1),
    "by one lane of a warp": ("if (x < 32 && x % 32 == 7) tile = atomicAdd(counter, 1u);", 1),
    "behind what all blocks do": ("if (x == 0 && n > 3) tile = atomicAdd(counter, 1u);", 1),
    "with a fence, and a look at it": (
        "if (x == 0) { tile = atomicAdd(counter, 1u); __threadfence(); out[0] = *counter; }",
        1,
    ),
}
NOT_ONCE = {
    "twice": "if (x == 0) tile = atomicAdd(counter, 1u) + atomicAdd(counter, 1u);",
    "by two instructions, one each": "if (x == 0) tile = in[0] > 1 ? atomicAdd(counter, 1u) : atomicAdd(counter, 2u);",
    "by two lanes": "if (x < 2) { const unsigned mine = atomicAdd(counter, 1u); if (x == 0) tile = mine; }",
    "by a warp": "if (x < 32) { const unsigned mine = atomicAdd(counter, x); if (x == 0) tile = mine; }",
    "by each warp": "if (x % 32 == 0) { const unsigned mine = atomicAdd(counter, 1u); if (x == 0) tile = mine; }",
    "in a loop": "if (x == 0) for (int i = 0; i < 2; i++) tile = atomicAdd(counter, 1u);",
    "in a loop of data": "if (x == 0) for (int i = 0; i <= in[0]; i++) tile = atomicAdd(counter, 1u);",
    "behind a branch on data": "if (x == 0 && in[0] > 1) tile = atomicAdd(counter, 1u); else if (x == 0) tile = 3;",
    "as much as data says": "if (x == 0) tile = atomicAdd(counter, (unsigned)in[0]);",
    "as much as the block's number": "if (x == 0) tile = atomicAdd(counter, blockIdx.x);",
    "by some blocks": "if (x == 0) tile = blockIdx.x % 2 ? atomicAdd(counter, 1u) : 3;",
    "around too soon": "if (x == 0) tile = atomicInc(counter, 7u);",
    "in no order": "if (x == 0) tile = atomicMax(counter, 5u);",
    "and put back": "if (x == 0) { tile = atomicAdd(counter, 1u); if (tile == gridDim.x - 1) *counter = 0; }",
    "and moved by another": "if (x == 0) tile = atomicAdd(counter, 1u); if (x == 1) atomicAdd(counter, 1u);",
    "in fractions": "if (x == 0) tile = (unsigned)atomicAdd((float*)counter, 1.f);",
    "of a place that data names": "if (x == 0) tile = atomicAdd(counter + (unsigned)in[0] % 2, 1u);",
    "beside the block's number": "if (x == 0) tile = atomicAdd(counter, 1u) ^ blockIdx.x;",
}


def source(kernels: dict[str, str]) -> str:
    """One kernel per name; its two accesses that the number decides are lines 4 and 6 of nine."""
    return "\n".join(
        f'extern "C" __global__ void {name}(unsigned* counter, const float* in, float* out, int n)'
        " {\n" + HEAD + draw + USE + "}\n"
        for name, draw in kernels.items()
    )


def audited(tmp_path, kernels: dict[str, str], counter: object) -> dict[tuple[str, str], list]:
    """(kernel, isa) -> the sites that the number decides."""
    path = tmp_path / "k.cu"
    path.write_text(source(kernels))
    launches = [
        ptxaudit.Launch(name, grid=(BLOCKS,), block=(THREADS,), params=[counter, None, None, 5]) for name in kernels
    ]
    report = ptxaudit.audit(path, arch="sm_90", isa="both", launches=launches)
    lines = {
        at + 1: line
        for at, line in enumerate(path.read_text().splitlines())
        if line.startswith(("s[x * (t", "if (t >"))
    }
    found: dict[tuple[str, str], list] = {}
    for kernel in report.kernels:
        found[kernel.name, str(kernel.isa)] = [site for site in kernel.sites if site.source.line in lines]
    return found


def test_ticket_per_block_sums_as_the_block_index(tmp_path):
    names = [f"k{at}" for at in range(len(ONCE))]
    drawn = audited(tmp_path, dict(zip(names, (draw for draw, _ in ONCE.values()))), np.full(1, 20, "u4"))
    alike = {f"k{at}": f"tile = blockIdx.x * {step}u + 20u;" for at, (_, step) in enumerate(ONCE.values())}
    alike["k2"], alike["k3"] = "tile = blockIdx.x;", "tile = blockIdx.x + 20u;"
    expected = audited(tmp_path, alike, np.full(1, 20, "u4"))
    for (name, isa), sites in drawn.items():
        figures = [(str(s.status), s.requests, s.wavefronts, s.ideal) for s in sites]
        assert figures == [(str(s.status), s.requests, s.wavefronts, s.ideal) for s in expected[name, isa]], (name, isa)
        assert [status for status, *_ in figures] == ["exact", "exact"], (name, isa)


def test_block_index_beside_a_ticket_is_exact(tmp_path):
    other = "out[x] = s[x * (blockIdx.x % 3 + 1)]; if (blockIdx.x > 4) out[x + 1] = s[4096 + x * 2];"
    sums = [
        [(str(s.status), s.requests, s.wavefronts) for s in sites]
        for draw in (ONCE["one thread"][0], "tile = blockIdx.x;")
        for _, sites in sorted(audited(tmp_path, {"k": other + draw}, np.zeros(1, "u4")).items())
    ]
    assert sums[:2] == sums[2:] and {status for sites in sums for status, *_ in sites} == {"exact"}


def test_counters_drawn_several_times_are_not_exact(tmp_path):
    kernels = {f"k{at}": draw for at, draw in enumerate(NOT_ONCE.values())}
    for key, sites in audited(tmp_path, kernels, np.zeros(2, "u4")).items():
        assert len(sites) == 2, key
        assert all(str(s.status) not in ("exact", "invariant") for s in sites), (key, [str(s.status) for s in sites])


@pytest.mark.parametrize("name", ["one thread", "twice"])
def test_initial_counter_is_suggested_only_where_it_decides(tmp_path, name):
    draw = ONCE[name][0] if name in ONCE else NOT_ONCE[name]
    for key, sites in audited(tmp_path, {"k": draw}, None).items():
        for site in sites:
            assert str(site.status) == "data-dependent", key
            assert ("--param counter=@zeros:1:u32" in site.reason) == (name in ONCE), site.reason


LAST_TILE = """
extern "C" __global__ void k(unsigned* counter, const int* __restrict__ in, int* out, int n) {
    __shared__ unsigned tile; __shared__ int s[8192]; const unsigned x = threadIdx.x;
    if (x == 0) tile = atomicAdd(counter, 1u);
    __syncthreads();
    const unsigned t = tile;
    if ((t + 1) * 64 <= n)
        s[x * 3] = in[t * 64 + x];
    else if (t * 64 + x < n)
        s[x * 3] = in[t * 64 + x];
    __syncthreads();
    out[x] = s[(x * 5) & 1023];
}
"""


@pytest.mark.parametrize("counter", [None, np.zeros(1, "u4")])
def test_data_beside_a_counter_is_not_suggested(tmp_path, counter):
    path = tmp_path / "k.cu"
    path.write_text(LAST_TILE)
    launch = ptxaudit.Launch("k", grid=(9,), block=(64,), params=[counter, None, None, 500])
    report = ptxaudit.audit(path, arch="sm_90", isa="both", launches=[launch])
    tiles = [s for s in report.sites if s.source and s.source.line in (8, 10) and s.access == "store"]
    assert len(tiles) == 4
    for site in tiles:
        assert (str(site.status) == "exact") is (counter is not None)
        assert counter is not None or "--param counter=@zeros:1:u32" in site.reason and "@FILE" not in site.reason


TWO_TILES = """
extern "C" __global__ void k(unsigned* counter, const int* __restrict__ in, const int* __restrict__ other, int* out) {
    __shared__ unsigned tile; __shared__ int s[4096]; const unsigned x = threadIdx.x;
    if (x == 0) tile = atomicAdd(counter, 1u);
    __syncthreads();
    const unsigned t = tile;
    if (t < 5) s[(in[x] & 63) * 32 + x % 32] = x;
    __syncthreads();
    out[x] = s[x];
    if (other[0] > 3) s[(in[x] & 31) * 32 + x % 32] = x;
    __syncthreads();
    out[x] = s[x ^ 1];
}
"""


def test_address_data_is_not_requested_if_only_the_count_is_unknown(tmp_path):
    """Each request costs one wavefront, whatever `in` holds; the counter, or `other`, decides whether it runs."""
    path = tmp_path / "k.cu"
    path.write_text(TWO_TILES)
    launch = ptxaudit.Launch("k", grid=(9,), block=(64,), params=[None] * 4)
    found = ptxaudit.audit(path, arch="sm_90", isa="sass", launches=[launch]).sites
    (by_counter,), (by_data,) = ([s for s in found if s.source and s.source.line == line] for line in (7, 10))
    assert (str(by_counter.status), str(by_data.status)) == ("invariant", "invariant")
    assert "--param counter=@zeros:1:u32" in by_counter.reason and "@FILE" not in by_counter.reason
    assert "--param other=@FILE" in by_data.reason and "--param in=" not in by_data.reason
