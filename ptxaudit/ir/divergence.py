"""Finds branches in machine code at which lanes of a warp may diverge without reconverging at a convergence barrier.

    BSSY B0; @P0 BRA a; …; a: BSYNC B0       the lanes reconverge at BSYNC, whichever path they took
    @P0 BRA a; …; a: …                       they remain in two groups if P0 depends on the thread
    @P0 BRA a; …; a: …                       they stay together if P0 depends only on parameters and block indices

Such a branch determines how often the following code is issued, even if nothing before its post-dominator matters.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property

from ptxaudit.ir.blocks import END, parts_if
from ptxaudit.ir.dataflow.closure import Closure, of_owner
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.gathering import reached_apart
from ptxaudit.ir.nodes import MATRICES, Instruction, Op, Operand, Reg, Special, Unknown
from ptxaudit.ir.operands import control_reads, overwrites, reads, sources_of
from ptxaudit.ir.reaching import ReachingDefinitions
from ptxaudit.ir.transfers import is_unresolved
from ptxaudit.ir.warp_operations import DIFFERS, WARP

LOOKING = "finding divergent branches"
ROUNDS = 3  # of branches that are found to diverge because others do; beyond, all may
_CHANGING = ("shared", "shared::cluster", "global", "generic")
OWN = ("tid", "laneid", "lanemask")  # special registers that differ between lanes
ACROSS = (*DIFFERS, "atom", "call")  # operations whose results may differ between lanes, whatever they read


def _conditional(instruction: Instruction) -> bool:
    control = instruction.control
    if control is None or control.uniform:  # all active lanes agree
        return False
    return control.kind == "branch" and control.guard is not None or control.kind == "switch"


class Divergence:
    """Whether the results of instructions, or their successors, may differ between lanes that execute together.

    The answer follows from a backward search through definitions and control dependences.
    """

    def __init__(self, graph: ReachingDefinitions, apart: frozenset[int] = frozenset()):
        """apart: instructions that lanes of a warp may execute at different times, although no branch tells them apart:
        what is one number for lanes that execute together may then differ between those that meet later.
        """
        self.graph: ReachingDefinitions = weakref.proxy(graph)  # which owns this object
        self.apart = apart
        self._diverged_by: dict[int, frozenset[Reg] | None] = {}
        self._arrives: dict[int, bool] = {}

    @cached_property
    def parting(self) -> frozenset[int]:
        """The conditional branches (indices) that may diverge and whose paths do not reconverge at a barrier."""
        graph, instructions = self.graph, self.graph.function.instructions
        found = []
        for block in sorted(graph.reachable - {END}):
            last, meeting = instructions[graph.ends[block] - 1], graph.postdominators.get(block, END)
            if meeting != END and _conditional(last):
                if not self._reconverges(block, meeting) and self.differs(last.index):
                    found.append(last.index)
        return frozenset(found)

    def _reconverges(self, block: int, meeting: int) -> bool:
        """Lanes that diverge at the end of a block wait for each other at a BSYNC with which another begins."""
        if block in self.graph.recursive:
            return False
        control = self.graph.function.instructions[self.graph.starts[meeting]].control
        if control is None or control.kind != "sync" or self.graph.yields(block):
            return False
        return control.barrier is not None and control.barrier.name not in self.graph.unheld[block]

    def differs(self, index: int) -> bool:
        """Whether the results of an instruction, or its successors, may differ between lanes.

        All queries together visit each instruction and definition once.
        """
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
        """The dependences of an instruction, or the definitions that a join merges."""
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

    def arrives_diverged(self, block: int) -> bool:
        """Whether lanes that take the branch at the end of a block together may diverge before its post-dominator, and
        arrive there without having reconverged at a barrier.
        """
        if block not in self._arrives:
            self._arrives[block] = self._part_until(block)
        return self._arrives[block]

    def _part_until(self, block: int) -> bool:
        graph, instructions = self.graph, self.graph.function.instructions
        meeting = graph.postdominators.get(block, END)
        kind_at: Callable[[int], str] = lambda at: "" if (control := instructions[at].control) is None else control.kind
        if meeting != END and kind_at(graph.starts[meeting]) == "sync":
            return False
        parting = [b for b in graph.region(block) if b != block and graph.ends[b] - 1 in self.parting]
        last: Callable[[int], str] = lambda b: "" if b == END else kind_at(graph.ends[b] - 1)
        beyond: Callable[[int], list[int]] = lambda b: (
            []
            if b in (meeting, END) or last(b) == "sync" and b not in graph.recursive
            else list(graph.within.successors(b))
        )
        passed = reached(parting, beyond)
        graph.account.spend(1 + len(passed), LOOKING)
        return bool(parting) and (meeting in passed or any(last(b) == "ret" for b in passed))

    def diverged_by(self, block: int) -> frozenset[Reg] | None:
        """As `Graph.diverged_by`: traces the region's branches to registers defined outside. Cached per block."""
        if block not in self._diverged_by:
            self._diverged_by[block] = self._entering(block)
        return self._diverged_by[block]

    def _entering(self, block: int) -> frozenset[Reg] | None:
        graph, region = self.graph, self.graph.region(block)
        last = [graph.function.instructions[graph.ends[b] - 1] for b in region]
        others = graph.cfg if graph.loose_call is not None else graph.reachable  # (padding falls through, too)
        entered = {p for b in region for p in graph.before[b] if p != block and p not in region and p in others}
        if entered or any(is_unresolved(i.control) for i in last):
            return None  # paths enter from elsewhere, e.g. from a routine that other calls share
        stack = [i.index for i in last if parts_if(i)]
        seen, found = set(stack), set()
        while stack:
            at = stack.pop()
            if any(map(_differs_by_itself, graph.function.instructions[at].ops)):  # lanes that enter do so together
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
        """(writes in the region that may reach `index`, whether the value at the end of `block` may reach it)."""
        graph = self.graph
        writes: dict[int, list[tuple[int, bool]]] = {}
        for at, kills in graph.definitions.get(name, ()):
            if graph.block_of[at] in region:
                writes.setdefault(graph.block_of[at], []).append((at, kills))
        found: set[int] = set()

        def passes(b: int, end: int) -> bool:
            """Whether the value at the start of a block may hold before `end`."""
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
        ops = self.graph.function.instructions[index].ops
        return any(map(_differs_by_itself, ops)) or index in self.apart and any(map(of_its_time, ops))

    def parted(self) -> frozenset[int]:
        """What lanes may execute apart: behind branches whose paths do not reconverge at a barrier, and from where some
        lanes of a warp yield.
        """
        graph = self.graph
        behind = {graph.postdominators.get(graph.block_of[index], END) for index in self.parting}
        starts = {graph.starts[b] for b in behind | (graph.yielding & self._entered_by_some) if b != END}
        return reached_apart(graph, sorted(starts))

    @cached_property
    def _entered_by_some(self) -> set[int]:
        """The blocks that only some lanes of a warp may enter, with all blocks of the routines called there."""
        graph, instructions = self.graph, self.graph.function.instructions
        controlled: dict[int, list[int]] = {}
        for block, by in graph.controllers.items():
            for b in by:
                controlled.setdefault(b, []).append(block)
        last = {b: graph.ends[b] - 1 for b in graph.reachable - {END}}
        forks = [b for b, k in last.items() if _conditional(instructions[k]) and self.differs(k)]
        inside = reached([block for b in forks for block in controlled.get(b, ())], lambda b: controlled.get(b, ()))
        routines = {graph.calls[b] for b in inside & graph.calls.keys()}
        graph.account.spend(len(last) + len(inside), LOOKING)
        return inside | reached(routines, lambda b: [s for s in graph.within.successors(b) if s != END])

    def _reads(self, index: int) -> list[Reg]:
        """The non-uniform registers that determine the instruction's results or its successors."""
        instruction = self.graph.function.instructions[index]
        if _writes_uniform(instruction):
            return []
        regs = reads(instruction, follow_loads=True, entering=True) + control_reads(instruction)
        if instruction.guard is not None:
            regs.append(instruction.guard.reg)
        return [reg for reg in regs if not reg.uniform]


