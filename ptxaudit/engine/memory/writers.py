"""The operations that write memory whose contents a launch specifies, and the buffers that each may reach.

This is a points-to analysis by the pointers from which an address is computed (`origins`).

    st.global [p + 4 * tid], p at the first buffer     ->   (7, st.global), {0}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ptxaudit.engine.memory.given import SPACES
from ptxaudit.engine.memory.origins import LOWEST_POINTER, Base, Origins
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.transfers import is_unresolved

Spot = Callable[[int, Op], Range | None]  # an instruction and its access -> the range of addresses, as of `Reach.of`


def writers(graph: Graph, spot: Spot | None = None) -> list[tuple[int, Op]] | None:
    """The stores and atomic operations that may write memory that a launch specifies, each with its instruction.

    None if unseen code may write there too. spot: of a launch; a store through a null pointer writes nothing, as no
    memory is so low.
    """
    found = []
    for instruction in graph.function.instructions:
        if graph.block_of[instruction.index] not in graph.reachable:
            continue
        control = instruction.control
        if is_unresolved(control) or control is not None and control.kind == "switch" and not control.targets:
            return None
        for op in instruction.ops:
            if op.space in SPACES and op.name == "clobber":
                return None
            if op.space in SPACES and op.name in ("store", "atom") and not _through_null(instruction.index, op, spot):
                found.append((instruction.index, op))
    return found


def _through_null(index: int, op: Op, spot: Spot | None) -> bool:
    """All addresses of a store are known to be below any memory."""
    places = None if spot is None else spot(index, op)
    return places is not None and not places.name and places.high < LOWEST_POINTER


def bytes_of(op: Op) -> int:
    """The number of bytes that a lane writes."""
    return max(1, len(op.src) - 1) * op.bits // 8


def reached_by(
    bases: Iterable[Base],
    origins: Origins,
    buffers: Sequence[tuple[int, np.ndarray]],
    variables: Mapping[str, int],
) -> tuple[set[int], bool]:
    """(positions of the buffers into which an address may point, whether it may contain an unspecified pointer)."""
    reached: set[int] = set()
    beyond = False
    for base in bases:
        if base.kind == "window":
            continue
        number = variables.get(base.key) if base.kind == "variable" else origins.specified(base)
        if number is None:
            beyond = beyond or base.kind in ("parameter", "parameters")
        else:
            reached |= {at for at, (begin, data) in enumerate(buffers) if begin <= number <= begin + len(data)}
    return reached, beyond
