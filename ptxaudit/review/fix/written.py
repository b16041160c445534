"""A layout in words and code (`Rewrite`), and helpers to write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.review.fix.arrays import Array
from ptxaudit.review.fix.declared import Declared
from ptxaudit.review.fix.layouts import Layout, Pad, Same
from ptxaudit.review.fix.naming import (
    cute_name,
    formula,
    in_words,
    index_cost,
    of_elements,
    term,
    triton_name,
)

_PLURALS = {
    "float": "floats",
    "double": "doubles",
    "int": "ints",
    "unsigned": "words",
    "half": "halves",
    "__half": "halves",
    "float2": "float2s",
}


Names = Callable[
    [Sequence[str]], str | None
]  # the indices of an element -> the expression for it, None if there is none


class Edit(Record):
    """A replacement of part of a source file."""

    start: int
    end: int
    text: str


class Rewrite(Record):
    """A layout in words and code.

    summary: one phrase; declaration: the new one; element: writes the expression for an element, None if there is
    only a formula in bytes; formula: in bytes. edits: of the declaration, for a patch; in_place: accesses stay
    unchanged; instructions: additional ones per index, as written; extra: further lines of code. why_not: why no
    source can be changed automatically, "" if it can. complete: all accesses can be written in this way.
    """

    kind: str
    summary: str
    declaration: str
    formula: str
    element: Names | None = None
    edits: tuple[Edit, ...] = ()
    in_place: bool = False
    instructions: int = 0
    extra: tuple[str, ...] = ()
    cute: str = ""
    triton: str = ""
    why_not: str = ""
    complete: bool = False


def declared_with(declared: Declared, dims: Sequence[str] | None) -> str:
    """The declaration with other dimensions."""
    d = declared.declaration
    dims = [dim.text for dim in d.dims] if dims is None else dims
    if not d.alone or len(dims) != len(d.dims):
        return f"__shared__ {d.type.text} {d.name}{''.join(f'[{dim}]' for dim in dims)};"
    text, at = "", d.statement.start
    for span, dim in zip(d.dims, dims):
        text += declared.text.text[at : span.start] + dim
        at = span.end
    return " ".join((text + declared.text.text[at : d.statement.end]).split())


def plus(text: str, more: int) -> str:
    """The text of a number plus `more`: "32" -> "33", "Tile" -> "Tile + 1"."""
    if more == 0:
        return text
    if (match := re.fullmatch(r"(.*\S)\s*\+\s*(\d+)", text)) and int(match[2]) + more == 0 and "*" not in match[1]:
        return match[1]
    if more < 0 and not text.isdecimal():
        return f"{term(text)} - {-more}" if not re.fullmatch(r"[\w:.]+", text) else f"{text} - {-more}"
    if text.isdecimal():
        return str(int(text) + more)
    if match := re.fullmatch(r"(.*\S)\s*\+\s*(\d+)", text):
        return f"{match[1]} + {int(match[2]) + more}"
    return f"{term(text)} + {more}" if not re.fullmatch(r"[\w\s*:.()]+", text) else f"{text} + {more}"


def row_number(indices: Sequence[str], dims: Sequence[int], least: int = 0) -> str:
    """The row number from the indices before the column. least: only its value modulo this matters (0 = all of it)."""
    if len(indices) == 1 or least and dims[len(indices) - 1] % least == 0:
        return term(indices[-1])
    text = term(indices[0])
    for index, dim in zip(indices[1:], dims[1:]):
        text = f"({text} * {dim} + {term(index)})"
    return text


def elements_in(declared: Declared, count: int) -> str:
    """ "33 floats"."""
    kind = declared.type
    return f"{count} {_PLURALS.get(kind, 'elements')}" if count != 1 else f"1 {kind}"


def in_bytes(layout: Layout, array: Array, declared: Declared | None) -> Rewrite:
    """A layout without an expression in the source: its formula only."""
    why = (
        "one instruction accesses several arrays, which need the same layout"
        if array.others
        else (
            "the array is part of a larger variable"
            if array.part
            else "its declaration was not found"
            if declared is None
            else "its rows differ from the declaration's"
        )
    )
    return Rewrite(
        layout.kind,
        in_words(layout),
        "",
        formula(layout),
        instructions=index_cost(layout),
        cute=cute_name(layout, 1),
        triton=triton_name(layout, 1),
        why_not=why,
        in_place=isinstance(layout, Same),
    )


def by_element(code: Rewrite, layout: Layout, declared: Declared, why: str) -> Rewrite:
    """The same layout as a map of the array's elements, for a source that does not use the rows of its declaration.
    why: the reason."""
    scaled, name = of_elements(layout, declared.element), declared.declaration.name
    lines = (
        (f"// element i of {name}, counted from its first, moves to element {formula(scaled).replace('x', 'i')}",)
        if scaled is not None
        else ()
    )
    words = (
        in_words(layout)
        if not isinstance(layout, Pad) or not isinstance(scaled, Pad)
        else " and ".join(
            f"{'add' if more > 0 else 'cut'} {elements_in(declared, abs(more))} {'after' if more > 0 else 'of'} each"
            f" {row}"
            for row, more in scaled.rows
        )
    )
    return replace(
        code,
        summary=f"{words}, in every index",
        declaration="",
        element=None,
        edits=(),
        in_place=False,
        instructions=index_cost(layout),
        extra=(*lines, *_by_other_names(layout, declared), f"// (to be written by hand: {why})"),
        why_not=why,
        complete=False,
    )


def _by_other_names(layout: Layout, declared: Declared) -> Iterator[str]:
    """Comments on names in the declaration that determine the length of rows, and may be what to change."""
    for row, more in layout.rows if isinstance(layout, Pad) else ():
        if row in declared.rows:
            at = declared.rows.index(row)
            dim, below = (
                declared.declaration.dims[len(declared.dims) - 1 - at],
                (declared.rows[at - 1] if at else declared.element),
            )
            if not dim.text.isdecimal() and more % below == 0:
                yield f"// {dim.text} is {row // below}: if the indices use it too, make it {(row + more) // below}"
