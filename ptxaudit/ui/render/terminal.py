"""Writes a report to a terminal: the rows of `text` as rich tables, in colour."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ptxaudit.base.words import cut_at
from ptxaudit.report.model import Kernel, Report
from ptxaudit.ui.render.pairs import pairs_text
from ptxaudit.ui.render.rows import (
    COLUMNS,
    NUMERIC,
    Note,
    Tone,
    closing_lines,
    kernel_rows,
    total_row,
    verdict_line,
    without_sites,
)
from ptxaudit.ui.render.text import header_lines

STYLE: dict[Tone, str] = {"bad": "red", "open": "yellow", "good": "green", "quiet": "dim"}
NOTE_INDENT = 4  # columns
INDENT, GAP = 2, 2
LEAST = {"instruction": 14, "place": 9, "status": 6}  # columns that are narrowed, in this order, and to what


def print_report(report: Report, console: Console) -> None:
    """The whole report, kernel by kernel, then the closing lines."""
    for kernel in report.kernels:
        if kernel.sites:
            console.print(kernel_view(kernel, console.width - INDENT))
            console.print()
    if empty := without_sites(report):
        console.print(Text(empty, style="dim"))
    for block in pairs_text(report):
        console.print(Text(block), soft_wrap=True)
        console.print()
    if verdict := verdict_line(report):
        console.print(Text(verdict, style=f"bold {STYLE['good' if verdict.startswith('no') else 'bad']}"))
    first, *rest = closing_lines(report)
    console.print(Text(first, style="bold"))
    for line in rest:
        console.print(Text(line, style="yellow"))


def kernel_view(kernel: Kernel, width: int) -> RenderableType:
    """One kernel: its header, its table, the notes of each row under the row."""
    name, *facts = header_lines(kernel)
    rows = kernel_rows(kernel)
    total = total_row(kernel)
    widths = [
        max(map(len, column))
        for column in zip(COLUMNS, *(row.cells for row in [*rows, *([total] if total else [])]), strict=True)
    ]
    gap = GAP if sum(widths) + GAP * len(widths) <= width else 1
    widths = _narrowed(widths, width - gap * len(widths))

    def line(cells: tuple[str, ...], style: str, first: str | None = None) -> RenderableType:
        """One line of the table, `first` the style of place and instruction. Each line is a table of
        its own with the same widths, so that the notes between may span all columns."""
        table = Table.grid(padding=(0, gap, 0, 0))
        for column, column_width in zip(COLUMNS, widths, strict=True):
            table.add_column(
                width=column_width,
                min_width=column_width,
                no_wrap=True,
                justify="right" if column in NUMERIC else "left",
            )
        styles = [first if first is not None and column in ("place", "instruction") else style for column in COLUMNS]
        fitting = (_fitting(*pair) for pair in zip(COLUMNS, cells, widths, strict=True))
        table.add_row(*(Text(cell, style=cell_style) for cell, cell_style in zip(fitting, styles, strict=True)))
        return Padding(table, (0, 0, 0, INDENT), expand=False)

    parts: list[RenderableType] = [Text(name, style="bold cyan"), *(Text(fact, style="dim") for fact in facts)]
    parts.append(line(COLUMNS, "bold"))
    for row in rows:
        parts.append(line(row.cells, STYLE[row.tone], first=""))
        parts += [_note(note, row.tone) for note in row.notes]
    if total:
        parts.append(line(total.cells, "bold"))
    return Group(*parts)


def _narrowed(widths: list[int], room: int) -> list[int]:
    """The widths that fit: words give way to figures, as far as they can still be read."""
    widths = list(widths)
    for column, least in LEAST.items():
        at = COLUMNS.index(column)
        widths[at] -= min(max(0, sum(widths) - room), max(0, widths[at] - least))
    return widths


def _fitting(column: str, cell: str, width: int) -> str:
    """A cell cut to its column; of a place the line is kept."""
    if len(cell) <= width:
        return cell
    return "…" + cell[len(cell) - width + 1 :] if column == "place" else cut_at(cell, width)


def _note(note: Note, tone: Tone) -> RenderableType:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", width=NOTE_INDENT)
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    mark, style = {"source": ("│", ""), "frame": ("=", "dim"), "note": ("=", STYLE[tone])}[note.kind]
    grid.add_row(Text(str(note.line or ""), style="blue"), Text(mark, style="blue"), Text(note.text, style=style))
    return Padding(grid, (0, 0, 0, NOTE_INDENT), expand=False)
