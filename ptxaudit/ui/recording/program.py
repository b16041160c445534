"""Runs a program so that it is recorded, and forwards its signals and exit status.

    run(["python", "train.py"], raw, via="auto")  ->  Ended(status=0)

The program's Python imports `inside/path/sitecustomize.py` first; its driver loads the library that `driver` builds.
The program's language is not checked: a Python process whose frameworks can be hooked removes the library from its
environment, any other process keeps it.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from ptxaudit.base.errors import InputError
from ptxaudit.base.interrupts import OF_SIGNAL
from ptxaudit.base.records import Record
from ptxaudit.ui.recording.driver import Library, built

PATH = Path(__file__).with_name("inside") / "path"
INJECTION = "CUDA_INJECTION64_PATH"
LOOK_EVERY = 0.25  # seconds
_FROM_TERMINAL = 0x80  # SI_KERNEL of signal(7): the whole process group already has it
_OF_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]  # ignored by the interpreter, but not by programs
_HANDED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}


class Ended(Record):
    """How a program ended. status: as in a shell, 128 plus a signal's number; notes: what could not be recorded."""

    status: int
    notes: tuple[str, ...] = ()


def run(command: Sequence[str], raw: str, via: str = "auto", arrays: int = 0, launches: int = 32) -> Ended:
    """Runs a program to its end. raw: the folder for its events.

    Raises InputError if the program cannot be started, or cannot be recorded as requested.
    """
    program = _program(command[0])
    library, notes = _library(via)
    environment = recorded(dict(os.environ), raw, library, via, arrays, launches)
    return Ended(_followed(program, command, environment), notes)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        there = os.path.exists(name)
        raise InputError(
            f"{name} is no program" if there else f"there is no program {name!r}",
            "make it executable, or name its interpreter" if there else "check its name and PATH",
        )
    return found


def _library(via: str) -> tuple[Library | None, tuple[str, ...]]:
    """The library to inject; if there is none although it could be used, the reason."""
    if via == "frameworks":
        return None, ()
    try:
        if (other := os.environ.get(INJECTION)) is not None:
            raise InputError(
                f"{INJECTION} is set already: {other}", "another tool records this program; unset it", INJECTION
            )
        return built(), ()
    except InputError as error:
        if via == "driver":
            raise
        return None, (f"nothing is recorded through the driver: {error.what}",)


def recorded(
    environment: dict[str, str], raw: str, library: Library | None, via: str, arrays: int, launches: int
) -> dict[str, str]:
    """The environment of the recorded program."""
    out = environment | {
        "PTXAUDIT_RECORD": raw,
        "PTXAUDIT_RECORD_ARRAYS": str(arrays),
        "PTXAUDIT_RECORD_LAUNCHES": str(launches),
    }
    if via != "driver":
        out["PYTHONPATH"] = os.pathsep.join([str(PATH), *filter(None, [environment.get("PYTHONPATH")])])
    if library is not None:
        out |= {INJECTION: library.path, "PTXAUDIT_CUPTI": library.cupti}
        if via != "driver":
            out["PTXAUDIT_RECORD_DRIVER"] = library.path
    return out


def _followed(program: str, command: Sequence[str], environment: dict[str, str]) -> int:
    """Runs the program and returns its exit status.

    Signals to this process are forwarded, unless the terminal sent them to both.
    """
    waited = {*_HANDED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    try:
        try:
            child = os.posix_spawn(program, list(command), environment, setsigmask=before, setsigdef=_OF_PYTHON)
        except OSError as error:
            raise InputError(f"{program} cannot be started: {error.strerror}", "name what runs it") from None
        while True:
            info = signal.sigtimedwait(waited, LOOK_EVERY)  # SIGCHLD may be delivered to another thread
            if info is not None and info.si_signo != signal.SIGCHLD and info.si_code != _FROM_TERMINAL:
                os.kill(child, info.si_signo)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else OF_SIGNAL - code
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
