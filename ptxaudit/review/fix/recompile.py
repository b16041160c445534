"""Compiles and audits the changed source of a repair, to check that it has the layout that was proved.

    tile[32][33] instead of tile[32][32]      every request of the new code is one of the old code at its new
                                                   place, as often: shown
    the same, with accesses t[0][32 * r + c]       requests are where they were: Refused, a declaration alone does
                                                   nothing there

Kernel by kernel and launch by launch, this compares the requests to the array, the cost of its sites, and every other
kernel with the same declaration. If addresses have unknown parts, requests are compared at all residues modulo the
layout's period (`layouts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part, Progress
from ptxaudit.pipeline.examine import examine
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.review.fix.arrays import Array, arrays_of
from ptxaudit.review.fix.candidates import Repair, candidates_of
from ptxaudit.review.fix.cost import Costs, Figure, NotProvable, canonical, residues
from ptxaudit.review.fix.declared import declared, plain_variables
from ptxaudit.review.fix.layouts import SAME, Layout, Order
from ptxaudit.review.fix.repairs import ArrayRepairs, for_other
from ptxaudit.review.fix.shadow import shadowed
from ptxaudit.review.fix.structures import structure_members

BLOCKS = (
    (32, 32, 1),
    (32, 16, 1),
    (32, 8, 1),
    (16, 16, 1),
    (8, 8, 1),
    (256, 1, 1),
    (128, 1, 1),
    (64, 1, 1),
    (32, 1, 1),
)  # tried if the block's shape is not specified


class Refused(Exception):
    """The reason why a source cannot be changed in this way, or does not confirm what was proved."""


def recompiled(texts: Mapping[str, str], inputs: Sequence[str], options: Options, progress: Progress) -> list[Examined]:
    """The kernels of the inputs with these texts in place of the files. Raises Refused."""
    part = Part()
    try:
        with shadowed(texts, inputs, options) as (files, elsewhere):
            after = list(examine(files, replace(elsewhere, keep=True, cache=False), part, progress))
    except (InputError, OSError) as error:
        raise Refused(f"the changed source cannot be audited: {error}") from None
    if part.problems:
        raise Refused(f"the changed source cannot be audited: {part.problems[0].what}")
    return after


class Again:
    """Examines the inputs again: unchanged, with a launch for kernels whose block shape is not specified, and with
    other texts. Results are cached for the other arrays and for instances of one template."""

    def __init__(self, files: Sequence[str], options: Options, progress: Progress):
        self.files, self.options, self.progress = files, options, progress
        self._found: dict[tuple[Any, ...], list[Examined]] = {}

    def of(self, kernels: Sequence[Examined]) -> list[str]:
        """The files that contain the kernels."""
        return [file for file in self.files if any(examined.entry.input == file for examined in kernels)]

    def examined(
        self, kernels: Sequence[Examined], texts: Mapping[str, str], block: tuple[int, int, int] | None
    ) -> list[Examined]:
        """These kernels with these texts in place of the files. Raises Refused."""
        names = tuple(dict.fromkeys(examined.entry.name for examined in kernels))
        key = tuple(texts.items()), names, block
        if key not in self._found:
            options = replace(self.options, kernels=names)
            if block is not None:
                options = replace(options, launches=tuple(Launch(name, block=block) for name in names))
            self._found[key] = recompiled(texts, self.of(kernels), options, self.progress)
        return self._found[key]


def with_a_block(
    one: ArrayRepairs, kernels: Sequence[Examined], again: Again
) -> tuple[tuple[int, int, int], ArrayRepairs, list[Examined]]:
    """A block shape with which all accesses are inside the array, and the results with it: how a source names
    elements does not depend on the shape. Raises Refused if there is none."""
    for block in BLOCKS:
        before = again.examined(kernels, {}, block)
        examined = same_kernel(one.examined, before, launch=False)
        if examined is None:
            continue
        arrays = [
            c.array
            for c in candidates_of(examined)
            if c.array.variable == one.array.variable and c.array.start == one.array.start
        ]
        if (
            len(arrays) == 1
            and not arrays[0].refused
            and {use.index for use in arrays[0].uses} == {use.index for use in one.array.uses}
        ):
            return block, replace(one, examined=examined, array=arrays[0]), before
    raise Refused("specify the block shape (--block) to look it up in the source")


def shown(
    one: ArrayRepairs, repair: Repair, before: Sequence[Examined], after: Sequence[Examined]
) -> tuple[Examined, list[Array]]:
    """The kernel of the changed source, and the arrays there that replace the old one, whose layout is that of the
    repair. Raises Refused."""
    new = same_kernel(one.examined, after)
    if new is None:
        raise Refused("the changed source has no kernel of this name, or a different one")
    mine = _parts_of(one, repair, arrays_of(new, _plain(new)))
    if refused := next((array.refused for array, _ in mine if array.refused), ""):
        raise Refused(f"in the changed source, {refused}")
    if unlike := _unlike_places([(one.array, 0)], mine, repair.found.layout, _columns(repair)):
        raise Refused(f"the changed source accesses other addresses than the repair: {unlike}")
    if other := _siblings(one, repair, before, after):
        raise Refused(other)
    return new, [array for array, _ in mine]


def figure_of(examined: Examined, arrays: Sequence[Array]) -> Figure:
    """The cost of the arrays' sites. Raises Refused."""
    try:
        return sum((Costs(examined.machine, array.uses, array.align).total(SAME) for array in arrays), Figure())
    except NotProvable as why:
        raise Refused(f"nothing is proved for the changed source: {why}") from None


