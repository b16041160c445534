"""Finds loads and stores of global memory at adjacent addresses, which a vector access could replace.

    LDG.E R4, desc[UR4][R2.64]          both use the same definition of R2:R3, in one basic block:
    LDG.E R5, desc[UR4][R2.64+0x4]      Run(first=7, members=(7, 8), bytes=8)

It looks only at the code; the caller checks that the addresses are multiples of the vector's size. A run does not
cross a barrier or another transfer of control, and has no access that is volatile or has a scope.
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
    """members: the instructions, by address; first: the one with the lowest; bytes: their total."""

    first: int
    members: tuple[int, ...]
    bytes: int


def neighbours(function: Function, flow: Graph) -> dict[int, Run]:
    """instruction -> its run. Raises Exhausted if the graph's account is used up."""
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
    """The operation of a plain load or store of global memory."""
    if instruction.site is None or instruction.site.ordered:
        return None
    found = [op for op in instruction.ops if op.name in ("load", "store", "atom")]
    return found[0] if len(found) == 1 and found[0].name != "atom" and found[0].space == "global" else None


def _bytes(op: Op) -> int | None:
    """The bytes per lane."""
    count = len(op.dst) if op.name == "load" else len(op.src) - 1
    bits = op.attrs[0] if op.attrs and isinstance(op.attrs[0], int) else op.bits
    width = count * bits // _WIDTH_BITS
    return width if 0 < width < WIDEST else None


def _of(instruction: Instruction, op: Op, flow: Graph) -> Iterator[Hashable]:
    """Identifies the address without the offset, and the active lanes: equal keys mean that both are the same."""
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
    """The runs of accesses by offset, the widest first, each starting at a multiple of its size."""
    left = dict(places)
    size = WIDEST
    while size > width:
        for offset in sorted(left):
            parts = range(offset, offset + size, width)
            if offset % size == 0 and all(part in left for part in parts):
                members = tuple(left.pop(part) for part in parts)
                yield Run(members[0], members, size)
        size //= 2
