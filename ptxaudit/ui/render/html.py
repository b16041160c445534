"""Writes one HTML page that needs nothing else: `page` says how it is made."""

from __future__ import annotations

from heapq import nsmallest

from ptxaudit.base.words import plural
from ptxaudit.review.rules import RULES
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.page.data import Page
from ptxaudit.ui.render.page.material import Material
from ptxaudit.ui.render.page.write import written
from ptxaudit.ui.render.rows import COLUMNS, NUMERIC, Row, kernel_rows
from ptxaudit.ui.render.rule import rule_text

MOST_ROWS = 40  # shown where no script runs
MOST_FINDINGS = 200


def html(checked: Checked, material: Material | None = None) -> str:
    """The whole page. material: sources and code to show; without it, what the report has of them."""
    page = Page(checked, material or Material())
    data = page.data()
    results = checked.results
    return written(
        "report.html.jinja",
        "app.js",
        data,
        title=data["title"],
        verdict=data["verdict"],
        closing=[*data["closing"], *_other_memories(checked)],
        problems=data["problems"],
        version=data["version"],
        columns=COLUMNS,
        numeric=NUMERIC,
        rows=_costliest(checked),
        total=plural(len(data["sites"]), "site"),
        findings=results[:MOST_FINDINGS],
        rules={rule.id: rule_text(rule) for rule in RULES.values() if any(result.rule is rule for result in results)},
    )


def _other_memories(checked: Checked) -> list[str]:
    """Of which the page has no rows."""
    count = sum(len(kernel.memory) for kernel in checked.report.kernels)
    if not count:
        return []
    return [f"{plural(count, 'access', 'accesses')} to global and local memory: --format text and json have them"]


def _costliest(checked: Checked) -> list[Row]:
    """The first rows of the costliest kernels."""
    kernels = nsmallest(
        MOST_ROWS,
        (kernel for kernel in checked.report.kernels if kernel.sites),
        key=lambda kernel: -kernel.totals.excess,
    )
    rows: list[Row] = []
    for kernel in kernels:
        if len(rows) < MOST_ROWS:
            rows += kernel_rows(kernel)[: MOST_ROWS - len(rows)]
    return rows
