"""Reads launches from TOML, and writes a launch file to fill in.

[[launch]]
kernel = "gemm_*"
grid = [4, 2]              ->  [Launch("gemm_*", grid=(4, 2, 1), block=(16, 16, 1), params=("?", 1024),
block = [16, 16]                       symbols={"pitch": 33})]
params = ["?", 1024]
symbols = {pitch = 33}
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

from ptxaudit.base import limits
from ptxaudit.base.demangle import demangle, split_name
from ptxaudit.base.errors import InputError
from ptxaudit.base.words import nearest
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.parameters import describe
from ptxaudit.frontend.launch.signature import numbered_name
from ptxaudit.frontend.source_text import read_text
from ptxaudit.ir import nodes as ir

TOP = ("launch", "command")  # command: the recorded program
KEYS = (
    "kernel",
    "grid",
    "block",
    "cluster",
    "dynamic_shared",
    "params",
    "param_bytes",
    "symbols",
    "memory",
    "code",
    "count",
)

_HEADER = re.compile(r"^\s*\[\[\s*launch\s*\]\]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a TOML key without quotes
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # a TOML string has these only as \uXXXX
_AT = re.compile(r"\s*\(at line (\d+), column (\d+)\)")


def read_launches(path: str | os.PathLike[str]) -> list[Launch]:
    """The launches of a TOML file, in order. Raises InputError with file and line for errors in it."""
    file = os.fspath(path)
    document, text = parsed(path)
    if "launch" not in document:
        raise InputError("there is no [[launch]] in this file", "`ptxaudit launches INPUT` writes one to fill in", file)
    for key in document:
        if key not in TOP:
            raise InputError(f"unknown table or key {key!r}", _close(key, ["launch"]), file, _line_of(text, key))
    if not isinstance(document.get("command", ""), str):
        raise InputError("command is not text", 'write command = "…", or nothing', file, _line_of(text, "command"))
    return launches_from(document["launch"], file, text)


def parsed(path: str | os.PathLike[str]) -> tuple[dict[str, Any], str]:
    """(document, text) of a launch file. Raises InputError if it is not TOML."""
    file = os.fspath(path)
    text = read_text(path, limits.SETTINGS)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        line, column = (int(at[1]), int(at[2])) if at else (len(text.splitlines()), None)  # "at end of document"
        raise InputError(
            f"this is not TOML: {str(error).split(' (at ')[0]}", "see https://toml.io", file, line, column
        ) from None
    except (ValueError, RecursionError) as error:  # a number with more digits than Python reads, deeply nested brackets
        raise InputError(
            f"this cannot be parsed as TOML: {error}", "write numbers of at most 64 bits, and no lists in lists", file
        ) from None
    return document, text


def launches_from(tables: Any, file: str | None = None, text: str = "") -> list[Launch]:
    """The launches of the parsed `[[launch]]` tables of a TOML document with that text."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(
            "launch is not an array of tables", "write [[launch]] with two brackets", file, _line_of(text, "launch")
        )
    starts: list[int | None] = [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    if len(starts) != len(tables):  # written inline: launch = [{…}]
        starts = [None] * len(tables)
    return [_launch(table, file, text, start) for table, start in zip(tables, starts)]


def _launch(table: dict[str, Any], file: str | None, text: str, start: int | None) -> Launch:
    for key in table:
        if key not in KEYS:
            raise InputError(f"a launch has no {key!r}", _close(key, KEYS), file, _line_of(text, key, start))
    if "kernel" not in table:
        raise InputError("this launch names no kernel", 'add kernel = "NAME", or "*" for all', file, start)
    try:
        return Launch(**_beside(table, file), file=file, line=start)
    except InputError as error:
        error.line = _line_of(text, error.setting, start) if error.setting in table else start
        if file:
            error.in_file(file)
        raise


def _beside(table: dict[str, Any], file: str | None) -> dict[str, Any]:
    """The table with the code's path relative to the launch file. Raises InputError if there is no such file."""
    code = table.get("code")
    if not isinstance(code, str) or file is None or file.startswith("<"):
        return table
    path = os.path.join(os.path.dirname(file), code)
    if "\0" in code or not os.path.isfile(path):
        raise InputError(
            f"there is no file {code!r}, the code of this launch",
            "the path is relative to the launch file; leave it out to match any file",
            setting="code",
        )
    return table | {"code": path}


def _close(key: str, known: Iterable[str]) -> str:
    known = list(known)
    close = nearest(key, known)
    return f"did you mean {close}?" if close else "it may have " + ", ".join(known)


def _line_of(text: str, key: str, start: int | None = None) -> int | None:
    """The first line after `start` that sets `key` or opens the table of that name."""
    wanted = re.compile(rf"\s*(?:\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
    for number, line in enumerate(text.splitlines(), 1):
        if number > (start or 0) and wanted.match(line):
            return number
    return start


# --- writing -----------------------------------------------------------------------------------

_PREFACE = """\
# Launches of {input}: replace each "?" by a known value; "?" leaves it unspecified, as for pointers.
# grid and block: 1 to 3 numbers, [32, 8]. params: 0.5 for a float, 2 for an integer, a list of numbers
# or a string of hexadecimal digits ("0a 00 ?? ??") for a structure; for a pointer what it points to,
# {{file = "in.npy"}}, {{values = [3, 1], type = "u8"}} or {{zeros = 256, type = "u32"}}, where accesses depend on it.
# Several [[launch]] of one kernel are several results.
"""


def write_launches(kernels: Sequence[ir.Function], input: str) -> str:
    """A launch file for these kernels, as TOML to fill in. It can be read back unchanged."""
    return _PREFACE.format(input=input) + "".join("\n" + _template(kernel) for kernel in kernels)


def _template(kernel: ir.Function) -> str:
    lines = ["[[launch]]", f"kernel = {string(kernel.name)}"]
    if (plain := demangle(kernel.name)) != kernel.name:
        lines.insert(0, f"# {plain}")
    limit = f", at most {kernel.max_threads} threads" if kernel.max_threads and not kernel.block else ""
    lines.append(_line('grid = "?"', "blocks in x, y, z"))
    lines.append(
        _line(f"block = {_dims(kernel.block)}", "threads in x, y, z" + (", from the binary" if kernel.block else limit))
    )
    if kernel.cluster:
        lines.append(_line(f"cluster = {_dims(kernel.cluster)}", "blocks in x, y, z, from the binary"))
    if any(v.space == "shared" and v.size == 0 for v in kernel.variables):
        lines.append(_line('dynamic_shared = "?"', "bytes"))
    if not kernel.parameters:
        return "\n".join([*lines, "params = []", *_symbols(kernel)]) + "\n"
    types = split_name(kernel.name)[1]
    lines.append("params = [")
    for index, parameter in enumerate(kernel.parameters):
        written = types[index] if len(types) == len(kernel.parameters) else "pointer" if parameter.pointer else ""
        named = parameter.name if parameter.name != numbered_name(kernel.name, index) else ""
        said = " ".join(filter(None, (str(index), written, named)))
        lines.append(_line('    "?",', f"{said}: {describe(parameter)}"))
    return "\n".join([*lines, "]", *_symbols(kernel)]) + "\n"


def _symbols(kernel: ir.Function) -> list[str]:
    """Settings for the variables in constant memory that the file leaves for the host to fill."""
    empty = [v for v in kernel.variables if v.left_to_host and v.size]
    if not empty:
        return []
    keys = [name if _BARE.fullmatch(name) else string(name) for name in (demangle(v.name) for v in empty)]
    settings = [_line(f'{key} = "?"', f"__constant__, {v.size} bytes") for key, v in zip(keys, empty)]
    return [_line("[launch.symbols]", "values written by the host before"), *settings]


def _line(setting: str, comment: str) -> str:
    return f"{setting:<24}# {comment}"


def _dims(dims: tuple[int, int, int] | None) -> str:
    return '"?"' if dims is None else str(list(dims))


def string(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
