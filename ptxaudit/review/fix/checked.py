"""Compiles and audits the code of each repair before it is shown; if the source does not confirm it, the repair is
reported as a map of elements.

    __shared__ float tile[32][33];                     for accesses tile[y][x]: compiled, and its requests are those
                                                       that were proved
    // element i of tile moves to element i + i / 32   for accesses tile[0][32 * y + x]: another declaration moves
                                                       nothing there

A repair is a layout, and that is proved. That a declaration and some expressions *implement* this layout is inferred
from the text of the source without understanding it, so no code is printed on trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath

from msgspec.structs import replace

from ptxaudit.frontend.inputs import expand
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Progress, silent
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.review.fix.arrays import shape_known
from ptxaudit.review.fix.candidates import Repair, candidates_of
from ptxaudit.review.fix.layouts import Same
from ptxaudit.review.fix.patch import changed, edits_of
from ptxaudit.review.fix.recompile import Again, Refused, shown, with_a_block
from ptxaudit.review.fix.repairs import ArrayRepairs, ranked
from ptxaudit.review.fix.written import by_element

SOURCES = (".cu", ".cuh")


def checked(
    found: Sequence[ArrayRepairs],
    kernels: Sequence[Examined],
    inputs: Sequence[str],
    options: Options,
    progress: Progress = silent,
    most: int | None = None,
) -> list[ArrayRepairs]:
    """The arrays, each repair with code that was compiled, or with a map instead. found: from `repairs_of`, for these
    kernels, inputs and options. most: the number of repairs per array that are compiled, best first; None = all."""
    files = [fspath(file) for given in inputs for file in expand(given, options.isa)]
    again = Again(files, options, progress)
    out = []
    for one in found:
        if one.declared is not None and any(_has_code(repair) for repair in one.repairs):
            progress(f"compiling the repairs of {one.array.name}")
            concerned = _with_its_declaration(one, kernels)
            tried = [_checked(repair, one, concerned, again) for repair in one.repairs[:most]]
            one = replace(one, repairs=ranked([*tried, *one.repairs[len(tried) :]]))
        out.append(one)
    return out


def _has_code(repair: Repair) -> bool:
    """It has a declaration that implements the layout."""
    return bool(repair.code.declaration) and not isinstance(repair.found.layout, Same)


def _with_its_declaration(one: ArrayRepairs, kernels: Sequence[Examined]) -> list[Examined]:
    """The kernels that have an array with the same declaration."""

    place = None if one.declared is None else one.declared.place

    def has(examined: Examined) -> bool:
        return any(c.declared is not None and c.declared.place == place for c in candidates_of(examined))

    return [examined for examined in kernels if examined is one.examined or has(examined)]


def _checked(repair: Repair, one: ArrayRepairs, kernels: Sequence[Examined], again: Again) -> Repair:
    if one.declared is None or not _has_code(repair) or repair.code.why_not and repair.code.kind != "narrow":
        return repair
    concerned = again.of(kernels)
    if not concerned or not all(file.endswith(SOURCES) for file in concerned):
        return repair
    try:
        text = changed(one.declared.text.text, list(edits_of(one.declared, repair, partly=True)))
        block, mine, before = (None, one, kernels) if shape_known(one.examined) else with_a_block(one, kernels, again)
        shown(mine, repair, before, again.examined(kernels, {one.declared.place[0]: text}, block))
    except Refused as why:
        return replace(repair, code=by_element(repair.code, repair.found.layout, one.declared, str(why)))
    return replace(repair, compiled=True)
