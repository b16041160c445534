"""Executes the slice of a kernel as the hardware would, all warps of a launch at once.

Rows are warps. A *cohort* is a set of rows, with a mask of lanes each, at the same instruction with the same call
stack. A branch on which the lanes of a warp disagree splits it into two cohorts; SASS names convergence barriers at
which they reconverge (`convergence`). PTX names none: there they reconverge where ptxas would let them, at the
branch's post-dominator (`Graph.meeting`), or before it if they happen to be at the same instruction, as on the two
paths into the body of `if (a || b)`. The cohort that is furthest behind runs first, so that warps that took different
paths reconverge.

Blocks that cannot differ are one class of rows with a weight. `%ctaid` starts as an unknown with a range; a comparison
that the range does not decide splits the rows at the block indices where its result changes (`block_indices`). An
operation without an affine form in `%ctaid` requires a run with every block index known (`NeedBlocks`).

Branches on unknown values are stepped over: what they may have changed becomes opaque, the accesses inside are marked,
and `infer` answers for those.

The parts: the effect of an instruction on the lanes of a cohort (`warp_step`, `accesses`), where they go
(`transfers`), which lanes wait for which (`convergence`, `meetings`), unknown control flow (`undecided_control`),
loops in closed form (`repeat`). With a plan of `tables`, numbers that are written to shared memory and read back are
tracked (`tracked`); the warps of a block then wait for each other at its barriers.
"""

from __future__ import annotations

import heapq

import numpy as np

from ptxaudit.base.work import OPERATION, Account, elements
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.domain.lanes import LANES, first_active
from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.domain.value import known, opaque
from ptxaudit.engine.exec import warp_step
from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.engine.exec.block_indices import BlockIndices, cut
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.effects import execute, execute_in_round
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.repeat import NothingLeft, Repeats
from ptxaudit.engine.exec.running import RUNNING, NeedBlocks, Run
from ptxaudit.engine.exec.tracked import TrackedMemory
from ptxaudit.engine.exec.transfers import Transfers
from ptxaudit.engine.exec.undecided_control import UndecidedControl
from ptxaudit.engine.memory.draws import Draws, tells_blocks_apart
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import View
from ptxaudit.engine.memory.shadow import BlocksNeeded
from ptxaudit.engine.memory.tables import Plan
from ptxaudit.ir import frames
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Instruction, Op, Reg, Site
from ptxaudit.ir.operands import BARRIER_MOVES
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.ir.slices import Slice

MAX_ROWS = 1 << 15  # warps executed together; a launch with more classes of blocks is given up


class TooManyRows(Exception):
    """The launch has more classes of warps than are executed together."""


