"""Counts a few requests in plain Python where arrays would take longer: cp.async.ca by its sources, steps with one broadcast word.

    copies(count, addresses, active, sources, None)    -> low, high, ideal, ways of each request, as `banks.copies` gives them
    steps(count, addresses, active)                    -> fewest, most, groups, ways, as `banks.broadcast` gives them

The theory is in those two modules. Arrays cost the same for one request and for a hundred, half a millisecond in the
worst case; here one request takes some ten microseconds. tests/test_score_few.py holds both ways together.

Rounds are counted in unary: as many ones as rounds. The greater of two is then a | b, and one more a << 1 | 1. Many such
numbers lie side by side in one integer, a *field* for each set of lanes (see `copies`), and are all served in one go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from itertools import compress
from operator import mul, or_

import numpy as np

from ptxaudit.banks.copies import CLASS_BITS, FEW_LINES, KNOWN_BITS, classes, partitions, slots
from ptxaudit.machine_model import SOURCE_LINE, Count

MOST = 16          # requests: from there on arrays are faster
Group = tuple[list[int], list[int], list[int]]       # of each lane the destination slot, source slot, source line
_BYTE = 8
_ONES = bytes(byte.bit_count() for byte in range(1 << _BYTE))
_HALF_BITS = KNOWN_BITS // 2
_HALF_MASK = (1 << _HALF_BITS) - 1
_CLASS_OF_LOW = classes(np.arange(1 << _HALF_BITS)).tobytes()                    # a line's class is that of its low half, xor that of its high half
_CLASS_OF_HIGH = classes(np.arange(1 << _HALF_BITS) << _HALF_BITS).tobytes()
_CUTS = partitions(FEW_LINES)
_TOGETHER = _CUTS.index(((1 << FEW_LINES) - 1,))


def copies(
    count: Count, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray, in_l1: bool | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, ideal, ways) of cp.async.ca, (n,) each; ways hold where low == high. Arguments as of `banks.score`."""
    size = count.lanes                  # and as many slots
    to, source = slots(count, addresses, sources)
    columns = zip(to.tolist(), source.tolist(), (sources // SOURCE_LINE).tolist(), active.tolist())
    figures = [_copy(list(_groups(size, *row)), size, in_l1) for row in columns]
    return tuple(np.array(figures, np.int64).reshape(-1, 4).T)


def _groups(size: int, to: list[int], source: list[int], lines: list[int], on: list[bool]) -> Iterator[Group]:
    """The groups with an active lane, and only the active lanes of each."""
    whole = all(on)
    for start in range(0, len(on), size):
        part = slice(start, start + size)
        if whole:
            yield to[part], source[part], lines[part]
        elif any(chosen := on[part]):
            yield tuple([list(compress(column[part], chosen)) for column in (to, source, lines)])


def _copy(groups: list[Group], size: int, in_l1: bool | None) -> tuple[int, int, int, int]:
    """The figures of one request."""
    if in_l1 is not None:
        lines = dict.fromkeys([line for *_, lines in groups for line in lines])
        if in_l1:
            return _alone(groups, size, dict.fromkeys(lines, (1 << size) - 1), 1)
        if not lines or min(lines) >> KNOWN_BITS == max(lines) >> KNOWN_BITS:
            return _alone(groups, size, *_passes(lines, size))
    low = high = ways = 0
    for group in groups:
        least, most, together = _between(group, size)
        low, high, ways = low + least, high + most, max(ways, together)
    return low, high, len(groups), ways


def rounds_in_l1(to: list[int], source: list[int], size: int) -> list[int]:
    """The round in which each lane of a group is served, from 1, where all lines pass together."""
    return [now.bit_count() for now in _served((to, source, [0] * len(to)), {0: (1 << size) - 1}, 1, size)]


def _served(group: Group, fields: Mapping[int, int], units: int, slots: int) -> list[int]:
    """Of each lane its round in unary, in all fields of its line. units: the lowest bit of every field."""
    last_to, last_source = [0] * slots, [0] * slots
    found = []
    for to, source, line in zip(*group):
        before_to, before_source = last_to[to], last_source[source]
        now = ((before_to | before_source) << 1 | units) & fields[line]
        last_to[to], last_source[source] = before_to | now, before_source | now
        found.append(now)
    return found


def _alone(groups: list[Group], size: int, fields: dict[int, int], passes: int) -> tuple[int, int, int, int]:
    """A field for each pass, and every line in one."""
    field = (1 << size) - 1
    units = ((1 << size * passes) - 1) // field
    each = [reduce(or_, _served(group, fields, units, size)) for group in groups]
    total, worst = sum([rounds.bit_count() for rounds in each]), reduce(or_, each, 0)
    while passes > 1:                   # the most of all fields
        passes = passes + 1 >> 1
        worst |= worst >> size * passes
    return total, total, len(groups), (worst & field).bit_count()


def _passes(lines: Iterable[int], size: int) -> tuple[dict[int, int], int]:
    """(the field of each line, passes) where no line is in L1: a pass takes one line of each class, in lane order."""
    following = [(1 << size) - 1] * (1 << len(CLASS_BITS))
    fields = {}
    for line in lines:
        kind = _CLASS_OF_LOW[line & _HALF_MASK] ^ _CLASS_OF_HIGH[line >> _HALF_BITS & _HALF_MASK]
        fields[line] = field = following[kind]
        following[kind] = field << size
    return fields, max(following).bit_length() // size - 1


def _between(group: Group, size: int) -> tuple[int, int, int]:
    """(fewest, most) over all ways to cut the group's source lines into passes, and what one pass takes."""
    lines = dict.fromkeys(group[-1])
    if 1 < len(lines) <= FEW_LINES:
        fields, units, costs = _sets_of_lines(size)
        rounds = reduce(or_, _served(group, dict(zip(lines, fields)), units, size)).to_bytes((size << FEW_LINES) // _BYTE, "little")
        cost = sum(map(mul, rounds.translate(_ONES), costs)).to_bytes(len(_CUTS), "little")
        return min(cost), max(cost), cost[_TOGETHER]
    together = reduce(or_, _served(group, dict.fromkeys(lines, (1 << size) - 1), 1, size)).bit_count()
    if len(lines) == 1:
        return together, together, together
    to, source, _ = group
    most = min(len(to), len(lines) * together)           # no pass takes longer than all at once
    return max(_fullest(to, size), _fullest(source, size)), most, together


def _fullest(column: list[int], slots: int) -> int:
    """The most lanes on one slot."""
    found = [0] * slots
    for slot in column:
        found[slot] += 1
    return max(found)


@lru_cache
def _sets_of_lines(size: int) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """A field for each set of lines: (those that a line is in, the lowest bits of all, what each byte of all costs).

    The costs are the sums of all ways to cut the lines into passes, a byte each: a set costs its rounds in every cut it is a pass of.
    """
    sets = range(1 << FEW_LINES)
    fields = tuple(sum(((1 << size) - 1) << size * lines for lines in sets if lines >> line & 1) for line in range(FEW_LINES))
    units = sum(1 << size * lines for lines in sets)
    costs = [sum(1 << _BYTE * cut for cut, passes in enumerate(_CUTS) if lines in passes) for lines in sets]
    return fields, units, tuple(cost for cost in costs for _ in range(size // _BYTE))


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
