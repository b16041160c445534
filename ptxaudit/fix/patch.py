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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ptxaudit.collect import Progress, silent
from ptxaudit.fix.cost import Figure
from ptxaudit.fix.declared import Declared
from ptxaudit.fix.recompile import Refused, figure_of, recompiled, same_kernel, shown
from ptxaudit.fix.repairs import ArrayRepairs, Repair
from ptxaudit.fix.rewrite import Edit, structure_members
from ptxaudit.inputs import expand
from ptxaudit.kernels import Examined
from ptxaudit.options import Options

_EFFECT = re.compile(r"\+\+|--|[^=!<>]=[^=]|\w\s*\(")
_HUNK_LINES = 3


@dataclass(frozen=True, eq=False)
class Applied:
    """One repair in the patch. figure: of the array's sites in the changed code; instructions: of the kernel, before and after."""

    found: ArrayRepairs
    repair: Repair
    figure: Figure
    instructions: tuple[int | None, int | None]


@dataclass(eq=False)
class Patch:
    """diff: unified, "" where nothing could be changed; texts: of the changed files; refused: (array, reason) of those that are not in it."""

    applied: list[Applied] = field(default_factory=list)
    refused: list[tuple[ArrayRepairs, str]] = field(default_factory=list)
    diff: str = ""
    texts: dict[str, str] = field(default_factory=dict)


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
    texts = {one.declared.place[0]: one.declared.text.text for one in found if one.declared is not None}
    out.texts = {file: changed(texts[file], changes) for file, changes in edits.items() if changes}
    out.diff = _diff(out.texts, texts)
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

def edits_of(found: Declared, repair: Repair, partly: bool = False) -> Iterator[Edit]:
    """What a repair changes in the source. partly: also where its author has to do something more. Raises Refused."""
    code, declaration = repair.code, found.declaration
    if code.why_not and not partly:
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


def _diff(after: Mapping[str, str], before: Mapping[str, str]) -> str:
    """All changes as one unified diff, paths relative to the working folder where they lie in it."""
    parts = []
    for file, text in after.items():
        name = os.path.relpath(file) if not os.path.relpath(file).startswith("..") else os.path.realpath(file).lstrip("/")
        texts = before[file].splitlines(keepends=True), text.splitlines(keepends=True)
        lines = list(difflib.unified_diff(*texts, f"a/{name}", f"b/{name}", n=_HUNK_LINES))
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


# --- the changed source -------------------------------------------------------------------------

def _tried(one: ArrayRepairs, repair: Repair, edits: Mapping[str, Sequence[Edit]], before: Sequence[Examined], inputs: Sequence[str],
           options: Options, progress: Progress) -> Applied:
    """The repair, as the audit of the changed source shows it. Raises Refused."""
    texts = {file: changed(one.examined.lines.text(file) or "", changes) for file, changes in edits.items()}
    after = recompiled(texts, inputs, options, progress)
    new, arrays = shown(one, repair, before, after)
    figure = figure_of(new, arrays)
    if (figure.low, figure.high) != (repair.figure.low, repair.figure.high):
        raise Refused(f"the changed source costs {figure.high:,} wavefronts, and {repair.figure.high:,} were proved")
    if worse := _worse(before, after):
        raise Refused(worse)
    return Applied(one, repair, figure, (one.examined.entry.instructions, new.entry.instructions))


def _worse(before: Sequence[Examined], after: Sequence[Examined]) -> str:
    """A kernel that costs more, or of which less is known, than before."""
    for old in before:
        new = same_kernel(old, after)
        if new is None:
            return f"the changed source has no kernel {old.entry.demangled}"
        was, now = old.entry.totals, new.entry.totals
        if now.wavefronts > was.wavefronts:
            return f"{old.entry.demangled} costs {now.wavefronts:,} wavefronts in the changed source, and {was.wavefronts:,} now"
        if was.complete and not now.complete:
            return f"of {old.entry.demangled} less is known in the changed source"
    return ""
