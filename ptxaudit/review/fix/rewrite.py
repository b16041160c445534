"""Writes a layout as C++: how the array is declared then, and how its elements are named.

    Pad(128 -> 132), float tile[32][32]        float tile[32][33];       tile[y][x]                unchanged
    Xor(128; 4, 8, …), float tile[32][32]      float tile[32][32];       tile[y][x]  ->  tile[y][x ^ (y & 31)]
    Order(8), struct Two s[256]                float s_a[256], s_b[256]; s[i].b      ->  s_b[i]

A layout is a map of bytes; it becomes an expression where it moves whole elements, and rows that the declaration has.
Otherwise only the formula of the map is written, in bytes. Nothing here proves anything: `patch` compiles what this
writes, and looks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.review.fix.accesses import Changed
from ptxaudit.review.fix.arrays import Array
from ptxaudit.review.fix.cpp import Declaration
from ptxaudit.review.fix.declared import Declared
from ptxaudit.review.fix.layouts import Chain, Layout, Order, Pad, Same, Skew, Xor
from ptxaudit.review.fix.naming import (
    cute_name,
    formula,
    in_words,
    index_cost,
    masked,
    of_elements,
    over,
    term,
    times,
    times_first,
    triton_name,
)
from ptxaudit.review.fix.search import Found
from ptxaudit.review.fix.structures import structure_members

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
]  # the indices of an element -> the expression that names it, None where there is none


class Edit(Record):
    """Text that takes the place of a part of a source file."""

    start: int
    end: int
    text: str


class Rewrite(Record):
    """A layout in words and code.

    summary: one phrase; declaration: new; element: names an element, None where only a formula of bytes can be given;
    formula: of bytes. edits: of the declaration, for a patch; in_place: accesses stay as they are; instructions: more
    for an index, as written; extra: further lines of code. why_not: why no source can be changed automatically, ""
    where it can. complete: all accesses can be written so.
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


def rewrite(found: Found, array: Array, declared: Declared | None, align: int = 0) -> Rewrite:
    """The code of a layout that was found for an array. align: bytes that its beginning has to be a multiple of, 0
    where it is already.
    """
    written = _layout(found.layout, array, declared)
    written = replace(written, complete=_complete(written, declared))
    if align and declared is not None and written.declaration:
        start = declared.declaration.statement.start
        edits = tuple(edit for edit in written.edits if edit.start != start)
        if len(edits) == len(written.edits):  # a statement that is replaced as a whole has its own
            edits = (Edit(start, start, f"__align__({align}) "), *edits)
            written = replace(written, declaration=f"__align__({align}) {written.declaration}", edits=edits)
    return _narrower(found, array, written) if any(found.parts) else written


def _complete(code: Rewrite, declared: Declared | None) -> bool:
    """Every access of the source has an expression."""
    if declared is None or not code.declaration:
        return False
    if code.in_place or code.element is None:
        return True
    accesses = declared.text.accesses(declared.declaration)
    return bool(accesses) and all(
        code.element([index.text for index in access.indices]) is not None for access in accesses
    )


def _layout(layout: Layout, array: Array, declared: Declared | None) -> Rewrite:
    if any(use.fragment for use in array.uses):
        assert isinstance(layout, Pad)  # no other keeps the rows of a fragment
        return _of_fragments(layout, array, declared)
    if declared is None or not declared.dims or array.part or array.others:
        return _bytes(layout, array, declared)
    match layout:
        case Pad():
            return _padded(layout, array, declared)
        case Xor():
            return _swizzled(layout, array, declared)
        case Chain():
            return _cut_and_swizzled(layout, array, declared)
        case Skew():
            return _skewed(layout, array, declared)
        case Order():
            return _ordered(layout, array, declared)
    return Rewrite("narrow", "", _declared(declared, None), "", in_place=True)


