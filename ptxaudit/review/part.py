"""A part of an audit: the examined kernels of some inputs, with repairs, and paired if both instruction sets are
audited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.collect import Part, Progress
from ptxaudit.report.model import Kernel

if TYPE_CHECKING:
    from ptxaudit.frontend.inputs import Content
    from ptxaudit.pipeline.kernels import Examined, Keep
    from ptxaudit.pipeline.loading import Loaded
    from ptxaudit.report.pairing import Side


def audit_loaded(
    content: Content, loaded: Loaded, options: Options, progress: Progress, keep: Keep | None = None
) -> Part:
    """Audits one input that is already loaded."""
    from ptxaudit.pipeline.kernels import examine_kernels

    part = Part()
    part.add_input(content)
    part.add_loaded(content, loaded)
    loaded.lines.roots = Roots.of([content.path], options.source_root)
    return filled(part, examine_kernels([(content, loaded)], options, part, progress), options, keep)


def filled(part: Part, stream: Iterator[Examined], options: Options, keep: Keep | None) -> Part:
    """The part with the examined kernels, paired if both instruction sets are audited."""
    sides: list[Side] = []
    if options.patterns:
        from ptxaudit.pipeline.code_loops import with_loops
    for examined in stream:
        entry = _with_fixes(examined, options) if options.fixes else examined.entry
        part.kernels.append(with_loops(entry, examined) if options.patterns else entry)
        if keep is not None:
            keep(examined, next((entry.kind for entry in part.inputs if entry.path == examined.entry.input), ""))
        if options.isa == "both":
            sides.append(examined.side)
    if sides:
        from ptxaudit.report.pairing import paired

        part.kernels = paired(part.kernels, sides)
    return part


def _with_fixes(examined: Examined, options: Options) -> Kernel:
    """The entry of a kernel with repairs of its conflicts, if any. None are sought if other memories are examined:
    the proof of a repair needs to know which accesses are not to shared memory."""
    if options.space != "shared" or not any(
        site.excess or site.excess_per_request is not None and site.excess_per_request.high
        for site in examined.entry.sites
    ):
        return examined.entry
    from ptxaudit.review.fix.lines import with_fixes

    return with_fixes(examined, options)
