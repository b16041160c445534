"""Limits on changes: --fail-on of a diff. A figure meets a limit if it equals or exceeds it."""

from __future__ import annotations

import pytest
from msgspec import structs
from reports import kernel, open_site, report, site

from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.measures import MEASURES
from ptxaudit.report.model import Code, Span, Spills
from ptxaudit.review.diff.reports import diff_reports
from ptxaudit.review.diff.thresholds import judge_thresholds, parse_threshold
from ptxaudit.ui.render.thresholds import judged_lines


def judged(old, new, *limits):
    """(what is denied, what is not judged), as lines."""
    found = judge_thresholds(diff_reports(report(*old), report(*new)), map(parse_threshold, limits))
    return list(judged_lines(found)), found


def denied(old, new, *limits):
    return [line.removeprefix("denied by ") for line in judged(old, new, *limits)[0] if line.startswith("denied by ")]


OLD = kernel(
    site(1),
    registers=32,
    instructions=200,
    stack=0,
    barriers=1,
    spills=Spills(0, 0, 0),
    code=Code({"LDS.128": 2, "LDG.E.128": 4, "FFMA": 60}, "a"),
)
NEW = structs.replace(
    OLD,
    registers=40,
    instructions=210,
    stack=16,
    barriers=2,
    spills=Spills(8, 4, 12),
    sites=(site(1, wavefronts=84),),
    code=Code({"LDS.128": 2, "LDG.E": 16, "FFMA": 61}, "b"),
)


@pytest.mark.parametrize(
    "limit, text",
    [
        ("registers+8", "registers+8: k(float*): registers 32 → 40"),
        ("registers+9", None),
        ("registers+25%", "registers+25%: k(float*): registers 32 → 40"),
        ("registers+25.1%", None),
        ("registers+0", "registers+0: k(float*): registers 32 → 40"),
        ("instructions+5%", "instructions+5%: k(float*): instructions 200 → 210"),
        ("instructions+5.5%", None),
        ("spills+1", "spills+1: k(float*): spills 0 → 12"),
        ("spills+50%", "spills+50%: k(float*): spills 0 → 12"),
        ("spills+13", None),
        ("stack+16", "stack+16: k(float*): stack 0 → 16"),
        ("barriers+1", "barriers+1: k(float*): barriers 1 → 2"),
        ("wavefronts+76", "wavefronts+76: k(float*): wavefronts 8 → 84"),
        ("excess+1", "excess+1: k(float*): excess 0 → 76"),
        ("total-wavefronts+5%", "total-wavefronts+5%: in total: wavefronts 8 → 84"),
        ("total-wavefronts+1000%", None),
        ("ways+2", "ways+2: k(float*): ways 1 → 10"),
        ("global-width-75%", "global-width-75%: k(float*): global-width 16 → 4"),
        ("global-width-12", "global-width-12: k(float*): global-width 16 → 4"),
        ("global-width-13", None),
        ("shared-width-0", None),
        ("float+1", "float+1: k(float*): float 60 → 61"),
        ("global-load+12", "global-load+12: k(float*): global-load 4 → 16"),
        ("tensor+1", None),
        ("worse", "worse: k(float*): got worse"),
    ],
)
def test_limit_is_reached_at_its_figure(limit, text):
    assert denied([OLD], [NEW], limit) == ([text] if text else [])
    assert denied([NEW], [NEW], limit) == []


def test_decreasing_figures_are_never_denied():
    assert (
        denied(
            [NEW],
            [OLD],
            *(
                f"{name}{'-' if measure.less_is_worse else '+'}0"
                for name, measure in MEASURES.items()
                if name != "global-width"
            ),
        )
        == []
    )
    assert denied([NEW], [OLD], "global-width-0") == []


def test_several_limits_on_several_kernels():
    other = structs.replace(OLD, name="other", demangled="other()")
    found = denied(
        [OLD, other],
        [NEW, structs.replace(other, registers=41)],
        "registers+8",
        "total-registers+9",
        "total-instructions+2.5%",
    )
    assert found == [
        "registers+8: k(float*): registers 32 → 40",
        "registers+8: other(): registers 32 → 41",
        "total-registers+9: in total: registers 32 → 41",
        "total-instructions+2.5%: in total: instructions 400 → 410",
    ]  # 10 of 400; registers are those of the largest kernel


