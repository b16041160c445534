"""Synchronises the warps of a block that access tracked shared memory: they wait for each other at its barriers.

    barrier 0           these warps are held until the others of their blocks arrive: a new epoch of `shadow`
    warpsync            accesses before it precede those after it, of all lanes that wait for each other
    @p bra L            so do those of lanes that are together there (machine code)

There is one for each run with a plan (`tables`); `shared` has the contents of the memory.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain.lanes import FULL_MASK, LANE_BITS, LANES, pack
from ptxaudit.engine.domain.value import DTYPES, known_in
from ptxaudit.engine.domain.value import known as known_value
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.cells import BarriersUnclear, Unsafe
from ptxaudit.engine.memory.happens_before import alike
from ptxaudit.engine.memory.shared import Shared
from ptxaudit.engine.memory.tables import REDUCTION, Plan, of_all
from ptxaudit.ir.nodes import Control, Instruction, Op, Operand
from ptxaudit.ir.reasons import Kind, Reason

EVERYBODY, NOBODY = 0, -1  # instead of a number of threads: all of the block; they do not wait


class TrackedMemory:
    """The shadow of one simulation, with access to its rows and cohorts."""

    def __init__(self, run: Run, warps: Warps, plan: Plan):
        self.run, self.warps, self.plan = run, warps, plan
        self.counts: dict[int, tuple[int, bool]] = {}  # number of a barrier -> for how many threads, whether they wait
        rows = run.env.rows
        self.said, self.heard = (np.zeros((rows, LANES), bool) for _ in range(2))  # predicates, and whether known
        self.shadow = Shared(run.env, run.low, run.high, plan, run.allow_blocks, run.account, lambda: run.round)

    def expand(self, index: np.ndarray) -> None:
        """New row i is old row index[i]."""
        self.said, self.heard = self.said[index], self.heard[index]

    def matters(self, block: int) -> bool:
        """Between the branch that ends a block and its post-dominator, something affects the known shared memory."""
        graph, plan = self.run.graph, self.plan
        inside = [k for b in graph.region(block) for k in range(graph.starts[b], graph.ends[b])]
        if plan.executed and any(k in plan.meetings and k not in plan.barriers for k in inside):
            raise BarriersUnclear(Reason(Kind.BARRIERS_DIFFER))
        return any(k in plan.writes.writers or k in plan.barriers for k in inside)

    def ordered(self, cohort: Cohort, words: np.ndarray) -> None:
        """Records that lanes have waited for those that they name, words, (n, LANES) uint32, and that these have waited
        for them: their accesses until then precede those that follow.

        Lanes that name others, or not themselves, do not count, nor those of warps whose lanes may be elsewhere than
        assumed: they may have waited at different places. (A whole warp that waits for itself is together whatever
        happened before.)
        """
        rows, alive = cohort.rows, pack(self.run.alive[cohort.rows])
        of_all = np.bitwise_and.reduce(np.where(cohort.mask, words, np.uint32(FULL_MASK)), axis=1)
        everybody = (pack(cohort.mask) == alive) & (alive & ~of_all == 0)
        self.shadow.met(rows[everybody])
        some = ~everybody & ~(self.warps.loose[rows] & self.run.explicit)
        named = cohort.mask[some] & (words[some] & LANE_BITS != 0)
        for lanes in alike(words[some], named):
            mine = np.where(lanes, words[some], np.uint32(0)).max(axis=1)
            whole = alive[some] & mine & ~pack(lanes) == 0
            self.shadow.some_met(rows[some][whole], lanes[whole])

    def together(self, cohort: Cohort) -> None:
        """Records that the lanes of a cohort are at one instruction, if the code decides that: in PTX, the compiler may
        move accesses of one lane past those of another.
        """
        if self.run.explicit and self._certain(cohort):
            self.shadow.some_met(cohort.rows, cohort.mask)

    def _certain(self, cohort: Cohort) -> bool:
        """Whether the lanes of a cohort are certainly active, and together."""
        return not (cohort.undecided or cohort.diverged or self.warps.is_loose(cohort))

    def arrive(self, instruction: Instruction, c: Control, cohort: Cohort) -> Cohort | None:
        """Lanes reach a barrier: the cohort that continues."""
        following, plan = instruction.index + 1, self.plan
        if not plan.executed:
            if instruction.index in plan.barriers:
                return self.hold(cohort, following, plan.barriers[instruction.index])
            return cohort.at(following)
        if instruction.index not in plan.meetings or self.shadow.free[self.shadow.kind[cohort.rows]].all():
            return cohort.at(following)
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        some: np.ndarray = np.logical_or.reduce(lanes, axis=1)
        if undecided is not None or (some[:, None] & (lanes != cohort.mask)).any():
            raise BarriersUnclear(Reason(Kind.BARRIERS_DIFFER))
        coming = cohort if some.all() else cohort.some(some)
        number, count = self._judged(c, coming) if some.any() else (0, NOBODY)
        if count != EVERYBODY:
            if count == LANES:
                self._answer_warps(coming, instruction)
            return cohort.at(following)
        if not some.all():
            self.run.push(cohort.some(~some).at(following))
        return self.hold(coming, following, number)

    def _judged(self, c: Control, cohort: Cohort) -> tuple[int, int]:
        """The number of a barrier, and how many threads wait for each other there.

        If one number is executed with several counts, which lanes wait for which is not modelled.
        """
        meeting = c.meeting
        assert meeting is not None
        number = self._one(meeting.number, meeting.number_in, cohort)
        count = self._one(meeting.threads, meeting.threads_in, cohort)
        if number is None or count is None:
            raise BarriersUnclear(Reason(Kind.BARRIERS_DIFFER))
        if count == of_all(self.run.env):
            count = EVERYBODY
        if self.counts.setdefault(number, (count, meeting.waits)) != (count, meeting.waits):
            raise BarriersUnclear(Reason(Kind.BARRIERS_DIFFER))
        return number, count if meeting.waits else NOBODY

    def _one(self, stated: int | None, held: Operand | None, cohort: Cohort) -> int | None:
        """A number that the code states, or that all lanes hold; None if they do not, or it is unknown."""
        if stated is not None or held is None:
            return stated
        numbers = known_in(self.warps.view(cohort).read(held), cohort.mask)
        several = np.zeros(0, np.uint32) if numbers is None else distinct(numbers[cohort.mask])
        return int(several[0]) if len(several) == 1 else None

    def _unclear(self, kind: Kind) -> Unsafe:
        """What to raise if lanes wait for each other in a way that the barriers do not explain."""
        return (BarriersUnclear if self.plan.executed else Unsafe)(Reason(kind))

    def hold(self, cohort: Cohort, following: int, number: int) -> Cohort | None:
        """Waits at a barrier of the block, except for blocks about which nothing is known any more."""
        cohort.pc = following
        for op in self.run.part.ops.get(following - 1, ()):
            if op.name == REDUCTION:
                self._hear(cohort, op)
        free = self.shadow.free[self.shadow.kind[cohort.rows]]
        if free.all():
            return cohort
        self.run.held.append((cohort.some(~free), number))
        self.warps.free[cohort.rows[~free]] = True
        return cohort.some(free) if free.any() else None

    def pass_barriers(self) -> bool:
        """Releases blocks whose living lanes have all reached their barrier, when nothing else can run. False if
        none.
        """
        shadow, run = self.shadow, self.run
        come, coming, living = self._came()
        late = (run.alive & ~come).any(axis=1)
        shadow.free |= shadow.unknown & ~coming  # what their threads still store comes after all loads
        ready = ~shadow.free & ~np.isin(np.arange(len(shadow.free)), shadow.kind[late])
        number: dict[int, int] = {}
        going: list[Cohort] = []
        held, run.held = run.held, []
        for cohort, at in held:
            kind = shadow.kind[cohort.rows]
            if any(number.setdefault(k, at) != at for k in distinct(kind[ready[kind]]).tolist()):
                raise self._unclear(Kind.BARRIERS_DIFFER)
            go = (ready | shadow.free)[kind]
            if go.any():
                going.append(cohort.some(go))
            if not go.all():
                run.held.append((cohort.some(~go), at))
        self._answer(going, living)
        for cohort in self.warps.choose(going) if run.explicit else going:
            self.warps.free[cohort.rows] = False
            run.push(cohort)
        shadow.epoch[list(number)] += 1
        if not run.heap and not self.warps.others():
            raise self._unclear(Kind.BARRIER_MISSED)
        return bool(run.heap)

    def _came(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """((rows, LANES) lanes that are held at a barrier, or only exit; (blocks,) whether others have yet to come;
        (rows, LANES) living lanes for which barriers wait).
        """
        run, shadow = self.run, self.shadow
        come = np.zeros((run.registers.rows, LANES), bool)
        coming = np.zeros(len(shadow.free), bool)
        for cohort, _ in run.held:
            come[cohort.rows] |= cohort.mask
        living = run.alive.copy()
        at_meetings = [c for c, _ in run.waiting]
        for cohort in (*at_meetings, *self.warps.waiting()):
            if run.graph.only_exits(run.graph.block_of[cohort.pc]):  # they only exit, wherever they reconverge
                come[cohort.rows] |= cohort.mask
                if cohort in at_meetings:  # in PTX, where they need not wait
                    living[cohort.rows] &= ~cohort.mask
            elif come[cohort.rows].any():
                raise self._unclear(Kind.LANES_WAIT)
            else:
                coming[shadow.kind[cohort.rows]] = True
        return come, coming, living

    def _answer(self, going: list[Cohort], living: np.ndarray) -> None:
        """Computes the result of a barrier that reduces predicates, in blocks all of whose threads have reached it.

        PTX ISA, "barrier.red": the predicates of all threads of the block are combined, and all get the result. Threads
        that have ended do not count. (Measured on an H100: 40,645 results in 875 launches, where lanes and warps had
        ended.) The result is not documented if warps arrive in parts: it is unknown here. living: (rows, LANES) bool.
        """
        asked = [
            (cohort, op) for cohort in going for op in self.run.part.ops.get(cohort.pc - 1, ()) if op.name == REDUCTION
        ]
        for how in {op.attrs[0] for _, op in asked}:  # blocks may be at different barriers
            self._answer_alike([(cohort, op) for cohort, op in asked if op.attrs[0] == how], living)

    def _answer_alike(self, asked: list[tuple[Cohort, Op]], living: np.ndarray) -> None:
        """The same for barriers that combine predicates in one way: unknown in blocks some of whose threads are at
        another one.
        """
        kind = self.shadow.kind
        true = np.zeros(len(self.shadow.unknown), np.int64)
        known = np.zeros_like(true)  # threads whose predicates are known
        for cohort, op in asked:
            rows = cohort.rows
            if self._certain(cohort):
                certain = ~self.run.may_have_ended[rows] & (cohort.mask == living[rows]).all(axis=1)
                whole = certain[:, None] & cohort.mask & self.heard[rows]
                np.add.at(known, kind[rows], whole.sum(axis=1))
                np.add.at(true, kind[rows], (whole & self.said[rows]).sum(axis=1))
        threads = np.bincount(kind, living.sum(axis=1), len(true)).astype(np.int64)
        for cohort, op in asked:
            self._tell(cohort, op, _reduced(op, true, threads), known == threads)

    def _hear(self, cohort: Cohort, op: Op) -> None:
        """Keeps the predicates with which lanes arrive: the temporaries that hold them may be overwritten until the
        others come.
        """
        number = known_in(self.warps.view(cohort).read(op.src[-1]), cohort.mask)
        self.heard[cohort.rows] = number is not None
        if number is not None:
            self.said[cohort.rows] = number

    def _answer_warps(self, cohort: Cohort, instruction: Instruction) -> None:
        """Computes the result of a barrier of 32 threads that reduces predicates: each warp that reaches it is alone.

        (Measured on an H100: 38,026,240 results of blocks of 1 to 32 warps, also where lanes had ended.)
        """
        rows = cohort.rows
        if not self._certain(cohort) or self.run.may_have_ended[rows].any():
            return
        if (cohort.mask != self.run.alive[rows]).any():
            return
        for op in self.run.part.ops.get(instruction.index, ()):
            number = known_in(self.warps.view(cohort).read(op.src[-1]), cohort.mask) if op.name == REDUCTION else None
            if number is not None:
                true = (number & cohort.mask).sum(axis=1)
                self._write(cohort, op, _reduced(op, true, cohort.mask.sum(axis=1)))

    def _tell(self, cohort: Cohort, op: Op, answer: np.ndarray, sure: np.ndarray) -> None:
        """Writes the result of a barrier in the blocks of a cohort where it is known. answer, sure: (blocks,)."""
        mine = self.shadow.kind[cohort.rows]
        here = sure[mine]
        if here.any():
            self._write(cohort.some(here), op, answer[mine[here]])

    def _write(self, cohort: Cohort, op: Op, answer: np.ndarray) -> None:
        """Writes the result of a barrier. answer: (n,)."""
        for reg in op.dst:
            if reg is not None and (reg.bits == 1) == (op.attrs[0] != "popc"):
                self.warps.view(cohort).write(reg, known_value(answer[:, None].astype(DTYPES[reg.bits])), None)


def _reduced(op: Op, true: np.ndarray, threads: np.ndarray) -> np.ndarray:
    """The result of a barrier that reduces predicates, from how many of its threads have a true one."""
    answers: dict[str, np.ndarray] = {"popc": true, "or": true > 0, "and": true == threads}
    return answers[op.attrs[0]]
