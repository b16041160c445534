"""The whole flow, from inputs to a report. Read `examine` first: it is the tool on one page.

    "k.cu", arch="sm_90"  ->  Report(kernels=(Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact, …),)),))

Bad input never stops the other inputs: every InputError becomes a *problem* of the report, and
so does a fault of this tool in one kernel. With PTXAUDIT_DEBUG=1 a fault is raised instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

from ptxaudit import graph, ir, lanes, machines
from ptxaudit.assemble import kernel_entry
from ptxaudit.errors import InputError
from ptxaudit.faults import debugging, fault
from ptxaudit.inputs import STDIN, Content, expand, read
from ptxaudit.lanes import Facts
from ptxaudit.lanes.result import KernelResult
from ptxaudit.link import link
from ptxaudit.launch import Launch, match, without_kernel
from ptxaudit.link import link
from ptxaudit.loading import Loaded, load
from ptxaudit.options import Options
from ptxaudit.report import Input, Kernel, Problem, Report, Tool
from ptxaudit.version import __version__

Progress = Callable[[str], None]


def silent(step: str) -> None:
    """No progress shown."""


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
    if options.machine or options.arch:
        machines.get(options.machine or options.arch or "")       # one error, not one a kernel
    parts = list(_parts(inputs, options, progress))
    problems = [problem for part in parts for problem in part.problems]
    if not any(part.failed for part in parts):
        problems += [Problem.of(error) for error in unmatched(options, parts)]
    return Report(
        tool=Tool("ptxaudit", __version__),
        inputs=tuple(entry for part in parts for entry in part.inputs),
        kernels=tuple(kernel for part in parts for kernel in part.kernels),
        problems=tuple(problems),
    )


def list_kernels(inputs: Sequence[Any], options: Options, progress: Progress = silent) -> tuple[list[Listed], list[Problem]]:
    """The kernels of the inputs without auditing them, and what could not be read."""
    part = Part()
    found = [
        Listed(content.path, function)
        for given in inputs
        for content, loaded in read_all(given, options, part, progress)
        for function in _chosen(loaded.modules, options)
    ]
    return found, part.problems


@dataclass(frozen=True)
class Listed:
    """A kernel and the path of the input it is in."""

    input: str
    function: ir.Function


@dataclass
class Part:
    """What became of one INPUT. names: all kernels in it, also those not asked for; parameters:
    what their parameters are called; failed: some of it could not be read, so that it may hold more."""

    inputs: list[Input] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parameters: set[str] = field(default_factory=set)
    kernels: list[Kernel] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    failed: bool = False

    @contextmanager
    def collecting(self, file: str | None = None, kernel: str | None = None) -> Iterator[None]:
        """Turns what goes wrong inside into a problem, of a kernel where one is named."""
        try:
            yield
        except InputError as error:
            self._add(error, file, kernel)
        except Exception as error:
            if debugging():
                raise
            self._add(fault(error), file, kernel)

    def _add(self, error: InputError, file: str | None, kernel: str | None) -> None:
        error = error.in_file(file) if file else error
        self.problems.append(Problem.of(error, kernel))
        self.failed = self.failed or kernel is None

    def files_of(self, given: Any) -> Iterator[Any]:
        """A folder's files, or the input itself; nothing, and a problem, for an empty folder."""
        with self.collecting(_name_of(given)):
            yield from expand(given)

    def add_input(self, content: Content, loaded: Loaded) -> None:
        self.inputs.append(Input(content.path, content.sha256, content.kind, loaded.toolchain))
        self.names += [function.name for module in loaded.modules for function in module.kernels()]


@dataclass(frozen=True)
class Examined:
    """One kernel under one launch, with everything that was made on the way."""

    function: ir.Function
    flow: graph.Graph
    machine: machines.Machine
    launch: Launch | None
    result: KernelResult
    entry: Kernel


