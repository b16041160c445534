"""Machine instructions and their results: operations, and what is known of the registers (tests/cases/sass.txt)."""

from __future__ import annotations

import re

import numpy as np
import pytest
import textcases
from machine_code import STATED
from sass_text import PARAMS, instructions, line
from test_ptx_cases import effects, lifted

from ptxaudit.base.work import Account
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.exec.simulate import Simulation
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.rows import environment
from ptxaudit.engine.ops import OPS
from ptxaudit.engine.ops.operations import on_machine
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.lower import ROWS
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.slices import Slice

CASES = textcases.read("sass.txt")
FRAME = ("S2R R0, SR_TID.X", f"MOV R1, c[0x0][{PARAMS:#x}]")  # R0: the lane, R1: the parameter n
EVERY = re.compile("R0, R1, .* UP6")
MOST = 6  # lanes whose values are written individually


def written(function: ir.Function) -> dict[str, Value]:
    """The values, after a run of one warp, of the registers that instructions after the frame write."""
    launch = Launch("k", grid=(1, 1, 1), block=(LANES, 1, 1), params=[None] * len(function.parameters))
    facts = Facts(meanings=on_machine(machines.get("sm_90").measurements.special))
    env, first = environment(function, launch, facts, launch.block), np.zeros((1, 3), np.int64)
    everything = Slice(
        frozenset(range(len(function.instructions))), frozenset(), {i.index: i.ops for i in function.instructions}
    )
    run = Simulation(graph.build(function), everything, env, {}, first, first, Account(), False)
    run.run()
    names = {d.name for i in function.instructions[len(FRAME) :] for op in i.ops for d in op.dst if d is not None}
    return {name: run.registers.values[name] for name in sorted(names, key=order) if not name.startswith("t")}


def order(name: str) -> tuple[str, int]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def said(value: Value) -> str:
    """`0x10 + 4 lane + 8 n`: the known part, the unknowns, and for how many low bits the value holds."""
    base = np.broadcast_to(value.base, (1, LANES))[0]
    lost = np.broadcast_to(False if value.poison is None else value.poison, (1, LANES))[0]
    if lost.all():
        return f"unknown{known_bits(value)}"
    text = " + ".join(
        [p for p in (numbers(base, ~lost),) if p != "0" or not value.terms]
        + [f"{numbers(np.broadcast_to(c, (1, LANES))[0], ~lost)} {u}".removeprefix("1 ") for u, c in value.terms]
    )
    return (
        text + (f" mod 2**{value.valid}" if value.valid is not None else "") + (", else unknown" if lost.any() else "")
    )


def numbers(row: np.ndarray, known: np.ndarray) -> str:
    """A uniform number, a linear function of the lane, a mask of lanes, or the first few numbers."""
    if row.dtype == bool:
        mask = sum(1 << lane for lane in range(LANES) if row[lane] and known[lane])
        return {0: "false", (1 << LANES) - 1: "true"}.get(mask, f"lanes {mask:#x}")
    bits = 8 * row.dtype.itemsize
    values = [int(n) for n in row]
    steps = {(b - a) % (1 << bits) for a, b in zip(values, values[1:])}
    if len(steps) == 1 and known.all():
        step = steps.pop()
        step -= (step >> bits - 1) << bits
        if not step:
            return plain(values[0])
        line = "lane" if step == 1 else f"{step} lane"
        return line if not values[0] else f"{plain(values[0])} + {line}"
    shown = [plain(n) if k else "?" for n, k in zip(values[:MOST], known)]
    return f"[{' '.join(shown)} …]"


def plain(number: int) -> str:
    return str(number) if number < 10 else hex(number)


def known_bits(value: Value) -> str:
    """The known bits of an unknown number."""
    if value.sure is None:
        return ""
    sure, base = (np.broadcast_to(a, (1, LANES))[0] for a in (value.sure, value.base))
    if (sure != sure[0]).any():
        return " in bits that differ by lane"
    bits = numbers(base & sure, np.ones(LANES, bool))
    return f" in bits {int(~sure[0]):#x}" + (f", else {bits}" if bits != "0" else "")


@pytest.mark.parametrize("case", [case for case in CASES if "known" in case.outputs], ids=str)
def test_known_values(case):
    code = instructions([*FRAME, *case.input.splitlines(), "EXIT"])
    parameters = (ir.Parameter("n", 0, 4), ir.Parameter("p", 8, 8))
    function = ir.Function("k", "sass", "sm_90", code, True, parameters, **STATED)
    found = [f"{name}: {said(value)}" for name, value in written(function).items()]
    assert "\n".join(found) == case.outputs["known"]


@pytest.mark.parametrize("case", [case for case in CASES if "effects" in case.outputs], ids=str)
def test_lifted_effects(case):
    out = []
    for instruction in instructions(case.input.splitlines()):
        out += [
            f"{instruction.index}: {EVERY.sub('every register', one)}" for one in effects(instruction) or ["nothing"]
        ]
    assert "\n".join(out) == case.outputs["effects"]


def test_every_row_has_a_case():
    """Every machine opcode that has a meaning occurs in a case."""
    met = {line(text).opcode.partition(".")[0] for case in CASES for text in case.input.splitlines()}
    assert met >= set(ROWS), sorted(set(ROWS) - met)


def test_every_operation_has_a_case():
    """In the cases of either instruction set."""
    functions = [lifted(case.input).functions.values() for case in textcases.read("ptx_lift.txt")]
    code = [i for found in functions for function in found for i in function.instructions]
    code += [i for case in CASES for i in instructions(case.input.splitlines())]
    met = {op.name for instruction in code for op in instruction.ops}
    assert met >= set(OPS), sorted(set(OPS) - met)
