"""A digest of everything on this machine that decides results: equal digests give equal results for the same file.

    of_tool()  ->  "5b0c…"      its own code and grammars, Python, the libraries that it computes with, the programs

The digest is made of contents, so that a copy elsewhere has the same one. Reading a hundred megabytes for each audit
would take longer than the cache saves, so the digest itself is cached under the *stamps* of all files, which the file
system changes with each write (times of modification and of the last change, size, inode). A stamp so recent that a
later write could have the same one is not relied on.

There is no digest once a file of the package or of a library has been written to since the process began: the code
that is running may be the old one.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ptxaudit.base import resources

if TYPE_CHECKING:
    from ptxaudit.frontend.compile.toolchains import Tool

PACKAGE = Path(__file__).resolve().parent.parent
CODE = (".py", ".json", ".jinja", ".lark")
NO_CODE = ("__pycache__", "nvrtc_include", "nvrtc_host")  # headers: sources are keyed by the compiler's output
LIBRARIES = {"numpy": "numpy", "lark": "lark", "networkx": "networkx", "elftools": "pyelftools"}  # by module
PROGRAMS = ("nvdisasm", "cuobjdump", "ptxas")
GRAIN = 2_000_000_000  # ns: the coarsest clock of a file system in use
READ_AT_ONCE = 1 << 20

Stamp = tuple[int, int, int, int] | None  # modified and changed (ns), size, inode; None: no such file


class Digests(Protocol):
    """Texts by key, like a dict."""

    def get(self, key: str, /) -> str | None: ...

    def __setitem__(self, key: str, value: str, /) -> None: ...


def stamp(file: str | os.PathLike[str]) -> Stamp:
    """The file system's metadata on a file's content, without reading it."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def content(file: str | os.PathLike[str]) -> str:
    """A digest of a file's content; "" where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open(file, "rb") as opened:
            while piece := opened.read(READ_AT_ONCE):
                digest.update(piece)
    except (OSError, ValueError):
        return ""
    return digest.hexdigest()


def moment() -> int:
    """The modification time that a file written now would have, in ns."""
    with tempfile.TemporaryFile() as now:
        return os.fstat(now.fileno()).st_mtime_ns


def written_since(file: str | os.PathLike[str], moment: int) -> bool:
    """Whether a file was written to at that moment or later."""
    known = stamp(file)
    return known is not None and max(known[:2]) >= moment


def of_package(folder: Path = PACKAGE) -> dict[str, Stamp]:
    """The files of this tool's own code, below its folder, with their stamps."""
    found: dict[str, Stamp] = {}
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders += [entry.path] if entry.name not in NO_CODE else []
                elif entry.name.endswith(CODE):
                    found[entry.path] = stamp(entry.path)
    return found


def _of_code() -> dict[str, Stamp]:
    """The files that decide results, with their stamps: the package's, the grammars, and one of each library."""
    return of_package() | {file: stamp(file) for file in (*map(str, resources.grammars()), *_markers())}


def of_tool(kept: Digests) -> str | None:
    """The digest; None if the code has changed since the process began. kept: stores digests from one process to the
    next."""
    code = _of_code()
    if code != AT_START:
        return None
    around = (sys.version, sys.byteorder, platform.machine())
    own = _kept(kept, code, lambda: _of_contents(code), around)
    libraries = [tool.version for tool in _found("nvrtc")]
    return _digest(around, own, [_of_programs(kept, kind) for kind in PROGRAMS], libraries)


def _of_contents(files: Iterable[str]) -> str:
    versions = [(name, _version(name)) for name in LIBRARIES.values()]
    return _digest([(_name(file), content(file)) for file in sorted(files)], versions)


def _of_programs(kept: Digests, kind: str) -> list[object]:
    """The program that runs by default, by content; the others, which may be a gigabyte, by path and stamp."""
    paths = [os.path.realpath(tool.path) for tool in _found(kind)]
    first = [_kept(kept, {path: stamp(path)}, partial(content, path)) for path in paths[:1]]
    return [kind, *first, *((path, stamp(path)) for path in paths[1:])]


def _kept(kept: Digests, question: dict[str, Stamp], find: Callable[[], str], around: object = None) -> str:
    """A digest of some files, cached under their stamps unless one of them was written so recently that another write
    could leave its stamp unchanged. around: other inputs of the digest."""
    key = f"fingerprint:{_digest(around, sorted(question.items()))}"
    known = kept.get(key)
    if isinstance(known, str):
        return known
    found, latest = find(), moment() - GRAIN
    if all(one is None or max(one[:2]) < latest for one in question.values()):
        kept[key] = found
    return found


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _name(file: str) -> str:
    """The name of a file, independent of where the package, the grammars and the libraries are installed."""
    path = Path(file)
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else f"{path.parent.name}/{path.name}"


def _found(kind: str) -> tuple[Tool, ...]:
    from ptxaudit.frontend.compile.toolchains import find

    return find(kind)


def _markers() -> Iterator[str]:
    """One file of each library that changes from release to release."""
    for module in LIBRARIES:
        spec = find_spec(module)
        if spec is not None and spec.origin:
            yield spec.origin


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # not needed if the digest is cached

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


AT_START = _of_code()  # `pipeline` imports this before anything that computes
