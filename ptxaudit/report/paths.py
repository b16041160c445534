"""Shortens the paths in a report for people, and for services that identify files by their place in a repository."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ptxaudit.base.places import is_installed, line_of, own

if TYPE_CHECKING:
    from ptxaudit.report.model import Frame, Kernel, MemorySite, Site, Source


@lru_cache(maxsize=4096)
def below(file: str, root: str | os.PathLike[str] | None) -> str:
    """`file` relative to `root` if it is below it, with forward slashes; else unchanged."""
    path = PurePath(file)
    if root is not None and path.is_absolute():
        for folder in (PurePath(root), PurePath(os.path.realpath(root))):
            if path.is_relative_to(folder):
                return path.relative_to(folder).as_posix()
    return path.as_posix()


def is_own(file: str, root: str | os.PathLike[str] | None) -> bool:
    """Whether a file belongs to the project: it is below the root, if there is one, and not in an installed package."""
    path = below(file, None if root is None else os.fspath(root))
    return not (root is not None and PurePath(path).is_absolute()) and not is_installed(path)


def here() -> str:
    """The folder that displayed paths are relative to: the working folder."""
    return str(Path.cwd())


def own_place(source: Source) -> Source | Frame:
    """The user's line: the access's own, or the innermost line where it was inlined that is not in a toolkit header."""
    return own(source.places)


def place(site: Site | MemorySite, kernel: Kernel) -> str:
    """The place of a site, short: file:line of the user's own, else the line of the PTX or the offset in the
    function."""
    if site.source:
        return line_of(site.source)
    if site.ptx_line is not None:
        return f"{PurePath(kernel.input).name}:{site.ptx_line}" if kernel.is_ptx_file else f"PTX line {site.ptx_line}"
    return f"+{site.offset:#06x}" if site.offset is not None else site.id
