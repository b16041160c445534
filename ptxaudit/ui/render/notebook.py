"""Shows a report in a notebook: the rows of `text` as HTML tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ptxaudit.report.model import Kernel, Report
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import COLUMNS, NUMERIC, Row, Tone, closing_lines, kernel_rows, total_row
from ptxaudit.ui.render.text import header_lines, note_text

COLOUR: dict[Tone, str] = {"bad": "#c0392b", "open": "#b9770e", "good": "inherit", "quiet": "gray"}


def report_html(report: Report) -> str:
    """The whole report as one fragment, with styles inline: notebooks drop style sheets."""
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
