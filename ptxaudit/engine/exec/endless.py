"""Handles launches that do not end, because lanes are in a loop that they never leave.

    if (n != 7) { L: goto L; }       n = 3: the loop at L does not end in this launch; code after it is never issued
    __syncthreads();                 if only some of the warps are in it, the others wait forever

A loop from which no path leads to an end of the kernel is entered at *gates*: branches with one side that leads to
ends and one that does not. Behind a gate, lanes that are not in the loop may continue; at the next barrier they wait
for the others, and nothing after that has a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from msgspec.structs import replace

from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Reg
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.ir.transfers import is_unresolved

LOOKING = "looking for loops that do not end"

_OF_BLOCK = ("barrier",)  # waits for other warps: a run that does not track shared memory passes it
_OF_WARP = ("warpsync", "part")  # wait for named lanes: in machine code a run tracks which lanes wait at one


class Endless:
    """The loop whose first instruction is at `index`, which lanes never leave."""

    def __init__(self, graph: Graph, index: int):
        self.graph, self.index = graph, index
        ending = _ending(graph)
        into = reached((graph.block_of[index],), graph.cfg.predecessors)
        self._entered = into - ending - {END}  # blocks from which every path leads into the loop
        self._gates = {b for b in into & ending if not self._entered.isdisjoint(graph.cfg.successors(b))}

    def keeps(self, index: int) -> bool:
        """Lanes reach an instruction only past the loop."""
        return self.graph.block_of[index] in self._past

    def makes_wait(self, index: int) -> bool:
        """The instruction is after a barrier at which other lanes may wait for those in the loop."""
        block = self.graph.block_of[index]
        return block in self._behind_barriers or index > self._barriers.get(block, index)

    @cached_property
    def _past(self) -> frozenset[int]:
        def on_the_way(block: int) -> Iterable[int]:
            return () if block in self._gates or block in self._entered else self.graph.cfg.successors(block)

        if not self._entered:
            return frozenset()
        around: set[int] = reached((0,), on_the_way)
        return self.graph.reachable - self._entered - around

    @cached_property
    def _barriers(self) -> dict[int, int]:
        """The first barrier of each block that some lanes may not reach: because it is past the loop, or guarded."""
        others, found = self._from(self._others(self._gates)), dict[int, int]()
        kinds = _OF_BLOCK if self.graph.function.explicit_reconvergence else _OF_BLOCK + _OF_WARP
        for i in self.graph.function.instructions:
            block = self.graph.block_of[i.index]
            if i.control is not None and i.control.kind in kinds and (block in others or i.control.guard is not None):
                found.setdefault(block, i.index)
        return found

    @cached_property
    def _behind_barriers(self) -> set[int]:
        return self._from(self._others(set(self._barriers)))

    def _from(self, blocks: set[int]) -> set[int]:
        def following(block: int) -> set[int]:
            return self._others({block})

        return reached(blocks, following)

    def _others(self, blocks: set[int]) -> set[int]:
        """The successors of the blocks outside of the loop."""
        return {s for b in blocks for s in self.graph.cfg.successors(b)} - self._entered - {END}


def entries(graph: Graph) -> tuple[int, ...]:
    """The first instructions of blocks that cannot reach an end, but whose predecessors can.

    No access depends on whether lanes reach them, so the slice requests it separately.
    """
    joined = [b for b in graph.cfg.predecessors(END) if b in graph.reachable and not _ends(graph, b)]
    if not joined:
        return ()
    ending = _ending(graph)
    found = [b for b in graph.reachable - ending - {END} if not ending.isdisjoint(graph.cfg.predecessors(b))]
    return tuple(graph.starts[b] for b in sorted(found))


def left_at_once_or_never(graph: Graph, branches: frozenset[int]) -> tuple[int, ...]:
    """The first instructions of loops whose exits depend on nothing that a trip changes: `L: @p bra L`, and `do { … }
    while (n != 7)` as PTX has it.

    No access depends on whether they end, so this is requested separately. Loops with an exit among `branches`, those
    of a slice, are executed with the slice.
    """
    found = []
    for loop in graph.loops.loops:
        exits = {graph.ends[b] - 1 for b in loop.blocks if not loop.blocks.issuperset(graph.cfg.successors(b))}
        if exits and branches.isdisjoint(exits) and _are_invariant(graph, loop.blocks, exits):
            found.append(graph.starts[loop.head])
    return tuple(found)


def _are_invariant(graph: Graph, blocks: frozenset[int], exits: Iterable[int]) -> bool:
    """Whether the exits of a loop depend neither on memory nor on what a trip leaves to the next."""
    controls = [graph.function.instructions[index].control for index in exits]
    guards = [control.guard for control in controls if control is not None and control.guard is not None]
    if len(guards) < len(controls):
        return False
    sources = dict[str, set[str]]()  # of the registers that the loop writes
    waiting = [guard.reg.name for guard in guards]
    while waiting:
        register = waiting.pop()
        if register in sources:
            continue
        writes = [i for i, _ in graph.definitions.get(register, ()) if graph.block_of[i] in blocks]
        ops = [op for i in writes for op in graph.function.instructions[i].ops if op.writes(register)]
        if any(op.space or op.guard is not None or op.name in ("opaque", "clobber") for op in ops):
            return False
        sources[register] = {operand.name for op in ops for operand in op.src if isinstance(operand, Reg)}
        waiting += sources[register]
        graph.account.spend(1 + len(ops), LOOKING)
    try:
        TopologicalSorter(sources).prepare()
    except CycleError:
        return False
    return True


def _ending(graph: Graph) -> set[int]:
    """The blocks that can reach an end."""
    return reached((b for b in graph.cfg if b != END and _ends(graph, b)), graph.cfg.predecessors)


def _ends(graph: Graph, block: int) -> bool:
    """Lanes may end in a block, or run past the end of the code.

    (The graph has an edge from each endless loop to the end, too.)
    """
    instructions = graph.function.instructions
    control = instructions[graph.ends[block] - 1].control
    if END not in graph.cfg.successors(block):
        return False
    if control is None or control.kind in ("exit", "ret") or is_unresolved(control):
        return control is not None or graph.ends[block] == len(instructions)
    return not control.targets or control.guard is not None and graph.ends[block] == len(instructions)


def kept_by(loop: Endless, results: dict[int, SiteResult]) -> dict[int, SiteResult]:
    """The results of a run, with the loop as the reason for accesses that it keeps lanes from."""
    why = Reason(Kind.NEVER_ISSUED, cause=Reason(Kind.NEVER_LEFT, loop.index))
    kept = {i for i, r in results.items() if r.reason is not None and r.reason.kind is Kind.NEVER_ISSUED}
    return results | {i: replace(results[i], reason=why) for i in kept if loop.keeps(i)}
