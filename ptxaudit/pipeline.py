"""The whole flow, from inputs to a report: reads them, and has `kernels` examine what is in them.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, and
so does a fault of this tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxaudit import machines, printable
from ptxaudit.collect import Part, Progress, name_of, read_all, silent, unmatched
from ptxaudit.contents import Listed, listed
from ptxaudit.errors import InputError
from ptxaudit.inputs import check_kind, why_unreadable
from ptxaudit.options import DEFAULT_ARCH, Options
from ptxaudit.report import Kernel, Problem, Report, Tool
from ptxaudit.source_files import Roots
from ptxaudit.suppressions import with_suppressions
from ptxaudit.version import __version__

if TYPE_CHECKING:
    from ptxaudit.inputs import Content
    from ptxaudit.kernels import Examined
    from ptxaudit.loading import Loaded
    from ptxaudit.pairing import Side

Keep = Callable[["Examined", str], None]
PARTS_A_JOB = 4              # shares of the work that a process takes one after the other


def audit(inputs: Any, *, progress: Progress = silent, **options: Any) -> Report:
    """Audits inputs and returns the report. What cannot be checked of them is in `report.problems`, not raised:
    `report.raise_for_problems()` does that.

    InputError is raised for options that cannot be used, for an object that is no input, and where not one of the
    inputs can be read: a report with nothing in it would pass every test.

    inputs: one or a list of: a path (.cu, .ptx, a folder), "-" for standard input, PTX or CUDA
    text, bytes, or an object that holds code, such as cuda.core's ObjectCode.
    options: the fields of `ptxaudit.options.Options`: arch, isa, machine, launches, …
    progress: called with a few words before each step.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not given:
        raise InputError("there is no input to audit", "give a path, text, bytes, or an object with code, or a list of these")
    for one in given:
        check_kind(one)
    report = run(given, Options(**options), progress)
    if not report.inputs and not report.kernels and all(unreadable := [why_unreadable(one) for one in given]):
        raise unreadable[0]
    return report


def run(inputs: Sequence[Any], options: Options, progress: Progress = silent) -> Report:
    """`audit` with its options as a record."""
    parts = audit_parts(inputs, options, progress)
    failed = any(part.failed for part in parts)
    problems = () if failed else [Problem.of(error) for error in unmatched([(options, parts)])]
    return report_of(parts, Roots.of(inputs, options), problems)


def audit_parts(inputs: Sequence[Any], options: Options, progress: Progress = silent, keep: Keep | None = None) -> list[Part]:
    """What became of the inputs, in one or several parts. Raises InputError for options that cannot be used.

    keep: called with each kernel that is examined in this process, and the kind of its input.
    """
    check_machine(options)                       # one error, not one a kernel
    ready(options)
    options = replace(options, source_root=Roots.of(inputs, options).folders)      # those of all inputs, also where each is audited by itself
    return list(_parts(inputs, options, progress, keep))


def report_of(parts: Sequence[Part], roots: Roots, problems: Iterable[Problem] = ()) -> Report:
    """All that was found, and these problems besides. roots: of which sources comments are read."""
    return printable.report(with_suppressions(Report(
        tool=Tool("ptxaudit", __version__),
        inputs=tuple(entry for part in parts for entry in part.inputs),
        kernels=tuple(kernel for part in parts for kernel in part.kernels),
        problems=(*(problem for part in parts for problem in part.problems), *problems),
    ), roots))


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
    for name, kind, version in (("toolchain", options.compiler, options.toolchain), ("ptxas", "ptxas", options.ptxas)):
        if version is not None:
            from ptxaudit.toolchain_fetch import ensure

            ensure(kind, version, fetching=name not in options.on_machine)


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

def _parts(inputs: Sequence[Any], options: Options, progress: Progress, keep: Keep | None) -> Iterator[Part]:
    """The inputs in one part; with --jobs their files in several, audited at a time, in order."""
    if options.jobs == 1:
        yield audit_part(inputs, options, progress, keep)
        return
    from ptxaudit.pool import audited

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
    audited = partial(_audited, options=options, progress=progress, **({} if keep is None else {"keep": keep}))
    if options.cache:
        from ptxaudit.result_cache import with_kept

        return with_kept(inputs, options, audited)
    return audited(inputs)


def _with_fixes(examined: Examined, options: Options) -> Kernel:
    """The entry of a kernel with repairs of its conflicts, where it has any."""
    if not any(site.excess or site.excess_per_request is not None and site.excess_per_request.high for site in examined.entry.sites):
        return examined.entry
    from ptxaudit.fix.lines import with_fixes

    return with_fixes(examined, options)


def _audited(inputs: Sequence[Any], options: Options, progress: Progress, keep: Keep | None = None) -> Part:
    """All of some inputs, audited now."""
    part = Part()
    return _filled(part, examine(inputs, options, part, progress), options, keep)


def audit_loaded(content: Content, loaded: Loaded, options: Options, progress: Progress, keep: Keep | None = None) -> Part:
    """One input that is loaded already."""
    from ptxaudit.kernels import examine_kernels

    part = Part()
    part.add_input(content)
    part.add_loaded(content, loaded)
    loaded.lines.roots = Roots.of([content.path], options)
    return _filled(part, examine_kernels([(content, loaded)], options, part, progress), options, keep)


def _filled(part: Part, stream: Iterator[Examined], options: Options, keep: Keep | None) -> Part:
    """The part with the kernels that are examined, in both instruction sets paired."""
    sides: list[Side] = []
    for examined in stream:
        part.kernels.append(_with_fixes(examined, options) if options.fixes else examined.entry)
        if keep is not None:
            keep(examined, next((entry.kind for entry in part.inputs if entry.path == examined.entry.input), ""))
        if options.isa == "both":
            sides.append(examined.side)
    if sides:
        from ptxaudit.pairing import paired

        part.kernels = paired(part.kernels, sides)
    return part
