"""Runs a program so that it is recorded, and hands on its signals and its end.

    run(["python", "train.py"], raw, via="auto")  ->  Ended(status=0)

Its Python finds `inside/path/sitecustomize.py` first; its driver loads the library that `driver` builds. What a program
is written in is not asked: a process of Python whose frameworks are seen takes the library out of its environment, any
other keeps it.
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
_FROM_TERMINAL = 0x80  # SI_KERNEL of signal(7): every process of the group has it already
_OF_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]  # which the interpreter ignores, and programs do not
_HANDED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}


class Ended(Record):
    """How a program ended. status: as a shell has it, 128 and the number of the signal that ended it; notes: what
    could not be recorded of it."""

    status: int
    notes: tuple[str, ...] = ()


def run(command: Sequence[str], raw: str, via: str = "auto", arrays: int = 0, launches: int = 32) -> Ended:
    """Runs a program to its end. raw: the folder of its events. Raises InputError where it cannot be started, or not be
    recorded as was asked."""
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
    """The library that is injected, and why there is none where it would be useful and not needed."""
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
    """The environment of a program that is recorded."""
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
    """The status with which a program ends. What this process is sent meanwhile goes to the program, unless the
    terminal has sent it to both."""
    waited = {*_HANDED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    try:
        try:
            child = os.posix_spawn(program, list(command), environment, setsigmask=before, setsigdef=_OF_PYTHON)
        except OSError as error:
            raise InputError(f"{program} cannot be started: {error.strerror}", "name what runs it") from None
        while True:
            info = signal.sigtimedwait(waited, LOOK_EVERY)  # another thread may get that the program has ended
            if info is not None and info.si_signo != signal.SIGCHLD and info.si_code != _FROM_TERMINAL:
                os.kill(child, info.si_signo)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else OF_SIGNAL - code
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
