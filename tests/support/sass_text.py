"""Machine code written by hand: instructions as the disassembler prints them, lifted."""

from __future__ import annotations

import re

from machine_code import STATED
from msgspec.structs import replace

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection, Symbol
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.lower import lower
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import nodes as ir

PARAMS = 0x210  # where the parameters of sm_90 begin in c[0x0]


def line(text: str) -> Line:
    """`@!P0 LDS.128 R4, [R3+0x100]`"""
    guard, opcode, operands = re.fullmatch(r"(?:(@\S+) )?(\S+) ?(.*)", text).groups(default="")
    return Line(guard, opcode, operands)


def instructions(texts: list[str]) -> tuple[ir.Instruction, ...]:
    code = bytes(max(len(texts), 64) * INSTRUCTION_BYTES)
    context = Context(CodeSection("k", code, True, (Symbol("k", ".text.k", 0, len(code), True),)), 90, PARAMS)
    out = []
    for at, text in enumerate(texts):
        b = lower(context, line(text), at * INSTRUCTION_BYTES)
        parts = (b.guard, tuple(b.ops), b.control, b.site) if b else (None, (), None, None)
        out.append(ir.Instruction(at, at * INSTRUCTION_BYTES, line(text).opcode, text, *parts))
    return tuple(out)


def function_of(listing: str, **facts: object) -> ir.Function:
    """A function of these lines, with the access of each. facts: fields of ir.Function, beside those of all machine
    code.
    """
    code = tuple(
        i if i.site is None else replace(i, site=with_access(i.site, ()))
        for i in instructions(listing.strip().split("\n"))
    )
    return ir.Function("k", "sass", "sm_90", code, True, (), **STATED | facts)
