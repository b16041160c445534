"""Writes a diff as one self-contained HTML page for a reviewer.

It shows the summary, the kernels by impact, the cost of each changed site before and after, and the code of both
sides side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxaudit.base.version import __version__
from ptxaudit.report.model import Problem
from ptxaudit.review.diff.reports import Diff, Verdict
from ptxaudit.review.diff.thresholds import Crossing
from ptxaudit.ui.render.change_rows import (
    Shown,
    cells_of,
    facts_of,
    figure_text,
    left_out_line,
    name_of,
    notes_of,
    shown_kernels,
    sides_lines,
    summary_lines,
    where,
)
from ptxaudit.ui.render.page.write import written
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import NUMERIC
from ptxaudit.ui.render.side_by_side import Codes, pairs_of
from ptxaudit.ui.render.thresholds import crossing_text

OVERVIEW = ("wavefronts", "excess", "registers", "spills", "instructions")
_TONES = {Verdict.WORSE: "bad", Verdict.NEW: "open", Verdict.STATUS_CHANGED: "open", Verdict.BETTER: "good"}


def diff_html(
    diff: Diff,
    everything: bool = False,
    top: int | None = None,
    codes: Codes | None = None,
    crossings: Sequence[Crossing] = (),
    problems: Sequence[Problem] = (),
) -> str:
    """The whole page."""
    shown = shown_kernels(diff, everything, top)
    return written(
        "changes.html.jinja",
        "changes.js",
        None,
        verdict="got worse" if diff.got_worse else "nothing got worse",
        tone="bad" if diff.got_worse else "good",
        sides=sides_lines(diff),
        summary=summary_lines(diff),
        denied=[f"{crossing.threshold}: {crossing_text(crossing)}" for crossing in crossings],
        problems=[problem_text(problem) for problem in problems],
        overview=OVERVIEW,
        numeric=NUMERIC,
        left_out=left_out_line(diff, shown, everything),
        version=__version__,
        kernels=[_kernel(f"k{at}", one, codes) for at, one in enumerate(shown)],
    )


def _kernel(id: str, one: Shown, codes: Codes | None) -> dict[str, Any]:
    """The page's data for one kernel."""
    tables = [
        {
            "title": table.title,
            "columns": table.columns,
            "rows": [
                {
                    "cells": cells_of(one.entry, row),
                    "tone": _TONES.get(row[0].verdict, "quiet"),
                    "notes": notes_of(row),
                    "code": pairs_of(one.entry, row, codes),
                }
                for row in table.rows
            ],
        }
        for table in one.tables
    ]
    return {
        "id": id,
        "name": name_of(one.entry),
        "where": where(one.entry),
        "facts": facts_of(one.entry),
        "worse": one.entry.got_worse,
        "figures": [_figure(one.entry.figures[name]) for name in OVERVIEW],
        "tables": tables,
    }


def _figure(both: tuple[Any, Any]) -> tuple[str, str]:
    """(text, tone) of a cell of the overview."""
    old, new = both
    if old == new or old is None or new is None:
        return figure_text(new if new is not None else old), ""
    return f"{figure_text(old)} → {figure_text(new)}", "bad" if new > old else "good"
