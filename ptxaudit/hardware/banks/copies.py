"""Counts cp.async.ca: each lane's data leave the source line and enter the destination in one wavefront.

Theory, from an H200's counters (exact for every measured request whose sources were all in L1, or all not). A line is
128 bytes of the source. The copy is cut three times:

    passes   the whole warp looks up its source lines. Lines that are in L1 (with all sectors that the warp needs)
             pass together. Of the others, a pass takes one line of each *class*, in lane order: the class is two
             parity bits of the line's address. If some are in and some are not: no rule was found for the order.
    groups   the lanes of one pass, in groups of 128 / size lanes by lane number
    rounds   in each round of a group, every destination slot and every source slot goes to its first lane;
             a lane that has both is served, the others wait. A slot is (address / size) mod (128 / size).

The wavefronts are the rounds of all groups of all passes. A lane's round is one more than that of the previous lane
on its destination slot, or on its source slot, whichever is later: no search is needed.

    zeros       lanes that write zeros are served separately if the sources are not in L1, after or before the copies:
                per group, the most of them on one destination slot; if the sources are in L1, see `beside_zeros`

    alone(…)    the exact figure if all sources are absent from L1 or all present; absent lines 128 MB apart give bounds
    between(…)  bounds whatever is in L1 and wherever the source array is: over all partitions of a group's lines into
                passes if it reads at most four, otherwise from its fullest slot upwards

If each group reads one line, there is only one partition, and both ends agree.

Both need the rounds that *sets* of a group's lanes take by themselves: the lanes of each pass, or of each choice of
lines. `rounds` serves all sets at once, with adjacent bytes for the sets; `few` does the same in bits of an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ptxaudit.hardware.machine_model import SOURCE_LINE, Count

# the parities of these bits of (source address / 128) are the two bits of a line's class; bits above are unknown
CLASS_BITS = (0b10101101010111011010, 0b01011010111101101111)
KNOWN_BITS = 20
FEW_LINES = 4
_BYTE = 8
_NO_LINE = -1 << 57  # less than every line, and fits beside a lane's number: an inactive lane
Figures = tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray
]  # low, high, groups with an active lane, ways where low == high: (n,) each


@lru_cache
def partitions(lines: int) -> tuple[tuple[int, ...], ...]:
    """All partitions of this many lines into passes, as masks of lines: (0b01, 0b10), (0b11,) for two.

    The last has one pass.
    """
    found: list[tuple[int, ...]] = [()]
    for i in range(lines):
        found = [
            p
            for old in found
            for p in ((*old, 1 << i), *((*old[:at], old[at] | 1 << i, *old[at + 1 :]) for at in range(len(old))))
        ]
    return tuple(found)


def slots(count: Count, addresses: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The destination slot and the source slot of each lane."""
    return addresses // count.unit & count.slots - 1, sources // count.unit & count.slots - 1


# --- rounds of sets of lanes --------------------------------------------------------------------


def _table(members: list[list[bool]]) -> np.ndarray:
    """members[k]: which sets a lane numbered k + 1 is in; number 0 is for inactive lanes, which are in none."""
    return np.array([[False] * len(members[0]), *members], np.uint8) * np.uint8(255)


ONE_SET = _table([[True]])
SETS_OF_LINES = _table([[bool(mask >> line & 1) for mask in range(1 << FEW_LINES)] for line in range(FEW_LINES)])


@lru_cache
def _sets_of_passes(passes: int) -> np.ndarray:
    sets = 1 << (passes - 1).bit_length()
    return _table([[one == this for one in range(sets)] for this in range(passes)])


