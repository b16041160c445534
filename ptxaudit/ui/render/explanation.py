"""Explains one site in depth: its figure, its address as a formula, the addresses, the bank map, the cause.

The sections answer in turn: what it costs, where the address comes from, which lanes collide, by which rule, and what
it would cost otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace
from rich.text import Text

from ptxaudit.base.errors import InputError
from ptxaudit.base.words import interval, number, plural
from ptxaudit.engine.answer.result import Pattern
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import anatomy as banks_anatomy
from ptxaudit.hardware.memory import opcodes
from ptxaudit.report.cause import copy_as_ca
from ptxaudit.report.copy_words import explained
from ptxaudit.report.model import MemorySite, Site, Trip
from ptxaudit.review.explain import Explained
from ptxaudit.ui.render.bankmap import bank_map
from ptxaudit.ui.render.fixes import headline
from ptxaudit.ui.render.layout import fitted, note_text, table_lines
from ptxaudit.ui.render.memory import COLUMNS as MEMORY_COLUMNS
from ptxaudit.ui.render.memory import memory_rows
from ptxaudit.ui.render.rows import COLUMNS, Note, case_cost, kernel_rows
from ptxaudit.ui.render.sections import header_lines
from ptxaudit.ui.render.sectormap import sector_map

LANES_A_LINE = 8
_IN_FORMULAS = {  # the unnamed numbers of formulas
    "trip of": "iterations of the loop at that line so far",
    "change at": "the change of the variable at that line since the loop began",
    "choice at": "the difference between two paths that meet at that line",
    "value loaded at": "the value that this line loaded",
}
MOST_PATTERNS = 3
PIPE_WIDTH = 140  # columns: fits a map of 32 banks


def explanation_text(one: Explained, width: int | None = None) -> str:
    """All sections of one site as plain text."""
    lines = explanation(one, width or PIPE_WIDTH, fold=width is not None)
    return "\n".join(line.plain if isinstance(line, Text) else line for line in lines) + "\n"


def explanation(one: Explained, width: int = PIPE_WIDTH, fold: bool = False) -> Iterator[str | Text]:
    """All sections of one site, line by line; a bank map is one coloured Text of several lines.

    fold: wraps the other lines to the width, too.
    """
    for line in _sections(one, width):
        yield fitted(line, width) if fold and isinstance(line, str) else line


def _sections(one: Explained, width: int) -> Iterator[str | Text]:
    entry = one.examined.entry
    of_memory = isinstance(one.site, MemorySite)
    alone = replace(entry, sites=(), memory=(one.site,)) if of_memory else replace(entry, sites=(one.site,), memory=())
    yield one.site.id
    yield from (f"  {line.strip()}" for line in header_lines(alone))
    yield ""
    yield from (
        table_lines(MEMORY_COLUMNS, memory_rows(alone, one.site.space))
        if of_memory
        else table_lines(COLUMNS, kernel_rows(alone))
    )
    yield note_text(Note("note", f"instruction: {one.site.text}"))
    yield from _became(one)
    yield from _steps(one)
    yield ""
    yield from _address(one)
    yield from _patterns(one, width)
    yield from _mended(one, width)
    yield from _rule(one)
    yield from _trips(one.site.trips)
    yield from _conditions(one)
    yield from _copies(one)


def _became(one: Explained) -> Iterator[str | Text]:
    """The machine instructions that a wmma fragment becomes."""
    site = one.examined.function.instructions[one.result.index].site
    if site is not None and site.access is not None and site.fragment:
        said = f"ptxas makes {site.fragment} {site.access.sass} of it (docs/hardware.md, Fragments)"
        yield note_text(Note("note", said))


def _steps(one: Explained) -> Iterator[str]:
    """The meaning of a cp.async.cg step, and alternatives with fewer."""
    if isinstance(one.site, Site) and one.site.line_class_max:
        machine, access = one.examined.machine, scored_access(one)
        notes = explained(machine, one.site.line_class_max)
        if access is not None and one.site.line_class_max > 1:
            notes.append(copy_as_ca(machine, access, one.result.patterns))
        yield from (note_text(Note("note", f"cp.async.cg: {line}")) for line in notes if line)


def _address(one: Explained) -> Iterator[str]:
    if one.formula:
        yield "address of its first request, in bytes; lane = 0, 1, …:"
        yield f"  {one.formula}"
        yield from (f"  {word} …: {what}" for word, what in _IN_FORMULAS.items() if f"{word} " in one.formula)
        yield ""


def _copies(one: Explained) -> Iterator[str]:
    if one.copies:
        yield (
            f"{plural(len(one.copies), 'copy', 'copies')} of this access with requests like these, each at its own"
            " address:"
        )
        yield from (f"  {copy.site.id}  {copy.formula}".rstrip() for copy in one.copies)
        yield ""


def _patterns(one: Explained, width: int) -> Iterator[str | Text]:
    """The distinct requests, the one with the most excess first."""
    patterns = sorted_patterns(one)
    access = scored_access(one)
    for pattern in patterns[:MOST_PATTERNS]:
        times = (
            f"{plural(pattern.count, 'request')} like this"
            if pattern.count and one.site.requests is not None
            else "a request like this"
        )
        word = "wavefront" if isinstance(one.site, Site) else "sector"
        cost = (
            f"{interval(pattern.low, pattern.high)} {word if pattern.high == 1 else word + 's'} each, ideal"
            f" {pattern.ideal}"
        )
        yield f"{times}: {cost if pattern.low >= 0 else 'no hardware counter covers its wavefronts'}"
        yield "byte addresses by lane, up to a common shift that changes nothing:"
        yield from (f"  {line}" for line in address_lines(pattern))
        yield ""
        if isinstance(one.site, MemorySite):
            yield "lanes by sector of 32 bytes and line of 128, with the bytes used:"
            yield from (
                f"  {line}"
                for line in sector_map(one.site.space, one.site.width or 1, pattern.addresses, pattern.active)
            )
            yield ""
        elif access is not None:
            machine = one.examined.machine
            yield bank_map(machine, access, pattern.addresses, pattern.active, width)
            for reason in banks_anatomy.reasons(machine, access, pattern.addresses, pattern.active, pattern.sources):
                yield f"  {reason}"
            yield ""
    if len(patterns) > MOST_PATTERNS:
        yield f"and {plural(len(patterns) - MOST_PATTERNS, 'more kind')} of requests"
        yield ""


def _mended(one: Explained, width: int) -> Iterator[str | Text]:
    """The worst request before and after the best repair of its array."""
    mended = one.mended
    if mended is None:
        return
    machine = one.examined.machine
    yield f"fix: {headline(mended.repair)}"
    shown = [
        pattern.addresses - pattern.addresses.min()
        for pattern in sorted_patterns(one)[:MOST_PATTERNS]
        if pattern.active.all()
    ]
    above = any(np.array_equal(mended.addresses - mended.addresses.min(), addresses) for addresses in shown)
    for when, places in (("before", mended.addresses), ("after", mended.places))[above:]:
        yield f"{when}, offsets by lane in bytes from the beginning of the array:"
        yield from (f"  {line}" for line in lane_lines(places, mended.active))
        yield bank_map(machine, mended.access, places, mended.active, width)
        yield ""


def address_lines(pattern: Pattern) -> list[str]:
    """The addresses of a request, eight lanes per line; a dot for an inactive lane."""
    return lane_lines(pattern.addresses, pattern.active)


def lane_lines(addresses: np.ndarray, active: np.ndarray) -> list[str]:
    """A number per lane, eight lanes per line; a dot for an inactive lane."""
    cells = [str(int(a)) if on else "·" for a, on in zip(addresses, active, strict=True)]
    width = max(map(len, cells))
    starts = range(0, len(cells), LANES_A_LINE)
    label = len(f"lanes {len(cells)}–{len(cells)}")
    return [
        f"lanes {start}–{min(start + LANES_A_LINE, len(cells)) - 1}".ljust(label)
        + "  "
        + " ".join(cell.rjust(width) for cell in cells[start : start + LANES_A_LINE])
        for start in starts
    ]


def sorted_patterns(one: Explained) -> list[Pattern]:
    """The distinct requests of a site, the one with the most excess first."""
    return sorted(one.result.patterns, key=lambda p: (p.ideal - p.low, -p.count))


def _classified(one: Explained) -> banks.Access | None:
    instruction = one.examined.function.instructions[one.result.index]
    try:
        opcode = instruction.site.opcode if instruction.site else instruction.opcode
        return opcodes.classify(opcode, one.site.space) if isinstance(one.site, MemorySite) else banks.classify(opcode)
    except InputError:
        return None


def scored_access(one: Explained) -> banks.Access | None:
    """The access, or None if this machine does not score it."""
    access = _classified(one)
    return None if access is None or one.examined.machine.refusal(access) else access


def _rule(one: Explained) -> Iterator[str]:
    """The machine's rule in words, with its source; for an access without a rule, how it is counted."""
    access, machine = _classified(one), one.examined.machine
    if access is None:
        return
    if machine.refusal(access):
        if access.charge is not None and one.site.per_request is not None:
            yield f"counting rule: {access.unscored}"
            yield f"  evidence for this instruction: {one.site.evidence}"
            yield ""
        return
    rule = machine.known_rule(access)
    yield f"the rule of {machine.name}: {rule.says}"
    source = machine.sources.get(rule.source)
    if source is not None:
        yield f"  from {source.text}" + (f", {source.url}" if source.url else "")
    yield f"  evidence for this instruction: {one.site.evidence}"
    yield ""


