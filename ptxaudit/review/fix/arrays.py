"""The shared arrays of a kernel with every request to them, or the reason why one cannot get a new layout.

    Examined(k, sites…)  ->  Array("tile", start=0, size=4096, uses=(Use(st.shared.f32, …), Use(ld.shared.f32, …)))
                             Array("stage", …, refused="a bulk copy addresses it: …")

PTX names arrays: an array is a variable. Machine code and dynamic shared memory have one range of bytes for all
arrays. There, an array is a connected component of overlapping byte ranges, one range per site from the first to the
last byte that the site accesses. A variable whose declaration is not a plain array (a structure, a union) is divided
in the same way. Two source arrays that share bytes are one array here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.places import line_of
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.kept import Move, Requests
from ptxaudit.hardware.banks import Access
from ptxaudit.ir.nodes import Function, Variable
from ptxaudit.ir.reasons import sentence
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.model import Site
from ptxaudit.review.fix.reach import Reach, reach

WHOLE = ""  # the name of shared memory in code without variables
DYNAMIC = "dynamic shared memory"
WINDOW = 1 << 24  # bytes of a block's own window: cluster addresses repeat after it
RESERVED = 0x400  # bytes at its beginning that the system reserves, in machine code of sm_90 and later
BOUNDLESS = 1 << 40


class Use(Record, eq=False):
    """One site's requests to an array, with offsets from its beginning. fragment: bytes between the rows of a wmma
    access."""

    index: int
    site: Site
    access: Access
    requests: tuple[Requests, ...]
    fragment: int | None = None

    @property
    def counted(self) -> bool:
        """The number of times that each request occurs is known."""
        return all(r.weights is not None for r in self.requests)


class Array(Record, eq=False, dict=True):
    """name: for readers; variable: its mangled name, "" if there is none. start: bytes from the beginning of the
    variable, or of shared memory; size: bytes, None if a launch determines it. align: of its beginning. dynamic: it
    is in dynamic shared memory. part: it is one of several parts of a variable. others: arrays that some of the same
    instructions access, and that therefore need the same layout; `uses` includes their uses. refused: why no layout
    is searched for. assumed: what is assumed about its accesses."""

    name: str
    variable: str
    start: int
    size: int | None
    align: int
    uses: tuple[Use, ...]
    dynamic: bool = False
    part: bool = False
    others: tuple[Array, ...] = ()
    refused: str = ""
    assumed: str = ""

    @cached_property
    def used(self) -> int | None:
        """Bytes up to the last one that is accessed; None if unknown."""
        last = max((span_of(r, use.access.width or 1)[1] for use in self.uses for r in use.requests), default=0)
        return last if last < BOUNDLESS and not self.assumed else None

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The sizes of the array, and of those that share its layout."""
        return self.size, *(other.size for other in self.others)

    @cached_property
    def width(self) -> int:
        """Bytes of the widest access, which a layout has to keep whole."""
        return max((use.access.width or 1 for use in self.uses), default=1)


class Touched(Record, eq=False):
    """uses: variable -> the requests of sites to it; unplaced: (index, reason) of sites that may access unknown
    offsets; everything: some of these may access any variable."""

    uses: dict[str, list[Use]]
    unplaced: list[tuple[int, str]]
    everything: bool


def touched(examined: Examined) -> Touched:
    """The arrays' requests, by variable, and the sites that cannot be placed."""
    function = examined.function
    unplaced: list[tuple[int, str]] = []
    found: dict[str, list[Use]] = defaultdict(list)
    dynamic, everything = _dynamic(function), False
    for result, site in examined.of_shared:
        if result.status is Status.UNREACHED:
            continue
        kept = result.kept
        if kept is None or kept.missing:
            unplaced.append((result.index, sentence(kept.missing if kept is not None else result.reason, function)))
            continue
        for variable, requests in _by_variable(kept.requests, dynamic):
            if variable == WHOLE and not function.absolute_shared:
                everything = True
                unplaced.append((result.index, "its address is not derived from a variable"))
                continue
            found[variable].append(Use(result.index, site, kept.access, requests, _fragment(function, result.index)))
    return Touched(found, unplaced, everything)


