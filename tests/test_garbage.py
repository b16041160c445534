"""What is made for one kernel goes when it is done with: nothing of it waits in reference cycles for the collector."""

from __future__ import annotations

import gc

from twin import generate

from ptxaudit import graph, ir, lanes, machines
from ptxaudit.link import link
from ptxaudit.ptx.lift import lift_module
from ptxaudit.ptx.parse import parse_module

SEEDS = range(12)       # with calls, loops, data that is not given


def _audit(seed: int) -> None:
    module = lift_module(parse_module(generate.kernel(seed).text))
    for kernel in module.kernels():
        function = link(module, kernel)
        lanes.evaluate(function, graph.build(function), machine=machines.get("sm_90"))


def test_a_kernel_leaves_no_cycles():
    _audit(0)
    gc.collect()
    gc.disable()
    try:
        for seed in SEEDS:
            _audit(seed)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [x for x in gc.garbage if isinstance(x, ir.Instruction | ir.Function | lanes.value.Value)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left, f"{len(left)} values and instructions, such as {left[0]}"
