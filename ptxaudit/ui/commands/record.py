"""`ptxaudit record`: runs a program and records the kernels that it compiles and launches."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ptxaudit.base.errors import InputError
from ptxaudit.ui.commands._options import isa_option, width_option
from ptxaudit.ui.render.names import NAMES

DEFAULT_FOLDER = "ptxaudit-record"


@click.command("record", context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Write the recording to this folder.",
)
@click.option(
    "--via",
    type=click.Choice(["auto", "frameworks", "driver"]),
    default="auto",
    show_default=True,
    help=(
        "Record through Python frameworks, or through the driver (CUPTI) for programs in any language, which needs a C"
        " compiler and nvidia-cuda-cupti; auto uses the driver for what Python does not see."
    ),
)
@click.option(
    "--arrays",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="BYTES",
    help="Copy up to this much of the data behind each pointer from the device before a launch.",
)
@click.option(
    "--launches",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="N",
    help="Keep at most N distinct launches of each kernel; others are only counted.",
)
@click.option("--audit/--no-audit", "auditing", default=True, help="Audit the recording when the program ends.")
@click.option("--report", metavar="FILE", help="Write the report to FILE instead of standard output.")
@click.option(
    "--format", "form", type=click.Choice(NAMES), help="Format of the report, as for `ptxaudit audit`. [text]"
)
@click.option(
    "--fail-on",
    metavar="RULE|NAME=N",
    multiple=True,
    help="Exit 1 if the report has this, as for `ptxaudit audit`. Repeatable.",
)
@isa_option
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Show only the N costliest sites.")
@width_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    program: tuple[str, ...],
    output: str,
    via: str,
    arrays: int,
    launches: int,
    auditing: bool,
    **settings: Any,
) -> None:
    """Run a program and record the kernels that it compiles and launches.

    The recording is a folder of machine code with a launch file: grid, block, cluster, shared memory and parameters
    of each distinct launch, with the number of times it was seen. `ptxaudit audit FOLDER` audits it, on any machine,
    with or without a GPU.

    Exit status: the program's, if it is not 0; otherwise that of `ptxaudit audit`.
    """
    from ptxaudit.review.gate import parse_limit
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import tell
    from ptxaudit.ui.recording.finish import finish, prepared, summary
    from ptxaudit.ui.recording.program import run

    if not program:
        raise click.UsageError("Missing the program to run: ptxaudit record -- python train.py")
    wanted = _arguments(settings)
    if wanted and not auditing:
        raise click.UsageError(f"--no-audit makes no report to which {wanted[0]} could apply")
    for limit in settings["fail_on"]:
        parse_limit(limit)  # before the program runs
    raw = prepared(output)
    try:
        ended = run(program, raw, via, arrays, launches)
    except InputError:
        _removed(raw, output)
        raise
    with progress() as step:
        step("writing what was recorded")
        result = finish(raw, output, shlex.join(program))
    for note in (*ended.notes, *result.notes) if result.empty or via != "auto" else result.notes:
        tell(f"note: {note}")
    if result.left_out:
        tell(f"note: {result.left_out:,} launches with other parameters were counted but not kept: see --launches")
    if result.empty:
        ctx.exit(_empty(ended.status))
    tell(f"recorded in {output}: {summary(result)}")
    checked = _audited(output, wanted) if auditing else 0
    ctx.exit(ended.status or checked)


def _empty(status: int) -> int:
    """Prints why there is no recording of a program that ended with a status. Returns the exit status."""
    from ptxaudit.ui.commands._write import tell

    if status:
        tell(f"nothing was recorded: the program ended with status {status}")
        return status
    tell(
        "nothing was recorded: no kernel that the program compiled or launched was visible; for JAX, or a program that"
        " is not in Python, record through the driver (--via driver)"
    )
    return 2


def _removed(raw: str, output: str) -> None:
    """Removes the folders that were created for a program that did not run."""
    import os
    import shutil
    from contextlib import suppress

    shutil.rmtree(raw, ignore_errors=True)
    with suppress(OSError):
        os.rmdir(output)  # only if it is empty


def _arguments(settings: dict[str, Any]) -> list[str]:
    """The options for the audit, as its arguments."""
    options = {"report": "--output", "form": "--format", "fail_on": "--fail-on", "isa": "--isa"}
    options |= {"top": "--top", "width": "--width"}
    values = {name: value if isinstance(value, tuple) else (value,) for name, value in settings.items()}
    return [f"{options[name]}={one}" for name, given in values.items() for one in given if one is not None]


def _audited(folder: str, arguments: list[str]) -> int:
    """Audits the recording and returns the exit status. Without --output, the report goes to standard output."""
    from ptxaudit.ui.commands.audit import command as audit

    given = [folder, "--no-config", *arguments]
    return int(audit.main(given, prog_name="ptxaudit audit", standalone_mode=False) or 0)
