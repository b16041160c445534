"""The loops of a kernel with what they cost, most first.

loop       depth  trips  sites  wavefronts  excess   share  sectors  excess   share
k.cu:120       1     16      3       1,024     992   78.0%      512       0   50.0%
"""

from __future__ import annotations

from ptxaudit.base.words import number
from ptxaudit.report.model import Kernel, LoopShare

COLUMNS = (
    "loop",
    "depth",
    "trips",
    "sites",
    "wavefronts",
    "excess",
    "share",
    "sectors",
    "of them excess",
    "share of sectors",
)


def loop_lines(kernel: Kernel) -> list[str]:
    """The table."""
    shown = [_cells(loop) for loop in kernel.loop_shares]
    widths = [max(len(row[at]) for row in (COLUMNS, *shown)) for at in range(len(COLUMNS))]
    lines = ["  loops"]
    for row in (COLUMNS, *shown):
        lines.append(
            (
                "  "
                + "  ".join(
                    cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))
                )
            ).rstrip()
        )
    return lines


def _cells(loop: LoopShare) -> tuple[str, ...]:
    percent = lambda share: "–" if share is None else f"{share:.1%}"
    trips = "–" if loop.trips is None else f"{loop.trips:,.4g}"
    left = f" ({loop.open} open)" if loop.open else ""
    return (
        loop.place,
        number(loop.depth),
        trips,
        number(loop.sites) + left,
        number(loop.wavefronts),
        number(loop.excess),
        percent(loop.share),
        number(loop.sectors),
        number(loop.sectors_excess),
        percent(loop.sectors_share),
    )
