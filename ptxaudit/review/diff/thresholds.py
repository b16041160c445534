"""Limits on changes: `--fail-on registers+8`, `total-wavefronts+5%`, `global-width-25%`, `worse`.

    registers 32 → 40   registers+8   met: by 8 or more
    registers 32 → 39   registers+8   not met
    spills 0 → 4        spills+50%    met: any growth exceeds a share of zero
    wavefronts – → 64   wavefronts+1  not judged

A name is one of `measures`, and applies to each kernel that both sides have; with the prefix `total-`, to all of them
together. Figures that should not fall, such as the width of accesses, take a minus. 0 means any change for the worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.words import nearest
from ptxaudit.report.measures import MEASURES, Figure
from ptxaudit.review.diff.reports import Diff, KernelDiff

WORSE = "worse"
TOTAL = "total-"
_LIMIT = re.compile(r"(?P<total>total-)?(?P<name>[a-z-]+?)(?P<sign>[+-])(?P<by>\d+(?:\.\d+)?)(?P<percent>%?)")


class Threshold(Record):
    """One --fail-on of a diff. name: of `measures`, or WORSE; by: the least change that meets it, in the figure's
    unit or in percent."""

    name: str
    total: bool = False
    by: Fraction = Fraction(0)
    percent: bool = False

    def __str__(self) -> str:
        if self.name == WORSE:
            return WORSE
        sign = "-" if MEASURES[self.name].less_is_worse else "+"
        return f"{TOTAL if self.total else ''}{self.name}{sign}{float(self.by):g}{'%' if self.percent else ''}"

    def met_by(self, old: Figure, new: Figure) -> bool:
        """Whether a figure changed for the worse by that much or more."""
        grown = Fraction(old) - Fraction(new) if MEASURES[self.name].less_is_worse else Fraction(new) - Fraction(old)
        return grown > 0 and grown >= (self.by * Fraction(old) / 100 if self.percent else self.by)


class Crossing(Record):
    """A threshold that is met, by a kernel or in total (None), with both figures, which are None for WORSE."""

    threshold: Threshold
    kernel: KernelDiff | None
    old: Figure | None = None
    new: Figure | None = None


class Judged(Record):
    """unjudged: kernels with a figure that is unknown on one of the sides."""

    crossings: tuple[Crossing, ...]
    unjudged: tuple[tuple[Threshold, KernelDiff], ...]


def parse_threshold(text: str) -> Threshold:
    """Parses "total-wavefronts+5%" and the like. Raises InputError."""
    if text == WORSE:
        return Threshold(WORSE)
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"--fail-on {text} is not a limit of diff",
            "write NAME+N or NAME+N%, as registers+8 or total-wavefronts+5%, or worse; limits without + are those of"
            " `ptxaudit audit`",
        )
    name = found["name"]
    if name not in MEASURES:
        close = nearest(name, MEASURES)
        raise InputError(
            f"--fail-on {text}: there is no figure {name!r}",
            f"did you mean {close}?" if close else f"there are {', '.join(MEASURES)}",
        )
    expected = "-" if MEASURES[name].less_is_worse else "+"
    if found["sign"] != expected:
        should = "fall" if expected == "-" else "grow"
        raise InputError(
            f"--fail-on {text}: {name} should not {should}",
            f"write {found['total'] or ''}{name}{expected}{found['by']}{found['percent']}",
        )
    return Threshold(name, bool(found["total"]), Fraction(found["by"]), bool(found["percent"]))


def judge_thresholds(diff: Diff, thresholds: Iterable[Threshold]) -> Judged:
    """Compares every kernel of both sides, or their totals, with every threshold."""
    crossings: list[Crossing] = []
    unjudged: list[tuple[Threshold, KernelDiff]] = []
    for threshold in thresholds:
        if threshold.name == WORSE:
            crossings += [Crossing(threshold, entry) for entry in diff.kernels if entry.got_worse]
            continue
        for entry, (old, new) in _figures(diff, threshold):
            if entry is not None and old is not None and new is None and not threshold.total:
                new = _proved(threshold, entry, old)
            if entry is not None and (old is None or new is None):
                unjudged.append((threshold, entry))
            elif old is not None and new is not None and threshold.met_by(old, new):
                crossings.append(Crossing(threshold, entry, old, new))
    return Judged(tuple(crossings), tuple(unjudged))


def _proved(threshold: Threshold, entry: KernelDiff, old: Figure) -> Figure | None:
    """The lower bound of a figure that is unknown now, if that alone meets the threshold."""
    least = None if entry.new is None else MEASURES[threshold.name].least(entry.new)
    return least if least is not None and threshold.met_by(old, least) else None


def _figures(
    diff: Diff, threshold: Threshold
) -> Iterator[tuple[KernelDiff | None, tuple[Figure | None, Figure | None]]]:
    """The figures to judge: of each kernel of both sides; or their total, and the kernels that it could not include."""
    if threshold.total:
        total = diff.total(threshold.name)
        if None not in total:
            yield None, total
    for entry in diff.counted:
        if not threshold.total or None in entry.figures[threshold.name]:
            yield entry, entry.figures[threshold.name]
