"""What every node of a graph comes to, as bits: one search for all of them.

    a -> b <-> c -> d,  d has bit 1        ->        a, b, c and d have bit 1

The nodes of a strongly connected component have the same bits; components are finished successors first (Tarjan, 1972),
so each node and edge is looked at once, whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar
from weakref import WeakMethod

Node = TypeVar("Node", bound=Hashable)
Answer = TypeVar("Answer")


def of_owner(method: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """A method of what holds the closure, which it does not keep alive: both go when the owner is done with, not when
    the collector looks for cycles."""
    known = WeakMethod(method)

    def call(node: Any) -> Answer:
        bound = known()
        assert bound is not None  # the owner asks
        return bound(node)

    return call


class Closure(Generic[Node]):
    """following: what a node leads to; own: the bits that it has by itself. Either may raise what ends the search: what
    was finished before holds. most: all bits that there are, None where that is not said: nothing is followed from a
    node that has them."""

    def __init__(
        self,
        following: Callable[[Node], Iterable[Node]],
        own: Callable[[Node], int],
        most: int | None = None,
    ) -> None:
        self._following, self._own, self._most = following, own, most
        self._bits: dict[Node, int] = {}

    def of(self, node: Node) -> int:
        """The bits of a node and of all that it leads to, over any number of steps."""
        if node not in self._bits:
            self._search(node)
        return self._bits[node]

    def of_all(self, nodes: Iterable[Node]) -> int:
        """The bits of any of them."""
        bits = 0
        for node in nodes:
            bits |= self.of(node)
        return bits

    def _search(self, start: Node) -> None:
        number: dict[Node, int] = {}
        low: dict[Node, int] = {}
        bits: dict[Node, int] = {}  # gathered so far
        waiting: list[Node] = []  # of components that are not whole yet
        path: list[tuple[Node, Iterator[Node]]] = []

        def enter(node: Node) -> None:
            number[node] = low[node] = len(number)
            bits[node] = own = self._own(node)
            waiting.append(node)
            path.append((node, iter(self._following(node) if own != self._most else ())))

        enter(start)
        while path:
            node, rest = path[-1]
            if bits[node] == self._most:  # and so has all that waits: it leads to what leads here
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
        """The component that begins with a node is whole. (Its first node has gathered the bits of the others.)"""
        while True:
            member = waiting.pop()
            self._bits[member] = bits[node]
            if member == node:
                return
