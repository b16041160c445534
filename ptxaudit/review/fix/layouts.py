"""Layouts of an array: maps from the current places of its bytes to new ones, and what can be proved about them.

Theory. The code of a kernel names an element of a shared array by indices; the compiler turns them into an *offset*
x, in bytes from the array's beginning. Changing the layout means replacing every x by f(x), in all accesses alike. A
kernel computes the same with any f that

    is one-to-one on the array's footprint, and
    moves every accessed vector as a whole:  f(x + i) = f(x) + i  inside it, and f(x) is as aligned as x was.

So the cost of each request is the cost of its lanes at f(x), counted by the same rule (`ptxaudit.hardware.banks`),
and f is a repair if the sum over all sites of the array is smaller. The families, with p bytes per row, r = x div p,
c = x mod p, and q, k, G as unknowns:

    Pad      f = x + q·r                an affine map on the digits (r, c) of x in mixed radix; nested rows (a plane of
                                        rows) are several digits. One-to-one: f increases with x. Costs q bytes per
                                        row. If no access touches the last bytes of a row, q may be negative, down to
                                        minus their number.
    Skew     f = p·r + (c + k·r) mod p  a rotation of each row: a permutation of the row for any k. Costs nothing.
    Xor      f = p·r + (c xor G(r))     G a linear map over GF(2) from the bits of r to bits of c. As a matrix on the
                                        bits of x it is triangular with ones on the diagonal: its own inverse, so
                                        one-to-one. If p is a power of two and G shifts one run of bits, this is CuTe's
                                        Swizzle<B, M, S>. Costs nothing.
    Order    f = (c div e)·s + r·e + …  the digits in another order: columns first, or a structure's members in
                                        separate arrays.

and compositions (Chain: rows of 17 words cut to 16, then a swizzle of these).

Vectors of w bytes stay whole if p, q, k and e are multiples of w, and G does not change the lowest log2(w) bits of c.

A map is *periodic* with period P if f(x + P) = f(x) + a constant that does not depend on x (Pad: p, the outermost;
Skew: p·p/gcd(k, p); Xor: p times the rows after which G repeats). An address with an unknown part u that all lanes
share (a stage of a ring buffer, the tile of a trip) then costs what it costs at u mod P, since a uniform shift of all
lanes changes no count. These are finitely many cases, which are all tried (`cost`).

Banks repeat after a *line* of 128 bytes, so q and k matter modulo a line only: trying each multiple of w below it
exhausts the family. For Xor the images of the bits of r are chosen one after the other, with a bound on the rest
(`search`).
"""

from __future__ import annotations

from math import gcd
from typing import Protocol

import numpy as np

from ptxaudit.base.arrays import quotient, remainder
from ptxaudit.base.records import Record


class Layout(Protocol):
    """A map of offsets.

    kind: its name. period: bytes after which it repeats (see the module), None if it does not.
    """

    @property
    def kind(self) -> str: ...

    @property
    def period(self) -> int | None: ...

    def place(self, offsets: np.ndarray) -> np.ndarray:
        """Maps non-negative int64 offsets to new offsets."""
        ...

    def keeps(self, width: int) -> bool:
        """Vectors of `width` bytes, aligned to their width, stay whole and aligned."""
        ...

    def size(self, size: int) -> int:
        """Bytes that an array of `size` bytes needs."""
        ...

    def moved(self, offsets: np.ndarray) -> np.ndarray:
        """(n,) bool: which offsets have a place. All, except in rows that the layout cuts."""
        ...


class _Everything(Record):
    """A layout with a place for every byte."""

    def moved(self, offsets: np.ndarray) -> np.ndarray:
        return np.ones(offsets.shape, bool)


class Same(_Everything):
    """The identity."""

    kind: str = "same"
    period: int = 1

    def place(self, offsets: np.ndarray) -> np.ndarray:
        return offsets

    def keeps(self, width: int) -> bool:
        return True

    def size(self, size: int) -> int:
        return size


