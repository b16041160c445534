"""The whole flow, from inputs to a report: `pipeline` examines the kernels; repairs and suppressions are added.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, and
so does a fault of this tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
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
from ptxaudit.report.model import Kernel, Problem, Report, Tool
from ptxaudit.report.shown import shown
from ptxaudit.review.suppressions import with_suppressions

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ptxaudit.frontend.inputs import Content
    from ptxaudit.pipeline.kernels import Examined
    from ptxaudit.pipeline.loading import Loaded
    from ptxaudit.report.pairing import Side
    from ptxaudit.review.result_cache import ResultCache

Keep = Callable[["Examined", str], None]
Done = Callable[[Report], None]
AT_ONCE = 16  # files whose machine code is disassembled together, where what is found is wanted as soon as it is


def audit(inputs: Any, *, progress: Progress = silent, executor: Executor | None = None, **options: Any) -> Report:
    """Audits inputs and returns the report. What cannot be checked of them is in `report.problems`, not raised:
    `report.raise_for_problems()` does that.

    InputError is raised for options that cannot be used, for an object that is no input, and where not one of the
    inputs can be read: a report with nothing in it would pass every test.

    inputs: one or a list of: a path (.cu, .ptx, a folder), "-" for standard input, PTX or CUDA
    text, bytes, or an object that holds code, such as cuda.core's ObjectCode.
    options: the fields of `ptxaudit.frontend.options.Options`: arch, isa, machine, launches, …
    progress: called with a few words before each step.
    executor: of `concurrent.futures`, on which the work is done, as of `executors`; else in `jobs` processes.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not given:
        raise InputError(
            "there is no input to audit", "give a path, text, bytes, or an object with code, or a list of these"
        )
    for one in given:
        check_kind(one)
    report = run(given, Options(**options), progress, executor=executor)
    if not report.inputs and not report.kernels:
        unreadable = [why for one in given if (why := why_unreadable(one)) is not None]
        if len(unreadable) == len(given):
            raise unreadable[0]
    return report


def run(
    inputs: Sequence[Any],
    options: Options,
    progress: Progress = silent,
    keep: Keep | None = None,
    executor: Executor | None = None,
    done: Done | None = None,
) -> Report:
    """`audit` with its options as a record. keep: as of `audit_parts`. done: called with a report of some files as soon
    as it is there, and at the end with one of what is of no file."""
    parts = []
    roots = Roots.of(inputs, options)
    for part in _each_part(inputs, options, progress, keep, executor, some=done is not None):
        parts.append(part)
        if done is not None:
            done(report_of([part], roots))
    failed = any(part.failed for part in parts)
    problems = () if failed else [Problem.of(error) for error in unmatched([(options, parts)])]
    if done is not None and problems:
        done(report_of([], roots, problems))
    return report_of(parts, roots, problems)


def audit_parts(
    inputs: Sequence[Any], options: Options, progress: Progress = silent, keep: Keep | None = None
) -> list[Part]:
    """What became of the inputs, in one or several parts. Raises InputError for options that cannot be used.

    keep: called with each kernel that is examined in this process, and the kind of its input.
    """
    return list(_each_part(inputs, options, progress, keep))


def _each_part(
    inputs: Sequence[Any],
    options: Options,
    progress: Progress = silent,
    keep: Keep | None = None,
    executor: Executor | None = None,
    some: bool = False,
) -> Iterator[Part]:
    """some: as soon as what is in some files is known."""
    check_machine(options)  # one error, not one a kernel
    ready(options)
    options = replace(
        options, source_root=Roots.of(inputs, options).folders
    )  # those of all inputs, also where each is audited by itself
    if options.jobs == 1 and executor is None and not some:
        yield audit_part(inputs, options, progress, keep)
        return
    first = Part()
    files = list(first.files_of(inputs, options.isa))
    yield first
    if options.jobs == 1 and executor is None:
        for at in range(0, len(files), AT_ONCE):
            yield audit_part(files[at : at + AT_ONCE], options, progress, keep)
    else:
        yield from _spread(files, options, progress, executor)


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


def _spread(files: Sequence[Any], options: Options, progress: Progress, executor: Executor | None) -> Iterator[Part]:
    """What becomes of files in several processes, in order; of a few files, their kernels are divided."""
    from ptxaudit.review.divided import divided

    if executor is None:
        from ptxaudit.review import pool

        wholes = divided(files, options, options.jobs)
        parts = pool.audited([piece for whole in wholes for piece in whole.pieces], options, options.jobs)
    else:
        from ptxaudit.review import executors

        wholes = divided(files, options, executors.workers_of(executor))
        parts = executors.audited([piece for whole in wholes for piece in whole.pieces], options, executor)
    with closing(parts):
        for whole in wholes:
            part = whole.joined([next(parts) for _ in whole.pieces])
            progress(f"{name_of(whole.pieces[-1].files[-1])} is done")
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


def _with_fixes(examined: Examined, options: Options) -> Kernel:
    """The entry of a kernel with repairs of its conflicts, where it has any; not where other memories are examined:
    the proof of a repair asks which accesses are none to shared memory."""
    if options.space != "shared" or not any(
        site.excess or site.excess_per_request is not None and site.excess_per_request.high
        for site in examined.entry.sites
    ):
        return examined.entry
    from ptxaudit.review.fix.lines import with_fixes

    return with_fixes(examined, options)


def _audited(inputs: Sequence[Any], options: Options, progress: Progress, keep: Keep | None = None) -> Part:
    """All of some inputs, audited now."""
    part = Part()
    return _filled(part, examine(inputs, options, part, progress), options, keep)


def audit_loaded(
    content: Content, loaded: Loaded, options: Options, progress: Progress, keep: Keep | None = None
) -> Part:
    """One input that is loaded already."""
    from ptxaudit.pipeline.kernels import examine_kernels

    part = Part()
    part.add_input(content)
    part.add_loaded(content, loaded)
    loaded.lines.roots = Roots.of([content.path], options)
    return _filled(part, examine_kernels([(content, loaded)], options, part, progress), options, keep)


def _filled(part: Part, stream: Iterator[Examined], options: Options, keep: Keep | None) -> Part:
    """The part with the kernels that are examined, in both instruction sets paired."""
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
