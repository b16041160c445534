"""The contents of a diff in words: kernels by impact, the rows of each, and other changes of a kernel.

Pure functions of the diff; `changes`, `changes_html`, … only lay them out. Copies of one line with the same change
form one row. Increases come first, the greatest change first; `top` keeps the first rows over all kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ptxaudit.base.records import Record
from ptxaudit.base.words import interval, number, plural
from ptxaudit.hardware.opcode_classes import CLASSES
from ptxaudit.report.measures import MEASURES, Figure
from ptxaudit.report.mix import widths
from ptxaudit.report.model import AnySite, Kernel, Site, Totals
from ptxaudit.report.paths import place
from ptxaudit.review.diff.reports import QUIET, SPACES, Change, Diff, KernelDiff, Nature, Resources, Verdict
from ptxaudit.ui.render.rows import Note, case_notes, launch_case_notes, place_notes
from ptxaudit.ui.render.short_names import short_name, short_pair

COLUMNS = ("change", "place", "instruction", "status", "wavefronts", "excess", "ways")
MEMORY_COLUMNS = ("change", "place", "instruction", "status", "sectors", "excess", "lines")
ARROW = " → "
MOST_WORSE_FIRST = tuple(Verdict)
MOST_NAMES = 12  # kernels in one line
LONGEST_NAME = 70  # characters of one of these names,
LONGEST_NAMES = 240  # of all of them,
LONGEST_HEAD = 160  # and of a name on its own line
MOST_CLASSES = 6  # instruction classes in one line
SECTORS = ("sectors", "sectors-excess")
RESOURCES = ("stack", "spills", "barriers", "occupancy")  # shown if they changed

Row = tuple[Change, ...]  # copies of one line with the same change


class Shown(Record):
    """A kernel with the rows to show; left_out: the number of other rows."""

    entry: KernelDiff
    rows: tuple[Row, ...]
    left_out: int = 0

    @property
    def tables(self) -> list[Table]:
        """The rows, grouped by memory."""
        spaces = sorted({row[0].site.space for row in self.rows}, key=SPACES.index)
        return [
            Table(
                "" if space == "shared" else f"{space} memory",
                COLUMNS if space == "shared" else MEMORY_COLUMNS,
                tuple(row for row in self.rows if row[0].site.space == space),
            )
            for space in spaces
        ]


class Table(Record):
    """The rows of one memory. title: "" for shared memory."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def shown_kernels(diff: Diff, everything: bool = False, top: int | None = None) -> list[Shown]:
    """The kernels with something to show: those that got worse first, then by impact.

    top: shows only this many rows over all kernels, those with the greatest impact.
    """
    found = [(entry, rows_of(entry, everything)) for entry in diff.kernels]
    found = [(entry, rows) for entry, rows in found if rows or resources_changed(entry)]
    found.sort(key=lambda pair: (not pair[0].got_worse, -abs(pair[0].impact)))
    if top is None:
        return [Shown(entry, tuple(rows)) for entry, rows in found]
    ordered = sorted((_order(row), at, nth) for at, (_, rows) in enumerate(found) for nth, row in enumerate(rows))
    kept = {(at, nth) for _, at, nth in ordered[:top]}
    shown = [
        Shown(
            entry,
            tuple(row for nth, row in enumerate(rows) if (at, nth) in kept),
            sum((at, nth) not in kept for nth in range(len(rows))),
        )
        for at, (entry, rows) in enumerate(found)
    ]
    return [one for one in shown if one.rows]


def left_out_line(diff: Diff, shown: Iterable[Shown], everything: bool = False) -> str:
    """The number of rows that --top left out, in words, or ""."""
    every = shown_kernels(diff, everything)
    rows = sum(len(one.rows) for one in every) - sum(len(one.rows) for one in shown)
    return f"and {plural(rows, 'more row')}: leave out --top, or see --format json" if rows else ""


