"""The tables of a kernel as all text formats show them: one per memory, then the costliest loops and lines."""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.base.records import Record
from ptxaudit.report.model import Kernel, Share
from ptxaudit.ui.render.memory import COLUMNS as MEMORY_COLUMNS
from ptxaudit.ui.render.memory import SPACES, memory_rows
from ptxaudit.ui.render.rows import COLUMNS, NO_MARKS, NUMERIC, Marks, Row, kernel_rows, total_row
from ptxaudit.ui.render.shares import FIGURES, share_row


class Table(Record):
    """title: "" for shared memory; numeric: the columns with figures. The last row may be a total."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: frozenset[str] = NUMERIC


def tables_of(kernel: Kernel, marks: Marks = NO_MARKS) -> list[Table]:
    """The tables, shared memory first unless only others were audited. marks: the rules with findings, by site."""
    rows, total = kernel_rows(kernel, marks), total_row(kernel)
    found = [Table("", COLUMNS, (*rows, *([total] if total else [])))] if rows or not kernel.memory else []
    for space in SPACES:
        if of_space := memory_rows(kernel, space, marks):
            found.append(Table(f"{space} memory", MEMORY_COLUMNS, tuple(of_space)))
    shares = (("loop", kernel.loop_shares), ("line", kernel.line_shares))
    return [*found, *(share_table(word, of) for word, of in shares if of)]


def share_table(word: str, shares: Sequence[Share], kernels: Sequence[str] = ()) -> Table:
    """A row per loop or line. kernels: the name of the kernel of each, if there are several."""
    columns = (word, *(["kernel"] if kernels else []), *FIGURES)
    rows = tuple(share_row(share, kernels[at : at + 1]) for at, share in enumerate(shares))
    return Table(f"{word}s", columns, rows, frozenset(FIGURES))
