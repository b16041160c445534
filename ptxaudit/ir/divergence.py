"""Which branches may part the lanes of a warp in machine code without a convergence barrier that gathers them again.

    BSSY B0; @P0 BRA a; …; a: BSYNC B0       the lanes meet at BSYNC, however they went
    @P0 BRA a; …; a: …                       they go on in two groups if P0, a thread's own, holds in some lanes only
    @P0 BRA a; …; a: …                       together if P0 is made of parameters and block indices alone

Such a branch decides how often what follows is issued, even if nothing between it and the place where its ways meet
matters.
"""

from __future__ import annotations

import weakref
from functools import cached_property

from ptxaudit.ir.blocks import END, parts_if
from ptxaudit.ir.dataflow.closure import Closure, of_owner
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.nodes import Instruction, Op, Operand, Reg, Special, Unknown
from ptxaudit.ir.operands import control_reads, overwrites, reads, sources_of
from ptxaudit.ir.reaching import ReachingDefinitions
from ptxaudit.ir.transfers import is_unresolved
from ptxaudit.ir.warp_operations import DIFFERS

LOOKING = "finding divergent branches"
OWN = ("tid", "laneid", "lanemask")  # special registers that differ from lane to lane
ACROSS = (*DIFFERS, "atom", "call")  # operations whose results may, whatever they read


def _conditional(instruction: Instruction) -> bool:
    control = instruction.control
    return control is not None and (control.kind == "branch" and control.guard is not None or control.kind == "switch")


