"""A weak topological order of a control-flow graph: the order in which to execute its blocks, loop by loop.

    1 → 2 → 3 → 2, 3 → 4        [1, (2, [3]), 4]

F. Bourdoncle: Efficient Chaotic Iteration Strategies with Widenings, FMPA 1993.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.digraph import Digraph, components, sorted_by_edges

Element: TypeAlias = "int | tuple[int, Order]"  # a block, or a loop: its head and the order of the rest
Order = list[Element]


def note_loops(elements: Iterable[Element], heads: frozenset[int], out: dict[int, frozenset[int]]) -> None:
    """Adds to `out`: block -> the heads of the loops that contain it."""
    for e in elements:
        if isinstance(e, int):
            out[e] = heads
        else:
            out[e[0]] = heads | {e[0]}
            note_loops(e[1], heads | {e[0]}, out)


def loops_of(elements: Iterable[Element]) -> Iterator[tuple[int, Order]]:
    """All loops of an order, outer before inner."""
    for e in elements:
        if not isinstance(e, int):
            yield e
            yield from loops_of(e[1])


def blocks_of(elements: Iterable[Element]) -> set[int]:
    """All blocks in a part of an order."""
    out: set[int] = set()
    for e in elements:
        if isinstance(e, int):
            out.add(e)
        else:
            out.add(e[0])
            out |= blocks_of(e[1])
    return out


def weak_order(graph: Digraph[int], root: int) -> Order | None:
    """A weak topological order (Bourdoncle 1993): blocks, and (head, body) for each loop, without END.

    None if a loop has several entries.
    """
    return _order(graph, graph, root)


def _order(graph: Digraph[int], part: Digraph[int], entry: int | None) -> Order | None:
    """The order of a part of the graph. (END may be in it: it has no successors.)"""
    loops = {min(c): c for c in components(part) if len(c) > 1 or part.has_edge(*c, *c)}
    if not loops:
        return [b for b in sorted_by_edges(part) if b != END]
    place = {b: first for first, loop in loops.items() for b in loop}  # a loop is represented by its smallest block
    folded: Digraph[int] = Digraph()
    folded.add_nodes(place.get(b, b) for b in part)
    folded.add_edges((a, b) for a, b in ((place.get(u, u), place.get(v, v)) for u, v in part.edges) if a != b)
    out: Order = []
    for b in sorted_by_edges(folded):
        if b in loops:
            element = _loop_order(graph, loops[b], entry)
            if element is None:
                return None
            out.append(element)
        elif b != END:
            out.append(b)
    return out


def _loop_order(graph: Digraph[int], loop: set[int], entry: int | None) -> tuple[int, Order] | None:
    """(head, the order of the rest) of a strongly connected component; None if it has several entries."""
    heads = [b for b in loop if b == entry or any(p not in loop for p in graph.predecessors(b))]
    if len(heads) != 1:
        return None
    rest = loop.difference(heads)
    body: Digraph[int] = Digraph()
    body.add_nodes(rest)
    body.add_edges((b, s) for b in rest for s in graph.successors(b) if s in rest)
    order = _order(graph, body, None) if rest else []
    return None if order is None else (heads[0], order)
