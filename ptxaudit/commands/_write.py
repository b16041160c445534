"""Writes a command's result to a file or to standard output."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ptxaudit import outputs
from ptxaudit.errors import InputError


def emit(text: str | Iterable[str], output: str | None) -> None:
    """Text, or pieces of it, to a file or to standard output. Raises InputError where the file cannot be written."""
    pieces = [text] if isinstance(text, str) else text
    if output is None:
        for piece in pieces:
            click.echo(outputs.encoded(piece).decode(), nl=False)
        return
    try:
        outputs.write(output, pieces)
    except OSError as error:
        raise InputError(f"cannot write it: {error.strerror}", "check the path given with -o", output) from None
