"""Objects made for one kernel are freed with it: none waits in reference cycles for the garbage collector."""

from __future__ import annotations

import gc
from functools import partial

import pytest
from twin import generate

import samples
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

SEEDS = range(12)  # with calls, loops, unspecified data


def _audit(seed: int, launched: bool) -> None:
    one = generate.kernel(seed)
    grid, block, params = one.grid, one.block, one.params
    launch = Launch(one.name, grid=grid, block=block, params=params, dynamic_shared=one.dynamic, cluster=one.cluster)
    module = lift_module(parse_module(one.text))
    for kernel in module.kernels():
        function = link(module, kernel)
        machine, flow = machines.get("sm_90"), graph.build(function)
        engine.evaluate(function, flow, launch=launch if launched else None, machine=machine)


def left_by(calls) -> list:
    """The objects of these calls that wait for the collector. The first call is made beforehand, to fill caches."""
    first, *others = calls
    first()
    gc.collect()
    gc.freeze()  # ignores garbage of other tests
    gc.disable()
    try:
        for call in others:
            call()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = ir.Instruction, ir.Function, value.Value, SiteRecord
        return [x for x in gc.garbage if issubclass(type(x), kinds)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("launched", [False, True], ids=["not launched", "launched"])
def test_kernel_leaves_no_reference_cycles(launched):
    left = left_by([partial(_audit, seed, launched) for seed in (0, *SEEDS)])
    assert not left, f"{len(left)} values and instructions, such as {left[0]}"


def test_audit_leaves_no_reference_cycles():
    """Of PTX and machine code, including what would settle its sites: data that the kernels read, unspecified
    parameters.
    """
    calls = [
        partial(samples.audit, sample, sample.source, isa="both", launched=launched)
        for sample in (samples.load("bitonic_sort"), samples.load("histogram"))
        for launched in (True, False)
    ]
    left = left_by([calls[0], *calls])
    assert not left, f"{len(left)} values and instructions, such as {left[0]}"
