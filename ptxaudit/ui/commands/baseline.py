"""`ptxaudit baseline update`: records the known figures, so that only new or worse ones fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options, isa_option, launch_options, options_of

if TYPE_CHECKING:
    from ptxaudit.report.model import Report


@click.group("baseline")
def command() -> None:
    """Manage the file of `ptxaudit audit --baseline FILE`, which denies only what is new or worse."""


@command.command("update", cls=WithFiles)
@click.argument("file", metavar="FILE")
@click.argument("inputs", nargs=-1, metavar="INPUT...", callback=as_files)
@input_options
@isa_option
@launch_options
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Audit N files in parallel."
)
@click.pass_context
@configurable
def update(ctx: click.Context, file: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Audit INPUT... and replace the contents of FILE with the figures of all sites.

    Use the same options as for `ptxaudit audit`. Nothing is written if anything cannot be checked.

    Exit status: 0 written, 2 something could not be checked.
    """
    from collections import Counter
    from pathlib import Path

    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.review.audit import run
    from ptxaudit.review.baseline import baseline_json, read_baseline
    from ptxaudit.review.diff.reports import diff_reports
    from ptxaudit.review.lost_launches import lost_launches
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, tell
    from ptxaudit.ui.render.problems import problem_text

    keep_inputs(file, [*inputs, *given["launch_files"], given["compile_commands"]])
    before = read_baseline(file) if Path(file).exists() else None
    options = options_of(given)
    with progress() as step:
        report = run(inputs, options, step)
    for problem in report.problems:
        tell(problem_text(problem))
    for sentence in lost_launches(options, report.kernels):
        tell(f"warning: {sentence}")
    if report.problems:
        tell(f"{file} was not changed")
        ctx.exit(2)
    emit(baseline_json(report), file)
    lines = [_summary(file, report)]
    if before is not None:
        diff = diff_reports(before.report, report)
        counts = Counter(diff.counts)
        for of_space in diff.memory_counts.values():
            counts.update(of_space)
        lines.append(
            "compared with the previous file:  "
            + (", ".join(f"{count:,} {verdict}" for verdict, count in counts.items()) or "no site on either side")
        )
    emit("\n".join(lines) + "\n", None)


def _summary(file: str, report: Report) -> str:
    """A summary of the contents of the file."""
    from ptxaudit.base.words import plural
    from ptxaudit.report.counterparts import kernels_once

    once = kernels_once(report.kernels)
    excess = sum(kernel.totals.excess for kernel in once)
    sites = sum(len(kernel.accesses) for kernel in report.kernels)
    sectors = sum(site.sectors_excess or 0 for kernel in once for site in kernel.memory)
    more = f" and {plural(sectors, 'excess sector')}" if sectors else ""
    return (
        f"{file}: {plural(sites, 'site')} in {plural(len(report.kernels), 'kernel')},"
        f" {plural(excess, 'excess wavefront')}{more}"
    )
