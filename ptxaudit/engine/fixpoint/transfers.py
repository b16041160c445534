"""Transfers the state at the end of a block to each successor, with the lanes that may go there.

@p bra b       p known:      its lanes to b, the others to the next instruction
               p uniform:    all of them on both paths; which is unknown, but they stay together
               otherwise:    all of them on both paths; which lanes take each is unknown; p is known on each

    @p r = 4; @p bra b        r is 4 on the path to b, and its old value on the other
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
from msgspec import Struct

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.work import Account
from ptxaudit.engine.domain.lane_classes import classes_of, refined
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    Value,
    constant,
    opaque,
)
from ptxaudit.engine.exec.control import destinations, is_uniform, rows_of, torn, why_undecided
from ptxaudit.engine.fixpoint.loops import Loop, Paths
from ptxaudit.engine.fixpoint.meets import Meets
from ptxaudit.engine.fixpoint.states import State, either_undecided
from ptxaudit.engine.memory import local
from ptxaudit.engine.memory.registers import Name, Registers, View, blend, guard_mask
from ptxaudit.engine.memory.rows import Rows
from ptxaudit.ir.blocks import END
from ptxaudit.ir.nodes import Control, Instruction
from ptxaudit.ir.reasons import Kind, Reason, one_of_each
from ptxaudit.ir.transfers import ENDS, RETURNS, is_unresolved, taken

NOTHING: Mapping[Name, Value] = {}
MOST_DEAD = 2  # dead registers are removed when they are this many times the live ones


class Undecided(Exception):
    """A branch in a loop that is being unrolled is unknown."""


class Followed(Struct, eq=False):
    """A loop that is followed trip by trip.

    firm: exactly the supposed lanes are in it, and lanes that diverge in it reconverge before they leave it. opened: a
    branch in it was unknown.
    """

    loop: Loop
    firm: bool
    opened: bool = False


class Transfers(Meets):
    """incoming: block -> (source, state)s that arrived. unrolling: the number of enclosing loops that are followed trip
    by trip, which ends (`Undecided`) at an unknown branch that may leave them; followed: the state of these.
    """

    def __init__(self, paths: Paths, rows: Rows, account: Account):
        super().__init__(paths, account)
        self.rows = rows
        self.incoming: dict[int, list[tuple[int, State]]] = defaultdict(list)
        self.unrolling = 0
        self.followed: list[Followed] = []
        self._seen_mask, self._whole = rows.env.exists, throughout(rows.env.exists)

    def _give_way(self, block: int, state: State) -> None:
        """Records a block in which only some lanes of a warp yield, so that lanes waiting for them may continue."""
        some = state.mask.any(axis=1)
        if not state.exact or anywhere((self.rows.env.exists & ~state.mask)[some]):
            self.given_way.add(block)

    def _view(self, state: State) -> View:
        """All rows of a state. (Lanes that do not exist hold values, too, which must not be taken for others'.)"""
        if state.mask is not self._seen_mask:  # few masks, in many blocks
            self._seen_mask, self._whole = state.mask, throughout(state.mask)
        return View(
            state.registers,
            self.rows.env,
            None,
            state.mask,
            self._whole,
            state.exact,
            bool(state.undecided_by) and any(d.data for d in state.undecided_by),
            grouped=state.grouped,
            path=True,
        )

    def _leave(self, block: int, state: State, seen: View) -> None:
        """Sends the state at the end of a block to its successors. seen: the view of its last instructions."""
        last = self.function.instructions[self.graph.ends[block] - 1]
        control, successors = last.control, self.paths.successors(block)
        if self.unrolling and not state.exact and any(f.opened and block in f.loop.exits for f in self.followed):
            raise Undecided  # the lanes that leave in this trip are unknown
        if control is not None and block in self.graph.calls:
            self._call(block, control, state)
        elif control is not None and is_unresolved(control):
            self._call_unresolved(block, control, state)
        elif control is None or len(successors) == 1 and not (control.guard and control.kind in ("exit", "ret")):
            self._go(block, successors[0], state)
        elif control.kind in ("ret", "call") and control.guard is None:
            for s in successors:
                self._go(block, s, state)
            if control.kind == "ret":
                self.branches.put(block, "uniform")
        elif not self.paths.relevant(block):
            ends = control.kind == "exit" or successors == [END]
            self._go(block, self._block_at(last.index + 1) if ends else successors[0], state)
        else:
            self._send(block, last, control, state, seen)

    def _block_at(self, index: int) -> int:
        """The block of an instruction; END past the last."""
        return self.graph.block_of[index] if index < len(self.graph.block_of) else END

    def _call_unresolved(self, block: int, control: Control, state: State) -> None:
        """Handles an unknown callee: lanes may end in it, and those that return may be diverged."""
        last = self.graph.ends[block] - 1
        lanes, undecided = guard_mask(self._view(state), control.guard)
        if self.paths.relevant(block) and (undecided is not None or lanes is None or anywhere(lanes)):
            state.diverge(one_of_each(Kind.CALL_NOT_RESOLVED, last))
            self.branches.put(block, "varying")
        self._go(block, self._block_at(last + 1), state)

    def _call(self, block: int, control: Control, state: State) -> None:
        """Handles a call of a shared routine: its body is run separately; callers continue with all that it writes
        opaque.
        """
        start = self.graph.calls[block]
        if self.paths.relevant(block):
            part = state.of(state.mask)
            if control.guard is not None:
                view = self._view(state)
                lanes, undecided = guard_mask(view, control.guard)
                if lanes is not None:
                    part.mask = lanes
                if undecided is not None:
                    part.weaken(why_undecided(undecided, self.graph.ends[block] - 1))
            if anywhere(part.mask):
                self._go(block, start, part)
                if start in self.graph.giving_way:
                    self._give_way(block, part)
        values, overwritten = state.registers.values, self.graph.overwritten[start]
        why = Reason(Kind.ROUTINE, self.graph.ends[block] - 1, (control.callee or "a routine",))
        local.forget(state.registers)
        for name in values.keys() & overwritten:
            values[name] = opaque(values[name].bits, why)
        if start in self.graph.ending:
            state.weaken(one_of_each(Kind.MAY_END, self.graph.ending[start]))
        if start in self.graph.diverging:
            state.diverge(one_of_each(Kind.RETURN_DIVERGED, self.graph.ends[block] - 1))
        for s in self.graph.cfg.successors(block):
            if s != start:
                self._go(block, s, state)

    def _send(self, block: int, last: Instruction, control: Control, state: State, seen: View) -> None:
        """Sends lanes where the table says (`control`); if their destinations are unknown, all of them to each."""
        found = destinations(last, control, state.mask, partial(self._view, state))
        if isinstance(found, Value):
            return self._send_anyhow(block, last, control, state, found, seen)
        diverge = anywhere(torn(rows_of(found)))
        if diverge or control.kind == "switch":
            self.branches.put(block, "divergent")
        if control.kind == "ret" and len(self._blocks(block, RETURNS)) > 1:
            self.branches.put(block, "uniform")
        if control.choices and diverge:
            self.calls_diverge.add(block)
        for place, lanes in found:
            for s in self._blocks(block, place) if anywhere(lanes) else ():
                part = state.of(lanes)
                if block in self.calls_diverge and not self.function.explicit_reconvergence:
                    part.diverge(one_of_each(Kind.CALLS_DIVERGE, last.index))
                self._go(block, s, part)

    def _send_anyhow(
        self, block: int, last: Instruction, control: Control, state: State, decides: Value, seen: View
    ) -> None:
        """Handles an unknown condition: if it is uniform, lanes stay together; otherwise each may go anywhere."""
        if self.unrolling:
            self.pass_open((block,))
        uniform = is_uniform(decides, state.mask) or not self.graph.may_diverge(last.index)
        why = why_undecided(decides, last.index)
        self.branches.put(block, "uniform" if uniform else "varying")
        self.causes[block] = why
        if control.choices and not uniform:
            self.calls_diverge.add(block)
        undecided_by = state.undecided_by if uniform else either_undecided(state.undecided_by, (why,))
        guard = control.guard
        others = () if guard is None else ((self._block_at(last.index + 1), False),)
        targets = sorted({t for place in taken(control) for t in self._blocks(block, place)})
        for s, value in (*((t, True) for t in targets), *others):
            if s == END:
                continue
            part = state.of(state.mask)
            if not uniform:
                part.classes, part.one_group = refined(state.parts, classes_of(decides)), state.grouped
                part.single = state.single or decides.lone[0 if value else 1]
                part.exact, part.undecided_by = False, undecided_by
                if guard is not None and (lanes := _perhaps(decides, value)) is not EVERYWHERE:
                    part.mask = state.mask & lanes
                    if not anywhere(part.mask):
                        continue
            if guard is None:
                self._go(block, s, part)
            else:
                held = seen.held_where(guard, value)
                if held and not throughout(part.mask):
                    held = {n: blend(part.registers.values[n], v, part.mask) for n, v in held.items()}
                known: dict[Name, Value] = {guard.reg.name: constant(value ^ guard.negated, 1)}
                self._go(block, s, part, known | held)

    def pass_open(self, blocks: Iterable[int]) -> None:
        """Handles unknown branches in loops that are followed: they are allowed if all paths join within the trip."""
        outer = self.followed[-self.unrolling :]
        for block in blocks:
            if any(not f.firm or block in f.loop.exits or block in f.loop.outward for f in outer):
                raise Undecided
        for f in outer:
            f.opened = True

    def _blocks(self, block: int, place: int) -> list[int]:
        """The blocks that a place of `transfers.taken` denotes, at the end of a block."""
        if place == RETURNS:
            following = self._block_at(self.graph.ends[block])
            return [s for s in self.paths.successors(block) if s not in (END, following)]
        return [] if place == ENDS else [self._block_at(place)]

    def _go(self, source: int, target: int, state: State, known: Mapping[Name, Value] = NOTHING) -> None:
        """Adds the state to those that arrive at a block, mostly without dead registers.

        All dead registers are removed if inactive lanes, or other trips of a loop, would mix in their values. known:
        on a path that a predicate selected, the predicate, and what was written where it holds.
        """
        if target != END and target in self.paths.live:  # else nothing there matters
            values, live = state.registers.values, self.paths.live[target]
            if (
                len(values) > MOST_DEAD * len(live) + MOST_DEAD
                or target in self.paths.heads
                or not throughout(state.mask)
            ):
                kept: dict[Name, Value] = {n: values[n] for n in live if n in values}
                if self.paths.local:
                    kept |= {n: v for n, v in values.items() if type(n) is tuple}
            else:
                kept = dict(values)
            kept.update((name, value) for name, value in known.items() if name in live)
            registers = Registers(state.registers.rows, kept)
            self.incoming[target].append((source, State(registers, state.mask, *state.coming)))


def _perhaps(predicate: Value, holds: bool) -> np.ndarray:
    """(rows, lanes) where a predicate may have the value `holds`."""
    if predicate.poison is None or predicate.poison is EVERYWHERE or predicate.terms:
        return EVERYWHERE
    result: np.ndarray = predicate.poison | (predicate.base == holds)
    return result