def _trips(trips: Sequence[Trip]) -> Iterator[str]:
    if len(trips) < 2:
        return
    if len(set(trips)) == 1:
        trip = trips[0]
        yield (
            f"{len(trips)} trips, each {plural(trip.requests, 'request')}, {plural(trip.wavefronts, 'wavefront')},"
            f" ideal {number(trip.ideal)}"
        )
        yield ""
        return
    columns = ("trip", "requests", "wavefronts", "ideal", "excess")
    rows = [
        (str(at), number(t.requests), number(t.wavefronts), number(t.ideal), number(t.wavefronts - t.ideal))
        for at, t in enumerate(trips, 1)
    ]
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    yield "trip by trip:"
    for row in (columns, *rows):
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    yield ""


def _conditions(one: Explained) -> Iterator[str]:
    if one.site.cases:
        yield "over the launch:"
        width = max(len(case.when) for case in one.site.cases)
        for launch_case in one.site.cases:
            yield f"  {launch_case.when.ljust(width)}  {case_cost(launch_case, one.site.space)}"
        yield ""
    if not one.site.conditions:
        return
    yield "it depends:"
    width = max(len(case.when) for case in one.site.conditions)
    for case in one.site.conditions:
        ideal = "" if case.ideal is None else f", ideal {case.ideal}"
        yield f"  {case.when.ljust(width)}  {interval(case.low, case.high)} per request{ideal}"
    yield ""
