"""Caches the results for a file, so that an unchanged file is not audited again.

    key   = the file's path and content, the files beside it, the options, and this tool's code (`fingerprint`);
            with both instruction sets, the content of the audited file that it is paired with
    value = the kernels found in it, as they are in the report

For PTX and compiled code, the content decides everything. A CUDA source is compiled each time, since the files that
it includes may have changed: its key also contains the compiler's output. Nothing is cached for a file with a problem
that may not recur, or under options that have no text form. A value is used only if the source files whose lines it
shows have the same content as then. `--no-cache` bypasses the cache.

The cache is in the user's cache folder, which only the user can write, as MessagePack: its values execute nothing.
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
from msgspec.structs import replace

from ptxaudit.base import private
from ptxaudit.base.errors import InputError
from ptxaudit.base.exact import exactly
from ptxaudit.base.files import is_text
from ptxaudit.base.records import Record
from ptxaudit.base.store import Store
from ptxaudit.frontend.inputs import Content, read
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.collect import Part
from ptxaudit.report.counterparts import stem
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
)  # options that decide nothing; sources are checked one by one
BESIDE = (".ptx", ".cubin")  # if the other one exists beside a file, it is not generated

State = tuple[fingerprint.Stamp, str]  # of a source file: its stamp, and a digest of its content


class Kept(Record):
    """The cached results of one file. sources: the source files whose lines they show, with their stamps and
    contents."""

    part: Part
    sources: dict[str, State]


class Key(Record):
    """The key of an entry: its name, and the content that it was made from."""

    name: str
    sha256: str


class Found(Record):
    """key: None if nothing can be cached; part: None if nothing is."""

    key: Key | None = None
    part: Part | None = None


NOTHING = Found()


class ResultCache:
    """The cached results of audits with these options."""

    def __init__(self, options: Options) -> None:
        self._options = _written(options)
        self._cache = _opened() if self._options is not None else None
        self._tool = _tool(self._cache) if self._cache is not None else None
        self._roots = Roots.of((), options.source_root)

    def get(self, content: Content, paired: Sequence[str] = ()) -> Found:
        """The entry of a file that needs no compiler. paired: the contents of the files in the same audit whose
        kernels are paired with its own."""
        if content.kind not in KINDS or not content.is_file:
            return NOTHING
        beside = [suffix for suffix in BESIDE if Path(content.path).with_suffix(suffix).exists()]
        return self._kept(content, [*beside, *paired])

    def get_compiled(self, content: Content, compiled: Compiled) -> Found:
        """The entry of a compiled CUDA source."""
        if not content.is_file:
            return NOTHING
        made = [(name, getattr(compiled, name)) for name in compiled.__struct_fields__ if name != "source"]
        return self._kept(content, hashlib.sha256(repr(made).encode()).hexdigest())

    def _kept(self, content: Content, beside: object) -> Found:
        """beside: further data that decides the results."""
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
        except Exception:  # a damaged file or an older layout counts as no entry
            return Found(key)
        if kept is None or not all(self._is_the_same(file, *known) for file, known in kept.sources.items()):
            return Found(key)
        return Found(key, kept.part)

    def put(self, key: Key, item: Any, part: Part, began: int) -> None:
        """Caches the results of a file. began: a moment after the key was made and before the audit."""
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
        except Exception:  # a full disk, or a lock held too long: it is only a cache
            return

    def _state(self, file: str) -> State:
        """The state of a source; as if it did not exist if it may not be read now, since its lines are then not
        shown."""
        stamp = fingerprint.stamp(file) if self._roots.allowed(file) is not None else None
        return stamp, self._content(file)

    def _is_the_same(self, file: str, stamp: fingerprint.Stamp, content: str) -> bool:
        now = fingerprint.stamp(file) if self._roots.allowed(file) is not None else None
        return now == stamp or self._content(file) == content

    def _content(self, file: str) -> str:
        """A digest of the shown text of a source; "" if it is not shown."""
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
    except Exception:  # a damaged file counts as no cache
        return None


def _written(options: Options) -> str | None:
    """The options as text; None if one of them has no text form."""
    try:
        return repr(
            [(name, _plain(getattr(options, name))) for name in options.__struct_fields__ if name not in UNRELATED]
        )
    except TypeError:
        return None


def _plain(value: Any) -> Any:
    """A value in a form whose text is equal only for equal values. Raises TypeError if it has none."""
    if isinstance(value, Launch):
        return [(field.name, _plain(getattr(value, field.name))) for field in fields(value) if field.compare]
    if isinstance(value, Buffer):
        return value.address, value.record()
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if hasattr(value, "items"):
        return [(str(key), _plain(one)) for key, one in value.items()]
    if isinstance(value, float):  # the text of a NaN has neither its sign nor its bits
        return repr(exactly(value))
    if value is None or isinstance(value, (str, int, bytes)):
        return type(value).__name__, value
    if isinstance(value, Record):
        return [(name, _plain(getattr(value, name))) for name in value.__struct_fields__]
    raise TypeError(type(value))


def _keepable(part: Part) -> bool:
    """No problem may be transient, and no name is left mangled because this machine lacks a library to demangle it."""
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
    """The cache in the user's folder; None if it cannot be written, or others can write it."""
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
    """The results of inputs, in order: `audit` is called only for files without an entry; `audit_source`, if given,
    for CUDA sources, one by one."""
    results = ResultCache(options)
    whole = Part()
    files = list(whole.files_of(inputs, options.isa))
    pairs = _paired(files) if options.isa == "both" else {}
    found = _whole_pairs(files, [_found(file, results, audit_source, pairs) for file in files], pairs)
    missing = [file for file, kept in zip(files, found) if kept.part is None]
    began = fingerprint.moment()
    fresh = audit(missing) if missing else Part()  # avoids imports if nothing is missing
    pieces = split(fresh, missing)
    apart = all(_name(file) in pieces for file in missing)
    for file, kept in zip(files, found):
        piece = pieces.get(_name(file))
        if kept.part is not None:
            whole.add(kept.part)
        elif apart and piece is not None:
            whole.add(piece)
        if kept.part is None and kept.key is not None and piece is not None and _as_read(file, pairs, fresh):
            results.put(kept.key, file, piece, began)
    if not apart:
        whole.add(fresh)
    return whole


