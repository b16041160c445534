"""The whole flow, from inputs to a report: reads them, and has `kernels` examine what is in them.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, and
so does a fault of this tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxaudit import machines
from ptxaudit.collect import Part, Progress, name_of, read_all, silent, unmatched
from ptxaudit.contents import Listed, listed
from ptxaudit.errors import InputError
from ptxaudit.options import DEFAULT_ARCH, Options
from ptxaudit.report import Problem, Report, Tool
from ptxaudit.suppressions import with_suppressions
from ptxaudit.version import __version__

if TYPE_CHECKING:
    from ptxaudit.kernels import Examined
    from ptxaudit.pairing import Side

PARTS_A_JOB = 4              # shares of the work that a process takes one after the other


def audit(inputs: Any, *, progress: Progress = silent, **options: Any) -> Report:
    """Audits inputs and returns the report. Bad input is in `report.problems`, not raised;
    InputError is raised for options that cannot be used.

    inputs: one or a list of: a path (.cu, .ptx, a folder), "-" for standard input, PTX or CUDA
    text, bytes, or an object that holds code, such as cuda.core's ObjectCode.
    options: the fields of `ptxaudit.options.Options`: arch, isa, machine, launches, …
    progress: called with a few words before each step.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    return run(given, Options(**options), progress)


def run(inputs: Sequence[Any], options: Options, progress: Progress = silent) -> Report:
    """`audit` with its options as a record."""
    check_machine(options)                       # one error, not one a kernel
    ready(options)
    parts = list(_parts(inputs, options, progress))
    problems = [problem for part in parts for problem in part.problems]
    if not any(part.failed for part in parts):
        problems += [Problem.of(error) for error in unmatched(options, parts)]
    return with_suppressions(Report(
        tool=Tool("ptxaudit", __version__),
        inputs=tuple(entry for part in parts for entry in part.inputs),
        kernels=tuple(kernel for part in parts for kernel in part.kernels),
        problems=tuple(problems),
    ))


def check_machine(options: Options) -> None:
    """The machine or the architecture that was asked for is known. Raises InputError."""
    try:
        machines.get(options.machine or options.arch or DEFAULT_ARCH)
    except machines.NoSuchMachine:
        if options.machine:
            raise
        there = ", ".join(name for name in machines.names() if name.startswith("sm_"))
        raise InputError(f"no architecture is called {options.arch!r}", f"there are {there}") from None


def ready(options: Options) -> None:
    """The releases that were asked for are on this machine, fetched where they were not. Raises InputError."""
    for kind, version in ((options.compiler, options.toolchain), ("ptxas", options.ptxas)):
        if version is not None:
            from ptxaudit.toolchain_fetch import ensure

            ensure(kind, version)


def list_kernels(inputs: Sequence[Any], options: Options, progress: Progress = silent) -> tuple[list[Listed], list[Problem]]:
    """The kernels of the inputs without auditing them, and what could not be read."""
    ready(options)
    part = Part()
    return list(listed(inputs, options, part, progress)), part.problems


def examine(inputs: Sequence[Any], options: Options, part: Part, progress: Progress = silent) -> Iterator[Examined]:
    """The kernels of the inputs, each under its launches; what goes wrong is added to the problems of `part`."""
    files = read_all(inputs, options, part, progress)      # starts the disassembler
    from ptxaudit.kernels import examine_kernels           # only now: to import the engine takes as long as the disassembler to start

    return examine_kernels(files, options, part, progress)


# --- several processes ----------------------------------------------------------------------

def _parts(inputs: Sequence[Any], options: Options, progress: Progress) -> Iterator[Part]:
    """The inputs in one part; with --jobs their files in several, audited at a time, in order."""
    if options.jobs == 1:
        yield audit_part(inputs, options, progress)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    first = Part()
    files = list(first.files_of(inputs, options.isa))
    yield first
    size = max(1, -(-len(files) // (PARTS_A_JOB * options.jobs)))
    shares = [files[start : start + size] for start in range(0, len(files), size)]
    with ProcessPoolExecutor(min(options.jobs, max(1, len(shares))), get_context("spawn"), end_when_interrupted) as pool:
        for share, part in zip(shares, pool.map(partial(audit_part, options=options), shares), strict=True):
            progress(f"{name_of(share[-1])} is done")
            yield part


def end_when_interrupted() -> None:
    """Ctrl-C ends this process at once: as an exception it would end one share only, and the next would be begun."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)


def audit_part(inputs: Sequence[Any], options: Options, progress: Progress = silent) -> Part:
    """All of some inputs; what is known of files that have not changed is taken from the cache."""
    if options.cache:
        from ptxaudit.result_cache import with_kept

        return with_kept(inputs, options, partial(_audited, options=options, progress=progress))
    return _audited(inputs, options, progress)


def _audited(inputs: Sequence[Any], options: Options, progress: Progress) -> Part:
    """All of some inputs, audited now."""
    part = Part()
    sides: list[Side] = []
    for examined in examine(inputs, options, part, progress):
        part.kernels.append(examined.entry)
        if options.isa == "both":
            sides.append(examined.side)
    if sides:
        from ptxaudit.pairing import paired

        part.kernels = paired(part.kernels, sides)
    return part
