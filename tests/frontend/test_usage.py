"""Registers, stack, barriers and spills of cubins, compared with the vendor's own tools; instructions by class."""

from __future__ import annotations

import re
import subprocess

import pytest

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.usage import Usage, usage
from ptxaudit.frontend.compile import toolchain_fetch, toolchains
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.hardware.opcode_classes import NEVER, class_of, width_of
from ptxaudit.report.mix import mean_width, mix, widths
from ptxaudit.report.model import Spills
from ptxaudit.report.spills import REMARKS, compiled_usage, named_by, without_remarks
from samples import SAMPLES

# `spilling` holds 96 values in at most 64 registers; `array` needs local memory and spills nothing; `both` does both.
SOURCE = """
extern "C" __global__ void small(float* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void large(const float* in, float* out) {
    float v[40];
    for (int i = 0; i < 40; ++i) v[i] = in[threadIdx.x * 40 + i];
    asm volatile("bar.sync 3, 64;");
    for (int i = 0; i < 40; ++i) out[threadIdx.x * 40 + i] = v[(i * 7) % 40] * v[i];
}
extern "C" __global__ void array(const int* in, int* out) {
    int a[48];
    for (int i = 0; i < 48; ++i) a[i] = in[i];
    for (int k = 0; k < in[99]; ++k) a[in[k] % 48] += k;
    out[threadIdx.x] = a[in[threadIdx.x] % 48];
}
template <int N, bool WithArray> __device__ __forceinline__ void hold(const float* in, float* out, int n) {
    float a[N];
    int counts[24] = {};
    #pragma unroll
    for (int i = 0; i < N; ++i) a[i] = in[threadIdx.x + i * 1024];
    #pragma unroll 1
    for (int k = 0; k < n; ++k) {
        #pragma unroll
        for (int i = 0; i < N; ++i) a[i] = a[i] * a[(i * 7 + 3) % N] + in[k];
        if (WithArray) counts[(int)a[3] % 24] += k;
    }
    #pragma unroll
    for (int i = 0; i < N; ++i) out[threadIdx.x + i * 1024] = a[i];
    if (WithArray) out[0] = counts[threadIdx.x % 24];
}
extern "C" __global__ void __launch_bounds__(1024) spilling(const float* in, float* out, int n) { hold<96, false>(in, out, n); }
extern "C" __global__ void __launch_bounds__(1024) both(const float* in, float* out, int n) { hold<80, true>(in, out, n); }
"""
CALLING = """
__device__ __noinline__ float callee(float x, const float* in) {
    float b[80], t = 0;
    #pragma unroll
    for (int i = 0; i < 80; ++i) b[i] = in[threadIdx.x + i * 64] * x;
    #pragma unroll 1
    for (int k = 0; k < 9; ++k) {
        #pragma unroll
        for (int i = 0; i < 80; ++i) b[i] = b[i] * b[(i * 7 + 3) % 80] + in[k];
    }
    #pragma unroll
    for (int i = 0; i < 80; ++i) t += b[i];
    return t;
}
extern "C" __global__ void __launch_bounds__(1024) calling(const float* in, float* out) { out[threadIdx.x] = callee(out[0], in); }
"""


def having(release):
    """The NVRTC of a release, or this process's for None; skips the test where it is not available."""
    if release is None:
        return None
    try:
        return toolchain_fetch.ensure("nvrtc", release, say=lambda sentence: None)
    except InputError as error:
        if "could not be downloaded" in error.what:
            pytest.skip(str(error))
        raise


