"""Builds a kernel's report entry from the results of the lane engine.

Before: SiteResult(index=7, status=exact, wavefronts=1024, …) of ir.Function "k"
After:  Site(id="k@k.cu:14:ptx.load", source=Source("k.cu", 14, text="out[i] = tile[x][y];"), …)

Everything that names a location happens here: source lines are read and ids assigned. An id consists of the kernel,
base name of the file, line, inline stack, instruction set and access, with a number from the second site on where all
of these are equal. It contains no offset, and so survives a rebuild.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isfinite
from pathlib import PurePath
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.demangle import demangle
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import Common, KernelResult, Pattern, SiteResult
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.parameters import specified
from ptxaudit.frontend.source_text import SourceLines
from ptxaudit.hardware import banks
from ptxaudit.hardware.memory.rules import SECTOR
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.local_memory import LocalAccess
from ptxaudit.ir.neighbours import Run
from ptxaudit.ir.reasons import Kind, Reason, arguments, leading, sentence
from ptxaudit.report.cause import cause_of
from ptxaudit.report.code_facts import CodeFacts
from ptxaudit.report.local_kinds import local_kind
from ptxaudit.report.memory_words import memory_cause, misaligned, vector_of
from ptxaudit.report.model import (
    Condition,
    Frame,
    Kernel,
    LaunchCase,
    LaunchRecord,
    Local,
    MemorySite,
    Seen,
    Site,
    Source,
    Span,
    Trip,
    Why,
)
from ptxaudit.report.model import Pattern as SitePattern
from ptxaudit.report.resident import occupancy_of

BUFFERS_ALIGNED = "the specified buffers begin at multiples of 256 bytes, as from cudaMalloc, and do not overlap"


def _endless(function: ir.Function, result: KernelResult) -> tuple[str, ...]:
    """The note on a launch that does not end."""
    if result.endless is None:
        return ()
    return (f"{sentence(result.endless, function)}: the figures cover what is issued before it, or by other lanes",)


def kernel_entry(
    function: ir.Function,
    result: KernelResult,
    *,
    input: str,
    machine: banks.Machine,
    launch: Launch | None,
    lines: SourceLines,
    notes: tuple[str, ...] = (),
    facts: CodeFacts,
    local: Iterable[LocalAccess] = (),
    runs: Mapping[int, Run] | None = None,
    patterns: bool = False,
    spaces: tuple[str, ...] = ("shared",),
) -> Kernel:
    """The report entry of one kernel under one launch, or without one. notes: of the whole input; facts: of its code;
    local: its `local_memory.lane_indexed`; runs: its `neighbours`; patterns: include the distinct requests of each
    site; spaces: the memories that were examined."""
    ids = SiteIds(function)
    return Kernel(
        name=function.name,
        demangled=demangle(function.name),
        isa=function.isa,
        arch=function.arch,
        input=input,
        machine=machine.name,
        launch=launch_record(launch, function),
        assumed=result.assumed
        + ((BUFFERS_ALIGNED,) if launch is not None and launch.buffers and launch.invents_addresses else ()),
        notes=(*what_if(machine, function.arch), *notes, *function.notes, *result.notes, *_endless(function, result)),
        shared_static=function.shared_static,
        sites=tuple(
            site_entry(function, site, ids, machine, lines, facts, patterns)
            for site in result.sites
            if function.site(site.index).of == "shared"
        ),
        memory=memory_entries(function, result, ids, lines, facts, runs or {}, patterns),
        registers=facts.registers,
        instructions=facts.instructions,
        local=tuple(local_entry(function, access, lines) for access in local),
        stack=facts.stack,
        barriers=facts.barriers,
        spills=facts.spills,
        occupancy=occupancy_of(function, launch, facts.registers, facts.barriers),
        code=facts.code,
        spaces=spaces,
    )


def what_if(machine: banks.Machine, arch: str) -> tuple[str, ...]:
    """The note on a kernel that is scored by the rules of another machine than it was compiled for."""
    if not arch or arch in machine.archs or arch.rstrip("af") in machine.archs:
        return ()
    return (f"a what-if: compiled for {arch}, scored by the rules of {machine.title}",)


def local_entry(function: ir.Function, access: LocalAccess, lines: SourceLines) -> Local:
    """The report entry of one access to local memory."""
    instruction = access.instruction
    return Local(
        opcode=instruction.opcode,
        text=instruction.text,
        by=access.by,
        offset=function.offset_of(instruction),
        ptx_line=function.ptx_line_of(instruction),
        source=source_entry(instruction.source, lines),
    )


def site_entry(
    function: ir.Function,
    result: SiteResult,
    ids: SiteIds,
    machine: banks.Machine,
    lines: SourceLines,
    facts: CodeFacts | None = None,
    patterns: bool = False,
) -> Site:
    """The report entry of one access to shared memory. facts: of the kernel's code, which may spill registers there."""
    instruction, site = function.instructions[result.index], function.site(result.index)
    access, width = access_of(site)
    spilled = facts is not None and facts.kinds.get(function.origin_of(result.index)[1])
    return Site(
        **access_entry(function, result, ids.of(instruction, access), access, width, lines),
        cause=_at_worst(result, cause_of(machine, site.access, result)),
        kind="spill" if spilled else None,
        wavefronts=result.wavefronts,
        ideal=result.ideal,
        excess=result.excess,
        ways=result.ways,
        line_class_max=result.line_class_max,
        line_class_proved=result.line_class_proved,
        lines=result.lines,
        lines_proved=result.lines_proved,
        lines_ideal=result.lines_ideal,
        patterns=pattern_entries(result, machine, site.access) if patterns else (),
        distinct=max(result.distinct, len(result.patterns)) if patterns else None,
        scored_as=f"{site.opcode} on {machine.name}" if patterns else "",
    )


