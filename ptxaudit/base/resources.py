"""Finds the data files of the package: the grammars with their tables, and the JSON schemas.

In a checkout, `grammars/` is beside the package; in an installed wheel, inside it.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


_GRAMMARS = (PACKAGE / "frontend" / "grammars", PACKAGE.parent / "grammars")


def grammar(name: str) -> str:
    """The text of `grammars/NAME` ("ptx.lark"). Raises FileNotFoundError if there is no such grammar."""
    return grammar_file(name).read_text(encoding="utf-8")


def grammar_file(name: str) -> Path:
    """The path of `grammars/NAME`. Raises FileNotFoundError if there is none."""
    for folder in _GRAMMARS:
        path = folder / name
        if path.is_file():
            return path
    raise FileNotFoundError(f"no grammar {name!r} in {_GRAMMARS[0]} or {_GRAMMARS[1]}")


def grammars() -> list[Path]:
    """The files of all grammars and their tables, in either place."""
    return [path for folder in _GRAMMARS for suffix in ("lark", "json") for path in sorted(folder.glob(f"*.{suffix}"))]


def data(name: str) -> Path:
    """The path of a file in the package ("report/schemas/report-1.schema.json"). Raises FileNotFoundError."""
    path = PACKAGE / name
    if not path.exists():
        raise FileNotFoundError(f"no file {name!r} in {PACKAGE}")
    return path
