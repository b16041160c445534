"""Keeps what was found in a file, so that a file that has not changed is not audited again.

    key   = the file's path and content, what lies beside it, the options, and what this tool is made of (`fingerprint`)
    value = the kernels found in it, as they stand in the report

The content of PTX and of compiled code is everything that decides. A CUDA source is compiled each time, since what it
includes may have changed: its key has what the compiler made of it, too. Nothing is kept of a file with a problem that
another run may not have, or under options that cannot be written down; a value is used only if the source files whose
lines it shows have the same content as then. `--no-cache` leaves all of it aside.

It is kept in the user's cache folder, which only the user can write, as MessagePack: nothing in them executes.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import msgpack

from ptxaudit.base import private
from ptxaudit.base.errors import InputError
from ptxaudit.base.files import is_text
from ptxaudit.base.records import Record
from ptxaudit.base.store import Store
from ptxaudit.frontend.inputs import Content, read
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.collect import Part
from ptxaudit.review import fingerprint

if TYPE_CHECKING:
    from ptxaudit.frontend.compile.compiled import Compiled

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


class Kept(Record):
    """What is kept of one file. sources: the source files that its lines are shown of, with their stamps and
    contents.
    """

    part: Part
    sources: dict[str, State]


class Key(Record):
    """Where something is kept: its name, and the content that it was made of."""

    name: str
    sha256: str


class Found(Record):
    """key: None where nothing can be kept; part: None where nothing is."""

    key: Key | None = None
    part: Part | None = None


NOTHING = Found()


class ResultCache:
    """The results kept for audits with these options."""

    def __init__(self, options: Options) -> None:
        self._options = _written(options)
        self._cache = _opened() if self._options is not None else None
        self._tool = _tool(self._cache) if self._cache is not None else None
        self._roots = Roots.of((), options.source_root)

    def get(self, content: Content) -> Found:
        """What is kept of a file that needs no compiler."""
        if content.kind not in KINDS or not content.is_file:
            return NOTHING
        return self._kept(content, [suffix for suffix in BESIDE if Path(content.path).with_suffix(suffix).exists()])

    def get_compiled(self, content: Content, compiled: Compiled) -> Found:
        """What is kept of a CUDA source that was compiled."""
        if not content.is_file:
            return NOTHING
        made = [(name, getattr(compiled, name)) for name in compiled.__struct_fields__ if name != "source"]
        return self._kept(content, hashlib.sha256(repr(made).encode()).hexdigest())

    def _kept(self, content: Content, beside: object) -> Found:
        """beside: what decides besides the content."""
        if self._tool is None or self._cache is None:
            return NOTHING
        try:
            launches = _plain(content.launches)
        except TypeError:
            return NOTHING
        parts = (self._tool, self._options, content.path, content.kind, beside, launches, content.sha256)
        key = Key(hashlib.sha256(repr(parts).encode()).hexdigest(), content.sha256)
        try:
            data = self._cache.get(key.name)
            kept = msgpack.decode(data, type=Kept) if data is not None else None
        except Exception:  # a damaged file, an older layout: as good as nothing
            return Found(key)
        if kept is None or not all(self._is_the_same(file, *known) for file, known in kept.sources.items()):
            return Found(key)
        return Found(key, kept.part)

    def put(self, key: Key, item: Any, part: Part, began: int) -> None:
        """Keeps what was found in a file. began: the moment after the key was made, and before the audit."""
        sources = set(_sources(part))
        if (
            self._cache is None
            or not _keepable(part)
            or any(entry.sha256 != key.sha256 for entry in part.inputs)  # it was written to before it was audited
            or any(fingerprint.written_since(file, began) for file in (item, *sources))
        ):
            return
        try:
            self._cache.put(key.name, msgpack.encode(Kept(part, {file: self._state(file) for file in sources})))
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


class _Digests(Record):
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
            [(name, _plain(getattr(options, name))) for name in options.__struct_fields__ if name not in UNRELATED]
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
    if isinstance(value, Record):
        return [(name, _plain(getattr(value, name))) for name in value.__struct_fields__]
    raise TypeError(type(value))


def _keepable(part: Part) -> bool:
    """Nothing went wrong that may go right, and no name stays mangled because this machine has no library that reads
    it.
    """
    mangled = any(kernel.name.startswith("_Z") and kernel.demangled == kernel.name for kernel in part.kernels)
    return not part.passing and not mangled


def _sources(part: Part) -> Iterator[str]:
    for kernel in part.kernels:
        sources = [
            *(site.source for site in kernel.accesses),
            *(local.source for local in kernel.local),
        ]
        for source in sources:
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


def with_kept(
    inputs: Sequence[Any],
    options: Options,
    audit: Callable[[Sequence[Any]], Part],
    audit_source: Callable[[Content, ResultCache], Part] | None = None,
) -> Part:
    """What became of inputs, in their order: `audit` is asked only for files of which nothing is kept; `audit_source`,
    where there is one, for CUDA sources, each by itself."""
    results = ResultCache(options)
    whole = Part()
    files = list(whole.files_of(inputs, options.isa))
    found = [_found(file, results, audit_source) for file in files]
    missing = [file for file, kept in zip(files, found) if kept.part is None]
    began = fingerprint.moment()
    fresh = audit(missing) if missing else Part()  # nothing is imported for nothing
    pieces = split(fresh, missing)
    apart = all(_name(file) in pieces for file in missing)
    for file, kept in zip(files, found):
        piece = pieces.get(_name(file))
        if kept.part is not None:
            whole.add(kept.part)
        elif apart and piece is not None:
            whole.add(piece)
        if kept.part is None and kept.key is not None and piece is not None:
            results.put(kept.key, file, piece, began)
    if not apart:
        whole.add(fresh)
    return whole


def _found(item: Any, results: ResultCache, audit_source: Callable[[Content, ResultCache], Part] | None) -> Found:
    """What is kept of an input; what became of it, for a source that is audited by itself."""
    if _name(item) is None:
        return NOTHING
    try:
        content = read(item)
    except InputError:
        return NOTHING
    if content.kind == "cuda" and audit_source is not None:
        return Found(part=audit_source(content, results))
    return results.get(content)


def _name(item: Any) -> str | None:
    """The name of an input that is a file, which text and standard input are not."""
    if not isinstance(item, (str, os.PathLike)) or str(item) == "-" or is_text(item):
        return None
    return os.fspath(item)


def split(part: Part, files: Sequence[Any]) -> dict[str | None, Part]:
    """What a part has of each file, for those that are in it once; {} where a problem is of no file."""
    given = Counter(name for file in files if (name := _name(file)) is not None)
    owner = {
        problem.file: problem.file if problem.file in given else (problem.file or "").rpartition("#")[0]  # an image
        for problem in part.problems
    }
    if any(file not in given for file in owner.values()):
        return {}
    out: dict[str | None, Part] = {}
    for file in (name for name, count in given.items() if count == 1):
        problems = [problem for problem in part.problems if owner[problem.file] == file]
        out[file] = Part(
            inputs=[entry for entry in part.inputs if entry.path == file],
            names_of={file: part.names_of.get(file, [])},
            parameters_of={file: part.parameters_of.get(file, set())},
            kernels=[kernel for kernel in part.kernels if kernel.input == file],
            problems=problems,
            failed=any(problem.kernel is None for problem in problems),
            passing=[problem for problem in part.passing if owner[problem.file] == file],
        )
    return out
