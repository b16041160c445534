"""Writes a diff for people: plain text, and Markdown for a pull request.

    transpose(float*, float const*, int)  ptx, grid 2×2, block 32×8
      excess 0 → 992 (+992), wavefronts 64 → 1,056 (+992)

      change  place            instruction    status  wavefronts  excess   ways
      worse   transpose.cu:14  ld.shared.f32  exact   32 → 1,024  0 → 992  1 → 32
         14 │ out[x * n + y] = tile[threadIdx.x][threadIdx.y];

    2 sites: 1 worse, 1 same
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxaudit.diff import Change, Diff, KernelDiff, Verdict
from ptxaudit.render.rows import Note, place
from ptxaudit.render.text import note_text
from ptxaudit.render.words import interval, number, plural
from ptxaudit.report import Kernel, Site, Totals

COLUMNS = ("change", "place", "instruction", "status", "wavefronts", "excess", "ways")
ARROW = " → "
MOST_WORSE_FIRST = tuple(Verdict)


def diff_text(diff: Diff, everything: bool = False) -> str:
    """The whole diff; `everything` lists the sites that stayed the same too."""
    blocks = [_kernel_text(entry, everything) for entry in diff.kernels]
    blocks = [block for block in blocks if block]
    return "\n\n".join([*blocks, "\n".join(closing_lines(diff))]) + "\n"


def diff_markdown(diff: Diff, everything: bool = False) -> str:
    """The same as Markdown: a table a kernel."""
    verdict = "got worse" if diff.got_worse else "nothing got worse"
    blocks = [f"### ptxaudit: {verdict}", "  \n".join(closing_lines(diff))]
    for entry in diff.kernels:
        changes = _shown(entry, everything)
        if not changes:
            continue
        lines = [f"**`{_escaped(entry.kernel.demangled)}`** {_escaped(_where(entry))}", ""]
        if facts := _totals(entry):
            lines += [facts, ""]
        lines += ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
        lines += ["| " + " | ".join(map(_escaped, _cells(entry, change))) + " |" for change in changes]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def closing_lines(diff: Diff) -> list[str]:
    """How many sites became what; the kernels that exist on one side only."""
    total = sum(diff.counts.values())
    parts = ", ".join(f"{count:,} {verdict}" for verdict, count in diff.counts.items())
    lines = [f"{plural(total, 'site')}: {parts}" if total else "no shared-memory site on either side"]
    for word, side in (("new", "old"), ("gone", "new")):
        names = [entry.kernel.demangled for entry in diff.kernels if getattr(entry, side) is None]
        if names:
            lines.append(f"{word} {plural(len(names), 'kernel').split(' ', 1)[1]}: {', '.join(dict.fromkeys(names))}")
    return lines


def _kernel_text(entry: KernelDiff, everything: bool) -> str:
    changes = _shown(entry, everything)
    if not changes:
        return ""
    lines = [f"{entry.kernel.demangled}  {_where(entry)}"]
    if facts := _totals(entry):
        lines.append(f"  {facts}")
    lines.append("")
    cells = [COLUMNS, *(_cells(entry, change) for change in changes)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]

    def aligned(line: Sequence[str]) -> str:
        return ("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip()

    lines.append(aligned(COLUMNS))
    for change, line in zip(changes, cells[1:], strict=True):
        lines.append(aligned(line))
        lines += [note_text(note) for note in _notes(change)]
    return "\n".join(lines)


def _shown(entry: KernelDiff, everything: bool) -> list[Change]:
    changes = [change for change in entry.changes if everything or change.verdict is not Verdict.SAME]
    return sorted(changes, key=lambda change: MOST_WORSE_FIRST.index(change.verdict))


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
    parts = []
    for name, figure in names:
        old, new = figure(entry.old.totals), figure(entry.new.totals)
        parts.append(f"{name} {number(old)}{ARROW}{number(new)} ({new - old:+,})" if old != new else f"{name} {number(new)} as before")
    return ", ".join(parts)


def _cells(entry: KernelDiff, change: Change) -> tuple[str, ...]:
    old, new = change.old, change.new
    return (
        str(change.verdict),
        _both(change, lambda site, kernel: place(site, kernel), entry),
        _both(change, lambda site, kernel: site.opcode, entry),
        _both(change, lambda site, kernel: str(site.status), entry),
        _arrow(old and _cost(old, "wavefronts"), new and _cost(new, "wavefronts")),
        _arrow(old and _cost(old, "excess"), new and _cost(new, "excess")),
        _arrow(old and number(old.ways), new and number(new.ways)),
    )


def _both(change: Change, text: Callable[[Site, Kernel], str], entry: KernelDiff) -> str:
    old = text(change.old, entry.old) if change.old and entry.old else None
    new = text(change.new, entry.new) if change.new and entry.new else None
    return _arrow(old, new)


def _arrow(old: str | None, new: str | None) -> str:
    """One text where both sides agree or one is absent, else old → new."""
    if old is None or new is None or old == new:
        return new if new is not None else old or ""
    return f"{old}{ARROW}{new}"


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


def _notes(change: Change) -> list[Note]:
    """The source line; why, where the site got worse or its status changed."""
    site = change.site
    notes = []
    if site.source and site.source.text:
        notes.append(Note("source", site.source.text, site.source.line))
    if change.verdict in (Verdict.WORSE, Verdict.NEW) and site.cause:
        notes.append(Note("note", site.cause))
    if change.verdict is Verdict.STATUS_CHANGED and site.reason:
        notes.append(Note("note", site.reason))
    return notes


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
