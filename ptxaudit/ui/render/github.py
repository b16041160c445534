"""Writes GitHub workflow commands: annotations on the lines of a pull request.

    ::warning file=k.cu,line=14,title=PA001 load-conflict::ld.shared.f32: 992 excess wavefronts …

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands GitHub shows ten of each level
per step: the worst come first.
"""

from __future__ import annotations

from ptxaudit.report.model import Problem
from ptxaudit.report.paths import below
from ptxaudit.ui.render.checked import Checked, Result

COMMAND = {"error": "error", "warning": "warning", "note": "notice"}


def github(checked: Checked) -> str:
    """One line per problem and per finding that is not allowed."""
    lines = [problem_command(problem, checked.root) for problem in checked.report.problems]
    lines += [_result(result) for result in checked.open_results]
    return "".join(f"{line}\n" for line in lines)


def _result(result: Result) -> str:
    place = {"file": result.file, "line": result.place.line, "col": result.place.column}
    kernel = f" [{result.finding.kernel.demangled}]" if result.finding.kernel else ""
    return command(
        COMMAND[result.level], result.message + kernel, **place, title=f"{result.rule.id} {result.rule.name}"
    )


def problem_command(problem: Problem, root: str | None) -> str:
    """The annotation for a problem, at its place."""
    text = problem.what + (f"\n{problem.hint}" if problem.hint else "")
    return command(
        "error",
        text,
        file=problem.file and below(problem.file, root),
        line=problem.line,
        col=problem.column,
        title="ptxaudit could not check this",
    )


def command(name: str, message: str, **properties: str | int | None) -> str:
    """One workflow command; properties that are None are left out."""
    stated = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    return f"::{name} {stated}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
