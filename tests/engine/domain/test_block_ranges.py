"""Comparisons of values in %ctaid over boxes of block indices, against all indices one by one."""

from __future__ import annotations

import itertools
import operator
import random

import numpy as np
import pytest

from ptxaudit.engine.domain.value import Uniform, Value
from ptxaudit.engine.exec.block_ranges import decide, decide_half

LANES = 32
MOST_CUTS = 40
RELATIONS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
INDICES = [
    Uniform(f"ctaid.{axis}", 32, 0, 0, 1 << 16, "block", ("ctaid", d), blocks=1 << d) for d, axis in enumerate("xyz")
]


def random_value(rng: random.Random, bits: int = 32, far: int = 0) -> tuple[Value, callable]:
    """A value affine in some of the block indices, about `far`, and a function that evaluates it at one index."""
    base = [far + rng.randrange(-40, 200) + rng.choice((0, 1, 4)) * lane for lane in range(LANES)]
    factors = {
        d: [rng.choice((1, 4, -3)) + rng.choice((0, 0, 1)) * lane for lane in range(LANES)]
        for d in range(3)
        if rng.random() < 0.4
    }
    words = lambda numbers: np.array([numbers], np.int64).astype(f"u{bits // 8}")
    value = Value(words(base), tuple((INDICES[d], words(c)) for d, c in factors.items()))
    return value, lambda index: [n + sum(c[lane] * index[d] for d, c in factors.items()) for lane, n in enumerate(base)]


@pytest.mark.parametrize("seed", range(60))
def test_decided_comparison_holds_for_every_block(seed):
    rng = random.Random(seed)
    relation, compare = rng.choice(list(RELATIONS.items()))
    (a, a_at), (b, b_at) = random_value(rng), random_value(rng)
    assert_holds(
        rng,
        lambda low, high: decide(f"{relation}.s", a, b, low, high),
        lambda index: [compare(m, n) for m, n in zip(a_at(index), b_at(index))],
    )


@pytest.mark.parametrize("sign", ("u", "s"))
@pytest.mark.parametrize("relation, compare", RELATIONS.items())
@pytest.mark.parametrize("seed", range(8))
def test_decided_comparison_of_an_upper_half_holds_for_every_block(seed, relation, compare, sign):
    """Of 64-bit values that change their sign in some block, and of such that are far from zero."""
    rng = random.Random(seed)
    far = rng.choice((0, 0, 5 << 32, -3 << 32))
    number = rng.choice((0, 0, 1, 5, (1 << 32) - 1, (1 << 32) - 3))
    value, at = random_value(rng, 64, far)
    half = lambda n: (n >> 32) % (1 << 32)
    signed = lambda n: n - (n >> 31 << 32) if sign == "s" else n
    assert_holds(
        rng,
        lambda low, high: decide_half(f"{relation}.{sign}", value, number, low, high),
        lambda index: [compare(signed(half(n)), signed(number)) for n in at(index)],
    )


def test_upper_half_that_changes_within_a_row_is_undecided():
    value = Value(np.zeros((1, LANES), np.uint64), ((INDICES[0], np.full((1, 1), 1 << 31, np.uint64)),))
    ends = lambda last: (np.zeros((1, 3), np.int64), np.array([[last, 0, 0]], np.int64))
    assert decide_half("gt.u", value, 0, *ends(4)) is None
    assert decide_half("gt.u", value, 0, *ends(1))[0].base.any() == 0
    assert decide_half("gt.u", value, 2, *ends(4))[0].base.any() == 0


def assert_holds(rng, decided, truths) -> None:
    """A comparison is decided for random boxes, cut where it asks for that, as for each of their block indices."""
    low = [rng.randrange(4) for _ in range(3)]
    boxes = [(low, [first + rng.randrange(6) for first in low])]
    for _ in range(MOST_CUTS):  # each cut lies inside its box, so cutting terminates
        lows, highs = (np.array(ends, np.int64) for ends in zip(*boxes))
        result, cuts = decided(lows, highs)
        if result is not None:
            truth = np.broadcast_to(result.base, (len(boxes), LANES))
            for row, (first, last) in enumerate(boxes):
                for index in itertools.product(*(range(f, t + 1) for f, t in zip(first, last))):
                    assert truth[row].tolist() == truths(index)
            break
        halves = []
        for row, (first, last) in enumerate(boxes):
            d, points = cuts.get(row, (0, []))
            assert points == sorted(set(points)) and all(first[d] < p <= last[d] for p in points)
            for f, t in itertools.pairwise([first[d], *points, last[d] + 1]):
                halves.append(([*first[:d], f, *first[d + 1 :]], [*last[:d], t - 1, *last[d + 1 :]]))
        boxes = halves
    else:
        pytest.fail("rows are cut without end")


def test_comparison_of_a_value_that_may_wrap_is_undecided():
    x = Value(np.zeros((1, 1), np.uint32), ((INDICES[0], np.full((1, 1), 1 << 30, np.uint32)),))
    zero = Value(np.zeros((1, 1), np.uint32))
    assert decide("lt.s", x, zero, np.zeros((1, 3), np.int64), np.full((1, 3), 3)) is None