def said(log):
    """{kernel: (stack, spill stores, spill loads, registers, barriers)} from `ptxas -v`; None for what it omits."""
    found = {}
    for part in re.split(r"Compiling entry function ", log)[1:]:
        name = re.match(r"'(\w+)'", part)[1]
        frame, stores, loads = map(
            int, re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups()
        )
        whole = re.search(r"(\d+) bytes cumulative stack", part)
        barriers = re.search(r"used (\d+) barriers", part)
        found[name] = (
            int(whole[1]) if whole else frame,
            stores,
            loads,
            int(re.search(r"Used (\d+) registers", part)[1]),
            barriers and int(barriers[1]),
        )
    return found


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_registers_and_stack_match_cuobjdump(arch, tmp_path):
    cubin = compile_source(SOURCE, arch=arch).cubin
    path = tmp_path / "k.cubin"
    path.write_bytes(cubin)
    tool = toolchains.get("cuobjdump").path
    printed = subprocess.run(
        [tool, "--dump-resource-usage", path], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    told = {
        name: (int(registers), int(stack))
        for name, registers, stack in re.findall(r"Function (\w+):\s*REG:(\d+) STACK:(\d+)", printed)
    }
    assert told and told["large"][0] > told["small"][0] and told["array"][1] == 48 * 4
    assert {name: (one.registers, one.stack) for name, one in usage(cubin).items()} == told


@pytest.mark.parametrize("release", ["11.8", "12.4", "12.9", None])
def test_report_has_the_resource_usage_of_ptxas(release):
    log = compile_source(SOURCE, options=[REMARKS], tool=having(release)).log
    report = ptxaudit.audit(SOURCE, toolchain=release, isa="both")
    assert not report.problems and not report.inputs[0].log
    for kernel in report.kernels:
        stack, stores, loads, registers, barriers = said(log)[kernel.name]
        assert (kernel.stack, kernel.registers) == (stack, registers)
        assert kernel.barriers == (barriers if barriers is not None else {"large": 4}.get(kernel.name, 0))
        if kernel.isa == "sass":
            assert kernel.spills == Spills(stores, loads, stores + loads)
        else:
            assert kernel.spills in (Spills(stores, loads, stores + loads), None)
    of = {kernel.name: kernel.spills for kernel in report.kernels if kernel.isa == "sass"}
    assert of["spilling"].bytes > 0 and of["both"].bytes > 0 and of["array"] == of["small"] == Spills(0, 0, 0)


def test_spills_of_callees_count_for_the_kernel():
    log = compile_source(CALLING, options=[REMARKS]).log
    both = re.search(
        r"Function properties for _Z6calleefPKf\s*\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads", log
    )
    (kernel,) = ptxaudit.audit(CALLING, isa="sass").kernels
    assert (kernel.spills.stores, kernel.spills.loads) == tuple(map(int, both.groups())) and kernel.spills.bytes > 0
    assert sum(kernel.code.opcodes.values()) == kernel.instructions


def test_cubin_without_spill_records_has_unknown_spills(tmp_path):
    tool = having("12.4")
    (tmp_path / "old.cubin").write_bytes(compile_source(SOURCE, tool=tool).cubin)
    new = compile_source(SOURCE).cubin
    assert b"\0ptxas\0" in new
    (tmp_path / "new.cubin").write_bytes(new)
    (tmp_path / "linked.cubin").write_bytes(new.replace(b"\0ptxas\0", b"\0other\0"))
    old, new, linked = (
        {k.name: k.spills for k in ptxaudit.audit(str(tmp_path / f"{name}.cubin")).kernels}
        for name in ("old", "new", "linked")
    )
    assert old["spilling"] is None and old["array"] is None and old["large"] == Spills(0, 0, 0)
    assert new["spilling"].bytes > 0 and new["array"] == Spills(0, 0, 0)  # it states that ptxas wrote it, since CUDA 13
    assert linked["spilling"] == new["spilling"]
    assert linked["array"] is None  # a linker's output may have parts that do not name their spills


def test_spill_remarks_of_device_functions_are_not_attributed():
    told = (
        "ptxas info : Compiling entry function 'k' for 'sm_90'\nptxas info : Function properties for k\nptxas . 0 bytes"
        " stack frame, {} bytes spill stores, 0 bytes spill loads\n"
    )
    other = (
        "ptxas info : Function properties for f\nptxas . 0 bytes stack frame, {} bytes spill stores, 4 bytes spill"
        " loads\n"
    )
    cubin = compile_source('extern "C" __global__ void k(int* p) { p[0] = 1; }\n').cubin
    assert compiled_usage(cubin, "12.4", told.format(8))["k"].spill_bytes == (8, 0)
    assert compiled_usage(cubin, "12.4", told.format(8) + other.format(4))["k"].spill_bytes is None


def test_ptxas_remarks_are_not_warnings():
    log = (
        'k.cu(3): warning #177-D: variable "x" was declared\nptxas info    : 0 bytes gmem\nptxas         .     0 bytes'
        " stack frame\nptxas warning : Stack size\n"
    )
    assert without_remarks(log) == 'k.cu(3): warning #177-D: variable "x" was declared\nptxas warning : Stack size'
    assert [named_by(version) for version in ("11.8", "12.5", "12.6", "13.5.37", "")] == [
        False,
        False,
        True,
        True,
        True,
    ]


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(80), bytes(200)])
def test_non_cubin_has_no_resource_usage(data):
    assert usage(data) == {}


def test_annotations_of_another_kind_are_ignored():
    cubin = compile_source(SOURCE).cubin
    spilled = usage(cubin)["spilling"].spilled
    linked = cubin.replace(b"\0ptxas\0", b"\0other\0")
    assert spilled and usage(cubin)["small"] == Usage(*_three(cubin), frozenset())
    assert usage(linked)["small"].spilled is None and usage(linked, complete=True)["small"].spilled == frozenset()
    first = min(spilled).to_bytes(4, "little")
    other = cubin.replace(b"\1\0\0\0" + first, b"\2\0\0\0" + first, 1)
    assert other != cubin and usage(other, complete=True)["spilling"].spilled is None


