"""A driver and a CUPTI without a GPU, built from tests/support/recording, and programs recorded with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from paths import DATA, ROOT

from ptxaudit.frontend.compile.toolchains import roots

SOURCES = Path(__file__).with_name("recording")
TRITON_CACHE = DATA / "triton_cache"


@cache
def headers() -> tuple[str, ...]:
    """Folders with cuda.h, crt and, if available, cupti.h."""
    folders = [str(folder) for root, _ in roots() if (folder := root / "include").is_dir()]
    found = [next((f for f in folders if Path(f, name).is_file()), None) for name in ("cupti.h", "cuda.h")]
    crt = next((f for f in folders if Path(f, "crt/host_defines.h").is_file()), None)
    return tuple(dict.fromkeys(filter(None, [*found, crt])))


def built(source: Path, out: Path, *more: str) -> Path:
    """A compiled C file; skips the test if it cannot be compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("NOT RUN: there is no C compiler for the driver that stands in for a GPU")
    flags = [*(f"-I{folder}" for folder in headers()), *more, "-ldl", "-lpthread"]
    subprocess.run([compiler, "-w", "-fPIC", "-o", str(out), str(source), *flags], check=True)
    return out


def driver(folder: Path) -> dict[str, str]:
    """The environment of a program that finds the driver without a GPU."""
    built(SOURCES / "fake_cuda.c", folder / "libcuda.so.1", "-shared")
    return {**os.environ, "LD_LIBRARY_PATH": str(folder), "PYTHONPATH": str(ROOT), "PTXAUDIT_DEBUG": "1"}


def launched(folder: Path) -> dict[tuple, int]:
    """{(kernel, grid, block, cluster, shared, parameters): count} of a recording."""
    tuples = lambda one, name: tuple(one[name]) if name in one else None
    return {
        (
            one["kernel"],
            *(tuples(one, name) for name in ("grid", "block", "cluster")),
            one["dynamic_shared"],
            tuples(one, "params"),
        ): one["count"]
        for one in launches(folder)
    }


def cupti(folder: Path) -> str:
    """The path of the matching CUPTI."""
    if not any(Path(include, "cupti.h").is_file() for include in headers()):
        pytest.skip("NOT RUN: there are no headers of CUPTI (nvidia-cuda-cupti)")
    return str(built(SOURCES / "fake_cupti.c", folder / "libcupti_fake.so", "-shared"))


def record(arguments, environment, cwd, **more):
    """Runs `ptxaudit record` with these arguments."""
    command = [sys.executable, "-m", "ptxaudit", "record", *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=120, **more)


def launches(folder: Path) -> list[dict]:
    """The launches of a recording, as in its launch file."""
    return tomllib.loads((folder / "recorded.toml").read_text()).get("launch", [])
