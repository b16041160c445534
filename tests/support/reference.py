"""The plain twin of `banks.score`: loops over lanes and words, written from the text of the rules.

It shares no code and no tables with the package: the two must agree.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import product

WARP = 32


def worst_bank(lanes, addresses, width, banks=32, word=4, segment=None):
    """The maximum over banks of the distinct words that the lanes need (or of the distinct segments, if specified)."""
    found = defaultdict(set)
    for lane in lanes:
        for w in range(addresses[lane] // word, (addresses[lane] + width - 1) // word + 1):
            found[w % banks].add(w if segment is None else w // segment)
    return max(map(len, found.values()), default=0)


def fullest(lanes, addresses, unit, slots):
    """The maximum over slots of the lanes in it."""
    found = defaultdict(int)
    for lane in lanes:
        found[addresses[lane] // unit % slots] += 1
    return max(found.values(), default=0)


def cut(lanes, size, of=WARP):
    """The active lanes in consecutive groups of `size`."""
    return [[lane for lane in lanes if start <= lane < start + size] for start in range(0, of, size)]


def agree(lanes, addresses):
    return any(all(lane ^ d not in lanes or addresses[lane] == addresses[lane ^ d] for lane in lanes) for d in (1, 2))


def modern(operation, width, lanes, addresses):
    """(wavefronts, ideal, ways) of one request on Maxwell and later."""
    size = WARP if width <= 4 else 16 if width == 8 else 8
    if operation == "cast":
        groups = [g for g in cut(lanes, WARP if width == 4 else 16) if g]
        return 2 * len(groups), 2 * len(groups), min(1, len(groups))
    if operation == "load" and width > 4 and agree(lanes, addresses):
        size *= 2
    if operation in ("ldmatrix", "stmatrix"):
        size = 8
    groups = [g for g in cut(lanes, size) if g]
    if operation in ("atomic", "cas", "cp.async"):
        each = [fullest(g, addresses, width, 128 // width) for g in groups]
    else:
        each = [worst_bank(g, addresses, width) for g in groups]
    times = 2 if operation == "cas" else 1
    return times * sum(each), times * len(groups), max(each, default=0)


def arbitrate(width, lanes, addresses, sources):
    """cp.async.ca: rounds in which each destination slot and each source slot is given to its first waiting lane."""
    rounds, waiting, slots = 0, list(lanes), 128 // width
    while waiting:
        rounds += 1
        first_to, first_source = {}, {}
        for lane in waiting:
            first_to.setdefault(addresses[lane] // width % slots, lane)
            first_source.setdefault(sources[lane] // width % slots, lane)
        served = [
            lane
            for lane in waiting
            if first_to[addresses[lane] // width % slots] == lane == first_source[sources[lane] // width % slots]
        ]
        waiting = [lane for lane in waiting if lane not in served]
    return rounds


def copy(width, lanes, addresses, sources, resident):
    """cp.async.ca with none or all source lines in L1: passes of the warp, then groups, then rounds."""
    total, waiting = 0, list(lanes)
    while waiting:
        taken = {}
        for lane in waiting:
            line = sources[lane] // 128
            taken.setdefault(lane if resident else line_class(line), line)
        now = [lane for lane in waiting if resident or taken[line_class(sources[lane] // 128)] == sources[lane] // 128]
        total += sum(arbitrate(width, group, addresses, sources) for group in cut(now, 128 // width))
        waiting = [lane for lane in waiting if lane not in now]
    return total


def line_class(line):
    return tuple(bin(line & bits).count("1") % 2 for bits in (0b10101101010111011010, 0b1011010111101101111))


def copy_bounds(width, lanes, addresses, sources):
    """(low, high) of cp.async.ca over all partitions of each group's source lines into passes."""
    low = high = 0
    for group in cut(lanes, 128 // width):
        lines = sorted({sources[lane] // 128 for lane in group})
        if len(lines) > 4:
            everything = arbitrate(width, group, addresses, sources)
            low += max(fullest(group, addresses, width, 128 // width), fullest(group, sources, width, 128 // width))
            high += min(len(group), len(lines) * everything)
            continue
        costs = [0]
        if lines:
            costs = [
                sum(
                    arbitrate(width, [lane for lane in group if sources[lane] // 128 in part], addresses, sources)
                    for part in cutting
                )
                for cutting in cuttings(lines)
            ]
        low, high = low + min(costs), high + max(costs)
    return low, high


def cuttings(items):
    """All partitions of a list into sets."""
    if len(items) == 1:
        return [[items]]
    result = []
    for rest in cuttings(items[1:]):
        result.append([[items[0]], *rest])
        result += [[*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]] for i in range(len(rest))]
    return result


def line_class_max(lanes, addresses):
    pairs = {(lane // 8, addresses[lane] // 128) for lane in lanes}
    return max(sum(line % 4 == c for _, line in pairs) for c in range(4))


def generic(banks, word, threads, broadcast, width, lanes, addresses):
    """((low, high), ideal) on the abstract machine, with one request of a word per lane for each word of the width."""
    low = high = ideal = 0
    for part in range(max(1, width // word)):
        at = [address + part * word for address in addresses]
        for group in cut(lanes, min(banks, threads), threads):
            if not group:
                continue
            ideal += 1
            if broadcast == "any":
                cost = worst_bank(group, at, min(width, word), banks, word)
                low, high = low + cost, high + cost
            elif broadcast == "none":
                cost = fullest(group, at, word, banks)
                low, high = low + cost, high + cost
            else:
                few, most = steps([at[lane] // word for lane in group], banks)
                low, high = low + few, high + most
    return (low, high), ideal


def steps(words, banks):
    """(fewest, most) steps over all choices of the broadcast word and of the lanes served with it."""
    count = defaultdict(lambda: defaultdict(int))
    for w in words:
        count[w % banks][w] += 1
    return play(tuple(sorted(tuple(sorted(by_word.values())) for by_word in count.values())))


@cache
def play(state):
    """state: for each bank with remaining lanes, the number of lanes on each word."""
    if not state:
        return 0, 0
    results = []
    for b, counts in enumerate(state):
        for i in {counts.index(c) for c in counts}:
            others = [serve_one(other) for k, other in enumerate(state) if k != b]
            for rest in product(*others):
                after = [counts[:i] + counts[i + 1 :], *rest]
                results.append(play(tuple(sorted(bank for bank in after if bank))))
    return 1 + min(r[0] for r in results), 1 + max(r[1] for r in results)


def serve_one(counts):
    """The possible states of a bank after one of its lanes was served."""
    return {tuple(sorted(c for c in counts[:i] + (counts[i] - 1,) + counts[i + 1 :] if c)) for i in range(len(counts))}
