"""Matching sites across builds, judging how they changed, and the diff as text."""

from __future__ import annotations

import itertools
import json
import random
import re

import jsonschema
import pytest
from calls import calls_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from reports import LAUNCH, kernel, open_site, report, site

from ptxaudit.base.sequences import align
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import SCHEMA_FILE, Frame, Source, Span, Why
from ptxaudit.report.reader import parse_report
from ptxaudit.review.diff.reports import Verdict, diff_reports, judge
from ptxaudit.review.diff.sitematch import match_sites
from ptxaudit.review.diff.verdict import surely_conflicts, together
from ptxaudit.ui.render.change_results import change_results
from ptxaudit.ui.render.changes import closing_lines, diff_markdown, diff_text


def at(line, access="load", text=None, file="/src/k.cu", inlined=(), **changes):
    """A site with source text and inline stack."""
    frames = tuple(Frame(file, number, "f", text and f"call {number}") for number in inlined)
    return site(line, access, source=Source(file, line, 0, text, frames), **changes)


def lines(pairs):
    """[(old line, new line)] of pairs of sites; None where there is no counterpart."""
    return [(old and old.source.line, new and new.source.line) for old, new in pairs]


def pairs_of(old, new):
    """The first site on each side of every group."""
    return [(olds[0] if olds else None, news[0] if news else None) for olds, news in match_sites(old, new)]


def matched(old, new):
    return lines(pairs_of(kernel(*old), kernel(*new)))


# --- matching -------------------------------------------------------------------------------


def test_sites_match_by_line_and_access_not_by_offset():
    old = [at(10, offset=16), at(10, "store", offset=32), at(12, offset=48)]
    new = [at(10, "store", offset=160), at(12, offset=176), at(10, offset=192)]
    pairs = pairs_of(kernel(*old), kernel(*new))
    assert [(a.access, a.source.line) for a, _ in pairs] == [(b.access, b.source.line) for _, b in pairs]


def test_equal_positions_match_in_order():
    old, new = [at(10, opcode=str(n)) for n in range(3)], [at(10, opcode=str(n)) for n in range(4)]
    pairs = pairs_of(kernel(*old), kernel(*new))
    assert [(a and a.opcode, b.opcode) for a, b in pairs] == [("0", "0"), ("1", "1"), ("2", "2"), (None, "3")]


@pytest.mark.parametrize("text", [True, False], ids=["with text", "without text"])
def test_inserted_line_moves_the_sites_below(text):
    def told(n):
        return f"x{n} = s[i + {n}];" if text else None

    old = [at(10 + n, text=told(n)) for n in range(5)]
    new = [at(13 + n, text=told(n)) for n in range(5)]
    assert matched(old, new) == [(10 + n, 13 + n) for n in range(5)]


def test_source_text_distinguishes_inserted_from_moved_sites():
    old = [at(10 + n, text=f"load {n}") for n in range(4)]
    new = [at(10, text="load new"), *(at(11 + n, text=f"load {n}") for n in range(4))]
    assert matched(old, new) == [(None, 10), (10, 11), (11, 12), (12, 13), (13, 14)]


def test_line_edited_in_place_is_the_same_site():
    old = [at(10, text="a"), at(11, text="t[x][y]"), at(12, text="b")]
    new = [at(20, text="a"), at(21, text="t[x][y + 1]"), at(22, text="b")]
    assert matched(old, new) == [(10, 20), (11, 21), (12, 22)]


def test_rewritten_block_matches_by_accesses():
    old = [at(10, text="a"), at(11, "load", text="p"), at(12, "store", text="q"), at(13, text="b")]
    new = [at(10, text="a"), at(11, "store", text="Q"), at(13, text="b")]
    assert matched(old, new) == [(10, 10), (12, 11), (13, 13), (11, None)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=lambda order: "".join(map(str, order)))
