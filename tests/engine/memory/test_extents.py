"""Intervals of bytes that stores may write, compared with sets of bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxaudit.engine.domain.value import Uniform, Value
from ptxaudit.engine.memory.extents import NOTHING, Extent, Intervals, united
from ptxaudit.engine.memory.given import Given

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=8)
LANES = np.ones((1, 32), bool)
ONE_BLOCK = np.zeros((1, 3), np.int64)
BUFFER = np.zeros(4096, np.uint8)
AT = 0x7F0000000000
MEMORY = Given(((AT, BUFFER),), (False,), frozenset(), {})


def intervals(spans):
    return united(Intervals(np.array([low], np.int64), np.array([low + size], np.int64)) for low, size in spans)


def in_bytes(spans):
    return {byte for low, size in spans for byte in range(low, low + size)}


@given(SPANS)
def test_united_intervals_are_disjoint_and_have_the_same_bytes(spans):
    found = intervals(spans)
    assert in_bytes(zip(found.low.tolist(), (found.high - found.low).tolist())) == in_bytes(spans)
    assert (found.low[1:] > found.high[:-1]).all()


@given(SPANS, st.integers(1, 16))
def test_touched_bytes_are_those_of_an_interval(spans, size):
    places = np.arange(-20, 90)
    touched = [not in_bytes(spans).isdisjoint(range(at, at + size)) for at in places.tolist()]
    assert intervals(spans).touched(places, size).tolist() == touched


def collected(address, low=ONE_BLOCK, high=ONE_BLOCK, symbol=None, times=1, memory=MEMORY, active=LANES):
    extent = Extent(4, memory)
    extent.add(address, active, low, high, symbol, times)
    return extent


def lanes(step, *terms):
    return Value(np.uint64(AT) + np.arange(32, dtype=np.uint64)[None] * np.uint64(step), terms)


def factor(number):
    return np.full((1, 1), number, np.int64).view(np.uint64)


def test_lanes_that_touch_are_one_interval():
    found = collected(lanes(4)).bytes()
    assert (found.low.tolist(), found.high.tolist()) == ([AT], [AT + 128])
    assert len(collected(lanes(8)).bytes().low) == 32


@pytest.mark.parametrize("step", (8, -8))
def test_block_index_spans_its_box(step):
    block = Uniform("ctaid.x", 64, kind="block", key=("ctaid", 0))
    low, high = np.array([[2, 0, 0]]), np.array([[5, 0, 0]])
    found = collected(lanes(0, (block, factor(step))), low, high).bytes()
    assert (found.low.tolist(), found.high.tolist()) == (
        [AT + min(2 * step, 5 * step)],
        [AT + max(2 * step, 5 * step) + 4],
    )


def test_rounds_of_a_loop_span_their_number():
    symbol = Uniform("k", 64, kind="rounds", key=(1,))
    found = collected(lanes(0, (symbol, factor(100))), symbol=symbol, times=10).bytes()
    assert (found.low.tolist(), found.high.tolist()) == ([AT], [AT + 904])
    assert collected(lanes(0, (symbol, factor(100)))).missing


def test_unknown_without_a_range_is_missing():
    assert collected(lanes(4, (Uniform("x", 64, key=(1,)), factor(4)))).missing
    assert collected(Value(np.zeros((1, 1), np.uint64), poison=LANES)).missing
    assert collected(lanes(4, (Uniform("x", 64, key=(1,)), factor(4))), active=~LANES).bytes() is NOTHING


def test_pointer_to_an_invented_address_stays_within_its_buffer():
    """What lies beside the buffer in a real launch is unknown, and so is what a number points to."""
    pointer = Uniform("p", 64, kind="pointer", key=("param", 0, 64))
    memory = Given(((AT, BUFFER),), (False,), frozenset(), {}, pointers={pointer.key: AT})
    at = lambda offset, count=1: Value(
        factor(offset) + np.arange(32, dtype=np.uint64)[None] * np.uint64(4), ((pointer, factor(count)),)
    )
    assert collected(at(64), memory=memory).bytes().low.tolist() == [AT + 64]
    assert collected(at(4096 - 128), memory=memory).missing is None
    for one in (at(4096 - 124), at(-4), at(0, 2), lanes(4)):
        assert collected(one, memory=memory).missing
