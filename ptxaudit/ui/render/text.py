"""Writes a report as plain text: aligned columns, the same bytes every time, no escape codes.

transpose(float*, float const*, int)
  transpose.cu · sm_90 ptx · grid 2×2, block 32×8 · 4,096 bytes of static shared memory

  place            instruction    status  requests  wavefronts  ideal  excess  ways
  transpose.cu:14  ld.shared.f32  exact         32       1,024     32     992    32
     14 │ out[x * n + y] = tile[threadIdx.x][threadIdx.y];
        = 32 lanes (0-31) meet in one bank: stride 128 bytes

conflicts cost 992 of 1,024 wavefronts (96.9%), most at transpose.cu:14: ld.shared.f32, 32 ways
1 site in 1 kernel: 1 exact
"""

from __future__ import annotations

from pathlib import PurePath

from ptxaudit.base.words import plural
from ptxaudit.report.model import Kernel, Report
from ptxaudit.ui.render.memory import COLUMNS as MEMORY_COLUMNS
from ptxaudit.ui.render.memory import SPACES, memory_lines, memory_rows
from ptxaudit.ui.render.pairs import pairs_text
from ptxaudit.ui.render.rows import (
    COLUMNS,
    NUMERIC,
    Note,
    Row,
    by_rule,
    closing_lines,
    kernel_rows,
    shared_reasons,
    total_row,
    verdict_line,
    without_sites,
)
from ptxaudit.ui.render.shares import loop_lines

GUTTER = 8  # columns before the bar of a source line


def report_text(report: Report) -> str:
    """The whole report; ends with the closing lines."""
    blocks = [kernel_text(kernel) for kernel in report.kernels if kernel.sites or kernel.memory]
    if empty := without_sites(report):
        blocks.append(empty)
    blocks += pairs_text(report)
    blocks.append("\n".join(filter(None, [verdict_line(report), *closing_lines(report), *memory_lines(report)])))
    return "\n\n".join(blocks) + "\n"


def kernel_text(kernel: Kernel) -> str:
    """One kernel: its header, its table."""
    rows = kernel_rows(kernel)
    total = total_row(kernel)
    lines = header_lines(kernel)
    if rows or not kernel.memory:
        lines += ["", *table_lines(COLUMNS, [*rows, *([total] if total else [])])]
    for space in SPACES:
        if found := memory_rows(kernel, space):
            lines += ["", f"  {space} memory", *table_lines(MEMORY_COLUMNS, found)]
    if kernel.loop_shares:
        lines += ["", *loop_lines(kernel)]
    return "\n".join(lines)


def header_lines(kernel: Kernel) -> list[str]:
    """The kernel's name, where it comes from, its launch, and what was assumed."""
    facts = [PurePath(kernel.input).name, f"{kernel.arch} {kernel.isa}"]
    if kernel.machine != kernel.arch:
        facts.append(f"scored as {kernel.machine}")
    facts.append(str(kernel.launch) if kernel.launch else "no launch told")
    if kernel.shared_static:
        facts.append(f"{plural(kernel.shared_static, 'byte')} of static shared memory")
    if kernel.launch and kernel.launch.dynamic_shared:
        facts.append(f"{plural(kernel.launch.dynamic_shared, 'byte')} of dynamic shared memory")
    lines = [kernel.demangled, "  " + " · ".join(facts)]
    lines += [f"  assumed: {sentence}" for sentence in kernel.assumed]
    lines += [f"  note: {sentence}" for sentence in kernel.notes]
    lines += [f"  {plural(count, 'site')}: {reason}" for reason, count in shared_reasons(kernel)]
    if opcodes := by_rule(kernel):
        lines.append(f"  by rule, not measured on this machine: {', '.join(opcodes)}")
    return lines


def table_lines(columns: tuple[str, ...], rows: list[Row], indent: str = "  ") -> list[str]:
    """Rows as aligned columns with their notes under them; numbers to the right."""
    cells = [columns, *(row.cells for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]

    def aligned(line: tuple[str, ...]) -> str:
        fields = (
            cell.rjust(width) if name in NUMERIC else cell.ljust(width)
            for name, cell, width in zip(columns, line, widths, strict=True)
        )
        return (indent + "  ".join(fields)).rstrip()

    lines = [aligned(columns)]
    for row in rows:
        lines.append(aligned(row.cells))
        lines += [note_text(note) for note in row.notes]
    return lines


def note_text(note: Note) -> str:
    """A line under a row: `  14 │ source`, or `     = sentence`."""
    if note.kind == "source":
        return f"{note.line:>{GUTTER}} │ {note.text}"
    return f"{'':>{GUTTER}} = {note.text}"
