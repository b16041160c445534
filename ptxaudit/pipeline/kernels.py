"""Examines each kernel. Read `examine_kernels` first: it shows the whole pipeline on one page.

    ir.Function("k", …), Launch("k", …)  ->  Examined(…, entry=Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact,
                                             …),)))

An error in one kernel becomes a *problem*, and the next kernel follows. With PTXAUDIT_DEBUG=1 a fault of this tool is
raised instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import field, structs

from ptxaudit.base.faults import fault
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.questions import with_questions
from ptxaudit.engine.answer.result import KernelResult, SiteResult
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.frontend.inputs import Content
from ptxaudit.frontend.launch.launch import Launch, completed
from ptxaudit.frontend.launch.matching import match
from ptxaudit.frontend.options import Options, Space
from ptxaudit.frontend.ptx.spread import spread
from ptxaudit.frontend.source_text import SourceLines
from ptxaudit.hardware import machines
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.ir.local_memory import LocalAccess, lane_indexed
from ptxaudit.ir.neighbours import Run, neighbours
from ptxaudit.pipeline.answers import Answers, Question, current
from ptxaudit.pipeline.collect import Part, Progress, silent
from ptxaudit.pipeline.loading import Loaded, wanted
from ptxaudit.pipeline.memory_sites import memories, with_sites
from ptxaudit.report.assemble import costs_more, is_there, kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.report.model import AnySite, Kernel, MemorySite, Site
from ptxaudit.report.shares import shares

if TYPE_CHECKING:
    from ptxaudit.report.pairing import PtxMap, Side


class Examined(Record):
    """One kernel under one launch, with all intermediate results."""

    function: ir.Function
    flow: graph.Graph
    machine: Machine
    launch: Launch | None
    result: KernelResult
    entry: Kernel
    known: PtxMap | None = None
    lines: SourceLines = field(default_factory=SourceLines)

    @property
    def side(self) -> Side:
        """Its accesses, as they are paired with those of the other instruction set."""
        from ptxaudit.report.pairing import side

        return side(self.function, self.flow, self.entry, self.known)

    @property
    def of_shared(self) -> list[tuple[SiteResult, Site]]:
        """The result of each access to shared memory, with its entry."""
        results = [result for result in self.result.sites if self.function.site(result.index).of == "shared"]
        return list(zip(results, self.entry.sites, strict=True))

    @property
    def of_memory(self) -> list[tuple[SiteResult, MemorySite]]:
        """The result of each access to global and local memory, with its entry."""
        others = [result for result in self.result.sites if self.function.site(result.index).of != "shared"]
        return list(zip(filter(is_there, others), self.entry.memory, strict=True))


Keep = Callable[[Examined, str], None]
"""A callback that receives each examined kernel and the kind of its input ("cuda", "ptx", …)."""


def examine_kernels(
    files: Iterable[tuple[Content, Loaded]], options: Options, part: Part, progress: Progress = silent
) -> Iterator[Examined]:
    """files → modules → kernels, linked with their callees → graph → lanes → report entry, one kernel and launch at a
    time.

    Errors are added to the problems of `part`, and the next item follows.
    """
    answers = current()
    for content, loaded in files:
        for module, kernel in _chosen(loaded.modules, options, content):
            with part.collecting(content.path, kernel.name):
                machine = machine_for(kernel, options)
                facts = code_facts(module, kernel, loaded.usage)
                prepared = _prepared(module, kernel, machine, loaded.account.begun(options.budget), options.space)
                function, flow = prepared.function, prepared.flow
                if prepared.spent is not None:  # its sites are reported as unknown, without those of its callees
                    part.add_problem(fault(prepared.spent), content.path, kernel.name)
                positions = loaded.parameter_positions(function)
                part.add_parameters(content, positions)
                aligned = _aligned(function, options.assume, positions)
                launches: list[Launch | None] = [
                    by_position(launch, positions) for launch in launches_of(content, function.name, options)
                ]
                for launch in launches or [None]:
                    progress(f"{content.path}: {function.name}")
                    with part.collecting(content.path, function.name):
                        result = _evaluate(prepared, machine, launch, aligned, options, answers)
                        entry = kernel_entry(
                            function,
                            result,
                            input=content.path,
                            machine=machine,
                            launch=launch,
                            lines=loaded.lines,
                            notes=loaded.notes + _notes(launch, function),
                            facts=facts,
                            local=prepared.local,
                            runs=prepared.runs,
                            patterns=options.patterns,
                            spaces=memories(options.space),
                        )
                        known = loaded.known if function.final else None
                        examined = Examined(function, flow, machine, launch, result, entry, known, loaded.lines)
                        yield examined if options.top is None else _with_shares(examined, options.top)


def _with_shares(examined: Examined, top: int) -> Examined:
    """The kernel, its entry with the `top` loops and lines that cost most."""
    sites: list[tuple[int, AnySite]] = [(result.index, site) for result, site in examined.of_shared]
    sites += [(result.index, site) for result, site in examined.of_memory]
    found = shares(examined.function, examined.flow, examined.entry, sites, examined.lines)
    entry = structs.replace(
        examined.entry, loop_shares=found.loops[:top], line_shares=found.lines[:top], shares_say=found.said
    )
    return structs.replace(examined, entry=entry)


class _Prepared(Record):
    """The data that all launches of a kernel share. account: what preparation took, where each launch begins; spent:
    set if it ran out of steps; whole: the function and its graph were completed; otherwise `function` has the
    kernel's own instructions only, in one block."""

    function: ir.Function
    flow: graph.Graph
    account: Account
    local: tuple[LocalAccess, ...] = ()
    runs: Mapping[int, Run] = field(default_factory=dict)
    spent: Exhausted | None = None
    whole: bool = True


