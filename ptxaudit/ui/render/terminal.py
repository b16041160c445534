"""Writes a report to a terminal: the lines of `text` in colour; rich omits the colours if NO_COLOR is set."""

from __future__ import annotations

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from ptxaudit.report.model import Report
from ptxaudit.ui.render.layout import Style
from ptxaudit.ui.render.text import report_lines
from ptxaudit.ui.render.view import EVERYTHING, View

STYLES: dict[Style, str] = {
    "": "",
    "title": "bold cyan",
    "dim": "dim",
    "strong": "bold",
    "number": "blue",
    "bad": "red",
    "open": "yellow",
    "good": "green",
    "quiet": "dim",
}


def print_report(report: Report, console: Console, view: View = EVERYTHING) -> None:
    """Prints the report as wide as the console, unless the view sets a width."""
    for pieces in report_lines(report, replace(view, width=view.width or console.width)):
        text = Text.assemble(*((piece.text, STYLES[piece.style]) for piece in pieces))
        text.rstrip()
        console.print(text, soft_wrap=True)
