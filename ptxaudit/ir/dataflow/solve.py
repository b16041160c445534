"""Reachability, postorder, and the least fixed point of facts.

    reached((0,), {0: (1,), 1: (0, 2), 2: ()}.get)                              ->  {0, 1, 2}
    postorder((0,), {0: (1,), 1: (0, 2), 2: ()}.get)                            ->  [2, 1, 0]
    solve(live registers of each block, from those of its successors)

`solve` keeps a worklist: Kildall, "A unified approach to global program optimization", POPL 1973.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Fact = TypeVar("Fact")


def reached(
    starts: Iterable[Node], following: Callable[[Node], Iterable[Node]], before: set[Node] | None = None
) -> set[Node]:
    """The nodes reachable from `starts`, which are included; `following` is called once for each.

    before: nodes of earlier searches, which are left out; the nodes of this search are added to it.
    """
    seen: set[Node] = set() if before is None else before
    found = {node for node in starts if node not in seen}
    seen |= found
    stack = list(found)
    while stack:
        for node in following(stack.pop()):
            if node not in seen:
                seen.add(node)
                found.add(node)
                stack.append(node)
    return found


def postorder(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The same nodes in postorder of a depth-first search."""
    out: list[Node] = []
    seen = set[Node]()
    for start in starts:
        stack = [] if start in seen else [(start, iter(following(start)))]
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            new = next((other for other in rest if other not in seen), None)
            if new is None:
                out.append(node)
                stack.pop()
            else:
                seen.add(new)
                stack.append((new, iter(following(new))))
    return out


def solve(
    facts: dict[Node, Fact],
    transfer: Callable[[Node], Fact],
    readers: Mapping[Node, Iterable[Node]],
    order: Sequence[Node],
) -> None:
    """Updates facts in place to the least fixed point above them.

    transfer: the transfer function of a node, from the current facts of the others; monotone, on a lattice without
    infinite ascending chains. readers: node -> the nodes whose facts depend on its own. order: all nodes; each pass
    goes over it, and visits the nodes with a changed source.
    """
    place = {node: n for n, node in enumerate(order)}
    now, later = list(range(len(order))), list[int]()  # heaps of places: of this pass and of the next
    waiting = set(now)
    while now:
        at = heappop(now)
        waiting.discard(at)
        fact = transfer(order[at])
        if fact != facts[order[at]]:
            facts[order[at]] = fact
            for reader in readers.get(order[at], ()):
                n = place.get(reader)
                if n is not None and n not in waiting:
                    waiting.add(n)
                    heappush(now if n > at else later, n)
        if not now:
            now, later = later, now
