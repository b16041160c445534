"""Arrays that may be repaired, the record of a repair, and the proof that a layout preserves an array's accesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import anywhere
from ptxaudit.base.records import Record
from ptxaudit.hardware.occupancy import Blocks
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.model import Site
from ptxaudit.review.fix.arrays import (
    Array,
    Use,
    arrays_of,
    name_of,
    place_of,
    touched,
    variables_of,
    with_these,
)
from ptxaudit.review.fix.cost import Costs, Figure
from ptxaudit.review.fix.declared import Declared, declared, plain_variables
from ptxaudit.review.fix.layouts import Layout, one_to_one
from ptxaudit.review.fix.reach import reach
from ptxaudit.review.fix.search import Found
from ptxaudit.review.fix.written import Rewrite

_FOOTPRINT = 1 << 16  # bytes that are checked if an array's size is unknown: more than any layout's period


class Repair(Record, eq=False):
    """One layout that costs less, with its code and what is proved about it. figure: after it; uses: for each use of
    the array, in listed repairs.

    bytes: added; proved_for: in words; optimum: no layout of its family does better; floor: no layout at all does,
    with these vectors. before, after: blocks per multiprocessor. also: its effect on other kernels with the same
    declaration. compiled: its code was compiled, and shows the layout (`checked`). align: required alignment of the
    array's beginning in bytes, 0 if it has that already.
    """

    found: Found
    code: Rewrite
    figure: Figure
    uses: tuple[Figure, ...]
    bytes: int
    proved_for: str
    optimum: bool
    before: Blocks | None
    after: Blocks | None
    also: tuple[str, ...] = ()
    compiled: bool = False
    align: int = 0

    @property
    def floor(self) -> bool:
        return self.found.floor


@dataclass(eq=False)
class Candidate:
    """An array of a kernel, with or without excess."""

    examined: Examined
    array: Array
    declared: Declared | None

    @property
    def has_excess(self) -> bool:
        return any(_site_excess(use.site) for use in self.array.uses)

    costs: Costs = field(init=False)

    def __post_init__(self) -> None:
        self.costs = Costs(self.examined.machine, self.array.uses, self.array.align)


def _site_excess(site: Site) -> bool:
    """Whether the report finds that the site costs more than its ideal, or may."""
    if site.excess is not None:
        result: bool = site.excess > 0
        return result
    return site.excess_per_request is not None and site.excess_per_request.high > 0


def candidates_of(examined: Examined, costly: bool = False) -> list[Candidate]:
    """The shared arrays of a kernel, with their declarations. costly: only those with excess are needed."""
    if not any(_site_excess(site) for site in examined.entry.sites) and (
        costly or not any(r.kept for r in examined.result.sites)
    ):
        return []
    everything = touched(examined)
    if costly:
        everything = replace(everything, uses=with_these(everything.uses, _site_excess))
    found = declared(examined, everything.uses)
    return [
        Candidate(examined, array, found.get(array.variable))
        for array in arrays_of(examined, plain_variables(found), everything)
    ]


def without_places(examined: Examined, found: Sequence[Candidate]) -> list[Candidate]:
    """An array for each site with excess whose requests are not known, so that it is in none of those that were found,
    with the reason; except where one of these is refused because of the site."""
    placed = {use.index for one in found for use in one.array.uses}
    left = [(r, site) for r, site in examined.of_shared if r.index not in placed and _site_excess(site)]
    if not left:
        return []
    function, where = examined.function, reach(examined.function)
    reasons = dict(touched(examined).unplaced)
    said = [name for one in found if one.array.refused and one.has_excess for name in variables_of(one.array, function)]
    groups: dict[tuple[str, str], list[Use]] = {}
    for result, site in left:
        access = function.site(result.index).access
        if access is not None and not any(where.may_touch(result.index, name) for name in said):
            key = name_of(where.variables.get(result.index, frozenset()), function), reasons.get(result.index, "")
            groups.setdefault(key, []).append(Use(result.index, site, access, ()))
    return [
        Candidate(examined, Array(name, "", 0, None, 1, tuple(uses), refused=f"{place_of(uses[0].site)}: {why}"), None)
        for (name, why), uses in groups.items()
    ]


def proved(layout: Layout, array: Array, widths: Sequence[int]) -> bool:
    """Whether the layout is one-to-one on the whole array and keeps every aligned vector of these widths whole and
    aligned; checked for every byte."""
    for size in array.sizes:
        size = size or _FOOTPRINT
        if not one_to_one(layout, size):
            return False
        for width in widths:
            starts = np.arange(0, size - width + 1, width, dtype=np.int64)
            starts = starts[layout.moved(starts) & layout.moved(starts + width - 1)]
            places = layout.place(starts)
            if anywhere(places % width) or any(
                anywhere(layout.place(starts + i) != places + i) for i in range(1, width)
            ):
                return False
    return all(_of_fragments(layout, use) for use in array.uses if use.fragment)


def _of_fragments(layout: Layout, use: Use) -> bool:
    """Whether the lanes of a wmma access stay the same number of rows apart, with all rows longer by the same number
    of bytes."""
    row = use.fragment
    assert row is not None
    more = int(layout.place(np.array([row]))[0]) - row
    for r in use.requests:
        lowest = np.where(r.active, r.offsets, 1 << 40).min(axis=1, keepdims=True)
        apart = np.where(r.active, r.offsets - lowest, 0)
        moved = np.where(r.active, layout.place(np.where(r.active, r.offsets, lowest)) - layout.place(lowest), 0)
        if anywhere(moved != apart + apart // row * more):
            return False
    return True
