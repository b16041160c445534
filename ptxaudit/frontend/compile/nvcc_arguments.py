"""Arguments for nvcc that a shell cannot misread.

nvcc puts its arguments into command lines for `sh`, between double quotes: `$(…)` and backticks in a macro, a folder
or a file name would be executed. gcc, which it calls, treats an argument that begins with @ as a file of further
options. The command line therefore contains only text that means itself in every shell, quoted or not. Everything
else is passed in other ways: macros in a header, folders in the environment variable CPATH, a source by an #include.

    macros(["N=4", 'S="$(id)"'], folder)  ->  ["-DN=4", "-include", "/tmp/…/macros.h"]
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ptxaudit.base.errors import InputError

_INERT = re.compile(r"[\w./+:@%=-]*")
_MACRO = re.compile(r"(\w+(?:\([\w\s,.]*\))?)(?:=(.*))?", re.DOTALL)


def is_inert(text: str) -> bool:
    """Whether every shell takes the text literally."""
    return _INERT.fullmatch(text) is not None


def check(arguments: Sequence[str], file: str | None = None) -> None:
    """Raises InputError for arguments that must not be passed to nvcc."""
    for argument in arguments:
        if not is_inert(argument):
            raise InputError(
                f"nvcc would pass {argument!r} to a shell",
                "use NVRTC, or only letters, digits and ./+:@%=-_",
                file,
            )


def macros(defines: Sequence[str], folder: Path) -> list[str]:
    """The arguments for macros. Those that are not inert go into a header, which is included after cuda_runtime.h."""
    plain = [define for define in defines if is_inert(define)]
    others = [define for define in defines if not is_inert(define)]
    out = [f"-D{define}" for define in plain]
    if others:
        header = folder / "macros.h"
        header.write_text("".join(map(_directive, others)), encoding="utf-8", errors="surrogateescape")
        out += ["-include", str(header)]
    return out


def _directive(define: str) -> str:
    found = _MACRO.fullmatch(define)
    if found is None or any(letter in define for letter in "\n\r\0"):
        raise InputError(f"-D {define!r} is not a macro", "write it as -D NAME or -D NAME=VALUE, on one line")
    name, value = found.groups()
    return (
        f"#define {name} {'1' if value is None else value}\n\n"  # the empty line ends a value that ends in a backslash
    )


def folders(include: Sequence[str]) -> tuple[list[str], str]:
    """(arguments, CPATH) for folders of headers."""
    if all(map(is_inert, include)):
        return [f"-I{folder}" for folder in include], ""
    for folder in include:
        if os.pathsep in folder:
            raise InputError(f"nvcc cannot take the include directory {folder!r}", "use NVRTC, or a path without ':'")
    return [], os.pathsep.join([*map(os.path.abspath, include), *filter(None, [os.environ.get("CPATH")])])


def as_path(path: Path) -> str:
    """A path that is not read as an option, nor by gcc as the name of a file of options."""
    text = str(path)
    return text if text[0].isalnum() or text[0] in "_./" else f"./{text}"


def inclusion(path: Path) -> str:
    """The line that includes a source, whatever its name."""
    text = str(path.resolve())
    if any(letter in text for letter in '"\n\r\0'):
        raise InputError("nvcc cannot take a file of this name", "use NVRTC, or rename it", str(path))
    return f'#include "{text}"'
