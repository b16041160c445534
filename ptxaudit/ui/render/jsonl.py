"""Writes JSON Lines: one line per file, which is a complete report, as soon as the file is done.

    {"schema": "ptxaudit/report/1", …, "inputs": [{"path": "a.ptx", …}], "kernels": […], "problems": […]}
    {"schema": "ptxaudit/report/1", …, "inputs": [{"path": "b.ptx", …}], …}

Entries that belong to no file (a launch of a missing kernel) form a last line, without inputs. An interrupted audit
leaves complete lines, and the cache keeps the results for the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec.structs import replace

from ptxaudit.report.model import Problem, Report
from ptxaudit.ui.render.checked import Checked


def jsonl(checked: Checked) -> Iterator[str]:
    """The lines of a whole report."""
    yield from lines(checked.report)


def lines(report: Report) -> Iterator[str]:
    """One line per file of a report, and one for entries that belong to no file."""
    left, listed = list(report.problems), {entry.path for entry in report.inputs}
    for entry in report.inputs:
        own = [problem for problem in left if _is_of(problem, entry.path)]
        left = [problem for problem in left if problem not in own]
        kernels = tuple(kernel for kernel in report.kernels if kernel.input == entry.path)
        yield _line(replace(report, inputs=(entry,), kernels=kernels, problems=tuple(own)))
    others = tuple(kernel for kernel in report.kernels if kernel.input not in listed)
    if left or others:
        yield _line(replace(report, inputs=(), kernels=others, problems=tuple(left)))


def _is_of(problem: Problem, path: str) -> bool:
    """Whether a problem belongs to a file, or to an image in it."""
    return problem.file == path or (problem.file or "").rpartition("#")[0] == path


def _line(report: Report) -> str:
    return json.dumps(report.to_dict(), ensure_ascii=False) + "\n"