def _writes_uniform(instruction: Instruction) -> bool:
    """Whether it writes only uniform registers."""
    written = [d for op in instruction.ops for d in op.dst]
    return any(d is not None for d in written) and all(d is None or d.uniform for d in written)


def divergence(graph: ReachingDefinitions) -> Divergence:
    """The differences between lanes that execute together, where they may have executed what led there at different
    times.
    """
    found = Divergence(graph)
    if not any(of_its_time(op) for i in graph.function.instructions for op in i.ops):
        return found
    for _ in range(ROUNDS):
        apart = found.parted()
        if apart == found.apart:
            return found
        found = Divergence(graph, apart)
    return Divergence(graph, frozenset(range(len(graph.function.instructions))))


def of_its_time(op: Op) -> bool:
    """Whether the result is one number for lanes that execute the operation at once, and may be another one for those
    that execute it later: it depends on the active lanes, or on what others do meanwhile.
    """
    warp = WARP.get(op.name.partition(".")[0])
    if warp is not None:
        return warp.values and warp.counts_lanes and (warp.mask is None or len(op.src) <= warp.mask)
    return op.name == "barrier.test" or op.name == "load" and op.space in _CHANGING and not op.read_only


def _own_place(operand: Operand) -> bool:
    """A lane may have another one than the others, whatever registers hold."""
    return isinstance(operand, Unknown) or isinstance(operand, Special) and operand.name.startswith(OWN)


def _differs_by_itself(op: Op) -> bool:
    """Whether the result may differ between lanes whatever the operation reads.

    This includes unmodelled operations, which may have more inputs than are listed, and matrix products and matrix
    loads, which leave a different part of the result in each lane.
    """
    if any(isinstance(d, Reg) and d.uniform for d in op.dst):
        return False
    return (
        op.name.startswith(ACROSS)
        or op.name == "opaque"
        or op.name == "load"
        and op.space in ("local", "generic", MATRICES)
        or any(map(_own_place, op.src))
    )
