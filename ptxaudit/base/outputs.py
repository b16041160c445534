"""Writes files completely or not at all: to a temporary file beside the target, which then replaces it.

write("report.json", pieces)          on OSError the old file is unchanged
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from ptxaudit.base.interrupts import at_the_end

_PREFIX = ".ptxaudit-"
_NEW_FILE = 0o666  # before the umask is applied


def write(path: str | os.PathLike[str], pieces: Iterable[str]) -> None:
    """Writes pieces of text to a file.

    Raises OSError, and then leaves an existing file unchanged, unless its folder is not writable.
    """
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
        with open(target, "wb") as file:  # the file is writable, but its folder is not
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
    """The text in UTF-8; lone surrogates, as in names of files, become escapes."""
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
