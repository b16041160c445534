"""The result of every operation: the engine's arrays, compared with the twin's integers, on awkward values."""

from __future__ import annotations

import random

import numpy as np
import pytest
from twin import compare, opcodes

from ptxaudit.base.work import Account
from ptxaudit.engine.exec.simulate import Simulation
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.rows import environment
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.ir.slices import Slice

EVERY = opcodes.every_opcode()
GROUP = 40
UNDEFINED = ("bfi.b64", "bfe.u64", "bfe.s64")  # for most operands: only fields within 255 bits are defined


def engine_values(text: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """register -> (values, lanes in which they are known) after a run of one warp."""
    function, graph = compare.lifted(text, "k")
    launch = Launch("k", grid=(1, 1, 1), block=(opcodes.LANES, 1, 1), params=[])
    env = environment(function, launch, Facts(), launch.block)
    first = np.zeros((1, 3), np.int64)
    everything = Slice(
        frozenset(range(len(function.instructions))), frozenset(), {i.index: i.ops for i in function.instructions}
    )
    run = Simulation(graph, everything, env, {}, first, first, Account(), False)
    run.run()
    shape = (1, opcodes.LANES)
    known = lambda v: (
        np.zeros(shape, bool)
        if v.terms or v.valid is not None
        else ~np.broadcast_to(False if v.poison is None else v.poison, shape)
    )
    return {name: (np.broadcast_to(v.base, shape)[0], known(v)[0]) for name, v in run.registers.values.items()}


@pytest.mark.parametrize("start", range(0, len(EVERY), GROUP))
def test_results_of_every_opcode_equal_the_interpreter(start):
    made = opcodes.module(EVERY[start : start + GROUP], random.Random(start))
    values = engine_values(made.text)
    for (opcode, register), column in made.expected.items():
        numbers, known = values[register]
        wrong = [
            (made.inputs[opcode, register][k], hex(int(numbers[k])), hex(column[k]))
            for k in range(opcodes.LANES)
            if known[k] and int(numbers[k]) != column[k]
        ]
        assert not wrong, f"{opcode}: (operands, engine, twin) {wrong[:3]}"
        if opcode in UNDEFINED:
            continue
        if "f64" not in opcode and "ftz" not in opcode:
            assert known.mean() > 0.5, f"{opcode}: known in {known.sum()} lanes"
