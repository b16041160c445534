"""Audits the sides of a comparison: two inputs, or one under several releases and architectures.

    Side(("k.cu",), Options(toolchain="12.4")), Side(("k.cu",), Options(toolchain="13.5"))  ->  Audited, Audited

A kernel that a launch file or a filter names must exist on one of the sides that it is specified for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.inputs import Content, read
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.answers import sharing
from ptxaudit.pipeline.code_lines import CodeBook
from ptxaudit.pipeline.collect import Part, Progress, silent, unmatched
from ptxaudit.report.model import Problem, Report

Result = TypeVar("Result")


class Side(Record):
    """An input and the options to audit it with. A path that ends in .json is a report."""

    path: str
    options: Options

    @property
    def is_report(self) -> bool:
        return Path(self.path).suffix == ".json" and not Path(self.path).is_dir()


class Audited(Record):
    """A side with its report. parts: what the report was made of, with the names of all kernels."""

    side: Side
    report: Report
    parts: tuple[Part, ...]
    code: CodeBook


def audit_side(side: Side, progress: Progress = silent, code: bool = True) -> Audited:
    """Audits a side, or reads its report. code: keep the code for display. Raises InputError for a report that cannot
    be read, and for a release that is unavailable."""
    if side.is_report:
        from ptxaudit.report.reader import read_report

        report = read_report(side.path)
        names = {
            entry.path: [kernel.name for kernel in report.kernels if kernel.input == entry.path]
            for entry in report.inputs
        }
        return Audited(side, report, (Part(names_of=names),), CodeBook([], side.options))
    from ptxaudit.review.audit import audit_parts, report_of

    book = CodeBook([side.path], side.options)
    parts = tuple(audit_parts([side.path], side.options, progress, book.keep if code else None))
    return Audited(side, report_of(parts, Roots.of([side.path], side.options.source_root)), parts, book)


def audit_sides(sides: Sequence[Side], progress: Progress = silent, code: bool = True) -> list[Audited | InputError]:
    """The reports of several sides; an error for each that is unavailable. One source under several compilers is
    first compiled by all of them, so that their machine code is disassembled together."""
    paths = {side.path for side in sides}
    if len(paths) == 1 and len(sides) > 1 and all(side.options.jobs == 1 and not side.is_report for side in sides):
        with suppress(InputError):
            content = read(sides[0].path)
            if content.kind == "cuda":
                return _compiled_together(content, sides, progress, code)
    with sharing():
        return [_or_error(audit_side, side, progress, code) for side in sides]


def _or_error(function: Callable[..., Result], *arguments: Any) -> Result | InputError:
    try:
        return function(*arguments)
    except InputError as error:
        return error


def _compiled_together(
    content: Content, sides: Sequence[Side], progress: Progress, shown: bool
) -> list[Audited | InputError]:
    from ptxaudit.review.audit import report_of
    from ptxaudit.review.sources import audited, compiled_source

    compiled = [_or_error(compiled_source, content, side.options, progress) for side in sides]
    books = [CodeBook([side.path], side.options) for side in sides]
    had = {at: one for at, one in enumerate(compiled) if not isinstance(one, InputError)}
    parts = dict(
        zip(
            had,
            audited(list(had.values()), progress, [books[at].keep if shown else None for at in had]),
            strict=True,
        )
    )
    return [
        one
        if isinstance(one, InputError)
        else Audited(
            side, report_of([parts[at]], Roots.of([side.path], side.options.source_root)), (parts[at],), books[at]
        )
        for at, (one, side) in enumerate(zip(compiled, sides, strict=True))
    ]


def nowhere(audited: Iterable[Audited]) -> list[Problem]:
    """A problem for each launch, --kernel and --assume that matches no side it is specified for; none if a side could
    not be read."""
    audited = list(audited)
    if any(part.failed for one in audited for part in one.parts):
        return []
    return [Problem.of(error) for error in unmatched([(one.side.options, one.parts) for one in audited])]
