"""Several CUDA releases at once, from their own wheels: one source under two compilers, PTX under two ptxas."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

import jsonschema
import pytest
from command_line import folder_with, run

import ptxaudit
from ptxaudit.base import vendor
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import nvrtc, nvrtc_remote, toolchain_fetch, toolchains
from ptxaudit.frontend.sass import disassemble
from ptxaudit.report.model import SCHEMA_FILE

KERNEL = """
extern "C" __global__ void __launch_bounds__(64) k(const float4* in, float* out) {
    __shared__ float4 s[64];
    __shared__ float t[64 * 32];
    s[threadIdx.x] = in[threadIdx.x];
    t[threadIdx.x * 32] = 1;
    __syncthreads();
    float4 v = s[63 - threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z + v.w + t[threadIdx.x];
}
"""
LAUNCH = ["--grid", "1", "--block", "64"]


@pytest.fixture(scope="session")
def release():
    """A function that fetches a release once into the user's cache, and skips the test where that is impossible."""

    def have(version):
        try:
            return toolchain_fetch.ensure("nvrtc", version, say=lambda sentence: None)
        except InputError as error:
            if "could not be downloaded" in error.what:
                pytest.skip(str(error))
            raise

    return have


here = folder_with({"k.cu": KERNEL})


OLDER = ["12.9", "11.8"]


@pytest.mark.parametrize("archs", (["sm_90"], ["sm_80", "sm_90"]))
def test_disassembler_starts_once_per_architecture_for_all_releases(here, release, monkeypatch, archs):
    releases = ["13", "12.9"]
    for version in releases:
        release(version)
    disassemble.kept.clear()
    started, run_program = [], vendor.run
    monkeypatch.setattr(
        vendor, "run", lambda command, *a, **more: started.append(command) or run_program(command, *a, **more)
    )
    named = [
        word for kind, those in (("--toolchain", releases), ("--arch", archs)) for one in those for word in (kind, one)
    ]
    assert run("diff", "k.cu", *LAUNCH, *named, "--no-cache").exit_code in (0, 1)
    programs = [command for command in started if "nvdisasm" in command[0]]
    assert sorted(command[2] for command in programs) == [arch.upper().replace("_", "") for arch in archs]


# --- compilers in workers -------------------------------------------------------------------


@pytest.mark.parametrize("version", OLDER)
def test_source_compiles_under_an_older_release_with_its_headers(release, version):
    release(version)
    headers = "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n"
    for isa in ("ptx", "sass"):
        report = ptxaudit.audit(
            headers + KERNEL, toolchain=version, isa=isa, launches=[ptxaudit.Launch("k", grid=1, block=64)]
        )
        assert not report.problems and report.inputs[0].toolchain == f"nvrtc {version}"
        assert {str(site.status) for site in report.sites} == {"exact"} and sum(
            site.excess for site in report.sites
        ) == 62
        assert all(site.source.line > 2 for site in report.sites) and report.kernels[0].registers > 0


def test_worker_process_gives_equal_instances_and_messages(release):
    tool = release("12.9")
    template = "template <int N> __global__ void f(int* p) { p[0] = N; }\n"
    compiled = nvrtc.compile_source(template, instantiate=["f<3>"], tool=tool)
    assert compiled.lowered == nvrtc.compile_source(template, instantiate=["f<3>"]).lowered
    with pytest.raises(InputError, match='identifier "b" is undefined') as caught:
        nvrtc.compile_source('extern "C" __global__ void k(int* p) {\n  p[0] = b;\n}\n', tool=tool)
    assert (caught.value.line, "12.9" in caught.value.what) == (2, True)


def test_dropped_architecture_names_a_release_that_supports_it(release, here):
    assert "CUDA 12.9 takes sm_70: add --toolchain 12.9" in run("audit", "k.cu", "--arch", "sm_70", status=2).stderr
    release("12.9")
    report = ptxaudit.audit("k.cu", arch="sm_70", toolchain="12.9", launches=[ptxaudit.Launch("k", grid=1, block=64)])
    assert not report.problems and report.kernels[0].arch == "sm_70"
    newest = toolchains.newest("nvrtc")
    assert (
        f"CUDA {newest} is newer and installed: add --toolchain {newest}"
        in run("audit", "k.cu", "--arch", "sm_110", "--toolchain", "12.9", status=2).stderr
    )
    assert "newer" not in run("audit", "k.cu", "--arch", "sm_50", status=2).stderr
    (here / "old.ptx").write_text(nvrtc.compile_source(KERNEL, arch="sm_70", tool=toolchains.get("nvrtc", "12.9")).ptx)
    assert "CUDA 12.9 takes it: add --ptxas 12.9" in run("audit", "old.ptx", "--isa", "both", status=2).stderr


def test_compiler_crash_is_a_message_and_the_compiler_restarts(release):
    tool = release("12.9")
    one = nvrtc_remote.worker(tool.path)
    os.kill(one._process.pid, signal.SIGKILL)
    with pytest.raises(InputError, match="ended by SIGKILL"):
        one.compile(KERNEL, "k.cu", [], ())
    assert nvrtc.compile_source(KERNEL, tool=tool).cubin


def test_crashing_ptxas_is_retried_without_line_information(release):
    """11.8's ptxas crashes on the inline stacks of sm_90."""
    release("11.8")
    inlined = """
    __device__ __forceinline__ void fill(float* s, const float* in) { s[threadIdx.x] = in[threadIdx.x]; }
    extern "C" __global__ void k(const float* in, float* out) {
        __shared__ float s[32];
        fill(s, in);
        __syncthreads();
        out[threadIdx.x] = s[31 - threadIdx.x];
    }
    """
    report = ptxaudit.audit(inlined, toolchain="11.8", isa="both", launches=[ptxaudit.Launch("k", grid=1, block=32)])
    assert not report.problems and [kernel.isa for kernel in report.kernels] == ["ptx", "sass"]
    ptx, sass = report.kernels
    assert all(site.source for site in ptx.sites)
    assert {str(site.status) for site in report.sites} == {"exact"}
    assert all(site.source for site in sass.sites) or any("crashes" in note for note in sass.notes)


# --- diff -----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", OLDER)
def test_diff_of_one_source_under_two_releases(release, here, version):
    release(version)
    now = toolchains.get("nvrtc").version
    text = run("diff", "k.cu", *LAUNCH, "--toolchain", version, "--toolchain", now, "--all").stdout
    assert f"old: k.cu (nvrtc {version})\nnew: k.cu (nvrtc {now})\n" in text
    assert "k  ptx" in text and "k  sass" in text and "registers" in text
    data = json.loads(
        run("diff", "k.cu", *LAUNCH, "--toolchain", version, "--toolchain", now, "--format", "json").stdout
    )
    jsonschema.Draft202012Validator(json.loads((SCHEMA_FILE.parent / "diff-1.schema.json").read_text())).validate(data)
    assert data["old"] == f"k.cu (nvrtc {version})" and set(data["counts"]) <= {"same", "moved"}
    assert data["totals"]["excess"] == [62, 62]  # of the machine code: the PTX has the same


def test_diff_of_one_ptx_under_two_ptxas(release, here):
    release("12.9")
    tool = toolchains.get("nvrtc", "12.9")
    (here / "k.ptx").write_text(nvrtc.compile_source("k.cu", tool=tool).ptx)
    now = toolchains.get("ptxas").version
    text = run("diff", "k.ptx", *LAUNCH, "--ptxas", "12.9", "--ptxas", now, "--all").stdout
    assert re.search(r"old: k.ptx \(.*ptxas 12\.9\.\d+\)\nnew: k.ptx \(.*ptxas 13\.", text) and "k  sass" in text
    assert "k  ptx" not in text


def test_ptx_and_machine_code_are_not_compared(here):
    compiled = nvrtc.compile_source("k.cu")
    (here / "k.ptx").write_text(compiled.ptx)
    (here / "k.cubin").write_bytes(compiled.cubin)
    assert (
        "the old side is PTX, the new one machine code: they cannot be compared"
        in run("diff", "k.ptx", "k.cubin", *LAUNCH, status=2).stderr
    )
    assert "same" in run("diff", "k.cu", "k.cubin", *LAUNCH, "--isa", "sass").stdout


def test_ptx_newer_than_ptxas_is_reported(release, here):
    release("12.9")
    (here / "k.ptx").write_text(nvrtc.compile_source("k.cu").ptx)
    stderr = run("audit", "k.ptx", "--ptxas", "12.9", status=2).stderr
    assert "Unsupported .version" in stderr and "newer CUDA than ptxas 12.9" in stderr and "--ptxas" in stderr
    assert re.search(r"--> k.ptx:\d+\n", stderr)
    assert (
        "--> k.cu\n" in run("audit", "k.cu", "--isa", "sass", "--ptxas", "12.9", status=2).stderr
    )  # not a line of the source


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["k.cu"], "only one input is given"),
        (["k.cu", "k.cu", "k.cu"], "3 inputs are given"),
        (["k.cu", "--toolchain", "12.9"], "only one input is given"),
        (["k.cu", "k.cu", "--toolchain", "1", "--toolchain", "2", "--toolchain", "3"], "more than two compilers"),
    ],
)
def test_diff_needs_two_sides(here, arguments, what):
    assert what in run("diff", *arguments, status=2).stderr


