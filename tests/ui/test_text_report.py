"""The text report: folded, worst first, with reasons in words; plain in a pipe, coloured on a terminal."""

from __future__ import annotations

import io
import re
from functools import partial

import pytest
from reports import kernel, open_site, report, site
from rich.console import Console

from ptxaudit.base.words import bare_name, interval, listing, number, plural
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Condition, Frame, Problem, Source, Span, Trip
from ptxaudit.ui.render.notebook import report_html
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import MAX_SOURCE, closing_lines, fold, kernel_rows, verdict_line, weight
from ptxaudit.ui.render.terminal import print_report
from ptxaudit.ui.render.text import report_text


def at(line, text=None, frames=(), **changes):
    return site(line, source=Source("/src/k.cu", line, 0, text, tuple(frames)), **changes)


PAGE = report(
    kernel(
        at(6, "a = s[i];"),
        at(
            4,
            "s[i * 32] = b;",
            wavefronts=1024,
            access="store",
            cause="32 lanes (0-31) conflict in one bank: stride 128 bytes",
        ),
        open_site(
            Status.UNKNOWN,
            9,
            source=Source("/src/k.cu", 9, 0, "c = s[t];"),
            reason="the address comes from tex.2d (line 9)",
        ),
        assumed=("lanes are 32 consecutive threadIdx.x",),
    ),
)

TEXT = """\
k(float*)
  k.cu · sm_90 ptx · grid 2×2, block 32×8 · 4,096 bytes of static shared memory
  assumed: lanes are 32 consecutive threadIdx.x

  place        instruction    status   requests  wavefronts  ideal  excess  ways
  k.cu:4       st.shared.f32  exact           8       1,024      8   1,016   128
       4 │ s[i * 32] = b;
         = 32 lanes (0-31) conflict in one bank: stride 128 bytes
  k.cu:9       ld.shared.f32  unknown         ?           –      –       –     –
       9 │ c = s[t];
         = the address comes from tex.2d (line 9)
  k.cu:6       ld.shared.f32  exact           8           8      8       0     1
       6 │ a = s[i];
  exact total                                16       1,032     16   1,016   128

conflicts cost 1,016 of 1,032 wavefronts of the exact sites (98.4%), most at k.cu:4: st.shared.f32, 128 ways
3 sites in 1 kernel: 2 exact, 1 unknown
  unknown ×1: the address comes from tex.2d (line 9)
"""


def test_text_report_as_a_whole():
    assert report_text(PAGE) == TEXT


def test_verdict_counts_exact_sites_of_one_instruction_set():
    good = kernel(at(6, "a"), isa="ptx")
    assert verdict_line(report(good)) == "no excess: all 8 wavefronts are needed"
    assert verdict_line(report(kernel(open_site(Status.UNKNOWN, 9)))) == "" == verdict_line(report())
    assert verdict_line(report(good, kernel(at(6, "a"), isa="sass"))) == "no excess: all 8 wavefronts are needed"


def test_long_source_lines_are_cut():
    row = kernel_rows(kernel(at(6, "a = " + "b + " * 60)))[0]
    assert len(row.notes[0].text) == MAX_SOURCE and row.notes[0].text.endswith("…")


def terminal(width):
    out = io.StringIO()
    print_report(PAGE, Console(file=out, width=width, force_terminal=True, highlight=False))
    return out.getvalue()


def test_terminal_shows_the_same_words_in_colour():
    coloured = terminal(120)
    assert "\x1b[31m" in coloured
    words = re.sub(r"\x1b\[[0-9;]*m", "", coloured).split()
    assert words == list(TEXT.split())


@pytest.mark.parametrize("width", [40, 60, 80])
def test_narrow_terminal_is_not_overflowed(width):
    lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal(width)).splitlines()
    assert all(len(line) <= width for line in lines)
    if width >= 80:
        assert any("1,024" in line and "1,016" in line for line in lines)


def row(*sites, **changes):
    (only,) = kernel_rows(kernel(*sites, **changes))
    return only


def notes(*sites):
    return [note.text for note in row(*sites).notes]


def test_copies_of_a_source_line_are_one_row_with_their_sum():
    copies = [at(6, "a = s[i];", wavefronts=w, cause=f"stride {w}") for w in (8, 32, 16)]
    folded = row(*copies)
    assert folded.cells == ("k.cu:6 ×3", "ld.shared.f32", "exact", "24", "56", "24", "32", "4")
    assert [note.text for note in folded.notes] == [
        "a = s[i];",
        "at worst stride 32",
        "copy by copy: wavefronts 8, 32, 16; ideal 8, 8, 8",
    ]


