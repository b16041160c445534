"""The dumb twin of `banks.score`: plain loops over lanes and words, written from the rules' own words.

It shares no code and no tables with the package: what it says and what the records say must agree.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import product

WARP = 32


def worst_bank(lanes, addresses, width, banks=32, word=4, segment=None):
    """Max over banks of the distinct words that the lanes need (or of the distinct segments, where one is given)."""
    found = defaultdict(set)
    for lane in lanes:
        for w in range(addresses[lane] // word, (addresses[lane] + width - 1) // word + 1):
            found[w % banks].add(w if segment is None else w // segment)
    return max(map(len, found.values()), default=0)


def fullest(lanes, addresses, unit, slots):
    """Max over slots of the lanes in it."""
    found = defaultdict(int)
    for lane in lanes:
        found[addresses[lane] // unit % slots] += 1
    return max(found.values(), default=0)


def cut(lanes, size, of=WARP):
    """The active lanes by consecutive groups of `size`."""
    return [[lane for lane in lanes if start <= lane < start + size] for start in range(0, of, size)]


def agree(lanes, addresses):
    return any(all(lane ^ d not in lanes or addresses[lane] == addresses[lane ^ d] for lane in lanes) for d in (1, 2))


def modern(operation, width, lanes, addresses):
    """(wavefronts, ideal, ways) of one request on Maxwell and later."""
    size = WARP if width <= 4 else 16 if width == 8 else 8
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


def sectors(width, lanes, addresses, sources):
    """cp.async.ca: (one source line a group?, the sum over pairs of group and source sector)."""
    total, one_line = 0, True
    for group in cut(lanes, 128 // width):
        one_line &= len({sources[lane] // 128 for lane in group}) <= 1
        for sector in {sources[lane] // 32 for lane in group}:
            total += fullest([lane for lane in group if sources[lane] // 32 == sector], addresses, width, 128 // width)
    return one_line, total


def line_class_max(lanes, addresses):
    pairs = {(lane // 8, addresses[lane] // 128) for lane in lanes}
    return max(sum(line % 4 == c for _, line in pairs) for c in range(4))


def generic(banks, word, threads, broadcast, width, lanes, addresses):
    """((low, high), ideal) on the abstract machine; one request of a word a lane for each word of the width."""
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
    """(fewest, most) steps over all choices of the broadcast word and of the lanes served beside it."""
    count = defaultdict(lambda: defaultdict(int))
    for w in words:
        count[w % banks][w] += 1
    return play(tuple(sorted(tuple(sorted(by_word.values())) for by_word in count.values())))


@lru_cache(maxsize=None)
def play(state):
    """state: for each bank that has lanes left, how many are on each word."""
    if not state:
        return 0, 0
    results = []
    for b, counts in enumerate(state):
        for i in {counts.index(c) for c in counts}:
            others = [serve_one(other) for k, other in enumerate(state) if k != b]
            for rest in product(*others):
                after = [counts[:i] + counts[i + 1:], *rest]
                results.append(play(tuple(sorted(bank for bank in after if bank))))
    return 1 + min(r[0] for r in results), 1 + max(r[1] for r in results)


def serve_one(counts):
    """What a bank can look like after one of its lanes was served."""
    return {tuple(sorted(c for c in counts[:i] + (counts[i] - 1,) + counts[i + 1:] if c)) for i in range(len(counts))}
