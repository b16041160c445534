"""Moves the lanes of a cohort at the end of a block: branches, calls, returns, exits, and the barriers of a warp.

@p bra L      lanes in which p holds go to L, others to the next instruction; `convergence` orders them
call f        to f, with the instruction after the call on the stack of the cohort
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.lanes import pack
from ptxaudit.engine.domain.value import Value, known_in
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.control import Destinations, destinations, is_uniform, rows_of, torn, why_undecided
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.exec.tracked import TrackedMemory
from ptxaudit.engine.exec.undecided_control import UndecidedControl
from ptxaudit.engine.exec.warp_step import gathers
from ptxaudit.ir.blocks import END, parts_if
from ptxaudit.ir.nodes import Const, Control, Instruction
from ptxaudit.ir.reasons import Kind, Reason, first_of
from ptxaudit.ir.transfers import RETURNS, is_unresolved

MAX_CALLS = 256


def _named(control: Control) -> str:
    """The convergence barrier that a control transfer names."""
    assert control.barrier is not None
    return control.barrier.name


class Transfers:
    """The effect of control transfers on a cohort: where its lanes go, and which lanes wait for which."""

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
        """The cohort after its block's last instruction; None if it is in the heap or done."""
        following = instruction.index + 1
        if self.tracked is not None and c.kind in ("sync", "warpsync", "part"):
            self.tracked.together(cohort)
        match c.kind:
            case "open":
                self._open(c, cohort)
            case "sync":
                return self.run.go_on(self.warps.sync(_named(c), cohort.at(following)))
            case "leave":
                return self._leave_barrier(c, cohort, following)
            case "warpsync" | "part":
                return self._warpsync(c, cohort, following)
            case "yield":
                self._yield(c, cohort)
            case "barrier":
                if gathers(c, self.run.explicit, bool(self.run.graph.diverging)):
                    self.meetings.all_meet(cohort)  # ptxas puts a WARPSYNC before it where lanes may have diverged
                if self.tracked is not None:
                    return self.tracked.arrive(instruction, c, cohort)
            case _:
                return self._part(instruction, c, cohort, relevant)
        return cohort.at(following)

    def _part(self, instruction: Instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        """Sends lanes where the table says (`control`): branches, calls, returns and exits."""
        following = instruction.index + 1
        ends = c.kind == "exit" or c.kind == "ret" and not cohort.calls
        if is_unresolved(c):
            return self.unresolved.call_unresolved(instruction, c, cohort)
        if c.kind == "call" and not c.targets:  # of the runtime
            return cohort.at(following)
        if c.kind == "call" and len(cohort.calls) >= MAX_CALLS:
            return self.unresolved.give_up(cohort, instruction.index, Reason(Kind.CALL_DEPTH, instruction.index))
        if not relevant and (ends or c.kind in ("branch", "switch")) and parts_if(instruction):
            return cohort.at(following) if ends else self.unresolved.step_over(instruction, cohort, None)
        found = destinations(instruction, c, cohort.mask, partial(self.warps.view, cohort))
        if ends:
            return self._end(instruction, cohort, found)
        if isinstance(found, Value):
            return self.unresolved.step_over(instruction, cohort, found)
        if c.choices and not self.run.explicit:
            where = self._meeting(instruction, c), len(cohort.calls)
            self.meetings.calls_diverge["at", *where] = Reason(Kind.CALLS_DIVERGE, instruction.index)
        return self._go(instruction, c, cohort, found)

    def _meeting(self, instruction: Instruction, c: Control) -> int:
        """PTX: the block at which lanes that diverge here are expected to reconverge; END: none."""
        graph, following = self.run.graph, instruction.index + 1
        if c.kind == "call":  # lanes that do not call wait
            return graph.block_of[following] if following < len(self.run.instructions) else END
        return END if c.kind == "ret" else graph.meeting.get(graph.block_of[instruction.index], END)

    def _go(self, instruction: Instruction, c: Control, cohort: Cohort, found: Destinations) -> Cohort | None:
        """Sends lanes to their destinations."""
        calls, following = cohort.calls, instruction.index + 1
        parts = [(at, lanes, calls) for at, lanes in found]
        taken, lanes = found[0]
        if c.kind == "call":
            parts[0] = taken, lanes, calls + (following,)
        elif taken == RETURNS:
            parts[0] = calls[-1], lanes, calls[:-1]
        ways = rows_of(found)
        going = [(part, rows) for part, rows in zip(parts, ways) if anywhere(rows)]
        if len(going) == 1 and throughout(going[0][1]):
            (pc, _, cohort.calls), _ = going[0]
            return cohort.at(pc)  # all of them
        if not self.run.explicit and anywhere(apart := torn(ways)):
            self.meetings.expect(self._meeting(instruction, c), cohort, apart)
        if self.tracked is not None:
            self.tracked.together(cohort)
        groups = [
            Cohort(pc, cohort.rows[rows], lanes[rows], within, *cohort.state) for (pc, lanes, within), rows in going
        ]
        if self.run.explicit:
            if c.kind == "switch":
                return self.run.go_on(self.warps.choose_indirect(instruction.index, groups))
            return self.run.go_on(self.warps.choose(groups))
        for group in groups:
            self.meetings.diverge_from_now(group, pack(group.mask)[:, None])
            self.run.push(group)
        return None

    def _end(self, instruction: Instruction, cohort: Cohort, found: Destinations | Value) -> Cohort | None:
        """Ends lanes that exit, or that may."""
        if self.tracked is not None:
            self.tracked.together(cohort)
        if not isinstance(found, Value):
            return self.unresolved.exit(cohort, found[0][1], instruction.index + 1)
        self.run.no_round()
        if instruction.index in self.unresolved.undecided_exits and cohort.undecided:
            return self.unresolved.give_up(cohort, instruction.index, cohort.undecided)
        self.unresolved.undecided_exits.add(instruction.index)
        self.unresolved.perhaps_ended(cohort)
        why = Reason(Kind.ENDS, instruction.index, cause=why_undecided(found, instruction.index))
        cohort.undecided = first_of(cohort.undecided, why)
        return cohort.at(instruction.index + 1)

    def _open(self, c: Control, cohort: Cohort) -> None:
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        self.warps.open(_named(c), cohort, lanes)
        if undecided is not None:
            self.warps.undecided(_named(c), cohort)

    def _leave_barrier(self, c: Control, cohort: Cohort, following: int) -> Cohort | None:
        cohort.pc = following
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        if undecided is not None:
            self.warps.undecided(_named(c), cohort)
            return cohort
        return self.run.go_on(self.warps.leave(_named(c), cohort, lanes))

    def _warpsync(self, c: Control, cohort: Cohort, pc: int) -> Cohort | None:
        """Lanes wait for those that they name. Lanes that arrive together continue together even if they name different
        masks, except at `part`.

        (Measured: WarpExchange of CUB in bench/kernels/cub_exchange names both halves of the warp at a plain WARPSYNC,
        and each access after it is one request.)
        """
        cohort.pc = pc
        words = None
        if c.selector is not None:
            number = known_in(self.warps.view(cohort).read(c.selector), cohort.mask)
            if number is None:
                self.warps.masks_unknown(cohort, c.kind == "part", Reason(Kind.MASKS_NAMED, pc - 1))
                return cohort
            words = number.astype(np.uint32)
        named = c.selector.value if isinstance(c.selector, Const) else 0
        return self.run.go_on(self.warps.warpsync(cohort, words, named, c.kind == "part", self._meeting_again(c)))

    def _meeting_again(self, c: Control) -> str | None:
        """The barrier at which lanes that diverge after a WARPSYNC.COLLECTIVE reconverge.

        "" if there is none, None for another WARPSYNC.
        """
        if not c.targets:
            return None
        behind = self.run.instructions[c.targets[0]].control if c.targets[0] < len(self.run.instructions) else None
        return _named(behind) if behind is not None and behind.kind == "sync" else ""

    def _yield(self, c: Control, cohort: Cohort) -> None:
        """Some lanes of a warp spin or sleep: lanes that wait for them at a convergence barrier may continue before
        they arrive, so that the lane that is waited for can make progress.

        (Measured: the STS after the probing loop of samples/hash_table is issued once for each group of lanes that
        leaves the loop together; and so is the code after a NANOSLEEP of some lanes, in kernels 9008 and 9041 of
        bench/adversary.)
        """
        here, undecided = self.warps.lanes_of(c.guard, cohort)
        if undecided is None:
            some = here.any(axis=1)
            self.warps.give_way(cohort.rows[some], here[some])
        elif is_uniform(undecided, cohort.mask):
            self.warps.give_way(cohort.rows, cohort.mask)
        else:
            self.warps.loosen(cohort.rows, Reason(Kind.YIELD))
