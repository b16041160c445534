"""Temporary folders for the files of a vendor's tool; they are removed however the process ends.

They are all in one folder per process, which only its user can enter. The processes of an audit with `--jobs` share
that of the first, so that one process can remove everything.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ptxaudit.base.errors import InputError

_PREFIX = "ptxaudit-"
_of_process: dict[int, str] = {}  # process -> its folder; a forked process has its own


@contextmanager
def folder() -> Iterator[str]:
    """The path of an empty folder. Raises InputError if nothing, or not enough, can be written there."""
    try:
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=root()) as name:
            yield name
    except OSError as error:
        raise InputError(
            f"temporary files cannot be written: {error.strerror or error}",
            "free some space in their folder, or set the environment variable TMPDIR to another",
        ) from error


def root() -> str:
    """The folder of this process, made on first use. Raises OSError."""
    path = _of_process.get(os.getpid())
    if path is None or not os.path.isdir(path):
        path = _of_process[os.getpid()] = tempfile.mkdtemp(prefix=_PREFIX)
        atexit.register(_clear_own, os.getpid(), path)
    return path


def _clear_own(process: int, path: str) -> None:
    if process == os.getpid():  # not in a forked process
        clear(path)


def share(path: str) -> None:
    """Uses the folder of another process, which removes it."""
    _of_process[os.getpid()] = path


def clear(path: str | None = None) -> None:
    """Removes the folder of this process, if it has made one."""
    path = path or _of_process.pop(os.getpid(), None)
    if path is not None:
        shutil.rmtree(path, ignore_errors=True)
