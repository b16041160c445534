"""Convergence barriers that lanes may not be in, on code of a few instructions."""

from machine_code import STATED

from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.held_barriers import unheld

P, KEPT = ir.Reg("P0", 1), ir.Reg("R4", 32)
B0, B1 = ir.Reg("B0", 32), ir.Reg("B1", 32)


def _at_branches(*parts: dict) -> dict[int, set[str]]:
    """branch -> the barriers that lanes may not be in there."""
    code = tuple(ir.Instruction(k, 16 * k, "", "", **part) for k, part in enumerate(parts))
    function = ir.Function("k", "sass", "sm_90", code, **STATED)
    flow = graph.build(function)
    found = unheld(flow)
    return {
        i.index: set(found[flow.block_of[i.index]])
        for i in code
        if i.control is not None and i.control.kind == "branch"
    }


def _control(kind: str, barrier: ir.Reg | None = None, *targets: int, when: bool = False) -> dict:
    return {"control": ir.Control(kind, targets, ir.Guard(P) if when else None, barrier)}


def test_barrier_is_held_from_its_bssy_to_its_bsync():
    assert _at_branches(
        _control("branch", None, 2, when=True),  # 0: before
        {},
        _control("open", B0, 5),
        _control("branch", None, 4, when=True),  # 3: inside
        {},
        _control("sync", B0),
        _control("branch", None, 7, when=True),  # 6: used up
        _control("exit"),
    ) == {0: {"B0"}, 3: set(), 6: {"B0"}}


def test_barrier_set_on_one_path_only_may_not_be_held():
    assert _at_branches(
        _control("branch", None, 2, when=True),
        _control("open", B0, 4),
        _control("branch", None, 3, when=True),
        _control("sync", B0),
        _control("exit"),
    ) == {0: {"B0"}, 2: {"B0"}}


def test_guarded_break_leaves_the_barrier_to_the_other_lanes():
    assert _at_branches(
        _control("open", B1, 4),
        _control("leave", B1, when=True),
        _control("branch", None, 4, when=True),
        _control("leave", B1),
        _control("branch", None, 5, when=True),
        _control("exit"),
    ) == {2: set(), 4: {"B1"}}


def test_saved_barrier_is_held_again_once_restored():
    save = {"ops": (ir.Op("barrier.save", (KEPT,), (B0,)), ir.Op("barrier.clear", (), (B0,)))}
    restore = {"ops": (ir.Op("barrier.restore", (), (B0, KEPT)),)}
    assert _at_branches(
        _control("open", B0, 5),
        save,
        _control("branch", None, 3, when=True),
        restore,
        _control("branch", None, 5, when=True),
        _control("sync", B0),
        _control("exit"),
    ) == {2: {"B0"}, 4: set()}
