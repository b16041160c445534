"""Writes a diff as GitHub workflow commands: annotations on the lines of a pull request that got worse.

    ::warning file=k.cu,line=14,title=ptxaudit%3A costs more than before::ld.shared.f32: wavefronts 32 → 1,024 …

GitHub shows ten of each level per step: the worst come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.report.model import Problem
from ptxaudit.review.diff.reports import Diff
from ptxaudit.review.diff.thresholds import Crossing
from ptxaudit.ui.render.change_results import ChangeResult, change_results
from ptxaudit.ui.render.github import COMMAND, command, problem_command


def diff_github(diff: Diff, crossings: Sequence[Crossing], problems: Sequence[Problem], root: str | None) -> str:
    """One line per problem and result."""
    lines = [problem_command(problem, root) for problem in problems]
    lines += [_result(result) for result in change_results(diff, crossings, root)]
    return "".join(f"{line}\n" for line in lines)


def _result(result: ChangeResult) -> str:
    what, _, message = result.message.partition(": ")
    kernel = f" [{result.kernel.demangled}]" if result.kernel is not None else ""
    return command(
        COMMAND[result.level], message + kernel, file=result.file or None, line=result.line, title=f"ptxaudit: {what}"
    )
