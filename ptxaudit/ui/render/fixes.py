"""Writes repairs as text.

transpose(float*, float const*, int)
  transpose.cu · sm_90 ptx · grid 2×2, block 32×32

  tile, 4,096 bytes, at transpose.cu:6: __shared__ float tile[32][32];
    2 sites: 4,224 wavefronts, 3,968 of them excess
    1. pad the row to 33 floats: 0 excess left, +128 bytes, proved for this launch; no layout does better
         __shared__ float tile[32][33];
         2 blocks per SM before and after; CuTe Layout<Shape<_32, _32>, Stride<_33, _1>>
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from msgspec.structs import replace

from ptxaudit.base.demangle import demangle
from ptxaudit.base.words import bare_name, interval, listing, number, plural
from ptxaudit.review.fix.report import ArrayEntry, FixReport, PatchEntry, RepairEntry

MOST_WORSE = 4  # sites to name that a repair makes costlier


def fix_text(report: FixReport) -> str:
    """All arrays, by kernel and launch, then a summary."""
    lines: list[str] = []
    above = None
    for array in _folded(report.arrays):
        head = array.demangled, array.input, array.isa, array.launch
        if head != above:
            lines += [*_heading(array), ""]
            above = head
        lines += [*_array(array), ""]
    return "\n".join([*lines, *_patch(report.patch), closing(report)]) + "\n"


def _patch(patch: PatchEntry | None) -> Iterator[str]:
    """The changes in the patch, and those left out."""
    if patch is None:
        return
    where = "on standard output" if patch.file == "-" else f"in {patch.file}"
    yield (f"patch {where}; figures of the changed source, compiled and audited again:" if patch.file else "no patch:")
    for change in patch.changes:
        cost = (
            f"{interval(*change.bounds)} wavefronts"
            if change.bounds
            else f"{plural(change.wavefronts or 0, 'wavefront')}, {number(change.excess)} excess"
        )
        before, after = change.instructions
        yield (
            f"  {bare_name(demangle(change.kernel))}, {change.array}: {change.summary}: {cost}; {number(before)}"
            f" instructions before, {number(after)} after"
        )
        if change.machine_code:
            (was, many), (now, then) = change.machine_code
            yield (
                f"    in machine code the kernel takes {number(now)} wavefronts instead of {number(was)}, and has"
                f" {number(then)} instructions instead of {number(many)}"
            )
        if change.provided:
            yield f"    for other launches, only as long as {change.provided}"
    for one in patch.left:
        yield f"  {bare_name(demangle(one.kernel))}, {one.array}: not changed: {one.reason}"
    yield ""


def _folded(arrays: Iterable[ArrayEntry]) -> Iterator[ArrayEntry]:
    """The arrays, with parts of one variable that have the same repairs merged under the names of all."""
    groups: dict[object, list[ArrayEntry]] = {}
    for array in arrays:
        variable, _, part = array.name.partition(", bytes ")
        same = (
            array.kernel,
            str(array.launch),
            array.isa,
            variable,
            array.refused,
            tuple(repair.summary for repair in array.repairs) if part else array.name,
        )
        groups.setdefault(same, []).append(array)
    for first, *others in groups.values():
        names = [array.name.partition(", bytes ")[2] for array in others]
        yield replace(first, name=f"{first.name}, and likewise bytes {listing(names)}") if others else first


def closing(report: FixReport) -> str:
    """The number of arrays with excess, and how many of them have a repair."""
    arrays = report.arrays
    if not arrays:
        return "no shared array has excess" + (" in the inputs that could be checked" if report.problems else "")
    repaired = [array for array in arrays if array.repairs]
    refused = sum(array.refused is not None for array in arrays)
    parts = [f"{plural(len(arrays), 'shared array')} with excess", f"{len(repaired)} with proved repairs"]
    if refused:
        parts.append(f"{refused} refused")
    if rest := len(arrays) - len(repaired) - refused:
        parts.append(f"{rest} that no layout found improves")
    return ": ".join([parts[0], ", ".join(parts[1:])])


def _heading(array: ArrayEntry) -> list[str]:
    facts = [
        PurePath(array.input).name,
        f"{array.arch} {array.isa}",
        str(array.launch) if array.launch else "no launch specified",
    ]
    return [array.demangled, "  " + " · ".join(facts)]


def _array(array: ArrayEntry) -> Iterator[str]:
    size = f", {plural(array.bytes, 'byte')}" if array.bytes else ""
    where = (
        f", at {PurePath(array.declared.file).name}:{array.declared.line}: {array.declared.text}"
        if array.declared
        else ""
    )
    yield f"  {array.name}{size}{where}"
    yield f"    {_now(array)}"
    yield from (f"    hint: {hint}" for hint in array.hints)
    if array.refused:
        yield f"    nothing is proved: {array.refused}"
    elif not array.repairs:
        yield "    no layout tried costs less"
    for at, repair in enumerate(array.repairs, 1):
        yield from _repair(at, repair, array)
    if array.ended is not None:
        yield f"    the search ended after {number(array.ended)} steps: an untried layout may cost less"


def _now(array: ArrayEntry) -> str:
    each = "" if array.counted == "launch" else ", each site's worst request"
    sites = plural(len(array.sites), "site")
    if array.bounds:
        return f"{sites}: {interval(*array.bounds)} wavefronts{each}"
    text = f"{sites}: {plural(array.wavefronts or 0, 'wavefront')}, {number(array.excess)} of them excess{each}"
    forced = (array.floor or 0) - ((array.wavefronts or 0) - (array.excess or 0))
    return text + (f"; with these vectors no layout goes below {number(array.floor)}" if forced > 0 else "")


def _repair(at: int, repair: RepairEntry, array: ArrayEntry) -> Iterator[str]:
    yield f"    {at}. {headline(repair)}"
    yield from (f"         {line}" for line in repair.code.splitlines())
    yield f"         {'; '.join(_facts(repair))}"
    worse = list(_worse(repair, array))
    if worse:
        yield f"         costs more: {listing(worse[:MOST_WORSE])}" + (
            f" and {len(worse) - MOST_WORSE} more sites" if len(worse) > MOST_WORSE else ""
        )
    yield from (f"         note: {note}" for note in repair.notes)


def headline(repair: RepairEntry) -> str:
    """ "pad the row to 33 floats: 0 excess left, +128 bytes, proved for this launch; no layout does better"."""
    best = (
        "; no layout does better"
        if repair.best_of_all
        else f"; no {_family(repair)} does better"
        if repair.optimum
        else ""
    )
    return f"{repair.summary}: {left(repair)}, {bytes_more(repair.bytes)}, proved for {repair.proved_for}{best}"


def _family(repair: RepairEntry) -> str:
    return {
        "pad": "padding of rows",
        "swizzle": "linear swizzle",
        "skew": "skew",
        "order": "order of dimensions",
        "split": "order of members",
        "narrow": "padding with these accesses",
    }.get(repair.kind, "layout of this kind")


def left(repair: RepairEntry) -> str:
    """ "0 excess left"."""
    if repair.bounds:
        return f"{interval(*repair.bounds)} wavefronts"
    return f"{number(repair.excess)} excess left"


def bytes_more(count: int) -> str:
    """ "+128 bytes"."""
    return f"{'+' if count >= 0 else '−'}{plural(abs(count), 'byte')}"


def _facts(repair: RepairEntry) -> Iterator[str]:
    if repair.wavefronts is not None:
        yield plural(repair.wavefronts, "wavefront")
    if repair.compiled:
        yield "compiled and audited again"
    yield (
        f"about {plural(repair.instructions, 'instruction')} more per index"
        if repair.instructions
        else "no further instructions"
    )
    before, after = repair.occupancy.before, repair.occupancy.after
    if before and after:
        blocks = (
            f"{before.blocks_per_sm} blocks per SM before and after"
            if before.blocks_per_sm == after.blocks_per_sm
            else f"{before.blocks_per_sm} blocks per SM before, {after.blocks_per_sm} after"
        )
        yield f"{blocks} (by {after.limiter})"
    if repair.cute:
        yield f"CuTe {repair.cute}"
    if repair.triton:
        yield f"Triton {repair.triton}"


def _worse(repair: RepairEntry, array: ArrayEntry) -> Iterator[str]:
    """The sites that cost more than before."""
    now = {figure.id: figure for figure in array.figures}
    for after in repair.sites:
        before = now[after.id]
        if after.most > before.most:
            yield f"{after.id.partition('@')[2]} {number(before.most)} → {number(after.most)}"
        elif (after.lines or 0) > (before.lines or 0):
            yield (
                f"{after.id.partition('@')[2]} touches {number(after.lines)} lines instead of {number(before.lines)}"
            )
