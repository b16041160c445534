"""Generic addresses: shared memory of the own block, of another block, and other memory."""

import pytest
from machine_code import PROLOGUE, from_ptx
from paths import SAMPLES

import ptxaudit
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.parameters import parameter
from ptxaudit.engine.memory.rows import environment
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module

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
def test_load_through_a_shared_or_global_pointer(isa, own, status, wavefronts, tmp_path):
    source = tmp_path / "either.cu"
    source.write_text(SOURCE)
    launch = ptxaudit.Launch("either", grid=(1,), block=(256,), params=[0x700000000000, own])
    (load,) = [s for s in ptxaudit.audit(source, arch="sm_90", isa=isa, launches=[launch]).sites if s.access == "load"]
    assert (str(load.status), load.wavefronts) == (status, wavefronts), load.reason


def test_distributed_shared_memory_is_not_scored_as_local():
    report = ptxaudit.audit(
        SAMPLES / "cluster" / "cluster.cu",
        arch="sm_90",
        isa="sass",
        launches=[ptxaudit.Launch("cluster_sum", grid=(8,), block=(128,), cluster=(4,), params=[None, None])],
    )
    (remote,) = [s for s in report.sites if s.opcode.startswith("LD.E")]
    assert remote.wavefronts is None and (remote.per_request is None or remote.per_request.low == 0), remote.reason


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


def test_request_to_another_blocks_memory_may_cost_nothing(tmp_path):
    source = tmp_path / "of_another.cu"
    source.write_text(OF_ANOTHER)
    launch = ptxaudit.Launch("of_another", grid=(4,), block=(64,), params=[None, None])
    report = ptxaudit.audit(source, arch="sm_90", isa="sass", launches=[launch])
    (remote,) = [s for s in report.sites if s.opcode.startswith("LD.E")]
    assert remote.wavefronts is None and remote.per_request is not None and remote.per_request.low == 0, remote


FROM = """.visible .entry k(.param .u64 out, .param .u64 list) {{ .reg .b64 %d<5>; .reg .b32 %r<5>;
 .shared .align 4 .b8 s[64]; mov.u32 %r3, 7; st.shared.u32 [s], %r3;
 ld.param.u64 %d1, [out]; ld.param.u64 %d2, [list]; cvta.to.global.u64 %d2, %d2;
 mov.u64 %d4, s; cvta.shared.u64 %d4, %d4; st.global.u64 [%d1+64], %d4; {pointer}
 ld.u32 %r1, [%d3]; st.global.u32 [%d1], %r1; ret; }}
"""
MADE_OF = {
    "loaded": ("ld.global.u64 %d3, [%d2];", "the value loaded at "),
    "of the grid": ("mov.b32 %r1, %envreg1; mov.b32 %r2, %envreg2; mov.b64 %d3, {%r2, %r1};", "set by the driver"),
}


@pytest.mark.parametrize("how", MADE_OF)
def test_reason_names_the_value_that_may_be_a_shared_address(how):
    pointer, named = MADE_OF[how]
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,))
    report = ptxaudit.audit(from_ptx(FROM.format(pointer=pointer)), isa="sass", launches=[launch])
    (load,) = [s for s in report.sites if s.access == "load"]
    assert "in shared memory is unknown: " in load.reason and named in load.reason, load.reason


def test_constants_before_the_parameters_belong_to_the_driver():
    """`LDCU UR16, c[0x0][UR16+0x258]` of sm_100, whose parameters begin at 0x380."""
    module = lift_module(parse_module(PROLOGUE.format(arch="sm_100") + FROM.format(pointer=MADE_OF["loaded"][0]), "k"))
    env = environment(module.functions["k"], ptxaudit.Launch("k", grid=1, block=32), Facts(), (32, 1, 1))
    (name,) = (u.name for u, _ in parameter(env, 0x258 - 0x380, 32).terms)
    (wrapped,) = (u.name for u, _ in parameter(env, (0x258 - 0x380) & 0xFFFFFFFF, 32).terms)
    assert name == wrapped == "value set by the driver"


@pytest.mark.parametrize("power", (2, 4, 5))
def test_offset_of_unbounded_range_may_reach_any_space(power):
    """The fourth power of a block index: neither its bound nor its offset fits a machine word."""
    times = "mul.lo.u64 %d3, %d3, %d4;" * (power - 1)
    pointer = f"mov.u32 %r1, %ctaid.x; cvt.u64.u32 %d4, %r1; mov.u64 %d3, %d4; {times} shl.b64 %d3, %d3, 3;"
    report = ptxaudit.audit(PROLOGUE.format(arch="sm_90") + FROM.format(pointer=pointer), isa="ptx")
    (load,) = [s for s in report.sites if s.access == "load"]
    assert load.status in ("conditional", "unknown") and "in shared memory is unknown" in load.reason, load.reason
