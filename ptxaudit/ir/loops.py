"""The natural loops of a graph, as whoever asks for the nesting of code has them: found once a graph (`Graph.loops`).

    for (…) { for (…) { A } B }    ->    Loop(depth=1, blocks={A, B, …}), Loop(depth=2, blocks={A})

A natural loop has one entry, its head, which every way into it passes (Hecht, Ullman: Flow Graph Reducibility, 1972).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from ptxaudit.base.records import Record


class Loop(Record):
    """head: its first block; blocks: with those of loops inside; depth: 1 of an outermost one."""

    head: int
    blocks: frozenset[int]
    depth: int


class Loops(Record):
    """loops: outer ones before those inside; around: block -> the loops that it is in, by their place in `loops`, the
    innermost last."""

    loops: tuple[Loop, ...]
    around: dict[int, tuple[int, ...]]

    def innermost(self, block: int) -> int | None:
        """The place in `loops`; None outside of all."""
        return self.around[block][-1] if self.around.get(block) else None

    def depth(self, block: int) -> int:
        """Loops around a block."""
        return len(self.around.get(block, ()))


def loops_of(
    edges: list[tuple[int, int]], dominates: Callable[[int, int], bool], body: Callable[[int, int], set[int]]
) -> Loops:
    """edges: of the control flow; dominates(a, b): every way to b leads through a; body(source, head): the blocks of
    the loop that an edge closes."""
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
