"""Loops that some lanes run while others wait for them, or run later.

    if (threadIdx.x == 0) for (i = 0; i < n; i++) offsets[i] = …;
    __syncthreads();

As long as what is in shared memory is not followed, nothing that the others do concerns the loop. So they are set
aside: rounds of the loop are tried as of one that all lanes run together (`repeat`), with every lane holding what those
of the cohort hold, and what the registers of the others hold is put back.
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
        """Whether an attempt had rounds of the cohort done. history: what registers held at the head of the loop."""
        run = self.run
        queues, groups, held = (run.heap, run.waiting, run.held), self.warps.set_aside(), run.registers.values
        run.heap, run.waiting, run.held = [], [], []
        lanes = np.zeros((run.registers.rows, LANES), bool)
        lanes[cohort.rows] = cohort.mask
        self.lanes, done = lanes, False
        try:
            once: dict[int, Value] = {}  # most registers hold in a trip what they held in the last one
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
        """What registers hold, as if all lanes held what the first of the cohort does where they are none of it. once:
        what was made of values that live on, by their identities."""
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
    """Nothing is known, and never was: one value, so that it is seen to stay."""
    return opaque(bits, Reason(Kind.ROUNDS_DIFFER))
