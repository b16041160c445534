"""Pairs the shared-memory accesses of PTX with those of the machine code that ptxas made of it.

    k.ptx:40, 45, 50, 55   st.shared.f32 ×4      merged ×4      +0x150  STS.128
    k.ptx:60               ld.shared.f32         unrolled ×16   +0x170 … LDS ×16
    k.ptx:93               ld.shared.v4.f32      kept           +0x2e0  LDS.128
    k.ptx:97               ld.shared.f32         deleted

A binary with line information has ptxas's own map from machine instructions to lines of the PTX
(`.nv_debug_line_sass`; the PTX itself in `.nv_debug_ptx_txt`). It names one line per instruction, even if the
instruction does the work of several; the fate of the other lines follows from widths and offsets. Without the map,
sites are paired by source position, inline stack, access and order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.ir.nodes import Function
from ptxaudit.report.model import Kernel, Pairing, Site
from ptxaudit.report.paths import stem

if TYPE_CHECKING:
    from ptxaudit.frontend.artifacts.cubin import Cubin
    from ptxaudit.frontend.artifacts.lines import LineTable
    from ptxaudit.ir.graph import Graph

_ENTRY = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$%]+)")
BY_MAP, BY_POSITION = "ptxas", "position"


class PtxMap(Record, dict=True):
    """ptxas's map of one cubin: the PTX it compiled, and the PTX line of each instruction."""

    text: str
    table: LineTable

    @cached_property
    def _of_kernels(self) -> dict[str, list[tuple[int, str]]]:
        """kernel -> (line, statement) of the PTX between its head and the next one's."""
        out: dict[str, list[tuple[int, str]]] = defaultdict(list)
        name = ""
        for number, line in enumerate(self.text.split("\n"), 1):
            if match := _ENTRY.search(line):
                name = match[1]
            out[name] += [(number, _plain(statement)) for statement in line.partition("//")[0].split(";")]
        return out

    def lines(self, kernel: str, accesses: Sequence[Access]) -> dict[int, int | None] | None:
        """Line of this text -> line of the audited PTX; None if the two differ."""
        wanted = {access.text for access in accesses}
        here = [(number, text) for number, text in self._of_kernels.get(kernel, ()) if text in wanted]
        if [text for _, text in here] != [access.text for access in accesses]:
            return None
        return {number: access.line for (number, _), access in zip(here, accesses, strict=True)}


def ptx_map(cubin: Cubin) -> PtxMap | None:
    """The map in a cubin; None if it has none, or an unreadable one."""
    from ptxaudit.frontend.artifacts.lines import ptx_lines, ptx_text

    try:
        table = ptx_lines(cubin)
    except InputError:
        return None
    return PtxMap(ptx_text(cubin), table) if table else None


class Access(Record):
    """One site, as needed for pairing. line: in the PTX; place: source position and inline stack; depth: number of
    loops around it; loop: PTX lines of the innermost one; base, offset: its address, as in the code; fragment: it
    accesses a wmma fragment, which machine code does by other instructions."""

    id: str
    text: str
    access: str
    width: int | None
    line: int | None
    place: Hashable
    depth: int
    loop: frozenset[int]
    base: str
    offset: int
    fragment: bool = False


class Side(Record):
    """One kernel's accesses in program order; for machine code also ptxas's map, and the maximum loop depth of the
    instructions of each PTX line."""

    accesses: tuple[Access, ...]
    known: PtxMap | None = None
    deepest: dict[int, int] = field(default_factory=dict)


def side(function: Function, flow: Graph, entry: Kernel, known: PtxMap | None) -> Side:
    """The data of an audited kernel that pairing needs."""
    loops = flow.loops
    ptx = not function.final
    places = {instruction.place: instruction for instruction in function.instructions if instruction.site is not None}
    out = []
    for site in entry.sites:
        at = site.ptx_line if ptx else site.offset
        assert at is not None  # an entry of this function: each site has a place
        instruction = places[at]
        accessed = instruction.site
        assert accessed is not None
        source = known.table.at(function.name, instruction.place) if known else None
        line = site.ptx_line if ptx else source.line if source else None
        block = flow.block_of[instruction.index]
        around = loops.loops[at].blocks if ptx and (at := loops.innermost(block)) is not None else ()
        inside = frozenset(function.instructions[k].place for b in around for k in range(flow.starts[b], flow.ends[b]))
        out.append(
            Access(
                site.id,
                _plain(site.text),
                site.access,
                site.width,
                line,
                _place(site),
                loops.depth(block),
                inside,
                str(accessed.address),
                accessed.offset,
                accessed.fragment > 0 or site.access == "wmma",
            )
        )
    deepest: dict[int, int] = {}
    for instruction in function.instructions if known else ():
        source = known.table.at(function.name, instruction.place) if known else None
        if source is not None:
            deepest[source.line] = max(deepest.get(source.line, 0), loops.depth(flow.block_of[instruction.index]))
    return Side(tuple(out), known, deepest)


