"""Closed forms of loops that some lanes run while others wait for them, or run later.

    if (threadIdx.x == 0) for (i = 0; i < n; i++) offsets[i] = …;
    __syncthreads();

As long as shared memory is not tracked, the other lanes cannot affect the loop. So they are set aside: rounds of the
loop are tried as if all lanes ran it (`repeat`), with every lane holding the values of the cohort's lanes; afterwards
the registers of the others are restored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache

import numpy as np

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Value, opaque
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.induction import Held
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.registers import Name, blend, fill
from ptxaudit.engine.ops.halves import UpperHalf
from ptxaudit.ir.reasons import Kind, Reason


class Aside:
    """lanes: (rows, LANES) bool, those of the cohort whose rounds are tried; None: no others are set aside."""

    def __init__(self, run: Run, warps: Warps):
        self.run, self.warps = run, warps
        self.lanes: np.ndarray | None = None

    def rounds(self, cohort: Cohort, history: deque[Held], attempt: Callable[[deque[Held]], bool]) -> bool:
        """Whether an attempt has executed rounds of the cohort. history: the registers at the loop head in the last
        trips.
        """
        run = self.run
        queues, groups, held = (run.heap, run.waiting, run.held), self.warps.set_aside(), run.registers.values
        run.heap, run.waiting, run.held = [], [], []
        lanes = np.zeros((run.registers.rows, LANES), bool)
        lanes[cohort.rows] = cohort.mask
        self.lanes, done = lanes, False
        try:
            once: dict[int, Value] = {}  # most registers hold what they held in the last trip
            own = deque[Held]((self.own(each, once) for each in history), history.maxlen)
            begun = own[-1]
            run.registers.values = dict(begun)
            done = attempt(own)
        finally:
            now = run.registers.values if done else {}
            run.registers.values = held | {
                name: blend(held[name], value, lanes) if name in held else value
                for name, value in now.items()
                if value is not begun.get(name)
            }
            self.lanes = None
            run.heap, run.waiting, run.held = queues
            self.warps.put_back(groups)
        return done

    def own(self, held: Held, once: dict[int, Value] | None = None) -> dict[Name, Value]:
        """The registers as if all other lanes held what the first lane of the cohort does.

        once: caches results by the identity of the values, which must be kept alive.
        """
        lanes = self.lanes
        if lanes is None:
            return dict(held)
        once = {} if once is None else once
        for value in held.values():
            if id(value) not in once:
                once[id(value)] = _filled(value, lanes)
        return {name: once[id(value)] for name, value in held.items()}


def _filled(value: Value, lanes: np.ndarray) -> Value:
    if value.alternatives is not None or isinstance(value, UpperHalf):
        return value
    if value.poison is not None and value.sure is None and (value.poison | ~lanes).all():
        return _nothing(value.bits)
    return fill(value, lanes)


@cache
def _nothing(bits: int) -> Value:
    """An unknown value: always the same object, so that it is seen to stay."""
    return opaque(bits, Reason(Kind.ROUNDS_DIFFER))
