"""Shows the current step on stderr, if it is a terminal and the command takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 2.0  # seconds


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yields a function to be called with a description of each step."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    shown = _Shown()
    timer = threading.Timer(PATIENCE, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield shown.step
    finally:
        timer.cancel()
        shown.stop()


class _Shown:
    """A spinner with the current step. Imports rich only when shown."""

    def __init__(self) -> None:
        self._step = "working"
        self._status: Status | None = None
        self._ended = False
        self._lock = threading.Lock()

    def step(self, text: str) -> None:
        with self._lock:
            self._step = text
            if self._status is not None:
                self._status.update(text)

    def start(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._ended:
                self._status = Console(stderr=True).status(self._step)
                self._status.start()

    def stop(self) -> None:
        with self._lock:
            self._ended = True
            if self._status is not None:
                self._status.stop()