def with_these(uses: Mapping[str, Sequence[Use]], wanted: Callable[[Site], bool]) -> dict[str, list[Use]]:
    """Only the variables that some wanted site accesses, and those that share an instruction with them,
    transitively."""
    by_index: dict[int, set[str]] = defaultdict(set)
    for variable, of_variable in uses.items():
        for use in of_variable:
            by_index[use.index].add(variable)
    work = [variable for variable, of_variable in uses.items() if any(wanted(use.site) for use in of_variable)]
    found: set[str] = set()
    while work:
        variable = work.pop()
        if variable not in found:
            found.add(variable)
            work += set().union(*(by_index[use.index] for use in uses[variable])) - found
    return {variable: list(of_variable) for variable, of_variable in uses.items() if variable in found}


def arrays_of(examined: Examined, plain: Iterable[str] = (), all_of: Touched | None = None) -> list[Array]:
    """The shared arrays that a kernel's sites access. plain: variables that the source declares as plain arrays;
    all_of: the result of `touched`, or part of it, if known."""
    function = examined.function
    all_of = all_of or touched(examined)
    if not all_of.uses:
        return []
    where, declared = reach(function), frozenset(plain)
    if all_of.everything:
        where = replace(where, everything=True)
    out = [
        array
        for variable, uses in all_of.uses.items()
        for array in _arrays(function, variable, uses, examined, variable in declared)
    ]
    if not shape_known(examined):
        out = [_inside(array) for array in out]
    sites = {result.index: site for result, site in examined.of_shared}
    return _together([_checked(array, all_of.unplaced, sites, where, function) for array in out])


def shape_known(examined: Examined) -> bool:
    """The block's shape is specified or compiled in."""
    return examined.launch is not None and examined.launch.block is not None or examined.function.block is not None


INSIDE = "accesses stay inside the array"


def _inside(array: Array) -> Array:
    """The array without the requests of threads that cannot exist because they would access bytes outside of it: what
    is proved then assumes that they do not exist."""
    if not array.size:
        return array
    uses, before = [], sum(len(r.offsets) for use in array.uses for r in use.requests)
    for use in array.uses:
        kept, width = [], use.access.width or 1
        for r in use.requests:
            if not r.moves and r.ends is not None and 0 <= r.ends[0] and r.ends[1] + width <= array.size:
                kept.append(r)
                continue
            low, high = _least(r.moves), -_least(tuple(replace(m, step=-m.step) for m in r.moves))
            last = r.offsets.max(axis=1) + width
            rows = (last + low <= array.size) & (r.offsets.min(axis=1) + high >= 0)
            if throughout(rows):
                kept.append(r)
            elif anywhere(rows):
                columns: dict[str, Any] = {
                    name: None if (column := getattr(r, name)) is None else column[rows]
                    for name in ("offsets", "active", "weights", "sources", "filled")
                }
                kept.append(replace(r, **columns))
        if kept:
            uses.append(replace(use, requests=tuple(kept)))
    fewer = sum(len(r.offsets) for use in uses for r in use.requests) < before
    return replace(array, uses=tuple(uses), assumed=INSIDE if fewer else array.assumed)


def _least(moves: tuple[Move, ...]) -> int:
    """The minimum of the sum of the moves."""
    ends = [-BOUNDLESS if m.low is None or m.high is None else min(m.step * m.low, m.step * m.high) for m in moves]
    return sum(ends)


def _together(arrays: list[Array]) -> list[Array]:
    """Merges arrays that one instruction accesses alternately."""
    out: list[Array] = []
    for array in arrays:
        mine = {use.index for use in array.uses}
        shared = [other for other in out if mine & {use.index for use in other.uses}]
        out = [other for other in out if not any(other is one for one in shared)]
        for first in shared[::-1]:
            array = replace(
                first,
                uses=first.uses + array.uses,
                others=(*first.others, replace(array, uses=(), others=()), *array.others),
                refused=first.refused or array.refused,
                assumed=first.assumed or array.assumed,
                align=min(first.align, array.align),
            )
        out.append(array)
    return out


