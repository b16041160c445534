"""Audits the sides of a comparison: two inputs, or one under several releases and architectures.

    Side(("k.cu",), Options(toolchain="12.4")), Side(("k.cu",), Options(toolchain="13.5"))  ->  Audited, Audited

What a launch file or a filter names needs to be there on one of the sides that it is told for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ptxaudit.code_lines import CodeBook
from ptxaudit.collect import Part, Progress, silent, unmatched
from ptxaudit.options import Options
from ptxaudit.report import Problem, Report


@dataclass(frozen=True)
class Side:
    """What is audited, and how. A path that ends in .json is a report."""

    path: str
    options: Options

    @property
    def is_report(self) -> bool:
        return Path(self.path).suffix == ".json" and not Path(self.path).is_dir()


@dataclass(frozen=True)
class Audited:
    """A side with its report. parts: of what it was made, with the names of all its kernels."""

    side: Side
    report: Report
    parts: tuple[Part, ...]
    code: CodeBook


def audit_side(side: Side, progress: Progress = silent) -> Audited:
    """The report of a side. Raises InputError for a report that cannot be read, and for a release that cannot be had."""
    if side.is_report:
        from ptxaudit.report_reader import read_report

        report = read_report(side.path)
        names = {entry.path: [kernel.name for kernel in report.kernels if kernel.input == entry.path] for entry in report.inputs}
        return Audited(side, report, (Part(names_of=names),), CodeBook([], side.options))
    from ptxaudit.pipeline import audit_parts, report_of

    code = CodeBook([side.path], side.options)
    parts = tuple(audit_parts([side.path], side.options, progress, code.keep))
    return Audited(side, report_of(parts), parts, code)


def nowhere(audited: Iterable[Audited]) -> list[Problem]:
    """A problem for each launch, --kernel and --assume that is of no side that it is told for; of none where one could not be read."""
    audited = list(audited)
    if any(part.failed for one in audited for part in one.parts):
        return []
    return [Problem.of(error) for error in unmatched([(one.side.options, one.parts) for one in audited])]