def rows_of(entry: KernelDiff, everything: bool) -> list[Row]:
    """The rows of a kernel in display order."""
    rows: dict[object, list[Change]] = {}
    for change in entry.every:
        if everything or change.verdict not in QUIET:
            rows.setdefault(_row_key(change), []).append(change)
    return sorted(map(tuple, rows.values()), key=_order)


def _order(row: Row) -> tuple[int, int]:
    return MOST_WORSE_FIRST.index(row[0].verdict), -abs(sum(change.impact for change in row))


def _row_key(change: Change) -> object:
    """The properties that copies share.

    The verdict; on each side, place, inline stack, instructions and status; and all figures that cannot be added up.
    """
    return change.verdict, change.width, _side_key(change.olds, change.old), _side_key(change.news, change.new)


def _side_key(sites: tuple[AnySite, ...], whole: AnySite | None) -> object:
    if whole is None:
        return None
    if whole.source is None:
        return whole.space, _opcodes(sites), whole.status, _cost(whole, "paid"), _cost(whole, "wasted")
    stack = tuple((frame.file, frame.line) for frame in whole.source.inlined)
    figures = (
        None if whole.paid is not None else (_cost(whole, "paid"), _cost(whole, "wasted"), number(_further_of([whole])))
    )
    return whole.space, whole.source.file, whole.source.line, stack, _opcodes(sites), whole.status, figures


# --- the summary ----------------------------------------------------------------------------


def sides_lines(diff: Diff) -> list[str]:
    """The two sides, unless their descriptions are equal."""
    old, new = diff.sides
    return [f"old: {old}", f"new: {new}"] if old != new else []


def summary_lines(diff: Diff) -> list[str]:
    """The number of sites by verdict, the total cost, and the kernels on one side only or with other changes."""
    lines = list(_counts(diff))
    changed = {name: both for name, both in diff.totals.items() if both[0] != both[1]}
    if changed:
        lines.append("in total: " + ", ".join(grown(name, *both) for name, both in changed.items()))
    if other := list(_other_totals(diff)):
        lines.append("also: " + ", ".join(other))
    if count := sum(_only_instructions_changed(entry) for entry in diff.kernels):
        lines.append(f"in {plural(count, 'kernel')} nothing but the number of instructions changed")
    lines += _named("only rescheduled", (entry for entry in diff.kernels if entry.nature is Nature.RESCHEDULED))
    only = [entry for entry in diff.kernels if entry.nature is Nature.RENAMED]
    lines += _named("only renamed", only)
    lines += _named("renamed", (entry for entry in diff.kernels if entry.renamed and entry not in only))
    for word, side in (("new", "old"), ("gone", "new")):
        lines += _named(word, (entry for entry in diff.kernels if getattr(entry, side) is None))
    return lines


def _counts(diff: Diff) -> Iterator[str]:
    """A line per memory."""
    if total := sum(diff.counts.values()):
        yield f"{plural(total, 'site')}: {_parts(diff.counts)}"
    elif not diff.memory_counts:
        yield "no shared-memory site on either side" if diff.kernels else "no kernel on either side"
    for space, counts in diff.memory_counts.items():
        yield f"{plural(sum(counts.values()), 'site')} of {space} memory: {_parts(counts)}"


def _parts(counts: dict[Verdict, int]) -> str:
    return ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())


def _other_totals(diff: Diff) -> Iterator[str]:
    """Sectors, spills, stack and registers over all kernels, if they changed."""
    for name in (*SECTORS, "registers", *RESOURCES):
        old, new = diff.total(name)
        if old is not None and new is not None and old != new:
            measure = MEASURES[name]
            most = "" if measure.summed else "at least " if measure.less_is_worse else "at most "
            yield f"{most}{figure_text(old)}{ARROW}{figure_text(new)} {measure.words}"