def test_reordered_lines_match_by_text(order):
    cost = (8, 64, 16, 32)
    plain = [at(10 + n, text=f"s{n} = v;", wavefronts=cost[n]) for n in range(4)]
    moved = [at(20 + place, text=f"s{n} = v;", wavefronts=cost[n]) for place, n in enumerate(order)]
    assert {
        str(c.verdict) for c in diff_reports(report(kernel(*plain)), report(kernel(*moved))).kernels[0].changes
    } == {"moved"}

    def inlined(line, n):
        return site(
            1,
            source=Source("/src/k.cu", 1, 0, "s[i] = v;", (Frame("/src/k.cu", line, "put", f"put({n});"),)),
            wavefronts=cost[n],
            id=f"{n}",
        )

    old, new = [inlined(10 + n, n) for n in range(4)], [inlined(10 + place, n) for place, n in enumerate(order)]
    assert {str(c.verdict) for c in diff_reports(report(kernel(*old)), report(kernel(*new))).kernels[0].changes} == {
        "same"
    }


def test_inline_stacks_distinguish_equal_lines():
    old = [at(5, inlined=(20,), text="c"), at(5, inlined=(30,), text="c")]
    new = [at(5, inlined=(30,), text="c"), at(5, inlined=(40,), text="c")]
    pairs = pairs_of(kernel(*old), kernel(*new))
    stacks = [(a and a.source.inlined[0].line, b and b.source.inlined[0].line) for a, b in pairs]
    assert (30, 30) in stacks


def test_inline_frames_move_with_their_lines():
    old, new = [at(5, inlined=(20,)), at(30)], [at(7, inlined=(22,)), at(32)]
    assert matched(old, new) == [(5, 7), (30, 32)]


def test_renamed_file_is_the_same_file():
    old, new = [at(5, file="/a/old.cuh"), at(9)], [at(5, file="/b/new.cuh"), at(9)]
    assert matched(old, new) == [(5, 5), (9, 9)]


def test_input_files_with_different_names_match():
    old = kernel(at(5, file="before.cu"), at(2, file="x.h"), input="before.cu")
    new = kernel(at(5, file="after.cu"), at(2, file="x.h"), input="dir/after.cu")
    assert lines(pairs_of(old, new)) == [(5, 5), (2, 2)]


def test_sites_without_line_information_match_by_order_of_their_accesses():
    old = [site(None, "load", id="a"), site(None, "store", id="b"), site(None, "load", id="c")]
    new = [site(None, "store", id="B"), site(None, "load", id="C")]
    pairs = pairs_of(kernel(*old), kernel(*new))
    assert [(a and a.id, b and b.id) for a, b in pairs] == [("b", "B"), ("c", "C"), ("a", None)]


def test_sites_with_lines_on_one_side_match_by_order():
    old, new = [site(None, "load", id="a"), site(None, "store", id="b")], [at(5, "load"), at(7, "store")]
    assert [(a.access, b.access) for a, b in pairs_of(kernel(*old), kernel(*new))] == [
        ("load", "load"),
        ("store", "store"),
    ]
    assert [(a.access, b.access) for a, b in pairs_of(kernel(*new), kernel(*old))] == [
        ("load", "load"),
        ("store", "store"),
    ]


def test_lines_of_one_statement_match():
    """Compilers attribute the accesses of a statement to any of its lines."""
    for first, second in (("asm(", '"r"(x));'), (None, None)):
        old, new = (
            [at(40, text=first), at(41, text=second), at(41, text=second)],
            [at(40, text=first) for _ in range(3)],
        )
        assert matched(old, new) == [(40, 40), (41, 40), (41, 40)]


def test_site_attributed_to_another_line_of_equal_source_is_moved():
    old = [at(5, text="a"), at(320, text="operator=", file="/inc/fp16.h", wavefronts=32)]
    new = [at(5, text="a"), at(12, text="struct", wavefronts=32)]
    assert matched(old, new) == [(5, 5), (320, 12)]
    edited = [at(5, text="another a"), *new[1:]]
    assert matched(old, edited) == [(5, 5), (None, 12), (320, None)]


