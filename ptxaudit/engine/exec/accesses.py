"""One access of a cohort: the lanes that make it, their addresses, and the record that it belongs to.

    @p ld.shared [r1 + 4]     lanes in which p holds; r1 + 4 in each, or up to a shift that changes no count

Anything unknown about it becomes a reason in the record, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.work import BLOCK, REQUEST
from ptxaudit.engine.answer import alike, residues
from ptxaudit.engine.answer.at_most import most_wavefronts
from ptxaudit.engine.answer.common import unaligned_by
from ptxaudit.engine.answer.footprint import Issue
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.answer.tabulate import line_of
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.lanes import varies
from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.domain.value import Uniform, Value, active_zeros, is_block_index, signed, squeeze
from ptxaudit.engine.exec.block_ranges import dimensions
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.control import why_undecided
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.places import Places, signed_offset
from ptxaudit.engine.exec.running import RUNNING, NeedBlocks, Run
from ptxaudit.engine.exec.warp_step import Participants, address_of
from ptxaudit.engine.memory import copied
from ptxaudit.engine.memory.generic import located
from ptxaudit.engine.memory.registers import View
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access
from ptxaudit.ir.nodes import Instruction, Site
from ptxaudit.ir.reasons import Kind, Reason, first_of

Visits = dict[int, np.ndarray | int]


class _Access(Record, eq=False):
    """An access of a cohort, with its view and its record."""

    instruction: Instruction
    site: Site
    cohort: Cohort
    view: View
    record: SiteRecord


class Accesses:
    """visits: instruction -> (rows,) how often each has made the access; one number if it is the same for all."""

    def __init__(self, run: Run, warps: Warps, meetings: Meetings):
        self.run, self.warps, self.meeting_assumed = run, warps, meetings.meeting_assumed
        self.visits: Visits = dict.fromkeys(run.records, 0)
        self.places = Places(run)

    def expand(self, index: np.ndarray) -> None:
        """New row i is old row index[i]."""
        self.visits = {k: v if isinstance(v, int) else v[index] for k, v in self.visits.items()}
        self.places.forget()

    def access(self, instruction: Instruction, site: Site, cohort: Cohort, view: View) -> None:
        record = self.run.records[instruction.index]
        self.run.work += REQUEST
        taking = self.places.participants(instruction, site, cohort, view)
        issue = self.places.issue(cohort, taking.lanes)
        diverged = cohort.diverged or (self.warps.why if self.warps.is_loose(cohort) else None)
        uncertain = first_of(cohort.undecided, diverged)
        if self.run.round is not None and (
            taking.undecided is not None or first_of(record.undecided, uncertain) is not record.undecided
        ):
            raise NotAffine
        if taking.undecided is not None:
            return self._perhaps(_Access(instruction, site, cohort, view, record), taking, bool(uncertain))
        if uncertain:
            record.undecided = first_of(record.undecided, uncertain)
            return
        record.meeting_assumed = record.meeting_assumed or self.meeting_assumed(cohort)
        visited = self._visit(instruction.index, cohort, issue, view.rows is None)
        one = _Access(instruction, site, cohort, view, record)
        if self._note_place(one, issue, visited):
            return
        trip = np.full(len(issue.weights), visited) if isinstance(visited, int) else visited
        if record.access.unscored:
            return self._note(record.add, (issue.active, issue.active, issue.weights, trip))
        address = address_of(site, view, instruction.index)
        found = self._located(one, address, issue) if site.space == "generic" else (address, issue)
        if found is not None:
            address, issue = found
            self._request(one, issue, address, trip)

    def _perhaps(self, one: _Access, taking: Participants, uncertain: bool) -> None:
        """Records an access with unknown lanes. uncertain: it is also unknown which of them are together."""
        instruction, site, record, undecided = one.instruction, one.site, one.record, taking.undecided
        assert undecided is not None
        why = Reason(Kind.TAKES_PART, instruction.index, cause=why_undecided(undecided, instruction.index))
        if uncertain or site.space == "generic":
            record.undecided = first_of(record.undecided, why)
            return
        together = undecided.poison is None and squeeze(undecided).uniform and not record.access.unscored
        most = None
        if together and taking.decides is not None:
            most = self._whole_cost(instruction, site, one.view.where(taking.decides), one.cohort.mask, record)
        record.add_maybe(taking.lanes, self.run.weights[one.cohort.rows], why, most)

    def _located(self, one: _Access, address: Value, issue: Issue) -> tuple[Value, Issue] | None:
        """Of a generic access: its place in the memory under analysis, and the lanes that access it; None if no lane
        does, or that is unknown.
        """
        active, weights, record = issue.active, issue.weights, one.record
        found = located(address, active, self.run.env, one.instruction.index, of=one.site.of, rows=one.view.rows)
        if found.why is not None or found.remote is not None:
            record.undecided = first_of(record.undecided, found.why or found.remote)
            return None
        some: np.ndarray = np.logical_or.reduce(found.lanes, axis=1)
        away = ~some & ~found.idle
        if anywhere(away):  # another memory: no shared access
            self._note(record.add_elsewhere, (weights[away], weights[away & active.any(axis=1)]))
            if throughout(away):
                return None
            weights = np.where(away, 0, weights)
        others = active & ~found.lanes & some[:, None]
        if anywhere(others):
            self._note(record.add_mixed, (weights, banks.passes(record.machine, record.access, others)))
        return found.place, Issue(found.lanes, weights, issue.warps)

    def _request(self, one: _Access, issue: Issue, address: Value, trip: np.ndarray) -> None:
        """Records a request at an address. trip: how often each row has made the access before."""
        active, weights, lap = issue.active, issue.weights, self.run.round
        instruction, site, view, record, rows = one.instruction, one.site, one.view, one.record, one.cohort.rows
        if copied.may_fill(site):
            reading = copied.reading(site, view, active)
            if reading is None:
                self.run.no_round()
                why = Reason(Kind.TAKES_PART, instruction.index, cause=Reason(Kind.PREDICATE))
                return record.add_maybe(active, weights, why)
            active = reading
        place = address  # its actual address; `address` may become another one of the same cost
        if address.alternatives is not None and site.source is None and site.of == "shared" and lap is None:
            address = alike.settled(address, active, record.machine, record.access)
            record.settled = record.settled or address.alternatives is None
        known = self._addresses(address, active, record, instruction.index)
        if isinstance(known, Reason):
            if lap is not None and not known.data:
                raise NotAffine
            self.run.account.spend(BLOCK, RUNNING)
            most = most_wavefronts(record.machine, record.access, as_unknown(address), 0, active)
            return self._note(record.add_unknown, (active, weights, known, most))
        numbers, zeros, line = known
        from_where = None
        if site.source is not None and record.machine.source_shift(record.access) > 1:
            from_where = copied.sources(site, view, active)
        self._note_alignment(record, address, zeros)
        shift = record.machine.invariant_shift(record.access)
        if site.of == "global":
            moved = residues.Request(numbers, active, weights, trip, from_where, np.arange(len(rows)))
            if record.extent is not None:
                symbol = None if lap is None else lap.symbol
                self._note(record.extent.add, (place, active, self.run.low[rows], self.run.high[rows], symbol))
            by_blocks = residues.by_blocks(moved, address, self.run.low[rows], self.run.high[rows], shift)
            return self._note_moving(record, address, active, by_blocks, zeros)
        filled = copied.filled(site, view, active, record.access.width) if site.of == "shared" else None
        if lap is not None and (line or not lap.moves_as_a_whole(address, active, shift)):
            raise NotAffine
        self._note(record.add, (numbers, active, weights, trip, from_where, zeros, line, filled, issue.warps))
        if record.kept is not None:
            self._note(record.kept.add, (place, active, weights, from_where, filled))

    def _note_alignment(self, record: SiteRecord, address: Value, zeros: int) -> None:
        """Records the unknowns that may move an address off its alignment. zeros: the low bits that none moves."""
        if 1 << zeros < record.access.align:
            terms = as_unknown(address).terms
            open_ended = tuple((u, c) for u, c in terms if not self._expanded(u, record.access))
            record.unaligned |= dict.fromkeys(unaligned_by(open_ended, record.access.align))

    def _expanded(self, u: Uniform, access: Access) -> bool:
        """Requests are recorded for each number that the unknown may be: by `Round.moves_as_a_whole`, or by block."""
        return u.kind == "rounds" or access.space == "global" and is_block_index(u)

    def _note_moving(
        self, record: SiteRecord, address: Value, active: np.ndarray, request: residues.Request, zeros: int
    ) -> None:
        """Records requests to global memory, of which a row may represent several (`residues`); in a round, of all
        rounds.
        """
        lap = self.run.round
        if lap is None:
            return residues.put(record, request, zeros)
        if not lap.moves_as_a_whole(address, active, 1):
            raise NotAffine
        steps = next((c for u, c in address.terms if u == lap.symbol), np.zeros((1, 1), address.base.dtype))
        of_rows = (
            np.broadcast_to(steps, (int(request.rows.max()) + 1, steps.shape[1])) if steps.shape[0] == 1 else steps
        )
        moving = residues.Moving(
            record,
            residues.of_first(of_rows[request.rows], request.active),
            record.machine.invariant_shift(record.access),
        )
        self._note(moving.add, (request, zeros))

    def _note(self, add: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        """Adds a request, or in a closed-form loop, one per round."""
        if self.run.round is None:
            add(*arguments)
        else:
            self.run.round.note(add, arguments)

    def _visit(self, index: int, cohort: Cohort, issue: Issue, whole: bool) -> np.ndarray | int:
        """How often each row has made an access before this time: one number if it is the same for all."""
        before = self.visits[index]
        if isinstance(before, int):
            if whole and issue.some is None:
                self.visits[index] = before + 1
                return before
            before = self.visits[index] = np.full(self.run.env.rows, before)
        trip: np.ndarray = before[cohort.rows]
        before[cohort.rows] = trip + (1 if issue.some is None else issue.some)
        return trip

    def _note_place(self, one: _Access, issue: Issue, trip: np.ndarray | int) -> bool:
        """Records a request to shared memory whose address is known up to a shift; whether it is one."""
        record, site, view = one.record, one.site, one.view
        if site.space != "shared" or site.of != "shared" or record.access.unscored:
            return False
        if site.source is not None or site.ignore is not None or site.source_size is not None:
            return False
        place = self.places.place(site, view, issue)
        offset = signed_offset(site)
        if place is None or not place.holds(offset):
            return False
        lap = self.run.round
        if lap is not None and not place.moves_as_a_whole(lap, record.machine.invariant_shift(record.access)):
            raise NotAffine
        self._note_alignment(record, place.value, place.zeros)
        self._note(record.add_issue, (issue, place.footprint, offset, trip, None, place.zeros))
        if record.kept is not None:
            self._note(
                record.kept.add,
                (address_of(site, view, one.instruction.index), issue.active, issue.weights, None, None),
            )
        return True

    def _whole_cost(
        self, instruction: Instruction, site: Site, view: View, mask: np.ndarray, record: SiteRecord
    ) -> np.ndarray | None:
        """(3, n): least and most wavefronts and the ideal of each row's request if all its lanes are active; None if
        unknown.
        """
        address = address_of(site, view, instruction.index)
        known = self._addresses(address, mask, record, instruction.index)
        if isinstance(known, Reason) or record.access.bypass or record.access.space == "global":
            return None
        numbers, zeros, line = known
        if line or 1 << zeros < record.machine.invariant_shift(record.access):
            return None
        try:
            scores = banks.score(record.machine, record.access, np.where(mask, numbers, 0), mask, None)
            return np.stack([scores.low, scores.high, scores.ideal])
        except InputError:
            return None

    def _addresses(
        self, address: Value, active: np.ndarray, record: SiteRecord, instruction: int
    ) -> tuple[np.ndarray, int, int] | Reason:
        """((n, LANES) int64 addresses up to a uniform shift; the low zero bits of that shift; 0, or the number of bytes
        such that each lane is known up to its own multiple of them), or why they are unknown.
        """
        address = as_unknown(address)
        if address.poison is not None and anywhere(np.broadcast_to(address.poison, active.shape) & active):
            return address.why or Reason(Kind.ADDRESS, instruction)
        line, wide = 0, record.access.space == "global"
        if address.valid is not None and address.valid < (address.bits if wide else min(address.bits, 32)):
            line = line_of(record.machine, record.access)
            if (1 << address.valid) % line or record.access.bypass or wide:
                return address.why or Reason(Kind.LOW_BITS, instruction)
        zeros = 32
        for u, c in address.terms:
            if varies(c, active):
                if u.kind == "block" and self.run.allow_blocks:
                    raise NeedBlocks(dimensions({u}))
                return Reason(Kind.MULTIPLIES, instruction, unknowns=(u,))
            if not self._expanded(u, record.access):
                zeros = min(zeros, u.zeros + active_zeros(c, active))
        base = signed(address.base if wide else affine.fit(address, 32).base).astype(np.int64)
        return base if base.shape == active.shape else np.broadcast_to(base, active.shape), zeros, line
