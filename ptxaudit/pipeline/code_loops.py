"""Finds the loops of a kernel that contain sites, for the report.

for (k = 0; k < n; k += 16) { … tile[ty][k] … }
->  Loop("k.cu", 12, 19, depth=1, sites=("k@k.cu:15:ptx.load", …))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.loops import Loop as Natural
from ptxaudit.ir.nodes import Function, Instruction
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.model import AnySite, Kernel, Loop


def with_loops(entry: Kernel, examined: Examined) -> Kernel:
    """The entry with its loops, outer loops first."""
    flow, function = examined.flow, examined.function
    sites: dict[int, list[AnySite]] = {}
    every: list[tuple[SiteResult, AnySite]] = [*examined.of_shared, *examined.of_memory]
    for result, site in every:
        sites.setdefault(flow.block_of[result.index], []).append(site)
    found = []
    for loop in flow.loops.loops if sites else ():
        within = [site for block in sorted(loop.blocks) for site in sites.get(block, ())]
        if within:
            first = min(flow.starts[block] for block in loop.blocks)
            found.append((loop.depth, first, _loop(function, flow, loop, within)))
    return replace(entry, loops=tuple(loop for _, _, loop in sorted(found, key=lambda one: one[:2])))


def _lines(inside: Iterable[Instruction]) -> tuple[str | None, list[int]]:
    """(file, lines) of a loop. If the whole loop was inlined, its lines in the function that contains it."""
    stacks = [
        tuple((place.file, place.line) for place in i.source.places[::-1]) for i in inside if i.source is not None
    ]
    level = 0
    while stacks and all(len(stack) > level + 1 for stack in stacks) and len({stack[level] for stack in stacks}) == 1:
        level += 1
    places = [stack[level] for stack in stacks]
    if not places:
        return None, []
    file = Counter(file for file, _ in places).most_common(1)[0][0]
    return file, [line for name, line in places if name == file]


def _loop(function: Function, flow: Graph, loop: Natural, sites: list[AnySite]) -> Loop:
    inside = [function.instructions[k] for block in loop.blocks for k in range(flow.starts[block], flow.ends[block])]
    file, lines = _lines(inside)
    head = min(inside, key=lambda i: i.place)
    return Loop(
        file=file,
        first=min(lines, default=None),
        last=max(lines, default=None),
        offset=function.offset_of(head),
        ptx_line=function.ptx_line_of(head),
        depth=loop.depth,
        sites=tuple(dict.fromkeys(site.id for site in sites)),
    )
