"""`ptxaudit diff`: what changed between two reports or inputs, or in one input between releases or architectures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ptxaudit.base.errors import InputError
from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options_of_two, isa_option, launch_options, table_width_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxaudit.report.model import Problem, Report
    from ptxaudit.review.diff.matrix import Matrix
    from ptxaudit.review.diff.reports import Diff
    from ptxaudit.review.diff.sides import Audited, Side
    from ptxaudit.review.diff.thresholds import Threshold

FORMATS = ("text", "json", "markdown", "html", "sarif", "github")
OF_MATRIX = ("text", "json", "markdown", "html")


@click.command("diff", cls=WithFiles)
@click.argument("pair", nargs=-1, required=True, metavar="OLD NEW | INPUT", callback=as_files)
@input_options_of_two
@isa_option
@launch_options
@click.option(
    "--old-launch",
    metavar="FILE.toml",
    help="Read the launches of OLD from this file; pair each kernel's with those of NEW.",
)
@click.option("--new-launch", metavar="FILE.toml", help="Read the launches of NEW from this file.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the diff to FILE instead of standard output.")
@click.option("--all", "everything", is_flag=True, help="Also list what did not change.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Show only the N rows with the greatest impact.")
@click.option("--code/--no-code", default=None, help="Show the code of each changed site on both sides. [html]")
@click.option(
    "--fail-on",
    "thresholds",
    metavar="NAME+N[%]",
    multiple=True,
    help=(
        "Exit 1 if a kernel's figure grew by N or more: registers+8, spills+1, wavefronts+5%; total-wavefronts+5% sums"
        " all kernels; global-width-25% denies a decrease; worse denies any site that got worse. Repeatable."
        " [worse]"
    ),
)
@click.option("--strict", is_flag=True, help="With --fail-on, also exit 1 if a figure is unknown on one side.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Audit N files in parallel."
)
@click.option(
    "--cache/--no-cache",
    "cache",
    default=True,
    envvar="PTXAUDIT_CACHE",
    help="Reuse results for PTX and compiled files that have not changed. [cache]",
)
@table_width_option
@click.pass_context
@configurable
def command(
    ctx: click.Context,
    pair: tuple[str, ...],
    form: str,
    output: str | None,
    everything: bool,
    top: int | None,
    code: bool | None,
    thresholds: tuple[str, ...],
    strict: bool,
    width: int | None,
    **given: Any,
) -> None:
    """Compare OLD and NEW, which are JSON reports or inputs of `ptxaudit audit`.

    Or compare one INPUT across compilers (--toolchain 12.4 --toolchain 13.5, --ptxas 12.9 --ptxas 13.3) or
    architectures (several --arch). Two are compared site by site; more make a table of kernels by release.

    Sites are matched by source position, inline stack, access and order, even if lines moved. A site is worse if it
    costs more wavefronts or, at the same number, has more excess.

    Exit status: 0 nothing got worse, 1 something did, 2 something could not be checked.
    """
    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.review.diff.thresholds import parse_threshold

    keep_inputs(output, [*pair, *given["launch_files"], given["compile_commands"]])
    limits = [parse_threshold(text) for text in thresholds]
    columns = _columns(pair, given)
    if len(columns) > 2:
        return _matrix(ctx, pair[0], columns, form, output, everything, limits, strict, width)
    sides, counterparts = _sides(pair, columns, given)
    _diff(
        ctx,
        sides,
        counterparts,
        form,
        output,
        limits,
        strict,
        width=width if form == "text" else None,
        everything=everything,
        top=top,
        code=form == "html" if code is None else code,
    )


def _columns(pair: tuple[str, ...], given: dict[str, Any]) -> list[Any]:
    """The variants to compare of one input; empty for two inputs."""
    if len(pair) > 2:
        raise InputError(
            f"a diff has two sides, but {len(pair)} inputs are given",
            "name OLD and NEW, or one INPUT with --toolchain A --toolchain B",
        )
    if len(pair) == 2:
        return []
    from ptxaudit.ui.commands._variants import variants

    return list(variants(pair[0], given))


def _sides(pair: tuple[str, ...], columns: list[Any], given: dict[str, Any]) -> tuple[list[Side], bool]:
    """(the two sides, whether their launches are counterparts)."""
    if not columns:
        from ptxaudit.ui.commands._variants import two_sides

        return two_sides(pair, given)
    sides = [side for _, _, side in columns]
    if given["isa"] is None and all(side.options.isa is None for side in sides):
        sides = [_of_both_isas(side) for side in sides]
    return sides, False


def _of_both_isas(side: Any) -> Any:
    """Selects both instruction sets for a source that is compiled with a chosen toolchain."""
    from msgspec.structs import replace

    return replace(side, options=replace(side.options, isa="both")) if side.options.toolchain else side


def _diff(
    ctx: click.Context,
    sides: list[Any],
    counterparts: bool,
    form: str,
    output: str | None,
    limits: list[Threshold],
    strict: bool,
    code: bool,
    width: int | None,
    **shown: Any,
) -> None:
    from ptxaudit.review.diff.reports import diff_reports
    from ptxaudit.review.diff.sides import audit_sides, nowhere
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, in_width, written_as
    from ptxaudit.ui.render.diffs import written

    with progress() as step:
        audited = []
        for one in audit_sides(sides, step, code):
            if isinstance(one, InputError):
                raise one
            audited.append(one)
        problems = [problem for one in audited for problem in one.report.problems] + nowhere(audited)
        reports = [one.report for one in audited]
        if any(
            report.problems and not report.kernels for report in reports
        ):  # one side is empty: everything would look new or gone
            return _failed(ctx, problems)
        _comparable(*reports)
        old, new = reports
        diff = diff_reports(old, new, counterparts=counterparts)
        codes = _codes(diff, audited) if code else None
    judged = _judged([(None, diff)], limits)
    text = written(
        form,
        diff,
        codes=codes,
        crossings=[one for _, found in judged for one in found.crossings],
        problems=problems,
        **shown,
    )
    emit(in_width(text, width), output, written_as(form))
    _end(ctx, diff.got_worse, judged, limits, strict, problems)


def _codes(diff: Diff, audited: list[Audited]) -> Any:
    """The code of the kernels with a changed site, on both sides."""
    from ptxaudit.review.diff.reports import QUIET

    changed = [entry for entry in diff.kernels if any(change.verdict not in QUIET for change in entry.every)]
    for one, side in zip(audited, ("old", "new"), strict=True):
        one.code.read(kernel for entry in changed if (kernel := getattr(entry, side)) is not None)
    return audited[0].code, audited[1].code


def _matrix(
    ctx: click.Context,
    input: str,
    columns: list[Any],
    form: str,
    output: str | None,
    everything: bool,
    limits: list[Threshold],
    strict: bool,
    width: int | None,
) -> None:
    from msgspec.structs import replace

    from ptxaudit.review.diff.matrix import matrix
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, in_width, written_as
    from ptxaudit.ui.render.matrix import written

    if form not in OF_MATRIX:
        raise InputError(
            f"a table of several releases does not support format {form}",
            f"use {', '.join(OF_MATRIX)}, or compare two releases for {form}",
        )
    columns = [
        (label, arch, replace(side, options=replace(side.options, isa=side.options.isa or "sass")))
        for label, arch, side in columns
    ]
    with progress() as step:
        found = matrix(input, columns, step)
    judged = _judged([(step, step.diff) for step in found.steps], limits)
    emit(in_width(written(form, found, everything), width if form == "text" else None), output, written_as(form))
    _end(ctx, found.got_worse, judged, limits, strict, list(found.all_problems), found)


def _comparable(old: Report, new: Report) -> None:
    """Raises InputError if one side is only PTX and the other only machine code."""
    kinds = [{kernel.isa for kernel in report.kernels} for report in (old, new)]
    if all(kinds) and not kinds[0] & kinds[1]:
        words = ["PTX" if kind == {"ptx"} else "machine code" for kind in kinds]
        raise InputError(
            f"the old side is {words[0]}, the new one {words[1]}: they cannot be compared",
            "audit both with --isa both, or pair PTX with machine code with `ptxaudit audit --isa both`",
        )


def _judged(diffs: list[tuple[Any, Diff]], limits: list[Threshold]) -> list[tuple[Any, Any]]:
    """(step of a matrix, or None; result of the limits) of each comparison."""
    if not limits:
        return []
    from ptxaudit.review.diff.thresholds import judge_thresholds

    return [(step, judge_thresholds(diff, limits)) for step, diff in diffs]


def _end(
    ctx: click.Context,
    got_worse: bool,
    judged: list[tuple[Any, Any]],
    limits: list[Threshold],
    strict: bool,
    problems: Iterable[Problem],
    found: Matrix | None = None,
) -> None:
    """Prints the denials and the inputs that could not be checked, and exits with the resulting status."""
    from ptxaudit.ui.commands._write import tell
    from ptxaudit.ui.render.thresholds import judged_lines

    for step, one in judged:
        name = (
            f"{found.columns[step.old].name} to {found.columns[step.new].name}: "
            if found is not None and step is not None
            else ""
        )
        for line in judged_lines(one, strict, name):
            tell(line)
    problems = list(problems)
    if problems:
        return _failed(ctx, problems)
    denied = any(one.crossings or strict and one.unjudged for _, one in judged) if limits else got_worse
    ctx.exit(1 if denied else 0)


def _failed(ctx: click.Context, problems: list[Problem]) -> None:
    from ptxaudit.ui.commands._write import tell
    from ptxaudit.ui.render.problems import problem_text

    for problem in problems:
        tell(problem_text(problem))
    ctx.exit(2)