class Simulation(Run):
    """One run. After `run()`, `records` holds the requests of every site."""

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
        plan: Plan | None = None,
    ):
        """low, high: (rows, 3) first and last block index of each row's class. account: pays for the run, or raises
        Exhausted. allow_blocks: NeedBlocks may be raised. plan: what is tracked of shared memory (then Unsafe may be
        raised).
        """
        super().__init__(graph, part, env, records, low, high, account, allow_blocks)
        self.own_variables = frames.has_own(graph.function)
        self.warps = Warps(self, self.ordered)
        self.meetings = Meetings(self, self.warps)
        self.accesses = Accesses(self, self.warps, self.meetings)
        self.blocks = BlockIndices(self, self.warps, self.split)
        self.repeats = Repeats(self, self.warps, self.meetings, self.accesses, self.drain)
        self.tracked = None if plan is None else TrackedMemory(self, self.warps, plan)
        self.shadow = None if self.tracked is None else self.tracked.shadow
        env.shared = self.shadow if plan is not None and plan.writes.valued else None
        if (counters := env.facts.counters) is not None:
            apart = tells_blocks_apart((op for ops in part.ops.values() for op in ops), env)
            env.counters = None if apart else Draws(env, counters, self.no_round)
        self.unresolved = UndecidedControl(self, self.warps, self.meetings, self.tracked)
        self.transfers = Transfers(self, self.warps, self.meetings, self.unresolved, self.tracked)

    def run(self) -> None:
        rows = np.arange(self.env.rows)
        self.push(Cohort(0, rows, self.env.exists.copy()))
        try:
            self.drain()
        except BlocksNeeded as need:
            raise NeedBlocks(need.dimensions) from None
        except NothingLeft:
            pass
        self.running = None
        self.pay()

    def drawn(self) -> set[int]:
        """After `run`: the instructions by which every block has taken a ticket. Raises NotOnce if one did so not just
        once.
        """
        by = None if self.env.counters is None else self.env.counters.check()
        return set() if by is None else {by}

    def dissolve(self) -> None:
        """Breaks the reference cycles of the run and its parts, which would wait for the garbage collector. Call it
        last.
        """
        self.env.shared = self.env.counters = None
        vars(self).clear()

    def drain(self) -> None:
        """Runs until no cohort is left."""
        while self.heap or self.held or self.warps.others():
            self.warps.resume()
            if not self.heap:
                if not self.held or self.tracked is None or not self.tracked.pass_barriers():
                    self.meetings.release_all()
                continue
            _, _, cohort = heapq.heappop(self.heap)
            cohort = self.join(cohort)
            if self.round is None:  # a speculative round leaves nothing behind
                self.running = cohort
            self._run_block(cohort)

    def unfinished(self) -> list[int]:
        """The accesses that an aborted run may still have reached."""
        return self.warps.accesses_of(self.warps.everywhere())

    def _run_block(self, cohort: Cohort) -> None:
        """Runs to the next point where cohorts may reconverge or diverge."""
        pc = cohort.pc
        wanted, branches = self.part.instructions, self.part.branches
        while True:
            if pc >= len(self.instructions):
                left = self.unresolved.exit(cohort, cohort.mask)  # lanes that waited for these
                if left is not None:
                    self.push(left)
                return
            block = self.graph.block_of[pc]
            end = self.graph.ends[block]
            self.pay()
            if not self.explicit and pc == self.graph.starts[block]:
                met = self.meetings.meet(cohort, ("at", block, len(cohort.calls)), pc)
                if met is None:
                    return
                cohort = met
            if self.round is not None and pc == self.graph.starts[block] and self.round.ends(block, pc, cohort):
                return
            if block in self.repeats.heads and pc == self.graph.starts[block]:
                cohort.pc = pc
                if self.round is None:  # it will not reach what it has passed again, if the run ends here
                    self.running = cohort
                cohort = self.repeats.at_head(block, cohort)
            view = self.warps.view(cohort)
            while pc < end:
                instruction = self.instructions[pc]
                if pc in wanted:
                    cohort, view = self._step(instruction, cohort, view)
                control = instruction.control
                if control is not None:
                    break
                pc += 1
            else:
                cohort.pc = pc
                if self.heap or self.warps.others():
                    return self.push(cohort)
                continue
            cohort.pc = pc
            following = self.transfers.transfer(instruction, control, cohort, pc in branches)
            if following is None:
                return
            cohort = following
            pc = cohort.pc
            if self.heap or self.warps.others():
                return self.push(cohort)

    def _step(self, instruction: Instruction, cohort: Cohort, view: View) -> tuple[Cohort, View]:
        ops = self.part.ops[instruction.index]
        self.work += OPERATION * len(ops)
        watched = instruction.site if instruction.index in self.records else None
        return warp_step.step(self, instruction, ops, watched, cohort, view)

    def observe(self, instruction: Instruction, site: Site, cohort: Cohort, view: View) -> None:
        """Records an access of a cohort."""
        self.accesses.access(instruction, site, cohort, view)

    def perform(self, op: Op, instruction: Instruction, cohort: Cohort, view: View) -> tuple[Cohort, View]:
        """Executes one operation of a cohort; returns the cohort, in new rows if it was split."""
        lap = self.round
        if op.name in BARRIER_MOVES:
            self._move_barrier(op, cohort, view)
            return cohort, view
        if op.attrs and op.attrs in (frames.SAVE, frames.RESTORE):
            self.no_round()
            op = frames.saved_at(op, len(cohort.calls))
        elif self.own_variables:
            op = frames.variables_at(op, len(cohort.calls))
        if lap is not None and self.moves(op, lap):
            execute_in_round(op, lap, view, instruction.index)
        elif self.symbolic_blocks and self.blocks.depends(op):
            cohort = self.blocks.execute(op, cohort, view, instruction.index)
            return cohort, self.warps.view(cohort)
        else:
            execute(op, view, instruction.index)
        return cohort, view

    def _move_barrier(self, op: Op, cohort: Cohort, view: View) -> None:
        """BMOV: moves the lanes of a convergence barrier to or from a register, or clears them."""
        barrier = op.src[0]
        assert isinstance(barrier, Reg)
        name = barrier.name
        if op.name == "barrier.save":
            if op.dst[0] is None:
                return
            word = self.warps.word(name, cohort)
            value = opaque(op.dst[0].bits, Reason(Kind.MASKS_NAMED)) if word is None else known(word[:, None])
            view.write(op.dst[0], value, None)
        elif op.name == "barrier.clear":
            self.warps.load(name, cohort, np.zeros(len(cohort.rows), np.uint32))
        else:
            value = view.read(op.src[1])
            word = first_active(value.base.astype(np.uint32), cohort.mask)[:, 0] if value.known else None
            self.warps.load(name, cohort, word)

    def split(self, cohort: Cohort, cuts: dict[int, tuple[int, list[int]]]) -> Cohort:
        """Copies rows so that each copy has one side of its cuts; returns the cohort in the new numbering."""
        if self.round is not None:
            raise NotAffine
        if self.shadow is not None:
            cuts = self.shadow.whole_blocks(cuts)
        self.repeats.forget()
        index, low, high = cut(self.low, self.high, cuts)
        if len(index) > MAX_ROWS:
            raise TooManyRows
        self.account.spend(
            elements(len(index) * LANES * len(self.registers.values)) + len(self.registers.values), RUNNING
        )

        def placed(c: Cohort) -> tuple[Cohort, np.ndarray]:
            position = np.full(int(index.max()) + 1, -1)
            position[c.rows] = np.arange(len(c.rows))
            where = position[index]
            rows = np.flatnonzero(where >= 0)
            return c.of(rows, c.mask[where[rows]]), where[rows]

        self.expand(index, low, high, lambda c: placed(c)[0])
        self.meetings.expand(index)
        self.accesses.expand(index)
        if self.env.counters is not None:
            self.env.counters.expand(index)
        self.warps.expand(index, placed)
        if self.tracked is not None:
            self.tracked.expand(index)
            self.tracked.shadow.expand(index, self.low, self.high)
        return placed(cohort)[0]

    def ordered(self, cohort: Cohort, words: np.ndarray) -> None:
        """Records that the lanes of a cohort have waited for those that they name, words, (n, LANES) uint32."""
        if self.tracked is not None and len(cohort.rows):
            self.tracked.ordered(cohort, words)