def test_swapped_copies_of_a_line_match_by_cost():
    old, new = [at(10, wavefronts=64, id="a"), at(10, id="b")], [at(10, id="A"), at(10, wavefronts=64, id="B")]
    assert [(a.id, b.id) for a, b in pairs_of(kernel(*old), kernel(*new))] == [("b", "A"), ("a", "B")]
    blind = [structs.replace(one, source=None) for one in old]
    assert [(a.id, b.id) for a, b in pairs_of(kernel(*blind), kernel(*new))] == [("b", "A"), ("a", "B")]


def test_swapped_costs_match_only_within_a_statement():
    def swapped(first):
        old = [at(10, text=first, wavefronts=64), at(11, text="s[j];")]
        new = [at(10, text=first), at(11, text="s[j];", wavefronts=64)]
        return [
            str(change.verdict)
            for change in diff_reports(report(kernel(*old)), report(kernel(*new))).kernels[0].changes
        ]

    assert swapped("x = s[i] +   // first half") == ["moved", "moved"]
    assert swapped("x = s[i];") == ["better", "worse"]


def test_different_access_on_one_line_is_another_site():
    assert matched([at(10)], [at(10, "store")]) == [(None, 10), (10, None)]


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_alignment_is_a_common_subsequence(old, new):
    pairs = align(old, new)
    assert all(old[i] == new[j] for i, j in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in zip(pairs, pairs[1:], strict=False))
    if old == new:
        assert len(pairs) == len(old)


@given(st.lists(st.tuples(st.integers(1, 40), st.sampled_from(["load", "store"]))), st.integers(0, 9), st.booleans())
def test_matching_has_every_site_once(places, shift, text):
    old = [at(line, access, text=f"line {line}" if text else None) for line, access in places]
    new = [at(line + shift, access, text=f"line {line}" if text else None) for line, access in places]
    pairs = pairs_of(kernel(*old), kernel(*new))
    assert sum(a is not None for a, _ in pairs) == len(old)
    assert sum(b is not None for _, b in pairs) == len(new)
    if text or not shift:
        assert all(a is not None and b is not None for a, b in pairs)


# --- judging --------------------------------------------------------------------------------


def bounded(low, high, **more):
    return open_site(Status.BOUNDED, bounds=(low, high), ideal=8, requests=8, **more)


def invariant(low, high=None, ideal=1):
    high = high or low
    return open_site(
        Status.INVARIANT,
        per_request=Span(low, high),
        ideal_per_request=Span(ideal, ideal),
        excess_per_request=Span(low - ideal, high - ideal),
    )


CG = {"access": "cp.async", "line_class_max": 1, "lines": 8, "lines_ideal": 8}
UNKNOWN = open_site(Status.UNKNOWN, reason="tex.2d")


def copy(least: int, most: int, status: Status = Status.BOUNDED):
    """A cp.async.cg of 8 requests in one line each, with `least` to `most` steps."""
    steps = {"line_class_proved": least, "line_class_max": most, "lines_proved": 8 * least, "lines": 8 * most}
    return open_site(status, **(CG | steps))


def by_shape(low: int, high: int):
    return structs.replace(invariant(low, high), status=Status.CONDITIONAL, why=Why("by-shape", False))


