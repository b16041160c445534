"""The targets of jumps through a register where the file does not list them.

    .nv.info    BRX at 0x1d0: 0x0, 0x0, 0x0          ptxas 11.8 leaves offsets out
    LDC R2, c[0x2][R6]                         ->    {0x1d0: (0x1e0, 0x300, 0x360)}, the words of c[0x2]
    BRX R2 -0x1e0

An offset of 0 is one that was never filled in: no jump leads to the entry of its function. The register then holds a
word of a constant bank, if every path to the jump loads it from there; otherwise the targets are unknown.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection
from ptxaudit.frontend.sass.builder import WORD_BITS, Context
from ptxaudit.frontend.sass.calls import place_in
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.lower import lower
from ptxaudit.ir import nodes as ir

_JUMP = re.compile(r"(U?R\d+) (-?)(0x[0-9a-f]+)\b.*")
_TABLE = re.compile(r"(U?R\d+), c\[(0x[0-9a-f]+)\]\[.*")
_LOADS = ("LDC", "ULDC")
_ENDS = ("BRA", "BRX", "JMP", "JMX", "CALL", "RET", "EXIT", "BREAK", "BSYNC")  # of a straight line, read backwards
_NAMING = ("BRA", "BSSY", "JMP", "WARPSYNC")
_SHARED_BANKS = (0, 3)  # parameters, and variables that the host writes
_WORD = 4


def listed_targets(context: Context, lines: tuple[Line, ...]) -> dict[int, tuple[int, ...]]:
    """byte offset of a jump -> the offsets of its targets. Jumps whose targets are unknown are left out."""
    branches = context.function.info.branches
    if all(all(targets) for targets in branches.values()):
        return branches
    entered = _entered(lines, branches)
    found = {}
    for place, targets in branches.items():
        if not all(targets):
            targets = _from_table(context, lines, place // INSTRUCTION_BYTES, entered)
        if targets:
            found[place] = targets
    return found


def _entered(lines: tuple[Line, ...], branches: Mapping[int, tuple[int, ...]]) -> set[int]:
    """The positions that a branch, a barrier or a listed jump leads to."""
    named = (place_in(line) for line in lines if line.opcode.startswith(_NAMING))
    listed = (place // INSTRUCTION_BYTES for targets in branches.values() for place in targets)
    return {at for at in named if at is not None}.union(listed)


def _from_table(context: Context, lines: tuple[Line, ...], position: int, entered: set[int]) -> tuple[int, ...]:
    """The words of the constant bank from which the register of a jump was loaded, as targets; () if it was not."""
    jump = _JUMP.fullmatch(lines[position].operands) if position < len(lines) else None
    bank = None if jump is None else _bank_of(context, lines, position, jump[1], entered)
    if jump is None or bank is None:
        return ()
    beyond = (position + 1) * INSTRUCTION_BYTES + int(jump[2] + jump[3], 16)
    words = struct.unpack(f"<{len(bank) // _WORD}I", bank[: len(bank) // _WORD * _WORD])
    targets = dict.fromkeys((word + beyond) % (1 << WORD_BITS) for word in words)
    return tuple(target for target in targets if context.index_at(target) is not None)


def _bank_of(
    context: Context, lines: tuple[Line, ...], position: int, register: str, entered: set[int]
) -> bytes | None:
    """The contents of the constant bank that a register was loaded from, in the straight line before a position."""
    for at in range(position - 1, -1, -1):
        line = lines[at]
        if at + 1 in entered or line.opcode.startswith(_ENDS):
            return None
        b = lower(context, line, at * INSTRUCTION_BYTES)
        if b is None or all(d is None or d.name != register for op in b.ops for d in op.dst):
            continue
        if b.guard is not None or b.refused:
            return None
        loaded = _TABLE.fullmatch(line.operands)
        if line.opcode in _LOADS and loaded is not None and loaded[1] == register:
            return _own_bank(context.function, int(loaded[2], 16))
        source = b.ops[0].src[0] if len(b.ops) == 1 and b.ops[0].name == "mov" else None
        if not isinstance(source, ir.Reg):
            return None
        register = source.name
    return None


def _own_bank(function: CodeSection, number: int) -> bytes | None:
    if number in _SHARED_BANKS or function.bank_relocations.get(number):
        return None
    return function.banks.get(number)
