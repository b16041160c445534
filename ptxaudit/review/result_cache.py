"""Keeps what was found in a file, so that a file that has not changed is not audited again.

    key   = the file's path and content, what lies beside it, the options, and what this tool is made of (`fingerprint`)
    value = the kernels found in it, as they stand in the report

Only for files whose content is everything that decides: PTX and compiled code. A CUDA source is compiled
each time, since what it includes may have changed. Nothing is kept of a file with a problem, or under options
that cannot be written down; a value is used only if the source files whose lines it shows have the same content
as then. `--no-cache` leaves all of it aside.

It is kept in the user's cache folder, which only the user can write, as rows of JSON: nothing in them executes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from ptxaudit.base import private
from ptxaudit.base.errors import InputError
from ptxaudit.base.rows import packed, unpacked
from ptxaudit.base.store import Store
from ptxaudit.frontend.inputs import is_text, read
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.collect import Part
from ptxaudit.report.model import Input, Kernel
from ptxaudit.review import fingerprint

KINDS = frozenset({"ptx", "cubin", "fatbin", "host", "cache"})
FILE = "results.db"
MOST_BYTES = 1 << 30
UNRELATED = (
    "jobs",
    "cache",
    "of_project",
    "on_machine",
    "source_root",
)  # options that decide nothing; sources are looked at one by one
BESIDE = (".ptx", ".cubin")  # with one of these of the same name, the other is not made of a file

State = tuple[fingerprint.Stamp, str]  # of a source file: its stamp, and a digest of its content


@dataclass(frozen=True)
class Kept:
    """What is kept of one file. sources: the source files that its lines are shown of, with their stamps and
    contents.
    """

    part: Part
    sources: dict[str, State]


class ResultCache:
    """The results kept for audits with these options."""

    def __init__(self, options: Options) -> None:
        self._options = _written(options)
        self._cache = _opened() if self._options is not None else None
        self._tool = _tool(self._cache) if self._cache is not None else None
        self._roots = Roots.of((), options)

    def get(self, item: Any) -> tuple[str | None, Part | None]:
        """(key, what is kept) of a file; no key where nothing can be kept of it."""
        key = self._key(item)
        if key is None or self._cache is None:
            return None, None
        try:
            data = self._cache.get(key)
            kept = _read(data) if data is not None else None
        except Exception:  # a damaged file, an older layout: as good as nothing
            return key, None
        if kept is None or not all(self._is_the_same(file, *known) for file, known in kept.sources.items()):
            return key, None
        return key, kept.part

    def put(self, key: str, item: Any, part: Part, began: int) -> None:
        """Keeps what was found in a file. began: the moment after the key was made, and before the audit."""
        sources = set(_sources(part))
        if (
            self._cache is None
            or not _keepable(part)
            or any(fingerprint.written_since(file, began) for file in (item, *sources))
        ):
            return
        try:
            self._cache.put(key, _text(Kept(part, {file: self._state(file) for file in sources})))
        except Exception:  # a full disk, a lock held too long: it is only a cache
            return

    def _state(self, file: str) -> State:
        """Of a source: as if it were not there for one that may not be read now, whose lines are then not shown."""
        stamp = fingerprint.stamp(file) if self._roots.allowed(file) is not None else None
        return stamp, self._content(file)

    def _is_the_same(self, file: str, stamp: fingerprint.Stamp, content: str) -> bool:
        now = fingerprint.stamp(file) if self._roots.allowed(file) is not None else None
        return now == stamp or self._content(file) == content

    def _content(self, file: str) -> str:
        """A digest of what is shown of a source; "" of one that is not."""
        data = self._roots.read(file)
        return hashlib.sha256(data).hexdigest() if data is not None else ""

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


@dataclass(frozen=True)
class _Digests:
    """The values of a store as text, for `fingerprint`."""

    store: Store

    def get(self, key: str) -> str | None:
        data = self.store.get(key)
        return data.decode() if data is not None else None

    def __setitem__(self, key: str, digest: str) -> None:
        self.store.put(key, digest.encode())


def _tool(cache: Store) -> str | None:
    try:
        return fingerprint.of_tool(_Digests(cache))
    except Exception:  # a damaged file: as good as no cache
        return None


def _written(options: Options) -> str | None:
    """All that the options say; None where they hold something that has no text of its own."""
    try:
        return repr(
            [
                (field.name, _plain(getattr(options, field.name)))
                for field in fields(options)
                if field.name not in UNRELATED
            ]
        )
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


def _text(kept: Kept) -> bytes:
    """What is kept, as JSON. TypeError where JSON does not hold it."""
    part = kept.part
    document = {
        "inputs": [packed(entry) for entry in part.inputs],
        "names": part.names_of,
        "parameters": {path: sorted(names) for path, names in part.parameters_of.items()},
        "kernels": [packed(kernel) for kernel in part.kernels],
        "sources": kept.sources,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape")


def _read(data: bytes) -> Kept:
    """What `_text` wrote. TypeError, ValueError or LookupError for what is none."""
    document = json.loads(data.decode("utf-8", "surrogateescape"))
    part = Part(
        inputs=[unpacked(Input, row) for row in document["inputs"]],
        names_of=document["names"],
        parameters_of={path: set(names) for path, names in document["parameters"].items()},
        kernels=[unpacked(Kernel, row) for row in document["kernels"]],
    )
    return Kept(
        part, {file: (stamp and tuple(stamp), content) for file, (stamp, content) in document["sources"].items()}
    )


def _keepable(part: Part) -> bool:
    """Nothing went wrong, and no name stays mangled because this machine has no library that reads it."""
    mangled = any(kernel.name.startswith("_Z") and kernel.demangled == kernel.name for kernel in part.kernels)
    return not part.failed and not part.problems and not mangled


def _sources(part: Part) -> Iterator[str]:
    for kernel in part.kernels:
        for source in (one.source for one in (*kernel.sites, *kernel.memory, *kernel.local)):
            if source is not None:
                yield source.file
                yield from (frame.file for frame in source.inlined)


@cache
def _opened() -> Store | None:
    """The cache in the user's folder, or None where it cannot be written, or others can write."""
    own = private.folder("results")
    try:
        return Store(own / FILE, MOST_BYTES) if own is not None else None
    except sqlite3.Error:  # a full disk, or not a cache: audits go on without
        return None


def with_kept(inputs: Sequence[Any], options: Options, audit: Callable[[Sequence[Any]], Part]) -> Part:
    """What became of inputs, in their order: `audit` is asked only for files of which nothing is kept."""
    results = ResultCache(options)
    whole = Part()
    files = list(whole.files_of(inputs, options.isa))
    found = [results.get(file) for file in files]
    missing = [file for file, (_, kept) in zip(files, found) if kept is None]
    began = fingerprint.moment()
    fresh = audit(missing) if missing else Part()  # nothing is imported for nothing
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
    if not isinstance(item, (str, os.PathLike)) or str(item) == "-" or is_text(item):
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
