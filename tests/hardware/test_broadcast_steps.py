"""Steps with one broadcast word: the fewest and most against an exhaustive search over all choices."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.banks.broadcast import steps


@settings(max_examples=300, deadline=None)
@given(words=st.lists(st.integers(0, 11), min_size=1, max_size=9), banks_=st.integers(1, 4))
def test_broadcast_steps_equal_exhaustive_search(words, banks_):
    machine = machines.get(f"banks={max(banks_, len(words))},word=4,threads={len(words)},broadcast=one")
    count = machine.rule(banks.classify("ld.shared.f32")).count
    few_banks = type(count)(count.what, count.lanes, count.unit, banks_, 4 * banks_)
    low, high, *_ = steps(few_banks, np.array([words]) * 4, np.ones((1, len(words)), bool))
    assert (low[0], high[0]) == reference.steps(words, banks_)


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.integers(0, 50), min_size=32, max_size=32), mask=st.integers(0, (1 << 32) - 1))
def test_tesla_half_warps_equal_exhaustive_search(words, mask):
    """Words in three banks, so that the search can be exhaustive."""
    words = [16 * (w // 3) + w % 3 for w in words]
    active = np.array([[bool(mask >> lane & 1) for lane in range(32)]])
    scores = banks.score(machines.get("tesla"), banks.classify("ld.shared.f32"), np.array([words]) * 4, active)
    halves = [[words[lane] for lane in range(start, start + 16) if mask >> lane & 1] for start in (0, 16)]
    games = [reference.steps(half, 16) for half in halves]
    assert (scores.low[0], scores.high[0]) == tuple(map(sum, zip(*games, strict=True)))
    assert scores.ideal[0] == sum(1 for half in halves if half) <= scores.low[0]


@pytest.mark.parametrize("threads", [5, 12, 30])
def test_smaller_last_group_equals_exhaustive_search(threads):
    machine = machines.get(f"banks=12,word=4,threads={threads},broadcast=one")
    row = np.array([[48 * (lane % 3) for lane in range(threads)]])
    scores = banks.score(machine, banks.classify("ld.shared.f32"), row, np.ones((1, threads), bool))
    games = [reference.steps([int(a) // 4 for a in row[0, start : start + 12]], 12) for start in range(0, threads, 12)]
    assert (scores.low[0], scores.high[0]) == tuple(map(sum, zip(*games, strict=True)))