def _by_variable(requests: tuple[Requests, ...], dynamic: frozenset[str]) -> Iterator[tuple[str, tuple[Requests, ...]]]:
    """The requests of a site by the variable that they access; dynamic variables all begin at the same place."""
    groups: dict[str, list[Requests]] = defaultdict(list)
    for r in requests:
        variable = DYNAMIC if r.variable in dynamic else r.variable
        groups[variable].append(_in_own_window(r) if variable == WHOLE else r)
    for variable, group in groups.items():
        yield variable, tuple(group)


def _dynamic(function: Function) -> frozenset[str]:
    """The variables in dynamic shared memory, which all begin at the same place."""
    return frozenset(v.name for v in function.variables if v.space.startswith("shared") and not v.size)


def variables_of(array: Array, function: Function) -> frozenset[str]:
    """The variables that an array is, or is part of."""
    return _dynamic(function) if array.variable == DYNAMIC else frozenset((array.variable,))


def name_of(variables: frozenset[str], function: Function) -> str:
    """The name of the array that an access with an unknown address accesses, if it can be only one."""
    if variables and variables <= _dynamic(function):
        return DYNAMIC
    return source_name(next(iter(variables))) if len(variables) == 1 else "shared memory"


def _in_own_window(r: Requests) -> Requests:
    """The requests without the block's rank in its cluster, which determines whose window they access."""
    return replace(r, moves=tuple(move for move in r.moves if move.step % WINDOW))


def _fragment(function: Function, index: int) -> int | None:
    """Bytes between the rows of a wmma access; 0 if unknown, None for other accesses."""
    site = function.instructions[index].site
    if site is None or not site.fragment:
        return None
    return site.rows_apart or 0


def _arrays(function: Function, variable: str, uses: list[Use], examined: Examined, plain: bool) -> list[Array]:
    """The arrays within one variable."""
    if variable == WHOLE:
        return _parts(uses, "shared memory", WHOLE, 16, _window_size(examined), dynamic=False)
    if variable == DYNAMIC:
        align = min((v.align for v in function.variables if v.space.startswith("shared") and not v.size), default=16)
        size = examined.launch.dynamic_shared if examined.launch is not None else None
        return _parts(uses, DYNAMIC, DYNAMIC, align, size, dynamic=True)
    declared = next((v for v in function.variables if v.name == variable), Variable(variable, "shared", 0))
    name = source_name(variable)
    if plain:
        return [Array(name, variable, 0, declared.size, declared.align, tuple(uses))]
    return _parts(uses, name, variable, declared.align, declared.size, dynamic=False)


def _window_size(examined: Examined) -> int:
    """Bytes up to the end of a block's shared memory, by the addresses of machine code."""
    dynamic = examined.launch.dynamic_shared if examined.launch is not None else None
    return RESERVED + examined.function.shared_static + (dynamic or 0)


def source_name(variable: str) -> str:
    """A variable's name in the source, from its mangled name: _ZZ9transposePfE4tile -> tile."""
    from ptxaudit.base.demangle import demangle

    text = demangle(variable)
    return text if text == variable else text.rpartition("::")[2]


# --- connected parts ----------------------------------------------------------------------------


def span_of(r: Requests, width: int) -> tuple[int, int]:
    """The first byte that any of the requests accesses, and the one after the last; unbounded if unknown."""
    low, high = r.ends or (BOUNDLESS, -BOUNDLESS)
    high += width
    for move in r.moves:
        if move.low is None or move.high is None:
            return -BOUNDLESS, BOUNDLESS
        ends = move.step * move.low, move.step * move.high
        low, high = low + min(ends), high + max(ends)
    return low, high


def _parts(uses: list[Use], name: str, variable: str, align: int, size: int | None, dynamic: bool) -> list[Array]:
    """Divides a variable into arrays by the overlaps of the byte ranges that its sites access."""
    spans = [[span_of(r, use.access.width or 1) for r in use.requests] for use in uses]
    hulls = [(min(low for low, _ in of_use), max(high for _, high in of_use)) for of_use in spans]
    order = sorted(range(len(uses)), key=lambda k: hulls[k])
    groups: list[tuple[int, int, list[Use]]] = []
    for k in order:
        low, high = hulls[k]
        if groups and low < groups[-1][1]:
            first, last, members = groups.pop()
            groups.append((first, max(last, high), [*members, uses[k]]))
        else:
            groups.append((low, high, [uses[k]]))
    if len(groups) == 1 and variable not in (WHOLE, DYNAMIC) or not groups[0][0] > -BOUNDLESS:
        return [Array(name, variable, 0, size, align, tuple(uses), dynamic)]
    return [_part(group, name, variable, align, dynamic) for group in groups]


