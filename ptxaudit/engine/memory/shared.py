"""The memory of the state space "shared", and of generic addresses that lie there, where a run follows its content.

    store shared [s + 4 tid], tid ^ 1       bytes of `shadow`, by whom and when
    x = load shared [s + 4 lane]            numbers, where they are certain

One for each run that has a plan (`tables`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.work import Account
from ptxaudit.engine.domain.rounds import Round
from ptxaudit.engine.domain.value import DTYPES, Value
from ptxaudit.engine.memory import clusters
from ptxaudit.engine.memory.cells import Unsafe
from ptxaudit.engine.memory.environment import LANES, Environment
from ptxaudit.engine.memory.references import Otherwise, Reference
from ptxaudit.engine.memory.registers import Results, View, pack
from ptxaudit.engine.memory.shadow import Shadow, Touch
from ptxaudit.engine.memory.tables import Plan
from ptxaudit.ir.nodes import COPY_ASYNC, STORE_MATRIX
from ptxaudit.ir.reasons import Kind, Reason

ROW_BYTES = 16  # of a matrix
WIDEST = 16  # bytes that a lane accesses at once


class Shared:
    """Content that is followed, in all blocks of one run."""

    def __init__(
        self,
        env: Environment,
        low: np.ndarray,
        high: np.ndarray,
        plan: Plan,
        ask_for_blocks: bool,
        account: Account,
        lap: Callable[[], Round | None],
    ):
        """low, high, ask_for_blocks, account: as of `Shadow`. lap: the round of a loop in closed form that is tried, if
        one is."""
        self.env, self.plan = env, plan
        self.shadow = Shadow(env, low, high, plan.writes.valued, plan.distrusted, ask_for_blocks, account)
        self._lap = lap

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        if not at.certain:
            return otherwise()
        active, all_of_them, place = self._place(at)
        if not all_of_them:
            return otherwise()
        return self.shadow.load(
            place, self._touch(at.view, active), at.bits, otherwise(), at.index, at.view, self._lap(), at.extended
        )

    def store(self, at: Reference) -> None:
        active, _, place = self._place(at)
        if at.op.space == "generic" and not active.any():
            return
        alone = self.env.cluster == clusters.ALONE
        if isinstance(place, Reason) and not alone:
            raise Unsafe(Reason(Kind.STORE_TO_CLUSTER, at.index))
        values, size, lanes = self._written(at)
        if lanes < LANES:
            active = active & (np.arange(LANES) < lanes)
        # what decides values that no plan names is not in the slice
        certain = at.certain and at.index in self.plan.writes.valued
        self.shadow.store(
            place,
            self._touch(at.view, active),
            values if certain else None,
            size,
            at.index,
            at.view,
            self._lap(),
            at.op.name == COPY_ASYNC,
            lambda: self.plan.reach.of(at.index, at.op) if at.op.space == "shared" and alone else None,
        )

    def lose(self, view: View) -> None:
        """What these lanes do is not modelled: they may write anything."""
        self.shadow.lose(self._touch(view, view.mask), view.mask, self._lap())

    def _place(self, at: Reference) -> tuple[np.ndarray, bool, Value | Reason]:
        """(lanes that go to shared memory, or may; whether all active ones do; where to, or why that is not known)."""
        active = at.active
        if at.op.space != "generic":
            return active, True, at.address
        found = clusters.located(at.address, active, self.env.spaces(at.index, at.op))
        going = found.lanes | found.open
        all_of_them = bool(going.any()) and np.array_equal(found.lanes, active)
        return going, all_of_them, found.why or clusters.remote(found.place, going, at.view) or found.place

    def _touch(self, view: View, active: np.ndarray) -> Touch:
        rows = np.arange(len(view.mask)) if view.rows is None else view.rows
        return self.shadow.touch(rows, self._together(view), active)

    def _together(self, view: View) -> np.ndarray:
        """(n, LANES) the lanes, as bits, that are certainly issued together with each. In PTX only itself: the
        compiler may move accesses of one thread past those of another."""
        if self.env.function.explicit_reconvergence and view.exact:
            return np.broadcast_to(pack(view.mask), view.mask.shape)
        return np.broadcast_to(np.uint32(1) << np.arange(LANES, dtype=np.uint32), view.mask.shape)

    def _written(self, at: Reference) -> tuple[list[Value] | None, int, int]:
        """(values of the elements side by side, or None where they are not known; bytes a lane; lanes from 0 that
        write).
        """
        op = at.op
        if op.name == "store":
            known = at.bits in DTYPES and at.bits != 1
            return at.stored() if known else None, at.bits * (len(op.src) - 1) // 8, LANES
        if op.name == STORE_MATRIX:
            return None, ROW_BYTES, op.attrs[0] if op.attrs else LANES
        site = self.env.function.instructions[at.index].site
        access = None if site is None else site.access
        width = None if access is None else access.width
        return None, width or WIDEST, LANES
