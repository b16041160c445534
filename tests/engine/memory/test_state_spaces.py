"""The one protocol of memory: every state space has its memories, and each yields what was stored there, per lane."""

from __future__ import annotations

import numpy as np
import pytest
from memory_view import BUFFER, LANE, START, view

from ptxaudit.engine.domain.value import Value, constant, known, opaque
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.given import Given
from ptxaudit.engine.memory.registers import View
from ptxaudit.engine.memory.state_spaces import CONSTANTS, MEMORIES, memories
from ptxaudit.ir.nodes import MATRICES, Const, Guard, Op, Reg
from ptxaudit.ir.reasons import Kind, Reason

SPACES = ("global", "shared", "shared::cluster", "local", "param", "const", "const:3", "generic")


def loaded(seen: View, space: str, offset: int = 0, guard: Guard | None = None) -> Value:
    execute(Op("load", (Reg("r", 32),), (Reg("a", 64),), guard=guard, space=space, offset=offset), seen, 0)
    return seen.read(Reg("r", 32))


def test_every_state_space_maps_to_its_memories():
    assert set(MEMORIES) - {MATRICES} == {space for space in SPACES if not space.startswith("const")}
    assert memories("const") == memories("const:3") == CONSTANTS
    assert memories("texture") == ()


@pytest.mark.parametrize("space", SPACES)
def test_load_without_a_model_is_unknown_not_stale(space):
    seen = view()
    seen.registers.values["r"] = known(LANE)
    seen.registers.values["a"] = opaque(64, Reason(Kind.UNWRITTEN, given=("a",)))
    value = loaded(seen, space)
    assert value.terms or value.poison is not None and value.poison.all()


def test_parameter_is_its_specified_value_or_an_unknown():
    seen = view()
    seen.registers.values["a"] = constant(0, 64)
    assert loaded(seen, "param").known and loaded(seen, "param").base.flat[0] == 7
    (term,) = loaded(seen, "param", 4).terms
    assert term[0].name == "m"


def test_parameter_index_may_differ_between_lanes():
    seen = view()
    seen.registers.values["a"] = known((LANE % 2 * 4).astype(np.uint64))
    value = loaded(seen, "param")
    ((unknown, factor),) = value.terms
    assert unknown.name == "m" and (factor == LANE % 2).all() and (value.base == np.where(LANE % 2, 0, 7)).all()


def test_constant_memory_load_is_known():
    assert (loaded(view(), "const:3", 8).base == 102 + LANE).all()


def test_specified_buffer_load_is_known_within_its_bounds():
    facts = Facts(memory=Given(((START, BUFFER),), (True,), frozenset(), {}))
    for space in ("global", "generic"):
        assert (loaded(view(facts), space, START + 16).base == 4 + LANE).all()
        beyond = loaded(view(facts), space, START + BUFFER.nbytes - 64)
        assert (beyond.poison == (LANE >= 16)).all() and (beyond.base[:, :16] == 496 + LANE[:, :16]).all()


def test_local_memory_load_returns_the_stored_value():
    seen = view()
    seen.registers.values["a"] = constant(8, 64)
    execute(Op("store", (), (Reg("a", 64), Reg("v", 32)), space="local"), seen, 0)
    assert (loaded(seen, "local").base == 3 * LANE).all()
    execute(Op("store", (), (Reg("a", 64), Const(5)), guard=Guard(Reg("p", 1)), space="local"), seen, 0)
    value = loaded(seen, "local")  # the lanes in which it was overwritten are unknown
    assert value.poison is not None and value.poison.all()


@pytest.mark.parametrize("space", ["local", "shared"])
def test_store_that_may_be_local_invalidates_local_memory(space):
    """It may be local where the function makes generic addresses of local memory."""
    seen = view(Facts(), Op("cvta", (Reg("g", 64),), (Reg("a", 64),), 64, (space,)))
    execute(Op("store", (), (Const(8, 64), Reg("v", 32)), space="local"), seen, 0)
    seen.registers.values["a"] = opaque(64, Reason(Kind.LOADED, 0))
    execute(Op("store", (), (Reg("a", 64), Reg("v", 32)), space="generic"), seen, 0)
    assert any(isinstance(name, tuple) for name in seen.registers.values) is (space == "shared")
