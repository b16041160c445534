"""Writes repairs into the source, as a unified diff: each is applied to a copy, compiled and audited again, and offered only if that shows
what was proved.

    Repair(pad the row to 33 floats)  ->  --- a/k.cu … -__shared__ float tile[32][32]; +__shared__ float tile[32][33];
                                          and Applied(wavefronts=256, excess=0), as the audit of the changed source has them

What is compared, kernel by kernel and launch by launch: every request of the changed code to the array is a request of the old code at its
new place, as often; its sites cost what was proved; no other array and no other kernel costs more. Where one of these does not hold the
patch is refused: an access that the source writes in a way that was not understood shows itself here.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ptxaudit.collect import Part, Progress, silent
from ptxaudit.errors import InputError
from ptxaudit.fix.arrays import Array, arrays_of
from ptxaudit.fix.cost import Costs, Figure, NotProvable, residues
from ptxaudit.fix.declared import Declared, declared, plain_variables
from ptxaudit.fix.layouts import SAME, Layout, Order
from ptxaudit.fix.repairs import ArrayRepairs, Candidate, Repair, candidates_of, for_other
from ptxaudit.fix.rewrite import Edit, structure_members
from ptxaudit.fix.shadow import shadowed
from ptxaudit.inputs import expand
from ptxaudit.kernels import Examined
from ptxaudit.options import Options
from ptxaudit.pipeline import examine

_EFFECT = re.compile(r"\+\+|--|[^=!<>]=[^=]|\w\s*\(")
_HUNK_LINES = 3


class Refused(Exception):
    """A source cannot be changed so, or does not show what was proved: why."""


@dataclass(frozen=True, eq=False)
class Applied:
    """One repair in the patch. figure: of the array's sites in the changed code; instructions: of the kernel, before and after."""

    found: ArrayRepairs
    repair: Repair
    figure: Figure
    instructions: tuple[int | None, int | None]


@dataclass(eq=False)
class Patch:
    """diff: unified, "" where nothing could be changed; refused: (array, reason) of those that are not in it."""

    applied: list[Applied] = field(default_factory=list)
    refused: list[tuple[ArrayRepairs, str]] = field(default_factory=list)
    diff: str = ""


def patch(found: Sequence[ArrayRepairs], kernels: Sequence[Examined], inputs: Sequence[str], options: Options, progress: Progress = silent) -> Patch:
    """The best repairs of all arrays that can be written into their sources. found: of `repairs_of`, for these kernels, inputs and options."""
    out, edits, done = Patch(), {}, set()
    inputs = [os.fspath(file) for given in inputs for file in expand(given, options.isa)]
    for one in sorted(found, key=lambda one: -one.now.excess):
        if one.declared is None or one.refused or not one.repairs:
            if one.repairs:
                out.refused.append((one, "its declaration was not found in the source"))
            continue
        if one.declared.place in done:
            continue
        progress(f"patching {one.array.name}")
        try:
            repair, more = _first_written(one)
            together = {file: [*edits.get(file, ()), *changes] for file, changes in {**{f: [] for f in edits}, **more}.items()}
            applied = _tried(one, repair, together, kernels, inputs, options, progress)
        except Refused as why:
            out.refused.append((one, str(why)))
            continue
        edits = together
        done.add(one.declared.place)
        out.applied.append(applied)
    out.diff = _diff(edits, {one.declared.place[0]: one.declared.text.text for one in found if one.declared is not None})
    return out


def _first_written(one: ArrayRepairs) -> tuple[Repair, dict[str, list[Edit]]]:
    """The best repair that can be written, with its edits of each file."""
    why = ""
    for repair in one.repairs:
        try:
            return repair, {one.declared.place[0]: list(edits_of(one.declared, repair))}
        except Refused as reason:
            why = why or f"{repair.code.summary}: {reason}"
    raise Refused(why)


# --- the changes of the text --------------------------------------------------------------------

