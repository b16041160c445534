"""Writes repairs into the source, as a unified diff. Each is applied to a copy, compiled and audited again, and
offered only if that confirms what was proved.

    Repair(pad the row to 33 floats)  ->  --- a/k.cu … -__shared__ float tile[32][32]; +__shared__ float tile[32][33];
                                          and Applied(wavefronts=256, excess=0), from the audit of the changed source

Kernel by kernel and launch by launch, every request of the changed code to the array must be a request of the old
code at its new place, as often; its sites must cost what was proved; no kernel may cost more than with the repairs
before, nor any other array of the same kernel; and blocks must fit. Otherwise the patch is refused: this detects
accesses that are written in a way that was not understood.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.frontend.inputs import expand
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Progress, silent
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.review.fix.arrays import shape_known
from ptxaudit.review.fix.candidates import Repair
from ptxaudit.review.fix.cost import Costs, Figure
from ptxaudit.review.fix.declared import Declared
from ptxaudit.review.fix.executed import not_compared
from ptxaudit.review.fix.name_uses import deduced, differences, redeclared
from ptxaudit.review.fix.recompile import Again, Refused, figure_of, recompiled, same_kernel, shown, with_a_block
from ptxaudit.review.fix.repairs import ArrayRepairs, kept_inside, too_large
from ptxaudit.review.fix.structures import structure_members
from ptxaudit.review.fix.written import Edit

_EFFECT = re.compile(r"\+\+|--|[^=!<>]=[^=]")
_CALL = re.compile(r"(\w+)\s*\(")
_HUNK_LINES = 3

MachineCode = tuple[int, int]  # wavefronts, instructions


class Applied(Record, eq=False):
    """One repair in the patch. figure: of the array's sites in the changed code; instructions: of the kernel, before
    and after; machine_code: (wavefronts, instructions) of the whole kernel in machine code before and after, None if
    the audit is of machine code, or if they are unknown."""

    found: ArrayRepairs
    repair: Repair
    figure: Figure
    instructions: tuple[int | None, int | None]
    machine_code: tuple[MachineCode, MachineCode] | None = None
    provided: str = ""


class Patch(Struct, eq=False):
    """diff: unified, "" if nothing could be changed; texts: of the changed files; refused: (array, reason) for those
    that are not in it."""

    applied: list[Applied] = field(default_factory=list)
    refused: list[tuple[ArrayRepairs, str]] = field(default_factory=list)
    diff: str = ""
    texts: dict[str, str] = field(default_factory=dict)


def patch(
    found: Sequence[ArrayRepairs],
    kernels: Sequence[Examined],
    inputs: Sequence[str],
    options: Options,
    progress: Progress = silent,
    limit: int | None = None,
) -> Patch:
    """The best repairs of all arrays that can be written into their sources. found: from `repairs_of`, for these
    kernels, inputs, options and limit."""
    inputs = [os.fspath(file) for given in inputs for file in expand(given, options.isa)]
    out, source = Patch(), _Source(kernels, inputs, options, progress, limit)
    done: set[tuple[str, int]] = set()
    for one in sorted(found, key=lambda one: -one.now.excess):
        if one.declared is None or one.refused or not one.repairs:
            if one.repairs:
                out.refused.append((one, "its declaration was not found in the source"))
            continue
        if one.declared.place in done:
            continue
        progress(f"patching {one.array.name}")
        whys = []
        for repair in one.repairs:
            try:
                more = {one.declared.place[0]: list(edits_of(one.declared, repair))}
                out.applied.append(source.changed_by(one, repair, more))
            except Refused as why:
                whys.append(f"{repair.code.summary}: {why}")
                continue
            done.add(one.declared.place)
            break
        else:
            out.refused.append((one, whys[0]))
    texts = {one.declared.place[0]: one.declared.text.text for one in found if one.declared is not None}
    out.texts = {file: changed(texts[file], changes) for file, changes in source.edits.items() if changes}
    out.diff = _diff(out.texts, texts)
    return out


# --- the changes of the text --------------------------------------------------------------------


def edits_of(found: Declared, repair: Repair, partly: bool = False) -> Iterator[Edit]:
    """The changes of a repair in the source. partly: even if its author has to do more. Raises Refused."""
    code, declaration = repair.code, found.declaration
    if code.why_not and not partly:
        raise Refused(code.why_not)
    if macros := found.text.macros_with(declaration.name):
        raise Refused(f"{declaration.name} is used in the macro {macros[0]}")
    if not code.in_place and not code.edits and code.element is None:
        raise Refused("it is not an expression in the source")
    accesses = found.text.accesses(declaration)
    for access in accesses if code.edits else ():
        if access.of_size and len(access.indices) < len(declaration.dims):
            raise Refused(f"line {access.line} takes the size of {declaration.name}, which changes")
    if (line := next(differences(found.text, declaration), None)) is not None:
        raise Refused(f"line {line} subtracts addresses in {declaration.name}, whose difference changes")
    if code.edits and (call := next(deduced(found.text, declaration), None)) is not None:
        raise Refused(f"line {call[0]} passes {declaration.name} to {call[1]}, which computes with its dimensions")
    if not code.in_place and (line := redeclared(found.text, declaration)) is not None:
        raise Refused(f"line {line} declares another variable {declaration.name}")
    yield from code.edits
    if code.in_place:
        return
    members = {name for name, _, _ in structure_members(found)} if code.kind == "split" else set()
    for access in accesses:
        where = f"line {access.line}"
        indices = [index.text for index in access.indices]
        if any(re.search(rf"\b{re.escape(declaration.name)}\b", index) for index in indices):
            raise Refused(f"{where}: an index of {declaration.name} is read from it")
        if members:
            if access.member not in members or len(indices) != len(declaration.dims):
                raise Refused(f"{where} does not name a member of one element")
            yield Edit(
                access.start,
                access.end,
                f"{declaration.name}_{access.member}" + "".join(f"[{index}]" for index in indices),
            )
            continue
        new = code.element(indices) if code.element is not None else None
        if new is None:
            raise Refused(f"{where} uses {declaration.name} without all its indices")
        if twice := next(
            (index for index in indices if new.count(index) > 1 and _may_have_effect(index, found.text.macros)), None
        ):
            raise Refused(f"{where}: the index {twice} may have an effect, and would be written twice")
        yield Edit(access.start, access.end, new + (f".{access.member}" if access.member else ""))


def _may_have_effect(text: str, macros: Mapping[str, tuple[bool, str]]) -> bool:
    """It assigns, or calls anything but a macro of the file that has no effects itself."""
    called = set(_CALL.findall(text))
    return bool(_EFFECT.search(text)) or any(
        name not in macros or _EFFECT.search(macros[name][1]) or _CALL.search(macros[name][1]) for name in called
    )


def changed(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits applied. Raises Refused if two of them overlap."""
    out, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise Refused("two changes at one place in the source")
        out += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*out, text[at:]])


