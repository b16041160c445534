"""Programs that use the real Triton, recorded from beginning to end on a driver without a GPU.

Its JIT, autotuner and launcher run as they do with a GPU.
"""

from __future__ import annotations

import importlib.util
import os
import struct
import sys
from pathlib import Path

import pytest
from recorded import cupti, driver, launched, record

import ptxaudit

PROGRAM = '''
import ctypes
import triton
import triton.language as tl

cuda, memory = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20))


class Array:
    """What Triton asks of an array; torch is not needed for it."""

    dtype = "torch.float32"

    def __init__(self, offset):
        self.data_ptr = lambda: memory.value + offset


tried = []


def milliseconds(call, quantiles):
    call()
    tried.append(call)
    return [1 / len(tried)] * 3  # the later, the better


@triton.autotune([triton.Config({"B": 32}, num_warps=4), triton.Config({"B": 64}, num_warps=8)], ["n"], do_bench=milliseconds)
@triton.jit
def transpose(x, y, n, scale, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + i[:, None] * n + j[None, :])
    tl.store(y + j[:, None] * n + i[None, :], tl.trans(tile) * scale)  # here


@triton.jit
def one_block(x, ROWS: tl.constexpr):
    i = tl.arange(0, ROWS)
    place = x + i[:, None] * ROWS + i[None, :]
    tl.store(place, tl.load(place) + tl.trans(tl.load(place)))


x, y = Array(0), Array(1 << 19)
for n in (128, 128, 256):
    transpose[lambda meta: (n // meta["B"], n // meta["B"])](x, y, n, 0.5)
one_block[(1,)](y, ROWS=32, num_warps=2)
print(memory.value)
'''
LINE = 1 + PROGRAM[: PROGRAM.index("# here")].count("\n")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A driver without a GPU, and a Triton cache for these tests."""
    found = importlib.util.find_spec("triton")
    if found is None:
        pytest.skip("NOT RUN: Triton is not installed")
    given = driver(tmp_path_factory.mktemp("driver")) | {
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")),
        "PTXAUDIT_FAKE_SIZES": "8,8,4,4,8,8",
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    package = Path(found.origin).parent.parent
    return given | {"PYTHONPATH": os.pathsep.join([given["PYTHONPATH"], str(package)])}


def expected(x):
    """The launches of the program, given the address of its memory.

    Each configuration is tried once per size; then the better one, B = 64 with 8 warps, runs. Two pointers to scratch
    memory come last, and are unknown.
    """
    y = x + (1 << 19)
    small, large = ((4, 4, 1), (128, 1, 1), None, 4 * 32 * 32), ((2, 2, 1), (256, 1, 1), None, 4 * 64 * 64)
    double = lambda shape: (tuple(2 * blocks if blocks > 1 else 1 for blocks in shape[0]), *shape[1:])
    return {
        ("transpose", *small, (x, y, 128, 0.5)): 1,
        ("transpose", *large, (x, y, 128, 0.5)): 3,
        ("transpose", *double(small), (x, y, 256, 0.5)): 1,
        ("transpose", *double(large), (x, y, 256, 0.5)): 2,
        ("one_block", (1, 1, 1), (64, 1, 1), None, 4 * 32 * 32, (y,)): 1,
    }


def known(folder):
    """The launches, without the pointers to scratch memory."""
    handed = {"transpose": 4, "one_block": 1}
    return {(*key[:-1], key[-1][: handed[key[0]]]): count for key, count in launched(folder).items()}


def test_autotuned_triton_launches_are_recorded_and_audited(environment, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = record(["--via", "frameworks", "--no-audit", "--", sys.executable, "program.py"], environment, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5 distinct launches of 8, of 3 kernels" in done.stderr
    folder = tmp_path / "ptxaudit-record"
    assert known(folder) == expected(int(done.stdout))
    report = ptxaudit.audit(folder)
    assert [entry.command for entry in report.inputs] == [f"{sys.executable} program.py"] * 3
    assert {str(site.status) for site in report.sites} == {"exact"} and not report.problems
    of_transpose = [kernel for kernel in report.kernels if kernel.name == "transpose"]
    lines = {Path(site.source.file).name + f":{site.source.line}" for one in of_transpose for site in one.sites}
    assert len(of_transpose) == 4 and lines == {f"program.py:{LINE}"}


def test_triton_launches_equal_the_drivers(environment, tmp_path, tmp_path_factory):
    """Without a hook in Triton: grid, block, shared memory and parameters are the arguments of `cuLaunchKernelEx`."""
    (tmp_path / "program.py").write_text(PROGRAM.replace("one_block[", "if False: one_block["))
    given = environment | {
        "PTXAUDIT_CUPTI": cupti(tmp_path_factory.mktemp("cupti")),
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }
    done = record(["--via", "driver", "--no-audit", "--", sys.executable, "program.py"], given, tmp_path)
    assert done.returncode == 0, done.stderr
    of_transpose = {key: count for key, count in expected(int(done.stdout)).items() if key[0] == "transpose"}
    in_bytes = lambda x, y, n, scale: (x, y, struct.pack("<i", n).hex(), struct.pack("<f", scale).hex())
    assert known(tmp_path / "ptxaudit-record") == {
        (*key[:-1], in_bytes(*key[-1])): count for key, count in of_transpose.items()
    }