@pytest.mark.parametrize(
    "other",
    [
        at(7, "a"),
        at(6, "a", access="store"),
        at(6, "a", frames=[Frame("k.cu", 9)]),
        at(6, "a", opcode="ld.shared.v2.f32"),
        open_site(Status.UNREACHED, source=Source("/src/k.cu", 6, 0, "a")),
    ],
)
def test_sites_of_different_position_opcode_or_status_are_not_folded(other):
    assert len(fold([at(6, "a"), other])) == 2


def test_sites_without_a_source_line_are_not_folded_and_show_the_instruction():
    rows = kernel_rows(kernel(site(None, ptx_line=30), site(None, ptx_line=31)))
    assert [r.cells[0] for r in rows] == ["PTX line 30", "PTX line 31"]  # k.cu has no such lines
    assert [r.cells[0] for r in kernel_rows(kernel(site(None, ptx_line=30), input="k.ptx"))] == ["k.ptx:30"]
    assert [note.text for note in rows[0].notes] == ["ld.shared.f32 %f1, [%r1];"]
    assert row(site(None, ptx_line=None, offset=0x1A0), isa="sass").cells[0] == "+0x01a0"


def test_inline_stack_is_listed_from_the_innermost():
    frames = [Frame("/src/a.cuh", 20, "void f<int>(float*)", "f(x);"), Frame("/src/k.cu", 30)]
    assert notes(at(6, "a", frames=frames)) == ["a", "f<int> inlined at a.cuh:20: f(x);", "inlined at k.cu:30"]


@pytest.mark.parametrize(
    "made, cells",
    [
        (
            open_site(
                Status.INVARIANT,
                per_request=Span(4, 4),
                ideal_per_request=Span(1, 1),
                excess_per_request=Span(3, 3),
                ways=4,
            ),
            ("invariant", "?", "4 each", "1 each", "3 each", "4"),
        ),
        (open_site(Status.BOUNDED, requests=8, bounds=(8, 16), ideal=8), ("bounded", "8", "8–16", "8", "–", "–")),
        (
            open_site(Status.DATA_DEPENDENT, per_request=Span(1, 32)),
            ("data-dependent", "?", "1–32 each", "–", "–", "–"),
        ),
        (
            open_site(Status.UNREACHED, requests=0, wavefronts=0, ideal=0, excess=0),
            ("unreached", "0", "0", "0", "0", "–"),
        ),
    ],
)
def test_cells_of_a_status(made, cells):
    assert row(made).cells[2:] == cells


def test_cases_of_equal_cost_share_a_line():
    cases = (Condition("n mod 32 = 0", 32, 32, 1), *(Condition(f"n mod 32 = {i}", 1, 1, 1) for i in range(1, 10)))
    shown = notes(open_site(Status.CONDITIONAL, conditions=cases, reason="depends on n"))
    assert shown[1:] == [
        "depends on n",
        "32 per request, ideal 1: n mod 32 = 0",
        "1 per request, ideal 1: " + "; ".join(f"n mod 32 = {i}" for i in range(1, 7)) + ", and 3 more cases",
    ]


def test_reason_of_several_rows_is_printed_once():
    many = [open_site(Status.CONDITIONAL, line, reason="depends on the block's shape") for line in (1, 2, 3)]
    text = report_text(report(kernel(*many)))
    assert text.count("depends on the block's shape") == 2  # above the table, and in the closing lines
    assert "  3 sites: depends on the block's shape" in text


def test_trips_are_listed_if_they_differ():
    assert "trip by trip: wavefronts 2, 1; ideal 1, 1" in notes(at(6, "a", trips=(Trip(1, 2, 1), Trip(1, 1, 1))))
    assert len(notes(at(6, "a", trips=(Trip(1, 1, 1), Trip(1, 1, 1))))) == 1


def test_cp_async_cg_is_reported_in_steps_explained_once():
    def copy(line, **changes):
        source = Source("k.cu", line, 0, "copy")
        return open_site(Status.BOUNDED, source=source, requests=8, cause="of its own", reason="no counter", **changes)

    worst = copy(6, line_class_max=3, line_class_proved=3, lines=24, lines_ideal=8)
    steps = "3 steps per request instead of 1; 24 over the launch instead of 8"
    assert notes(worst) == ["copy", steps]
    better = copy(6, line_class_max=2)
    assert f"at worst {steps}" in notes(better, worst)
    assert notes(better) == ["copy", "at most 2 steps per request instead of 1"]
    text = report_text(report(kernel(worst, copy(7, line_class_max=2, line_class_proved=2), copy(8, line_class_max=1))))
    assert text.count("profilers do not count its wavefronts") == text.count("3 steps take") == 1
    assert "cp.async.cg ×3: " in text and "let each 8 neighbouring lanes fill one 128-byte line" in text
    assert "k = " not in text and "line_class" not in text and "lines" + chr(96) not in text


