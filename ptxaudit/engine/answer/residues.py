"""Global addresses that move by less than a line per block or per round of a loop: each residue, as often as it occurs.

    out + 400·ctaid.x, 1024 blocks      the lines begin at 0, 16, 32, … 112 bytes into a line: 128 blocks each
    in + 4·k, 1000 rounds at once       the same for the rounds, 32 residues of 31 or 32 rounds each

The cost of a request to global memory repeats with every line (the rule's invariant shift), so this is exact, and a
launch of a million blocks costs no more to analyse than one of a hundred.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from msgspec import Struct

from ptxaudit.base.arrays import distinct
from ptxaudit.base.records import Record
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.domain.lanes import first_active
from ptxaudit.engine.domain.value import Value, is_block_index, signed


def of_first(coefficient: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,) int64: the coefficient of the first active lane; where it is used, all lanes have the same."""
    first = first_active(signed(coefficient).astype(np.int64), active)
    return np.broadcast_to(first[:, 0], len(active))


def period_of(steps: np.ndarray, shift: int) -> int:
    """The number of steps after which every row has moved by a multiple of `shift`."""
    common = shift
    for step in distinct(steps).tolist():
        common = gcd(common, step)
    return shift // common


class Request(Struct, eq=False):
    """Requests of one instruction: (n, lanes) and (n,) arrays, as `SiteRecord.add` takes them.

    rows: (n,) index of the row that makes each.
    """

    numbers: np.ndarray
    active: np.ndarray
    weights: np.ndarray
    trip: np.ndarray
    sources: np.ndarray | None
    rows: np.ndarray

    def moved(self, steps: np.ndarray, counts: np.ndarray) -> Request:
        """One request for each residue r = 0, 1, …, moved by r·steps (n,), with the weights counts (n, residues)."""
        times = counts.shape[1]

        def again(array: np.ndarray) -> np.ndarray:
            return np.repeat(array, times, axis=0)

        by = (steps[:, None] * np.arange(times)[None, :]).reshape(-1, 1)
        some = counts.reshape(-1) > 0
        return Request(
            (again(self.numbers) + by)[some],
            again(self.active)[some],
            counts.reshape(-1)[some],
            again(self.trip)[some],
            None if self.sources is None else again(self.sources)[some],
            again(self.rows)[some],
        )


def by_blocks(request: Request, address: Value, low: np.ndarray, high: np.ndarray, shift: int) -> Request:
    """Replaces the request that represents all blocks of a row by the requests of those blocks.

    low, high: (rows, 3) first and last block index of each row, to which `request.rows` points.
    """
    for u, coefficient in address.terms:
        if not is_block_index(u):
            continue
        d = u.key[1]
        factors = np.broadcast_to(coefficient, (len(low), coefficient.shape[1]))
        steps = of_first(factors[request.rows], request.active)
        period = period_of(steps, shift)
        if period == 1:
            continue
        first, last = low[request.rows, d], high[request.rows, d]
        counts = occurrences(first, last, period)
        whole = request.weights // (last - first + 1)  # the product over the other dimensions
        request = request.moved(steps, counts * whole[:, None])
    return request


def occurrences(first: np.ndarray, last: np.ndarray, period: int) -> np.ndarray:
    """(n, period): how many numbers of first … last leave each remainder."""
    residues = np.arange(period)[None, :]

    def upto(n: np.ndarray) -> np.ndarray:
        """The same for 0 … n."""
        counts: np.ndarray = (n[:, None] - residues) // period + 1
        return counts

    found: np.ndarray = upto(last) - upto(first - 1)
    return found


class Moving(Record):
    """Requests of a round in a closed-form loop, which moves their addresses by `steps` (n,) bytes."""

    record: SiteRecord
    steps: np.ndarray
    shift: int

    def add(self, request: Request, zeros: int, times: int = 1) -> None:
        """Adds the request of `times` rounds."""
        period = period_of(self.steps, self.shift)
        rounds = occurrences(np.zeros(1, np.int64), np.full(1, times - 1, np.int64), period)
        counts = request.weights[:, None] * rounds
        if times > 1:
            self.record.many_trips, self.record.trips = True, []
        put(self.record, request.moved(self.steps, counts), zeros)


def put(record: SiteRecord, request: Request, zeros: int) -> None:
    """Adds a request to a record."""
    record.add(request.numbers, request.active, request.weights, request.trip, request.sources, zeros)
