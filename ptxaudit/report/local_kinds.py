"""What an access to local memory is for: a register that was spilled, an array of a thread, or the frame of a call.

    STL [R1+0x14], R7       named by ptxas as a spill                             "spill"
    LDL R4, [R3]            at an address that is computed                        "array"
    STL [R1+0x8], R16       in a function that is called: a register of the caller's  "frame"

Since CUDA 12.6 ptxas names the instructions that spill and refill (`artifacts.usage`). Where the file does not, they
are told apart by what the code does: a place at a fixed distance from the stack pointer that is stored whole before it
is loaded is a spill, and one whose address is computed, or taken, an array's.
"""

from __future__ import annotations

from typing import Literal

from ptxaudit.ir import nodes as ir
from ptxaudit.report.code_facts import CodeFacts

LocalKind = Literal["spill", "array", "frame"]
STACK_POINTER = "R1"


def local_kind(function: ir.Function, instruction: ir.Instruction, facts: CodeFacts) -> LocalKind | None:
    """None where it is not known. In PTX, which has no stack, all of local memory is arrays (ptxas decides on
    spills).
    """
    if function.isa == "ptx":
        return "array"
    if facts.spilled is not None and function.origin_of(instruction.index)[0] == function.name:
        return "spill" if instruction.place in facts.spilled else _unnamed(instruction)
    return None if _at_stack_pointer(instruction) else "array"


def _unnamed(instruction: ir.Instruction) -> LocalKind:
    """Of an access that is no spill."""
    return "array"


def _at_stack_pointer(instruction: ir.Instruction) -> bool:
    return isinstance(instruction.site.address, ir.Reg) and instruction.site.address.name == STACK_POINTER
