"""Writes a diff as plain text, or as Markdown for a pull request: the summary first, then kernels by impact.

5 sites: 1 worse, 4 same in total: excess 0 → 992 (+992), wavefronts 64 → 1,056 (+992)

transpose(float*, float const*, int)  ptx, grid 2×2, block 32×8
  excess 0 → 992 (+992), wavefronts 64 → 1,056 (+992)

  change  place            instruction    status  wavefronts  excess   ways
  worse   transpose.cu:14  ld.shared.f32  exact   32 → 1,024  0 → 992  1 → 32
     14 │ out[x * n + y] = tile[threadIdx.x][threadIdx.y];
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.review.diff.reports import Diff, KernelDiff
from ptxaudit.ui.render.change_rows import (
    Row,
    Shown,
    Table,
    cells_of,
    facts_of,
    left_out_line,
    name_of,
    notes_of,
    shown_kernels,
    sides_lines,
    summary_lines,
    where,
)
from ptxaudit.ui.render.layout import note_text
from ptxaudit.ui.render.markdown_text import code, fitting, plain
from ptxaudit.ui.render.side_by_side import Codes, code_lines_of

closing_lines = summary_lines


def diff_text(diff: Diff, everything: bool = False, top: int | None = None, codes: Codes | None = None) -> str:
    """The whole diff as text.

    everything: also lists the sites that did not change; top: shows only this many rows, those with the greatest
    impact; codes: machine code to show side by side under each row.
    """
    shown = shown_kernels(diff, everything, top)
    blocks = [
        "\n".join(sides_lines(diff)),
        "\n".join(summary_lines(diff)),
        *(_kernel_text(one, codes) for one in shown),
        left_out_line(diff, shown, everything),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def diff_markdown(diff: Diff, everything: bool = False, top: int | None = None, codes: Codes | None = None) -> str:
    """The same as Markdown: a table per kernel, the worst first, as many as fit into a comment."""
    verdict = "got worse" if diff.got_worse else "nothing got worse"
    blocks = [
        f"### ptxaudit: {verdict}",
        "  \n".join(map(plain, sides_lines(diff))),
        "  \n".join(map(plain, summary_lines(diff))),
    ]
    shown = shown_kernels(diff, everything, top)
    tables = [_kernel_markdown(one, codes) for one in shown]
    blocks = fitting([block for block in blocks if block], tables)
    return "\n\n".join([*blocks, *filter(None, [left_out_line(diff, shown, everything)])]) + "\n"


def _kernel_markdown(shown: Shown, codes: Codes | None) -> str:
    lines = [f"**`{code(name_of(shown.entry))}`** {plain(where(shown.entry))}"]
    if facts := facts_of(shown.entry):
        lines += ["", "  \n".join(map(plain, facts))]
    for table in shown.tables:
        lines += ["", f"{table.title}:"] if table.title else []
        lines += ["", "| " + " | ".join((*table.columns, "line")) + " |", "|---" * (len(table.columns) + 1) + "|"]
        lines += ["| " + " | ".join((*map(plain, cells_of(shown.entry, row)), _line(row))) + " |" for row in table.rows]
    for row in shown.rows:
        if both := code_lines_of(shown.entry, row, codes):
            lines += [
                "",
                f"<details><summary>{plain(cells_of(shown.entry, row)[1])}: machine code</summary>",
                "",
                "```",
                *both,
                "```",
                "",
                "</details>",
            ]
    return "\n".join(lines)


def _kernel_text(shown: Shown, codes: Codes | None) -> str:
    entry = shown.entry
    lines = [f"{name_of(entry)}  {where(entry)}", *(f"  {fact}" for fact in facts_of(entry))]
    for table in shown.tables:
        lines += ["", *([f"  {table.title}"] if table.title else []), *_table_lines(entry, table, codes)]
    return "\n".join(lines)


def _table_lines(entry: KernelDiff, table: Table, codes: Codes | None) -> list[str]:
    """The rows of one memory in columns, with their notes."""
    cells = [table.columns, *(cells_of(entry, row) for row in table.rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(table.columns))]

    def aligned(line: Sequence[str]) -> str:
        return ("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip()

    lines = [aligned(table.columns)]
    for row, line in zip(table.rows, cells[1:], strict=True):
        lines.append(aligned(line))
        lines += [note_text(note) for note in notes_of(row)]
        lines += [f"      {line}".rstrip() for line in code_lines_of(entry, row, codes)]
    return lines


def _line(row: Row) -> str:
    """The notes of a row in one cell: the source as code, the others below it."""
    return "<br>".join(f"`{code(note.text)}`" if note.kind == "source" else plain(note.text) for note in notes_of(row))