@pytest.mark.parametrize(
    "old, new, verdict",
    [
        (site(wavefronts=8), site(wavefronts=8), Verdict.SAME),
        (site(wavefronts=8), site(wavefronts=16), Verdict.WORSE),
        (site(wavefronts=16), site(wavefronts=8), Verdict.BETTER),
        (site(wavefronts=16, ideal=16), site(wavefronts=8), Verdict.BETTER),  # fewer requests, no excess
        (site(wavefronts=8), open_site(Status.UNREACHED, requests=0), Verdict.BETTER),  # no longer runs
        (site(wavefronts=8), UNKNOWN, Verdict.STATUS_CHANGED),
        (UNKNOWN, site(wavefronts=8), Verdict.STATUS_CHANGED),
        (UNKNOWN, UNKNOWN, Verdict.SAME),
        (site(wavefronts=8), bounded(16, 32), Verdict.WORSE),  # certainly above
        (site(wavefronts=16), bounded(8, 32), Verdict.STATUS_CHANGED),
        (bounded(8, 16), bounded(8, 32), Verdict.WORSE),
        (bounded(8, 32), bounded(8, 16), Verdict.BETTER),
        (bounded(16, 24), bounded(8, 32), Verdict.STATUS_CHANGED),
        (invariant(1), invariant(2), Verdict.WORSE),
        (invariant(4, ideal=1), invariant(4, ideal=4), Verdict.BETTER),
        (
            invariant(2),
            open_site(
                Status.CONDITIONAL, per_request=Span(2, 2), ideal_per_request=Span(1, 1), excess_per_request=Span(1, 1)
            ),
            Verdict.STATUS_CHANGED,
        ),
        (
            open_site(Status.BOUNDED, **CG),
            open_site(Status.BOUNDED, **(CG | {"lines": 16, "line_class_max": 2})),
            Verdict.WORSE,
        ),
        (copy(2, 2), copy(4, 4), Verdict.WORSE),
        (copy(2, 2), copy(1, 4), Verdict.STATUS_CHANGED),
        (copy(1, 4), copy(2, 2), Verdict.STATUS_CHANGED),
        (copy(2, 2), copy(2, 4), Verdict.STATUS_CHANGED),  # a figure that became a range, for any status
        (copy(2, 2), copy(1, 4, Status.CONDITIONAL), Verdict.STATUS_CHANGED),
        (copy(2, 2), copy(3, 4, Status.CONDITIONAL), Verdict.WORSE),
        (copy(1, 4), copy(1, 4), Verdict.SAME),
        (copy(2, 2), open_site(Status.UNREACHED, access="cp.async", requests=0), Verdict.BETTER),
        (by_shape(1, 32), by_shape(1, 32), Verdict.SAME),
        (by_shape(1, 4), by_shape(8, 32), Verdict.STATUS_CHANGED),  # other shapes may have any cost
        (by_shape(2, 32), invariant(1), Verdict.STATUS_CHANGED),
        (invariant(1), by_shape(2, 32), Verdict.STATUS_CHANGED),
    ],
)
def test_verdict_of_a_site_by_its_figures(old, new, verdict):
    assert judge(old, new, same_launch=True) is verdict


def test_copy_steps_are_compared_by_their_proved_ranges():
    (change,) = diff_reports(report(kernel(copy(2, 2))), report(kernel(copy(1, 4)))).kernels[0].changes
    assert (change.verdict, change.impact) == (Verdict.STATUS_CHANGED, -1)
    each = {"lines": None, "lines_proved": None}
    old, new = (structs.replace(copy(k, k), **each) for k in (1, 4))
    assert judge(old, new, same_launch=True) is Verdict.WORSE  # no launch is specified: judged per request
    assert surely_conflicts(copy(2, 4)) and not surely_conflicts(copy(1, 4))


def test_figures_of_tried_block_shapes_prove_no_conflict():
    assert surely_conflicts(invariant(2)) and not surely_conflicts(by_shape(2, 32))
    both = together((invariant(2), by_shape(2, 32)))
    assert judge(both, together((invariant(4), by_shape(2, 32))), same_launch=True) is Verdict.STATUS_CHANGED


def test_different_launches_are_compared_per_request():
    old, new = site(wavefronts=8), structs.replace(site(wavefronts=8), requests=80, wavefronts=80, ideal=80)
    assert judge(old, new, same_launch=False) is Verdict.SAME
    assert judge(old, new, same_launch=True) is Verdict.WORSE


def test_changes_that_count_as_worse():
    clean, bad = site(1), site(2, wavefronts=64)

    def worse(old, new):
        return diff_reports(report(*old), report(*new)).got_worse

    assert not worse([kernel(clean)], [kernel(clean)])
    assert worse([kernel(clean)], [kernel(clean, bad)])  # a new conflict
    assert not worse([kernel(bad)], [kernel(structs.replace(bad, access="store"))])  # one gone, one new, no more excess
    assert not worse([kernel(clean)], [kernel(clean, UNKNOWN)])
    assert worse([kernel(clean, UNKNOWN)], [kernel(clean, UNKNOWN, bad)])  # incomplete totals: a new conflicting site
    assert worse([kernel(clean)], [kernel(clean), kernel(bad, name="other")])  # so is a new kernel
    assert not worse([kernel(clean)], [kernel(clean), kernel(site(3), name="other")])
    assert not worse([kernel(clean), kernel(bad, name="other")], [kernel(clean)])  # gone


