"""Trends over stored reports: the development of each kernel's figures, and which of them crept up.

    registers of gemm: 32, 32, 34, 36, 40   ->  Trend(gemm, registers, (32, 32, 34, 36, 40)), crept: 3 steps up, none
                                                down
    wavefronts of sum: 64, 64, 1,056, 1,056 ->  jumped at the third report

A figure that is unknown in a report is a gap: each known figure is compared with the previous known one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.report.counterparts import each_once
from ptxaudit.report.measures import MEASURES, Figure, combined
from ptxaudit.report.model import Kernel, Report, plain
from ptxaudit.review.diff.tracks import Track, tracks

SCHEMA = "ptxaudit/history/1"
FOLLOWED = (
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
CREEPS = 2  # steps for the worse, at least, and none for the better


class Trend(Record, dict=True):
    """One figure through all reports, of one kernel or of all together (None). figures: None where unknown."""

    kernel: Kernel | None
    name: str
    figures: tuple[Figure | None, ...]

    @cached_property
    def known(self) -> list[tuple[int, Figure]]:
        """(report, figure) of the known ones."""
        return [(at, figure) for at, figure in enumerate(self.figures) if figure is not None]

    @property
    def changed(self) -> bool:
        return len({figure for _, figure in self.known}) > 1

    @cached_property
    def worse(self) -> list[int]:
        """The reports at which it was worse than before."""
        return [at for (_, old), (at, new) in pairwise(self.known) if self._grown(old, new) > 0]

    @cached_property
    def better(self) -> list[int]:
        return [at for (_, old), (at, new) in pairwise(self.known) if self._grown(old, new) < 0]

    @property
    def crept(self) -> bool:
        """It got worse in several steps and never better."""
        return len(self.worse) >= CREEPS and not self.better

    @property
    def growth(self) -> Figure:
        """The last figure minus the first; positive if worse."""
        return self._grown(self.known[0][1], self.known[-1][1]) if self.known else 0

    @property
    def share(self) -> float:
        """The growth relative to the first figure; 1 for any growth from 0."""
        first = self.known[0][1] if self.known else 0
        return self.growth / first if first else float(self.growth > 0)

    def _grown(self, old: Figure, new: Figure) -> Figure:
        return old - new if MEASURES[self.name].less_is_worse else new - old


class History(Record, dict=True):
    """labels: the name of each report; toolchains: what compiled its inputs."""

    labels: tuple[str, ...]
    toolchains: tuple[str, ...]
    reports: tuple[Report, ...]

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        return tuple(tracks(self.reports))

    @cached_property
    def trends(self) -> tuple[Trend, ...]:
        """The figures that changed, in total and for each kernel: first those that crept, then by growth."""
        found = [
            *self.totals,
            *(
                Trend(
                    track.last,
                    name,
                    tuple(None if kernel is None else MEASURES[name].of(kernel) for kernel in track.kernels),
                )
                for track in self.tracks
                for name in FOLLOWED
            ),
        ]
        changed = [trend for trend in found if trend.changed]
        return tuple(
            sorted(
                changed,
                key=lambda trend: (
                    trend.growth <= 0,
                    not trend.crept,
                    trend.kernel is not None,
                    -abs(trend.share),
                    FOLLOWED.index(trend.name),
                ),
            )
        )

    @cached_property
    def totals(self) -> tuple[Trend, ...]:
        """Each figure combined over the kernels for which every report knows it, without PTX whose machine code is in
        every report: it counts the same accesses again."""
        always = [track for track in self.tracks if None not in track.kernels]
        counted = each_once(always, lambda track: track.last)
        out = []
        for name in FOLLOWED:
            rows = [[MEASURES[name].of(kernel) for kernel in track.kernels if kernel is not None] for track in counted]
            whole = [row for row in rows if None not in row]
            if len(whole) > 1:
                out.append(
                    Trend(None, name, tuple(combined(MEASURES[name], column) for column in zip(*whole, strict=True)))
                )
        return tuple(out)

    @property
    def crept(self) -> list[Trend]:
        return [trend for trend in self.trends if trend.crept]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "reports": [
                {"label": label, "toolchain": toolchain}
                for label, toolchain in zip(self.labels, self.toolchains, strict=True)
            ],
            "trends": [
                {
                    "kernel": trend.kernel and trend.kernel.name,
                    "demangled": trend.kernel and trend.kernel.demangled,
                    "isa": trend.kernel and trend.kernel.isa,
                    "launch": plain(trend.kernel.launch) if trend.kernel else None,
                    "figure": trend.name,
                    "figures": list(trend.figures),
                    "crept": trend.crept,
                    "worse": trend.worse,
                    "better": trend.better,
                }
                for trend in self.trends
            ],
        }


def read_history(paths: Sequence[str]) -> History:
    """The reports in these files, in order. Raises InputError for a file that is not a report, and for fewer than
    two."""
    from ptxaudit.report.reader import read_report

    if len(paths) < 2:
        raise InputError(
            "a history needs at least two reports",
            "name them from the oldest to the newest: ptxaudit history 2024-*.json",
        )
    reports = tuple(read_report(path) for path in paths)
    toolchains = tuple(
        ", ".join(dict.fromkeys(entry.toolchain for entry in report.inputs if entry.toolchain)) for report in reports
    )
    return History(labels(paths), toolchains, reports)


def labels(paths: Sequence[str]) -> tuple[str, ...]:
    """Distinguishing names of the files: their paths without the parts that all have in common at either end."""
    split = [[*path.split("/")[:-1], path.split("/")[-1].removesuffix(".json")] for path in paths]
    while all(len(parts) > 1 for parts in split) and len({parts[0] for parts in split}) == 1:
        split = [parts[1:] for parts in split]
    while all(len(parts) > 1 for parts in split) and len({parts[-1] for parts in split}) == 1:
        split = [parts[:-1] for parts in split]
    return tuple("/".join(parts) for parts in split)
