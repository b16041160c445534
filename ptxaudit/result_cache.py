"""Keeps what was found in a file, so that a file that has not changed is not audited again.

    key   = the file's path and content, the options, this tool's own code, the disassembler and the assembler
    value = the kernels found in it, as they stand in the report

Only for files whose content is everything that decides: PTX and compiled code. A CUDA source is compiled
each time, since what it includes may have changed. Nothing is kept of a file with a problem, of a kernel
whose time ran out, or under options that cannot be written down; a value is used only if the source files
whose lines it shows are the same as then. `--no-cache` leaves all of it aside.

It is kept in the user's cache folder, which only the user can read: values are pickled.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxaudit.buffers import Buffer
from ptxaudit.collect import Part
from ptxaudit.errors import InputError
from ptxaudit.inputs import read
from ptxaudit.launch import Launch
from ptxaudit.options import Options

if TYPE_CHECKING:
    from diskcache import Cache

KINDS = frozenset({"ptx", "cubin", "fatbin", "host", "cache"})
MOST_BYTES = 1 << 30
TOOLS = ("nvdisasm", "cuobjdump", "ptxas")
PACKAGE = Path(__file__).parent

Stamp = tuple[int, int] | None           # modification time in ns and size; None: no such file


@dataclass(frozen=True)
class Kept:
    """What is kept of one file. sources: the source files that its lines are shown of."""

    part: Part
    sources: dict[str, Stamp]


class ResultCache:
    """The results kept for audits with these options."""

    def __init__(self, options: Options) -> None:
        self._options = _written(options)
        self._cache = _opened() if self._options is not None else None

    def get(self, item: Any) -> tuple[str | None, Part | None]:
        """(key, what is kept) of a file; no key where nothing can be kept of it."""
        key = self._key(item)
        if key is None or self._cache is None:
            return None, None
        try:
            kept = self._cache.get(key)
        except Exception:                # a damaged file, an older layout: as good as nothing
            return key, None
        if not isinstance(kept, Kept) or any(_stamp(file) != stamp for file, stamp in kept.sources.items()):
            return key, None
        return key, kept.part

    def put(self, key: str, part: Part) -> None:
        """Keeps what was found in a file."""
        if self._cache is None or not _keepable(part):
            return
        try:
            self._cache.set(key, Kept(part, {file: _stamp(file) for file in _sources(part)}))
        except Exception:                # a full disk, a lock held too long: it is only a cache
            return

    def _key(self, item: Any) -> str | None:
        if self._cache is None or _name(item) is None:
            return None
        try:
            content = read(item)
        except InputError:
            return None
        if content.kind not in KINDS or not content.is_file:
            return None
        beside = Path(content.path).with_suffix(".cubin").exists()      # then PTX is not assembled again
        parts = (_code(), _tools(), self._options, content.path, content.kind, beside, content.sha256)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def _written(options: Options) -> str | None:
    """All that the options say; None where they hold something that has no text of its own."""
    try:
        return repr([(field.name, _plain(getattr(options, field.name))) for field in fields(options) if field.name not in ("jobs", "cache", "of_project")])
    except TypeError:
        return None


def _plain(value: Any) -> Any:
    """A value as text that is equal only for equal values. Raises TypeError where there is none."""
    if isinstance(value, Launch):
        return [(field.name, _plain(getattr(value, field.name))) for field in fields(value) if field.compare]
    if isinstance(value, Buffer):
        return value.address, value.record()
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if hasattr(value, "items"):
        return [(str(key), _plain(one)) for key, one in value.items()]
    if value is None or isinstance(value, (str, int, float, bytes)):
        return type(value).__name__, value
    if hasattr(value, "__dataclass_fields__"):
        return [(field.name, _plain(getattr(value, field.name))) for field in fields(value)]
    raise TypeError(type(value))


def _keepable(part: Part) -> bool:
    sites = (site for kernel in part.kernels for site in kernel.sites)
    return not part.failed and not part.problems and not any("budget" in site.reason for site in sites)


def _sources(part: Part) -> Iterator[str]:
    for kernel in part.kernels:
        for site in kernel.sites:
            if site.source is not None:
                yield site.source.file
                yield from (frame.file for frame in site.source.inlined)


def _stamp(file: str | os.PathLike[str]) -> Stamp:
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


@cache
def _code() -> str:
    """This tool's own code: another build of it may know better."""
    files = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".lark", ".json"))
    return hashlib.sha256(repr([(str(path), _stamp(path)) for path in files]).encode()).hexdigest()


@cache
def _tools() -> str:
    """The programs that machine code goes through."""
    from ptxaudit import toolchains

    found = [tool.path for kind in TOOLS for tool in toolchains.find(kind)]
    return repr([(path, _stamp(path)) for path in found])


@cache
def _opened() -> Cache | None:
    """The cache in the user's folder, or None where it cannot be written."""
    import platformdirs
    from diskcache import Cache

    folder = Path(platformdirs.user_cache_dir("ptxaudit", appauthor=False)) / "results"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid():
            return None
        return Cache(str(folder), size_limit=MOST_BYTES, eviction_policy="least-recently-used", timeout=5)
    except Exception:                    # no place for it, or not a cache: audits go on without
        return None


def with_kept(inputs: Sequence[Any], options: Options, audit: Callable[[Sequence[Any]], Part]) -> Part:
    """What became of inputs, in their order: `audit` is asked only for files of which nothing is kept."""
    results = ResultCache(options)
    whole = Part()
    files = list(whole.files_of(inputs, options.isa))
    found = [results.get(file) for file in files]
    missing = [file for file, (_, kept) in zip(files, found) if kept is None]
    fresh = audit(missing) if missing else Part()        # nothing is imported for nothing
    pieces = split(fresh, missing)
    apart = all(_name(file) in pieces for file in missing)
    for file, (key, kept) in zip(files, found):
        piece = pieces.get(_name(file))
        if kept is not None:
            whole.add(kept)
        elif apart:
            whole.add(piece)
        if kept is None and key is not None and piece is not None:
            results.put(key, piece)
    if not apart:
        whole.add(fresh)
    return whole


def _name(item: Any) -> str | None:
    """The name of an input that is a file, which text and standard input are not."""
    if not isinstance(item, (str, os.PathLike)) or str(item) == "-" or "\n" in str(item):
        return None
    return os.fspath(item)


def split(part: Part, files: Sequence[Any]) -> dict[str | None, Part]:
    """What a part has of each file, for those that are in it once; {} where a problem is of no file."""
    given = Counter(name for file in files if (name := _name(file)) is not None)
    if any(problem.file not in given for problem in part.problems):
        return {}
    out: dict[str | None, Part] = {}
    for file in (name for name, count in given.items() if count == 1):
        problems = [problem for problem in part.problems if problem.file == file]
        out[file] = Part(
            inputs=[entry for entry in part.inputs if entry.path == file],
            names_of={file: part.names_of.get(file, [])},
            parameters_of={file: part.parameters_of.get(file, set())},
            kernels=[kernel for kernel in part.kernels if kernel.input == file],
            problems=problems,
            failed=any(problem.kernel is None for problem in problems),
        )
    return out