def test_kernels_match_by_name_isa_and_launch():
    other = structs.replace(LAUNCH, grid=(9, 9, 1))
    old = report(
        kernel(site(1)), kernel(site(1), launch=other), kernel(site(1), isa="sass"), kernel(site(1), name="gone")
    )
    new = report(
        kernel(site(1), isa="sass"), kernel(site(1), launch=other), kernel(site(1)), kernel(site(1), name="new")
    )
    pairs = [
        (d.old and (d.old.name, d.old.isa, d.old.launch), d.new and (d.new.name, d.new.isa, d.new.launch))
        for d in diff_reports(old, new).kernels
    ]
    assert [a == b for a, b in pairs] == [True, True, True, False, False]
    assert pairs[3][0] is None and pairs[4][1] is None


def test_kernel_with_a_changed_launch_is_the_same_kernel():
    moved = structs.replace(LAUNCH, grid=(9, 9, 1))
    (entry,) = diff_reports(report(kernel(site(1))), report(kernel(site(1), launch=moved))).kernels
    assert entry.old and entry.new and not entry.comparable


# --- the same work, divided differently ----------------------------------------------------


def pieces(count, width, line=10, opcode="LDS", **figures):
    return [at(line, width=width, opcode=opcode, id=f"p{n}", **figures) for n in range(count)]


def changes(old, new, **options):
    return [
        (str(c.verdict), c.width and str(c.width), len(c.olds), len(c.news))
        for c in diff_reports(report(kernel(*old, **options)), report(kernel(*new, **options))).kernels[0].changes
    ]


def test_vector_split_into_scalars_is_one_narrowed_site():
    vector, scalars = pieces(1, 16, wavefronts=32, ideal=32), pieces(4, 4)
    assert changes(vector, scalars) == [("narrowed", "narrowed", 1, 4)]
    assert changes(scalars, vector) == [("widened", "widened", 4, 1)]
    assert changes(vector, pieces(4, 4, wavefronts=32)) == [("worse", "narrowed", 1, 4)]
    assert changes(pieces(4, 4, wavefronts=32), vector) == [("better", "widened", 4, 1)]


def test_split_vector_without_a_launch_is_compared_per_execution():
    vector = [structs.replace(invariant(4, ideal=4), width=16)]
    scalars = [structs.replace(invariant(4), width=4)] * 4
    assert changes(vector, scalars, launch=None) == [("worse", "narrowed", 1, 4)]
    assert changes(vector, [structs.replace(invariant(1), width=4)] * 4, launch=None) == [
        ("narrowed", "narrowed", 1, 4)
    ]


def test_further_unrolled_line_is_the_same_work():
    assert changes(pieces(2, 4, requests=16, active_requests=16, wavefronts=16, ideal=16), pieces(4, 4)) == [
        ("same", None, 2, 4)
    ]
    assert changes(pieces(2, 4, requests=16, active_requests=16, wavefronts=64, ideal=16), pieces(4, 4)) == [
        ("better", None, 2, 4)
    ]


def test_line_unrolled_differently_is_the_same_line():
    """Lanes that leave a loop early make separate requests, whose number depends on how it is unrolled."""

    def copies(*told):
        return [
            at(
                10,
                text="a += s[i];",
                id=f"{n}",
                active_requests=count,
                requests=count,
                wavefronts=count + excess,
                ideal=count,
            )
            for n, (count, excess) in enumerate(told)
        ]

    old, new = copies((64, 0), (1100, 36), (1100, 36)), copies((92, 0), (64, 0), (32, 0), *[(520, 32)] * 4)
    assert changes(old, new) == [("worse", None, 2, 6), ("same", None, 1, 1)]
    assert sorted(changes(new, old)) == [("better", None, 6, 2), ("same", None, 1, 1)]
    assert "st.shared.f32 ×2 → ×6" in diff_text(
        diff_reports(
            report(kernel(*(structs.replace(s, opcode="st.shared.f32") for s in old))),
            report(kernel(*(structs.replace(s, opcode="st.shared.f32") for s in new))),
        )
    )
    assert ("new", None, 0, 1) in changes(
        old, copies((64, 0), (1100, 36), (1100, 36), (1100, 36))
    )  # it runs more often


