"""Finds branches in machine code whose lanes certainly meet again at a WARPSYNC of the whole warp.

    @P0 BRA a; …; a: WARPSYNC.ALL         all lanes wait there for each other, whether or not some have yielded
    @P0 BRA a; WARPSYNC.ALL; …; a: …      some lanes may end before, or never come

Lanes that wait at two WARPSYNCs let each other continue apart, so that no lane may come to another one before.
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.engine.exec.warp_step import gathers
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.solve import reached, solve
from ptxaudit.ir.graph import Graph

LOOKING = "looking at the barriers of the warps"
NONE, SEVERAL = -1, -2  # instead of a block


class Warpsyncs:
    """Of a function in machine code. Time and memory are linear in the code; `meets` visits a region once.

    first: block -> the block of the WARPSYNC to which all lanes come first after its end; SEVERAL if they may come to
    different ones, or some to none; NONE if the end is not reached.
    """

    def __init__(self, graph: Graph, account: Account):
        """account: pays for it, or raises Exhausted."""
        self._graph, self._account = graph, account
        self._whole: dict[int, bool] = {}  # block with a WARPSYNC -> all living lanes of the warp meet at the first
        self.first: dict[int, int] = {}
        self._since: dict[tuple[int, int], set[int]] = {}
        if graph.function.explicit_reconvergence and not graph.calls:
            account.spend(INSTRUCTION * len(graph.function.instructions), LOOKING)
            for i in graph.function.instructions:
                if i.control is not None and i.control.kind in ("warpsync", "part"):
                    self._whole.setdefault(graph.block_of[i.index], gathers(i.control, explicit=True))
        if any(self._whole.values()):
            blocks = sorted(graph.reachable - {END}, reverse=True)
            self.first = dict.fromkeys(blocks, NONE)
            solve(self.first, self._of_successors, {b: graph.cfg.predecessors(b) for b in blocks}, blocks)

    def _of_successors(self, block: int) -> int:
        found = {self._beginning(s) for s in self._graph.cfg.successors(block)} - {NONE}
        return SEVERAL if len(found) > 1 else found.pop() if found else NONE

    def _beginning(self, block: int) -> int:
        """The block of the WARPSYNC to which lanes come first from the beginning of a block."""
        if block in self._whole:
            return block if self._whole[block] else SEVERAL
        return SEVERAL if block == END else self.first[block]

    def meets(self, branch: int, dominator: int, block: int) -> bool:
        """Lanes that diverge at the end of the block `branch`, on a path from a dominator to `block`, meet before any
        of them is at `block`, to which all of them come.
        """
        return self.first.get(branch, NONE) >= 0 and branch not in self._not_met(dominator, block)

    def _not_met(self, dominator: int, block: int) -> set[int]:
        """The blocks from whose end lanes may come to a block before a WARPSYNC."""
        key = dominator, block
        if key not in self._since:
            stop = self._whole.keys() | {dominator}
            predecessors = self._graph.cfg.predecessors
            before: Callable[[int], list[int]] = lambda b: list(predecessors(b)) if b not in stop else []
            self._since[key] = reached(predecessors(block), before)
            self._account.spend(len(self._since[key]), LOOKING)
        return self._since[key]
