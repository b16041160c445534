"""What requests have in common that one group of lanes makes: computed once, however many instructions make them.

    ld.shared [r1], ld.shared [r1 + 512], …     the lanes, their blocks, and the distances between their addresses

An unrolled loop is hundreds of such accesses; of each, only its constant offset is its own.
"""

from __future__ import annotations

import numpy as np

FARTHEST = np.iinfo(np.int64).max  # of an address: beyond all others


class Issue:
    """Lanes that make requests together. active: (n, lanes) bool; weights: (n,) blocks; warps: (n,) numbers of the
    warps in their block, or None.

    issued, issued_active: requests, and those with an active lane; some: (n,) rows with one, None where all have.
    """

    __slots__ = ("active", "weights", "warps", "full", "some", "issued", "issued_active", "_key")

    def __init__(self, active: np.ndarray, weights: np.ndarray, warps: np.ndarray | None = None):
        self.active, self.weights, self.warps = active, weights, warps
        self.full = bool(np.logical_and.reduce(active, axis=None))
        some = None if self.full else np.logical_or.reduce(active, axis=1)
        self.some = None if some is None or np.logical_and.reduce(some) else some
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


class Footprint:
    """Addresses of the requests of an issue: (n, lanes) int64, and what is made of them for an access whose constant
    offset is added to all."""

    __slots__ = ("issue", "_addresses", "_low", "_made")

    def __init__(self, issue: Issue, addresses: np.ndarray):
        self.issue, self._addresses = issue, issue.own(addresses)
        self._low: np.ndarray | None = None
        self._made: dict[tuple[int | None, int | None, int], tuple[np.ndarray, bytes]] = {}

    @property
    def size(self) -> int:
        """Numbers of all lanes, in rows with an active one."""
        return self._addresses.size

    def everywhere(self) -> np.ndarray:
        """The addresses of all rows, 0 in those without an active lane."""
        some = self.issue.some
        if some is None:
            return self._addresses
        addresses = np.zeros(self.issue.active.shape, np.int64)
        addresses[some] = self._addresses
        return addresses

    def relative(self, offset: int, shift: int | None, line: int) -> tuple[np.ndarray, bytes]:
        """The addresses further by an offset, from the last multiple of `shift` before the lowest of each row on, or
        from the lowest itself (None); modulo `line`, if that is not 0; and the same as bytes."""
        begins = None if shift is None else offset % shift
        made = self._made.get((begins, shift, line))
        if made is None:
            lowest = self._lowest()
            relative = self._addresses - (lowest if begins is None else lowest - (lowest + begins) % shift)
            if not self.issue.full:
                relative = np.where(self.issue.own(self.issue.active), relative, 0)
            if line:
                relative = relative % line
            made = self._made[begins, shift, line] = relative, relative.tobytes()
        return made

    def _lowest(self) -> np.ndarray:
        """(n, 1): the lowest of each row's active lanes."""
        if self._low is None:
            known = self._addresses
            if not self.issue.full:
                known = np.where(self.issue.own(self.issue.active), known, FARTHEST)
            self._low = np.minimum.reduce(known, axis=1, keepdims=True)
        return self._low
