"""The ratchet: what a baseline contains, what is new or worse, what is stale; and the command that writes it."""

from __future__ import annotations

import json

import pytest
from command_line import run
from msgspec import structs
from reports import kernel, open_site, report, site

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Input, Local, Source, Span, Why
from ptxaudit.review import rules
from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline
from ptxaudit.review.figures import above_ideal
from ptxaudit.review.gate import judge, parse_limit


def at(line, text, access="load", file="/src/k.cu", **changes):
    return site(line, access, source=Source(file, line, 0, text), id=f"k@{line}.{access}", **changes)


def told(*kernels):
    return structs.replace(report(*kernels), inputs=(Input("/src/k.cu", "0" * 64, "cuda"),))


@pytest.fixture
def against(tmp_path):
    """A function: what is denied in a new report, given a baseline made from an old one."""

    def run(old, new, *limits, strict=False):
        file = tmp_path / "b.json"
        file.write_text(baseline_json(old))
        ratchet = Ratchet.of(read_baseline(file), new)
        return judge(new, [parse_limit(limit) for limit in limits], strict, ratchet=ratchet), ratchet

    return run


BAD, CLEAN = {"wavefronts": 64}, {}
OLD = told(kernel(at(10, "a();", **BAD), at(11, "b();"), at(12, "c();", "store", wavefronts=16)))


def denied(verdict):
    return [(denial.site and denial.site.source.line, denial.what) for denial in verdict.denials]


def test_sites_in_the_baseline_are_not_denied(against):
    for limits in ((), ("excess=1",), ("ways=2",), ("total-excess=1",), ("PA001", "PA002")):
        assert not against(OLD, OLD, *limits)[0].denials
    assert judge(OLD, [parse_limit("excess=1")]).denials


def test_baseline_matches_after_moved_lines_and_renames(against):
    moved = [
        at(110, "a();", file="/other/n.cu", **BAD),
        at(111, "b();", file="/other/n.cu"),
        at(113, "c();", "store", file="/other/n.cu", wavefronts=16),
    ]
    for new in (kernel(*moved, input="n.cu"), kernel(*moved, input="n.cu", name="k2")):
        for limits in ((), ("excess=1",), ("total-excess=1",), ("PA001", "PA002")):
            assert not against(OLD, told(new), *limits)[0].denials


def test_new_or_worse_sites_are_denied_with_their_line(against):
    new = told(
        kernel(
            at(10, "a();", **BAD),
            at(11, "b();", wavefronts=16),
            at(13, "new();", **BAD),
            at(14, "c();", "store", wavefronts=24),
        )
    )
    expected = [11, 13, 14]
    assert [line for line, _ in denied(against(OLD, new)[0])] == expected
    assert dict(denied(against(OLD, new)[0]))[11] == "worse than the baseline: excess 0 (8 wavefronts) → excess 8"
    assert sorted(line for line, _ in denied(against(OLD, new, "excess=1")[0])) == expected
    assert sorted(line for line, _ in denied(against(OLD, new, "PA001", "PA002")[0])) == expected
    assert [line for line, _ in denied(against(OLD, new, "excess=7")[0])] == [13]
    assert len(against(OLD, new, "total-excess=1")[0].denials) == 1


def test_new_site_without_conflict_passes(against):
    new = told(kernel(*OLD.kernels[0].sites, at(20, "fine();")))
    assert not against(OLD, new)[0].denials and not against(OLD, new, "excess=1", strict=True)[0].denials


def test_new_kernel_with_a_conflict_is_denied(against):
    assert against(OLD, told(*OLD.kernels, kernel(at(30, "z();", **BAD), name="z")))[0].denials
    assert not against(OLD, told(*OLD.kernels, kernel(at(30, "z();"), name="z")))[0].denials


