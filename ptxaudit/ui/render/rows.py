"""Turns the sites of a kernel into the rows of its table: folded, worst first, in words.

Before: 16 sites of one unrolled source line, each `ld.shared.f32`, exact, 8 requests, 16 wavefronts.
After:  one Row("reduce.cu:12 ×16", "ld.shared.f32", "exact", "128", "256", "128", "128", "2")
        with the source line and the cause as its notes.

Pure functions of the report; `text` and `terminal` only lay the rows out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from ptxaudit.base.places import base_name
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.words import bare_name, cut_at, interval, number, plural, sequence
from ptxaudit.ir.reasons import Kind
from ptxaudit.report.copy_words import explained, steps
from ptxaudit.report.counterparts import kernels_once
from ptxaudit.report.model import Condition, Fix, Frame, Kernel, LaunchCase, MemorySite, Report, Site, Source, Span
from ptxaudit.report.paths import own_place, place
from ptxaudit.ui.render.short_names import short_name

COLUMNS = ("place", "instruction", "status", "requests", "wavefronts", "ideal", "excess", "ways")
NUMERIC = frozenset((*COLUMNS[3:], "sectors", "lines", "depth", "trips", "accesses", "share", "spills"))
TOTALS = ("total", "exact total")
MAX_CONDITIONS = 6  # cases to show per cost; `explain` shows all
MOST_REASONS = 12  # reasons in the closing lines
MOST_EMPTY = 8  # kernels without a site to name
MANY_ROWS = 3  # rows with the same reason from which on it is given once above the table
MAX_FUNCTION = 50  # characters: the place after it is never cut
MAX_SOURCE = 100  # columns of a source line; the JSON report has all of it
ABSENT = "–"

Tone = Literal["bad", "open", "good", "quiet"]

SPILLED = "spill of a register, to shared memory"

_WITH_REASON = (Status.CONDITIONAL, Status.BOUNDED, Status.DATA_DEPENDENT, Status.UNREACHED, Status.UNKNOWN)
RANGED = (Status.BOUNDED, Status.DATA_DEPENDENT, Status.CONDITIONAL)


class Note(Record):
    """A line under a row. kind: "source": `line │ text`; "frame": where it was inlined; "note": a sentence."""

    kind: Literal["source", "frame", "note"]
    text: str
    line: int | None = None


class Row(Record):
    """One line of a kernel's table, its cells in the order of COLUMNS, and the lines under it.

    tone: "bad" has excess, "open" has no settled figure, "good" is ideal, "quiet" never runs.
    """

    cells: tuple[str, ...]
    notes: tuple[Note, ...]
    tone: Tone


Marks = Mapping[int, tuple[str, ...]]  # id() of a site -> the rules with a finding there
NO_MARKS: Marks = {}
NO_REASONS: Mapping[str, int] = {}


def kernel_rows(kernel: Kernel, marks: Marks = NO_MARKS) -> list[Row]:
    """The rows of a kernel, most excess first, equal ones in program order. marks: the rules with findings, by site."""
    folds = sorted(fold(kernel.sites), key=lambda group: -weight(group))
    said_above = dict(shared_reasons(kernel))
    return [row_of(group, kernel, marks, said_above) for group in folds]


def shared_reasons(kernel: Kernel) -> list[tuple[str, int]]:
    """Reasons that many rows of a kernel share, to be given once above the table: (reason, sites), most sites first."""
    if not any(_shows_reason(site) for site in kernel.sites):
        return []
    rows = Counter(group[0].reason for group in fold(kernel.sites) if _shows_reason(group[0]))
    sites = Counter(site.reason for site in kernel.sites if _shows_reason(site))
    return [(reason, count) for reason, count in sites.most_common() if rows[reason] >= MANY_ROWS]


def by_rule(kernel: Kernel) -> list[str]:
    """Opcodes of a kernel whose figures rest on a rule that was not measured on this machine."""
    silent = (Status.UNKNOWN, Status.UNREACHED)
    return list(dict.fromkeys(s.opcode for s in kernel.sites if s.evidence == "by rule" and s.status not in silent))


def _shows_reason(site: Site) -> bool:
    return bool(site.reason) and site.status in _WITH_REASON and _says_more(site)


_ONLY_STEPS = frozenset((Kind.SEVERAL.text, Kind.COPY_LINES.text, Kind.COPY_LINE_CLASS.text))


def _says_more(site: Site) -> bool:
    """Its reason says more than that a cp.async.cg is counted in steps, which `copy_lines` explains."""
    kinds = {why.kind for why in site.why.walk()} if site.why is not None else _ONLY_STEPS
    return site.line_class_max is None or not kinds <= _ONLY_STEPS


def fold(sites: Iterable[Site]) -> list[tuple[Site, ...]]:
    """Sites with the same source line, inline stack, opcode and status, which are copies of one access."""
    groups: dict[object, list[Site]] = {}
    for site in sites:
        groups.setdefault(_fold_key(site), []).append(site)
    return [tuple(group) for group in groups.values()]


def _fold_key(site: Site) -> object:
    if site.source is None:
        return site
    source = site.source
    stack = tuple((frame.file, frame.line) for frame in source.inlined)
    cost = site.per_request, site.excess_per_request, site.conditions, site.cases, site.reason
    figure = None if site.settled else cost
    return (source.file, source.line, stack, site.opcode, site.status, site.kind, figure)


def weight(group: tuple[Site, ...]) -> float:
    """The sort key of the rows: excess over the launch, otherwise the maximum excess of one request."""
    excess = _sum(group, "excess")
    if excess is not None:
        return excess
    first = group[0]
    if first.bounds and _sum(group, "ideal") is not None:
        return max(0, sum(site.bounds[1] for site in group if site.bounds) - (_sum(group, "ideal") or 0))
    if first.excess_per_request:
        return first.excess_per_request.high
    if any(site.line_class_max is not None for site in group):
        return max(site.line_class_max or 1 for site in group) - 1
    # below every known excess and above every site that is known to be ideal
    return 0.5 if first.status is Status.UNKNOWN else 0


def row_of(group: tuple[Site, ...], kernel: Kernel, marks: Marks, said_above: Mapping[str, int] = NO_REASONS) -> Row:
    """One row of a table, with its notes. said_above: reasons already given above the table."""
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
    return Row(cells, tuple(_notes(group, marks, said_above)), tone(group[0].status, weight(group)))


def _requests(group: tuple[Site, ...]) -> str:
    requests = _sum(group, "requests")
    if requests is None and all(site.cases for site in group):
        counts = [[n for case in site.cases if (n := case.requests) is not None] for site in group]
        return interval(sum(map(min, counts)), sum(map(max, counts)))
    return "?" if requests is None and group[0].status is not Status.UNREACHED else number(requests or 0)


def _cost(group: tuple[Site, ...], name: str, each: Span | None) -> str:
    """The sum over the launch, otherwise its bounds, otherwise the cost of one request, otherwise a dash."""
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
    """The tone of a row, from the status of its sites and its weight."""
    if status is Status.UNREACHED:
        return "quiet"
    if status is Status.UNKNOWN:
        return "open"
    if weight > 0:
        return "bad"
    return "good" if status in (Status.EXACT, Status.INVARIANT) else "open"


# --- the lines under a row ------------------------------------------------------------------


def _notes(group: tuple[Site, ...], marks: Marks, said_above: Mapping[str, int]) -> Iterator[Note]:
    first = group[0]
    yield from place_notes(first)
    if first.kind == "spill":
        yield Note("note", SPILLED)
    causes = list(dict.fromkeys(filter(None, map(_why, sorted(group, key=_excess, reverse=True)))))
    cause = "" if not causes else causes[0] if len(causes) == 1 else f"at worst {causes[0]}"
    yield from cause_notes(cause, group, marks)
    if _shows_reason(first) and not said_above.get(first.reason):
        yield Note("note", first.reason)
    yield from (
        Note("note", text) for text in dict.fromkeys(fix_line(site.fix) for site in group if site.fix is not None)
    )
    yield from case_notes(first.conditions)
    yield from launch_case_notes(first, len(group))
    yield from _breakdown(group)


def place_notes(site: Site | MemorySite) -> Iterator[Note]:
    """The user's source line, the toolkit header with the access, and the inline stack; or else the instruction."""
    own = own_place(site.source) if site.source else None
    if own is not None and own.text:
        yield Note("source", cut(own.text), own.line)
    if site.source:
        yield from frame_notes(site.source)
    if own is None or not own.text:
        yield Note("note", site.text)


