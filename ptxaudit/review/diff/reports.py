"""What changed between two reports: site by site, kernel by kernel, in total.

    old  transpose.cu:14 load exact  wavefronts    32     new  transpose.cu:15 load exact  wavefronts 1,024
    Change(worse, old, new)                               Diff.got_worse is True

`verdict` judges sites, `kernelmatch` and `sitematch` pair them. A kernel got worse where a site did, or where more is
paid in all of it: under one launch its wavefronts, and with equal wavefronts its excess. What is new in an edited
source is new work: it counts where it conflicts, as in a new kernel; in the same source everything counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from ptxaudit.base import display
from ptxaudit.base.places import base_name
from ptxaudit.base.records import Record
from ptxaudit.report.measures import MEASURES, PAID, SECTORS, Figure, combined
from ptxaudit.report.model import Kernel, Report
from ptxaudit.review.diff.kernelmatch import match_kernels
from ptxaudit.review.diff.sitematch import match_sites
from ptxaudit.review.diff.verdict import QUIET, Change, Verdict, judge, surely_conflicts, together, verdict_of

__all__ = [
    "QUIET",
    "Change",
    "Diff",
    "KernelDiff",
    "Nature",
    "Resources",
    "Verdict",
    "diff_kernels",
    "diff_reports",
    "judge",
    "together",
]

SCHEMA = "ptxaudit/diff/1"
SPACES = ("shared", "global", "local")
MOST_NAMED = 3  # inputs of a side


class Nature(StrEnum):
    """What became of the code of a kernel of both sides."""

    SAME = "same"  # the same instructions in the same order
    RENAMED = "renamed"  # the same, of another name; nothing else changed
    RESCHEDULED = "rescheduled"  # the same instructions in another order; nothing else changed
    CHANGED = "changed"


class Resources(Record):
    """What a kernel takes beside wavefronts. registers: a thread's; shared_static: bytes."""

    registers: int | None
    shared_static: int
    instructions: int | None

    @staticmethod
    def of(kernel: Kernel | None) -> Resources | None:
        return None if kernel is None else Resources(kernel.registers, kernel.shared_static, kernel.instructions)


