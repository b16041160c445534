"""Reads a project's settings: `[tool.ptxaudit]` in pyproject.toml, or ptxaudit.toml.

    [tool.ptxaudit]
    inputs = ["src/kernels"]
    arch = "sm_90"
    launches = ["launches.toml"]
    rules = ["PA001", "excess=2"]          # denied, as with --fail-on
    baseline = "ptxaudit-baseline.json"

The file is the nearest one in the working directory or its parents; its paths are relative to it. The command line
takes precedence.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.words import nearest

NAMES = ("ptxaudit.toml", "pyproject.toml")
TABLE = "[tool.ptxaudit]"


@dataclass(frozen=True)
class Key:
    """One setting. option: the parameter that it sets; kind: its type; path: it is relative to the file's folder."""

    option: str
    kind: type
    path: bool = False


KEYS: dict[str, Key] = {
    "inputs": Key("inputs", list, path=True),
    "exclude": Key("exclude", list),
    "arch": Key("arch", str),
    "isa": Key("isa", str),
    "machine": Key("machine", str),
    "kernels": Key("kernels", list),
    "launches": Key("launch_files", list, path=True),
    "assume": Key("assumed", list),
    "include": Key("include", list, path=True),
    "defines": Key("defines", list),
    "std": Key("std", str),
    "instantiate": Key("instantiate", list),
    "compiler": Key("compiler", str),
    "toolchain": Key("toolchain", str),
    "ptxas": Key("ptxas", str),
    "compile-commands": Key("compile_commands", str, path=True),
    "rules": Key("fail_on", list),
    "ignore": Key("ignore", list),
    "strict": Key("strict", bool),
    "baseline": Key("baseline", str, path=True),
    "jobs": Key("jobs", int),
    "budget": Key("budget", float),
}


@dataclass(frozen=True)
class Config:
    """The settings of a file, by command parameter. file: None without a settings file."""

    file: str | None = None
    values: dict[str, Any] | None = None

    def get(self, option: str, default: Any = None) -> Any:
        return (self.values or {}).get(option, default)


def find_config(start: str | os.PathLike[str] = ".") -> Path | None:
    """The settings file in a folder, or in its nearest parent that has one."""
    for folder in (Path(start).resolve(), *Path(start).resolve().parents):
        for name in NAMES:
            file = folder / name
            if file.is_file() and (
                name != "pyproject.toml" or re.search(r"^\s*\[tool\.ptxaudit[\].]", _text(file), re.MULTILINE)
            ):
                return file
    return None


def read_config(file: str | os.PathLike[str]) -> Config:
    """The settings of a file. Raises InputError, with the place, for invalid TOML, keys or values."""
    import tomllib  # not needed in a folder without settings

    name = os.fspath(file)
    text = _text(Path(file))
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        raise InputError(f"this is not TOML: {error}", "see https://toml.io", name, line, column) from None
    except (ValueError, RecursionError) as error:  # too many digits for Python, or too deeply nested brackets
        raise InputError(f"this cannot be parsed as TOML: {error}", "see https://toml.io", name) from None
    table = document.get("tool", {}).get("ptxaudit", {}) if Path(file).name == "pyproject.toml" else document
    table = table.get("tool", {}).get("ptxaudit", table) if isinstance(table, dict) else table
    if not isinstance(table, dict):
        raise InputError(f"{TABLE} is not a table", "write the settings as KEY = VALUE below it", name)
    return Config(
        name,
        {KEYS[key].option: _value(key, value, name, text) for key, value in table.items() if _known(key, name, text)},
    )


def _known(key: str, file: str, text: str) -> bool:
    if key in KEYS:
        return True
    close = nearest(key, KEYS)
    hint = f"did you mean {close}?" if close else f"there are {', '.join(KEYS)}"
    raise InputError(f"there is no setting {key!r}", hint, file, _line_of(key, text))


def _value(key: str, value: Any, file: str, text: str) -> Any:
    wanted: type[Any] = KEYS[key].kind
    if wanted is list and isinstance(value, str):
        value = [value]
    if wanted is float and type(value) is int:
        value = float(str(value))  # infinite if it has too many digits, which no setting accepts
    if type(value) is not wanted or wanted is list and not all(isinstance(item, str) for item in value):
        kinds = {
            list: "a list of strings",
            str: "a string",
            bool: "true or false",
            int: "a whole number",
            float: "a number",
        }
        raise InputError(
            f"{key} is {value!r}, not {kinds[wanted]}",
            "see `ptxaudit audit --help` for what it means",
            file,
            _line_of(key, text),
        )
    if KEYS[key].path:
        value = [_from(file, item) for item in value] if wanted is list else _from(file, value)
    return tuple(value) if wanted is list else value


def _from(file: str, path: str) -> str:
    """A path from the settings, relative to the working directory."""
    whole = os.path.join(os.path.dirname(os.path.abspath(file)), path)
    return os.path.relpath(whole) if not os.path.isabs(path) else path


def _line_of(key: str, text: str) -> int | None:
    found = re.search(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*=", text, re.MULTILINE)
    return text.count("\n", 0, found.start() + len(found[0]) - len(found[0].lstrip())) + 1 if found else None


def _text(file: Path) -> str:
    try:
        return files.read_bytes(file, limits.SETTINGS).decode("utf-8")
    except OSError as error:
        raise InputError(
            f"cannot read the settings: {error.strerror}", "check the path given with --config", str(file)
        ) from None
    except UnicodeDecodeError:
        raise InputError("the settings are not UTF-8 text", "save them as UTF-8", str(file)) from None
