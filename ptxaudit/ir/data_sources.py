"""Which pointers' data an address is computed from, for all accesses of a kernel at once.

    ld.global r5, [keys + 4*tid];  shl r6, r5, 2;  ld.shared [tile + r6]    ->  ("keys",)

Backwards from an address every definition that reaches it, whichever way the program went: a load from memory among
them brings in the pointers that its own address comes from. What a definition comes from is the same for all accesses:
one closure of the graph of definitions has the pointers that each comes from, with a bit a pointer, a second one those
to the data among it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptxaudit.base.work import INSTRUCTION, SLICED, Account
from ptxaudit.ir.dataflow.closure import Closure
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Op, Reg
from ptxaudit.ir.operands import sources_of

OF_DATA = ("global", "generic")  # spaces of loads whose data can be told
LOOKING = "looking for the data that an address comes from"


class DataSources:
    """names: of all parameters, in their order; pointers: of those that an operation reads as an address and that are
    not specified. Raises Exhausted where the account does not pay for it."""

    def __init__(
        self,
        function: Function,
        flow: Graph,
        names: Iterable[str],
        pointers: Callable[[Op], Iterable[str]],
        account: Account,
    ) -> None:
        self._function, self._flow, self._named, self._account = function, flow, pointers, account
        self._bits = {name: 1 << at for at, name in enumerate(names)}
        self._pointers: Closure[Definition] = Closure(self._before, self._own_pointers)
        self._data: Closure[Definition] = Closure(self._before, self._own_data)

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
        """The bits of the pointers that the address of a load of data comes from; 0 of another operation."""
        if op.name != "load" or op.space not in OF_DATA or not isinstance(op.src[0], Reg):
            return 0
        return self._pointers.of_all(self._reads((op.src[0].name,), index))

    def _reads(self, registers: Iterable[str], index: int) -> list[Definition]:
        return [node for name in registers if (node := self._flow.read.read(name, index)) is not None]

    def _before(self, node: Definition) -> list[Definition]:
        """Where what is written or comes together in a place comes from."""
        self._account.spend(SLICED, LOOKING)
        if isinstance(node, Joined):
            return self._flow.read.sources(node)
        return self._reads(
            dict.fromkeys(source.name for op in self._function.instructions[node].ops for source in sources_of(op)),
            node,
        )

    def _own_pointers(self, node: Definition) -> int:
        """The pointers that an instruction's operations read."""
        bits = 0
        for op in () if isinstance(node, Joined) else self._function.instructions[node].ops:
            for name in self._named(op):
                bits |= self._bits[name]
        return bits

    def _own_data(self, node: Definition) -> int:
        """The pointers that the addresses of an instruction's loads of data come from, where it has one."""
        if isinstance(node, Joined):
            return 0
        ops = self._function.instructions[node].ops
        if not any(op.name == "load" and op.space in OF_DATA for op in ops):
            return 0
        return self._pointers.of_all(
            self._reads([op.src[0].name for op in ops if op.name == "load" and isinstance(op.src[0], Reg)], node)
        )