def test_copies_of_an_unchanged_line_without_a_launch_are_not_new():
    def copies(count, text="a += s[i];", **told):
        return [
            structs.replace(invariant(4), **({"source": Source("/src/k.cu", 10, 0, text)} | told)) for _ in range(count)
        ]

    assert changes(copies(2), copies(8), launch=None) == [("same", None, 2, 8)]
    assert changes(copies(8), copies(2), launch=None) == [("same", None, 8, 2)]
    assert [c[0] for c in changes(copies(2), copies(3, "a += s[i] + s[j];"), launch=None)] == ["same", "same", "new"]
    worse = [*copies(2), *copies(1, per_request=Span(8, 8), excess_per_request=Span(7, 7))]
    assert sorted(c[0] for c in changes(copies(2), worse, launch=None)) == ["new", "same", "same"]
    assert diff_reports(report(kernel(*copies(2), launch=None)), report(kernel(*worse, launch=None))).got_worse


def test_additional_access_on_a_line_is_new():
    assert [c[0] for c in changes(pieces(3, 4), pieces(4, 4))] == ["same"] * 3 + ["new"]


def test_unreached_copy_costs_nothing():
    idle = structs.replace(open_site(Status.UNREACHED, requests=0), source=pieces(1, 4)[0].source)
    assert changes(pieces(1, 4), [*pieces(1, 4), idle]) == [("same", None, 1, 2)]


def test_renamed_kernel_is_the_same_kernel():
    old, new = (
        report(kernel(at(3, text="a"), at(5, text="b"))),
        report(kernel(at(4, text="a"), at(6, text="b"), name="other")),
    )
    (entry,) = diff_reports(old, new).kernels
    assert entry.old and entry.new and [str(c.verdict) for c in entry.changes] == ["moved", "moved"]


def pair_names(old, new):
    return [
        (entry.old and entry.old.name, entry.new and entry.new.name)
        for entry in diff_reports(report(*old), report(*new)).kernels
    ]


def test_renamed_and_edited_kernel_matches_by_unchanged_lines():
    old, new = (
        kernel(at(3, text="a"), at(5, text="b"), at(6, text="c")),
        kernel(at(4, text="a"), at(6, text="b"), at(7, text="d", wavefronts=64), name="other"),
    )
    assert pair_names([old], [new]) == [("k", "other")]
    assert pair_names([old], [kernel(at(3, text="x"), at(5, text="b"), at(6, text="y"), name="other")]) == [
        (None, "other"),
        ("k", None),
    ]
    text = diff_text(diff_reports(report(old), report(new)))
    assert "renamed kernel: k(float*) → other(float*)\n" in text and "\n\nk(float*) → other(float*)  ptx" in text


def test_other_template_instance_is_the_same_kernel():
    mine, other, third = "_Z4tmplIfLi32EEvPKT_", "_Z4tmplIfLi34EEvPKT_", "_Z4restIfLi34EEvPKT_"
    for text in ("a", None):
        old = kernel(at(3, text=text), at(4, text="lost" if text else None, wavefronts=64), name=mine)
        assert pair_names([old], [kernel(at(3, text=text), name=third), kernel(at(3, text=text), name=other)])[1] == (
            mine,
            other,
        )
    assert pair_names([kernel(at(3, text="a"), name=mine)], [kernel(at(3, text="b"), name=other)]) == [
        (None, other),
        (mine, None),
    ]


