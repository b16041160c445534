"""Writes JSON Lines: a line a file, which is a report of its own, as soon as the file is done.

    {"schema": "ptxaudit/report/1", …, "inputs": [{"path": "a.ptx", …}], "kernels": […], "problems": […]}
    {"schema": "ptxaudit/report/1", …, "inputs": [{"path": "b.ptx", …}], …}

What is of no file (a launch of a kernel that is not there) is a last line, without inputs. An audit that was
interrupted has left whole lines; what was found before is in the cache for the next one.
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
    """A line a file of a report, and one of what is of none."""
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
    """Of a file, or of an image in it."""
    return problem.file == path or (problem.file or "").rpartition("#")[0] == path


def _line(report: Report) -> str:
    return json.dumps(report.to_dict(), ensure_ascii=False) + "\n"