def examine(given: Any, options: Options, part: Part, progress: Progress = silent) -> Iterator[Examined]:
    """INPUT → files → modules → kernels → graph → lanes → report entry, a kernel and launch at a time.

    What goes wrong is added to the problems of `part`, and the next thing is taken.
    """
    for content, loaded in read_all(given, options, part, progress):
        for function in _chosen(loaded.modules, options):
            with part.collecting(content.path, function.name):
                machine = machine_for(function, options)
                flow = graph.build(function)
                positions = loaded.parameter_positions(function)
                part.parameters.update(positions)
                aligned = _aligned(function, options.assume, positions)
                launches = [_by_position(launch, positions) for launch in match(options.launches, function.name)]
                for launch in launches or [None]:
                    progress(f"{content.path}: {function.name}")
                    with part.collecting(content.path, function.name):
                        result = _evaluate(function, flow, machine, launch, aligned, options)
                        entry = kernel_entry(
                            function, result, input=content.path, machine=machine, launch=launch,
                            lines=loaded.lines, notes=loaded.notes,
                        )
                        yield Examined(function, flow, machine, launch, result, entry)


def read_all(given: Any, options: Options, part: Part, progress: Progress) -> Iterator[tuple[Content, Loaded]]:
    """The files of an INPUT, read and turned into modules."""
    for item in part.files_of(given):
        with part.collecting(_name_of(item)):
            content = read(item)
            progress(f"reading {content.path}")
            loaded = load(content, options)
            part.add_input(content, loaded)
            yield content, loaded


def _evaluate(function: ir.Function, flow: graph.Graph, machine: machines.Machine, launch: Launch | None,
              aligned: dict[str, int], options: Options) -> KernelResult:
    """The lane engine's answer."""
    if launch is not None:
        launch.buffer(function)            # wrong parameters are wrong also where no site reads them
    return lanes.evaluate(function, flow, launch=launch, machine=machine, facts=Facts(aligned), budget=options.budget)


def machine_for(function: ir.Function, options: Options) -> machines.Machine:
    """The machine asked for; else PTX runs on --arch, and machine code on what it was made for."""
    ptx_arch = options.arch if function.isa == "ptx" else None
    return machines.get(options.machine or ptx_arch or function.arch)


def _by_position(launch: Launch, positions: dict[str, int]) -> Launch:
    """A launch whose single values are named by position, however the user named them."""
    return replace(launch, named={str(positions.get(name, name)): value for name, value in launch.named.items()})


def _aligned(function: ir.Function, assume: dict[str, int], positions: dict[str, int]) -> dict[str, int]:
    """`assume` by the parameters' own names; what names no parameter of this kernel is left to others."""
    stated = {function.parameters[positions[name]].name: value for name, value in assume.items() if name in positions}
    return stated | {name: value for name, value in assume.items() if name == "*"}


def _chosen(modules: Iterable[ir.Module], options: Options) -> Iterator[ir.Function]:
    """The kernels asked for, each joined with the functions that it calls."""
    globs = [Launch(kernel=name) for name in options.kernels]
    for module in modules:
        for function in module.kernels():
            if not globs or match(globs, function.name):
                yield link(module, function)


def unmatched(options: Options, parts: Iterable[Part]) -> list[InputError]:
    """An error for each --kernel, launch and --assume that is of nothing in these inputs."""
    parts = tuple(parts)
    names = [name for part in parts for name in part.names]
    known = {"*"}.union(*(part.parameters for part in parts))
    globs = [Launch(kernel=name) for name in options.kernels]
    unknown = [name for name in options.assume if name not in known]
    return [
        *without_kernel(globs, names),
        *without_kernel(options.launches, names),
        *(InputError(f"--assume {name}: no kernel here has such a parameter", "name it as the source does, or by position") for name in unknown),
    ]


def _name_of(item: Any) -> str | None:
    """What to call an input that could not be read."""
    if isinstance(item, (str, os.PathLike)):
        text = os.fspath(item)
        return "<string>" if "\n" in text else STDIN if text == "-" else text
    return None


# --- several inputs at a time ---------------------------------------------------------------

def _parts(given: Sequence[Any], options: Options, progress: Progress) -> Iterator[Part]:
    if options.jobs == 1 or len(given) == 1:
        for item in given:
            yield audit_part(item, options, progress)
        return
    with ProcessPoolExecutor(min(options.jobs, len(given)), get_context("spawn")) as pool:
        for item, part in zip(given, pool.map(partial(audit_part, options=options), given), strict=True):
            progress(f"{_name_of(item)} is done")
            yield part


def audit_part(given: Any, options: Options, progress: Progress = silent) -> Part:
    """All of one INPUT."""
    part = Part()
    part.kernels += [examined.entry for examined in examine(given, options, part, progress)]
    return part
