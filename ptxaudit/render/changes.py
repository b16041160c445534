"""Writes a diff for people: plain text, and Markdown for a pull request.

    transpose(float*, float const*, int)  ptx, grid 2×2, block 32×8
      excess 0 → 992 (+992), wavefronts 64 → 1,056 (+992)

      change  place            instruction    status  wavefronts  excess   ways
      worse   transpose.cu:14  ld.shared.f32  exact   32 → 1,024  0 → 992  1 → 32
         14 │ out[x * n + y] = tile[threadIdx.x][threadIdx.y];

    2 sites: 1 worse, 1 same
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from html import escape

from ptxaudit.diff import QUIET, Change, Diff, KernelDiff, Resources, Verdict
from ptxaudit.render.markdown import fitting
from ptxaudit.render.rows import Note, cut, frame_notes, place
from ptxaudit.render.text import note_text
from ptxaudit.render.words import interval, number, plural
from ptxaudit.report import Kernel, Site, Totals

COLUMNS = ("change", "place", "instruction", "status", "wavefronts", "excess", "ways")
ARROW = " → "
MOST_WORSE_FIRST = tuple(Verdict)
MOST_NAMES = 12              # of kernels in one closing line

Row = tuple[Change, ...]         # copies of one line that became the same


def diff_text(diff: Diff, everything: bool = False) -> str:
    """The whole diff; `everything` lists the sites that stayed the same too."""
    blocks = [_kernel_text(entry, everything) for entry in diff.kernels]
    blocks = [block for block in [_sides(diff), *blocks] if block]
    return "\n\n".join([*blocks, "\n".join(closing_lines(diff))]) + "\n"


def diff_markdown(diff: Diff, everything: bool = False) -> str:
    """The same as Markdown: a table a kernel, what got worse first, as many as a comment holds."""
    verdict = "got worse" if diff.got_worse else "nothing got worse"
    blocks = [f"### ptxaudit: {verdict}", _escaped(_sides(diff)).replace("\n", "  \n"), "  \n".join(closing_lines(diff))]
    blocks = [block for block in blocks if block]
    shown = [(entry, _shown(entry, everything)) for entry in diff.kernels]
    changed = [(entry, rows) for entry, rows in shown if rows or _resources_changed(entry)]
    changed.sort(key=lambda pair: not pair[0].got_worse)
    return "\n\n".join(fitting(blocks, [_kernel_markdown(entry, rows) for entry, rows in changed])) + "\n"


def _kernel_markdown(entry: KernelDiff, rows: list[Row]) -> str:
    lines = [f"**`{_escaped(_name(entry))}`** {_escaped(_where(entry))}"]
    if facts := _facts(entry):
        lines += ["", "  \n".join(facts)]
    if rows:
        lines += ["", "| " + " | ".join((*COLUMNS, "line")) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
        lines += ["| " + " | ".join((*map(_escaped, _cells(entry, row)), _line(row))) + " |" for row in rows]
    return "\n".join(lines)


def closing_lines(diff: Diff) -> list[str]:
    """How many sites became what; the kernels that exist on one side only."""
    total = sum(diff.counts.values())
    parts = ", ".join(f"{count:,} {verdict}" for verdict, count in diff.counts.items())
    lines = [f"{plural(total, 'site')}: {parts}" if total else "no shared-memory site on either side" if diff.kernels else "no kernel on either side"]
    changed = {name: both for name, both in diff.totals.items() if both[0] != both[1]}
    if changed:
        lines.append("in total: " + ", ".join(_grown(name, *both) for name, both in changed.items()))
    if count := sum(_only_instructions_changed(entry) for entry in diff.kernels):
        lines.append(f"in {plural(count, 'kernel')} nothing but the number of instructions changed")
    if renamed := list(dict.fromkeys(_name(entry) for entry in diff.kernels if entry.renamed)):
        lines.append(f"renamed {plural(len(renamed), 'kernel').split(' ', 1)[1]}: {_some(renamed)}")
    for word, side in (("new", "old"), ("gone", "new")):
        names = [entry.kernel.demangled for entry in diff.kernels if getattr(entry, side) is None]
        if names:
            lines.append(f"{word} {plural(len(names), 'kernel').split(' ', 1)[1]}: {_some(names)}")
    return lines


def _some(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _sides(diff: Diff) -> str:
    """What is compared, where the two sides are told apart by it."""
    old, new = diff.sides
    return f"old: {old}\nnew: {new}" if old != new else ""


def _kernel_text(entry: KernelDiff, everything: bool) -> str:
    rows = _shown(entry, everything)
    if not rows and not _resources_changed(entry):
        return ""
    lines = [f"{_name(entry)}  {_where(entry)}", *(f"  {facts}" for facts in _facts(entry))]
    if not rows:
        return "\n".join(lines)
    lines.append("")
    cells = [COLUMNS, *(_cells(entry, row) for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]

    def aligned(line: Sequence[str]) -> str:
        return ("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip()

    lines.append(aligned(COLUMNS))
    for row, line in zip(rows, cells[1:], strict=True):
        lines.append(aligned(line))
        lines += [note_text(note) for note in _notes(row)]
    return "\n".join(lines)


def _shown(entry: KernelDiff, everything: bool) -> list[Row]:
    """The rows of a kernel, worst first: copies of one line that became the same are one."""
    rows: dict[object, list[Change]] = {}
    for change in entry.changes:
        if everything or change.verdict not in QUIET:
            rows.setdefault(_row_key(change), []).append(change)
    return sorted(map(tuple, rows.values()), key=lambda row: MOST_WORSE_FIRST.index(row[0].verdict))


def _row_key(change: Change) -> object:
    """What copies share: the verdict, and on each side place, inline stack, instructions and status; what
    cannot be summed up is equal."""
    return change.verdict, change.width, _side_key(change.olds, change.old), _side_key(change.news, change.new)


def _side_key(sites: tuple[Site, ...], whole: Site | None) -> object:
    if whole is None:
        return None
    if whole.source is None:
        return _opcodes(sites), whole.status, _cost(whole, "wavefronts"), _cost(whole, "excess")
    stack = tuple((frame.file, frame.line) for frame in whole.source.inlined)
    figures = None if whole.wavefronts is not None else (_cost(whole, "wavefronts"), _cost(whole, "excess"), number(whole.ways))
    return whole.source.file, whole.source.line, stack, _opcodes(sites), whole.status, figures


def _name(entry: KernelDiff) -> str:
    return _arrow(entry.old and entry.old.demangled, entry.new and entry.new.demangled)


def _where(entry: KernelDiff) -> str:
    kernel = entry.kernel
    if entry.old and entry.new and entry.old.launch != entry.new.launch:
        return f"{kernel.isa}, {_launch(entry.old)}{ARROW}{_launch(entry.new)}"
    side = "" if entry.old and entry.new else ", new kernel" if entry.new else ", gone kernel"
    return f"{kernel.isa}, {_launch(kernel)}{side}"


def _launch(kernel: Kernel) -> str:
    return str(kernel.launch) if kernel.launch else "no launch told"


def _totals(entry: KernelDiff) -> str:
    """The sums of both sides, where both cover every site."""
    if not entry.comparable or entry.old is None or entry.new is None:
        return ""
    names: tuple[tuple[str, Callable[[Totals], int]], ...] = (
        ("excess", lambda totals: totals.excess), ("wavefronts", lambda totals: totals.wavefronts)
    )
    return ", ".join(_grown(name, figure(entry.old.totals), figure(entry.new.totals)) for name, figure in names)


def _grown(name: str, old: int, new: int) -> str:
    return f"{name} {number(old)}{ARROW}{number(new)} ({new - old:+,})" if old != new else f"{name} {number(new)} as before"


def _facts(entry: KernelDiff) -> list[str]:
    """The sums, and what the kernel takes beside."""
    return [line for line in (_totals(entry), _resources(*entry.resources)) if line]


def _resources(old: Resources | None, new: Resources | None) -> str:
    """Registers, shared memory and instructions: both figures where they differ."""
    known = new or old
    if known is None:
        return ""
    parts = []
    for name, word in (("registers", "registers"), ("shared_static", "bytes of static shared memory"), ("instructions", "instructions")):
        before, after = (getattr(side, name) if side else None for side in (old, new))
        if before is None and after is None or name == "shared_static" and not (before or after):
            continue
        both = old is not None and new is not None and before != after
        parts.append(f"{number(before)}{ARROW}{number(after)} {word}" if both else f"{number(after if after is not None else before)} {word}")
    return ", ".join(parts)


def _resources_changed(entry: KernelDiff) -> bool:
    """Registers or shared memory: a few instructions more or less change with every release."""
    old, new = entry.resources
    return old is not None and new is not None and (old.registers, old.shared_static) != (new.registers, new.shared_static)


def _only_instructions_changed(entry: KernelDiff) -> bool:
    old, new = entry.resources
    if old is None or new is None or _shown(entry, False) or _resources_changed(entry):
        return False
    return old.instructions != new.instructions


def _cells(entry: KernelDiff, row: Row) -> tuple[str, ...]:
    change = row[0]
    verdict = str(change.verdict)
    if change.width and change.width is not change.verdict:
        verdict += f", {change.width}"
    olds, news = [one.old for one in row if one.old], [one.new for one in row if one.new]

    def both(text: Callable[[list[Site]], str]) -> str:
        return _arrow(*(text(side) if side else None for side in (olds, news)))

    return (
        verdict,
        _arrow(*(_places(side, kernel) if side and kernel else None for side, kernel in ((olds, entry.old), (news, entry.new)))),
        _instructions(_all(one.olds for one in row), _all(one.news for one in row)),
        _both(change, lambda site, kernel: str(site.status), entry),
        both(lambda side: _cost_of(side, "wavefronts")),
        both(lambda side: _cost_of(side, "excess")),
        both(lambda side: number(max((site.ways for site in side if site.ways is not None), default=None))),
    )


def _places(sites: list[Site], kernel: Kernel) -> str:
    """The line that copies share; the first and the last of several places without lines."""
    first, last = place(sites[0], kernel), place(sites[-1], kernel)
    return first if first == last else f"{first} … {last}"


def _all(groups: Iterable[tuple[Site, ...]]) -> tuple[Site, ...]:
    return tuple(site for group in groups for site in group)


def _instructions(olds: tuple[Site, ...], news: tuple[Site, ...]) -> str:
    """"LDS.128 → LDS ×4", "LDS", "LDS ×4 → ×8"."""
    opcodes = {site.opcode for site in (*olds, *news)}
    if len(opcodes) == 1 and olds and news and len(olds) != len(news):
        return f"{opcodes.pop()} ×{len(olds)}{ARROW}×{len(news)}"
    return _arrow(*(_opcodes(sites) if sites else None for sites in (olds, news)))


def _opcodes(sites: tuple[Site, ...]) -> str:
    """"ld.shared.v4.f32", "ld.shared.f32 ×4"."""
    counted = Counter(site.opcode for site in sites)
    return ", ".join(opcode + (f" ×{count}" if count > 1 else "") for opcode, count in counted.items())


def _both(change: Change, text: Callable[[Site, Kernel], str], entry: KernelDiff) -> str:
    old = text(change.old, entry.old) if change.old and entry.old else None
    new = text(change.new, entry.new) if change.new and entry.new else None
    return _arrow(old, new)


def _arrow(old: str | None, new: str | None) -> str:
    """One text where both sides agree or one is absent, else old → new."""
    if old is None or new is None or old == new:
        return new if new is not None else old or ""
    return f"{old}{ARROW}{new}"


def _cost_of(sites: list[Site], name: str) -> str:
    """The sum of copies, or their bounds; else what one of them costs, as they are alike."""
    totals = [getattr(site, name) for site in sites]
    if None not in totals:
        return number(sum(totals))
    bounds = [site.bounds for site in sites if site.bounds]
    if name == "wavefronts" and len(bounds) == len(sites):
        return interval(sum(low for low, _ in bounds), sum(high for _, high in bounds))
    return _cost(sites[0], name)


def _cost(site: Site, name: str) -> str:
    total = getattr(site, name)
    if total is not None:
        return number(total)
    if name == "wavefronts" and site.bounds:
        return interval(*site.bounds)
    each = site.per_request if name == "wavefronts" else site.excess_per_request
    if each is not None:
        return f"{interval(each.low, each.high)} each"
    if name == "wavefronts" and site.line_class_max is not None:
        return f"k = {site.line_class_max}"
    return number(None)


def _notes(row: Row) -> list[Note]:
    """The source line and where it was inlined; why, where the site got worse or its status changed."""
    change = row[0]
    worst = max((one.site for one in row), key=lambda site: site.excess or 0)
    notes = []
    if worst.source and worst.source.text:
        notes.append(Note("source", cut(worst.source.text), worst.source.line))
    if worst.source:
        notes += frame_notes(worst.source)
    if change.verdict in (Verdict.WORSE, Verdict.NEW) and worst.cause:
        notes.append(Note("note", worst.cause))
    if change.verdict is Verdict.STATUS_CHANGED and worst.reason:
        notes.append(Note("note", worst.reason))
    return notes


def _line(row: Row) -> str:
    """The notes of a row in one cell: the source as code, the rest below it."""
    return "<br>".join(f"`{_escaped(note.text.replace('`', chr(39)))}`" if note.kind == "source" else _escaped(escape(note.text, quote=False)) for note in _notes(row))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
