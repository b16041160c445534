"""Generic addresses: shared memory of the own block, of another one, and other memory."""

from pathlib import Path

import pytest

import ptxaudit

SAMPLES = Path(__file__).resolve().parent.parent / "samples"

SOURCE = """
extern "C" __global__ void either(float* out, int own)
{
    __shared__ float t[256];
    t[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    float* from = own ? t : out + 256;
    out[threadIdx.x] = from[threadIdx.x * 2 % 256];
}
"""


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize(("own", "status", "wavefronts"), [(1, "exact", 16), (0, "exact", 0)])
def test_a_pointer_that_may_be_shared(isa, own, status, wavefronts, tmp_path):
    source = tmp_path / "either.cu"
    source.write_text(SOURCE)
    launch = ptxaudit.Launch("either", grid=(1,), block=(256,), params=[0x700000000000, own])
    (load,) = [s for s in ptxaudit.audit(source, arch="sm_90", isa=isa, launches=[launch]).sites if s.access == "load"]
    assert (str(load.status), load.wavefronts) == (status, wavefronts), load.reason


def test_another_blocks_memory_is_not_scored_as_the_own():
    report = ptxaudit.audit(
        SAMPLES / "cluster" / "cluster.cu",
        arch="sm_90",
        isa="sass",
        launches=[ptxaudit.Launch("cluster_sum", grid=(8,), block=(128,), cluster=(4,), params=[None, None])],
    )
    (remote,) = [s for s in report.sites if s.opcode.startswith("LD.E")]
    assert remote.wavefronts is None and (remote.per_request is None or remote.per_request[0] == 0), remote.reason


OF_ANOTHER = """
__device__ void meet() { __cluster_barrier_arrive(); __cluster_barrier_wait(); }
extern "C" __global__ void __cluster_dims__(2) of_another(const unsigned* src, unsigned* out)
{
    __shared__ unsigned s[64];
    s[threadIdx.x] = src[threadIdx.x];
    meet();
    if (src[threadIdx.x] & 1)
        out[threadIdx.x] = ((unsigned*)__cluster_map_shared_rank(s, src[0] & 1))[threadIdx.x];
    meet();
}
"""


def test_a_request_that_may_be_of_another_block_may_cost_nothing(tmp_path):
    source = tmp_path / "of_another.cu"
    source.write_text(OF_ANOTHER)
    launch = ptxaudit.Launch("of_another", grid=(4,), block=(64,), params=[None, None])
    report = ptxaudit.audit(source, arch="sm_90", isa="sass", launches=[launch])
    (remote,) = [s for s in report.sites if s.opcode.startswith("LD.E")]
    assert remote.wavefronts is None and remote.per_request is not None and remote.per_request.low == 0, remote