def _plain(text: str) -> str:
    """A statement without comments, blanks and its semicolon."""
    return "".join(text.partition("//")[0].split()).rstrip(";")


def _place(site: Site) -> Hashable:
    if site.source is None:
        return None
    stack = tuple((PurePath(frame.file).name, frame.line) for frame in site.source.inlined)
    return (PurePath(site.source.file).name, site.source.line, stack)


# --- kernels --------------------------------------------------------------------------------


def paired(kernels: Sequence[Kernel], sides: Sequence[Side]) -> list[Kernel]:
    """The kernels, with pairings in the sites of those that exist in both instruction sets."""
    found: list[dict[str, Pairing]] = [{} for _ in kernels]
    for ptx, sass in partners(kernels):
        for pairing in pair(kernels[ptx].name, sides[ptx], sides[sass]):
            for at, ids in ((ptx, pairing.ptx), (sass, pairing.sass)):
                for name in ids:
                    found[at].setdefault(name, pairing)
    return [_with(kernel, pairings) if pairings else kernel for kernel, pairings in zip(kernels, found, strict=True)]


def partners(kernels: Sequence[Kernel]) -> Iterator[tuple[int, int]]:
    """Indices of the PTX and the machine code of one kernel and launch: the PTX of the same architecture, else the
    only PTX."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at, kernel in enumerate(kernels):
        groups[kernel.name, repr(kernel.launch), stem(kernel.input)].append(at)
    for group in groups.values():
        ptx = [at for at in group if kernels[at].isa == "ptx"]
        for sass in group:
            if kernels[sass].isa == "sass" and ptx:
                same = [at for at in ptx if _number(kernels[at].arch) == _number(kernels[sass].arch)]
                if same or len(ptx) == 1:
                    yield (same or ptx)[0], sass


def _number(arch: str) -> str:
    return re.sub(r"\D", "", arch)


def _with(kernel: Kernel, pairings: dict[str, Pairing]) -> Kernel:
    def site(old: Site) -> Site:
        pairing = pairings.get(old.id)
        others = (pairing.sass if kernel.isa == "ptx" else pairing.ptx) if pairing else ()
        return replace(old, pairing=pairing, pairs_with=others[0] if others else None)

    return replace(kernel, sites=tuple(map(site, kernel.sites)))


# --- sites ----------------------------------------------------------------------------------


def pair(kernel: str, ptx: Side, sass: Side) -> list[Pairing]:
    """Pairings that cover all accesses of the PTX and of the machine code, in the PTX's order."""
    translated = sass.known.lines(kernel, ptx.accesses) if sass.known else None
    if translated is None:
        return _by_position(ptx.accesses, sass.accesses)
    by_line = {access.line: access for access in ptx.accesses}
    made: dict[Access, list[Access]] = defaultdict(list)
    added = []
    for access in sass.accesses:
        origin = by_line.get(-1 if access.line is None else translated.get(access.line, -1))
        made[origin].append(access) if origin else added.append(access)
    same_lines = all(here == there for here, there in translated.items())
    return _pairings(ptx.accesses, made, added, sass.deepest if same_lines else {})


def _pairings(
    ptx: Sequence[Access], made: dict[Access, list[Access]], added: Iterable[Access], deepest: dict[int, int]
) -> list[Pairing]:
    """The pairings, given the machine accesses that are known to come from each PTX access."""
    free = [access for access in ptx if access not in made]
    out = {}
    for origin, became in list(made.items()):
        for access, own in _handed_over(origin, became, free):
            made[access] = [own]
            became = [other for other in became if other is not own]
            free.remove(access)
        made[origin] = became
    for origin, became in made.items():
        merged = _merged(origin, became, free)
        free = [access for access in free if access not in merged]
        sources = sorted((origin, *merged), key=ptx.index)
        depth = max(access.depth for access in became)
        hoisted = any(deepest.get(line, 0) > depth for line in origin.loop)  # the loop still exists, without the access
        out[sources[0]] = replace(_pairing(sources, became, BY_MAP), hoisted=hoisted)
    for access in free:
        out[access] = Pairing("deleted", 1, (access.id,), (), by=BY_MAP)
    ordered = [out[access] for access in ptx if access in out]
    return ordered + [Pairing("added", 1, (), (access.id,), by=BY_MAP) for access in added]


