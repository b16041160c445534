"""The destination of each lane at a control transfer, as far as its condition is known, and why it is not.

    @p bra L      ((L, lanes in which p holds), (the next instruction, the others))
    brx r, {…}    for each target the lanes whose r selects it
    @q exit       q, if it is unknown in an active lane

The schedulers decide which of diverged lanes continue first and where they reconverge: cohort by cohort (`transfers`),
or block by block with all lanes that may reach it (`fixpoint.transfers`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import anywhere, distinct
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.value import Value, known_in, opaque, squeeze
from ptxaudit.engine.memory.registers import View, fill, guard_mask
from ptxaudit.ir.nodes import Control, Instruction
from ptxaudit.ir.reasons import Kind, Reason, one_of_each
from ptxaudit.ir.transfers import ENDS, taken

Destinations = list[tuple[int, np.ndarray]]
"""(target, lanes) pairs: an instruction, ENDS or RETURNS, and the lanes that go there, (rows, LANES) bool."""


def destinations(
    instruction: Instruction, control: Control, mask: np.ndarray, see: Callable[[], View]
) -> Destinations | Value:
    """The destinations of the lanes `mask`; the predicate or selector, if it is unknown in them.

    see: gives the view of the lanes, called only if a condition decides.
    """
    if control.kind == "switch":
        return _chosen(instruction, control, mask, see())
    place = next(iter(taken(control)), ENDS)
    if control.guard is None:
        return [(place, mask)]
    lanes, undecided = guard_mask(see(), control.guard)
    if lanes is None:
        assert undecided is not None  # the guard
        return undecided
    return [(place, lanes), (instruction.index + 1, mask & ~lanes)]


def rows_of(found: Destinations) -> list[np.ndarray]:
    """For each destination (rows,) bool: some lane goes there."""
    return [np.logical_or.reduce(lanes, axis=1) for _, lanes in found]


def torn(ways: list[np.ndarray]) -> np.ndarray:
    """(rows,) lanes of a warp have different destinations. ways: `rows_of`."""
    result: np.ndarray = np.add.reduce(ways, axis=0, dtype=int) > 1
    return result


def is_uniform(value: Value, active: np.ndarray) -> bool:
    """The value is the same in all active lanes of a warp, known or not. active: (rows, LANES) bool."""
    value = as_unknown(value)
    if value.poison is None and squeeze(value).uniform:
        return True
    value = fill(value, active)
    return value.poison is None and value.uniform


def why_undecided(value: Value, index: int) -> Reason:
    """Why a predicate or a branch target that an instruction reads is unknown."""
    if value.why is not None:
        why = value.why
        return one_of_each(why.kind, why.index, why.given, why.unknowns, why.cause)
    unknowns = affine.unknowns_of(value)
    return one_of_each(Kind.UNKNOWNS if unknowns else Kind.PREDICATE, index, (), unknowns)


def _chosen(instruction: Instruction, control: Control, mask: np.ndarray, view: View) -> Destinations | Value:
    """The lanes by the target that their selector chooses."""
    nowhere = opaque(32, Reason(Kind.BRANCH_TARGET, instruction.index))
    value = nowhere if control.selector is None else view.read(control.selector)
    number = known_in(value, mask)
    if number is None or not control.targets:
        return value
    number = number.astype(np.int64)
    if anywhere(number[mask] >= len(control.targets)):
        return nowhere
    places = np.array(control.targets)[np.where(mask, number, 0)]
    return [(int(place), mask & (places == place)) for place in distinct(places[mask])]
