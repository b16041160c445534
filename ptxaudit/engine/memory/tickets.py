"""Atomic counters from which each block of the grid draws one number: which block draws which is not known, but
together they draw 0, 1, 2 …, each once, if the launch tells where the counter starts.

    @first atom.add r, [counter], 1;  @first st [s], r;  barrier;  ld tile, [s]     tile: 0 to gridDim - 1, in any order

Sums over the grid are then those of blocks that draw their own index, as long as nothing else tells the blocks apart
(blocks are symmetric: a permutation of them changes no sum). The code shows which instructions may draw, and that
nothing else writes the counter (`counters`); that each block draws once is seen when it is run (`draws`).
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
from ptxaudit.engine.memory.writers import reached_by, writers
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op

DRAWS = ("add", "inc")  # atomic operations that may
ASSUMED = "pointers that are not specified do not lead to a counter that is"


class Counter(Record):
    """A buffer of the launch that one instruction alone may write: its address and its bytes."""

    address: int
    data: np.ndarray

    def start(self, place: int, bits: int) -> int | None:
        """What is at an address when the kernel starts; None where that is outside."""
        at = place - self.address
        if not 0 <= at <= len(self.data) - bits // 8:
            return None
        return int(words_at(self.data, np.array([at]), bits)[0])


class Counters(Record):
    """by: instruction -> the counter from which it may draw. open: pointers that are not specified are taken to lead
    elsewhere. taken: the instructions of which a run took what they draw as known."""

    by: dict[int, Counter]
    open: bool
    taken: set[int] = field(default_factory=set)

    def sentences(self) -> tuple[str, ...]:
        """What the answers rest on, for the report."""
        return ((given.ASSUMED, ASSUMED) if self.open else (given.ASSUMED,)) if self.taken else ()


def drawn(op: Op) -> bool:
    """An atomic operation of global memory whose result, a number of its width, may be one that is drawn."""
    written = [d for d in op.dst if d is not None]
    kind = op.attrs[0] if op.name == "atom" and op.space in SPACES and op.attrs else None
    return kind in DRAWS and len(written) == 1 and written[0].bits == op.bits


def counters(
    graph: Graph, origins: Origins, buffers: Iterable[tuple[int, np.ndarray]], variables: Mapping[str, int]
) -> Counters | None:
    """None where there are none. variables: name -> address, of those of the buffers that are variables."""
    places = sorted(buffers, key=lambda buffer: buffer[0])
    by: list[set[int]] = [set() for _ in places]
    draws: dict[int, int] = {}
    assumed = False
    found = writers(graph)
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
    """Byte offset, among the parameters, of a pointer that is not specified -> bits of the numbers that one instruction
    may draw through it, if no other writes there."""
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
