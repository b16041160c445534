"""Atomic counters from which each block of the grid draws one number.

Which block draws which number is unknown, but together they draw 0, 1, 2 …, each once, if the launch specifies the
counter's initial value.

    @first atom.add r, [counter], 1;  @first st [s], r;  barrier;  ld tile, [s]     tile: 0 to gridDim - 1, in any order

Sums over the grid then equal those of blocks that draw their own index, provided that nothing else distinguishes the
blocks (blocks are symmetric: a permutation of them changes no sum). The code determines which instructions may draw,
and that nothing else writes the counter (`counters`); the run checks that each block draws once (`draws`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import words_at
from ptxaudit.engine.memory import given
from ptxaudit.engine.memory.given import SPACES
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.writers import Spot, reached_by, writers
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op

DRAWS = ("add", "inc")  # atomic operations that may draw
ASSUMED = "pointers that are not specified do not lead to a counter that is"


class Counter(Record):
    """A buffer of the launch that only one instruction may write: its address and its bytes."""

    address: int
    data: np.ndarray

    def start(self, place: int, bits: int) -> int | None:
        """The number at an address when the kernel starts; None if it is outside."""
        at = place - self.address
        if not 0 <= at <= len(self.data) - bits // 8:
            return None
        return int(words_at(self.data, np.array([at]), bits)[0])


class Counters(Record):
    """by: instruction -> the counter from which it may draw.
    open: unspecified pointers are assumed to point elsewhere.
    taken: the instructions whose draws a run took as known.
    """

    by: dict[int, Counter]
    open: bool
    taken: set[int] = field(default_factory=set)

    def sentences(self) -> tuple[str, ...]:
        """The assumptions of the answers, for the report."""
        return ((given.ASSUMED, ASSUMED) if self.open else (given.ASSUMED,)) if self.taken else ()


def drawn(op: Op) -> bool:
    """Whether the operation is an atomic on global memory whose result, a number of its width, may be drawn."""
    written = [d for d in op.dst if d is not None]
    kind = op.attrs[0] if op.name == "atom" and op.space in SPACES and op.attrs else None
    return kind in DRAWS and len(written) == 1 and written[0].bits == op.bits


def counters(
    graph: Graph,
    origins: Origins,
    buffers: Iterable[tuple[int, np.ndarray]],
    variables: Mapping[str, int],
    spot: Spot | None = None,
) -> Counters | None:
    """The counters of a kernel; None if there are none. variables: name -> address of buffers that are variables.
    spot: as of `writers`.
    """
    places = sorted(buffers, key=lambda buffer: buffer[0])
    by: list[set[int]] = [set() for _ in places]
    draws: dict[int, int] = {}
    assumed = False
    found = writers(graph, spot)
    if found is None:
        return None
    for index, op in found:
        bases = origins.bases(index, op)
        if bases is None:
            return None
        reached, beyond = reached_by(bases, origins, places, variables)
        assumed = assumed or beyond
        for at in reached:
            by[at].add(index)
        if drawn(op) and len(reached) == 1 and not beyond:
            draws[index] = min(reached)
    alone = {index: Counter(*places[at]) for index, at in draws.items() if by[at] == {index}}
    return Counters(alone, assumed) if alone else None


def open_counters(graph: Graph, origins: Origins) -> dict[int, int]:
    """Byte offset of an unspecified pointer parameter -> bits of the numbers that one instruction may draw through it.

    Only pointers through which no other instruction writes are included.
    """
    by: dict[int, set[int]] = defaultdict(set)
    draws: dict[int, tuple[int, int]] = {}
    for instruction in graph.function.instructions:
        for op in instruction.ops:
            if op.name not in ("store", "atom") or op.space not in SPACES:
                continue
            bases = origins.bases(instruction.index, op)
            if bases is None or any(base.kind == "parameters" for base in bases):
                return {}
            through = [base.key for base in bases if base.kind == "parameter" and origins.specified(base) is None]
            for key in through:
                by[key].add(instruction.index)
            if drawn(op) and len(bases) == len(through) == 1:
                draws[through[0]] = instruction.index, op.bits
    return {key: bits for key, (index, bits) in draws.items() if by[key] == {index}}
