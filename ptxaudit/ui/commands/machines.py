"""`ptxaudit machines`: lists the machines, or the rules of one with their evidence."""

from __future__ import annotations

import click

from ptxaudit.ui.commands._options import table_width_option

PIPE_WIDTH = 130


@click.command()
@click.argument("name", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@table_width_option
def command(name: str | None, form: str, width: int | None) -> None:
    """List the machines, or print the rules of NAME: how each instruction is counted, and the evidence."""
    from ptxaudit.hardware import machines
    from ptxaudit.ui.render import machine as render

    chosen = [machines.get(name)] if name else [machines.get(each) for each in machines.names()]
    if form == "json":
        import json

        click.echo(json.dumps(render.machine_dict(chosen[0]) if name else render.list_dict(chosen), indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False, width=width)
    if width is None and not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    console.print(render.machine_view(chosen[0]) if name else render.list_view(chosen))