class KernelDiff(Record, dict=True):
    """A kernel and launch of both reports, or of one. changes: of accesses to shared memory; memory: to global and
    local memory, where both reports have looked at them; same_source: both were made of the same text; same_work: their
    launches are stated to be each other's counterparts."""

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
        """The memories that the changes are of."""
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
        """Each figure of `measures` on both sides; what a launch decides only where the launches are the same."""
        return {name: self._both(name) for name in MEASURES}

    def _both(self, name: str) -> tuple[Figure | None, Figure | None]:
        if name in PAID and not self.comparable or name in SECTORS and not self._sectors_comparable:
            return None, None
        old, new = (None if kernel is None else MEASURES[name].of(kernel) for kernel in (self.old, self.new))
        return old, new

    @cached_property
    def nature(self) -> Nature | None:
        """None where a side has no code to compare."""
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
        """A site got worse, or the whole kernel, or it is new and conflicts."""
        if self.new is None:
            return False
        if self.old is None:
            return any(surely_conflicts(change.site) for change in self.every)
        if any(change.verdict is Verdict.WORSE for change in self.every):
            return True
        return any(self._got_worse_in(space) for space in self.spaces)

    def _got_worse_in(self, space: str) -> bool:
        """More is paid in one memory of all of the kernel."""
        changes = [change for change in self.every if change.site.space == space]
        if not self.comparable_in(space):
            return any(change.verdict is Verdict.NEW and surely_conflicts(change.site) for change in changes)
        return self._paid(changes, "new") > self._paid(changes, "old")

    def _paid(self, changes: Iterable[Change], side: str) -> tuple[int, int]:
        """(wavefronts or sectors, excess) of a side, new work aside that an edit brought and that is free of
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
        """Wavefronts and sectors more than before, or less."""
        return sum(change.impact for change in self.every)


class Diff(Record, dict=True):
    """All kernels of both reports. sides: what each was made of, "k.cu (nvrtc 12.9)"."""

    kernels: tuple[KernelDiff, ...]
    sides: tuple[str, str] = ("", "")

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """How many accesses to shared memory became what."""
        return _counted(change for kernel in self.kernels for change in kernel.changes)

    @cached_property
    def memory_counts(self) -> dict[str, dict[Verdict, int]]:
        """The same of the other memories that there are accesses to."""
        changes: dict[str, list[Change]] = {}
        for change in (change for kernel in self.kernels for change in kernel.memory):
            changes.setdefault(change.site.space, []).append(change)
        return {space: _counted(changes[space]) for space in sorted(changes)}

    @property
    def got_worse(self) -> bool:
        return any(kernel.got_worse for kernel in self.kernels)

    @cached_property
    def totals(self) -> dict[str, tuple[int, int]]:
        """excess and wavefronts of both sides, summed over the kernels and launches that can be compared: those
        in machine code where there is any, as PTX is another count of the same."""
        both = [entry for entry in self.of_one_isa if entry.comparable]
        return {
            name: (
                sum(getattr(entry.old.totals, name) for entry in both if entry.old),
                sum(getattr(entry.new.totals, name) for entry in both if entry.new),
            )
            for name in ("excess", "wavefronts")
            if both
        }

    @cached_property
    def of_one_isa(self) -> list[KernelDiff]:
        """The entries in machine code where there are any: PTX is another count of the same."""
        isa = "sass" if any(entry.kernel.isa == "sass" for entry in self.kernels) else "ptx"
        return [entry for entry in self.kernels if entry.kernel.isa == isa]

    def total(self, name: str) -> tuple[Figure | None, Figure | None]:
        """A figure of `measures` in total, over the kernels of which both sides have it."""
        known = [both for entry in self.of_one_isa if None not in (both := entry.figures[name])]
        if not known:
            return None, None
        old, new = (combined(MEASURES[name], side) for side in zip(*known, strict=True))
        return old, new

    def _repr_html_(self) -> str:
        return display.html("changes_html", self)

    def to_dict(self) -> dict[str, Any]:
        from ptxaudit.review.diff.as_json import diff_dict

        return diff_dict(self)


def _counted(changes: Iterable[Change]) -> dict[Verdict, int]:
    counter = Counter(change.verdict for change in changes)
    return {verdict: counter[verdict] for verdict in Verdict if counter[verdict]}


def diff_reports(old: Report, new: Report, counterparts: bool = False) -> Diff:
    """Compares two reports; kernels in the order of the new one, those that are gone last.

    counterparts: the launches of a kernel on one side are specified to do the work of those on the other, whatever they
    say.
    """
    sources = [
        {entry.path: (base_name(entry.path), entry.sha256) for entry in report.inputs if entry.kind in ("cuda", "ptx")}
        for report in (old, new)
    ]
    spaces = spaces_of(old, new)
    return Diff(
        tuple(
            diff_kernels(a, b, counterparts, _same_source(a, b, sources), spaces)
            for a, b in match_kernels(old.kernels, new.kernels)
        ),
        (_side(old), _side(new)),
    )


def spaces_of(*reports: Report) -> tuple[str, ...]:
    """The memories that all of these reports have looked at, those without a kernel aside."""
    looked_at = [
        {space for kernel in report.kernels for space in kernel.spaces} for report in reports if report.kernels
    ]
    return tuple(space for space in SPACES if all(space in of for of in looked_at))


def _same_source(old: Kernel | None, new: Kernel | None, sources: Iterable[dict[str, tuple[str, str]]]) -> bool:
    """Both kernels are of inputs with the same text."""
    texts = [side.get(kernel.input) if kernel else None for kernel, side in zip((old, new), sources, strict=True)]
    return texts[0] is not None and texts[1] is not None and texts[0][1] == texts[1][1]


def _side(report: Report) -> str:
    """The inputs of a report with what compiled them; of many, how many there are."""
    names = [base_name(entry.path) + (f" ({entry.toolchain})" if entry.toolchain else "") for entry in report.inputs]
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} inputs"


def diff_kernels(
    old: Kernel | None,
    new: Kernel | None,
    counterparts: bool = False,
    same_source: bool = False,
    spaces: Sequence[str] = ("shared",),
) -> KernelDiff:
    """Compares one kernel; every site of a kernel that is on one side only is new or gone. spaces: the memories whose
    accesses are compared."""
    same_work = (
        old is not None
        and new is not None
        and old.launch is not None
        and new.launch is not None
        and (counterparts or old.launch == new.launch)
    )
    changes = {space: tuple(_changes(old, new, space, same_work)) for space in spaces}
    memory = tuple(change for space in spaces if space != "shared" for change in changes[space])
    return KernelDiff(old, new, changes.get("shared", ()), same_source, same_work, memory)


def _changes(old: Kernel | None, new: Kernel | None, space: str, same_work: bool) -> Iterator[Change]:
    """Of the accesses to one memory."""
    if old is not None and new is not None:
        for group in match_sites(old, new, space):
            yield Change(verdict_of(*group, same_work), *group)
    elif new is not None:
        yield from (Change(Verdict.NEW, (), (site,)) for site in new.of(space))
    elif old is not None:
        yield from (Change(Verdict.GONE, (site,), ()) for site in old.of(space))