def _handed_over(origin: Access, became: Sequence[Access], free: Sequence[Access]) -> list[tuple[Access, Access]]:
    """(PTX access, machine access) pairs for accesses of one source line, all of which the map attributes to
    `origin`."""
    others = [
        a
        for a in free
        if a.access == origin.access and a.width == origin.width and a.place == origin.place and a.place is not None
    ]
    if len(others) + 1 != len(became) or any(a.width != origin.width for a in became):
        return []
    return list(zip(others, became[1:], strict=True))


def _merged(origin: Access, became: Sequence[Access], free: Sequence[Access]) -> list[Access]:
    """The accesses without machine code of their own that a wider one performs together with `origin`."""
    wide = max((access.width or 0 for access in became), default=0)
    if not origin.width or wide <= origin.width:
        return []
    alike = [a for a in free if a.access == origin.access and a.width == origin.width and a.depth == origin.depth]
    near = {a.offset: a for a in alike if a.base == origin.base}
    more = wide // origin.width - 1
    run = [origin]
    for step, at in ((-origin.width, origin.offset), (origin.width, origin.offset)):
        while len(run) <= more and (at := at + step) in near:
            run.append(near[at])
    if len(run) <= more:  # the neighbours are addressed through other registers
        run += [a for a in alike if a.place == origin.place and a not in run][: more + 1 - len(run)]
    return run[1:]


def _pairing(ptx: Sequence[Access], sass: Sequence[Access], by: str) -> Pairing:
    """The pairing of some accesses of the PTX with some of the machine code."""
    known = all(a.width for a in (*ptx, *sass))
    asked, became = sum(a.width or 0 for a in ptx), sum(a.width or 0 for a in sass)
    ids = tuple(a.id for a in ptx), tuple(a.id for a in sass)
    kinds = {a.access for a in sass} != {a.access for a in ptx}
    if (kinds or ptx[0].fragment) and len(sass) > 1:
        return Pairing("expanded", len(sass), *ids, by=by)
    if len(ptx) == len(sass) == 1 and (kinds or not known or asked == became):
        return Pairing("kept", 1, *ids, by=by)
    if (
        known and became > asked and len(sass) == 1 and sass[0].depth >= ptx[0].depth
    ):  # with elements that the PTX does not access
        return Pairing("merged" if len(ptx) > 1 else "kept", len(ptx), *ids, by=by)
    if not known or became > asked:
        return Pairing("unrolled", round(became / asked) if known else len(sass), *ids, by=by)
    if asked == became and len(sass) < len(ptx):
        return Pairing("merged", len(ptx), *ids, by=by)
    if asked == became and len(sass) > len(ptx):
        return Pairing("split", len(sass), *ids, by=by)
    if asked == became:
        return Pairing("kept", 1, *ids, by=by)
    return Pairing("narrowed", len(sass), *ids, by=by)


def _by_position(ptx: Sequence[Access], sass: Sequence[Access]) -> list[Pairing]:
    """Pairs accesses with equal source position, inline stack and access, in program order, by the bytes that each
    covers."""
    groups: dict[Hashable, tuple[list[Access], list[Access]]] = defaultdict(lambda: ([], []))
    for at, accesses in enumerate((ptx, sass)):
        for access in accesses:
            groups[access.place, access.access][at].append(access)
    out: list[Pairing] = []
    for ours, theirs in groups.values():
        out += _in_order(ours, theirs)
    return out


def _in_order(ptx: list[Access], sass: list[Access]) -> Iterator[Pairing]:
    if len(ptx) == 1 and sass:
        yield _pairing(ptx, sass, BY_POSITION)
        return
    if (
        sass
        and len(sass) > len(ptx)
        and len(sass) % len(ptx or sass) == 0
        and {a.width for a in ptx} == {a.width for a in sass}
    ):
        copies = len(sass) // len(ptx)
        for at, access in enumerate(ptx):
            yield _pairing([access], sass[at :: len(ptx)] if copies > 1 else [sass[at]], BY_POSITION)
        return
    waiting = list(ptx)
    for access in sass:
        taken: list[Access] = []
        while waiting and (not taken or sum(a.width or 0 for a in (*taken, waiting[0])) <= (access.width or 0)):
            taken.append(waiting.pop(0))
        yield _pairing(taken, [access], BY_POSITION) if taken else Pairing("added", 1, (), (access.id,), by=BY_POSITION)
    for access in waiting:
        yield Pairing("deleted", 1, (access.id,), (), by=BY_POSITION)