def access_entry(
    function: ir.Function, result: SiteResult, id: str, access: str, width: int | None, lines: SourceLines
) -> dict[str, Any]:
    """The fields that sites of every memory have, by the names in `Access`."""
    instruction = function.instructions[result.index]
    exact = result.status is Status.EXACT
    return {
        "id": id,
        "offset": function.offset_of(instruction),
        "ptx_line": function.ptx_line_of(instruction),
        "opcode": instruction.opcode,
        "text": instruction.text,
        "access": access,
        "width": width,
        "source": source_entry(instruction.source, lines),
        "status": result.status,
        "reason": sentence(result.reason, function),
        "reason_kind": leading(result.reason).kind.text if result.reason else "",
        "why": why_entry(result.reason, function) if result.reason else None,
        "requests": result.requests,
        "active_requests": result.active_requests,
        "bounds": None if exact or result.status is Status.UNREACHED else result.bounds,
        "per_request": span(result.per_request),
        "ideal_per_request": span(result.ideal_per_request),
        "excess_per_request": excess_per_request(result),
        "evidence": result.evidence,
        "formula": result.formula,
        "conditions": tuple(Condition(case.when, case.low, case.high, case.ideal) for case in result.conditions),
        "cases": tuple(
            LaunchCase(case.when, case.requests, case.active, case.low, case.high, case.ideal) for case in result.cases
        ),
        "trips": tuple(Trip(*trip) for trip in result.trips) if exact else (),
        "consecutive": consecutive(result.common, width),
        "unaligned": result.unaligned,
        "lane_step": lane_step(result.common),
        "lane_step_most": lane_step_most(result.common),
    }


def pattern_entries(result: SiteResult, machine: banks.Machine, access: banks.Access | None) -> tuple[SitePattern, ...]:
    """The report entries of a site's distinct requests."""
    counted = result.requests is not None
    return tuple(pattern_entry(one, counted, turns_of(machine, access, one)) for one in result.patterns)


def pattern_entry(pattern: Pattern, counted: bool, turns: tuple[int, ...] | None = None) -> SitePattern:
    """The report entry of one distinct request. counted: the site's number of requests is known; turns: from
    `turns_of`."""
    on = pattern.active
    return SitePattern(
        addresses=tuple(np.where(on, pattern.addresses, 0).tolist()),
        active=mask_of(on),
        count=pattern.count if counted and pattern.count else None,
        low=pattern.low,
        high=pattern.high,
        ideal=pattern.ideal,
        ways=pattern.ways,
        seen=seen_entry(pattern.seen),
        turns=turns,
    )


def seen_entry(seen: Iterable[tuple[int, int]]) -> tuple[Seen, ...]:
    """Merges consecutive trips with the same warps."""
    found: list[Seen] = []
    for trip, warps in seen:
        if found and found[-1].warps == warps and found[-1].last == trip - 1:
            found[-1] = replace(found[-1], last=trip)
        else:
            found.append(Seen(trip, trip, warps))
    return tuple(found)


def mask_of(active: np.ndarray) -> int:
    """A mask of booleans as a number, bit i for lane i."""
    return sum(1 << lane for lane in np.flatnonzero(active).tolist())


