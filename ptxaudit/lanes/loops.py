"""What inference needs to know of a function's control flow before it runs: the order of running, the loops with
what is in them, which registers are still read where.

    order      0, 1, (2, [3, (4, [5])]), 6       blocks; a loop is its head and, in order, the rest of it
    live       block -> registers that are read there or later before they are written
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

import networkx as nx
import numpy as np

from ..graph import END, Graph, Slice, tree_spans
from ..ir import Function, Reg


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
        reads, kills, names = {}, {}, {}
        for b in self.reduced.nodes:
            reads[b], kills[b] = self._reads_and_kills(b, names)
        entering_somewhere = set().union(*reads.values())
        names = [name for name in names if name in entering_somewhere]        # most are read in the block that writes them only
        bit = {name: 1 << n for n, name in enumerate(names)}
        bits = lambda some: reduce(or_, [bit[name] for name in some], 0)
        used = {b: bits(some) for b, some in reads.items()}
        kept = {b: ~bits(some & entering_somewhere) for b, some in kills.items()}
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
                        entering |= live[s] & kept[b]
                    if entering != live[b]:
                        live[b] = entering
                        changed.update(before[b])
        every = np.array(names, dtype=object)
        registers = {bits: dict.fromkeys(every[set_bits(bits)].tolist()) for bits in set(live.values())}
        return {b: registers[bits] for b, bits in live.items()}

    def _reads_and_kills(self, block: int, names: dict[str, None]) -> tuple[set[str], set[str]]:
        """What a block reads before it writes it, and what it writes for certain. names: every name that it comes by is added."""
        reads: set[str] = set()
        kills: set[str] = set()

        def read(reg: Reg) -> None:
            if reg.name not in kills and reg.name not in reads:
                reads.add(reg.name)
                names[reg.name] = None

        for k in range(self.graph.starts[block], self.graph.ends[block]) if block != END else ():
            instruction = self.function.instructions[k]
            if instruction.site is not None or instruction.control is not None:
                for reg in (*self.graph.site_reads(instruction), *self.graph.control_reads(instruction)):
                    read(reg)
            for op in self.part.ops.get(k, ()):
                for reg in op.src:
                    if isinstance(reg, Reg):
                        read(reg)
                if op.guard is not None:
                    read(op.guard.reg)
                    continue
                for reg in op.dst:
                    if reg is not None and reg.name not in kills:
                        kills.add(reg.name)
                        names[reg.name] = None
        return reads, kills

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
        """In the tree of post-dominators from the end."""
        return tree_spans(self.graph.postdominators, END)


def set_bits(number: int) -> np.ndarray:
    """The places of the ones of a number."""
    octets = np.frombuffer(number.to_bytes((number.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little").view(bool))


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
    return _order(graph, graph, root)


def _order(graph: nx.DiGraph, part: nx.DiGraph, entry: int | None) -> list | None:
    """The order of a part of the graph. (That END may be in it changes nothing: it leads nowhere.)"""
    loops = {min(c): c for c in nx.strongly_connected_components(part) if len(c) > 1 or part.has_edge(*c, *c)}
    if not loops:
        return [b for b in nx.lexicographical_topological_sort(part) if b != END]
    place = {b: first for first, loop in loops.items() for b in loop}          # a loop is one node, in the place of its first block
    folded = nx.DiGraph()
    folded.add_nodes_from(place.get(b, b) for b in part)
    folded.add_edges_from((a, b) for a, b in ((place.get(u, u), place.get(v, v)) for u, v in part.edges) if a != b)
    out = []
    for b in nx.lexicographical_topological_sort(folded):
        if b in loops:
            element = _loop_order(graph, loops[b], entry)
            if element is None:
                return None
            out.append(element)
        elif b != END:
            out.append(b)
    return out


def _loop_order(graph: nx.DiGraph, loop: set[int], entry: int | None) -> tuple[int, list] | None:
    heads = [b for b in loop if b == entry or any(p not in loop for p in graph.predecessors(b))]
    if len(heads) != 1:
        return None
    rest = loop.difference(heads)
    body = nx.DiGraph()                          # (a view of a part asks its filter at every step)
    body.add_nodes_from(rest)
    body.add_edges_from((b, s) for b in rest for s in graph.successors(b) if s in rest)
    order = _order(graph, body, None) if rest else []
    return None if order is None else (heads[0], order)