class Divergence:
    """Whether what instructions write, or where they go, may differ between lanes that run together: found backwards
    through definitions and what they depend on."""

    def __init__(self, graph: ReachingDefinitions):
        self.graph: ReachingDefinitions = weakref.proxy(graph)  # which has this
        self._diverged_by: dict[int, frozenset[Reg] | None] = {}

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
        """Of what an instruction writes, or where it goes. Each instruction and each definition is looked at once, all
        that it depends on with it, whoever asks."""
        return bool(self._closure.of(index))

    def differs_in_address(self, index: int) -> bool:
        """Of the address of an access, between lanes that make it together: these went the same way at the branches
        that decide whether it is made, so that what has been written once on this way is the same in all of them."""
        graph, site = self.graph, self.graph.function.site(index)
        passed = reached(graph.controllers.get(graph.block_of[index], ()), lambda b: graph.controllers.get(b, ()))
        own, entering = self._making_address(index)
        stack = [graph.read.read(name, index) for name in entering]
        seen: set[Definition] = set()
        if own or _own_place(site.address):
            return True
        while stack:
            node = stack.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if isinstance(node, Joined):
                if self._closure.of(node):
                    return True
                continue
            elsewhere = graph.controllers.get(graph.block_of[node], set()) - passed
            if self._is_origin(node) or any(self.differs(graph.ends[b] - 1) for b in elsewhere):
                return True
            stack += [graph.read.read(reg.name, node) for reg in self._reads(node)]
            graph.account.spend(1 + len(elsewhere), LOOKING)
        return False

    def _making_address(self, index: int) -> tuple[bool, set[str]]:
        """(whether an operation of an access's own makes its address differ; the registers that this comes from)."""
        instruction, site = self.graph.function.instructions[index], self.graph.function.site(index)
        wanted = {site.address.name} if isinstance(site.address, Reg) else set[str]()
        differs = False
        for op in reversed(instruction.ops):
            if not overwrites(op, site) and any(d is not None and d.name in wanted for d in op.dst):
                differs = differs or _differs_by_itself(op)
                wanted -= {d.name for d in op.dst if d is not None and op.guard is None}
                wanted |= {reg.name for reg in sources_of(op) if not reg.uniform}
        return differs, wanted

    @cached_property
    def _closure(self) -> Closure[Definition]:
        return Closure(of_owner(self._before), of_owner(self._own), most=True)

    def _own(self, node: Definition) -> bool:
        return not isinstance(node, Joined) and self._is_origin(node)

    def _before(self, node: Definition) -> list[Definition]:
        """What an instruction, or what comes together in a place, depends on."""
        graph = self.graph
        if isinstance(node, Joined):
            found = list(graph.read.sources(node))
        elif _writes_uniform(graph.function.instructions[node]):
            found = []
        else:
            read = (graph.read.read(reg.name, node) for reg in self._reads(node))
            found = [one for one in read if one is not None]
            found += [graph.ends[b] - 1 for b in graph.controllers.get(graph.block_of[node], ())]
        graph.account.spend(1 + len(found), LOOKING)
        return found

    def diverged_by(self, block: int) -> frozenset[Reg] | None:
        """As `Graph.diverged_by`: what the branches of the region are made of inside of it, as far as to registers that
        come from outside. Found once for each block."""
        if block not in self._diverged_by:
            self._diverged_by[block] = self._entering(block)
        return self._diverged_by[block]

    def _entering(self, block: int) -> frozenset[Reg] | None:
        graph, region = self.graph, self.graph.region(block)
        last = [graph.function.instructions[graph.ends[b] - 1] for b in region]
        if any(before != block and before not in region for b in region for before in graph.before[b]) or any(
            is_unresolved(i.control) for i in last
        ):
            return None  # ways come in from elsewhere, such as a routine that other calls share
        stack = [i.index for i in last if parts_if(i)]
        seen, found = set(stack), set()
        while stack:
            at = stack.pop()
            if self._is_origin(at):
                return None
            made_of = {graph.ends[b] - 1 for b in graph.controllers.get(graph.block_of[at], ()) if b in region}
            for reg in self._reads(at):
                inside, enters = self._reaching_inside(reg.name, at, block, region)
                made_of |= inside
                if enters:
                    found.add(reg)
            graph.account.spend(1 + len(made_of), LOOKING)
            stack += made_of - seen
            seen |= made_of
        return frozenset(found)

    def _reaching_inside(self, name: str, index: int, block: int, region: set[int]) -> tuple[set[int], bool]:
        """(writes in the region that may be read at `index`, whether what was there at the branch that ends `block` may
        be).
        """
        graph = self.graph
        writes: dict[int, list[tuple[int, bool]]] = {}
        for at, kills in graph.definitions.get(name, ()):
            if graph.block_of[at] in region:
                writes.setdefault(graph.block_of[at], []).append((at, kills))
        found: set[int] = set()

        def passes(b: int, end: int) -> bool:
            """What held at the start of a block may hold before `end`."""
            for at, kills in reversed(writes.get(b, ())):
                if at < end:
                    found.add(at)
                    if kills:
                        return False
            return True

        enters, seen = False, set()
        stack = list(graph.before[graph.block_of[index]]) if passes(graph.block_of[index], index) else []
        while stack:
            b = stack.pop()
            enters = enters or b == block
            if b in region and b not in seen:
                seen.add(b)
                if passes(b, graph.ends[b]):
                    stack += graph.before[b]
        graph.account.spend(1 + len(seen), LOOKING)
        return found, enters

    def _is_origin(self, index: int) -> bool:
        instruction = self.graph.function.instructions[index]
        return any(_differs_by_itself(op) for op in instruction.ops)

    def _reads(self, index: int) -> list[Reg]:
        """The registers of lanes that decide what it writes, or where it goes."""
        instruction = self.graph.function.instructions[index]
        if _writes_uniform(instruction):
            return []
        regs = reads(instruction, follow_loads=True, entering=True) + control_reads(instruction)
        if instruction.guard is not None:
            regs.append(instruction.guard.reg)
        return [reg for reg in regs if not reg.uniform]


def _writes_uniform(instruction: Instruction) -> bool:
    """All that it writes are registers of the warp."""
    written = [d for op in instruction.ops for d in op.dst]
    return any(d is not None for d in written) and all(d is None or d.uniform for d in written)


def _own_place(operand: Operand) -> bool:
    """A lane may have another one than the others, whatever registers hold."""
    return isinstance(operand, Unknown) or isinstance(operand, Special) and operand.name.startswith(OWN)


def _differs_by_itself(op: Op) -> bool:
    """Whatever it reads: of an operation that is not understood not all of that is said, and a product of matrices, or
    a load of their rows, leaves a part of the result in each lane."""
    if any(isinstance(d, Reg) and d.uniform for d in op.dst):
        return False
    return (
        op.name.startswith(ACROSS)
        or op.name == "opaque"
        or op.name == "load"
        and op.space in ("local", "generic", "ldmatrix")
        or any(map(_own_place, op.src))
    )
