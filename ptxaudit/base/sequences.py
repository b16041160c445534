"""Aligns two sequences of tokens: finds the pairs of a common subsequence in nearly linear time.

a b c d    a x c d    ->    (0, 0), (2, 2), (3, 3)

difflib is quadratic where tokens repeat, as opcodes do: two sequences of eight opcodes take 0.02 s for 1,000 tokens
and 0.7 s for 4,000. Its remedy (`autojunk`) ignores frequent tokens, and then pairs 6 of 3,904. So equal ends are
removed first, and a middle that would still take too long is paired by order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

LONGEST_DIFFLIB = 2_000_000  # comparisons; above it, equal tokens pair by their order


def align(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int, int]]:
    """Index pairs of a common subsequence of two token sequences, increasing in both.

    Equal ends pair at once. The middle goes through difflib, unless so many tokens repeat that this would be
    quadratic: then each token pairs with the next equal one.
    """
    old = [tuple(token) if isinstance(token, list) else token for token in old]
    new = [tuple(token) if isinstance(token, list) else token for token in new]
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    pairs = [(at, at) for at in range(start)]
    pairs += [(start + i, start + j) for i, j in _align_middle(middle_old, middle_new)]
    return pairs + [(len(old) - back, len(new) - back) for back in range(end, 0, -1)]


def _align_middle(old: list[Hashable], new: list[Hashable]) -> list[tuple[int, int]]:
    positions: dict[Hashable, list[int]] = defaultdict(list)
    for at, token in enumerate(new):
        positions[token].append(at)
    if sum(len(positions.get(token, ())) for token in old) > LONGEST_DIFFLIB:
        return _align_by_order(old, positions)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(block.a + k, block.b + k) for block in matcher.get_matching_blocks() for k in range(block.size)]


def _align_by_order(old: list[Hashable], positions: dict[Hashable, list[int]]) -> list[tuple[int, int]]:
    """Greedy: each old token pairs with the next equal new one that keeps the order."""
    pairs: list[tuple[int, int]] = []
    last = -1
    taken = {token: iter(places) for token, places in positions.items()}
    for at, token in enumerate(old):
        for place in taken.get(token, ()):
            if place > last:
                pairs.append((at, place))
                last = place
                break
    return pairs


def _common(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The length of the common prefix."""
    missing = object()
    for at, (x, y) in enumerate(zip_longest(a, b, fillvalue=missing)):
        if x != y:
            return at
    return len(a)
