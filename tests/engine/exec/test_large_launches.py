"""Launches with the maximum number of blocks and trips: their totals equal those of plain integers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import run
from costs import cost

import ptxaudit

KERNEL = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 q, .param .u32 n) {
.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<3>; .shared .align 16 .b8 s[65536];
mov.u32 %r1, %tid.x; mov.u32 %r2, s; ld.param.u32 %r3, [n]; mad.lo.u32 %r4, %r1, 128, %r2; mov.u32 %r5, 0;
ld.param.u64 %d1, [q]; mad.wide.u32 %d2, %r1, 4, %d1;
$L: st.shared.u32 [%r4], %r1; st.global.u32 [%d2], %r1;
add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r3; @%p bra $L;
ret; }
"""
WARPS, WAYS, SECTORS = 16, 32, 4


@pytest.mark.parametrize("grid", [(2**31 - 1, 65535, 65535), (2**31 - 1, 1, 1), (1 << 24, 1, 1), (1, 65535, 65535)])
@pytest.mark.parametrize("trips", [1, 2**31 - 1])
def test_sums_of_the_largest_launches_do_not_wrap(tmp_path, grid, trips):
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    launch = ptxaudit.Launch("k", grid=grid, block=32 * WARPS, params=[None, trips])
    (kernel,) = ptxaudit.audit(path, launches=[launch], space="all", assume={"*": 256}).kernels
    shared, far = kernel.accesses
    requests = grid[0] * grid[1] * grid[2] * WARPS * trips
    assert (shared.requests, shared.active_requests, shared.wavefronts) == (requests, requests, WAYS * requests)
    assert (far.requests, far.sectors) == (requests, SECTORS * requests)


def test_fix_refuses_sites_whose_sums_exceed_64_bits(tmp_path):
    """Repairs add up figures in 64 bits; sites whose figures do not fit are listed with the reason."""
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    grid = f"{2**31 - 1},65535,65535"
    result = run("fix", path, "--grid", grid, "--block", 512, "--param", "n=1", "--format", "json")
    (array,) = json.loads(result.stdout)["arrays"]
    assert array["repairs"] == [] and "281,474,976,710,656" in array["refused"]


SOME_BLOCKS = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k() {
.reg .pred %p<3>; .reg .b32 %r<5>; .shared .align 16 .b8 s[4096];
mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; mov.u32 %r3, %ctaid.x;
setp.gt.u32 %p1, %r3, 1000; @%p1 bra $END;
add.s32 %r4, %r3, 100; setp.lt.s32 %p2, %r4, 600; @%p2 bra $END;
st.shared.u32 [%r2], %r1;
$END: ret; }
"""


@pytest.mark.parametrize("block", [31, 32, 33])
def test_lanes_beyond_the_block_do_not_affect_branches(tmp_path, block):
    """Blocks 500 to 1000 of 2**31 - 1 store."""
    path = tmp_path / "k.ptx"
    path.write_text(SOME_BLOCKS)
    (site,) = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=2**31 - 1, block=block)]).sites
    assert site.requests == 501 * -(-block // 32)


TILES = """
extern "C" __global__ void tiles(const unsigned char* keys, unsigned* out, unsigned long long n) {
    __shared__ unsigned bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (unsigned long long begin = blockIdx.x * 512ull; begin < n; begin += gridDim.x * 512ull) {
        unsigned long long left = n - begin;
        for (int i = threadIdx.x; i < 512; i += blockDim.x) if (i < left) atomicAdd(&bins[keys[begin + i]], 2u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}
"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("blocks", (3, 1000, 100_000))
def test_blocks_beyond_the_data_cost_no_analysis(tmp_path, isa, blocks):
    """A 64-bit number of elements: `n - 512*blockIdx.x` is negative in most blocks, as its upper half shows."""
    path = tmp_path / "tiles.cu"
    path.write_text(TILES)
    keys = np.random.default_rng(2).integers(0, 256, 1500, dtype=np.uint8)
    launch = ptxaudit.Launch("tiles", grid=blocks, block=128, params=[keys, np.zeros(256, np.uint32), len(keys)])
    (kernel,) = ptxaudit.audit(path, isa=isa, launches=[launch]).kernels
    (counted,) = [site for site in kernel.sites if site.access == "atomic"]
    assert (counted.status, counted.wavefronts) == ("exact", cost("atom.shared.add.u32", keys))
