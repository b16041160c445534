"""What changed between two reports: site by site, kernel by kernel, in total.

    old  transpose.cu:14 load exact  excess   0     new  transpose.cu:15 load exact  excess 992
    Change(worse, old, new)                         Diff.got_worse is True

A site got *worse* when its excess surely grew: sums over the launch where both launches are
the same, single requests otherwise; intervals count when they do not overlap, or when the
same kind of range moved up. Equal excess is decided by wavefronts. `status-changed` is what
neither figure decides: an exact figure that became a range around it, or an unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from ptxaudit.kernelmatch import match_kernels
from ptxaudit.paths import base_name
from ptxaudit.report import Kernel, Report, Site, Span, plain
from ptxaudit.sitematch import match_sites, signature
from ptxaudit.status import Status

SCHEMA = "ptxaudit/diff/1"

Interval = tuple[int, int]


class Verdict(StrEnum):
    """What became of a site, worst first. The last four cost what they did before."""

    WORSE = "worse"
    NEW = "new"
    STATUS_CHANGED = "status-changed"
    GONE = "gone"
    BETTER = "better"
    NARROWED = "narrowed"          # more, narrower accesses: a v4 that became four scalars
    WIDENED = "widened"
    MOVED = "moved"                # on another line, or in another file
    SAME = "same"


MOST_NAMED = 3               # inputs of a side

QUIET = frozenset((Verdict.SAME, Verdict.MOVED))


@dataclass(frozen=True)
class Change:
    """One site, or the sites that the same work was cut into: () where it has no counterpart."""

    verdict: Verdict
    olds: tuple[Site, ...]
    news: tuple[Site, ...]

    @cached_property
    def old(self) -> Site | None:
        return together(self.olds)

    @cached_property
    def new(self) -> Site | None:
        return together(self.news)

    @property
    def site(self) -> Site:
        site = self.new or self.old
        assert site is not None
        return site

    @property
    def moved(self) -> bool:
        """The same site on another line, or in a file of another name."""
        return bool(self.olds and self.news) and _moved(self.olds[0], self.news[0])

    @property
    def width(self) -> Verdict | None:
        """WIDENED or NARROWED where the accesses are wider or narrower than before, whatever they cost."""
        return _width_change(self.olds, self.news)


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
    def renamed(self) -> bool:
        return bool(self.old and self.new) and self.old.name != self.new.name

    @property
    def comparable(self) -> bool:
        """The sums of both sides cover every site of the same launch."""
        return bool(self.old and self.new and _same_launch(self.old, self.new)
                    and self.old.totals.complete and self.new.totals.complete)

    @property
    def resources(self) -> tuple[Resources | None, Resources | None]:
        return Resources.of(self.old), Resources.of(self.new)

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
        isa = "sass" if any(entry.kernel.isa == "sass" for entry in self.kernels) else "ptx"
        both = [entry for entry in self.kernels if entry.comparable and entry.kernel.isa == isa]
        return {
            name: (sum(getattr(entry.old.totals, name) for entry in both if entry.old),
                   sum(getattr(entry.new.totals, name) for entry in both if entry.new))
            for name in ("excess", "wavefronts") if both
        }

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "old": self.sides[0],
            "new": self.sides[1],
            "got_worse": self.got_worse,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "totals": {name: list(both) for name, both in self.totals.items()},
            "kernels": [_kernel_dict(kernel) for kernel in self.kernels],
        }


def diff_reports(old: Report, new: Report) -> Diff:
    """Compares two reports; kernels in the order of the new one, those that are gone last."""
    pairs = match_kernels(old.kernels, new.kernels)
    return Diff(tuple(diff_kernels(a, b) for a, b in pairs), (_side(old), _side(new)))


def _side(report: Report) -> str:
    """The inputs of a report with what compiled them; of many, how many there are."""
    names = [base_name(entry.path) + (f" ({entry.toolchain})" if entry.toolchain else "") for entry in report.inputs]
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} inputs"


def diff_kernels(old: Kernel | None, new: Kernel | None) -> KernelDiff:
    """Compares one kernel; every site of a kernel that is on one side only is new or gone."""
    if old is None or new is None:
        kernel = old or new
        verdict = Verdict.NEW if old is None else Verdict.GONE
        sides = [((), (site,)) if old is None else ((site,), ()) for site in (kernel.sites if kernel else ())]
        return KernelDiff(old, new, tuple(Change(verdict, *side) for side in sides))
    same_launch = _same_launch(old, new)
    return KernelDiff(old, new, tuple(Change(_verdict(*group, same_launch), *group) for group in match_sites(old, new)))


def _verdict(olds: tuple[Site, ...], news: tuple[Site, ...], same_launch: bool) -> Verdict:
    before, after = together(olds), together(news)
    if before is None or after is None:
        return Verdict.NEW if before is None else Verdict.GONE
    copies = len(olds) != len(news) and len({signature(site) for site in (*olds, *news)}) == 1
    verdict = Verdict.SAME if copies else judge(before, after, same_launch)
    if verdict is not Verdict.SAME:
        return verdict
    return _width_change(olds, news) or (Verdict.MOVED if _moved(olds[0], news[0]) else Verdict.SAME)


def _same_launch(old: Kernel, new: Kernel) -> bool:
    return old.launch is not None and old.launch == new.launch


# --- sites ----------------------------------------------------------------------------------

_SUMS = ("requests", "active_requests", "wavefronts", "ideal", "excess", "lines", "lines_proved", "lines_ideal")
_SPANS = ("per_request", "ideal_per_request", "excess_per_request")
_SUREST_FIRST = (Status.UNREACHED, Status.EXACT, Status.INVARIANT, Status.CONDITIONAL, Status.BOUNDED, Status.DATA_DEPENDENT, Status.UNKNOWN)


def together(sites: tuple[Site, ...]) -> Site | None:
    """Several sites as one: sums, the largest ways, the least sure status; the rest is the first's. None of ()."""
    if len(sites) < 2:
        return sites[0] if sites else None
    figures: dict[str, Any] = {name: _sum([_settled(site, name) for site in sites]) for name in _SUMS}
    for name in _SPANS:
        low = _sum([span and span.low for span in (getattr(site, name) for site in sites)])
        high = _sum([span and span.high for span in (getattr(site, name) for site in sites)])
        figures[name] = None if low is None or high is None else Span(low, high)
    bounds = [_wavefronts(site) for site in sites]
    low, high = _sum([one and one[0] for one in bounds]), _sum([one and one[1] for one in bounds])
    figures["bounds"] = (low, high) if figures["wavefronts"] is None and low is not None and high is not None else None
    for name in ("ways", "line_class_max", "line_class_proved"):
        known = [getattr(site, name) for site in sites]
        figures[name] = None if None in known else max(known)
    status = max((site.status for site in sites), key=_SUREST_FIRST.index)
    first = next(site for site in sites if site.status is status)
    return replace(sites[0], **figures, status=status, reason=first.reason, reason_kind=first.reason_kind, why=first.why, conditions=(), trips=())


