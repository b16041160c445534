"""The `ptxaudit` command: finds its subcommands in `ptxaudit.ui.commands` and imports the one that runs.

Each module `commands/NAME.py` exports a click `command`; one whose name begins with an
underscore is no command. Bad input leaves here as a message on stderr and exit status 2.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pkgutil
import sys
import threading
from typing import Any

import click

from ptxaudit.base.errors import InputError
from ptxaudit.base.faults import debugging, fault
from ptxaudit.base.quiet import collect_seldom
from ptxaudit.base.version import __version__
from ptxaudit.ui import commands

EXIT_UNCHECKED = 2
COMPLETING = "_PTXAUDIT_COMPLETE"  # by which a shell asks


class LazyCommands(click.Group):
    """A group whose commands are imported when they are asked for: start-up stays quick."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The command as a program of its own: not as a part of another, which has its own signals."""
        from ptxaudit.base.interrupts import handled

        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # names of files need not be text
        with handled():
            return self.main(*arguments, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"ptxaudit.ui.commands.{name}").command
        if COMPLETING in os.environ:
            from ptxaudit.ui.commands._complete import attach

            attach(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}.{self._meant(ctx, args[0])}")
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, word: str) -> str:
        """What an unknown command may have been meant to be."""
        from ptxaudit.base.words import nearest

        if os.path.exists(word):
            return f" To audit the file: {ctx.command_path} audit {word}"
        meant = nearest(word, self.list_commands(ctx))
        return f" Did you mean {meant}?" if meant else ""

    def invoke(self, ctx: click.Context) -> Any:
        collect_seldom()
        atexit.register(gc.freeze)  # the interpreter looks for garbage once more when it ends
        os.environ.setdefault(
            "OPENBLAS_NUM_THREADS", "1"
        )  # or loading numpy starts threads that spin: nothing here multiplies matrices
        try:
            return super().invoke(ctx)
        except InputError as error:
            if debugging():
                raise
            complain(error)
            ctx.exit(EXIT_UNCHECKED)
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError, KeyboardInterrupt):
            raise
        except OSError as error:
            if error.filename is not None or debugging():
                raise
            _drop_output()
            complain(
                InputError(
                    f"cannot write to standard output: {error.strerror}",
                    "free some space there, or write to a file with -o",
                )
            )
            ctx.exit(EXIT_UNCHECKED)
        except Exception as error:  # the edge: a traceback tells a user nothing
            if debugging():
                raise
            complain(fault(error))
            ctx.exit(EXIT_UNCHECKED)


def _end_at_once(status: list[int]) -> None:
    """Ends the process, the last of what is to be done at its end, but for freeing every object one by one, which takes
    a tenth of a tiny audit; comes back where the interpreter has to do it: other threads go on, someone watches what is
    called, the output cannot be written. status: of the process, once that is known."""
    watched = sys.gettrace() or sys.getprofile() or sys.flags.inspect
    if not status or watched or threading.active_count() > 1:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status[0])


def _drop_output() -> None:
    """What is left in buffers goes nowhere: the interpreter would try to write it once more."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def complain(error: InputError) -> None:
    """The error on stderr."""
    from ptxaudit.ui.commands._write import tell
    from ptxaudit.ui.render.problems import error_text

    tell(error_text(error))


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ptxaudit")
def main() -> None:
    """Exact shared-memory wavefront counts for every access in compiled CUDA code, without a GPU.

    Exit status: 0 checked and nothing denied, 1 something denied or worse, 2 something could not be checked.
    """


def program() -> None:
    """The command as a whole process, which ends with it."""
    status = list[int]()
    atexit.register(_end_at_once, status)  # before all others: what was registered first is called last
    try:
        main(prog_name="ptxaudit")
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise


if __name__ == "__main__":
    program()
