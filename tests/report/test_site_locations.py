"""The location of a site: the user's line, not the line of the toolkit's header that it calls."""

import re

import pytest
from command_line import folder_with, run
from reports import kernel, report, site

import ptxaudit
from ptxaudit.base.places import is_installed, line_of
from ptxaudit.report.model import Frame, Source
from ptxaudit.report.paths import own_place, place
from ptxaudit.ui.render.text import report_text

COPY = """\
#include <cuda_pipeline.h>

__device__ __forceinline__ void load(float* to, const float* from) {
    __pipeline_memcpy_async(to + 128 * threadIdx.x, from + 4 * threadIdx.x, 16);
    __pipeline_commit();
}

extern "C" __global__ void copy(const float* in, float* out) {
    __shared__ __align__(128) float tile[32 * 128];
    load(tile, in);
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
"""
LAUNCH = ("--grid", "1", "--block", "32")

here = folder_with({"copy.cu": COPY})


@pytest.mark.parametrize(
    "file",
    [
        "/usr/local/cuda/include/cuda_fp16.hpp",
        "/usr/local/cuda-12.4/targets/x86_64-linux/include/cuda_pipeline_helpers.h",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/cuda/12.3/include/mma.h",
        "/home/a/.venv/lib/python3.11/site-packages/nvidia/cu13/include/cuda_pipeline_helpers.h",
        "/home/a/.cache/ptxaudit/toolchains/12.9/nvidia/cuda_runtime/include/sm_80_rt.hpp",
        "/home/a/miniconda3/targets/x86_64-linux/include/cooperative_groups.h",
        r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.4\include\cuda_fp16.hpp",
        "/usr/include/c++/12/cmath",
    ],
)
def test_toolkit_header_is_recognised_by_its_path(file):
    assert is_installed(file)


@pytest.mark.parametrize(
    "file",
    [
        "k.cu",
        "include/tile.cuh",
        "/home/a/cuda/include/tile.cuh",
        "/home/nvidia/app/include/tile.cuh",
        "/src/third_party/cutlass/include/cute/layout.hpp",
        "/usr/src/app/k.cu",
    ],
)
def test_users_header_is_not_a_toolkit_header(file):
    assert not is_installed(file)


def test_access_in_installed_headers_only_is_located_at_itself():
    inner = "/usr/local/cuda/include/a.h"
    stack = (Frame("/usr/local/cuda/include/b.h", 7, "f"), Frame("/src/k.cu", 9, "g"), Frame("/src/k.cu", 20, "h"))
    assert line_of(Source(inner, 3, 0, None, stack)) == "k.cu:9"
    assert own_place(Source(inner, 3, 0, None, stack)) is stack[1]
    assert line_of(Source(inner, 3, 0, None, stack[:1])) == "a.h:3"


def test_text_shows_the_users_line_and_the_header_once():
    stack = (
        Frame("/usr/local/cuda/include/b.h", 7, "inner(float*)"),
        Frame("/src/k.cu", 9, "void nv::copy<float>(float*)", "copy(s, a);"),
        Frame("/src/k.cu", 20, "load(float*)", "load(s);"),
    )
    one = site(3, source=Source("/usr/local/cuda/include/a.h", 3, 0, None, stack))
    assert place(one, kernel()) == "k.cu:9"
    text = report_text(report(kernel(one)))
    assert re.findall(r"\w+\.\w+:\d+", text) == ["k.cu:9", "a.h:3", "k.cu:20"]
    assert (
        "       9 │ copy(s, a);\n         = in nv::copy<float>, a.h:3\n         = load inlined at k.cu:20: load(s);\n"
        in text
    )


def test_toolkit_copy_is_located_at_the_users_line(here):
    text = run("audit", "copy.cu", *LAUNCH).stdout
    assert re.search(r"^  copy\.cu:4 +cp\.async\.cg", text, re.MULTILINE)
    assert text.count("cuda_pipeline_helpers.h") == 1 and "cuda_pipeline_primitives.h" not in text
    assert "= in __pipeline_memcpy_async, cuda_pipeline_helpers.h:" in text
    assert "copy.cu:4  cp.async.cg" in run("explain", "copy.cu", "copy.cu:4", *LAUNCH).stdout
    assert "there are sites at copy.cu:4" in run("explain", "copy.cu", "copy.cu:99", *LAUNCH, status=2).stderr
    assert "denied by PA004: copy.cu:4 (in cuda_pipeline_helpers.h:" in (
        run("audit", "copy.cu", *LAUNCH, "--fail-on", "PA004", status=1).stderr
    )


def test_report_has_the_inline_stack_and_stable_ids(here):
    copy = next(one for one in ptxaudit.audit("copy.cu", launches=[ptxaudit.Launch("copy", 1, 32)]).sites if one.lines)
    assert copy.source.file.endswith("cuda_pipeline_helpers.h") and len(copy.source.inlined) > 2
    assert copy.id.startswith("copy@cuda_pipeline_helpers.h:")
