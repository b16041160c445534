"""Writes findings as compiler diagnostics, one per line, which editors and build logs turn into links.

    src/k.cu:14:5: warning: ld.shared.f32: 992 excess wavefronts … [PA001]

https://gcc.gnu.org/onlinedocs/gcc/Diagnostic-Message-Formatting-Options.html
"""

from __future__ import annotations

from ptxaudit.base.printable import one_line
from ptxaudit.report.model import Problem
from ptxaudit.report.paths import below
from ptxaudit.ui.render.checked import Checked, Result


def gcc(checked: Checked) -> str:
    """One line per problem and per finding that is not allowed."""
    lines = [_problem(problem, checked.root) for problem in checked.report.problems]
    lines += [_result(result) for result in checked.open_results]
    return "".join(f"{one_line(line)}\n" for line in lines)


def _result(result: Result) -> str:
    kernel = f" in {result.finding.kernel.demangled}" if result.finding.kernel else ""
    message = f"{result.message}{kernel} [{result.rule.id}]"
    return _line(result.file, result.place.line, result.place.column, result.level, message)


def _problem(problem: Problem, root: str | None) -> str:
    file = below(problem.file, root) if problem.file else "ptxaudit"
    message = problem.what + (f"; {problem.hint}" if problem.hint else "")
    return _line(file, problem.line, problem.column, "error", message)


def _line(file: str, line: int | None, column: int | None, level: str, message: str) -> str:
    """An unknown line or column is written as 1, because problem matchers require both."""
    return f"{file}:{line or 1}:{column or 1}: {level}: {' '.join(message.split())}"
