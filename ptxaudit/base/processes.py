"""Kills processes that this one started, with all their descendants.

    end_descendants(1234)        the process 1234 and everything below it
    end_descendants()            everything below this process

They are stopped first, so that none starts another during the search (/proc, Linux).
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_ROUNDS = 20  # searches for processes that started in the meantime
_END = 1.0  # seconds to wait for killed processes that are not children of this one


def end_descendants(root: int | None = None) -> None:
    """Kills a process and all below it; without `root`, all below this process."""
    found: set[int] = set()
    for _ in range(_ROUNDS):
        new = {*([] if root is None else [root]), *below(root or os.getpid())} - found
        if not new:
            break
        _send(new, signal.SIGSTOP)
        found |= new
    _send(found, signal.SIGKILL)
    for process in found - {root}:
        with suppress(OSError):  # not a child of this process, or already waited for
            os.waitpid(process, 0)
    end = time.monotonic() + _END
    while any(_parent(process) is not None for process in found - {root}) and time.monotonic() < end:
        time.sleep(0.005)


def below(root: int) -> set[int]:
    """The running descendants of a process."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        parent = _parent(process := int(folder.name))
        if parent is not None:
            children.setdefault(parent, []).append(process)
    out: set[int] = set()
    waiting = [root]
    while waiting:
        for process in children.get(waiting.pop(), ()):
            if process not in out:
                out.add(process)
                waiting.append(process)
    return out


def _parent(process: int) -> int | None:
    """The parent of a running process; None if the process has ended."""
    try:
        state, parent = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
        return None if state in "ZX" else int(parent)
    except (OSError, ValueError):
        return None


def _send(processes: set[int], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
