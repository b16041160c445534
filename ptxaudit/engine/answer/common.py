"""What all requests of a site have in common: distances between lanes, and the low bits of addresses.

    4·lane, 4·lane + 512        lanes are adjacent words; all addresses are multiples of 4
    16·lane, 16·lane + 4        lanes are multiples of 16 bytes apart; the address of some is no multiple of 8

A report shows a few of the requests (`SiteRecord.patterns`); what it says of every request is from here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.answer.result import Common
from ptxaudit.engine.domain.lanes import first_active
from ptxaudit.engine.domain.value import ADDRESS_BITS, Terms, array_zeros
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.memory.rules import SECTOR

PLACES = frozenset(("shared", "variable", "pointer", "window"))  # unknowns that are the place of an array


def unaligned_by(terms: Terms, align: int) -> Iterator[str]:
    """The unknowns of an address whose step is not a multiple of an access's alignment, except places of arrays."""
    for u, c in terms:
        if u.kind not in PLACES and 1 << min(u.zeros + array_zeros(c), ADDRESS_BITS) < align:
            yield u.name


def in_common(
    access: Access, addresses: np.ndarray, active: np.ndarray, steps: np.ndarray, lines: np.ndarray
) -> Common:
    """What requests with an active lane have in common.

    addresses, active: (n, lanes); steps (n, 1): the addresses are known up to a multiple of them; lines (n, 1): those
    of each lane up to its own multiple, 0: they are not.
    """
    moved = addresses - (access.width or 1) * np.arange(addresses.shape[1])
    off = np.where(active, moved - first_active(moved, active), 0)
    unsettled = anywhere(lines)
    in_line = np.where(lines > 0, off % np.maximum(lines, 1), off) if unsettled else off
    apart = np.where(active, addresses - first_active(addresses, active), 0)
    bits = int(np.bitwise_or.reduce(apart | lines & -lines, axis=None))
    low = int(np.bitwise_or.reduce(np.where(active, addresses & steps - 1, 0), axis=None))
    adjacent = False if anywhere(in_line) else None if unsettled else True
    split = _split(addresses, active, steps) if access.space == "global" else None
    return Common(adjacent, bits, low, int(steps.min()), split, apart=throughout(in_line.any(axis=1)))


def _split(addresses: np.ndarray, active: np.ndarray, steps: np.ndarray) -> bool | None:
    """Whether some request would take fewer sectors if its lowest address were a multiple of 32."""
    fewer, known = fewer_when_aligned(addresses, active), steps[:, 0] >= SECTOR
    return True if anywhere(fewer & known) else None if not known.all() else False


def fewer_when_aligned(addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,) whether a request would take fewer sectors if its lowest address were a multiple of 32."""
    filled = np.where(active, addresses, first_active(addresses, active))
    fewer: np.ndarray = _sectors(filled - filled.min(axis=1, keepdims=True)) < _sectors(filled)
    return fewer


def _sectors(addresses: np.ndarray) -> np.ndarray:
    """(n,) the number of sectors that the addresses are in."""
    ordered = np.sort(addresses // SECTOR, axis=1)
    counted: np.ndarray = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1) + 1
    return counted
