"""The contents read from a cubin, on every architecture, and the messages about damaged ones."""

from __future__ import annotations

import struct

import pytest
from machine_code import ARCHITECTURES, EVERYTHING, from_cuda, from_ptx, lines_of

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.cubin import architecture, read_cubin

PARAM_BASES = {
    "sm_75": 0x160,
    "sm_80": 0x160,
    "sm_86": 0x160,
    "sm_89": 0x160,
    "sm_90": 0x210,
    "sm_100": 0x380,
    "sm_103": 0x380,
    "sm_120": 0x380,
    "sm_121": 0x380,
}

KERNEL = """.visible .entry k(.param .u64 p, .param .u32 n, .param .align 8 .b8 s[24], .param .u8 c) %s
{ .reg .u32 %%r<5>; .reg .u64 %%d<3>; .shared .align 16 .b8 a[100];
  ld.param.u64 %%d1, [p]; ld.param.u32 %%r1, [n]; mov.u32 %%r2, %%tid.x; mov.u32 %%r3, a; mad.lo.u32 %%r3, %%r2, 4, %%r3;
  st.shared.u32 [%%r3], %%r1; ld.param.u32 %%r4, [s+8]; st.global.u32 [%%d1], %%r4; ret; }
"""


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_cubin_layout_is_read_on_every_architecture(arch):
    cubin = read_cubin(from_ptx(KERNEL % ".reqntid 16, 8, 2", arch), "k.cubin")
    assert (cubin.arch, cubin.relocatable, cubin.version) == (arch, False, cubin.version)
    (kernel,) = cubin.functions
    assert kernel.name == "k" and kernel.entry and len(kernel.code) % 16 == 0
    assert kernel.info.param_base == PARAM_BASES[arch]
    assert [(p.offset, p.size) for p in kernel.info.parameters] == [(0, 8), (8, 4), (16, 24), (40, 1)]
    assert kernel.info.reqntid == (16, 8, 2)
    assert kernel.shared_static == 100
    assert len(kernel.banks[0]) == PARAM_BASES[arch] + 41


def test_launch_bounds_and_cluster_are_read():
    info = (
        read_cubin(from_ptx(KERNEL % ".maxntid 256, 2, 1 .explicitcluster .reqnctapercluster 4, 2, 1"), "k.cubin")
        .functions[0]
        .info
    )
    assert info.max_threads == (256, 2, 1)
    assert info.cluster == (4, 2, 1)


def test_parameters_beyond_4_kb_are_read():
    source = 'struct S { int x[4000]; }; extern "C" __global__ void k(S s, int i, float *o) { o[0] = s.x[i]; }'
    kernel = read_cubin(from_cuda(source), "k.cubin").functions[0]
    assert [(p.offset, p.size) for p in kernel.info.parameters] == [(0, 16000), (16000, 4), (16008, 8)]


def test_pointer_parameters_are_marked_since_sm_100():
    kernel = read_cubin(
        from_cuda('extern "C" __global__ void k(float *o, long long n) { o[n] = 1; }', "sm_100"), "k.cubin"
    ).functions[0]
    assert [p.pointer for p in kernel.info.parameters] == [True, None]


@pytest.mark.parametrize("arch", ("sm_75", "sm_90", "sm_120"))
def test_symbols_banks_and_relocations_are_read(arch):
    (kernel,) = read_cubin(from_cuda(EVERYTHING, arch), "k.cubin").functions
    names = [symbol.name for symbol in kernel.symbols]
    assert names[0] == "everything"
    assert any("row_sum" in name for name in names) and any("div_s64" in name for name in names)
    assert all(0 <= s.offset < len(kernel.code) for s in kernel.symbols)
    (table,) = [c for c in kernel.constants if c.name == "table"]
    assert struct.unpack("<4i", kernel.banks[3][table.offset : table.offset + 16]) == (3, 1, 4, 1)
    assert [r.symbol.name for r in kernel.bank_relocations[4]] == ["global_table"]
    assert kernel.shared_static == 1024


