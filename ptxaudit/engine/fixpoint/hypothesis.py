"""Hypotheses about the registers that a loop carries from trip to trip, until a trip confirms them.

    same      the value at the entry of the loop
    step      entry + step·k, with k the trip
    shift     entry + u, with u the same in all lanes and a multiple of a power of two
    modulo    the low bits of the entry, with another multiple added in each lane
    truths    in some bits, the predicates of the entry (`ops.packed`)
    opaque    nothing

Each is weaker than those above it, or applies to other values. If a trip that begins with the hypothesis ends with it
(for the next k), it holds in every trip; otherwise a weaker one is supposed. Nothing is taken as true without
verification; the first hypothesis is a guess, and a good one saves trips.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from msgspec import Struct, field

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import (
    Uniform,
    Value,
    because,
    common_zeros,
    lane_uniform,
    modulo,
    opaque,
    same,
    squeeze,
    unknown,
    wholly_opaque,
)
from ptxaudit.engine.exec.induction import after_trips, at_trip, moves_by, step_between
from ptxaudit.engine.fixpoint.loops import LOCAL, Loop
from ptxaudit.engine.fixpoint.states import State
from ptxaudit.engine.memory import local
from ptxaudit.engine.memory.registers import Name, called, fill
from ptxaudit.engine.ops import packed
from ptxaudit.ir.reasons import Kind, Reason


class Hypothesis(Struct, eq=False):
    """What is supposed of a loop.

    head, place: of the loop, and the instruction it begins with. kinds: register -> see the module. steps: what "step"
    adds per trip. zeros: low bits that "shift" and "modulo" preserve. elsewhere: registers that "shift" may move to
    another variable. truths: what is known of registers some of whose bits are predicates. blame: why a register is
    opaque, if data is the cause. cells: the cells of local memory about which nothing is supposed, as a trip changes
    them; other cells that it changes are in `kinds`, as registers are, and all others stay the same, unless local
    memory is opaque.
    """

    head: int
    place: int
    kinds: dict[Name, str]
    steps: dict[Name, Value] = field(default_factory=dict)
    zeros: dict[Name, int] = field(default_factory=dict)
    elsewhere: set[Name] = field(default_factory=set)
    truths: dict[Name, Value] = field(default_factory=dict)
    blame: dict[Name, Reason] = field(default_factory=dict)
    cells: set[Name] = field(default_factory=set)

    def of(self, names: tuple[Name, ...]) -> Hypothesis:
        """The same for these registers; "same" for those without a hypothesis."""
        kinds = {name: self.kinds.get(name, "same") for name in (*names, LOCAL, *self.changed_cells)}
        held = (
            dict(self.steps),
            dict(self.zeros),
            set(self.elsewhere),
            dict(self.truths),
            dict(self.blame),
            set(self.cells),
        )
        return Hypothesis(self.head, self.place, kinds, *held)

    def nothing(self) -> Hypothesis:
        """The weakest hypothesis: everything is opaque."""
        return Hypothesis(self.head, self.place, dict.fromkeys((*self.kinds, LOCAL), "opaque"), blame=self.blame)

    @property
    def changed_cells(self) -> tuple[Name, ...]:
        """The cells of local memory that a trip changes and that have a hypothesis."""
        return tuple(name for name in self.kinds if type(name) is tuple and name != LOCAL and name not in self.cells)

    def guess(self, name: str, entry: Value | None, after: Value | None) -> None:
        """Supposes that a register moves by a step, if a trip from `entry` to `after` suggests one."""
        step = None if entry is None or after is None else step_between(entry, after)
        if step is not None:
            self.kinds[name], self.steps[name] = "step", step

    def state(self, entry: State, trip: Uniform, changed: Callable[[Name], str]) -> State:
        """The state at the beginning of a trip under this hypothesis.

        trip: the number of trips before; changed: gives the name of a register's change.
        """
        state = entry.copy()
        values = state.registers.values
        for cell in self.cells:
            values.pop(cell, None)
        for name, kind in self.kinds.items():
            if name == LOCAL:
                if kind == "opaque":
                    local.forget(state.registers)
                continue
            old = values.get(name)
            if old is None or kind == "same":
                continue
            key = ("shift", self.head, name, trip.key[-1])
            if kind == "step":
                values[name] = after_trips(old, self.steps[name], partial(_count, trip))
            elif kind == "modulo":
                values[name] = modulo(
                    old, self.zeros[name], Reason(Kind.LOOP_STEP_BY_LANE, self.place, (called(name),))
                )
            elif kind == "shift" and old.base.dtype == bool:
                values[name] = unknown(Uniform(changed(name), 1, 0, 0, 1, "loop", key))
            elif kind == "shift":
                data = any(u.data for u, _ in old.terms)
                u = Uniform(
                    changed(name),
                    old.bits,
                    self.zeros[name],
                    None,
                    None,
                    "loop",
                    key,
                    data,
                    address=name in self.elsewhere,
                )
                values[name] = affine.add(old, unknown(u))
            else:
                nothing = opaque(
                    old.bits, self.blame.get(name) or Reason(Kind.LOOP_NOT_MODELLED, self.place, (called(name),))
                )
                kept = packed.agreed(old, self.truths[name], nothing) if kind == "truths" else None
                if kept is None and kind == "truths" and old.terms and packed.packed(old) is not None:
                    self.truths[name] = old  # other predicates than in the last run of the loop: all of them, again
                    kept = old
                values[name] = nothing if kept is None else kept
        return state

    def begin_with(self, loop: Loop, entry: State, arrived: State, trip: Uniform) -> bool:
        """Handles registers that nothing has written when the loop begins: whether there are new ones.

        No warp may read one before it writes it. They are supposed to be what the first trip leaves, from which later
        values may differ.
        """
        values, new = entry.registers.values, False
        for name in loop.carried:
            if name != LOCAL and name not in values and (came := arrived.registers.values.get(name)) is not None:
                values[name], new = at_trip(came, trip.key, 0), True
        return new

    def weakened(self, loop: Loop, entry: State, start: State, arrived: State, trip: Uniform, first: bool) -> bool:
        """Weakens what a trip does not confirm; whether there was any change.

        entry: where the loop is entered; start, arrived: the beginning and the end of the trip. first: it is the first
        trip tried, which began with a guess, so that another step may be as good.
        """
        new = _changed_cells(start, arrived) - self.kinds.keys()
        self.kinds |= dict.fromkeys(new, "same")
        changed = bool(new)
        for name in (*loop.carried, *self.changed_cells):
            before, now, came = (state.registers.values.get(name) for state in (entry, start, arrived))
            kind, zeros, elsewhere = self.kinds[name], self.zeros.get(name), name in self.elsewhere
            truths = self.truths.get(name)
            if type(name) is tuple and name != LOCAL and (now is None or came is None):
                self.cells.add(name)
                changed = True
                continue
            if name == LOCAL or kind == "opaque" or before is None or now is None or came is None:
                continue
            if first and kind == "step" and self._has_other_step(name, now, came, trip):
                changed = True
                continue
            steps = first and name not in loop.trip.tangled
            self.kinds[name] = self._borne_out(name, before, now, came, trip, start.mask, steps)
            changed = changed or self.truths.get(name) is not truths
            changed = changed or (self.kinds[name], self.zeros.get(name), name in self.elsewhere) != (
                kind,
                zeros,
                elsewhere,
            )
            if self.kinds[name] in ("opaque", "truths") and (why := because(came)) and why.data:
                self.blame[name] = why
        return changed

    def _borne_out(
        self, name: Name, before: Value, now: Value, came: Value, trip: Uniform, mask: np.ndarray, steps: bool
    ) -> str:
        """The strongest kind that a trip confirms, at most as strong as the current one.

        mask: the lanes that may be in the loop; what others hold does not matter. steps: a step may be supposed
        instead.
        """
        kind = self.kinds[name]
        if before.base.dtype != came.base.dtype:
            return "opaque"
        if kind == "same":
            if (
                same(came, now)
                or wholly_opaque(now)
                and (now.why is not None and now.why.data or not (came.why and came.why.data))
            ):
                return "same"
            if steps:
                step = step_between(before, at_trip(came, trip.key, 0))
                if step is not None:
                    self.steps[name] = step
                    return "step"
        if kind == "step" and moves_by(now, came, self.steps[name]):
            return "step"
        before, arrived = fill(before, mask), fill(came, mask)
        if before.poison is not None or arrived.poison is not None or kind == "truths":
            return self._truths_borne_out(name, now, came)
        came = arrived
        if before.base.dtype == bool:
            uniform = squeeze(before).uniform and squeeze(came).uniform
            return "shift" if uniform and kind != "modulo" else "opaque"
        moved = affine.subtract(came, before)
        if moved.poison is not None:
            return "opaque"
        zeros = common_zeros(moved)
        together = moved.valid is None and lane_uniform(moved.base) and all(lane_uniform(c) for _, c in moved.terms)
        kind = "shift" if together and kind != "modulo" else "modulo"
        if kind == "modulo" and zeros == 0:
            return "opaque"
        self.zeros[name] = min(zeros, self.zeros.get(name, zeros))
        if affine.addresses(moved):
            self.elsewhere.add(name)
        return kind

    def _truths_borne_out(self, name: Name, now: Value, came: Value) -> str:
        """Keeps the bits of a register that are predicates which a trip preserves."""
        kept = packed.agreed(now, came, opaque(now.bits, because(came, now)))
        if kept is None:
            self.truths.pop(name, None)
            return "opaque"
        if self.kinds[name] != "truths" or not packed.alike(kept, now):
            self.truths[name] = kept
        return "truths"

    def _has_other_step(self, name: Name, now: Value, came: Value, trip: Uniform) -> bool:
        """Replaces the supposed step of a register by another one that the trip shows."""
        step = None if now.poison is not None or came.poison is not None else step_between(now, came)
        if step is None or same(step, self.steps[name]) or any(u.key == trip.key for u, _ in step.terms):
            return False
        self.steps[name] = step
        return True


def _changed_cells(start: State, arrived: State) -> set[Name]:
    """The cells of local memory whose values have changed."""
    values = arrived.registers.values
    return {
        name
        for name, value in start.registers.values.items()
        if type(name) is tuple and not ((now := values.get(name)) is value or now is not None and same(now, value))
    }


def _count(trip: Uniform, bits: int) -> Value:
    """The number of trips before, as a number of the given width."""
    return unknown(Uniform(trip.name, bits, 0, 0, None, "loop", trip.key), bits)
