"""Counts cp.async.ca: a lane's data leave the source line and enter the destination in one wavefront.

Theory, as an H200's counters have it (exact for every measured request whose sources were not in L1, or were). A
line is 128 bytes of the source. The copy is cut three times:

    passes   the whole warp looks its source lines up. Lines that are in L1 pass together (those of which all sectors
             are that the warp needs). Of those that are not, a pass takes one line of each *class*, in lane order:
             the class is two parity bits of the line's address. Some in, some out: no rule found for the order.
    groups   the lanes of one pass, in groups of 128 / size lanes by their number
    rounds   in each round of a group every destination slot and every source slot goes to its first lane;
             a lane that has both is served, the others wait. A slot is (address / size) mod (128 / size).

The rounds of all groups of all passes are the wavefronts. A lane's round is one more than that of the lane
before it on its destination slot, or on its source slot, whichever is later: no search is needed.

    alone(…)    the exact figure, all sources absent from L1 or all present; absent lines 128 MB apart give bounds
    between(…)  bounds whatever is in L1 and wherever the source array lies: over all ways to cut a group's
                lines into passes where it reads at most four, otherwise from its fullest slot upwards

Where each group reads one line there is one way only, and both ends meet.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ptxaudit.machine_model import SOURCE_LINE, Count

# parity of these bits of (source address / 128) gives the two bits of a line's class; further up they are not known
CLASS_BITS = (0b10101101010111011010, 0b01011010111101101111)
KNOWN_BITS = 20
FEW_LINES = 4
_NONE = -1
_LAST = np.iinfo(np.int64).max       # sorts after every line: an inactive lane


@lru_cache
def partitions(lines: int) -> tuple[tuple[int, ...], ...]:
    """All ways to cut so many lines into passes, each as masks of lines: (0b11,), (0b01, 0b10) for two."""
    found: list[tuple[int, ...]] = [()]
    for i in range(lines):
        found = [p for old in found for p in ((*old, 1 << i), *((*old[:at], old[at] | 1 << i, *old[at + 1:]) for at in range(len(old))))]
    return tuple(found)


def rounds(cell: np.ndarray, to: np.ndarray, source: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, lanes) int64: the round in which each lane is served, from 1; 0 for inactive lanes.

    cell: what is served separately (pass and group); to, source: slots. All (n, lanes).
    """
    n, lanes = cell.shape
    slots = int(max(to.max(initial=0), source.max(initial=0))) + 1
    size = (int(cell.max(initial=0)) + 1) * slots + 1          # and one place for inactive lanes
    start = np.arange(n)[:, None] * size
    at = [np.where(active, cell * slots + slot + 1, 0) + start for slot in (to, source)]
    at_to, at_source = (np.ascontiguousarray(places.T) for places in at)
    last_to, last_source = np.zeros(n * size, np.int16), np.zeros(n * size, np.int16)      # the last round on each slot
    served = np.zeros((lanes, n), np.int16)
    for lane in range(lanes):
        i, j = at_to[lane], at_source[lane]
        served[lane] = last_to[i] = last_source[j] = np.maximum(last_to[i], last_source[j]) + 1
    return np.where(active, served.T, 0).astype(np.int64)