def test_added_and_removed_kernels_are_not_compared():
    assert denied([OLD], [OLD, structs.replace(NEW, name="new")], "registers+1", "total-registers+1") == []
    assert denied([OLD], [OLD, structs.replace(NEW, name="new")], "worse") == [
        "worse: k(float*): got worse"
    ]  # it conflicts


def test_kernel_in_both_instruction_sets_is_limited_once():
    ptx = structs.replace(OLD, isa="sass")
    assert len(denied([OLD, ptx], [NEW, structs.replace(NEW, isa="sass")], "registers+8")) == 1


def test_unknown_figures_are_not_judged():
    unknown = structs.replace(NEW, sites=(open_site(Status.UNKNOWN),), spills=None)
    lines, found = judged([OLD], [unknown], "wavefronts+1", "total-wavefronts+1%", "spills+1", "registers+9")
    assert lines == [
        f"not judged by {limit}: 1 kernel, in which it is unknown on at least one side"
        for limit in ("wavefronts+1", "total-wavefronts+1%", "spills+1")
    ]
    assert not found.crossings and len(found.unjudged) == 3
    assert list(judged_lines(found, strict=True))[0].startswith("denied by wavefronts+1: 1 kernel")


@pytest.mark.parametrize(
    "text, what, hint",
    [
        ("registers", "not a limit of diff", "registers+8"),
        ("excess=1", "not a limit of diff", "ptxaudit audit"),
        ("PA001", "not a limit of diff", "NAME+N"),
        ("", "not a limit", ""),
        ("registers+", "not a limit", ""),
        ("registers+x", "not a limit", ""),
        ("registers+-1", "not a limit", ""),
        ("regsters+8", "no figure 'regsters'", "did you mean registers?"),
        ("total-regs+8%", "no figure 'regs'", ""),
        ("registers-8", "registers should not grow", "write registers+8"),
        ("total-global-width+5%", "should not fall", "write total-global-width-5%"),
    ],
)
def test_malformed_limit_is_an_error(text, what, hint):
    with pytest.raises(InputError) as caught:
        parse_threshold(text)
    assert what in caught.value.what and hint in caught.value.hint


@pytest.mark.parametrize(
    "text", ["registers+8", "total-wavefronts+5%", "global-width-12.5%", "worse", "shared-load+1", "total-spills+0"]
)
def test_limit_is_printed_as_written(text):
    assert str(parse_threshold(text)) == text


def test_limit_on_the_ways_of_a_kernel_needs_those_of_every_site():
    """A site of 32 ways whose cost becomes unknown is no improvement."""
    four, most = site(1, wavefronts=32), site(2, wavefronts=256)
    unknown = open_site(Status.UNKNOWN, 2)
    old, lost, worse = kernel(four, most), kernel(four, unknown), kernel(site(1, wavefronts=512), unknown)
    assert [MEASURES["ways"].of(one) for one in (old, lost, worse)] == [32, None, None]
    assert [MEASURES["ways"].least(one) for one in (old, lost, worse)] == [32, 4, 64]
    for before, after in ((old, lost), (lost, old), (lost, lost)):
        _, found = judged([before], [after], "ways+0")
        assert not found.crossings and len(found.unjudged) == 1
    assert denied([old], [worse], "ways+32") == ["ways+32: k(float*): ways 32 → 64"]  # at least that many
    fine = open_site(Status.BOUNDED, 2, per_request=Span(0, 2), excess_per_request=Span(0, 0))
    copy = open_site(Status.BOUNDED, 3, access="cp.async", line_class_max=4)
    unreached = open_site(Status.UNREACHED, 4)
    assert MEASURES["ways"].of(kernel(four, fine, copy, unreached)) == 4 and MEASURES["ways"].of(kernel()) is None
