"""`ptxaudit calibrate`: compares the counters of a GPU with the rules, instruction by instruction."""

from __future__ import annotations

import click

from ptxaudit.ui.commands._options import table_width_option
from ptxaudit.ui.commands.machines import PIPE_WIDTH

EXIT_WRONG = 1


@click.command(
    epilog=(
        "`python -m bench.calibrate` writes the files on a machine with an NVIDIA GPU and Nsight Compute; see"
        " docs/hardware.md."
    )
)
@click.option(
    "--results",
    "files",
    multiple=True,
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Read the counts of a GPU from this file. Repeatable.",
)
@click.option(
    "--wrong",
    "shown",
    type=int,
    default=5,
    show_default=True,
    metavar="N",
    help="Show N requests of each instruction that disagrees.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@table_width_option
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], shown: int, form: str, width: int | None) -> None:
    """Check the bank rules against counts measured on a GPU, request by request.

    Exit status: 0 every figure agrees, 1 one is wrong.
    """
    from pathlib import Path

    from ptxaudit.hardware.calibration import compare, read
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.render import calibration as render

    agreed = []
    with progress() as step:
        measured = [read(Path(file)) for file in files]
        for file, measurement in zip(files, measured, strict=True):
            step(f"scoring the requests of {file}")
            agreed.append((measurement, compare(measurement)))
    if form == "json":
        import json

        click.echo(json.dumps(render.agreements_dict(agreed), indent=2))
    else:
        from rich.console import Console

        console = Console(highlight=False, width=width)
        if width is None and not console.is_terminal:
            console = Console(highlight=False, width=PIPE_WIDTH)
        for measurement, agreements in agreed:
            console.print(render.agreements_view(measurement, agreements, shown))
    if any(agreement.wrong for _, agreements in agreed for agreement in agreements):
        ctx.exit(EXIT_WRONG)