def rounds(
    number: np.ndarray,
    table: np.ndarray,
    to: np.ndarray,
    source: np.ndarray,
    slots: int,
    zeros: np.ndarray | None = None,
    holding: bool = True,
) -> np.ndarray:
    """(n, sets) uint8: the rounds until all lanes of each set are served.

    number (n, lanes): each lane's row of `table`, which has 255 for the sets that contain the lane, else 0; to,
    source (n, lanes): its slots; zeros (n, lanes): it writes a zero, and waits for no source slot, but makes later
    copies from its slot wait if `holding`.
    """
    n, lanes = number.shape
    sets = table.shape[1]
    together = np.dtype((np.void, sets))  # moves the bytes of all sets as one
    start = np.arange(n) * slots
    last_to, last_source = np.zeros((2, n * slots * sets), np.uint8).view(together)  # the last round on each slot
    before_to, before_source, now, member = np.empty((4, n, sets), np.uint8)
    most = np.zeros((n, sets), np.uint8)
    for lane in range(lanes):
        at_to, at_source = start + to[:, lane], start + source[:, lane]
        last_to.take(at_to, out=before_to.view(together)[:, 0], mode="clip")
        last_source.take(at_source, out=before_source.view(together)[:, 0], mode="clip")
        table.take(number[:, lane], 0, out=member, mode="clip")
        waited = before_source if zeros is None else np.where(zeros[:, lane, None], np.uint8(0), before_source)
        np.maximum(before_to, waited, out=now)
        now += 1
        now &= member
        np.maximum(most, now, out=most)
        last_to[at_to] = np.maximum(before_to, now, out=before_to).view(together)[:, 0]
        held = now if zeros is None or holding else np.where(zeros[:, lane, None], np.uint8(0), now)
        last_source[at_source] = np.maximum(before_source, held, out=before_source).view(together)[:, 0]
    return most


# --- known L1 contents ----------------------------------------------------------------------------


def alone(count: Count, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray, resident: bool) -> Figures:
    """The figures if no source line is in L1, or (`resident`) all are. sources: whole addresses; if they are too far
    apart for their classes to be known, bounds.
    """
    if resident:
        return _alone(count, addresses, active, sources, active.view(np.uint8), ONE_SET)
    region = sources // SOURCE_LINE >> KNOWN_BITS
    far = ((region != np.take_along_axis(region, active.argmax(1)[:, None], 1)) & active).any(1)
    return _each(far, between, _absent, count, addresses, active, sources)


