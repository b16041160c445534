"""Which pointers' data an address is computed from, for all accesses of a kernel at once.

    ld.global r5, [keys + 4*tid];  shl r6, r5, 2;  ld.shared [tile + r6]    ->  ("keys",)

Backwards from an address every definition that reaches it, whichever way the program went: a load from memory among
them brings in the pointers that its own address comes from. What is read back from shared memory comes from all that is
stored or copied there. What a definition comes from is the same for all accesses: one closure of the graph of
definitions has the pointers that each comes from, with bits for each pointer, a second one those to the data among it.
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

OF_DATA = ("global", "generic")  # spaces of loads whose data can be specified
LOOKING = "tracing the data behind addresses"


OF_SHARED = ("shared", "shared::cluster")


class Shared(NamedTuple):
    """What is stored to shared memory, or copied there."""


Node = Definition | Shared


HELPS, OTHER = 0, 1  # of the two bits of a pointer: its data would be taken as specified where it is loaded, or not


class DataSources:
    """names: of all pointers, in the order of the parameters; pointers: of those that an operation reads as an address
    and whose data is not specified; helps: whether what a load reads through a pointer would be taken as specified;
    begins: the names of what an address points into, None where that is not followed. Raises Exhausted where the
    account does not pay for it."""

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
        """The pointers to the data that a register's value at an instruction comes from, in the order of the
        parameters.
        """
        return self.names(self.bits_of(register, index))

    def bits_of(self, register: str, index: int) -> int:
        """The same, with the pointers whose data would not be taken as specified."""
        self._account.spend(INSTRUCTION, LOOKING)
        return self._data.of_all(self._reads((register,), index))

    def directly(self, register: str, index: int) -> tuple[str, ...]:
        """The same as `of`, but for what all lanes read back from one place of shared memory."""
        self._account.spend(INSTRUCTION, LOOKING)
        return self.names(self._direct.of_all(self._reads((register,), index)))

    def read_at(self, index: int) -> int:
        """The bits of the pointers to the data that an instruction loads or reads, without what lies in shared memory
        where there is other data."""
        self._account.spend(INSTRUCTION, LOOKING)
        names = [register.name for register in control_reads(self._function.instructions[index])]
        nodes = [index, *self._reads(names, index)]
        return self._direct.of_all(nodes) or self._data.of_all(nodes)

    def deciding_at(self, index: int) -> int:
        """The bits of the pointers to the data that the guard of an instruction comes from, or where a branch goes; of
        one without, to the data that it loads. Without what all lanes read back from one place of shared memory."""
        self._account.spend(INSTRUCTION, LOOKING)
        instruction = self._function.instructions[index]
        names = [register.name for register in (*guard_reads(instruction), *control_reads(instruction))]
        return self._direct.of_all(self._reads(names, index) if names else [index])

    def names(self, mask: int, way: int = HELPS) -> tuple[str, ...]:
        """The pointers of some bits, in the order of the parameters: those whose data would be taken as specified, or
        the others."""
        return tuple(name for name in self._place if mask & self._bit(name, way))

    def read_by(self, op: Op, index: int) -> int:
        """The bits of the pointers to the data that a load yields; 0 of another operation."""
        if op.name not in ("load", "atom"):
            return 0
        return self._data.of(Shared()) if op.space in OF_SHARED else self._through([op], index)

    def read_directly_by(self, op: Op, index: int) -> int:
        """The same, 0 of what is read back from shared memory."""
        return 0 if op.space in OF_SHARED else self.read_by(op, index)

    def _through(self, ops: Iterable[Op], index: int) -> int:
        """The bits of the pointers that the addresses of loads of data, and of atomics, come from."""
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
        """The bits of pointers, each by whether its data would be taken as specified."""
        return sum(self._bit(name, self._way(name, op, index)) for name in self.names(mask))

    def _way(self, name: str, op: Op | None, index: int) -> int:
        return HELPS if (op is None or op.name == "load") and self._helps(name, index) else OTHER

    def _reads(self, registers: Iterable[str], index: int) -> list[Node]:
        return [node for name in registers if (node := self._flow.read.read(name, index)) is not None]

    def _before(self, node: Node) -> list[Node]:
        """Where what is written or comes together in a place comes from."""
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
        """The same, but for what all lanes read back from one place of shared memory, as they do the number that a
        thread has drawn for its block."""
        found = self._before(node)
        if Shared() not in found or isinstance(node, (Joined, Shared)) or self._divergence.differs(node):
            return found
        return [before for before in found if not isinstance(before, Shared)]

    def _stored(self) -> list[Node]:
        """Where the values come from that are stored to shared memory."""
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
        """The pointers that the addresses of an instruction's loads of data come from, where it has one."""
        if isinstance(node, Joined):
            return 0
        return (
            self._copied() if isinstance(node, Shared) else self._through(self._function.instructions[node].ops, node)
        )

    def _copied(self) -> int:
        """The pointers to what asynchronous copies bring into shared memory."""
        bits = 0
        for instruction in self._function.instructions:
            site = instruction.site
            if site is not None and site.of == "shared" and isinstance(site.source, Reg):
                mask = self._pointers.of_all(self._reads([site.source.name], instruction.index))
                bits |= self._marked(mask, None, instruction.index)
        return bits


def _entering(ops: Iterable[Op]) -> dict[str, None]:
    """The registers that an instruction's operations read before these have written them."""
    read, written = dict[str, None](), set[str]()
    for op in ops:
        read.update((source.name, None) for source in sources_of(op) if source.name not in written)
        if op.guard is None:
            written.update(d.name for d in op.dst if d is not None)
    return read
