"""What is made for one kernel goes when it is done with: nothing of it waits in reference cycles for the collector."""

from __future__ import annotations

import gc

from twin import generate

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.domain import value
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link

SEEDS = range(12)  # with calls, loops, data that is not given


def _audit(seed: int) -> None:
    module = lift_module(parse_module(generate.kernel(seed).text))
    for kernel in module.kernels():
        function = link(module, kernel)
        engine.evaluate(function, graph.build(function), machine=machines.get("sm_90"))


def test_a_kernel_leaves_no_cycles():
    _audit(0)
    gc.collect()
    gc.disable()
    try:
        for seed in SEEDS:
            _audit(seed)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [x for x in gc.garbage if isinstance(x, ir.Instruction | ir.Function | value.Value)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left, f"{len(left)} values and instructions, such as {left[0]}"
