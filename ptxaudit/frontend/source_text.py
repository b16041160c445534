"""Reads text inputs (CUDA source, PTX), rejecting what is not text, and lines of sources for display."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.source_files import Roots

_OCTAL = re.compile(rb"\\([23][0-7]{2})")
_OTHER_ENCODINGS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def read_text(path: str | os.PathLike[str], limit: limits.Limit = limits.TEXT) -> str:
    """The text of a UTF-8 file of at most `limit`. Raises InputError if it cannot be read or is not UTF-8 text."""
    name = os.fspath(path)
    try:
        data = files.read_bytes(path, limit)
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", "name a file in it", name) from None
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", "check the path", name) from None
    return decode(data, name)


def decode(data: bytes, name: str) -> str:
    """`data` as UTF-8 text, without a byte-order mark. Raises InputError at the first invalid byte."""
    for mark, encoding in _OTHER_ENCODINGS:
        if data.startswith(mark):
            hint = f"save it as UTF-8: iconv -f {encoding} -t UTF-8"
            raise InputError(f"this is {encoding}, not UTF-8 text", hint, name, 1, 1)
    if b"\0" in data:
        line, column = _place(data, data.index(b"\0"))
        raise InputError(
            "this is binary, not text: it has a zero byte", "check that this is the right file", name, line, column
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start)
        hint = "save it as UTF-8: iconv -f LATIN1 -t UTF-8"
        raise InputError(f"this is not UTF-8 text: byte 0x{data[error.start]:02x}", hint, name, line, column) from None
    if not text.strip():
        raise InputError("this is empty", "check that this is the right file", name)
    return text


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """The 1-based line and column (in bytes) of an offset."""
    return data.count(b"\n", 0, offset) + 1, offset - data.rfind(b"\n", 0, offset)


def unescaped(path: str) -> str:
    r"""A path from PTX or a line table, with its octal escapes of non-ASCII bytes decoded: `\303\274.cu` -> `ü.cu`."""
    if "\\" not in path:
        return path
    return _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), path.encode()).decode("utf-8", "replace")


class SourceLines:
    """Reads lines of source files for display; None if a file cannot be read.

    texts: sources already in memory, by their names in line tables. roots: where other files may be read.
    """

    def __init__(self, texts: dict[str, str] | None = None, roots: Roots = Roots()) -> None:
        self._texts = dict(texts or {})
        self._files = {file: text.splitlines() for file, text in self._texts.items()}
        self.roots = roots

    def __call__(self, file: str, line: int) -> str | None:
        if file not in self._files:
            self._files[file] = self._read(file)
        lines = self._files[file]
        return lines[line - 1].strip() if 0 < line <= len(lines) else None

    def _read(self, file: str) -> list[str]:
        real = self.roots.allowed(file)
        return _lines_of(real, _state(real)) if real is not None else []

    def text(self, file: str) -> str | None:
        """The whole text of a file, unchanged; None if it may not be read, or is not UTF-8."""
        if file in self._texts:
            return self._texts[file]
        real = self.roots.allowed(file)
        return _text_of(real, _state(real)) if real is not None else None


def _state(file: str) -> tuple[int, int] | None:
    """A cache key that changes if a file is edited between two audits of one process."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _text_of(file: str, state: tuple[int, int] | None) -> str | None:
    data = Roots((os.path.dirname(file),)).read(file)
    try:
        return data.decode("utf-8") if data is not None else None
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _lines_of(file: str, state: tuple[int, int] | None) -> list[str]:
    return (Roots((os.path.dirname(file),)).read(file) or b"").decode("utf-8", "replace").splitlines()
