"""Which lanes a transfer of control sends where, as far as what decides it is known, and why that is not.

    @p bra L      ((L, lanes in which p holds), (the next instruction, the others))
    brx r, {…}    for each target the lanes whose r names it
    @q exit       q, where it is not known in an active lane

Who goes on first of lanes that part, and where they meet, is the affair of who runs them: cohort by cohort
(`transfers`), or block by block with all that may come there (`fixpoint.transfers`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import anywhere, distinct
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.value import Value, opaque, squeeze
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.ir.nodes import Control, Instruction
from ptxaudit.ir.reasons import Kind, Reason, one_of_each
from ptxaudit.ir.transfers import ENDS, taken

Destinations = list[tuple[int, np.ndarray]]
"""An instruction, or ENDS or RETURNS, and the lanes that go there: (rows, LANES) bool."""


def destinations(
    instruction: Instruction, control: Control, mask: np.ndarray, see: Callable[[], View]
) -> Destinations | Value:
    """What becomes of the lanes `mask`; the predicate or selector, where it is not known of them. see: what they see,
    asked for where something decides."""
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
    """For each way (rows,) bool: some lane goes it."""
    return [np.logical_or.reduce(lanes, axis=1) for _, lanes in found]


def torn(ways: list[np.ndarray]) -> np.ndarray:
    """(rows,) lanes of a warp go different ways. ways: `rows_of`."""
    result: np.ndarray = np.add.reduce(ways, axis=0, dtype=int) > 1
    return result


def is_uniform(value: Value) -> bool:
    """The same in all lanes of a warp, whatever it is."""
    value = as_unknown(value)
    return value.poison is None and squeeze(value).uniform


def why_undecided(value: Value, index: int) -> Reason:
    """Why a predicate or a branch target that an instruction reads is not known."""
    if value.why is not None:
        why = value.why
        return one_of_each(why.kind, why.index, why.given, why.unknowns, why.cause)
    unknowns = affine.unknowns_of(value)
    return one_of_each(Kind.UNKNOWNS if unknowns else Kind.PREDICATE, index, (), unknowns)


def _chosen(instruction: Instruction, control: Control, mask: np.ndarray, view: View) -> Destinations | Value:
    """Lanes by the target that their selector names."""
    nowhere = opaque(32, Reason(Kind.BRANCH_TARGET, instruction.index))
    value = nowhere if control.selector is None else view.read(control.selector)
    unknown = value.poison is not None and anywhere(np.broadcast_to(value.poison, mask.shape) & mask)
    if value.terms or value.valid is not None or unknown or not control.targets:
        return value
    number = np.broadcast_to(value.base.astype(np.int64), mask.shape)
    if anywhere(number[mask] >= len(control.targets)):
        return nowhere
    return [(control.targets[int(k)], mask & (number == k)) for k in distinct(number[mask])]
