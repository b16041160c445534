"""Writes one self-contained HTML page: see `page`."""

from __future__ import annotations

from heapq import nsmallest
from typing import Any

from ptxaudit.base.words import plural
from ptxaudit.review.rules import RULES
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.memory import COLUMNS as MEMORY_COLUMNS
from ptxaudit.ui.render.memory import SPACES, memory_lines, memory_rows
from ptxaudit.ui.render.page.data import Page
from ptxaudit.ui.render.page.material import Material
from ptxaudit.ui.render.page.write import written
from ptxaudit.ui.render.rows import COLUMNS, NUMERIC, Row, kernel_rows
from ptxaudit.ui.render.rule import rule_text

MOST_ROWS = 40  # shown without a script
MOST_FINDINGS = 200


def html(checked: Checked, material: Material | None = None) -> str:
    """The whole page. material: sources and code to show; without it, those in the report."""
    page = Page(checked, material or Material())
    data = page.data()
    results = checked.results
    return written(
        "report.html.jinja",
        "app.js",
        data,
        title=data["title"],
        verdict=data["verdict"],
        closing=[*data["closing"], *memory_lines(checked.report)],
        memory=_tables(checked),
        memory_columns=MEMORY_COLUMNS,
        problems=data["problems"],
        recorded=data["recorded"],
        version=data["version"],
        columns=COLUMNS,
        numeric=NUMERIC,
        rows=_costliest(checked),
        total=plural(len(data["sites"]), "site"),
        findings=results[:MOST_FINDINGS],
        rules={rule.id: rule_text(rule) for rule in RULES.values() if any(result.rule is rule for result in results)},
    )


def _tables(checked: Checked) -> list[dict[str, Any]]:
    """The first rows of global and of local memory, from the kernels whose accesses have the most excess."""
    tables = []
    for space in SPACES:
        sites = {
            id(kernel): [site for site in kernel.memory if site.space == space] for kernel in checked.report.kernels
        }
        kernels = [kernel for kernel in checked.report.kernels if sites[id(kernel)]]
        kernels.sort(key=lambda kernel: -sum(site.sectors_excess or 0 for site in sites[id(kernel)]))
        rows: list[Row] = []
        for kernel in kernels[:MOST_ROWS]:
            rows += memory_rows(kernel, space)[: MOST_ROWS - len(rows)]
        if rows:
            total = plural(sum(map(len, sites.values())), "site")
            tables.append({"caption": f"The costliest of {total} of {space} memory", "rows": rows})
    return tables


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
