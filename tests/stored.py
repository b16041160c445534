"""What the engine computes for the values that a kernel stores to global memory: to hold it against what a GPU wrote there.

    stored(function, launch)  ->  [Stored(threads, address, value, known), …]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptxaudit import graph, machines
from ptxaudit.ir import Function, Instruction, Reg
from ptxaudit.lanes.constants import Constants
from ptxaudit.lanes.effects import View, execute, guard_mask
from ptxaudit.lanes.env import LANES, Facts
from ptxaudit.lanes.given import given
from ptxaudit.lanes.operations import on_machine
from ptxaudit.lanes.rows import environment, three
from ptxaudit.lanes.runs import _batches
from ptxaudit.lanes.simulate import Cohort, Simulation


@dataclass(frozen=True)
class Stored:
    """One store that some lanes issued, lane by lane: threads counted through the grid, addresses (of unknown pointers the part that is
    known), the numbers stored (element after element), and in which lanes these are known. doubt: why it may not have been issued so."""

    index: int
    threads: np.ndarray
    address: np.ndarray
    values: tuple[np.ndarray, ...]
    known: tuple[np.ndarray, ...]
    doubt: str = ""


class _Watching(Simulation):
    """A simulation that keeps what is stored."""

    def __init__(self, stores: frozenset[int], first: np.ndarray, *arguments):
        super().__init__(*arguments)
        self.stores, self.first, self.seen = stores, first, []

    def _step(self, instruction: Instruction, cohort: Cohort, view: View):
        if instruction.index in self.stores:
            self._keep(instruction, cohort, view)
        return super()._step(instruction, cohort, view)

    def _keep(self, instruction: Instruction, cohort: Cohort, view: View) -> None:
        op = next(op for op in instruction.ops if op.name == "store")
        for other in instruction.ops[:instruction.ops.index(op)]:
            execute(other, view, instruction.index)
        guard, doubt = guard_mask(view, op.guard)
        active = cohort.mask if guard is None else guard
        address, *values = (view.read(source) for source in op.src)
        spread = lambda array: np.broadcast_to(array, active.shape)[active]
        threads = (self.first[cohort.rows][:, None] + np.arange(LANES))[active]
        known = tuple(~spread(np.zeros((1, 1), bool) if v.poison is None else v.poison) if not v.terms and v.valid is None else
                      np.zeros(len(threads), bool) for v in values)
        self.seen.append(Stored(instruction.index, threads, spread(address.base) + np.uint64(op.offset), tuple(spread(v.base) for v in values), known,
                                cohort.doubt or cohort.parted and "" or ("a guard that is not known" if doubt is not None else "")))


def stored(function: Function, launch, arch: str = "sm_90") -> list[Stored]:
    """Every store to global memory of a launch with one-dimensional blocks of whole warps."""
    flow = graph.build(function)
    block, grid = three(launch.block), three(launch.grid)
    stores = {i.index: [s for op in i.ops for s in op.src if isinstance(s, Reg)] for i in function.instructions
              if any(op.name == "store" and op.space in ("global", "generic") for op in i.ops) and flow.block_of[i.index] in flow.reachable}
    facts = Facts(constants=Constants.of(function, {}), meanings=on_machine(machines.get(arch).special))
    facts = replace(facts, memory=given(flow, environment(function, launch, facts, (1, 1, 1)), launch.buffers, {}))
    held = [(register, index) for index, registers in stores.items() for register in registers]
    part = flow.slice((), follow_loads=True, whether=set(stores), held=held)
    part = replace(part, ops=part.ops | {i: tuple(op for op in function.instructions[i].ops if op.name != "store") for i in stores})
    out = []
    warps = -(-block[0] // LANES)
    done = 0
    for env, low, high in _batches(function, launch, facts, block, grid, {0}, 64):
        first = (low[:, 0] * block[0] + np.arange(len(low)) % warps * LANES) if grid[0] > 1 else np.arange(len(low)) * LANES
        run = _Watching(frozenset(stores), first, flow, part, env, {}, low, high, None, True)
        run.run()
        out += run.seen
        done += len(low)
    return out
