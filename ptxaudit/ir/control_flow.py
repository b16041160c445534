"""Dominators, post-dominators, control dependence, and the blocks between a branch and its reconvergence point.

    0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3, 3 -> END      3 post-dominates 0; 0 controls 1 and 2; region(0) is {1, 2}

Control dependence: Ferrante, Ottenstein, Warren, "The program dependence graph", TOPLAS 1987.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property

from ptxaudit.base.work import INSTRUCTION
from ptxaudit.ir.blocks import CONTROL_FLOW, END, Blocks
from ptxaudit.ir.dataflow.dominance import immediate_dominators, tree_spans
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.loops import Loops, loops_of


class ControlFlow(Blocks):
    """The control flow of one function. Each part is computed on first use."""

    def _look_at_all(self) -> None:
        """Pays for an analysis that visits every edge of the control-flow graph."""
        self.account.spend(INSTRUCTION * (len(self.cfg) + self.cfg.edge_count), CONTROL_FLOW)

    @cached_property
    def dominators(self) -> dict[int, int]:
        self._look_at_all()
        return {b: d for b, d in immediate_dominators(self.within, 0).items() if d is not None}

    def dominates(self, block: int, other: int) -> bool:
        """Whether this block dominates the other one, or is the same. False for unreachable blocks."""
        if block == other:
            return True
        first, last = self._dominated.get(block, (1, 0))
        return first <= self._dominated.get(other, (-1, 0))[0] <= last

    @cached_property
    def _dominated(self) -> dict[int, tuple[int, int]]:
        return tree_spans(self.dominators, 0)

    @cached_property
    def postdominators(self) -> dict[int, int]:
        """block -> its immediate post-dominator (END for the last)."""
        self._look_at_all()
        ipdom = immediate_dominators(self._coming_back.reversed(), END)
        return {b: d for b, d in ipdom.items() if b != END and d is not None}

    @cached_property
    def meeting(self) -> dict[int, int]:
        """block -> where lanes that diverge at its end reconverge (END: nowhere).

        This is the post-dominator when paths that only lead to the kernel's end are ignored: lanes that return early
        leave the barrier, and the others reconverge. ptxas places its BSYNC this way. One path to the end always
        remains, the one with the most blocks: the code after a loop is not an early return. Lanes that return from a
        routine have not ended, and the others of their warp do not go on without them.
        """
        self._look_at_all()
        kept = self._coming_back.copy()
        exits = {b for b in self.cfg if b != END and self.only_exits(b)} - self._returning
        idom, tails = self.dominators, self._tails(exits)
        ways = []
        for u in self.cfg:
            successors = list(self._coming_back.successors(u))
            if u == END or len(successors) < 2 or u not in idom:
                continue
            ending = [(size, u, v) for v in successors if (size := self._tail(v, u, exits, tails)) is not None]
            if len(ending) < len(successors):
                ways += ending
        for _, u, v in sorted(ways):
            kept.remove_edge(u, v)
            self.account.spend(len(kept), CONTROL_FLOW)
            if END not in reached((u,), kept.successors):
                kept.add_edge(u, v)
        ipdom = immediate_dominators(kept.reversed(), END)
        return {b: d for b, d in ipdom.items() if b != END and d is not None}

    @cached_property
    def _returning(self) -> frozenset[int]:
        """The blocks that end routines which several calls share: `within` has no way from there to the callers."""
        inside = reached(set(self.calls.values()), self.within.successors) - {END}
        self.account.spend(len(inside), CONTROL_FLOW)
        last = ((b, self.function.instructions[self.ends[b] - 1].control) for b in inside)
        return frozenset(b for b, control in last if control is not None and control.kind == "ret")

    def _tail(self, block: int, source: int, exits: set[int], tails: dict[int, int]) -> int | None:
        """The number of blocks from `block` to the end; None unless `source` alone leads to it, it alone to them."""
        if block == END and source in self._returning:
            return None
        if block == END or block in exits:
            return 0
        return tails.get(block) if all(p == source for p in self.within.predecessors(block)) else None

    def _tails(self, exits: set[int]) -> dict[int, int]:
        """block -> the number of blocks that it dominates, if no edge leads from them to others except `exits`.

        The entry is left out, as it dominates everything. An edge leaves the dominator subtrees of its source and of
        the ancestors of its source, up to the lowest ancestor that dominates its target: it is added at the source
        and subtracted there.
        """
        self._look_at_all()
        dominators = self.dominators
        leaving: dict[int, int] = defaultdict(int)
        size: dict[int, int] = defaultdict(int)
        for b in self._dominated:
            if b == END or b in exits:
                continue
            size[b] = 1
            leaving[b] += b in self._returning  # to who called it
            if any(p not in self._dominated for p in self.within.predecessors(b)):
                leaving[dominators.get(b, b)] += (
                    1  # an edge from unreachable code enters the subtrees above b; for that of b it does not matter
                )
            for s in self.within.successors(b):
                if s != END and s not in exits:
                    stop = s if self.dominates(s, b) else dominators[s]
                    leaving[b] += 1
                    leaving[stop] -= 1
        for b in sorted(self._dominated, key=lambda b: -self._dominated[b][0]):
            if (up := dominators.get(b)) is not None and up != b:
                size[up] += size[b]
                leaving[up] += leaving[b]
        return {b: size[b] for b in self._dominated if b and not leaving[b]}

    @cached_property
    def controllers(self) -> dict[int, set[int]]:
        """block -> the blocks whose last instruction determines whether it executes."""
        out: dict[int, set[int]] = defaultdict(set)
        ipdom, climbed = self.postdominators, 0
        for a in self.within:
            successors = list(self.within.successors(a))
            if a == END or len(successors) < 2:
                continue
            stop = ipdom.get(a, END)
            for b in successors:
                runner = b
                while runner != stop and runner != END:
                    out[runner].add(a)
                    climbed += 1
                    nxt = ipdom.get(runner, END)
                    if nxt == runner:
                        break
                    runner = nxt
            self.account.spend(climbed, CONTROL_FLOW)
            climbed = 0
        return out

    def region(self, block: int) -> set[int]:
        """Blocks on the paths from a branch block to its post-dominator, without these two, and all blocks of the
        routines called there. (The two are included if such a routine contains them.)
        """
        stops = (self.postdominators.get(block, END), END)
        following: Callable[[int], list[int]] = lambda b: [s for s in self.within.successors(b) if s not in stops]
        inside: Callable[[int], list[int]] = lambda b: [s for s in self.within.successors(b) if s != END]
        seen = reached(following(block), following)
        seen |= reached({self.calls[b] for b in seen & self.calls.keys()}, inside)
        self.account.spend(len(seen), CONTROL_FLOW)
        return seen

    def loop(self, source: int, head: int) -> set[int]:
        """The natural loop of a back edge."""
        loop = reached((source,), self.within.predecessors, {head}) | {head}
        self.account.spend(len(loop), CONTROL_FLOW)
        return loop

    @cached_property
    def loops(self) -> Loops:
        """The natural loops and their nesting."""
        edges = [(source, head) for source, head in self.cfg.edges if head != END]
        return loops_of(edges, self.dominates, self.loop)
