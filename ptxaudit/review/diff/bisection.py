"""Finds the first release at which a figure changed: a binary search per figure, over releases that are audited once
each.

    12.4  12.5  12.6  12.8  12.9  13.0  13.1  …  13.5        wavefronts of life: 20,448 at 12.4, 20,964 at 13.5
     =                 =           =     ≠              ->   Found("wavefronts", life, before="13.0", first="13.1",
                                                            20,448, 20,964)

The result is a release at which the figure differs from the good release, while the one before it agrees. If a figure
changed several times, it is one of these changes; `every` audits all releases and finds the first. A release that is
unavailable or does not compile the input is skipped, and named if the change may be in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ptxaudit.base.records import Record
from ptxaudit.report.measures import MEASURES, Figure
from ptxaudit.report.model import Kernel, Report, plain
from ptxaudit.review.diff.matrix import Column
from ptxaudit.review.diff.reports import Verdict, diff_kernels
from ptxaudit.review.diff.tracks import tracks
from ptxaudit.review.diff.verdict import surely_conflicts

SCHEMA = "ptxaudit/bisect/1"
WORSE_SITES = "worse-sites"  # the number of sites that cost more than at the good release, with or without a launch
COMPARED = (
    WORSE_SITES,
    "wavefronts",
    "excess",
    "ways",
    "open",
    "registers",
    "stack",
    "spills",
    "barriers",
    "occupancy",
    "shared",
    "shared-width",
    "global-width",
    "instructions",
)

Audit = Callable[[str], Column]


class Found(Record):
    """Where a figure of a kernel changed. before, first: neighbouring releases among the available ones; skipped:
    those between them; old, new: the figure at `before` and at `first`."""

    figure: str
    kernel: Kernel
    before: str
    first: str
    skipped: tuple[str, ...]
    old: Figure | None
    new: Figure | None


class Bisection(Record, dict=True):
    """The results of a search. releases: all from the good one to the bad one; columns: those that were audited."""

    input: str
    releases: tuple[str, ...]
    columns: dict[str, Column]
    found: tuple[Found, ...]

    @cached_property
    def tested(self) -> list[Column]:
        """The audited releases, oldest first."""
        return [self.columns[release] for release in self.releases if release in self.columns]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "input": self.input,
            "releases": [
                {
                    "release": release,
                    "audited": release in self.columns,
                    "had": (column := self.columns.get(release)) is not None and column.report is not None,
                    "problems": plain(column.problems) if column is not None else [],
                }
                for release in self.releases
            ],
            "found": [
                {
                    "figure": one.figure,
                    "kernel": one.kernel.name,
                    "demangled": one.kernel.demangled,
                    "isa": one.kernel.isa,
                    "launch": plain(one.kernel.launch),
                    "before": one.before,
                    "first": one.first,
                    "skipped": list(one.skipped),
                    "old": one.old,
                    "new": one.new,
                }
                for one in self.found
            ],
        }


class Bisecting:
    """A search in progress, with the results of the audits so far."""

    def __init__(self, releases: Sequence[str], audit: Audit) -> None:
        self.releases = tuple(releases)
        self._audit = audit
        self.columns: dict[str, Column] = {}
        self._counterparts: dict[int, dict[int, Kernel | None]] = {}

    def report(self, at: int) -> Report | None:
        """The report of a release, None if it is unavailable; audited on first use."""
        release = self.releases[at]
        if release not in self.columns:
            self.columns[release] = self._audit(release)
        return self.columns[release].report

    def value(self, at: int, good: Kernel, name: str) -> Figure | None:
        """A figure, at another release, of a kernel of the first release; None if that release does not have it."""
        kernel = good if at == 0 else self._counterpart(at, good)
        if kernel is None:
            return None
        if name != WORSE_SITES:
            return MEASURES[name].of(kernel)
        spaces = [space for space in good.spaces if space in kernel.spaces]
        changes = diff_kernels(good, kernel, same_source=True, spaces=spaces).every
        return sum(
            change.verdict is Verdict.WORSE or change.verdict is Verdict.NEW and surely_conflicts(change.site)
            for change in changes
        )

    def _counterpart(self, at: int, good: Kernel) -> Kernel | None:
        if at not in self._counterparts:
            both = tracks([self.report(0), self.report(at)])
            self._counterparts[at] = {
                id(track.kernels[0]): track.kernels[1] for track in both if track.kernels[0] is not None
            }
        return self._counterparts[at].get(id(good))

    def search(self, good: Kernel, name: str) -> Found:
        """Finds where a figure changed that differs between the first and the last release."""
        wanted = self.value(0, good, name)
        low, high = 0, len(self.releases) - 1
        left_out: set[int] = set()
        while candidates := [at for at in range(low + 1, high) if at not in left_out]:
            middle = candidates[len(candidates) // 2]
            if self.report(middle) is None:
                left_out.add(middle)
            elif self.value(middle, good, name) == wanted:
                low = middle
            else:
                high = middle
        return self._found(name, good, low, high)

    def scan(self, good: Kernel, name: str) -> Found | None:
        """The first release at which a figure differs from its value at the first release."""
        wanted = self.value(0, good, name)
        low = 0
        for at in range(1, len(self.releases)):
            if self.report(at) is None:
                continue
            if self.value(at, good, name) != wanted:
                return self._found(name, good, low, at)
            low = at
        return None

    def _found(self, name: str, good: Kernel, low: int, high: int) -> Found:
        skipped = tuple(self.releases[low + 1 : high])
        return Found(
            name,
            good,
            self.releases[low],
            self.releases[high],
            skipped,
            self.value(low, good, name),
            self.value(high, good, name),
        )


def bisect(
    input: str, releases: Sequence[str], audit: Audit, figures: Sequence[str] = COMPARED, every: bool = False
) -> Bisection:
    """Searches all figures that differ between the first release and the last; with `every`, all that differ
    anywhere.

    Nothing is found if the first or the last release is unavailable: their columns say why.
    """
    search = Bisecting(releases, audit)
    last = len(releases) - 1
    first = search.report(0)
    found: list[Found] = []
    if first is not None and search.report(last) is not None:
        for at in range(1, last) if every else ():
            search.report(at)
        for good in first.kernels:
            for name in figures:
                if every:
                    one = search.scan(good, name)
                else:
                    one = (
                        search.search(good, name)
                        if search.value(0, good, name) != search.value(last, good, name)
                        else None
                    )
                found += [one] if one is not None else []
    return Bisection(input, tuple(releases), search.columns, tuple(found))
