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
from collections.abc import Callable, Sequence

from ptxaudit.diff import QUIET, Change, Diff, KernelDiff, Resources, Verdict
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
    blocks = [block for block in [_sides(diff), *blocks] if block]
    return "\n\n".join([*blocks, "\n".join(closing_lines(diff))]) + "\n"


def diff_markdown(diff: Diff, everything: bool = False) -> str:
    """The same as Markdown: a table a kernel."""
    verdict = "got worse" if diff.got_worse else "nothing got worse"
    blocks = [f"### ptxaudit: {verdict}", _escaped(_sides(diff)).replace("\n", "  \n"), "  \n".join(closing_lines(diff))]
    blocks = [block for block in blocks if block]
    for entry in diff.kernels:
        changes, facts = _shown(entry, everything), _facts(entry)
        if not changes and not _resources_changed(entry):
            continue
        lines = [f"**`{_escaped(entry.kernel.demangled)}`** {_escaped(_where(entry))}"]
        if facts:
            lines += ["", "  \n".join(facts)]
        if changes:
            lines += ["", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
            lines += ["| " + " | ".join(map(_escaped, _cells(entry, change))) + " |" for change in changes]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def closing_lines(diff: Diff) -> list[str]:
    """How many sites became what; the kernels that exist on one side only."""
    total = sum(diff.counts.values())
    parts = ", ".join(f"{count:,} {verdict}" for verdict, count in diff.counts.items())
    lines = [f"{plural(total, 'site')}: {parts}" if total else "no shared-memory site on either side"]
    changed = {name: both for name, both in diff.totals.items() if both[0] != both[1]}
    if changed:
        lines.append("in total: " + ", ".join(_grown(name, *both) for name, both in changed.items()))
    if count := sum(_only_instructions_changed(entry) for entry in diff.kernels):
        lines.append(f"in {plural(count, 'more kernel')} nothing but the number of instructions changed")
    for word, side in (("new", "old"), ("gone", "new")):
        names = [entry.kernel.demangled for entry in diff.kernels if getattr(entry, side) is None]
        if names:
            lines.append(f"{word} {plural(len(names), 'kernel').split(' ', 1)[1]}: {', '.join(dict.fromkeys(names))}")
    return lines


def _sides(diff: Diff) -> str:
    """What is compared, where the two sides are told apart by it."""
    old, new = diff.sides
    return f"old: {old}\nnew: {new}" if old != new else ""


def _kernel_text(entry: KernelDiff, everything: bool) -> str:
    changes = _shown(entry, everything)
    if not changes and not _resources_changed(entry):
        return ""
    lines = [f"{entry.kernel.demangled}  {_where(entry)}", *(f"  {facts}" for facts in _facts(entry))]
    if not changes:
        return "\n".join(lines)
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
    changes = [change for change in entry.changes if everything or change.verdict not in QUIET]
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


def _cells(entry: KernelDiff, change: Change) -> tuple[str, ...]:
    old, new = change.old, change.new
    verdict = str(change.verdict)
    if change.width and change.width is not change.verdict:
        verdict += f", {change.width}"
    return (
        verdict,
        _both(change, lambda site, kernel: place(site, kernel), entry),
        _arrow(*(_opcodes(sites) if sites else None for sites in (change.olds, change.news))),
        _both(change, lambda site, kernel: str(site.status), entry),
        _arrow(old and _cost(old, "wavefronts"), new and _cost(new, "wavefronts")),
        _arrow(old and _cost(old, "excess"), new and _cost(new, "excess")),
        _arrow(old and number(old.ways), new and number(new.ways)),
    )


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
