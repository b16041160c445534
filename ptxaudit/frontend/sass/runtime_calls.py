"""Finds which calls through registers go to the device runtime: machine code reads its addresses from constant bank 4.

    MOV R2, 0x258
    LDC.64 R2, c[0x4][R2]         the file has a relocation there: the address of __assertfail
    CALL.ABS.NOINC R2        ->   {its place: "__assertfail"}

Only what runs straight through counts: nothing may jump in between the write of a register and its use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.calls import operations_of
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.ir import nodes as ir

_ADDRESSES = 4  # the constant bank that the linker fills with addresses
_CALLED = re.compile(r"R(\d+)")
_LOADED = re.compile(r"R(\d+), c\[0x4\]\[(R\d+|0x[0-9a-f]+)\]")
_TRANSFERS = ("BR", "JM", "CALL", "RET", "EXIT", "BSYNC", "WARPSYNC", "KILL")
_TARGET = re.compile(r"\b0x[0-9a-f]+$")
_INDIRECT = ("BRX", "JMX")  # go to places that their operands do not name


def runtime_calls(context: Context, lines: tuple[Line, ...]) -> dict[int, str]:
    """byte offset -> the function of the runtime that the call there enters."""
    names = {
        r.offset: r.symbol.name
        for r in context.function.bank_relocations.get(_ADDRESSES, ())
        if r.symbol.name in ir.RUNTIME and not r.symbol.section and not r.addend
    }
    if not names:
        return {}
    straight = _Straight(context, lines)
    found = {
        position * INSTRUCTION_BYTES: names.get(slot)
        for position, line in enumerate(lines)
        if line.opcode.startswith("CALL.ABS")
        and (register := _CALLED.fullmatch(line.operands))
        and (slot := straight.slot(position, int(register[1]))) is not None
    }
    return {place: name for place, name in found.items() if name is not None}


class _Straight:
    """Registers followed backwards through one section, as far as its code runs straight through."""

    def __init__(self, context: Context, lines: tuple[Line, ...]):
        self.context, self.lines = context, lines
        self.ends = frozenset(self._ends())

    def _ends(self) -> Iterator[int]:
        """Positions before which code does not run straight through."""
        for position, line in enumerate(self.lines):
            if line.opcode.startswith(_INDIRECT):
                yield from range(len(self.lines))
                return
            if line.opcode.startswith(_TRANSFERS):
                yield position + 1
            if line.opcode.startswith((*_TRANSFERS, "BSSY")) and (target := _TARGET.search(line.operands)):
                yield int(target[0], 16) // INSTRUCTION_BYTES

    def slot(self, position: int, register: int) -> int | None:
        """The place in the bank that a pair of registers was loaded from."""
        at = self._write(position, {f"R{register}", f"R{register + 1}"})
        if at is None:
            return None
        line = self.lines[at]
        loaded = _LOADED.fullmatch(line.operands) if line.opcode == "LDC.64" and not line.guard else None
        if loaded is None or int(loaded[1]) != register:
            return None
        return int(loaded[2], 16) if loaded[2].startswith("0x") else self._constant(at, loaded[2])

    def _constant(self, position: int, register: str) -> int | None:
        at = self._write(position, {register})
        if at is None or self.lines[at].guard:
            return None
        ops = operations_of(self.context, self.lines[at], at)
        if len(ops) == 1 and ops[0].name == "mov" and isinstance(value := ops[0].src[0], ir.Const):
            return value.value
        return None

    def _write(self, position: int, registers: set[str]) -> int | None:
        """The last write of one of the registers before a position; None where there may be others."""
        while position not in self.ends and position > 0:
            position -= 1
            if self._writes(position, registers):
                return position
        return None

    def _writes(self, position: int, registers: set[str]) -> bool:
        line = self.lines[position]
        if line.opcode.startswith("CALL"):
            return True
        return any(
            d is not None and d.name in registers for op in operations_of(self.context, line, position) for d in op.dst
        )
