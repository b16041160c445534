"""A disk that fills up: one clear message, no partial output, and anything that needs no space continues.

The disk is a small tmpfs. Where none can be mounted (that needs root) the size of files is limited instead, which
fails the same writes; the tests then warn about it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from paths import ROOT

from ptxaudit.frontend.compile.nvrtc import compile_source

ROOM = 16 << 10  # bytes: less than the code below, more than Python's test of a temporary folder writes
NO_ROOM = ("No space left on device", "File too large")
LARGE = """\
extern "C" __global__ void large(int *a) {
  int x = a[threadIdx.x];
  #pragma unroll
  for (int i = 0; i < 600; i++) x = x * a[i] + i;
  a[threadIdx.x] = x;
}
"""
STORE = "st.shared.u32 [s], 1;\n"
SMALL = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.shared .b32 s;\n" + STORE + "ret;\n}\n"


class Disk:
    """A folder with little space. limited: the size of each file is limited instead."""

    def __init__(self, folder: Path, limited: bool) -> None:
        self.folder, self.limited = folder, limited

    def run(self, *words: object, **environment: object) -> subprocess.CompletedProcess:
        limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))) if self.limited else None
        return subprocess.run(
            [sys.executable, "-m", "ptxaudit", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit,
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
            | {name: str(value) for name, value in environment.items()},
        )

    @property
    def files(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)], capture_output=True, check=False
        ).returncode
        == 0
    )
    if not mounted:
        warnings.warn("no tmpfs can be mounted here: the size of files is limited instead", stacklevel=1)
    yield Disk(folder, not mounted)
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    compiled = compile_source(LARGE, arch="sm_90", name="large.cu")
    assert len(compiled.ptx) > ROOM and len(compiled.cubin) > 2 * ROOM
    (folder / "large.ptx").write_text(compiled.ptx)
    (folder / "code.cubin").write_bytes(compiled.cubin)
    (folder / "small.ptx").write_text(SMALL)
    (folder / "many.ptx").write_text(SMALL.replace(STORE, STORE * 100))
    return folder


def says_no_room(done: subprocess.CompletedProcess) -> bool:
    return (
        done.returncode == 2
        and any(words in done.stderr for words in NO_ROOM)
        and "Traceback" not in done.stderr
        and "= help:" in done.stderr
    )


@pytest.mark.parametrize("form", ["json", "html"])
def test_report_is_written_atomically(disk, inputs, form):
    output = disk.folder / "report"
    output.write_text("what was there")
    done = disk.run("audit", inputs / "many.ptx", "--no-cache", "--format", form, "-o", output)
    assert says_no_room(done) and str(output) in done.stderr
    assert output.read_text() == "what was there" and disk.files == [output]


def test_baseline_is_written_atomically(disk, inputs):
    done = disk.run("baseline", "update", disk.folder / "b.json", inputs / "many.ptx")
    assert says_no_room(done) and disk.files == []


@pytest.mark.parametrize("words", [["code.cubin"], ["large.ptx", "--isa", "both"]], ids=["the disassembler", "ptxas"])
def test_full_disk_in_a_tool_is_a_problem_of_its_input(disk, inputs, words):
    done = disk.run(
        "audit",
        inputs / words[0],
        inputs / "small.ptx",
        *words[1:],
        "--no-cache",
        "--format",
        "json",
        TMPDIR=disk.folder,
    )
    assert says_no_room(done) and "TMPDIR" in done.stderr
    report = json.loads(done.stdout)
    assert {Path(kernel["input"]).name for kernel in report["kernels"]} == {"small.ptx"}
    assert [Path(problem["file"]).name for problem in report["problems"]] == [words[0]]
    assert disk.files == []


def test_full_disk_in_the_result_cache_is_ignored(disk, inputs, tmp_path):
    """Twice: the few results that were kept do not change the report."""
    alone = json.loads(disk.run("audit", inputs / "small.ptx", "--no-cache", "--format", "json").stdout)
    for _ in range(2):
        done = disk.run(
            "audit",
            inputs / "large.ptx",
            inputs / "small.ptx",
            "--format",
            "json",
            "-o",
            os.devnull,
            XDG_CACHE_HOME=disk.folder,
        )
        assert done.returncode == 0 and done.stderr == ""
        done = disk.run("audit", inputs / "small.ptx", "--format", "json", XDG_CACHE_HOME=disk.folder)
        assert done.returncode == 0 and json.loads(done.stdout) == alone
