"""Finds loads and stores of global memory at adjacent addresses, which a vector access could replace.

    LDG.E R4, desc[UR4][R2.64]          both use the same definition of R2:R3, in one basic block:
    LDG.E R5, desc[UR4][R2.64+0x4]      Run(first=7, members=(7, 8), bytes=8)

It looks only at the code; the caller checks that the addresses are multiples of the vector's size. A run does not
cross a transfer of control, a barrier, a fence, an access that is volatile or has a scope, or a call, nor an access
from which the code does not show that it may be exchanged with a member: a store between two loads, an atomic, and any
access between two stores, unless it has the same address register and other bytes, or loads what is never written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import COPY_ASYNC, STORE_MATRIX, Function, Instruction, Op, Operand, Reg
from ptxaudit.ir.operands import promised

WIDEST = 16  # bytes that a lane can access at once on every machine
MOST_BETWEEN = 256  # accesses of the same base between the members of a run that are compared with it
_WIDTH_BITS = 8
_ACCESSES = ("load", "store", "atom", "opaque", COPY_ASYNC, STORE_MATRIX)
_GLOBAL = ("global", "generic")


class Run(Record):
    """members: the instructions, by address; first: the one with the lowest; bytes: their total."""

    first: int
    members: tuple[int, ...]
    bytes: int


def neighbours(function: Function, flow: Graph, ordered_places: frozenset[int] = frozenset()) -> dict[int, Run]:
    """instruction -> its run. Raises Exhausted if the graph's account is used up.

    ordered_places: of volatile accesses and those with a scope that are no sites of this function.
    """
    flow.account.spend(INSTRUCTION * len(function.instructions), "finding adjacent accesses")
    groups: dict[tuple[int, tuple[str, str, Hashable]], dict[int, int]] = defaultdict(dict)
    ordered, between = 0, _Between()
    for i in function.instructions:
        if _orders(i) or i.place in ordered_places:
            ordered += 1
        op = _accesses(i)
        if op is not None and (width := _bytes(op)) is not None:
            base = flow.block_of[i.index], ordered, *_of(i, op, flow)
            alike = op.name, i.opcode, base
            groups[width, alike].setdefault(op.offset, i.index)
            between.add(i, op.name, base, op.offset, width)
        else:
            for other in i.ops:
                if other.space in _GLOBAL and other.name in _ACCESSES or other.name == COPY_ASYNC:
                    between.add(i, "load" if other.name in ("load", COPY_ASYNC) else "store")
    return {
        at: run
        for (width, (kind, _, _)), places in groups.items()
        for run in _runs(places, width, kind, between)
        for at in run.members
    }


def _orders(instruction: Instruction) -> bool:
    """Whether no access may be moved across an instruction: one without modelled effects may be a fence."""
    if instruction.control is not None or instruction.site is not None and instruction.site.ordered:
        return True
    if not instruction.ops:
        return instruction.site is None
    return any(op.name in ("call", "clobber", "barrier.test") for op in instruction.ops)


class _Between:
    """The accesses to global memory in order, to find those between two that may not be exchanged with them."""

    def __init__(self) -> None:
        self.at: dict[str, list[int]] = {"load": [], "store": []}  # of each kind, all
        self.near: dict[Hashable, list[tuple[int, str, int, int]]] = defaultdict(list)  # base -> those of known bytes
        self.base: dict[int, Hashable] = {}
        self.promised: set[int] = set()

    def add(self, i: Instruction, kind: str, base: Hashable = None, offset: int = 0, width: int = 0) -> None:
        if base is not None:
            self.near[base].append((i.index, kind, offset, width))
            self.base[i.index] = base
        if kind == "load" and promised(i):
            self.promised.add(i.index)
        else:
            self.at[kind].append(i.index)

    def separate(self, members: tuple[int, ...], kind: str, offset: int, size: int) -> bool:
        """Whether an access between the first and the last of these, of `size` bytes, keeps them apart."""
        first, last = min(members), max(members)
        own = self.near[self.base[first]]
        near = own[bisect_right(own, first, key=lambda one: one[0]) : bisect_right(own, last, key=lambda one: one[0])]
        if len(near) > MOST_BETWEEN:
            return True
        near = [one for one in near if one[0] not in members and "store" in (kind, one[1])]
        if any(at < offset + size and offset < at + width for _, _, at, width in near):
            return True
        if kind == "load" and self.promised.issuperset(members):
            return False
        known = {one[0] for one in near} | set(members)
        return any(
            self._others(one, first, last, known) for one in (("load", "store") if kind == "store" else ("store",))
        )

    def _others(self, kind: str, first: int, last: int, known: set[int]) -> bool:
        """Whether there are accesses of this kind between the two, other than the known ones."""
        at = self.at[kind]
        begin, end = bisect_right(at, first), bisect_right(at, last)
        return end - begin > len(known) or any(index not in known for index in at[begin:end])


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


def _runs(places: dict[int, int], width: int, kind: str, between: _Between) -> Iterator[Run]:
    """The runs of accesses by offset, the widest first, each starting at a multiple of its size."""
    left = dict(places)
    size = WIDEST
    while size > width:
        for offset in sorted(left):
            parts = range(offset, offset + size, width)
            if offset % size == 0 and all(part in left for part in parts):
                members = tuple(left[part] for part in parts)
                if between.separate(members, kind, offset, size):
                    continue
                for part in parts:
                    del left[part]
                yield Run(members[0], members, size)
        size //= 2
