"""Wavefronts of one request, by loops over lanes; loads and stores of shared memory from the sentences of the rule, the
rest (generic loads among them, which merge no groups) by `score_request`.

Bank of a byte address = (address / 4) mod 32. Up to 32 bits a lane: the whole warp, the most distinct words in one
bank. 64 bits: two half-warps, 128: four quarter-warps; loads merge pairs of groups when for every active lane i lane
i^1 is inactive or has the same address, or the same with i^2.
"""

from __future__ import annotations

from collections import defaultdict

from ptxaudit import score_request
from ptxaudit.base.errors import InputError

from .code import WIDTH

LANES, BANKS, WORD = 32, 32, 4


def plain(addresses: dict[int, int], width: int, is_load: bool) -> tuple[int, int]:
    """(wavefronts, ideal) of a load or store of `width` bytes a lane."""
    size = LANES if width <= WORD else LANES * WORD // width
    if is_load and width > WORD:
        for bit in (1, 2):
            if all(addresses.get(l ^ bit, a) == a for l, a in addresses.items()):
                size *= 2
                break
    wavefronts = ideal = 0
    for start in range(0, LANES, size):
        words = defaultdict(set)
        for lane in range(start, start + size):
            if lane in addresses:
                a = addresses[lane]
                for word in range(a // WORD, (a + width - 1) // WORD + 1):
                    words[word % BANKS].add(word)
        if words:
            ideal += 1
            wavefronts += max(map(len, words.values()))
    return wavefronts, ideal


def score(
    opcode: str,
    size: int | None,
    addresses: dict[int, int],
    sources: dict[int, int] | None = None,
    added: int | None = None,
    zeros=(),
):
    """(low, high, ideal) of one request with an active lane. size: cp.async's bytes; added: an atomic's constant;
    zeros: lanes of a cp.async that write zeros, apart from those that copy."""
    base, *words = opcode.split(".")
    types = [w for w in words if w in WIDTH]
    if base in ("ld", "st") and types and ("shared" in words or base == "st"):
        vector = next((int(w[1]) for w in words if w in ("v2", "v4", "v8")), 1)
        w, ideal = plain(addresses, WIDTH[types[-1]] // 8 * vector, base == "ld")
        return w, w, ideal
    row = [addresses.get(l, 0) for l in range(LANES)]
    active = sum(1 << l for l in addresses)
    from_row = None if sources is None else [sources.get(l, 0) for l in range(LANES)]
    try:
        s = score_request(
            opcode if size is None else f"{opcode} {size}",
            row,
            active,
            sources=from_row,
            operand=added,
            zero_filled=sum(1 << l for l in zeros),
        )
    except InputError:  # an access that has no rule
        return None, None, None
    if s.bounds is None:
        return None, None, None
    return *s.bounds, s.ideal
