"""Kernels in a report as both PTX and machine code: totals count each once and omit no kernel with only one form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import folder_with, run
from kernels import COLUMN, PTX
from msgspec import structs
from pages import data_of
from reports import LAUNCH, kernel, report, site

from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.report.counterparts import kernels_once
from ptxaudit.report.model import Code, Kernel, Spills
from ptxaudit.review.diff.history import History
from ptxaudit.review.diff.matrix import Column, Matrix
from ptxaudit.review.diff.reports import diff_reports
from ptxaudit.review.diff.thresholds import judge_thresholds, parse_threshold
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.html import html
from ptxaudit.ui.render.memory import others_line
from ptxaudit.ui.render.overview import summary
from ptxaudit.ui.render.rows import verdict_line

LAUNCH_OPTIONS = ("--block", 32, "--grid", 1)


def ptx(name: str, wavefronts: int = 8, **changes) -> Kernel:
    return kernel(site(wavefronts=wavefronts, id=f"{name}@ptx"), name=name, **changes)


def sass(name: str, wavefronts: int = 8, **changes) -> Kernel:
    own = site(wavefronts=wavefronts, id=f"{name}@sass", ptx_line=None, offset=16, opcode="LDS")
    return kernel(own, name=name, **({"isa": "sass"} | changes))


@pytest.mark.parametrize(
    ("machine_code", "left_out"),
    [
        (sass("f"), True),
        (sass("f", arch="sm_80"), True),  # machine code of the only PTX there is
        (sass("g"), False),
        (sass("f", input="other.cu"), False),
        (sass("f", launch=structs.replace(LAUNCH, grid=(1,))), False),
        (sass("f", launch=None), False),
    ],
)
def test_ptx_is_omitted_if_its_machine_code_is_present(machine_code, left_out):
    assert kernels_once([ptx("f"), machine_code]) == ([machine_code] if left_out else [ptx("f"), machine_code])


def test_files_with_one_stem_are_one_compilation():
    machine_code = sass("f", input="a/k.cubin")
    assert kernels_once([ptx("f", input="a/k.ptx"), machine_code]) == [machine_code]
    assert len(kernels_once([ptx("f", input="b/k.ptx"), machine_code])) == 2


def test_ptx_of_another_architecture_is_kept():
    kernels = [ptx("f", arch="sm_80"), ptx("f", arch="sm_90"), sass("f", arch="sm_90")]
    assert kernels_once(kernels) == [kernels[0], kernels[2]]


# `bad` conflicts and exists as PTX only; `good` exists in both forms, and counts as machine code
MIXED = report(ptx("bad", 256), ptx("good", 16), sass("good", 8))


def test_verdict_includes_all_kernels():
    assert verdict_line(MIXED).startswith("conflicts cost 248 of 264 wavefronts (93.9%), most at k.cu:10: ld.shared")


here = folder_with({"k.ptx": PTX})


def test_ptx_beside_machine_code_of_other_kernels_is_counted(here, tmp_path):
    other = PTX.replace("stride", "free").replace("%r1, 8, %r2", "%r1, 4, %r2")
    (tmp_path / "g.cubin").write_bytes(assemble(other).cubin)
    text = run("audit", "k.ptx", "g.cubin", *LAUNCH_OPTIONS).stdout
    assert "no excess" not in text and "conflicts cost 1 of " in text
    assert "no excess" in run("audit", "g.cubin", *LAUNCH_OPTIONS).stdout


def test_spills_of_all_kernels_are_reported():
    spilled = structs.replace(ptx("bad"), spills=Spills(16, 16, 32), code=Code({"ld.global.f32": 2}, "a"))
    of_both = structs.replace(ptx("good"), code=Code({"ld.global.f32": 8}, "a"))
    line = others_line(report(spilled, of_both, structs.replace(sass("good"), code=Code({"LDG.E": 3}, "b"))))
    assert line == "not audited (--space all): 32 bytes of spills in bad(float*), 5 global accesses"


def test_page_counts_each_kernel_once():
    data = data_of(html(Checked(MIXED)))
    assert [kernel.get("twice") for kernel in data["kernels"]] == [None, 1, None]


BETTER = report(ptx("bad", 8), ptx("good", 16), sass("good", 8))


def test_diff_totals_count_each_kernel_once():
    diff = diff_reports(BETTER, MIXED)
    assert diff.totals == {"excess": (0, 248), "wavefronts": (16, 264)}
    limits = ("total-excess+1", "wavefronts+1")
    found = judge_thresholds(diff, map(parse_threshold, limits)).crossings
    assert [(one.threshold.name, one.old, one.new) for one in found] == [("excess", 0, 248), ("wavefronts", 8, 256)]


def test_kernel_with_machine_code_on_one_side_is_compared_in_ptx():
    diff = diff_reports(report(ptx("f", 8), sass("f", 8)), report(ptx("f", 16)))
    assert diff.totals == {"excess": (0, 8), "wavefronts": (8, 16)}


def test_release_and_history_totals_count_each_kernel_once():
    table = Matrix("k.cu", (Column("12", "sm_90", BETTER), Column("13", "sm_90", MIXED)))
    assert [table.total("excess", at) for at in (0, 1)] == [0, 248]
    found = History(("a", "b"), ("", ""), (BETTER, MIXED))
    totals = {trend.name: trend.figures for trend in found.totals}
    assert totals["excess"] == (0, 248) and totals["wavefronts"] == (16, 264)


def test_overview_shares_count_each_kernel_once():
    table = summary(report(ptx("one", 256), ptx("other", 16), sass("one", 256), sass("other", 16)))
    shares = re.findall(r"^  (\w+)\(float\*\) .* (\S+%)$", table, re.MULTILINE)
    assert shares == [("one", "96.9%"), ("other", "3.1%")] and "by cost, 2 kernels" in table
    assert "by cost, 2 kernels" not in summary(report(ptx("one", 256), sass("one", 256)))


def test_report_sums_count_each_kernel_once():
    assert repr(MIXED) == "<Report: 3 kernels, 3 sites, 248 excess of 264 wavefronts>"


STRIDED = ("audit", "k.cu", "--block", 32, "--grid", 1, "--space", "all", "--isa")


def test_sectors_and_baseline_sums_count_each_kernel_once(here):
    Path("k.cu").write_text(COLUMN.replace("in[tid]", "in[tid * 8]"))
    sums = "; 28 of 32 sectors are excess (87.5%)"
    assert [run(*STRIDED, isa).stdout.count(sums) for isa in ("sass", "both")] == [1, 1]
    written = run("baseline", "update", "base.json", *STRIDED[1:], "both").stdout
    assert written == "base.json: 8 sites in 2 kernels, 31 excess wavefronts and 28 excess sectors\n"
