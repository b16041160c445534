"""`ptxaudit audit`: counts the wavefronts of every shared-memory site of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ptxaudit.base.errors import InputError
from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options, isa_option, launch_options, options_of, width_option
from ptxaudit.ui.commands._write import emit, in_width, tell, written_as
from ptxaudit.ui.render.names import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxaudit.frontend.options import Options
    from ptxaudit.pipeline.code_lines import CodeBook
    from ptxaudit.pipeline.collect import Progress
    from ptxaudit.pipeline.contents import Listed
    from ptxaudit.report.model import Report
    from ptxaudit.review.baseline import Baseline
    from ptxaudit.review.gate import Limit, Verdict
    from ptxaudit.ui.render.checked import Checked
    from ptxaudit.ui.render.view import View


_WITH_EDITS = frozenset(("sarif",))  # formats that contain source edits


@click.command("audit", cls=WithFiles)
@click.argument("inputs", nargs=-1, metavar="INPUT...", callback=as_files)
@input_options
@isa_option
@click.option("--list", "listing", is_flag=True, help="List the kernels without auditing them.")
@launch_options
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show only the N costliest sites and loops, with their share of the launch.",
)
@click.option(
    "--full/--overview",
    "full",
    default=None,
    help=(
        "Show every site, or a summary that fits one screen. [--overview if the report exceeds a screen; --full in a"
        " file]"
    ),
)
@width_option
@click.option(
    "--sweep",
    "axes",
    metavar="NAME=VALUES",
    multiple=True,
    help=(
        "Audit a family of launches and name the best: block=32:1024:32 (from:to:step), pitch=32,33,40,"
        " block=16x16,32x8, -DTILE=16,32 (recompiles). NAME is block, grid, cluster, dynamic_shared, a parameter,"
        " or -D and a macro. Repeat it for all combinations."
    ),
)
@click.option("--format", "form", type=click.Choice(NAMES), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output.")
@click.option(
    "--fail-on",
    metavar="RULE|NAME=N",
    multiple=True,
    help=(
        "Exit 1 if this rule has a finding (PA001; see `ptxaudit rule`), or if a figure is N or more: excess=N, ways=N"
        " or, with --space, sectors-excess=N per request; total-excess=N per kernel. Likewise if a kernel has"
        " more than registers=N, stack=N or spills=N (bytes), or less than occupancy=N (percent). Repeatable."
    ),
)
@click.option("--strict", is_flag=True, help="With --fail-on or --baseline, also deny what cannot be judged.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Hide the findings of this rule. Repeatable.")
@click.option(
    "--baseline",
    metavar="FILE",
    help="Deny only what is new or worse than in this file, written by `ptxaudit baseline update`.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Audit N files in parallel, or N kernels of a few files.",
)
@click.option(
    "--executor",
    metavar="dask://HOST:PORT",
    help="Audit on the workers of this Dask cluster; they must see the same files.",
)
@click.option("--fixes/--no-fixes", default=True, help="Search for proved repairs, shown under each conflict. [fixes]")
@click.option(
    "--patterns/--no-patterns",
    default=False,
    help="Include the distinct requests of each site and the loops of each kernel, as html does. [no-patterns]",
)
@click.option(
    "--cache/--no-cache",
    "cache",
    default=True,
    envvar="PTXAUDIT_CACHE",
    help="Reuse results for PTX and compiled files that have not changed. [cache]",
)
@click.pass_context
@configurable
def command(
    ctx: click.Context,
    inputs: tuple[str, ...],
    listing: bool,
    axes: tuple[str, ...],
    form: str,
    output: str | None,
    fail_on: tuple[str, ...],
    strict: bool,
    ignore: tuple[str, ...],
    baseline: str | None,
    patterns: bool,
    full: bool | None,
    width: int | None,
    executor: str | None,
    **given: Any,
) -> None:
    """Count the wavefronts of every shared-memory access, without a GPU.

    INPUT is CUDA source (.cu), PTX, a cubin, a fat binary, an object, executable, library or archive that embeds
    device code, a folder of these, or - for standard input.

    Exit status: 0 checked and nothing denied, 1 something denied by --fail-on or worse than the baseline,
    2 something could not be checked.
    """
    from msgspec.structs import replace

    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.ui.commands._progress import progress

    limits = _limits(fail_on, baseline, strict, () if listing else axes, given["space"])
    keep_inputs(output, [*inputs, *given["launch_files"], baseline, given["compile_commands"]])
    options = replace(options_of(given), edits=form in _WITH_EDITS, patterns=patterns or form == "html")
    if listing:
        return _list(ctx, inputs, options, form, output, width)
    if axes:
        return _sweep(ctx, inputs, axes, options, form, output, width)
    known = _baseline(baseline)
    with progress() as step:
        report, book = _audited(inputs, options, form, executor, output, step)
        step("checking the rules")
        checked = _checked(report, known, ignore, whole=not options.kernels)
        page = None if book is None else _page(checked, inputs, options, book, step)
    if page is not None:
        emit(page, output)
    elif form != "jsonl":
        whole = output is not None and given["top"] is None if full is None else full
        write(checked, form, output, checked.view(width, whole, None if full else given["top"]))
    denied = _judged(checked, limits, strict, baseline, options).denials
    ctx.exit(2 if report.problems else 1 if denied else 0)


def _sweep(ctx: click.Context, *given: Any) -> None:
    from ptxaudit.ui.commands._sweep import sweep_command

    return sweep_command(ctx, *given)


def _limits(
    fail_on: tuple[str, ...], baseline: str | None, strict: bool, axes: tuple[str, ...], space: str
) -> list[Limit]:
    """The limits of --fail-on. Raises InputError for options that exclude each other."""
    limits: list[Limit] = []
    if fail_on:
        from ptxaudit.review.gate import parse_limit

        limits = [parse_limit(text) for text in fail_on]
    if strict and not limits and not baseline:
        raise InputError("--strict needs --fail-on or --baseline", "add --fail-on excess=1")
    if space == "shared" and any(limit.name == "sectors-excess" for limit in limits):
        raise InputError(
            "--fail-on sectors-excess applies to global and local memory, which are not audited",
            "add --space global, or --space all",
        )
    if axes and (limits or baseline):
        raise InputError("--sweep and --fail-on or --baseline exclude each other", "gate the launch that you choose")
    return limits


def _audited(
    inputs: tuple[str, ...], options: Options, form: str, executor: str | None, output: str | None, step: Progress
) -> tuple[Report, CodeBook | None]:
    """The report, and for an HTML page the code that it shows."""
    from ptxaudit.review.audit import run
    from ptxaudit.ui.commands._stream import executor_at, streamed

    with executor_at(executor) as there:
        if form == "html":
            from ptxaudit.pipeline.code_lines import CodeBook

            book = CodeBook(inputs, options)
            return run(inputs, options, step, book.keep, executor=there), book
        if form == "jsonl":
            with streamed(output) as done:
                return run(inputs, options, step, executor=there, done=done), None
        return run(inputs, options, step, executor=there), None


def _judged(checked: Checked, limits: list[Limit], strict: bool, baseline: str | None, options: Options) -> Verdict:
    """The verdict, whose denials are printed on stderr."""
    from ptxaudit.review.gate import judge
    from ptxaudit.review.lost_launches import lost_launches

    report, findings = checked.report, checked.all_findings
    verdict = judge(report, limits, strict, findings=findings, ratchet=checked.ratchet, ignore=checked.ignore)
    lost = lost_launches(options, report.kernels)
    complain(checked, verdict, strict, gated=bool(limits or baseline), baseline=baseline, lost=lost)
    return verdict


def _page(checked: Checked, inputs: tuple[str, ...], options: Options, book: CodeBook, step: Progress) -> str:
    """The HTML page, with its sources and code."""
    from ptxaudit.frontend.source_files import Roots
    from ptxaudit.ui.render.html import html
    from ptxaudit.ui.render.page.material import gather

    step("writing the page")
    return html(checked, gather(checked.report, Roots.of(inputs, options.source_root), book))


def _baseline(file: str | None) -> Baseline | None:
    if file is None:
        return None
    from ptxaudit.review.baseline import read_baseline

    return read_baseline(file)


def _checked(report: Report, known: Baseline | None, ignore: tuple[str, ...], whole: bool) -> Checked:
    """The report with its findings, and compared with the baseline if there is one."""
    from ptxaudit.report.paths import here
    from ptxaudit.review import rules
    from ptxaudit.ui.render.checked import Checked

    ratchet = None
    if known:
        from ptxaudit.review.baseline import Ratchet

        ratchet = Ratchet.of(known, report, whole)
    return Checked(report, here(), ratchet, frozenset(rules.get(name).id for name in ignore), whole)


def write(checked: Checked, form: str, output: str | None, view: View) -> None:
    """Writes the report to a file, a terminal or a pipe."""
    import sys

    if form == "text":
        if output is None and sys.stdout.isatty():
            from rich.console import Console

            from ptxaudit.ui.render.terminal import print_report

            print_report(checked.report, Console(highlight=False), view)
            return
        from ptxaudit.ui.render.text import report_text

        emit(report_text(checked.report, view), output)
        return
    from ptxaudit.ui.render.formats import written

    emit(written(form, checked), output, written_as(form))


def complain(
    checked: Checked, verdict: Verdict, strict: bool, gated: bool, baseline: str | None, lost: Iterable[str] = ()
) -> None:
    """Prints on stderr: warnings, problems, launches without a kernel, denials, possible denials, stale entries."""
    from ptxaudit.ui.render import problems as text

    lines = [text.log_text(entry) for entry in checked.report.inputs if entry.log]
    lines += [text.problem_text(problem) for problem in checked.report.problems]
    lines += [f"warning: {sentence}" for sentence in lost]
    lines += text.denial_lines(verdict.denials, checked)
    lines += text.denial_lines(verdict.warnings, checked, "warning: may be denied")
    lines += [text.suppression_text(one, checked) for one in checked.stale_suppressions]
    if checked.ratchet is not None and baseline is not None:
        lines += text.stale_text(checked.ratchet.stale(), baseline)
    if gated:
        lines.append(text.gate_text(verdict, strict, len(checked.report.problems)))
    for line in lines:
        tell(line)


def _list(
    ctx: click.Context, inputs: tuple[str, ...], options: Any, form: str, output: str | None, width: int | None
) -> None:
    """--list: writes the kernels, with the binary's own facts about them, as they are found."""
    from ptxaudit.pipeline.collect import Part
    from ptxaudit.pipeline.contents import listed
    from ptxaudit.pipeline.examine import ready
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.render.listing import listing_json, listing_text
    from ptxaudit.ui.render.problems import problem_text

    if form not in ("text", "json"):
        raise InputError(f"--list does not support format {form}", "use text or json")
    ready(options)
    part = Part()
    kernels: Iterable[Listed] = listed(inputs, options, part)
    if output is not None:  # without a file, each kernel is written as it is found
        with progress() as step:
            kernels = list(listed(inputs, options, part, step))
    if form == "json":
        emit(listing_json(kernels), output)
    else:
        emit((in_width(piece, width) for piece in listing_text(kernels)), output)
    for problem in part.problems:
        tell(problem_text(problem))
    ctx.exit(2 if part.problems else 0)
