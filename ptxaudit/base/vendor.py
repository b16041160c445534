"""Runs the vendor's programs without a shell, under limits of the operating system, and leaves none of their
processes.

    run(["/…/ptxas", "k.ptx", "-o", "k.cubin"], limits.TOOL_TIME)  ->  Done(status=0, out="", err="")

A program gets a process group of its own, limits on address space, processor time and file size, and an environment
that loads no library or program from the working folder. It is killed with all its descendants if it waits for input
that never arrives, or if the caller is interrupted.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import MB, STALLED, TOOL_FILE, TOOL_MEMORY, TOOL_OUTPUT, Limit
from ptxaudit.base.records import Record

STOPPED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGKILL,
    signal.SIGHUP,
)  # from outside: nothing is wrong with the input
LOOK_EVERY = 1.0  # seconds between two checks of a running program
SPARE = 10  # seconds more until the operating system kills a program that the checks missed
READ_AT_ONCE = 1 << 16  # bytes
_OF_FOLDERS = ("PATH", "LD_LIBRARY_PATH")
# nvcc prepends folders and a colon to LD_LIBRARY_PATH: an empty entry after it would be the working folder
_NOWHERE = "/nonexistent"
NOTHING: Mapping[str, str] = {}
_DIED = re.compile(r"died due to signal (\d+)")  # nvcc's message about a program that it ran
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|[Mm]emory allocation failure|cannot allocate memory|virtual memory exhausted",
    re.IGNORECASE,
)


class Done(Record):
    """How a program ended. status: as in `subprocess`, minus the number of a signal; out, err: its output."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return (self.out + self.err).strip()


def run(
    command: Sequence[str],
    most: Limit,
    cwd: str | None = None,
    temporary: str | None = None,
    more: Mapping[str, str] = NOTHING,
) -> Done:
    """Runs a program to its end. most: processor time; temporary: the folder for its own temporary files; more:
    additional environment variables.

    Raises OSError if it cannot be started, InputError if it reached a limit or was stopped from outside.
    """
    name = os.path.basename(command[0])
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**environment(temporary), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    try:
        restrict(process.pid, most)
        out, err = _said(process, Watch(process.pid, most, name), name)
        done = Done(process.wait(), out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
    finally:
        end(process)
    if (error := stopped(name, done, most)) is not None:
        raise error
    return done


def environment(temporary: str | None = None) -> dict[str, str]:
    """The user's environment, without the working folder and relative folders in its search paths."""
    out = dict(os.environ)
    for name in _OF_FOLDERS:
        kept = [folder for folder in out.get(name, "").split(os.pathsep) if os.path.isabs(folder)]
        out[name] = os.pathsep.join(kept) or _NOWHERE
    return out | ({"TMPDIR": temporary} if temporary else {})


def restrict(pid: int, most: Limit | None) -> None:
    """Sets the limits of a process that has just started; its children inherit them. most: processor time, or None."""
    import resource

    wanted = {resource.RLIMIT_AS: TOOL_MEMORY.most, resource.RLIMIT_FSIZE: TOOL_FILE.most, resource.RLIMIT_CORE: 0}
    if most is not None:
        wanted[resource.RLIMIT_CPU] = most.most + SPARE
    with suppress(ProcessLookupError, PermissionError, ValueError):  # it has already ended; a stricter limit holds
        for kind, amount in wanted.items():
            _, hard = resource.prlimit(pid, kind)
            most_of_all = float("inf") if hard == resource.RLIM_INFINITY else hard
            amount = int(min(amount, most_of_all))
            # SIGXCPU, which tells that it was the limit, needs the limit of SIGKILL to be a second later
            last = int(min(amount + (kind == resource.RLIMIT_CPU), most_of_all))
            resource.prlimit(pid, kind, (amount, last))


def _said(process: subprocess.Popen[bytes], watch: Watch, name: str) -> tuple[bytes, bytes]:
    """The output of a program until it ends. Raises InputError if it writes too much, takes too long or stalls."""
    assert process.stdout is not None and process.stderr is not None  # PIPE
    found: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    size = 0
    with selectors.DefaultSelector() as selector:
        for handle in found:
            selector.register(handle, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(LOOK_EVERY)
            watch.look()
            for key, _ in ready:
                piece = os.read(key.fd, READ_AT_ONCE)
                if piece:
                    found[key.fd].append(piece)
                    size += len(piece)
                    TOOL_OUTPUT.check(size, f"{name} writes too much output")
                else:
                    selector.unregister(key.fd)
    out, err = (b"".join(pieces) for pieces in found.values())
    return out, err


WAITS_HINT = "does the source include a pipe or a device?"


class Watch:
    """Checks regularly how much processor time the processes of a group have used.

    Compilers raise the limit that the operating system was given, so the time is also checked from outside. It counts
    from the first check: most programs end before it, and reading all of /proc takes longer than some of them.
    """

    def __init__(self, group: int, most: Limit, name: str) -> None:
        self._group, self._most, self._name = group, most, name
        self._first: int | None = None
        self._last = 0
        self._looked = self._moved = time.monotonic()

    def look(self) -> None:
        """Raises InputError if the group used more time than the limit, or none for long. To be called repeatedly."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        self._looked, spent = now, _ticks(self._group)
        if self._first is None:
            self._first = spent
        if spent != self._last:
            self._last, self._moved = spent, now
        self._most.check((spent - self._first) // os.sysconf("SC_CLK_TCK"), f"{self._name} took too long")
        if now - self._moved > STALLED.most:
            raise STALLED.passed(f"{self._name} waits for input that never arrives", hint=WAITS_HINT)


def _ticks(group: int) -> int:
    """Processor time of the processes of a group and of the children that they have waited for, in clock ticks."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(words[2]) == group:
                total += sum(map(int, words[11:15]))
    return total


def end(process: subprocess.Popen[bytes]) -> None:
    """Kills a program that runs in its own group, with all its descendants in it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def stopped(name: str, done: Done, most: Limit) -> InputError | None:
    """Why a program was ended from outside, or by a limit; None if it ended by itself."""
    number = _signal(done)
    if number == signal.SIGXCPU:
        return most.passed(f"{name} took too long")
    if number == signal.SIGXFSZ:
        return TOOL_FILE.passed(f"{name} wrote a file that is too large")
    if number in STOPPED:
        return InputError(
            f"{name} was stopped ({signal.Signals(number).name})",
            "run this again, with more memory if it ran out",
            detail=done.said,
        )
    return None


def crashed(name: str, done: Done) -> InputError | None:
    """The error for a program that crashed or ran out of memory; None if it exited normally."""
    number = _signal(done)
    if _NO_MEMORY.search(done.said):
        what = f"{name} ran out of memory"
    elif number:
        what = f"{name} ended by {name_of(number)}: it crashed or ran out of memory"
    else:
        return None
    return InputError(
        what,
        f"run this again with more memory; a tool gets at most {TOOL_MEMORY.most // MB:,} MB (the limit"
        f" `{TOOL_MEMORY.name}`)",
        detail=done.said,
    )


def _signal(done: Done) -> int:
    """The signal that ended a program, or one that it ran; 0 for none."""
    if done.status < 0:
        return -done.status
    died = _DIED.search(done.said) if done.status else None
    return int(died[1]) if died else 0


def name_of(number: int) -> str:
    """The name of a signal."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
