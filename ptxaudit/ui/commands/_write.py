"""Writes a command's result to a file or to standard output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import click

from ptxaudit.base import outputs, printable
from ptxaudit.base.errors import InputError

SAFE = {
    "github": printable.lines,
    "json": printable.json_output,
    "jsonl": printable.json_output,
}  # lines of `github` are commands; JSON escapes its strings itself


class Document(Protocol):
    """A result that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]: ...


def written_as(form: str) -> Callable[[str], str]:
    """The function that makes a format's text safe to print: see `printable`."""
    return SAFE.get(form, printable.output)


def emit(text: str | Iterable[str], output: str | None, safe: Callable[[str], str] = printable.output) -> None:
    """Writes text, or pieces of it, to a file or to standard output. Raises InputError if the file cannot be written.

    safe: makes a piece safe to print; by default, as plain text.
    """
    pieces = [text] if isinstance(text, str) else text
    if output is None:
        for piece in pieces:
            click.echo(safe(piece), nl=False)
        return
    try:
        outputs.write(output, map(safe, pieces))
    except OSError as error:
        raise InputError(f"cannot write this file: {error.strerror}", "check the path given with -o", output) from None


def in_width(text: str, width: int | None) -> str:
    """The text, wrapped to the width if one is given."""
    if width is None:
        return text
    from ptxaudit.ui.render.layout import fitted

    return fitted(text, width)


def emit_as(
    form: str, result: Document, text: Callable[[], str | Iterable[str]], output: str | None, width: int | None = None
) -> None:
    """Writes a result as JSON or as text. text: makes the text, not called for JSON; width: in columns."""
    if form == "json":
        emit(json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n", output, written_as(form))
    else:
        words = text()
        emit(words if width is None else in_width("".join(words), width), output, written_as(form))


def tell(text: str) -> None:
    """Prints a message to standard error."""
    click.echo(printable.output(text), err=True)
