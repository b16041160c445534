"""Determines which lanes of a warp take part in an operation together: active lanes that name the same member mask.

    vote.sync.ballot r, p, 0xffffffff         one group per row: all active lanes
    vote.sync.ballot r, p, m                  m = 0xff << (lane & 24): four groups of eight lanes, each with its own
                                              result

(PTX ISA, "vote.sync", "match.sync", "redux.sync", "elect.sync": threads that name the same mask execute together; the
result of a thread that is not in its own mask is undefined.)
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain.lanes import first_active, unpack, varies
from ptxaudit.engine.domain.value import Value, as_uniform, known_in


def members(mask: Value | None, active: np.ndarray) -> np.ndarray | None:
    """The group of each lane: (rows, 1, lanes) if all active lanes of each row name one mask, else (rows, lanes,
    lanes).

    mask: None: all active lanes. active: (rows, lanes). Returns None if it is unknown which lanes name the same mask.
    """
    if mask is None or _alike_though_unknown(mask):
        return active[:, None, :]
    words = known_in(mask, active)
    if words is None:
        return None
    if not varies(words, active):
        all_of_them: np.ndarray = (active & unpack(first_active(words, active)[:, 0]))[:, None, :]
        return all_of_them
    groups: np.ndarray = active[:, None, :] & (words[:, :, None] == words[:, None, :]) & unpack(words)
    return groups


def several(groups: np.ndarray) -> bool:
    """Each lane has its own group, and with it its own result."""
    result: bool = groups.shape[1] > 1
    return result


def _alike_though_unknown(mask: Value) -> bool:
    """All lanes name the same unknown mask: each is in it, or has an undefined result."""
    return bool(mask.terms) and as_uniform(mask) is not None
