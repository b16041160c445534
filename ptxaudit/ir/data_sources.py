"""Which pointers' data an address is computed from, for all accesses of a kernel at once.

    ld.global r5, [keys + 4*tid];  shl r6, r5, 2;  ld.shared [tile + r6]    ->  ("keys",)

Backwards from an address every definition that reaches it, whichever way the program went: a load from memory among
them brings in the pointers that its own address comes from. What a definition comes from is the same for all accesses,
so each instruction is looked at once: the strongly connected components of the graph of definitions, successors first
(Tarjan), with a bit a pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptxaudit.base.work import INSTRUCTION, SLICED, Account
from ptxaudit.ir.graph import Graph, sources_of
from ptxaudit.ir.nodes import Function, Op, Reg

OF_DATA = ("global", "generic")  # spaces of loads whose data can be told
LOOKING = "looking for the data that an address comes from"

Masks = tuple[int, int]  # pointers that a definition comes from; pointers to the data that it comes from


class DataSources:
    """names: of all parameters, in their order; pointers: of those that an operation reads as an address and that are
    not told. Raises Exhausted where the account does not pay for it."""

    def __init__(
        self,
        function: Function,
        flow: Graph,
        names: Iterable[str],
        pointers: Callable[[Op], Iterable[str]],
        account: Account,
    ) -> None:
        self._function, self._flow, self._pointers, self._account = function, flow, pointers, account
        self._bits = {name: 1 << at for at, name in enumerate(names)}
        self._masks: dict[int, Masks] = {}

    def of(self, register: str, index: int) -> tuple[str, ...]:
        """The pointers to the data that a register's value at an instruction comes from, in the order of the
        parameters.
        """
        mask = 0
        self._account.spend(INSTRUCTION, LOOKING)
        for at in sorted(self._flow.reaching(register, index)):
            if at not in self._masks:
                self._settle(at)
            mask |= self._masks[at][1]
        return tuple(name for name, bit in self._bits.items() if mask & bit)

    def _settle(self, start: int) -> None:
        """The masks of an instruction and of all that it comes from."""
        number: dict[int, int] = {}
        low: dict[int, int] = {}
        waiting: list[int] = []  # of components that are not whole yet
        before: dict[int, list[int]] = {}
        path = [(start, iter(self._open(start, number, low, waiting, before)))]
        while path:
            at, rest = path[-1]
            for other in rest:
                if other in self._masks:
                    continue
                if other in number:
                    low[at] = min(low[at], number[other])
                    continue
                path.append((other, iter(self._open(other, number, low, waiting, before))))
                break
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[at])
                if low[at] == number[at]:
                    component = [waiting.pop()]
                    while component[-1] != at:
                        component.append(waiting.pop())
                    self._close(component, before)

    def _open(
        self, at: int, number: dict[int, int], low: dict[int, int], waiting: list[int], before: dict[int, list[int]]
    ) -> list[int]:
        number[at] = low[at] = len(number)
        waiting.append(at)
        registers = dict.fromkeys(
            source.name for op in self._function.instructions[at].ops for source in sources_of(op)
        )
        self._account.spend(SLICED, LOOKING)
        before[at] = list(dict.fromkeys(one for name in registers for one in sorted(self._flow.reaching(name, at))))
        return before[at]

    def _close(self, component: list[int], before: dict[int, list[int]]) -> None:
        """The masks of a component, of which all that it comes from besides has its own."""
        inside = set(component)
        pointers = data = 0
        for at in component:
            for op in self._function.instructions[at].ops:
                for name in self._pointers(op):
                    pointers |= self._bits[name]
            for other in before[at]:
                if other not in inside:
                    pointers |= self._masks[other][0]
                    data |= self._masks[other][1]
        for at in component:
            for register in self._addresses(at):
                for other in self._flow.reaching(register, at):
                    data |= pointers if other in inside else self._masks[other][0]
        for at in component:
            self._masks[at] = pointers, data

    def _addresses(self, at: int) -> list[str]:
        """The registers that hold the addresses of an instruction's loads of data, where it has one."""
        ops = self._function.instructions[at].ops
        if not any(op.name == "load" and op.space in OF_DATA for op in ops):
            return []
        return [op.src[0].name for op in ops if op.name == "load" and isinstance(op.src[0], Reg)]
