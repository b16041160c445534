"""Which branches may part the lanes of a warp in machine code without a convergence barrier that gathers them again.

    BSSY B0; @P0 BRA a; …; a: BSYNC B0       the lanes meet at BSYNC, however they went
    @P0 BRA a; …; a: …                       they go on in two groups if P0, a thread's own, holds in some lanes only
    @P0 BRA a; …; a: …                       together if P0 is made of parameters and block indices alone

Such a branch decides how often what follows is issued, even if nothing between it and the place where its ways meet matters.
"""

from __future__ import annotations

from .graph import END, Graph, sources_of
from .ir import Instruction, Op, Reg, Special

OWN = ("tid", "laneid", "lanemask")                       # special registers that differ from lane to lane
ACROSS = ("shfl", "match", "elect", "atom", "call")      # operations whose results may, whatever they read


def parting_branches(graph: Graph) -> frozenset[int]:
    """The conditional branches (instruction indices) whose ways do not meet at a barrier, if lanes may go different ways."""
    instructions = graph.function.instructions
    open_branches = []
    for block in graph.reachable:
        if block == END or graph.cfg.out_degree(block) < 2 and not _conditional(instructions[graph.ends[block] - 1]):
            continue
        last = instructions[graph.ends[block] - 1]
        if not _conditional(last):
            continue
        meeting = graph.postdominators.get(block, END)
        control = instructions[graph.starts[meeting]].control if meeting != END else None
        if meeting != END and not (control is not None and control.kind == "sync"):
            open_branches.append(last.index)
    return frozenset(_Uniformity(graph).differing(open_branches))


def _conditional(instruction: Instruction) -> bool:
    control = instruction.control
    return control is not None and (control.kind == "branch" and control.guard is not None or control.kind == "switch")


class _Uniformity:
    """Whether what instructions write may differ between lanes: found backwards through definitions and what they depend on."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.known: dict[int, bool] = {}           # instruction -> lanes may differ in what it writes or where it goes

    def differing(self, branches: list[int]) -> list[int]:
        return [b for b in sorted(branches) if self._differs(b)]

    def _differs(self, index: int) -> bool:
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
        if instruction.ops and all(d is None or d.uniform for op in instruction.ops for d in op.dst) \
                and any(d is not None for op in instruction.ops for d in op.dst):
            return found
        regs = [reg for op in instruction.ops for reg in sources_of(op)] + graph.control_reads(instruction)
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
    return op.name.startswith(ACROSS) or op.name == "load" and op.space in ("local", "generic") \
        or any(isinstance(s, Special) and s.name.startswith(OWN) for s in op.src)
