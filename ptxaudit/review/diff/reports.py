"""What changed between two reports: site by site, kernel by kernel, in total.

    old  transpose.cu:14 load exact  wavefronts    32     new  transpose.cu:15 load exact  wavefronts 1,024
    Change(worse, old, new)                               Diff.got_worse is True

`verdict` judges sites, `kernelmatch` and `sitematch` pair them. A kernel got worse where a site did, or where more is
paid in all of it: under one launch its wavefronts, and with equal wavefronts its excess. What is new in an edited
source is new work: it counts where it conflicts, as in a new kernel; in the same source everything counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from ptxaudit.base import display
from ptxaudit.report.measures import MEASURES, PAID, Figure, combined
from ptxaudit.report.model import Kernel, Report
from ptxaudit.report.paths import base_name
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
MOST_NAMED = 3  # inputs of a side


class Nature(StrEnum):
    """What became of the code of a kernel of both sides."""

    SAME = "same"  # the same instructions in the same order
    RENAMED = "renamed"  # the same, of another name; nothing else changed
    RESCHEDULED = "rescheduled"  # the same instructions in another order; nothing else changed
    CHANGED = "changed"


@dataclass(frozen=True)
class Resources:
    """What a kernel takes beside wavefronts. registers: a thread's; shared_static: bytes."""

    registers: int | None
    shared_static: int
    instructions: int | None

    @staticmethod
    def of(kernel: Kernel | None) -> Resources | None:
        return kernel and Resources(kernel.registers, kernel.shared_static, kernel.instructions)


@dataclass(frozen=True)
class KernelDiff:
    """A kernel and launch of both reports, or of one. same_source: both were made of the same text; same_work: their
    launches are told to be each other's counterparts."""

    old: Kernel | None
    new: Kernel | None
    changes: tuple[Change, ...]
    same_source: bool = False
    same_work: bool = False

    @property
    def kernel(self) -> Kernel:
        kernel = self.new or self.old
        assert kernel is not None
        return kernel

    @property
    def renamed(self) -> bool:
        return bool(self.old and self.new) and self.old.name != self.new.name

    @property
    def comparable(self) -> bool:
        """The sums of both sides cover every site of the same launch."""
        return bool(self.old and self.new and self.same_work and self.old.totals.complete and self.new.totals.complete)

    @property
    def resources(self) -> tuple[Resources | None, Resources | None]:
        return Resources.of(self.old), Resources.of(self.new)

    @cached_property
    def figures(self) -> dict[str, tuple[Figure | None, Figure | None]]:
        """Each figure of `measures` on both sides; what a launch decides only where the launches are the same."""
        return {name: self._both(name) for name in MEASURES}

    def _both(self, name: str) -> tuple[Figure | None, Figure | None]:
        if name in PAID and not self.comparable:
            return None, None
        old, new = (kernel and MEASURES[name].of(kernel) for kernel in (self.old, self.new))
        return old, new

    @cached_property
    def nature(self) -> Nature | None:
        """None where a side has no code to compare."""
        if self.old is None or self.new is None or self.old.code is None or self.new.code is None:
            return None
        before, after = self.old.code, self.new.code
        quiet = all(change.verdict in QUIET for change in self.changes) and all(
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
            return any(surely_conflicts(change.site) for change in self.changes)
        if any(change.verdict is Verdict.WORSE for change in self.changes):
            return True
        if not self.comparable:
            return any(change.verdict is Verdict.NEW and surely_conflicts(change.site) for change in self.changes)
        return self._paid("new") > self._paid("old")

    def _paid(self, side: str) -> tuple[int, int]:
        """(wavefronts, excess) of a side, new work aside that an edit brought and that is free of conflicts."""
        counted = [
            change
            for change in self.changes
            if self.same_source or change.verdict is not Verdict.NEW or surely_conflicts(change.site)
        ]
        sites = [site for change in counted if (site := getattr(change, side)) is not None]
        return sum(site.wavefronts or 0 for site in sites), sum(site.excess or 0 for site in sites)

    @property
    def impact(self) -> int:
        """Wavefronts more than before, or less."""
        return sum(change.impact for change in self.changes)


@dataclass(frozen=True)
class Diff:
    """All kernels of both reports. sides: what each was made of, "k.cu (nvrtc 12.9)"."""

    kernels: tuple[KernelDiff, ...]
    sides: tuple[str, str] = ("", "")

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        counter = Counter(change.verdict for kernel in self.kernels for change in kernel.changes)
        return {verdict: counter[verdict] for verdict in Verdict if counter[verdict]}

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


def diff_reports(old: Report, new: Report, counterparts: bool = False) -> Diff:
    """Compares two reports; kernels in the order of the new one, those that are gone last.

    counterparts: the launches of a kernel on one side are told to do the work of those on the other, whatever they say.
    """
    sources = [
        {entry.path: (base_name(entry.path), entry.sha256) for entry in report.inputs if entry.kind in ("cuda", "ptx")}
        for report in (old, new)
    ]
    return Diff(
        tuple(
            diff_kernels(a, b, counterparts, _same_source(a, b, sources))
            for a, b in match_kernels(old.kernels, new.kernels)
        ),
        (_side(old), _side(new)),
    )


def _same_source(old: Kernel | None, new: Kernel | None, sources: Iterable[dict[str, tuple[str, str]]]) -> bool:
    """Both kernels are of inputs with the same text."""
    texts = [side.get(kernel.input) if kernel else None for kernel, side in zip((old, new), sources, strict=True)]
    return texts[0] is not None and texts[1] is not None and texts[0][1] == texts[1][1]


def _side(report: Report) -> str:
    """The inputs of a report with what compiled them; of many, how many there are."""
    names = [base_name(entry.path) + (f" ({entry.toolchain})" if entry.toolchain else "") for entry in report.inputs]
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} inputs"


def diff_kernels(
    old: Kernel | None, new: Kernel | None, counterparts: bool = False, same_source: bool = False
) -> KernelDiff:
    """Compares one kernel; every site of a kernel that is on one side only is new or gone."""
    if old is None or new is None:
        kernel = old or new
        verdict = Verdict.NEW if old is None else Verdict.GONE
        sides = [((), (site,)) if old is None else ((site,), ()) for site in (kernel.sites if kernel else ())]
        return KernelDiff(old, new, tuple(Change(verdict, *side) for side in sides))
    same_work = old.launch is not None and new.launch is not None and (counterparts or old.launch == new.launch)
    changes = tuple(Change(verdict_of(*group, same_work), *group) for group in match_sites(old, new))
    return KernelDiff(old, new, changes, same_source, same_work)
