"""The formats of a report by their names: each a function from a `Checked` to text."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from ptxaudit.ui.render.checked import Checked


def written(name: str, checked: Checked) -> str | Iterator[str]:
    """The report in the format of that name, or pieces of it."""
    if name == "json":
        return checked.report.json_pieces()
    if name == "text":
        from ptxaudit.ui.render.text import report_text

        return report_text(checked.report)
    writer: Callable[[Checked], str] = getattr(importlib.import_module(f"ptxaudit.ui.render.{name}"), name)
    return writer(checked)
