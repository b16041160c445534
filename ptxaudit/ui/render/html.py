"""Writes one HTML page that needs nothing else: findings, then every kernel's table with its source lines."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxaudit.base import resources
from ptxaudit.review.rules import RULES
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import COLUMNS, NUMERIC, closing_lines, kernel_rows, total_row
from ptxaudit.ui.render.rule import rule_text
from ptxaudit.ui.render.text import header_lines

if TYPE_CHECKING:
    from jinja2 import Template


def html(checked: Checked) -> str:
    """The whole page."""
    kernels = [
        (header_lines(kernel), kernel_rows(kernel), total_row(kernel))
        for kernel in checked.report.kernels
        if kernel.sites
    ]
    return _template().render(
        checked=checked,
        columns=COLUMNS,
        numeric=NUMERIC,
        kernels=kernels,
        closing=closing_lines(checked.report),
        problems=[problem_text(problem) for problem in checked.report.problems],
        rules={
            rule.id: rule_text(rule)
            for rule in RULES.values()
            if any(result.rule is rule for result in checked.results)
        },
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(resources.data("ui/render/report.html.jinja").read_text(encoding="utf-8"))
