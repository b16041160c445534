"""`ptxaudit audit --sweep`: audits a family of launches, as a table or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ptxaudit.base.errors import InputError

if TYPE_CHECKING:
    from ptxaudit.frontend.options import Options


def sweep_command(
    ctx: click.Context,
    inputs: tuple[str, ...],
    axes: tuple[str, ...],
    options: Options,
    form: str,
    output: str | None,
    width: int | None = None,
) -> None:
    """Runs and writes a sweep. Exits with status 2 if something could not be checked."""
    from ptxaudit.review.sweeps import parse_axis, run
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, in_width, tell
    from ptxaudit.ui.render.problems import problem_text
    from ptxaudit.ui.render.sweeps import sweep_text

    if form not in ("text", "json"):
        raise InputError(f"--sweep does not support format {form}", "use text or json")
    parsed = [parse_axis(text) for text in axes]
    with progress() as step:
        found = run(inputs, parsed, options, step)
    emit(found.to_json() if form == "json" else in_width(sweep_text(found), width), output)
    for problem in found.problems:
        tell(problem_text(problem))
    ctx.exit(2 if found.problems or not found.kernels else 0)
