"""Turns the sites of a kernel into the rows that people read: folded, worst first, in words.

Before: 16 sites of one unrolled source line, each `ld.shared.f32`, exact, 8 requests, 16 wavefronts.
After:  one Row("reduce.cu:12 ×16", "ld.shared.f32", "exact", "128", "256", "128", "128", "2")
        with the source line and the cause as its notes.

Pure functions of the report; `text` and `terminal` only lay the rows out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from ptxaudit.lanes.result import Status
from ptxaudit.render.words import interval, number, plural
from ptxaudit.report import Kernel, Report, Site, Span

COLUMNS = ("place", "instruction", "status", "requests", "wavefronts", "ideal", "excess", "ways")
NUMERIC = frozenset(COLUMNS[3:])
MAX_CONDITIONS = 6           # cases shown a row; `explain` shows all of them
ABSENT = "–"

Tone = Literal["bad", "open", "good", "quiet"]

RANGED = (Status.BOUNDED, Status.DATA_DEPENDENT, Status.CONDITIONAL)


@dataclass(frozen=True)
class Note:
    """A line under a row. kind "source": `line │ text`; "note": a sentence."""

    kind: Literal["source", "note"]
    text: str
    line: int | None = None


@dataclass(frozen=True)
class Row:
    """One line of a kernel's table, its cells in the order of COLUMNS, and the lines under it.

    tone: "bad" has excess, "open" has no settled figure, "good" is ideal, "quiet" never runs.
    """

    cells: tuple[str, ...]
    notes: tuple[Note, ...]
    tone: Tone


def kernel_rows(kernel: Kernel) -> list[Row]:
    """The rows of a kernel, most excess first; equal ones in program order."""
    folds = fold(kernel.sites)
    return [_row(group, kernel) for group in sorted(folds, key=lambda group: -_weight(group))]


def fold(sites: Iterable[Site]) -> list[tuple[Site, ...]]:
    """Sites of one source line, inline stack and opcode that share a status: copies of one access."""
    groups: dict[object, list[Site]] = {}
    for site in sites:
        groups.setdefault(_fold_key(site), []).append(site)
    return [tuple(group) for group in groups.values()]


def _fold_key(site: Site) -> object:
    if site.source is None:
        return site
    source = site.source
    stack = tuple((frame.file, frame.line) for frame in source.inlined)
    figure = None if site.settled else (site.per_request, site.conditions, site.reason)
    return (source.file, source.line, stack, site.opcode, site.status, figure)


def _weight(group: tuple[Site, ...]) -> float:
    """What the rows are sorted by: excess over the launch, else of one request at most."""
    excess = _sum(group, "excess")
    if excess is not None:
        return excess
    first = group[0]
    if first.bounds and _sum(group, "ideal") is not None:
        return max(0, sum(site.bounds[1] for site in group if site.bounds) - (_sum(group, "ideal") or 0))
    if first.excess_per_request:
        return first.excess_per_request.high
    if first.line_class_max is not None:
        return first.line_class_max - 1
    # below every known excess and above every site that is known to be ideal
    return 0.5 if first.status is Status.UNKNOWN else 0


def _row(group: tuple[Site, ...], kernel: Kernel) -> Row:
    first = group[0]
    count = f" ×{len(group)}" if len(group) > 1 else ""
    cells = (
        place(first, kernel) + count,
        first.opcode,
        str(first.status),
        _requests(group),
        _cost(group, "wavefronts", first.per_request),
        _cost(group, "ideal", first.ideal_per_request),
        _cost(group, "excess", first.excess_per_request),
        number(max((site.ways for site in group if site.ways is not None), default=None)),
    )
    return Row(cells, tuple(_notes(group)), _tone(group))


def place(site: Site, kernel: Kernel) -> str:
    """Where a site is, short: file:line, else the line of the PTX or the offset in the function."""
    if site.source:
        return f"{PurePath(site.source.file).name}:{site.source.line}"
    if site.ptx_line is not None:
        return f"{PurePath(kernel.input).name}:{site.ptx_line}"
    return f"+{site.offset:#06x}" if site.offset is not None else site.id


def _requests(group: tuple[Site, ...]) -> str:
    requests = _sum(group, "requests")
    return "?" if requests is None and group[0].status is not Status.UNREACHED else number(requests or 0)


def _cost(group: tuple[Site, ...], name: str, each: Span | None) -> str:
    """The sum over the launch, else its bounds, else what one request costs, else a dash."""
    total = _sum(group, name)
    if total is not None:
        return number(total)
    if name == "wavefronts" and all(site.bounds for site in group):
        low = sum(site.bounds[0] for site in group if site.bounds)
        high = sum(site.bounds[1] for site in group if site.bounds)
        return interval(low, high)
    if each is not None:
        return f"{interval(each.low, each.high)} each"
    return ABSENT


def _sum(group: tuple[Site, ...], name: str) -> int | None:
    values = [getattr(site, name) for site in group]
    return None if any(value is None for value in values) else sum(values)


def _tone(group: tuple[Site, ...]) -> Tone:
    first = group[0]
    if first.status is Status.UNREACHED:
        return "quiet"
    if first.status is Status.UNKNOWN:
        return "open"
    if _weight(group) > 0:
        return "bad"
    return "good" if first.status in (Status.EXACT, Status.INVARIANT) else "open"


# --- the lines under a row ------------------------------------------------------------------

def _notes(group: tuple[Site, ...]) -> Iterable[Note]:
    first = group[0]
    if first.source and first.source.text:
        yield Note("source", first.source.text, first.source.line)
    for frame in first.source.inlined if first.source else ():
        where = f"in {frame.function}, " if frame.function else ""
        text = f"  {frame.text}" if frame.text else ""
        yield Note("note", f"{where}inlined at {PurePath(frame.file).name}:{frame.line}{text}")
    if not (first.source and first.source.text):
        yield Note("note", first.text)
    for cause in dict.fromkeys(site.cause for site in group if site.cause):
        yield Note("note", cause)
    if first.reason and first.status is not Status.EXACT and first.status is not Status.INVARIANT:
        yield Note("note", first.reason)
    for case in first.conditions[:MAX_CONDITIONS]:
        ideal = "" if case.ideal is None else f", ideal {case.ideal}"
        yield Note("note", f"{case.when}: {interval(case.low, case.high)} a request{ideal}")
    if len(first.conditions) > MAX_CONDITIONS:
        yield Note("note", f"and {len(first.conditions) - MAX_CONDITIONS} more cases: ptxaudit explain shows them")
    if len(first.trips) > 1 and len(group) == 1:
        yield Note("note", _trips(first))
    if first.evidence == "by rule":
        yield Note("note", "by rule: this operation has not been measured on this machine")


def _trips(site: Site) -> str:
    trips = site.trips
    shown = ", ".join(number(trip.wavefronts) for trip in trips[:12]) + (", …" if len(trips) > 12 else "")
    ideal = ", ".join(number(trip.ideal) for trip in trips[:12]) + (", …" if len(trips) > 12 else "")
    return f"trip by trip: wavefronts {shown}; ideal {ideal}"


# --- the lines above and below the tables ---------------------------------------------------

def total_row(kernel: Kernel) -> Row | None:
    """The sums of a kernel of several sites; over the settled ones when there are others."""
    totals = kernel.totals
    settled = sum(site.settled for site in kernel.sites)
    if len(kernel.sites) < 2 or not settled:
        return None
    name = "total" if totals.complete else f"total of {plural(settled, 'exact site')}"
    sums = (totals.requests, totals.wavefronts, totals.ideal, totals.excess)
    ways = max((site.ways for site in kernel.sites if site.settled and site.ways is not None), default=None)
    cells = (name, "", "", *map(number, sums), number(ways))
    return Row(cells, (), "bad" if totals.excess else "good")


def closing_lines(report: Report) -> list[str]:
    """How many sites are exact, invariant, in a range or unknown; then why those that are not."""
    sites = report.sites
    if not report.kernels:
        return ["no kernel was checked"]
    kernels = plural(len(report.kernels), "kernel")
    if len({(kernel.name, kernel.input, kernel.isa) for kernel in report.kernels}) < len(report.kernels):
        kernels = plural(len(report.kernels), "kernel launch", "kernel launches")
    if not sites:
        return [f"no shared-memory site in {kernels}"]
    count = Counter(site.status for site in sites)
    parts = [f"{count[status]} {status}" for status in (Status.EXACT, Status.INVARIANT) if count[status]]
    ranged = [f"{count[status]} {status}" for status in RANGED if count[status]]
    if ranged:
        parts.append(f"{sum(count[status] for status in RANGED)} in a range ({', '.join(ranged)})")
    parts += [f"{count[status]} {status}" for status in (Status.UNREACHED, Status.UNKNOWN) if count[status]]
    lines = [f"{plural(len(sites), 'site')} in {kernels}: {', '.join(parts)}"]
    why = Counter((str(site.status), site.reason) for site in sites if not site.settled and site.reason)
    lines += [f"  {status} ×{n}: {reason}" for (status, reason), n in why.most_common()]
    return lines