def _named(word: str, entries: Iterable[KernelDiff]) -> list[str]:
    names = list(dict.fromkeys(name_of(entry, LONGEST_NAME) for entry in entries))
    if not names:
        return []
    shown = names[:MOST_NAMES]
    while len(shown) > 1 and sum(map(len, shown)) > LONGEST_NAMES:
        shown.pop()
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return [f"{word} {'kernel' if len(names) == 1 else 'kernels'}: {', '.join(shown)}{more}"]


# --- a kernel -------------------------------------------------------------------------------


def name_of(entry: KernelDiff, longest: int = LONGEST_HEAD) -> str:
    """The demangled name, or "old → new" if it was renamed; long names are shortened."""
    if entry.old is not None and entry.new is not None:
        return arrow(*short_pair(entry.old.demangled, entry.new.demangled, longest))
    return short_name(entry.kernel.demangled, longest)


def where(entry: KernelDiff) -> str:
    """The instruction set and launch, and whether the kernel is on one side only."""
    kernel = entry.kernel
    if entry.old and entry.new and repr(entry.old.launch) != repr(entry.new.launch):
        return f"{kernel.isa}, {_launch(entry.old)}{ARROW}{_launch(entry.new)}"
    side = "" if entry.old and entry.new else ", new kernel" if entry.new else ", gone kernel"
    return f"{kernel.isa}, {_launch(kernel)}{side}"


def _launch(kernel: Kernel) -> str:
    return str(kernel.launch) if kernel.launch else "no launch specified"


def facts_of(entry: KernelDiff) -> list[str]:
    """One line each: the totals, the kernel's resources, and how its instructions changed."""
    return [
        line
        for line in (_totals(entry), _resources(*entry.resources), _further(entry), _mix(entry), *_widths(entry))
        if line
    ]


def _totals(entry: KernelDiff) -> str:
    """The totals of both sides, if both cover every site."""
    if not entry.comparable or entry.old is None or entry.new is None or not (entry.old.sites or entry.new.sites):
        return ""
    names: tuple[tuple[str, Callable[[Totals], int]], ...] = (
        ("excess", lambda totals: totals.excess),
        ("wavefronts", lambda totals: totals.wavefronts),
    )
    return ", ".join(grown(name, figure(entry.old.totals), figure(entry.new.totals)) for name, figure in names)


def grown(name: str, old: int, new: int) -> str:
    """ "excess 0 → 992 (+992)", "wavefronts 64 as before"."""
    return (
        f"{name} {number(old)}{ARROW}{number(new)} ({new - old:+,})"
        if old != new
        else f"{name} {number(new)} as before"
    )


def _resources(old: Resources | None, new: Resources | None) -> str:
    """Registers, shared memory and instructions: both figures if they differ."""
    known = new or old
    if known is None:
        return ""
    parts = []
    for name, word in (
        ("registers", "registers"),
        ("shared_static", "bytes of static shared memory"),
        ("instructions", "instructions"),
    ):
        before, after = (getattr(side, name) if side else None for side in (old, new))
        if before is None and after is None or name == "shared_static" and not (before or after):
            continue
        both = old is not None and new is not None and before != after
        parts.append(
            f"{number(before)}{ARROW}{number(after)} {word}"
            if both
            else f"{number(after if after is not None else before)} {word}"
        )
    return ", ".join(parts)


def _further(entry: KernelDiff) -> str:
    """Sectors, stack, spills, barriers and occupancy, if they changed."""
    return ", ".join(
        f"{figure_text(old)}{ARROW}{figure_text(new)} {MEASURES[name].words}"
        for name, (old, new) in _changed(entry, (*SECTORS, *RESOURCES))
    )


def _mix(entry: KernelDiff) -> str:
    """The instruction classes whose counts changed, the greatest change first."""
    changed = sorted(_changed(entry, CLASSES), key=lambda one: -abs(_by(*one[1])))
    more = (
        f" and {plural(len(changed) - MOST_CLASSES, 'more class', 'more classes')}"
        if len(changed) > MOST_CLASSES
        else ""
    )
    changes = ", ".join(
        f"{name} {figure_text(old)}{ARROW}{figure_text(new)}" for name, (old, new) in changed[:MOST_CLASSES]
    )
    return f"instructions by class: {changes}{more}" if changes else ""


