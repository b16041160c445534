"""The whole flow, from inputs to a report: `pipeline` examines the kernels; repairs and suppressions are added.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, and
so does a fault of this tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.version import __version__
from ptxaudit.frontend.inputs import check_kind, why_unreadable
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.collect import Part, Progress, name_of, silent, unmatched
from ptxaudit.pipeline.examine import check_machine, examine, ready
from ptxaudit.report.model import Problem, Report, Tool
from ptxaudit.report.shown import shown
from ptxaudit.review.part import filled
from ptxaudit.review.suppressions import with_suppressions

if TYPE_CHECKING:
    from ptxaudit.frontend.inputs import Content
    from ptxaudit.pipeline.kernels import Keep
    from ptxaudit.review.result_cache import ResultCache

PARTS_A_JOB = 4  # shares of the work that a process takes one after the other


def audit(inputs: Any, *, progress: Progress = silent, **options: Any) -> Report:
    """Audits inputs and returns the report. What cannot be checked of them is in `report.problems`, not raised:
    `report.raise_for_problems()` does that.

    InputError is raised for options that cannot be used, for an object that is no input, and where not one of the
    inputs can be read: a report with nothing in it would pass every test.

    inputs: one or a list of: a path (.cu, .ptx, a folder), "-" for standard input, PTX or CUDA
    text, bytes, or an object that holds code, such as cuda.core's ObjectCode.
    options: the fields of `ptxaudit.frontend.options.Options`: arch, isa, machine, launches, …
    progress: called with a few words before each step.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not given:
        raise InputError(
            "there is no input to audit", "give a path, text, bytes, or an object with code, or a list of these"
        )
    for one in given:
        check_kind(one)
    report = run(given, Options(**options), progress)
    if not report.inputs and not report.kernels:
        unreadable = [why for one in given if (why := why_unreadable(one)) is not None]
        if len(unreadable) == len(given):
            raise unreadable[0]
    return report


def run(inputs: Sequence[Any], options: Options, progress: Progress = silent, keep: Keep | None = None) -> Report:
    """`audit` with its options as a record. keep: as of `audit_parts`."""
    parts = audit_parts(inputs, options, progress, keep)
    failed = any(part.failed for part in parts)
    problems = () if failed else [Problem.of(error) for error in unmatched([(options, parts)])]
    return report_of(parts, Roots.of(inputs, options.source_root), problems)


def audit_parts(
    inputs: Sequence[Any], options: Options, progress: Progress = silent, keep: Keep | None = None
) -> list[Part]:
    """What became of the inputs, in one or several parts. Raises InputError for options that cannot be used.

    keep: called with each kernel that is examined in this process, and the kind of its input.
    """
    check_machine(options)  # one error, not one a kernel
    ready(options)
    options = replace(
        options, source_root=Roots.of(inputs, options.source_root).folders
    )  # those of all inputs, also where each is audited by itself
    return list(_parts(inputs, options, progress, keep))


def report_of(parts: Sequence[Part], roots: Roots, problems: Iterable[Problem] = ()) -> Report:
    """All that was found, and these problems besides. roots: of which sources comments are read."""
    return shown(
        with_suppressions(
            Report(
                tool=Tool("ptxaudit", __version__),
                inputs=tuple(entry for part in parts for entry in part.inputs),
                kernels=tuple(kernel for part in parts for kernel in part.kernels),
                problems=(*(problem for part in parts for problem in part.problems), *problems),
            ),
            roots,
        )
    )


# --- several processes ----------------------------------------------------------------------


def _parts(inputs: Sequence[Any], options: Options, progress: Progress, keep: Keep | None) -> Iterator[Part]:
    """The inputs in one part; with --jobs their files in several, audited at a time, in order."""
    if options.jobs == 1:
        yield audit_part(inputs, options, progress, keep)
        return
    from ptxaudit.review.pool import audited

    first = Part()
    files = list(first.files_of(inputs, options.isa))
    yield first
    size = max(1, -(-len(files) // (PARTS_A_JOB * options.jobs)))
    shares = [files[start : start + size] for start in range(0, len(files), size)]
    for share, part in zip(shares, audited(shares, options, options.jobs), strict=True):
        progress(f"{name_of(share[-1])} is done")
        yield part


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