def test_renamed_kernel_without_lines_matches_by_costs():
    costs = (8, 16, 64)
    old, new = (kernel(*(site(None, wavefronts=n) for n in costs), name=name) for name in "ab")
    assert pair_names([old], [new]) == [("a", "b")]
    assert pair_names([old], [kernel(*(site(None, wavefronts=n) for n in (8, 8, 64)), name="b")]) == [
        (None, "b"),
        ("a", None),
    ]


def test_equally_changed_copies_of_a_line_are_one_row():
    frame = (30,)
    old = report(
        kernel(
            *(at(10, text="a += s[i];", inlined=frame, id=f"{n}") for n in range(16)),
            *(site(None, id=f"x{n}", offset=16 * n) for n in range(4)),
        )
    )
    new = report(
        kernel(
            *(at(10, text="a += s[i];", inlined=frame, id=f"{n}", wavefronts=8 * (1 + n)) for n in range(16)),
            *(site(None, id=f"x{n}", offset=32 * n, wavefronts=64) for n in range(4)),
        )
    )
    text = diff_text(diff_reports(old, new))
    assert [" ".join(line.split()) for line in text.splitlines() if line.startswith("  worse")] == [
        "worse k.cu:10 ld.shared.f32 ×15 exact 120 → 1,080 0 → 960 1 → 16",
        "worse PTX line 100 ld.shared.f32 ×4 exact 32 → 256 0 → 224 1 → 8",
    ]
    assert text.count("         = f inlined at k.cu:30: call 30") == 1 and "20 sites: 19 worse, 1 same" in text


def test_diff_shows_changed_resources():
    old, new = (
        kernel(at(1), registers=32, instructions=100),
        kernel(at(1), registers=40, instructions=90, shared_static=8192),
    )
    text = diff_text(diff_reports(report(old), report(new)))
    assert "  32 → 40 registers, 4,096 → 8,192 bytes of static shared memory, 100 → 90 instructions\n" in text
    (entry,) = diff_reports(report(old), report(new)).to_dict()["kernels"]
    assert entry["old_resources"] == {"registers": 32, "shared_static": 4096, "instructions": 100}


# --- text ----------------------------------------------------------------------------------

OLD = report(
    kernel(at(10, text="a = s[i];"), at(11, "store", text="s[i] = b;"), at(12, text="c = s[j];"), at(14, text="gone;"))
)
NEW = report(
    kernel(
        at(11, text="a = s[i];", wavefronts=64, cause="32 lanes meet"),
        at(12, "store", text="s[i] = b;"),
        at(13, text="c = s[j];"),
        at(19, "atomic", text="new;"),
    )
)

TEXT = """\
5 sites: 1 worse, 1 new, 1 gone, 2 moved
in total: excess 0 → 56 (+56), wavefronts 32 → 88 (+56)

k(float*)  ptx, grid 2×2, block 32×8
  excess 0 → 56 (+56), wavefronts 32 → 88 (+56)
  4,096 bytes of static shared memory

  change  place        instruction    status  wavefronts  excess  ways
  worse   k.cu:10 → k.cu:11  ld.shared.f32  exact   8 → 64      0 → 56  1 → 8
      11 │ a = s[i];
         = 32 lanes meet
  new     k.cu:19            st.shared.f32  exact   8           0       1
      19 │ new;
  gone    k.cu:14            ld.shared.f32  exact   8           0       1
      14 │ gone;
"""


def test_diff_text_shows_changes_with_locations():
    assert diff_text(diff_reports(OLD, NEW)) == TEXT.replace("place        instr", "place              instr")


def test_unchanged_sites_are_listed_on_demand():
    diff = diff_reports(OLD, NEW)
    assert "moved   k.cu:11 → k.cu:12" in diff_text(diff, everything=True)
    assert diff_text(diff_reports(OLD, OLD)) == "4 sites: 4 same\n"


