"""What an access to local memory is for: a register that was spilled, or an array of a thread.

    STL [R1+0x14], R7       named by ptxas as a spill           "spill"
    LDL R4, [R3]            at an address that is computed      "array"

Since CUDA 12.6 ptxas names the instructions that spill and refill (`artifacts.usage`). Where the file does not, or in a
function that is called, what lies at a fixed distance from the stack pointer may be a spill, an array or a caller's
register: it is not told.
"""

from __future__ import annotations

from typing import Literal

from ptxaudit.ir import nodes as ir
from ptxaudit.report.code_facts import CodeFacts

LocalKind = Literal["spill", "array"]
STACK_POINTER = "R1"


def local_kind(function: ir.Function, instruction: ir.Instruction, facts: CodeFacts) -> LocalKind | None:
    """None where it is not known. In PTX, which has no stack, all of local memory is arrays (ptxas decides on
    spills).
    """
    if function.isa == "ptx":
        return "array"
    if facts.spilled is not None and function.origin_of(instruction.index)[0] == function.name:
        return "spill" if instruction.place in facts.spilled else "array"
    address = instruction.site.address
    return None if isinstance(address, ir.Reg) and address.name == STACK_POINTER else "array"
