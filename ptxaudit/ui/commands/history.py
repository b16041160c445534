"""`ptxaudit history`: how the figures of kernels changed over stored reports."""

from __future__ import annotations

import click

from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import table_width_option


@click.command("history", cls=WithFiles)
@click.argument("reports", nargs=-1, required=True, metavar="REPORT...", callback=as_files)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "svg"]),
    default=None,
    help="Output format. [text; svg for -o FILE.svg, json for -o FILE.json]",
)
@click.option("-o", "--output", metavar="FILE", help="Write the trends to FILE instead of standard output.")
@table_width_option
def command(reports: tuple[str, ...], form: str | None, output: str | None, width: int | None) -> None:
    """Show how figures changed across JSON reports, named from oldest to newest, as text or a chart (-o trends.svg).

    Kernels are matched across all reports, even if they were renamed.

    Exit status: 0 printed, 2 something could not be read.
    """
    from pathlib import Path

    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.review.diff.history import read_history
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, in_width, written_as
    from ptxaudit.ui.render.history import written

    keep_inputs(output, reports)
    form = form or {".svg": "svg", ".json": "json"}.get(Path(output or "").suffix, "text")
    with progress() as step:
        step(f"reading {len(reports)} reports")
        text = written(form, read_history(reports))
    emit(in_width(text, width if form == "text" else None), output, written_as(form))
