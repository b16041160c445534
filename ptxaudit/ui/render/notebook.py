"""Displays a report, a site, a diff or a score in a notebook: tables of `rows` as HTML, requests as pictures.

Styles are inline, as notebooks drop style sheets; pictures are self-contained SVG.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from ptxaudit.base.errors import InputError
from ptxaudit.base.words import interval, number, plural
from ptxaudit.report.model import Kernel, Pattern, Report, Site
from ptxaudit.ui.render.layout import note_text
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import COLUMNS, NUMERIC, Row, Tone, closing_lines, kernel_rows, total_row
from ptxaudit.ui.render.sections import header_lines

if TYPE_CHECKING:
    from ptxaudit.hardware.scoring import Score
    from ptxaudit.review.diff.reports import Diff

COLOUR: dict[Tone, str] = {"bad": "#c0392b", "open": "#b9770e", "good": "inherit", "quiet": "gray"}


def report_html(report: Report) -> str:
    """The whole report as one HTML fragment."""
    parts = [_kernel(kernel) for kernel in report.kernels if kernel.sites]
    parts.append(f"<pre>{escape(chr(10).join(closing_lines(report)))}</pre>")
    parts += [
        f'<pre style="color: {COLOUR["bad"]}">{escape(problem_text(problem))}</pre>' for problem in report.problems
    ]
    return "\n".join(parts)


def _kernel(kernel: Kernel) -> str:
    name, *facts = header_lines(kernel)
    total = total_row(kernel)
    lines = [f"<p><b>{escape(name)}</b><br>{'<br>'.join(escape(fact.strip()) for fact in facts)}</p>", "<table>"]
    lines.append(f"<tr>{''.join(f'<th>{escape(column)}</th>' for column in COLUMNS)}</tr>")
    for row in [*kernel_rows(kernel), *([total] if total else [])]:
        lines += _row(row)
    return "\n".join([*lines, "</table>"])


def _row(row: Row) -> Iterable[str]:
    cells = "".join(
        f'<td style="text-align: {"right" if column in NUMERIC else "left"}; color:'
        f' {COLOUR[row.tone]}">{escape(cell)}</td>'
        for column, cell in zip(COLUMNS, row.cells, strict=True)
    )
    yield f"<tr>{cells}</tr>"
    if row.notes:
        notes = escape("\n".join(note_text(note) for note in row.notes))
        yield f'<tr><td colspan="{len(COLUMNS)}" style="text-align: left"><pre>{notes}</pre></td></tr>'


# --- one site -------------------------------------------------------------------------------


def site_html(site: Site) -> str:
    """The figures of a site, their cause, and the picture of its costliest request if the report has its patterns."""
    figures = {
        "status": str(site.status),
        "requests": number(site.requests),
        "wavefronts": number(site.wavefronts),
        "ideal": number(site.ideal),
        "excess": number(site.excess),
        "ways": number(site.ways),
    }
    parts = [
        f"<p><b>{escape(site.id)}</b><br><code>{escape(site.text)}</code></p>",
        _table([tuple(figures), tuple(figures.values())]),
    ]
    parts += [
        f"<p>{escape(said)}</p>"
        for said in (site.cause, site.reason, f"fix: {site.fix.summary}" if site.fix else "")
        if said
    ]
    if site.patterns:
        parts.append(_pattern(site, max(site.patterns, key=lambda one: (one.low - one.ideal, one.count or 0))))
    return "\n".join(parts)


def _pattern(site: Site, pattern: Pattern) -> str:
    opcode, _, machine = site.scored_as.rpartition(" on ")
    cost = f"{interval(pattern.low, pattern.high)} of this request, ideal {pattern.ideal}"
    title = f"{opcode}: {cost}" + (f", {plural(pattern.count, 'request')} like it" if pattern.count is not None else "")
    lanes = [pattern.active >> lane & 1 == 1 for lane in range(len(pattern.addresses))]
    return _picture(machine, opcode, pattern.addresses, lanes, None, title)


def _picture(
    machine: str,
    opcode: str,
    addresses: Sequence[int],
    active: Sequence[bool],
    sources: Sequence[int] | None,
    title: str,
) -> str:
    """The SVG of a request, or "" if it cannot be drawn."""
    from ptxaudit.hardware import banks, machines
    from ptxaudit.ui.render.svg import picture

    try:
        return picture(machines.get(machine), banks.classify(opcode), addresses, active, sources, title)
    except (InputError, ValueError):
        return ""


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head, *others = rows
    lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in others]
    return f"<table>{''.join(lines)}</table>"


# --- a score, and what changed ----------------------------------------------------------------


def score_html(score: Score) -> str:
    """The cost of one request, with its picture."""
    from ptxaudit.hardware import machines
    from ptxaudit.ui.render.svg import picture

    cost = (
        "no hardware counter covers its wavefronts"
        if score.bounds is None
        else (
            f"{plural(score.bounds[1], 'wavefront')}"
            if score.wavefronts is not None
            else f"{interval(*score.bounds)} wavefronts"
        )
    )
    ideal = f", ideal {score.ideal}" if score.ideal is not None else ""
    what = f"<b>{escape(score.access.opcode)}</b> on {escape(score.machine)}"
    said = f"<p>{what}: {cost}{ideal}, {escape(score.evidence)}</p>"
    drawn = ""
    if score.request is not None and score.bounds is not None:
        try:
            drawn = picture(machines.get(score.machine), score.access, *score.request)
        except (InputError, ValueError):
            drawn = ""
    return said + (f"<p>{escape(score.note)}</p>" if score.note else "") + drawn


def changes_html(diff: Diff) -> str:
    """The summary of a diff, and a table of the changed sites of each kernel."""
    from ptxaudit.ui.render.change_rows import (
        cells_of,
        left_out_line,
        name_of,
        shown_kernels,
        sides_lines,
        summary_lines,
    )

    shown = shown_kernels(diff)
    parts = [f"<p><b>{'got worse' if diff.got_worse else 'nothing got worse'}</b></p>"]
    parts += [f"<p>{escape(line)}</p>" for line in (*sides_lines(diff), *summary_lines(diff))]
    for one in shown:
        parts.append(f"<p><b>{escape(name_of(one.entry))}</b></p>")
        for table in one.tables:
            parts += [f"<p>{escape(table.title)}</p>"] if table.title else []
            parts.append(_table([table.columns, *(tuple(cells_of(one.entry, row)) for row in table.rows)]))
    left = left_out_line(diff, shown)
    return "\n".join([*parts, *([f"<p>{escape(left)}</p>"] if left else [])])
