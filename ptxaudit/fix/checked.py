"""The code of each repair, compiled and audited again before it is shown; what the source does not show is told as a map of elements.

    __shared__ float tile[32][33];                     of accesses tile[y][x]: compiled, and its requests are those that were proved
    // element i of tile moves to element i + i / 32   of accesses tile[0][32 * y + x]: another declaration moves nothing there

A repair is a layout, and that is proved. That a declaration and some expressions *are* this layout is read from a text without
understanding it, so nothing of that kind is printed on trust.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import fspath

from ptxaudit.collect import Progress, silent
from ptxaudit.fix.arrays import shape_known
from ptxaudit.fix.layouts import Same
from ptxaudit.fix.patch import changed, edits_of
from ptxaudit.fix.recompile import Refused, recompiled, same_kernel, shown
from ptxaudit.fix.repairs import ArrayRepairs, Repair, candidates_of, ranked
from ptxaudit.fix.rewrite import by_element
from ptxaudit.inputs import expand
from ptxaudit.kernels import Examined
from ptxaudit.launch import Launch
from ptxaudit.options import Options

SOURCES = (".cu", ".cuh")
BLOCKS = ((32, 32), (32, 16), (32, 8), (16, 16), (8, 8), 256, 128, 64, 32)      # tried where the shape of a block is not told


def checked(found: Sequence[ArrayRepairs], kernels: Sequence[Examined], inputs: Sequence[str], options: Options, progress: Progress = silent,
            most: int | None = None) -> list[ArrayRepairs]:
    """The same, each repair with code that was compiled, or with a map in its place. found: of `repairs_of`, for these kernels, inputs and options.
    most: repairs of each array that are compiled, the best first; None = all."""
    files = [fspath(file) for given in inputs for file in expand(given, options.isa)]
    again = _Again(files, options, progress)
    out = []
    for one in found:
        if one.declared is not None and any(_has_code(repair) for repair in one.repairs):
            progress(f"compiling the repairs of {one.array.name}")
            concerned = _with_its_declaration(one, kernels)
            tried = [_checked(repair, one, concerned, again) for repair in one.repairs[:most]]
            one = replace(one, repairs=ranked([*tried, *one.repairs[len(tried):]]))
        out.append(one)
    return out


def _has_code(repair: Repair) -> bool:
    """It has a declaration that lays the array out."""
    return bool(repair.code.declaration) and not isinstance(repair.found.layout, Same)


def _with_its_declaration(one: ArrayRepairs, kernels: Sequence[Examined]) -> list[Examined]:
    """The kernels that have an array of the same declaration."""
    def has(examined: Examined) -> bool:
        return any(c.declared is not None and c.declared.place == one.declared.place for c in candidates_of(examined))
    return [examined for examined in kernels if examined is one.examined or has(examined)]


class _Again:
    """The inputs, examined again: as they are, with a launch for kernels of which the block's shape is not told, and with other texts. What was
    found is kept for the other arrays and for instances of one template."""

    def __init__(self, files: Sequence[str], options: Options, progress: Progress):
        self.files, self.options, self.progress = files, options, progress
        self._found: dict[tuple, list[Examined]] = {}

    def of(self, kernels: Sequence[Examined]) -> list[str]:
        """The files that kernels are in."""
        return [file for file in self.files if any(examined.entry.input == file for examined in kernels)]

    def examined(self, kernels: Sequence[Examined], texts: Mapping[str, str], block: tuple[int, ...] | int | None) -> list[Examined]:
        """These kernels with these texts in the place of those files. Raises Refused."""
        names = tuple(dict.fromkeys(examined.entry.name for examined in kernels))
        key = tuple(texts.items()), names, block
        if key not in self._found:
            options = replace(self.options, kernels=names)
            if block is not None:
                options = replace(options, launches=[Launch(name, block=block) for name in names])
            self._found[key] = recompiled(texts, self.of(kernels), options, self.progress)
        return self._found[key]


def _checked(repair: Repair, one: ArrayRepairs, kernels: Sequence[Examined], again: _Again) -> Repair:
    if not _has_code(repair) or repair.code.why_not and repair.code.kind != "narrow":
        return repair
    concerned = again.of(kernels)
    if not concerned or not all(file.endswith(SOURCES) for file in concerned):
        return repair
    try:
        text = changed(one.declared.text.text, list(edits_of(one.declared, repair, partly=True)))
        block, mine, before = (None, one, kernels) if shape_known(one.examined) else _with_a_block(one, kernels, again)
        shown(mine, repair, before, again.examined(kernels, {one.declared.place[0]: text}, block))
    except Refused as why:
        return replace(repair, code=by_element(repair.code, repair.found.layout, one.declared, str(why)))
    return replace(repair, compiled=True)


def _with_a_block(one: ArrayRepairs, kernels: Sequence[Examined], again: _Again) -> tuple[tuple[int, ...] | int, ArrayRepairs, list[Examined]]:
    """A shape of the block with which all accesses are inside of the array, and what was examined with it: how a source names elements does
    not depend on it. Raises Refused where there is none."""
    for block in BLOCKS:
        before = again.examined(kernels, {}, block)
        examined = same_kernel(one.examined, before, launch=False)
        arrays = [c.array for c in candidates_of(examined) if c.array.variable == one.array.variable and c.array.start == one.array.start] if examined else []
        if len(arrays) == 1 and not arrays[0].refused and {use.index for use in arrays[0].uses} == {use.index for use in one.array.uses}:
            return block, replace(one, examined=examined, array=arrays[0]), before
    raise Refused("tell the shape of a block (--block), and it is looked up in the source")
