"""Induction variables: the step between two trips determines the value in every trip."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Uniform, Value, constant, known, opaque, same, unknown
from ptxaudit.engine.exec.induction import after_trips, at_trip, moves_by, stays, step_between
from ptxaudit.engine.ops.halves import UpperHalf
from ptxaudit.ir.reasons import Kind, Reason

TRIP = Uniform("k", 64, 0, 0, None, "loop", ("trip", 1))
LANE = np.arange(LANES, dtype=np.uint32)[None, :]
N = unknown(Uniform("n", 32, key="n"))
STARTS = {"number": constant(40, 32), "by lane": known(7 * LANE), "pointer": affine.add(N, known(4 * LANE))}
STEPS = {"number": constant(32, 32), "by lane": known(3 * LANE), "back": constant(2**32 - 8, 32)}
COUNT = partial(unknown, TRIP)


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_value_after_k_trips_holds_for_every_k(start, step):
    head = after_trips(start, step, COUNT)
    value = start
    for k in range(5):
        assert same(at_trip(head, TRIP.key, k), value)
        behind = affine.add(value, step)
        found = step_between(value, behind)
        assert found is not None and same(found, step)
        value = behind
    assert moves_by(head, affine.add(head, step), step)
    assert not moves_by(head, affine.add(head, affine.add(step, constant(1, 32))), step)
    assert stays(head, head) and not stays(head, affine.add(head, constant(4, 32)))


def test_register_pair_steps_as_one_64_bit_number():
    wide = affine.fit(affine.add(constant(1 << 40, 64), known(LANE.astype(np.uint64))), 64)
    before, after = UpperHalf(wide), UpperHalf(affine.add(wide, constant(1 << 20, 64)))
    step = step_between(before, after)
    assert isinstance(step, UpperHalf) and step.whole.base.flat[0] == 1 << 20
    head = after_trips(before, step, COUNT)
    assert isinstance(head, UpperHalf) and same(
        at_trip(head, TRIP.key, 3).whole, affine.add(wide, constant(3 << 20, 64))
    )
    assert moves_by(before, after, step) and stays(before, UpperHalf(wide)) and not stays(before, after)


def test_values_without_a_numeric_difference_have_no_step():
    gone = opaque(32, Reason(Kind.LOADED, 0))
    true = Value(np.ones((1, 1), bool))
    assert step_between(constant(1, 32), gone) is None and step_between(gone, constant(1, 32)) is None
    assert step_between(true, true) is None and step_between(constant(1, 32), constant(1, 64)) is None
