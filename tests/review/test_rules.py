"""Every rule has documentation, an example that triggers it and one that does not; the text of findings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import structs
from paths import DOCS
from reports import kernel, open_site, report, site

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Frame, MemorySite, Report, Source, Span, Suppression
from ptxaudit.review import rules
from ptxaudit.review.findings import Certainty, fold, stale_suppressions
from ptxaudit.review.rules import find
from ptxaudit.ui.cli import main

RULES = list(rules.RULES.values())


def examined(text, options):
    options = dict(options)
    launches = [ptxaudit.Launch(**launch) for launch in options.pop("launches", ())]
    return ptxaudit.audit(text, launches=launches, **options)


def found(given, rule):
    return [finding for finding in find(given) if finding.rule == rule]


# --- each rule ------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_triggered_by_its_example_only(rule):
    bad = examined(rule.example.triggers, rule.example.options)
    good = examined(
        rule.example.clean, rule.example.options if rule.example.clean_options is None else rule.example.clean_options
    )
    assert not bad.problems and not good.problems and bad.sites + tuple(k.local for k in bad.kernels)
    assert found(bad, rule.id) and not found(good, rule.id)
    for finding in found(bad, rule.id):
        assert finding.what and not finding.what.endswith(".") and finding.where.file


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_is_documented(rule):
    first, *rest = rule.documentation.split("\n\n")
    assert first.endswith(".") and "\n" not in first
    assert any(part.startswith("What to do") for part in rest)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name) and rule.title


def test_rule_ids_are_consecutive_with_one_file_each():
    assert [rule.id for rule in RULES] == [f"PA{number:03}" for number in range(1, len(RULES) + 1)]
    files = sorted(path.stem for path in Path(rules.__file__).parent.glob("pa*.py"))
    assert files == [f"{rule.id.lower()}_{rule.name.replace('-', '_')}" for rule in RULES]


def test_rule_is_found_by_id_and_by_name():
    assert rules.get("pa001") is rules.get("load-conflict") is rules.RULES["PA001"]
    with pytest.raises(InputError) as caught:
        rules.get("PA999")
    assert "PA999" in caught.value.what and "PA001" in caught.value.hint


# --- certainty ------------------------------------------------------------------------------


def each(low, high, status=Status.BOUNDED):
    return open_site(
        status, per_request=Span(low, high), ideal_per_request=Span(1, 1), excess_per_request=Span(low - 1, high - 1)
    )


@pytest.mark.parametrize(
    "one, certainty",
    [
        (site(wavefronts=64), Certainty.CERTAIN),
        (each(4, 4, Status.INVARIANT), Certainty.CERTAIN),
        (each(2, 8), Certainty.CERTAIN),  # the proved lower bound is already a conflict
        (each(1, 8), Certainty.POSSIBLE),
        (each(1, 8, Status.UNKNOWN), Certainty.UNKNOWN),
        (open_site(Status.UNKNOWN, reason="tex.2d"), Certainty.UNKNOWN),
        (site(), None),
        (each(1, 1), None),
        (open_site(Status.UNREACHED, requests=0), None),
    ],
)
def test_certainty_of_a_conflict(one, certainty):
    assert [finding.certainty for finding in found(report(kernel(one)), "PA001")] == ([certainty] if certainty else [])


def test_text_of_a_finding():
    bad = site(wavefronts=64, cause="lanes 0 and 1 conflict in one bank")
    (exact,) = found(report(kernel(bad)), "PA001")
    assert (
        exact.what
        == "ld.shared.f32: 56 excess wavefronts over the launch (64 wavefronts instead of 8, 8-way): lanes 0 and 1 conflict"
        " in one bank"
    )
    (possible,) = found(report(kernel(each(1, 8))), "PA001")
    assert possible.what == "ld.shared.f32: a request may take 1–8 wavefronts, ideal 1"


def test_misaligned_access_is_a_finding():
    misaligned = """
    extern "C" __global__ void k(float* out) {
        __shared__ float t[64];
        t[threadIdx.x] = out[0];
        __syncthreads();
        float4 v = *(float4*)&t[threadIdx.x];
        out[threadIdx.x] = v.x + v.y + v.z + v.w;
    }"""
    (finding,) = found(ptxaudit.audit(misaligned, launches=[ptxaudit.Launch("k", grid=1, block=32)]), "PA006")
    assert finding.certain and "is not a multiple of 16" in finding.what


def test_adjacent_conflicting_scalars_are_reported_as_a_vector():
    four = [
        site(
            wavefronts=32,
            text=f"ld.shared.f32 %f{n}, [%r1+{n * 4}];" if n else "ld.shared.f32 %f0, [%r1];",
            id=str(n),
            lane_step=16,
        )
        for n in range(4)
    ]
    (finding,) = found(report(kernel(*four)), "PA005")
    assert "4 conflicting accesses" in finding.what and "16 bytes" in finding.what and finding.weight == 96
    assert not found(report(kernel(*four[::2])), "PA005")  # a gap between them
    assert not found(report(kernel(*(site(text=one.text) for one in four))), "PA005")  # no conflict to remove
    assert not found(
        report(kernel(*(structs.replace(one, lane_step=4) for one in four))), "PA005"
    )  # rows of 33 words: no float4
    assert (
        "2 conflicting" in found(report(kernel(*(structs.replace(one, lane_step=8) for one in four))), "PA005")[0].what
    )
    assert len(found(report(kernel(*four[1:])), "PA005")[0].what.split("2 conflicting")) == 2  # from a multiple of 8 on


# --- folding and suppressing ----------------------------------------------------------------


def test_findings_of_copies_are_folded_to_the_worst():
    sites = [site(wavefronts=8 * n, id=f"s{n}") for n in (2, 8, 4)]
    other = kernel(*sites, launch=None)
    (one,) = fold(found(report(kernel(*sites), other), "PA001"))
    assert (one.sites, one.launches, one.finding.weight) == (3, 2, 56)
    assert one.what.endswith("(the worst of 3 copies, the worst of 2 launches, 88 in all)")


def test_split_vector_finding_states_the_cost_of_its_pieces():
    example = rules.get("PA007").example
    for used, pieces in (
        ("v.x;", "1 access of at most 4 bytes (LDS): 4 wavefronts, as a vector 4"),
        ("v.x + v.z;", "2 accesses of at most 4 bytes (LDS): 8 wavefronts, as a vector 4"),
    ):
        (finding,) = found(examined(example.triggers.replace("v.x;", used), example.options), "PA007")
        assert finding.what == f"ld.shared.v4.f32: machine code has {pieces}"


def test_ptx_line_is_not_reported_as_a_source_line():
    bad = site(None, wavefronts=64)
    (of_source,), (of_ptx,) = (found(report(kernel(bad, input=name)), "PA001") for name in ("k.cu", "k.ptx"))
    assert (of_source.where.line, of_ptx.where.line) == (None, 100)


def test_equal_findings_of_copies_are_counted():
    (one,) = fold(found(report(kernel(*[site(wavefronts=64, id=f"s{n}") for n in range(4)])), "PA001"))
    assert one.what.endswith("(4 copies, 224 in all)") and "worst" not in one.what and one.weight == 224


def test_line_is_reached_if_one_copy_is():
    idle = {"status": Status.UNREACHED, "requests": 0}
    body, rest = site(10, id="a"), site(10, id="b", **idle)
    assert not found(report(kernel(body, rest)), "PA010")
    assert len(found(report(kernel(site(10, id="a", **idle), rest)), "PA010")) == 2
    assert len(found(report(kernel(body, site(11, id="b", **idle))), "PA010")) == 1
    assert len(found(report(kernel(site(None, id="a"), site(None, id="b", **idle))), "PA010")) == 1


def suppressed(*suppressions, at=10, file="/src/k.cu", inlined=()):
    bad = site(at, wavefronts=64, source=Source(file, at, 0, None, inlined))
    base = report(kernel(bad))
    return Report(base.tool, base.inputs, base.kernels, (), tuple(suppressions))


def test_suppression_applies_to_one_rule_and_line():
    right = Suppression("PA001", "cold", "/src/k.cu", 9, 10)
    assert [f.allowed for f in found(suppressed(right), "PA001")] == [right]
    frame = Frame("/src/k.cu", 30, "f")
    assert found(suppressed(Suppression("PA001", "cold", "/src/k.cu", 30, 30), inlined=(frame,)), "PA001")[0].allowed
    for wrong in (
        Suppression("PA002", "cold", "/src/k.cu", 9, 10),
        Suppression("PA001", "cold", "/src/k.cu", 9, 11),
        Suppression("PA001", "cold", "/src/other.cu", 9, 10),
    ):
        given = suppressed(wrong)
        assert found(given, "PA001")[0].allowed is None
        assert stale_suppressions(given, find(given)) == (wrong,)
    assert stale_suppressions(suppressed(right), find(suppressed(right))) == ()


@pytest.mark.parametrize(
    "status, spaces, stale",
    [
        (Status.EXACT, ("global",), True),
        (Status.UNREACHED, ("global",), False),  # another launch may need it
        (Status.EXACT, ("shared",), False),  # global memory was not examined
        (Status.EXACT, ("local", "shared"), False),
    ],
)
def test_global_memory_suppression_is_stale_only_if_that_space_was_audited(status, spaces, stale):
    source = Source("/src/k.cu", 10)
    access = MemorySite("m", None, 9, "ld.global.f32", "", "load", 4, source, status, sectors_excess=0, space="global")
    (one, other) = (Suppression(rule, "cold", "/src/k.cu", 9, 10) for rule in ("PA011", "PA014"))
    given = structs.replace(report(kernel(memory=(access,), spaces=spaces)), suppressions=(one, other))
    assert stale_suppressions(given, find(given)) == ((one, other) if stale else ())


def test_rules_page_is_the_output_of_the_command():
    page = DOCS / "rules.md"
    printed = CliRunner().invoke(main, ["rule", "--format", "markdown", "--example"]).stdout
    assert page.read_text().split("\n\n", 2)[2] == printed, "ptxaudit rule --format markdown --example"
