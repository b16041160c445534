"""Writes the results of an audit as they are found; finds the executor for --executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click

from ptxaudit.base import printable
from ptxaudit.base.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from ptxaudit.report.model import Report


@contextmanager
def streamed(output: str | None) -> Iterator[Callable[[Report], None]]:
    """Yields a function that writes the lines of a partial report at once. Raises InputError if it cannot."""
    from ptxaudit.ui.render.jsonl import lines

    try:
        with nullcontext(None) if output is None else open(output, "w", encoding="utf-8") as file:

            def write(report: Report) -> None:
                for line in lines(report):
                    click.echo(printable.json_output(line), nl=False, file=file)

            yield write
    except OSError as error:
        raise InputError(f"cannot write this file: {error.strerror}", "check the path given with -o", output) from None


def executor_at(address: str | None) -> AbstractContextManager[Executor | None]:
    """The executor at an address, or None without one."""
    if address is None:
        return nullcontext(None)
    from ptxaudit.review.executors import executor_of

    return executor_of(address)
