"""The folder of a recording: its code, contents of memory, and a launch file.

    recording/recorded.toml            the launches, each with its code file and the number of times it was seen
    recording/code/k-3fa94e12.cubin    the launched code, equal code once, with its PTX beside it if known
    recording/sources/…                CUDA sources that the program compiled from memory
    recording/arrays/….npy             contents of device memory, if requested

`ptxaudit record` and `ptxaudit.watch` write it. As an input, the folder or its launch file stands for the code in it.
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
    """Whether the path is the folder of a recording, or its launch file."""
    return launch_file(path) is not None


def launch_file(path: str | os.PathLike[str]) -> str | None:
    """The launch file of a recording, named by its folder or by that file; None if it is not a recording."""
    name = os.fspath(path)
    file = name if os.path.basename(name) == LAUNCH_FILE else os.path.join(name, LAUNCH_FILE)
    try:
        return file if os.path.isfile(file) and os.path.isdir(os.path.join(os.path.dirname(file), CODE)) else None
    except (OSError, ValueError):
        return None


def code_of(path: str | os.PathLike[str]) -> list[Path]:
    """The code files of a recording, sorted by name.

    Raises InputError if it has none, or if its launch file cannot be read.
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
    """The recorded launches of a code file; () if it belongs to no recording.

    Raises InputError if the launch file cannot be read.
    """
    file = _launch_file_of(code)
    if file is None:
        return ()
    known, real = _by_code(file, _state(file)), Path(os.path.realpath(code))
    return known.get(str(real)) or known.get(str(real.with_suffix(".cubin")), ())  # PTX beside its machine code


def command_of(code: str) -> str | None:
    """The recorded command, for a code file of a recording; None for any other file."""
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
    except InputError:  # reported when its launches are read
        return None
    return command if isinstance(command, str) else None


Stamp = tuple[str, int, int, int]  # name, modification time (ns), size, inode


def _state(file: str) -> tuple[Stamp, ...]:
    """The file system's state of a launch file and of the arrays beside it."""
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
    """Whether the file has more than comments and the command: kernels may have been compiled but not launched."""
    with open(file, encoding="utf-8", errors="replace") as lines:
        return any(line.strip() and not line.startswith(("#", "command = ")) for line in lines)
