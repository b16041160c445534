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
from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.memory.environment import LANES

LANE_BITS = np.uint32(1) << np.arange(LANES, dtype=np.uint32)


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
    words = np.broadcast_to(mask.base, active.shape)
    first = np.take_along_axis(words, active.argmax(axis=1)[:, None], 1)
    if not anywhere((words != first) & active):
        all_of_them: np.ndarray = (active & _named(first)[:, 0])[:, None, :]
        return all_of_them
    groups: np.ndarray = active[:, None, :] & (words[:, :, None] == words[:, None, :]) & _named(words)
    return groups


def several(groups: np.ndarray) -> bool:
    """Each lane has a group, and with it a result, of its own."""
    result: bool = groups.shape[1] > 1
    return result


def words_of(groups: np.ndarray) -> np.ndarray:
    """(rows, n, lanes) bool -> (rows, n) uint32, lane 0 in bit 0."""
    result: np.ndarray = np.where(groups, LANE_BITS, np.uint32(0)).sum(axis=-1, dtype=np.uint32)
    return result


def _named(words: np.ndarray) -> np.ndarray:
    """(rows, n) masks -> (rows, n, lanes) bool."""
    result: np.ndarray = (words[:, :, None] & LANE_BITS) != 0
    return result


def _alike_though_unknown(mask: Value) -> bool:
    """All lanes name the same, whatever it is: they are in it, or have no defined result."""
    return bool(mask.terms) and mask.uniform and mask.poison is None and mask.valid is None
