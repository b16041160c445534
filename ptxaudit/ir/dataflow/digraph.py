"""Directed graphs with as much as control flow needs: successors and predecessors, in insertion order.

    Digraph([(0, 1), (1, 0), (1, 2)])        components: {0, 1}, {2}

networkx has more, but importing it takes longer than analysing a typical kernel; `as_networkx` converts a graph for
other algorithms.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    import networkx as nx

Node = TypeVar("Node", bound=Hashable)


class Digraph(Generic[Node]):
    """Nodes and edges, without parallel edges."""

    __slots__ = ("_after", "_before")

    def __init__(self, edges: Iterable[tuple[Node, Node]] = ()) -> None:
        self._after: dict[Node, dict[Node, None]] = {}
        self._before: dict[Node, dict[Node, None]] = {}
        self.add_edges(edges)

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node not in self._after:
                self._after[node] = {}
                self._before[node] = {}

    def add_edge(self, source: Node, target: Node) -> None:
        """Adds an edge, and its nodes if they are new."""
        if source not in self._after or target not in self._after:
            self.add_nodes((source, target))
        self._after[source][target] = None
        self._before[target][source] = None

    def add_edges(self, edges: Iterable[tuple[Node, Node]]) -> None:
        for source, target in edges:
            self.add_edge(source, target)

    def remove_edge(self, source: Node, target: Node) -> None:
        """Raises KeyError if there is no such edge."""
        del self._after[source][target]
        del self._before[target][source]

    def __contains__(self, node: object) -> bool:
        return node in self._after

    def __iter__(self) -> Iterator[Node]:
        return iter(self._after)

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._after)

    def has_edge(self, source: Node, target: Node) -> bool:
        return source in self._after and target in self._after[source]

    def successors(self, node: Node) -> Collection[Node]:
        return self._after[node].keys()

    def predecessors(self, node: Node) -> Collection[Node]:
        return self._before[node].keys()

    @property
    def edges(self) -> Iterator[tuple[Node, Node]]:
        """All edges, grouped by source."""
        return ((source, target) for source, targets in self._after.items() for target in targets)

    @property
    def edge_count(self) -> int:
        return sum(map(len, self._after.values()))

    def copy(self) -> Self:
        out = type(self)()
        out._after = {node: dict(others) for node, others in self._after.items()}
        out._before = {node: dict(others) for node, others in self._before.items()}
        return out

    def part(self, nodes: Collection[Node]) -> Self:
        """The subgraph induced by these nodes."""
        out = type(self)()
        out.add_nodes(node for node in self if node in nodes)
        out.add_edges((source, target) for source in out for target in self._after[source] if target in nodes)
        return out

    def reversed(self) -> Self:
        """The graph with all edges reversed."""
        out = type(self)()
        out.add_nodes(self)
        out.add_edges((target, source) for source, target in self.edges)
        return out

    def as_networkx(self) -> nx.DiGraph[Node]:
        import networkx as nx

        out: nx.DiGraph[Node] = nx.DiGraph()
        out.add_nodes_from(self)
        out.add_edges_from(self.edges)
        return out


def components(graph: Digraph[Node]) -> list[set[Node]]:
    """The strongly connected components, in topological order (Sharir, "A strong-connectivity algorithm", 1981).

    In reverse postorder, each node's component is the nodes that lead to it and are in no component yet.
    """
    ends: list[Node] = []
    seen: set[Node] = set()
    for root in graph:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(graph.successors(root)))]
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(graph.successors(other))))
                    break
            else:
                ends.append(node)
                stack.pop()
    out: list[set[Node]] = []
    for root in reversed(ends):
        if root not in seen:  # already in a component
            continue
        found, waiting = {root}, [root]
        seen.discard(root)
        while waiting:
            for other in graph.predecessors(waiting.pop()):
                if other in seen:
                    seen.discard(other)
                    found.add(other)
                    waiting.append(other)
        out.append(found)
    return out


def sorted_by_edges(graph: Digraph[int]) -> list[int]:
    """The nodes of an acyclic graph in topological order, the smallest first where several may come next."""
    missing = {node: len(graph.predecessors(node)) for node in graph}
    ready = [node for node, count in missing.items() if not count]
    heapify(ready)
    out: list[int] = []
    while ready:
        node = heappop(ready)
        out.append(node)
        for other in graph.successors(node):
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, other)
    return out
