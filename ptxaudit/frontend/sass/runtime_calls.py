"""Finds calls through registers that enter the device runtime, whose addresses machine code reads from constant bank 4.

    MOV R2, 0x258
    LDC.64 R2, c[0x4][R2]         the file has a relocation there: the address of __assertfail
    @!P0 BRA 0x4800               and back again: a loop that leaves R2 alone
    CALL.ABS.NOINC R2        ->   {its place: "__assertfail"}

A call is recognised if every path to it passes the same write of its register, and likewise from there: backwards,
through copies, over all possible predecessors, and across runtime calls, which preserve the registers that the code
reads after them. All calls are first assumed to be runtime calls; the assumption is withdrawn for those where it does
not follow (a greatest fixed point). The first call depends on no other, the next only on it, and so on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.calls import operations_of
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.lift_control import RUNTIME_RESULTS
from ptxaudit.ir import nodes as ir

_ADDRESSES = 4  # the constant bank that the linker fills with addresses
_ROUNDS = 4  # more than the longest chain of dependent calls needs
_CALLED = re.compile(r"R(\d+)")
_LOADED = re.compile(r"R(\d+), c\[0x4\]\[(R\d+|0x[0-9a-f]+)\]")
_COPIED = re.compile(r"R\d+, R(\d+)")
_KEPT = re.compile(r"R(\d+), R\1")
_PLACE = re.compile(r"\b0x[0-9a-f]+$")
_INDIRECT = ("BRX", "JMX")  # their operands do not name the targets
_NOT_ON = ("EXIT", "RET", "KILL", "BRX", "JMX")  # nothing follows them, unless they have a guard
_RESULTS = frozenset(register.name for register in RUNTIME_RESULTS)
_NAMING = ("MOV", "UMOV", "IMAD", "LEPC")  # may write a code address into a register, for a return


def runtime_calls(context: Context, lines: tuple[Line, ...]) -> dict[int, str]:
    """byte offset -> the runtime function that the call there enters."""
    names = {
        r.offset: r.symbol.name
        for r in context.function.bank_relocations.get(_ADDRESSES, ())
        if r.symbol.name in ir.RUNTIME and not r.symbol.section and not r.addend
    }
    if not names:
        return {}
    registers = {
        position: int(register[1])
        for position, line in enumerate(lines)
        if line.opcode.startswith("CALL.ABS") and (register := _CALLED.fullmatch(line.operands))
    }
    found = dict.fromkeys(registers, "")
    for _ in range(_ROUNDS):
        supposed = found
        found = _entered(context, lines, {at: registers[at] for at in supposed}, frozenset(supposed), names)
        if len(found) == len(supposed):
            break
    else:
        found = _entered(context, lines, registers, frozenset(), names)
    return {position * INSTRUCTION_BYTES: name for position, name in found.items()}


def _entered(
    context: Context,
    lines: tuple[Line, ...],
    registers: dict[int, int],
    supposed: frozenset[int],
    names: dict[int, str],
) -> dict[int, str]:
    """The runtime functions that calls enter.

    registers: of the calls, by position.
    supposed: calls that are assumed to enter the runtime.
    """
    backwards = Backwards(context, lines, supposed)
    return {
        position: names[slot]
        for position, register in registers.items()
        if (slot := backwards.slot(position, register)) in names
    }


class Backwards:
    """Follows registers backwards through one section."""

    def __init__(self, context: Context, lines: tuple[Line, ...], runtime: frozenset[int]):
        self.context, self.lines, self.runtime = context, lines, runtime
        self.entries = frozenset(self._entries())
        self.before: dict[int, set[int]] = defaultdict(set)
        for position in range(len(lines)):
            for after in self._after(position):
                self.before[after].add(position)
        self._written: dict[int, frozenset[str]] = {}
        self._known: dict[str, dict[int, int | None]] = defaultdict(dict)  # of registers: their last writes

    def _entries(self) -> Iterator[int]:
        """Positions entered from elsewhere: where functions begin, and where a return may lead."""
        yield 0
        yield from (symbol.offset // INSTRUCTION_BYTES for symbol in self.context.function.symbols)
        if any(line.opcode.startswith(_INDIRECT) and self._listed(at) is None for at, line in enumerate(self.lines)):
            yield from range(len(self.lines))
        if any(line.opcode.startswith("RET") for line in self.lines):
            for line in self.lines:
                if line.opcode.startswith(_NAMING) and (place := _place(line)) is not None:
                    yield place

    def _listed(self, position: int) -> tuple[int, ...] | None:
        """The targets of a jump through a register, if the file lists them; else None."""
        return self.context.function.info.branches.get(position * INSTRUCTION_BYTES) or None

    def _after(self, position: int) -> Iterator[int]:
        """The possible successors of an instruction."""
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
        """The offset in the bank from which a register pair was loaded."""
        low, high = self._origin(position, register), self._origin(position, register + 1)
        if low is None or high is None or low[0] != high[0] or low[1] + 1 != high[1]:
            return None
        at, number = low
        line = self.lines[at]
        loaded = _LOADED.fullmatch(line.operands) if line.opcode == "LDC.64" and not line.guard else None
        if loaded is None or int(loaded[1]) != number:
            return None
        return int(loaded[2], 16) if loaded[2].startswith("0x") else self._constant(at, loaded[2])

    def _origin(self, position: int, register: int) -> tuple[int, int] | None:
        """(position, register) of the write that a register's value comes from, through copies."""
        seen: set[tuple[int, int]] = set()
        while (at := self._write(position, f"R{register}")) is not None and (at, register) not in seen:
            seen.add((at, register))
            copied = _COPIED.fullmatch(self.lines[at].operands) if self.lines[at].opcode == "MOV" else None
            if copied is None or self.lines[at].guard:
                return at, register
            position, register = at, int(copied[1])
        return None

    def _constant(self, position: int, register: str) -> int | None:
        origin = self._origin(position, int(register[1:]))
        if origin is None or self.lines[at := origin[0]].guard:
            return None
        ops = operations_of(self.context, self.lines[at], at)
        if len(ops) == 1 and ops[0].name == "mov" and isinstance(value := ops[0].src[0], ir.Const):
            return value.value
        return None

    def _write(self, position: int, register: str) -> int | None:
        """The last write of a register on every path to a position; None if there are several, or none.

        A search stops where an earlier one has been, so that together they visit each position once.
        """
        known = self._known[register]
        if position in known:
            return known[position]
        found: int | None = None
        seen, work = {position}, [position]
        while work:
            at = work.pop()
            if at in self.entries:
                known[position] = None
                return None
            for earlier in self.before[at]:
                if self._writes(earlier, register):
                    write: int | None = earlier
                elif earlier in known:
                    write = known[earlier]
                else:
                    if earlier not in seen:
                        seen.add(earlier)
                        work.append(earlier)
                    continue
                if write is None or found not in (None, write):
                    known[position] = None
                    return None
                found = write
        known.update(dict.fromkeys(seen, found))
        return found

    def _writes(self, position: int, register: str) -> bool:
        if position in self.runtime:
            return register in _RESULTS
        if self.lines[position].opcode.startswith("CALL"):
            return True
        if self.lines[position].opcode == "MOV" and _KEPT.fullmatch(self.lines[position].operands):
            return False
        if position not in self._written:
            ops = operations_of(self.context, self.lines[position], position)
            self._written[position] = frozenset(d.name for op in ops for d in op.dst if d is not None)
        return register in self._written[position]


def _place(line: Line) -> int | None:
    """The position that the last operand names."""
    named = _PLACE.search(line.operands)
    offset = int(named[0], 16) if named else 1
    return None if offset % INSTRUCTION_BYTES else offset // INSTRUCTION_BYTES
