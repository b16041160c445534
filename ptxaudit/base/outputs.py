"""Writes files whole or not at all: beside their place, then renamed; and never over what was read.

write("report.json", pieces)          OSError leaves what was there as it was
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from ptxaudit.base.interrupts import at_the_end

_PREFIX = ".ptxaudit-"
_NEW_FILE = 0o666  # without what the user's mask takes away


def write(path: str | os.PathLike[str], pieces: Iterable[str]) -> None:
    """Text into a file, in pieces. Raises OSError; then a file that was there is as it was."""
    target = os.path.realpath(path)
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):  # a device, a pipe
        with open(target, "wb") as file:
            file.writelines(map(encoded, pieces))
        return
    try:
        handle, made = tempfile.mkstemp(prefix=_PREFIX, dir=os.path.dirname(target))
    except PermissionError:
        if mode is None:
            raise
        with open(target, "wb") as file:  # may be written, while nothing may be made beside it
            file.writelines(map(encoded, pieces))
        return
    with at_the_end(lambda: os.unlink(made)):
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(map(encoded, pieces))
                os.fchmod(file.fileno(), _NEW_FILE & ~_mask() if mode is None else stat.S_IMODE(mode))
            os.replace(made, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(made)
            raise


def encoded(text: str) -> bytes:
    """UTF-8; half a character of a file's name is written as its number."""
    return text.encode("utf-8", "backslashreplace")


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
