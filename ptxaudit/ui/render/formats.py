"""The formats of a report by name: each is a function from a `Checked` to text, imported when used."""

from __future__ import annotations

from collections.abc import Iterator

from ptxaudit.ui.render.checked import Checked


def written(name: str, checked: Checked) -> str | Iterator[str]:
    """The report in the named format, or pieces of it."""
    match name:
        case "text":
            from ptxaudit.ui.render.text import report_text

            return report_text(checked.report, checked.view())
        case "json":
            return checked.report.json_pieces()
        case "jsonl":
            from ptxaudit.ui.render.jsonl import jsonl

            return jsonl(checked)
        case "sarif":
            from ptxaudit.ui.render.sarif import sarif

            return sarif(checked)
        case "html":
            from ptxaudit.ui.render.html import html

            return html(checked)
        case "gcc":
            from ptxaudit.ui.render.gcc import gcc

            return gcc(checked)
        case "github":
            from ptxaudit.ui.render.github import github

            return github(checked)
        case "gitlab":
            from ptxaudit.ui.render.gitlab import gitlab

            return gitlab(checked)
        case "junit":
            from ptxaudit.ui.render.junit import junit

            return junit(checked)
        case "markdown":
            from ptxaudit.ui.render.markdown import markdown

            return markdown(checked)
    raise ValueError(f"there is no format {name!r}")
