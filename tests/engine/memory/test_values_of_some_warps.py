"""What other warps hold in a register neither makes a value unknown nor different between lanes."""

from __future__ import annotations

import numpy as np
from memory_view import view

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.truths import extended
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    MAX_TERMS,
    Uniform,
    Value,
    constant,
    known,
    one_per_warp,
    opaque,
    unknown,
)
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import Registers, View, guard_mask, known_among
from ptxaudit.ir.nodes import Const, Guard, Op, Reg
from ptxaudit.ir.reasons import Kind, Reason

LOADED = Reason(Kind.LOADED, 0)
ONE, OTHER = (Uniform(name, key=(name,)) for name in ("one", "other"))
TRUTH = Uniform("truth", 1, key=("truth",))
P, R, UR = Reg("p", 1), Reg("r", 32), Reg("UR4", 32, True)
FIRST = np.array([[True], [False]])  # of two warps


def of_two_warps() -> View:
    """Two warps, of which the lanes of the first are together."""
    env = view().env
    mask = np.broadcast_to(FIRST, (2, LANES))
    exists = np.ones((2, LANES), bool)
    lane = np.arange(LANES, dtype=np.uint32)[None, :]
    both = Environment(env.function, exists, (lane, lane * 0, lane * 0), lane[:, :1])
    return View(Registers(2), both, None, mask, False, alive=exists, path=True)


def in_first(value: Value, other: Value) -> Value:
    """A register with one value in the first warp and another in the second."""
    seen = of_two_warps()
    seen.registers.values["x"] = other
    seen.write(Reg("x", value.bits), value, None)
    return seen.registers.values["x"]


def test_unknown_number_of_some_warps_is_one_for_all_their_lanes():
    value = one_per_warp(Value(known(FIRST * np.uint32(7)).base, poison=~FIRST, why=LOADED), ONE)
    ((symbol, times),) = value.terms
    assert value.poison is None and value.uniform and symbol == ONE
    assert value.base.tolist() == [[7], [0]] and times.tolist() == [[0], [1]]


def test_value_without_unknown_lanes_is_unchanged():
    value = known(np.arange(LANES, dtype=np.uint32)[None, :])
    assert one_per_warp(value, ONE) is value


def test_what_is_unknown_in_other_warps_is_known_among_these():
    mixed = in_first(unknown(ONE), opaque(32, LOADED))
    assert mixed.poison is not None
    mine = known_among(mixed, of_two_warps().mask)
    assert mine.poison is None and [u for u, _ in mine.terms] == [ONE]
    assert known_among(mixed, ~of_two_warps().mask) is mixed


def test_unknowns_of_other_warps_are_not_read():
    seen = of_two_warps()
    seen.registers.values["r"] = in_first(unknown(ONE), unknown(OTHER))
    assert [u for u, _ in seen.read(R).terms] == [ONE]


def test_negated_guard_is_one_truth_value_although_another_warp_has_none():
    seen = of_two_warps()
    seen.registers.values["p"] = in_first(unknown(TRUTH), opaque(1, LOADED))
    lanes, undecided = guard_mask(seen, Guard(P, True))
    assert lanes is None and undecided is not None and undecided.poison is None and undecided.uniform


def test_selection_by_a_guard_is_one_number_although_another_warp_has_none():
    seen = of_two_warps()
    seen.registers.values |= {
        "p": in_first(unknown(TRUTH), opaque(1, LOADED)),
        "r": in_first(unknown(ONE), opaque(32, LOADED)),
    }
    _, undecided = guard_mask(seen, Guard(P, False))
    assert undecided is not None
    seen.write_perhaps(R, in_first(unknown(OTHER), opaque(32, LOADED)), Guard(P, False), undecided, 0, {})
    assert known_among(seen.registers.values["r"], seen.mask).uniform
    assert seen.read(R).poison is None or not (seen.read(R).poison & seen.mask).any()


def test_uniform_register_holds_one_number_per_warp():
    seen = of_two_warps()
    before = seen.read(UR)
    assert before.poison is None and before.uniform
    seen.write(UR, opaque(32, LOADED), None)
    (symbol, _), *_ = seen.read(UR).terms
    assert seen.read(UR).poison is None and symbol.data and "loaded" in symbol.name


def test_uniform_register_of_diverged_lanes_is_unknown():
    seen = of_two_warps()
    seen.grouped = False
    seen.write(UR, opaque(32, LOADED), None)
    assert seen.read(UR).poison is not None


def test_uniform_register_keeps_known_bits():
    seen = of_two_warps()
    sure = np.array([[0xF0]], np.uint32)
    seen.write(UR, Value(sure * 0 + 0x30, poison=EVERYWHERE, why=LOADED, sure=sure), None)
    held = seen.read(UR)
    assert held.sure is not None and held.sure.tolist() == [[0xF0]] and held.base[0, 0] == 0x30


def test_predicate_that_is_unknown_in_some_warps_is_a_number():
    number = extended(in_first(unknown(TRUTH), known(np.array([[True]]))), 32)
    assert number is not None and number.poison is None
    ((symbol, times),) = number.terms
    assert (
        (symbol.low, symbol.high) == (0, 1) and times[:, 0].tolist() == [1, 0] and number.base[:, 0].tolist() == [0, 1]
    )


def test_negated_unknown_predicate_is_no_such_number():
    assert extended(Value(np.array([[True]]), unknown(TRUTH).terms), 32) is None


def test_sum_with_carry_is_one_number_of_the_active_lanes():
    """Some lanes have exited, and their registers hold something else: too many unknowns to keep them by lane."""
    seen = view()
    seen.mask, seen.full = np.arange(LANES)[None, :] < 20, False
    terms = tuple((Uniform(f"u{k}", key=(k,)), seen.mask.astype(np.uint32)) for k in range(MAX_TERMS))
    seen.registers.values |= {"r": Value(constant(0, 32).base, terms), "one": unknown(ONE)}
    total, carry = Reg("total", 32), Reg("carry", 1)
    sources = (R, Reg("one", 32), Const(0, 32), Const(0, 1), Const(0, 1))
    execute(Op("add3.carry", (total, carry, None), sources, 32), seen, 0)
    found = known_among(seen.read(total), seen.mask)
    assert found.poison is None and found.uniform and found.terms
