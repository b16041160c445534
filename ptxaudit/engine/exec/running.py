"""The state of a run that all of its parts look at: registers, rows, living lanes, and the cohorts that are to go on.

The cohort that is furthest behind goes on first, so that warps that took different ways meet again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable

import numpy as np

from ptxaudit.base.arrays import among, anywhere
from ptxaudit.base.work import BLOCK, Account, elements
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.exec.cohorts import Cohort, merged
from ptxaudit.engine.memory import given
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import Registers, take
from ptxaudit.engine.memory.shadow import Shadow
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op, Reg
from ptxaudit.ir.operands import opaque_load
from ptxaudit.ir.slices import Slice

Met = tuple[str, int, int]  # where lanes meet in PTX: "at", a block, how many calls deep

RUNNING = "running the launch"
MOST_BLOCKS = 1 << 24  # alike, of which what 32 warps do in a loop of 2**31 trips is counted in 64 bits


class NeedBlocks(Exception):
    """The run needs every block index of these dimensions as a number."""

    def __init__(self, dimensions: set[int]):
        self.dimensions = dimensions


class NeverLeft(Exception):
    """Lanes are in a loop that they do not leave: what a trip leaves to the next is what it began with. index: of the
    loop's first instruction; certain: they surely came there."""

    def __init__(self, index: int, certain: bool):
        self.index, self.certain = index, certain


class Run:
    """Rows are warps. low, high: (rows, 3) first and last block index of each row's class; weights: (rows,) warps that
    a row stands for; round: the one that is tried of a loop in closed form; shadow: what is known of shared memory."""

    def __init__(
        self,
        graph: Graph,
        part: Slice,
        env: Environment,
        records: dict[int, SiteRecord],
        low: np.ndarray,
        high: np.ndarray,
        account: Account,
        allow_blocks: bool,
    ):
        self.graph, self.part, self.env, self.records = graph, part, env, records
        self.instructions = graph.function.instructions
        self.explicit = graph.function.explicit_reconvergence
        self.registers = Registers(env.rows)
        self.low, self.high = low, high
        self.account, self.allow_blocks = account, allow_blocks
        self.alive = env.exists.copy()
        self.may_have_ended = np.zeros(env.rows, bool)  # warps with lanes of which that is not known: all are `alive`
        self.heap: list[tuple[tuple[int, ...], int, Cohort]] = []
        self.waiting: list[tuple[Cohort, tuple[str, Met, int]]] = []
        self.held: list[tuple[Cohort, int]] = []  # at a barrier of the block, with its number
        self.shadow: Shadow | None = None
        self.round: Round | None = None
        self.running: Cohort | None = None  # where a run that is broken off stood, but for those that wait
        self.work = 0  # steps that are not paid for yet
        self._serial = 0
        self.weigh()
        self.symbolic_blocks = anywhere(self.high > self.low)

    def weigh(self) -> None:
        extent = self.high - self.low + 1
        if np.prod(extent.astype(float), axis=1).max() > MOST_BLOCKS:
            extent = extent.astype(object)
        self.weights = np.prod(extent, axis=1)

    def push(self, cohort: Cohort) -> None:
        if len(cohort.rows):
            self._serial += 1
            heapq.heappush(self.heap, (cohort.place, self._serial, cohort))

    def go_on(self, cohorts: list[Cohort]) -> Cohort | None:
        """These run: the one that there is, at once."""
        if len(cohorts) == 1:
            return cohorts[0]
        for cohort in cohorts:
            self.push(cohort)
        return None

    def join(self, cohort: Cohort) -> Cohort:
        """Take in the other cohorts at the same place that bring the same along, or have lanes of its warps."""
        kept, place = [], cohort.place
        while self.heap and self.heap[0][0] == place:
            item = heapq.heappop(self.heap)
            other = item[2]
            if other.state == cohort.state or anywhere(among(other.rows, cohort.rows)):
                cohort = merged(cohort, other)
            else:
                kept.append(item)
        for item in kept:
            heapq.heappush(self.heap, item)
        return cohort

    def pay(self) -> None:
        """For the block that begins, and what was done since the last one."""
        work, self.work = self.work, 0
        self.account.spend(BLOCK + work + elements(self.env.work_done()), RUNNING)

    def specified(self, op: Op) -> bool:
        """A load that may be of memory whose content the launch tells, or of the parameters."""
        if op.name != "load" or op.space not in given.SPACES:
            return False
        return self.env.facts.memory is not None or op.space == "generic" and self.env.makes_parameter_addresses

    def moves(self, op: Op, lap: Round) -> bool:
        """An operation on a value with the number of rounds in it."""
        if opaque_load(op) and not self.specified(op):
            return False
        return any(isinstance(s, Reg) and lap.mentions(self.registers.values.get(s.name)) for s in op.src)

    def waits_at(self, pc: int) -> bool:
        """Lanes wait there for others, whether they come together or apart."""
        control = self.instructions[pc].control if pc < len(self.instructions) else None
        return control is not None and control.kind == "sync"

    def hardware_place(self, pc: int) -> Hashable:
        """What tells an instruction of the machine from others: of what is called from several places there are
        copies.
        """
        if pc >= len(self.instructions):
            return pc
        instruction = self.instructions[pc]
        control = instruction.control
        if control is not None and control.kind == "call" and control.targets:
            # one of the calls that a computed one may be: lanes that have chosen are on their way to different
            # functions
            return instruction.place, instruction.opcode, self.instructions[control.targets[0]].place
        return instruction.place, instruction.opcode, instruction.text

    def no_round(self) -> None:
        """Something happens that a round in closed form cannot have."""
        if self.round is not None:
            raise NotAffine

    def expand(
        self, index: np.ndarray, low: np.ndarray, high: np.ndarray, renumber: Callable[[Cohort], Cohort]
    ) -> None:
        """New row i is old row index[i], with these block indices. renumber: a cohort -> the same in the new rows."""
        self.low, self.high = low, high
        self.weigh()
        self.registers.expand(index)
        self.alive, self.may_have_ended = self.alive[index], self.may_have_ended[index]
        env = self.env
        env.regroup()
        env.exists, env.warp = env.exists[index], env.warp[index]
        x, y, z = (take(t, index) if isinstance(t, Value) else t if t.shape[0] == 1 else t[index] for t in env.tid)
        env.tid = x, y, z
        env.concrete_block = {d: v[index] for d, v in env.concrete_block.items()}
        self.heap = [(p, s, renumber(c)) for p, s, c in self.heap]
        self.waiting = [(renumber(c), b) for c, b in self.waiting]
        self.held = [(renumber(c), b) for c, b in self.held]
