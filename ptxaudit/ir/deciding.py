"""Finds what determines the accesses of a kernel, for all accesses in one search, at the level of operations.

    mov r1, %tid.x;  rem r2, r1, n;  @p bra L;  ld.shared [r2]

The access depends on `rem`, `mov`, the load of n, and, if its execution matters, on what p depends on. A node of the
search is the result of one instruction in one register (only the operations that compute it), a join of definitions
of a register, the control dependence of a block, or the contents of local memory. Each is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ptxaudit.base.work import INSTRUCTION, SLICED, Account
from ptxaudit.ir.dataflow.closure import Closure, of_owner
from ptxaudit.ir.dataflow.definitions import Joined
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Instruction, Op, Reg
from ptxaudit.ir.operands import control_reads, reads, sources_of, writes_local


class Written(NamedTuple):
    """The result of an instruction in a register."""

    instruction: int
    register: str


class Decided(NamedTuple):
    """The control dependence of a block."""

    block: int


class Local(NamedTuple):
    """The contents of local memory."""


Node = Written | Joined | Decided | Local


class Deciding:
    """For each access, the union of bits of the operations that it depends on.

    own: the bits of an operation of an instruction. execution: includes what determines whether the access executes;
    together: also which lanes continue together.

    Raises Exhausted if the account is used up.
    """

    def __init__(
        self,
        flow: Graph,
        own: Callable[[Op, int], int],
        execution: bool,
        account: Account,
        doing: str,
        together: bool = True,
    ) -> None:
        self._together = together
        self._flow, self._own, self._execution, self._account, self._doing = flow, own, execution, account, doing
        self._instructions = flow.function.instructions
        self._closure: Closure[Node] = Closure(of_owner(self._following), of_owner(self._bits))

    def of(self, index: int) -> int:
        """The bits of the access at an instruction: of its address, or with `execution` of all that determines it."""
        if not self._execution:
            address = self._flow.function.site(index).address
            return self._closure.of_all(self._entering((address.name,), index)) if isinstance(address, Reg) else 0
        registers = [r.name for r in reads(self._instructions[index], True, True)]
        bits = self._closure.of_all(self._entering(registers, index)) | self._closure.of(
            Decided(self._flow.block_of[index])
        )
        return (
            bits
            | (self._ordering if self._together else 0)
            | (self._closure.of(Local()) if any(_reads_local(op) for op in self._instructions[index].ops) else 0)
        )

    @cached_property
    def _ordering(self) -> int:
        """The bits of what determines which lanes of a warp continue together."""
        return self._closure.of_all(
            node for at in self._flow.ordering for node in self._controlling(at)
        ) | self._own_of(self._flow.ordering)

    def _own_of(self, branches: Iterable[int]) -> int:
        """The bits of operations in the branches themselves."""
        bits = 0
        for branch in branches:
            for op in self._choosing(branch)[1]:
                bits |= self._own(op, branch)
        return bits

    def _choosing(self, branch: int) -> tuple[list[str], list[Op]]:
        """The registers that a branch reads, and the branch's own operations that write them."""
        instruction = self._instructions[branch]
        names = [r.name for r in control_reads(instruction)]
        return names, _making(instruction, set(names))

    def _entering(self, registers: Iterable[str], index: int) -> Iterator[Node]:
        """The definitions of registers that an instruction reads before it writes any."""
        for name in registers:
            node = self._flow.read.read(name, index)
            if node is not None:
                yield node if isinstance(node, Joined) else Written(node, name)

    def _bits(self, node: Node) -> int:
        bits = 0
        for op, index in self._made(node):
            bits |= self._own(op, index)
        if isinstance(node, Decided) and self._execution:
            bits |= self._own_of(self._branches(node.block))
        return bits

    def _made(self, node: Node) -> list[tuple[Op, int]]:
        """The operations that compute a node, each with its instruction."""
        if isinstance(node, Local):
            return [(op, i.index) for i in self._instructions for op in i.ops if writes_local(op)]
        if not isinstance(node, Written):
            return []
        return [(op, node.instruction) for op in _making(self._instructions[node.instruction], {node.register})]

    def _following(self, node: Node) -> Iterator[Node]:
        self._account.spend(SLICED, self._doing)
        if isinstance(node, Joined):
            for source in self._flow.read.sources(node):
                yield source if isinstance(source, Joined) else Written(source, node.register)
        elif isinstance(node, Written):
            yield from self._of_operations(node.instruction, [op for op, _ in self._made(node)])
        elif isinstance(node, Decided):
            for branch in self._branches(node.block):
                yield from self._controlling(branch)
        else:
            for i in self._instructions:
                self._account.spend(INSTRUCTION, self._doing)
                if stores := [op for op in i.ops if writes_local(op)]:
                    yield from self._of_operations(i.index, stores)

    def _of_operations(self, index: int, ops: list[Op]) -> Iterator[Node]:
        """The nodes that some operations of an instruction depend on."""
        yield from self._entering(_read_first(ops), index)
        if self._execution:
            yield Decided(self._flow.block_of[index])
        if any(_reads_local(op) for op in ops):
            yield Local()

    def _branches(self, block: int) -> list[int]:
        """The instructions that determine whether a block executes."""
        return sorted(self._flow.ends[c] - 1 for c in self._flow.controllers.get(block, ())) if self._execution else []

    def _controlling(self, branch: int) -> Iterator[Node]:
        """The nodes that a branch depends on."""
        names, made = self._choosing(branch)
        yield from self._entering(_read_first(made, names), branch)
        yield Decided(self._flow.block_of[branch])


def _making(instruction: Instruction, names: set[str]) -> list[Op]:
    """The operations of an instruction that write these registers, and those that write what these operations read."""
    kept = []
    for op in reversed(instruction.ops):
        if any(d is not None and d.name in names for d in op.dst):
            kept.append(op)
            names.update(r.name for r in sources_of(op))
    return kept[::-1]


def _read_first(ops: Iterable[Op], after: Iterable[str] = ()) -> Iterator[str]:
    """The registers that operations of one instruction, and `after` after them, read before they are written."""
    written: set[str] = set()
    for op in ops:
        yield from (source.name for source in sources_of(op) if source.name not in written)
        if op.guard is None:
            written.update(d.name for d in op.dst if d is not None)
    yield from (name for name in after if name not in written)


def _reads_local(op: Op) -> bool:
    return op.name == "load" and op.space == "local"