JUMPS = """.visible .entry k(.param .u64 p, .param .u32 n)
{ .reg .u32 %r<3>; .reg .u64 %d<3>; .reg .pred %q; .shared .align 4 .b8 s[64];
  table: .branchtargets A, B, C, D;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; setp.gt.u32 %q, %r1, 3; @%q bra D; brx.idx %r1, table;
  A: st.shared.u32 [s], %r1; bra.uni D;  B: st.shared.u32 [s+8], %r1; bra.uni D;  C: atom.shared.add.u32 %r1, [s], 7;
  D: st.global.u32 [%d1], %r1; ret; }
"""


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_jump_table_targets_are_instructions(arch):
    """Each indirect branch has its targets, all of which are instructions of the function."""
    cubin, lines = lines_of(from_ptx(JUMPS, arch))
    (kernel,) = cubin.functions
    jumps = {at * 16 for at, line in enumerate(lines["k"]) if line.opcode.startswith("BRX")}
    assert jumps and jumps == set(kernel.info.branches)
    for targets in kernel.info.branches.values():
        assert len(targets) == 4 and all(t % 16 == 0 and 0 < t < len(kernel.code) for t in targets)


def test_relocatable_code_has_the_names_of_its_relocations():
    source = """__device__ int elsewhere(int); extern __shared__ int dynamic[];
    extern "C" __global__ void k(int *o) { __shared__ int a[8]; a[threadIdx.x] = elsewhere(dynamic[threadIdx.x]); o[0] = a[1]; }"""
    from ptxaudit.frontend.compile.nvrtc import compile_source
    from ptxaudit.frontend.compile.ptxas import assemble

    ptx = compile_source(source, options=["--relocatable-device-code=true"]).ptx
    cubin = read_cubin(assemble(ptx, "sm_90", ["--compile-only"]).cubin, "k.o")
    assert cubin.relocatable and cubin.functions[0].shared_static == 32
    names = {r.symbol.name for r in cubin.functions[0].relocations}
    assert any("elsewhere" in name for name in names) and "dynamic" in names


def test_shared_variables_of_relocatable_templates_are_read():
    """Their shared variables lie in a section that has a size and no bytes."""
    source = """template<int P> __global__ void k(int *o) { __shared__ int a[P]; a[threadIdx.x] = o[1]; __syncthreads(); o[0] = a[1]; }
    template __global__ void k<320>(int *); template __global__ void k<640>(int *);"""
    from ptxaudit.frontend.compile.nvrtc import compile_source
    from ptxaudit.frontend.compile.ptxas import assemble

    ptx = compile_source(source, options=["--relocatable-device-code=true"]).ptx
    for arch in ("sm_90", "sm_120"):
        cubin = read_cubin(assemble(ptx, arch, ["--compile-only", "--generate-line-info"]).cubin, "k.o")
        assert sorted(function.shared_static for function in cubin.functions) == [1280, 2560]


# --- bad input ------------------------------------------------------------------------------


def damaged(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


@pytest.mark.parametrize("length", (0, 10, 63))
def test_file_shorter_than_a_header_is_no_cubin(length):
    with pytest.raises(InputError, match="not a cubin"):
        read_cubin(from_ptx(KERNEL % "")[:length], "k.cubin")


@pytest.mark.parametrize("part", (0.1, 0.3, 0.5, 0.7, 0.9, 0.99))
def test_truncated_cubin_is_rejected(part):
    data = from_ptx(KERNEL % "")
    with pytest.raises(InputError, match="truncated cubin|damaged cubin"):
        read_cubin(data[: int(len(data) * part)], "k.cubin")


def test_cubin_with_an_empty_section_is_read_or_rejected():
    data = from_ptx(KERNEL % "")
    (table,) = struct.unpack_from("<Q", data, 40)
    (count,) = struct.unpack_from("<H", data, 60)
    told = []
    for at in range(count):
        try:
            assert read_cubin(damaged(data, table + 64 * at + 32, bytes(8)), "k.cubin").functions
        except InputError as error:
            told.append(error.what)
    assert "damaged cubin: k is a kernel without code" in told


def test_host_object_is_rejected():
    with pytest.raises(InputError, match="not a cubin"):
        read_cubin(damaged(from_ptx(KERNEL % ""), 18, struct.pack("<H", 62)), "k.o")


def test_unsupported_architecture_is_named():
    data = damaged(from_ptx(KERNEL % "", "sm_75"), 49, bytes([60]))
    assert architecture(data) == 60
    with pytest.raises(InputError, match="machine code for sm_60"):
        read_cubin(data, "k.cubin")


def test_cubin_with_a_damaged_word_is_read_or_rejected():
    """A word of ones anywhere in the file results in an InputError or a cubin, never in another exception."""
    data = from_cuda(
        'extern "C" __global__ void k(float *o) { __shared__ float s[4]; s[threadIdx.x] = o[1]; o[0] = s[2]; }'
    )
    for at in range(0, len(data) - 4, 4):
        try:
            read_cubin(damaged(data, at, b"\xff\xff\xff\xff"), "k.cubin")
        except InputError:
            pass
