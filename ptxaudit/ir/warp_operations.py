"""The operations that lanes perform together: whose results differ between lanes, or depend on the active lanes.

    WARP["shfl"]  ->  Warp(differs=True, counts_lanes=False)      a lane reads a register of another lane

The key is the first part of an operation's name; PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from ptxaudit.base.records import Record


class Warp(Record):
    """differs: the result may differ between the lanes that take part. counts_lanes: it depends on which lanes do.
    values: it reads registers of other lanes. mask: the index of the source that is the member mask, if it has one.
    """

    differs: bool
    counts_lanes: bool
    values: bool = True
    mask: int | None = None


WARP: dict[str, Warp] = {
    "shfl": Warp(differs=True, counts_lanes=False, mask=3),
    "match": Warp(differs=True, counts_lanes=True, mask=1),
    "elect": Warp(differs=True, counts_lanes=True, mask=0),
    "vote": Warp(differs=False, counts_lanes=True, mask=1),
    "redux": Warp(differs=False, counts_lanes=True, mask=1),
    "activemask": Warp(differs=False, counts_lanes=True),
    "readfirstlane": Warp(differs=False, counts_lanes=False),
    "bar": Warp(differs=False, counts_lanes=True, values=False),  # bar.red: of the block
}
DIFFERS = tuple(name for name, warp in WARP.items() if warp.differs)
COUNTS_LANES = frozenset(name for name, warp in WARP.items() if warp.counts_lanes)
ACROSS = tuple(name for name, warp in WARP.items() if warp.values)
