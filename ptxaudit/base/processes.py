"""Ends processes that this one has started, and all that they have started.

    end_descendants(1234)        the process 1234 and everything below it
    end_descendants()            everything below this process

They are stopped first, so that none starts another while they are looked for (/proc, Linux).
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_ROUNDS = 20  # looks for processes that were begun in the meantime
_END = 1.0  # seconds in which the killed ones that are not children of this process are waited for


def end_descendants(root: int | None = None) -> None:
    """Ends a process and all below it; without `root`, all below this process."""
    found: set[int] = set()
    for _ in range(_ROUNDS):
        new = {*([] if root is None else [root]), *below(root or os.getpid())} - found
        if not new:
            break
        _send(new, signal.SIGSTOP)
        found |= new
    _send(found, signal.SIGKILL)
    for process in found - {root}:
        with suppress(OSError):  # no child of this process, or waited for already
            os.waitpid(process, 0)
    end = time.monotonic() + _END
    while any(_runs(process) for process in found - {root}) and time.monotonic() < end:
        time.sleep(0.005)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def below(root: int) -> set[int]:
    """The processes that a process has started, and those that these have, without those that have ended."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(folder.name))
    out: set[int] = set()
    waiting = [root]
    while waiting:
        for process in children.get(waiting.pop(), ()):
            if process not in out:
                out.add(process)
                waiting.append(process)
    return out


def _send(processes: set[int], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
