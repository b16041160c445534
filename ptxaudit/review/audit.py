"""Audits inputs from start to report: `pipeline` examines the kernels; repairs and suppressions are added.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, as does a fault of this
tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.version import __version__
from ptxaudit.frontend.inputs import check_kind, why_unreadable
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.recorded.folder import command_of
from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.answers import sharing
from ptxaudit.pipeline.collect import Part, Progress, name_of, silent, unmatched
from ptxaudit.pipeline.examine import check_machine, ready
from ptxaudit.report.model import Input, Problem, Report, Tool
from ptxaudit.report.shown import shown
from ptxaudit.review.kept_parts import audit_part
from ptxaudit.review.suppressions import with_suppressions

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ptxaudit.pipeline.kernels import Keep

Done = Callable[[Report], None]
AT_ONCE = 16  # files whose machine code is disassembled together if results are wanted as soon as they are available


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
    """`audit` with its options as a record. keep: as in `audit_parts`. done: called with a report of some files as
    soon as it is available, and at the end with one of the problems that belong to no file."""
    parts = []
    roots = Roots.of(inputs, options.source_root)
    with sharing():
        for part in _each_part(inputs, options, roots, progress, keep, executor, some=done is not None):
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
    """The results of the inputs, in one or several parts. Raises InputError for options that cannot be used.

    keep: called with each kernel that is examined in this process, and the kind of its input.
    """
    return list(_each_part(inputs, options, Roots.of(inputs, options.source_root), progress, keep))


def _each_part(
    inputs: Sequence[Any],
    options: Options,
    roots: Roots,
    progress: Progress,
    keep: Keep | None,
    executor: Executor | None = None,
    some: bool = False,
) -> Iterator[Part]:
    """roots: of all inputs, even if each is audited separately. some: yield the results of some files as soon as they
    are known."""
    check_machine(options)  # one error, not one per kernel
    ready(options)
    options = replace(options, source_root=roots.folders)
    if options.jobs == 1 and executor is None and not some:
        yield audit_part(inputs, options, progress, keep)
        return
    first = Part()
    files = list(first.files_of(inputs, options.isa))
    yield first
    if options.jobs == 1 and executor is None:
        from ptxaudit.review.divided import batches

        for batch in batches(files, options, AT_ONCE):
            yield audit_part(batch, options, progress, keep)
    else:
        yield from _spread(files, options, progress, executor)


def report_of(parts: Sequence[Part], roots: Roots, problems: Iterable[Problem] = ()) -> Report:
    """A report of all parts and of further problems. roots: where sources may be read for their comments."""
    return shown(
        with_suppressions(
            Report(
                tool=Tool("ptxaudit", __version__),
                inputs=tuple(_with_command(entry) for part in parts for entry in part.inputs),
                kernels=tuple(kernel for part in parts for kernel in part.kernels),
                problems=(*(problem for part in parts for problem in part.problems), *problems),
            ),
            roots,
        )
    )


def _with_command(entry: Input) -> Input:
    """Adds the recorded command to an input that is part of a recording. It is not cached with the results for the
    content."""
    command = None if entry.path.startswith("<") else command_of(entry.path)
    return entry if command is None else replace(entry, command=command)


# --- several processes ----------------------------------------------------------------------


def _spread(files: Sequence[Any], options: Options, progress: Progress, executor: Executor | None) -> Iterator[Part]:
    """Audits files in several processes, and yields their parts in order; if the files are few, their kernels are
    divided."""
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
