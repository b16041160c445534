"""Writes a command's result to a file or to standard output."""

from __future__ import annotations

from pathlib import Path

import click

from ptxaudit.errors import InputError


def emit(text: str, output: str | None) -> None:
    """Text to a file, or to standard output. Raises InputError where the file cannot be written."""
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write it: {error.strerror}", "check the path given with -o", output) from None
