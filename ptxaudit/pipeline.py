"""The whole flow, from inputs to a report. Read `examine` first: it is the tool on one page.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, and
so does a fault of this tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ptxaudit import graph, ir, lanes, machines
from ptxaudit.assemble import kernel_entry
from ptxaudit.collect import Part, Progress, name_of, read_all, silent, unmatched
from ptxaudit.contents import Listed, listed
from ptxaudit.errors import InputError
from ptxaudit.lanes import Facts
from ptxaudit.lanes.result import KernelResult
from ptxaudit.launch import Launch, match
from ptxaudit.link import link
from ptxaudit.loading import chosen
from ptxaudit.local_memory import lane_indexed
from ptxaudit.options import DEFAULT_ARCH, Options
from ptxaudit.pairing import PtxMap, Side, paired, side
from ptxaudit.ptx.spread import spread
from ptxaudit.questions import with_questions
from ptxaudit.records import record
from ptxaudit.report import Kernel, Problem, Report, Tool
from ptxaudit.suppressions import with_suppressions
from ptxaudit.version import __version__

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
    except InputError as error:
        if options.machine or not error.what.startswith("no machine"):
            raise
        there = ", ".join(name for name in machines.names() if name.startswith("sm_"))
        raise InputError(f"no architecture is called {options.arch!r}", f"there are {there}") from None


def ready(options: Options) -> None:
    """The releases that were asked for are on this machine, fetched where they were not. Raises InputError."""
    from ptxaudit.toolchain_fetch import ensure

    for kind, version in ((options.compiler, options.toolchain), ("ptxas", options.ptxas)):
        if version is not None:
            ensure(kind, version)


def list_kernels(inputs: Sequence[Any], options: Options, progress: Progress = silent) -> tuple[list[Listed], list[Problem]]:
    """The kernels of the inputs without auditing them, and what could not be read."""
    ready(options)
    part = Part()
    return list(listed(inputs, options, part, progress)), part.problems


@record
class Examined:
    """One kernel under one launch, with everything that was made on the way."""

    function: ir.Function
    flow: graph.Graph
    machine: machines.Machine
    launch: Launch | None
    result: KernelResult
    entry: Kernel
    known: PtxMap | None = None


def examine(inputs: Sequence[Any], options: Options, part: Part, progress: Progress = silent) -> Iterator[Examined]:
    """inputs → files → modules → kernels, joined with what they call → graph → lanes → report entry, a kernel and launch at a time.

    What goes wrong is added to the problems of `part`, and the next thing is taken.
    """
    for content, loaded in read_all(inputs, options, part, progress):
        for module, kernel in _chosen(loaded.modules, options):
            with part.collecting(content.path, kernel.name):
                machine = machine_for(kernel, options)
                function = spread(link(module, kernel), machine.fragments)
                flow = graph.build(function)
                local = lane_indexed(function, flow)
                positions = loaded.parameter_positions(function)
                part.add_parameters(content, positions)
                aligned = _aligned(function, options.assume, positions)
                launches = [_by_position(launch, positions) for launch in match(options.launches, function.name)]
                for launch in launches or [None]:
                    progress(f"{content.path}: {function.name}")
                    with part.collecting(content.path, function.name):
                        result = _evaluate(function, flow, machine, launch, aligned, options)
                        entry = kernel_entry(
                            function, result, input=content.path, machine=machine, launch=launch,
                            lines=loaded.lines, notes=loaded.notes + (launch.refused_by(function) if launch is not None else ()),
                            registers=loaded.registers.get(kernel.name), local=local,
                        )
                        yield Examined(function, flow, machine, launch, result, entry, loaded.known if function.isa == "sass" else None)


def _evaluate(function: ir.Function, flow: graph.Graph, machine: machines.Machine, launch: Launch | None,
              aligned: dict[str, int], options: Options) -> KernelResult:
    """The lane engine's answer, and what to tell where it has none."""
    if launch is not None:
        launch.buffer(function)            # wrong parameters are wrong also where no site reads them
    result = lanes.evaluate(function, flow, launch=launch, machine=machine, facts=Facts(aligned), budget=options.budget)
    return with_questions(result, function, flow, machine, launch)


def _by_position(launch: Launch, positions: dict[str, int]) -> Launch:
    """A launch whose single values are named by position, however the user named them."""
    return replace(launch, named={str(positions.get(name, name)): value for name, value in launch.named.items()})


def _aligned(function: ir.Function, assume: dict[str, int], positions: dict[str, int]) -> dict[str, int]:
    """`assume` by the parameters' own names; what names no parameter of this kernel is left to others."""
    stated = {function.parameters[positions[name]].name: value for name, value in assume.items() if name in positions}
    return stated | {name: value for name, value in assume.items() if name == "*"}


def machine_for(function: ir.Function, options: Options) -> machines.Machine:
    """The machine asked for; else PTX runs on --arch, and machine code on what it was made for."""
    ptx_arch = options.arch if function.isa == "ptx" else None
    return machines.get(options.machine or ptx_arch or function.arch)


def _chosen(modules: Iterable[ir.Module], options: Options) -> Iterator[tuple[ir.Module, ir.Function]]:
    """The kernels asked for, each with its module."""
    for module in modules:
        for function in module.kernels():
            if chosen(options, function.name):
                yield module, function


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
    with ProcessPoolExecutor(min(options.jobs, max(1, len(shares))), get_context("spawn")) as pool:
        for share, part in zip(shares, pool.map(partial(audit_part, options=options), shares), strict=True):
            progress(f"{name_of(share[-1])} is done")
            yield part


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
            sides.append(side(examined.function, examined.flow, examined.entry, examined.known))
    if sides:
        part.kernels = paired(part.kernels, sides)
    return part