# --- fetching -------------------------------------------------------------------------------


def test_wheels_of_a_release_have_their_historical_names():
    assert toolchain_fetch.packages("12.9") == [
        "nvidia-cuda-nvrtc-cu12==12.9.*",
        "nvidia-cuda-runtime-cu12==12.9.*",
        "nvidia-cuda-nvcc-cu12==12.9.*",
        "nvidia-cuda-cccl-cu12>=12.0,<12.10",
    ]
    assert toolchain_fetch.packages("13.0") == [
        "nvidia-cuda-nvrtc==13.0.*",
        "nvidia-cuda-runtime==13.0.*",
        "nvidia-cuda-nvcc==13.0.*",
        "nvidia-cuda-crt==13.0.*",
        "nvidia-cuda-cccl>=13.0,<13.1",
    ]
    assert toolchain_fetch.packages("11")[0] == "nvidia-cuda-nvrtc-cu11==11.*"


@pytest.mark.parametrize("version", ["9.1", "twelve", "12.9; rm", "", "v12"])
def test_unknown_release_is_rejected(here, version):
    assert "there is no CUDA release" in run("audit", "k.cu", "--toolchain", version, status=2).stderr


@pytest.fixture
def no_cache(tmp_path, monkeypatch):
    """An empty user cache."""
    monkeypatch.setattr(toolchains, "cache_folder", lambda: tmp_path / "cache")
    toolchains.find.cache_clear()
    yield tmp_path / "cache"
    toolchains.find.cache_clear()


