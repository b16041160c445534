"""A repository with a gate: a history of git commits, with the gate run after each commit as in CI.

The kernel transposes 32 × 32 floats, one warp per row. Each of the 32 warps stores a row, with 1 wavefront, and loads
a column: with 1 wavefront for rows of 33 floats, with 32 for rows of 32. So the total is 64 wavefronts without
excess, or 32 + 1,024 = 1,056 with an excess of 992.
"""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from ptxaudit.ui.cli import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

KERNEL = """\
#include "tile.cuh"

extern "C" __global__ void transpose(float* out, const float* in) {
    __shared__ float tile[32][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile[x][y];
}
"""
HEADER = "#pragma once\n#define PITCH 33\n"
SETTINGS = """\
[tool.ptxaudit]
inputs = ["src"]
launches = ["launches.toml"]
baseline = "baseline.json"
"""
LAUNCHES = '[[launch]]\nkernel = "transpose"\ngrid = 1\nblock = [32, 32]\n'

EXTRACTED = KERNEL.replace(
    "    out[y * 32 + x] = tile[x][y];\n", "    out[y * 32 + x] = turned(tile, x, y);\n"
).replace(
    'extern "C"',
    "__device__ __forceinline__ float turned(const float (*t)[PITCH], int row, int column) { return t[row][column];"
    ' }\n\nextern "C"',
    1,
)


class Repository:
    """A git repository with successive commits."""

    def __init__(self, folder):
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments):
        own = ("-c", "user.name=ptxaudit tests", "-c", "user.email=tests@example.invalid", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", *own, *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, message, **files):
        for name, text in files.items():
            path = (
                self.folder
                / {
                    "kernel": "src/transpose.cu",
                    "header": "src/tile.cuh",
                    "settings": "pyproject.toml",
                    "launches": "launches.toml",
                }[name]
            )
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def checkout(self, revision, target):
        """The tree of a revision, in its own folder."""
        self.git("worktree", "add", "--quiet", "--detach", str(target), revision)
        return target


@pytest.fixture
def repository(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Repository(folder)
    made.commit("A kernel with its launch", kernel=KERNEL, header=HEADER, settings=SETTINGS, launches=LAUNCHES)
    assert ptxaudit("baseline", "update", "baseline.json").stdout.startswith(
        "baseline.json: 2 sites in 1 kernel, 0 excess wavefronts"
    )
    made.commit("What is known")
    return made


def ptxaudit(*arguments, status=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result


def gate(status=0):
    return ptxaudit("audit", status=status).stderr


def test_gate_follows_a_history_of_commits(repository):
    assert gate() == "gate: nothing denied; all of 2 sites could be judged\n"

    repository.commit("Lines above", kernel="// a transposition\n// of one tile\n" + KERNEL)
    assert gate() == "gate: nothing denied; all of 2 sites could be judged\n"

    repository.commit("A helper", kernel=EXTRACTED)
    assert gate() == "gate: nothing denied; all of 2 sites could be judged\n"

    repository.commit("Rows of 32 floats", header=HEADER.replace("33", "32"))
    denied = gate(status=1)
    assert (
        "denied by baseline: src/transpose.cu:3: ld.shared.f32: worse than the baseline: excess 0 (32 wavefronts) →"
        " excess 992  (transpose)" in denied
    )
    assert denied.endswith("gate: 1 denial; all of 2 sites could be judged (1 passed, 1 denied)\n")

    repository.commit("Rows of 33 floats again", header=HEADER)
    assert gate() == "gate: nothing denied; all of 2 sites could be judged\n"


def test_renamed_kernel_with_a_stale_launch_is_noted(repository):
    """If the file is named, launches without a kernel in it are no error: they may belong to other files."""
    repository.commit("Another name", kernel=KERNEL.replace("void transpose", "void turn"))
    told = ptxaudit("audit", "src/transpose.cu").stderr
    assert (
        "warning: turn has no launch, so that nothing is exact for it; launches in the settings without a kernel"
        " here: 'transpose' (launches.toml:1). Was it renamed?\n" in told
    )
    assert "2 of 2 sites could not be judged" in told  # the baseline has sums, the report single requests
    assert "there is no kernel 'transpose'" in gate(status=2)  # an error where all inputs are audited
    assert "warning: turn has no launch" in ptxaudit("baseline", "update", "other.json", "src/transpose.cu").stderr
    repository.commit("Its launch", launches=LAUNCHES.replace("transpose", "turn"))
    assert (
        ptxaudit("audit", "src/transpose.cu").stderr
        == gate()
        == "gate: nothing denied; all of 2 sites could be judged\n"
    )


def test_data_dependent_site_is_not_counted_as_judged(repository):
    """A gather: the words of the tile that lanes read depend on loaded data, in the baseline and now."""
    gather = KERNEL.replace("tile[x][y]", "tile[int(in[x]) & 31][y]")
    repository.commit("A gather", kernel=gather)
    ptxaudit("baseline", "update", "baseline.json")
    assert gate().endswith("gate: nothing denied; 1 of 2 sites could not be judged (1 passed), as in the baseline\n")
    assert "1 of 2 sites could not be judged" in ptxaudit("audit", "--fail-on", "excess=1").stderr


def test_diff_follows_a_history_of_commits(repository, tmp_path):
    for message, files in {
        "A helper": {"kernel": EXTRACTED},
        "Rows of 32 floats": {"header": HEADER.replace("33", "32")},
    }.items():
        repository.commit(message, **files)
    revisions = repository.git("rev-list", "--reverse", "HEAD").split()
    trees = [
        repository.checkout(revision, tmp_path / f"at{at}") / "src" / "transpose.cu"
        for at, revision in enumerate(revisions)
    ]
    launch = ["--launch", "launches.toml"]
    assert len(trees) == 4
    statuses = [
        CliRunner().invoke(main, ["diff", str(old), str(new), *launch]).exit_code
        for old, new in zip(trees, trees[1:], strict=False)
    ]
    assert statuses == [0, 0, 1]
    data = json.loads(ptxaudit("diff", trees[0], trees[-1], *launch, "--format", "json", status=1).stdout)
    assert data["totals"] == {"excess": [0, 992], "wavefronts": [64, 1056]} and data["counts"] == {
        "worse": 1,
        "moved": 1,
    }
    for at, tree in enumerate(trees):
        ptxaudit("audit", tree, *launch, "--no-config", "--format", "json", "-o", tmp_path / f"{at}.json")
    history = ptxaudit("history", *(tmp_path / f"{at}.json" for at in range(4))).stdout
    assert "excess transpose (ptx) 0 → 992 ▁▁▁█ worse at 3" in " ".join(history.split())
