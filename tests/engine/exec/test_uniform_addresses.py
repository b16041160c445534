"""A uniform register is one number for all lanes that are issued together, even if it is unknown."""

from __future__ import annotations

import numpy as np
import pytest
from memory_view import view

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Value, opaque
from ptxaudit.engine.exec.warp_step import base_of
from ptxaudit.ir.nodes import Reg, Site
from ptxaudit.ir.reasons import Kind, Reason

LANE = np.arange(LANES, dtype=np.uint32)[None, :]
LOADED = Reason(Kind.LOADED, 3)
VALUES = {
    "nothing is known": opaque(32, LOADED),
    "low bits known": Value(LANE * 0 + 0x50, valid=24),
    "low bits are known, another of each lane": Value(LANE, valid=8),
}


def base(value: Value, uniform: bool) -> Value:
    """The value of a register as the address of an LDS."""
    seen = view()
    seen.registers.values["UR6"] = value
    return base_of(Site("LDS", Reg("UR6", 32, uniform)), seen, 0)


@pytest.mark.parametrize("what", VALUES)
def test_uniform_address_is_one_value_for_all_lanes(what):
    found = base(VALUES[what], True)
    assert found.poison is None and found.valid is None and found.uniform
    ((symbol, factor),) = found.terms
    assert symbol.data == (what == "nothing is known")
    if what == "low bits known":
        assert found.base.tolist() == [[0x50]] and factor.tolist() == [[1 << 24]]


@pytest.mark.parametrize("what", VALUES)
def test_other_registers_keep_a_value_per_lane(what):
    assert base(VALUES[what], False) is VALUES[what]


def test_known_uniform_address_is_unchanged():
    known = Value(LANE * 0 + 64)
    assert base(known, True) is known