def _siblings(one: ArrayRepairs, repair: Repair, before: Sequence[Examined], after: Sequence[Examined]) -> str:
    """The reason if an array of another kernel or instance with the same declaration does not have the repair's
    layout."""
    if one.declared is None:
        return ""
    for old in before:
        if old is one.examined:
            continue
        layouts = {
            variable: for_other(repair.found.layout, one.declared, found)
            for variable, found in declared(old).items()
            if found.place == one.declared.place
        }
        if layouts and (why := _sibling(one, repair, old, layouts, after)):
            return why
    return ""


def _sibling(
    one: ArrayRepairs, repair: Repair, old: Examined, layouts: Mapping[str, Layout | None], after: Sequence[Examined]
) -> str:
    """The same for the arrays of one kernel. layouts: what the change of the source is for each of them, whether its
    requests are known or not."""
    name, new = old.entry.demangled, same_kernel(old, after)
    others = [c for c in candidates_of(old) if c.array.variable in layouts]
    mine = one.declared.dims if one.declared is not None else ()
    split = repair.code.kind == "split" and any(c.declared and c.declared.dims != mine for c in others)
    if new is None or split or None in layouts.values():
        return f"{name} has the same declaration with other values: change it for one of the two only"
    for other in others:
        layout = layouts[other.array.variable]
        if other.array.refused or layout is None:
            continue
        parts = _parts_of(replace(one, array=other.array), repair, arrays_of(new, _plain(new)))
        if refused := next((array.refused for array, _ in parts if array.refused), ""):
            return f"in {name} of the changed source, {refused}"
        if unlike := _unlike_places([(other.array, 0)], parts, layout, _columns(repair)):
            return f"in {name} the changed source accesses other addresses: {unlike}"
    return ""


def same_kernel(old: Examined, after: Sequence[Examined], launch: bool = True) -> Examined | None:
    """The corresponding kernel of the changed source, None if there is none, or more than one. launch: it must be
    under the same one."""
    found = [
        new
        for new in after
        if new.entry.name == old.entry.name
        and new.entry.isa == old.entry.isa
        and (new.launch == old.launch or not launch)
    ]
    return found[0] if len(found) == 1 else None


def _plain(examined: Examined) -> list[str]:
    return list(plain_variables(declared(examined)))