def _absent(count: Count, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray) -> Figures:
    turn = _pass_of_lane(sources // SOURCE_LINE, active)
    return _alone(count, addresses, active, sources, turn, _sets_of_passes(int(turn.max(initial=1))))


def _alone(
    count: Count, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray, turn: np.ndarray, table: np.ndarray
) -> Figures:
    groups = addresses.shape[1] // count.lanes
    turn, active, to, source = _by_group(count, turn, active, *slots(count, addresses, sources))
    each = rounds(turn, table, to, source, count.slots)
    total = _of_request(groups, np.add, each.sum(1))
    return (
        total,
        total,
        _of_request(groups, np.add, np.logical_or.reduce(active, axis=1)),
        _of_request(groups, np.maximum, each.max(1)),
    )


def classes(lines: np.ndarray) -> np.ndarray:
    """The class of each source line (address / 128): 0 to 3."""
    result = np.zeros(lines.shape, np.uint8)
    for bits in CLASS_BITS:
        result = result * 2 + np.bitwise_count(lines & bits) % 2
    return result


def _pass_of_lane(lines: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, lanes) uint8: the rank of each lane's line among those of its class, from 1; 0 for inactive lanes."""
    n, lanes = lines.shape
    place, line = _by_line(lines, active)
    first = _in_lane_order(place, np.diff(line, axis=1, prepend=np.uint8(0)) == 1)  # whether it is its line's first
    kind = _BYTE * classes(lines)  # a byte per class counts its lines
    turn = (np.cumsum(first.astype(np.uint32) << kind, axis=1, dtype=np.uint32) >> kind).astype(np.uint8)
    at = _in_lane_order(place, line) + np.arange(n)[:, None] * (lanes + 1)
    of_line = np.zeros(n * (lanes + 1), np.uint8)
    of_line[at[first]] = turn[first]
    result: np.ndarray = of_line[at]
    return result


# --- zeros beside copies ------------------------------------------------------------------------


def beside_zeros(
    count: Count, addresses: np.ndarray, copying: np.ndarray, zeros: np.ndarray, sources: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(fewest, most, ways) of requests with all sources in L1, in which lanes that write zeros pass with those that
    copy.

    A zero needs only its destination slot. A later lane that copies from its source slot waits for it if each lane has
    loaded its word before (168 of 168 requests of an H200: tests/data/zeros_sm90.json.gz). If each has loaded another
    word of the sector, it does not wait, or zeros pass separately (no rule was found for 162 requests of an H100:
    tests/data/regular_zeros_sm90.json.gz).
    """
    groups = addresses.shape[1] // count.lanes
    on, zero, to, source = _by_group(count, copying | zeros, zeros, *slots(count, addresses, sources))
    number = on.view(np.uint8)
    free, held = [rounds(number, ONE_SET, to, source, count.slots, zero, holding)[:, 0] for holding in (False, True)]
    return (
        _of_request(groups, np.add, free),
        _of_request(groups, np.add, held),
        _of_request(groups, np.maximum, held),
    )


# --- unknown L1 contents --------------------------------------------------------------------------


def between(count: Count, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray) -> Figures:
    """The bounds over all contents of L1. sources: up to a shift by whole lines."""
    groups = addresses.shape[1] // count.lanes
    addresses, active, sources = _by_group(count, addresses, active, sources)
    place, line = _by_line(sources // SOURCE_LINE, active)
    low, high, many, together = _each(
        line[:, -1] > FEW_LINES,
        _from_the_fullest,
        _over_partitions,
        count,
        _in_lane_order(place, line),
        *slots(count, addresses, sources),
    )
    return (
        _of_request(groups, np.add, low),
        _of_request(groups, np.add, high),
        _of_request(groups, np.add, many > 0),
        _of_request(groups, np.maximum, together),
    )


def _over_partitions(count: Count, line: np.ndarray, to: np.ndarray, source: np.ndarray) -> Figures:
    """(fewest, most, lines, of all lines together) over all partitions of a group's lines into passes."""
    alone = np.ascontiguousarray(rounds(line, SETS_OF_LINES, to, source, count.slots).T)
    costs = [sum(alone[mask] for mask in ways) for ways in partitions(FEW_LINES)]
    return np.minimum.reduce(costs), np.maximum.reduce(costs), line.max(1), alone[-1]


def _from_the_fullest(count: Count, line: np.ndarray, to: np.ndarray, source: np.ndarray) -> Figures:
    """The same from the fullest slot to one pass per line, none of which takes longer than all lines at once."""
    active = line > 0
    together = rounds(active.view(np.uint8), ONE_SET, to, source, count.slots)[:, 0]
    many = line.max(1)
    high = np.minimum(active.sum(1), many * together.astype(np.int64))
    return np.maximum(_fullest(to, active, count.slots), _fullest(source, active, count.slots)), high, many, together


def _fullest(slot: np.ndarray, active: np.ndarray, slots: int) -> np.ndarray:
    """(n,): the maximum number of active lanes on one slot."""
    n = len(slot)
    found = (slot + np.arange(n)[:, None] * slots)[active]
    result: np.ndarray = np.bincount(found, minlength=n * slots).reshape(n, slots).max(1)
    return result


# --- lanes and their lines ----------------------------------------------------------------------


def _by_line(lines: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lanes of each row by line, inactive ones first: (their flat places, the line's number from 1, or 0)."""
    n, lanes = lines.shape
    ordered = np.where(active, lines, _NO_LINE) * lanes + np.arange(
        lanes
    )  # line and lane in one number: lanes of a line stay in order
    ordered.sort(1)
    place = (ordered & lanes - 1) + np.arange(n)[:, None] * lanes
    ordered //= lanes
    begins = np.empty(ordered.shape, bool)
    np.not_equal(ordered[:, 0], _NO_LINE, out=begins[:, 0])
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=begins[:, 1:])
    return place, np.cumsum(begins, axis=1, dtype=np.uint8)


def _in_lane_order(place: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values in the order of `_by_line`, back in lane order."""
    result = np.empty(values.shape, values.dtype)
    result.ravel()[place] = values
    return result


# --- groups and requests ------------------------------------------------------------------------


def _by_group(count: Count, *arrays: np.ndarray) -> list[np.ndarray]:
    """(n, lanes) as (n * groups, lanes of a group)."""
    return [a.reshape(-1, count.lanes) for a in arrays]


def _of_request(groups: int, combine: np.ufunc, of_group: np.ndarray) -> np.ndarray:
    """(n * groups,) as (n,) int64: the sum or maximum over each request's groups."""
    result: np.ndarray = combine.reduce(of_group.reshape(-1, groups), axis=1, dtype=np.int64)
    return result


def _each(
    chosen: np.ndarray, those: Callable[..., Figures], others: Callable[..., Figures], count: Count, *arrays: np.ndarray
) -> Figures:
    """The figures of `those` for the chosen rows, of `others` for the rest."""
    if not chosen.any():
        return others(count, *arrays)
    results = [np.empty(len(chosen), np.int64) for _ in range(4)]
    for rows, function in ((chosen, those), (~chosen, others)):
        for result, part in zip(results, function(count, *(a[rows] for a in arrays)), strict=True):
            result[rows] = part
    first, second, third, fourth = results
    return first, second, third, fourth
