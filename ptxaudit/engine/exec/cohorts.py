"""Cohorts: rows of warps, with lanes of each, that are at one instruction and execute together.

    rows 0-7, lanes 0-15, at 12, called from 4      and why their counts may be wrong

Everything per lane is an array over rows and lanes: a cohort executes at once, however many warps it has.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.ir.reasons import Reason, first_of

State = tuple[Reason | None, Reason | None]  # of a cohort


class Cohort(Struct, eq=False):
    """rows: (n,) indices; mask: (n, LANES); pc: instruction; calls: return addresses, outermost first."""

    pc: int
    rows: np.ndarray
    mask: np.ndarray
    calls: tuple[int, ...] = ()
    undecided: Reason | None = None  # lanes may have left before: counts are upper bounds
    diverged: Reason | None = None  # lanes may not be together: one issue here may be several

    @property
    def state(self) -> State:
        """What a part of the cohort inherits."""
        return self.undecided, self.diverged

    @property
    def place(self) -> tuple[int, ...]:
        """Its progress: the calls that it is in, outermost first, and its instruction. A callee counts as being at the
        place of its call, wherever its code is.
        """
        return *(behind - 1 for behind in self.calls), self.pc

    def at(self, pc: int) -> Cohort:
        """Moves the cohort to another instruction; returns it."""
        self.pc = pc
        return self

    def some(self, rows: np.ndarray) -> Cohort:
        """A part of the rows."""
        return self.of(self.rows[rows], self.mask[rows])

    def of(self, rows: np.ndarray, mask: np.ndarray) -> Cohort:
        """Other lanes at the same place with the same state."""
        return Cohort(self.pc, rows, mask, self.calls, *self.state)

    def copy(self) -> Cohort:
        """A copy that continues independently."""
        return self.of(self.rows, self.mask)

    def again(self, other: Cohort) -> bool:
        """The same lanes with the same state."""
        alike = np.array_equal(self.rows, other.rows) and np.array_equal(self.mask, other.mask)
        return alike and self.state == other.state


def merged(a: Cohort, b: Cohort) -> Cohort:
    """Merges two cohorts at one place that have lanes of the same warps."""
    rows = distinct(np.concatenate([a.rows, b.rows]))
    mask = np.zeros((len(rows), LANES), bool)
    mask[np.searchsorted(rows, a.rows)] |= a.mask
    mask[np.searchsorted(rows, b.rows)] |= b.mask
    return Cohort(a.pc, rows, mask, a.calls, *either_state(a.state, b.state))


def united(parts: list[Cohort]) -> list[Cohort]:
    """Merges cohorts at one place into as few as possible: one for each combined state of a warp's lanes."""
    if len(parts) == 1:
        return parts
    first = parts[0]
    rows = distinct(np.concatenate([p.rows for p in parts]))
    mask = np.zeros((len(rows), LANES), bool)
    states: list[State] = [first.state]
    kind = np.full(len(rows), -1)
    for p in parts:
        at = np.searchsorted(rows, p.rows)
        mask[at] |= p.mask
        for k in distinct(kind[at]):
            state = p.state if k < 0 else either_state(states[k], p.state)
            if state not in states:
                states.append(state)
            new = states.index(state)
            kind[at[kind[at] == k]] = new + len(parts) * len(rows)  # distinguishes it from the earlier ones
        kind[at] -= len(parts) * len(rows)
    return [Cohort(first.pc, rows[kind == k], mask[kind == k], first.calls, *states[k]) for k in distinct(kind)]


def either_state(a: State, b: State) -> State:
    """The state of lanes that reconverge: uncertain wherever either is."""
    return first_of(a[0], b[0]), first_of(a[1], b[1])
