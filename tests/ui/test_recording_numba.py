"""A program that uses the real Numba-CUDA, recorded from beginning to end on a driver without a GPU.

It compiles, links and launches as it does with a GPU. Also tests code that Numba compiles without any.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from recorded import driver, launches, record

import ptxaudit

PROGRAM = """
from numba import cuda, float32, int32


@cuda.jit(lineinfo=True)
def strided(x, by):
    s = cuda.shared.array(1024, float32)
    s[cuda.threadIdx.x * by] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = s[(63 - cuda.threadIdx.x) * by]  # here


x = cuda.device_array(64, "float32")
for blocks, by in ((2, 2), (2, 2), (3, 8)):
    strided[blocks, 64](x, int32(by))
"""
LINE = 1 + PROGRAM[: PROGRAM.index("# here")].count("\n")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    if importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("NOT RUN: Numba-CUDA is not installed")
    return driver(tmp_path_factory.mktemp("driver")) | {
        "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0",
        "PTXAUDIT_FAKE_SIZES": "8,8,8,8,8,8,8,4",  # an array: its owner, elements, their size, data, shape, strides
    }


def test_numba_launches_are_recorded_and_audited(environment, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = record(["--via", "frameworks", "--no-audit", "--", sys.executable, "program.py"], environment, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 distinct launches of 3, of 1 kernel" in done.stderr
    folder = tmp_path / "ptxaudit-record"
    assert [(one["grid"], one["block"], one["count"]) for one in launches(folder)] == [
        ([2, 1, 1], [64, 1, 1], 2),
        ([3, 1, 1], [64, 1, 1], 1),
    ]
    report = ptxaudit.audit(folder)
    assert not report.problems and {str(site.status) for site in report.sites} == {"exact"}
    # 8 bytes between lanes: 2 lanes per bank; 32 bytes: 8 lanes per bank; two warps per block
    loads = [site for site in report.sites if site.access == "load"]
    assert [site.wavefronts for site in loads] == [2 * 2 * 2, 3 * 2 * 8]
    assert {f"{Path(site.source.file).name}:{site.source.line}" for site in loads} == {f"program.py:{LINE}"}


def test_kernel_compiled_by_numba_without_a_gpu_is_audited(environment):
    from numba import cuda, float32, int32, types

    def kernel(x, by):
        s = cuda.shared.array(1024, float32)
        s[cuda.threadIdx.x * by] = x[cuda.threadIdx.x]
        cuda.syncthreads()
        x[cuda.threadIdx.x] = s[cuda.threadIdx.x]

    signature = types.void(types.Array(float32, 1, "C"), int32)
    ptx, _ = cuda.compile(kernel, signature, lineinfo=True, cc=(9, 0), device=False, output="ptx", abi="numba")
    store, load = ptxaudit.audit(ptx, launches=[ptxaudit.Launch("*", grid=1, block=32)]).sites
    assert (load.status, load.wavefronts) == ("exact", 1)
    assert store.source.line == kernel.__code__.co_firstlineno + 2 and store.source.file == __file__
