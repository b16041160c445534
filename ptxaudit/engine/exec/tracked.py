"""What a run does to shared memory that is followed: accesses become stores and loads of the shadow, warps wait at
barriers.

    store shared [s + 4 tid], tid ^ 1       bytes of `shadow`, by whom and when
    barrier 0                               these warps are held until the others of their blocks have come
    x = load shared [s + 4 lane]            numbers, where they are certain

One for each run that has a plan (`tables`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, constant
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.effects import results_of
from ptxaudit.engine.exec.lane_memory import widen
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory import clusters
from ptxaudit.engine.memory.cells import Unsafe
from ptxaudit.engine.memory.environment import LANES
from ptxaudit.engine.memory.registers import FULL_MASK, View, guard_mask, pack
from ptxaudit.engine.memory.shadow import Shadow, Touch
from ptxaudit.engine.memory.tables import WRITES, Plan, written
from ptxaudit.ir.nodes import COPY_ASYNC, Instruction, Op
from ptxaudit.ir.reasons import Kind, Reason


class TrackedMemory:
    """The shadow of one simulation, whose rows and cohorts it looks at."""

    def __init__(self, run: Run, warps: Warps, plan: Plan):
        self.run, self.warps, self.plan = run, warps, plan
        self.shadow = Shadow(
            run.env,
            run.low,
            run.high,
            plan.writes.valued,
            plan.distrusted,
            run.allow_blocks,
            run.account,
        )

    def touch(self, op: Op, instruction: Instruction, cohort: Cohort, view: View) -> bool:
        """Note what the operation does to shared memory; True when its results are written too."""
        index, lap, env = instruction.index, self.run.round, self.run.env
        guard, undecided = guard_mask(view, op.guard)
        if op.name == "load" and undecided is not None:
            return False
        active = cohort.mask if guard is None else guard
        address = view.read(op.src[0])
        if op.offset:
            address = affine.add(address, constant(op.offset, address.bits))
        where: Value | Reason = address
        if op.space == "generic":
            found = clusters.located(address, active, env.spaces(index, op))
            if not (found.lanes | found.open).any() or op.name == "load" and not np.array_equal(found.lanes, active):
                return False
            active = found.lanes | found.open
            where = found.why or clusters.remote(found.place, active, view) or found.place
        touch = self.shadow.touch(cohort.rows, self._together(cohort), active)
        if op.name == "load":
            return self._load(op, touch, where, view, index, guard)
        if op.name in WRITES:
            if isinstance(where, Reason) and env.cluster != clusters.ALONE:
                raise Unsafe(Reason(Kind.STORE_TO_CLUSTER, index))
            values, size, lanes = written(op, instruction, view)
            if lanes < LANES:
                touch = replace(touch, active=active & (np.arange(LANES) < lanes))
            certain = (
                undecided is None and index in self.plan.writes.valued
            )  # what decides other values is not in the slice
            self.shadow.store(
                where,
                touch,
                values if certain else None,
                size,
                index,
                view,
                lap,
                op.name == COPY_ASYNC,
                lambda: (
                    self.plan.reach.of(index, op) if op.space == "shared" and env.cluster == clusters.ALONE else None
                ),
            )
        return False

    def _load(
        self, op: Op, touch: Touch, address: Value | Reason, view: View, index: int, guard: np.ndarray | None
    ) -> bool:
        bits, is_signed = (*op.attrs, False)[:2] if op.attrs else (op.bits, False)
        otherwise = results_of(op, view, index, guard)
        assert otherwise is not None  # a load has results
        extended: Callable[[Value, int], Value] = lambda value, k: widen(
            value, bits if (written_to := op.dst[k]) is None else written_to.bits, is_signed
        )
        for reg, value in zip(
            op.dst,
            self.shadow.load(address, touch, bits, otherwise, index, view, self.run.round, extended),
        ):
            if reg is not None:
                view.write(reg, value, guard)
        return True

    def _together(self, cohort: Cohort) -> np.ndarray:
        """(n, LANES) the lanes, as bits, that are certainly issued together with each. In PTX only itself: the
        compiler may move accesses of one thread past those of another."""
        if self.run.explicit and not cohort.diverged and not self.warps.is_loose(cohort):
            return np.broadcast_to(pack(cohort.mask), cohort.mask.shape)
        return np.broadcast_to(np.uint32(1) << np.arange(LANES, dtype=np.uint32), cohort.mask.shape)

    def matters(self, block: int) -> bool:
        """Between the branch that ends a block and its post-dominator, something matters to what is known of shared
        memory.
        """
        matters = self.plan.writes.writers | self.plan.barriers.keys()
        return any(
            k in matters
            for b in self.run.graph.region(block)
            for k in range(self.run.graph.starts[b], self.run.graph.ends[b])
        )

    def lose(self, cohort: Cohort) -> None:
        """What these warps do is not modelled: they may write anything."""
        self.shadow.lose(
            self.shadow.touch(cohort.rows, self._together(cohort), cohort.mask),
            cohort.mask,
            self.run.round,
        )

    def ordered(self, cohort: Cohort, named: int) -> None:
        """Lanes have waited for those that they name: where these are all of the warp, its accesses are ordered."""
        alive = self.run.alive[cohort.rows]
        everybody = (cohort.mask == alive).all(axis=1) & ((pack(alive)[:, 0] & np.uint32(~named & FULL_MASK)) == 0)
        self.shadow.met(cohort.rows[everybody])

    def hold(self, cohort: Cohort, following: int, number: int) -> Cohort | None:
        """Wait at a barrier of the block, but for blocks of which nothing is known any more."""
        cohort.pc = following
        free = self.shadow.unknown[self.shadow.kind[cohort.rows]]
        if free.all():
            return cohort
        self.run.held.append((cohort.some(~free), number))
        self.warps.free[cohort.rows[~free]] = True
        return cohort.some(free) if free.any() else None

    def pass_barriers(self) -> bool:
        """Nothing else can run: blocks whose living lanes have all come to their barrier go on. False when none has."""
        shadow, run = self.shadow, self.run
        come = np.zeros((run.registers.rows, LANES), bool)
        for cohort, _ in run.held:
            come[cohort.rows] |= cohort.mask
        for cohort in (*(c for c, _ in run.waiting), *self.warps.waiting()):
            if run.graph.only_exits(run.graph.block_of[cohort.pc]):  # they do nothing more, wherever they meet
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
        for cohort in self.warps.choose(going) if run.explicit else going:
            self.warps.free[cohort.rows] = False
            run.push(cohort)
        shadow.epoch[list(number)] += 1
        if not run.heap and not self.warps.others():
            raise Unsafe(Reason(Kind.BARRIER_MISSED))
        return bool(run.heap)
