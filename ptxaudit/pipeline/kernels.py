"""What becomes of each kernel. Read `examine_kernels` first: it is the tool on one page.

    ir.Function("k", …), Launch("k", …)  ->  Examined(…, entry=Kernel("k", sites=(Site("k@k.cu:14:ptx.load", exact,
                                             …),)))

What goes wrong with one kernel becomes a *problem* and the next one is taken. With PTXAUDIT_DEBUG=1 a fault of this
tool is raised instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from ptxaudit.base.faults import fault
from ptxaudit.base.records import record
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.questions import with_questions
from ptxaudit.engine.answer.result import KernelResult, SiteResult
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.frontend.inputs import Content
from ptxaudit.frontend.launch.launch import Launch, match
from ptxaudit.frontend.options import Options, Space, chosen
from ptxaudit.frontend.ptx.spread import spread
from ptxaudit.frontend.source_text import SourceLines
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.ir.local_memory import LocalAccess, lane_indexed
from ptxaudit.pipeline.collect import Part, Progress, silent
from ptxaudit.pipeline.loading import Loaded
from ptxaudit.pipeline.memory_sites import memories, with_sites
from ptxaudit.report.assemble import kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.report.loop_shares import loop_shares
from ptxaudit.report.model import Kernel, Site
from ptxaudit.report.pairing import PtxMap, Side, side


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
    lines: SourceLines = field(default_factory=SourceLines)

    @property
    def side(self) -> Side:
        """Its accesses, as they are paired with those of the other instruction set."""
        return side(self.function, self.flow, self.entry, self.known)

    @property
    def of_shared(self) -> list[tuple[SiteResult, Site]]:
        """What is said of each access to shared memory, and its entry."""
        instructions = self.function.instructions
        results = [result for result in self.result.sites if instructions[result.index].site.of == "shared"]
        return list(zip(results, self.entry.sites, strict=True))


def examine_kernels(
    files: Iterable[tuple[Content, Loaded]], options: Options, part: Part, progress: Progress = silent
) -> Iterator[Examined]:
    """files → modules → kernels, joined with what they call → graph → lanes → report entry, a kernel and launch at a
    time.

    What goes wrong is added to the problems of `part`, and the next thing is taken.
    """
    for content, loaded in files:
        for module, kernel in _chosen(loaded.modules, options):
            with part.collecting(content.path, kernel.name):
                machine = machine_for(kernel, options)
                facts = code_facts(module, kernel, loaded.usage)
                prepared = _prepared(module, kernel, machine, loaded.account.begun(options.budget), options.space)
                function, flow = prepared.function, prepared.flow
                if prepared.spent is not None:  # its sites are told as unknown; not those of what it calls
                    part.add_problem(fault(prepared.spent), content.path, kernel.name)
                positions = loaded.parameter_positions(function)
                part.add_parameters(content, positions)
                aligned = _aligned(function, options.assume, positions)
                launches = [by_position(launch, positions) for launch in match(options.launches, function.name)]
                for launch in launches or [None]:
                    progress(f"{content.path}: {function.name}")
                    with part.collecting(content.path, function.name):
                        result = _evaluate(prepared, machine, launch, aligned, options)
                        entry = kernel_entry(
                            function,
                            result,
                            input=content.path,
                            machine=machine,
                            launch=launch,
                            lines=loaded.lines,
                            notes=loaded.notes + (launch.refused_by(function) if launch is not None else ()),
                            facts=facts,
                            local=prepared.local,
                            patterns=options.patterns,
                        )
                        if options.top is not None:
                            entry = replace(entry, loop_shares=loop_shares(function, flow, entry)[: options.top])
                        known = loaded.known if function.isa == "sass" else None
                        yield Examined(function, flow, machine, launch, result, entry, known, loaded.lines)


@record
class _Prepared:
    """What all launches of a kernel share. account: what it took, with which each of them begins; spent: what was not
    finished of it; whole: the function and its graph were, else there are the kernel's own instructions, in one
    block."""

    function: ir.Function
    flow: graph.Graph
    account: Account
    local: tuple[LocalAccess, ...] = ()
    spent: Exhausted | None = None
    whole: bool = True


def _prepared(
    module: ir.Module, kernel: ir.Function, machine: machines.Machine, account: Account, space: Space
) -> _Prepared:
    """The kernel joined with what it calls, and its graph, for as many steps as one launch may take."""
    try:
        function = spread(with_sites(link(module, kernel, account), memories(space)), machine.fragments)
        flow = graph.build(function, account)
    except Exhausted as spent:
        return _Prepared(kernel, graph.flat(kernel), account.begun(), (), spent, whole=False)
    try:
        local = lane_indexed(function, flow)
        return _Prepared(function, flow, account.begun(), local)
    except Exhausted as spent:
        return _Prepared(function, flow, account.begun(), (), spent)


def _evaluate(
    prepared: _Prepared, machine: machines.Machine, launch: Launch | None, aligned: dict[str, int], options: Options
) -> KernelResult:
    """The lane engine's answer, and what to tell where it has none."""
    function, flow = prepared.function, prepared.flow
    if launch is not None:
        launch.buffer(function)  # wrong parameters are wrong also where no site reads them
    if prepared.spent is not None and not prepared.whole:
        return engine.not_begun(function, prepared.spent)
    account = prepared.account.begun()
    facts = Facts(aligned, keep=options.keep or options.fixes, seen=options.patterns)
    result = engine.evaluate(function, flow, launch=launch, machine=machine, facts=facts, account=account)
    return with_questions(result, function, flow, machine, launch, account)


def by_position(launch: Launch, positions: dict[str, int]) -> Launch:
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