def frame_notes(source: Source) -> Iterator[Note]:
    """One line for the toolkit function that the user's line calls, then the inline stack, innermost first."""
    own = own_place(source)
    if isinstance(own, Frame):
        who = f"{short_name(bare_name(own.function), MAX_FUNCTION)}, " if own.function else ""
        yield Note("frame", f"in {who}{base_name(source.file)}:{source.line}")
    for frame in source.inlined[source.inlined.index(own) + 1 if isinstance(own, Frame) else 0 :]:
        who = f"{short_name(bare_name(frame.function), MAX_FUNCTION)} inlined at" if frame.function else "inlined at"
        text = f": {frame.text}" if frame.text else ""
        yield Note("frame", cut(f"{who} {base_name(frame.file)}:{frame.line}{text}"))


def cut(source: str) -> str:
    """A source line without repeated blanks, cut to a readable length."""
    return cut_at(" ".join(source.split()), MAX_SOURCE)


def cause_notes(cause: str, group: Sequence[Site | MemorySite], marks: Marks) -> Iterator[Note]:
    """The cause of the cost, preceded by the rules with a finding: "PA001: 32 lanes …"."""
    rules = ", ".join(dict.fromkeys(rule for site in group for rule in marks.get(id(site), ())))
    if text := ": ".join(filter(None, (rules, cause))):
        yield Note("note", text)


def _why(site: Site) -> str:
    """The cost and its cause; for cp.async.cg only the steps, which `copy_lines` explains once below the tables."""
    return site.cause if site.line_class_max is None else steps(site)


