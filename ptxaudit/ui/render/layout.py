"""Lays out rows and notes in lines of a given width, each line in pieces that a terminal may colour.

Row(("k.cu:4", "st.shared.f32", …), notes)   ->   "  k.cu:4  st.shared.f32  exact  8  1,024 …"
                                                  "       4 │ s[i * 32] = b;"
                                                  "         = PA002: 32 lanes (0-31) conflict in one bank"
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ptxaudit.base.records import Record
from ptxaudit.base.words import cut_at
from ptxaudit.ui.render.rows import NUMERIC, Note, Row, Tone

Style = Literal["", "title", "dim", "strong", "number", "bad", "open", "good", "quiet"]

GUTTER = 8  # columns before the bar of a source line
GAP = 2
LEAST = {"instruction": 14, "kernel": 16, "place": 9, "status": 6}  # minimum widths, in order of narrowing


class Piece(Record):
    """A part of a line in one style; a row's tone is a style, too."""

    text: str
    style: Style = ""


Line = tuple[Piece, ...]


def line(text: str, style: Style = "") -> Line:
    """A line in one style."""
    return (Piece(text, style),)


def plain(pieces: Line) -> str:
    """The text of a line."""
    return "".join(piece.text for piece in pieces).rstrip()


def fact(text: str, width: int | None, style: Style = "dim") -> Iterator[Line]:
    """A sentence below a title, wrapped."""
    yield from (line(part, style) for part in folded(text, width, indent=len(text) - len(text.lstrip()) + 2))


def folded(text: str, width: int | None, indent: int) -> list[str]:
    """The text wrapped to `width` columns; keeps leading blanks and indents the lines after the first."""
    if width is None or len(text) <= width:
        return [text]
    head = text[: len(text) - len(text.lstrip())]
    room = max(width - len(head), 8)
    parts = textwrap.wrap(text.lstrip(), room, subsequent_indent=" " * max(0, indent - len(head)))
    return [(head + part)[:width] for part in parts]


def table(
    columns: tuple[str, ...],
    rows: Sequence[Row],
    indent: str = "  ",
    width: int | None = None,
    numeric: frozenset[str] = NUMERIC,
) -> Iterator[Line]:
    """Aligned rows with their notes below, numbers right-aligned; columns of words are narrowed to fit."""
    widths = [max(map(len, column)) for column in zip(columns, *(row.cells for row in rows), strict=True)]
    gap = GAP
    if width is not None:
        room = width - len(indent)
        gap = GAP if sum(widths) + GAP * (len(widths) - 1) <= room else 1
        widths = _narrowed(columns, widths, room - gap * (len(widths) - 1))

    def aligned(cells: tuple[str, ...], style: Style, first: Style) -> Line:
        pieces = [Piece(indent)]
        for name, cell, columns_of in zip(columns, cells, widths, strict=True):
            fitting = _fitting(name, cell, columns_of)
            text = fitting.rjust(columns_of) if name in numeric else fitting.ljust(columns_of)
            pieces += [Piece(text, first if name not in numeric and name != "status" else style), Piece(" " * gap)]
        return _cut(tuple(pieces[:-1]), width)

    yield aligned(columns, "strong", "strong")
    for row in rows:
        total = not row.notes and not row.cells[1]
        yield aligned(row.cells, "strong" if total else row.tone, "strong" if total else "")
        for note in row.notes:
            yield from note_lines(note, row.tone, width)


def _narrowed(columns: Sequence[str], widths: list[int], room: int) -> list[int]:
    """Widths that fit: columns of words are narrowed in favour of figures, down to their minimum."""
    widths = list(widths)
    for column, least in LEAST.items():
        if column in columns:
            at = columns.index(column)
            widths[at] -= min(max(0, sum(widths) - room), max(0, widths[at] - least))
    return widths


def _fitting(column: str, cell: str, width: int) -> str:
    """A cell cut to its column; a place keeps its end, the line number."""
    if len(cell) <= width:
        return cell
    return "…" + cell[len(cell) - width + 1 :] if column == "place" else cut_at(cell, width)


def _cut(pieces: Line, width: int | None) -> Line:
    """A line cut to the width."""
    if width is None:
        return pieces
    kept, room = [], width
    for piece in pieces:
        kept.append(Piece(piece.text[:room], piece.style))
        room = max(0, room - len(piece.text))
    return tuple(kept)


def note_lines(note: Note, tone: Tone | Literal[""] = "", width: int | None = None) -> Iterator[Line]:
    """A note under a row: `  14 │ source`, or `     = sentence`, wrapped to the width."""
    if note.kind == "source":
        text = note.text if width is None else cut_at(note.text, max(1, width - GUTTER - 3))
        yield _cut((Piece(f"{note.line:>{GUTTER}}", "number"), Piece(" │ ", "number"), Piece(text)), width)
        return
    style: Style = "dim" if note.kind == "frame" else tone
    room = None if width is None else max(8, width - GUTTER - 3)
    for at, part in enumerate(folded(note.text, room, 2)):
        mark = Piece(f"{'':>{GUTTER}} {'=' if at == 0 else ' '} ", "number")
        yield _cut((mark, Piece(part, style)), width)


def note_text(note: Note) -> str:
    """A note as plain text."""
    return "\n".join(map(plain, note_lines(note)))


def table_lines(columns: tuple[str, ...], rows: Sequence[Row], indent: str = "  ") -> list[str]:
    """A table as plain text."""
    return [plain(one) for one in table(columns, rows, indent)]


def fitted(text: str, width: int) -> str:
    """Text fitted to a width: notes are wrapped with an indent, source lines and table rows are cut."""
    return "\n".join(part for one in text.split("\n") for part in _fitted(one, width))


def _fitted(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    if _ROW.match(text):
        return [cut_at(text, width)]
    note = _NOTE.match(text)
    return folded(text, width, len(note[0]) + 2 if note else len(text) - len(text.lstrip()) + 2)


_ROW = re.compile(r" *\d+ │ | {2}\S.*\S {2,}\S")  # a source line; cells of a table
_NOTE = re.compile(r" +(?:= )?")


def text_of(lines: Iterable[Line]) -> str:
    """Lines as plain text, each with a final newline."""
    return "".join(plain(one) + "\n" for one in lines)