def _three(cubin):
    one = usage(cubin)["small"]
    return one.registers, one.stack, one.barriers


# --- instructions by class --------------------------------------------------------------------


@pytest.mark.parametrize(
    "opcode, name, width",
    [
        ("LDS.128", "shared-load", 16),
        ("LDS.U8", "shared-load", 1),
        ("LDSM.16.M88.4", "shared-load", None),
        ("STS", "shared-store", 4),
        ("ATOMS.ADD", "shared-atomic", None),
        ("LDG.E.LTC128B.64.CONSTANT", "global-load", 8),
        ("STG.E.U16", "global-store", 2),
        ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", "global-atomic", None),
        ("LDL.LU", "local-load", 4),
        ("STL.128", "local-store", 16),
        ("LD.E.128", "generic-load", 16),
        ("LDC.64", "constant-load", None),
        ("LDGSTS.E.BYPASS.128", "async-copy", None),
        ("HMMA.16816.F32", "tensor", None),
        ("HGMMA.64x64x16.F32", "tensor", None),
        ("FFMA", "float", None),
        ("HADD2.F32", "half", None),
        ("DSETP.MAX.AND", "double", None),
        ("MUFU.RCP", "special", None),
        ("IMAD.MOV.U32", "integer", None),
        ("UIADD3", "integer", None),
        ("F2FP.BF16.F32.PACK_AB", "conversion", None),
        ("PRMT", "move", None),
        ("SHFL.IDX", "warp", None),
        ("BAR.SYNC.DEFER_BLOCKING", "barrier", None),
        ("BRA", "control", None),
        ("@!PT LDS", "other", None),
        ("XYZZY.64", "other", None),
        ("ld.shared.v4.f32", "shared-load", 16),
        ("st.shared.u8", "shared-store", 1),
        ("ld.global.nc.L1::no_allocate.v2.b64", "global-load", 16),
        ("st.global.b16", "global-store", 2),
        ("ld.param.u64", "constant-load", None),
        ("ld.shared::cluster.u32", "shared-load", 4),
        ("ld.u32", "generic-load", 4),
        ("atom.global.add.u32", "global-atomic", None),
        ("red.shared.add.u32", "shared-atomic", None),
        ("red.async.relaxed.cluster.global", "async-copy", None),
        ("cp.async.cg.shared.global", "async-copy", None),
        ("cp.async.commit_group", "barrier", None),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor", None),
        ("wgmma.fence.sync.aligned", "barrier", None),
        ("fma.rn.f32", "float", None),
        ("fma.rn.f16x2", "half", None),
        ("add.s32", "integer", None),
        ("setp.lt.f64", "double", None),
        ("ex2.approx.ftz.f32", "special", None),
        ("cvt.rn.f16.f32", "conversion", None),
        ("mov.u32", "move", None),
        ("ld.param.u64", "constant-load", None),
        ("ld.const.b32", "constant-load", None),
        ("st.param.b32", "move", None),
        ("bar.sync", "barrier", None),
        ("bra.uni", "control", None),
        ("shfl.sync.bfly.b32", "warp", None),
    ],
)
def test_class_and_width_of_an_opcode(opcode, name, width):
    assert (class_of(opcode), width_of(opcode)) == (name, width)


def test_instruction_mix_and_widths_of_a_kernel():
    opcodes = {"LDS.128": 4, "LDS": 2, "STS.64": 2, "FFMA": 64, "LDG.E": 1}
    assert mix(opcodes) == {"shared-load": 6, "shared-store": 2, "global-load": 1, "float": 64}
    assert widths(opcodes) == {"shared": {4: 2, 8: 2, 16: 4}, "global": {4: 1}}
    assert mean_width(opcodes, ("shared",)) == (4 * 16 + 2 * 4 + 2 * 8) / 8 and mean_width(opcodes, ("local",)) is None


@pytest.mark.parametrize(
    "name", ["hgemm", "histogram", "flash_attention", "producer_consumer", "stmatrix", "cooperative_groups"]
)
def test_every_instruction_of_the_samples_has_a_class(name):
    """Opcodes are counted as in the file, whatever the engine answers."""
    report = ptxaudit.audit(str(SAMPLES / name / f"{name}.cu"), isa="both", budget=0.01)
    opcodes = {opcode for kernel in report.kernels for opcode in kernel.code.opcodes if not opcode.startswith(NEVER)}
    assert len(opcodes) > 20 and not {opcode for opcode in opcodes if class_of(opcode) == "other"}
