"""Places at which lanes keep what they find, by counters of their own: known up to a few low bits."""

import pytest

import ptxaudit

KEPT = """
extern "C" __global__ void __launch_bounds__(64) k(const unsigned short* in, unsigned* out) {
    __shared__ unsigned s[64 * 16];
    unsigned t = threadIdx.x, kept = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (in[t * 4 + i] & 0x7fff) { s[t * 16 + kept] = i; kept++; }
    __syncthreads();
    out[t] = s[t];
}
"""


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_counter_advanced_by_some_lanes_keeps_its_known_bits(tmp_path, isa):
    """Even lanes are in the first half of the banks and odd ones in the second, wherever their counters stand."""
    path = tmp_path / "k.cu"
    path.write_text(KEPT)
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[None, None])
    *stores, _ = ptxaudit.audit(path, arch="sm_90", isa=isa, launches=[launch]).sites
    assert len(stores) == 4
    assert all(site.per_request.high == 16 for site in stores), stores
