"""Writes a problem for stderr: what, where, the compiler's own lines, and what to do.

error: NVRTC cannot compile this: identifier "b" is undefined
  --> k.cu:3:6
   | k.cu(3): error: identifier "b" is undefined
   = help: …
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from ptxaudit.base import printable
from ptxaudit.base.errors import InputError
from ptxaudit.base.words import plural
from ptxaudit.report.model import Input, Problem, Suppression
from ptxaudit.report.paths import below
from ptxaudit.report.paths import place as place_of
from ptxaudit.review.findings import fold
from ptxaudit.review.gate import Standing

if TYPE_CHECKING:
    from ptxaudit.review.baseline import Stale
    from ptxaudit.review.gate import Denial, Verdict
    from ptxaudit.ui.render.checked import Checked


MOST_DETAIL, SHOWN_DETAIL = 24, 20  # lines of a compiler's log shown in full; lines shown of a longer one
_ERROR = re.compile(r"\berror\b.*:|: error")


def problem_text(problem: Problem) -> str:
    """A problem as lines."""
    problem = printable.record(problem)
    lines = [f"error: {problem.what}"]
    where = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
    if where:
        lines.append(f"  --> {where}")
    if problem.kernel:
        lines.append(f"   in kernel {problem.kernel}")
    lines += [f"   | {line}".rstrip() for line in _shortened(problem.detail.rstrip().splitlines())]
    if problem.hint:
        lines.append(f"   = help: {problem.hint}")
    return "\n".join(lines)


def _shortened(lines: list[str]) -> list[str]:
    """The beginning of a log: a compiler may print a hundred errors, most of them consequences of the first."""
    if len(lines) <= MOST_DETAIL:
        return lines
    errors = sum(bool(_ERROR.search(line)) for line in lines)
    total = f", {plural(errors, 'error')} in all" if errors else ""
    return [
        *lines[:SHOWN_DETAIL],
        f"… {len(lines) - SHOWN_DETAIL:,} more lines{total}; see a JSON report for the whole log",
    ]


def log_text(entry: Input) -> str:
    """The compiler's output for a source that it accepted, unchanged."""
    return "\n".join(
        [
            f"warning: from {entry.toolchain}: {entry.path}",
            *(f"   | {line}".rstrip() for line in entry.log.splitlines()),
        ]
    )


def error_text(error: InputError) -> str:
    """An error as lines."""
    return problem_text(Problem.of(error))


def denial_lines(denials: Sequence[Denial], checked: Checked, word: str = "denied") -> list[str]:
    """A line for each place that the gate denies, with the limit; copies of one line share a line."""
    ruled = {id(denial.finding): denial for denial in denials if denial.finding is not None}
    lines = []
    for one in fold(denial.finding for denial in ruled.values() if denial.finding is not None):
        denial = ruled[id(one.finding)]
        lines.append(_denial_line(word, denial, _where(denial, checked), one.what))
    copies: dict[str, list[Denial]] = {}
    for denial in denials:
        if denial.finding is None:
            copies.setdefault(_denial_line("", denial, _where(denial, checked), _figure(denial)), []).append(denial)
    for same in copies.values():
        what = _figure(same[0]) + (f", in each of {len(same)} copies" if len(same) > 1 else "")
        lines.append(_denial_line(word, same[0], _where(same[0], checked), what))
    return lines


def _figure(denial: Denial) -> str:
    return (f"{denial.site.opcode}: " if denial.site is not None else "") + denial.what


def _denial_line(word: str, denial: Denial, where: str, what: str) -> str:
    """The limit, the place and the reason."""
    kernel = f"  ({denial.kernel.demangled})" if denial.kernel else ""
    return f"{word} by {denial.limit}: {where}: {what}{kernel}"


