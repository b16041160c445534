"""The results of a diff at source lines, for services that show results there: the worst first.

a site that costs more            diff-worse    warning     k.cu:14: ld.shared.f32: wavefronts 32 → 1,024 a new access
that conflicts       diff-new      warning a limit of --fail-on that is met  diff-limit    error       kernel k:
registers 32 → 40 (registers+8) a figure that is no longer known  diff-open     note
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from ptxaudit.base.places import base_name
from ptxaudit.base.records import Record
from ptxaudit.report.model import AnySite, Frame, Kernel, Site, Source
from ptxaudit.report.paths import below, is_own, own_place
from ptxaudit.review.diff.reports import Diff, KernelDiff, Verdict
from ptxaudit.review.diff.thresholds import Crossing
from ptxaudit.review.diff.verdict import surely_conflicts
from ptxaudit.review.rules import Level
from ptxaudit.ui.render.change_rows import Row, cells_of, shown_kernels
from ptxaudit.ui.render.thresholds import crossing_text

RULES = {
    "diff-limit": ("a limit is met", "A figure of a kernel grew by a limit of --fail-on or more."),
    "diff-worse": (
        "costs more than before",
        "The access takes more wavefronts (sectors, of global and local memory) than on the old side, or as many and"
        " more of them through conflicts.",
    ),
    "diff-new": ("a new access that conflicts", "The access is not on the old side, and takes more than its ideal."),
    "diff-open": (
        "its cost is no longer known",
        "Its cost was known, or known differently, on the old side; the figures do not show whether it costs more.",
    ),
}
_OF = {Verdict.WORSE: "diff-worse", Verdict.NEW: "diff-new", Verdict.STATUS_CHANGED: "diff-open"}
_LEVELS: dict[str, Level] = {"diff-limit": "error", "diff-worse": "warning", "diff-new": "warning", "diff-open": "note"}


class ChangeResult(Record):
    """One result.

    rule: of RULES; file: relative to the root; line: None if only the file is known; kernel: of the new side if it
    exists there; fingerprint: unchanged if lines move.
    """

    rule: str
    level: Level
    message: str
    file: str
    line: int | None
    text: str | None
    kernel: Kernel | None
    site: AnySite | None
    fingerprint: str


def change_results(diff: Diff, crossings: Iterable[Crossing], root: str | None) -> list[ChangeResult]:
    """The limits that are met, then the sites in the order of the diff, by rule."""
    found = [_of_crossing(one, root) for one in crossings]
    shown = [(one.entry, row) for one in shown_kernels(diff) for row in one.rows]
    of_rows = [
        _of_row(entry, row, root)
        for entry, row in shown
        if row[0].verdict in _OF
        and (row[0].verdict is not Verdict.NEW or any(surely_conflicts(one.site) for one in row))
    ]
    found += sorted(of_rows, key=lambda result: list(RULES).index(result.rule))
    count: Counter[str] = Counter()
    printed = []
    for result in found:
        count[result.fingerprint] += 1
        printed.append(_printed(result, count[result.fingerprint]))
    return printed


def _of_row(entry: KernelDiff, row: Row, root: str | None) -> ChangeResult:
    rule = _OF[row[0].verdict]
    worst = max((one.site for one in row), key=lambda site: site.wasted or 0)
    cells = cells_of(entry, row)
    paid = "wavefronts" if isinstance(worst, Site) else f"sectors of {worst.space} memory"
    message = f"{RULES[rule][0]}: {cells[2]}: {paid} {cells[4]}, excess {cells[5]}" + (
        f"; {worst.cause}" if worst.cause else ""
    )
    if row[0].verdict is Verdict.STATUS_CHANGED:
        message = f"{RULES[rule][0]}: {cells[2]}: {cells[3]}" + (f": {worst.reason}" if worst.reason else "")
    place = _place(worst.source, entry.kernel.input, root) if worst.source else None
    file, line, text = (
        (place.file, place.line, place.text)
        if place
        else (entry.kernel.input, worst.ptx_line if entry.kernel.is_ptx_file else None, None)
    )
    return ChangeResult(
        rule,
        _LEVELS[rule],
        message,
        below(file, root),
        line,
        text,
        entry.kernel,
        worst,
        _stem(rule, entry.kernel, worst),
    )


def _of_crossing(crossing: Crossing, root: str | None) -> ChangeResult:
    entry = crossing.kernel
    kernel = entry.kernel if entry is not None else None
    message = f"{RULES['diff-limit'][0]}: {crossing_text(crossing)} ({crossing.threshold})"
    place = (
        next((_place(site.source, kernel.input, root) for site in kernel.accesses if site.source), None)
        if kernel is not None
        else None
    )
    file = place.file if place else kernel.input if kernel is not None else ""
    return ChangeResult(
        "diff-limit",
        "error",
        message,
        below(file, root) if file else "",
        None,
        None,
        kernel,
        None,
        _stem(str(crossing.threshold), kernel, None),
    )


def _place(source: Source, input: str, root: str | None) -> Source | Frame:
    """The access's own line, or for an access in a foreign header the innermost project line that it is inlined at."""
    mine = (place for place in source.places if place.file == input or is_own(place.file, root))
    return next(mine, own_place(source))


def _stem(rule: str, kernel: Kernel | None, site: AnySite | None) -> str:
    """Identifies a result across builds, without line numbers or offsets."""
    source = site.source if site is not None else None
    stack = [
        f"{base_name(place.file)}|{' '.join((place.text or '').split())}" for place in (source.places if source else ())
    ]
    return "\n".join([rule, *([kernel.name, kernel.isa] if kernel else []), site.access if site else "", *stack])


def _printed(result: ChangeResult, nth: int) -> ChangeResult:
    printed = hashlib.sha256(f"{result.fingerprint}\n{nth}".encode()).hexdigest()[:32]
    return ChangeResult(
        result.rule,
        result.level,
        result.message,
        result.file,
        result.line,
        result.text,
        result.kernel,
        result.site,
        printed,
    )
