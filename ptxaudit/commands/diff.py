"""`ptxaudit diff`: what changed between two reports, or two inputs that are audited first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptxaudit.commands._config import configurable
from ptxaudit.commands._files import WithFiles, as_files
from ptxaudit.commands._options import input_options_of_two, isa_option, launch_options, options_of
from ptxaudit.errors import InputError

if TYPE_CHECKING:
    from ptxaudit.options import Options
    from ptxaudit.report import Problem, Report


@click.command("diff", cls=WithFiles)
@click.argument("pair", nargs=-1, required=True, metavar="OLD NEW | INPUT", callback=as_files)
@input_options_of_two
@isa_option
@launch_options
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the diff there instead of to standard output.")
@click.option("--all", "everything", is_flag=True, help="List the sites that stayed the same too.")
@click.pass_context
@configurable
def command(ctx: click.Context, pair: tuple[str, ...], form: str, output: str | None, everything: bool, **given: Any) -> None:
    """Compare OLD and NEW: JSON reports, or inputs as `ptxaudit audit` takes them.

    Or one INPUT under two compilers: --toolchain 12.9 --toolchain 13.3, --ptxas 12.9 --ptxas 13.3; then
    both instruction sets are compared, or the machine code of PTX.

    Sites are matched by source position, inline stack, access and order, also when lines moved.

    Exit status: 0 nothing got worse, 1 something did, 2 something could not be checked.
    """
    from ptxaudit.commands._progress import progress
    from ptxaudit.commands._write import emit
    from ptxaudit.diff import diff_reports
    from ptxaudit.outputs import keep_inputs

    keep_inputs(output, [*pair, *given["launch_files"], given["compile_commands"]])
    sides = _sides(pair, given)
    with progress() as step:
        reports = [_report(path, options, step) for path, options in sides]
    problems = [problem for report in reports for problem in report.problems]
    if any(report.problems and not report.kernels for report in reports):       # nothing of a side: all else would look new, or gone
        return _failed(ctx, problems)
    _comparable(*reports)
    diff = diff_reports(*reports)
    if form == "json":
        import json

        emit(json.dumps(diff.to_dict(), indent=2, ensure_ascii=False) + "\n", output)
    else:
        from ptxaudit.render.changes import diff_markdown, diff_text

        emit((diff_text if form == "text" else diff_markdown)(diff, everything), output)
    if problems:
        return _failed(ctx, problems)
    ctx.exit(1 if diff.got_worse else 0)


def _comparable(old: Report, new: Report) -> None:
    """Raises InputError where no kernel of one side can be one of the other: PTX beside machine code."""
    kinds = [{kernel.isa for kernel in report.kernels} for report in (old, new)]
    if all(kinds) and not kinds[0] & kinds[1]:
        words = ["PTX" if kind == {"ptx"} else "machine code" for kind in kinds]
        raise InputError(f"the old side is {words[0]}, the new one {words[1]}: they cannot be compared",
                         "audit both as --isa both, or see with `ptxaudit audit --isa both` what became of the PTX")


def _failed(ctx: click.Context, problems: list[Problem]) -> None:
    from ptxaudit.commands._write import tell
    from ptxaudit.render.problems import problem_text

    for problem in problems:
        tell(problem_text(problem))
    ctx.exit(2)


def _sides(inputs: tuple[str, ...], given: dict[str, Any]) -> list[tuple[str, Options]]:
    """(input, options) of the old and the new side. Raises InputError where there are not two sides."""
    toolchains, assemblers = given.pop("toolchains"), given.pop("assemblers")
    if len(toolchains) > 2 or len(assemblers) > 2:
        raise InputError("a diff has two sides, and there are more than two compilers", "name two")
    differ = len(toolchains) == 2 or len(assemblers) == 2
    if len(inputs) > 2 or len(inputs) == 1 and not differ:
        there = "there is one input" if len(inputs) == 1 else f"there are {len(inputs)} inputs"
        raise InputError(f"a diff has two sides, and {there}",
                         "name OLD and NEW, or one INPUT with --toolchain A --toolchain B")
    if given["isa"] is None and len(toolchains) == 2:
        given["isa"] = "both"
    return [
        (inputs[at % len(inputs)], options_of(given | {"toolchain": _of_side(toolchains, at), "ptxas": _of_side(assemblers, at)}))
        for at in range(2)
    ]


def _of_side(versions: tuple[str, ...], at: int) -> str | None:
    return versions[at % len(versions)] if versions else None


def _report(path: str, options: Options, step: Any) -> Report:
    """The report in a file, or that of an input."""
    if Path(path).suffix == ".json" and not Path(path).is_dir():
        from ptxaudit.report_reader import read_report

        return read_report(path)
    from ptxaudit.pipeline import run

    return run([path], options, step)
