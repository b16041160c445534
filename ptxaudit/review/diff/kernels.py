"""The changes of one kernel between two reports: its sites, its sums, its code."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property

from ptxaudit.base.records import Record
from ptxaudit.report.measures import MEASURES, PAID, SECTORS, Figure
from ptxaudit.report.model import Kernel
from ptxaudit.review.diff.verdict import QUIET, Change, Verdict, surely_conflicts

SPACES = ("shared", "global", "local")


class Nature(StrEnum):
    """How the code of a kernel on both sides changed."""

    SAME = "same"  # the same instructions in the same order
    RENAMED = "renamed"  # the same under another name; nothing else changed
    RESCHEDULED = "rescheduled"  # the same instructions in another order; nothing else changed
    CHANGED = "changed"


class Resources(Record):
    """A kernel's resources other than wavefronts. registers: per thread; shared_static: bytes."""

    registers: int | None
    shared_static: int
    instructions: int | None

    @staticmethod
    def of(kernel: Kernel | None) -> Resources | None:
        return None if kernel is None else Resources(kernel.registers, kernel.shared_static, kernel.instructions)


class KernelDiff(Record, dict=True):
    """A kernel and launch of both reports, or of one. changes: of accesses to shared memory; memory: of those to
    global and local memory, if both reports examined them; same_source: both were compiled from the same text;
    same_work: their launches are equal, or specified to be counterparts."""

    old: Kernel | None
    new: Kernel | None
    changes: tuple[Change, ...]
    same_source: bool = False
    same_work: bool = False
    memory: tuple[Change, ...] = ()

    @property
    def kernel(self) -> Kernel:
        kernel = self.new or self.old
        assert kernel is not None
        return kernel

    @property
    def renamed(self) -> bool:
        return self.old is not None and self.new is not None and self.old.name != self.new.name

    @property
    def comparable(self) -> bool:
        """The sums of both sides cover every site of the same launch."""
        return bool(self.old and self.new and self.same_work and self.old.totals.complete and self.new.totals.complete)

    @property
    def every(self) -> tuple[Change, ...]:
        """The changes of all accesses."""
        return (*self.changes, *self.memory)

    @property
    def spaces(self) -> tuple[str, ...]:
        """The memories with changes."""
        return tuple(dict.fromkeys(change.site.space for change in self.every))

    def comparable_in(self, space: str) -> bool:
        """The sums of both sides cover every access to one memory of the same launch."""
        sides = self.old, self.new
        return self.same_work and all(side is not None and all(s.settled for s in side.of(space)) for side in sides)

    @property
    def _sectors_comparable(self) -> bool:
        both = self.old, self.new
        alike = len({kernel.spaces for kernel in both if kernel is not None}) == 1
        return alike and all(self.comparable_in(space) for space in SPACES if space != "shared")

    @property
    def resources(self) -> tuple[Resources | None, Resources | None]:
        return Resources.of(self.old), Resources.of(self.new)

    @cached_property
    def figures(self) -> dict[str, tuple[Figure | None, Figure | None]]:
        """Each figure of `measures` on both sides; sums over the launch only if the launches are the same."""
        return {name: self._both(name) for name in MEASURES}

    def _both(self, name: str) -> tuple[Figure | None, Figure | None]:
        if name in PAID and not self.comparable or name in SECTORS and not self._sectors_comparable:
            return None, None
        old, new = (None if kernel is None else MEASURES[name].of(kernel) for kernel in (self.old, self.new))
        return old, new

    @cached_property
    def nature(self) -> Nature | None:
        """None if a side has no code to compare."""
        if self.old is None or self.new is None or self.old.code is None or self.new.code is None:
            return None
        before, after = self.old.code, self.new.code
        quiet = all(change.verdict in QUIET for change in self.every) and all(
            old == new for old, new in self.figures.values()
        )
        if before.order == after.order:
            return Nature.RENAMED if self.renamed and quiet else Nature.SAME
        return Nature.RESCHEDULED if quiet and before.opcodes == after.opcodes else Nature.CHANGED

    @cached_property
    def got_worse(self) -> bool:
        """A site got worse, or the whole kernel; or the kernel is new and conflicts."""
        if self.new is None:
            return False
        if self.old is None:
            return any(surely_conflicts(change.site) for change in self.every)
        if any(change.verdict is Verdict.WORSE for change in self.every):
            return True
        return any(self._got_worse_in(space) for space in self.spaces)

    def _got_worse_in(self, space: str) -> bool:
        """The whole kernel costs more in one memory."""
        changes = [change for change in self.every if change.site.space == space]
        if not self.comparable_in(space):
            return any(change.verdict is Verdict.NEW and surely_conflicts(change.site) for change in changes)
        return self._paid(changes, "new") > self._paid(changes, "old")

    def _paid(self, changes: Iterable[Change], side: str) -> tuple[int, int]:
        """(wavefronts or sectors, excess) of a side, without new work that an edit added and that is free of
        conflicts."""
        counted = [
            change
            for change in changes
            if self.same_source or change.verdict is not Verdict.NEW or surely_conflicts(change.site)
        ]
        sites = [site for change in counted if (site := getattr(change, side)) is not None]
        return sum(site.paid or 0 for site in sites), sum(site.wasted or 0 for site in sites)

    @property
    def impact(self) -> int:
        """The increase in wavefronts and sectors; negative for a decrease."""
        return sum(change.impact for change in self.every)
