"""Finds which calls through registers go to the device runtime: machine code reads its addresses from constant bank 4.

    MOV R2, 0x258
    LDC.64 R2, c[0x4][R2]         the file has a relocation there: the address of __assertfail
    @!P0 BRA 0x4800               and back again: a loop that leaves R2 alone
    CALL.ABS.NOINC R2        ->   {its place: "__assertfail"}

What counts is that every way to the call leads over the one write of its register, and likewise from there: backwards,
over all places that code may have come from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.calls import operations_of
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.ir import nodes as ir

_ADDRESSES = 4  # the constant bank that the linker fills with addresses
_CALLED = re.compile(r"R(\d+)")
_LOADED = re.compile(r"R(\d+), c\[0x4\]\[(R\d+|0x[0-9a-f]+)\]")
_PLACE = re.compile(r"\b0x[0-9a-f]+$")
_INDIRECT = ("BRX", "JMX")  # go to places that their operands do not name
_NOT_ON = ("EXIT", "RET", "KILL", "BRX", "JMX")  # nothing goes on behind them, unless they have a guard
_NAMING = ("MOV", "UMOV", "IMAD", "LEPC")  # may put a place in the code into a register, for a return


def runtime_calls(context: Context, lines: tuple[Line, ...]) -> dict[int, str]:
    """byte offset -> the function of the runtime that the call there enters."""
    names = {
        r.offset: r.symbol.name
        for r in context.function.bank_relocations.get(_ADDRESSES, ())
        if r.symbol.name in ir.RUNTIME and not r.symbol.section and not r.addend
    }
    if not names:
        return {}
    backwards = _Backwards(context, lines)
    found = {
        position * INSTRUCTION_BYTES: names.get(slot)
        for position, line in enumerate(lines)
        if line.opcode.startswith("CALL.ABS")
        and (register := _CALLED.fullmatch(line.operands))
        and (slot := backwards.slot(position, int(register[1]))) is not None
    }
    return {place: name for place, name in found.items() if name is not None}


class _Backwards:
    """Registers followed backwards through one section."""

    def __init__(self, context: Context, lines: tuple[Line, ...]):
        self.context, self.lines = context, lines
        self.entries = frozenset(self._entries())
        self.before: dict[int, set[int]] = defaultdict(set)
        for position in range(len(lines)):
            for after in self._after(position):
                self.before[after].add(position)
        self._written: dict[int, frozenset[str]] = {}

    def _entries(self) -> Iterator[int]:
        """Positions that code comes to from elsewhere: where functions begin, or a return may lead."""
        yield 0
        yield from (symbol.offset // INSTRUCTION_BYTES for symbol in self.context.function.symbols)
        if any(line.opcode.startswith(_INDIRECT) and self._listed(at) is None for at, line in enumerate(self.lines)):
            yield from range(len(self.lines))
        if any(line.opcode.startswith("RET") for line in self.lines):
            for line in self.lines:
                if line.opcode.startswith(_NAMING) and (place := _place(line)) is not None:
                    yield place

    def _listed(self, position: int) -> tuple[int, ...] | None:
        """Where a jump through a register may lead, as the file lists it; None where it does not."""
        return self.context.function.info.branches.get(position * INSTRUCTION_BYTES) or None

    def _after(self, position: int) -> Iterator[int]:
        """Where code may go on behind an instruction."""
        line = self.lines[position]
        place = _place(line)
        jumps = line.opcode == "BRA" and place is not None and line.operands == hex(place * INSTRUCTION_BYTES)
        if line.guard or not jumps and not line.opcode.startswith(_NOT_ON):
            yield position + 1
        if place is not None and line.opcode.startswith(("BR", "JM", "WARPSYNC", "CALL")):
            yield place
        if line.opcode.startswith(_INDIRECT):
            yield from (target // INSTRUCTION_BYTES for target in self._listed(position) or ())

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
        """The last write of one of the registers on every way to a position; None where there are several, or none."""
        found: int | None = None
        seen: set[int] = set()
        work = [position]
        while work:
            at = work.pop()
            if at in self.entries:
                return None
            for earlier in self.before[at] - seen:
                if not self._writes(earlier, registers):
                    seen.add(earlier)
                    work.append(earlier)
                elif found is None or found == earlier:
                    found = earlier
                else:
                    return None
        return found

    def _writes(self, position: int, registers: set[str]) -> bool:
        if self.lines[position].opcode.startswith("CALL"):
            return True
        if position not in self._written:
            ops = operations_of(self.context, self.lines[position], position)
            self._written[position] = frozenset(d.name for op in ops for d in op.dst if d is not None)
        return not registers.isdisjoint(self._written[position])


def _place(line: Line) -> int | None:
    """The position that the last operand names."""
    named = _PLACE.search(line.operands)
    offset = int(named[0], 16) if named else 1
    return None if offset % INSTRUCTION_BYTES else offset // INSTRUCTION_BYTES
