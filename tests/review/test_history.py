"""Trends over stored reports."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml

import jsonschema
import pytest
from click.testing import CliRunner
from msgspec import structs
from reports import kernel, report, site

from ptxaudit.base import resources
from ptxaudit.base.errors import InputError
from ptxaudit.report.model import Source, Spills
from ptxaudit.review.diff.history import History, labels
from ptxaudit.review.diff.tracks import tracks
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.history import history_svg, history_text, sparkline


def at(line, text, **changes):
    return site(line, source=Source("/src/k.cu", line, 0, text, ()), **changes)


def history(*reports):
    return History(tuple(f"r{n}" for n in range(len(reports))), ("nvrtc 13.5",) * len(reports), reports)


def one(registers, wavefronts=8, name="gemm", spills=0, **changes):
    return kernel(
        at(10, "a += s[i];", wavefronts=wavefronts),
        name=name,
        registers=registers,
        spills=Spills(spills, 0, spills),
        instructions=100,
        **changes,
    )


# registers rise slowly: 32, 32, 34, 36, 40, in three steps; the conflict appears at once, in r2; spills appear and
# disappear
REPORTS = tuple(
    report(one(r, w, spills=s)) for r, w, s in ((32, 8, 0), (32, 8, 16), (34, 64, 0), (36, 64, 0), (40, 64, 0))
)


def trend(found, name):
    return next(one for one in found.trends if one.name == name)


def test_trends_distinguish_creep_and_jumps():
    found = history(*REPORTS)
    registers, wavefronts, spills = (trend(found, name) for name in ("registers", "wavefronts", "spills"))
    assert (
        registers.figures == (32, 32, 34, 36, 40)
        and registers.crept
        and registers.worse == [2, 3, 4]
        and registers.growth == 8
    )
    assert wavefronts.figures == (8, 8, 64, 64, 64) and not wavefronts.crept and wavefronts.worse == [2]
    assert spills.growth == 0 and not spills.crept and (spills.worse, spills.better) == ([1], [2])
    assert [one.name for one in found.crept] == ["registers"] and found.trends[0] is registers
    assert {one.name for one in found.trends} == {"registers", "wavefronts", "excess", "ways", "spills"}


def test_history_text_names_the_report_of_a_change():
    lines = [" ".join(line.split()) for line in history_text(history(*REPORTS)).splitlines()]
    assert lines[0] == "5 reports: r0 … r4; 1 figure crept, 3 figures jumped, 1 figure grew and came back"
    assert lines[lines.index("crept") + 1] == "registers gemm (ptx) 32 → 40 (+25%) ▁▁▃▅█ worse at r2, r3, r4"
    assert (
        "wavefronts gemm (ptx) 8 → 64 (+700%) ▁▁███ worse at r2" in lines
        and "spills gemm (ptx) 0 → 0 ▁█▁▁▁ worse at r1" in lines
    )


def test_kernels_are_tracked_across_renames_and_gaps():
    reports = [
        report(one(32)),
        report(one(33, name="matmul")),
        report(),
        report(one(36, name="matmul"), kernel(at(90, "other;"), name="new", registers=8)),
    ]
    (track, new) = sorted(tracks(reports), key=lambda track: track.last.name)
    assert [kernel and kernel.name for kernel in track.kernels] == ["gemm", "matmul", None, "matmul"] and new.kernels[
        :3
    ] == [None] * 3
    assert trend(history(*reports), "registers").figures == (32, 33, None, 36)
    assert "▁▃·█" in history_text(history(*reports))


def test_totals_include_only_kernels_in_all_reports():
    """Two kernels take 16, 17 and 18 wavefronts together; the third is not in every report."""
    reports = [
        report(one(32, 8), one(32, 8 + n, name="sum"), *([one(32, 64, name="third")] if n else [])) for n in range(3)
    ]
    totals = {one.name: one.figures for one in history(*reports).totals}
    assert totals["wavefronts"] == (16, 17, 18) and totals["registers"] == (32, 32, 32)
    assert history(*reports).trends[0].kernel is None and "all kernels" in history_text(history(*reports))


def test_falling_width_is_a_creeping_regression():
    from ptxaudit.report.model import Code

    widths = [report(one(32, code=Code({"LDG.E.128": wide, "LDG.E": 4 - wide}, f"{wide}"))) for wide in (4, 3, 2)]
    found = trend(history(*widths), "global-width")
    assert found.figures == (16, 13, 10) and found.crept and found.growth == 6


def test_history_without_changes():
    assert history_text(history(REPORTS[0], REPORTS[0])) == "2 reports: r0 … r1; no figure changed\n"


@pytest.mark.parametrize(
    "paths, told",
    [
        (["a/2024-01.json", "a/2024-02.json"], ("2024-01", "2024-02")),
        (["v1/report.json", "v2/report.json"], ("v1", "v2")),
        (["x.json", "x.json"], ("x", "x")),
        (["out/v1/k.json", "out/v2/k.json"], ("v1", "v2")),
    ],
)
def test_report_labels_from_paths(paths, told):
    assert labels(paths) == told


def test_sparkline_has_a_bar_per_report():
    assert sparkline([0, None, 7]) == "▁·█" and sparkline([5, 5]) == "▁▁"


def test_history_picture_has_a_chart_per_figure():
    root = xml.fromstring(history_svg(history(*REPORTS)))
    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == len(history(*REPORTS).trends) == 5
    heights = [float(point.split(",")[1]) for point in lines[0].attrib["points"].split()]
    assert (
        len(heights) == 5 and heights == sorted(heights, reverse=True) and heights[0] == heights[1] > heights[4]
    )  # 32, 32, 34, 36, 40
    named = structs.replace(REPORTS[0].kernels[0], demangled="void k<a & b>(float*)")
    assert xml.fromstring(history_svg(history(report(named), report(structs.replace(named, registers=99))))) is not None


def test_history_command_writes_every_format(tmp_path):
    for at_, of in enumerate(REPORTS):
        (tmp_path / f"{at_}.json").write_text(of.to_json())
    files = [str(tmp_path / f"{at_}.json") for at_ in range(5)]
    result = CliRunner().invoke(main, ["history", *files])
    assert (
        result.exit_code == 0
        and "registers  gemm (ptx)  32 → 40 (+25%)" in result.output
        and "worse at 2, 3, 4" in result.output
    )
    assert CliRunner().invoke(main, ["history", *files, "-o", str(tmp_path / "t.svg")]).exit_code == 0 and (
        tmp_path / "t.svg"
    ).read_text().startswith("<svg")
    data = json.loads(CliRunner().invoke(main, ["history", *files, "--format", "json"]).output)
    jsonschema.Draft202012Validator(
        json.loads((resources.data("report/schemas") / "history-1.schema.json").read_text())
    ).validate(data)
    (tmp_path / "cut.json").write_text(REPORTS[0].to_json()[:300])
    cut = CliRunner().invoke(main, ["history", files[0], str(tmp_path / "cut.json")])
    assert cut.exit_code == 2 and "cut.json" in cut.stderr and "the report ends in the middle" in cut.stderr
    assert "at least two reports" in CliRunner().invoke(main, ["history", files[0]]).stderr


def test_unreadable_history_report_is_rejected():
    from ptxaudit.review.diff.history import read_history

    with pytest.raises(InputError):
        read_history(["missing.json", "missing.json"])
