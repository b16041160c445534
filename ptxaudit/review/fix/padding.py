"""Writes padding as C++: longer rows in the declaration, an index with gaps between rows, or a structure with an
additional member."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ptxaudit.review.fix.arrays import Array
from ptxaudit.review.fix.cpp import Declaration
from ptxaudit.review.fix.declared import Declared
from ptxaudit.review.fix.layouts import Pad
from ptxaudit.review.fix.naming import (
    formula,
    index_cost,
    over,
    term,
    times,
    times_first,
    triton_name,
)
from ptxaudit.review.fix.written import Edit, Rewrite, declared_with, elements_in, in_bytes, plus


def padded(layout: Pad, array: Array, declared: Declared) -> Rewrite:
    if layout.rows[0][0] == declared.element and len(layout.rows) == 1:
        return _padded_structure(layout, declared)
    dims, edits, words = [dim.text for dim in declared.declaration.dims], [], []
    for row, more in layout.rows:
        at = len(dims) - 1 - declared.rows.index(row) if row in declared.rows else None
        below = (
            declared.element
            if at == len(dims) - 1
            else declared.rows[declared.rows.index(row) - 1]
            if at is not None
            else 0
        )
        below = int(layout.place(np.array(below)))  # including its own padding
        if at is None or more % below:
            return _padded_index(layout, array, declared)
        dims[at] = plus(dims[at], more // below)
        span = declared.declaration.dims[at]
        edits.append(Edit(span.start, span.end, dims[at]))
        verb = "pad" if more > 0 else "cut"
        words.append(
            f"{verb} the row to {elements_in(declared, declared.dims[at] + more // below)}"
            if at == len(dims) - 1
            else f"{verb} dimension {at + 1} to {declared.dims[at] + more // below}"
        )
    shape = ", ".join(f"_{n}" for n in declared.dims)
    strides = [1]
    for at in range(len(dims) - 1, 0, -1):
        row = declared.rows[len(dims) - 1 - at]
        strides.append(int(layout.place(np.array(row))) // declared.element)
    cute = f"Layout<Shape<{shape}>, Stride<{', '.join(f'_{n}' for n in reversed(strides))}>>"
    return Rewrite(
        "pad",
        " and ".join(words),
        declared_with(declared, dims),
        formula(layout),
        lambda indices: _plain(declared.declaration, indices),
        tuple(edits),
        in_place=True,
        cute=cute,
        triton=triton_name(layout, declared.element),
    )


def _plain(declaration: Declaration, indices: Sequence[str]) -> str:
    return declaration.name + "".join(f"[{index}]" for index in indices)


def _padded_index(layout: Pad, array: Array, declared: Declared) -> Rewrite:
    """Inserts gaps between rows in the index, for one-dimensional arrays."""
    e = declared.element
    if len(declared.dims) > 1 or any(row % e or more % e or more < 0 for row, more in layout.rows):
        return in_bytes(layout, array, declared)
    steps = [(row // e, more // e) for row, more in layout.rows]
    text = declared.declaration.dims[0].text
    used = array.used if array.used is not None else array.size or 0
    size = -(-layout.size(used) // e)
    if size <= declared.dims[0]:
        new = text  # it is already declared long enough
    else:
        size = declared.dims[0] + sum(-(-declared.dims[0] // every) * more for every, more in steps)
        new = (
            str(size)
            if text.isdecimal()
            else " + ".join(
                [
                    term(text) if not re.fullmatch(r"[\w *]+", text) else text,
                    *(times(f"({term(text)} + {every - 1}) / {every}", more) for every, more in steps),
                ]
            )
        )

    def element(indices: Sequence[str]) -> str | None:
        if len(indices) != 1:
            return None
        terms = [term(indices[0]), *(times_first(over(indices[0], every), more) for every, more in steps)]
        return f"{declared.declaration.name}[{' + '.join(terms)}]"

    summary = " and ".join(f"rows of {elements_in(declared, every + more)} instead of {every}" for every, more in steps)
    extra = _by_name(steps, text, declared) if len(steps) == 1 else ()
    span = declared.declaration.dims[0]
    return Rewrite(
        "pad",
        summary,
        declared_with(declared, [new]),
        formula(layout),
        element,
        (Edit(span.start, span.end, new),) if new != text else (),
        instructions=index_cost(layout),
        extra=extra,
        triton=triton_name(layout, e),
    )


def _by_name(steps: list[tuple[int, int]], text: str, declared: Declared) -> tuple[str, ...]:
    """Comments on names in the array's size that equal the length of its rows, which may be simpler to change."""
    from ptxaudit.review.fix.cpp import value_of

    ((every, more),) = steps
    known = {**declared.text.constants, **declared.names}
    names = [name for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)) if value_of(name, known) == every]
    return tuple(
        f"// or {name} = {every + more} instead of {every}, where it is the distance between rows" for name in names
    )


def _padded_structure(layout: Pad, declared: Declared) -> Rewrite:
    """Adds a member to a structure, if its declaration is in the same file and nothing else uses it."""
    more = layout.rows[0][1]
    kind = declared.type
    member = f"char padding[{more}]" if more % 4 else "float padding" if more == 4 else f"float padding[{more // 4}]"
    edit, why = _structure_edit(declared, member)
    return Rewrite(
        "pad",
        f"pad {kind} to {declared.element + more} bytes",
        declared_with(declared, None),
        formula(layout),
        lambda indices: _plain(declared.declaration, indices),
        (edit,) if edit else (),
        in_place=True,
        extra=(f"struct {kind} {{ … {member}; }};",),
        why_not=why,
    )


def _structure_edit(declared: Declared, member: str) -> tuple[Edit | None, str]:
    """The edit that adds a member to the structure, or the reason why there is none."""
    text, name = declared.text, declared.type
    bodies = [
        at
        for at, token in enumerate(text.tokens[:-2])
        if token.text in ("struct", "class") and text.tokens[at + 1].text == name and text.tokens[at + 2].text == "{"
    ]
    if len(bodies) != 1:
        return None, f"the declaration of {name} was not found in this file"
    opening, end = bodies[0] + 2, text.pairs.get(bodies[0] + 2)
    if end is None or any(token.text in ("(", ":") for token in text.tokens[opening:end]):
        return None, f"{name} is not a plain structure"
    uses = [
        at
        for at, token in enumerate(text.tokens)
        if token.text == name and token.kind == "name" and at not in (bodies[0] + 1,)
    ]
    shared = [d for d in text.declarations if d.type.text == name]
    if any(not any(d.statement.start <= text.tokens[at].start < d.statement.end for d in shared) for at in uses):
        return None, f"{name} is also used elsewhere, where its size may matter"
    place = text.tokens[end].start
    blank = " " if text.text[place - 1] != " " else ""
    return Edit(place, place, f"{blank}{member}; "), ""
