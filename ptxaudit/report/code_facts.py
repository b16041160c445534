"""Describes a kernel's code independently of any launch: its instructions and the resources that it uses.

    ir.Function "k", Usage(registers=40, …)  ->  CodeFacts(Code({"LDS.128": 4, …}, "9f86d0…"), instructions=586,
                                                 registers=40, …)

The instructions include those of each function that the kernel calls, once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.usage import NOTHING_KNOWN, Usage
from ptxaudit.hardware.opcode_classes import NEVER
from ptxaudit.ir import nodes as ir
from ptxaudit.report.local_kinds import LocalKind, local_kinds
from ptxaudit.report.model import Code, Spills
from ptxaudit.report.spills import spills, spills_of_ptx

PADDING = frozenset(("NOP",))  # ptxas pads a function with them to a multiple of 128 bytes
DIGITS = 16  # of the digest, hexadecimal


class CodeFacts(Record):
    """The fields are as in `report.Kernel`. All but `code` and `instructions` describe machine code; for PTX, the
    machine code that was made of it."""

    code: Code
    instructions: int
    registers: int | None = None
    stack: int | None = None
    barriers: int | None = None
    spills: Spills | None = None
    kinds: Mapping[int, LocalKind] = field(
        default_factory=dict
    )  # in machine code: the kind of each access to the stack


def code_facts(module: ir.Module, kernel: ir.Function, usage: Mapping[str, Usage]) -> CodeFacts:
    """The facts of one kernel. usage: the resources of its cubin's functions; for PTX, of the cubin compiled with
    it."""
    functions = with_callees(module, kernel)
    sequence = [
        _opcode(i)
        for function in functions
        for i in function.instructions
        if i.opcode not in PADDING and not (i.site and i.site.again)
    ]
    code = Code(dict(Counter(sequence)), hashlib.sha256("\n".join(sequence).encode()).hexdigest()[:DIGITS])
    taken = usage.get(kernel.name, NOTHING_KNOWN)
    spilled = spills(functions, usage) if kernel.final else spills_of_ptx(taken)
    return CodeFacts(
        code,
        len(sequence),
        taken.registers,
        taken.stack,
        taken.barriers,
        spilled,
        local_kinds(kernel, usage) if kernel.final else {},
    )


def with_callees(module: ir.Module, kernel: ir.Function) -> list[ir.Function]:
    """A kernel and the functions of the module that it calls, directly or indirectly, once each."""
    found = {kernel.name: kernel}
    waiting = [kernel]
    while waiting:
        for instruction in waiting.pop().instructions:
            name = instruction.control.callee if instruction.control is not None else None
            if name in module.functions and name not in found:
                found[name] = module.functions[name]
                waiting.append(found[name])
    return list(found.values())


def _opcode(instruction: ir.Instruction) -> str:
    return f"{NEVER} {instruction.opcode}" if instruction.text.startswith(NEVER) else instruction.opcode
