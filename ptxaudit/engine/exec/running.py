"""The state of a run that all of its parts share: registers, rows, living lanes, and the cohorts to continue.

The cohort that is furthest behind continues first, so that warps that took different paths reconverge.
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

Met = tuple[str, int, int]  # where lanes reconverge in PTX: "at", a block, the call depth

RUNNING = "running the launch"
MOST_BLOCKS = 1 << 24  # blocks of a class: with 32 warps each, in a loop of 2**31 trips, their counts fit into 64 bits


class NeedBlocks(Exception):
    """The run needs every block index of these dimensions as a number."""

    def __init__(self, dimensions: set[int]):
        self.dimensions = dimensions


class NeverLeft(Exception):
    """Lanes are in a loop that they never leave: each trip leaves what it began with.

    index: of the loop's first instruction; certain: lanes certainly reached it.
    """

    def __init__(self, index: int, certain: bool):
        self.index, self.certain = index, certain


class Run:
    """The shared state. Rows are warps.

    low, high: (rows, 3) first and last block index of each row's class; weights: (rows,) the number of warps that a
    row represents; round: the round of a loop in closed form that is being tried; shadow: what is known of shared
    memory.
    """

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
        self.may_have_ended = np.zeros(env.rows, bool)  # warps whose lanes may or may not have ended: all are `alive`
        self.heap: list[tuple[tuple[int, ...], int, Cohort]] = []
        self.waiting: list[tuple[Cohort, tuple[str, Met, int]]] = []
        self.held: list[tuple[Cohort, int]] = []  # at a barrier of the block, with its number
        self.shadow: Shadow | None = None
        self.round: Round | None = None
        self.running: Cohort | None = None  # where an aborted run stood, except for waiting cohorts
        self.work = 0  # steps not yet paid for
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
        """Continues with these cohorts: returns the only one, or pushes them all."""
        if len(cohorts) == 1:
            return cohorts[0]
        for cohort in cohorts:
            self.push(cohort)
        return None

    def join(self, cohort: Cohort) -> Cohort:
        """Merges the cohort with others at the same place that have the same state, or lanes of the same warps."""
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
        """Pays for the block that begins, and for the work since the last one."""
        work, self.work = self.work, 0
        self.account.spend(BLOCK + work + elements(self.env.work_done()), RUNNING)

    def specified(self, op: Op) -> bool:
        """A load that may read parameters, or memory whose content the launch specifies."""
        if op.name != "load" or op.space not in given.SPACES:
            return False
        return self.env.facts.memory is not None or op.space == "generic" and self.env.makes_parameter_addresses

    def moves(self, op: Op, lap: Round) -> bool:
        """An operation on a value that contains the number of rounds."""
        if opaque_load(op) and not self.specified(op):
            return False
        return any(isinstance(s, Reg) and lap.mentions(self.registers.values.get(s.name)) for s in op.src)

    def waits_at(self, pc: int) -> bool:
        """Lanes wait there for others, whether they arrive together or diverged."""
        control = self.instructions[pc].control if pc < len(self.instructions) else None
        return control is not None and control.kind == "sync"

    def hardware_place(self, pc: int) -> Hashable:
        """Identifies an instruction of the machine, of which a function called from several places has copies."""
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
        """Aborts a closed-form round on an event that it cannot contain."""
        if self.round is not None:
            raise NotAffine

    def expand(
        self, index: np.ndarray, low: np.ndarray, high: np.ndarray, renumber: Callable[[Cohort], Cohort]
    ) -> None:
        """New row i is old row index[i], with these block indices. renumber: maps a cohort to the new rows."""
        self.low, self.high = low, high
        self.weigh()
        self.registers.expand(index)
        self.alive, self.may_have_ended = self.alive[index], self.may_have_ended[index]
        env = self.env
        env.regroup()
        env.exists, env.warp = env.exists[index], env.warp[index]
        env.visits = {place: visits[index] for place, visits in env.visits.items()}
        x, y, z = (take(t, index) if isinstance(t, Value) else t if t.shape[0] == 1 else t[index] for t in env.tid)
        env.tid = x, y, z
        env.concrete_block = {d: v[index] for d, v in env.concrete_block.items()}
        self.heap = [(p, s, renumber(c)) for p, s, c in self.heap]
        self.waiting = [(renumber(c), b) for c, b in self.waiting]
        self.held = [(renumber(c), b) for c, b in self.held]
