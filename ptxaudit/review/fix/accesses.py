"""Repairs that keep the array's layout and change its accesses: wider vectors, and other sources of copies.

    LDS [s + 8 l];  LDS [s + 8 l + 4]             two wavefronts each      ->  LDS.64 [s + 8 l]: two for both
    cp.async.ca [s + 16 l], [g + 16 l + 4·16]     a group reads two lines  ->  sources from a multiple of 128 bytes: one

Accesses that are merged are in one basic block, with no conflicting access to the array and no barrier between them;
they have the same active lanes, are issued equally often, and are always adjacent, the first at a multiple of their
joint width. All of this is checked request by request. ptxas merges accesses where it can prove the same, so only
machine code is searched: it has the ones that ptxas could not merge. The sources of a copy decide part of its cost
(`banks.copies`): every position in a line is tried for them.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.engine.answer.kept import Requests
from ptxaudit.hardware.accesses import of_width
from ptxaudit.hardware.machine_model import SOURCE_LINE
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function
from ptxaudit.review.fix.arrays import Array, Use

WIDEST = 16  # bytes that a lane accesses at once
PLAIN = ("load", "store")


class Changed(Record, eq=False):
    """Accesses that replace an array's own. uses: all of them after the change; origin: for each, the indices of the
    uses that it replaces; align: required alignment of the array's beginning, in bytes."""

    kind: str
    summary: str
    lines: tuple[str, ...]
    uses: tuple[Use, ...]
    origin: tuple[tuple[int, ...], ...]
    align: int = 1


def changes(array: Array, function: Function, flow: Graph) -> Iterator[Changed]:
    """All changes that can be tried for an array."""
    wide = _wider(array, function, flow)
    if wide is not None:
        yield wide
    yield from _other_sources(array)


# --- wider vectors ------------------------------------------------------------------------------


def _wider(array: Array, function: Function, flow: Graph) -> Changed | None:
    """Merges neighbouring scalars into vectors, wherever machine code has them."""
    if not function.final:
        return None
    places = _Places(array, function, flow)
    left, groups = set(range(len(array.uses))), []
    for first in sorted(left, key=lambda k: array.uses[k].index):
        if first in left:
            group = _together(first, array, places, left)
            if len(group) > 1:
                groups.append(group)
                left -= set(group)
    if not groups:
        return None
    new, words = [], []
    for group in groups:
        use = array.uses[group[0]]
        new.append(replace(use, access=of_width(use.access, len(group) * (use.access.width or 1))))
        words.append((use, len(group)))
    lines = Counter(
        f"// {_line(use)}: one {use.access.access} of {count * (use.access.width or 1)} bytes instead of {count}"
        for use, count in words
    )
    text = tuple(line + (f", {times} times" if times > 1 else "") for line, times in lines.items())
    one, count = words[0]
    summary = f"{one.access.access} {count * (one.access.width or 1)} bytes at a time instead of {one.access.width}" + (
        f", and {len(words) - 1} more" if len(words) > 1 else ""
    )
    alone = sorted(left)
    return Changed(
        "widen",
        summary,
        text,
        (*new, *(array.uses[k] for k in alone)),
        (*map(tuple, groups), *((k,) for k in alone)),
        max(use.access.width or 1 for use in new),
    )


class _Places:
    """The positions of an array's uses. near: (block, opcode, offset of the first lane) -> uses; stops: instructions
    that no access may be moved across."""

    def __init__(self, array: Array, function: Function, flow: Graph):
        self.stops = [
            i.index for i in function.instructions if i.control is not None or i.site is not None and i.site.unscored
        ]
        self.writes = sorted(use.index for use in array.uses if use.access.operation != "load")
        self.all = sorted(use.index for use in array.uses)
        self.key = [(flow.block_of[use.index], use.access.opcode) for use in array.uses]
        self.first = [_first(use) for use in array.uses]
        self.near: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for k, key in enumerate(self.key):
            self.near[(*key, self.first[k])].append(k)

    def quiet(self, one: Use, other: Use, together: set[int]) -> bool:
        """Whether there is no barrier between two accesses, and no other write to the array (for two stores: no other
        access)."""
        low, high = sorted((one.index, other.index))
        touching = self.all if one.access.operation == "store" else self.writes
        between = touching[bisect(touching, low) : bisect_left(touching, high)]
        return bisect(self.stops, low) == bisect_left(self.stops, high) and not set(between) - together


