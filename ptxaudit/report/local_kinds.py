"""Determines the purpose of each stack access: a spilled register, the frame of a call, or an array of a thread.

    STL [R1+0x14], R7       named by ptxas as a spill                                   "spill"
    STS [R0+0x80], R26      likewise: since CUDA 13 registers are spilled to shared memory if a kernel asks for it
    STL [R1+0x24], R20      saved for the caller and restored (call_frames)             "frame"
    LDL R4, [R3]            at a computed address                                       "array"

Since CUDA 12.6 ptxas names the instructions that spill and refill (`artifacts.usage`); what is not named accesses an
array. In earlier files, an access at a fixed distance from the stack pointer that belongs to no call may be either:
its kind is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ptxaudit.base.status import Status
from ptxaudit.frontend.artifacts.usage import NOTHING_KNOWN, Usage
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.call_frames import STACK_POINTER, stack_use
from ptxaudit.ir.operands import accesses_local

if TYPE_CHECKING:
    from ptxaudit.engine.answer.result import SiteResult

LocalKind = Literal["spill", "frame", "array"]


def local_kinds(function: ir.Function, usage: Mapping[str, Usage]) -> dict[int, LocalKind]:
    """The kinds of accesses in machine code as in the file, by instruction index: of each instruction that accesses
    local memory or spills elsewhere, where its kind is known."""
    kinds: dict[int, LocalKind] = dict.fromkeys(named_spills(function, usage), "spill")
    if not any(map(accesses_local, function.instructions)):
        return kinds
    stack = stack_use(function)
    for routine in function.routines:
        complete = usage.get(routine.section, NOTHING_KNOWN).spilled is not None
        for i in function.instructions[routine.first : routine.end]:
            if i.index in kinds or not accesses_local(i):
                continue
            if i.index in stack.frames:
                kinds[i.index] = "frame"
            elif complete or not (i.index in stack.fixed or _at_stack_pointer(i)):
                kinds[i.index] = "array"
    return kinds


def named_spills(function: ir.Function, usage: Mapping[str, Usage]) -> frozenset[int]:
    """The instructions that the file names as spills."""
    from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES

    sections = {routine.section: routine.start for routine in function.routines}
    return frozenset(
        (start + at) // INSTRUCTION_BYTES
        for section, start in sections.items()
        for at in usage.get(section, NOTHING_KNOWN).spilled or ()
    )


def _at_stack_pointer(instruction: ir.Instruction) -> bool:
    addresses = [op.src[0] for op in instruction.ops if op.space == "local" and op.src]
    return any(isinstance(address, ir.Reg) and address.name == STACK_POINTER for address in addresses)


def local_kind(
    function: ir.Function, instruction: ir.Instruction, result: SiteResult, kinds: Mapping[int, LocalKind]
) -> LocalKind | None:
    """The kind of a site in local memory; None where unknown. kinds: of the machine code. PTX has no stack, so all
    local memory there is arrays (ptxas decides on spills); a generic access is one to an array if it provably goes
    there."""
    if function.site(instruction.index).space == "generic":
        there = result.per_request is not None and result.per_request[0] > 0
        return "array" if there and result.status in (Status.EXACT, Status.INVARIANT) else None
    if not function.final:
        return "array"
    return kinds.get(function.origin_of(instruction.index)[1])
