"""Which branches may part the lanes of a warp in machine code without a convergence barrier that gathers them again.

    BSSY B0; @P0 BRA a; …; a: BSYNC B0       the lanes meet at BSYNC, however they went
    @P0 BRA a; …; a: …                       they go on in two groups if P0, a thread's own, holds in some lanes only
    @P0 BRA a; …; a: …                       together if P0 is made of parameters and block indices alone

Such a branch decides how often what follows is issued, even if nothing between it and the place where its ways meet
matters.
"""

from __future__ import annotations

from functools import cached_property

from ptxaudit.ir.graph import END, Graph
from ptxaudit.ir.nodes import Instruction, Op, Reg, Special
from ptxaudit.ir.warp_operations import DIFFERS

OWN = ("tid", "laneid", "lanemask")  # special registers that differ from lane to lane
ACROSS = (*DIFFERS, "atom", "call")  # operations whose results may, whatever they read


def _conditional(instruction: Instruction) -> bool:
    control = instruction.control
    return control is not None and (control.kind == "branch" and control.guard is not None or control.kind == "switch")


class Divergence:
    """Whether what instructions write, or where they go, may differ between lanes that run together: found backwards
    through definitions and what they depend on."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.known: dict[int, bool] = {}  # instruction -> it may

    @cached_property
    def parting(self) -> frozenset[int]:
        """The conditional branches (instruction indices) whose ways do not meet at a barrier, if lanes may go different
        ways.
        """
        graph, instructions = self.graph, self.graph.function.instructions
        found = []
        for block in sorted(graph.reachable - {END}):
            last, meeting = instructions[graph.ends[block] - 1], graph.postdominators.get(block, END)
            if meeting != END and _conditional(last):
                control = instructions[graph.starts[meeting]].control
                if (control is None or control.kind != "sync" or graph.yields(block)) and self.differs(last.index):
                    found.append(last.index)
        return frozenset(found)

    def differs(self, index: int) -> bool:
        """A search that ends at the first origin of a difference; without one all that it saw is alike in all lanes."""
        before: dict[int, int] = {index: index}
        stack = [index]
        while stack:
            at = stack.pop()
            if self.known.get(at) or at not in self.known and self._is_origin(at):
                while not self.known.get(at):
                    self.known[at] = True
                    at = before[at]
                return True
            if at in self.known:
                continue
            for other in self._made_of(at):
                if other not in before:
                    before[other] = at
                    stack.append(other)
        self.known.update(dict.fromkeys(before, False))
        return False

    def _is_origin(self, index: int) -> bool:
        instruction = self.graph.function.instructions[index]
        return any(_differs_by_itself(op) for op in instruction.ops)

    def _made_of(self, index: int) -> set[int]:
        """The instructions that what it writes depends on."""
        graph = self.graph
        instruction = graph.function.instructions[index]
        found: set[int] = set()
        if (
            instruction.ops
            and all(d is None or d.uniform for op in instruction.ops for d in op.dst)
            and any(d is not None for op in instruction.ops for d in op.dst)
        ):
            return found
        regs = graph.reads(instruction, follow_loads=True, entering=True) + graph.control_reads(instruction)
        if instruction.guard is not None:
            regs.append(instruction.guard.reg)
        for reg in regs:
            if not reg.uniform:
                found |= graph.reaching(reg.name, index)
        found.discard(index)
        found |= {graph.ends[b] - 1 for b in graph.controllers.get(graph.block_of[index], ())}
        graph.account.spend(1 + len(found), "looking for branches that part lanes")
        return found


def _differs_by_itself(op: Op) -> bool:
    if any(isinstance(d, Reg) and d.uniform for d in op.dst):
        return False
    return (
        op.name.startswith(ACROSS)
        or op.name == "load"
        and op.space in ("local", "generic")
        or any(isinstance(s, Special) and s.name.startswith(OWN) for s in op.src)
    )