def _of_fragments(layout: Pad, array: Array, declared: Declared | None) -> Rewrite:
    """Rows of another length, where wmma accesses are specified it."""
    ((row, more),) = layout.rows
    element = declared.element if declared is not None else 1
    if declared is not None and row in declared.rows:
        return replace(
            _padded(layout, array, declared), why_not="the leading dimension of the wmma calls has to change with it"
        )
    unit = "bytes" if declared is None else _elements(declared, 2).partition(" ")[2]
    summary = (
        f"rows of {(row + more) // element} {unit} in the place of {row // element}, also as the leading dimension of"
        " the wmma calls"
    )
    return Rewrite(
        "pad", summary, "", formula(layout), why_not="the leading dimension of the wmma calls has to change with it"
    )


# --- what all have in common --------------------------------------------------------------------


def _declared(declared: Declared, dims: Sequence[str] | None) -> str:
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
    """The text of a number and some more: "32" -> "33", "Tile" -> "Tile + 1"."""
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


def _row_number(indices: Sequence[str], dims: Sequence[int], least: int = 0) -> str:
    """The number of a row by the indices before the column. least: only so many low bits of it matter (0 = all)."""
    if len(indices) == 1 or least and dims[len(indices) - 1] % least == 0:
        return term(indices[-1])
    text = term(indices[0])
    for index, dim in zip(indices[1:], dims[1:]):
        text = f"({text} * {dim} + {term(index)})"
    return text


def _elements(declared: Declared, count: int) -> str:
    """ "33 floats"."""
    kind = declared.type
    return f"{count} {_PLURALS.get(kind, 'elements')}" if count != 1 else f"1 {kind}"


