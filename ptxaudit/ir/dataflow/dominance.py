"""Immediate dominators in O(m log n): Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph",
1979.

    0 -> 1 -> 3,  0 -> 2 -> 3        ->        {0: None, 1: 0, 2: 0, 3: 0}

(networkx iterates to a fixed point, each step of which climbs the tree: quadratic for a kernel that leaves early in
many places.)
"""

from __future__ import annotations

from ptxaudit.ir.dataflow.digraph import Digraph


def immediate_dominators(graph: Digraph[int], root: int) -> dict[int, int | None]:
    """node -> the last one that every way from the root to it leads through; None for the root. Nodes that are not
    reached are left out.
    """
    order, parent = _depth_first(graph, root)
    number = {node: n for n, node in enumerate(order)}
    semi = list(range(len(order)))
    label = list(range(len(order)))  # the least semidominator on the way up that is compressed so far
    above: list[int | None] = [None] * len(order)  # of the forest of those that are done
    dominator = [0] * len(order)
    waiting: list[list[int]] = [[] for _ in order]
    for n in range(len(order) - 1, 0, -1):
        for node in graph.predecessors(order[n]):
            if (before := number.get(node)) is not None:
                semi[n] = min(semi[n], semi[_least(before, above, label, semi)])
        waiting[semi[n]].append(n)
        above[n] = parent[n]
        for v in waiting[parent[n]]:
            u = _least(v, above, label, semi)
            dominator[v] = u if semi[u] < semi[v] else parent[n]
        waiting[parent[n]].clear()
    for n in range(1, len(order)):
        if dominator[n] != semi[n]:
            dominator[n] = dominator[dominator[n]]
    return {node: order[dominator[n]] if n else None for n, node in enumerate(order)}


def _depth_first(graph: Digraph[int], root: int) -> tuple[list[int], list[int]]:
    """The nodes in the order in which a search comes to them, and for each the number of the one it came from."""
    order, parent, seen = [root], [0], {root}
    stack = [(0, iter(graph.successors(root)))]
    while stack:
        number, rest = stack[-1]
        node = next((s for s in rest if s not in seen), None)
        if node is None:
            stack.pop()
            continue
        seen.add(node)
        order.append(node)
        parent.append(number)
        stack.append((len(order) - 1, iter(graph.successors(node))))
    return order, parent


def _least(node: int, above: list[int | None], label: list[int], semi: list[int]) -> int:
    """The node with the least semidominator on the way from this one up its tree, but for the tree's root; the way is
    compressed.
    """
    way: list[tuple[int, int]] = []
    at = node
    while (up := above[at]) is not None and above[up] is not None:
        way.append((at, up))
        at = up
    for at, up in reversed(way):
        if semi[label[up]] < semi[label[at]]:
            label[at] = label[up]
        above[at] = above[up]
    return label[node]


def tree_spans(parents: dict[int, int], root: int) -> dict[int, tuple[int, int]]:
    """node -> its own number in a tree, counted from the root down, and the highest number below it: a node lies below
    another when its number lies in the other's span. (In a tree of dominators: when the other dominates it.)

    parents: node -> the one above it; the root may be its own parent, or have none.
    """
    below: dict[int, list[int]] = {}
    for node, parent in parents.items():
        if node != parent:
            below.setdefault(parent, []).append(node)
    spans: dict[int, tuple[int, int]] = {}
    number, stack = 0, [(root, iter(below.get(root, ())))]
    first = {root: 0}
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            spans[node] = first[node], number
            stack.pop()
        else:
            number += 1
            first[child] = number
            stack.append((child, iter(below.get(child, ()))))
    return spans