def _part(group: tuple[int, int, list[Use]], name: str, variable: str, align: int, dynamic: bool) -> Array:
    low, high, members = group
    start = low - low % 16 if low >= 0 else low
    uses = tuple(
        sorted(
            (replace(use, requests=tuple(_moved(r, -start) for r in use.requests)) for use in members),
            key=lambda use: use.index,
        )
    )
    shown = start - RESERVED if variable == WHOLE and start >= RESERVED else start
    return Array(
        f"{name}, bytes {shown:,} to {shown + high - start - 1:,}",
        variable,
        start,
        high - start,
        min(align, start & -start or align),
        uses,
        dynamic,
        part=True,
    )


def _moved(r: Requests, by: int) -> Requests:
    return replace(r, offsets=np.where(r.active, r.offsets + by, 0))


# --- reasons to refuse an array -----------------------------------------------------------------


def _checked(
    array: Array, unplaced: list[tuple[int, str]], sites: dict[int, Site], where: Reach, function: Function
) -> Array:
    """The array, refused if some accesses to it are unknown."""
    refused = _unplaced(array, unplaced, sites, where, function) or _outside(array) or _of_matrices(array)
    return replace(array, refused=refused, assumed=array.assumed if _surely_inside(array) else INSIDE)


def _surely_inside(array: Array) -> bool:
    """All accesses are inside the array, whatever the values of unknowns in their addresses."""
    spans = (span_of(r, use.access.width or 1) for use in array.uses for r in use.requests)
    return all(low >= 0 and array.size is not None and high <= array.size for low, high in spans)


def _unplaced(
    array: Array, unplaced: list[tuple[int, str]], sites: dict[int, Site], where: Reach, function: Function
) -> str:
    """The reason if an access with an unknown address may access the array."""
    names = variables_of(array, function)
    for index, reason in unplaced:
        if any(where.may_touch(index, name) for name in names):
            site, lifted = sites[index], function.instructions[index].site
            why = lifted.unscored if lifted is not None and lifted.unscored else reason
            return f"{place_of(site)}: {site.opcode} may access it at an unknown offset: {why}"
    if touching := [where.others[name] for name in names if name in where.others]:
        instruction = function.instructions[min(touching)]
        source = instruction.source
        where_it_is = f"PTX line {instruction.place}" if source is None else line_of(source)
        return f"{where_it_is}: {instruction.opcode} has its address, and is not a counted access"
    return ""


def place_of(site: Site) -> str:
    """The place of a site, short."""
    if site.source is not None:
        return line_of(site.source)
    return f"PTX line {site.ptx_line}" if site.ptx_line is not None else f"+{site.offset or 0:#x}"


def _outside(array: Array) -> str:
    """The reason if an access is outside of the array. (Bounds on unknowns overestimate; such accesses are assumed to
    stay inside.)"""
    for use in array.uses:
        for r in use.requests:
            low, high = span_of(r, use.access.width or 1)
            if not all(move.every for move in r.moves):
                if array.variable == WHOLE and low == -BOUNDLESS:
                    return (
                        f"{place_of(use.site)}: {use.site.opcode} accesses bytes of shared memory that depend on"
                        " unknown values"
                    )
                continue
            if low < 0 or array.size and high > array.size:
                return (
                    f"{place_of(use.site)}: {use.site.opcode} accesses bytes {low:,} to {high - 1:,} of an array of"
                    f" {array.size or 0:,}: outside of it"
                )
    return ""


def _of_matrices(array: Array) -> str:
    """The reason if the active lanes of a matrix access, or the distance of its rows, are unknown."""
    for use in array.uses:
        if use.fragment == 0:
            return f"{place_of(use.site)}: the row stride of {use.site.opcode} is unknown"
        if use.access.address_lanes is not None and not all(r.certain for r in use.requests):
            return f"{place_of(use.site)}: the active lanes of {use.site.opcode} are unknown"
    return ""
