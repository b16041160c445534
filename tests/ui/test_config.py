"""A project's settings and compile commands: the options they set, what takes precedence, and errors in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile.compile_commands import Flags, flags_of, read_commands
from ptxaudit.frontend.compile.nvcc import at_hand
from ptxaudit.ui.config import KEYS, find_config, read_config

KERNEL = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[STRIDE * 32];
    s[threadIdx.x * STRIDE] = in[0];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
LAUNCH = '[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [32]\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "k.cu").write_text(KERNEL)
    (tmp_path / "launches.toml").write_text(LAUNCH)
    return tmp_path


def report(*arguments, status=0):
    return json.loads(run("audit", *arguments, "--format", "json", status=status).stdout)


# --- settings -------------------------------------------------------------------------------

PYPROJECT = """\
[project]
name = "x"

[tool.ptxaudit]
inputs = ["src"]
arch = "sm_80"
launches = ["launches.toml"]
defines = ["STRIDE=32"]
rules = ["PA002"]
"""


@pytest.mark.parametrize(
    "name, text",
    [
        ("pyproject.toml", PYPROJECT),
        ("ptxaudit.toml", PYPROJECT.split("[tool.ptxaudit]\n")[1]),
        ("ptxaudit.toml", "[tool.ptxaudit]\n" + PYPROJECT.split("[tool.ptxaudit]\n")[1]),
    ],
)
def test_project_is_audited_without_arguments(project, name, text):
    (project / name).write_text(text)
    data = report(status=1)
    (kernel,) = data["kernels"]
    assert (kernel["arch"], kernel["input"], kernel["totals"]["excess"]) == ("sm_80", "src/k.cu", 31)
    assert "denied by PA002: src/k.cu:4" in run("audit", status=1).stderr


def test_settings_of_a_parent_folder_have_relative_paths(project, monkeypatch):
    (project / "pyproject.toml").write_text(PYPROJECT)
    monkeypatch.chdir(project / "src")
    assert report(status=1)["kernels"][0]["input"] == "k.cu"  # relative to the working directory


def test_command_line_overrides_settings(project):
    (project / "pyproject.toml").write_text(PYPROJECT)
    data = report(
        "src/k.cu", "--arch", "sm_90", "-D", "STRIDE=33", "--block", "64", "--grid", "1", "--fail-on", "excess=1"
    )
    (kernel,) = data["kernels"]
    assert kernel["arch"] == "sm_90" and kernel["launch"]["block"][0] == 64 and kernel["totals"]["excess"] == 0
    run("audit", "--no-config", status=2)
    other = project / "other.toml"
    other.write_text('inputs = ["src"]\ndefines = ["STRIDE=1"]\n')
    assert report("--config", other)["kernels"][0]["launch"] is None


def test_settings_apply_to_other_commands(project):
    (project / "pyproject.toml").write_text(PYPROJECT + 'baseline = "b.json"\n')
    assert "31 excess wavefronts" in run("baseline", "update", "b.json").stdout
    assert "gate: nothing denied" in run("audit").stderr
    assert run("launches", "src/k.cu").stdout
    assert "1 of" not in run("diff", "src/k.cu", "src/k.cu").stdout
    assert "stride 128 bytes" in run("explain", "src/k.cu", "k.cu:4").stdout


def test_files_of_a_project_are_audited_with_its_launches(project):
    """As pre-commit does: the files of a commit, with the settings of the whole project."""
    (project / "pyproject.toml").write_text(PYPROJECT)
    (project / "src" / "other.cu").write_text(KERNEL.replace("void k(", "void other("))
    (project / "launches.toml").write_text(LAUNCH + LAUNCH.replace('"k"', '"other"'))
    for file, name in (("src/k.cu", "k"), ("src/other.cu", "other")):
        (kernel,) = report(file, status=1)["kernels"]
        assert kernel["name"] == name and kernel["launch"]["block"] == [32, 1, 1]
    assert (
        "k.cu" in run("explain", "src/k.cu", "k.cu:4").stdout
        and "other.cu" in run("diff", "src/k.cu", "src/other.cu").stdout
    )
    (project / "launches.toml").write_text(LAUNCH + LAUNCH.replace('"k"', '"othre"'))
    assert "there is no kernel 'othre'" in run("audit", status=2).stderr  # the whole project has no such kernel
    assert "there is no kernel 'othre'" in run("audit", "src", "--launch", "launches.toml", status=2).stderr
    assert "there is no kernel 'kk'" in run("audit", "src/k.cu", "--kernel", "kk", status=2).stderr


def test_toolchain_setting_applies_to_both_sides_of_a_diff(project):
    (project / "pyproject.toml").write_text(PYPROJECT + 'toolchain = "9.9"\n')
    assert "no CUDA release '9.9'" in run("diff", "src/k.cu", "src/k.cu", status=2).stderr


def test_excluded_files_are_not_audited(project):
    (project / "src" / "third_party").mkdir()
    (project / "src" / "third_party" / "other.cu").write_text("not CUDA at all")
    (project / "src" / "old_k.cu").write_text("nor this")
    (project / "pyproject.toml").write_text(PYPROJECT + 'exclude = ["third_party", "old_*.cu"]\n')
    assert [entry["path"] for entry in report(status=1)["inputs"]] == ["src/k.cu"]


def test_ignored_rules_are_not_reported(project):
    (project / "pyproject.toml").write_text(PYPROJECT.replace("rules =", "ignore ="))
    assert run("audit", "--format", "github").stdout == ""
    assert "PA002" in run("audit", "--format", "github", "--ignore", "PA001").stdout
    assert "no rule 'PA999'" in run("audit", "--ignore", "PA999", status=2).stderr


def test_audit_without_inputs_is_rejected(project):
    (project / "pyproject.toml").write_text("[tool.ptxaudit]\narch = 'sm_90'\n")
    assert "in the settings" in run("audit", status=2).stderr


@pytest.mark.parametrize(
    "text, what, hint, line",
    [
        ("inptus = ['src']", "no setting 'inptus'", "did you mean inputs?", 2),
        ("arch = 90", "arch is 90, not a string", "", 2),
        ("launches = [1]", "not a list of strings", "", 2),
        ("strict = 'yes'", "not true or false", "", 2),
        ("arch = ", "this is not TOML", "", 2),
    ],
)
def test_error_in_settings_has_its_line_and_a_hint(project, text, what, hint, line):
    (project / "pyproject.toml").write_text(f"[tool.ptxaudit]\n{text}\n")
    stderr = run("audit", "src", status=2).stderr
    assert what in stderr and hint in stderr and f"pyproject.toml:{line}" in stderr


def test_missing_settings_file_is_rejected(project):
    assert "cannot read the settings" in run("audit", "src", "--config", "none.toml", status=2).stderr


def test_pyproject_without_the_table_is_ignored(project):
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_config(project) is None or find_config(project).parent != project


def test_every_setting_is_an_audit_option():
    from ptxaudit.ui.commands.audit import command

    names = {parameter.name for parameter in command.params}
    assert {key.option for key in KEYS.values()} - names == {"exclude"}


def test_string_setting_is_a_list_of_one(tmp_path):
    (tmp_path / "ptxaudit.toml").write_text("rules = 'PA001'\nbudget = 5\n")
    config = read_config(tmp_path / "ptxaudit.toml")
    assert config.get("fail_on") == ("PA001",) and config.get("budget") == 5.0


# --- compile commands -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, flags",
    [
        (
            "nvcc -I../inc -I /abs -isystem=sys -DN=4 -D M -std=c++20",
            Flags(("/b/inc", "/abs", "/b/a/sys"), ("N=4", "M"), "c++20"),
        ),
        (
            "nvcc --include-path=x,y --define-macro Q=1 --std gnu++17 -c k.cu -o k.o",
            Flags(("/b/a/x", "/b/a/y"), ("Q=1",), "c++17"),
        ),
        ("nvcc -c k.cu", Flags()),
        ("nvcc -DN=1 -UN -U M -DM=2 --undefine-macro=Q k.cu", Flags(defines=("M=2",), undefines=("N", "Q"))),
        ("nvcc -include pre.h --pre-include=other.h k.cu", Flags(headers=("pre.h", "other.h"))),
        (
            "nvcc --use_fast_math -fmad=false -fmad true --maxrregcount 64 -G -prec-div=false -restrict k.cu",
            Flags(
                code=(
                    "--use_fast_math",
                    "--fmad=true",
                    "--maxrregcount=64",
                    "--device-debug",
                    "--prec-div=false",
                    "--restrict",
                )
            ),
        ),
        ("nvcc -use_fast_math=false -Xcompiler -O2 -O3 -lineinfo k.cu", Flags()),
        ("nvcc -Xptxas -O1,-v --ptxas-options=-dlcm=cg k.cu", Flags(ptxas=("-O1", "-dlcm=cg"))),
        (
            "nvcc -Xptxas -o,/etc/x -rdc=true -dc -maxrregcount=$N k.cu",
            Flags(ignored=("-rdc=true", "-dc", "-maxrregcount=$N $N", "-Xptxas -o", "-Xptxas /etc/x")),
        ),
    ],
)
def test_compiler_flags_are_extracted(words, flags):
    assert flags_of(words.split(), "/b/a") == flags


def test_response_files_are_expanded(tmp_path):
    """CMake does so for CUDA:
    https://cmake.org/cmake/help/latest/variable/CMAKE_LANG_USE_RESPONSE_FILE_FOR_INCLUDES.html
    """
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "includes_CUDA.rsp").write_text('-I/a/inc "-I/with blank" -isystem /sys @more.rsp\n')
    (tmp_path / "more.rsp").write_text("-DN=4\n")
    wanted = Flags(("/a/inc", "/with blank", "/sys"), ("N=4",), "c++17")
    for way in (
        "--options-file sub/includes_CUDA.rsp",
        "--options-file=sub/includes_CUDA.rsp",
        "-optf sub/includes_CUDA.rsp",
        "@sub/includes_CUDA.rsp",
    ):
        assert flags_of(f"nvcc -std=c++17 {way} -c k.cu".split(), str(tmp_path)) == wanted
    with pytest.raises(InputError, match="cannot read the compiler's arguments") as caught:
        flags_of(["nvcc", "--options-file", "none.rsp"], str(tmp_path))
    assert caught.value.file == str(tmp_path / "none.rsp")
    (tmp_path / "more.rsp").write_text("@more.rsp")
    with pytest.raises(InputError, match="include each other endlessly"):
        flags_of(["nvcc", "@more.rsp"], str(tmp_path))


def test_sources_compile_with_their_own_flags(project):
    (project / "inc").mkdir()
    (project / "inc" / "stride.h").write_text("#define STRIDE (32 + EXTRA)\n")
    (project / "src" / "k.cu").write_text('#include "stride.h"\n' + KERNEL)
    (project / "src" / "k2.cu").write_text(KERNEL)
    commands = [
        {"directory": str(project), "file": "src/k.cu", "command": "nvcc -Iinc -DEXTRA=1 -c src/k.cu"},
        {"directory": str(project / "src"), "file": "k2.cu", "arguments": ["nvcc", "-DSTRIDE=32", "-c", "k2.cu"]},
        {"directory": str(project), "file": "main.cpp", "command": "g++ main.cpp"},
    ]
    (project / "cc.json").write_text(json.dumps(commands))
    data = report("--compile-commands", "cc.json", "--launch", "launches.toml")
    assert {kernel["input"]: kernel["totals"]["excess"] for kernel in data["kernels"]} == {
        "src/k.cu": 0,
        "src/k2.cu": 31,
    }
    (project / "ptxaudit.toml").write_text('compile-commands = "cc.json"\nlaunches = ["launches.toml"]\n')
    assert len(report()["kernels"]) == 2


BUILT = """
extern "C" __global__ void k(float* out, float x) {
    __shared__ float s[1024];
    out[0] = x * x + out[1] * x;
#ifdef WIDE
    s[threadIdx.x * WIDE] = x;
#else
    s[threadIdx.x] = x;
#endif
    out[threadIdx.x] = s[threadIdx.x ^ 1] / x;
}
"""


def built(folder: Path, arguments: str, *more: str) -> dict:
    (folder / "src" / "k.cu").write_text(BUILT)
    (folder / "src" / "pre.h").write_text("#define WIDE 2\n")
    command = {"directory": str(folder / "src"), "file": "k.cu", "command": f"nvcc {arguments} -c k.cu"}
    (folder / "cc.json").write_text(json.dumps([command]))
    data = report("src/k.cu", "--compile-commands", "cc.json", "--block", "32", "--grid", "1", "--isa", "both", *more)
    assert not data["problems"]
    return data


@pytest.mark.parametrize("compiler", ("nvrtc", "nvcc"))
@pytest.mark.parametrize(
    "arguments, excess",
    [("", 0), ("-include pre.h", 1), ("-DWIDE=2", 1), ("-DWIDE=2 -UWIDE", 0), ("-UWIDE -DWIDE=2", 1)],
)
def test_macros_and_headers_equal_those_of_the_build(project, compiler, arguments, excess):
    if compiler == "nvcc" and at_hand(None) is None:
        pytest.skip("no nvcc")
    data = built(project, arguments, "--compiler", compiler)
    assert {kernel["totals"]["excess"] for kernel in data["kernels"]} == {excess}


def test_command_line_macro_overrides_the_builds_undefine(project):
    data = built(project, "-UWIDE", "-D", "WIDE=2")
    assert {kernel["totals"]["excess"] for kernel in data["kernels"]} == {1}


@pytest.mark.parametrize("option, opcode", [("-fmad=false", "FADD"), ("--use_fast_math", "CALL.REL.NOINC")])
def test_code_generation_options_equal_those_of_the_build(project, option, opcode):
    """Without fused operations there is a separate sum; without an exact quotient its routine is not called."""

    def opcodes(arguments: str) -> set[str]:
        (kernel,) = (kernel for kernel in built(project, arguments)["kernels"] if kernel["isa"] == "sass")
        return set(kernel["code"]["opcodes"])

    assert (opcode in opcodes("")) != (opcode in opcodes(option))


def test_omitted_build_options_are_noted(project):
    noted = [kernel["notes"] for kernel in built(project, "-rdc=true -Xptxas -cool")["kernels"]]
    assert all(any("-rdc=true, -Xptxas -cool, which the audit leaves out" in text for text in each) for each in noted)


@pytest.mark.parametrize(
    "text, what",
    [
        ("[", "not complete JSON"),
        ("{}", "not a list"),
        ("[3]", "entry 0"),
        ('[{"directory": "/", "file": "k.cu"}]', "has no 'command'"),
        ('[{"directory": "/", "file": "k.cu", "command": "\\""}]', "cannot be read"),
    ],
)
def test_invalid_compile_commands_are_rejected(tmp_path, text, what):
    (tmp_path / "cc.json").write_text(text)
    with pytest.raises(InputError) as caught:
        read_commands(tmp_path / "cc.json")
    assert what in caught.value.what and caught.value.file == str(tmp_path / "cc.json")
    with pytest.raises(InputError, match="No such file"):
        read_commands(Path(tmp_path / "none.json"))
