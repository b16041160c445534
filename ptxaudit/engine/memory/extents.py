"""Bytes of memory, as intervals of addresses: those that the stores of an instruction may write.

    st.global.u32 [out + 4·key], key in {7, 2, 3}     ->   out + 8 … out + 16, out + 28 … out + 32
    st.global.u32 [out + 1024·ctaid.x], 8 blocks      ->   out … out + 7172, whatever lies between

An unknown with a range makes one interval of all addresses of a lane; one without a range, none (`Extent.missing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from msgspec import Struct, field

from ptxaudit.base.arrays import anywhere
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import Uniform, Value, is_block_index, signed
from ptxaudit.engine.ops.halves import PAIR
from ptxaudit.ir.reasons import Kind, Reason

MOST = 1 << 22  # intervals of an instruction; beyond, nothing is known of it
_TOGETHER = 1 << 16  # intervals that are collected before those that touch are united
_FAR = 1 << 56  # no address is so high, and sums of some are 64-bit numbers


class Intervals(Record, eq=False):
    """Disjoint intervals of bytes in ascending order: (n,) int64 first byte, and first byte after it."""

    low: np.ndarray
    high: np.ndarray

    def touched(self, places: np.ndarray, size: int) -> np.ndarray:
        """Whether an access of `size` bytes at each of these int64 addresses contains a byte of an interval."""
        if not len(self.low):
            return np.zeros(places.shape, bool)
        at = np.searchsorted(self.high, places, side="right")  # the first interval that ends after the place
        found: np.ndarray = (at < len(self.low)) & (self.low[np.minimum(at, len(self.low) - 1)] < places + size)
        return found

    def equals(self, other: Intervals) -> bool:
        return np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high)


NOTHING = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))


def united(parts: Iterable[Intervals]) -> Intervals:
    """The bytes of all of them."""
    every = [NOTHING, *parts]
    return _united(np.concatenate([one.low for one in every]), np.concatenate([one.high for one in every]))


def _united(low: np.ndarray, high: np.ndarray) -> Intervals:
    if not len(low):
        return NOTHING
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    first = np.concatenate([[True], low[1:] > high[:-1]])
    last = np.concatenate([first[1:], [True]])
    return Intervals(low[first], high[last])


Ends = tuple[np.ndarray, np.ndarray] | None  # (n, 1) the least and the greatest number; None: unknown


class Buffers(Protocol):
    """The buffers of a launch (`given.Given`)."""

    @property
    def pointers(self) -> Mapping[Any, int]:
        """The address that is invented for a buffer, by the key of the unknown that points to it."""

    def ends(self, pointer: int) -> tuple[int, int]:
        """The first byte of the buffer to which it points, and the first after it."""

    def is_real(self, low: int, high: int) -> bool:
        """These bytes are where the code sees them."""


class Extent(Struct, eq=False):
    """Collects what an instruction may write. size: bytes of one lane; memory: the buffers of the launch.
    missing: why it is not known.
    """

    size: int
    memory: Buffers
    missing: Reason | None = None
    _parts: list[Intervals] = field(default_factory=list)
    _count: int = 0

    def add(
        self,
        address: Value,
        active: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        symbol: Uniform | None,
        times: int = 1,
    ) -> None:
        """Adds the addresses of active lanes, (n, lanes) bool.

        low, high: (n, 3) first and last block index of each row. symbol: an unknown of a loop in closed form, which
        is 0 to times - 1.
        """
        if self.missing or not anywhere(active):
            return
        pointer: list[int] = []

        def ends(u: Uniform) -> Ends:
            begin = self.memory.pointers.get(u.key)
            if begin is not None:
                pointer.append(begin)
                return _point(begin), _point(begin)
            if u == symbol:
                return _point(0), _point(times - 1)
            if is_block_index(u):
                d = u.key[1]
                return low[:, d, None], high[:, d, None]
            return None if u.low is None or u.high is None else (_point(u.low), _point(u.high))

        found = spanned(address, active, ends)
        if isinstance(found, Reason):
            self.missing = found
            return
        least, most = found[0][active], found[1][active] + self.size
        if not self._stays(pointer, int(least.min()), int(most.max())):
            self.missing = Reason(Kind.ADDRESS)
            return
        self._parts.append(_united(least, most))
        self._count += len(self._parts[-1].low)
        if self._count > _TOGETHER:
            self._parts = [united(self._parts)]
            self._count = 0
            if len(self._parts[0].low) > MOST:
                self.missing, self._parts = Reason(Kind.MANY_PLACES, given=(MOST,)), []

    def _stays(self, pointers: list[int], low: int, high: int) -> bool:
        """Addresses from a pointer are known within its buffer: what lies beside it is not. Others are numbers."""
        if not pointers:
            return self.memory.is_real(low, high)
        start, end = self.memory.ends(pointers[0])
        return len(pointers) == 1 and start <= low and high <= end

    def bytes(self) -> Intervals:
        """All of them, if none is missing."""
        return united(self._parts)


def spanned(
    address: Value, active: np.ndarray, ends: Callable[[Uniform], Ends]
) -> tuple[np.ndarray, np.ndarray] | Reason:
    """((n, lanes) int64 least and greatest address), or why they are unknown. ends: the range of an unknown."""
    if address.poison is not None and anywhere(np.broadcast_to(address.poison, active.shape) & active):
        return address.why or Reason(Kind.ADDRESS)
    if address.valid is not None or address.alternatives is not None or address.bits != PAIR:
        return address.why or Reason(Kind.LOW_BITS)
    least = most = np.broadcast_to(_numbers(address.base), active.shape)
    for u, c in address.terms:
        factors = _numbers(c)
        if not anywhere((factors != 0) & active):
            continue
        found = ends(u)
        if found is None:
            return Reason(Kind.ADDRESS, unknowns=(u,))
        widest = max(abs(int(n)) for side in found for n in (side.min(), side.max()))
        if widest * max(abs(int(n)) for n in (factors.min(), factors.max())) >= _FAR:
            return Reason(Kind.ADDRESS, unknowns=(u,))
        one, other = factors * found[0].astype(np.int64), factors * found[1].astype(np.int64)
        least, most = least + np.minimum(one, other), most + np.maximum(one, other)
    if int(least[active].min()) < 0 or int(most[active].max()) >= _FAR:
        return Reason(Kind.ADDRESS)
    return least, most


def _point(number: int) -> np.ndarray:
    return np.full((1, 1), number, object)


def _numbers(array: np.ndarray) -> np.ndarray:
    return signed(array).astype(np.int64)
