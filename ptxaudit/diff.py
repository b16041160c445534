"""What changed between two reports: site by site, kernel by kernel, in total.

    old  transpose.cu:14 load exact  excess   0     new  transpose.cu:15 load exact  excess 992
    Change(worse, old, new)                         Diff.got_worse is True

A site got *worse* when its excess surely grew: sums over the launch where both launches are
the same, single requests otherwise; intervals count when they do not overlap, or when the
same kind of range moved up. Equal excess is decided by wavefronts. `status-changed` is what
neither figure decides: an exact figure that became a range around it, or an unknown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import PurePath
from typing import Any

from ptxaudit.lanes.result import Status
from ptxaudit.report import Kernel, Report, Site, plain
from ptxaudit.sitematch import Pair, match_sites

SCHEMA = "ptxaudit/diff/1"

Interval = tuple[int, int]


class Verdict(StrEnum):
    """What became of a site, worst first."""

    WORSE = "worse"
    NEW = "new"
    STATUS_CHANGED = "status-changed"
    GONE = "gone"
    BETTER = "better"
    SAME = "same"


@dataclass(frozen=True)
class Change:
    """One site: old or new is None where it has no counterpart."""

    verdict: Verdict
    old: Site | None
    new: Site | None

    @property
    def site(self) -> Site:
        site = self.new or self.old
        assert site is not None
        return site

    @property
    def moved(self) -> bool:
        """The same site on another line."""
        old, new = self.old and self.old.source, self.new and self.new.source
        return bool(old and new and old.line != new.line)


@dataclass(frozen=True)
class KernelDiff:
    """A kernel and launch of both reports, or of one."""

    old: Kernel | None
    new: Kernel | None
    changes: tuple[Change, ...]

    @property
    def kernel(self) -> Kernel:
        kernel = self.new or self.old
        assert kernel is not None
        return kernel

    @property
    def comparable(self) -> bool:
        """The sums of both sides cover every site of the same launch."""
        return bool(self.old and self.new and _same_launch(self.old, self.new)
                    and self.old.totals.complete and self.new.totals.complete)

    @cached_property
    def got_worse(self) -> bool:
        """A site got worse, or the kernel's whole excess grew through new ones."""
        if self.old is None or self.new is None:
            return False
        if any(change.verdict is Verdict.WORSE for change in self.changes):
            return True
        if self.comparable:
            return self.new.totals.excess > self.old.totals.excess
        return any(change.verdict is Verdict.NEW and _surely_conflicts(change.site) for change in self.changes)


@dataclass(frozen=True)
class Diff:
    """All kernels of both reports."""

    kernels: tuple[KernelDiff, ...]

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        counter = Counter(change.verdict for kernel in self.kernels for change in kernel.changes)
        return {verdict: counter[verdict] for verdict in Verdict if counter[verdict]}

    @property
    def got_worse(self) -> bool:
        return any(kernel.got_worse for kernel in self.kernels)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "got_worse": self.got_worse,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "kernels": [_kernel_dict(kernel) for kernel in self.kernels],
        }


def diff_reports(old: Report, new: Report) -> Diff:
    """Compares two reports; kernels in the order of the new one, those that are gone last."""
    return Diff(tuple(diff_kernels(a, b) for a, b in match_kernels(old.kernels, new.kernels)))


def diff_kernels(old: Kernel | None, new: Kernel | None) -> KernelDiff:
    """Compares two entries of one kernel, or lists one that has no counterpart."""
    if old is None or new is None:
        kernel = old or new
        verdict = Verdict.NEW if old is None else Verdict.GONE
        pairs: list[Pair] = [(None, site) if old is None else (site, None) for site in (kernel.sites if kernel else ())]
        return KernelDiff(old, new, tuple(Change(verdict, *pair) for pair in pairs))
    same_launch = _same_launch(old, new)
    changes = []
    for before, after in match_sites(old, new):
        if before is None:
            verdict = Verdict.NEW
        elif after is None:
            verdict = Verdict.GONE
        else:
            verdict = judge(before, after, same_launch)
        changes.append(Change(verdict, before, after))
    return KernelDiff(old, new, tuple(changes))


# --- kernels --------------------------------------------------------------------------------

