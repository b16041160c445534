"""The natural loops of a graph and their nesting, computed once per graph (`Graph.loops`).

    for (…) { for (…) { A } B }    ->    Loop(depth=1, blocks={A, B, …}), Loop(depth=2, blocks={A})

A natural loop has a single entry, its head (Hecht, Ullman: Flow Graph Reducibility, 1972).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from ptxaudit.base.records import Record


class Loop(Record):
    """head: its first block; blocks: including those of inner loops; depth: 1 for an outermost loop."""

    head: int
    blocks: frozenset[int]
    depth: int


class Loops(Record):
    """loops: outer before inner; around: block -> indices of the loops that contain it, the innermost last."""

    loops: tuple[Loop, ...]
    around: dict[int, tuple[int, ...]]

    def innermost(self, block: int) -> int | None:
        """The index in `loops` of the innermost loop around a block; None outside of all."""
        return self.around[block][-1] if self.around.get(block) else None

    def depth(self, block: int) -> int:
        """The number of loops around a block."""
        return len(self.around.get(block, ()))


def loops_of(
    edges: list[tuple[int, int]], dominates: Callable[[int, int], bool], body: Callable[[int, int], set[int]]
) -> Loops:
    """The loops of a control-flow graph.

    edges: of the graph; dominates(a, b): whether a dominates b; body(source, head): the natural loop of a back edge.
    """
    found: dict[int, set[int]] = defaultdict(set)
    for source, head in edges:
        if dominates(head, source):
            found[head] |= body(source, head)
    ordered = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    around: dict[int, tuple[int, ...]] = {}
    loops = []
    for at, (head, blocks) in enumerate(ordered):
        loops.append(Loop(head, frozenset(blocks), 1 + len(around.get(head, ()))))
        for block in blocks:
            around[block] = (*around.get(block, ()), at)
    return Loops(tuple(loops), around)