class Pad(Record):
    """Adds bytes after each row, or removes them. rows: (bytes of a row, bytes added), inner rows first, each a
    multiple of the previous one."""

    rows: tuple[tuple[int, int], ...]
    kind: str = "pad"

    @property
    def period(self) -> int:
        return self.rows[-1][0]

    def place(self, offsets: np.ndarray) -> np.ndarray:
        out = offsets
        for row, more in self.rows:
            out = out + quotient(offsets, row) * more
        return out

    def keeps(self, width: int) -> bool:
        return all(row % width == 0 and more % width == 0 for row, more in self.rows)

    def size(self, size: int) -> int:
        return size + sum((-(-size // row) if more > 0 else size // row) * more for row, more in self.rows)

    def moved(self, offsets: np.ndarray) -> np.ndarray:
        out = np.ones(offsets.shape, bool)
        for row, more in self.rows:
            out &= offsets % row < row + min(0, more)
        return out


class Skew(_Everything):
    """Rotates each row by `step` bytes more than the row before."""

    row: int
    step: int
    kind: str = "skew"

    @property
    def period(self) -> int:
        return self.row * (self.row // gcd(self.row, self.step))

    def place(self, offsets: np.ndarray) -> np.ndarray:
        r = quotient(offsets, self.row)
        start = self.row * r
        result: np.ndarray = start + remainder(offsets - start + self.step * r, self.row)
        return result

    def keeps(self, width: int) -> bool:
        return self.row % width == 0 and self.step % width == 0

    def size(self, size: int) -> int:
        return -(-size // self.row) * self.row


class Xor(_Everything):
    """XORs columns with images of the bits of the row number. images[i]: in bytes, of bit i; each less than the
    largest power of two that divides `row`."""

    row: int
    images: tuple[int, ...]
    kind: str = "swizzle"

    @property
    def period(self) -> int:
        return self.row << len(self.images)

    def place(self, offsets: np.ndarray) -> np.ndarray:
        r = quotient(offsets, self.row)
        start = self.row * r
        change = np.zeros_like(r)
        for shift, mask in self.runs:
            change ^= (r << shift if shift > 0 else r >> -shift) & mask
        result: np.ndarray = start + ((offsets - start) ^ change)
        return result

    def keeps(self, width: int) -> bool:
        return self.row % width == 0 and not any(image % width for image in self.images)

    def size(self, size: int) -> int:
        return -(-size // self.row) * self.row

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """(shift, mask) pairs, in bytes, such that G(r) is the XOR of (r shifted) & mask; shifts are to the left,
        negative ones to the right."""
        masks: dict[int, int] = {}
        for bit, image in enumerate(self.images):
            for target in range(image.bit_length()):
                if image >> target & 1:
                    masks[target - bit] = masks.get(target - bit, 0) | 1 << target
        return tuple(sorted(masks.items(), reverse=True))

    @property
    def cute(self) -> tuple[int, int, int] | None:
        """(B, M, S) of CuTe's Swizzle on byte offsets; None if it is not one."""
        if len(self.runs) != 1 or self.row & (self.row - 1):
            return None
        (shift, mask), low = self.runs[0], (self.runs[0][1] & -self.runs[0][1]).bit_length() - 1
        bits = (mask >> low).bit_length()
        distance = self.row.bit_length() - 1 - shift
        return (bits, low, distance) if mask >> low == (1 << bits) - 1 and distance >= bits else None


class Order(_Everything):
    """Exchanges rows and columns: elements of `unit` bytes, column by column, with `more` bytes after each column.
    rows: their number."""

    row: int
    rows: int
    unit: int
    more: int = 0
    kind: str = "order"
    period: None = None

    @property
    def column(self) -> int:
        """Bytes from one column to the next."""
        return self.rows * self.unit + self.more

    def place(self, offsets: np.ndarray) -> np.ndarray:
        r = quotient(offsets, self.row)
        c = offsets - self.row * r
        n = quotient(c, self.unit)
        result: np.ndarray = n * self.column + r * self.unit + (c - n * self.unit)
        return result

    def keeps(self, width: int) -> bool:
        return self.unit % width == 0 and self.row % self.unit == 0 and self.more % width == 0

    def size(self, size: int) -> int:
        return self.row // self.unit * self.column


class Chain(Record):
    """One layout applied after another."""

    first: Pad
    second: Xor
    kind: str = "swizzle"

    @property
    def period(self) -> int:
        """The first layout's period, multiplied to reach a period of the second."""
        image = int(self.first.place(np.array(self.first.period)))
        return self.first.period * (self.second.period // gcd(image, self.second.period))

    def place(self, offsets: np.ndarray) -> np.ndarray:
        return self.second.place(self.first.place(offsets))

    def keeps(self, width: int) -> bool:
        return self.first.keeps(width) and self.second.keeps(width)

    def size(self, size: int) -> int:
        return self.second.size(self.first.size(size))

    def moved(self, offsets: np.ndarray) -> np.ndarray:
        return self.first.moved(offsets)


SAME = Same()


def one_to_one(layout: Layout, size: int) -> bool:
    """Whether no two of the first `size` bytes have the same place, and none is outside of `Layout.size`. Checked for
    every byte that has a place."""
    offsets = np.arange(size, dtype=np.int64)
    offsets = offsets[layout.moved(offsets)]
    places = layout.place(offsets)
    if places.min(initial=0) < 0 or places.max(initial=0) >= layout.size(size):
        return False
    taken = np.zeros(layout.size(size), bool)
    taken[places] = True
    return int(taken.sum()) == len(offsets)


def permutes(layout: Layout, size: int) -> bool:
    """Whether the places of the first `size` bytes are these bytes again."""
    return bool((np.sort(layout.place(np.arange(size, dtype=np.int64))) == np.arange(size)).all())