def edits_of(found: Declared, repair: Repair) -> Iterator[Edit]:
    """What a repair changes in the source. Raises Refused."""
    code, declaration = repair.code, found.declaration
    if code.why_not:
        raise Refused(code.why_not)
    if macros := found.text.macros_with(declaration.name):
        raise Refused(f"{declaration.name} is used in the macro {macros[0]}")
    if not code.in_place and not code.edits and code.element is None:
        raise Refused("it is no expression of the source")
    yield from code.edits
    if code.in_place:
        return
    members = {name for name, _, _ in structure_members(found)} if code.kind == "split" else set()
    for access in found.text.accesses(declaration):
        where = f"line {access.line}"
        indices = [index.text for index in access.indices]
        if any(re.search(rf"\b{re.escape(declaration.name)}\b", index) for index in indices):
            raise Refused(f"{where}: an index of {declaration.name} is read from it")
        if members:
            if access.member not in members or len(indices) != len(declaration.dims):
                raise Refused(f"{where} does not name a member of one element")
            yield Edit(access.start, access.end, f"{declaration.name}_{access.member}" + "".join(f"[{index}]" for index in indices))
            continue
        new = code.element(indices) if code.element is not None else None
        if new is None:
            raise Refused(f"{where} uses {declaration.name} without all its indices")
        if any(_EFFECT.search(index) and new.count(index) > 1 for index in indices):
            raise Refused(f"{where}: an index may have an effect, and would be written twice")
        yield Edit(access.start, access.end, new + (f".{access.member}" if access.member else ""))