def test_markdown_table_escapes_bars():
    new = report(kernel(at(10, text="a = s[i];", wavefronts=64, opcode="a|b"), launch=None))
    text = diff_markdown(diff_reports(OLD, new))
    assert text.startswith("### ptxaudit: got worse\n\n")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1
    assert "a\\|b" in text and "no launch specified" in text and "| `a = s[i];` |" in text
    inlined = report(
        kernel(at(10, text="a `b` | c;", inlined=(30,), wavefronts=64, cause="k<int> meets", opcode="a|b"), launch=None)
    )
    assert "| `a 'b' \\| c;`<br>f inlined at k.cu:30: call 30<br>k&lt;int&gt; meets |" in diff_markdown(
        diff_reports(OLD, inlined)
    )


def test_markdown_is_limited_to_a_comment_with_the_worst_first():
    clean = [kernel(*(at(line, text=f"v{line}", wavefronts=64) for line in range(40)), name=f"k{n}") for n in range(40)]
    better = [kernel(*(at(line, text=f"v{line}") for line in range(40)), name=f"k{n}") for n in range(40)]
    text = diff_markdown(
        diff_reports(report(*clean, kernel(at(1), name="z")), report(*better, kernel(at(1, wavefronts=64), name="z")))
    )
    assert len(text) < 65_536 and re.search(r"\nand \d+ more kernels\n$", text)
    assert re.search(r"\*\*`(\w+)", text)[1] == "z"
    assert closing_lines(diff_reports(report(), report(*better)))[-1].endswith("k11(float*) and 28 more")


def test_diff_json_has_every_change():
    schema = json.loads((SCHEMA_FILE.parent / "diff-1.schema.json").read_text())
    data = diff_reports(OLD, NEW).to_dict()
    for written in (
        data,
        diff_reports(report(kernel(UNKNOWN)), report()).to_dict(),
        diff_reports(report(), OLD).to_dict(),
    ):
        jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(written)))
    assert data["schema"] == "ptxaudit/diff/1" and data["got_worse"]
    assert data["counts"] == {"worse": 1, "new": 1, "gone": 1, "moved": 2}
    (entry,) = data["kernels"]
    first = entry["changes"][0]
    assert (first["verdict"], first["old"]["line"], first["new"]["line"]) == ("worse", 10, 11)
    assert (first["old"]["excess"], first["new"]["excess"]) == (0, 56)


# --- speed ----------------------------------------------------------------------------------

MOST_CALLS = 2_000_000  # twice the actual number; a quadratic algorithm makes 25 million


@pytest.mark.parametrize(
    "kind", ["one kernel with text", "one kernel without text", "many kernels", "no lines", "shuffled"]
)
def test_reports_of_5000_sites_are_compared_in_few_calls(kind, monkeypatch):
    monkeypatch.undo()  # validating 10,000 sites against the schema takes seconds; the same records are validated above
    count = 5000

    def sites(shift, n=count):
        if kind == "no lines":
            return [site(None, random.Random(i + shift).choice(["load", "store"])) for i in range(n)]
        order = list(range(n))
        if kind == "shuffled":
            random.Random(shift).shuffle(order)
        return [
            at(
                100 + i // 2 + shift * (i > 40),
                "load" if i % 3 else "store",
                text=f"s[{i % 50}]" if "with text" in kind else None,
            )
            for i in order
        ]

    def made(shift):
        if kind == "many kernels":
            return report(*(kernel(*sites(shift, 10), name=f"k{k}") for k in range(count // 10)))
        return report(kernel(*sites(shift)))

    texts = made(0).to_json(), made(3).to_json()
    diffs = []

    def compared():
        diffs.append(diff_reports(*map(parse_report, texts)))
        diff_text(diffs[0])

    assert calls_of(compared) < MOST_CALLS
    assert sum(diffs[0].counts.values()) >= count


def test_new_conflict_among_other_accesses_of_its_line_is_found():
    free, conflicting = (at(10, text="s[i] = t[j][i];", wavefronts=wavefronts) for wavefronts in (8, 64))
    diff = diff_reports(report(kernel()), report(kernel(free, conflicting)))
    (found,) = change_results(diff, (), None)
    assert found.rule == "diff-new" and "wavefronts 72, excess 56" in found.message
    assert change_results(diff_reports(report(kernel()), report(kernel(free, free))), (), None) == []
