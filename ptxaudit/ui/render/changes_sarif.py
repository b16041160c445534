"""Writes a diff as SARIF 2.1.0, for GitHub and other code scanning: a result per place that got worse.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ptxaudit.base.version import __version__
from ptxaudit.report.model import Problem
from ptxaudit.review.diff.reports import Diff
from ptxaudit.review.diff.thresholds import Crossing
from ptxaudit.ui.render.change_results import RULES, ChangeResult, change_results
from ptxaudit.ui.render.sarif import BASE, MOST_RESULTS, SCHEMA, notification, physical

FINGERPRINT = "ptxauditChange/v1"
_STATE = {"diff-worse": "updated", "diff-new": "new", "diff-open": "updated", "diff-limit": "new"}


def diff_sarif(diff: Diff, crossings: Sequence[Crossing], problems: Sequence[Problem], root: str | None) -> str:
    """The whole log, with one run."""
    results = change_results(diff, crossings, root)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "ptxaudit",
                "version": __version__,
                "rules": [
                    {
                        "id": rule,
                        "shortDescription": {"text": short},
                        "fullDescription": {"text": full},
                        "properties": {"tags": ["performance", "cuda", "shared-memory"]},
                    }
                    for rule, (short, full) in RULES.items()
                ],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {
                "executionSuccessful": not problems,
                "toolExecutionNotifications": [notification(problem, root) for problem in problems],
            }
        ],
        "properties": {"old": diff.sides[0], "new": diff.sides[1], "gotWorse": diff.got_worse},
        "results": [_result(result) for result in results[:MOST_RESULTS]],
    }
    if root is not None:
        run["originalUriBaseIds"] = {BASE: {"uri": f"file://{quote(PurePath(root).as_posix())}/"}}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _result(result: ChangeResult) -> dict[str, Any]:
    location: dict[str, Any] = (
        {"physicalLocation": physical(result.file, result.line, None, result.text)} if result.file else {}
    )
    if result.kernel is not None:
        location["logicalLocations"] = [
            {"fullyQualifiedName": result.kernel.demangled, "decoratedName": result.kernel.name, "kind": "function"}
        ]
    return {
        "ruleId": result.rule,
        "ruleIndex": list(RULES).index(result.rule),
        "level": result.level,
        "message": {"text": result.message + "."},
        "locations": [location] if location else [],
        "partialFingerprints": {FINGERPRINT: result.fingerprint},
        "baselineState": _STATE[result.rule],
    }
