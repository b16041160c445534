"""Compiling with nvcc: files with host code, and one clear message for each possible error."""

import shutil

import pytest
from command_line import run

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import nvcc, toolchains

APP = """\
#include <iostream>
#include <vector>
template <int N> __global__ void fill(float *a) { a[threadIdx.x] = N; }
__global__ void swap(float *a) {
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
int main() {
    std::vector<float> v(64);
    swap<<<1, 64>>>(v.data());
    std::cout << v[0];
}
"""

needs_gcc = pytest.mark.skipif(not shutil.which("g++"), reason="nvcc needs g++")


@pytest.fixture
def app(tmp_path):
    path = tmp_path / "app.cu"
    path.write_text(APP)
    return path


@needs_gcc
def test_nvcc_compiles_a_file_with_host_code(app):
    compiled = nvcc.compile_source(app)
    assert ".entry _Z4swapPf(" in compiled.ptx and f'"{app}"' in compiled.ptx and ".loc" in compiled.ptx
    assert compiled.cubin.startswith(b"\x7fELF") and compiled.compiler.startswith("nvcc 13.")


@needs_gcc
def test_nvcc_instantiates_templates(app):
    ptx = nvcc.compile_source(app, instantiate=["fill<32>", "&fill<64>"], arch="compute_90").ptx
    assert ".entry _Z4fillILi32EEvPf(" in ptx and ".entry _Z4fillILi64EEvPf(" in ptx


@needs_gcc
@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_program_with_host_code_is_audited_by_nvcc(app, isa):
    """Includes launches: PTX and machine code of one compilation."""
    launch = ptxaudit.Launch("swap", grid=(2,), block=(64,))
    report = ptxaudit.audit(app, compiler="nvcc", isa=isa, kernels=("swap*",), launches=[launch])
    assert not report.problems
    assert [(site.access, site.status, site.requests, site.wavefronts) for site in report.sites] == [
        ("store", "exact", 4, 4),
        ("load", "exact", 4, 4),
    ]
    assert all(site.source.file == str(app) and site.source.line in (6, 8) for site in report.sites)
    assert report.inputs[0].toolchain.startswith("nvcc 13.")


@needs_gcc
def test_source_with_host_code_falls_back_to_nvcc_with_a_note(app):
    report = ptxaudit.audit(app, kernels=("swap*",))
    assert not report.problems and report.inputs[0].toolchain.startswith("nvcc 13.")
    assert report.kernels[0].notes == ("compiled by nvcc, because it has host code (the host header <iostream>)",)
    assert "note: compiled by nvcc" in run("audit", app, "--kernel", "swap*").stdout
    plain = ptxaudit.audit(APP.partition("template")[2].partition("int main")[0].partition("\n")[2])
    assert plain.inputs[0].toolchain.startswith("nvrtc ") and not plain.kernels[0].notes


def refused(report):
    (problem,) = report.problems
    assert "this has host code (the host header <iostream>)" in problem.what and problem.line == 1
    assert "--compiler nvcc" in problem.hint and not report.kernels


def test_nvrtc_on_request_rejects_host_code_with_a_hint(app):
    refused(ptxaudit.audit(app, compiler="nvrtc"))


def test_host_code_without_nvcc_or_gcc_is_rejected(app, monkeypatch):
    monkeypatch.setattr(nvcc, "has_host_compiler", lambda: False)
    refused(ptxaudit.audit(app))
    monkeypatch.undo()
    monkeypatch.setattr(toolchains, "find", lambda kind, find=toolchains.find: () if kind == "nvcc" else find(kind))
    refused(ptxaudit.audit(app))


def test_implicit_settings_do_not_fall_back_to_nvcc(app, monkeypatch):
    monkeypatch.chdir(app.parent)
    (app.parent / "ptxaudit.toml").write_text('defines = ["N=1"]\n')
    assert "this has host code" in run("audit", "app.cu", status=2).stderr


@needs_gcc
def test_nvcc_errors_are_reported_with_their_line(app):
    app.write_text(APP.replace("v.data()", "nowhere"))
    (problem,) = ptxaudit.audit(app).problems
    assert 'nvcc cannot compile this: identifier "nowhere" is undefined' in problem.what and problem.line == 12


BAD = {
    "an undefined name": (
        "__global__ void k(float *a) {\n    a[0] = b;\n}\n",
        {},
        2,
        'identifier "b" is undefined',
        "",
    ),
    "a missing header": ('#include "nowhere.h"\n', {}, 1, "nowhere.h", "with -I"),
    "a template alone": (
        "template <int N> __global__ void k() {}\n",
        {},
        None,
        "never instantiated here",
        "--instantiate 'k<…>'",
    ),
    "an instance that is none": (
        APP,
        {"instantiate": ["fill<1>", "fill<q>"]},
        None,
        "--instantiate 'fill<q>'",
        "all template arguments",
    ),
    "an unknown architecture": (APP, {"arch": "sm_35"}, None, "does not know the architecture 'sm_35'", "sm_90"),
    "a wrong option": (APP, {"options": ["-frobnicate"]}, None, "Unknown option '-frobnicate'", ""),
}


@needs_gcc
@pytest.mark.parametrize("case", BAD)
def test_nvcc_rejects_bad_input_with_one_message(tmp_path, case):
    text, options, line, what, hint = BAD[case]
    path = tmp_path / "k.cu"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        nvcc.compile_source(path, **options)
    error = caught.value
    assert what in error.what and hint in error.hint and error.line == line
    assert "architecture" in case or error.file == str(path)


def test_missing_host_compiler_is_reported(app, monkeypatch):
    monkeypatch.setattr(nvcc.shutil, "which", lambda name: None)
    monkeypatch.delenv("NVCC_CCBIN", raising=False)
    with pytest.raises(InputError, match="gcc is not installed.*install gcc and g"):
        nvcc.compile_source(app)


def test_missing_nvcc_is_reported(app, monkeypatch):
    monkeypatch.setattr(toolchains, "find", lambda kind: ())
    with pytest.raises(InputError, match="no nvcc on this machine.*pip install nvidia-cuda-nvcc"):
        nvcc.compile_source(app)
