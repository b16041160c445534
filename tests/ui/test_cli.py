"""The command line: options, exit statuses, and the stream of each output. A few runs are real processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from command_line import folder_with, run
from kernels import COLUMN, PITCH, PTX
from reports import validate
from terminal import on_a_terminal

from ptxaudit.ui import commands
from ptxaudit.ui.cli import main

LAUNCH = ["--grid", "1", "--block", "32"]

here = folder_with({"column.cu": COLUMN, "pitch.cu": PITCH, "k.ptx": PTX})


def report(*arguments, status=0):
    return validate(json.loads(run("audit", *arguments, "--format", "json", status=status).stdout))


def sites(data):
    return [site for kernel in data["kernels"] for site in kernel["sites"]]


# --- audit ----------------------------------------------------------------------------------


def test_audit_writes_text(here):
    result = run("audit", "column.cu", *LAUNCH)
    assert re.search(
        r"column\.cu:4 +st\.shared\.f32 +exact +1 +32 +1 +31 +32\n +4 │ s\[tid \* 32\] = in\[tid\];\n", result.stdout
    )
    closing = "2 sites in 1 kernel: 2 exact\nnot audited (--space all): 2 global accesses\n"
    assert result.stdout.endswith(closing) and result.stderr == ""


def test_source_path_with_blanks_and_umlauts_is_shown(here):
    folder = here / "wei rd" / "ünï"
    folder.mkdir(parents=True)
    (folder / "cölumn.cu").write_text(COLUMN)
    text = run("audit", folder / "cölumn.cu", *LAUNCH, "--isa", "both").stdout
    assert text.count("       4 │ s[tid * 32] = in[tid];\n") == 2 and "cölumn.cu:4" in text


def test_audit_writes_json_to_a_file(here):
    assert run("audit", "k.ptx", "--format", "json", "-o", "out.json").stdout == ""
    validate(json.loads((here / "out.json").read_text()))


def test_audit_text_is_deterministic(here):
    assert run("audit", "column.cu", "k.ptx", *LAUNCH).stdout == run("audit", "column.cu", "k.ptx", *LAUNCH).stdout


def test_audit_reads_standard_input(here):
    assert "<stdin>:15" in run("audit", "-", stdin=PTX).stdout


def test_list_names_kernels_without_auditing_them(here):
    text = run("audit", "column.cu", "k.ptx", "--list").stdout
    assert "column\n" in text and "2 shared-memory sites" in text and text.endswith("2 kernels\n")
    listed = json.loads(run("audit", "k.ptx", "--list", "--format", "json").stdout)
    assert [(k["name"], k["sites"], len(k["parameters"])) for k in listed] == [("stride", 2, 2)]
    assert run("audit", "k.ptx", "--list", "--kernel", "no*").stdout == "0 kernels\n"


def test_launch_from_options(here):
    launch = [*LAUNCH, "--param", "n=3", "--param", "2=0x2", "--dynamic-shared", "4096"]
    data = report("pitch.cu", *launch)
    assert data["kernels"][0]["launch"] == {
        "grid": [1, 1, 1],
        "block": [32, 1, 1],
        "cluster": None,
        "dynamic_shared": 4096,
        "params": [None, 3, 2],
        "param_bytes": None,
        "symbols": None,
    }
    stores = [site for site in sites(data) if site["access"] == "store"]  # the loop is unrolled, with a remainder
    assert {site["status"] for site in stores} <= {"exact", "unreached"}
    assert sum(site["requests"] for site in stores) == sum(site["wavefronts"] for site in stores) == 2


def test_launch_from_a_file(here):
    (here / "l.toml").write_text('[[launch]]\nkernel = "column"\ngrid = [2]\nblock = [32]\nparams = ["?", "?"]\n')
    assert [site["requests"] for site in sites(report("column.cu", "--launch", "l.toml"))] == [2, 2]


def test_compiler_options_are_passed(here):
    (here / "inc").mkdir()
    (here / "inc/pad.h").write_text("#define COLUMNS 32\n")
    (here / "t.cu").write_text(
        '#include "pad.h"\ntemplate <int N> __global__ void t(float* a) {\n'
        "  __shared__ float s[32 * (COLUMNS + PAD)];\n  s[threadIdx.x * N + PAD * threadIdx.x] = a[0];\n"
        "  __syncthreads();\n  auto f = [](auto x) { return x; };\n  a[threadIdx.x] = f(s[threadIdx.x]);\n}\n"
    )
    data = report(
        "t.cu", "-I", "inc", "-D", "PAD=1", "--std", "c++20", "--instantiate", "t<32>", "--arch", "sm_80", *LAUNCH
    )
    assert data["kernels"][0]["arch"] == "sm_80" and data["kernels"][0]["demangled"] == "void t<32>(float*)"
    assert sites(data)[0]["wavefronts"] == 1


def test_audit_of_both_instruction_sets(here):
    data = report("column.cu", "--isa", "both", *LAUNCH)
    assert [(k["isa"], [s["access"] for s in k["sites"]]) for k in data["kernels"]] == [
        ("ptx", ["store", "load"]),
        ("sass", ["store", "load"]),
    ]


def test_assume_and_budget_are_accepted(here):
    report("pitch.cu", "--assume", "0%16", "--assume", "*%4", "--budget", "60")


# --- fail-on --------------------------------------------------------------------------------


def test_fail_on_denies_with_status_1_and_the_location(here):
    result = run("audit", "column.cu", *LAUNCH, "--fail-on", "excess=1", "--fail-on", "ways=33", status=1)
    assert "denied by excess=1: column.cu:4: st.shared.f32: excess is 31 per request  (column)" in result.stderr
    assert "gate: 1 denial; all of 2 sites could be judged" in result.stderr
    assert "2 sites in 1 kernel" in result.stdout


def test_fail_on_passes_with_status_0(here):
    assert "gate: nothing denied" in run("audit", "column.cu", *LAUNCH, "--fail-on", "total-excess=32").stderr


def test_unjudged_sites_are_counted_and_denied_by_strict(here):
    plain = run("audit", "pitch.cu", "--fail-on", "ways=1000")
    assert "could not be judged; --strict denies them" in plain.stderr
    assert "were denied (--strict)" in run("audit", "pitch.cu", "--fail-on", "ways=1000", "--strict", status=1).stderr


def test_problem_takes_precedence_over_a_denial(here):
    run("audit", "column.cu", "gone.cu", *LAUNCH, "--fail-on", "excess=1", status=2)


# --- bad input, case by case -----------------------------------------------------------------

BAD_OPTIONS = [
    (["--arch", "sm_3000"], "sm_3000"),
    (["--arch", "hopper"], "hopper"),
    (["--machine", "abacus"], "abacus"),
    (["--kernel", "nothing"], "there is no kernel 'nothing'"),
    (["--block", "1025"], "block.x is 1025"),
    (["--block", "32,64"], "2048 threads"),
    (["--block", "32,8,x"], "--block 32,8,x is not 1 to 3 numbers"),
    (["--grid", "0"], "grid.x is 0"),
    (["--grid", "1", "--cluster", "2"], "cluster"),
    (["--dynamic-shared", "-4"], "-4"),
    (["--param", "n"], "--param n is not NAME=VALUE"),
    (["--param", "nothing=3"], "no parameter 'nothing'"),
    (["--param", "1=abc"], "abc"),
    (["--param", f"1={2**40}"], "4 bytes"),
    (["--assume", "p%3"], "--assume p%3"),
    (["--assume", "p"], "--assume p"),
    (["--launch", "gone.toml"], "gone.toml"),
    (["--launch", "k.ptx"], "not TOML"),
    (["--launch", "wrong.toml"], "there is no kernel 'other'"),
    (["--launch", "few.toml"], "too few parameters"),
    (["--launch", "few.toml", "--block", "32"], "exclude each other"),
    (["--fail-on", "noise=3"], "--fail-on noise=3 is neither a rule"),
    (["--strict"], "--strict needs --fail-on or --baseline"),
    (["--budget", "-1"], "budget"),
    (["-o", "no/such/folder/r.json"], "cannot write this file"),
    (["--colour"], "No such option"),
    (["--format", "pdf"], "pdf"),
    (["--isa", "sass"], "no machine code in it"),
]


@pytest.mark.parametrize("options, what", BAD_OPTIONS, ids=[" ".join(options) for options, _ in BAD_OPTIONS])
def test_bad_option_is_named_with_status_2(here, options, what):
    (here / "wrong.toml").write_text('[[launch]]\nkernel = "other"\ngrid = [1]\nblock = [1]\n')
    (here / "few.toml").write_text('[[launch]]\nkernel = "stride"\ngrid = [1]\nblock = [32]\nparams = ["?"]\n')
    result = run("audit", "k.ptx", *options, status=2)
    assert what in result.stderr


BODY = PTX.partition("{")[2]
BAD_FILES = {
    "truncated.ptx": (PTX[:-30], "truncated.ptx:"),
    "cut-in-a-word.ptx": (PTX[: PTX.index("mad.lo") + 4], "cut-in-a-word.ptx:"),
    "binary.ptx": (b"\x00\x01\x02" * 100, "binary"),
    "binary.cu": (bytes(range(256)), "binary"),
    "empty.ptx": ("", "empty"),
    "blank.cu": (" \n\n", "empty"),
    "latin.cu": (COLUMN.replace("tid", "t\u00efd").encode("latin-1"), "not UTF-8"),
    "utf16.ptx": (PTX.encode("utf-16"), "UTF-16"),
    "unknown.ptx": (PTX.replace("8.0", "10.0"), "the file is PTX 10.0, and the newest that this version"),
    "never.ptx": (PTX.replace("8.0", "7.9"), "there is no PTX 7.9"),
    "twice.ptx": (PTX + PTX[PTX.index(".visible") :], "is defined twice, first in line"),
    "newer.ptx": (PTX.replace("8.0", "99.0").replace("ret;", "later => %r1;"), "99.0"),
    "syntax.cu": (COLUMN.replace("__syncthreads();", "__syncthreads()"), "syntax.cu:6"),
    "unknown-name.cu": (COLUMN.replace("31 - tid", "missing"), 'identifier "missing" is undefined'),
    "missing-header.cu": ('#include "gone.h"\n' + COLUMN, "gone.h"),
    "no-kernel.cu": ("int f() { return 3; }\n", "kernel"),
    "template.cu": ("template <int N> __global__ void t(int* a) { a[0] = N; }\n", "--instantiate"),
    "notes.txt": ("some words\n", "neither CUDA source nor PTX"),
    "junk.cubin": (b"junk" * 10, "junk.cubin"),
    "cut.cubin": (b"\x7fELF" + bytes(14) + b"\xbe\x00" + bytes(8), "cut.cubin"),
    "a.out": (b"\x7fELF" + bytes(14) + b"\x3e\x00" + bytes(80), "a.out"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_named_and_the_others_are_reported(here, name):
    content, what = BAD_FILES[name]
    (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("audit", name, "k.ptx", status=2)
    assert what in result.stderr
    assert f"  --> {name}" in result.stderr and result.stderr.startswith("error: ") and "   = help: " in result.stderr
    assert "k.ptx:15" in result.stdout and result.stdout.endswith("1 error: not everything was checked\n")
    data = report(name, "k.ptx", status=2)
    assert [problem["file"] for problem in data["problems"]] == [name] and len(data["kernels"]) == 1


def test_ptx_of_a_newer_minor_version_is_audited_with_a_note(here):
    (here / "newer.ptx").write_text(PTX.replace("8.0", "9.88"))
    assert (
        "note: the file is PTX 9.88; this version of ptxaudit was tested with PTX up to"
        in run("audit", "newer.ptx").stdout
    )


def test_compiler_log_is_shown_in_the_error(here):
    (here / "bad.cu").write_text(COLUMN.replace("31 - tid", "missing"))
    lines = run("audit", "bad.cu", status=2).stderr.splitlines()
    assert '   | bad.cu(6): error: identifier "missing" is undefined' in lines
    assert "  --> bad.cu:6:18" in lines


def test_compiler_warnings_are_shown(here):
    (here / "warned.cu").write_text(COLUMN.replace("__syncthreads();", "__syncthreads(); int unused;"))
    result = run("audit", "warned.cu", *LAUNCH)
    assert "warning: from nvrtc" in result.stderr and 'warned.cu(5): warning #177-D: variable "unused"' in result.stderr
    assert "unused" in report("warned.cu", *LAUNCH)["inputs"][0]["log"]


@pytest.mark.parametrize(
    "path, what", [("gone.cu", "no such file or folder"), ("void", "this folder has nothing to audit")]
)
def test_missing_path_and_empty_folder_are_reported(here, path, what):
    (here / "void").mkdir()
    result = run("audit", path, "k.ptx", status=2)
    assert what in result.stderr and "k.ptx" in result.stdout


def test_missing_argument_is_reported():
    assert "Missing argument" in run("audit", status=2).stderr


@pytest.mark.parametrize("path", ["huge.ptx", "/dev/zero"])
def test_oversized_file_is_named_and_the_others_are_reported(here, path, monkeypatch):
    monkeypatch.setattr("ptxaudit.frontend.inputs.MAX_TEXT", 1 << 20)
    with (here / "huge.ptx").open("wb") as file:
        file.truncate(2 << 20)
    result = run("audit", path, "k.ptx", status=2)
    assert "longer than the 1 MB" in result.stderr and f"  --> {path}" in result.stderr and "k.ptx:15" in result.stdout


def test_long_ptx_of_many_small_kernels_is_audited(here):
    head, _, entry = PTX.partition(".visible .entry")
    (here / "many.ptx").write_text(
        head + "".join(f".visible .entry{entry.replace('stride', f'stride{n}')}\n" for n in range(300))
    )
    assert "600 sites in 300 kernels" in run("audit", "many.ptx").stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_reported(here):
    (here / "k.ptx").chmod(0)
    assert "Permission denied" in run("audit", "k.ptx", status=2).stderr


def test_fault_is_reported_and_raised_only_for_debugging(here, monkeypatch):
    from ptxaudit.review import audit as pipeline

    def broken(*arguments, **named):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(pipeline, "run", broken)
    result = run("audit", "k.ptx", status=2)
    assert "ZeroDivisionError: inside" in result.stderr and "PTXAUDIT_DEBUG=1" in result.stderr
    monkeypatch.setenv("PTXAUDIT_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["audit", "k.ptx"]).exception, ZeroDivisionError)


# --- diff -----------------------------------------------------------------------------------


def test_diff_of_two_reports(here):
    run("audit", "column.cu", *LAUNCH, "--format", "json", "-o", "old.json")
    (here / "column.cu").write_text("// a line above\n" + COLUMN.replace("31 - tid", "tid * 2"))
    run("audit", "column.cu", *LAUNCH, "--format", "json", "-o", "new.json")
    text = run("diff", "old.json", "new.json", status=1).stdout
    assert "worse   column.cu:6 → column.cu:7  ld.shared.f32  exact   1 → 2       0 → 1   1 → 2" in text
    assert text.startswith(
        "2 sites: 1 worse, 1 moved\nin total: excess 31 → 32 (+1), wavefronts 33 → 34 (+1)\n\ncolumn  ptx, grid 1,"
        " block 32\n"
    )
    assert "1 better" in run("diff", "new.json", "old.json").stdout
    assert "2 same" in run("diff", "old.json", "old.json", "--all").stdout
    assert json.loads(run("diff", "old.json", "new.json", "--format", "json", status=1).stdout)["got_worse"]
    run("diff", "old.json", "new.json", "--format", "markdown", "-o", "d.md", status=1)
    assert (here / "d.md").read_text().startswith("### ptxaudit: got worse")


def test_diff_of_a_report_and_an_audited_input(here):
    run("audit", "column.cu", *LAUNCH, "--format", "json", "-o", "old.json")
    (here / "padded.cu").write_text(COLUMN.replace("tid * 32", "tid * 31"))
    assert "better  column.cu:4 → padded.cu:4" in run("diff", "old.json", "padded.cu", *LAUNCH).stdout


@pytest.mark.parametrize(
    "text, what",
    [
        ('{"schema": "ptxaudit/report/1", "tool": {', "it was cut"),
        ('{"schema": "other/3"}', 'has schema "other/3"'),
        ("{}", "not a ptxaudit report"),
    ],
)
def test_diff_with_an_invalid_report_is_rejected(here, text, what):
    (here / "bad.json").write_text(text)
    result = run("diff", "bad.json", "k.ptx", status=2)
    assert what in result.stderr and "--> bad.json" in result.stderr


def test_diff_with_a_bad_input_still_compares_the_rest(here):
    result = run("diff", "k.ptx", "gone.ptx", status=2)
    assert "no such file" in result.stderr and result.stdout == ""  # and not a diff in which everything is gone
    (here / "some").mkdir()
    (here / "some" / "k.ptx").write_text(PTX)
    (here / "some" / "empty.ptx").write_text("")
    result = run("diff", "some", "k.ptx", status=2)
    assert "empty" in result.stderr and "same" in result.stdout


# --- the command itself ---------------------------------------------------------------------


def test_every_command_has_help_and_a_name():
    text = run("--help").stdout
    for name in ("audit", "diff", "explain"):
        assert re.search(rf"^  {name} +\S", text, re.MULTILINE)
        assert "Usage:" in run(name, "--help").stdout
    assert "No such command" in run("sell", status=2).stderr


def test_every_command_module_exports_a_command():
    import importlib
    import pkgutil

    import click

    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):
            command = importlib.import_module(f"ptxaudit.ui.commands.{module.name}").command
            assert isinstance(command, click.Command) and command.help


def process(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "ptxaudit", *arguments], capture_output=True, text=True, timeout=120, **options
    )


def test_version_imports_no_heavy_library():
    code = (
        "import sys; from ptxaudit.ui.cli import main\ntry: main(['--version'])\nfinally: print([m for m in ('numpy',"
        " 'networkx', 'lark', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"ptxaudit, version [\d.]+\n\[\]\n", done.stdout)


def test_pipe_gets_plain_text_without_progress(here):
    done = process("audit", "column.cu", *LAUNCH, cwd=here)
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr and done.stderr == ""


def test_closed_pipe_causes_no_traceback(here):
    done = subprocess.run(
        f"{sys.executable} -m ptxaudit audit k.ptx | true", shell=True, cwd=here, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr


def test_ascii_pipe_is_supported(here):
    done = process("audit", "column.cu", cwd=here, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "column.cu:4" in done.stdout


def test_terminal_gets_colour(here):
    seen, status = on_a_terminal("-m", "ptxaudit", "audit", "k.ptx", cwd=here)
    assert status == 0 and "\x1b[" in seen and "k.ptx:15" in seen


def test_bad_input_exits_with_status_2_without_a_traceback(here):
    (here / "bad.cu").write_text("__global__ void k( {")
    done = process("audit", "bad.cu", "k.ptx", cwd=here)
    assert (
        done.returncode == 2
        and "Traceback" not in done.stderr
        and "bad.cu:1" in done.stderr
        and "k.ptx:15" in done.stdout
    )
