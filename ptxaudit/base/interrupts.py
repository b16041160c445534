"""Ends the command when it is interrupted or terminated: no process, no temporary file and no half-written output
stays.

    with handled():              SIGINT -> exit status 130, SIGTERM -> 143, SIGHUP -> 129
        …

Everything happens in the handler, at once: what runs at the time may be anything, and is not asked to give way.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OF_SIGNAL = 128  # what the number of a signal is added to in an exit status

_last: list[Callable[[], None]] = []  # what is to be done before the process ends


@contextmanager
def handled() -> Iterator[None]:
    """The command ends as said above inside; in a thread, where there are no signals, nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:  # as of `nohup`, or of a job in the background
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def at_the_end(action: Callable[[], None]) -> Iterator[None]:
    """Does something before the process ends by a signal inside."""
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
