"""What a kernel's code says of itself, whatever is launched: its instructions, and the resources that it takes.

    ir.Function "k", Usage(registers=40, …)  ->  CodeFacts(Code({"LDS.128": 4, …}, "9f86d0…"), instructions=586,
                                                 registers=40, …)

The instructions are those of the kernel and of each function that it calls, once.
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

PADDING = frozenset(("NOP",))  # ptxas fills a function up to a multiple of 128 bytes with them
DIGITS = 16  # of the digest: hexadecimal


class CodeFacts(Record):
    """As in `report.Kernel`. Beside the code they are of the machine code, for PTX of that which was made of it."""

    code: Code
    instructions: int
    registers: int | None = None
    stack: int | None = None
    barriers: int | None = None
    spills: Spills | None = None
    kinds: Mapping[int, LocalKind] = field(
        default_factory=dict
    )  # of machine code: what its accesses to the stack are for


def code_facts(module: ir.Module, kernel: ir.Function, usage: Mapping[str, Usage]) -> CodeFacts:
    """Of one kernel. usage: what the functions of its cubin take; for PTX of that which was compiled with it."""
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
    """A kernel and the functions of the module that it calls, directly or through others, once each."""
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
