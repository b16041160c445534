"""Global and local memory in diffs, baselines, gates and rules."""

from __future__ import annotations

import json
from io import StringIO

import jsonschema
import pytest
from click.testing import CliRunner
from rich.console import Console
from spilling import SPILLS_TO_SHARED

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.report.model import SCHEMA_FILE, Report
from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline
from ptxaudit.review.diff.reports import Diff, Verdict, diff_reports
from ptxaudit.review.findings import Certainty
from ptxaudit.review.gate import judge, parse_limit
from ptxaudit.review.rules import find
from ptxaudit.ui.cli import main
from ptxaudit.ui.commands.diff import FORMATS
from ptxaudit.ui.render import formats
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.diffs import written
from ptxaudit.ui.render.memory import others_line
from ptxaudit.ui.render.terminal import print_report
from ptxaudit.ui.render.text import report_text

SOURCE = """
extern "C" __global__ void __launch_bounds__(64) k(const float* in, float* out, int n) {
    const float* p = in + threadIdx.x * STEP;
    float a[8];
    for (int i = 0; i < 8; i++) a[i] = p[i * 64];
    for (int i = 0; i < n; i++) a[(i * n) & 7] += a[(i + n) & 7];
    out[threadIdx.x] = a[n & 7];
}
"""
VECTORS = """
extern "C" __global__ void __launch_bounds__(64) k(const float* in, float* out) {
    const TYPE* p = reinterpret_cast<const TYPE*>(in + threadIdx.x * 4);
    out[threadIdx.x] = SUM;
}
"""
WIDE = VECTORS.replace("TYPE", "float4").replace("SUM", "p->x + p->y + p->z + p->w")
NARROW = VECTORS.replace("TYPE", "float").replace("SUM", "p[0] + p[1] + p[2] + p[3]")
GIVEN = {"assume": {"*": 256}, "isa": "sass"}


def audited(text: str, space: str = "all", params=(None, None, 3), **options) -> Report:
    launches = [ptxaudit.Launch("k", grid=(2,), block=(64,), params=list(params))]
    report = ptxaudit.audit(text, space=space, launches=launches, **(GIVEN | options))
    assert not report.problems
    return report


def with_step(step: int, space: str = "all") -> Report:
    return audited(SOURCE.replace("STEP", str(step)), space)


@pytest.fixture(scope="module")
def diff() -> Diff:
    return diff_reports(with_step(1), with_step(8))


# --- diffs ------------------------------------------------------------------------------------


def test_diff_has_the_sites_of_every_memory(diff):
    (entry,) = diff.kernels
    assert diff.got_worse and entry.changes == ()
    loads = [change for change in entry.memory if change.site.space == "global" and change.site.access == "load"]
    assert {change.verdict for change in loads} == {Verdict.WORSE} and len(loads) == 8
    assert {(change.old.sectors, change.new.sectors) for change in loads} == {(16, 128)}
    assert entry.impact == sum(change.impact for change in loads) == 8 * 112
    of_local = [change for change in entry.memory if change.site.space == "local"]
    assert of_local and {change.verdict for change in of_local} == {Verdict.SAME}
    assert set(diff.memory_counts) == {"global", "local"} and diff.memory_counts["global"][Verdict.WORSE] == 8
    old, new = diff.total("sectors")
    assert new - old == 8 * 112 and diff.total("sectors-excess")[0] == 0


def test_space_audited_on_one_side_is_not_compared():
    one, other = with_step(1), with_step(8, "shared")
    for a, b in ((one, other), (other, one)):
        found = diff_reports(a, b)
        assert found.kernels[0].memory == () and not found.got_worse and found.memory_counts == {}
    # … but where both were audited, an access that only one of them has is new, or gone
    whole = diff_reports(with_step(1), audited(NARROW, params=(None, None)))
    assert Verdict.GONE in whole.memory_counts["local"]