def changed(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits. Raises Refused where two of them overlap."""
    out, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise Refused("two changes of one place of the source")
        out += [text[at:edit.start], edit.text]
        at = edit.end
    return "".join([*out, text[at:]])


def _diff(edits: Mapping[str, Sequence[Edit]], texts: Mapping[str, str]) -> str:
    """All changes as one unified diff, paths relative to the working folder where they lie in it."""
    parts = []
    for file, changes in edits.items():
        if not changes:
            continue
        name = os.path.relpath(file) if not os.path.relpath(file).startswith("..") else os.path.realpath(file).lstrip("/")
        before, after = texts[file].splitlines(keepends=True), changed(texts[file], changes).splitlines(keepends=True)
        lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=_HUNK_LINES))
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


# --- the changed source -------------------------------------------------------------------------

def _tried(one: ArrayRepairs, repair: Repair, edits: Mapping[str, Sequence[Edit]], before: Sequence[Examined], inputs: Sequence[str],
           options: Options, progress: Progress) -> Applied:
    """The repair, as the audit of the changed source shows it. Raises Refused."""
    texts = {file: changed(one.examined.lines.text(file) or "", changes) for file, changes in edits.items()}
    part = Part()
    try:
        with shadowed(texts, inputs, options) as (files, elsewhere):
            after = list(examine(files, replace(elsewhere, keep=True, cache=False), part, progress))
    except (InputError, OSError) as error:
        raise Refused(f"the changed source cannot be audited: {error}") from None
    if part.problems:
        raise Refused(f"the changed source cannot be audited: {part.problems[0].what}")
    new = _same_kernel(one.examined, after)
    if new is None:
        raise Refused("the changed source has another kernel of this name, or none")
    mine = _parts_of(one, repair, arrays_of(new, _plain(new)))
    expected = _requests([(one.array, 0)], repair.found.layout, _columns(repair, one))
    got = _requests(mine, SAME, None)
    if expected is not None and got is not None and expected != got:
        raise Refused(f"the changed source accesses other places than those of the repair: {_unlike(expected, got)}")
    figure = _figure(new, [array for array, _ in mine])
    if (figure.low, figure.high) != (repair.figure.low, repair.figure.high):
        raise Refused(f"the changed source costs {figure.high:,} wavefronts, and {repair.figure.high:,} were proved")
    if worse := _worse(before, after) or _siblings(one, repair, before, after):
        raise Refused(worse)
    return Applied(one, repair, figure, (one.examined.entry.instructions, new.entry.instructions))


def _worse(before: Sequence[Examined], after: Sequence[Examined]) -> str:
    """A kernel that costs more, or of which less is known, than before."""
    for old in before:
        new = _same_kernel(old, after)
        if new is None:
            return f"the changed source has no kernel {old.entry.demangled}"
        was, now = old.entry.totals, new.entry.totals
        if now.wavefronts > was.wavefronts:
            return f"{old.entry.demangled} costs {now.wavefronts:,} wavefronts in the changed source, and {was.wavefronts:,} now"
        if was.complete and not now.complete:
            return f"of {old.entry.demangled} less is known in the changed source"
    return ""


def _siblings(one: ArrayRepairs, repair: Repair, before: Sequence[Examined], after: Sequence[Examined]) -> str:
    """An array of another kernel or instance that the same declaration is of, and that is not laid out as this one is."""
    mine = Candidate(one.examined, one.array, one.declared)
    for old in before:
        for other in candidates_of(old):
            if other.declared is None or other.declared.place != one.declared.place or old is one.examined or other.array.refused:
                continue
            name = old.entry.demangled
            layout = for_other(repair.found.layout, mine, other)
            new = _same_kernel(old, after)
            if layout is None or new is None or repair.code.kind == "split" and other.declared.dims != one.declared.dims:
                return f"{name} has the same declaration with other numbers: change it for one of the two only"
            same = [array for array in arrays_of(new, _plain(new)) if array.variable == other.array.variable]
            parts = _parts_of(replace(one, array=other.array), repair, arrays_of(new, _plain(new))) if repair.code.kind == "split" else [(array, 0) for array in same]
            expected, got = _requests([(other.array, 0)], layout, _columns(repair, one)), _requests(parts, SAME, None)
            if expected is not None and got is not None and expected != got:
                return f"in {name} the changed source accesses other places: {_unlike(expected, got)}"
    return ""


def _same_kernel(old: Examined, after: Sequence[Examined]) -> Examined | None:
    found = [new for new in after if new.entry.name == old.entry.name and new.entry.isa == old.entry.isa and new.launch == old.launch]
    return found[0] if found else None


def _plain(examined: Examined) -> list[str]:
    sizes = {v.name: v.size for v in examined.function.variables if v.space.startswith("shared") and v.size}
    return list(plain_variables({name: where for name, size in sizes.items() if (where := declared(name, size, examined)) is not None}))


def _columns(repair: Repair, one: ArrayRepairs) -> int | None:
    """Bytes of each of the arrays that a structure was split into."""
    layout = repair.found.layout
    return layout.column if repair.code.kind == "split" and isinstance(layout, Order) else None


def _parts_of(one: ArrayRepairs, repair: Repair, arrays: Sequence[Array]) -> list[tuple[Array, int]]:
    """The arrays that the changed source has in the place of the old one, each with its number."""
    if repair.code.kind == "split":
        names = [f"{one.array.name}_{member}" for member, _, _ in structure_members(one.declared)]
        return [(array, names.index(array.name)) for array in arrays if array.name in names]
    return [(array, 0) for array in arrays if array.variable == one.array.variable]


def _requests(arrays: Sequence[tuple[Array, int]], layout: Layout, column: int | None) -> Counter | None:
    """How often each request comes under a layout: (access, bytes, number of the array, places, lanes) -> times, 1 where that is not known.
    None where not all places are known. column: bytes of each of the arrays that this one becomes."""
    out: Counter = Counter()
    for array, number in arrays:
        for use in array.uses:
            for r in use.requests:
                if not all(move.every for move in r.moves):
                    return None
                moved, often = residues(r.moves, None)
                for offset in moved:
                    places = np.where(r.active, layout.place(np.where(r.active, r.offsets + offset, 0)), 0)
                    times = np.ones(len(places), np.int64) if r.weights is None else r.weights // len(moved)
                    for row, on, count in zip(places, r.active, times):
                        part = number if column is None else int(row[on][0] // column)
                        inside = row if column is None else np.where(on, row % column, 0)
                        key = use.access.access, use.access.width, part, inside.tobytes(), on.tobytes()
                        out[key] = out[key] + int(count) if r.weights is not None else 1
    return out


def _unlike(expected: Counter, got: Counter) -> str:
    """The first difference, in words."""
    missing, more = expected - got, got - expected
    if missing:
        access, width, *_ = next(iter(missing))
        return f"a {access} of {width} bytes is not where it should be"
    access, width, *_ = next(iter(more))
    return f"there is a {access} of {width} bytes that was not there"


def _figure(examined: Examined, arrays: Sequence[Array]) -> Figure:
    """What the sites of the arrays cost."""
    try:
        return sum((Costs(examined.machine, array.uses, array.align).total(SAME) for array in arrays), Figure())
    except NotProvable as why:
        raise Refused(f"nothing is proved of the changed source: {why}") from None
