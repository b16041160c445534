"""Finds loads, and stores, of global memory by which a lane goes from one address to the next, where one vector access
could do it.

    LDG.E R4, desc[UR4][R2.64]          both at what R2:R3 holds behind the same write, in one block of code:
    LDG.E R5, desc[UR4][R2.64+0x4]      Run(first=7, members=(7, 8), width=4, bytes=8)

Only the code is looked at; whether the addresses are multiples of the vector is for who knows them to say. What orders
memory (a barrier, an access that is volatile or of a scope) is not gone across.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Instruction, Op, Operand, Reg

WIDEST = 16  # bytes that a lane can access at once on every machine
_WIDTH_BITS = 8


class Run(Record):
    """members: the instructions, by address; first: the one of the lowest; bytes: all of them together."""

    first: int
    members: tuple[int, ...]
    bytes: int


def neighbours(function: Function, flow: Graph) -> dict[int, Run]:
    """The run of each instruction that is in one. Raises Exhausted where the account of the graph does not pay for
    it."""
    flow.account.spend(INSTRUCTION * len(function.instructions), "finding adjacent accesses")
    groups: dict[tuple[int, Hashable], dict[int, int]] = defaultdict(dict)
    ordered = 0
    for i in function.instructions:
        if i.control is not None:
            ordered += 1
        op = _accesses(i)
        if op is not None and (width := _bytes(op)) is not None:
            alike = flow.block_of[i.index], ordered, op.name, i.opcode, *_of(i, op, flow)
            groups[width, alike].setdefault(op.offset, i.index)
    return {at: run for (width, _), places in groups.items() for run in _runs(places, width) for at in run.members}


def _accesses(instruction: Instruction) -> Op | None:
    """A plain load or store of global memory."""
    if instruction.site is None or instruction.site.ordered:
        return None
    found = [op for op in instruction.ops if op.name in ("load", "store", "atom")]
    return found[0] if len(found) == 1 and found[0].name != "atom" and found[0].space == "global" else None


def _bytes(op: Op) -> int | None:
    """Of one lane."""
    count = len(op.dst) if op.name == "load" else len(op.src) - 1
    bits = op.attrs[0] if op.attrs and isinstance(op.attrs[0], int) else op.bits
    width = count * bits // _WIDTH_BITS
    return width if 0 < width < WIDEST else None


def _of(instruction: Instruction, op: Op, flow: Graph) -> Iterator[Hashable]:
    """What the address is made of but for the offset, and in which lanes: the same of two instructions if it has the
    same number in both."""
    made = {d.name: other for other in instruction.ops for d in other.dst if d is not None and other is not op}
    waiting: list[Operand] = [op.src[0], *(guard.reg for guard in (instruction.guard, op.guard) if guard is not None)]
    while waiting:
        operand = waiting.pop()
        if not isinstance(operand, Reg):
            yield operand
        elif operand.name in made:
            yield made[operand.name].name, made[operand.name].attrs
            waiting += made[operand.name].src
        else:
            yield operand.name, flow.read.read(operand.name, instruction.index)
    yield instruction.guard and instruction.guard.negated


def _runs(places: dict[int, int], width: int) -> Iterator[Run]:
    """offset -> instruction. The widest first, each beginning at a multiple of its size."""
    left = dict(places)
    size = WIDEST
    while size > width:
        for offset in sorted(left):
            parts = range(offset, offset + size, width)
            if offset % size == 0 and all(part in left for part in parts):
                members = tuple(left.pop(part) for part in parts)
                yield Run(members[0], members, size)
        size //= 2
