"""Where the lanes of a cohort go at the end of a block: branches, calls, returns, exits, and the barriers of a warp.

@p bra L      lanes in which p holds go to L, others on; who of them runs first: `convergence`
call f        at f, with the place behind the call on the stack of the cohort

"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.domain.value import opaque
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.exec.states import is_uniform, why_undecided
from ptxaudit.engine.exec.tracked import TrackedMemory
from ptxaudit.engine.exec.undecided_control import UndecidedControl
from ptxaudit.engine.exec.warp_step import gathers
from ptxaudit.engine.memory.registers import pack
from ptxaudit.ir.blocks import END, is_unresolved
from ptxaudit.ir.nodes import Const, Control, Instruction
from ptxaudit.ir.reasons import Kind, Reason, first_of

MAX_CALLS = 256


def _named(control: Control) -> str:
    """The convergence barrier that a transfer of control is about."""
    assert control.barrier is not None
    return control.barrier.name


class Transfers:
    """What transfers of control do, one method each."""

    def __init__(
        self,
        run: Run,
        warps: Warps,
        meetings: Meetings,
        unresolved: UndecidedControl,
        tracked: TrackedMemory | None,
    ):
        self.run, self.warps, self.meetings, self.unresolved, self.tracked = (
            run,
            warps,
            meetings,
            unresolved,
            tracked,
        )

    def transfer(self, instruction: Instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        """Where the cohort goes after its block's last instruction; None when it is in the heap or done."""
        following = instruction.index + 1
        match c.kind:
            case "branch":
                return self._branch(instruction, c, cohort, relevant)
            case "switch":
                return self._switch(instruction, c, cohort, relevant)
            case "exit":
                return self._leave_kernel(instruction, c, cohort, relevant)
            case "call":
                return self._call(instruction, c, cohort)
            case "ret":
                return self._return(instruction, c, cohort, relevant)
            case "open":
                self._open(c, cohort)
            case "sync":
                cohort.pc = following
                return self.run.go_on(self.warps.sync(_named(c), cohort))
            case "leave":
                return self._leave_barrier(c, cohort, following)
            case "warpsync" | "part":
                return self._warpsync(c, cohort, following)
            case "yield":
                self._yield(c, cohort)
            case "barrier":
                if gathers(c, self.run.explicit):
                    self.meetings.all_meet(cohort)  # ptxas puts a WARPSYNC before it where lanes may have diverged
                if self.tracked is not None and instruction.index in self.tracked.plan.barriers:
                    return self.tracked.hold(cohort, following, self.tracked.plan.barriers[instruction.index])
        cohort.pc = following
        return cohort

    def _branch(self, instruction: Instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        target, following = c.targets[0], instruction.index + 1
        if c.guard is None:
            cohort.pc = target
            return cohort
        if not relevant:
            return self.unresolved.step_over(instruction, cohort, None)
        taken, undecided = self.warps.lanes_of(c.guard, cohort)
        if taken is None:
            return self.unresolved.step_over(instruction, cohort, undecided)
        rest = cohort.mask & ~taken
        return self._part(instruction, cohort, [(target, taken), (following, rest)])

    def _switch(self, instruction: Instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        if not relevant:
            return self.unresolved.step_over(instruction, cohort, None)
        value = (
            self.warps.view(cohort).read(c.selector)
            if c.selector is not None
            else opaque(32, Reason(Kind.BRANCH_TARGET, instruction.index))
        )
        unknown_here = (
            value.poison is not None and (np.broadcast_to(value.poison, cohort.mask.shape) & cohort.mask).any()
        )
        if value.terms or value.valid is not None or unknown_here or not c.targets:
            return self.unresolved.step_over(instruction, cohort, value)
        chosen = np.broadcast_to(value.base.astype(np.int64), cohort.mask.shape)
        if (chosen[cohort.mask] >= len(c.targets)).any():
            return self.unresolved.step_over(
                instruction, cohort, opaque(32, Reason(Kind.BRANCH_TARGET, instruction.index))
            )
        parts = []
        for k in distinct(chosen[cohort.mask]):
            parts.append((c.targets[int(k)], cohort.mask & (chosen == k)))
        if c.choices and not self.run.explicit:
            meeting = self.run.graph.meeting.get(self.run.graph.block_of[instruction.index], END)
            self.meetings.calls_diverge["at", meeting, len(cohort.calls)] = Reason(
                Kind.CALLS_DIVERGE, instruction.index
            )
        return self._part(instruction, cohort, parts)

    def _part(self, instruction: Instruction, cohort: Cohort, parts: Sequence[tuple[int, np.ndarray]]) -> Cohort | None:
        """Send each part of the lanes its way; lanes of one warp that part open a convergence barrier."""
        somewhere = [(pc, mask, mask.any(axis=1)) for pc, mask in parts]
        somewhere = [(pc, mask, some) for pc, mask, some in somewhere if some.any()]
        if len(somewhere) == 1 and somewhere[0][2].all() and (somewhere[0][1] == cohort.mask).all():
            cohort.pc = somewhere[0][0]
            return cohort
        if not self.run.explicit:
            torn: np.ndarray = np.sum([some for _, _, some in somewhere], axis=0) > 1
            if torn.any():
                self.meetings.expect(instruction, cohort, torn)
        return self._apart(
            [Cohort(pc, cohort.rows[some], mask[some], cohort.calls, *cohort.state) for pc, mask, some in somewhere]
        )

    def _apart(self, parts: list[Cohort]) -> Cohort | None:
        """Parts of one cohort go on."""
        if self.run.explicit:
            return self.run.go_on(self.warps.choose(parts))
        for part in parts:
            self.meetings.diverge_from_now(part, pack(part.mask))
            self.run.push(part)
        return None

    def _open(self, c: Control, cohort: Cohort) -> None:
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        self.warps.open(_named(c), cohort, cohort.mask if lanes is None else lanes)
        if undecided is not None:
            self.warps.undecided(_named(c), cohort)

    def _leave_barrier(self, c: Control, cohort: Cohort, following: int) -> Cohort | None:
        cohort.pc = following
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        if undecided is not None:
            self.warps.undecided(_named(c), cohort)
            return cohort
        return self.run.go_on(self.warps.leave(_named(c), cohort, cohort.mask if lanes is None else lanes))

    def _warpsync(self, c: Control, cohort: Cohort, pc: int) -> Cohort | None:
        """Lanes wait for those that they name. Lanes that come together go on together even if they name
        different masks, except at `part`. (Measured: WarpExchange of CUB in bench/kernels/cub_exchange names
        both halves of the warp at a plain WARPSYNC, and each access behind it is one request.)"""
        cohort.pc = pc
        words = None
        if c.selector is not None:
            value = self.warps.view(cohort).read(c.selector)
            if not value.known:
                return cohort
            words = np.broadcast_to(value.base.astype(np.uint32), cohort.mask.shape)
        named = c.selector.value if isinstance(c.selector, Const) else 0
        return self.run.go_on(self.warps.warpsync(cohort, words, named, c.kind == "part", self._meeting_again(c)))

    def _meeting_again(self, c: Control) -> str | None:
        """The barrier at which lanes meet that part behind a WARPSYNC.COLLECTIVE; "" where there is none."""
        if not c.targets:
            return None
        behind = self.run.instructions[c.targets[0]].control if c.targets[0] < len(self.run.instructions) else None
        return _named(behind) if behind is not None and behind.kind == "sync" else ""

    def _yield(self, c: Control, cohort: Cohort) -> None:
        """Some lanes of a warp spin or sleep: those that wait for them at a convergence barrier may go on before
        they come, so that the one that is waited for can make way. (Measured: the STS after the probing loop of
        samples/hash_table is issued once for each group of lanes that leaves the loop together; and so is what follows
        a NANOSLEEP of some lanes, in kernels 9008 and 9041 of bench/adversary.)"""
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        here = cohort.mask if lanes is None else lanes
        alone = here.any(axis=1) & (self.run.alive[cohort.rows] & ~here).any(axis=1)
        if undecided is not None:
            alone = (self.run.alive[cohort.rows] & ~cohort.mask).any(axis=1) | (not is_uniform(undecided))
        self.warps.loosen(cohort.rows[alone], Reason(Kind.YIELD))

    def _leave_kernel(self, instruction: Instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        lanes, undecided = self.warps.lanes_of(c.guard, cohort) if c.guard is not None and relevant else (None, None)
        if c.guard is not None and not relevant:
            cohort.pc = instruction.index + 1
            return cohort
        if undecided is not None and self.run.round is not None:
            raise NotAffine
        if undecided is not None:
            if instruction.index in self.unresolved.undecided_exits and cohort.undecided:
                return self.unresolved.give_up(cohort, instruction.index, cohort.undecided)
            self.unresolved.undecided_exits.add(instruction.index)
            self.unresolved.lose(cohort)
            cohort.undecided = first_of(
                cohort.undecided,
                Reason(Kind.ENDS, instruction.index, cause=why_undecided(undecided, instruction.index)),
            )
            cohort.pc = instruction.index + 1
            return cohort
        gone = cohort.mask if lanes is None else lanes
        return self.unresolved.exit(cohort, gone, instruction.index + 1)

    def _call(self, instruction: Instruction, c: Control, cohort: Cohort) -> Cohort | None:
        following = instruction.index + 1
        if not c.targets:
            return self.unresolved.call_unresolved(instruction, c, cohort) if is_unresolved(c) else cohort.at(following)
        if len(cohort.calls) >= MAX_CALLS:
            return self.unresolved.give_up(cohort, instruction.index, Reason(Kind.CALL_DEPTH, instruction.index))
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        if undecided is not None:
            return self.unresolved.step_over(instruction, cohort, undecided)
        inside = cohort.mask if lanes is None else lanes
        some = inside.any(axis=1)
        rest = cohort.mask & ~inside
        left = rest.any(axis=1)
        if left.any():
            if not self.run.explicit and (some & left).any() and following < len(self.run.instructions):
                self.meetings.expect_at(
                    self.run.graph.block_of[following], cohort, some & left
                )  # who does not call waits
        return self._parts(cohort, (c.targets[0], inside, cohort.calls + (following,)), (following, rest, cohort.calls))

    def _parts(self, cohort: Cohort, *parts: tuple[int, np.ndarray, tuple[int, ...]]) -> Cohort | None:
        """The lanes of a cohort go on at (pc, lanes, calls)."""
        some = [(pc, mask, calls, mask.any(axis=1)) for pc, mask, calls in parts]
        out = [
            Cohort(pc, cohort.rows[rows], mask[rows], calls, *cohort.state)
            for pc, mask, calls, rows in some
            if rows.any()
        ]
        return out[0] if len(out) == 1 else self._apart(out)

    def _return(self, instruction: Instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        if not cohort.calls:
            return self._leave_kernel(instruction, c, cohort, relevant)
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        if undecided is not None:
            return self.unresolved.step_over(instruction, cohort, undecided)
        going = cohort.mask if lanes is None else lanes
        return self._parts(
            cohort,
            (cohort.calls[-1], going, cohort.calls[:-1]),
            (instruction.index + 1, cohort.mask & ~going, cohort.calls),
        )
