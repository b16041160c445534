"""Finds the pointers whose data an address is computed from, for all accesses of a kernel in one search.

    ld.global r5, [keys + 4*tid];  shl r6, r5, 2;  ld.shared [tile + r6]    ->  ("keys",)

The search goes backwards from an address through every definition that may reach it. A load from memory adds the
pointers that its own address is computed from; a load from shared memory depends on everything that is stored or
copied there. The dependences of a definition are the same for all accesses, so one closure of the graph of
definitions has the pointers that each depends on, as bits, and a second one the pointers to data among its sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from ptxaudit.base.work import INSTRUCTION, SLICED, Account
from ptxaudit.ir.dataflow.closure import Closure, of_owner
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.divergence import Divergence
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Op, Reg
from ptxaudit.ir.operands import control_reads, guard_reads, sources_of

OF_DATA = ("global", "generic")  # state spaces of loads whose data can be specified
LOOKING = "tracing the data behind addresses"


OF_SHARED = ("shared", "shared::cluster")


class Shared(NamedTuple):
    """All values stored or copied to shared memory."""


Node = Definition | Shared


HELPS, OTHER = 0, 1  # a pointer has two bits: a load through it would be replaced by specified data, or not


class DataSources:
    """The pointers to the data that registers and operations depend on.

    names: all pointers, in the order of the parameters; pointers: those that an operation reads as an address and
    whose data is not specified; helps: whether data specified for a pointer would replace a load at an instruction;
    begins: the names of what an address points into, None if that is not traced. Raises Exhausted if the account is
    used up.
    """

    def __init__(
        self,
        function: Function,
        flow: Graph,
        names: Iterable[str],
        pointers: Callable[[Op], Iterable[str]],
        account: Account,
        helps: Callable[[str, int], bool] = lambda name, index: True,
        begins: Callable[[Op, int], Iterable[str] | None] = lambda op, index: None,
    ) -> None:
        self._function, self._flow, self._named, self._account = function, flow, pointers, account
        self._helps, self._begins = helps, begins
        self._place: dict[str, int] = {}
        for name in names:
            self._bit(name)
        self._pointers: Closure[Node] = Closure(of_owner(self._before), of_owner(self._own_pointers))
        self._data: Closure[Node] = Closure(of_owner(self._before), of_owner(self._own_data))
        self._direct: Closure[Node] = Closure(of_owner(self._before_directly), of_owner(self._own_data))

    @cached_property
    def _divergence(self) -> Divergence:
        return Divergence(self._flow)

    def _bit(self, name: str, way: int = HELPS) -> int:
        return 1 << 2 * self._place.setdefault(name, len(self._place)) + way

    def of(self, register: str, index: int) -> tuple[str, ...]:
        """The pointers to the data that a register's value at an instruction depends on, in parameter order."""
        return self.names(self.bits_of(register, index))

    def bits_of(self, register: str, index: int) -> int:
        """The same as bits, including pointers whose specified data would not replace the load."""
        self._account.spend(INSTRUCTION, LOOKING)
        return self._data.of_all(self._reads((register,), index))

    def directly(self, register: str, index: int) -> tuple[str, ...]:
        """As `of`, without data that all lanes read back from one location of shared memory."""
        self._account.spend(INSTRUCTION, LOOKING)
        return self.names(self._direct.of_all(self._reads((register,), index)))

    def read_at(self, index: int) -> int:
        """The bits of the pointers to the data that an instruction loads or reads.

        Data read back from shared memory counts only if there is no other.
        """
        self._account.spend(INSTRUCTION, LOOKING)
        names = [register.name for register in control_reads(self._function.instructions[index])]
        nodes = [index, *self._reads(names, index)]
        return self._direct.of_all(nodes) or self._data.of_all(nodes)

    def deciding_at(self, index: int) -> int:
        """The bits of the pointers to the data that determine an instruction's guard or branch target, or without
        these, that it loads. Leaves out data that all lanes read back from one location of shared memory.
        """
        self._account.spend(INSTRUCTION, LOOKING)
        instruction = self._function.instructions[index]
        names = [register.name for register in (*guard_reads(instruction), *control_reads(instruction))]
        return self._direct.of_all(self._reads(names, index) if names else [index])

    def names(self, mask: int, way: int = HELPS) -> tuple[str, ...]:
        """The pointers for some bits, in parameter order. way: HELPS (their data would replace the load) or OTHER."""
        return tuple(name for name in self._place if mask & self._bit(name, way))

    def read_by(self, op: Op, index: int) -> int:
        """The bits of the pointers to the data that a load returns; 0 for other operations."""
        if op.name not in ("load", "atom"):
            return 0
        return self._data.of(Shared()) if op.space in OF_SHARED else self._through([op], index)

    def read_directly_by(self, op: Op, index: int) -> int:
        """The same, but 0 for loads from shared memory."""
        return 0 if op.space in OF_SHARED else self.read_by(op, index)

    def _through(self, ops: Iterable[Op], index: int) -> int:
        """The bits of the pointers that the addresses of data loads and atomics depend on."""
        bits = 0
        for op in ops:
            if op.name in ("load", "atom") and op.space in OF_DATA and op.src and isinstance(op.src[0], Reg):
                begins = self._begins(op, index)
                bits |= (
                    self._marked(self._pointers.of_all(self._reads([op.src[0].name], index)), op, index)
                    if begins is None
                    else sum(self._bit(name, self._way(name, op, index)) for name in dict.fromkeys(begins))
                )
        return bits

    def _marked(self, mask: int, op: Op | None, index: int) -> int:
        """The bits of pointers, each by whether specified data would replace the load."""
        return sum(self._bit(name, self._way(name, op, index)) for name in self.names(mask))

    def _way(self, name: str, op: Op | None, index: int) -> int:
        return HELPS if (op is None or op.name == "load") and self._helps(name, index) else OTHER

    def _reads(self, registers: Iterable[str], index: int) -> list[Node]:
        return [node for name in registers if (node := self._flow.read.read(name, index)) is not None]

    def _before(self, node: Node) -> list[Node]:
        """The nodes that a definition or join depends on."""
        self._account.spend(SLICED, LOOKING)
        if isinstance(node, Joined):
            return list(self._flow.read.sources(node))
        if isinstance(node, Shared):
            return self._stored()
        ops = self._function.instructions[node].ops
        before = self._reads(_entering(ops), node)
        back = any(op.name in ("load", "atom") and op.space in OF_SHARED for op in ops)
        return [*before, Shared()] if back else before

    def _before_directly(self, node: Node) -> list[Node]:
        """The same, without data that all lanes read back from one location of shared memory.

        An example is a number that a thread has drawn for its block.
        """
        found = self._before(node)
        if Shared() not in found or isinstance(node, (Joined, Shared)) or self._divergence.differs(node):
            return found
        return [before for before in found if not isinstance(before, Shared)]

    def _stored(self) -> list[Node]:
        """The nodes that values stored to shared memory depend on."""
        out: list[Node] = []
        for instruction in self._function.instructions:
            self._account.spend(INSTRUCTION, LOOKING)
            for op in instruction.ops:
                if op.name in ("store", "atom") and op.space in OF_SHARED:
                    out += self._reads([s.name for s in op.src[1:] if isinstance(s, Reg)], instruction.index)
        return out

    def _own_pointers(self, node: Node) -> int:
        """The pointers that an instruction's operations read."""
        bits = 0
        for op in () if isinstance(node, (Joined, Shared)) else self._function.instructions[node].ops:
            for name in self._named(op):
                bits |= self._bit(name)
        return bits

    def _own_data(self, node: Node) -> int:
        """The pointers that the addresses of an instruction's data loads depend on."""
        if isinstance(node, Joined):
            return 0
        return (
            self._copied() if isinstance(node, Shared) else self._through(self._function.instructions[node].ops, node)
        )

    def _copied(self) -> int:
        """The pointers to data that asynchronous copies write to shared memory."""
        bits = 0
        for instruction in self._function.instructions:
            site = instruction.site
            if site is not None and site.of == "shared" and isinstance(site.source, Reg):
                mask = self._pointers.of_all(self._reads([site.source.name], instruction.index))
                bits |= self._marked(mask, None, instruction.index)
        return bits


def _entering(ops: Iterable[Op]) -> dict[str, None]:
    """The registers that an instruction's operations read before these write them."""
    read, written = dict[str, None](), set[str]()
    for op in ops:
        read.update((source.name, None) for source in sources_of(op) if source.name not in written)
        if op.guard is None:
            written.update(d.name for d in op.dst if d is not None)
    return read
