"""Adds the best repair of each conflict to the sites of a report, which shows it in one line.

    Site(ld.shared.f32, excess=3968)  ->  Site(…, fix=Fix("pad the row to 33 floats", excess=0, bytes=128,
                                          proved_for="this launch", …))

An audit searches with less work than `ptxaudit fix` (`STEPS`), one kernel at a time. Only the command shows a
repair's effect on other kernels with the same declaration, and the code of all accesses. Repairs that are found with
less work are proved like all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.words import bare_name
from ptxaudit.frontend.options import Options
from ptxaudit.hardware import banks
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.assemble import mask_of
from ptxaudit.report.model import Fix, Kernel, Moved, Replacement
from ptxaudit.review.fix.candidates import Repair
from ptxaudit.review.fix.repairs import ArrayRepairs, repairs_of, sums_by_site

STEPS = 150_000, 5_000  # for each array, and for each of its sites: a tenth of a second


def with_fixes(examined: Examined, options: Options) -> Kernel:
    """The kernel's entry, with repairs at the sites whose excess they reduce; with `Options.edits` also the changes
    of the source, if these were compiled and audited again."""
    fixes: dict[str, Fix] = {}
    every = repairs_of([examined], steps=STEPS, quick=True, best=not options.edits)
    if options.edits:
        from ptxaudit.review.fix.checked import checked  # imports the compiler: not needed for a line of text

        every = checked(every, [examined], [examined.entry.input], options, most=1)
    for found in every:
        if found.repairs:
            best = found.repairs[0]
            after = sums_by_site(found, best.uses)
            for site, before in sums_by_site(found, found.per_use).items():
                if (after[site].high, after[site].lines) < (before.high, before.lines):
                    fixes.setdefault(site, _fix(found, best, site if options.patterns else None))
    if not fixes:
        return examined.entry
    return replace(
        examined.entry,
        sites=tuple(replace(site, fix=fixes[site.id]) if site.id in fixes else site for site in examined.entry.sites),
    )


def _fix(found: ArrayRepairs, repair: Repair, site: str | None = None) -> Fix:
    """site: the one whose costliest request is recorded before and after the repair."""
    exact = repair.figure.low == repair.figure.high
    return Fix(
        found.array.name,
        repair.code.summary,
        repair.code.declaration,
        repair.figure.low if exact else None,
        repair.figure.excess if exact else None,
        repair.bytes,
        repair.proved_for,
        repair.optimum,
        tuple(_replacements(found, repair)),
        moved(found, repair, site) if site is not None else None,
    )


def moved(found: ArrayRepairs, repair: Repair, site: str) -> Moved | None:
    """The request of a site with the most excess, before and after a repair; None if the repair changes the access,
    or no counter covers it."""
    if any(repair.found.parts):
        return None
    machine, best = found.examined.machine, None
    for use in found.array.uses:
        for r in use.requests if use.site.id == site else ():
            scores = banks.score(machine, use.access, r.offsets, r.active, r.sources, zero_filled=r.filled)
            row = int((scores.low - scores.ideal).argmax())
            more = int(scores.low[row] - scores.ideal[row])
            if (best is None or more > best[0]) and r.active[row].any() and scores.low[row] == scores.high[row] >= 0:
                best = more, use, r, row, int(scores.low[row])
    if best is None:
        return None
    _, use, r, row, low = best
    offsets, active = r.offsets[row], r.active[row]
    places = repair.found.layout.place(np.where(active, offsets, offsets[active.argmax()]))
    one = slice(row, row + 1)
    sources, filled = (None if rows is None else rows[one] for rows in (r.sources, r.filled))
    after = banks.score(machine, use.access, places[None, :], r.active[one], sources, zero_filled=filled)
    if after.low[0] != after.high[0]:
        return None
    moved_to = np.where(active, places, 0)
    return Moved(tuple(offsets.tolist()), tuple(moved_to.tolist()), mask_of(active), (low, int(after.low[0])))


def _replacements(found: ArrayRepairs, repair: Repair) -> Iterable[Replacement]:
    """The changes of the source, if these were compiled and affect this kernel only."""
    declared = found.declared
    if declared is None or not repair.compiled:
        return []
    from ptxaudit.review.fix.patch import edits_of
    from ptxaudit.review.fix.recompile import Refused

    declaration = declared.declaration
    if any(
        re.search(rf"\b{name}\b", dim.text)
        for name in declaration.templates
        for dim in (*declaration.dims, declaration.type)
    ):
        return []  # other instances share the text
    if declaration.function != bare_name(found.examined.entry.demangled):
        return []  # other kernels may call the function that contains it
    try:
        edits = list(edits_of(declared, repair))
    except Refused:
        return []
    return [
        Replacement(
            declaration.file, *_place(declared.text.text, edit.start), *_place(declared.text.text, edit.end), edit.text
        )
        for edit in edits
    ]


def _place(text: str, at: int) -> tuple[int, int]:
    """Line and column, from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
