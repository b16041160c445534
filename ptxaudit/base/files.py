"""Opens files that a user or an input names: never a pipe without a writer, never more than the limit.

    read_bytes("launch.toml", limits.SETTINGS)        InputError beyond the limit, OSError if it cannot be read
    read_bytes(path, limits.SHOWN, regular=True)      InputError for a device, a pipe, a socket

A pipe that is already open (a shell's `<(command)`, /dev/stdin) is read unless `regular` forbids it.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from contextlib import suppress
from io import BufferedReader
from typing import Any, BinaryIO

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import HINT, MB, Limit

READ_AT_ONCE = 1 << 20  # bytes
GZIP_MAGIC = b"\x1f\x8b"


def is_text(given: Any) -> bool:
    """Whether this is the text of a program: a `str` of several lines. A path with a newline must be a `Path`."""
    return isinstance(given, str) and "\n" in given


def opened(path: str | os.PathLike[str], regular: bool = False) -> BufferedReader:
    """An open file.

    Raises InputError for a named pipe or a socket, with `regular` for anything but a regular file; otherwise OSError.
    """
    name = os.fspath(path)
    handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not stat.S_ISREG(mode) and (
            regular or stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode) and os.path.lexists(os.path.realpath(name))
        ):
            raise InputError(
                f"this is {kind_of(mode)}, not a file", "name a file; for a pipe, use standard input: -", name
            )
        os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def kind_of(mode: int) -> str:
    """The kind of file that `st_mode` encodes, in words."""
    tests = (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISDIR, "a folder"),
    )
    return next((words for test, words in tests if test(mode)), "a file")


def read_bytes(path: str | os.PathLike[str], limit: Limit, regular: bool = False) -> bytes:
    """The contents of a file. Raises InputError beyond the limit, and whatever `opened` raises."""
    with opened(path, regular) as file:
        return read_all(file, limit, os.fspath(path))


def read_all(file: BinaryIO, limit: Limit, name: str) -> bytes:
    """The rest of an open file. Raises InputError beyond the limit, if possible before reading."""
    with suppress(OSError):  # not a file of the operating system, e.g. a test's standard input
        _check(os.fstat(file.fileno()).st_size, limit, name)
    pieces, size = [], 0
    while piece := file.read(READ_AT_ONCE):
        pieces.append(piece)
        size += len(piece)
        _check(size, limit, name)
    return b"".join(pieces)


def _check(size: int, limit: Limit, name: str) -> None:
    if size > limit.most:
        raise InputError(
            f"this is longer than the {limit.most // MB} MB read from such a file (the limit `{limit.name}`)",
            HINT,
            name,
        )


def unzipped(data: bytes, limit: Limit, name: str) -> bytes:
    """The contents of gzip or zlib data. Raises InputError beyond the limit, ValueError for invalid data."""
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # accepts either header
    try:
        out = unpack.decompress(data, limit.most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    limit.check(len(out), "it decompresses to too much data", name)
    if not unpack.eof:
        raise ValueError("it is truncated")
    return out