def turns_of(machine: banks.Machine, access: banks.Access | None, pattern: Pattern) -> tuple[int, ...] | None:
    """The round that serves each lane of a cp.async.ca with known sources, 0 for inactive lanes; None where the
    rounds of one pass do not add up to its cost."""
    if pattern.sources is None or access is None:
        return None
    from ptxaudit.hardware.banks.copies import slots
    from ptxaudit.hardware.banks.few import rounds_in_l1

    count = machine.known_rule(access).count
    to, source = (row.tolist() for row in slots(count, pattern.addresses, pattern.sources))
    turns, total = [0] * len(to), 0
    for start in range(0, len(to), count.lanes):
        members = [lane for lane in range(start, start + count.lanes) if pattern.active[lane]]
        served = rounds_in_l1([to[lane] for lane in members], [source[lane] for lane in members], count.lanes)
        total += max(served, default=0)
        for lane, turn in zip(members, served, strict=True):
            turns[lane] = turn
    return tuple(turns) if total == pattern.low == pattern.high else None


def memory_entries(
    function: ir.Function,
    result: KernelResult,
    ids: SiteIds,
    lines: SourceLines,
    facts: CodeFacts,
    runs: Mapping[int, Run],
    patterns: bool = False,
) -> tuple[MemorySite, ...]:
    """The report entries of the accesses to global and local memory, without generic accesses that never go there.
    patterns: include their distinct requests."""
    found = []
    for site in result.sites:
        if function.site(site.index).of != "shared" and is_there(site):
            found.append(memory_entry(function, site, ids, lines, facts, runs.get(site.index), patterns))
    return tuple(found)


def is_there(result: SiteResult) -> bool:
    """False for a generic access that never goes to the memory in question."""
    return result.reason is None or result.reason.kind is not Kind.NEVER_THERE


def memory_entry(
    function: ir.Function,
    result: SiteResult,
    ids: SiteIds,
    lines: SourceLines,
    facts: CodeFacts,
    run: Run | None = None,
    patterns: bool = False,
) -> MemorySite:
    """The report entry of one access to global or local memory."""
    instruction, site = function.instructions[result.index], function.site(result.index)
    access, width = access_of(site)
    return MemorySite(
        **access_entry(function, result, ids.of(instruction, f"{site.of}.{access}"), access, width, lines),
        cause=_at_worst(result, memory_cause(result, site.of, width)),
        patterns=tuple(pattern_entry(one, result.requests is not None) for one in result.patterns) if patterns else (),
        distinct=max(result.distinct, len(result.patterns)) if patterns else None,
        space=site.of,
        kind=local_kind(function, instruction, result, facts.kinds) if site.of == "local" else None,
        sectors=result.wavefronts,
        sectors_ideal=result.ideal,
        sectors_excess=result.excess,
        tag_requests=result.lines,
        bytes_moved=None if result.wavefronts is None else result.wavefronts * SECTOR,
        bytes_used=None if result.lanes is None or width is None else result.lanes * width,
        same_address=result.ways if access == "atomic" else None,
        misaligned=misaligned(result, site.of),
        aligned=None if result.common is None else result.common.aligned,
        vector=None if run is None or run.first != result.index else vector_of(result, run.bytes),
    )


def why_entry(reason: Reason, function: ir.Function) -> Why:
    """A reason in a form for programs."""
    at = function.instructions[reason.index] if reason.index >= 0 else None
    return Why(
        kind=reason.kind.text,
        data=reason.data,
        offset=None if at is None else function.offset_of(at),
        ptx_line=None if at is None else function.ptx_line_of(at),
        unknowns=tuple(dict.fromkeys(unknown.name for unknown in reason.unknowns)),
        arguments=arguments(reason),
        parts=tuple(why_entry(part, function) for part in reason.given if isinstance(part, Reason)),
        cause=why_entry(reason.cause, function) if reason.cause else None,
    )


def _at_worst(result: SiteResult, cause: str) -> str:
    """The cause of the costliest request, which an unspecified number that multiplies the lane may or may not make."""
    by_number = result.requests is None and result.reason is not None and result.reason.of_kind(Kind.DEPENDS)
    return f"in the costliest case, {cause}" if cause and by_number else cause


def consecutive(common: Common | None, width: int | None) -> bool | None:
    """In every request, active lanes next to each other access addresses `width` bytes apart; None if that is
    unknown."""
    if common is None or width is None or common.adjacent and not common.complete:
        return None
    return common.adjacent


def lane_step(common: Common | None) -> int | None:
    """The greatest power of two, in bytes, that divides the distances of the active lanes' addresses in every request;
    None where all distances are 0, or some are unknown."""
    return lane_step_most(common) if common is not None and common.complete else None


