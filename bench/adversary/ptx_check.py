"""Compares claims about PTX with the counts of the machine code into which ptxas compiled it.

A site is comparable if ptxas's own map pairs it with one instruction, of the same width, that is not moved out of a
loop. The number of times that warps issue it may differ (a branch becomes a predicate); its active lanes and its
wavefronts may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from bench.adversary import telling, truth
from bench.adversary.claims import Finding, Verdict, claim_of, each
from ptxaudit.base.status import Status
from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.assumptions import MASKS
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.report.assemble import SourceLines, kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.report.model import Kernel, Site
from ptxaudit.report.pairing import BY_MAP, Side, pair, ptx_map, side
from ptxaudit.review.compare import DISPUTED

BUDGET = 20.0


@lru_cache(maxsize=4)
def _module(text: str, file: str) -> ir.Module:
    return lift_module(parse_module(text, file))


def findings(one: truth.Truth, how: str, machine_code: Kernel, function: ir.Function) -> Iterator[Finding]:
    """Yields the comparable sites of the PTX of a launch.

    machine_code, function: the machine code of the same launch, audited.
    """
    if not one.ptx:
        return
    module = _module(one.ptx, one.cubin.file)
    kernel = module.functions[one.entry["kernel"]]
    launch = telling.TELLINGS[how](one.entry, kernel)
    linked = link(module, kernel)
    flow = graph.build(linked)
    machine = machines.get(function.arch)
    result = engine.evaluate(linked, flow, launch=launch, machine=machine, account=Account.for_budget(BUDGET))
    entry = kernel_entry(
        linked,
        result,
        input=one.cubin.file,
        machine=machine,
        launch=launch,
        lines=SourceLines(),
        facts=code_facts(module, linked, {}),
    )
    pairs = pair(kernel.name, side(linked, flow, entry, None), _side(machine_code, function, one))
    ours, theirs = {site.id: site for site in entry.sites}, {site.id: site for site in machine_code.sites}
    ran = dict(one.placed())
    shared = (found for found in result.sites if linked.site(found.index).of == "shared")
    assumed = {site.id for site, found in zip(entry.sites, shared) if found.meeting_assumed or MASKS in result.assumed}
    for pairing in pairs:
        if (
            pairing.what == "kept"
            and pairing.by == BY_MAP
            and not pairing.hoisted
            and len(pairing.ptx) == len(pairing.sass) == 1
        ):
            site, made = ours[pairing.ptx[0]], theirs[pairing.sass[0]]
            if site.width == made.width and site.access == made.access:
                finding = _finding(site, made, ran.get(made.offset or 0))
                rests = finding.verdict is Verdict.WRONG and site.id in assumed
                yield replace(finding, verdict=Verdict.ASSUMED, kind="") if rests else finding


def _side(entry: Kernel, function: ir.Function, one: truth.Truth) -> Side:
    return side(function, graph.build(function), entry, ptx_map(one.cubin))


def _finding(site: Site, made: Site, counted: truth.Counts | None) -> Finding:
    warps, threads, wavefronts = (counted.warps, counted.threads, counted.wavefronts) if counted else (0, 0, 0)
    said = f"{threads} lanes, {wavefronts} wavefronts in {made.text}"
    line = site.source.line if site.source else None
    make = lambda verdict, kind="", why="": Finding(
        verdict, site.ptx_line or 0, site.text, kind, claim_of(site) + (f": {why}" if why else ""), said, line
    )
    if any(pattern.match(made.opcode) for pattern in DISPUTED) or ".BYPASS" in made.opcode:
        return make(Verdict.EQUAL if wavefronts == site.wavefronts else Verdict.REQUESTS)
    if site.status is Status.UNREACHED:
        return make(Verdict.WRONG, "ptx", "lanes ran") if threads else make(Verdict.EQUAL)
    if site.wavefronts is not None:
        return make(Verdict.EQUAL) if site.wavefronts == wavefronts else make(Verdict.WRONG, "ptx", "wavefronts differ")
    if site.bounds is not None:
        low, high = site.bounds
        return make(Verdict.WITHIN) if low <= wavefronts <= high else make(Verdict.WRONG, "ptx", "outside of its range")
    broken = next(each(site, warps, threads, wavefronts), None)
    if broken:
        return make(Verdict.WRONG, f"ptx {broken[0]}", broken[1])
    return make(Verdict.OPEN if site.per_request is None else Verdict.WITHIN)
