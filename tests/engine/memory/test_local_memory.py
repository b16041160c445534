"""Local accesses whose address differs between lanes, in both instruction sets."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from machine_code import PROLOGUE, from_cuda
from spilling import HEAVY, SPILLS_TO_SHARED

import ptxaudit
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.report.model import Kernel

SOURCE = """
extern "C" __global__ void by_lane(float* out, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[i * n];
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[(threadIdx.x + i) & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void by_data(float* out, const int* key, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[i * n];
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[key[i] & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void uniform(float* out, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[threadIdx.x * 16 + i];
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[i * 3 & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void registers(float* out) { out[threadIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def kernels():
    report = ptxaudit.audit(SOURCE, isa="both")
    assert not report.problems
    return {(kernel.name, kernel.isa): kernel for kernel in report.kernels}


@pytest.mark.parametrize("isa, load", [("ptx", "ld.local.f32"), ("sass", "LDL")])
def test_local_access_indexed_by_lane_or_data_is_reported(kernels, isa, load):
    assert {(a.by, a.opcode) for a in kernels["by_lane", isa].local} == {("lane", load)}
    assert {(a.by, a.opcode) for a in kernels["by_data", isa].local} == {("data", load)}
    lines = {a.source.line for a in kernels["by_lane", isa].local}
    assert lines == {6}


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_local_access_with_a_uniform_index_is_not_reported(kernels, isa):
    assert kernels["uniform", isa].local == () and kernels["registers", isa].local == ()


INDEXED = """.extern .func (.param .b32 r) elsewhere(.param .b32 i);
.const .align 4 .u32 table[64] = {1, 2, 3};
.visible .entry k(.param .u64 p, .param .u32 n)
{ .reg .b32 %r<9>; .reg .b64 %d<5>; .local .align 4 .b8 own[256]; .shared .align 4 .b8 s[256];
 mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; ld.param.u64 %d3, [p]; mov.u32 %r7, s;
 INDEX
 and.b32 %r3, %r3, 15; mul.wide.u32 %d1, %r3, 4; mov.u64 %d2, own; add.u64 %d1, %d1, %d2; st.local.u32 [%d1], %r2; ret; }
"""
INDICES = {
    "mov.u32 %r3, %r2;": None,
    "ld.const.u32 %r3, [table+4];": None,
    "mul.wide.u32 %d1, %r2, 4; mov.u64 %d2, table; add.u64 %d1, %d1, %d2; ld.const.u32 %r3, [%d1];": None,
    "mul.wide.u32 %d1, %r1, 4; mov.u64 %d2, table; add.u64 %d1, %d1, %d2; ld.const.u32 %r3, [%d1];": "lane",
    "{ .param .b32 i; .param .b32 r; st.param.b32 [i], %r2; call (r), elsewhere, (i); ld.param.b32 %r3, [r]; }": "data",
    "getctarank.u64 %r3, %d3;": "data",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r7];": "data",
    "atom.global.add.u32 %r3, [%d3], 1;": "data",
}


@pytest.mark.parametrize("index", INDICES)
def test_results_of_calls_and_unmodelled_operations_may_differ_between_lanes(index):
    report = ptxaudit.audit(PROLOGUE.format(arch="sm_90") + INDEXED.replace("INDEX", index), isa="ptx")
    assert [access.by for access in report.kernels[0].local] == ([INDICES[index]] if INDICES[index] else [])


def test_report_has_the_instructions_and_registers_of_a_kernel(kernels):
    for isa in ("ptx", "sass"):
        assert kernels["by_lane", isa].registers > kernels["registers", isa].registers > 0
        assert kernels["by_lane", isa].instructions > kernels["registers", isa].instructions > 0


# --- the purpose of local accesses ------------------------------------------------------------

CALLS = (
    HEAVY
    + """
struct Big { float x[40]; };
__device__ __noinline__ int deep(int depth, int seed) {
    int here[4] = {seed, depth, seed ^ depth, 1};
    return depth ? deep(depth - 1, seed + here[seed & 3]) + here[depth & 3] : seed;
}
__device__ __noinline__ float by_value(Big b, int i, int j) { return b.x[i & 31] + b.x[j & 31] + b.x[39]; }
extern "C" __global__ void recursive(int* out, int n) { out[threadIdx.x] = deep(n & 3, out[threadIdx.x]); }
extern "C" __global__ void structure(const float* in, float* out, int n) {
    Big b;
    for (int i = 0; i < 40; i++) b.x[i] = in[threadIdx.x + i * 7];
    out[threadIdx.x] = by_value(b, n, n * 3);
}
extern "C" __global__ void __launch_bounds__(1024, 2) spills(const float* in, float* out, int n) {
    out[threadIdx.x] = heavy<48>(in, n, 1.5f);
}
"""
)


def kinds(kernel: Kernel) -> Counter[tuple[str, str | None]]:
    return Counter((site.access, site.kind) for site in kernel.memory if site.space == "local")


def audited(cubin: bytes, tmp_path, **options) -> dict[str, Kernel]:
    (tmp_path / "k.cubin").write_bytes(cubin)
    report = ptxaudit.audit(str(tmp_path / "k.cubin"), space="all", **options)
    assert not report.problems
    return {kernel.name: kernel for kernel in report.kernels}


def test_spills_arrays_and_frames_of_calls_are_distinguished(tmp_path):
    kernels = audited(from_cuda(CALLS), tmp_path)
    recursive, structure, spills = (kinds(kernels[name]) for name in ("recursive", "structure", "spills"))
    assert recursive["store", "frame"] == recursive["load", "frame"] > 0  # registers that `deep` saves for its caller
    assert (
        recursive["store", "array"]
        and recursive["load", "array"]
        and recursive.total()
        == sum(recursive[access, kind] for access in ("load", "store") for kind in ("frame", "array"))
    )
    # a register argument that is stored, and not reloaded into registers, is an array
    assert set(structure) == {("store", "array"), ("load", "array")}
    assert set(spills) == {("store", "spill"), ("load", "spill")}
    assert kernels["recursive"].stack is None  # the stack size of a recursive function is unknown


def test_saves_for_a_caller_are_recognised_without_spill_records(tmp_path):
    """As in machine code of earlier assemblers."""
    kernels = audited(from_cuda(CALLS).replace(b"\0ptxas\0", b"\0other\0"), tmp_path)
    recursive, structure = kinds(kernels["recursive"]), kinds(kernels["structure"])
    assert recursive["store", "frame"] == recursive["load", "frame"] > 0
    assert recursive["store", None] == 1 and recursive["load", "array"] == 2
    assert set(structure) == {("store", None), ("load", "array")}


ARGUMENTS = """
.func (.param .b32 r) sum(.param .align 4 .b8 a[800], .param .b32 i)
{
    .reg .b32 %r<6>; .reg .b64 %d<6>;
    ld.param.b32 %r1, [i]; mov.b64 %d1, a; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    ld.param.b32 %r2, [%d3]; ld.param.b32 %r3, [a+792]; add.s32 %r4, %r2, %r3; st.param.b32 [r], %r4; ret;
}
.visible .entry k(.param .u64 p, .param .u32 n)
{
    .reg .b32 %r<9>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];
    {
    .param .align 4 .b8 a[800]; .param .b32 i; .param .b32 r;
    STORES
    st.param.b32 [i], %r1;
    call.uni (r), sum, (a, i);
    ld.param.b32 %r3, [r];
    }
    st.global.b32 [%d1], %r3; ret;
}
""".replace(
    "STORES", "\n".join(f"ld.global.b32 %r2, [%d1+{at}]; st.param.b32 [a+{at}], %r2;" for at in range(0, 800, 4))
)


def test_arguments_passed_in_memory_are_call_frames(tmp_path):
    """Separate compilation follows a calling convention that passes a large structure in memory."""
    cubin = assemble(PROLOGUE.format(arch="sm_90") + ARGUMENTS, "sm_90", ("-c",)).cubin
    (kernel,) = audited(cubin, tmp_path).values()
    found = kinds(kernel)
    assert found["store", "frame"] * 8 >= 800 and found["load", "frame"] == 2
    assert {kind for _, kind in found} <= {"frame", "spill"}


def test_spills_to_shared_memory_are_shared_sites_marked_as_spills(tmp_path):
    cubin = from_cuda(SPILLS_TO_SHARED)
    launch = ptxaudit.Launch("k", grid=(2,), block=(1024,), params=[None, None, 5])
    (kernel,) = audited(cubin, tmp_path, launches=[launch]).values()
    shared = [site for site in kernel.sites if site.kind == "spill"]
    assert shared and len(shared) == len(kernel.sites)
    assert all(site.excess == 0 and site.wavefronts == site.requests for site in shared)
    assert kernel.spills.shared == 4 * len(shared)
    log = assemble(compile_source(SPILLS_TO_SHARED).ptx, "sm_90", ("-v",)).log
    stores, loads = map(int, re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log).groups())
    assert (kernel.spills.stores, kernel.spills.loads) == (stores, loads)  # without those to shared memory
    assert kernel.spills.everywhere == stores + loads + 4 * len(shared)


def test_call_preserves_the_stack_pointer(tmp_path):
    """Nothing else is known about an unresolved call: a store to [R1] after it is no array."""
    source = """
    extern "C" __global__ void k(int* out, int (**f)(int), int n) {
        volatile int here[4];
        here[0] = out[1];
        out[0] = f[0](n);
        here[1] = here[0] + out[0];
        out[2] = here[1];
    }"""
    (kernel,) = audited(from_cuda(source), tmp_path).values()
    assert any(site.access == "store" for site in kernel.memory if site.space == "local")
    assert kernel.local == ()
