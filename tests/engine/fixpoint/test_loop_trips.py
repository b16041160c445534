"""The effect of a loop's trip, derived from its code alone."""

from ptxaudit.engine.fixpoint.trips import Piece, trip_of
from ptxaudit.ir.nodes import Const, Guard, Op, Reg

I, J, N, P = Reg("i", 32), Reg("j", 32), Reg("n", 32), Reg("p", 1)
STEP = Op("add", (I,), (I, Const(4)), 32)
TEST = Op("setp.lt.u", (P,), (I, N), 32)
WRITTEN, CARRIED = frozenset(("i", "j", "p")), ("i", "j")


def trip(*blocks):
    """blocks: (operations, once, inner); the last may leave the loop under p."""
    pieces, at = [], 0
    for place, (ops, once, inner) in enumerate(blocks):
        last = place == len(blocks) - 1
        pieces.append(Piece(tuple(enumerate(ops, at)), once, inner, last, Guard(P) if last else None))
        at += len(ops)
    return trip_of(pieces, WRITTEN, CARRIED)


def test_counter_is_an_induction_variable_and_its_comparison_the_exit():
    found = trip(([STEP, TEST], True, False))
    assert found.moved == ("i",) and found.leaving == (Guard(P),)
    assert found.steps == ((0, STEP), (1, TEST))
    assert "i" not in found.tangled


def test_register_without_a_constant_step_is_tangled():
    ring = Op("select", (J,), (Const(0), J, P), 32)
    assert trip(([STEP, ring, TEST], True, False)).tangled >= {"j"}
    assert trip(([Op("xor", (J,), (J, Const(1)), 32), STEP, TEST], True, False)).moved == ("i",)


def test_only_operations_executed_once_per_trip_are_steps():
    sometimes = Op("add", (J,), (J, Const(1)), 32)
    for inner in (False, True):
        found = trip(([sometimes], False, inner), ([STEP, TEST], True, False))
        assert found.moved == ("i",) and sometimes not in [op for _, op in found.steps]
    guarded = Op("add", (J,), (J, Const(1)), 32, guard=Guard(P))
    assert trip(([guarded, STEP, TEST], True, False)).tangled >= {"j"}


def test_exit_predicate_written_outside_the_trip_is_unknown():
    opaque = Op("vote.any of nobody", (P,), (I,), 1)
    assert trip(([STEP], True, False), ([opaque], False, False)).leaving == (None,)
