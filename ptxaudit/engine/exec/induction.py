"""Induction variables: what each trip of a loop adds to a register, and its value after k trips with k an unknown.

    i = i + 32           step 32        i + 32·k at the head
    i = 3·i              no step
    R2:R3 = R2:R3 + p    a step of the register pair; R3 remembers the whole (`halves`)

Both engines suppose such a form and execute one trip with it: if the trip ends in the form for k + 1, it holds in
every trip (Aho, Lam, Sethi, Ullman: Compilers, 2nd ed., 9.1.8). They derive the hypothesis in different ways: from the
last trips (`steps_between`: `repeat` and `side_by_side`, where k is a number and many trips are executed at once), or
from the code of a trip (`fixpoint.hypothesis`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, constant, same, squeeze, wholly_opaque
from ptxaudit.engine.memory.registers import Name
from ptxaudit.engine.ops.halves import UpperHalf, agree, as_plain, whole_of

Count = Callable[[int], Value]  # bits -> k, as a number of that width
Held = Mapping[Name, Value]  # the values of registers
Steps = dict[Name, Value | None]  # what a trip adds to registers; None: nothing


def step_between(before: Value, after: Value) -> Value | None:
    """What a trip adds in each lane, even if the value is unknown; None if the two do not differ by a number."""
    if isinstance(before, UpperHalf) and isinstance(after, UpperHalf):
        whole = step_between(before.whole, after.whole)
        if whole is not None:
            return UpperHalf(whole)
    if before.base.dtype != after.base.dtype or before.base.dtype == bool:
        return None
    step = affine.subtract(after, before)
    return squeeze(step) if step.poison is None and step.valid is None else None


def steps_between(before: Held, now: Held) -> Steps:
    """What a trip has added to registers, a number in each lane; without registers to which it added no number."""
    out: Steps = {}
    for name, value in now.items():
        last = before.get(name)
        if last is value:
            out[name] = None
        elif last is None or last.bits != value.bits:
            continue
        elif stays(last, value):
            out[name] = None
        elif (step := step_between(last, value)) is not None and not as_number(step).terms:
            out[name] = step if anywhere(as_number(step).base) else None
    return out


def after_trips(value: Value, step: Value, count: Count) -> Value:
    """The value of a register after k trips that each add a step."""
    if isinstance(step, UpperHalf):
        return UpperHalf(after_trips(whole_of(value), step.whole, count))
    return affine.add(value, affine.multiply(step, count(value.bits)))


def moves_by(before: Value, after: Value, step: Value) -> bool:
    """A trip has added the step, in every lane and for every k."""
    if isinstance(step, UpperHalf):
        return moves_by(whole_of(before), whole_of(after), step.whole)
    return same(after, affine.add(before, step))


def as_number(step: Value) -> Value:
    """A step as a number; that of a register pair as one number."""
    return step.whole if isinstance(step, UpperHalf) else step


def stays(before: Value, after: Value) -> bool:
    """The value is unchanged, or unknown in every lane before and after."""
    return agree(after, before) or _is_unknown(before) and _is_unknown(after)


def _is_unknown(value: Value) -> bool:
    return type(value) is Value and value.alternatives is None and wholly_opaque(value)


def at_trip(value: Value, key: Any, k: int) -> Value:
    """The value with a number for the unknown k. key: of that unknown."""
    if isinstance(value, UpperHalf):
        return UpperHalf(at_trip(value.whole, key, k), as_plain(value))
    moved = [c for u, c in value.terms if u.key == key]
    if not moved:
        return value
    base = value.base
    for c in moved:
        base = base + affine.scale(Value(c), constant(k, value.bits).base).base
    rest = tuple(term for term in value.terms if term[0].key != key)
    return Value(base, rest, value.valid, value.poison, value.why, None if k else value.sure)