def test_incomparable_sites_warn_and_are_denied_with_strict(against):
    unknown = structs.replace(open_site(Status.UNKNOWN, reason="tex.2d"), source=Source("/src/k.cu", 11, 0, "b();"))
    new = told(kernel(OLD.kernels[0].sites[0], unknown, OLD.kernels[0].sites[2]))
    verdict, _ = against(OLD, new)
    assert not verdict.denials and len(verdict.warnings) == 1 and verdict.unjudged == 1
    assert len(against(OLD, new, strict=True)[0].denials) == 1


def test_kernel_findings_match_by_rule(against):
    local = Local("ld.local.f32", "", "lane", None, 5, Source("/src/k.cu", 5))
    base = kernel(at(10, "a();"))
    with_local = told(structs.replace(base, local=(local,)))
    assert against(told(base), with_local, "PA008")[0].denials
    assert not against(with_local, with_local, "PA008")[0].denials


def test_stale_entries_have_less_excess_now(against):
    new = told(kernel(at(10, "a();"), at(11, "b();")))
    _, ratchet = against(OLD, new)
    assert [(one.site.source.line, one.what) for one in ratchet.stale()] == [
        (10, "excess 56 → excess 0 (8 wavefronts)"),
        (12, "excess 8 → gone"),
    ]
    assert not against(OLD, OLD)[1].stale()


def test_copies_are_reported_once_with_the_previous_total(against):
    from ptxaudit.ui.render.checked import Checked
    from ptxaudit.ui.render.problems import denial_lines, stale_text

    copies = told(kernel(*(at(10, "a();", offset=n, **BAD) for n in range(16))))
    better = told(kernel(*(at(10, "a();", offset=n) for n in range(16))))
    assert stale_text(against(copies, better)[1].stale(), "b.json") == [
        "stale: k.cu:10: ld.shared.f32: excess 56 → excess 0 (8 wavefronts)  (k(float*))  ×16",
        "baseline: 16 stale entries: lower it with `ptxaudit baseline update b.json INPUT...`",
    ]
    verdict, _ = against(better, copies, "total-excess=800", "excess=1")
    assert denial_lines(verdict.denials, Checked(copies, "/src")) == [
        "denied by total-excess=800: k.cu: total-excess is 896, 0 in the baseline  (k(float*))",
        "denied by excess=1: k.cu:10: ld.shared.f32: excess is 7 per request, in each of 16 copies  (k(float*))",
    ]


def test_kernels_of_unaudited_files_are_not_stale(against):
    other = structs.replace(
        report(kernel(at(1, "o();"), name="o", input="o.cu")), inputs=(Input("o.cu", "0" * 64, "cuda"),)
    )
    assert not against(OLD, other)[1].stale()
    other = structs.replace(report(kernel(at(1, "o();"), name="o")), inputs=(Input("sub/k.cu", "0" * 64, "cuda"),))
    ratchet = against(OLD, other)[1]
    assert len(ratchet.stale()) == 2
    assert not structs.replace(ratchet, whole=False).stale()  # audited with --kernel o
    both = told(*OLD.kernels, *(structs.replace(one, isa="sass") for one in OLD.kernels))
    assert not against(both, OLD)[1].stale()  # audited with --isa ptx


def test_files_of_one_name_in_two_folders_are_distinct(against):
    def of(*folders):
        kernels = [
            kernel(at(10, "a();", file=f"{folder}/k.cu", wavefronts=64 if folder == "a" else 8), input=f"{folder}/k.cu")
            for folder in folders
        ]
        return structs.replace(
            report(*kernels), inputs=tuple(Input(f"{folder}/k.cu", "0" * 64, "cuda") for folder in folders)
        )

    for now in (of("b", "a"), of("a"), of("b")):
        verdict, ratchet = against(of("a", "b"), now)
        assert not verdict.denials and not ratchet.stale()
    assert (
        against(of("b"), of("c"))[1].stale() == [] and not against(of("a"), of("c"))[0].denials
    )  # moved to another folder
    elsewhere = structs.replace(
        told(kernel(at(10, "a();"), input="/home/me/a/k.cu")), inputs=(Input("/home/me/a/k.cu", "0" * 64, "cuda"),)
    )
    assert len(against(of("a"), elsewhere)[1].stale()) == 1


