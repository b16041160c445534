"""Numbers that blocks draw from an atomic counter, in a run: each block the index that it has itself, which is right
for sums over the grid (`memory.tickets`), once it is seen that each draws exactly once.

    @p atom.add r, [counter], 1      p in lane 0 of warp 0 of every block      r = start + index of the block, there
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, constant
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.clusters import ALONE
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.engine.memory.tickets import Counters
from ptxaudit.ir.nodes import Op, Special

LOOKING = "looking for what tells blocks apart"
_IN_CLUSTERS = ("cluster_ctaid", "cluster_ctarank", "cga_ctaid")
_OF_BLOCKS = ("ctaid", "clusterid", *_IN_CLUSTERS)


class NotOnce(Exception):
    """Not every block is seen to draw exactly one number."""


class Draws:
    """Of one run, in which nothing but what is drawn tells blocks apart."""

    def __init__(self, run: Run, warps: Warps, counters: Counters):
        self.run, self.warps, self.counters = run, warps, counters
        self.drawn = np.zeros(run.env.rows, np.int64)  # how often each row has
        self._by: int | None = None  # the instruction that did

    def expand(self, index: np.ndarray) -> None:
        """New row i is old row index[i]."""
        self.drawn = self.drawn[index]

    def draw(self, op: Op, cohort: Cohort, view: View, index: int) -> None:
        """One lane of each of these warps draws, if any does; NotOnce where more may."""
        guard, undecided = guard_mask(view, op.guard)
        if undecided is not None or cohort.undecided or cohort.diverged or self.warps.is_loose(cohort):
            raise NotOnce
        self.run.no_round()
        active = cohort.mask if guard is None else guard
        lanes = active.sum(axis=1)
        if not lanes.any():
            return
        if lanes.max() > 1 or self._by not in (None, index):
            raise NotOnce
        self._by = index
        self.drawn[cohort.rows] += lanes
        number = self._number(op, view, active, index)
        for reg in op.dst:
            if reg is not None:
                view.write(reg, number, active)

    def _number(self, op: Op, view: View, active: np.ndarray, index: int) -> Value:
        """What the counter holds before any block draws, and what is added for each block before this one."""
        base = view.read(op.src[0])
        where = _one_number(affine.add(base, constant(op.offset, base.bits)), active)
        amount = _one_number(view.read(op.src[1]), active)
        start = None if where is None else self.counters.by[index].start(where, op.bits)
        if start is None or amount is None:
            raise NotOnce
        if op.attrs[0] == "add":
            return affine.add(
                affine.multiply(self._block(view, op.bits), constant(amount, op.bits)), constant(start, op.bits)
            )
        if start + self._blocks - 1 > amount:  # it would begin anew
            raise NotOnce
        return affine.add(self._block(view, op.bits), constant(start, op.bits))

    @property
    def _blocks(self) -> int:
        grid = self.run.env.grid
        assert grid is not None  # of a launch
        return grid[0] * grid[1] * grid[2]

    def _block(self, view: View, bits: int) -> Value:
        """The index of each row's block, counted along x, then y, then z."""
        grid = self.run.env.grid
        assert grid is not None
        out = constant(0, bits)
        for d in (2, 1, 0):
            own = affine.fit(view.read(Special(f"ctaid.{'xyz'[d]}", 32)), bits)
            out = affine.add(affine.multiply(out, constant(grid[d], bits)), own)
        return out

    def check(self) -> int | None:
        """The instruction that every block has executed, once; None: no block has. NotOnce where neither holds."""
        some = self.drawn > 0
        if not some.any():
            return None
        warps = self.run.env.warp[:, 0]
        mine = warps == warps[some.argmax()]
        if (self.drawn[mine] != 1).any() or self.drawn[~mine].any():
            raise NotOnce
        return self._by


def _one_number(value: Value, active: np.ndarray) -> int | None:
    """What all active lanes hold; None where that is not known, or not the same."""
    lost = [c != 0 for _, c in value.terms] + ([] if value.poison is None else [value.poison])
    if value.valid is not None or any((unknown & active).any() for unknown in lost):
        return None
    numbers = np.broadcast_to(value.base, active.shape)[active]
    return int(numbers[0]) if (numbers == numbers[0]).all() else None


def tells_blocks_apart(ops: Iterable[Op], env: Environment) -> bool:
    """Some operation reads where its block is, and blocks of the launch differ in that."""
    for op in ops:
        for source in op.src:
            if not isinstance(source, Special) or not source.name.startswith(_OF_BLOCKS):
                continue
            stem, _, dimension = source.name.partition(".")
            if stem in _IN_CLUSTERS and env.cluster == ALONE:
                continue
            if stem in _IN_CLUSTERS or env.grid is None or not dimension or env.grid["xyz".index(dimension)] > 1:
                return True
    return False
