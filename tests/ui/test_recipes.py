"""The recipes for build systems and services: executed where possible, otherwise validated by their schemas."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from paths import ROOT

from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.ui import recipes
from ptxaudit.ui.cli import main

SCRIPTS = Path(sys.executable).parent
BAD = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[2048];
    s[threadIdx.x * 32] = in[0];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
GOOD = BAD.replace("* 32", "* 33")
LAUNCH = '[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [32]\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    tmp_path = tmp_path / "project"
    tmp_path.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PTXAUDIT", f"{sys.executable} -m ptxaudit")
    (tmp_path / "k.cu").write_text(BAD)
    (tmp_path / "launches.toml").write_text(LAUNCH)
    return tmp_path


def shell(*command, status=0, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=180, check=False, **options)
    output = done.stdout + done.stderr
    assert (done.returncode == 0) == (status == 0), output
    return output


def needs(tool):
    if not shutil.which(tool):
        pytest.skip(f"there is no {tool} on this machine")


# --- the command ----------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", recipes.RECIPES, ids=lambda recipe: recipe.name)
def test_recipe_is_printed_and_located(recipe):
    text = CliRunner().invoke(main, ["recipe", recipe.name]).stdout
    where = CliRunner().invoke(main, ["recipe", recipe.name, "--path"]).stdout.strip()
    assert text == Path(where).read_text() and "ptxaudit" in text
    assert recipe.name in CliRunner().invoke(main, ["recipe"]).stdout


def test_every_recipe_file_is_listed():
    files = {
        path.name
        for path in Path(recipes.__file__).parent.iterdir()
        if path.suffix not in (".py", "") and path.name != "__pycache__"
    }
    assert files == {recipe.file for recipe in recipes.RECIPES}
    assert "no recipe 'bazel'" in CliRunner().invoke(main, ["recipe", "bazel"]).stderr


# --- CMake ----------------------------------------------------------------------------------

CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(example LANGUAGES C)
execute_process(COMMAND ptxaudit recipe cmake --path OUTPUT_VARIABLE recipe OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${recipe})
"""


def later(file):
    """The file, with a time later than that of all others."""
    file.write_text("")
    os.utime(file, (time.time() + 5, time.time() + 5))


def cmake(folder, status=0):
    needs("cmake")
    needs("cc")
    shell("cmake", "-S", folder, "-B", folder / "build")
    return shell("cmake", "--build", folder / "build", status=status)


def test_cmake_denial_fails_the_build(project):
    (project / "CMakeLists.txt").write_text(
        CMAKE + "ptxaudit_check(NAME kernels FILES k.cu DEPENDS tile.cuh LAUNCH launches.toml FAIL_ON PA002)\n"
    )
    (project / "tile.cuh").touch()
    output = cmake(project, status=1)
    assert "denied by PA002: k.cu:4" in output
    (project / "k.cu").write_text(GOOD)
    assert "Auditing the shared-memory accesses of kernels" in cmake(project)
    assert (
        "33" in (project / "k.cu").read_text() and "exact" in (project / "build" / "kernels.ptxaudit.txt").read_text()
    )
    assert "Auditing" not in cmake(project)  # nothing changed
    later(project / "tile.cuh")
    assert "Auditing" in cmake(project)


def embedded(folder, source):
    """C code that embeds device code as nvcc's host objects do."""
    packer = Path(toolchains.get("nvcc").path).parent / "fatbinary"
    if not packer.exists():
        pytest.skip("the compiler's package has no fatbinary")
    (folder / "k.cubin").write_bytes(compile_source(source).cubin)
    shell(packer, "--create=k.fatbin", "-64", "--image3=kind=elf,sm=90,file=k.cubin", cwd=folder)
    (folder / "app.c").write_text(
        f'__asm__(".section .nv_fatbin,\\"a\\"\\n.incbin \\"{folder}/k.fatbin\\"\\n.previous\\n");\nint main(void) {{'
        " return 0; }\n"
    )


def test_cmake_audits_a_linked_program(project):
    needs("cmake")
    (project / "CMakeLists.txt").write_text(
        CMAKE + "add_executable(app app.c)\nptxaudit_check(TARGET app LAUNCH launches.toml FAIL_ON excess=1 STRICT)\n"
    )
    embedded(project, BAD)
    assert "denied by excess=1" in cmake(project, status=1)
    embedded(project, GOOD)
    assert "gate: nothing denied" in cmake(project)


def test_cmake_names_missing_arguments(project):
    needs("cmake")
    (project / "CMakeLists.txt").write_text(CMAKE + "ptxaudit_check(NAME kernels)\n")
    assert "name a TARGET, or a NAME and FILES" in shell("cmake", "-S", project, "-B", project / "build", status=1)


# --- make -----------------------------------------------------------------------------------

MAKE = """\
PTXAUDIT_INPUTS = k.cu
PTXAUDIT_FLAGS = --launch launches.toml --fail-on excess=1
PTXAUDIT_BASELINE_FLAGS = --launch launches.toml
PTXAUDIT_DEPENDS = launches.toml
include $(shell ptxaudit recipe make --path)
"""