def _diff(after: Mapping[str, str], before: Mapping[str, str]) -> str:
    """All changes as one unified diff, with paths relative to the working folder if they are in it."""
    parts = []
    for file, text in after.items():
        name = (
            os.path.relpath(file) if not os.path.relpath(file).startswith("..") else os.path.realpath(file).lstrip("/")
        )
        texts = _lines_of(before[file]), _lines_of(text)
        lines = list(difflib.unified_diff(*texts, f"a/{name}", f"b/{name}", n=_HUNK_LINES))
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


def _lines_of(text: str) -> list[str]:
    """The lines as `patch` counts them: only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


# --- the changed source -------------------------------------------------------------------------


class _Source:
    """The source with the repairs so far. Each further one is compared with it, so that no repair hides what another
    one costs.

    edits: of the repairs so far, by file.
    """

    def __init__(
        self,
        kernels: Sequence[Examined],
        inputs: Sequence[str],
        options: Options,
        progress: Progress,
        limit: int | None,
    ):
        self.kernels, self.inputs, self.options, self.progress, self.limit = kernels, inputs, options, progress, limit
        self.edits: dict[str, list[Edit]] = {}
        self._now: Sequence[Examined] | None = kernels  # None: not examined since the last repair
        self._machine = _MachineCode(inputs, options, progress)

    def changed_by(self, one: ArrayRepairs, repair: Repair, more: Mapping[str, list[Edit]]) -> Applied:
        """Adds a repair, with the figures from an audit of the changed source. Raises Refused."""
        edits = {file: [*self.edits.get(file, ()), *more.get(file, ())] for file in {**self.edits, **more}}
        texts, so_far = _texts(one, edits), _texts(one, self.edits)
        if why := not_compared(one, self.kernels, all_kernels=not self.options.kernels):
            raise Refused(why)
        expected, known = repair.figure, shape_known(one.examined)
        if known:
            mine, old, after = one, self.kernels, recompiled(texts, self.inputs, self.options, self.progress)
            before = self._now or recompiled(so_far, self.inputs, self.options, self.progress)
        else:
            again = Again(self.inputs, self.options, self.progress)
            block, mine, old = with_a_block(one, self.kernels, again)
            after = again.examined(self.kernels, texts, block)
            before = again.examined(self.kernels, so_far, block)
            expected = Costs(mine.examined.machine, mine.array.uses, mine.array.align).total(repair.found.layout)
        new, arrays = shown(mine, repair, old, after)
        figure = figure_of(new, arrays)
        if (figure.low, figure.high) != (expected.low, expected.high):
            raise Refused(f"the changed source costs {figure.high:,} wavefronts, but {expected.high:,} were proved")
        if figure.lines > expected.lines:
            raise Refused(f"the changed source takes {figure.lines:,} steps, but {expected.lines:,} were proved")
        saved = mine.now.low - figure.low if mine.counted and mine.now.low == mine.now.high else None
        if worse := _worse(before, after, self.limit) or _worse_elsewhere(mine.examined, saved, before, after):
            raise Refused(worse)
        sizes = one.examined.entry.instructions, new.entry.instructions
        inside = kept_inside(repair.found.layout, one.array, one.declared)
        applied = Applied(one, repair, figure, sizes, self._machine.compared(one.examined, texts), inside)
        self.edits, self._now = edits, after if known else None
        return applied


def _texts(one: ArrayRepairs, edits: Mapping[str, Sequence[Edit]]) -> dict[str, str]:
    return {file: changed(one.examined.lines.text(file) or "", changes) for file, changes in edits.items()}


class _MachineCode:
    """The cost of kernels in machine code with the changes so far. Changed indices may behave differently there than
    in PTX: ptxas may no longer prove that accesses are adjacent, and merge fewer of them."""

    def __init__(self, inputs: Sequence[str], options: Options, progress: Progress):
        self.inputs, self.options, self.progress = inputs, options, progress
        self.now: dict[tuple[str, str], MachineCode | None] = {}

    def compared(self, examined: Examined, texts: Mapping[str, str]) -> tuple[MachineCode, MachineCode] | None:
        """A kernel's figures before and with these texts; the latter are stored. Raises Refused if wavefronts
        increase."""
        if examined.entry.isa != "ptx":
            return None
        key = examined.entry.name, str(examined.launch)
        if key not in self.now:
            self.now[key] = self._of(examined, {})
        before, after = self.now[key], self._of(examined, texts)
        if before is None or after is None:
            return None
        if after[0] > before[0]:
            raise Refused(
                f"it costs fewer wavefronts in PTX, but in machine code {after[0]:,} instead of {before[0]:,}"
            )
        self.now[key] = after
        return before, after

    def _of(self, examined: Examined, texts: Mapping[str, str]) -> MachineCode | None:
        """None if some of it is unknown."""
        try:
            again = recompiled(
                texts, self.inputs, replace(self.options, isa="sass", kernels=(examined.entry.name,)), self.progress
            )
        except Refused:
            return None
        found = [new.entry for new in again if new.entry.name == examined.entry.name and new.launch == examined.launch]
        return (
            (found[0].totals.wavefronts, found[0].instructions or 0)
            if len(found) == 1 and found[0].totals.complete
            else None
        )


def _worse(before: Sequence[Examined], after: Sequence[Examined], limit: int | None) -> str:
    """A kernel that costs more, is known less precisely, or has too much shared memory for its launch, if it had not
    before."""
    for old in before:
        new, name = same_kernel(old, after), old.entry.demangled
        if new is None:
            return f"the changed source has no kernel {name}"
        was, now = old.entry.totals, new.entry.totals
        if now.wavefronts > was.wavefronts:
            return f"{name} costs {now.wavefronts:,} wavefronts in the changed source, but {was.wavefronts:,} now"
        if (more := _lines(new)) > (lines := _lines(old)):
            return f"the copies of {name} take {more:,} steps in the changed source, but {lines:,} now"
        if _open(new) > _open(old):
            return f"of {name} the changed source is known less precisely"
        if _each(new) > _each(old) and len(new.entry.sites) == len(old.entry.sites):
            return f"requests of {name} cost more in the changed source"
        if too_large(new, limit) and not too_large(old, limit):
            return f"with the changed source, a block of {name} has too much shared memory"
    return ""


def _worse_elsewhere(mine: Examined, saved: int | None, before: Sequence[Examined], after: Sequence[Examined]) -> str:
    """Wavefronts that a kernel's other arrays cost more. saved: what the repaired one costs less; None if unknown."""
    old, new = same_kernel(mine, before), same_kernel(mine, after)
    if saved is None or old is None or new is None or not old.entry.totals.complete:
        return ""
    more = new.entry.totals.wavefronts - old.entry.totals.wavefronts + saved
    return f"other arrays of {mine.entry.demangled} cost {more:,} wavefronts more" if more > 0 else ""


def _open(examined: Examined) -> int:
    return sum(not site.settled for site in examined.entry.sites)


def _lines(examined: Examined) -> int:
    """Steps of the kernel's copies past L1: over the launch where known, else of a request of each."""
    return sum(site.line_class_max or 0 if site.lines is None else site.lines for site in examined.entry.sites)


def _each(examined: Examined) -> int:
    """The most that one request of each site costs whose cost in the launch is unknown."""
    return sum(s.per_request.high for s in examined.entry.sites if not s.settled and s.per_request is not None)
