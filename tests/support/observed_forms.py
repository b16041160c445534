"""Forms of instructions seen in compilers' libraries and sources (`bench/forms.py` collects them), lifted one at a time."""

from __future__ import annotations

import re
from functools import lru_cache

from paths import DATA

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection, Symbol
from ptxaudit.frontend.sass.builder import Builder, Context
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.lower import lower

FORMS = (DATA / "sass_forms.txt").read_text().splitlines()
OPCODES = (DATA / "ptx_opcodes.txt").read_text().splitlines()
CODE = bytes(64 * INSTRUCTION_BYTES)
CONTEXT = Context(CodeSection("k", CODE, True, (Symbol("k", ".text.k", 0, len(CODE), True),)), 90, 0x210)
_REGISTER = re.compile(r"(?<![A-Za-z0-9_.])(U?[RP])(?![A-Za-z0-9_])")


def in_full(form: str, always: bool) -> tuple[str, str]:
    """(opcode, operands) with distinct registers and numbers. always: predicates are PT."""
    opcode, _, operands = form.partition(" ")
    count = 0

    def register(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        if found[1][-1] == "P":
            return f"{found[1]}{'T' if always else count % 6}"
        return f"{found[1]}{8 * count % 56}"

    return opcode, _REGISTER.sub(register, operands).replace("#", "0x10")


@lru_cache(1 << 15)
def lowered(opcode: str, operands: str) -> Builder:
    return lower(CONTEXT, Line("", opcode, operands), 0)


def lines() -> list[tuple[str, str]]:
    """Each form as an instruction, in a variant that is understood where there is one."""
    out = []
    for form in FORMS:
        ways = [in_full(form, always) for always in (False, True)]
        out.append(next((way for way in ways if not lowered(*way).refused), ways[0]))
    return out


LINES = lines()
