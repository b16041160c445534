"""Reads source files named by line information, and no others: a PTX file can name any file of the machine.

roots = Roots.of(["build/k.ptx"], ["src"])        build, the working folder, and src, which --source-root names
roots.read("src/k.cu")                            b"…"
roots.read("/etc/passwd")                         None: below none of them
roots.read("/dev/zero")                           None: not a regular file, or too long
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record


class Roots(Record):
    """folders: real paths; sources may be read below them."""

    folders: tuple[str, ...] = ()

    @staticmethod
    def of(inputs: Iterable[Any], named: Iterable[str]) -> Roots:
        """The folders of the inputs, the working folder, and the folders that the user names.

        The file system's root is excluded unless the user names it, as everything lies below it.
        """
        implied = [os.curdir, *(folder for given in inputs if (folder := _folder(given)) is not None)]
        real = [path for path in map(os.path.realpath, implied) if path != os.path.sep]
        return Roots(tuple(dict.fromkeys([*real, *map(os.path.realpath, named)])))

    def allowed(self, file: str) -> str | None:
        """The real path of a file that may be read, else None."""
        try:
            real = os.path.realpath(file)
        except (OSError, ValueError):  # the name contains a zero byte
            return None
        return real if any(_below(real, folder) for folder in self.folders) else None

    def read(self, file: str) -> bytes | None:
        """The content of a file; None if it may not be read, or cannot be."""
        real = self.allowed(file)
        try:
            return files.read_bytes(real, limits.SHOWN, regular=True) if real is not None else None
        except (OSError, InputError):
            return None


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder if folder.endswith(os.path.sep) else folder + os.path.sep)


def _folder(given: Any) -> str | None:
    """The parent folder of an input file, or the input itself if it is a folder."""
    if not isinstance(given, (str, os.PathLike)) or files.is_text(given) or given == "-":
        return None
    try:
        return os.fspath(given) if os.path.isdir(given) else os.fspath(Path(given).parent)
    except (OSError, ValueError):
        return None
