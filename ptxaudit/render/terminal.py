"""Writes a report to a terminal: the rows of `text` as rich tables, in colour."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ptxaudit.render.rows import COLUMNS, NUMERIC, Note, Row, Tone, closing_lines, kernel_rows, total_row
from ptxaudit.render.text import header_lines
from ptxaudit.report import Kernel, Report

STYLE: dict[Tone, str] = {"bad": "red", "open": "yellow", "good": "green", "quiet": "dim"}
NOTE_INDENT = 4


def print_report(report: Report, console: Console) -> None:
    """The whole report, kernel by kernel, then the closing lines."""
    for kernel in report.kernels:
        if kernel.sites:
            console.print(kernel_view(kernel))
            console.print()
    empty = dict.fromkeys(kernel.demangled for kernel in report.kernels if not kernel.sites)
    if empty:
        console.print(Text("no shared-memory site in " + ", ".join(empty), style="dim"))
    first, *rest = closing_lines(report)
    console.print(Text(first, style="bold"))
    for line in rest:
        console.print(Text(line, style="yellow"))


def kernel_view(kernel: Kernel) -> RenderableType:
    """One kernel: its header, its table, the notes of each row under the row."""
    name, *facts = header_lines(kernel)
    rows = kernel_rows(kernel)
    total = total_row(kernel)
    widths = _widths([*rows, *([total] if total else [])])
    parts: list[RenderableType] = [Text(name, style="bold cyan")]
    parts += [Text(fact, style="dim") for fact in facts]
    parts.append(_line(COLUMNS, widths, "bold underline"))
    for row in rows:
        parts.append(_line(row.cells, widths, STYLE[row.tone], value_only=True))
        parts += [_note(note, row.tone) for note in row.notes]
    if total:
        parts.append(_line(total.cells, widths, "bold"))
    return Group(*parts)


def _widths(rows: list[Row]) -> list[int]:
    cells = [COLUMNS, *(row.cells for row in rows)]
    return [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]


def _line(cells: tuple[str, ...], widths: list[int], style: str, value_only: bool = False) -> RenderableType:
    """One table line on the shared column widths; a table a line, so that notes may span all columns."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, width in zip(COLUMNS, widths, strict=True):
        table.add_column(width=width, justify="right" if name in NUMERIC else "left", overflow="fold")
    plain = {"place", "instruction"} if value_only else set()
    table.add_row(*(Text(cell, style="" if name in plain else style) for name, cell in zip(COLUMNS, cells, strict=True)))
    return Padding(table, (0, 0, 0, 2))


def _note(note: Note, tone: Tone) -> RenderableType:
    text = Table.grid(padding=(0, 1, 0, 0))
    text.add_column(justify="right", width=NOTE_INDENT)
    text.add_column(width=1)
    text.add_column(overflow="fold")
    if note.kind == "source":
        text.add_row(Text(str(note.line), style="blue"), Text("│", style="blue"), Text(note.text))
    else:
        text.add_row("", Text("=", style="blue"), Text(note.text, style=STYLE[tone] if tone != "good" else "dim"))
    return Padding(text, (0, 0, 0, NOTE_INDENT))
