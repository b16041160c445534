"""The requests of a site with their places (`kept`), from its observations in an inference.

st.shared [tile + 4·tid.x]          ->  Requests("tile", offsets=[[0, 4, …], …], …)
st.shared [tile + 4·tid.x + 512]    ->  the same, moved by 512 bytes: an unrolled loop is many such sites
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.engine.answer.kept import Keeper, Kept, Places
from ptxaudit.engine.answer.observe import Seen
from ptxaudit.engine.answer.tabulate import Observation
from ptxaudit.engine.domain.value import ADDRESS_BITS
from ptxaudit.hardware.banks import Access

_HALF = 1 << ADDRESS_BITS - 1  # offsets from here on wrap around


class _Placed(Record, eq=False):
    """The requests of a site, and the offset of its first address.

    free: the distances in bytes by which the requests can move without an offset wrapping around. every: the
    observations, kept alive because queries identify them by `id`.
    """

    places: Places
    offset: int
    free: range
    every: list[Observation]


class SeenPlaces:
    """The placed requests of one kernel's sites, shared between sites that differ only by an offset."""

    def __init__(self) -> None:
        self._placed: dict[tuple[Any, ...], _Placed] = {}

    def kept(self, access: Access, seen: Sequence[Seen]) -> Kept:
        """The requests under the first of the assumed block shapes."""
        every = [s.observation for s in seen if s.group == seen[0].group]
        return Kept(access, partial(self._of, access, every))

    def _of(self, access: Access, every: list[Observation]) -> Places:
        if not every or not all(map(_moves_alike, every)):
            return _places(access, every)
        first = every[0].offset
        question = access, tuple([(id(o.base), o.offset - first, id(o.mask), o.exact) for o in every])
        known = self._placed.get(question)
        if known is None:
            places = _places(access, every)
            known = self._placed[question] = _Placed(places, first, _free(places), every)
        further = first - known.offset
        return _further(known.places, further) if further in known.free else _places(access, every)


def _places(access: Access, every: Sequence[Observation]) -> Places:
    keeper = Keeper(access)
    for o in every:
        why = o.located.why if o.located is not None else None
        if why is not None:
            return Places(missing=why)
        if o.located is None or o.lanes.any():
            keeper.add(o.address, o.lanes, None, certain=o.exact)
    return keeper.places()


def _moves_alike(o: Observation) -> bool:
    """Adding a number to the address moves the places of all lanes by that number."""
    base = o.base
    known = base.poison is None and base.valid is None and base.alternatives is None and o.located is None
    return known and all(c.size == 1 for _, c in base.terms)


def _free(places: Places) -> range:
    """The distances by which requests can move without an offset wrapping around."""
    low = min((int(r.offsets.min()) for r in places.requests), default=0)
    high = max((int(r.offsets.max()) for r in places.requests), default=0)
    return range(-_HALF - low, _HALF - high)


def _further(places: Places, bytes: int) -> Places:
    """The same requests, moved by a number of bytes."""
    if not bytes or places.missing is not None:
        return places
    moved = [replace(r, offsets=np.where(r.active, r.offsets + bytes, 0)) for r in places.requests]
    return Places(tuple(moved))
