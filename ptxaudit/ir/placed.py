"""Locations of instructions and loops in words: "k.cu:12", "PTX line 40", "+0x0120"."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ptxaudit.base.places import line_of
from ptxaudit.ir import nodes as ir

if TYPE_CHECKING:
    from ptxaudit.ir.graph import Graph


def place_of(function: ir.Function, index: int) -> str:
    """The user's line of an instruction, or its place in the file."""
    instruction = function.instructions[index]
    if instruction.source is not None:
        return line_of(instruction.source)
    return f"PTX line {instruction.place}" if not function.unique_places else f"+{instruction.place:#06x}"


def place_of_loop(function: ir.Function, graph: Graph, blocks: Collection[int]) -> str:
    """The user's line of the branch back to the start of a loop, or the place of its first instruction."""
    return place_of(function, back_of(function, graph, blocks))


def back_of(function: ir.Function, graph: Graph, blocks: Collection[int]) -> int:
    """The branch back to the start of a loop, if its line is known; otherwise the loop's first instruction."""
    first = min(graph.starts[block] for block in blocks)
    ends = [function.instructions[graph.ends[block] - 1] for block in sorted(blocks)]
    back = [i for i in ends if i.source is not None and i.control is not None and first in i.control.targets]
    return back[-1].index if back else first


def place_of_change(function: ir.Function, graph: Graph, blocks: Collection[int], register: str) -> str | None:
    """The user's line of a loop's last instruction that computes a register, looking through moves; None if none."""
    seen: set[str] = set()
    last = _writer(function, graph, blocks, register)
    while last is not None and register not in seen:
        seen.add(register)
        index, moved = last
        if moved is None or (before := _writer(function, graph, blocks, moved)) is None:
            return place_of(function, index)
        register, last = moved, before
    return None if last is None else place_of(function, last[0])


def _writer(
    function: ir.Function, graph: Graph, blocks: Collection[int], register: str
) -> tuple[int, str | None] | None:
    """(the last instruction in some blocks that writes a register, the source register if it is only a move)."""
    for block in sorted(blocks, reverse=True):
        for index in range(graph.ends[block] - 1, graph.starts[block] - 1, -1):
            for op in reversed(function.instructions[index].ops):
                if op.writes(register):
                    source = op.src[0] if op.name == "mov" and op.src else None
                    return index, source.name if isinstance(source, ir.Reg) else None
    return None