def _bytes(layout: Layout, array: Array, declared: Declared | None) -> Rewrite:
    """A layout that is no expression of the source: its formula."""
    why = (
        "several arrays are accessed by one instruction and have to be laid out alike"
        if array.others
        else (
            "the array is a part of a larger variable"
            if array.part
            else "its declaration was not found"
            if declared is None
            else "its rows are not those of the declaration"
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
    """The same layout as a map of the array's elements, for a source that does not name them by the rows of its
    declaration: why.
    """
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
            f"{'add' if more > 0 else 'cut'} {_elements(declared, abs(more))} {'after' if more > 0 else 'of'} each"
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
        extra=(*lines, *_by_other_names(layout, declared), f"// (left to write by hand: {why})"),
        why_not=why,
        complete=False,
    )


def _by_other_names(layout: Layout, declared: Declared) -> Iterator[str]:
    """The names in the declaration that rows have their length by, which may be what to change."""
    for row, more in layout.rows if isinstance(layout, Pad) else ():
        if row in declared.rows:
            at = declared.rows.index(row)
            dim, below = (
                declared.declaration.dims[len(declared.dims) - 1 - at],
                (declared.rows[at - 1] if at else declared.element),
            )
            if not dim.text.isdecimal() and more % below == 0:
                yield f"// {dim.text} is {row // below}: where the indices use it, too, make it {(row + more) // below}"


# --- padding ------------------------------------------------------------------------------------


def _padded(layout: Pad, array: Array, declared: Declared) -> Rewrite:
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
        below = int(layout.place(np.array(below)))  # as long as it is then
        if at is None or more % below:
            return _padded_index(layout, array, declared)
        dims[at] = plus(dims[at], more // below)
        span = declared.declaration.dims[at]
        edits.append(Edit(span.start, span.end, dims[at]))
        verb = "pad" if more > 0 else "cut"
        words.append(
            f"{verb} the row to {_elements(declared, declared.dims[at] + more // below)}"
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
        _declared(declared, dims),
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
    """More elements after so many, in the index: of arrays of one dimension."""
    e = declared.element
    if len(declared.dims) > 1 or any(row % e or more % e or more < 0 for row, more in layout.rows):
        return _bytes(layout, array, declared)
    steps = [(row // e, more // e) for row, more in layout.rows]
    text = declared.declaration.dims[0].text
    used = array.used if array.used is not None else array.size or 0
    size = -(-layout.size(used) // e)
    if size <= declared.dims[0]:
        new = text  # it is declared long enough already
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

    summary = " and ".join(
        f"rows of {_elements(declared, every + more)} in the place of {every}" for every, more in steps
    )
    extra = _by_name(steps, text, declared) if len(steps) == 1 else ()
    span = declared.declaration.dims[0]
    return Rewrite(
        "pad",
        summary,
        _declared(declared, [new]),
        formula(layout),
        element,
        (Edit(span.start, span.end, new),) if new != text else (),
        instructions=index_cost(layout),
        extra=extra,
        triton=triton_name(layout, e),
    )


def _by_name(steps: list[tuple[int, int]], text: str, declared: Declared) -> tuple[str, ...]:
    """A name in the array's size that is the length of its rows, which it may be simpler to change."""
    from ptxaudit.review.fix.cpp import value_of

    ((every, more),) = steps
    known = {**declared.text.constants, **declared.names}
    names = [name for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)) if value_of(name, known) == every]
    return tuple(
        f"// or {name} = {every + more} in the place of {every}, where it is the distance between rows"
        for name in names
    )


def _padded_structure(layout: Pad, declared: Declared) -> Rewrite:
    """A member more in a structure, where its own declaration is in the same file and nothing else uses it."""
    more = layout.rows[0][1]
    kind = declared.type
    member = f"char padding[{more}]" if more % 4 else "float padding" if more == 4 else f"float padding[{more // 4}]"
    edit, why = _structure_edit(declared, member)
    return Rewrite(
        "pad",
        f"pad {kind} to {declared.element + more} bytes",
        _declared(declared, None),
        formula(layout),
        lambda indices: _plain(declared.declaration, indices),
        (edit,) if edit else (),
        in_place=True,
        extra=(f"struct {kind} {{ … {member}; }};",),
        why_not=why,
    )


def _structure_edit(declared: Declared, member: str) -> tuple[Edit | None, str]:
    """The edit that adds a member to the structure; or why there is none."""
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
        return None, f"{name} is no plain structure"
    uses = [
        at
        for at, token in enumerate(text.tokens)
        if token.text == name and token.kind == "name" and at not in (bodies[0] + 1,)
    ]
    shared = [d for d in text.declarations if d.type.text == name]
    if any(not any(d.statement.start <= text.tokens[at].start < d.statement.end for d in shared) for at in uses):
        return None, f"{name} is used elsewhere too, where its size may matter"
    place = text.tokens[end].start
    blank = " " if text.text[place - 1] != " " else ""
    return Edit(place, place, f"{blank}{member}; "), ""


# --- swizzles and skews -------------------------------------------------------------------------


def _on_columns(layout: Xor, declared: Declared) -> Xor | None:
    """The same map on the last dimension's rows, where it is one of these."""
    if len(declared.dims) < 2:
        return None
    row = declared.rows[0]
    if layout.row == row:
        same = layout
    elif row > layout.row and row & row - 1 == 0 and row % layout.row == 0:
        inside = (row // layout.row).bit_length() - 1
        if any(layout.images[:inside]):
            return None
        same = Xor(row, layout.images[inside:])
    elif layout.row % row == 0 and (layout.row // row) & (layout.row // row - 1) == 0:
        same = Xor(row, (0,) * ((layout.row // row).bit_length() - 1) + layout.images)
    else:
        return None
    return same if all(image < (row & -row) and image % declared.element == 0 for image in same.images) else None


def _swizzled(layout: Xor, array: Array, declared: Declared) -> Rewrite:
    e, name, dims = declared.element, declared.declaration.name, declared.dims
    if e & e - 1:
        return _bytes(layout, array, declared)
    low = e.bit_length() - 1
    columns = _on_columns(layout, declared)
    if columns is not None:
        runs = [(shift - low, mask // e) for shift, mask in columns.runs]

        def element(indices: Sequence[str]) -> str | None:
            if len(indices) != len(dims):
                return None
            row = _row_number(indices[:-1], dims[:-1], 1 << len(columns.images))
            column = " ^ ".join([term(indices[-1]), *(masked(row, *run) for run in runs)])
            return name + "".join(f"[{index}]" for index in indices[:-1]) + f"[{column}]"

        shown = columns
    elif len(dims) == 1 and not any(image % e for image in layout.images) and layout.row & layout.row - 1 == 0:
        inside = (layout.row // e).bit_length() - 1
        runs = [(shift - low - inside, mask // e) for shift, mask in layout.runs]

        def element(indices: Sequence[str]) -> str | None:
            return (
                None
                if len(indices) != 1
                else f"{name}[{' ^ '.join([term(indices[0]), *(masked(indices[0], *run) for run in runs)])}]"
            )

        shown = layout
    else:
        return _bytes(layout, array, declared)
    example = element(["i"] if len(dims) == 1 else [*"stuv"[: len(dims) - 2], "r", "c"]) or ""
    return Rewrite(
        "swizzle",
        f"swizzle: {example}",
        _declared(declared, None),
        formula(layout),
        element,
        instructions=sum(1 if shift == 0 else 2 for shift, _ in runs),
        cute=cute_name(layout, e),
        triton=triton_name(shown, e),
    )


def _cut_and_swizzled(layout: Chain, array: Array, declared: Declared) -> Rewrite:
    """Rows of another length first, then a swizzle of these."""
    first = _padded(layout.first, array, declared)
    if not first.edits or not first.in_place:
        return _bytes(layout, array, declared)
    change = layout.first.rows[0]
    at = len(declared.dims) - 1 - declared.rows.index(change[0])
    below = declared.element if at == len(declared.dims) - 1 else declared.rows[declared.rows.index(change[0]) - 1]
    dims = tuple(dim + change[1] // below if k == at else dim for k, dim in enumerate(declared.dims))
    second = _swizzled(layout.second, array, replace(declared, dims=dims))
    if second.element is None:
        return _bytes(layout, array, declared)
    return replace(
        second,
        summary=f"{first.summary.replace('pad', 'cut')} and {second.summary}",
        declaration=first.declaration,
        edits=first.edits,
        formula=formula(layout),
    )


def _skewed(layout: Skew, array: Array, declared: Declared) -> Rewrite:
    e, name, dims = declared.element, declared.declaration.name, declared.dims
    if layout.step % e or layout.row != (declared.rows[0] if len(dims) > 1 else 0):
        return _bytes(layout, array, declared)
    columns, step = dims[-1], layout.step // e

    def element(indices: Sequence[str]) -> str | None:
        if len(indices) != len(dims):
            return None
        row = _row_number(indices[:-1], dims[:-1], columns if columns & columns - 1 == 0 else 0)
        turned = f"{term(indices[-1])} + {row if step == 1 else f'{row} * {step}'}"
        column = f"({turned}) & {columns - 1}" if columns & columns - 1 == 0 else f"({turned}) % {columns}"
        return name + "".join(f"[{index}]" for index in indices[:-1]) + f"[{column}]"

    example = element([*"stuv"[: len(dims) - 2], "r", "c"]) or ""
    return Rewrite(
        "skew", f"skew: {example}", _declared(declared, None), formula(layout), element, instructions=index_cost(layout)
    )


# --- the order of dimensions, structures --------------------------------------------------------


def _ordered(layout: Order, array: Array, declared: Declared) -> Rewrite:
    e, d = declared.element, declared.declaration
    if layout.row == e:
        return _split(layout, declared)
    if len(declared.dims) != 2 or layout.row != declared.rows[0] or layout.unit != e or layout.more % e:
        return _bytes(layout, array, declared)
    dims = [d.dims[1].text, plus(d.dims[0].text, layout.more // e)]

    def element(indices: Sequence[str]) -> str | None:
        return f"{d.name}[{indices[1]}][{indices[0]}]" if len(indices) == 2 else None

    words = f"exchange the dimensions: {d.name}[c][r]" + (
        f", {declared.dims[0] + layout.more // e} a row" if layout.more else ""
    )
    edits = (Edit(d.dims[0].start, d.dims[0].end, dims[0]), Edit(d.dims[1].start, d.dims[1].end, dims[1]))
    return Rewrite("order", words, _declared(declared, dims), formula(layout), element, edits)


def _split(layout: Order, declared: Declared) -> Rewrite:
    """A structure's members in arrays of their own. (Padding between them would be an array of its own size.)"""
    d, more = declared.declaration, layout.more
    members = structure_members(declared)
    summary = f"split {declared.type} into {layout.row // layout.unit} arrays" + (
        f", {more} bytes between them" if more else ""
    )
    plain = len(members) * layout.unit == layout.row and all(size == layout.unit for _, _, size in members)
    if not plain:
        return Rewrite(
            "split",
            summary,
            "",
            formula(layout),
            why_not=f"{declared.type} is no plain structure of members of {layout.unit} bytes",
        )
    dim = "".join(f"[{span.text}]" for span in d.dims)
    size = members[0][2]
    count = (
        "".join(f"[{plus(span.text, more // size)}]" if k == 0 else f"[{span.text}]" for k, span in enumerate(d.dims))
        if more and len(d.dims) == 1
        else dim
    )
    lines = [f"__shared__ {kind} {d.name}_{member}{count};" for member, kind, _ in members]
    why = "" if not more or len(d.dims) == 1 and more % size == 0 else "padding between arrays of several dimensions"
    return Rewrite(
        "split",
        summary,
        " ".join(lines),
        formula(layout),
        None,
        (Edit(d.statement.start, d.statement.end, " ".join(lines)),),
        extra=tuple(f"{d.name}[i].{member}  ->  {d.name}_{member}[i]" for member, _, _ in members),
        why_not=why or ("" if d.alone else "the statement declares other variables too"),
    )


# --- other accesses -----------------------------------------------------------------------------


def accessed(changed: Changed, array: Array, declared: Declared | None) -> Rewrite:
    """Accesses that become others, of an array that stays."""
    text = _declared(declared, None) if declared is not None and declared.dims else ""
    if changed.align > array.align and text:
        text = f"__align__({changed.align}) {text}"
    return Rewrite(
        changed.kind,
        changed.summary,
        text,
        "",
        extra=changed.lines,
        in_place=True,
        why_not="which expressions these are is for the author to say",
    )


# --- narrower accesses --------------------------------------------------------------------------


def _narrower(found: Found, array: Array, written: Rewrite) -> Rewrite:
    """Vectors that are stored or loaded piece by piece, on top of a layout."""
    taken = [(use, part) for use, part in zip(array.uses, found.parts) if part]
    wide, part = taken[0][0].access.width or 1, taken[0][1]
    kinds = " and ".join(dict.fromkeys(use.access.access for use, _ in taken))
    lines = ", ".join(
        str(line) for line in dict.fromkeys(use.site.source.line for use, _ in taken if use.site.source is not None)
    )
    summary = f"{kinds} {part} bytes at a time instead of {wide}" + (
        f", and {written.summary}" if written.summary else ""
    )
    pieces = wide // part
    extra = (
        (
            f"// line {lines}: {pieces} accesses of {part} bytes in the place of one of {wide}"
            if lines
            else f"// {pieces} accesses of {part} bytes"
        ),
    )
    return Rewrite(
        "narrow",
        summary,
        written.declaration,
        written.formula,
        written.element,
        written.edits,
        written.in_place,
        written.instructions + pieces - 1,
        (*extra, *written.extra),
        written.cute,
        written.triton,
        why_not="which expressions are vectors is for the author to say",
    )
