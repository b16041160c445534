"""The sections of texts about a report: kernel headers, titled tables, sentences, closing lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from ptxaudit.base.words import plural
from ptxaudit.report.model import Kernel, Report
from ptxaudit.ui.render.layout import Line, fact, line, table
from ptxaudit.ui.render.memory import memory_lines, others_line
from ptxaudit.ui.render.rows import (
    MOST_REASONS,
    by_rule,
    closing_lines,
    shared_reasons,
    verdict_line,
)
from ptxaudit.ui.render.short_names import short_name, title_width
from ptxaudit.ui.render.tables import Table
from ptxaudit.ui.render.view import View


def end_lines(report: Report, view: View, reasons: int = MOST_REASONS) -> Iterator[Line]:
    """The verdict, the rules with findings, the number of sites by status, and the reasons."""
    if verdict := verdict_line(report):
        yield from fact(verdict, view.width, "good" if verdict.startswith("no") else "bad")
    if view.rules:
        yield from fact(f"rules: {view.rules} (`ptxaudit rule {view.first_rule}` explains the remedy)", view.width)
    first, *rest = [*closing_lines(report, reasons), *memory_lines(report)] or [""]
    if first:
        yield from fact(first, view.width, "strong")
    for text in rest:
        yield from fact(text, view.width, "open")
    if others := others_line(report):
        yield from fact(others, view.width)


def titled(one: Table, width: int | None) -> Iterator[Line]:
    """A table below its title."""
    if one.title:
        yield line(f"  {one.title}")
    yield from table(one.columns, one.rows, width=width, numeric=one.numeric)


def said(sentences: Iterable[str], width: int | None) -> Iterator[Line]:
    """Sentences below a table."""
    for at, sentence in enumerate(sentences):
        if not at:
            yield line("")
        yield from fact(f"  {sentence}", width, "")


def header_lines(kernel: Kernel, width: int | None = None) -> list[str]:
    """The kernel's name, its input, its launch, and its assumptions and notes."""
    facts = [PurePath(kernel.input).name, f"{kernel.arch} {kernel.isa}"]
    if kernel.machine != kernel.arch:
        facts.append(f"scored as {kernel.machine}")
    facts.append(str(kernel.launch) if kernel.launch else "no launch specified")
    if kernel.shared_static:
        facts.append(f"{plural(kernel.shared_static, 'byte')} of static shared memory")
    if kernel.launch and kernel.launch.dynamic_shared:
        facts.append(f"{plural(kernel.launch.dynamic_shared, 'byte')} of dynamic shared memory")
    lines = [short_name(kernel.demangled, title_width(width)), "  " + " · ".join(facts)]
    lines += [f"  assumed: {sentence}" for sentence in kernel.assumed]
    lines += [f"  note: {sentence}" for sentence in kernel.notes]
    lines += [f"  {plural(count, 'site')}: {reason}" for reason, count in shared_reasons(kernel)]
    if opcodes := by_rule(kernel):
        lines.append(f"  by rule, not measured on this machine: {', '.join(opcodes)}")
    return lines
