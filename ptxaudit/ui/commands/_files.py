"""Arguments that are files with unusual names: `-x.cu`, or a name with a line break."""

from __future__ import annotations

import os
from typing import Any

import click

from ptxaudit.frontend.inputs import named


class WithFiles(click.Command):
    """A command that takes an argument such as `-x.cu` as a file, if the file exists and no option has that name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {
            name
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            for name in (*parameter.opts, *parameter.secondary_opts)
        }
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [_as_file(argument, options) for argument in args[:end]] + args[end:])


def _as_file(argument: str, options: set[str]) -> str:
    if not argument.startswith("-") or len(argument) == 1:
        return argument
    known = argument.split("=")[0] in options if argument.startswith("--") else argument[:2] in options
    return argument if known or not os.path.isfile(argument) else os.path.join(os.curdir, argument)


def as_files(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """The click callback of arguments that name files."""
    return tuple(map(named, value)) if isinstance(value, tuple) else value if value is None else named(value)
