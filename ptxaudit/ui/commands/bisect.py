"""`ptxaudit bisect`: finds the first compiler release in which a figure of a kernel changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ptxaudit.base.errors import InputError
from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options, isa_option, launch_options, options_of, table_width_option

if TYPE_CHECKING:
    from ptxaudit.frontend.options import Options
    from ptxaudit.pipeline.collect import Progress
    from ptxaudit.review.diff.matrix import Column
    from ptxaudit.review.diff.sides import Audited


@click.command("bisect", cls=WithFiles)
@click.argument("input", metavar="INPUT", callback=as_files)
@click.option("--good", required=True, metavar="VERSION", help="CUDA release with the expected figures, such as 12.4.")
@click.option("--bad", required=True, metavar="VERSION", help="Newer CUDA release in which some figures differ.")
@click.option(
    "--figure",
    "figures",
    metavar="NAME",
    multiple=True,
    help="Compare only this figure: wavefronts, registers, spills, … Repeatable. [all]",
)
@click.option(
    "--every",
    is_flag=True,
    help="Audit every release in between, to find the first change even if a figure changed several times.",
)
@input_options
@isa_option
@launch_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of standard output.")
@table_width_option
@click.pass_context
@configurable
def command(
    ctx: click.Context,
    input: str,
    good: str,
    bad: str,
    figures: tuple[str, ...],
    every: bool,
    form: str,
    output: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Find the first CUDA release between --good and --bad in which a figure of a kernel changed.

    A binary search over all releases that are installed or available as wheels; each release needed is downloaded and
    audited once. Source is compiled by the NVRTC of each release, PTX assembled by its ptxas.

    Exit status: 0 no figure changed, 1 one did, 2 something could not be checked.
    """
    from functools import partial

    from ptxaudit.frontend.compile.releases import available, between
    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.review.diff.bisection import bisect
    from ptxaudit.review.diff.sides import nowhere
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit_as, tell
    from ptxaudit.ui.render.bisection import bisection_text
    from ptxaudit.ui.render.problems import problem_text

    kind = _kind(input, given)
    keep_inputs(output, [input, *given["launch_files"], given["compile_commands"]])
    names = _figures(figures)
    given["isa"] = given["isa"] or "sass"
    options = options_of(given)
    releases, note = available("nvrtc" if kind == "cuda" else "ptxas")
    chosen = between(releases, good, bad)
    audited: list[Audited] = []
    with progress() as step:
        by = "toolchain" if kind == "cuda" else "ptxas"
        audit = partial(_audited, input, options, by, step, audited)
        found = bisect(input, chosen, audit, names, every)
    emit_as(form, found, lambda: bisection_text(found, note), output, width)
    ends = [found.columns[release] for release in (chosen[0], chosen[-1]) if release in found.columns]
    problems = [problem for column in ends if column.report is None for problem in column.problems] + nowhere(audited)
    for problem in problems:
        tell(problem_text(problem))
    ctx.exit(2 if problems else 1 if found.found else 0)


def _audited(input: str, options: Options, by: str, step: Progress, audited: list[Audited], release: str) -> Column:
    """The figures with a release. by: the option that selects it; audited: receives the result of the audit."""
    from msgspec.structs import replace

    from ptxaudit.review.diff.matrix import column_of
    from ptxaudit.review.diff.sides import Side, audit_sides

    (one,) = audit_sides([Side(input, replace(options, **{by: release}))], step, code=False)
    audited.extend([] if isinstance(one, InputError) else [one])
    return column_of(release, None, one)


def _kind(input: str, given: dict[str, Any]) -> str:
    """The kind of the input. Raises InputError if it cannot be compiled by several releases."""
    from ptxaudit.frontend.inputs import read

    if given.pop("toolchain", None) or given.pop("ptxas", None):
        raise InputError("bisect chooses the releases itself", "leave out --toolchain and --ptxas")
    kind = read(input).kind
    if kind not in ("cuda", "ptx"):
        raise InputError(
            "only CUDA source or PTX can be compiled by several releases", "name a .cu or .ptx file", input
        )
    return kind


def _figures(names: tuple[str, ...]) -> tuple[str, ...]:
    """The figures to compare. Raises InputError for an unknown name."""
    import difflib

    from ptxaudit.report.measures import MEASURES
    from ptxaudit.review.diff.bisection import COMPARED, WORSE_SITES

    known = (WORSE_SITES, *MEASURES)
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            raise InputError(
                f"there is no figure {name!r}",
                f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}",
            )
    return names or COMPARED