def _widths(entry: KernelDiff) -> Iterator[str]:
    """The number of accesses by width, if it changed: one line per memory space."""
    if entry.old is None or entry.new is None or entry.old.code is None or entry.new.code is None:
        return
    before, after = widths(entry.old.code.opcodes), widths(entry.new.code.opcodes)
    for space in {**before, **after}:
        olds, news = before.get(space, {}), after.get(space, {})
        changed = [width for width in sorted({*olds, *news}) if olds.get(width) != news.get(width)]
        if len(changed) > 1:  # a change of one width alone already shows in its class
            changes = ", ".join(
                f"of {plural(width, 'byte')} {olds.get(width, 0):,}{ARROW}{news.get(width, 0):,}" for width in changed
            )
            yield f"{space} accesses by width: {changes}"


def _changed(entry: KernelDiff, names: Iterable[str]) -> list[tuple[str, tuple[Figure | None, Figure | None]]]:
    """The figures that differ between the two sides of a kernel."""
    if entry.old is None or entry.new is None:
        return []
    return [(name, entry.figures[name]) for name in names if entry.figures[name][0] != entry.figures[name][1]]


def _by(old: Figure | None, new: Figure | None) -> Figure:
    return (new or 0) - (old or 0)


def figure_text(figure: Figure | None) -> str:
    """ "1,024", "12.5", or a dash."""
    return number(figure) if figure is None or isinstance(figure, int) else f"{figure:,.1f}".removesuffix(".0")


def resources_changed(entry: KernelDiff) -> bool:
    """Whether registers, memory, spills or barriers changed; not the instruction count, which every release changes."""
    return bool(_changed(entry, ("registers", "shared", *RESOURCES)))


def _only_instructions_changed(entry: KernelDiff) -> bool:
    quiet = not resources_changed(entry) and all(change.verdict in QUIET for change in entry.every)
    return quiet and bool(_changed(entry, ("instructions",)))


# --- a row ----------------------------------------------------------------------------------


def cells_of(entry: KernelDiff, row: Row) -> tuple[str, ...]:
    """The cells of a row, in the order of COLUMNS or MEMORY_COLUMNS."""
    change = row[0]
    verdict = str(change.verdict)
    if change.width and change.width is not change.verdict:
        verdict += f", {change.width}"
    olds, news = [one.old for one in row if one.old], [one.new for one in row if one.new]

    def both(text: Callable[[list[AnySite]], str]) -> str:
        return arrow(*(text(side) if side else None for side in (olds, news)))

    return (
        verdict,
        arrow(
            *(
                _places(side, kernel) if side and kernel else None
                for side, kernel in ((olds, entry.old), (news, entry.new))
            )
        ),
        _instructions(_all(one.olds for one in row), _all(one.news for one in row)),
        arrow(str(change.old.status) if change.old else None, str(change.new.status) if change.new else None),
        both(lambda side: _cost_of(side, "paid")),
        both(lambda side: _cost_of(side, "wasted")),
        both(lambda side: number(_further_of(side))),
    )


def _further_of(sites: list[AnySite]) -> int | None:
    """The ways in shared memory; the 128-byte lines in global and local memory."""
    lines = [site.tag_requests for site in sites if not isinstance(site, Site)]
    if lines:
        return sum(line or 0 for line in lines) if None not in lines else None
    return max((site.ways for site in sites if isinstance(site, Site) and site.ways is not None), default=None)


def _places(sites: list[AnySite], kernel: Kernel) -> str:
    """The line that copies share, or the first and last of several places without lines."""
    first, last = place(sites[0], kernel), place(sites[-1], kernel)
    return first if first == last else f"{first} … {last}"


