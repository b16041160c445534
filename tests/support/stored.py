"""The engine's values for a kernel's stores to global memory, to compare with those that a GPU wrote.

stored(function, launch, 1024)  ->  (numbers, known): the value that each thread of the grid stored, and whether the
                                    engine knows it
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.work import Account
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.exec.runs import _batches
from ptxaudit.engine.exec.simulate import Simulation
from ptxaudit.engine.memory.constants import Constants
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.engine.memory.rows import three
from ptxaudit.engine.memory.written import given
from ptxaudit.engine.ops.operations import on_machine
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir.nodes import Function, Instruction, Reg

BLOCKS_AT_ONCE = 64


class _Watching(Simulation):
    """A simulation that records stores. first: the first thread in the grid of each row."""

    def watch(self, stores: dict[int, object], first: np.ndarray, numbers: np.ndarray, known: np.ndarray) -> None:
        self.stores, self.first, self.numbers, self.known = stores, first, numbers, known

    def _step(self, instruction: Instruction, cohort: Cohort, view: View):
        if instruction.index in self.stores:
            self._keep(instruction, cohort, view)
        return super()._step(instruction, cohort, view)

    def _keep(self, instruction: Instruction, cohort: Cohort, view: View) -> None:
        store = self.stores[instruction.index]
        for op in instruction.ops[: instruction.ops.index(store)]:
            execute(op, view, instruction.index)
        guard, doubt = guard_mask(view, store.guard)
        active = cohort.mask if guard is None else guard
        spread = lambda array: np.broadcast_to(array, active.shape)[active]
        threads = (self.first[cohort.rows][:, None] + np.arange(LANES))[active]
        total, sure = np.zeros(len(threads), np.uint64), np.full(len(threads), not cohort.undecided and doubt is None)
        for at, value in enumerate(view.read(source) for source in store.src[1:]):
            total |= spread(value.base).astype(np.uint64) << np.uint64(32 * at)
            sure &= ~spread(np.zeros((1, 1), bool) if value.poison is None else value.poison) & (
                not value.terms and value.valid is None
            )
        self.numbers[threads], self.known[threads] = total, sure


def stored(function: Function, launch, threads: int, arch: str = "sm_90") -> tuple[np.ndarray, np.ndarray]:
    """(uint64 numbers, bool known) of a launch in one dimension, with whole warps, in which each thread stores one
    number.
    """
    flow = graph.build(function)
    stores = {
        i.index: op
        for i in function.instructions
        for op in i.ops
        if op.name == "store" and op.space in ("global", "generic") and flow.block_of[i.index] in flow.reachable
    }
    facts = Facts(constants=Constants.of(function, {}), meanings=on_machine(machines.get(arch).measurements.special))
    if launch.buffers:
        facts = Facts(
            constants=facts.constants,
            meanings=facts.meanings,
            memory=given(flow, Origins(flow, *launch.buffer(function)), launch.buffers, {}),
        )
    held = [(source, index) for index, op in stores.items() for source in op.src if isinstance(source, Reg)]
    part = flow.slice((), follow_loads=True, whether=set(stores), held=held)
    part.ops.update({i: tuple(op for op in function.instructions[i].ops if op.name != "store") for i in stores})
    numbers, known = np.zeros(threads, np.uint64), np.zeros(threads, bool)
    block, grid = three(launch.block), three(launch.grid)
    warps = block[0] // LANES
    for env, low, high in _batches(function, launch, facts, block, grid, {0}, BLOCKS_AT_ONCE):
        first = low[:, 0] * block[0] + np.arange(len(low)) % warps * LANES
        run = _Watching(flow, part, env, {}, low, high, Account(), True)
        run.watch(stores, first, numbers, known)
        run.run()
    return numbers, known