def test_fetch_without_a_network_names_the_packages_and_alternatives(here, no_cache, monkeypatch):
    log = (
        "WARNING: Retrying … NewConnectionError: Failed to establish a new connection\nERROR: No matching distribution"
        " found"
    )
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", log))
    with pytest.raises(InputError) as caught:
        toolchain_fetch.fetch("12.9", say=lambda sentence: None)
    assert "CUDA 12.9 is not installed" in caught.value.what and "offline" in caught.value.what
    assert toolchains.VARIABLE in caught.value.hint and "pip install --no-deps --target FOLDER" in caught.value.hint
    assert "nvidia-cuda-nvrtc-cu12==12.9.*" in caught.value.hint and not list(no_cache.glob("*"))


def test_release_without_wheels_is_reported(no_cache, monkeypatch):
    log = "ERROR: Could not find a version that satisfies the requirement nvidia-cuda-nvrtc==99.9.*"
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", log))
    with pytest.raises(InputError, match="there are no wheels for it") as caught:
        toolchain_fetch.fetch("99.9", say=lambda sentence: None)
    assert "99.9" in caught.value.detail


def test_release_is_fetched_once_with_a_message(no_cache, monkeypatch, capsys):
    made = []

    def pip(command, **_):
        made.append(command)
        folder = command[command.index("--target") + 1]
        library = os.path.join(folder, "nvidia", "cuda_nvrtc", "lib")
        os.makedirs(library)
        for name in ("libnvrtc.so.12", "libnvrtc-builtins.so.12.7"):
            open(os.path.join(library, name), "w").close()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    for _ in range(2):
        tool = toolchain_fetch.ensure("nvrtc", "12.7")
        assert tool.version == "12.7" and tool.origin == "cache"
    assert len(made) == 1 and "--no-deps" in made[0]
    assert capsys.readouterr().err.count("downloading CUDA 12.7") == 1
    assert [folder.name for folder in no_cache.iterdir()] == ["12.7"]


def test_incomplete_download_folder_is_ignored(no_cache):
    library = no_cache / ".making-x" / "nvidia" / "cuda_nvrtc" / "lib"
    library.mkdir(parents=True)
    (library / "libnvrtc-builtins.so.12.6").touch()
    (library / "libnvrtc.so.12").touch()
    assert "12.6" not in [tool.version for tool in toolchains.find("nvrtc")]


def test_toolchains_command_fetches_on_demand(release):
    release("12.9")
    listed = json.loads(run("toolchains", "--fetch", "12.9", "--format", "json").stdout)
    assert ("nvrtc", "12.9") in [(tool["kind"], tool["version"]) for tool in listed["tools"]]
    assert "there is no CUDA release" in run("toolchains", "--fetch", "1.0", status=2).stderr


def test_fetch_without_pip_is_reported(no_cache, monkeypatch):
    monkeypatch.setattr(toolchain_fetch.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(toolchain_fetch.shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="there is no pip to download it"):
        toolchain_fetch.fetch("12.9", say=lambda sentence: None)
