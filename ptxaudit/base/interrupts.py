"""Ends the command when it is interrupted or terminated, and leaves no process, temporary file or half-written output.

    with handled():              SIGINT -> exit status 130, SIGTERM -> 143, SIGHUP -> 129
        …

The handler does everything at once and never returns to the interrupted code, which may be anything.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OF_SIGNAL = 128  # an exit status is this plus the number of the signal

_last: list[Callable[[], None]] = []  # to call before the process ends


@contextmanager
def handled() -> Iterator[None]:
    """Within it, signals end the command as described above. Does nothing outside of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:  # ignored under `nohup` and in background jobs
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def at_the_end(action: Callable[[], None]) -> Iterator[None]:
    """Within it, a signal that ends the process calls the action first."""
    _last.append(action)
    try:
        yield
    finally:
        _last.remove(action)


def _leave(number: int, frame: object) -> None:
    from ptxaudit.base import processes, temporary

    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    for step in (processes.end_descendants, *reversed(_last), temporary.clear):
        with suppress(Exception):
            step()
    with suppress(Exception):
        print(f"ptxaudit: {'interrupted' if number == signal.SIGINT else 'terminated'}", file=sys.stderr, flush=True)
    os._exit(OF_SIGNAL + number)
