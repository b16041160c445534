"""Audits a part of the inputs, taking results from the cache where possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part, Progress, silent
from ptxaudit.pipeline.examine import examine
from ptxaudit.review.part import filled

if TYPE_CHECKING:
    from ptxaudit.frontend.inputs import Content
    from ptxaudit.pipeline.kernels import Keep
    from ptxaudit.review.result_cache import ResultCache


def audit_part(inputs: Sequence[Any], options: Options, progress: Progress = silent, keep: Keep | None = None) -> Part:
    """The results of some inputs; those of unchanged files are taken from the cache."""
    audited = partial(_audited, options=options, progress=progress)
    if keep is not None:
        audited = partial(audited, keep=keep)
    if options.cache:
        from ptxaudit.review.result_cache import with_kept

        apart = keep is None and not options.edits  # the proof of an edit also depends on the sources that it compiles
        source = partial(_audited_source, options=options, progress=progress) if apart else None
        return with_kept(inputs, options, audited, source)
    return audited(inputs)


def _audited_source(content: Content, results: ResultCache, options: Options, progress: Progress) -> Part:
    from ptxaudit.review.sources import audited, compiled_source

    return audited([compiled_source(content, options, progress)], progress, results=results)[0]


def _audited(inputs: Sequence[Any], options: Options, progress: Progress, keep: Keep | None = None) -> Part:
    """Audits some inputs without the cache."""
    part = Part()
    return filled(part, examine(inputs, options, part, progress), options, keep)
