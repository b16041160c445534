"""One input under several releases and architectures: a table of kernels by release, with the changes in each
release.

    k.cu under 12.4, 12.9, 13.5  ->  Matrix(columns=(Column("12.4", report), …), rows=(Row(kernel, (Kernel, Kernel,
                                     Kernel)), …))

Columns of one architecture are adjacent, and each is compared with the previous available one. A release that is
unavailable or does not compile the input is a column with its problems; the others are not affected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.report.counterparts import kernels_once
from ptxaudit.report.measures import MEASURES, Figure, combined
from ptxaudit.report.model import Kernel, Problem, Report, plain
from ptxaudit.review.diff.reports import Diff, diff_reports
from ptxaudit.review.diff.sides import Audited, Side, audit_sides, nowhere
from ptxaudit.review.diff.tracks import tracks

SCHEMA = "ptxaudit/matrix/1"
SHOWN = ("wavefronts", "excess", "ways", "registers", "spills", "instructions")  # in a table


class Column(Record):
    """One release and architecture. label: "12.4", "13.5, ptxas 12.9"; report: None if there is none; problems: why,
    or what else could not be checked."""

    label: str
    arch: str | None
    report: Report | None
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.label, self.arch)))


class Row(Record):
    """A kernel and launch under the columns of one architecture, None in a column that does not have it. columns:
    their positions."""

    columns: tuple[int, ...]
    kernels: tuple[Kernel | None, ...]

    @property
    def kernel(self) -> Kernel:
        """The kernel in the last column that has it."""
        return next(kernel for kernel in reversed(self.kernels) if kernel is not None)

    def figure(self, name: str, at: int) -> Figure | None:
        """A figure of `measures` in the column at this index of `columns`."""
        kernel = self.kernels[at]
        return None if kernel is None else MEASURES[name].of(kernel)


class Step(Record):
    """A column compared with the one before it, by their positions."""

    old: int
    new: int
    diff: Diff


class Matrix(Record, dict=True):
    """The results for one input. problems: those that belong to no column."""

    input: str
    columns: tuple[Column, ...]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def _of_arch(self) -> list[list[int]]:
        return [
            [at for at, _ in group] for _, group in groupby(enumerate(self.columns), key=lambda entry: entry[1].arch)
        ]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(
            Row(tuple(places), tuple(track.kernels))
            for places in self._of_arch
            for track in tracks([self.columns[at].report for at in places])
        )

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        found = []
        for places in self._of_arch:
            had = [(at, report) for at in places if (report := self.columns[at].report) is not None]
            found += [
                Step(old, new, diff_reports(before, after))
                for (old, before), (new, after) in zip(had, had[1:], strict=False)
            ]
        return tuple(found)

    @property
    def got_worse(self) -> bool:
        return any(step.diff.got_worse for step in self.steps)

    def total(self, name: str, column: int) -> Figure | None:
        """A figure of all kernels of a column together; None if it is unknown for one of them. PTX whose machine code
        the column has is left out: it counts the same accesses again.
        """
        report = self.columns[column].report
        found = [MEASURES[name].of(kernel) for kernel in kernels_once(report.kernels if report is not None else ())]
        known = [figure for figure in found if figure is not None]
        return combined(MEASURES[name], known) if known and len(known) == len(found) else None

    @property
    def all_problems(self) -> Iterator[Problem]:
        for column in self.columns:
            yield from column.problems
        yield from self.problems

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "input": self.input,
            "got_worse": self.got_worse,
            "columns": [
                {
                    "release": column.label,
                    "arch": column.arch,
                    "had": column.report is not None,
                    "problems": plain(column.problems),
                    "figures": {name: self.total(name, at) for name in MEASURES},
                }
                for at, column in enumerate(self.columns)
            ],
            "kernels": [_row_dict(row) for row in self.rows],
            "steps": [
                {
                    "old": step.old,
                    "new": step.new,
                    "got_worse": step.diff.got_worse,
                    "counts": {str(verdict): count for verdict, count in step.diff.counts.items()},
                    "totals": {name: list(both) for name, both in step.diff.totals.items()},
                }
                for step in self.steps
            ],
            "problems": plain(self.problems),
        }


def _row_dict(row: Row) -> dict[str, Any]:
    kernel = row.kernel
    return {
        "name": kernel.name,
        "demangled": kernel.demangled,
        "isa": kernel.isa,
        "arch": kernel.arch,
        "launch": plain(kernel.launch),
        "columns": [
            {
                "column": column,
                "name": one and one.name,
                "figures": None if one is None else {name: row.figure(name, at) for name in MEASURES},
                "status": None if one is None else one.totals.status,
            }
            for at, (column, one) in enumerate(zip(row.columns, row.kernels, strict=True))
        ],
    }


def matrix(input: str, variants: Sequence[tuple[str, str | None, Side]], progress: Callable[[str], None]) -> Matrix:
    """Audits an input under each variant: (label, architecture, side), with variants of one architecture adjacent."""
    audited = audit_sides([side for _, _, side in variants], progress, code=False)
    columns = tuple(column_of(label, arch, one) for (label, arch, _), one in zip(variants, audited, strict=True))
    return Matrix(input, columns, tuple(nowhere(one for one in audited if not isinstance(one, InputError))))


def column_of(label: str, arch: str | None, audited: Audited | InputError) -> Column:
    """The column of one release; without a report if that has problems and no kernels."""
    if isinstance(audited, InputError):
        return Column(label, arch, None, (Problem.of(audited),))
    had = bool(audited.report.kernels) or not audited.report.problems
    return Column(label, arch, audited.report if had else None, audited.report.problems)
