"""Tables of global and local memory, like those of `rows` for shared memory: folded, worst first.

place    instruction     status  requests  sectors  ideal  excess  lines k.cu:4   ld.global.f32   exact         32
256    128     128     64
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ptxaudit.base.places import line_of
from ptxaudit.base.status import Status
from ptxaudit.base.words import interval, number, plural
from ptxaudit.hardware.opcode_classes import class_of
from ptxaudit.report.counterparts import kernels_once
from ptxaudit.report.model import Kernel, MemorySite, Report, Span
from ptxaudit.report.paths import place
from ptxaudit.ui.render.rows import (
    ABSENT,
    MAX_FUNCTION,
    NO_MARKS,
    Marks,
    Note,
    Row,
    case_notes,
    cause_notes,
    launch_case_notes,
    place_notes,
    tone,
)
from ptxaudit.ui.render.short_names import short_name

COLUMNS = ("place", "instruction", "status", "requests", "sectors", "ideal", "excess", "lines")
SPACES = ("global", "local")
KINDS = {"spill": "spill of a register", "frame": "frame of a call", "array": "array"}


def memory_rows(kernel: Kernel, space: str, marks: Marks = NO_MARKS) -> list[Row]:
    """The rows of one memory, most excess first, then their total if there are several. marks: the rules by site."""
    sites = [site for site in kernel.memory if site.space == space]
    groups = sorted(fold_memory(sites), key=lambda group: -memory_weight(group))
    rows = [memory_row(group, kernel, marks) for group in groups]
    settled = [site for site in sites if site.status is Status.EXACT]
    if len(sites) > 1 and settled:
        name = "total" if all(site.settled for site in sites) else "exact total"
        sums = [sum(getattr(site, column) or 0 for site in settled) for column in _SUMMED]
        rows.append(Row((name, "", "", *map(number, sums)), (), "bad" if sums[3] else "good"))
    return rows


_SUMMED = ("requests", "sectors", "sectors_ideal", "sectors_excess", "tag_requests")


def fold_memory(sites: Iterable[MemorySite]) -> list[tuple[MemorySite, ...]]:
    """Sites with the same source line, inline stack, opcode and status, and the same cost per request."""
    groups: dict[object, list[MemorySite]] = {}
    for site in sites:
        source = site.source
        stack = source and tuple((frame.file, frame.line) for frame in source.inlined)
        cost = site.per_request, site.excess_per_request, site.conditions, site.cases, site.reason
        key = (
            site
            if source is None
            else (
                source.file,
                source.line,
                stack,
                site.opcode,
                site.status,
                site.kind,
                None if site.settled else cost,
            )
        )
        groups.setdefault(key, []).append(site)
    return [tuple(group) for group in groups.values()]


def memory_weight(group: tuple[MemorySite, ...]) -> float:
    """The sort key of the rows: excess sectors over the launch, otherwise the maximum excess of one request."""
    excess = [site.sectors_excess for site in group if site.sectors_excess is not None]
    if len(excess) == len(group):
        return sum(excess)
    first = group[0].excess_per_request
    return first.high if first is not None else 0.5


def memory_row(group: tuple[MemorySite, ...], kernel: Kernel, marks: Marks) -> Row:
    """One row, with its notes."""
    first = group[0]
    count = f" ×{len(group)}" if len(group) > 1 else ""
    cells = (
        place(first, kernel) + count,
        first.opcode,
        str(first.status),
        *(
            _cost(group, column, each)
            for column, each in zip(
                _SUMMED, (None, first.per_request, first.ideal_per_request, first.excess_per_request, None)
            )
        ),
    )
    return Row(cells, tuple(_notes(group, marks)), tone(group[0].status, memory_weight(group)))


def _cost(group: tuple[MemorySite, ...], column: str, each: Span | None) -> str:
    values = [getattr(site, column) for site in group]
    if None not in values:
        return number(sum(values))
    bounds = [site.bounds for site in group if site.bounds is not None]
    if column == "sectors" and len(bounds) == len(group):
        return interval(sum(low for low, _ in bounds), sum(high for _, high in bounds))
    if each is not None:
        return f"{interval(each.low, each.high)} each"
    return "?" if column == "requests" else ABSENT


def _notes(group: tuple[MemorySite, ...], marks: Marks) -> Iterator[Note]:
    first = group[0]
    yield from place_notes(first)
    if first.kind is not None:
        yield Note("note", KINDS[first.kind])
    worst = max(group, key=lambda site: site.sectors_excess or 0)
    yield from cause_notes(worst.cause, group, marks)
    if (lanes := max((site.same_address or 0 for site in group), default=0)) > 1:
        yield Note("note", f"up to {lanes} lanes access one address and are serialised in L2")
    if first.reason and first.status is not Status.EXACT:
        yield Note("note", first.reason)
    yield from case_notes(first.conditions)
    yield from launch_case_notes(first, len(group))


def memory_lines(report: Report) -> list[str]:
    """The closing lines of the memories that were audited."""
    lines = []
    once = kernels_once(report.kernels)
    for space in SPACES:
        sites = [site for kernel in report.kernels for site in kernel.memory if site.space == space]
        if sites:
            summed = [site for kernel in once for site in kernel.memory if site.space == space]
            count = Counter(str(site.status) for site in sites)
            counts = ", ".join(f"{n:,} {status}" for status, n in count.most_common())
            lines.append(f"{plural(len(sites), 'site')} of {space} memory: {counts}{_share(summed)}")
    return lines


def _share(sites: list[MemorySite]) -> str:
    exact = [site for site in sites if site.status is Status.EXACT]
    sectors, excess = (sum(getattr(site, name) or 0 for site in exact) for name in ("sectors", "sectors_excess"))
    return (
        f"; {number(excess)} of {number(sectors)} sectors are excess ({excess / sectors:.1%})".replace(".0%", "%")
        if sectors
        else ""
    )


def others_line(report: Report) -> str:
    """What the code shows of the memories that were not audited: spills, arrays, accesses; "" if there is nothing.

    The PTX and SASS entries of a kernel have the same code: of a kernel with both, SASS is used.
    """
    kernels = [kernel for kernel in kernels_once(report.kernels) if kernel.spaces == ("shared",)]
    once = list({(kernel.input, kernel.name, kernel.arch): kernel for kernel in kernels}.values())
    parts = [part for part in (_spilled(once), _by_lane(once), *_accesses(once)) if part]
    return f"not audited (--space all): {', '.join(parts)}" if parts else ""


def _spilled(kernels: list[Kernel]) -> str:
    spilled = [(kernel.spills.everywhere, kernel) for kernel in kernels if kernel.spills and kernel.spills.everywhere]
    if not spilled:
        return ""
    most, worst = max(spilled, key=lambda one: one[0])
    more = f", the most of {plural(len(spilled), 'kernel')}" if len(spilled) > 1 else ""
    return f"{plural(most, 'byte')} of spills in {short_name(worst.demangled, MAX_FUNCTION)}{more}"


def _by_lane(kernels: list[Kernel]) -> str:
    """Per-thread arrays that lanes index differently."""
    found = [(kernel, access) for kernel in kernels for access in kernel.local if access.by == "lane"]
    if not found:
        return ""
    kernel, first = found[0]
    at = f" at {line_of(first.source)}" if first.source else f" in {short_name(kernel.demangled, MAX_FUNCTION)}"
    more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f"a local array indexed by lane{at}{more}"


def _accesses(kernels: list[Kernel]) -> Iterator[str]:
    """The number of instructions that access each memory."""
    counts = Counter[str]()
    for kernel in kernels:
        for opcode, count in kernel.code.opcodes.items() if kernel.code else ():
            counts[class_of(opcode).partition("-")[0]] += count
    for space in SPACES:
        if counts[space]:
            yield f"{plural(counts[space], f'{space} access', f'{space} accesses')}"
