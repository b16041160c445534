"""Turns the sites of a kernel into the rows that people read: folded, worst first, in words.

Before: 16 sites of one unrolled source line, each `ld.shared.f32`, exact, 8 requests, 16 wavefronts.
After:  one Row("reduce.cu:12 ×16", "ld.shared.f32", "exact", "128", "256", "128", "128", "2")
        with the source line and the cause as its notes.

Pure functions of the report; `text` and `terminal` only lay the rows out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Literal

from ptxaudit.base.records import record
from ptxaudit.base.status import Status
from ptxaudit.base.words import bare_name, cut_at, interval, number, plural, sequence
from ptxaudit.report.model import Condition, Fix, Kernel, Report, Site, Source, Span
from ptxaudit.report.paths import place
from ptxaudit.ui.render.short_names import short_name

COLUMNS = ("place", "instruction", "status", "requests", "wavefronts", "ideal", "excess", "ways")
NUMERIC = frozenset((*COLUMNS[3:], "sectors", "lines"))
MAX_CONDITIONS = 6  # cases shown a cost; `explain` shows all of them
MOST_REASONS = 12  # in the closing lines
MOST_EMPTY = 8  # kernels named of those without a site
MANY_ROWS = 3  # rows with one reason, from which on it is told once
MAX_FUNCTION = 50  # characters: the place after it is never cut
MAX_SOURCE = 100  # columns of a source line shown; the JSON report has all of it
ABSENT = "–"

Tone = Literal["bad", "open", "good", "quiet"]

NO_COUNTER = "no counter sees cp.async.cg: profilers show 0 wavefronts and 0 conflicts for it, whatever the pattern"

_WITH_REASON = (Status.CONDITIONAL, Status.BOUNDED, Status.DATA_DEPENDENT, Status.UNREACHED, Status.UNKNOWN)
RANGED = (Status.BOUNDED, Status.DATA_DEPENDENT, Status.CONDITIONAL)


@record
class Note:
    """A line under a row. kind "source": `line │ text`; "frame": where it was inlined; "note": a sentence."""

    kind: Literal["source", "frame", "note"]
    text: str
    line: int | None = None


@record
class Row:
    """One line of a kernel's table, its cells in the order of COLUMNS, and the lines under it.

    tone: "bad" has excess, "open" has no settled figure, "good" is ideal, "quiet" never runs.
    """

    cells: tuple[str, ...]
    notes: tuple[Note, ...]
    tone: Tone


def kernel_rows(kernel: Kernel) -> list[Row]:
    """The rows of a kernel, most excess first; equal ones in program order."""
    folds = sorted(fold(kernel.sites), key=lambda group: -weight(group))
    told_above = dict(shared_reasons(kernel))
    return [_row(group, kernel, told_above) for group in folds]


def shared_reasons(kernel: Kernel) -> list[tuple[str, int]]:
    """Reasons that many rows of a kernel have, to be told once above the table: (reason, sites)."""
    if not any(_shows_reason(site) for site in kernel.sites):
        return []
    rows = Counter(group[0].reason for group in fold(kernel.sites) if _shows_reason(group[0]))
    sites = Counter(site.reason for site in kernel.sites if _shows_reason(site))
    return [(reason, sites[reason]) for reason, count in rows.most_common() if count >= MANY_ROWS]


def by_rule(kernel: Kernel) -> list[str]:
    """Opcodes of a kernel whose figures rest on a rule that was not measured on this machine."""
    silent = (Status.UNKNOWN, Status.UNREACHED)
    return list(dict.fromkeys(s.opcode for s in kernel.sites if s.evidence == "by rule" and s.status not in silent))


def _shows_reason(site: Site) -> bool:
    return bool(site.reason) and site.status in _WITH_REASON and site.line_class_max is None


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


def weight(group: tuple[Site, ...]) -> float:
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


def _row(group: tuple[Site, ...], kernel: Kernel, told_above: dict[str, int]) -> Row:
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
    return Row(cells, tuple(_notes(group, told_above)), tone(group[0].status, weight(group)))


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


def tone(status: Status, weight: float) -> Tone:
    """Of sites with a status, and what they are sorted by."""
    if status is Status.UNREACHED:
        return "quiet"
    if status is Status.UNKNOWN:
        return "open"
    if weight > 0:
        return "bad"
    return "good" if status in (Status.EXACT, Status.INVARIANT) else "open"


# --- the lines under a row ------------------------------------------------------------------


def _notes(group: tuple[Site, ...], told_above: dict[str, int]) -> Iterator[Note]:
    first = group[0]
    if first.source and first.source.text:
        yield Note("source", cut(first.source.text), first.source.line)
    if first.source:
        yield from frame_notes(first.source)
    if not (first.source and first.source.text):
        yield Note("note", first.text)
    causes = list(dict.fromkeys(site.cause for site in sorted(group, key=_excess, reverse=True) if site.cause))
    if causes:
        yield Note("note", causes[0] if len(causes) == 1 else f"at worst {causes[0]}")
    if _shows_reason(first) and not told_above.get(first.reason):
        yield Note("note", first.reason)
    if first.line_class_max is not None:
        yield Note("note", NO_COUNTER)
    yield from (
        Note("note", text) for text in dict.fromkeys(fix_line(site.fix) for site in group if site.fix is not None)
    )
    yield from _cases(first.conditions)
    yield from _breakdown(group)


def frame_notes(source: Source) -> Iterator[Note]:
    """Where the code of a line was inlined, innermost first."""
    for frame in source.inlined:
        who = f"{short_name(bare_name(frame.function), MAX_FUNCTION)} inlined at" if frame.function else "inlined at"
        text = f": {frame.text}" if frame.text else ""
        yield Note("frame", cut(f"{who} {PurePath(frame.file).name}:{frame.line}{text}"))


def cut(source: str) -> str:
    """A source line at a length to read; the blanks before a comment at its end are one."""
    return cut_at(" ".join(source.split()), MAX_SOURCE)


def _cases(conditions: tuple[Condition, ...]) -> Iterator[Note]:
    """The cases of a conditional answer; those of one cost on one line, the assumed one first."""
    lines: dict[str, list[str]] = {}
    for case in conditions:
        ideal = "" if case.ideal is None else f", ideal {case.ideal}"
        lines.setdefault(f"{interval(case.low, case.high)} a request{ideal}", []).append(case.when)
    for cost, when in lines.items():
        more = f", and {len(when) - MAX_CONDITIONS} more cases" if len(when) > MAX_CONDITIONS else ""
        yield Note("note", f"{cost}: {'; '.join(when[:MAX_CONDITIONS])}{more}")


def _breakdown(group: tuple[Site, ...]) -> Iterator[Note]:
    """The figures of the copies, or of the trips of a loop, where they are not all the same."""
    if len(group) > 1:
        word, figures = "copy by copy", [(site.wavefronts, site.ideal) for site in group]
    else:
        word, figures = "trip by trip", [(trip.wavefronts, trip.ideal) for trip in group[0].trips]
    known = [(wavefronts, ideal) for wavefronts, ideal in figures if wavefronts is not None and ideal is not None]
    if len(known) == len(figures) and len(set(known)) > 1:
        wavefronts, ideal = zip(*known, strict=True)
        yield Note("note", f"{word}: wavefronts {sequence(list(wavefronts))}; ideal {sequence(list(ideal))}")


def fix_line(fix: Fix) -> str:
    """ "fix: pad the row to 33 floats, 0 excess left, +128 bytes, proved for this launch"."""
    left = "" if fix.excess is None else f", {number(fix.excess)} excess left"
    return (
        f"fix: {fix.summary}{left}, {'+' if fix.bytes >= 0 else '−'}{plural(abs(fix.bytes), 'byte')}, proved for"
        f" {fix.proved_for}"
    )


def _excess(site: Site) -> int:
    """What the copies of a line are compared by."""
    if site.excess is not None:
        return site.excess
    return site.excess_per_request.high if site.excess_per_request else site.line_class_max or 0


# --- the lines above and below the tables ---------------------------------------------------


def total_row(kernel: Kernel) -> Row | None:
    """The sums of a kernel of several sites; over the settled ones when there are others."""
    totals = kernel.totals
    exact = any(site.status is Status.EXACT for site in kernel.sites)
    if len(kernel.sites) < 2 or not exact:
        return None
    name = "total" if totals.complete else "exact total"
    sums = (totals.requests, totals.wavefronts, totals.ideal, totals.excess)
    ways = max((site.ways for site in kernel.sites if site.settled and site.ways is not None), default=None)
    cells = (name, "", "", *map(number, sums), number(ways))
    return Row(cells, (), "bad" if totals.excess else "good")


def verdict_line(report: Report) -> str:
    """What conflicts cost over all exact sites, and where most; "" where no site is exact.

    One PTX and one SASS entry of a kernel are two counts of the same thing: only one of them is summed.
    """
    isa = "sass" if any(kernel.isa == "sass" for kernel in report.kernels) else "ptx"
    exact = [
        (site, kernel)
        for kernel in report.kernels
        if kernel.isa == isa
        for site in kernel.sites
        if site.status is Status.EXACT
    ]
    wavefronts = sum(site.wavefronts or 0 for site, _ in exact)
    excess = sum(site.excess or 0 for site, _ in exact)
    if not wavefronts:
        return ""
    those = "" if all(site.settled for site in report.every_site) else " of the exact sites"
    if not excess:
        return (
            f"no excess: {'the 1 wavefront' if wavefronts == 1 else f'all {number(wavefronts)} wavefronts'}{those}"
            f" {'is' if wavefronts == 1 else 'are'} needed"
        )
    worst, kernel = max(exact, key=lambda pair: pair[0].excess or 0)
    share = f"{excess / wavefronts:.1%}".replace(".0%", "%")
    return (
        f"conflicts cost {number(excess)} of {number(wavefronts)} wavefronts{those} ({share}), "
        f"most at {place(worst, kernel)}: {worst.opcode}, {number(worst.ways)} ways"
    )


def without_sites(report: Report) -> str:
    """Which kernels have nothing to count, "" where all have: the first few by name."""
    names = list(dict.fromkeys(kernel.demangled for kernel in report.kernels if not kernel.sites and not kernel.memory))
    more = len(names) - MOST_EMPTY
    last = f" and {plural(more, 'more kernel')}" if more > 0 else ""
    return f"no shared-memory site in {', '.join(names[:MOST_EMPTY])}{last}" if names else ""


def closing_lines(report: Report) -> list[str]:
    """How many sites are exact, invariant, in a range or unknown; then why those that are not."""
    sites = report.every_site
    if not report.kernels:
        return ["no kernel was checked"]
    kernels = plural(len(report.kernels), "kernel")
    if len({(kernel.name, kernel.input, kernel.isa, kernel.arch) for kernel in report.kernels}) < len(report.kernels):
        kernels = plural(len(report.kernels), "kernel launch", "kernel launches")
    if not sites:
        return [] if any(kernel.memory for kernel in report.kernels) else [f"no shared-memory site in {kernels}"]
    count = Counter(site.status for site in sites)
    parts = [f"{count[status]:,} {status}" for status in (Status.EXACT, Status.INVARIANT) if count[status]]
    ranged = [f"{count[status]} {status}" for status in RANGED if count[status]]
    if ranged:
        parts.append(f"{sum(count[status] for status in RANGED)} in a range ({', '.join(ranged)})")
    parts += [f"{count[status]} {status}" for status in (Status.UNREACHED, Status.UNKNOWN) if count[status]]
    lines = [f"{plural(len(sites), 'site')} in {kernels}: {', '.join(parts)}"]
    why = Counter((str(site.status), site.reason) for site in sites if not site.settled and site.reason)
    lines += [f"  {status} ×{n}: {reason}" for (status, reason), n in why.most_common(MOST_REASONS)]
    if len(why) > MOST_REASONS:
        lines.append(f"  and {len(why) - MOST_REASONS} more reasons, each told at its site")
    if report.problems:
        lines.append(f"  {plural(len(report.problems), 'error')}: not everything was checked")
    return lines
