"""The effect of one operation on the registers of many warps, under a mask of active lanes.

`execute` runs an `Op` on a view of the registers (`registers`): arithmetic through `operations.apply`, loads and
stores (`state_spaces`), and operations across the lanes of a warp (`across_lanes`).
"""

from __future__ import annotations

from operator import is_
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.supposed import Supposed
from ptxaudit.engine.domain.value import (
    Uniform,
    Value,
    opaque,
    unknown,
)
from ptxaudit.engine.exec.across_lanes import ACROSS
from ptxaudit.engine.exec.control import is_uniform, why_undecided
from ptxaudit.engine.memory import local, state_spaces
from ptxaudit.engine.memory.generic import generic_results
from ptxaudit.engine.memory.read_from import for_itself, guard_of
from ptxaudit.engine.memory.registers import (
    Guarded,
    View,
    among_the_active,
    as_uniform_in,
    guard_mask,
    place_at,
    unknown_among,
    unwritten,
    written,
)
from ptxaudit.engine.memory.same_truths import NOWHERE
from ptxaudit.engine.memory.tables import REDUCTION
from ptxaudit.engine.ops import operations
from ptxaudit.engine.ops.halves import UpperHalf
from ptxaudit.engine.ops.row import Row
from ptxaudit.ir.nodes import COPY_ASYNC, RUNTIME, STORE_MATRIX, Guard, Op
from ptxaudit.ir.operands import WRITES
from ptxaudit.ir.reasons import Kind, Reason

_WITHOUT_RESULTS = ("store", COPY_ASYNC, STORE_MATRIX, "call", "clobber")

_ASKED = {("popc",): "__syncthreads_count", ("and",): "__syncthreads_and", ("or",): "__syncthreads_or"}


def execute(op: Op, view: View, index: int) -> None:
    """Executes one operation. index: its instruction, for reasons."""
    guard, undecided = guard_mask(view, op.guard) if op.guard is not None else (None, None)
    if guard is not None and not anywhere(guard):
        return
    if undecided is not None and op.name in _WITHOUT_RESULTS:
        return state_spaces.perhaps(op, view, index)
    seen = view
    if _looks_across(op):
        if undecided is not None and not is_uniform(undecided, view.mask):
            seen = view.some(why_undecided(undecided, index).data)
    elif view.supposed:
        if op.guard is None:
            of_all = _guard_of_temporary(op, view, index)
            seen = view if of_all is None else view.where(of_all)
        elif undecided is not None:
            seen = view.where(op.guard)
    results = results_of(op, seen, index, guard, undecided is None)
    if results is None:
        return
    if view.env.facts.supposed is not None:
        results = _supposed(view.env.facts.supposed, op, view, index, results)
    truths = view.truths_in(op, seen) if guard is None else NOWHERE
    for reg, value in zip(op.dst, results):
        if reg is None:
            continue
        if undecided is None or op.guard is None:
            view.write(reg, value, guard)
            view.note_truths(reg, truths)
            if view.supposed and op.name == "mov":
                view.suppose_copy(reg, op)
        else:
            view.write_perhaps(reg, value, op.guard, undecided, index, truths)


def _guard_of_temporary(op: Op, view: View, index: int) -> Guard | None:
    """The guard of the instruction, under which alone its temporaries are read; None for other operations."""
    return guard_of(view.env.function.instructions[index]) if for_itself(op) else None


def _supposed(supposed: Supposed, op: Op, view: View, index: int, results: tuple[Value, ...]) -> tuple[Value, ...]:
    """The results, with the truth values of the case that is examined (`by_cases`)."""
    out = []
    for reg, value in zip(op.dst, results):
        value = supposed.settled(value)
        if reg is not None and reg.bits == 1:
            if op.guard is not None or view.env.trying or not view.whole:
                supposed.unclear.add(index)
            else:
                value = supposed.visited(value, reg, index, view.env.visited(index, reg.name, view.rows))
        out.append(value)
    return tuple(out)


def execute_in_round(op: Op, lap: Round, view: View, index: int) -> None:
    if op.name.startswith("setp."):
        a, b = (affine.fit(view.read(s), op.bits) for s in op.src)
        guard, undecided = guard_mask(view, op.guard)
        if undecided is not None:
            raise NotAffine
        result = lap.compare(op.name.removeprefix("setp."), a, b, view.mask if guard is None else guard)
        if op.dst[0] is not None:
            view.write(op.dst[0], result, guard)
        return
    before = {u for s in op.src for u, _ in view.read(s).terms}
    held = [None if d is None else view.read(d) for d in op.dst]
    execute(op, view, index)
    for d, was in zip(op.dst, held, strict=True):
        if d is None or was is None:
            continue
        after = view.read(d)
        if isinstance(after, UpperHalf):
            after = after.whole
        others = [c != 0 for u, c in after.terms if u not in before]
        others += [] if after.poison is None else [after.poison]
        if after.valid is None and not any(anywhere(lanes & view.mask) for lanes in others):
            continue
        if not _lost(was, view.mask) and (lap.live is None or d.name in lap.live):
            raise NotAffine
        view.write(d, opaque(d.bits, was.why or Reason(Kind.ROUNDS_DIFFER)), None)  # nor is it known in other trips


