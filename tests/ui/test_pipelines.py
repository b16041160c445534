"""The CI recipe from end to end, in an empty folder, as processes.

An audit, a baseline, a regression, the gate, and a compiler upgrade; and the examples of docs/pipelines.md as they
stand there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
from command_line import run
from paths import DOCS

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchain_fetch, toolchains
from ptxaudit.ui.config import KEYS

DOCS = DOCS / "pipelines.md"
KERNEL = """\
__device__ float* slot(float* s, int i) { return s + i * 32; }

extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    __shared__ alignas(16) float t[128];
    s[threadIdx.x * 32] = in[threadIdx.x];
    t[threadIdx.x] = in[threadIdx.x + 32];
    __syncthreads();
    out[threadIdx.x] = *slot(s, threadIdx.x) + t[threadIdx.x];
}
"""
LAUNCHES = '[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [32]\n'
SETTINGS = 'inputs = ["kernels.cu"]\nlaunches = ["launches.toml"]\nbaseline = "ptxaudit-baseline.json"\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.cu").write_text(KERNEL)
    (tmp_path / "launches.toml").write_text(LAUNCHES)
    return tmp_path


def ptxaudit(folder, *arguments, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "ptxaudit", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PYTHONPATH": str(DOCS.parent.parent)},
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def in_this_process(folder, *arguments, status=0):
    with contextlib.chdir(folder):
        return run(*arguments, status=status)


def older_release():
    """CUDA 12.9, fetched once into the user's cache."""
    try:
        return toolchain_fetch.ensure("nvrtc", "12.9", say=lambda sentence: None).version
    except InputError as error:
        if "could not be downloaded" in error.what:
            pytest.skip(str(error))
        raise


def test_ci_recipe_from_baseline_to_compiler_upgrade(folder):
    (folder / "ptxaudit.toml").write_text(SETTINGS)

    # day one: the known conflicts are recorded
    assert "62 excess wavefronts" in ptxaudit(folder, "baseline", "update", "ptxaudit-baseline.json").stdout
    assert "gate: nothing denied; all of 4 sites could be judged" in ptxaudit(folder, "audit").stderr

    # lines move, the file is renamed: nothing is new
    (folder / "renamed.cu").write_text("// a comment\n\n" + KERNEL)
    assert "gate: nothing denied" in in_this_process(folder, "audit", "renamed.cu").stderr

    # a regression: the gate fails on that line, in every format
    worse = "// a comment\n" + KERNEL.replace("+ t[threadIdx.x];", "+ t[threadIdx.x * 4];")
    (folder / "kernels.cu").write_text(worse)
    line = next(number for number, text in enumerate(worse.splitlines(), 1) if "t[threadIdx.x * 4]" in text)
    done = ptxaudit(folder, "audit", "--format", "github", status=1)
    denials = [text for text in done.stderr.splitlines() if text.startswith("denied")]
    assert len(denials) == 1 and f"kernels.cu:{line}: ld.shared.f32: worse than the baseline: excess 0" in denials[0]
    assert [found[1] for found in re.finditer(r"line=(\d+)", done.stdout)] == [str(line)]
    results = json.loads(in_this_process(folder, "audit", "--format", "sarif", status=1).stdout)["runs"][0]["results"]
    states = {(r["locations"][0]["physicalLocation"]["region"]["startLine"], r["baselineState"]) for r in results}
    assert (line, "new") in states and {state for _, state in states} == {"new", "unchanged"}

    # it is allowed, with a reason; then it is fixed, and the comment is stale
    (folder / "kernels.cu").write_text(
        worse.replace("* 4];", '* 4];   // ptxaudit: allow(PA001, "measured: not on the hot path")')
    )
    assert "1 allowed by comments" in re.sub(r"\d+ allowed", "1 allowed", in_this_process(folder, "audit").stderr)
    (folder / "kernels.cu").write_text(
        KERNEL.replace("+ t[threadIdx.x];", '+ t[threadIdx.x];   // ptxaudit: allow(PA002, "gone")')
    )
    assert "no longer matches anything" in in_this_process(folder, "audit").stderr

    # the compiler is upgraded: the reports of both releases are compared
    old, new = older_release(), toolchains.get("nvrtc").version
    for name, release in (("old.json", old), ("new.json", new)):
        in_this_process(
            folder,
            "audit",
            "--no-config",
            "kernels.cu",
            "--launch",
            "launches.toml",
            "--toolchain",
            release,
            "--isa",
            "both",
            "--format",
            "json",
            "-o",
            name,
        )
    text = in_this_process(folder, "diff", "old.json", "new.json").stdout
    assert f"(nvrtc {old})" in text and f"(nvrtc {new})" in text and re.search(r"\d+ sites: ", text)
    assert in_this_process(folder, "diff", "kernels.cu", "--toolchain", old, "--toolchain", new).stdout == text


