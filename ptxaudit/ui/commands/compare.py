"""`ptxaudit compare`: compares a report's figures with those of Nsight Compute, site by site."""

from __future__ import annotations

from functools import partial

import click

from ptxaudit.ui.commands._options import table_width_option

_EPILOG = """
\b
  ncu --section SourceCounters -o run ./app                       # on the GPU
  ncu --import run.ncu-rep --page source --csv > source.csv
  ptxaudit audit app --launch launches.toml --format json -o report.json
  ptxaudit compare report.json source.csv

Some instructions can be checked only against the hardware's totals. To do so, add
--metrics regex:l1tex__data_pipe_lsu_wavefronts_mem_shared.*.sum to the first command, export --page raw --csv as well,
and pass both files.
"""


@click.command(epilog=_EPILOG)
@click.argument("report")
@click.argument("profiles", metavar="NCU.csv...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the comparison to FILE instead of standard output.")
@table_width_option
@click.pass_context
def command(
    ctx: click.Context, report: str, profiles: tuple[str, ...], form: str, output: str | None, width: int | None
) -> None:
    """Compare the JSON report REPORT with Nsight Compute's counts, instruction by instruction.

    Exit status: 0 every figure agrees, 1 one differs, 2 something could not be compared.
    """
    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.report.reader import read_report
    from ptxaudit.review.ncu_csv import read_profiles
    from ptxaudit.review.profiles import compare_all
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit_as, tell
    from ptxaudit.ui.render.comparison import compared_text
    from ptxaudit.ui.render.problems import error_text

    keep_inputs(output, [report, *profiles])
    with progress() as step:
        step(f"reading {report} and {len(profiles)} of the profiler's files")
        compared = compare_all(read_report(report), read_profiles(profiles))
    emit_as(form, compared, partial(compared_text, compared), output, width)
    for problem in compared.problems:
        tell(error_text(problem))
    ctx.exit(2 if compared.problems else 1 if compared.differs else 0)
