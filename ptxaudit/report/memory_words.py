"""Explains figures of global and local memory in words."""

from __future__ import annotations

import numpy as np

from ptxaudit.base.status import Status
from ptxaudit.engine.answer.common import fewer_when_aligned
from ptxaudit.engine.answer.result import Pattern, SiteResult
from ptxaudit.hardware.memory.rules import LINE, SECTOR


def misaligned(result: SiteResult, of: str) -> bool | None:
    """Whether some request would take fewer sectors if its lowest address were a multiple of 32; None if unknown."""
    common = result.common
    if of != "global" or common is None or not common.split and not common.complete:
        return None
    return common.split


def vector_of(result: SiteResult, size: int) -> int | None:
    """`size` if vectors of that size would be aligned in every lane of all requests, or may be; else None."""
    if result.status is Status.UNREACHED:
        return None
    common = result.common
    return None if common is not None and (common.lane_bits | common.low_bits) & size - 1 else size


def memory_cause(result: SiteResult, of: str, width: int | None) -> str:
    """Why a site takes more sectors than its bytes need; "" where it does not, or this is unknown."""
    worst = max(result.patterns, key=lambda p: p.low - p.ideal, default=None)
    if worst is None or width is None or worst.low <= worst.ideal:
        return ""
    if of == "local":
        return f"lanes access different elements: {worst.low} sectors where {worst.ideal} hold one element of all"
    return _global_cause(worst, width)


def _global_cause(worst: Pattern, width: int) -> str:
    addresses = worst.addresses[worst.active]
    cost = f"{worst.low} sectors for the bytes of {worst.ideal}"
    apart = np.diff(addresses)
    of_lanes = apart / np.diff(np.flatnonzero(worst.active))
    for who, distances in (("lanes", set(of_lanes.tolist())), ("active lanes", set(apart.tolist()))):
        step = abs(next(iter(distances))) if len(distances) == 1 else 0
        if step > width and step == int(step):
            return f"{who} are {int(step)} bytes apart: {cost}"
    if (
        fewer_when_aligned(worst.addresses[None], worst.active[None])[0]
        and len({int(a) // LINE for a in addresses}) <= -(-len(addresses) * width // LINE) + 1
    ):
        return f"the first address is {int(addresses.min()) % SECTOR} bytes into a sector: {cost}"
    return f"lanes are scattered: {cost}"
