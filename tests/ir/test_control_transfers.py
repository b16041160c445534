"""The table of control transfers: for every kind, the graph and the lanes agree."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Uniform, Value, known, opaque, unknown
from ptxaudit.engine.exec.control import destinations, rows_of, torn
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import Registers, View
from ptxaudit.ir import graph
from ptxaudit.ir.blocks import END
from ptxaudit.ir.nodes import Control, ControlKind, Function, Guard, Instruction, Op, Reg
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.ir.transfers import ENDS, ON, RETURNS, taken

TARGETS = {"branch": (3,), "switch": (2, 3, 4), "call": (3,)}
PLACES = {"branch": {3}, "switch": {2, 3, 4}, "call": {3}, "exit": {ENDS}, "ret": {RETURNS}}
PREDICATE, SELECTOR = Reg("p", 1), Reg("s", 32)
RNG = np.random.default_rng(3)


def control(kind: ControlKind) -> Control:
    guard = None if kind == "switch" else Guard(PREDICATE, negated=True)
    return Control(kind, TARGETS.get(kind, ()), guard, selector=SELECTOR if kind == "switch" else None)


def function(transfer: Control) -> Function:
    code = [Instruction(k, k, "mov", "mov", ops=(Op("mov", (Reg(f"r{k}", 32),), (Reg("x", 32),)),)) for k in range(5)]
    code[1] = Instruction(1, 1, "transfer", "transfer", control=transfer)
    return Function("k", "ptx", "sm_90", (*code, Instruction(5, 5, "exit", "exit", control=Control("exit"))))


def seen(transfer: Control, mask: np.ndarray, **values: Value) -> View:
    none = np.zeros((1, 1), np.uint32)
    env = Environment(function(transfer), mask, (none, none, none), np.zeros((len(mask), 1), np.uint32))
    view = View(Registers(len(mask)), env, None, mask, bool(mask.all()))
    view.registers.values.update(values)
    return view


@pytest.mark.parametrize("kind", get_args(ControlKind))
def test_transfer_targets_equal_the_table(kind):
    assert set(taken(control(kind))) == PLACES.get(kind, {ON})
    flow = graph.build(function(control(kind)))
    block = flow.block_of[1]
    places = PLACES.get(kind, {ON})
    if places == {ON}:
        assert kind == "sync" or flow.block_of[2] == block  # it ends no block unless lanes wait there
        return
    blocks = {END if at in (ENDS, RETURNS) else flow.block_of[at] for at in places}
    assert set(flow.cfg.successors(block)) == blocks | (set() if kind == "switch" else {flow.block_of[2]})


@pytest.mark.parametrize("kind", get_args(ControlKind))
def test_active_lane_takes_exactly_one_edge(kind):
    transfer = control(kind)
    for _ in range(20):
        mask = RNG.random((3, LANES)) < 0.7
        p, s = RNG.random((3, LANES)) < 0.5, RNG.integers(0, 3, (3, LANES)).astype(np.uint32)
        view = seen(transfer, mask, p=known(p), s=known(s))
        found = destinations(view.env.function.instructions[1], transfer, mask, lambda: view)
        assert isinstance(found, list)
        assert (np.sum([lanes for _, lanes in found], axis=0) == mask).all()
        if kind == "switch":
            assert all((s[lanes] == TARGETS[kind].index(at)).all() for at, lanes in found)
        else:
            assert found[0][0] in PLACES.get(kind, {ON}) and (found[0][1] == mask & ~p).all() and found[1][0] == 2
        several = [len({at for at, lanes in found if lanes[row].any()}) > 1 for row in range(3)]
        assert torn(rows_of(found)).tolist() == several


@pytest.mark.parametrize("kind", ("branch", "switch", "exit", "ret", "call"))
def test_unknown_condition_of_an_active_lane_is_returned(kind):
    transfer, mask = control(kind), np.arange(LANES)[None, :] < 8
    choice = unknown(Uniform("n", 32, key="n"))
    some = Value(np.zeros((1, LANES), np.uint32), poison=np.arange(LANES)[None, :] == 3, why=Reason(Kind.LOADED, 0))
    bits = opaque(1, Reason(Kind.LOADED, 0))
    for p, s in ((bits, choice), (bits, some)):
        view = seen(transfer, mask, p=p, s=s)
        assert isinstance(destinations(view.env.function.instructions[1], transfer, mask, lambda: view), Value)


def test_selector_out_of_range_is_unknown():
    transfer, mask = control("switch"), np.ones((1, LANES), bool)
    view = seen(transfer, mask, s=known(np.full((1, LANES), 7, np.uint32)))
    found = destinations(view.env.function.instructions[1], transfer, mask, lambda: view)
    assert isinstance(found, Value) and found.why is not None and found.why.kind is Kind.BRANCH_TARGET
