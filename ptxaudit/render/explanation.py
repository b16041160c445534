"""Writes one site in depth: its figure, its address as a formula, the addresses, the bank map, why.

The sections come in the order in which a person asks: what does it cost, where does the address
come from, which lanes meet, by which rule, and what it would be otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ptxaudit import banks
from ptxaudit.errors import InputError
from ptxaudit.explain import Explained
from ptxaudit.lanes.result import Pattern
from ptxaudit.render.bankmap import bank_map
from ptxaudit.render.rows import COLUMNS, kernel_rows
from ptxaudit.render.text import header_lines, table_lines
from ptxaudit.render.words import interval, number, plural
from ptxaudit.report import Kernel, Trip

LANES_A_LINE = 8
MOST_PATTERNS = 3


def explanation_text(one: Explained) -> str:
    """All sections of one site."""
    return "\n".join(_lines(one)) + "\n"


def _lines(one: Explained) -> Iterator[str]:
    entry = one.examined.entry
    yield one.site.id
    yield from (f"  {line.strip()}" for line in header_lines(entry))
    yield ""
    alone = Kernel(**{**_fields(entry), "sites": (one.site,)})
    yield from table_lines(COLUMNS, kernel_rows(alone))
    yield f"{'':>8} = instruction: {one.site.text}"
    yield ""
    yield from _address(one)
    yield from _patterns(one)
    yield from _rule(one)
    yield from _trips(one.site.trips)
    yield from _conditions(one)


def _fields(kernel: Kernel) -> dict[str, object]:
    return {name: getattr(kernel, name) for name in Kernel.__dataclass_fields__}


def _address(one: Explained) -> Iterator[str]:
    if one.site.formula:
        yield "address, in bytes:"
        yield f"  {one.site.formula}"
        yield ""


def _patterns(one: Explained) -> Iterator[str]:
    """The most costly of the distinct requests, then the most frequent others."""
    patterns = sorted(one.result.patterns, key=lambda p: (p.ideal - p.low, -p.count))
    shown = patterns[:MOST_PATTERNS]
    for pattern in shown:
        times = f"{plural(pattern.count, 'request')} like this" if pattern.count else "a request like this"
        cost = f"{interval(pattern.low, pattern.high)} wavefronts each, ideal {pattern.ideal}" if pattern.low >= 0 else "no counter sees its wavefronts"
        yield f"{times}: {cost}. Byte addresses, up to a shift of all of them:"
        yield from (f"  {line}" for line in address_lines(pattern))
        yield ""
        yield from (f"  {line}".rstrip() for line in _map(one, pattern))
        yield ""
    if len(patterns) > len(shown):
        yield f"and {plural(len(patterns) - len(shown), 'more kind')} of requests"
        yield ""


def address_lines(pattern: Pattern) -> list[str]:
    """The addresses of a request, eight lanes a line; a dot for an inactive lane."""
    cells = [str(int(a)) if on else "·" for a, on in zip(pattern.addresses, pattern.active, strict=True)]
    width = max(map(len, cells))
    starts = range(0, len(cells), LANES_A_LINE)
    label = len(f"lanes {len(cells)}–{len(cells)}")
    return [
        f"lanes {start}–{min(start + LANES_A_LINE, len(cells)) - 1}".ljust(label) + "  "
        + " ".join(cell.rjust(width) for cell in cells[start : start + LANES_A_LINE])
        for start in starts
    ]


def _map(one: Explained, pattern: Pattern) -> Sequence[str]:
    """The lane-by-bank map, where the opcode has a rule."""
    try:
        access = banks.classify(one.site.opcode)
    except InputError:
        return []
    if one.examined.machine.refusal(access):
        return []
    return bank_map(one.examined.machine, access, np.asarray(pattern.addresses), np.asarray(pattern.active)).splitlines()


def _rule(one: Explained) -> Iterator[str]:
    """Why this number: the machine's rule in words, and where it comes from."""
    try:
        access = banks.classify(one.site.opcode)
    except InputError:
        return
    machine = one.examined.machine
    rule = machine.rule(access)
    if rule is None:
        return
    yield f"why: on {machine.name}, {rule.says}"
    if rule.why:
        yield f"  a range: {rule.why}"
    source = machine.sources.get(rule.source)
    if source is not None:
        yield f"  from: {source.text}" + (f", {source.url}" if source.url else "")
    yield f"  evidence: {one.site.evidence}"
    yield ""


def _trips(trips: Sequence[Trip]) -> Iterator[str]:
    if len(trips) < 2:
        return
    columns = ("trip", "requests", "wavefronts", "ideal", "excess")
    rows = [(str(at), number(t.requests), number(t.wavefronts), number(t.ideal), number(t.wavefronts - t.ideal)) for at, t in enumerate(trips, 1)]
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    yield "trip by trip:"
    for row in (columns, *rows):
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    yield ""


def _conditions(one: Explained) -> Iterator[str]:
    if not one.site.conditions:
        return
    yield "it depends:"
    width = max(len(case.when) for case in one.site.conditions)
    for case in one.site.conditions:
        ideal = "" if case.ideal is None else f", ideal {case.ideal}"
        yield f"  {case.when.ljust(width)}  {interval(case.low, case.high)} a request{ideal}"
    yield ""
