"""A long report: one screen shows what matters, the rest is available on demand; and its width."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from command_line import folder_with, run
from kernels import COLUMN, PTX
from msgspec import structs
from reports import kernel, open_site, report, site
from terminal import on_a_terminal

import ptxaudit
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Frame, MemorySite, Problem, Share, Source
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.short_names import distinct_names
from ptxaudit.ui.render.text import report_text

NAME = "void cub::detail::reduce::DeviceReduceKernel<cub::detail::reduce::policy_hub<{}>::Policy1000, float*>(float*)"


def at(line, file="/src/k.cu", **changes):
    return site(line, source=Source(file, line, 0, f"s[{line}] = a;"), **changes)


def thousand():
    """A report of 20 kernels with 50 sites each; the costliest site of kernel n is line 1000 + n."""
    kernels = []
    for n in range(20):
        sites = [at(line, wavefronts=8 + 8 * (line % 5)) for line in range(1, 49)]
        sites.append(at(1000 + n, wavefronts=8_000 * (n + 1), cause="32 lanes (0-31) conflict in one bank"))
        sites.append(open_site(Status.UNKNOWN, 60, source=Source("/src/k.cu", 60, 0, "u"), reason="loaded from memory"))
        kernels.append(kernel(*sites, name=f"k{n}", demangled=NAME.format(f"Traits<{n}>, " + "unsigned int, " * 30)))
    return report(*kernels)


BIG = thousand()


def shown(big=BIG, **how):
    return report_text(big, Checked(big, "/src").view(**how))


def test_thousand_sites_are_summarised_on_one_screen():
    text = shown(full=False)
    assert len(text.splitlines()) <= 45
    assert text.startswith("conflicts cost ") and "1,000 sites in 20 kernels: 980 exact, 20 unknown" in text
    assert "the 5 rows that cost most, of 1,000" in text and "the 5 kernels that cost most, of 20" in text
    assert re.findall(r"^  k\.cu:(\d+) ", text, re.MULTILINE) == ["1019", "1018", "1017", "1016", "1015"]
    assert "= PA001: 32 lanes (0-31) conflict in one bank" in text and "rules: PA001 load-conflict ×" in text
    assert "unknown ×20: loaded from memory" in text and "--full shows every site" in text


def test_all_rows_are_shown_on_demand():
    assert len(re.findall(r"^  k\.cu:\d+ ", shown(full=True), re.MULTILINE)) == 1000
    assert len(re.findall(r"^  k\.cu:\d+ ", shown(top=12), re.MULTILINE)) == 12
    assert "the 12 kernels that cost most, of 20" in shown(top=12)


def test_short_report_is_shown_completely_unless_limited():
    few = report(kernel(at(1, wavefronts=80), at(2), at(3, wavefronts=16)))
    assert shown(few, full=False) == shown(few) != shown(few, top=1)
    assert re.findall(r"^  k\.cu:(\d+) ", shown(few, top=1), re.MULTILINE) == ["1"]
    assert "the 1 row that costs most, of 3" in shown(few, top=1) and "kernels that cost" not in shown(few, top=1)
    clean = shown(report(kernel(at(1), at(2))), top=3)
    assert "no excess: all 16 wavefronts are needed" in clean and "of 2" not in clean


def test_overview_includes_loops_and_other_memory():
    loop = Share("k.cu:3", 1, 2, 0, 16.0, 640, 600, 0, 0, 0, 0.75, None)
    far = MemorySite(
        id="k@k.cu:9:ptx.load",
        space="global",
        offset=None,
        ptx_line=9,
        opcode="ld.global.f32",
        text="ld",
        access="load",
        width=4,
        source=Source("/src/k.cu", 9, 0, "a[i]"),
        status=Status.EXACT,
        reason="",
        sectors=256,
        sectors_ideal=128,
        sectors_excess=128,
    )
    two = report(
        *(kernel(at(1, wavefronts=80), name=name, loop_shares=(loop,), memory=(far,)) for name in ("one", "two"))
    )
    text = shown(two, top=1)
    assert "the 1 row that costs most, of 2 of global memory" in text and re.search(r"k\.cu:9 +ld\.global\.f32", text)
    assert re.search(r"^  loop +kernel +depth", text, re.MULTILINE) and re.search(r"k\.cu:3 +one\(float\*\) +1", text)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 132])
@pytest.mark.parametrize("full", [True, False])
def test_lines_fit_the_requested_width(width, full):
    frames = (Frame("/src/a_header_with_a_long_name.cuh", 12, "f<int>(float*)", "f(x) + g(y) + h(z);" * 4),)
    wide = structs.replace(
        BIG,
        kernels=(
            kernel(
                at(
                    4,
                    wavefronts=900,
                    cause="lanes 0 and 4 conflict in one bank: " + "stride 16 bytes for 2 lanes, " * 5,
                ),
                site(
                    7,
                    source=Source("/src/k.cu", 7, 0, "x" * 300, frames),
                    opcode="ldmatrix.sync.aligned.m8n8.x4.shared",
                ),
                notes=("a note that is longer than a line of eighty columns " * 3,),
                demangled=NAME.format("int, " * 900 + "int"),
            ),
            *BIG.kernels[:4],
        ),
    )
    lines = shown(wide, width=width, full=full).splitlines()
    assert max(map(len, lines)) <= width
    if width >= 80:
        assert any("900" in line and "892" in line for line in lines)


def test_long_kernel_names_are_shortened_to_distinct_lines():
    names = [NAME.format(f"int, {'unsigned, ' * 1000}{n}") for n in range(3)]
    text = shown(report(*(kernel(at(1), demangled=name) for name in names)))
    heads = [line for line in text.splitlines() if "DeviceReduceKernel" in line]
    assert len(set(heads)) == 3 and max(map(len, heads)) <= 160


def test_shortened_names_show_where_they_differ():
    names = [NAME.format(f"int, {'unsigned, ' * 40}Sm{arch}Policy, {'char, ' * 40}x") for arch in (80, 90)]
    short = distinct_names([*names, "plain(float*)"], 60)
    assert short["plain(float*)"] == "plain(float*)" and len(set(short.values())) == 3
    assert "80" in short[names[0]] and "90" in short[names[1]] and all(len(one) <= 60 for one in short.values())


def test_row_names_its_violated_rules():
    text = shown(report(kernel(at(1, wavefronts=80, cause="lanes meet"), at(2, access="store", wavefronts=16))))
    assert "         = PA001: lanes meet\n" in text and "         = PA002\n" in text
    assert "\nrules: PA001 load-conflict, PA002 store-conflict (`ptxaudit rule PA001` explains the remedy)\n" in text
    ignored = report_text(BIG, Checked(BIG, "/src", ignore=frozenset(["PA001"])).view(full=False))
    assert "PA001" not in ignored


# --- in Python ------------------------------------------------------------------------------


def test_report_str_is_one_screen_and_parts_are_one_line():
    assert 400 < len(str(BIG)) < 4_000 and "report.sites has every site" in str(BIG) and "--full" not in str(BIG)
    excess = sum(one.excess or 0 for one in BIG.every_site)
    assert repr(BIG).startswith(f"<Report: 20 kernels, 1,000 sites, {excess:,} excess of ")
    assert repr(BIG.kernels[0]).startswith("<Kernel void cub::detail::reduce::DeviceReduceKernel<")
    assert len(repr(BIG.kernels[0])) < 200
    assert repr(BIG.kernels[0].sites[0]) == "<Site k.cu:1 ld.shared.f32: exact, 16 wavefronts, ideal 8>"
    assert repr(site(None, ptx_line=30)) == "<Site PTX line 30 ld.shared.f32: exact, 8 wavefronts, ideal 8>"
    assert repr(open_site(Status.UNKNOWN, 9)) == "<Site k.cu:9 ld.shared.f32: unknown>"


def test_report_str_shows_problems(tmp_path):
    bad = report(problems=[Problem("this is empty", file="k.cu")])
    assert str(
        bad
    ) == "no kernel was checked\n  1 error: not everything was checked\nerror: this is empty\n  --> k.cu" or (
        "error: this is empty" in str(bad)
    )
    assert repr(bad) == "<Report: 0 kernels, 0 sites, 1 problem>"
    (tmp_path / "c.cu").write_text(COLUMN)
    assert "PA002" in str(ptxaudit.audit(tmp_path / "c.cu", launches=[ptxaudit.Launch("column", 1, 32)]))


# --- the command ----------------------------------------------------------------------------

MANY = "".join(
    f'extern "C" __global__ void k{n}(float* a) {{\n    __shared__ float s[1024];\n    s[threadIdx.x * {n % 7 + 1}] ='
    " a[0];\n"
    "    __syncthreads();\n    a[threadIdx.x] = s[threadIdx.x];\n}\n"
    for n in range(40)
)
LAUNCH = ("--grid", "1", "--block", "32", "--no-fixes")
here = folder_with({"many.cu": MANY, "column.cu": COLUMN, "k.ptx": PTX})


def test_audit_shows_an_overview_and_writes_all_to_a_file(here):
    text = run("audit", "many.cu", *LAUNCH).stdout
    assert "the 5 rows that cost most, of 80" in text and "the 5 kernels that cost most, of 40" in text
    assert run("audit", "many.cu", *LAUNCH, "--full").stdout.count("many.cu · ") == 40
    run("audit", "many.cu", *LAUNCH, "-o", "all.txt")
    run("audit", "many.cu", *LAUNCH, "-o", "few.txt", "--overview")
    assert (here / "all.txt").read_text().count("many.cu · ") == 40
    assert (here / "few.txt").read_text() == text
    narrow = run("audit", "column.cu", *LAUNCH, "--width", "60").stdout
    assert max(map(len, narrow.splitlines())) <= 60
    assert "40" in run("audit", "column.cu", "--width", "20", status=2).stderr


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "column.cu", "column.cu:4", "--grid", "1", "--block", "32"),
        ("fix", "column.cu", "--grid", "1", "--block", "32"),
        ("diff", "column.cu", "changed.cu", "--grid", "1", "--block", "32"),
    ],
)
def test_other_commands_fold_their_text(here, words):
    (here / "changed.cu").write_text(COLUMN.replace("tid * 32", "tid * 16"))
    status = 0
    text = run(*words, "--width", "72", status=status).stdout
    assert max(map(len, text.splitlines())) <= 72
    wide = run(*words).stdout
    assert max(map(len, wide.splitlines())) > 72 and len("".join(wide.split())) >= len("".join(text.split()))


COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?3[0-7](?:;[\d;]*)?m")


def test_no_color_removes_only_colours(here):
    command = ("-m", "ptxaudit", "audit", "k.ptx", *LAUNCH)
    coloured, _ = on_a_terminal(*command, cwd=here, messages=False)
    without, _ = on_a_terminal(*command, cwd=here, messages=False, NO_COLOR="1")
    assert COLOUR.search(coloured) and not COLOUR.search(without)
    plain = re.compile(r"\x1b\[[\d;]*m")
    assert plain.sub("", coloured) == plain.sub("", without)
    assert max(map(len, plain.sub("", without).splitlines())) <= 100


@pytest.mark.parametrize(
    "module, slow, words",
    [
        ("ptxaudit.review.audit", "run", ["audit", "k.ptx"]),
        ("ptxaudit.pipeline.examine", "list_kernels", ["launches", "k.ptx"]),
        ("ptxaudit.frontend.compile.toolchains", "everything", ["toolchains"]),
        ("ptxaudit.review.explain", "explain", ["explain", "k.ptx", "k.ptx:15"]),
        ("ptxaudit.review.fix.run", "find_repairs", ["fix", "k.ptx"]),
    ],
)
def test_slow_steps_show_progress(here, module, slow, words):
    (here / "slow.py").write_text(
        f"import sys, time, {module} as module\n"
        "from ptxaudit.ui.commands import _progress\n"
        f"known, _progress.PATIENCE = module.{slow}, 0.05\n"
        f"module.{slow} = lambda *given, **more: (time.sleep(0.5), known(*given, **more))[1]\n"
        "from ptxaudit.ui.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    written, status = on_a_terminal("slow.py", *words, cwd=here, PYTHONPATH=os.pathsep.join(sys.path))
    assert status == 0 and re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", written)
    piped = subprocess.run(
        [sys.executable, "slow.py", *words],
        cwd=here,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert piped.returncode == 0 and not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", piped.stdout + piped.stderr)


def test_every_slow_command_uses_progress():
    import inspect
    import pkgutil
    from importlib import import_module

    from ptxaudit.ui import commands

    # these look at the package, or at one request
    quick = {"machines", "recipe", "rule", "score"}
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_") and module.name not in quick:
            assert "with progress()" in inspect.getsource(import_module(f"{commands.__name__}.{module.name}")), (
                module.name
            )