def lane_step_most(common: Common | None) -> int | None:
    """The same of the requests whose addresses are known: those of others may differ by less, but not all by more."""
    return None if common is None else common.lane_bits & -common.lane_bits or None


def excess_per_request(result: SiteResult) -> Span | None:
    """Bounds of the excess of any single request of a site."""
    cost, ideal = span(result.per_request), span(result.ideal_per_request)
    if cost is None or ideal is None:
        return None
    counted = sum(pattern.count for pattern in result.patterns)
    if counted and result.status is Status.EXACT and counted == result.active_requests:
        each = [pattern.low - pattern.ideal for pattern in result.patterns]
        return Span(min(each), max(each))
    return Span(max(0, cost.low - ideal.high), max(0, cost.high - ideal.low))


def costs_more(result: SiteResult) -> bool:
    """The site costs more than its ideal, or may."""
    if result.excess is not None:
        return result.excess > 0
    each = excess_per_request(result)
    return each is not None and each.high > 0


def span(interval: tuple[int, int] | None) -> Span | None:
    """The interval; None if it is unknown, or if no counter covers it (-1: cp.async.cg)."""
    return None if interval is None or min(interval) < 0 else Span(*interval)


def access_of(site: ir.Site) -> tuple[str, int | None]:
    """(access word, bytes per lane) of a site; no bytes for a site without a rule."""
    return (site.word, None) if site.access is None else (site.access.access, site.access.width)


def source_entry(source: ir.Source | None, lines: SourceLines) -> Source | None:
    """A source position with the text of its lines."""
    if source is None:
        return None
    inlined = tuple(Frame(f.file, f.line, demangle(f.function), lines(f.file, f.line)) for f in source.inlined)
    return Source(source.file, source.line, source.column, lines(source.file, source.line), inlined)


def launch_record(launch: Launch | None, function: ir.Function) -> LaunchRecord | None:
    """The launch in the report's form: all parameters by position, None for those not specified."""
    if launch is None:
        return None
    params = launch.params
    if launch.named:
        params = tuple(params or (None,) * len(function.parameters))
        names = [parameter.name for parameter in function.parameters]
        for key, value in launch.named.items():
            at = names.index(key) if key in names else int(key)
            params = (*params[:at], value, *params[at + 1 :])
    return LaunchRecord(
        grid=launch.grid,
        block=launch.block,
        cluster=launch.cluster,
        dynamic_shared=launch.dynamic_shared or 0,
        params=None if params is None else tuple(_json_value(value) for value in params),
        param_bytes=launch.param_bytes.hex() if launch.param_bytes else None,
        symbols={key: _json_value(value) for key, value in launch.symbols.items()} or None,
    )


def _json_value(value: object) -> object:
    """A parameter in a form that JSON can represent; None where it is not specified."""
    if not specified(value):
        return None
    if isinstance(value, Buffer):
        return {"buffer": value.record()}
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, (tuple, list)):
        return tuple(_json_value(item) for item in value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


# --- ids ------------------------------------------------------------------------------------


class SiteIds:
    """Assigns the ids of one function's sites: KERNEL@FILE:LINE[@FILE:LINE…]:ISA.ACCESS[.N].

    N counts otherwise equal ids in program order, from the second on. All sites of the function are therefore
    distinguished, and ids do not depend on which sites were requested.
    """

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._ids: dict[int, str] = {}
        count: Counter[str] = Counter()
        for instruction in function.instructions:
            if instruction.site is None:
                continue
            if instruction.site.again:
                self._ids[instruction.index] = self._ids[instruction.index - 1]
                continue
            stem = self._stem(instruction, self._word(instruction.site))
            count[stem] += 1
            self._ids[instruction.index] = stem if count[stem] == 1 else f"{stem}.{count[stem]}"

    def of(self, instruction: ir.Instruction, access: str) -> str:
        return self._ids.get(instruction.index) or self._stem(instruction, access)

    @staticmethod
    def _word(site: ir.Site) -> str:
        word = access_of(site)[0]
        return word if site.of == "shared" else f"{site.of}.{word}"

    def _stem(self, instruction: ir.Instruction, access: str) -> str:
        where = "".join(f"@{_name(file)}:{line}" for file, line in _positions(instruction.source))
        return f"{self._function.name}{where}:{self._function.isa}.{access}"


@lru_cache(maxsize=1024)
def _name(file: str) -> str:
    return PurePath(file).name


def _positions(source: ir.Source | None) -> Iterable[tuple[str, int]]:
    if source is not None:
        yield source.file, source.line
        for frame in source.inlined:
            yield frame.file, frame.line
