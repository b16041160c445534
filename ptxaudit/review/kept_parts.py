"""A part of an audit, as far as it can be taken from the cache of results; the rest is audited now."""

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
    """All of some inputs; what is known of files that have not changed is taken from the cache."""
    audited = partial(_audited, options=options, progress=progress)
    if keep is not None:
        audited = partial(audited, keep=keep)
    if options.cache:
        from ptxaudit.review.result_cache import with_kept

        apart = (
            keep is None and not options.edits
        )  # what an edit is proved by is compiled from sources that decide, too
        source = partial(_audited_source, options=options, progress=progress) if apart else None
        return with_kept(inputs, options, audited, source)
    return audited(inputs)


def _audited_source(content: Content, results: ResultCache, options: Options, progress: Progress) -> Part:
    from ptxaudit.review.sources import audited, compiled_source

    return audited([compiled_source(content, options, progress)], progress, results=results)[0]


def _audited(inputs: Sequence[Any], options: Options, progress: Progress, keep: Keep | None = None) -> Part:
    """All of some inputs, audited now."""
    part = Part()
    return filled(part, examine(inputs, options, part, progress), options, keep)
