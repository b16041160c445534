"""What the requests of one group of lanes have in common: computed once, however many instructions make them.

    ld.shared [r1], ld.shared [r1 + 512], …     the lanes, their blocks, and the distances between their addresses

An unrolled loop is hundreds of such accesses that differ only in their constant offset.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptxaudit.base.arrays import distinct_rows, throughout

FARTHEST = np.iinfo(np.int64).max  # as an address: greater than all others
MANY = 128  # requests of an instruction that are worth folding: blocks of a grid, mostly equal


class Issue:
    """Lanes that make requests together.

    active: (n, lanes) bool; weights: (n,) blocks; warps: (n,) numbers of the warps in their block, or None. issued,
    issued_active: the requests, and those with an active lane; some: (n,) rows with an active lane, None if all have
    one.
    """

    __slots__ = ("active", "weights", "warps", "full", "some", "issued", "issued_active", "_key")

    def __init__(self, active: np.ndarray, weights: np.ndarray, warps: np.ndarray | None = None):
        self.active, self.weights, self.warps = active, weights, warps
        self.full = throughout(active)
        some = None if self.full else np.logical_or.reduce(active, axis=1)
        self.some = None if some is None or throughout(some) else some
        self.issued = int(np.add.reduce(weights))
        self.issued_active = self.issued if self.some is None else int(weights[self.some].sum())
        self._key: bytes | None = None

    def own(self, of_rows: np.ndarray) -> np.ndarray:
        """The rows of an array (n, …) that have an active lane."""
        return of_rows if self.some is None else of_rows[self.some]

    @property
    def key(self) -> bytes:
        """The active lanes of these rows, as bytes."""
        if self._key is None:
            self._key = self.own(self.active).tobytes()
        return self._key


class Folded(NamedTuple):
    """Distinct requests.

    relative, active: (m, lanes), the relative address of each lane, 0 if inactive; key: both as bytes; kind: (n,) the
    index of each request among the m, None if none were folded. below: bytes by which the base of the requests is below
    that of the relative addresses, which is aligned; None: they differ in it.
    """

    relative: np.ndarray
    active: np.ndarray
    key: tuple[bytes, bytes]
    kind: np.ndarray | None
    below: int | None = 0

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """Sums (n,) numbers per distinct request: (m,)."""
        if self.kind is None:
            return weights
        out = np.zeros(len(self.relative), weights.dtype)
        np.add.at(out, self.kind, weights)
        return out


class Footprint:
    """The addresses (n, lanes) int64 of an issue's requests, and what is derived from them for an access that adds a
    constant offset to all.
    """

    __slots__ = ("issue", "_addresses", "_low", "_made")

    def __init__(self, issue: Issue, addresses: np.ndarray):
        self.issue, self._addresses = issue, issue.own(addresses)
        self._low: np.ndarray | None = None
        self._made: dict[tuple[int, int, int, int, bool], Folded] = {}

    @property
    def size(self) -> int:
        """The number of addresses in rows with an active lane."""
        return self._addresses.size

    def everywhere(self) -> np.ndarray:
        """The addresses of all rows, 0 in those without an active lane."""
        some = self.issue.some
        if some is None:
            return self._addresses
        addresses = np.zeros(self.issue.active.shape, np.int64)
        addresses[some] = self._addresses
        return addresses

    def relative(self, offset: int, shift: int, unit: int, line: int, fold: bool) -> Folded:
        """The addresses plus an offset, relative to the last multiple of `shift` at or below the lowest of each row.

        unit: the lowest is a multiple of it, if an unknown base makes it one; else 1. line: if not 0, the result is
        modulo this. fold: equal rows of many are merged.
        """
        begins = offset % shift
        made = self._made.get((begins, shift, unit, line, fold))
        if made is None:
            lowest = self._lowest()
            first = (lowest + begins) % shift
            below: int | None = 0
            if unit > 1:
                over = first % unit
                first, below = first - over, int(over[0, 0]) if throughout(over == over[0, 0]) else None
            relative = self._addresses - (lowest - first)
            active = self.issue.own(self.issue.active)
            if not self.issue.full:
                relative = np.where(active, relative, 0)
            if line:
                relative = relative % line
            if fold and len(relative) >= MANY:
                rows, kind = distinct_rows((relative, active))
                relative, active = relative[rows], active[rows]
                made = Folded(relative, active, (relative.tobytes(), active.tobytes()), kind, below)
            else:
                made = Folded(relative, active, (relative.tobytes(), self.issue.key), None, below)
            self._made[begins, shift, unit, line, fold] = made
        return made

    def _lowest(self) -> np.ndarray:
        """(n, 1): the lowest address of each row's active lanes."""
        if self._low is None:
            known = self._addresses
            if not self.issue.full:
                known = np.where(self.issue.own(self.issue.active), known, FARTHEST)
            self._low = np.minimum.reduce(known, axis=1, keepdims=True)
        return self._low
