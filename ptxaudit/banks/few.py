"""Counts a few requests in plain Python where arrays would take longer: cp.async.ca by its sources, steps with one broadcast word.

    copies(count, addresses, active, sources, None)    -> low, high, ideal, ways of each request, as `banks.copies` gives them
    steps(count, addresses, active)                    -> fewest, most, groups, ways, as `banks.broadcast` gives them

The theory is in those two modules. Arrays cost the same for one request and for a hundred, about a millisecond in the
worst case; here one request takes some ten microseconds. tests/test_score_few.py holds both ways together.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from ptxaudit.banks.copies import CLASS_BITS, FEW_LINES, KNOWN_BITS, partitions
from ptxaudit.machine_model import SOURCE_LINE, Count

MOST = 16          # requests: from there on arrays are faster
Lane = tuple[int, int, int]       # destination slot, source slot, source line


def copies(
    count: Count, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray, in_l1: bool | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, ideal, ways) of cp.async.ca, (n,) each; ways hold where low == high. Arguments as of `banks.score`."""
    figures = [_copy(count, *row, in_l1) for row in zip(addresses.tolist(), active.tolist(), sources.tolist(), strict=True)]
    return tuple(np.array(figures, np.int64).reshape(len(figures), 4).T)


def _copy(count: Count, addresses: list[int], active: list[bool], sources: list[int], in_l1: bool | None) -> tuple[int, int, int, int]:
    unit, slots, size = count.unit, count.slots, count.lanes
    lanes = [(a // unit % slots, s // unit % slots, s // SOURCE_LINE) for a, s in zip(addresses, sources, strict=True)]
    groups = [lanes[start:start + size] for start in range(0, len(lanes), size)]
    if not all(active):
        groups = [group for start, lanes in zip(range(0, len(active), size), groups, strict=True)
                  if (group := [lane for lane, on in zip(lanes, active[start:start + size], strict=True) if on])]
    if in_l1 is False and len({line >> KNOWN_BITS for lanes in groups for *_, line in lanes}) <= 1:
        each = [_rounds(lanes, slots) for lanes in _passes(groups)]
        return sum(each), sum(each), len(groups), max(each, default=0)
    low = high = ways = 0
    for lanes in groups:
        if in_l1:
            least = most = together = _rounds(lanes, slots)
        else:
            number: dict[int, int] = {}
            least, most, together = _between(tuple([(i, j, number.setdefault(line, len(number))) for i, j, line in lanes]), slots)
        low, high, ways = low + least, high + most, max(ways, together)
    return low, high, len(groups), ways


def _rounds(lanes: Iterable[Lane], slots: int) -> int:
    """Rounds until all lanes of one pass of one group are served."""
    to, source = [0] * slots, [0] * slots
    most = 0
    for i, j, _ in lanes:
        a, b = to[i], source[j]
        a = to[i] = source[j] = (a if a > b else b) + 1
        if a > most:
            most = a
    return most


@lru_cache(maxsize=4096)
def _between(lanes: tuple[Lane, ...], slots: int) -> tuple[int, int, int]:
    """(fewest, most) over all ways to cut the group's source lines into passes, and what one pass takes. Lines are numbered from 0."""
    lines = max([line for *_, line in lanes]) + 1
    together = _rounds(lanes, slots)
    if lines == 1:
        return together, together, together
    if together == 1:                   # no slot is taken twice, in however many passes
        return 1, lines, 1
    if lines > FEW_LINES:
        to, source = [0] * slots, [0] * slots
        for i, j, _ in lanes:
            to[i] += 1
            source[j] += 1
        return max(*to, *source), min(len(lanes), lines * together), together      # no pass takes longer than all at once
    everything = (1 << lines) - 1
    decides = _one_slot_a_line(lanes)
    if decides is not None:
        alone = [max([(mask & sharing).bit_count() for sharing in decides]) for mask in range(everything + 1)]
    else:
        alone = [0] * everything + [together]
        for mask in range(1, everything):
            alone[mask] = _rounds([lane for lane in lanes if mask >> lane[2] & 1], slots)
    costs = [sum([alone[mask] for mask in partition]) for partition in partitions(lines)]
    return min(costs), max(costs), together


def _one_slot_a_line(lanes: tuple[Lane, ...]) -> set[int] | None:
    """Where the lanes share no slot on one side, and none of their own line on the other: the lines that share each slot, as masks."""
    to, source = {lane[0] for lane in lanes}, {lane[1] for lane in lanes}
    side = 1 if len(to) == len(lanes) else 0 if len(source) == len(lanes) else None
    if side is None:
        return None
    sharing: dict[int, int] = {}
    for lane in lanes:
        slot, bit = lane[side], 1 << lane[2]
        before = sharing.get(slot, 0)
        if before & bit:
            return None
        sharing[slot] = before | bit
    return set(sharing.values())


def _passes(groups: list[list[Lane]]) -> list[list[Lane]]:
    """The lanes of each pass of each group, where no line is in L1: a pass takes one line of each class, in lane order."""
    number: dict[int, int] = {}
    of_class: dict[tuple[int, ...], int] = {}
    for lanes in groups:
        for *_, line in lanes:
            if line not in number:
                kind = tuple((line & bits).bit_count() & 1 for bits in CLASS_BITS)
                number[line] = of_class[kind] = of_class.get(kind, -1) + 1
    found: list[list[Lane]] = []
    for lanes in groups:
        by: dict[int, list[Lane]] = {}
        for lane in lanes:
            by.setdefault(number[lane[2]], []).append(lane)
        found += by.values()
    return found


# --- one broadcast word a step ------------------------------------------------------------------

def steps(count: Count, addresses: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, groups with an active lane, ways where low == high), (n,) each."""
    figures = []
    for row, on in zip(addresses.tolist(), active.tolist(), strict=True):
        fewest = most = groups = ways = 0
        for start in range(0, len(row), count.lanes):
            banks: dict[int, dict[int, int]] = {}
            for address, lane_on in zip(row[start:start + count.lanes], on[start:start + count.lanes], strict=True):
                if lane_on:
                    word = address // count.unit
                    bank = banks.setdefault(word % count.slots, {})
                    bank[word] = bank.get(word, 0) + 1
            if banks:
                low, high = _steps([sorted(bank.values(), reverse=True) for bank in banks.values()])
                fewest, most, groups, ways = fewest + low, most + high, groups + 1, max(ways, high)
        figures.append((fewest, most, groups, ways))
    return tuple(np.array(figures, np.int64).reshape(len(figures), 4).T)


def _steps(banks: list[list[int]]) -> tuple[int, int]:
    """(fewest, most) steps of a group. banks: of each bank the lanes on each word, most first."""
    sizes = [(sum(words), len(words)) for words in banks]
    most = 0
    for total, words in sorted(sizes):
        most = min(total, words + most)
    low, high = max(words for _, words in sizes), most
    while low < high:
        middle = (low + high) // 2
        if _enough(banks, middle):
            high = middle
        else:
            low = middle + 1
    return low, most


def _enough(banks: list[list[int]], steps: int) -> bool:
    """Whether so many steps suffice: the broadcasts that the banks need are at most as many."""
    left = steps
    for words in banks:
        over = sum(words) - steps
        for lanes in words:
            if over <= 0:
                break
            over -= lanes - 1
            left -= 1
        if over > 0 or left < 0:
            return False
    return True
