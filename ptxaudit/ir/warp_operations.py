"""What the lanes of a warp do together: which results differ from lane to lane, and which depend on who is there.

    WARP["shfl"]  ->  Warp(differs=True, counts_lanes=False)      a lane reads what another holds

By the first part of an operation's name; PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from ptxaudit.base.records import Record


class Warp(Record):
    """differs: the result is not the same in all lanes that take part. counts_lanes: it depends on which lanes do.
    values: it reads registers of other lanes."""

    differs: bool
    counts_lanes: bool
    values: bool = True


WARP: dict[str, Warp] = {
    "shfl": Warp(differs=True, counts_lanes=False),
    "match": Warp(differs=True, counts_lanes=True),
    "elect": Warp(differs=True, counts_lanes=True),
    "vote": Warp(differs=False, counts_lanes=True),
    "redux": Warp(differs=False, counts_lanes=True),
    "activemask": Warp(differs=False, counts_lanes=True),
    "bar": Warp(differs=False, counts_lanes=True, values=False),  # bar.red: of the block
}
DIFFERS = tuple(name for name, warp in WARP.items() if warp.differs)
COUNTS_LANES = frozenset(name for name, warp in WARP.items() if warp.counts_lanes)
ACROSS = tuple(name for name, warp in WARP.items() if warp.values)
