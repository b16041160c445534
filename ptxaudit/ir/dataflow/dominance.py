"""Immediate dominators in O(m log n).

Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph", 1979.

    0 -> 1 -> 3,  0 -> 2 -> 3        ->        {0: None, 1: 0, 2: 0, 3: 0}

(networkx iterates to a fixed point and climbs the tree in every step, which is quadratic for a kernel with many early
returns.)
"""

from __future__ import annotations

from ptxaudit.ir.dataflow.digraph import Digraph


def immediate_dominators(graph: Digraph[int], root: int) -> dict[int, int | None]:
    """node -> its immediate dominator, None for the root. Unreachable nodes are left out."""
    order, parent = _depth_first(graph, root)
    number = {node: n for n, node in enumerate(order)}
    semi = list(range(len(order)))
    label = list(range(len(order)))  # the node with the least semidominator on the compressed path above
    above: list[int | None] = [None] * len(order)  # in the forest of processed nodes
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
    """The nodes in preorder, and for each the number of its parent in the depth-first tree."""
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
    """The node with the least semidominator on the path to the root of its tree, without the root.

    Compresses the path.
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
    """node -> its preorder number in a tree, and the highest number below it.

    A node is below another if its number is in the other's span. (In a dominator tree: if the other dominates it.)
    parents: node -> its parent; the root may be its own parent, or have none.
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
