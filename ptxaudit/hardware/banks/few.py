"""Counts a few requests in plain Python, where arrays would take longer.

    count(count, addresses, active)                    -> low, high, groups, ways of each request: words, lanes, steps
    copies(count, addresses, active, sources, None)    -> low, high, groups, ways of each request: cp.async.ca by its
                                                       sources

The theory is in `banks`, `broadcast` and `copies`. Arrays cost the same for one request and for a hundred, half a
millisecond in the worst case; here one request takes some ten microseconds. test_score_few.py compares both
implementations.

Rounds of a copy are counted in unary: as many ones as rounds. The maximum of two numbers is then a | b, and the
successor a << 1 | 1. Many such numbers are adjacent in one integer, a *field* for each set of lanes (see `copies`),
and are all updated at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from itertools import accumulate, compress, pairwise
from operator import mul, or_

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.hardware.banks.copies import CLASS_BITS, FEW_LINES, KNOWN_BITS, classes, partitions, slots
from ptxaudit.hardware.machine_model import SOURCE_LINE, Count, Counted

MOST = {
    Counted.WORDS: 96,
    Counted.LANES: 64,
    Counted.STEPS: 512,
    Counted.LINES: 64,
}  # lanes of all requests: above this, arrays are faster
MOST_OF_COPIES = 512
Figures = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Group = tuple[list[int], ...]  # of a copy: each lane's destination slot, source slot, source line
_BYTE = 8
_ONES = bytes(byte.bit_count() for byte in range(1 << _BYTE))
_HALF_BITS = KNOWN_BITS // 2
_HALF_MASK = (1 << _HALF_BITS) - 1
_CLASS_OF_LOW = classes(
    np.arange(1 << _HALF_BITS)
).tobytes()  # the class of a line is that of its low half xor that of its high half
_CLASS_OF_HIGH = classes(np.arange(1 << _HALF_BITS) << _HALF_BITS).tobytes()


def _groups(size: int, on: list[bool], *columns: list[int]) -> list[tuple[list[int], ...]]:
    """The groups with an active lane, with only their active lanes."""
    starts = range(0, len(on), size)
    if all(on):
        return list(zip(*[[column[start : start + size] for start in starts] for column in columns]))
    kept = [list(compress(column, on)) for column in columns]
    ends = accumulate([sum(on[start : start + size]) for start in starts], initial=0)
    return [tuple([column[start:end] for column in kept]) for start, end in pairwise(ends) if start < end]


def _columns(figures: list[tuple[int, int, int, int]]) -> Figures:
    """The figures as arrays, the same array for low and high if all are exact."""
    columns = np.array(figures, np.int64).reshape(-1, 4)
    low = columns[:, 0]
    exact = all(least == most for least, most, _, _ in figures)
    return low, low if exact else columns[:, 1], columns[:, 2], columns[:, 3]


def _fullest(column: Iterable[int], slots: int) -> int:
    """The frequency of the most frequent slot."""
    found = [0] * slots
    for slot in column:
        found[slot] += 1
    return max(found)


# --- words, lanes, steps ------------------------------------------------------------------------


def count(count: Count, addresses: np.ndarray, active: np.ndarray) -> Figures:
    """(low, high, groups with an active lane, ways where low == high), (n,) each, for words, lanes or steps."""
    of_group, figures = _OF_GROUP[count.what], []
    for row, on in zip(addresses.tolist(), active.tolist()):
        size = count.paired if count.paired and _pairs_agree(row, on) else count.lanes
        low = high = groups = ways = 0
        for (lanes,) in _groups(size, on, row):
            least, most = of_group(count, lanes)
            low, high, groups, ways = low + least, high + most, groups + 1, most if most > ways else ways
        figures.append((low * count.factor, high * count.factor, groups, ways))
    return _columns(figures)


def most_on_one_unit(count: Count, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,): the maximum number of active lanes on the same unit."""
    rows = [
        Counter([address // count.unit for address in compress(row, on)])
        for row, on in zip(addresses.tolist(), active.tolist())
    ]
    return np.array([max(lanes.values(), default=0) for lanes in rows], np.int64)


def _pairs_agree(row: list[int], on: list[bool]) -> bool:
    """Whether every active lane has an inactive or equal partner i^1, or every one has such an i^2."""
    return any(
        all(row[i] == row[i ^ distance] or not (on[i] and on[i ^ distance]) for i in range(len(row)))
        for distance in (1, 2)
    )


def _words(count: Count, lanes: list[int]) -> tuple[int, int]:
    unit, slots, row = count.unit, count.slots, count.row
    if row == unit * slots:
        words = {address // unit for address in lanes}
    else:
        words = {address // row * slots + address // unit % slots for address in lanes}
    most = _fullest([word % slots for word in words], slots)
    return most, most


def _lanes(count: Count, lanes: list[int]) -> tuple[int, int]:
    unit, slots = count.unit, count.slots
    most = _fullest([address // unit % slots for address in lanes], slots)
    return most, most


def _steps(count: Count, lanes: list[int]) -> tuple[int, int]:
    """(fewest, most) steps of a group."""
    on_word: dict[int, int] = {}
    for word in [address // count.unit for address in lanes]:
        on_word[word] = on_word.get(word, 0) + 1
    of_bank: dict[int, list[int]] = {}
    for word, several in on_word.items():
        of_bank.setdefault(word % count.slots, []).append(several)
    banks = sorted([(sum(words), len(words), words) for words in of_bank.values()])
    left, most, words_of_one = [], 0, 0
    for total, several, words in banks:
        most = min(total, several + most)
        words_of_one = max(words_of_one, several)
        for on_it in sorted(words, reverse=True):
            left.append(total)
            total -= on_it - 1
    left.sort(reverse=True)
    return max(words_of_one, sum([more > steps for steps, more in enumerate(left)])), most


_OF_GROUP = {Counted.WORDS: _words, Counted.LANES: _lanes, Counted.STEPS: _steps}


# --- cp.async.cg ----------------------------------------------------------------------------


def line_class_max(count: Count, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,): k of cp.async.cg, the maximum over classes of lines of the pairs (group, destination line)."""
    figures = []
    for row, on in zip(addresses.tolist(), active.tolist()):
        lines = [
            line for (lanes,) in _groups(count.lanes, on, row) for line in {address // count.row for address in lanes}
        ]
        figures.append(_fullest([line % count.slots for line in lines], count.slots))
    return np.array(figures, np.int64)


# --- copies by their sources --------------------------------------------------------------------


def copies(
    count: Count,
    addresses: np.ndarray,
    active: np.ndarray,
    sources: np.ndarray,
    in_l1: bool | None,
    zeros: np.ndarray | None = None,
) -> Figures:
    """(low, high, groups with an active lane, ways where low == high) of cp.async.ca, (n,) each.

    Arguments as in `banks.score`.

    active: the lanes that copy; zeros: those that write zeros, separately if the sources are not in L1, else with the
    copies of their group.
    """
    size = count.lanes  # also the number of slots
    to, source = slots(count, addresses, sources)
    columns = [*zip(active.tolist(), to.tolist(), source.tolist(), (sources // SOURCE_LINE).tolist())]
    if zeros is None:
        return _columns([_copy(_groups(size, *row), size, in_l1) for row in columns])
    written = _zeros_apart if in_l1 is False else _zeros_among
    return _columns([written(size, in_l1, on, *row) for on, row in zip(zeros.tolist(), columns)])


def _zeros_apart(
    size: int, in_l1: bool | None, zeros: list[bool], copying: list[bool], *columns: list[int]
) -> tuple[int, int, int, int]:
    """The figures of one request that copies and writes zeros, the zeros after or before the copies."""
    low, high, groups, ways = _copy(_groups(size, copying, *columns), size, in_l1)
    each = [_fullest(to, size) for to, *_ in _groups(size, zeros, *columns)]
    return low + sum(each), high + sum(each), groups + len(each), max(ways, *each, 0)


def _zeros_among(
    size: int, in_l1: bool | None, zeros: list[bool], copying: list[bool], *columns: list[int]
) -> tuple[int, int, int, int]:
    """The same if zeros pass with copies whose sources are in L1 (see `count._where_mixed`)."""
    groups = _groups(size, [*map(or_, copying, zeros)], [*map(int, copying)], *columns)
    low = high = ways = 0
    for copies, *lanes in groups:
        least, most, together = _mixed(size, bool(in_l1), copies, *lanes)
        low, high, ways = low + least, high + most, max(ways, together)
    return low, high, len(groups), ways


def _mixed(
    size: int, in_l1: bool, copies: list[int], to: list[int], source: list[int], line: list[int]
) -> tuple[int, int, int]:
    """(fewest, most) of the lanes of a group, and the cost of one pass of all.

    copies: whether each lane copies; the others write zeros.
    """
    lines = dict.fromkeys(compress(line, copies))
    fields, of_zeros, units = _fields_beside_zeros(size, len(lines))
    field = (1 << size) - 1
    held = ~(field << 2 * size)  # the fields in which a zero keeps later copies from its source slot waiting
    field_of = dict(zip(lines, fields))
    next_to, next_source, rounds = [units] * size, [units] * size, 0  # as in `_served`
    for copied, on_to, on_source, on_line in zip(copies, to, source, line):
        after_to, after_source = next_to[on_to], next_source[on_source]
        now = (after_to | after_source) & field_of[on_line] if copied else after_to & of_zeros
        rounds |= now
        now <<= 1
        next_to[on_to] = after_to | now
        next_source[on_source] = after_source | (now if copied else now & held)
    stored, together, free = [(rounds >> at * size & field).bit_count() for at in range(3)]
    if not lines:
        return free, together, together
    passing = sum(copies), compress(to, copies), compress(source, copies)
    least, most, at_once = _bounds(size, len(lines), rounds >> 3 * size, *passing)
    if in_l1:
        return free, max(at_once + stored, together), together
    if not stored:
        return least, most, together
    if len(lines) == 1:
        return min(least + stored, free), max(most + stored, together), together
    return max(least, _fullest(to, size)), len(to), together


@lru_cache
def _fields_beside_zeros(size: int, lines: int) -> tuple[tuple[int, ...], int, int]:
    """(the fields of each line, those of a zero, the lowest bit of all).

    The lowest field is for the zeros alone, the next two for all lanes (with zeros that make later copies from their
    source slots wait, and with zeros that do not), those above for the copies by themselves, as in `_fields`.
    """
    fields, units = _fields(size, lines)
    alone = (1 << size) - 1
    together = alone << size | alone << 2 * size
    above = [of_line << 3 * size for of_line in fields]
    first = 1 << 2 * size | 1 << size | 1
    return tuple(of_line | together for of_line in above), together | alone, units << 3 * size | first


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
    """The round, from 1, in which each lane of a group is served if all lines pass together."""
    return [now.bit_count() for now in _served((to, source, [0] * len(to)), {0: (1 << size) - 1}, 1, size)]


def _served(group: Group, fields: Mapping[int, int], units: int, slots: int) -> list[int]:
    """Each lane's round in unary, in all fields of its line. units: the lowest bit of every field."""
    next_to, next_source = [units] * slots, [units] * slots  # the round of the next lane on each slot
    found = []
    for to, source, line in zip(*group):
        after_to, after_source = next_to[to], next_source[source]
        now = (after_to | after_source) & fields[line]
        found.append(now)
        now <<= 1
        next_to[to] = after_to | now
        next_source[source] = after_source | now
    return found


def _alone(groups: list[Group], size: int, fields: dict[int, int], passes: int) -> tuple[int, int, int, int]:
    """The figures with one field per pass, and every line in one pass."""
    field = (1 << size) - 1
    units = ((1 << size * passes) - 1) // field
    each = [reduce(or_, _served(group, fields, units, size)) for group in groups]
    total, worst = sum([rounds.bit_count() for rounds in each]), reduce(or_, each, 0)
    while passes > 1:  # the maximum over all fields
        passes = passes + 1 >> 1
        worst |= worst >> size * passes
    return total, total, len(groups), (worst & field).bit_count()


def _passes(lines: Iterable[int], size: int) -> tuple[dict[int, int], int]:
    """(the field of each line, passes) if no line is in L1: a pass takes one line of each class, in lane order."""
    following = [(1 << size) - 1] * (1 << len(CLASS_BITS))
    fields = {}
    for line in lines:
        kind = _CLASS_OF_LOW[line & _HALF_MASK] ^ _CLASS_OF_HIGH[line >> _HALF_BITS & _HALF_MASK]
        fields[line] = field = following[kind]
        following[kind] = field << size
    return fields, max(following).bit_length() // size - 1


def _between(group: Group, size: int) -> tuple[int, int, int]:
    """(fewest, most) over all partitions of the group's source lines into passes, and the cost of a single pass."""
    to, source, line = group
    lines = dict.fromkeys(line)
    fields, units = _fields(size, len(lines))
    rounds = reduce(or_, _served(group, dict(zip(lines, fields)), units, size))
    return _bounds(size, len(lines), rounds, len(to), to, source)


@lru_cache
def _fields(size: int, lines: int) -> tuple[tuple[int, ...], int]:
    """(the fields of each line, the lowest bit of all): a field per set of lines if they are few, else one for all."""
    if 1 < lines <= FEW_LINES:
        sets = _sets_of_lines(size, lines)
        return sets.fields, sets.units
    return ((1 << size) - 1,) * lines, 1


def _bounds(
    size: int, lines: int, rounds: int, lanes: int, to: Iterable[int], source: Iterable[int]
) -> tuple[int, int, int]:
    """The result of `_between` for `lanes` lanes that read `lines` lines, from the rounds in their `_fields`."""
    if 1 < lines <= FEW_LINES:
        return _over_partitions(_sets_of_lines(size, lines), rounds)
    together = rounds.bit_count()
    if lines == 1:
        return together, together, together
    most = min(lanes, lines * together)  # no pass takes longer than all at once
    return max(_fullest(to, size), _fullest(source, size)), most, together


class _Sets(Record, eq=False):
    """A field for each set of lines.

    fields: of each line, those of the sets that contain it. units: the lowest bits of all. costs: for each byte of
    the fields, what a round in it adds to the costs of the partitions; these have a byte for each of the `cuts`
    partitions, 1 if the set is one of its passes.
    """

    fields: tuple[int, ...]
    units: int
    costs: tuple[int, ...]
    cuts: int


@lru_cache
def _sets_of_lines(size: int, lines: int) -> _Sets:
    sets, cuts = range(1 << lines), partitions(lines)
    fields = tuple(sum(((1 << size) - 1) << size * one for one in sets if one >> line & 1) for line in range(lines))
    units = sum(1 << size * one for one in sets)
    costs = tuple(
        sum(1 << _BYTE * cut for cut, passes in enumerate(cuts) if one in passes)
        for one in sets
        for _ in range(size // _BYTE)
    )
    return _Sets(fields, units, costs, len(cuts))


@lru_cache(maxsize=4096)
def _over_partitions(sets: _Sets, rounds: int) -> tuple[int, int, int]:
    """rounds: of each set, in its field. Cached, as different groups often have the same rounds."""
    each = rounds.to_bytes(len(sets.costs), "little").translate(_ONES)
    costs = sum(map(mul, each, sets.costs)).to_bytes(sets.cuts, "little")
    return min(costs), max(costs), costs[-1]