def test_baseline_of_the_other_instruction_set_is_an_error(against):
    with pytest.raises(InputError, match="the baseline is for PTX, this audit for machine code"):
        against(OLD, told(*(structs.replace(one, isa="sass") for one in OLD.kernels)))


def test_ranges_are_written_and_read_back(tmp_path):
    bounded = structs.replace(
        open_site(
            Status.BOUNDED,
            bounds=(8, 32),
            per_request=Span(1, 4),
            ideal_per_request=Span(1, 1),
            excess_per_request=Span(0, 3),
        ),
        source=Source("/src/k.cu", 3),
    )
    file = tmp_path / "b.json"
    file.write_text(baseline_json(told(kernel(bounded, launch=None, registers=32))))
    (read,) = read_baseline(file).report.kernels
    assert read.registers == 32 and read.sites[0].bounds == (8, 32) and read.sites[0].excess_per_request == Span(0, 3)
    assert read.sites[0].source.file == "k.cu" and "/src" not in file.read_text()


def test_tried_block_shapes_in_a_baseline_prove_nothing(against, tmp_path):
    """Unchanged code is not denied: neither the report nor the baseline can judge it."""
    span = {"per_request": Span(1, 32), "ideal_per_request": Span(1, 1), "excess_per_request": Span(0, 31)}
    tried = open_site(Status.CONDITIONAL, why=Why("several", False, parts=(Why("by-shape", False),)), **span)
    given = told(kernel(tried, launch=None))
    for limit in ("excess=32", "excess=1", "ways=64", "PA001"):
        verdict, _ = against(given, given, limit, strict=True)
        assert not verdict.denials and verdict.as_before == 1
    (tmp_path / "b.json").write_text(baseline_json(given))
    (read,) = read_baseline(tmp_path / "b.json").report.kernels
    assert above_ideal(read.sites[0]) == above_ideal(tried) == (0, None)


def test_file_has_one_line_per_site_and_no_offsets():
    text = baseline_json(OLD)
    assert sum('"access"' in line for line in text.splitlines()) == 3
    assert "offset" not in text and json.loads(text)["schema"] == "ptxaudit/baseline/1"
    assert baseline_json(OLD) == text


@pytest.mark.parametrize(
    "text, what",
    [
        ('{"schema": "ptxaudit/baseline/2"}', 'schema "ptxaudit/baseline/2"'),
        ('{"schema": "ptxaudit/report/1", "kernels": []}', 'schema "ptxaudit/report/1"'),
        ("[]", "not a ptxaudit baseline"),
        ("{}", "not a ptxaudit baseline"),
        ("", "not valid JSON"),
        (baseline_json(OLD)[:900], "not valid JSON"),
        ('{"schema": "ptxaudit/baseline/1", "tool": {"name": "a", "version": "0"}}', "match its schema"),
        ('{"schema": "ptxaudit/baseline/1", "tool": {}, "kernels": []}', "match its schema"),
        (
            '{"schema": "ptxaudit/baseline/1", "tool": {"name": "a", "version": "0"}, "kernels": [{"sites": 3}]}',
            "match its schema",
        ),
        (
            '{"schema": "ptxaudit/baseline/1", "tool": {"name": "a", "version": "0"}, "kernels": [3]}',
            "match its schema",
        ),
    ],
)
def test_malformed_baseline_is_an_error(tmp_path, text, what):
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_baseline(file)
    assert what in caught.value.what and caught.value.file == str(file) and "baseline update" in caught.value.hint


# --- the commands ---------------------------------------------------------------------------

KERNEL = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = in[0];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
LAUNCH = ["--grid", "1", "--block", "32"]