def _all(groups: Iterable[tuple[AnySite, ...]]) -> tuple[AnySite, ...]:
    return tuple(site for group in groups for site in group)


def _instructions(olds: tuple[AnySite, ...], news: tuple[AnySite, ...]) -> str:
    """ "LDS.128 → LDS ×4", "LDS", "LDS ×4 → ×8"."""
    opcodes = {site.opcode for site in (*olds, *news)}
    if len(opcodes) == 1 and olds and news and len(olds) != len(news):
        return f"{opcodes.pop()} ×{len(olds)}{ARROW}×{len(news)}"
    return arrow(*(_opcodes(sites) if sites else None for sites in (olds, news)))


def _opcodes(sites: tuple[AnySite, ...]) -> str:
    """ "ld.shared.v4.f32", "ld.shared.f32 ×4"."""
    counted = Counter(site.opcode for site in sites)
    return ", ".join(opcode + (f" ×{count}" if count > 1 else "") for opcode, count in counted.items())


def arrow(old: str | None, new: str | None) -> str:
    """One text if both sides agree or one is absent, otherwise "old → new"."""
    if old is None or new is None or old == new:
        return new if new is not None else old or ""
    return f"{old}{ARROW}{new}"


def _cost_of(sites: list[AnySite], name: str) -> str:
    """The sum over copies, or of their bounds; otherwise the cost of one, as all are alike."""
    totals = [getattr(site, name) for site in sites]
    if None not in totals:
        return number(sum(totals))
    bounds = [site.bounds for site in sites if site.bounds]
    if name == "paid" and len(bounds) == len(sites):
        return interval(sum(low for low, _ in bounds), sum(high for _, high in bounds))
    return _cost(sites[0], name)


def _cost(site: AnySite, name: str) -> str:
    total = getattr(site, name)
    if total is not None:
        return number(total)
    if name == "paid" and site.bounds:
        return interval(*site.bounds)
    each = site.per_request if name == "paid" else site.excess_per_request
    if each is not None:
        return f"{interval(each.low, each.high)} each"
    if name == "paid" and isinstance(site, Site) and site.line_class_max is not None:
        return plural(site.line_class_max, "step")
    return number(None)


def notes_of(row: Row) -> list[Note]:
    """The notes of a row.

    The source line and its inline stack; the cause if the site is new or worse, or the reason if its status changed;
    the number of requests if it changed.
    """
    change = row[0]
    worst = max((one.site for one in row), key=lambda site: site.wasted or 0)
    notes = [note for note in place_notes(worst) if note.kind != "note"]
    if change.verdict in (Verdict.WORSE, Verdict.NEW) and worst.cause:
        notes.append(Note("note", worst.cause))
    if change.verdict is Verdict.STATUS_CHANGED and worst.reason:
        notes.append(Note("note", worst.reason))
        notes += _other_cases(change)
    if change.verdict in (Verdict.WORSE, Verdict.BETTER) and (requests := _requests(row)):
        notes.append(Note("note", requests))
    return notes


def _other_cases(change: Change) -> Iterator[Note]:
    """The cases of both sides, if they are what differs."""
    old, new = change.old, change.new
    if old is None or new is None:
        return
    if old.conditions and new.conditions and old.per_request == new.per_request:
        for when, site in (("before", old), ("now", new)):
            yield from (Note(note.kind, f"{when}, {note.text}") for note in case_notes(site.conditions))
    if old.cases and new.cases and old.cases != new.cases:
        for when, site in (("before", old), ("now", new)):
            yield from (Note(note.kind, f"{when}, {note.text}") for note in launch_case_notes(site, 1))


def _requests(row: Row) -> str:
    """ "requests 32 → 64", if both sides are known and differ."""
    old, new = ([getattr(change, side).requests for change in row] for side in ("old", "new"))
    if None in old or None in new or sum(old) == sum(new):
        return ""
    return f"requests {number(sum(old))}{ARROW}{number(sum(new))}"
