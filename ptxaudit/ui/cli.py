"""The `ptxaudit` command, which imports only the subcommand that runs.

Each module `ptxaudit/ui/commands/NAME.py` exports a click `command`, unless its name begins with an underscore.
Invalid input ends the command with a message on stderr and exit status 2.
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
COMPLETING = "_PTXAUDIT_COMPLETE"  # set by a shell that asks for completions


class LazyCommands(click.Group):
    """A group that imports a command when it is first needed, to keep start-up fast."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Runs as the process's own command. Called as part of another program, `main` leaves signals alone."""
        from ptxaudit.base.interrupts import handled

        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # file names need not be valid text
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
        """A suggestion for an unknown command."""
        from ptxaudit.base.words import nearest

        if os.path.exists(word):
            return f" To audit the file: {ctx.command_path} audit {word}"
        meant = nearest(word, self.list_commands(ctx))
        return f" Did you mean {meant}?" if meant else ""

    def invoke(self, ctx: click.Context) -> Any:
        collect_seldom()
        atexit.register(gc.freeze)  # skips the interpreter's final garbage collection
        os.environ.setdefault(
            "OPENBLAS_NUM_THREADS", "1"
        )  # numpy would start threads that spin; nothing here multiplies matrices
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
        except Exception as error:  # the outermost level: a traceback does not help a user
            if debugging():
                raise
            complain(fault(error))
            ctx.exit(EXIT_UNCHECKED)


def _end_at_once(status: list[int]) -> None:
    """Exits the process without freeing every object, which takes a tenth of the time of a tiny audit.

    Registered to run last at exit. Returns, and leaves the exit to the interpreter, if other threads run, a debugger
    or profiler is attached, or the output cannot be flushed. status: the exit status, empty while it is unknown.
    """
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
    """Discards the buffered output, which the interpreter would otherwise try to write again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def complain(error: InputError) -> None:
    """Prints the error on stderr."""
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
    """Runs the command as a whole process and ends it."""
    status = list[int]()
    atexit.register(_end_at_once, status)  # registered first, so that it runs last
    try:
        main(prog_name="ptxaudit")
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise


if __name__ == "__main__":
    program()