def _lost(value: Value, mask: np.ndarray) -> bool:
    """The value is unknown in every active lane."""
    return value.poison is not None and value.sure is None and throughout(value.poison | ~mask)


def _looks_across(op: Op) -> bool:
    """The operation reads other lanes, in which the guard may not hold."""
    return op.name.partition(".")[0] in ACROSS or op.name == REDUCTION


def results_of(op: Op, view: View, index: int, guard: Guarded, certain: bool) -> tuple[Value, ...] | None:
    """The values of the registers that an operation writes; None if it writes none.

    guard, certain: the lanes in which it acts, and whether these are known.
    """
    name = op.name
    row = view.env.facts.meanings.get(name) or operations.meaning_of(name)
    if row is not None:
        sources = tuple([view.read(s, guard) for s in op.src])
        if guard is None and any(map(unwritten, sources)):
            sources = _under_its_guard(op, view, index, sources)
        made = _made(op, sources, index, row, view.env.made)
        results = made if isinstance(made, tuple) else (made,)
        if not view.full and any([unknown_among(v, view.mask) for v in results]):
            results = among_the_active(op, sources, view.mask, results, index, row)
        return results
    if name == "load" or name in WRITES:
        return state_spaces.access(op, view, index, guard, certain)
    stem, _, kind = name.partition(".")
    if stem in ACROSS:
        return ACROSS[stem](op, kind, view, index, guard)
    if name in ("cvta", "cvta.to", "isspacep"):
        return (generic_results(op, view, view.read(op.src[0]), index),)
    if name in ("barrier.test", REDUCTION):
        return _answered(op, view, index)
    if name == "call" or name == "clobber" and op.space in ("local", "generic"):
        why = Reason(Kind.CALL_NOT_RESOLVED, index)
        if name == "call" and op.attrs[0] in RUNTIME:  # it writes nothing of the program's
            why = Reason(Kind.GIVEN_BACK, index, (op.attrs[0],))
        else:
            local.forget(view.registers)
        return tuple(opaque(d.bits if d else 32, why) for d in op.dst)
    if len(op.dst) == 1 and operations.of_its_sources(name):
        out = operations.apply(op, tuple(view.read(s) for s in op.src), index)
        return out if isinstance(out, tuple) else (out,)
    whys = Reason(Kind.NOT_UNDERSTOOD, index, op.attrs) if name == "opaque" else Reason(Kind.NO_MEANING, index, (name,))
    return tuple(opaque(d.bits if d else 32, whys) for d in op.dst)


def _under_its_guard(op: Op, view: View, index: int, sources: tuple[Value, ...]) -> tuple[Value, ...]:
    """The sources of an operation, as the lanes in which a temporary is read see them."""
    lanes, undecided = guard_mask(view, _guard_of_temporary(op, view, index))
    return sources if lanes is None or undecided is not None else tuple(written(value, lanes) for value in sources)


def _made(
    op: Op, sources: tuple[Value, ...], index: int, row: Row, before: dict[tuple[int, int], Any] | None
) -> Value | tuple[Value, ...]:
    """The results of an operation, reused if its sources are the objects of the last execution.

    before: by instruction and operation, the operation, its sources and its results; None: nothing is reused.
    """
    if before is None or row.chosen:
        return operations.apply(op, sources, index, row)
    last = before.get((index, id(op)))
    if last is None or last[0] is not op or not all(map(is_, last[1], sources)):
        last = before[index, id(op)] = op, sources, operations.apply(op, sources, index, row)
    out: Value | tuple[Value, ...] = last[2]
    return out


def _answered(op: Op, view: View, index: int) -> tuple[Value, ...]:
    """The result of a barrier: one for all threads of the block, or of a test, one for lanes that test the same at
    once. (The phase may end between the tests of diverged groups of lanes.)
    """
    of_all = op.name == REDUCTION
    alike = of_all or view.grouped and all(as_uniform_in(view, view.read(s)) is not None for s in op.src)
    name = f"{_ASKED.get(op.attrs, 'answer of the barrier')} at {place_at(view.env, index)}"
    return tuple(
        opaque(32, Reason(Kind.NO_RESULT, index))
        if d is None
        else unknown(Uniform(name, d.bits, key=(op.name, index, k, view.env.serial()), data=True))
        if alike
        else opaque(d.bits, Reason(Kind.BARRIER_ANSWER, index))
        for k, d in enumerate(op.dst)
    )