def _prepared(module: ir.Module, kernel: ir.Function, machine: Machine, account: Account, space: Space) -> _Prepared:
    """The kernel linked with its callees, and its graph, within the number of steps that one launch may take."""
    try:
        linked = link(module, kernel, account)
        function = spread(with_sites(linked, memories(space)), machine.fragments)
        flow = graph.build(function, account)
    except Exhausted as spent:
        return _Prepared(kernel, graph.flat(kernel), account.begun(), spent=spent, whole=False)
    try:
        local = lane_indexed(function, flow)
        ordered = frozenset([i.place for i in linked.instructions if i.site is not None and i.site.ordered])
        runs = neighbours(function, flow, ordered) if "global" in memories(space) else {}
        return _Prepared(function, flow, account.begun(), local, runs)
    except Exhausted as spent:
        return _Prepared(function, flow, account.begun(), spent=spent)


def _evaluate(
    prepared: _Prepared,
    machine: Machine,
    launch: Launch | None,
    aligned: dict[str, int],
    options: Options,
    answers: Answers,
) -> KernelResult:
    """The engine's answer, with the questions to the user where it has none."""
    function, flow = prepared.function, prepared.flow
    if launch is not None:
        launch.buffer(function)  # wrong parameters are an error even where no site reads them
    if prepared.spent is not None and not prepared.whole:
        return engine.not_begun(function, prepared.spent)

    def examine() -> KernelResult:
        account = prepared.account.begun()
        facts = Facts(aligned, keep=keep, seen=options.patterns)
        result = engine.evaluate(function, flow, launch=launch, machine=machine, facts=facts, account=account)
        if keep and not options.keep and not any(map(costs_more, result.sites)):
            sites = tuple([structs.replace(site, kept=None) for site in result.sites])
            result = structs.replace(result, sites=sites)  # nothing to repair: no addresses are needed
        return with_questions(result, function, flow, machine, launch, account)

    keep = options.keep or options.fixes
    question = Question(function, machine, launch, aligned, options.patterns, keep)
    return answers.answer(question, prepared.account, examine)


def _notes(launch: Launch | None, function: ir.Function) -> tuple[str, ...]:
    """Notes on a launch: why CUDA would refuse it, how often it was recorded."""
    if launch is None:
        return ()
    if launch.count is None:
        return launch.refused_by(function)
    often = f"launched {launch.count:,} time{'s' * (launch.count != 1)}, as recorded"
    data = "; its data are those of the first time" * (launch.count > 1 and any(launch.specified_buffers))
    return (*launch.refused_by(function), often + data)


def launches_of(content: Content, kernel: str, options: Options) -> list[Launch]:
    """The launches of a kernel that the user specifies, else those beside its file. The latter may include settings
    that the compiler fixed for every launch; these complete the user's launches."""
    beside = match(content.launches, kernel)
    specified = match(options.launches, kernel, content.path)
    compiled = next((launch for launch in beside if launch.grid is None), None)
    return [completed(launch, compiled) for launch in specified] if specified and compiled else specified or beside


def by_position(launch: Launch, positions: dict[str, int]) -> Launch:
    """The launch with its scalar values named by position, however the user named them."""
    return dataclasses.replace(
        launch, named={str(positions.get(name, name)): value for name, value in launch.named.items()}
    )


def _aligned(function: ir.Function, assume: dict[str, int], positions: dict[str, int]) -> dict[str, int]:
    """`assume` with this kernel's parameters under their own names; names of other kernels' parameters are dropped."""
    stated = {function.parameters[positions[name]].name: value for name, value in assume.items() if name in positions}
    return stated | {name: value for name, value in assume.items() if name == "*"}


def machine_for(function: ir.Function, options: Options) -> Machine:
    """The requested machine; otherwise that of --arch for PTX, and that of its architecture for machine code."""
    arch = None if function.final else options.arch
    return machines.of_warps(machines.get(options.machine or arch or function.arch))


def _chosen(
    modules: Iterable[ir.Module], options: Options, content: Content
) -> Iterator[tuple[ir.Module, ir.Function]]:
    """The selected kernels with their modules; in a recorded file those that were launched, unless kernels are
    named."""
    for module in modules:
        for function in module.kernels():
            if wanted(options, content, function.name):
                yield module, function
