"""The searches that analyses are made of: what a way leads to, in order or not, and the least fixed point of facts.

    reached((0,), {0: (1,), 1: (0, 2), 2: ()}.get)                              ->  {0, 1, 2}
    postorder((0,), {0: (1,), 1: (0, 2), 2: ()}.get)                            ->  [2, 1, 0]
    solve(live of each block, from what its successors have, until none changes)

A worklist holds what is still to be looked at: Kildall, "A unified approach to global program optimization", POPL 1973.
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
    """The nodes that ways from some lead to, these among them; each is asked once what follows it.

    before: those that searches before this one came to, which are left out; this one's are added.
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
    """The same, each behind what follows it and a depth-first search had not come to before."""
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
    """Brings facts to the least fixed point above them.

    transfer: the fact of a node from those of others as they are now; it grows with them, and has no endless chain.
    readers: node -> those whose fact is made of its own. order: all nodes; in passes over it, those are looked at of
    which a source has changed.
    """
    place = {node: n for n, node in enumerate(order)}
    now, later = list(range(len(order))), list[int]()  # heaps of places: of this pass, and of the next
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
