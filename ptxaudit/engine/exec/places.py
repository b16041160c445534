"""What the accesses of a straight run of code have in common: the lanes that make them, and where the register points.

    ld.shared [r1], st.shared [r1 + 512], @p ld.shared [r1 + 1024]     r1 and p are evaluated once per group of lanes

Values and masks are never changed in place, so the same object has the same content.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.answer.footprint import Footprint, Issue
from ptxaudit.engine.domain.lanes import varies
from ptxaudit.engine.domain.rounds import Round
from ptxaudit.engine.domain.value import ADDRESS_BITS, Value, active_zeros, resize, signed
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.exec.warp_step import Participants, participants
from ptxaudit.engine.memory.registers import View
from ptxaudit.ir.nodes import Instruction, Reg, Site

MOST = 64  # entries of each kind that are kept
MOST_LANES = 1 << 14  # elements of an entry that is kept: larger ones take longer to compute than to look for


class Place:
    """Where a register points in the lanes of an issue, up to a shift that they share.

    zeros: low zero bits of the shift.
    """

    __slots__ = ("value", "footprint", "zeros", "_numbers", "_range", "_moves")

    def __init__(self, value: Value, issue: Issue, zeros: int):
        numbers = signed(resize(value.base, ADDRESS_BITS)).astype(np.int64)
        if numbers.shape != issue.active.shape:
            numbers = np.broadcast_to(numbers, issue.active.shape)
        self.value, self.zeros, self._numbers = value, zeros, numbers
        self.footprint = Footprint(issue, numbers)
        self._range: tuple[int, int] | None = None
        self._moves: dict[int, bool] = {}

    def holds(self, offset: int) -> bool:
        """No lane wraps around with this offset."""
        if not offset:
            return True
        if self._range is None:
            self._range = int(self._numbers.min()), int(self._numbers.max())
        half, (low, high) = 1 << ADDRESS_BITS - 1, self._range
        return -half <= low + offset and high + offset < half

    def moves_as_a_whole(self, lap: Round, shift: int) -> bool:
        """`Round.moves_as_a_whole` of the value; cached, so all calls are for one round."""
        moves = self._moves.get(shift)
        if moves is None:
            moves = self._moves[shift] = lap.moves_as_a_whole(self.value, self.footprint.issue.active, shift)
        return moves


class Places:
    """Caches the last results of one run, keyed by the identity of their operands, which it keeps alive."""

    def __init__(self, run: Run):
        self._run = run
        self._taking: dict[tuple[int, ...], tuple[Participants, object]] = {}
        self._issues: dict[tuple[int, int], tuple[Issue, object]] = {}
        self._places: dict[tuple[int, int], tuple[Place | None, object]] = {}

    def forget(self) -> None:
        """Discards the cache, as rows were renumbered."""
        self._taking.clear()
        self._issues.clear()
        self._places.clear()

    def participants(self, instruction: Instruction, site: Site, cohort: Cohort, view: View) -> Participants:
        """`warp_step.participants` of a cohort."""
        decides, mask = site.guard or instruction.guard, cohort.mask
        holds = None if decides is None or type(view) is not View else view.registers.values.get(decides.reg.name)
        if decides is None or holds is None:
            return participants(instruction, site, view, mask)
        key = id(holds), decides.negated, id(cohort.rows), id(mask)
        kept = self._taking.get(key)
        if kept is not None:
            return kept[0]
        if len(self._taking) >= MOST:
            self._taking.clear()
        taking = participants(instruction, site, view, mask)
        if taking.undecided is None and mask.size <= MOST_LANES:
            self._taking[key] = taking, (holds, cohort.rows, mask)
        return taking

    def issue(self, cohort: Cohort, active: np.ndarray) -> Issue:
        """The issue of these lanes of a cohort."""
        key = id(cohort.rows), id(active)
        kept = self._issues.get(key)
        if kept is not None:
            return kept[0]
        if len(self._issues) >= MOST:
            self._issues.clear()
        run = self._run
        issue = Issue(active, run.weights[cohort.rows], run.env.warp[cohort.rows, 0])
        if active.size <= MOST_LANES:
            self._issues[key] = issue, (cohort.rows, active)
        return issue

    def place(self, site: Site, view: View, issue: Issue) -> Place | None:
        """Where an access to shared memory goes, without its constant offset; None if it needs a closer look."""
        register = site.address
        if type(register) is not Reg or type(view) is not View:
            return None
        value = view.registers.values.get(register.name)
        if value is None:
            return None
        key = id(value), id(issue)
        kept = self._places.get(key)
        if kept is not None:
            return kept[0]
        if len(self._places) >= MOST:
            self._places.clear()
        place = _placed(view.read(register), issue)
        if issue.active.size <= MOST_LANES:
            self._places[key] = place, (value, issue)
        return place


def _placed(value: Value, issue: Issue) -> Place | None:
    if (
        type(value) is not Value
        or value.bits < ADDRESS_BITS
        or value.poison is not None
        or value.valid is not None
        or value.alternatives is not None
        or value.sure is not None
    ):
        return None
    zeros = ADDRESS_BITS
    for u, c in value.terms:
        if varies(c, issue.active):
            return None
        if u.kind != "rounds":  # `Round.moves_as_a_whole` handles those
            zeros = min(zeros, u.zeros + active_zeros(c, issue.active))
    return Place(value, issue, zeros)


def signed_offset(site: Site) -> int:
    """The constant offset of an access, as a signed distance."""
    half, offset = 1 << ADDRESS_BITS - 1, site.offset
    return offset if -half <= offset < half else (offset + half) % (2 * half) - half