def _settled(site: Site, name: str) -> int | None:
    return 0 if site.status is Status.UNREACHED else getattr(site, name)


def _sum(values: list[int | None]) -> int | None:
    return None if any(value is None for value in values) else sum(value for value in values if value is not None)


def _moved(old: Site, new: Site) -> bool:
    a, b = old.source, new.source
    return bool(a and b) and (a.line != b.line or base_name(a.file) != base_name(b.file))


def _width_change(olds: tuple[Site, ...], news: tuple[Site, ...]) -> Verdict | None:
    widths = [_sum([site.width for site in sites]) for sites in (olds, news)]
    if not olds or not news or widths[0] is None or widths[1] is None:
        return None
    before, after = widths[0] * len(news), widths[1] * len(olds)           # mean widths, over a common denominator
    return Verdict.NARROWED if after < before else Verdict.WIDENED if after > before else None


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
            "per_request", "line_class_max", "lines", "reason", "reason_kind")


def _kernel_dict(entry: KernelDiff) -> dict[str, Any]:
    kernel = entry.kernel
    return {
        "name": kernel.name,
        "demangled": kernel.demangled,
        "old_name": entry.old.name if entry.old and entry.renamed else None,
        "isa": kernel.isa,
        "launch": plain(kernel.launch),
        "got_worse": entry.got_worse,
        "old_totals": plain(entry.old.totals) if entry.old else None,
        "new_totals": plain(entry.new.totals) if entry.new else None,
        "old_resources": plain(entry.resources[0]),
        "new_resources": plain(entry.resources[1]),
        "changes": [
            {
                "verdict": str(change.verdict),
                "moved": change.moved,
                "width": change.width and str(change.width),
                "sites": [len(change.olds), len(change.news)],
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
