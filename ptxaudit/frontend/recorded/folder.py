"""The folder that a recording is: its code, what memory held, and a launch file.

    recording/recorded.toml            the launches, each with the file of its code and how often it was seen
    recording/code/k-3fa94e12.cubin    what was launched, equal code once, and its PTX beside it where it is known
    recording/sources/…                CUDA sources that the program compiled from its memory
    recording/arrays/….npy             what device memory held, where that was asked for

`ptxaudit record` and `ptxaudit.watch` write it; as an input, the folder and its launch file are the code in it.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ptxaudit.base.errors import InputError

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch

LAUNCH_FILE, CODE, SOURCES, ARRAYS = "recorded.toml", "code", "sources", "arrays"
SUFFIXES = (".cubin", ".ptx", ".fatbin")


def is_recording(path: str | os.PathLike[str]) -> bool:
    """The folder of a recording, or its launch file."""
    return launch_file(path) is not None


def launch_file(path: str | os.PathLike[str]) -> str | None:
    """The launch file of a recording that is named by its folder or by that file; None for what is no recording."""
    name = os.fspath(path)
    file = name if os.path.basename(name) == LAUNCH_FILE else os.path.join(name, LAUNCH_FILE)
    try:
        return file if os.path.isfile(file) and os.path.isdir(os.path.join(os.path.dirname(file), CODE)) else None
    except (OSError, ValueError):
        return None


def code_of(path: str | os.PathLike[str]) -> list[Path]:
    """The files of code of a recording, in order of their names.

    Raises InputError where it has none, and for a launch file that cannot be read.
    """
    file = launch_file(path)
    if file is not None:
        _by_code(file, _state(file))
    folder = Path(file).parent / CODE if file is not None else Path(path)
    found = sorted(one for one in folder.iterdir() if one.suffix in SUFFIXES and one.is_file())
    if not found:
        raise InputError(
            "this folder has no recording",
            "record a program that launches kernels: ptxaudit record -- COMMAND",
            os.fspath(path),
        )
    return found


def launches_of_file(code: str) -> tuple[Launch, ...]:
    """The recorded launches of a file of code; () for one that is in no recording.

    Raises InputError for a launch file that cannot be read.
    """
    file = _launch_file_of(code)
    if file is None:
        return ()
    known, real = _by_code(file, _state(file)), Path(os.path.realpath(code))
    return known.get(str(real)) or known.get(str(real.with_suffix(".cubin")), ())  # PTX beside its machine code


def command_of(code: str) -> str | None:
    """The command that was recorded, of a file of code in a recording; None for any other."""
    file = _launch_file_of(code)
    return None if file is None else _command(file, os.stat(file).st_mtime_ns)


def _launch_file_of(code: str) -> str | None:
    folder, parent = os.path.split(os.path.dirname(os.path.abspath(code)))
    return launch_file(folder) if parent == CODE else None


@lru_cache(maxsize=16)
def _command(file: str, _written: int) -> str | None:
    from ptxaudit.frontend.launch.launch_file import parsed

    try:
        command = parsed(file)[0].get("command")
    except InputError:  # said where its launches are read
        return None
    return command if isinstance(command, str) else None


Stamp = tuple[str, int, int, int]  # name, time of modification (ns), size, inode


def _state(file: str) -> tuple[Stamp, ...]:
    """What the file system says of a launch file and of the arrays that lie beside it."""
    arrays = Path(file).parent / ARRAYS
    files = [Path(file), *(sorted(arrays.iterdir()) if arrays.is_dir() else ())]
    stats = [(one.name, one.stat()) for one in files]
    return tuple((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in stats)


@lru_cache(maxsize=16)
def _by_code(file: str, _state: tuple[Stamp, ...]) -> dict[str, tuple[Launch, ...]]:
    """The launches of a recording by the real path of their code, for one state of its files."""
    from ptxaudit.frontend.launch.launch_file import read_launches

    found: dict[str, list[Launch]] = {}
    if not _has_launches(file):
        return {}
    for launch in read_launches(file):
        if launch.code is not None:
            found.setdefault(os.path.realpath(launch.code), []).append(launch)
    return {code: tuple(launches) for code, launches in found.items()}


def _has_launches(file: str) -> bool:
    """A recording of kernels that were compiled and not launched has only comments and the command in its file."""
    with open(file, encoding="utf-8", errors="replace") as lines:
        return any(line.strip() and not line.startswith(("#", "command = ")) for line in lines)
