"""Finds the data files of the package: the grammars, with Lark's tables for them, and the JSON schemas.

In a checkout `grammars/` lies beside the package; in an installed wheel inside it.
"""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


_GRAMMARS = (PACKAGE / "grammars", PACKAGE.parent / "grammars")


def grammar(name: str) -> str:
    """The text of `grammars/NAME` ("ptx.lark"). FileNotFoundError when there is no such grammar."""
    for folder in _GRAMMARS:
        path = folder / name
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"no grammar {name!r} in {_GRAMMARS[0]} or {_GRAMMARS[1]}")


def grammars() -> list[Path]:
    """The files of all grammars, wherever they are."""
    return [path for folder in _GRAMMARS for path in sorted(folder.glob("*.lark"))]


def tables_of(name: str, grammar: str) -> str | None:
    """Where Lark keeps its tables for a grammar: in the user's cache folder (they are pickled, so nowhere that others
    can write). None where that cannot be written."""
    import hashlib

    import lark
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("ptxaudit", appauthor=False))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    key = hashlib.sha256(f"{grammar}{lark.__version__}{sys.version}".encode()).hexdigest()[:16]
    return str(folder / f"{name}-{key}.tables")


def data(name: str) -> Path:
    """The path of a file of the package, by its path inside it ("schemas/report.json")."""
    path = PACKAGE / name
    if not path.exists():
        raise FileNotFoundError(f"no file {name!r} in {PACKAGE}")
    return path
