"""`ptxaudit explain`: explains one site in depth."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options, isa_option, launch_options, options_of, width_option

if TYPE_CHECKING:
    from ptxaudit.review.explain import Explained


@click.command("explain", cls=WithFiles)
@click.argument("input", callback=as_files)
@click.argument("site")
@input_options
@isa_option
@launch_options
@click.option(
    "--show",
    type=click.Choice(["graph"]),
    multiple=True,
    help="Show the slice that determines the address and how often it runs.",
)
@click.option("--dot", metavar="FILE", help="Write the slice to a Graphviz file.")
@click.option(
    "--svg", metavar="FILE", help="Write the lane-by-bank maps, before and after the best repair, to an SVG file."
)
@width_option
@click.pass_context
@configurable
def command(
    ctx: click.Context,
    input: str,
    site: str,
    show: tuple[str, ...],
    dot: str | None,
    svg: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Explain SITE of INPUT: its address formula, addresses, lane-by-bank map and cost.

    SITE is file:line, a line of the PTX, kernel+offset, or an id from a report. All matches are shown.
    """
    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.ir import slice_picture
    from ptxaudit.review.explain import explain
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, tell
    from ptxaudit.ui.render.problems import problem_text

    for file in (dot, svg):
        keep_inputs(file, [input, *given["launch_files"], given["compile_commands"]])
    options = options_of(given)
    with progress() as step:
        found, problems = explain(input, site, options, step)
    graphs = []
    for one in found:
        _print(one, width)
        if show or dot:
            examined = one.examined
            graphs.append(slice_picture.picture(examined.function, examined.flow, one.result.index))
        if show:
            emit(
                "the slice that determines it, instruction by instruction (> the access, ? a branch, φ where"
                " definitions"
                " meet):\n",
                None,
            )
            emit(slice_picture.as_text(graphs[-1]) + "\n\n", None)
    if dot and graphs:
        emit("\n".join(slice_picture.as_dot(slice_graph) for slice_graph in graphs), dot)
    if svg and found:
        from ptxaudit.ui.render.explained_svg import explained_svg

        emit(explained_svg(found), svg)
    for problem in problems:
        tell(problem_text(problem))
    ctx.exit(2 if problems else 0)


def _print(one: Explained, width: int | None) -> None:
    """Prints with colour on a terminal, without in a pipe."""
    from ptxaudit.ui.commands._write import emit
    from ptxaudit.ui.render.explanation import explanation, explanation_text

    if not sys.stdout.isatty():
        emit(explanation_text(one, width), None)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for line in explanation(one, width or console.width, fold=True):
        console.print(line, markup=False, soft_wrap=True)
