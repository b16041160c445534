"""Keeps what was found in a file, so that a file that has not changed is not audited again.

    key   = the file's path and content, what lies beside it, the options, and what this tool is made of (`fingerprint`)
    value = the kernels found in it, as they stand in the report

Only for files whose content is everything that decides: PTX and compiled code. A CUDA source is compiled
each time, since what it includes may have changed. Nothing is kept of a file with a problem, or under options
that cannot be written down; a value is used only if the source files whose lines it shows have the same content
as then. `--no-cache` leaves all of it aside.

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

from ptxaudit import fingerprint
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
BESIDE = (".ptx", ".cubin")              # with one of these of the same name, the other is not made of a file


@dataclass(frozen=True)
class Kept:
    """What is kept of one file. sources: the source files that its lines are shown of, with their stamps and contents."""

    part: Part
    sources: dict[str, tuple[fingerprint.Stamp, str]]


class ResultCache:
    """The results kept for audits with these options."""

    def __init__(self, options: Options) -> None:
        self._options = _written(options)
        self._cache = _opened() if self._options is not None else None
        self._tool = _tool(self._cache) if self._cache is not None else None

    def get(self, item: Any) -> tuple[str | None, Part | None]:
        """(key, what is kept) of a file; no key where nothing can be kept of it."""
        key = self._key(item)
        if key is None or self._cache is None:
            return None, None
        try:
            kept = self._cache.get(key)
        except Exception:                # a damaged file, an older layout: as good as nothing
            return key, None
        if not isinstance(kept, Kept) or not all(_is_the_same(file, *known) for file, known in kept.sources.items()):
            return key, None
        return key, kept.part

    def put(self, key: str, item: Any, part: Part, began: int) -> None:
        """Keeps what was found in a file. began: the moment after the key was made, and before the audit."""
        sources = set(_sources(part))
        if self._cache is None or not _keepable(part) or any(fingerprint.written_since(file, began) for file in (item, *sources)):
            return
        try:
            self._cache.set(key, Kept(part, {file: (fingerprint.stamp(file), fingerprint.content(file)) for file in sources}))
        except Exception:                # a full disk, a lock held too long: it is only a cache
            return

    def _key(self, item: Any) -> str | None:
        if self._tool is None or _name(item) is None:
            return None
        try:
            content = read(item)
        except InputError:
            return None
        if content.kind not in KINDS or not content.is_file:
            return None
        beside = [suffix for suffix in BESIDE if Path(content.path).with_suffix(suffix).exists()]
        parts = (self._tool, self._options, content.path, content.kind, beside, content.sha256)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def _tool(cache: Cache) -> str | None:
    try:
        return fingerprint.of_tool(cache)
    except Exception:                    # a damaged file: as good as no cache
        return None


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
    """Nothing went wrong, and no name stays mangled because this machine has no library that reads it."""
    mangled = any(kernel.name.startswith("_Z") and kernel.demangled == kernel.name for kernel in part.kernels)
    return not part.failed and not part.problems and not mangled


def _sources(part: Part) -> Iterator[str]:
    for kernel in part.kernels:
        for source in (one.source for one in (*kernel.sites, *kernel.local)):
            if source is not None:
                yield source.file
                yield from (frame.file for frame in source.inlined)


def _is_the_same(file: str, stamp: fingerprint.Stamp, content: str) -> bool:
    return fingerprint.stamp(file) == stamp or fingerprint.content(file) == content


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
    began = fingerprint.moment()
    fresh = audit(missing)
    pieces = split(fresh, missing)
    apart = all(_name(file) in pieces for file in missing)
    for file, (key, kept) in zip(files, found):
        piece = pieces.get(_name(file))
        if kept is not None:
            whole.add(kept)
        elif apart:
            whole.add(piece)
        if kept is None and key is not None and piece is not None:
            results.put(key, file, piece, began)
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