def _columns(repair: Repair) -> int | None:
    """Bytes of each of the arrays into which a structure was split."""
    layout = repair.found.layout
    return layout.column if repair.code.kind == "split" and isinstance(layout, Order) else None


def _parts_of(one: ArrayRepairs, repair: Repair, arrays: Sequence[Array]) -> list[tuple[Array, int]]:
    """The arrays in the changed source that replace the old one, each with its number."""
    if repair.code.kind == "split" and one.declared is not None:
        names = [f"{one.array.name}_{member}" for member, _, _ in structure_members(one.declared)]
        return [(array, names.index(array.name)) for array in arrays if array.name in names]
    return [(array, 0) for array in arrays if array.variable == one.array.variable]


# --- requests -----------------------------------------------------------------------------------

Numbered = Sequence[tuple[Array, int]]


def _unlike_places(old: Numbered, new: Numbered, layout: Layout, column: int | None) -> str:
    """How requests to the new arrays differ from those to the old one under a layout; "" if they do not."""
    try:
        if all(
            move.every
            for arrays in (old, new)
            for array, _ in arrays
            for use in array.uses
            for r in use.requests
            for move in r.moves
        ):
            return _difference(_requests(old, layout, column), _requests(new, SAME, None))
        if column is not None:
            return "the requests are unknown"
        begin, image = (
            (0, 1) if layout.period is None else layout.place(np.array([0, layout.period], np.int64)).tolist()
        )
        period = None if layout.period is None else image - begin
        return _difference(_residues_of(old, layout, layout.period, period), _residues_of(new, SAME, period, period))
    except NotProvable as why:
        return str(why)


def _requests(arrays: Numbered, layout: Layout, column: int | None) -> Counter[Any]:
    """The number of times that each request occurs under a layout: (access, bytes, number of the array, places,
    lanes) -> times, 1 if unknown. column: bytes of each array, if this one is split."""
    out: Counter[Any] = Counter()
    for array, number in arrays:
        for use in array.uses:
            for r in use.requests:
                moved, _ = residues(r.moves, None)
                for offset in moved:
                    places = np.where(r.active, layout.place(np.where(r.active, r.offsets + offset, 0)), 0)
                    times = np.ones(len(places), np.int64) if r.weights is None else r.weights // len(moved)
                    for row, on, count in zip(places, r.active, times):
                        part = number if column is None else int(row[on][0] // column)
                        inside = row if column is None else np.where(on, row % column, 0)
                        key = use.access.access, use.access.width, part, inside.tobytes(), on.tobytes()
                        out[key] = out[key] + int(count) if r.weights is not None else 1
    return out


def _residues_of(arrays: Numbered, layout: Layout, period: int | None, image: int | None) -> Counter[Any]:
    """1 for each request at each residue of the unknown parts modulo a period, at its new place modulo the period's
    image."""
    out: Counter[Any] = Counter()
    for array, number in arrays:
        for use in array.uses:
            for r in use.requests:
                for offset in residues(r.moves, period)[0]:
                    moved = np.where(r.active, r.offsets + offset, 0)
                    low = np.where(r.active, moved, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
                    below = (
                        0 if period is None else np.maximum(0, -(low // period)) * period
                    )  # places are defined for bytes from 0 on
                    places = canonical(
                        np.where(r.active, layout.place(np.where(r.active, moved + below, 0)), 0), r.active, image
                    )
                    for row, on in zip(places, r.active):
                        out[use.access.access, use.access.width, number, row.tobytes(), on.tobytes()] = 1
    return out


def _difference(expected: Counter[Any], got: Counter[Any]) -> str:
    """The first difference, in words; "" if there is none."""
    missing, more = expected - got, got - expected
    if missing:
        access, width, *_ = next(iter(missing))
        return f"a {access} of {width} bytes is not at its expected position"
    if more:
        access, width, *_ = next(iter(more))
        return f"there is a new {access} of {width} bytes"
    return ""
