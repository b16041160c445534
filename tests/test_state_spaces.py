"""The one protocol of memory: every state space has its memories, and each yields what was stored there, per lane."""

from __future__ import annotations

import numpy as np
import pytest

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Value, constant, known, opaque
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.memory.environment import Environment, Facts
from ptxaudit.engine.memory.given import Given
from ptxaudit.engine.memory.registers import Registers, View
from ptxaudit.engine.memory.state_spaces import CONSTANTS, MEMORIES, memories
from ptxaudit.ir.nodes import MATRICES, Const, Function, Guard, Instruction, Op, Parameter, Reg, Variable
from ptxaudit.ir.reasons import Kind, Reason

SPACES = ("global", "shared", "shared::cluster", "local", "param", "const", "const:3", "generic")
LANE = np.arange(LANES, dtype=np.uint32)[None, :]
BUFFER = np.arange(512, dtype=np.uint32).view(np.uint8)
TABLE = np.arange(100, 164, dtype=np.uint32)
START = 0x10_0000_0000
GONE = opaque(1, Reason(Kind.UNWRITTEN, given=("%p",)))


def view(facts: Facts = Facts(), *others: Op) -> View:
    """What 32 lanes see, in a function with a load and these operations."""
    load = Op("load", (Reg("r", 32),), (Reg("a", 64),), space="generic")
    function = Function(
        "k",
        "ptx",
        "sm_90",
        (Instruction(0, 0, "ld", "ld", ops=(load, *others)),),
        parameters=(Parameter("n", 0, 4), Parameter("m", 4, 4)),
        variables=(Variable("t", "const:3", TABLE.nbytes, 4, 0, TABLE.tobytes()),),
    )
    mask = np.ones((1, LANES), bool)
    env = Environment(
        function, mask, (LANE, LANE * 0, LANE * 0), LANE[:, :1], param_bytes=bytes([7, 0, 0, 0]), param_known=b"\1" * 4
    )
    env.facts = facts
    seen = View(Registers(1), env, None, mask, True)
    for name, value in {"a": known(LANE.astype(np.uint64) * 4), "v": known(LANE * 3), "p": GONE}.items():
        seen.registers.values[name] = value
    return seen


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