def test_rows_are_ordered_worst_unknown_ideal():
    sites = [
        at(1),
        open_site(Status.UNKNOWN, 2),
        at(3, wavefronts=16),
        at(4, wavefronts=800),
        open_site(Status.UNREACHED, 5, requests=0),
    ]
    assert [r.cells[0] for r in kernel_rows(kernel(*sites))] == ["k.cu:4", "k.cu:3", "k.cu:2", "k.cu:1", "k.cu:5"]


def test_ideal_copy_does_not_hide_a_conflict():
    """Copies of one line whose requests cost the same, but have different ideals; and steps of cp.async.cg."""
    invariant = partial(open_site, Status.INVARIANT, source=Source("k.cu", 6, 0, "a"), per_request=Span(2, 2))
    ideal, paid = (invariant(excess_per_request=Span(n, n), ideal_per_request=Span(2 - n, 2 - n)) for n in (0, 1))
    assert [row.cells[6] for row in kernel_rows(kernel(ideal, paid))] == ["1 each", "0 each"]
    copies = [open_site(Status.BOUNDED, 6, reason="no counter", line_class_max=steps) for steps in (1, 4)]
    (row,) = kernel_rows(kernel(*copies))
    assert weight(tuple(copies)) == 3 and row.tone == "bad"


def test_closing_lines_count_every_status_with_reasons():
    sites = [
        site(),
        open_site(Status.INVARIANT),
        open_site(Status.BOUNDED, reason="b"),
        open_site(Status.CONDITIONAL, reason="c"),
        open_site(Status.CONDITIONAL, reason="c"),
        open_site(Status.UNREACHED, requests=0),
        open_site(Status.UNKNOWN, reason="u"),
    ]
    first, *why = closing_lines(report(kernel(*sites)))
    assert (
        first
        == "7 sites in 1 kernel: 1 exact, 1 invariant, 3 in a range (1 bounded, 2 conditional), 1 unreached, 1 unknown"
    )
    assert why == ["  conditional ×2: c", "  bounded ×1: b", "  unknown ×1: u"]
    assert closing_lines(report()) == ["no kernel was checked"]
    assert closing_lines(report(kernel())) == ["no shared-memory site in 1 kernel"]
    assert "2 kernel launches" in closing_lines(report(kernel(site()), kernel(site(), launch=None)))[0]


def test_kernel_without_sites_is_named():
    assert report_text(report(kernel(name="plain"))).startswith("no shared-memory site in plain(float*)\n")
    many = report_text(report(*(kernel(name=f"plain{n}") for n in range(30))))
    assert "plain7(float*) and 22 more kernels\n" in many and "plain8" not in many


def test_unmeasured_rules_are_named():
    assert "by rule, not measured on this machine: ld.shared.f32\n" in report_text(
        report(kernel(site(evidence="by rule")))
    )


def test_problem_text_has_location_log_and_hint():
    problem = Problem("it does not compile", "fix it", "k.cu", 3, 4, "_Z1kv", "line one\nline two\n")
    assert (
        problem_text(problem)
        == "error: it does not compile\n  --> k.cu:3:4\n   in kernel _Z1kv\n   | line one\n   | line two\n   = help:"
        " fix it"
    )


def test_notebook_table_is_escaped():
    page = report_html(
        report(kernel(at(1, "a < b && c;", wavefronts=64), demangled="k<float>(int&)"), problems=[Problem("<bad>")])
    )
    assert "k&lt;float&gt;(int&amp;)" in page and "a &lt; b &amp;&amp; c;" in page and "&lt;bad&gt;" in page
    assert (
        page
        == report(
            kernel(at(1, "a < b && c;", wavefronts=64), demangled="k<float>(int&)"), problems=[Problem("<bad>")]
        )._repr_html_()
    )


@pytest.mark.parametrize(
    "full, bare",
    [
        ("void gemm<8, false>(float const*, int)", "gemm<8, false>"),
        ("Loader<(int)128, 8>::copy(float*)", "Loader<(int)128, 8>::copy"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
        ("k", "k"),
    ],
)
def test_bare_names_of_kernels(full, bare):
    assert bare_name(full) == bare


def test_numbers_intervals_and_plurals():
    assert (number(1234567), number(None), interval(8, 8), interval(1, 2)) == ("1,234,567", "–", "8", "1–2")
    assert (plural(1, "site"), plural(2, "site"), plural(2, "launch", "launches")) == (
        "1 site",
        "2 sites",
        "2 launches",
    )
    assert (listing([]), listing(["a"]), listing(["a", "b", "c"])) == ("", "a", "a, b and c")
