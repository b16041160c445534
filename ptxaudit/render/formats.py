"""The formats of a report by their names: each a function from a `Checked` to text."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from ptxaudit.render.checked import Checked


def written(name: str, checked: Checked) -> str:
    """The report in the format of that name."""
    if name == "json":
        return checked.report.to_json()
    if name == "text":
        from ptxaudit.render.text import report_text

        return report_text(checked.report)
    writer: Callable[[Checked], str] = getattr(importlib.import_module(f"ptxaudit.render.{name}"), name)
    return writer(checked)
