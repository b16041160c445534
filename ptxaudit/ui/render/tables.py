"""The tables of a kernel, of each memory and of what costs most, as every format for people lays them out."""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.base.records import Record
from ptxaudit.report.model import Kernel, Share
from ptxaudit.ui.render.memory import COLUMNS as MEMORY_COLUMNS
from ptxaudit.ui.render.memory import SPACES, memory_rows
from ptxaudit.ui.render.rows import COLUMNS, NO_MARKS, NUMERIC, Marks, Row, kernel_rows, total_row
from ptxaudit.ui.render.shares import FIGURES, share_row


class Table(Record):
    """title: "" of shared memory; numeric: the columns of figures. The last row may be a total."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: frozenset[str] = NUMERIC


def tables_of(kernel: Kernel, marks: Marks = NO_MARKS) -> list[Table]:
    """Shared memory first, unless only others were looked at. marks: which rules found something where."""
    rows, total = kernel_rows(kernel, marks), total_row(kernel)
    found = [Table("", COLUMNS, (*rows, *([total] if total else [])))] if rows or not kernel.memory else []
    for space in SPACES:
        if of_space := memory_rows(kernel, space, marks):
            found.append(Table(f"{space} memory", MEMORY_COLUMNS, tuple(of_space)))
    shares = (("loop", kernel.loop_shares), ("line", kernel.line_shares))
    return [*found, *(share_table(word, of) for word, of in shares if of)]


def share_table(word: str, shares: Sequence[Share], kernels: Sequence[str] = ()) -> Table:
    """A row a loop, or a line. kernels: of each, the name of the one that it is in, where there are several."""
    columns = (word, *(["kernel"] if kernels else []), *FIGURES)
    rows = tuple(share_row(share, kernels[at : at + 1]) for at, share in enumerate(shares))
    return Table(f"{word}s", columns, rows, frozenset(FIGURES))