def _where(denial: Denial, checked: Checked) -> str:
    """The line, relative to the current directory; for code in a foreign header, the header's line as well."""
    finding, site = denial.finding, denial.site
    source = (
        finding.source or (finding.site.source if finding.site else None) if finding else site.source if site else None
    )
    if source is not None and (finding is None or finding.place is None):
        shown = checked.place_of(source)
        inside = "" if shown is source else f" (in {PurePath(source.file).name}:{source.line})"
        return f"{below(shown.file, checked.root)}:{shown.line}{inside}"
    if finding is not None:
        return below(finding.where.file, checked.root) + (
            f":{finding.where.line}" if finding.where.line is not None else ""
        )
    if site is not None and denial.kernel is not None:
        line = f":{site.ptx_line}" if denial.kernel.is_ptx_file else f" {place_of(site, denial.kernel)}"
        return below(denial.kernel.input, checked.root) + line
    return below(denial.kernel.input, checked.root) if denial.kernel else ""


def suppression_text(suppression: Suppression, checked: Checked) -> str:
    """A suppression that no finding matches; one in a header may still serve another source."""
    where = f"{below(suppression.file, checked.root)}:{suppression.line}"
    own = any(os.path.realpath(entry.path) == os.path.realpath(suppression.file) for entry in checked.report.inputs)
    rest = ": delete it" if own else " in these inputs: delete it unless other inputs need it"
    return f"warning: {where}: the suppression of {suppression.rule} no longer matches anything{rest}"


def stale_text(stale: Iterable[Stale], file: str) -> list[str]:
    """The entries of a baseline that are higher than the current figures."""
    entries = [
        f"stale: {place_of(one.site, one.kernel)}: {one.site.opcode}: {one.what}  ({one.kernel.demangled})"
        for one in stale
    ]
    if not entries:
        return []
    return [
        *(text + (f"  ×{count}" if count > 1 else "") for text, count in Counter(entries).items()),
        (
            f"baseline: {plural(len(entries), 'stale entry', 'stale entries')}: lower it with `ptxaudit baseline update"
            f" {file} INPUT...`"
        ),
    ]


def gate_text(verdict: Verdict, strict: bool, problems: int = 0) -> str:
    """The gate's last line: what it denied, and how many sites it could judge.

    problems: the number of inputs that could not be checked at all.
    """
    outcome = f"{plural(len(verdict.denials), 'denial')}" if verdict.denials else "nothing denied"
    if verdict.allowed:
        outcome += f", {verdict.allowed:,} allowed by comments"
    if problems:
        outcome += f", but {plural(problems, 'problem')} above: not everything was checked"
    rest = plural(verdict.unaudited, "kernel or file", "kernels or files")
    rest = f"; and none of {rest} that could not be audited" if verdict.unaudited else ""
    if not verdict.concerned:
        return f"gate: {outcome}; no site to judge{rest}"
    others = f" concerned, of {verdict.sites:,}," if verdict.concerned < verdict.sites else ""
    sites = plural(verdict.concerned, "site") + others
    if not verdict.unjudged:
        return f"gate: {outcome}; all of {sites} could be judged{_counts(verdict, Standing.PASSED)}{rest}"
    return (
        f"gate: {outcome}; {verdict.unjudged:,} of {sites} could not be"
        f" judged{_counts(verdict)}{_of_strict(verdict, strict)}{rest}"
    )


def _of_strict(verdict: Verdict, strict: bool) -> str:
    """What --strict does with the unjudged sites: those that the baseline could not judge either are exempt."""
    new = verdict.unjudged - verdict.as_before
    if not verdict.as_before:
        return " and were denied (--strict)" if strict else "; --strict denies them"
    if not new:
        return ", as in the baseline"
    denied = "the others were denied (--strict)" if strict else "--strict denies the others"
    return f", {verdict.as_before:,} of them as in the baseline; {denied}"


def _counts(verdict: Verdict, alone: Standing | None = None) -> str:
    """The number of sites by standing; "" if all have the standing `alone`."""
    counts = [
        f"{verdict.standing[standing]:,} {standing}"
        for standing in reversed(Standing)
        if standing is not Standing.OPEN and verdict.standing.get(standing)
    ]
    return (
        f" ({', '.join(counts)})"
        if counts and (alone is None or verdict.standing.get(alone) != verdict.concerned)
        else ""
    )
