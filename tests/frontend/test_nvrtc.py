"""Compiling with NVRTC: its outputs, and one clear message for each possible error."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from ptxaudit.base import vendor
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import nvrtc, nvrtc_remote
from ptxaudit.frontend.compile.nvrtc import STANDARD_HEADERS, compile_source

KERNEL = """\
__global__ void swap(float *a) {
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""
TEMPLATE = "template <class T, int N>\n__global__ void __launch_bounds__(N) fill(T *a) { a[threadIdx.x] = N; }\n"


def write(folder, text, name="k.cu"):
    path = folder / name
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return path


# --- outputs -------------------------------------------------------------------------------------


def test_nvrtc_gives_ptx_and_machine_code_with_source_positions(tmp_path):
    path = write(tmp_path, KERNEL)
    compiled = compile_source(path)
    assert ".target sm_90" in compiled.ptx and ".visible .entry _Z4swapPf(" in compiled.ptx
    assert compiled.cubin.startswith(b"\x7fELF")
    assert f'"{path}"' in compiled.ptx and re.search(r"\.loc\s+1 3 ", compiled.ptx)
    assert compiled.source == KERNEL and compiled.file == str(path)
    assert re.fullmatch(r"nvrtc 1[3-9]\.\d+", compiled.compiler)


def test_source_text_is_compiled_under_a_name():
    assert compile_source(KERNEL, name="made_up.cu").file == "made_up.cu"


@pytest.mark.parametrize(
    "arch, target, real",
    [("90", "sm_90", True), ("sm_90a", "sm_90a", True), ("SM_80", "sm_80", True), ("compute_90", "sm_90", False)],
)
def test_target_of_every_architecture_spelling(arch, target, real):
    compiled = compile_source(KERNEL, arch=arch)
    assert f".target {target}\n" in compiled.ptx
    assert (compiled.cubin is not None) == real


def test_template_instances_have_their_mangled_names():
    compiled = compile_source(TEMPLATE, instantiate=["fill<float,128>", "fill<int, 32>"])
    assert compiled.lowered == {"fill<float,128>": "_Z4fillIfLi128EEvPT_", "fill<int, 32>": "_Z4fillIiLi32EEvPT_"}
    assert all(f".entry {name}(" in compiled.ptx for name in compiled.lowered.values())


def test_include_folders_defines_and_options_are_passed(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "beside.h").write_text("#define BESIDE 1\n")
    (tmp_path / "include" / "far.h").write_text("#define FAR 2\n")
    text = (
        '#include "beside.h"\n#include <far.h>\n'
        + KERNEL.replace("64", "64 * BESIDE * FAR * N")
        + "static_assert(__cplusplus >= 202002L);\n"
    )
    compiled = compile_source(
        write(tmp_path, text),
        include=[str(tmp_path / "include")],
        defines=["N=3"],
        std="c++20",
        options=["--use_fast_math"],
    )
    assert ".b8 _ZZ4swapPfE1s[1536]" in compiled.ptx


def test_file_name_with_non_ascii_characters_compiles(tmp_path):
    path = write(tmp_path, KERNEL, "schöner Kern.cu")
    assert compile_source(path).cubin is not None


def test_mangled_names_are_equal_in_every_process(tmp_path):
    path = write(tmp_path, "namespace { " + KERNEL + "}\n")
    code = f"from ptxaudit.frontend.compile.nvrtc import compile_source; print(compile_source({str(path)!r}).ptx)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.strip() == compile_source(path).ptx.strip()


def test_compiler_warnings_are_in_the_log():
    assert (
        "declared but never referenced"
        in compile_source(KERNEL.replace("__syncthreads", "int unused; __syncthreads")).log
    )


def test_unmarked_helpers_compile_as_device_code_with_a_note():
    compiled = compile_source(
        "constexpr int twice(int n) { return 2 * n; }\nconst int N = 5;\n" + KERNEL.replace("[64]", "[twice(64) + N]")
    )
    assert "[532]" in compiled.ptx and "-default-device" in compiled.notes[0]
    assert compile_source(KERNEL).notes == ()


def test_unneeded_host_headers_are_omitted_with_a_note():
    compiled = compile_source("#include <vector>\n#include <cublas_v2.h>\n" + KERNEL)
    assert ".entry" in compiled.ptx and compiled.notes == ("host headers were left out",)
    with pytest.raises(InputError, match="the host header <vector>") as caught:
        compile_source("#include <vector>\nstd::vector<int> v;\n" + KERNEL)
    assert 'cannot open source file "vector"' in caught.value.detail


@pytest.mark.parametrize(
    "use", ["uint n = 3", "u_int8_t n = 3", "int n = INT_MAX", "float n = M_PI", "float n = INFINITY", "int64_t n = 3"]
)
def test_names_predefined_by_nvcc_are_available(use):
    compiled = compile_source(KERNEL.replace("__syncthreads", f"{use}; __syncthreads"))
    assert "as nvcc does" in compiled.notes[0]
    assert compile_source(KERNEL.replace("__syncthreads", f"{use}; __syncthreads")).notes == compiled.notes


# --- headers out of the box ----------------------------------------------------------------------

USES = {
    "cuda_fp16.h": ("__half2 h = __float2half2_rn(a[0]); a[0] = __low2float(__hadd2(h, h));", r"(add|fma)\S*\.f16x2"),
    "cuda_bf16.h": ("__nv_bfloat16 h = __float2bfloat16(a[0]); a[0] = __bfloat162float(h);", r"cvt.rn.bf16.f32"),
    "mma.h": (
        (
            "__shared__ float s[256]; nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;"
            "nvcuda::wmma::load_matrix_sync(f, s, 16, nvcuda::wmma::mem_row_major); a[threadIdx.x] = f.x[0];"
        ),
        r"wmma.load.c.\S*",
    ),
    "cooperative_groups.h": (
        "auto block = cooperative_groups::this_thread_block(); block.sync(); a[block.thread_rank()] = 1;",
        r"bar(rier)?.sync",
    ),
    "cuda/pipeline": (
        (
            "__shared__ float s[32]; auto pipe = cuda::make_pipeline(); pipe.producer_acquire();"
            "cuda::memcpy_async(&s[threadIdx.x], &a[threadIdx.x], sizeof(float), pipe); pipe.producer_commit();"
            "pipe.consumer_wait(); a[threadIdx.x] = s[threadIdx.x ^ 1];"
        ),
        r"cp.async.ca.shared.global",
    ),
    "cuda/std/type_traits": ("if constexpr (cuda::std::is_same_v<decltype(a), float *>) a[0] = 1;", r"st.global"),
    "cub/cub.cuh": (
        (
            "using Sum = cub::BlockReduce<float, 128>; __shared__ typename Sum::TempStorage s; a[0] ="
            " Sum(s).Sum(a[threadIdx.x]);"
        ),
        r"ld.shared",
    ),
    "cstdint": ("std::uint32_t n = UINT32_MAX; uint16_t m = 7; std::size_t k = n + m; a[k] = 1;", r"st.global"),
    "math.h": ("a[0] = fmaxf(a[1], -INFINITY) + M_PI + sqrtf(a[2]); a[1] = NAN;", r"sqrt"),
    "cassert": ("assert(a[0] < 1);", r"__assertfail"),
    "stdio.h": ('printf("%d", threadIdx.x);', r"vprintf"),
    "algorithm": ("a[0] = std::max(a[1], a[2]);", r"ld.global"),
}


@pytest.mark.parametrize("header", USES)
def test_cuda_header_needs_no_include_option(header):
    body, instruction = USES[header]
    compiled = compile_source(f"#include <{header}>\n__global__ void k(float *a) {{ {body} }}\n")
    assert re.search(instruction, compiled.ptx), compiled.ptx


@pytest.mark.parametrize("backwards", [False, True])
def test_standard_headers_compile_together(backwards):
    names = sorted(
        (
            p.relative_to(STANDARD_HEADERS).as_posix()
            for p in STANDARD_HEADERS.rglob("*")
            if p.is_file() and p.name != "README.md"
        ),
        reverse=backwards,
    )
    assert len(names) > 40
    assert ".entry" in compile_source("".join(f"#include <{name}>\n" for name in names) + KERNEL).ptx


def test_users_header_precedes_the_bundled_one(tmp_path):
    (tmp_path / "limits.h").write_text("#define MINE 9\n")
    assert "[36]" in compile_source(write(tmp_path, "#include <limits.h>\n" + KERNEL.replace("64", "MINE"))).ptx


# --- errors --------------------------------------------------------------------------------------

HOST = "--compiler nvcc"
BAD = {
    "an undefined name": (
        "__global__ void k(float *a) {\n    a[0] = b;\n}\n",
        {},
        2,
        'identifier "b" is undefined',
        "",
    ),
    "a missing header": ('#include "nowhere.h"\n' + KERNEL, {}, 1, "nowhere.h", "with -I"),
    "a missing header folder": ("#include <lib/nowhere.hpp>\n" + KERNEL, {}, 1, "lib/nowhere.hpp", "with -I"),
    "a host header": (
        "#include <iostream>\n" + KERNEL + "void say() { std::cout << 1; }\n",
        {},
        1,
        "host code (the host header <iostream>)",
        HOST,
    ),
    "a host library": ("#include <thrust/device_vector.h>\n" + KERNEL, {}, None, "host code", HOST),
    "a kernel launch": (
        KERNEL + "int main() { swap<<<1, 64>>>(nullptr); }\n",
        {},
        7,
        "host code (a kernel launch",
        HOST,
    ),
    "a runtime call": (
        KERNEL + "int main() {\n    float *a;\n    cudaMalloc(&a, 256);\n}\n",
        {},
        9,
        "host code (cudaMalloc",
        HOST,
    ),
    "a host function": (KERNEL + "__host__ void go();\n", {}, 7, "host code (a host function)", HOST),
    "host code after an error": (
        "#include <cuda_fp16.h>\n__device__ int x = y;\n__host__ void go();\n",
        {},
        2,
        'identifier "y" is undefined',
        HOST,
    ),
    "empty": ("  \n", {}, None, "this is empty", ""),
    "no kernel": ("__device__ int f() { return 1; }\n", {}, None, "no __global__ function", "-D"),
    "a template alone": (
        TEMPLATE,
        {},
        None,
        "fill is a template that is never instantiated here",
        "--instantiate 'fill<…>'",
    ),
    "an instance that is none": (
        TEMPLATE,
        {"instantiate": ["fill<float,8>", "fill<q>"]},
        None,
        "--instantiate 'fill<q>'",
        "all template arguments",
    ),
    "an old architecture": (
        KERNEL,
        {"arch": "sm_35"},
        None,
        "does not know the architecture 'sm_35'",
        "CUDA 11.8 takes sm_35: add --toolchain 11.8",
    ),
    "no architecture": (KERNEL, {"arch": "hopper"}, None, "does not know the architecture 'hopper'", "sm_90"),
    "a wrong suffix": (KERNEL, {"arch": "sm_90f"}, None, "does not know the architecture 'sm_90f'", "sm_90"),
    "an instruction of sm_90a": (
        '__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }\n',
        {},
        None,
        "'wgmma.fence' not supported",
        "--arch sm_90a",
    ),
    "a wrong standard": (KERNEL, {"std": "c++99"}, None, "invalid value for --std", ""),
    "a wrong option": (KERNEL, {"options": ["-frobnicate"]}, None, "unrecognized option -frobnicate", ""),
}


@pytest.mark.parametrize("case", BAD)
def test_nvrtc_rejects_bad_input_with_one_message(tmp_path, case):
    text, options, line, what, hint = BAD[case]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        compile_source(path, **options)
    error = caught.value
    assert what in error.what and hint in error.hint
    assert case.endswith(("architecture", "suffix")) or case == "a host library" or error.file == str(path)
    assert line is None or error.line == line
    assert "\n" not in error.what + error.hint


def test_compiler_log_is_shown_unchanged(tmp_path):
    with pytest.raises(InputError) as caught:
        compile_source(write(tmp_path, "__global__ void k(float *a) {\n\ta[0] = b;\n\ta[1] = c;\n}\n"))
    assert caught.value.detail.count("error:") == 2 and "2 errors detected" in caught.value.detail
    assert caught.value.column == 9


@pytest.mark.parametrize(
    "data, line, what",
    [
        (b"// \xfcber\n", 1, "not UTF-8 text: byte 0xfc"),
        (b"\n\n//\x00\n", 3, "binary"),
        (b"\xff\xfe_\x00_\x00", 1, "UTF-16"),
    ],
)
def test_source_that_is_not_utf8_is_rejected(tmp_path, data, line, what):
    with pytest.raises(InputError) as caught:
        compile_source(write(tmp_path, data))
    assert what in caught.value.what and caught.value.line == line


def test_byte_order_mark_is_accepted(tmp_path):
    assert compile_source(write(tmp_path, b"\xef\xbb\xbf" + KERNEL.encode())).cubin


def test_missing_source_file_is_reported(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        compile_source(tmp_path / "gone.cu")
    with pytest.raises(InputError, match="folder"):
        compile_source(tmp_path)


@pytest.mark.parametrize(
    "pathfinder, hint",
    [
        ("def load_nvidia_dynamic_lib(name): raise RuntimeError(name)", "pip install nvidia-cuda-nvrtc"),
        ("raise ImportError", "pip install 'cuda-bindings"),
    ],
)
def test_missing_nvrtc_names_its_package(tmp_path, monkeypatch, pathfinder, hint):
    """Fake packages shadow the real ones."""
    (tmp_path / "cuda" / "bindings").mkdir(parents=True)
    for file, text in (
        ("__init__.py", ""),
        ("pathfinder.py", pathfinder),
        ("bindings/__init__.py", ""),
        ("bindings/nvrtc.py", ""),
    ):
        (tmp_path / "cuda" / file).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InputError, match=hint):
        nvrtc_remote.Worker()


def test_import_loads_no_compiler_and_needs_no_tool_on_the_path():
    code = (
        "import sys; from ptxaudit.frontend.compile.nvrtc import compile_source\n"
        "assert not any(name.startswith('cuda') for name in sys.modules)\n"
        f"assert compile_source({KERNEL!r}).cubin"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PATH": "/nowhere"})


@pytest.mark.parametrize("limit", [200, 260])
def test_compiler_out_of_memory_is_reported(monkeypatch, limit):
    """Its library cannot be loaded, or a compilation runs out of memory."""
    many = "".join(
        f"__global__ void k{i}(float* a) {{ __shared__ float s[32]; s[threadIdx.x] = sinf(a[{i}]); a[1] = s[3]; }}\n"
        for i in range(300)
    )
    monkeypatch.setattr(vendor, "TOOL_MEMORY", replace(vendor.TOOL_MEMORY, most=limit << 20))
    monkeypatch.setattr(nvrtc_remote, "_workers", {})
    with pytest.raises(InputError) as caught:
        nvrtc.compile_source(many)
    ended = "ran out of memory" in caught.value.what and "the limit `memory of a tool`" in caught.value.hint
    assert ended or "libnvrtc" in caught.value.what  # the memory that Python itself takes differs between releases
    for one in list(nvrtc_remote._workers.values()):
        one.close()
