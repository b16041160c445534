"""Writes GitLab's code quality report: a JSON list that merge requests show as a widget.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ptxaudit.report.model import Problem
from ptxaudit.report.paths import below
from ptxaudit.ui.render.checked import Checked, Result

SEVERITY = {"error": "critical", "warning": "major", "note": "info"}
PROBLEM = "ptxaudit-problem"


def gitlab(checked: Checked) -> str:
    """The findings that are not allowed; an input that could not be checked is a blocker."""
    entries = [_problem(problem, checked.root) for problem in dict.fromkeys(checked.report.problems)]
    entries += [_entry(result) for result in checked.open_results]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _entry(result: Result) -> dict[str, Any]:
    return {
        "description": f"{result.rule.title}: {result.message}",
        "check_name": result.rule.id,
        "fingerprint": result.fingerprint,
        "severity": SEVERITY[result.level],
        "location": {"path": result.file, "lines": {"begin": result.place.line or 1}},
    }


def _problem(problem: Problem, root: str | None) -> dict[str, Any]:
    path = below(problem.file, root) if problem.file else "-"
    print_of = hashlib.sha256(f"{path}\n{problem.line}\n{problem.kernel}\n{problem.what}".encode()).hexdigest()[:32]
    return {
        "description": problem.what + (f": {problem.hint}" if problem.hint else ""),
        "check_name": PROBLEM,
        "fingerprint": print_of,
        "severity": "blocker",
        "location": {"path": path, "lines": {"begin": problem.line or 1}},
    }
