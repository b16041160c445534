"""Handles what an execution cannot follow: unknown branches, unmodelled calls, loops and calls without end.

    @unknown bra L; x; L: y       x is stepped over: what it may have written is opaque, its accesses are marked

Behind it, counts are upper bounds or unknown; `fixpoint` answers for those accesses.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.lanes import LANE_BITS
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import Value, opaque
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.control import is_uniform, why_undecided
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.exec.tracked import TrackedMemory
from ptxaudit.engine.exec.warp_step import gathers
from ptxaudit.engine.exec.ways import Way, decided_by, runs_if, ways
from ptxaudit.engine.memory import local, state_spaces
from ptxaudit.engine.memory.registers import View
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.nodes import Control, Instruction, Op, Reg
from ptxaudit.ir.operands import barrier_moved_to, writes_local
from ptxaudit.ir.reasons import Kind, Reason, first_of


class _Region(Record):
    """The code between a branch and its post-dominator.

    meeting: the post-dominator; sites inside; registers written inside; operations that may write local memory, with
    the first instruction of each; unresolved: the first unmodelled call; recursive: it calls a function from which
    lanes may return diverged; gathers: a WARPSYNC of all lanes is inside; barriers: convergence barriers set inside.
    """

    meeting: int
    sites: list[int]
    written: dict[str, Reg]
    stores: dict[Op, int]
    unresolved: int | None
    recursive: bool
    gathers: bool
    barriers: frozenset[str]


def barriers_set_by(instruction: Instruction) -> Iterator[str]:
    """The convergence barriers whose lanes an instruction sets."""
    control = instruction.control
    if control is not None and control.kind == "open" and control.barrier is not None:
        yield control.barrier.name
    for op in instruction.ops:
        if (moved := barrier_moved_to(op)) is not None:
            yield moved.name


class UndecidedControl:
    """undecided_exits: instructions at which lanes may or may not have ended."""

    def __init__(self, run: Run, warps: Warps, meetings: Meetings, tracked: TrackedMemory | None):
        self.run, self.warps, self.meetings, self.tracked = run, warps, meetings, tracked
        self.undecided_exits: set[int] = set()
        self._regions: dict[int, _Region] = {}
        self._ways: dict[int, dict[int, Way]] = {}

    def _region(self, block: int) -> _Region:
        """The code between the branch that ends a block and its post-dominator."""
        if block not in self._regions:
            graph, part = self.run.graph, self.run.part
            inside = graph.region(block)
            places = [k for b in inside for k in range(graph.starts[b], graph.ends[b])]
            ops = [(op, k) for k in places if k in part.instructions for op in part.ops[k]]
            stores: dict[Op, int] = {}
            for op, k in ops:
                if writes_local(op):
                    stores.setdefault(op, k)
            self._regions[block] = _Region(
                graph.postdominators.get(block, END),
                [k for k in places if k in self.run.records],
                {d.name: d for op, _ in ops for d in op.dst if d is not None},
                stores,
                self._first_unresolved(inside),
                any(graph.calls.get(b) in graph.diverging for b in inside),
                any((c := self.run.instructions[k].control) is not None and gathers(c, explicit=True) for k in places),
                frozenset(name for k in places for name in barriers_set_by(self.run.instructions[k])),
            )
        return self._regions[block]

    def _ways_of(self, instruction: Instruction) -> dict[int, Way]:
        if instruction.index not in self._ways:
            self._ways[instruction.index] = ways(self.run.graph, instruction)
        return self._ways[instruction.index]

    def step_over(self, instruction: Instruction, cohort: Cohort, undecided: Value | None) -> Cohort | None:
        """Continues at the post-dominator. undecided None: nothing inside matters."""
        block = self.run.graph.block_of[at := instruction.index]
        region = self._region(block)
        if self.run.env.facts.supposed is not None:
            self.run.env.facts.supposed.skipped |= self.run.graph.region(block)
        meeting = region.meeting
        uniform = undecided is not None and is_uniform(undecided, cohort.mask)
        differs = not uniform and self.run.graph.may_differ(at)
        parts = differs and not self.run.explicit
        yields = self.run.graph.yields(block)
        if parts or region.recursive and not self.run.explicit:
            self.meetings.diverge_from_now(cohort, LANE_BITS)
        elif differs:
            self._share_barriers(region, cohort, at)
        if yields and undecided is None and parts:
            self.warps.loosen(cohort.rows, Reason(Kind.YIELD))
        elif yields:
            self.warps.give_way(cohort.rows, cohort.mask)
        if undecided is not None:
            undecided = as_unknown(undecided)
            why = why_undecided(undecided, instruction.index)
            if self.run.round is not None and (parts or not self._as_in_each_round(region, undecided, why)):
                raise NotAffine
            if self.tracked is not None and self.tracked.matters(block):
                self.tracked.shadow.lose(self.warps.view(cohort))
            self._perhaps_made(region, instruction, undecided, why)
            self.enter_hidden(region.unresolved)
            view = self.warps.view(cohort)
            yields = yields or instruction.control is not None and bool(instruction.control.choices)
            several = anywhere(cohort.mask.sum(axis=1) > 1)
            inside = yields or several and self.run.explicit and self.run.graph.arrives_diverged(block)
            parts_inside = inside and self._may_part_inside(instruction, view)  # all may take one path, then diverge
            if parts_inside and self.run.round is not None:
                raise NotAffine
            self._perhaps_written(region, view, why)
            apart = not uniform and self.run.graph.may_diverge(instruction.index) or parts_inside
            if apart and yields:
                self.warps.loosen(cohort.rows, Reason(Kind.YIELD))
            if apart and (yields or self.run.explicit):
                cohort.diverged = first_of(cohort.diverged, Reason(Kind.DIVERGED, instruction.index, cause=why))
        if meeting == END and not cohort.calls:
            return self.exit(cohort, cohort.mask)
        if cohort.calls and (meeting == END or self.run.graph.starts[meeting] == cohort.calls[-1]):  # all paths return
            return Cohort(cohort.calls[-1], cohort.rows, cohort.mask, cohort.calls[:-1], *cohort.state)
        cohort.pc = self.run.graph.starts[meeting]
        if cohort.diverged and self.run.explicit and region.gathers:  # lanes at two WARPSYNCs let each other go on
            self.warps.uncertain_ahead(cohort.rows, cohort.diverged, (cohort,))
        return cohort

    def _perhaps_made(self, region: _Region, instruction: Instruction, undecided: Value, why: Reason) -> None:
        """Whether the accesses inside are made is unknown."""
        unknown = decided_by(undecided) if region.sites else None
        to = self._ways_of(instruction) if unknown is not None else {}
        runs = Reason(Kind.RUNS, instruction.index, cause=why)
        for k in region.sites:
            record, way = self.run.records[k], to.get(self.run.graph.block_of[k])
            of_way = runs if way is None or unknown is None else runs_if(unknown, way, instruction.index)
            record.undecided = first_of(record.undecided, of_way)

    def _perhaps_written(self, region: _Region, view: View, why: Reason) -> None:
        """What the code inside may write is unknown."""
        for op, k in region.stores.items():
            if op.src and type(op.src[0]) is Reg and op.src[0].name in region.written:
                local.forget(self.run.registers)
            else:
                state_spaces.perhaps_local(op, view, k)
        for reg in region.written.values():
            view.write(reg, opaque(reg.bits, why), None)

    def _share_barriers(self, region: _Region, cohort: Cohort, at: int) -> None:
        """Some lanes may wait at a barrier that others set again inside, as in a recursive function: those at different
        depths have one barrier.

        (Measured: kernel 9203 of bench/adversary at -G. The function saves the barrier on its stack; lanes that leave
        it at different depths are diverged afterwards.)
        """
        for name in region.barriers:
            waited_for = cohort.rows[self.warps.holds(name, cohort)]
            if len(waited_for):
                self.warps.loosen(waited_for, Reason(Kind.BARRIER_SHARED, at), cohort)

    def _as_in_each_round(self, region: _Region, undecided: Value, why: Reason) -> bool:
        """In a loop's round that stands for many: the region is stepped over in every round, with the same effect as in
        those that were executed.
        """
        lap = self.run.round
        if (
            type(lap) is not Round
            or not lap.long
            or self.tracked is not None
            or region.stores
            or region.unresolved is not None
        ):
            return False
        if not why.data and (undecided.poison is not None or lap.mentions(undecided)):  # it may be known in some rounds
            return False
        said = [self.run.records[k].undecided for k in region.sites]
        return all(r is not None and (r.data or not why.data) for r in said)

    def _may_part_inside(self, instruction: Instruction, view: View) -> bool:
        """Lanes that take one path may diverge before they reach the post-dominator of the branch."""
        registers = self.run.graph.diverged_by(self.run.graph.block_of[instruction.index])
        return registers is None or not all(
            self._tracked_here(reg, instruction.index) and is_uniform(view.read(reg), view.mask) for reg in registers
        )

    def _tracked_here(self, reg: Reg, index: int) -> bool:
        """The run holds the current value of a register: it executed every definition that reaches here."""
        ops = self.run.part.ops
        return all(any(op.writes(reg.name) for op in ops.get(k, ())) for k in self.run.graph.reaching(reg.name, index))

    def give_up(self, cohort: Cohort, index: int, reason: Reason) -> Cohort | None:
        """Stops modelling these warps: no count of accesses ahead is certain. Their suspended groups resume."""
        self.lose(cohort)
        self.warps.free[cohort.rows] = True
        block = self.run.graph.block_of[index]
        ahead = reached((block,), self.run.graph.cfg.successors)
        self.enter_hidden(self._first_unresolved(set(self.run.graph.cfg) if cohort.calls else ahead))
        for k, record in self.run.records.items():
            if cohort.calls or self.run.graph.block_of[k] in ahead:
                record.undecided = first_of(record.undecided, reason)
        return None

    def call_unresolved(self, instruction: Instruction, c: Control, cohort: Cohort) -> Cohort | None:
        """Handles an unknown callee: lanes may end in it, and those that return may be diverged."""
        if self.run.round is not None:
            raise NotAffine
        why = Reason(Kind.CALL_NOT_RESOLVED, instruction.index)
        if instruction.index in self.undecided_exits and cohort.undecided:
            return self.give_up(cohort, instruction.index, cohort.undecided)
        lanes, undecided = self.warps.lanes_of(c.guard, cohort)
        some: np.ndarray = np.logical_or.reduce(lanes, axis=1)
        if not some.all():
            self.run.push(cohort.some(~some).at(instruction.index + 1))
        if not some.any():
            return None
        self.undecided_exits.add(instruction.index)
        self.enter_hidden(self._first_unresolved({self.run.graph.block_of[instruction.index]}))
        calling = cohort.some(some).at(instruction.index + 1)
        self.perhaps_ended(calling)
        self.warps.loosen(calling.rows, why)
        calling.undecided, calling.diverged = first_of(calling.undecided, why), first_of(calling.diverged, why)
        return calling

    def _first_unresolved(self, blocks: set[int]) -> int | None:
        """The first call in some of these blocks whose callee is unknown."""
        return next((k for k in self.run.graph.unresolved if self.run.graph.block_of[k] in blocks), None)

    def enter_hidden(self, index: int | None) -> None:
        """Marks the accesses that the unknown callee of this call may execute."""
        if index is not None:
            for k, record in self.run.records.items():
                if self.run.graph.block_of[k] in self.run.graph.hidden:
                    record.undecided = first_of(record.undecided, Reason(Kind.HIDDEN, index))

    def perhaps_ended(self, cohort: Cohort) -> None:
        """Records that lanes of these warps may have ended, at an unknown point."""
        self.run.may_have_ended[cohort.rows] = True
        self.lose(cohort)

    def lose(self, cohort: Cohort) -> None:
        """Stops modelling what these warps do to tracked memory."""
        view = self.warps.view(cohort)
        for memory in (self.tracked.shadow if self.tracked is not None else None, self.run.env.counters):
            if memory is not None:
                memory.lose(view)

    def exit(self, cohort: Cohort, gone: np.ndarray, following: int | None = None) -> Cohort | None:
        self.run.alive[cohort.rows] &= ~gone
        rest = cohort.mask & ~gone
        some = rest.any(axis=1)
        left = cohort.of(cohort.rows[some], rest[some]).at(following) if some.any() and following is not None else None
        if self.run.explicit and (self.warps.blocked or self.warps.syncing or self.warps.suspended):
            return self.run.go_on(self.warps.exited(cohort.rows[gone.any(axis=1)], left))
        return left