def test_baseline_is_written_held_exceeded_and_reported_stale(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "k.cu"
    file.write_text(KERNEL)
    assert (
        "b.json: 2 sites in 1 kernel, 31 excess wavefronts"
        in run("baseline", "update", "b.json", "k.cu", *LAUNCH).stdout
    )
    run("audit", "k.cu", *LAUNCH, "--fail-on", "excess=1", status=1)
    assert "gate: nothing denied; all of 2 sites" in run("audit", "k.cu", *LAUNCH, "--baseline", "b.json").stderr
    run("audit", "k.cu", *LAUNCH, "--baseline", "b.json", "--fail-on", "excess=1")

    file.write_text("// moved\n\n" + KERNEL.replace("= s[threadIdx.x]", "= s[threadIdx.x * 2]"))
    worse = run("audit", "k.cu", *LAUNCH, "--baseline", "b.json", status=1).stderr
    assert (
        "denied by baseline: k.cu:8: ld.shared.f32: worse than the baseline: excess 0 (1 wavefront) → excess 1" in worse
    )
    assert "k.cu:6:" not in worse

    file.write_text(KERNEL.replace("threadIdx.x * 32", "threadIdx.x"))
    better = run("audit", "k.cu", *LAUNCH, "--baseline", "b.json").stderr
    assert "stale: k.cu:4: st.shared.f32: excess 31 → excess 0" in better and "1 stale entry" in better
    assert "1 better" in run("baseline", "update", "b.json", "k.cu", *LAUNCH).stdout
    assert "stale" not in run("audit", "k.cu", *LAUNCH, "--baseline", "b.json").stderr


def test_baseline_is_not_updated_if_an_input_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL + "oops")
    assert "b.json was not changed" in run("baseline", "update", "b.json", "k.cu", status=2).stderr
    assert not (tmp_path / "b.json").exists()


def test_missing_baseline_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    assert "cannot read the baseline: No such file" in run("audit", "k.cu", "--baseline", "none.json", status=2).stderr


@pytest.mark.parametrize("rule", rules.RULES.values(), ids=lambda rule: rule.id)
def test_findings_of_every_rule_are_kept_in_the_baseline(rule, tmp_path):
    """Each rule's own example is denied by that rule, but not against a baseline made from it."""
    launches = [ptxaudit.Launch(**one) for one in rule.example.options.get("launches", ())]
    found = ptxaudit.audit(rule.example.triggers, **(rule.example.options | {"launches": launches}))
    (tmp_path / "b.json").write_text(baseline_json(found))
    again = ptxaudit.audit("\n\n" + rule.example.triggers, **(rule.example.options | {"launches": launches}))
    ratchet = Ratchet.of(read_baseline(tmp_path / "b.json"), again)
    assert judge(again, [parse_limit(rule.id)], strict=True).denials
    assert not judge(again, [parse_limit(rule.id)], strict=True, ratchet=ratchet).denials


ROWS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .u64 %a, %b;
.reg .u32 %t;
.reg .f32 %v;
ld.param.u64 %a, [p];
mov.u32 %t, %tid.x;
mad.wide.u32 %b, %t, STRIDE, %a;
ld.global.f32 %v, [%b];
MORE
st.shared.f32 [0], %v;
ret;
}
"""


@pytest.mark.parametrize(
    "stride, more, excess, denied", [(32, "", 28, 0), (16, "", 12, 0), (32, "ld.global.f32 %v, [%b+512];", 28, 1)]
)
def test_global_memory_excess_beyond_the_baseline_is_denied(stride, more, excess, denied, tmp_path):
    """A load of 32 lanes takes 32 sectors where 4 would do if they are 32 bytes apart, and 16 if 16 bytes. With two
    loads one is new.
    """

    def audited(stride, more):
        launch = ptxaudit.Launch("k", grid=1, block=32, params=[1 << 20])
        text = ROWS.replace("STRIDE", str(stride)).replace("MORE", more)
        return ptxaudit.audit(text, launches=[launch], space="all")

    (tmp_path / "b.json").write_text(baseline_json(audited(32, "")))
    again = audited(stride, more)
    ratchet = Ratchet.of(read_baseline(tmp_path / "b.json"), again)
    assert {site.sectors_excess for kernel in again.kernels for site in kernel.memory} == {excess}
    assert len(judge(again, [parse_limit("PA011")], ratchet=ratchet).denials) == denied
