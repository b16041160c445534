"""Which lanes of a warp an operation takes together: the active ones that name one member mask.

    vote.sync.ballot r, p, 0xffffffff         one group a row: all active lanes
    vote.sync.ballot r, p, m                  m = 0xff << (lane & 24): four groups of eight lanes, each with its own
                                              result

(PTX ISA, "vote.sync", "match.sync", "redux.sync", "elect.sync": threads that name one mask execute together; a thread
that its own mask lacks has no defined result.)
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain.lanes import first_active, unpack, varies
from ptxaudit.engine.domain.value import Value, as_uniform


def members(mask: Value | None, active: np.ndarray) -> np.ndarray | None:
    """(rows, 1, lanes) where all active lanes of each row name one mask, else (rows, lanes, lanes): of each lane those
    of its group.

    mask: None: all active lanes are meant. active: (rows, lanes). None: which lanes name one mask is not known.
    """
    if mask is None or _alike_though_unknown(mask):
        return active[:, None, :]
    if not mask.known and (
        mask.terms
        or mask.valid is not None
        or mask.poison is not None
        and anywhere(np.broadcast_to(mask.poison, active.shape) & active)
    ):
        return None
    words = mask.base
    if not varies(words, active):
        all_of_them: np.ndarray = (active & unpack(first_active(words, active)[:, 0]))[:, None, :]
        return all_of_them
    groups: np.ndarray = active[:, None, :] & (words[:, :, None] == words[:, None, :]) & unpack(words)
    return groups


def several(groups: np.ndarray) -> bool:
    """Each lane has a group, and with it a result, of its own."""
    result: bool = groups.shape[1] > 1
    return result


def _alike_though_unknown(mask: Value) -> bool:
    """All lanes name the same, whatever it is: they are in it, or have no defined result."""
    return bool(mask.terms) and as_uniform(mask) is not None
