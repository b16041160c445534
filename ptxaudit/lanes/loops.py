"""What inference needs to know of a function's control flow before it runs: the order of running, the loops with
what is in them, which registers are still read where.

    order      0, 1, (2, [3, (4, [5])]), 6       blocks; a loop is its head and, in order, the rest of it
    live       block -> registers that are read there or later before they are written
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from ..graph import END, Graph, Slice, sources_of
from ..ir import Function


@dataclass(frozen=True)
class Loop:
    """What never changes of a loop.

    body: its order of running, without the head. targets: its blocks and those that it leads to. sites, written:
    accesses and registers in it. forks, exits: its blocks that end in a jump, those that may leave it. outward: those
    whose ways meet outside of it.
    """

    head: int
    body: list
    inside: frozenset[int]
    targets: tuple[int, ...]
    sites: tuple[int, ...]
    written: tuple
    forks: tuple[int, ...]
    exits: tuple[int, ...]
    outward: tuple[int, ...]


class Paths:
    """What all rows of a function share: its control flow without the branches that decide nothing, the order
    of running it, and which registers are read later.

    reduced: the control flow; order: a weak topological one, None where there is none; loops: block -> heads of
    the loops it lies in; dominators: immediate ones; live: block -> registers that are read there or later before
    they are written for certain (states meet register by register: most of a long kernel's are of no use any more).
    """

    def __init__(self, function: Function, graph: Graph, part: Slice):
        self.function, self.graph, self.part = function, graph, part
        self.reduced = self._reduced_cfg()
        self.order = _weak_order(self.reduced, 0)
        self.loops: dict[int, frozenset[int]] = {}
        _note_loops(self.order or [], frozenset(), self.loops)
        self.heads = frozenset().union(*self.loops.values())
        self.dominators = {b: d for b, d in nx.immediate_dominators(self.reduced, 0).items() if d is not None}
        self._loops: dict[int, Loop] = {}
        self._gathered: dict[int, int | None] = {}

    def loop(self, head: int, body: list) -> Loop:
        """The loop at a head of the order."""
        if head not in self._loops:
            inside = frozenset({head} | _blocks_of(body))
            ways = {b: set(self.reduced.successors(b)) for b in inside}
            last = lambda b: self.function.instructions[self.graph.ends[b] - 1]
            sites = (k for b in inside for k in range(self.graph.starts[b], self.graph.ends[b])
                     if self.function.instructions[k].site is not None)
            self._loops[head] = Loop(
                head, body, inside, tuple(inside.union(*ways.values())), tuple(sites), self._written(inside),
                forks=tuple(b for b in inside if last(b).control is not None),
                exits=tuple(b for b in inside if not ways[b] <= inside),
                outward=tuple(b for b in inside if self.graph.postdominators.get(b, END) not in inside))
        return self._loops[head]

    def _written(self, inside: frozenset[int]) -> tuple:
        names: dict = {}
        for b in inside:
            for k in range(self.graph.starts[b], self.graph.ends[b]):
                for op in self.part.ops[k] if k in self.part.instructions else ():
                    names.update((d.name, None) for d in op.dst if d is not None)
                    if op.name == "store" and op.space == "local":
                        names[("local",)] = None
        return tuple(names)

    def _reduced_cfg(self) -> nx.DiGraph:
        """The control flow with branches that decide nothing taken out."""
        g = nx.DiGraph()
        stack, seen = [0], {0}
        while stack:
            b = stack.pop()
            g.add_node(b)
            for s in self.successors(b):
                g.add_edge(b, s)
                if s not in seen and s != END:
                    seen.add(s)
                    stack.append(s)
        return g

    def relevant(self, block: int) -> bool:
        return self.graph.ends[block] - 1 in self.part.branches

    def successors(self, block: int) -> list[int]:
        successors = sorted(self.graph.cfg.successors(block))
        if len(successors) > 1 and not self.relevant(block):
            return [self.graph.postdominators.get(block, END)]
        return successors

    @cached_property
    def live(self) -> dict[int, dict[str, None]]:
        """By sets of bits; the names in an order that is always the same."""
        names: dict[str, int] = {}
        bit = lambda reg: 1 << names.setdefault(reg.name, len(names))
        wanted = self.part.instructions
        used, killed = {}, {}
        for b in self.reduced.nodes:
            reads = kills = 0
            for k in range(self.graph.starts[b], self.graph.ends[b]) if b != END else ():
                instruction = self.function.instructions[k]
                for reg in (*self.graph.site_reads(instruction), *self.graph.control_reads(instruction)):
                    reads |= bit(reg) & ~kills
                for op in self.part.ops[k] if k in wanted else ():
                    for reg in sources_of(op):
                        reads |= bit(reg) & ~kills
                    for reg in op.dst:
                        if reg is not None and op.guard is None:
                            kills |= bit(reg)
            used[b], killed[b] = reads, kills
        live = dict(used)
        order = list(nx.dfs_postorder_nodes(self.reduced, 0))          # what follows comes first
        before = {b: [p for p in self.reduced.predecessors(b)] for b in order}
        after = {b: [s for s in self.reduced.successors(b)] for b in order}
        changed = set(order)
        while changed:
            for b in order:
                if b in changed:
                    changed.discard(b)
                    entering = used[b]
                    for s in after[b]:
                        entering |= live[s] & ~killed[b]
                    if entering != live[b]:
                        live[b] = entering
                        changed.update(before[b])
        every = np.array(list(names), dtype=object)
        return {b: dict.fromkeys(every[set_bits(bits)].tolist()) for b, bits in live.items()}

    @cached_property
    def local(self) -> bool:
        """Something of the slice is in local memory, whose places are registers with other names."""
        return any(op.space in ("local", "generic") and op.name == "store" for ops in self.part.ops.values() for op in ops)

    def always(self, dominator: int, block: int) -> bool:
        """Every way from `dominator` to the end leads through `block`: it is a post-dominator of it."""
        first, last = self._spans.get(block, (1, 0))
        return first < self._spans.get(dominator, (0, 0))[0] <= last

    def gathered(self, block: int) -> int | None:
        """The nearest dominator of a block all of whose lanes arrive there, in no more trips than they left.

        (The one before that is the same of this one.)
        """
        if block not in self._gathered:
            d = self.dominators.get(block)
            while d is not None and not (self.loops[d] <= self.loops[block] and self.always(d, block)):
                d = self.dominators.get(d) if self.dominators.get(d) != d else None
            self._gathered[block] = d if d != block else None
        return self._gathered[block]

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """block -> its number in the tree of post-dominators from the end, and the highest of those below it."""
        below: dict[int, list[int]] = {}
        for b, d in self.graph.postdominators.items():
            if b != d:
                below.setdefault(d, []).append(b)
        spans: dict[int, tuple[int, int]] = {}
        number, stack = 0, [(END, iter(below.get(END, ())))]
        first = {END: 0}
        while stack:
            b, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                spans[b] = first[b], number
                stack.pop()
            else:
                number += 1
                first[child] = number
                stack.append((child, iter(below.get(child, ()))))
        return spans


def set_bits(number: int) -> np.ndarray:
    """The places of the ones of a number."""
    octets = np.frombuffer(number.to_bytes((number.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little"))


def _note_loops(elements, heads: frozenset, out: dict) -> None:
    """block -> the heads of the loops it lies in."""
    for e in elements:
        if isinstance(e, int):
            out[e] = heads
        else:
            out[e[0]] = heads | {e[0]}
            _note_loops(e[1], heads | {e[0]}, out)


def _blocks_of(elements) -> set[int]:
    out: set[int] = set()
    for e in elements:
        if isinstance(e, int):
            out.add(e)
        else:
            out.add(e[0])
            out |= _blocks_of(e[1])
    return out


def _weak_order(graph: nx.DiGraph, root: int) -> list | None:
    """A weak topological order (Bourdoncle 1993): blocks, and (head, body) for each loop; END left out.

    None when a loop has several entries.
    """
    return _order(graph, frozenset(n for n in graph.nodes if n != END), root)


def _order(graph: nx.DiGraph, nodes: frozenset, entry: int | None) -> list | None:
    sub = nx.DiGraph()                          # (a view of a part asks its filter at every step)
    sub.add_nodes_from(nodes)
    sub.add_edges_from((n, s) for n in nodes for s in graph.successors(n) if s in nodes)
    condensed = nx.condensation(sub)
    if len(condensed) == len(nodes) and not any(sub.has_edge(n, n) for n in nodes):
        return list(nx.lexicographical_topological_sort(sub))
    out = []
    for c in nx.lexicographical_topological_sort(condensed, key=lambda c: min(condensed.nodes[c]["members"])):
        members = condensed.nodes[c]["members"]
        first = min(members)
        if len(members) == 1 and not sub.has_edge(first, first):
            out.append(first)
            continue
        heads = {m for m in members if m == entry or any(p not in members for p in graph.predecessors(m))}
        if len(heads) != 1:
            return None
        head = heads.pop()
        rest = _order(graph, frozenset(members - {head}), None)
        if rest is None:
            return None
        out.append((head, rest))
    return out
