"""Propagates bits backwards along the edges of a graph: each node gets those of all nodes that it leads to.

    a -> b <-> c -> d,  d has bit 1        ->        a, b, c and d have bit 1

The nodes of a strongly connected component have the same bits. Components are completed successors first (Tarjan,
1972), so that all queries together visit each node and edge once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar
from weakref import WeakMethod

Node = TypeVar("Node", bound=Hashable)
Answer = TypeVar("Answer")


def of_owner(method: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """A method of the closure's owner that does not keep the owner alive.

    Reference counting then frees both, without the cyclic collector.
    """
    known = WeakMethod(method)

    def call(node: Any) -> Answer:
        bound = known()
        assert bound is not None  # the owner is the caller
        return bound(node)

    return call


class Closure(Generic[Node]):
    """following: the successors of a node; own: its own bits. Either may raise to end a search; earlier results remain
    valid.
    most: all bits that exist, or None if not specified: a node that has them is not followed.
    """

    def __init__(
        self,
        following: Callable[[Node], Iterable[Node]],
        own: Callable[[Node], int],
        most: int | None = None,
    ) -> None:
        self._following, self._own, self._most = following, own, most
        self._bits: dict[Node, int] = {}

    def of(self, node: Node) -> int:
        """The bits of a node and of all nodes reachable from it."""
        if node not in self._bits:
            self._search(node)
        return self._bits[node]

    def of_all(self, nodes: Iterable[Node]) -> int:
        """The union of the nodes' bits."""
        bits = 0
        for node in nodes:
            bits |= self.of(node)
        return bits

    def _search(self, start: Node) -> None:
        number: dict[Node, int] = {}
        low: dict[Node, int] = {}
        bits: dict[Node, int] = {}  # so far
        waiting: list[Node] = []  # nodes of incomplete components
        path: list[tuple[Node, Iterator[Node]]] = []

        def enter(node: Node) -> None:
            number[node] = low[node] = len(number)
            bits[node] = own = self._own(node)
            waiting.append(node)
            path.append((node, iter(self._following(node) if own != self._most else ())))

        enter(start)
        while path:
            node, rest = path[-1]
            if bits[node] == self._most:  # so do all waiting nodes, as they lead to this one
                self._bits.update(dict.fromkeys(waiting, bits[node]))
                return
            for other in rest:
                if other in self._bits:
                    bits[node] |= self._bits[other]
                    if bits[node] == self._most:
                        break
                elif other in number:
                    low[node] = min(low[node], number[other])
                else:
                    enter(other)
                    break
            else:
                path.pop()
                if low[node] == number[node]:
                    self._close(node, waiting, bits)
                if path:
                    before = path[-1][0]
                    low[before] = min(low[before], low[node])
                    bits[before] |= bits[node]

    def _close(self, node: Node, waiting: list[Node], bits: dict[Node, int]) -> None:
        """Completes the component of a node, the first one visited in it, which has the bits of all its members."""
        while True:
            member = waiting.pop()
            self._bits[member] = bits[node]
            if member == node:
                return