def total(cell: np.ndarray, served: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,): the rounds of all cells; those of one cell are 1, 2, … without a gap."""
    n, lanes = cell.shape
    keys = np.where(active, cell * (lanes + 1) + served, _NONE)
    keys.sort(1)
    first = np.ones(keys.shape, bool)
    first[:, 1:] = keys[:, 1:] != keys[:, :-1]
    return (first & (keys != _NONE)).sum(1)


def classes(lines: np.ndarray) -> np.ndarray:
    """The class of each source line (address / 128): 0 to 3."""
    result = np.zeros_like(lines)
    for bits in CLASS_BITS:
        result = result * 2 + np.bitwise_count(lines & bits) % 2
    return result


def alone(count: Count, addresses, active, sources, resident: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, ways), (n,) each: no source line is in L1, or (`resident`) all are. sources: whole addresses."""
    n, lanes = addresses.shape
    group = np.broadcast_to(np.arange(lanes) // count.lanes, addresses.shape)
    lines = sources // SOURCE_LINE
    cell = group if resident else group + (lanes // count.lanes) * _pass_of_lane(lines, active)
    served = rounds(cell, *_slots(count, addresses, sources), active)
    low = total(cell, served, active)
    high, ways = low, served.max(1, initial=0)
    far = (np.where(active, lines >> KNOWN_BITS, -_LAST).max(1) > np.where(active, lines >> KNOWN_BITS, _LAST).min(1)) & (not resident)
    if far.any():
        low, high = low.copy(), high.copy()
        low[far], high[far], ways[far] = between(count, addresses[far], active[far], sources[far])
    return low, high, ways


def _pass_of_lane(lines: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, lanes): how many other lines of its class come before each lane's line."""
    n, lanes = lines.shape
    ordered = np.where(active, lines, _LAST)
    order = ordered.argsort(1, kind="stable")                      # lanes of one line together, in lane order
    ordered = np.take_along_axis(ordered, order, 1)
    begins = np.ones(ordered.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    at = np.maximum.accumulate(np.where(begins, np.arange(lanes), 0), axis=1)
    start = np.empty_like(order)                                   # the first lane of each lane's line
    np.put_along_axis(start, order, np.take_along_axis(order, at, 1), 1)
    first = active & (start == np.arange(lanes))
    kind = classes(lines)
    before = np.zeros((n, lanes), np.int64)
    for c in range(1 << len(CLASS_BITS)):
        mine = first & (kind == c)
        before = np.where(kind == c, np.cumsum(mine, axis=1) - mine, before)
    return np.take_along_axis(before, start, 1)


def _slots(count: Count, addresses, sources) -> tuple[np.ndarray, np.ndarray]:
    return addresses // count.unit % count.slots, sources // count.unit % count.slots


def between(count: Count, addresses, active, sources) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, ways where they meet), (n,) each. sources: up to a shift by whole lines."""
    n, lanes = addresses.shape
    size = count.lanes
    addresses, active, sources = (a.reshape(n * lanes // size, size) for a in (addresses, active, sources))
    to, source = _slots(count, addresses, sources)
    lines = sources // SOURCE_LINE
    many = _how_many(lines, active)
    none = np.zeros_like(addresses)
    served = rounds(none, to, source, active)
    low = served.max(1)
    high, ways = low.copy(), low.copy()
    high = np.where(low == 1, np.maximum(many, 1), high)           # no slot is taken twice, in however many passes
    high[~active.any(1)] = 0
    for n_lines in range(2, FEW_LINES + 1):
        some = (many == n_lines) & (low > 1)
        if some.any():
            low[some], high[some] = _over_partitions(count, n_lines, low[some], to[some], source[some], active[some], lines[some])
    more = many > FEW_LINES
    if more.any():
        high[more] = np.minimum(active[more].sum(1), many[more] * low[more])      # no pass takes longer than all at once
        low[more] = np.maximum(*(_fullest(slot[more], active[more], count.slots) for slot in (to, source)))
    return low.reshape(n, -1).sum(1), high.reshape(n, -1).sum(1), ways.reshape(n, -1).max(1)


def _over_partitions(count: Count, n_lines: int, together, to, source, active, lines) -> tuple[np.ndarray, np.ndarray]:
    """(fewest, most) over all ways to cut the lines of a group into passes: what each set of lines takes, then sums."""
    line = _numbered(lines, active)
    alone = {mask: np.empty_like(together) for mask in range(1, (1 << n_lines) - 1)} | {(1 << n_lines) - 1: together}
    apart = _fullest(to, active, count.slots) == 1                 # then only the source slots decide: their lanes of these lines
    if apart.any():
        n = int(apart.sum())
        bins = (np.arange(n)[:, None] * n_lines + line[apart]) * count.slots + source[apart]
        on_slot = np.bincount(bins[active[apart]], minlength=n * n_lines * count.slots).astype(np.int8).reshape(n, n_lines, count.slots)
        sets = {1 << i: on_slot[:, i] for i in range(n_lines)}
        for mask in range(1, (1 << n_lines) - 1):
            if mask not in sets:
                sets[mask] = sets[mask & mask - 1] + sets[mask & -mask]
            alone[mask][apart] = sets[mask].max(1)
    if not apart.all():
        to_, source_, on, line = to[~apart], source[~apart], active[~apart], line[~apart]
        for mask in alone.keys() - {(1 << n_lines) - 1}:
            alone[mask][~apart] = rounds(np.zeros_like(to_), to_, source_, on & (mask >> line & 1 == 1)).max(1)
    costs = [sum(alone[mask] for mask in ways) for ways in partitions(n_lines)]
    return np.minimum.reduce(costs), np.maximum.reduce(costs)


def _how_many(lines: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,): the different lines of the active lanes."""
    ordered = np.where(active, lines, _LAST)
    ordered.sort(1)
    return (ordered[:, 1:] != ordered[:, :-1]).sum(1) + 1 - (ordered[:, -1] == _LAST)


def _numbered(lines: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, lanes): the lines of a row by ascending address, from 0."""
    ordered = np.where(active, lines, _LAST)
    order = ordered.argsort(1, kind="stable")
    ordered = np.take_along_axis(ordered, order, 1)
    step = np.zeros(ordered.shape, np.int64)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=step[:, 1:])
    number = np.empty_like(step)
    np.put_along_axis(number, order, step, 1)
    return number


def _fullest(slot: np.ndarray, active: np.ndarray, slots: int) -> np.ndarray:
    """(n,): the most active lanes on one slot."""
    n = len(slot)
    found = (slot + np.arange(n)[:, None] * slots)[active]
    return np.bincount(found, minlength=n * slots).reshape(n, slots).max(1)
