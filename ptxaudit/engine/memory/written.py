"""The buffers of a launch that a kernel may write: the results of loads from the others are known.

    st.global [p + 4 * tid]      p = 0x7f0000000200, tid 0 to 127     ->   the buffer at 0x200 to 0x3ff, no other
    st.global [p + 4 * loaded]                                        ->   the buffer that p points to

The target of a store follows from the range of its address (`reach`), if that is known and the buffers are at their
real addresses; if it is not, or spans several buffers, from the pointers from which its address is computed
(`origins`): a pointer to one buffer does not reach another (C++ [expr.add]: a pointer moves within its array), which
the report lists as an assumption. An unspecified pointer, and an address without a pointer, may point anywhere; a null
pointer leads nowhere (`writers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ptxaudit.engine.memory.given import Given
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.reach import Reach
from ptxaudit.engine.memory.writers import bytes_of, reached_by, writers
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.operands import ordered, promised


def given(
    graph: Graph,
    origins: Origins,
    pointed: Iterable[tuple[int, np.ndarray]],
    variables: Mapping[str, tuple[int, np.ndarray]],
    reach: Reach | None = None,
    placed: bool = False,
) -> Given:
    """The memory that the launch specifies, with what the kernel may change of it.

    origins: of the kernel's addresses under this launch. pointed: (address, bytes) of each buffer to which a pointer
        points; variables: name -> the same, for variables of the module. reach: the ranges of its addresses under
        this launch, if it has a shape. placed: whether the buffers are at their real addresses.
    """
    instructions = graph.function.instructions
    buffers = tuple(sorted((*pointed, *variables.values()), key=lambda buffer: buffer[0]))
    places = {name: address for name, (address, _) in variables.items()}
    writes, pointers = _writers(graph, origins, buffers, places, reach, placed)
    written = range(len(buffers)) if writes is None else frozenset[int]().union(*writes.values())
    return Given(
        buffers,
        tuple(at not in written for at in range(len(buffers))),
        frozenset(i.index for i in instructions if promised(i)),
        places,
        frozenset(i.index for i in instructions if ordered(i)),
        writes,
        writes=pointers,
    )


def _writers(
    graph: Graph,
    origins: Origins,
    buffers: Sequence[tuple[int, np.ndarray]],
    variables: Mapping[str, int],
    reach: Reach | None,
    placed: bool,
) -> tuple[dict[tuple[int, Op], frozenset[int]] | None, bool]:
    """(for each operation that writes memory, the positions of the buffers that it may write; None: unseen code may
    write them; whether that relies on the objects to which pointers point).
    """
    found = writers(graph, None if reach is None else reach.of)
    if found is None:
        return None, True
    out: dict[tuple[int, Op], frozenset[int]] = {}
    pointers = False
    for index, op in found:
        spot = reach.of(index, op) if placed and reach is not None else None
        within = _overlapped(spot, op, buffers) if spot is not None and not spot.name else None
        if within is None or len(within) > 1:
            bases = origins.bases(index, op)
            reached, beyond = (set(), True) if bases is None else reached_by(bases, origins, buffers, variables)
            if not beyond:
                within, pointers = reached if within is None else within & reached, True
            elif within is None:
                within, pointers = set(range(len(buffers))), True
        out[index, op] = frozenset(within)
    return out, pointers


def _overlapped(spot: Range, op: Op, buffers: Sequence[tuple[int, np.ndarray]]) -> set[int]:
    """The buffers that a store or an atomic may write if its first byte lies in a range."""
    end = spot.high + bytes_of(op)
    return {at for at, (begin, data) in enumerate(buffers) if begin < end and spot.low < begin + len(data)}
