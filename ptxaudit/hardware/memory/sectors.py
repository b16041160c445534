"""Counts the sectors and lines of many requests at once: arrays in, arrays out.

    addresses (n, lanes) int64 bytes, active (n, lanes) bool   ->   Scores: low, high = sectors; ideal; lines = tag
                                                            requests

Addresses are aligned to the access width, so lanes access either the same bytes or disjoint ones, and the bytes of
each lane are in one sector (in two for 64 bytes, which no instruction accesses). In the sorted addresses of a
request, equal sectors are adjacent; the first of each run is one distinct sector.

    ideal of global memory   the bytes of the active lanes / 32, rounded up, as in Nsight Compute: their sectors if they
                             were contiguous, but never more than the actual sectors
    ideal of local memory    the sectors of the same lanes if they accessed the same word: one per aligned group of
                             eight lanes with an active one, and per word
    ways                     for atomics, the most lanes on one address: the L2 serves them one after the other
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from ptxaudit.base.errors import InputError
from ptxaudit.hardware.machine_model import Counted, Rule
from ptxaudit.hardware.memory.rules import LINE, SECTOR, WORD
from ptxaudit.hardware.scores import Scores, first_with
from ptxaudit.ir.access import Access

LANES_OF_SECTOR = SECTOR // WORD
_NOTHING = np.iinfo(np.int64).max


def score(
    rule: Rule, access: Access, addresses: np.ndarray, active: np.ndarray, others: np.ndarray | None, evidence: str
) -> Scores:
    """others: (n, lanes), for a copy that bypasses the L1 its addresses in shared memory; None if unknown.

    Raises InputError if an active lane is misaligned.
    """
    width = _width(access)
    if access.zero_fill:  # the low bits of the address are the number of bytes to zero
        addresses = addresses // width * width
    if (found := first_with(access.align - 1, addresses, active)) is not None:
        raise InputError(
            f"{access.opcode}: lane {found[0]}'s address {found[1]} is not a multiple of {access.align}",
            f"an access of {access.width} bytes is aligned to them; the hardware faults otherwise",
        )
    if rule.count.what is Counted.INTERLEAVED:
        return _local(width, addresses, active, evidence)
    ordered = np.where(active, addresses, _NOTHING)
    ordered.sort(axis=1)
    sectors, lines = _distinct(ordered, SECTOR), _distinct(ordered, LINE)
    used = active.sum(axis=1) * width
    ideal = np.minimum(sectors, -(-used // SECTOR))
    ways = _most_alike(ordered) if access.access == "atomic" else np.minimum(sectors, 1)
    low = high = sectors
    if access.operation == "global bypass":
        low, high = (
            (sectors, active.sum(axis=1)) if others is None else (pairs := _pairs(addresses, others, active), pairs)
        )
        ideal = np.minimum(low, -(-used // SECTOR))
    return Scores(low, high, ideal, ways, lines, np.minimum(lines, -(-used // LINE)), evidence, lines)


def moves(access: Access, step: int) -> bool:
    """Whether `moved` applies: to sectors of global memory that depend on no other address, and aligned steps."""
    return access.operation in ("global", "global atomic") and not access.zero_fill and step % access.align == 0


def moved(
    access: Access, addresses: np.ndarray, active: np.ndarray, residues: Iterable[int], evidence: str
) -> Iterator[tuple[int, Scores]]:
    """For each residue: (residue, `score` of the addresses shifted by that many bytes). The requests must be aligned.

    Of two sorted addresses g bytes apart, g < 32, the second is in another sector if the first one's offset in its
    sector is at least 32 - g, which holds for g of 32 consecutive residues.
    """
    ordered = np.where(active, addresses, _NOTHING)
    ordered.sort(axis=1)
    used = active.sum(axis=1) * _width(access)
    of_sectors, of_lines = _by_residue(ordered, SECTOR), _by_residue(ordered, LINE)
    alike = _most_alike(ordered) if access.access == "atomic" else None
    for residue in residues:
        sectors, lines = of_sectors[:, residue % SECTOR], of_lines[:, residue % LINE]
        ideal = np.minimum(sectors, -(-used // SECTOR))
        ways = np.minimum(sectors, 1) if alike is None else alike
        best = np.minimum(lines, -(-used // LINE))
        yield residue, Scores(sectors, sectors, ideal, ways, lines, best, evidence, lines)


def _by_residue(ordered: np.ndarray, size: int) -> np.ndarray:
    """(n, size): the number of distinct blocks of `size` bytes that the addresses are in, shifted by 0 … size - 1."""
    first, second = ordered[:, :-1], ordered[:, 1:]
    gap = np.where(second != _NOTHING, second - np.where(second != _NOTHING, first, 0), 0)
    apart: np.ndarray = (gap >= size).sum(axis=1) + (ordered[:, 0] != _NOTHING)
    rows, at = np.nonzero((gap > 0) & (gap < size))
    near = gap[rows, at]
    begins = (-near - first[rows, at]) % size
    wide = 2 * size + 1  # a run of residues may wrap around
    count = partial(np.bincount, minlength=len(ordered) * wide)
    changes = count(rows * wide + begins) - count(rows * wide + begins + near)
    within = np.cumsum(changes.reshape(len(ordered), wide), axis=1)
    found: np.ndarray = apart[:, None] + within[:, :size] + within[:, size : 2 * size]
    return found


def _distinct(ordered: np.ndarray, size: int) -> np.ndarray:
    """(n,) the number of distinct blocks of `size` bytes that the sorted addresses are in."""
    if size > 1:
        ordered = np.where(ordered == _NOTHING, _NOTHING, ordered // size)
    first = ordered[:, 1:] != ordered[:, :-1]
    count: np.ndarray = (first & (ordered[:, 1:] != _NOTHING)).sum(axis=1) + (ordered[:, 0] != _NOTHING)
    return count


def _most_alike(ordered: np.ndarray) -> np.ndarray:
    """(n,) the maximum number of lanes with the same address."""
    at = np.arange(ordered.shape[1])
    starts = np.zeros(ordered.shape, np.int64)
    starts[:, 1:] = np.where(ordered[:, 1:] != ordered[:, :-1], at[1:], 0)
    most: np.ndarray = np.where(ordered != _NOTHING, at - np.maximum.accumulate(starts, axis=1) + 1, 0).max(axis=1)
    return most


def _pairs(addresses: np.ndarray, others: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,) the number of distinct pairs of a source sector and a destination sector."""
    lanes = addresses.shape[1]
    read, written = _ranked(addresses // SECTOR), _ranked(others // SECTOR)
    keys = np.where(active, read * lanes + written, _NOTHING)
    keys.sort(axis=1)
    return _distinct(keys, 1)


def _ranked(numbers: np.ndarray) -> np.ndarray:
    """(n, lanes): numbers from 0 on, the same for the same; a difference of addresses may need all bits."""
    order = np.argsort(numbers, axis=1)
    ordered = np.take_along_axis(numbers, order, 1)
    found = np.zeros(numbers.shape, np.int64)
    np.put_along_axis(found, order[:, 1:], np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1), 1)
    return found


