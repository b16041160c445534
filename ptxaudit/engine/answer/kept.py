"""Requests with the places that they access, for changes to the layout of an array (`ptxaudit.review.fix`).

A count needs addresses only up to a shift, and a `SiteRecord` keeps no more. With `Facts(keep=True)`, every
`SiteResult` also has all requests of its site, at their places in their array:

    st.shared.f32 [tile + 128·tid.y + 4·tid.x]     ->  Requests("tile", offsets=[[0, 4, …], [128, 132, …], …],
                                                       weights=[16, 16, …])
    ld.shared.f32 [tile + 4096·trip + 4·tid.x]     ->  Requests("tile", offsets=[[0, 4, …]], moves=(Move(4096, 0,
                                                       None),), weights=None)

Other packages see nothing else of it, and the engine makes only two calls: `Simulation._access` adds each request to
the `Keeper` of its record, and `infer` passes its observations. Incomplete requests say why (`missing`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, field

from ptxaudit.base.arrays import anywhere, distinct_rows, throughout
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.lanes import first_active, varies
from ptxaudit.engine.domain.value import ADDRESS_BITS, Uniform, Value, low_zeros, resize, same_terms, signed
from ptxaudit.hardware.banks import Access
from ptxaudit.ir.reasons import Kind, Reason

MOST_REQUESTS = 1 << 15  # distinct requests of a site; beyond, none are kept
MOST_TIMES = 1 << 48  # sum of all weights: sums of their figures fit into 64 bits
MOST_CHOICES = 64  # values of an unknown that multiplies the lane, tried one by one
_TOGETHER = 64  # requests that are added together
_AT_ONCE = 1 << 12  # rows that are collected before equal ones are merged


class Move(Record):
    """An amount added to the addresses of all lanes of a request: step·k bytes, for some k of low … high.

    low, high: None = any multiple of the step. every: each k of the range occurs equally often (a loop's trips).
    """

    step: int
    low: int | None = None
    high: int | None = None
    every: bool = False


class Requests(Record, eq=False, dict=True):
    """Distinct requests of a site with the same moves.

    variable: the array's name, "" if addresses are places in the block's window. offsets: (n, lanes) int64 bytes from
    it, 0 in inactive lanes; active: (n, lanes) bool; weights: (n,) int64, occurrences in the launch, None if unknown;
    certain: these lanes are active; otherwise any subset may be. sources, filled: (n, lanes) of a cp.async, as
    `banks.score` takes them, or None.
    """

    variable: str
    offsets: np.ndarray
    active: np.ndarray
    weights: np.ndarray | None
    moves: tuple[Move, ...] = ()
    certain: bool = True
    sources: np.ndarray | None = None
    filled: np.ndarray | None = None

    @cached_property
    def ends(self) -> tuple[int, int] | None:
        """The least and the greatest offset of active lanes; None if there are none."""
        taking = self.offsets if throughout(self.active) else self.offsets[self.active]
        return (int(taking.min()), int(taking.max())) if taking.size else None


class Places(Record, eq=False):
    """All requests of a site. missing: why they are incomplete, None if they are complete."""

    requests: tuple[Requests, ...] = ()
    missing: Reason | None = None


class Kept(Struct, eq=False):
    """All requests of a site, placed on first use: most sites have no conflict to repair.

    access: what `banks` scores them as; find: places them.
    """

    access: Access
    find: Callable[[], Places] | None
    _places: Places | None = None

    @property
    def requests(self) -> tuple[Requests, ...]:
        return self.places.requests

    @property
    def missing(self) -> Reason | None:
        """Why the requests are incomplete, None if they are complete."""
        return self.places.missing

    @property
    def places(self) -> Places:
        if self.find is not None:
            self._places, self.find = self.find(), None
        assert self._places is not None
        return self._places


class NotPlaced(Exception):
    """The place of an access is unknown, for a reason."""

    def __init__(self, reason: Reason):
        self.reason = reason


class Keeper(Struct, eq=False):
    """Collects the requests of one site, equal ones once."""

    access: Access
    missing: Reason | None = None
    _rows: dict[tuple[Any, ...], list[tuple[list[Any], np.ndarray | None]]] = field(
        default_factory=lambda: defaultdict(list)
    )  # common properties of requests -> [(columns, weights)]
    _waiting: list[_Added] = field(default_factory=list)
    _waiting_rows: int = 0
    _count: int = 0
    _distinct: int = 0

    def add(
        self,
        address: Value,
        active: np.ndarray,
        weights: np.ndarray | None,
        sources: np.ndarray | None = None,
        filled: np.ndarray | None = None,
        certain: bool = True,
        times: int = 1,
    ) -> None:
        """Adds requests: address per lane; active (n, lanes) bool; weights (n,) occurrences; the rest as in `Requests`.

        times: the number of such requests, in each of which an unknown of kind "rounds" in the address is one greater.
        """
        self._waiting.append((address, active, weights, sources, filled, certain, times))
        self._waiting_rows += len(active)
        if self._waiting_rows > _AT_ONCE:
            self._place()

    def _place(self) -> None:
        """Places the waiting requests: in one call if the same terms are added to the addresses of all lanes."""
        waiting, self._waiting, self._waiting_rows = self._waiting, [], 0
        alike: list[_Added] = []
        for one in waiting:
            if self.missing or not anywhere(one[1]):
                continue
            if alike and not (
                _is_alike(one) and len(alike) < _TOGETHER and same_terms(alike[-1][0].terms, one[0].terms)
            ):
                self._add_alike(alike)
            if _is_alike(one):
                alike.append(one)
            else:
                self._add(*one)
        self._add_alike(alike)

    def _add_alike(self, alike: list[_Added]) -> None:
        """Adds requests to whose addresses the same terms are added in all lanes."""
        if not alike:
            return
        addresses, masks = [one[0] for one in alike], [one[1] for one in alike]
        weights = [one[2] for one in alike if one[2] is not None]
        alike.clear()
        bases = [np.broadcast_to(resize(v.base, ADDRESS_BITS), mask.shape) for v, mask in zip(addresses, masks)]
        together = Value(np.concatenate(bases), addresses[0].terms)
        self._add(together, np.concatenate(masks), np.concatenate(weights))

    def _add(
        self,
        address: Value,
        active: np.ndarray,
        weights: np.ndarray | None,
        sources: np.ndarray | None = None,
        filled: np.ndarray | None = None,
        certain: bool = True,
        times: int = 1,
    ) -> None:
        sources = None if sources is None else np.where(active, sources, 0)
        try:
            places = placed(address, active, times)
            several = sum(len(rows) for rows, *_ in places) > int(
                active.any(axis=1).sum()
            )  # choices: one of them holds
            for rows, variable, offsets, moves in places:
                columns = [
                    np.where(active[rows], offsets, 0),
                    active[rows],
                    *(None if c is None else c[rows] for c in (sources, filled)),
                ]
                counted = None if weights is None or several else weights[rows]
                if counted is not None and times > 1:
                    counted = counted.astype(object) * times
                self._rows[variable, moves, certain, sources is None, filled is None, counted is None].append(
                    (columns, counted)
                )
                self._count += len(rows)
        except NotPlaced as why:
            self.missing = why.reason
        if self._count > max(_AT_ONCE, 2 * self._distinct):
            self._fold()

    def _fold(self) -> None:
        """Merges equal requests."""
        self._count = 0
        for key, parts in self._rows.items():
            columns = [None if parts[0][0][k] is None else np.concatenate([c[k] for c, _ in parts]) for k in range(4)]
            weights = None if parts[0][1] is None else np.concatenate([w for _, w in parts])
            first, inverse = distinct_rows([c for c in columns if c is not None])
            if weights is not None:
                each, weights = weights, np.zeros(len(first), weights.dtype)
                np.add.at(weights, inverse, each)
            self._rows[key] = [([None if c is None else c[first] for c in columns], weights)]
            self._count += len(first)
        self._distinct = self._count
        if self._count > MOST_REQUESTS:
            self.missing = Reason(Kind.MANY_PLACES, given=(MOST_REQUESTS,))
            self._rows.clear()

    def places(self) -> Places:
        """The collected requests."""
        self._place()
        self._fold()
        times = sum(sum(weights.tolist()) for [(_, weights)] in self._rows.values() if weights is not None)
        if times > MOST_TIMES:
            self.missing = self.missing or Reason(Kind.MANY_REQUESTS, given=(MOST_TIMES,))
        if self.missing:
            return Places(missing=self.missing)
        found = []
        for (variable, moves, certain, *_), [((offsets, active, sources, filled), weights)] in self._rows.items():
            weights = None if weights is None else weights.astype(np.int64)
            found.append(Requests(variable, offsets, active, weights, moves, certain, sources, filled))
        return Places(tuple(found))

    def kept(self) -> Kept:
        """The same, placed on first use."""
        return Kept(self.access, self.places)


# address, active, weights, sources, filled, certain, times: as in `Keeper.add`
_Added = tuple[Value, np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray | None, bool, int]


def _is_alike(added: _Added) -> bool:
    """All that is known of the requests is the same in all lanes."""
    address, _, weights, sources, filled, certain, times = added
    return (
        weights is not None
        and sources is None
        and filled is None
        and certain
        and times == 1
        and address.poison is None
        and address.valid is None
        and address.alternatives is None
        and all(c.shape == (1, 1) for _, c in address.terms)
    )


# --- one address --------------------------------------------------------------------------------

Placed = tuple[np.ndarray, str, np.ndarray, tuple[Move, ...]]


def placed(address: Value, active: np.ndarray, times: int = 1) -> list[Placed]:
    """(rows, variable, (rows, lanes) offsets, moves) of an address.

    Each entry has rows with an active lane that move alike; there is one for each value of the unknowns that multiply
    the lane. Raises NotPlaced.
    """
    if address.poison is not None and anywhere(np.broadcast_to(address.poison, active.shape) & active):
        raise NotPlaced(address.why or Reason(Kind.ADDRESS))
    if address.valid is not None and address.valid < min(address.bits, ADDRESS_BITS):
        raise NotPlaced(address.why or Reason(Kind.LOW_BITS))
    variable, together, apart = "", [], []
    for u, c in address.terms:
        factors = _numbers(c)
        if not anywhere((factors != 0) & active):  # multiples of 2**32, or of inactive lanes
            continue
        if u.kind == "shared":
            if variable or anywhere((factors != 1) & active):
                raise NotPlaced(Reason(Kind.SEVERAL_ARRAYS))
            variable = u.key[1]
        elif varies(factors, active):
            apart.append((u, np.broadcast_to(factors, active.shape)))
        else:
            together.append((u, np.broadcast_to(first_active(factors, active)[:, 0], len(active))))
    offsets = _chosen(np.broadcast_to(_numbers(address.base), active.shape), apart)
    return [
        (rows, variable, one[rows], moves) for rows, moves in _moving_alike(together, active, times) for one in offsets
    ]


def _numbers(array: np.ndarray) -> np.ndarray:
    return signed(resize(array, ADDRESS_BITS)).astype(np.int64)


def _moving_alike(
    together: list[tuple[Uniform, np.ndarray]], active: np.ndarray, times: int
) -> list[tuple[np.ndarray, tuple[Move, ...]]]:
    """The rows with an active lane, grouped by what the unknowns add to them."""
    rows = np.flatnonzero(active.any(axis=1))
    if not together:
        return [(rows, ())]
    factors, unknowns = np.stack([leading[rows] for _, leading in together], axis=1), [u for u, _ in together]
    if len(rows) and throughout(factors == factors[:1]):
        return [(rows, _moves(unknowns, factors[0].tolist(), times))]
    kinds, inverse = np.unique(factors, axis=0, return_inverse=True)
    return [(rows[inverse.reshape(-1) == k], _moves(unknowns, kind, times)) for k, kind in enumerate(kinds.tolist())]


def _moves(unknowns: list[Uniform], factors: list[int], times: int) -> tuple[Move, ...]:
    """What the unknowns, multiplied by their factors, add."""
    return tuple(move for u, factor in zip(unknowns, factors) if (move := _move(u, factor, times)))


def _move(u: Uniform, factor: int, times: int) -> Move | None:
    """What factor·u adds."""
    if not factor:
        return None
    if u.kind == "rounds":
        return Move(factor, 0, times - 1, every=True)
    unit = 1 << min(u.zeros, ADDRESS_BITS - 1)
    if u.low is not None and u.high is not None and max(abs(u.low), abs(u.high)) * abs(factor) < 1 << ADDRESS_BITS - 1:
        return Move(factor * unit, -(-u.low // unit), u.high // unit)
    return Move(1 << min(low_zeros(factor * unit), ADDRESS_BITS - 1))  # it may wrap around: only powers of two remain


def _chosen(base: np.ndarray, apart: list[tuple[Uniform, np.ndarray]]) -> list[np.ndarray]:
    """The offsets for each combination of unknowns that have few values."""
    out = [base]
    for u, factors in apart:
        unit = 1 << min(u.zeros, ADDRESS_BITS - 1)
        if u.low is None or u.high is None or (u.high - u.low) // unit * len(out) >= MOST_CHOICES:
            raise NotPlaced(Reason(Kind.MULTIPLIES, unknowns=(u,)))
        values = range(-(-u.low // unit) * unit, u.high + 1, unit)
        out = [offsets + factors * value for offsets in out for value in values]
    return out
