"""Tables of global and local memory, as `rows` makes those of shared memory: folded, worst first.

place    instruction     status  requests  sectors  ideal  excess  lines
k.cu:4   ld.global.f32   exact         32      256    128     128     64
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from ptxaudit.base.status import Status
from ptxaudit.base.words import interval, number, plural
from ptxaudit.report.model import Kernel, MemorySite, Report, Span
from ptxaudit.ui.render.rows import ABSENT, Note, Row, _cases, cut, frame_notes, tone

COLUMNS = ("place", "instruction", "status", "requests", "sectors", "ideal", "excess", "lines")
SPACES = ("global", "local")


def memory_rows(kernel: Kernel, space: str) -> list[Row]:
    """The rows of one memory of a kernel, most excess first, and their sum where there are several."""
    sites = [site for site in kernel.memory if site.space == space]
    groups = sorted(_fold(sites), key=lambda group: -_weight(group))
    rows = [_row(group, kernel) for group in groups]
    settled = [site for site in sites if site.status is Status.EXACT]
    if len(sites) > 1 and settled:
        name = "total" if all(site.settled for site in sites) else "exact total"
        sums = [sum(getattr(site, column) or 0 for site in settled) for column in _SUMMED]
        rows.append(Row((name, "", "", *map(number, sums)), (), "bad" if sums[3] else "good"))
    return rows


_SUMMED = ("requests", "sectors", "sectors_ideal", "sectors_excess", "tag_requests")


def _fold(sites: Iterable[MemorySite]) -> list[tuple[MemorySite, ...]]:
    """Sites of one source line, inline stack and opcode that share a status and what a request costs."""
    groups: dict[object, list[MemorySite]] = {}
    for site in sites:
        source = site.source
        stack = source and tuple((frame.file, frame.line) for frame in source.inlined)
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
                None if site.settled else (site.per_request, site.conditions, site.reason),
            )
        )
        groups.setdefault(key, []).append(site)
    return [tuple(group) for group in groups.values()]


def _weight(group: tuple[MemorySite, ...]) -> float:
    excess = [site.sectors_excess for site in group]
    if None not in excess:
        return sum(excess)
    first = group[0].excess_per_request
    return first.high if first is not None else 0.5


def _row(group: tuple[MemorySite, ...], kernel: Kernel) -> Row:
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
    return Row(cells, tuple(_notes(group)), tone(group[0].status, _weight(group)))


def place(site: MemorySite, kernel: Kernel) -> str:
    """Where a site is, short."""
    if site.source:
        return f"{PurePath(site.source.file).name}:{site.source.line}"
    if site.ptx_line is not None:
        return f"{PurePath(kernel.input).name}:{site.ptx_line}" if kernel.is_ptx_file else f"PTX line {site.ptx_line}"
    return f"+{site.offset:#06x}"


def _cost(group: tuple[MemorySite, ...], column: str, each: Span | None) -> str:
    values = [getattr(site, column) for site in group]
    if None not in values:
        return number(sum(values))
    if column == "sectors" and all(site.bounds for site in group):
        return interval(sum(site.bounds[0] for site in group), sum(site.bounds[1] for site in group))
    if each is not None:
        return f"{interval(each.low, each.high)} each"
    return "?" if column == "requests" else ABSENT


def _notes(group: tuple[MemorySite, ...]) -> Iterator[Note]:
    first = group[0]
    if first.source and first.source.text:
        yield Note("source", cut(first.source.text), first.source.line)
    if first.source:
        yield from frame_notes(first.source)
    if not (first.source and first.source.text):
        yield Note("note", first.text)
    if first.kind is not None:
        yield Note("note", first.kind)
    worst = max(group, key=lambda site: site.sectors_excess or 0)
    if worst.cause:
        yield Note("note", worst.cause)
    if (lanes := max((site.same_address or 0 for site in group), default=0)) > 1:
        yield Note("note", f"up to {lanes} lanes are on one address: the L2 takes them one after the other")
    if first.reason and first.status is not Status.EXACT:
        yield Note("note", first.reason)
    yield from _cases(first.conditions)


def memory_lines(report: Report) -> list[str]:
    """The closing lines of the memories that were looked at."""
    lines = []
    for space in SPACES:
        sites = [site for kernel in report.kernels for site in kernel.memory if site.space == space]
        if sites:
            count = Counter(str(site.status) for site in sites)
            told = ", ".join(f"{n:,} {status}" for status, n in count.most_common())
            lines.append(f"{plural(len(sites), 'site')} of {space} memory: {told}{_share(sites)}")
    return lines


def _share(sites: list[MemorySite]) -> str:
    exact = [site for site in sites if site.status is Status.EXACT]
    sectors, excess = (sum(getattr(site, name) or 0 for site in exact) for name in ("sectors", "sectors_excess"))
    return (
        f"; {number(excess)} of {number(sectors)} sectors are excess ({excess / sectors:.1%})".replace(".0%", "%")
        if sectors
        else ""
    )