def _line(use: Use) -> str:
    return f"line {use.site.source.line}" if use.site.source is not None else use.site.id


def _first(use: Use) -> int:
    r = use.requests[0]
    return int(r.offsets[0][r.active[0]].min())


def _together(first: int, array: Array, places: _Places, left: set[int]) -> list[int]:
    """The uses, including this one, that can become one vector, in address order; this one alone if there is no
    other."""
    use = array.uses[first]
    width = use.access.width or 1
    if use.access.operation not in PLAIN or use.access.generic or width not in (4, 8) or use.fragment is not None:
        return [first]
    beside: dict[int, int] = {0: first}
    for step in range(width - WIDEST, WIDEST, width):
        others = places.near.get((*places.key[first], places.first[first] + step), ()) if step else ()
        found = next((k for k in others if k in left and _distance(use, array.uses[k]) == step), None)
        if found is not None:
            beside[step // width] = found
    for count in (WIDEST // width, WIDEST // width // 2):
        for start in range(-count + 1, 1):
            run = [k for place in range(start, start + count) if (k := beside.get(place)) is not None]
            if count > 1 and len(run) == count and _aligned(array.uses[run[0]], count * width):
                members = {array.uses[k].index for k in run}
                if places.quiet(
                    array.uses[min(run, key=lambda k: array.uses[k].index)],
                    array.uses[max(run, key=lambda k: array.uses[k].index)],
                    members,
                ):
                    return run
    return [first]


def _distance(one: Use, other: Use) -> int | None:
    """The distance in bytes from one use to the other, equal in every lane and request; None if it is not, or if
    their requests differ."""
    if len(one.requests) != len(other.requests):
        return None
    distances = set()
    for a, b in zip(one.requests, other.requests):
        alike = (
            a.variable == b.variable
            and a.moves == b.moves
            and a.certain == b.certain
            and a.offsets.shape == b.offsets.shape
        )
        if not alike or not (a.active == b.active).all() or (a.weights is None) != (b.weights is None):
            return None
        if a.weights is not None and not (a.weights == b.weights).all():
            return None
        distances |= set((b.offsets - a.offsets)[a.active].tolist())
    return distances.pop() if len(distances) == 1 else None


def _aligned(use: Use, width: int) -> bool:
    return all(
        not (r.offsets % width)[r.active].any() and all(move.step % width == 0 for move in r.moves)
        for r in use.requests
    )


# --- sources of copies --------------------------------------------------------------------------


def _other_sources(array: Array) -> Iterator[Changed]:
    """Shifts the sources of cp.async.ca to each other position in a line of global memory."""
    copies = [
        use
        for use in array.uses
        if use.access.operation == "cp.async" and any(r.sources is not None for r in use.requests)
    ]
    if not copies:
        return
    for shift in range(4, SOURCE_LINE, 4):
        if any(shift % (use.access.width or 1) for use in copies):
            continue
        uses = tuple(
            replace(use, requests=tuple(_shifted(r, shift) for r in use.requests)) if use in copies else use
            for use in array.uses
        )
        words = f"let the sources of cp.async.ca begin {shift} bytes further, modulo {SOURCE_LINE}"
        yield Changed(
            "align",
            words,
            tuple(f"// {_line(use)}: its sources {shift} bytes further" for use in copies),
            uses,
            tuple((k,) for k in range(len(uses))),
        )


def _shifted(r: Requests, shift: int) -> Requests:
    return r if r.sources is None else replace(r, sources=np.where(r.active, r.sources + shift, 0))
