"""Which parts of a report are shown, and how wide, as requested on the command line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptxaudit.base.records import Record
from ptxaudit.ui.render.rows import NO_MARKS, Marks

if TYPE_CHECKING:
    from ptxaudit.review.findings import Finding


class View(Record):
    """The view of a report.

    width: in columns, None for unlimited.
    full: every site, however many.
    top: the maximum number of rows and loops, the costliest first; None: as many as fit a screen, if not all are shown.
    marks: the rules with findings, by site.
    rules: their names and counts in words; first_rule: one of them.
    """

    width: int | None = None
    full: bool = True
    top: int | None = None
    marks: Marks = NO_MARKS
    rules: str = ""
    first_rule: str = ""


EVERYTHING = View()


def marked(findings: tuple[Finding, ...]) -> tuple[Marks, str, str]:
    """(marks, rules, first_rule) of a view, from the findings that are not unknown."""
    from ptxaudit.review.rules import RULES

    marks: dict[int, dict[str, None]] = {}
    for finding in findings:
        for site in (finding.site,) if finding.site is not None else finding.sites:
            marks.setdefault(id(site), {})[finding.rule] = None
    count = Counter(finding.rule for finding in findings)
    found = [f"{rule} {RULES[rule].name}" + (f" ×{n}" if n > 1 else "") for rule, n in sorted(count.items())]
    return {site: tuple(rules) for site, rules in marks.items()}, ", ".join(found), min(count, default="")
