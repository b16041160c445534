"""Writes a layout as C++: the new declaration of the array, and the new expressions for its elements.

    Pad(128 -> 132), float tile[32][32]        float tile[32][33];       tile[y][x]                unchanged
    Xor(128; 4, 8, …), float tile[32][32]      float tile[32][32];       tile[y][x]  ->  tile[y][x ^ (y & 31)]
    Order(8), struct Two s[256]                float s_a[256], s_b[256]; s[i].b      ->  s_b[i]

A layout is a map of bytes; it becomes an expression if it moves whole elements, with the declaration's rows.
Otherwise only the formula of the map is written, in bytes. Nothing here is proved: `patch` compiles and checks the
code.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from msgspec.structs import replace

from ptxaudit.review.fix.accesses import Changed
from ptxaudit.review.fix.arrays import Array
from ptxaudit.review.fix.declared import Declared
from ptxaudit.review.fix.layouts import Chain, Layout, Order, Pad, Skew, Xor, permutes
from ptxaudit.review.fix.naming import (
    cute_name,
    formula,
    index_cost,
    masked,
    term,
    triton_name,
)
from ptxaudit.review.fix.padding import padded
from ptxaudit.review.fix.search import Found
from ptxaudit.review.fix.structures import structure_members
from ptxaudit.review.fix.written import Edit, Rewrite, declared_with, elements_in, in_bytes, plus, row_number


def rewrite(found: Found, array: Array, declared: Declared | None, align: int = 0) -> Rewrite:
    """The code of a layout that was found for an array. align: the alignment in bytes that its beginning needs, 0 if
    it has that already."""
    written = _layout(found.layout, array, declared)
    written = replace(written, complete=_complete(written, declared))
    if align and declared is not None and written.declaration:
        start = declared.declaration.statement.start
        edits = tuple(edit for edit in written.edits if edit.start != start)
        if len(edits) == len(written.edits):  # a statement that is replaced as a whole has its own edit
            edits = (Edit(start, start, f"__align__({align}) "), *edits)
            written = replace(written, declaration=f"__align__({align}) {written.declaration}", edits=edits)
    return _narrower(found, array, written) if any(found.parts) else written


def _complete(code: Rewrite, declared: Declared | None) -> bool:
    """Every access in the source has an expression."""
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
        assert isinstance(layout, Pad)  # no other layout keeps the rows of a fragment
        return _of_fragments(layout, array, declared)
    if declared is None or not declared.dims or array.part or array.others:
        return in_bytes(layout, array, declared)
    match layout:
        case Pad():
            return padded(layout, array, declared)
        case Xor():
            return _swizzled(layout, array, declared)
        case Chain():
            return _cut_and_swizzled(layout, array, declared)
        case Skew():
            return _skewed(layout, array, declared)
        case Order():
            return _ordered(layout, array, declared)
    return Rewrite("narrow", "", declared_with(declared, None), "", in_place=True)


def _of_fragments(layout: Pad, array: Array, declared: Declared | None) -> Rewrite:
    """Rows of another length, where these are passed to the wmma accesses."""
    ((row, more),) = layout.rows
    element = declared.element if declared is not None else 1
    if declared is not None and row in declared.rows:
        return replace(
            padded(layout, array, declared), why_not="change the leading dimension of the wmma calls accordingly"
        )
    unit = "bytes" if declared is None else elements_in(declared, 2).partition(" ")[2]
    summary = (
        f"rows of {(row + more) // element} {unit} instead of {row // element}, also as the leading dimension of"
        " the wmma calls"
    )
    return Rewrite(
        "pad", summary, "", formula(layout), why_not="change the leading dimension of the wmma calls accordingly"
    )


# --- swizzles and skews -------------------------------------------------------------------------


def _on_columns(layout: Xor, declared: Declared) -> tuple[Xor, int] | None:
    """The same map as a change of the last index by the number of one of the declaration's rows, if there is one, and
    the number of dimensions between the two: 0 for the last dimension's rows, 1 for planes of these."""
    if len(declared.dims) < 2:
        return None
    row, between = declared.rows[0], 0
    if layout.row in declared.rows:
        same, between = layout, declared.rows.index(layout.row)
    elif row > layout.row and row & row - 1 == 0 and row % layout.row == 0:
        inside = (row // layout.row).bit_length() - 1
        if any(layout.images[:inside]):
            return None
        same = Xor(row, layout.images[inside:])
    elif layout.row % row == 0 and (layout.row // row) & (layout.row // row - 1) == 0:
        same = Xor(row, (0,) * ((layout.row // row).bit_length() - 1) + layout.images)
    else:
        return None
    inside_columns = all(image < (row & -row) and image % declared.element == 0 for image in same.images)
    return (same, between) if inside_columns else None


def swizzle_for(layout: Xor, mine: Declared, theirs: Declared) -> Xor | None:
    """The layout that the expressions of a swizzle are for a declaration with other numbers; None if they leave the
    array there, or depend on the numbers."""
    e, other = mine.element, theirs.element
    if len(mine.dims) == len(theirs.dims) == 1 and layout.size(e * mine.dims[0]) == e * mine.dims[0]:
        row, images = layout.row // e * other, layout.images
    elif len(mine.dims) == len(theirs.dims) == 2 and (found := _on_columns(layout, mine)) is not None:
        row, images = theirs.rows[0], found[0].images
    else:
        return None
    same = Xor(row, tuple(image // e * other for image in images))
    return same if permutes(same, other * prod(theirs.dims)) else None


def _swizzled(layout: Xor, array: Array, declared: Declared) -> Rewrite:
    e, name, dims = declared.element, declared.declaration.name, declared.dims
    if e & e - 1:
        return in_bytes(layout, array, declared)
    low = e.bit_length() - 1
    if (found := _on_columns(layout, declared)) is not None:
        columns, between = found
        before = len(dims) - 1 - between
        runs = [(shift - low, mask // e) for shift, mask in columns.runs]

        def element(indices: Sequence[str]) -> str | None:
            if len(indices) != len(dims):
                return None
            row = row_number(indices[:before], dims[:before], 1 << len(columns.images))
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
        return in_bytes(layout, array, declared)
    example = element(["i"] if len(dims) == 1 else [*"stuv"[: len(dims) - 2], "r", "c"]) or ""
    longer = _whole_rows(layout, declared) if len(dims) == 1 else None
    return Rewrite(
        "swizzle",
        f"swizzle: {example}",
        declared_with(declared, None if longer is None else [longer.text]),
        formula(layout),
        element,
        () if longer is None else (longer,),
        instructions=sum(1 if shift == 0 else 2 for shift, _ in runs),
        cute=cute_name(layout, e),
        triton=triton_name(shown, e),
    )


def _whole_rows(layout: Xor, declared: Declared) -> Edit | None:
    """The dimension of a flat array that ends within a row, all of which a swizzle uses; None if it does not."""
    size = declared.dims[0] * declared.element
    more = (layout.size(size) - size) // declared.element
    span = declared.declaration.dims[0]
    return Edit(span.start, span.end, plus(span.text, more)) if more else None


def _cut_and_swizzled(layout: Chain, array: Array, declared: Declared) -> Rewrite:
    """First rows of another length, then a swizzle of these."""
    first = padded(layout.first, array, declared)
    if not first.edits or not first.in_place:
        return in_bytes(layout, array, declared)
    change = layout.first.rows[0]
    at = len(declared.dims) - 1 - declared.rows.index(change[0])
    below = declared.element if at == len(declared.dims) - 1 else declared.rows[declared.rows.index(change[0]) - 1]
    dims = tuple(dim + change[1] // below if k == at else dim for k, dim in enumerate(declared.dims))
    second = _swizzled(layout.second, array, replace(declared, dims=dims))
    if second.element is None:
        return in_bytes(layout, array, declared)
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
        return in_bytes(layout, array, declared)
    columns, step = dims[-1], layout.step // e

    def element(indices: Sequence[str]) -> str | None:
        if len(indices) != len(dims):
            return None
        row = row_number(indices[:-1], dims[:-1], columns if columns & columns - 1 == 0 else 0)
        turned = f"{term(indices[-1])} + {row if step == 1 else f'{row} * {step}'}"
        column = f"({turned}) & {columns - 1}" if columns & columns - 1 == 0 else f"({turned}) % {columns}"
        return name + "".join(f"[{index}]" for index in indices[:-1]) + f"[{column}]"

    example = element([*"stuv"[: len(dims) - 2], "r", "c"]) or ""
    return Rewrite(
        "skew",
        f"skew: {example}",
        declared_with(declared, None),
        formula(layout),
        element,
        instructions=index_cost(layout),
    )


# --- the order of dimensions, structures --------------------------------------------------------


def _ordered(layout: Order, array: Array, declared: Declared) -> Rewrite:
    e, d = declared.element, declared.declaration
    if layout.row == e:
        return _split(layout, declared)
    if len(declared.dims) != 2 or layout.row != declared.rows[0] or layout.unit != e or layout.more % e:
        return in_bytes(layout, array, declared)
    dims = [d.dims[1].text, plus(d.dims[0].text, layout.more // e)]

    def element(indices: Sequence[str]) -> str | None:
        return f"{d.name}[{indices[1]}][{indices[0]}]" if len(indices) == 2 else None

    words = f"exchange the dimensions: {d.name}[c][r]" + (
        f", {declared.dims[0] + layout.more // e} a row" if layout.more else ""
    )
    edits = (Edit(d.dims[0].start, d.dims[0].end, dims[0]), Edit(d.dims[1].start, d.dims[1].end, dims[1]))
    return Rewrite("order", words, declared_with(declared, dims), formula(layout), element, edits)


def _split(layout: Order, declared: Declared) -> Rewrite:
    """A structure's members in separate arrays. (Padding between them enlarges the arrays.)"""
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
            why_not=f"{declared.type} is not a plain structure of members of {layout.unit} bytes",
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
        why_not=why or ("" if d.alone else "the statement also declares other variables"),
    )


# --- other accesses -----------------------------------------------------------------------------


def accessed(changed: Changed, array: Array, declared: Declared | None) -> Rewrite:
    """The code for changed accesses to an unchanged array."""
    text = declared_with(declared, None) if declared is not None and declared.dims else ""
    if changed.align > array.align and text:
        text = f"__align__({changed.align}) {text}"
    return Rewrite(
        changed.kind,
        changed.summary,
        text,
        "",
        extra=changed.lines,
        in_place=True,
        why_not="the author must identify these expressions",
    )


# --- narrower accesses --------------------------------------------------------------------------


def _narrower(found: Found, array: Array, written: Rewrite) -> Rewrite:
    """Vectors that are stored or loaded piece by piece, in addition to a layout."""
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
            f"// line {lines}: {pieces} accesses of {part} bytes instead of one of {wide}"
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
        why_not="the author must identify the vector expressions",
    )