Pairs = dict[str, dict[str, str]]  # file -> {file that it is paired with: digest of its content}


def _paired(files: Sequence[Any]) -> Pairs:
    """The files whose kernels are paired with those of others: PTX and machine code of one stem."""
    groups: dict[str, dict[str, str]] = {}
    for name in filter(None, map(_name, files)):
        groups.setdefault(stem(name), {})[name] = ""
    for group in groups.values():
        for name in group if len(group) > 1 else ():
            try:
                group[name] = read(name).sha256
            except InputError:  # reported where it is audited
                continue
    return {
        name: {other: digest for other, digest in group.items() if other != name}
        for group in groups.values()
        if len(group) > 1
        for name in group
    }


def _whole_pairs(files: Sequence[Any], found: Sequence[Found], pairs: Pairs) -> Sequence[Found]:
    """The entries without those of files whose counterpart has none: the two are audited together."""
    names = [name if (name := _name(file)) in pairs else None for file in files]
    missing = {stem(name) for name, kept in zip(names, found) if name is not None and kept.part is None}
    return [
        replace(kept, part=None) if name is not None and stem(name) in missing else kept
        for name, kept in zip(names, found)
    ]


def _as_read(file: Any, pairs: Pairs, fresh: Part) -> bool:
    """The counterparts of a file were audited with the content that its key contains."""
    audited = {entry.path: entry.sha256 for entry in fresh.inputs}
    return all(audited.get(other) == digest for other, digest in pairs.get(_name(file) or "", {}).items())


def _found(
    item: Any,
    results: ResultCache,
    audit_source: Callable[[Content, ResultCache], Part] | None,
    pairs: Pairs,
) -> Found:
    """The entry of an input; for a source that is audited separately, its results."""
    if _name(item) is None:
        return NOTHING
    try:
        content = read(item)
    except InputError:
        return NOTHING
    if content.kind == "cuda" and audit_source is not None:
        return Found(part=audit_source(content, results))
    return results.get(content, [text for one in pairs.get(_name(item) or "", {}).items() for text in one])


def _name(item: Any) -> str | None:
    """The name of an input that is a file; None for text and standard input."""
    if not isinstance(item, (str, os.PathLike)) or str(item) == "-" or is_text(item):
        return None
    return os.fspath(item)


def split(part: Part, files: Sequence[Any]) -> dict[str | None, Part]:
    """The results of a part by file, for files that occur once; {} if a problem belongs to no file."""
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
