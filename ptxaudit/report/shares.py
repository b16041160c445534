"""Computes what each loop and line of a kernel costs: the wavefronts, sectors and spills of the accesses in it.

    for (k …) {                     loop at k.cu:12, depth 1      3 sites, 1,024 wavefronts, 78 %
        for (i …) s += t[i][k];     loop at k.cu:13, depth 2      1 site,    992 wavefronts, 76 %

A loop includes the loops inside it. Sums cover exact sites; a loop or line with others says how many are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

from ptxaudit.base.places import own
from ptxaudit.base.records import Record
from ptxaudit.frontend.source_text import SourceLines
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.loops import Loop
from ptxaudit.ir.placed import back_of, place_of
from ptxaudit.report.model import AnySite, Kernel, Share, Site
from ptxaudit.report.paths import own_place, place

if TYPE_CHECKING:
    from ptxaudit.ir.graph import Graph

WARP = 32  # lanes
MOST = 0.5  # of the excess: a place with more than this share is named


Placed = tuple[str, str | None]  # a place and the text of the line


class Shares(Record):
    """Costliest first; said: where the excess arises, one sentence per memory."""

    loops: tuple[Share, ...]
    lines: tuple[Share, ...]
    said: tuple[str, ...]


def shares(
    function: ir.Function, flow: Graph, kernel: Kernel, sites: Iterable[tuple[int, AnySite]], lines_of: SourceLines
) -> Shares:
    """sites: of the kernel's entry, each with the index of its instruction."""
    totals = _Totals(kernel)
    inside: dict[int, list[AnySite]] = {}
    own: dict[int, list[AnySite]] = {}
    lines: dict[str, list[AnySite]] = {}
    depths: dict[str, int] = {}
    for index, site in sites:
        around = flow.loops.around.get(flow.block_of[index], ())
        for at in around:
            inside.setdefault(at, []).append(site)
        if around:
            own.setdefault(around[-1], []).append(site)
        where = place(site, kernel)
        lines.setdefault(where, []).append(site)
        depths[where] = max(len(around), depths.get(where, 0))
    of_loops = [
        totals.share(_place(function, flow, loop, lines_of), loop.depth, inside[at], own.get(at, ()))
        for at, loop in enumerate(flow.loops.loops)
        if at in inside
    ]
    of_lines = [totals.share((where, _text(found[0])), depths[where], found, found) for where, found in lines.items()]
    said = tuple(filter(None, (_said(unit, of_loops, of_lines, totals) for unit in _UNITS)))
    return Shares(tuple(sorted(of_loops, key=_costliest)), tuple(sorted(of_lines, key=_costliest)), said)


def _text(site: AnySite) -> str | None:
    return own_place(site.source).text if site.source is not None else None


def warps_of(kernel: Kernel) -> int | None:
    """The number of warps in the launch, where it is specified."""
    launch = kernel.launch
    if launch is None or launch.grid is None or launch.block is None:
        return None
    return prod(launch.grid) * -(-prod(launch.block) // WARP)


def _costliest(share: Share) -> tuple[int, int]:
    return -share.wavefronts - share.sectors, share.depth


def _place(function: ir.Function, flow: Graph, loop: Loop, lines_of: SourceLines) -> Placed:
    """The line of the branch back to the loop's head, with its text; else the place of the loop's first instruction."""
    index = back_of(function, flow, loop.blocks)
    source = function.instructions[index].source
    line = own(source.places) if source is not None else None
    return place_of(function, index), None if line is None else lines_of(line.file, line.line)


class _Totals:
    """Sums over the launch, of which shares are fractions."""

    def __init__(self, kernel: Kernel) -> None:
        self.warps = warps_of(kernel)
        self.wavefronts, self.excess = _sums(kernel.sites)
        self.sectors, self.sectors_excess = _sums(kernel.memory)
        self.spilled = _paid(site for site in kernel.memory if site.kind == "spill")
        self.open = not all(site.settled for site in kernel.accesses)

    def share(self, where: Placed, depth: int, inside: Sequence[AnySite], own: Iterable[AnySite]) -> Share:
        """own: those of `inside` that are in no inner loop."""
        shared = [site for site in inside if isinstance(site, Site)]
        others = [site for site in inside if not isinstance(site, Site)]
        (wavefronts, excess), (sectors, sectors_excess) = _sums(shared), _sums(others)
        most = max((site.requests or 0 for site in own), default=0)
        return Share(
            place=where[0],
            text=where[1],
            depth=depth,
            sites=len(inside),
            open=sum(not site.settled for site in inside),
            trips=most / self.warps if self.warps and most else None,
            wavefronts=wavefronts,
            excess=excess,
            sectors=sectors,
            sectors_excess=sectors_excess,
            spill_wavefronts=_paid(site for site in shared if site.kind == "spill"),
            spill_sectors=_paid(site for site in others if site.kind == "spill"),
            share=wavefronts / self.wavefronts if self.wavefronts else None,
            sectors_share=sectors / self.sectors if self.sectors else None,
        )


def _sums(sites: Iterable[AnySite]) -> tuple[int, int]:
    """The cost of the sites, and the part of it above the ideal."""
    sites = tuple(sites)
    return _paid(sites), sum(site.wasted or 0 for site in sites)


def _paid(sites: Iterable[AnySite]) -> int:
    return sum(site.paid or 0 for site in sites)


class _Unit(Record):
    """A kind of excess to describe in a sentence. figure: its field in `Share`; part, whole: its fields in `_Totals`;
    what: "{share} of shared wavefronts are replays"."""

    figure: str
    part: str
    whole: str
    what: str


_UNITS = (
    _Unit("excess", "excess", "wavefronts", "{share} of shared wavefronts are replays"),
    _Unit("sectors_excess", "sectors_excess", "sectors", "{share} of sectors exceed what the bytes need"),
    _Unit("spill_sectors", "spilled", "sectors", "{share} of sectors are register spills"),
)


def _said(unit: _Unit, loops: Sequence[Share], lines: Sequence[Share], totals: _Totals) -> str:
    """ "78% of shared wavefronts are replays, all in the loop at k.cu:120"; "" where there are none."""
    part, whole = getattr(totals, unit.part), getattr(totals, unit.whole)
    if not part:
        return ""
    of: dict[int, int] = {id(share): getattr(share, unit.figure) for share in (*loops, *lines)}
    loop = max(loops, key=lambda share: (of[id(share)], share.depth), default=None)
    line = max(lines, key=lambda share: of[id(share)])
    if loop is not None and of[id(loop)] > part * MOST:
        where = f"{_how_much(of[id(loop)], part)} in the loop at {loop.place}"
    elif of[id(line)] > part * MOST:
        where = f"{_how_much(of[id(line)], part)} at {line.place}"
    else:
        where = f"most of them, {_percent(of[id(line)], part)}, at {line.place}"
    known = " (of the known part)" if totals.open else ""
    return f"{unit.what.format(share=_percent(part, whole))}, {where}{known}"


def _how_much(part: int, whole: int) -> str:
    return "all" if part == whole else f"{_percent(part, whole)} of them"


def _percent(part: int, whole: int) -> str:
    """A whole percentage, but never 0% or 100% unless exactly so."""
    percent = round(100 * part / whole)
    return (
        f"{percent}%"
        if 0 < percent < 100 or part in (0, whole)
        else f"{100 * part / whole:.2g}%"
        if not percent
        else ">99%"
    )