# --- the page -------------------------------------------------------------------------------


def blocks(language):
    """The fenced blocks of a language; "" selects those without one."""
    parts = re.split(r"^```(\w*)\n", DOCS.read_text(), flags=re.MULTILINE)
    return [text for fence, text in zip(parts[1::4], parts[2::4], strict=True) if fence == language]


def commands():
    return [line.split()[1:] for block in blocks("") for line in block.splitlines() if line.startswith("ptxaudit ")]


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command[:2] + command[-2:]))
def test_commands_of_the_pipelines_page_run(folder, command):
    from ptxaudit.frontend.compile.nvrtc import compile_source

    if "12.9" in command:
        old, new = older_release(), toolchains.get("nvrtc").version
        command = [{"13.5": new}.get(word, word) for word in command]
        if "kernels.ptx" in command:
            (folder / "kernels.ptx").write_text(compile_source(KERNEL, tool=toolchains.get("nvrtc", old)).ptx)
    if "old.json" in command:
        for name in ("old.json", "new.json"):
            in_this_process(folder, "audit", "kernels.cu", "--format", "json", "-o", name)
    if "old.cubin" in command:
        for name in ("old.cubin", "new.cubin"):
            (folder / name).write_bytes(compile_source(KERNEL).cubin)
    if "--baseline" in command:
        in_this_process(folder, *next(other for other in commands() if other[0] == "baseline"))
    in_this_process(folder, *command, status=1 if "--fail-on" in command else 0)


def test_pipelines_page_names_every_setting():
    (text,) = blocks("toml")
    told = set(tomllib.loads(text)["tool"]["ptxaudit"])
    rest = re.search(r"Also (.*?)\. The command line", DOCS.read_text(), re.DOTALL)[1]
    assert told | set(re.findall(r"`([\w-]+)`", rest)) == set(KEYS)


def test_suppressions_on_the_pipelines_page_are_valid():
    from ptxaudit.report.model import Suppression
    from ptxaudit.review.suppressions import read_suppressions

    (text,) = blocks("cuda")
    found = list(read_suppressions(text, "k.cu"))
    assert all(isinstance(one, Suppression) for one in found) and [one.rule for one in found] == [
        "PA002",
        "PA001",
        "PA003",
    ]


def test_test_on_the_pipelines_page_runs(folder, monkeypatch):
    (text,) = blocks("python")
    monkeypatch.chdir(folder)
    (folder / "transpose.cu").write_text(
        'extern "C" __global__ void transpose(float* p) { __shared__ float t[32][33]; int x = threadIdx.x, y ='
        " threadIdx.y;\n  t[y][x] = p[y * 32 + x]; __syncthreads(); p[y * 32 + x] = t[x][y]; }\n"
    )
    names: dict = {}
    exec(text, names)  # the page's own code
    names["test_transpose"]()


# --- bad input ------------------------------------------------------------------------------

BAD_INPUT = {
    "a baseline of another schema": (
        ["audit", "kernels.cu", "--baseline", "other.json"],
        'schema "ptxaudit/baseline/9"',
        "baseline update",
    ),
    "a report as a baseline": (
        ["audit", "kernels.cu", "--baseline", "report.json"],
        'schema "ptxaudit/report/1"',
        "baseline update",
    ),
    "half a report": (["diff", "half.json", "report.json"], "cut", "write it again"),
    "a report of another schema": (
        ["diff", "report.json", "other.json"],
        'schema "ptxaudit/baseline/9"',
        "write it again",
    ),
    "a suppression without a reason": (["audit", "unreasoned.cu"], "gives no reason", 'allow(PA001, "why")'),
    "a release that never was": (["audit", "kernels.cu", "--toolchain", "9.9"], "no CUDA release '9.9'", "12.9"),
    "a rule that is none": (
        ["audit", "kernels.cu", "--fail-on", "PA099"],
        "--fail-on PA099 is neither a rule",
        "PA001",
    ),
    "a folder that cannot be written to": (
        ["audit", "kernels.cu", "-o", "none/report.json"],
        "cannot write this file",
        "-o",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_pipeline_commands_reject_bad_input_with_status_2(folder, case, monkeypatch):
    monkeypatch.chdir(folder)
    report = run("audit", "kernels.cu", "--format", "json").stdout
    (folder / "report.json").write_text(report)
    (folder / "half.json").write_text(report[: len(report) // 2])
    (folder / "other.json").write_text('{"schema": "ptxaudit/baseline/9"}')
    (folder / "unreasoned.cu").write_text(
        KERNEL.replace("__syncthreads();", "__syncthreads();  // ptxaudit: allow(PA001)")
    )
    arguments, what, hint = BAD_INPUT[case]
    result = run(*arguments, status=2)
    assert what in result.stderr and hint in result.stderr, result.stderr
