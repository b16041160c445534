"""Which of the buffers that a launch specifies a kernel may write: what a load from the others yields is known.

    st.global [p + 4 * tid]      p = 0x7f0000000200, tid 0 to 127     ->   the buffer at 0x200 to 0x3ff, no other
    st.global [p + 4 * loaded]                                        ->   the buffer that p points to

Where a store goes says the range of its address (`reach`), if that is known and the buffers are at their real places;
else the pointers that its address is made of (`origins`): a pointer to one buffer does not reach another (C++
[expr.add]: a pointer moves within its array), which the report lists as assumed. A pointer that is not specified, and
an address without a pointer, may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ptxaudit.engine.memory.given import SPACES, Given
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.reach import Reach
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.operands import promised


def given(
    graph: Graph,
    origins: Origins,
    pointed: Iterable[tuple[int, np.ndarray]],
    variables: Mapping[str, tuple[int, np.ndarray]],
    reach: Reach | None = None,
) -> Given:
    """What the launch tells of memory, with what the kernel may change of it.

    origins: of the kernel's addresses under this launch. pointed: (address, bytes) of each buffer that a pointer points
    to; variables: name -> the same, of variables of the module. reach: of its addresses under
    this launch, if the buffers are at their real places.
    """
    instructions = graph.function.instructions
    buffers = tuple(sorted((*pointed, *variables.values()), key=lambda buffer: buffer[0]))
    places = {name: address for name, (address, _) in variables.items()}
    written, pointers = _written(graph, origins, buffers, places, reach)
    read_only = frozenset(i.index for i in instructions if promised(i))
    return Given(buffers, tuple(at not in written for at in range(len(buffers))), read_only, places, pointers)


def _written(
    graph: Graph,
    origins: Origins,
    buffers: Sequence[tuple[int, np.ndarray]],
    variables: Mapping[str, int],
    reach: Reach | None,
) -> tuple[set[int], bool]:
    """(positions of the buffers that something in the kernel may write, whether that rests on what pointers point
    to)."""
    everything = set(range(len(buffers))), True
    out: set[int] = set()
    pointers = False
    for instruction in graph.function.instructions:
        if graph.block_of[instruction.index] not in graph.reachable:
            continue
        control = instruction.control
        if (
            control is not None and control.kind in ("call", "switch") and not control.targets
        ):  # to code that is not seen
            return everything
        for op in instruction.ops:
            if op.name == "clobber" and op.space in SPACES:
                return everything
            if op.name in ("store", "atom") and op.space in SPACES:
                spot = None if reach is None else reach.of(instruction.index, op)
                if spot is not None and not spot.name:
                    out |= _overlapped(spot, op, buffers)
                    continue
                reached = _reached(origins, instruction.index, op, buffers, variables)
                if reached is None:
                    return everything
                out |= reached
                pointers = True
    return out, pointers


def _overlapped(spot: Range, op: Op, buffers: Sequence[tuple[int, np.ndarray]]) -> set[int]:
    """The buffers of which a store or an atomic, whose first byte lies in a range, may write something."""
    end = spot.high + max(1, len(op.src) - 1) * op.bits // 8
    return {at for at, (begin, data) in enumerate(buffers) if begin < end and spot.low < begin + len(data)}


def _reached(
    origins: Origins, index: int, op: Op, buffers: Sequence[tuple[int, np.ndarray]], variables: Mapping[str, int]
) -> set[int] | None:
    """The buffers that an address may point into; None where it is not known what it points to."""
    bases = origins.bases(index, op)
    if bases is None:
        return None
    reached: set[int] = set()
    for base in bases:
        if base.kind == "window":
            continue
        number = variables.get(base.key) if base.kind == "variable" else origins.specified(base)
        if number is None and base.kind == "parameter":
            return None
        reached |= {
            at
            for at, (begin, data) in enumerate(buffers)
            if number is not None and begin <= number <= begin + len(data)
        }
    return reached
