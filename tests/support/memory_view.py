"""What the 32 lanes of a warp see of every state space."""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import known, opaque
from ptxaudit.engine.memory.environment import Environment, Facts
from ptxaudit.engine.memory.registers import Registers, View
from ptxaudit.ir.nodes import Function, Instruction, Op, Parameter, Reg, Variable
from ptxaudit.ir.reasons import Kind, Reason

LANE = np.arange(LANES, dtype=np.uint32)[None, :]
BUFFER = np.arange(512, dtype=np.uint32).view(np.uint8)
TABLE = np.arange(100, 164, dtype=np.uint32)
START = 0x10_0000_0000
GONE = opaque(1, Reason(Kind.UNWRITTEN, given=("%p",)))


def view(facts: Facts = Facts(), *others: Op) -> View:
    """What 32 lanes see, in a function with a load and these operations."""
    load = Op("load", (Reg("r", 32),), (Reg("a", 64),), space="generic")
    function = Function(
        "k",
        "ptx",
        "sm_90",
        (Instruction(0, 0, "ld", "ld", ops=(load, *others)),),
        parameters=(Parameter("n", 0, 4), Parameter("m", 4, 4)),
        variables=(Variable("t", "const:3", TABLE.nbytes, 4, 0, TABLE.tobytes()),),
    )
    mask = np.ones((1, LANES), bool)
    env = Environment(
        function, mask, (LANE, LANE * 0, LANE * 0), LANE[:, :1], param_bytes=bytes([7, 0, 0, 0]), param_known=b"\1" * 4
    )
    env.facts = facts
    seen = View(Registers(1), env, None, mask, True)
    for name, value in {"a": known(LANE.astype(np.uint64) * 4), "v": known(LANE * 3), "p": GONE}.items():
        seen.registers.values[name] = value
    return seen
