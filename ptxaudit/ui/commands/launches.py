"""`ptxaudit launches`: writes a launch file to fill in, for every kernel of an input."""

from __future__ import annotations

from typing import Any

import click

from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options, options_of


@click.command("launches", cls=WithFiles)
@click.argument("input", metavar="INPUT", callback=as_files)
@input_options
@click.option("-o", "--output", metavar="FILE", help="Write the launch file to FILE instead of standard output.")
@click.pass_context
@configurable
def command(ctx: click.Context, input: str, output: str | None, **given: Any) -> None:
    """Write a launch file (TOML) to fill in: every kernel with its parameters and, if known, its block."""
    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.frontend.launch.launch_file import write_launches
    from ptxaudit.pipeline.examine import list_kernels
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, tell
    from ptxaudit.ui.render.problems import problem_text

    keep_inputs(output, [input, given["compile_commands"]])
    with progress() as step:
        found, problems = list_kernels([input], options_of(given), step)
    for problem in problems:
        tell(problem_text(problem))
    kernels = {listed.function.name: listed.function for listed in found}  # one entry for PTX and SASS
    if kernels:
        emit(write_launches(list(kernels.values()), input), output)
    ctx.exit(2 if problems or not kernels else 0)
