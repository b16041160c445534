"""Values in %ctaid while a row stands for many blocks: a box of block indices, first to last in each dimension.

    a row with ctaid.x in 0…7        ctaid.x < 8       true in all of the box
                                     4·ctaid.x < 16    undecided; cut at 4, and just after it, each side is decided

`low` and `high` are (rows, 3) everywhere: the first and the last index of each row's box.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import throughout
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.comparisons import outcomes
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Uniform, Value, ends_of, is_block_index, signed
from ptxaudit.engine.ops.halves import WORD

DIMENSIONS = (0, 1, 2)


def block_terms(value: Value) -> set[Uniform]:
    """The unknowns of a value that are block indices or derived from them."""
    return {u for u, _ in value.terms if u.kind == "block"}


def dimensions(symbols: set[Uniform]) -> set[int]:
    """The dimensions from which these unknowns are derived."""
    return {d for u in symbols for d in DIMENSIONS if u.blocks >> d & 1}


def made_of(symbol: Uniform, symbols: set[Uniform]) -> bool:
    """A derived unknown depends on one of the symbols."""
    return symbol.kind == "derived" and any(u.blocks & symbol.blocks for u in symbols)


Cuts = dict[int, tuple[int, list[int]]]  # row -> a dimension, and the indices that begin a new side
Decided = tuple[Value | None, Cuts] | None


def decide(relation: str, a: Value, b: Value, low: np.ndarray, high: np.ndarray) -> Decided:
    """Evaluates a comparison, "lt.u" or the like, of values whose only unknowns are block indices.

    Returns (result, {}) if each row's box decides it; (None, {row: (dimension, [cut, …])}) if some rows must be split,
    where a cut c separates the indices below c from those from c on; None if boxes cannot decide it.
    """
    if a.poison is not None or b.poison is not None or a.valid is not None or b.valid is not None:
        return None
    if not all(is_block_index(u) for v in (a, b) for u, _ in v.terms):
        return None
    kind, _, sign = relation.partition(".")
    half = 1 << (a.bits - 1)
    difference = affine.subtract(a, b)
    spans = [found for v in (a, b, difference) if (found := _span(v, low, high)) is not None]
    if len(spans) < 3:
        return None
    (a_low, a_high), (b_low, b_high), (least, most) = spans
    floor = 0 if sign == "u" else -half
    if min(a_low.min(), b_low.min()) < floor or max(a_high.max(), b_high.max()) >= half:
        return None  # it may wrap, or the two signs differ
    if (a_low - b_high).min() < -half or (a_high - b_low).max() >= half:
        return None
    if least.min() < -half or most.max() >= half:
        return None  # the form of the difference is off by 2**bits (`comparisons.difference_compares`)
    yes, no = outcomes(kind, least, most)
    undecided = ~(yes | no)
    return _cuts(difference, undecided, low, high) if undecided.any() else (Value(yes), {})


def decide_half(relation: str, whole: Value, number: int, low: np.ndarray, high: np.ndarray) -> Decided:
    """As `decide`, of the upper 32 bits of `whole`, which is 64 bits and whose only unknowns are block indices, and a
    32-bit number: rows are split where `whole` changes its sign.

    ISETP.GT.U32.AND.EX P, R3, RZ, …     R2:R3 = n - 2048*ctaid.x     negative from some block on
    """
    if whole.valid is not None or whole.alternatives is not None:
        return None
    if not all(is_block_index(u) for u, _ in whole.terms):
        return None
    span = _span(whole, low, high)
    if span is None:
        return None
    least, most = span
    crossing = (least < 0) & (most >= 0)
    if crossing.any():
        return _cuts(whole, crossing, low, high)
    kind, _, sign = relation.partition(".")
    if sign == "s":
        number = number - ((number >> WORD - 1) << WORD)
        least, most = least >> WORD, most >> WORD
    else:
        least, most = (least >> WORD) & (1 << WORD) - 1, (most >> WORD) & (1 << WORD) - 1
    yes, no = outcomes(kind, least - number, most - number)
    return (Value(yes), {}) if throughout(yes | no) else None


def _cuts(value: Value, undecided: np.ndarray, low: np.ndarray, high: np.ndarray) -> Decided:
    """The cuts at the zeros of a value in rows with an undecided lane; None if one has none."""
    wide: Callable[[np.ndarray], np.ndarray] = lambda numbers: np.broadcast_to(
        signed(numbers).astype(np.int64), (len(low), LANES)
    )
    base, factors = wide(value.base), {u.key[1]: wide(c) for u, c in value.terms}
    cuts: Cuts = {}
    for row in np.flatnonzero(undecided.any(axis=1)).tolist():
        cut = _cut(base[row], {d: c[row] for d, c in factors.items()}, low[row], high[row])
        if cut is None:
            return None
        cuts[row] = cut
    return None, cuts


def _span(value: Value, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The least and the greatest value in each row's box, per lane or once for all: int64; None if they may
    overflow.
    """
    if value.poison is not None:  # because of too many unknowns
        return None
    most_bits = max((abs(number).bit_length() for _, c in value.terms for number in ends_of(signed(c))), default=0)
    if max(most_bits + int(high.max()).bit_length(), *(abs(n).bit_length() for n in ends_of(signed(value.base)))) > 60:
        return None
    least = most = np.broadcast_to(signed(value.base).astype(np.int64), (len(low), max(1, value.base.shape[1])))
    for u, c in value.terms:
        c = signed(c).astype(np.int64)
        first, last = c * low[:, u.key[1]][:, None], c * high[:, u.key[1]][:, None]
        least, most = least + np.minimum(first, last), most + np.maximum(first, last)
    return least, most


def _cut(
    base: np.ndarray, factors: dict[int, np.ndarray], low: np.ndarray, high: np.ndarray
) -> tuple[int, list[int]] | None:
    """Where to cut the box of one row in which the sign of `base + Σ factor·index` changes; base and factors per lane.

    If it varies along one dimension only, the cuts are at its zeros and the two indices after them (a zero may lie
    between two indices, and le and gt change after it); otherwise one cut halves the longest dimension. None if there
    are no zeros.
    """
    varying = [d for d, c in factors.items() if low[d] < high[d] and c.any()]
    if not varying:
        return None
    longest = max(varying, key=lambda d: high[d] - low[d])
    first, last = int(low[longest]), int(high[longest])
    if len(varying) > 1:
        return longest, [(first + last + 1) // 2]
    fixed = base + sum(c * int(low[d]) for d, c in factors.items() if d != longest)
    points: set[int] = set()
    for value, c in set(zip(fixed.tolist(), factors[longest].tolist())):
        if c:
            root = -value // c  # floor of the index at which it is zero
            points.update(p for p in (root, root + 1, root + 2) if first < p <= last)
    return (longest, sorted(points)) if points else None
