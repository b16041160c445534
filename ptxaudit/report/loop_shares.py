"""What each loop of a kernel costs of the launch: wavefronts, sectors and spills of the accesses in it.

    for (k …) {                     loop at k.cu:12, depth 1      3 sites, 1,024 wavefronts, 78 %
        for (i …) s += t[i][k];     loop at k.cu:13, depth 2      1 site,    992 wavefronts, 76 %

A loop has what is in the loops inside of it. Sums are over exact sites; a loop with others says how many are open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePath

from ptxaudit.ir import nodes as ir
from ptxaudit.ir.graph import Graph
from ptxaudit.report.model import Kernel, LoopShare, MemorySite, Site
from ptxaudit.report.pairing import loops_of


def loop_shares(function: ir.Function, flow: Graph, kernel: Kernel) -> tuple[LoopShare, ...]:
    """The loops that have a site, those with the most wavefronts and sectors first."""
    loops = sorted(loops_of(flow), key=len, reverse=True)
    ptx = function.isa == "ptx"
    blocks = {i.place: flow.block_of[i.index] for i in function.instructions if i.site is not None}
    sites = [(blocks[site.ptx_line if ptx else site.offset], site) for site in (*kernel.sites, *kernel.memory)]
    warps = max((site.requests or 0 for block, site in sites if not any(block in loop for loop in loops)), default=0)
    found = []
    for loop in loops:
        inside = [site for block, site in sites if block in loop]
        if inside:
            depth = sum(loop <= other for other in loops)
            found.append(_share(_place(function, flow, loop), depth, inside, kernel, warps))
    return tuple(sorted(found, key=lambda share: (-share.wavefronts - share.sectors, share.depth)))


def _place(function: ir.Function, flow: Graph, loop: Collection[int]) -> str:
    """The line of the branch that leads back to its beginning, else the place of its first instruction."""
    first = min(flow.starts[block] for block in loop)
    back = [function.instructions[flow.ends[block] - 1] for block in loop]
    sources = [i.source for i in back if i.source is not None and i.control is not None and first in i.control.targets]
    if sources:
        return f"{PurePath(sources[-1].file).name}:{sources[-1].line}"
    instruction = function.instructions[first]
    return f"PTX line {instruction.place}" if function.isa == "ptx" else f"+{instruction.place:#06x}"


def _share(place: str, depth: int, inside: Sequence[Site | MemorySite], kernel: Kernel, warps: int) -> LoopShare:
    total = lambda sites, name: sum(getattr(site, name) or 0 for site in sites)
    shared = [site for site in inside if isinstance(site, Site)]
    others = [site for site in inside if isinstance(site, MemorySite)]
    wavefronts, sectors = total(shared, "wavefronts"), total(others, "sectors")
    of_all = lambda part, sites, name: part / whole if (whole := total(sites, name)) else None
    most = max((site.requests or 0 for site in inside), default=0)
    return LoopShare(
        place,
        depth,
        len(inside),
        sum(not site.settled for site in inside),
        most / warps if warps and most else None,
        wavefronts,
        total(shared, "excess"),
        sectors,
        total(others, "sectors_excess"),
        total([s for s in others if s.kind == "spill"], "sectors"),
        of_all(wavefronts, kernel.sites, "wavefronts"),
        of_all(sectors, kernel.memory, "sectors"),
    )