def case_notes(conditions: tuple[Condition, ...]) -> Iterator[Note]:
    """The cases of a conditional answer, one line per cost, the assumed case first."""
    lines: dict[str, list[str]] = {}
    for case in conditions:
        ideal = "" if case.ideal is None else f", ideal {case.ideal}"
        lines.setdefault(f"{interval(case.low, case.high)} per request{ideal}", []).append(case.when)
    for cost, when in lines.items():
        more = f", and {len(when) - MAX_CONDITIONS} more cases" if len(when) > MAX_CONDITIONS else ""
        yield Note("note", f"{cost}: {'; '.join(when[:MAX_CONDITIONS])}{more}")


def launch_case_notes(site: Site | MemorySite, copies: int) -> Iterator[Note]:
    """The cases of the sums over the launch, one line each. copies: of the site in the row."""
    for case in site.cases[:MAX_CONDITIONS]:
        yield Note("note", f"{case.when}: {case_cost(case, site.space)}{' each' if copies > 1 else ''}")
    if len(site.cases) > MAX_CONDITIONS:
        yield Note("note", f"and {len(site.cases) - MAX_CONDITIONS} more cases")


def case_cost(case: LaunchCase, space: str) -> str:
    """ "16 wavefronts in 8 requests, ideal 8"; "no request"."""
    if case.requests == 0:
        return "no request"
    word, unit = "request", "wavefront" if space == "shared" else "sector"
    cost = plural(case.high, unit) if case.low == case.high else f"{interval(case.low, case.high)} {unit}s"
    ideal = "" if case.ideal is None else f", ideal {number(case.ideal)}"
    return f"{cost}{'' if case.requests is None else f' in {plural(case.requests, word)}'}{ideal}"


def _breakdown(group: tuple[Site, ...]) -> Iterator[Note]:
    """The figures of the copies, or of the trips of a loop, unless they are all equal."""
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
    """The key by which the copies of a line are compared."""
    if site.excess is not None:
        return site.excess
    return site.excess_per_request.high if site.excess_per_request else site.line_class_max or 0


# --- the lines above and below the tables ---------------------------------------------------


def total_row(kernel: Kernel) -> Row | None:
    """The totals of a kernel with several sites; only over the exact ones if there are others."""
    totals = kernel.totals
    exact = any(site.status is Status.EXACT for site in kernel.sites)
    if len(kernel.sites) < 2 or not exact:
        return None
    name = TOTALS[not totals.complete]
    sums = (totals.requests, totals.wavefronts, totals.ideal, totals.excess)
    ways = max((site.ways for site in kernel.sites if site.settled and site.ways is not None), default=None)
    cells = (name, "", "", *map(number, sums), number(ways))
    return Row(cells, (), "bad" if totals.excess else "good")


def verdict_line(report: Report) -> str:
    """The cost of conflicts over all exact sites, and the costliest site; "" if no exact site has a wavefront.

    The PTX and SASS entries of a kernel count the same accesses: of a kernel with both, only SASS is added up.
    """
    exact = [
        (site, kernel)
        for kernel in kernels_once(report.kernels)
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
    """The kernels without a site, the first few by name; "" if there are none."""
    names = list(dict.fromkeys(kernel.demangled for kernel in report.kernels if not kernel.sites and not kernel.memory))
    more = len(names) - MOST_EMPTY
    last = f" and {plural(more, 'more kernel')}" if more > 0 else ""
    return f"no shared-memory site in {', '.join(names[:MOST_EMPTY])}{last}" if names else ""


def closing_lines(report: Report, most: int = MOST_REASONS) -> list[str]:
    """The number of sites by status, then the reasons for those that are not exact, at most `most` of them."""
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
    ranged = [f"{count[status]:,} {status}" for status in RANGED if count[status]]
    if ranged:
        parts.append(f"{sum(count[status] for status in RANGED):,} in a range ({', '.join(ranged)})")
    parts += [f"{count[status]:,} {status}" for status in (Status.UNREACHED, Status.UNKNOWN) if count[status]]
    lines = [f"{plural(len(sites), 'site')} in {kernels}: {', '.join(parts)}"]
    why = Counter(
        (str(site.status), site.reason) for site in sites if not site.settled and site.reason and _says_more(site)
    )
    lines += [f"  {status} ×{n}: {reason}" for (status, reason), n in why.most_common(most)]
    lines += [f"  {line}" for line in copy_lines(report)]
    if len(why) > most:
        lines.append(f"  and {len(why) - most} more reasons, each said at its site")
    if report.problems:
        lines.append(f"  {plural(len(report.problems), 'error')}: not everything was checked")
    return lines


def copy_lines(report: Report) -> list[str]:
    """Explains the steps of cp.async.cg once, if there are any."""
    copies = [
        (site.line_class_max, kernel) for kernel in report.kernels for site in kernel.sites if site.line_class_max
    ]
    if not copies:
        return []
    from ptxaudit.hardware import machines

    most, kernel = max(copies, key=lambda copy: copy[0])
    first, *more = explained(machines.get(kernel.machine), most)
    return [f"cp.async.cg ×{len(copies)}: {first}", *(f"  {line}" for line in more)]
