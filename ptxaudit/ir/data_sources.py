"""Which pointers' data an address is computed from, for all accesses of a kernel at once.

    ld.global r5, [keys + 4*tid];  shl r6, r5, 2;  ld.shared [tile + r6]    ->  ("keys",)

Backwards from an address every definition that reaches it, whichever way the program went: a load from memory among
them brings in the pointers that its own address comes from. What is read back from shared memory comes from all that is
stored or copied there. What a definition comes from is the same for all accesses: one closure of the graph of
definitions has the pointers that each comes from, with a bit a pointer, a second one those to the data among it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ptxaudit.base.work import INSTRUCTION, SLICED, Account
from ptxaudit.ir.dataflow.closure import Closure
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Op, Reg
from ptxaudit.ir.operands import sources_of

OF_DATA = ("global", "generic")  # spaces of loads whose data can be specified
LOOKING = "looking for the data that an address comes from"


OF_SHARED = ("shared", "shared::cluster")


class Shared(NamedTuple):
    """What is stored to shared memory, or copied there."""


Node = Definition | Shared


class DataSources:
    """names: of all pointers, in the order of the parameters; pointers: of those that an operation reads as an address
    and whose data is not specified; helps: whether what a load reads through a pointer would be taken as specified.
    Raises Exhausted where the account does not pay for it."""

    def __init__(
        self,
        function: Function,
        flow: Graph,
        names: Iterable[str],
        pointers: Callable[[Op], Iterable[str]],
        account: Account,
        helps: Callable[[str, int], bool] = lambda name, index: True,
    ) -> None:
        self._function, self._flow, self._named, self._account = function, flow, pointers, account
        self._helps = helps
        self._bits = {name: 1 << at for at, name in enumerate(names)}
        self._pointers: Closure[Node] = Closure(self._before, self._own_pointers)
        self._data: Closure[Node] = Closure(self._before, self._own_data)

    def of(self, register: str, index: int) -> tuple[str, ...]:
        """The pointers to the data that a register's value at an instruction comes from, in the order of the
        parameters.
        """
        self._account.spend(INSTRUCTION, LOOKING)
        return self.names(self._data.of_all(self._reads((register,), index)))

    def names(self, mask: int) -> tuple[str, ...]:
        """The pointers of some bits, in the order of the parameters."""
        return tuple(name for name, bit in self._bits.items() if mask & bit)

    def read_by(self, op: Op, index: int) -> int:
        """The bits of the pointers to the data that a load yields; 0 of another operation."""
        if op.name not in ("load", "atom"):
            return 0
        if op.space in OF_SHARED:
            return self._data.of(Shared())
        return self._through([op], index) if op.name == "load" else 0

    def _through(self, ops: Iterable[Op], index: int) -> int:
        """The bits of the pointers that the addresses of loads of data come from, whose data would help."""
        names = [
            op.src[0].name for op in ops if op.name == "load" and op.space in OF_DATA and isinstance(op.src[0], Reg)
        ]
        return self._helping(self._pointers.of_all(self._reads(names, index)), index) if names else 0

    def _helping(self, mask: int, index: int) -> int:
        return sum(bit for name, bit in self._bits.items() if mask & bit and self._helps(name, index))

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
        before = self._reads(dict.fromkeys(source.name for op in ops for source in sources_of(op)), node)
        back = any(op.name in ("load", "atom") and op.space in OF_SHARED for op in ops)
        return [*before, Shared()] if back else before

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
                bits |= self._bits[name]
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
                bits |= self._helping(mask, instruction.index)
        return bits
