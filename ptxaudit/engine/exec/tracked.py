"""Synchronises the warps of a block that access tracked shared memory: they wait for each other at its barriers.

    barrier 0           these warps are held until the others of their blocks arrive: a new epoch of `shadow`
    warpsync, bsync     the accesses of a warp before it precede those after it

There is one for each run with a plan (`tables`); `shared` has the contents of the memory.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain.lanes import FULL_MASK, LANES, pack
from ptxaudit.engine.domain.value import DTYPES
from ptxaudit.engine.domain.value import known as known_value
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.cells import Unsafe
from ptxaudit.engine.memory.shared import Shared
from ptxaudit.engine.memory.tables import REDUCTION, Plan
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason


class TrackedMemory:
    """The shadow of one simulation, with access to its rows and cohorts."""

    def __init__(self, run: Run, warps: Warps, plan: Plan):
        self.run, self.warps, self.plan = run, warps, plan
        self.shadow = Shared(run.env, run.low, run.high, plan, run.allow_blocks, run.account, lambda: run.round)

    def matters(self, block: int) -> bool:
        """Between the branch that ends a block and its post-dominator, something affects the known shared memory."""
        matters = self.plan.writes.writers | self.plan.barriers.keys()
        return any(
            k in matters
            for b in self.run.graph.region(block)
            for k in range(self.run.graph.starts[b], self.run.graph.ends[b])
        )

    def ordered(self, cohort: Cohort, named: int) -> None:
        """Records that lanes have waited for those that they name: if these are the whole warp, its accesses are
        ordered.
        """
        alive = self.run.alive[cohort.rows]
        everybody = (cohort.mask == alive).all(axis=1) & ((pack(alive) & np.uint32(~named & FULL_MASK)) == 0)
        self.shadow.met(cohort.rows[everybody])

    def hold(self, cohort: Cohort, following: int, number: int) -> Cohort | None:
        """Waits at a barrier of the block, except for blocks about which nothing is known any more."""
        cohort.pc = following
        free = self.shadow.unknown[self.shadow.kind[cohort.rows]]
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
        come = np.zeros((run.registers.rows, LANES), bool)
        for cohort, _ in run.held:
            come[cohort.rows] |= cohort.mask
        for cohort in (*(c for c, _ in run.waiting), *self.warps.waiting()):
            if run.graph.only_exits(run.graph.block_of[cohort.pc]):  # they only exit, wherever they reconverge
                come[cohort.rows] |= cohort.mask
            elif come[cohort.rows].any():
                raise Unsafe(Reason(Kind.LANES_WAIT))
        late = (run.alive & ~come).any(axis=1)
        ready = ~shadow.unknown & ~np.isin(np.arange(len(shadow.unknown)), shadow.kind[late])
        number: dict[int, int] = {}
        going: list[Cohort] = []
        held, run.held = run.held, []
        for cohort, at in held:
            kind = shadow.kind[cohort.rows]
            if any(number.setdefault(k, at) != at for k in distinct(kind[ready[kind]]).tolist()):
                raise Unsafe(Reason(Kind.BARRIERS_DIFFER))
            go = (ready | shadow.unknown)[kind]
            if go.any():
                going.append(cohort.some(go))
            if not go.all():
                run.held.append((cohort.some(~go), at))
        self._answer(going)
        for cohort in self.warps.choose(going) if run.explicit else going:
            self.warps.free[cohort.rows] = False
            run.push(cohort)
        shadow.epoch[list(number)] += 1
        if not run.heap and not self.warps.others():
            raise Unsafe(Reason(Kind.BARRIER_MISSED))
        return bool(run.heap)

    def _answer(self, going: list[Cohort]) -> None:
        """Computes the result of a barrier that reduces predicates, in blocks all of whose threads have reached it.

        PTX ISA, "barrier.red": the predicates of all threads of the block are combined, and all get the result. The
        result is not documented if threads have ended, or if warps arrive in parts: it is unknown here.
        """
        kind, exists = self.shadow.kind, self.run.env.exists
        asked = [
            (cohort, op) for cohort in going for op in self.run.part.ops.get(cohort.pc - 1, ()) if op.name == REDUCTION
        ]
        if len({op.attrs[0] for _, op in asked}) != 1:
            return  # one kind per instruction; several are not distinguished by class of blocks
        true = np.zeros(len(self.shadow.unknown), np.int64)
        known = np.zeros_like(true)  # threads whose predicates are known
        for cohort, op in asked:
            predicate = self.warps.view(cohort).read(op.src[-1])
            together = not (cohort.undecided or cohort.diverged or self.warps.is_loose(cohort))
            if predicate.known and together:
                whole = (cohort.mask == exists[cohort.rows]).all(axis=1)[:, None] & cohort.mask
                np.add.at(known, kind[cohort.rows], whole.sum(axis=1))
                np.add.at(true, kind[cohort.rows], (whole & predicate.base).sum(axis=1))
        threads = np.bincount(kind, exists.sum(axis=1), len(true)).astype(np.int64)
        answers = {"popc": true, "or": true > 0, "and": true == threads}
        for cohort, op in asked:
            self._tell(cohort, op, answers[op.attrs[0]], known == threads)

    def _tell(self, cohort: Cohort, op: Op, answer: np.ndarray, sure: np.ndarray) -> None:
        """Writes the result of a barrier in the blocks of a cohort where it is known. answer, sure: (blocks,)."""
        mine = self.shadow.kind[cohort.rows]
        here = sure[mine]
        for reg in op.dst if here.any() else ():
            if reg is not None and (reg.bits == 1) == (op.attrs[0] != "popc"):
                number = answer[mine[here], None].astype(DTYPES[reg.bits])
                self.warps.view(cohort.some(here)).write(reg, known_value(number), None)
