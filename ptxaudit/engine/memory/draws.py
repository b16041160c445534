"""Atomic counters in a run: each block draws its own index, which is right for sums over the grid (`tickets`).

It is checked that each block draws exactly once.

    @p atom.add r, [counter], 1      p in lane 0 of warp 0 of every block      r = start + index of the block, there
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, constant
from ptxaudit.engine.memory.clusters import ALONE
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.references import Otherwise, Reference
from ptxaudit.engine.memory.registers import Results, View
from ptxaudit.engine.memory.tickets import Counters
from ptxaudit.ir.nodes import Op, Special

LOOKING = "looking for what tells blocks apart"
_IN_CLUSTERS = ("cluster_ctaid", "cluster_ctarank", "cga_ctaid")
_OF_BLOCKS = ("ctaid", "clusterid", *_IN_CLUSTERS)


class NotOnce(Exception):
    """Not every block draws exactly one number."""


class Draws:
    """The memory of counters, in a run in which only drawn numbers distinguish blocks: each draws its own index."""

    def __init__(self, env: Environment, counters: Counters, no_round: Callable[[], None]):
        """no_round: called before an action that a round of a loop in closed form cannot contain."""
        self.env, self.counters, self._no_round = env, counters, no_round
        self.drawn = np.zeros(env.rows, np.int64)  # how often each row has drawn
        self.lost = np.zeros(env.rows, bool)  # rows whose actions are unknown
        self._by: int | None = None  # the instruction that drew

    def expand(self, index: np.ndarray) -> None:
        """Replaces the rows by copies: new row i is old row index[i]."""
        self.drawn, self.lost = self.drawn[index], self.lost[index]

    def lose(self, view: View) -> None:
        """These lanes execute something that is not modelled: they may have exited, or drawn."""
        self._no_round()
        self.lost[slice(None) if view.rows is None else view.rows] = True

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        return otherwise()

    def store(self, at: Reference) -> Results | None:
        """At most one lane of each of these warps draws; NotOnce if more may."""
        if at.op.name != "atom" or at.index not in self.counters.by:
            return None
        rows = slice(None) if at.view.rows is None else at.view.rows
        if not at.certain or not at.view.exact or self.lost[rows].any():
            raise NotOnce
        self._no_round()
        lanes = at.active.sum(axis=1)
        if lanes.max() > 1 or self._by not in (None, at.index):
            raise NotOnce
        self._by = at.index
        self.drawn[rows] += lanes
        return tuple([self._number(at) for _ in at.op.dst])

    def _number(self, at: Reference) -> Value:
        """The counter's initial value, plus the amount for each block before this one."""
        memory = self.env.facts.memory
        assert memory is not None  # which the counters belong to
        where = _one_number(memory.located(at.address), at.active)
        amount = _one_number(at.view.read(at.op.src[1]), at.active)
        bits = at.op.bits
        start = None if where is None else self.counters.by[at.index].start(where, bits)
        if start is None or amount is None:
            raise NotOnce
        block, first = self._block(at.view, bits), constant(start, bits)
        if at.op.attrs[0] == "add":
            return affine.add(affine.multiply(block, constant(amount, bits)), first)
        if start + self._blocks - 1 > amount:  # the counter would start again
            raise NotOnce
        return affine.add(block, first)

    @property
    def _blocks(self) -> int:
        grid = self.env.grid
        assert grid is not None  # there is a launch
        return grid[0] * grid[1] * grid[2]

    def _block(self, view: View, bits: int) -> Value:
        """The index of each row's block, in the order x, then y, then z."""
        grid = self.env.grid
        assert grid is not None
        out = constant(0, bits)
        for d in (2, 1, 0):
            own = affine.fit(view.read(Special(f"ctaid.{'xyz'[d]}", 32)), bits)
            out = affine.add(affine.multiply(out, constant(grid[d], bits)), own)
        return out

    def check(self) -> int | None:
        """The instruction by which every block has drawn exactly once; None: no block has drawn. NotOnce otherwise."""
        some = self.drawn > 0
        if not some.any():
            return None
        warps = self.env.warp[:, 0]
        mine = warps == warps[some.argmax()]
        if (self.drawn[mine] != 1).any() or self.drawn[~mine].any():
            raise NotOnce
        return self._by


def _one_number(value: Value, active: np.ndarray) -> int | None:
    """The number that all active lanes hold; None if it is unknown or differs."""
    lost = [c != 0 for _, c in value.terms] + ([] if value.poison is None else [value.poison])
    if value.valid is not None or any((unknown & active).any() for unknown in lost):
        return None
    numbers = np.broadcast_to(value.base, active.shape)[active]
    return int(numbers[0]) if (numbers == numbers[0]).all() else None


def tells_blocks_apart(ops: Iterable[Op], env: Environment) -> bool:
    """Whether some operation reads a coordinate of its block in which the blocks of the launch differ."""
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
