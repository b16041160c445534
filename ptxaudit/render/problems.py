"""Writes a problem for stderr: what, where, the compiler's own lines, what to do.

    error: NVRTC cannot compile this: identifier "b" is undefined
      --> k.cu:3:6
       | k.cu(3): error: identifier "b" is undefined
       = help: …
"""

from __future__ import annotations

from ptxaudit.errors import InputError
from ptxaudit.gate import Denial, Verdict
from ptxaudit.render.rows import place
from ptxaudit.render.words import plural
from ptxaudit.report import Problem


def problem_text(problem: Problem) -> str:
    """A problem as lines."""
    lines = [f"error: {problem.what}"]
    where = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
    if where:
        lines.append(f"  --> {where}")
    if problem.kernel:
        lines.append(f"   in kernel {problem.kernel}")
    lines += [f"   | {line}".rstrip() for line in problem.detail.rstrip().splitlines()]
    if problem.hint:
        lines.append(f"   = help: {problem.hint}")
    return "\n".join(lines)


def error_text(error: InputError) -> str:
    """An error as lines."""
    return problem_text(Problem.of(error))


def denial_text(denial: Denial) -> str:
    """One line for what the gate denies: where, and which limit."""
    where = place(denial.site, denial.kernel) if denial.site else denial.kernel.input
    what = f"{denial.site.opcode}: {denial.what}" if denial.site else denial.what
    return f"denied by {denial.limit}: {where}: {what}  ({denial.kernel.demangled})"


def gate_text(verdict: Verdict, strict: bool) -> str:
    """The gate's closing line: what it denied, and how many sites it could not judge."""
    outcome = f"{plural(len(verdict.denials), 'denial')}" if verdict.denials else "nothing denied"
    if not verdict.unjudged:
        return f"gate: {outcome}; all of {plural(verdict.sites, 'site')} could be judged"
    denied = " and were denied (--strict)" if strict else "; --strict denies them"
    return f"gate: {outcome}; {verdict.unjudged:,} of {plural(verdict.sites, 'site')} could not be judged{denied}"
