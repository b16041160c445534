"""`ptxaudit audit`: every shared-memory site of the inputs, scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ptxaudit.commands._options import input_options, isa_option, launch_options, options_of
from ptxaudit.commands._write import emit
from ptxaudit.errors import InputError

if TYPE_CHECKING:
    from ptxaudit.gate import Verdict
    from ptxaudit.report import Report


@click.command("audit")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@input_options
@isa_option
@click.option("--list", "listing", is_flag=True, help="Only list the kernels.")
@launch_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the report there instead of to standard output.")
@click.option("--fail-on", metavar="RULE=N", multiple=True,
              help="excess=N or ways=N (of a request), total-excess=N (of a kernel): exit 1 when a figure is N or more.")
@click.option("--strict", is_flag=True, help="With --fail-on: what cannot be judged is denied too.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Files audited at a time.")
@click.pass_context
def command(ctx: click.Context, inputs: tuple[str, ...], listing: bool, form: str, output: str | None,
            fail_on: tuple[str, ...], strict: bool, **given: Any) -> None:
    """Score every shared-memory access of kernels, without a GPU.

    INPUT is CUDA source (.cu), PTX, a cubin, a fat binary, an object, program, library or archive with
    device code in it, a folder of these, or - for standard input.

    Exit status: 0 checked and nothing denied, 1 something denied by --fail-on, 2 something could not be checked.
    """
    from ptxaudit.commands._progress import progress
    from ptxaudit.gate import judge, parse_limit
    from ptxaudit.pipeline import run

    limits = [parse_limit(text) for text in fail_on]
    if strict and not limits:
        raise InputError("--strict says how strictly --fail-on judges, and there is no --fail-on", "add --fail-on excess=1")
    options = options_of(given)
    if listing:
        return _list(ctx, inputs, options, form)
    with progress() as step:
        report = run(inputs, options, step)
    write(report, form, output)
    verdict = judge(report, limits, strict)
    complain(report, verdict, strict, bool(limits))
    ctx.exit(2 if report.problems else 1 if verdict.denials else 0)


def write(report: Report, form: str, output: str | None) -> None:
    """The report to a file, a terminal or a pipe."""
    import sys

    if form == "text" and output is None and sys.stdout.isatty():
        from rich.console import Console

        from ptxaudit.render.terminal import print_report

        print_report(report, Console(highlight=False))
        return
    if form == "json":
        text = report.to_json()
    else:
        from ptxaudit.render.text import report_text

        text = report_text(report)
    emit(text, output)


def complain(report: Report, verdict: Verdict, strict: bool, gated: bool) -> None:
    """Problems and denials, to stderr."""
    from ptxaudit.render.problems import denial_text, gate_text, problem_text

    for problem in report.problems:
        click.echo(problem_text(problem), err=True)
    for denial in verdict.denials:
        click.echo(denial_text(denial), err=True)
    if gated:
        click.echo(gate_text(verdict, strict), err=True)


def _list(ctx: click.Context, inputs: tuple[str, ...], options: Any, form: str) -> None:
    """--list: the kernels with what the binary says of them."""
    from ptxaudit.commands._progress import progress
    from ptxaudit.pipeline import list_kernels
    from ptxaudit.render.listing import listing_json, listing_text
    from ptxaudit.render.problems import problem_text

    with progress() as step:
        kernels, problems = list_kernels(inputs, options, step)
    click.echo(listing_json(kernels) if form == "json" else listing_text(kernels), nl=False)
    for problem in problems:
        click.echo(problem_text(problem), err=True)
    ctx.exit(2 if problems else 0)
