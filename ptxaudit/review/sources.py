"""Audits CUDA sources: each is compiled, and the compiler's output decides whether its results are in the cache.

    source = compiled_source(content, Options(toolchain="12.4"));  audited([source])  ->  [Part(kernels=[…])]

The machine code of several, such as of one source under several releases, goes through one process of the
disassembler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from ptxaudit.base.records import Record
from ptxaudit.frontend.inputs import Content
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.answers import sharing
from ptxaudit.pipeline.collect import Part, Progress, silent

if TYPE_CHECKING:
    from ptxaudit.frontend.compile.compiled import Compiled
    from ptxaudit.pipeline.kernels import Keep
    from ptxaudit.pipeline.machine_code import Code
    from ptxaudit.review.result_cache import Found, ResultCache


class Source(Record):
    """A compiled source. compiled: None if it does not compile, which is a problem of the part; began: the moment
    before compilation, None without a cache."""

    content: Content
    options: Options
    part: Part
    compiled: Compiled | None
    began: int | None


def compiled_source(content: Content, options: Options, progress: Progress = silent) -> Source:
    """Compiles a source. Raises InputError for a release that is unavailable, or an option that cannot be used."""
    from ptxaudit.pipeline.examine import check_machine, ready
    from ptxaudit.pipeline.loading import compiled_of

    check_machine(options)
    ready(options)
    began, part, compiled = _moment() if options.cache else None, Part(), None
    progress(f"compiling {content.path}" + (f" with CUDA {options.toolchain}" if options.toolchain else ""))
    with part.collecting(content.path):
        compiled = compiled_of(content, options)
    return Source(content, options, part, compiled, began)


def audited(
    sources: Sequence[Source],
    progress: Progress = silent,
    keeps: Sequence[Keep | None] | None = None,
    results: ResultCache | None = None,
) -> list[Part]:
    """The results of each source. keeps: one per source, as in `audit.audit_parts`; those with one are not taken from
    the cache. results: the cache for the options of all of them, if it is already open."""
    keeps = keeps or [None for _ in sources]
    caches = [results or _cache(source) for source in sources]
    found = [
        None if cache is None or source.compiled is None else cache.get_compiled(source.content, source.compiled)
        for source, cache in zip(sources, caches, strict=True)
    ]
    parts = [
        source.part if source.compiled is None else kept.part if kept is not None and keep is None else None
        for source, kept, keep in zip(sources, found, keeps, strict=True)
    ]
    code = _disassembled([source for source, part in zip(sources, parts, strict=True) if part is None])
    with sharing():
        for at, source in enumerate(sources):
            if parts[at] is None:
                part = _examined(source, next(code), progress, keeps[at])
                _keep(caches[at], found[at], source, part)
                parts[at] = part
    return [part for part in parts if part is not None]


def _moment() -> int:
    from ptxaudit.review import fingerprint

    return fingerprint.moment()


def _cache(source: Source) -> ResultCache | None:
    """The cache for a source's options; --no-cache imports nothing."""
    if not source.options.cache:
        return None
    from ptxaudit.review.result_cache import ResultCache

    return ResultCache(source.options)


def _keep(cache: ResultCache | None, found: Found | None, source: Source, part: Part) -> None:
    if cache is not None and found is not None and found.key is not None and source.began is not None:
        cache.put(found.key, source.content.path, part, source.began)


def _disassembled(sources: Sequence[Source]) -> Iterator[Code | None]:
    """The machine code of each source, None where it is not audited."""
    wanted = [
        source.compiled.cubin if source.compiled and source.options.isa in ("sass", "both") else None
        for source in sources
    ]
    if not any(wanted):  # avoids imports
        return repeat(None)
    from ptxaudit.pipeline.machine_code import disassembled

    return iter(disassembled(wanted))


def _examined(source: Source, code: Code | None, progress: Progress, keep: Keep | None) -> Part:
    from ptxaudit.pipeline.loading import loaded_of
    from ptxaudit.review.part import audit_loaded

    part, content = source.part, source.content
    assert source.compiled is not None  # others have nothing to examine
    with part.collecting(content.path):
        loaded = loaded_of(source.compiled, content, source.options, code)
        part = audit_loaded(content, loaded, source.options, progress, keep)
    return part