def test_make_audits_changed_files_and_writes_the_baseline(project):
    needs("make")
    (project / "Makefile").write_text(MAKE)
    assert "denied by excess=1: k.cu:4" in shell("make", "ptxaudit", status=2)
    shell("make", "ptxaudit-baseline")
    shell("make", "ptxaudit", "PTXAUDIT_FLAGS=--launch launches.toml --baseline ptxaudit-baseline.json")
    assert "up to date" in shell("make", "ptxaudit") or "Nothing to be done" in shell("make", "ptxaudit")
    assert "exact" in (project / "ptxaudit.txt").read_text()
    (project / "launches.toml").write_text(LAUNCH.replace("[32]", "[64]"))
    os.utime(project / "launches.toml", (time.time() + 5, time.time() + 5))
    assert "denied by excess=1: k.cu:4" in shell("make", "ptxaudit", status=2)


# --- pre-commit -----------------------------------------------------------------------------


def test_pre_commit_hook_and_recipe_are_valid(tmp_path):
    shell(sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml")
    shell(sys.executable, "-m", "pre_commit", "validate-config", recipes.path(recipes.get("pre-commit")))
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (local,) = yaml.safe_load(recipes.path(recipes.get("pre-commit")).read_text())["repos"][0]["hooks"]
    assert {key: local[key] for key in hook if key in local} == {key: hook[key] for key in hook if key in local}


def test_pre_commit_stops_a_commit_with_a_conflict(project):
    needs("git")
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0] | {
        "language": "system"
    }  # the tools installed here
    hook["entry"] = f"{sys.executable} -m {hook['entry']}"
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook]}]}))
    (project / "ptxaudit.toml").write_text('launches = ["launches.toml"]\nrules = ["PA002"]\n')
    environment = os.environ | {
        "HOME": str(project),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(project / "cache"),
    }
    shell("git", "init", "-q", ".", env=environment)
    shell("git", "add", "k.cu", ".pre-commit-config.yaml", env=environment)
    run = [sys.executable, "-m", "pre_commit", "run"]
    assert "denied by PA002: k.cu:4" in shell(*run, status=1, env=environment)
    (project / "k.cu").write_text(GOOD)
    shell("git", "add", "k.cu", env=environment)
    assert "Passed" in shell(*run, env=environment)


# --- services -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema, file",
    [
        ("vendor.github-workflows", recipes.path(recipes.get("github"))),
        ("vendor.github-actions", ROOT / "action.yml"),
        ("vendor.gitlab-ci", recipes.path(recipes.get("gitlab"))),
    ],
    ids=["GitHub workflow", "GitHub action", "GitLab"],
)
def test_service_file_conforms_to_its_schema(schema, file):
    shell(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file)


def steps_of(file):
    """The shell lines of a workflow or pipeline."""
    document = yaml.safe_load(Path(file).read_text())
    if "ptxaudit" in document:
        return document["ptxaudit"]["script"]
    return [step["run"] for step in document["jobs"]["audit"]["steps"] if "run" in step]


@pytest.mark.parametrize("name, written", [("github", "ptxaudit.sarif"), ("gitlab", "gl-code-quality-report.json")])
def test_pipeline_steps_run_with_the_gate_last(project, name, written):
    (project / "ptxaudit.toml").write_text('inputs = ["k.cu"]\nlaunches = ["launches.toml"]\nrules = ["excess=1"]\n')
    lines = [line for line in steps_of(recipes.path(recipes.get(name))) if not line.startswith("pip install")]
    environment = os.environ | {
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "GITHUB_BASE_REF": "main",
        "HOME": str(project),
    }
    if name == "github":
        needs("git")
        (project / "k.cu").write_text(GOOD)
        for command in (
            "init -q .",
            "add k.cu launches.toml ptxaudit.toml",
            "commit -qm base",
            "update-ref refs/remotes/origin/main HEAD",
        ):
            shell("git", "-c", "user.name=n", "-c", "user.email=e", *command.split(), env=environment)
        (project / "k.cu").write_text(BAD)
    for line in lines[:-1]:
        shell("bash", "-ec", line, env=environment)
    assert (project / written).stat().st_size > 100
    if name == "github":
        summary = (project / "summary.md").read_text()
        assert (
            "## ptxaudit: 1 finding" in summary
            and "### ptxaudit: got worse" in summary
            and "| worse | k.cu:4 |" in summary
        )
    assert "denied by excess=1" in shell("bash", "-ec", lines[-1], status=1, env=environment)
    (project / "k.cu").write_text(GOOD)
    shell("bash", "-ec", lines[-1], env=environment)


def test_action_annotates_writes_sarif_and_returns_the_status(project):
    step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][-1]
    environment = os.environ | {
        "INPUTS": "k.cu",
        "ARGUMENTS": "--launch launches.toml --fail-on PA002",
        "SARIF": "out.sarif",
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "GITHUB_OUTPUT": str(project / "output"),
    }
    output = shell("bash", "-e", "-o", "pipefail", "-c", step["run"], status=1, env=environment)
    assert "::warning file=k.cu,line=4" in output
    assert (project / "output").read_text() == "status=1\n" and (project / "out.sarif").exists()
    assert "## ptxaudit: 1 finding" in (project / "summary.md").read_text()