def match_kernels(olds: tuple[Kernel, ...], news: tuple[Kernel, ...]) -> list[tuple[Kernel | None, Kernel | None]]:
    """Pairs kernels by name, instruction set, launch and input; then with less and less of it."""
    old_left, new_left = dict(enumerate(olds)), dict(enumerate(news))
    partner: dict[int, int] = {}
    for key in _KERNEL_KEYS:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for at, kernel in old_left.items():
            waiting[key(kernel)].append(at)
        for at, kernel in list(new_left.items()):
            queue = waiting[key(kernel)]
            if queue:
                partner[at] = queue.pop(0)
                del new_left[at], old_left[partner[at]]
    pairs: list[tuple[Kernel | None, Kernel | None]] = [
        (olds[partner[at]] if at in partner else None, kernel) for at, kernel in enumerate(news)
    ]
    return pairs + [(kernel, None) for kernel in old_left.values()]


_KERNEL_KEYS: tuple[Callable[[Kernel], Hashable], ...] = (
    lambda kernel: (kernel.name, kernel.isa, repr(kernel.launch), PurePath(kernel.input).name),
    lambda kernel: (kernel.name, kernel.isa, repr(kernel.launch)),
    lambda kernel: (kernel.name, kernel.isa),
)


def _same_launch(old: Kernel, new: Kernel) -> bool:
    return old.launch is not None and old.launch == new.launch


# --- sites ----------------------------------------------------------------------------------

def judge(old: Site, new: Site, same_launch: bool) -> Verdict:
    """Compares the figures of one site: excess first, then wavefronts."""
    changed = old.status is not new.status
    undecided = Verdict.STATUS_CHANGED if changed else Verdict.SAME
    for before, after in _figures(old, new, same_launch):
        if before == after:
            continue
        if after[0] > before[1]:
            return Verdict.WORSE
        if after[1] < before[0]:
            return Verdict.BETTER
        if changed:
            return Verdict.STATUS_CHANGED
        if after[0] >= before[0] and after[1] >= before[1]:
            return Verdict.WORSE
        if after[0] <= before[0] and after[1] <= before[1]:
            return Verdict.BETTER
        return Verdict.STATUS_CHANGED      # a range that grew or shrank at both ends
    return undecided


def _figures(old: Site, new: Site, same_launch: bool) -> Iterator[tuple[Interval, Interval]]:
    """Excess, then wavefronts of both, on the widest scale that both know; then lines of .cg."""
    for of_launch, of_request in ((_excess, "excess_per_request"), (_wavefronts, "per_request")):
        before, after = of_launch(old), of_launch(new)
        if same_launch and before is not None and after is not None:
            yield before, after
            continue
        spans = getattr(old, of_request), getattr(new, of_request)
        if spans[0] is not None and spans[1] is not None:
            yield (spans[0].low, spans[0].high), (spans[1].low, spans[1].high)
    for name in ("lines",) if same_launch else ("line_class_max",):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and after is not None:
            yield (before, before), (after, after)


def _excess(site: Site) -> Interval | None:
    """Excess over the launch, in bounds where it is not exact."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.excess is not None:
        return (site.excess, site.excess)
    if site.bounds is not None and site.ideal is not None:
        return (max(0, site.bounds[0] - site.ideal), max(0, site.bounds[1] - site.ideal))
    return None


def _wavefronts(site: Site) -> Interval | None:
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.wavefronts is not None:
        return (site.wavefronts, site.wavefronts)
    return site.bounds


def _surely_conflicts(site: Site) -> bool:
    excess = _excess(site)
    if excess is None and site.excess_per_request is not None:
        excess = (site.excess_per_request.low, site.excess_per_request.high)
    return excess is not None and excess[0] > 0


# --- JSON -----------------------------------------------------------------------------------

_FIGURES = ("id", "opcode", "status", "requests", "wavefronts", "ideal", "excess", "ways", "bounds",
            "per_request", "line_class_max", "lines", "reason")


def _kernel_dict(entry: KernelDiff) -> dict[str, Any]:
    kernel = entry.kernel
    return {
        "name": kernel.name,
        "demangled": kernel.demangled,
        "isa": kernel.isa,
        "launch": plain(kernel.launch),
        "got_worse": entry.got_worse,
        "old_totals": plain(entry.old.totals) if entry.old else None,
        "new_totals": plain(entry.new.totals) if entry.new else None,
        "changes": [
            {
                "verdict": str(change.verdict),
                "access": change.site.access,
                "source": plain(change.site.source),
                "old": _site_dict(change.old),
                "new": _site_dict(change.new),
            }
            for change in entry.changes
        ],
    }


def _site_dict(site: Site | None) -> dict[str, Any] | None:
    if site is None:
        return None
    line = {"line": site.source.line if site.source else None}
    return line | {name: plain(getattr(site, name)) for name in _FIGURES}
