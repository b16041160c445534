"""Where control goes at the end of a block, in inference: to each successor a state, of the lanes that may go there.

@p bra b       p known:      its lanes to b, the others on
               p uniform:    all of them both ways; which is not known, but they stay together
               else:         all of them both ways, and which of them, neither; p is known on each
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.base.work import Account
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    Value,
    constant,
    opaque,
)
from ptxaudit.engine.exec.states import (
    State,
    either_undecided,
    is_uniform,
    why_undecided,
)
from ptxaudit.engine.fixpoint.loops import Paths
from ptxaudit.engine.fixpoint.meets import Meets
from ptxaudit.engine.memory import local
from ptxaudit.engine.memory.registers import Name, Registers, View, guard_mask
from ptxaudit.engine.memory.rows import Rows
from ptxaudit.ir.blocks import END, is_unresolved
from ptxaudit.ir.nodes import Control
from ptxaudit.ir.reasons import Kind, Reason, one_of_each

MOST_DEAD = 2  # a state is rid of registers that are read no more when they are so many times the others


class Undecided(Exception):
    """A branch in a loop that is being unrolled is not decided by what is known."""


class Transfers(Meets):
    """incoming: block -> (from where, state)s that arrived. unrolling: loops around this place that are followed trip
    by trip, in which a branch that is not decided ends that (`Undecided`)."""

    def __init__(self, paths: Paths, rows: Rows, account: Account):
        super().__init__(paths, account)
        self.rows = rows
        self.incoming: dict[int, list[tuple[int, State]]] = defaultdict(list)
        self.unrolling = 0
        self._seen_mask, self._whole = rows.env.exists, bool(rows.env.exists.all())

    def _give_way(self, block: int, state: State) -> None:
        """Where only some lanes of a warp yield, those that wait for them may go on without them."""
        some = state.mask.any(axis=1)
        if not state.exact or (self.rows.env.exists & ~state.mask)[some].any():
            self.given_way.add(block)

    def _view(self, state: State) -> View:
        """All rows of a state. (Lanes that do not exist hold values too, which are not to be taken for the others'.)"""
        if state.mask is not self._seen_mask:  # few masks, in many blocks
            self._seen_mask, self._whole = state.mask, bool(state.mask.all())
        return View(
            state.registers,
            self.rows.env,
            None,
            state.mask,
            self._whole,
            state.exact,
            bool(state.undecided_by) and any(d.data for d in state.undecided_by),
        )

    def _leave(self, block: int, state: State) -> None:
        """Sends the state at the end of a block to those that may come next."""
        last = self.function.instructions[self.graph.ends[block] - 1]
        control, successors = last.control, self.paths.successors(block)
        if control is not None and block in self.graph.calls:
            self._call(block, control, state)
        elif control is not None and is_unresolved(control):
            self._call_unresolved(block, control, state)
        elif control is None or len(successors) == 1 and not (control.guard and control.kind in ("exit", "ret")):
            self._go(block, successors[0], state)
        elif control.kind == "switch":
            self._switch(block, control, state, successors)
        elif control.kind in ("ret", "call") and control.guard is None:
            for s in successors:
                self._go(block, s, state)
            if control.kind == "ret":
                self.branches.put(block, "uniform")
        else:
            ends = control.kind == "exit" or control.kind == "ret" and successors == [END]
            fall = self._block_at(last.index + 1)
            if not self.paths.relevant(block):
                self._go(block, fall if ends else successors[0], state)
            elif control.kind == "ret":  # behind the calls of its routine, or nowhere
                self._branch(block, control, state, [s for s in successors if s != fall], fall)
            else:
                self._branch(
                    block,
                    control,
                    state,
                    [END if ends or not control.targets else self._block_at(control.targets[0])],
                    fall,
                )

    def _block_at(self, index: int) -> int:
        """The block of an instruction; END behind the last."""
        return self.graph.block_of[index] if index < len(self.graph.block_of) else END

    def _call_unresolved(self, block: int, control: Control, state: State) -> None:
        """What is called is not known: lanes may end in it, and those that come back may do so apart."""
        last = self.graph.ends[block] - 1
        lanes, undecided = guard_mask(self._view(state), control.guard)
        if self.paths.relevant(block) and (undecided is not None or lanes is None or lanes.any()):
            state.exact, state.undecided_by = (
                False,
                either_undecided(state.undecided_by, (one_of_each(Kind.CALL_NOT_RESOLVED, last),)),
            )
            self.branches.put(block, "varying")
        self._go(block, self._block_at(last + 1), state)

    def _call(self, block: int, control: Control, state: State) -> None:
        """A routine that others call too: it is run beside its callers, who go on without what it wrote."""
        start = self.graph.calls[block]
        if self.paths.relevant(block):
            part = state.of(state.mask)
            if control.guard is not None:
                view = self._view(state)
                lanes, undecided = guard_mask(view, control.guard)
                if lanes is not None:
                    part.mask = lanes
                if undecided is not None:
                    part.exact = False
                    part.undecided_by = either_undecided(
                        state.undecided_by, (why_undecided(undecided, self.graph.ends[block] - 1),)
                    )
            if part.mask.any():
                self._go(block, start, part)
                if start in self.graph.giving_way:
                    self._give_way(block, part)
        values, overwritten = state.registers.values, self.graph.overwritten[start]
        why = Reason(Kind.ROUTINE, self.graph.ends[block] - 1, (control.callee or "a routine",))
        local.forget(state.registers)
        for name in values.keys() & overwritten:
            values[name] = opaque(values[name].bits, why)
        if start in self.graph.ending:
            state.exact, state.undecided_by = (
                False,
                either_undecided(state.undecided_by, (one_of_each(Kind.MAY_END, self.graph.ending[start]),)),
            )
        for s in self.graph.cfg.successors(block):
            if s != start:
                self._go(block, s, state)

    def _branch(self, block: int, control: Control, state: State, targets: list[int], fall: int) -> None:
        """Lanes in which the guard holds go to the target (one of the targets), others to what follows; where it is not
        known, all of them both ways."""
        assert control.guard is not None  # it would not be a branch
        mask = state.mask
        taken, guard = guard_mask(self._view(state), control.guard)
        if taken is not None:
            rest = mask & ~taken
            torn = (taken.any(axis=1) & rest.any(axis=1)).any()
            if torn:
                self.branches.put(block, "divergent")
            if len(targets) > 1:
                self.branches.put(block, "uniform")
            for s, lanes in (*((t, taken) for t in targets), (fall, rest)):
                if s != END and lanes.any():
                    self._go(block, s, state.of(lanes))
            return
        assert guard is not None  # not known, where its lanes are not
        uniform = is_uniform(guard) or not self.graph.may_diverge(self.graph.ends[block] - 1)
        if self.unrolling:
            raise Undecided
        why = why_undecided(guard, self.graph.ends[block] - 1)
        self.branches.put(block, "uniform" if uniform else "varying")
        self.causes[block] = why
        undecided_by = state.undecided_by if uniform else either_undecided(state.undecided_by, (why,))
        for s, value in (*((t, True) for t in targets), (fall, False)):
            if s == END:
                continue
            part = state.of(mask)
            if not uniform:
                part.exact, part.undecided_by = False, undecided_by
                if guard.poison is not None and guard.poison is not EVERYWHERE and not guard.terms:
                    part.mask = mask & (guard.poison | (guard.base == value))
                    if not part.mask.any():
                        continue
            self._go(block, s, part, control.guard.reg.name, constant(value ^ control.guard.negated, 1))

    def _switch(self, block: int, control: Control, state: State, successors: list[int]) -> None:
        value = (
            self._view(state).read(control.selector)
            if control.selector is not None
            else opaque(32, Reason(Kind.BRANCH_TARGET, self.graph.ends[block] - 1))
        )
        chosen = np.broadcast_to(value.base.astype(np.int64), state.mask.shape)
        if value.known and control.targets and (chosen[state.mask] < len(control.targets)).all():
            self.branches.put(block, "divergent")
            if control.choices and any(len(distinct(row[lanes])) > 1 for row, lanes in zip(chosen, state.mask)):
                self.calls_diverge.add(block)
            for k in distinct(chosen[state.mask]):
                part = state.of(state.mask & (chosen == k))
                if block in self.calls_diverge and not self.function.explicit_reconvergence:
                    part.exact, part.undecided_by = (
                        False,
                        either_undecided(
                            state.undecided_by, (one_of_each(Kind.CALLS_DIVERGE, self.graph.ends[block] - 1),)
                        ),
                    )
                self._go(block, self.graph.block_of[control.targets[int(k)]], part)
            return
        if self.unrolling:
            raise Undecided
        uniform = is_uniform(value) or not self.graph.may_diverge(self.graph.ends[block] - 1)
        self.branches.put(block, "uniform" if uniform else "varying")
        if control.choices and not uniform:
            self.calls_diverge.add(block)
        for s in successors:
            part = state.of(state.mask)
            if not uniform:
                part.exact = False
                part.undecided_by = state.undecided_by + (why_undecided(value, self.graph.ends[block] - 1),)
            self._go(block, s, part)

    def _go(self, source: int, target: int, state: State, predicate: str = "", known: Value | None = None) -> None:
        """The state at the end of a block is one of those that begin another, without most registers that are read no
        more: all of them where lanes that are not active, or a loop's other trips, would mix in what they hold.

        predicate, known: on a way that a predicate opened, the predicate is known.
        """
        if target != END and target in self.paths.live:  # else nothing lies there that matters
            values, live = state.registers.values, self.paths.live[target]
            if len(values) > MOST_DEAD * len(live) + MOST_DEAD or target in self.paths.heads or not state.mask.all():
                kept: dict[Name, Value] = {n: values[n] for n in live if n in values}
                if self.paths.local:
                    kept |= {n: v for n, v in values.items() if type(n) is tuple}
            else:
                kept = dict(values)
            if known is not None and predicate in live:
                kept[predicate] = known
            self.incoming[target].append(
                (source, State(Registers(state.registers.rows, kept), state.mask, state.exact, state.undecided_by))
            )
