"""What this tool is made of here, as one text: two that are equal find the same in the same file.

    of_tool()  ->  "5b0c…"      its own code and grammars, Python, the libraries that it computes with, the programs

It is a digest of contents, so that a copy elsewhere has the same one. To read a hundred megabytes for each audit would
take longer than what is kept saves: the digest is kept itself, under the *stamps* of all files, which the file system
changes with each write (time of modification and of the last change, size, inode). A stamp that is as young as a write
could be that came after it is not relied on.

There is none once a file of the package, or a library, has been written to since the process began: what runs may be
the old text.
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
NO_CODE = ("__pycache__", "nvrtc_include", "nvrtc_host")  # headers of CUDA sources, of which nothing is kept
LIBRARIES = {"numpy": "numpy", "lark": "lark", "networkx": "networkx", "elftools": "pyelftools"}  # by module
PROGRAMS = ("nvdisasm", "cuobjdump", "ptxas")
GRAIN = 2_000_000_000  # ns: the coarsest clock of a file system that is in use
READ_AT_ONCE = 1 << 20

Stamp = tuple[int, int, int, int] | None  # modified and changed (ns), size, inode; None: no such file


class Digests(Protocol):
    """Texts by their keys, as a dict."""

    def get(self, key: str, /) -> str | None: ...

    def __setitem__(self, key: str, value: str, /) -> None: ...


def stamp(file: str | os.PathLike[str]) -> Stamp:
    """What the file system says of a file's content, without reading it."""
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
    """What a file would have as its time of modification that is written now, in ns."""
    with tempfile.TemporaryFile() as now:
        return os.fstat(now.fileno()).st_mtime_ns


def written_since(file: str | os.PathLike[str], moment: int) -> bool:
    """A file was written to at that moment or later."""
    known = stamp(file)
    return known is not None and max(known[:2]) >= moment


def of_package(folder: Path = PACKAGE) -> dict[str, Stamp]:
    """The files that are this tool's own code, below its folder, with their stamps."""
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
    """The files that decide what is computed, with their stamps: the package's, the grammars, and one of each
    library.
    """
    return of_package() | {file: stamp(file) for file in (*map(str, resources.grammars()), *_markers())}


def of_tool(kept: Digests) -> str | None:
    """The digest; None where the code has changed since the process began. kept: where digests are kept from one
    process to the next."""
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
    """The program that is run where none is named, by its content; the others, of which there may be a gigabyte, by
    path and stamp."""
    paths = [os.path.realpath(tool.path) for tool in _found(kind)]
    first = [_kept(kept, {path: stamp(path)}, partial(content, path)) for path in paths[:1]]
    return [kind, *first, *((path, stamp(path)) for path in paths[1:])]


def _kept(kept: Digests, question: dict[str, Stamp], find: Callable[[], str], around: object = None) -> str:
    """A digest of some files that is kept under their stamps, where none of them was written to so lately that another
    write could leave its stamp as it is. around: what else decides it."""
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
    """A file wherever the package, the grammars and the libraries lie."""
    path = Path(file)
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else f"{path.parent.name}/{path.name}"


def _found(kind: str) -> tuple[Tool, ...]:
    from ptxaudit.frontend.compile.toolchains import find

    return find(kind)


def _markers() -> Iterator[str]:
    """A file of each library that another release of it changes."""
    for module in LIBRARIES:
        spec = find_spec(module)
        if spec is not None and spec.origin:
            yield spec.origin


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # not where the digest is kept

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


AT_START = _of_code()  # `pipeline` imports this before anything that computes