def test_diff_json_with_memory_sites_is_valid(diff):
    data = diff.to_dict()
    schema = json.loads((SCHEMA_FILE.parent / "diff-1.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    (kernel,) = data["kernels"]
    worst = max(kernel["memory"], key=lambda change: change["impact"])
    assert (worst["new"]["space"], worst["old"]["sectors"], worst["new"]["sectors"]) == ("global", 16, 128)


@pytest.mark.parametrize("form", FORMATS)
def test_every_diff_format_shows_worse_sectors(form, diff):
    text = written(form, diff)
    assert "128" in text and "1,024" in text or form == "json"
    if form in ("text", "markdown", "html"):
        assert "global memory" in text and "sectors" in text and "of global memory: 8 worse" in text
    if form in ("sarif", "github"):
        assert "sectors of global memory" in text


def test_split_global_vector_is_worse():
    (entry,) = diff_reports(audited(WIDE, params=(None, None)), audited(NARROW, params=(None, None))).kernels
    (change,) = (change for change in entry.memory if change.site.access == "load")
    assert (len(change.olds), len(change.news), change.width, change.verdict) == (1, 4, Verdict.NARROWED, Verdict.WORSE)
    assert entry.figures["global-width"][0] > entry.figures["global-width"][1]


def test_diff_limits_apply_to_sectors(tmp_path):
    for name, step in (("old", 1), ("new", 8)):
        (tmp_path / f"{name}.json").write_text(with_step(step).to_json())
    run = lambda limit: CliRunner().invoke(
        main, ["diff", str(tmp_path / "old.json"), str(tmp_path / "new.json"), "--fail-on", limit]
    )
    assert run("sectors+5%").exit_code == 1 and run("sectors+10000%").exit_code == 0
    assert "sectors-excess 0 → " in run("sectors-excess+1").output


# --- baselines --------------------------------------------------------------------------------


def ratchet(path, known: Report, now: Report) -> Ratchet:
    path.write_text(baseline_json(known))
    return Ratchet.of(read_baseline(path), now)


def test_baseline_contains_memory_sites(tmp_path):
    report = with_step(8)
    path = tmp_path / "b.json"
    path.write_text(baseline_json(report))
    (kernel,) = json.loads(path.read_text())["kernels"]
    assert kernel["rules"] == [] and kernel["sites"] == []
    assert len(kernel["memory"]) == len(report.kernels[0].memory)
    worst = max(kernel["memory"], key=lambda site: site.get("sectors_excess", 0))
    assert worst["rules"] == ["PA011"] and worst["sectors"] == 128 and "offset" not in worst
    assert kernel["spills"]["bytes"] == 0 and kernel["stack"] > 0 and "steps" not in kernel["occupancy"]
    again = read_baseline(path).report.kernels[0]
    assert [site.sectors for site in again.memory] == [site.sectors for site in report.kernels[0].memory]


@pytest.mark.parametrize("known, now, denied", [(8, 8, 0), (4, 8, 8), (8, 4, 0)])
def test_only_sectors_worse_than_the_baseline_are_denied(known, now, denied, tmp_path):
    report = with_step(now)
    held = ratchet(tmp_path / "b.json", with_step(known), report)
    for limits in ([], ["PA011"], ["sectors-excess=1"]):
        verdict = judge(report, [parse_limit(limit) for limit in limits], ratchet=held)
        assert len(verdict.denials) == denied, limits
    assert len(held.stale()) == (8 if now < known else 0)
    assert len(judge(report, [parse_limit("sectors-excess=1")]).denials) == 8


def test_baseline_without_an_audited_space_is_rejected(tmp_path):
    with pytest.raises(InputError, match="covers global and local memory, which the baseline does not cover"):
        ratchet(tmp_path / "b.json", with_step(1, "shared"), with_step(1))
    ratchet(tmp_path / "b.json", with_step(1), with_step(1, "shared"))
    assert not ratchet(tmp_path / "b.json", with_step(1), with_step(1, "shared")).stale()


def test_limit_exceeded_in_the_baseline_is_not_denied_again(tmp_path):
    report = with_step(1)
    limits = [parse_limit(limit) for limit in ("registers=1", "stack=0", "occupancy=100")]
    held = ratchet(tmp_path / "b.json", report, report)
    assert [str(denial.limit) for denial in judge(report, limits).denials][:2] == ["registers=1", "stack=0"]
    assert judge(report, limits, ratchet=held).denials == ()
    fewer = audited(NARROW, params=(None, None))
    assert [
        str(d.limit) for d in judge(report, limits, ratchet=ratchet(tmp_path / "c.json", fewer, report)).denials
    ] == [
        "registers=1",
        "stack=0",
    ]


# --- rules and limits -------------------------------------------------------------------------


@pytest.mark.parametrize("limit, denied", [("stack=0", 1), ("stack=31", 1), ("stack=32", 0)])
def test_limit_on_the_local_frame(limit, denied):
    assert len(judge(with_step(1), [parse_limit(limit)]).denials) == denied


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_adjacent_accesses_of_a_lane_are_reported_as_a_vector(isa):
    vectors = lambda report: [finding for finding in find(report) if finding.rule == "PA014"]
    (found,) = vectors(audited(NARROW, params=(None, None), isa=isa))
    assert found.certainty is Certainty.CERTAIN and "4 accesses of 4 bytes" in found.what and found.site.vector == 16
    (possible,) = vectors(audited(NARROW, params=(None, None), isa=isa, assume={}))
    assert possible.certainty is Certainty.POSSIBLE
    for other in (
        WIDE,
        NARROW.replace("threadIdx.x * 4", "threadIdx.x"),  # lanes overlap: no vector is aligned in all of them
        NARROW.replace("threadIdx.x * 4", "threadIdx.x * 3"),
        NARROW.replace("const TYPE* p", "const volatile TYPE* p").replace("const float* p", "const volatile float* p"),
    ):
        assert vectors(audited(other, params=(None, None), isa=isa)) == []


def test_base_reloaded_after_a_barrier_is_another_base():
    text = NARROW.replace("p[0] + p[1] + p[2] + p[3]", "p[0] + p[1]").replace(
        "out[threadIdx.x] =", "if (in[0] > 0) __syncthreads();\n    out[threadIdx.x] ="
    )
    report = audited(text, params=(None, None), isa="ptx")
    assert [finding.site.vector for finding in find(report) if finding.rule == "PA014"] == [8]


@pytest.mark.parametrize("n, certainty", [(1, Certainty.CERTAIN), (4, None), (None, Certainty.POSSIBLE)])
def test_misaligned_global_vector_is_found(n, certainty):
    text = WIDE.replace("in + threadIdx", "in + n + threadIdx").replace("float* out)", "float* out, int n)")
    report = audited(text, params=(None, None, n), isa="ptx")  # "*" means every pointer, and n is none
    found = [finding for finding in find(report) if finding.rule == "PA006"]
    assert [finding.certainty for finding in found] == ([] if certainty is None else [certainty])


def test_gate_counts_the_sites_that_pass_a_rule():
    verdict = judge(with_step(1), [parse_limit("PA011")])
    assert verdict.concerned == 9 and not verdict.denials  # eight loads and a store


# --- formats ----------------------------------------------------------------------------------


def test_misaligned_global_access_fails_a_junit_case():
    text = WIDE.replace("in + threadIdx", "in + n + threadIdx").replace("float* out)", "float* out, int n)")
    suites = formats.written("junit", Checked(audited(text, params=(None, None, 1), isa="ptx")))
    assert 'failures="1"' in suites and 'tests="2"' in suites and "not a multiple of 16" in suites


@pytest.mark.parametrize("space", ["global", "local", "all"])
def test_terminal_and_markdown_have_a_table_per_memory(space):
    report = audited(SOURCE.replace("STEP", "8"), space=space, top=2)
    console = Console(highlight=False, width=200, file=StringIO())
    print_report(report, console)
    markdown = formats.written("markdown", Checked(report))
    for text in (console.file.getvalue(), markdown):
        assert ("global memory" in text) is (space != "local") and ("local memory" in text) is (space != "global")
        assert ("loops" in text) is (space != "global") and "lines" in text  # only the array's accesses are in a loop
    assert ("of sectors exceed what the bytes need" in markdown) is (space != "local")


def test_report_has_shares_of_lines_and_loops():
    report = audited(SOURCE.replace("STEP", "8"), top=9)
    (kernel,) = report.kernels
    by_line = {share.place: share for share in kernel.line_shares}
    loads = next(share for place, share in by_line.items() if place.endswith(":5"))
    of_local = [site for site in kernel.memory if site.space == "local" and site.source.line == 5]
    assert (loads.depth, loads.sites, loads.sectors_excess) == (0, 8 + len(of_local), 8 * 112)
    assert loads.sectors == 8 * 128 + sum(site.sectors for site in of_local)
    assert sum(share.sectors for share in by_line.values()) == sum(site.sectors or 0 for site in kernel.memory)
    assert sum(share.sectors_share for share in by_line.values()) == pytest.approx(1)
    assert max(share.depth for share in by_line.values()) == 1 and kernel.loop_shares[0].depth == 1
    (said,) = kernel.shares_say
    assert said.endswith("% of sectors exceed what the bytes need, all at <string>:5")


NEST = """
extern "C" __global__ void __launch_bounds__(1024) k(const float* in, float* out, int n) {
    __shared__ float t[32][32];
    t[threadIdx.x / 32][threadIdx.x % 32] = n;
    __syncthreads();
    float s = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
#pragma unroll 1
        for (int j = 0; j < 4; j++) s += t[threadIdx.x % 32][(k + j) & 31];
        s += in[threadIdx.x * 2 + k * 32];
    }
    out[threadIdx.x] = s;
}
"""


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_excess_of_nested_loops_is_attributed_to_the_innermost(isa):
    launch = ptxaudit.Launch("k", grid=(2,), block=(1024,), params=[None, None, 10])
    (kernel,) = ptxaudit.audit(NEST, isa=isa, space="all", top=9, assume={"*": 256}, launches=[launch]).kernels
    trips = {share.depth: share.trips for share in kernel.loop_shares}
    assert trips == {1: 10, 2: 40}
    replays, sectors = kernel.shares_say
    assert replays.startswith("97% of shared wavefronts are replays, all in the loop at <string>:10")
    assert sectors.startswith("48% of sectors exceed what the bytes need, all in the loop at <string>:")
    assert not sectors.endswith(":10")


def test_loop_shares_include_spills():
    report = ptxaudit.audit(
        SPILLS_TO_SHARED,
        isa="sass",
        space="all",
        top=1,
        launches=[ptxaudit.Launch("k", grid=(2,), block=(1024,), params=[None, None, 5])],
    )
    (kernel,) = report.kernels
    (loop,) = kernel.loop_shares
    of_local = sum(site.sectors for site in kernel.memory if site.kind == "spill")
    of_shared = sum(site.wavefronts for site in kernel.sites if site.kind == "spill")
    assert 0 < loop.spill_sectors < of_local and 0 < loop.spill_wavefronts < of_shared
    assert any("of sectors are register spills" in sentence for sentence in kernel.shares_say)
    assert {finding.site.space for finding in find(report) if finding.rule == "PA013"} == {"shared", "local"}


@pytest.mark.parametrize(
    "text, told",
    [
        (NEST, "not audited (--space all): 2 global accesses"),
        (SPILLS_TO_SHARED, "580 bytes of spills in k, "),
    ],
)
def test_closing_lines_count_accesses_to_memories_not_audited(text, told):
    report = ptxaudit.audit(text, isa="sass")
    (kernel,) = report.kernels
    line = others_line(report)
    assert told.replace("580 bytes", f"{kernel.spills.everywhere:,} bytes" if kernel.spills else "") in line
    assert report_text(report).endswith(f"{line}\n") and others_line(ptxaudit.audit(text, space="all")) == ""


COUNTING = """
extern "C" __global__ void k(int* bins, const int* in) {
    atomicExch(bins + threadIdx.x / 4, 1);
    atomicExch(bins + threadIdx.x, 2);
    atomicExch(bins + in[threadIdx.x], 3);
    if (in[threadIdx.x] > 0) atomicExch(bins, 4);
}
"""


def test_sectors_of_atomics_at_unknown_addresses_are_not_judged():
    """The location of an array affects the sectors of a request, but not how many lanes access one address."""
    for assume, certain in (({"*": 256}, True), ({}, False)):
        given = audited(COUNTING, "global", (None, None), assume=assume)
        of = [site for site in given.kernels[0].memory if site.access == "atomic"]
        assert [site.same_address for site in of] == [4, 1, None, 32]
        found = {f.site.id: f.certainty for f in find(given) if f.rule == "PA012"}
        first = Certainty.CERTAIN if certain else Certainty.POSSIBLE
        assert [found.get(site.id) for site in of] == [first, None, Certainty.UNKNOWN, Certainty.POSSIBLE]
        assert len(judge(given, [parse_limit("PA012")], strict=True).denials) == 3
