"""The formats of a diff by name: each is a function from a `Diff` to text."""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.report.model import Problem
from ptxaudit.report.paths import here
from ptxaudit.review.diff.reports import Diff
from ptxaudit.review.diff.thresholds import Crossing
from ptxaudit.ui.render.side_by_side import Codes


def written(
    name: str,
    diff: Diff,
    *,
    everything: bool = False,
    top: int | None = None,
    codes: Codes | None = None,
    crossings: Sequence[Crossing] = (),
    problems: Sequence[Problem] = (),
) -> str:
    """The diff in the named format.

    everything: also lists what did not change; top: the maximum number of rows; codes: the code of changed sites, for
    formats that show it; crossings: limits that are met; problems: inputs that could not be checked.
    """
    if name == "json":
        import json

        return json.dumps(diff.to_dict(), indent=2, ensure_ascii=False) + "\n"
    if name in ("text", "markdown"):
        from ptxaudit.ui.render.changes import diff_markdown, diff_text

        return (diff_text if name == "text" else diff_markdown)(diff, everything, top, codes)
    if name == "html":
        from ptxaudit.ui.render.changes_html import diff_html

        return diff_html(diff, everything, top, codes, crossings, problems)
    if name == "sarif":
        from ptxaudit.ui.render.changes_sarif import diff_sarif

        return diff_sarif(diff, crossings, problems, here())
    from ptxaudit.ui.render.changes_github import diff_github

    return diff_github(diff, crossings, problems, here())
