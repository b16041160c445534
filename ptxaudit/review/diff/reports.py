"""The changes between two reports: site by site, kernel by kernel, in total.

    old  transpose.cu:14 load exact  wavefronts    32     new  transpose.cu:15 load exact  wavefronts 1,024
    Change(worse, old, new)                               Diff.got_worse is True

`verdict` judges sites, `kernelmatch` and `sitematch` pair them. A kernel got worse if a site did, or if its total
cost rose: its wavefronts under one launch and, with equal wavefronts, its excess. A new site in an edited source is
new work, which counts only if it conflicts, as in a new kernel; in the same source every site counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from ptxaudit.base import display
from ptxaudit.base.places import base_name
from ptxaudit.base.records import Record
from ptxaudit.report.counterparts import each_once
from ptxaudit.report.measures import MEASURES, Figure, combined
from ptxaudit.report.model import Kernel, Report
from ptxaudit.review.diff.as_json import kernel_dict
from ptxaudit.review.diff.kernelmatch import match_kernels
from ptxaudit.review.diff.kernels import SPACES, KernelDiff, Nature, Resources
from ptxaudit.review.diff.sitematch import match_sites
from ptxaudit.review.diff.verdict import QUIET, Change, Verdict, judge, together, verdict_of

__all__ = [
    "QUIET",
    "SPACES",
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


class Diff(Record, dict=True):
    """All kernels of both reports. sides: what each was made of, "k.cu (nvrtc 12.9)"."""

    kernels: tuple[KernelDiff, ...]
    sides: tuple[str, str] = ("", "")

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """The number of accesses to shared memory with each verdict."""
        return _counted(change for kernel in self.kernels for change in kernel.changes)

    @cached_property
    def memory_counts(self) -> dict[str, dict[Verdict, int]]:
        """The same for each other memory with accesses."""
        changes: dict[str, list[Change]] = {}
        for change in (change for kernel in self.kernels for change in kernel.memory):
            changes.setdefault(change.site.space, []).append(change)
        return {space: _counted(changes[space]) for space in sorted(changes)}

    @property
    def got_worse(self) -> bool:
        return any(kernel.got_worse for kernel in self.kernels)

    @cached_property
    def totals(self) -> dict[str, tuple[int, int]]:
        """Excess and wavefronts of both sides, summed over the comparable kernels and launches, each once."""
        both = [entry for entry in self.counted if entry.comparable]
        return {
            name: (
                sum(getattr(entry.old.totals, name) for entry in both if entry.old),
                sum(getattr(entry.new.totals, name) for entry in both if entry.new),
            )
            for name in ("excess", "wavefronts")
            if both
        }

    @cached_property
    def counted(self) -> list[KernelDiff]:
        """The kernels that both sides have, without PTX whose machine code both have: it counts the same accesses
        again."""
        both = [entry for entry in self.kernels if entry.old is not None and entry.new is not None]
        return each_once(both, lambda entry: entry.kernel)

    def total(self, name: str) -> tuple[Figure | None, Figure | None]:
        """A figure of `measures` in total, over the kernels for which both sides have it."""
        known = [both for entry in self.counted if None not in (both := entry.figures[name])]
        if not known:
            return None, None
        old, new = (combined(MEASURES[name], side) for side in zip(*known, strict=True))
        return old, new

    def _repr_html_(self) -> str:
        return display.html("changes_html", self)

    def to_dict(self) -> dict[str, Any]:
        """The whole document: `schemas/diff-1.schema.json` documents every key."""
        return {
            "schema": SCHEMA,
            "old": self.sides[0],
            "new": self.sides[1],
            "got_worse": self.got_worse,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "memory_counts": {
                space: {str(verdict): count for verdict, count in counts.items()}
                for space, counts in self.memory_counts.items()
            },
            "totals": {name: list(both) for name, both in self.totals.items()},
            "figures": {name: list(self.total(name)) for name in MEASURES},
            "kernels": [kernel_dict(kernel) for kernel in self.kernels],
        }


def _counted(changes: Iterable[Change]) -> dict[Verdict, int]:
    counter = Counter(change.verdict for change in changes)
    return {verdict: counter[verdict] for verdict in Verdict if counter[verdict]}


def diff_reports(old: Report, new: Report, counterparts: bool = False) -> Diff:
    """Compares two reports; kernels in the order of the new one, removed ones last.

    counterparts: a kernel's launches on both sides are specified to do the same work, even if they differ.
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
    """The memories that all of these reports examined, ignoring reports without kernels."""
    looked_at = [
        {space for kernel in report.kernels for space in kernel.spaces} for report in reports if report.kernels
    ]
    return tuple(space for space in SPACES if all(space in of for of in looked_at))


def _same_source(old: Kernel | None, new: Kernel | None, sources: Iterable[dict[str, tuple[str, str]]]) -> bool:
    """Both kernels come from inputs with the same text."""
    texts = [side.get(kernel.input) if kernel else None for kernel, side in zip((old, new), sources, strict=True)]
    return texts[0] is not None and texts[1] is not None and texts[0][1] == texts[1][1]


def _side(report: Report) -> str:
    """The inputs of a report with their compilers; of many, their number."""
    names = [base_name(entry.path) + (f" ({entry.toolchain})" if entry.toolchain else "") for entry in report.inputs]
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} inputs"


def diff_kernels(
    old: Kernel | None,
    new: Kernel | None,
    counterparts: bool = False,
    same_source: bool = False,
    spaces: Sequence[str] = ("shared",),
) -> KernelDiff:
    """Compares one kernel; if it is on one side only, every site is new or gone. spaces: the memories whose accesses
    are compared."""
    same_work = (
        old is not None
        and new is not None
        and old.launch is not None
        and new.launch is not None
        and (counterparts or repr(old.launch) == repr(new.launch))
    )
    changes = {space: tuple(_changes(old, new, space, same_work)) for space in spaces}
    memory = tuple(change for space in spaces if space != "shared" for change in changes[space])
    return KernelDiff(old, new, changes.get("shared", ()), same_source, same_work, memory)


def _changes(old: Kernel | None, new: Kernel | None, space: str, same_work: bool) -> Iterator[Change]:
    """The changes of the accesses to one memory."""
    if old is not None and new is not None:
        for group in match_sites(old, new, space):
            yield Change(verdict_of(*group, same_work), *group)
    elif new is not None:
        yield from (Change(Verdict.NEW, (), (site,)) for site in new.of(space))
    elif old is not None:
        yield from (Change(Verdict.GONE, (site,), ()) for site in old.of(space))
