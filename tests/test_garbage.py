"""What is made for one kernel goes when it is done with: nothing of it waits in reference cycles for the collector."""

from __future__ import annotations

import gc

import pytest
from twin import generate

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.domain import value
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link

SEEDS = range(12)  # with calls, loops, data that is not given


def _audit(seed: int, launched: bool) -> None:
    one = generate.kernel(seed)
    grid, block, params = one.grid, one.block, one.params
    launch = Launch(one.name, grid=grid, block=block, params=params, dynamic_shared=one.dynamic, cluster=one.cluster)
    module = lift_module(parse_module(one.text))
    for kernel in module.kernels():
        function = link(module, kernel)
        machine, flow = machines.get("sm_90"), graph.build(function)
        engine.evaluate(function, flow, launch=launch if launched else None, machine=machine)


@pytest.mark.parametrize("launched", [False, True], ids=["not launched", "launched"])
def test_a_kernel_leaves_no_cycles(launched):
    _audit(0, launched)
    gc.collect()
    gc.freeze()  # what other tests have left is not looked at
    gc.disable()
    try:
        for seed in SEEDS:
            _audit(seed, launched)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [x for x in gc.garbage if isinstance(x, ir.Instruction | ir.Function | value.Value | SiteRecord)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left, f"{len(left)} values and instructions, such as {left[0]}"