def _local(width: int, addresses: np.ndarray, active: np.ndarray, evidence: str) -> Scores:
    """Words of local memory: word w of lane l is at 128·w + 4·l."""
    words = max(1, width // WORD)
    unit = words * WORD
    octet = np.arange(addresses.shape[1]) // LANES_OF_SECTOR
    octets = int(octet.max()) + 1
    place = np.where(active, addresses // unit * octets + octet, _NOTHING)
    place.sort(axis=1)
    sectors = _distinct(place, 1) * words
    line = np.where(place == _NOTHING, _NOTHING, place // octets)
    lines = _distinct(line, 1) * words
    ideal = active.reshape(len(active), octets, LANES_OF_SECTOR).any(axis=2).sum(axis=1) * words
    some: np.ndarray = np.logical_or.reduce(active, axis=1) * 1
    return Scores(sectors, sectors, ideal, some, lines, some * words, evidence, lines)


def bounds(rule: Rule, access: Access, lanes_low: int, lanes_high: int) -> tuple[int, int]:
    """(fewest, most) sectors of one request with this many active lanes, whatever the addresses."""
    if rule.count.what is Counted.INTERLEAVED:
        words = max(1, _width(access) // WORD)
        return -(-lanes_low // LANES_OF_SECTOR) * words, lanes_high * words
    return min(lanes_low, 1), lanes_high


def _width(access: Access) -> int:
    """Bytes per lane, which every access to these memories has."""
    assert access.width is not None
    return access.width
