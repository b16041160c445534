"""Reaching definitions of registers, and facts derived from them: the loops that wait for another lane, the registers
that a routine overwrites.

    0  mov r1, 1          definitions r1: 0, 2 (which does not kill: it is guarded)
    1  @p bra 3           reaching(r1, 3) is {0, 2}
    2  @q mov r1, 2
    3  store [r1]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from ptxaudit.base.work import INSTRUCTION
from ptxaudit.ir.blocks import CONTROL_FLOW, END
from ptxaudit.ir.control_flow import ControlFlow
from ptxaudit.ir.dataflow.definitions import Definition, Definitions, Joined
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.held_barriers import unheld
from ptxaudit.ir.nodes import Const, Instruction, Operand, Reg
from ptxaudit.ir.transfers import is_unresolved

DEFINITIONS = "finding definitions of registers"
ALL_LANES = (1 << 32) - 1


def _shows_others(instruction: Instruction) -> bool:
    """Whether the results may show what another thread has just done: of an atomic operation, or of a load that is
    volatile or has a scope.
    """
    return any(op.ordered or op.name == "atom" for op in instruction.ops)


class ReachingDefinitions(ControlFlow):
    """The control flow of one function and the definitions of its registers."""

    @cached_property
    def definitions(self) -> dict[str, list[tuple[int, bool]]]:
        """register -> [(instruction, kills)] in order."""
        self.account.spend(INSTRUCTION * len(self.function.instructions), DEFINITIONS)
        out: dict[str, list[tuple[int, bool]]] = {}
        for i in self.function.instructions:
            for op in i.ops:
                for d in op.dst:
                    if d is not None:
                        write = i.index, op.guard is None
                        if d.name in out:
                            out[d.name].append(write)
                        else:
                            out[d.name] = [write]
        return out

    @cached_property
    def read(self) -> Definitions:
        """The definitions that each instruction reads, as a sparse graph."""
        return Definitions(self.definitions, self.block_of, self.ends, self.before)

    @cached_property
    def _joined(self) -> dict[Definition, frozenset[int]]:
        return {}

    @cached_property
    def before(self) -> dict[int, tuple[int, ...]]:
        """block -> its predecessors."""
        return {b: tuple(self.cfg.predecessors(b)) for b in self.cfg}

    def reaching(self, register: str, index: int) -> frozenset[int]:
        """Instructions whose definition of `register` may reach `index`."""
        node = self.read.read(register, index)
        if not isinstance(node, Joined):
            return frozenset() if node is None else frozenset((node,))
        if node not in self._joined:
            before: Callable[[Definition], Iterable[Definition]] = lambda n: (
                self._joined.get(n) or self.read.following(n)
            )
            start: tuple[Definition, ...] = (node,)
            found = reached(start, before)
            writes = frozenset(n for n in found if not isinstance(n, Joined))
            self.account.spend(len(found) - len(writes), DEFINITIONS)
            self._joined[node] = writes
        return self._joined[node]

    @cached_property
    def yielding(self) -> frozenset[int]:
        """Blocks in which lanes may yield to lanes that wait at a convergence barrier, which then continue without
        them.

        These contain a YIELD or a sleep, or, in machine code, a WARPSYNC for lanes that may be elsewhere: where these
        wait at a convergence barrier, they continue. In PTX, where ptxas has yet to place YIELD, also blocks of loops
        that repeat until what another thread does shows in one of their atomic operations or volatile loads.
        (Compiled: kernels 9518 and 9548 of bench/adversary have a YIELD in such loops.)
        """
        named = frozenset(
            self.block_of[i.index]
            for i in self.function.instructions
            if i.control is not None and (i.control.kind == "yield" or self._awaits_others(i))
        )
        if self.function.explicit_reconvergence or not any(_shows_others(i) for i in self.function.instructions):
            return named
        loops = [
            self.loop(source, head)
            for source, head in self.within.edges
            if head != END and self.dominates(head, source)
        ]
        return named.union(*(loop for loop in loops if self._waits(loop)))

    def _awaits_others(self, instruction: Instruction) -> bool:
        """Whether a WARPSYNC may name lanes that are elsewhere: its mask is neither a constant nor a vote of the lanes
        active where exactly those that execute it pass.

        (Measured: kernel 9536 of bench/languages at -O0, where lanes name all that were active before a branch.)
        """
        control = instruction.control
        if control is None or control.kind not in ("warpsync", "part") or not self.function.explicit_reconvergence:
            return False
        made = self._origin(control.selector, instruction.index)
        if isinstance(made, int):
            return self._diverging_controllers(made) != self._diverging_controllers(instruction.index)
        return not isinstance(made, Const)

    def _diverging_controllers(self, index: int) -> set[int]:
        """The blocks whose branches decide which lanes execute an instruction: not BRA.DIV, which all take together."""
        return {
            block
            for block in self.controllers.get(self.block_of[index], ())
            if not any(op.name == "vote.diverged" for op in self.function.instructions[self.ends[block] - 1].ops)
        }

    def _origin(self, operand: Operand | None, index: int) -> int | Operand | None:
        """Where a mask comes from, through moves: a constant, or the instruction that makes it by a vote. None:
        anything else.
        """
        passed = []
        found: int | Operand | None = operand if operand is not None else Const(ALL_LANES)
        while isinstance(found, Reg):
            node = self.read.read(found.name, index)
            if node is None or isinstance(node, Joined) or (found.name, node) in self._origins:
                found = None if node is None or isinstance(node, Joined) else self._origins[found.name, node]
                break
            passed.append((found.name, node))
            index = node
            found = self._made_by(found.name, node)
        self.account.spend(1 + len(passed), DEFINITIONS)
        self._origins.update(dict.fromkeys(passed, found))
        return found

    def _made_by(self, register: str, index: int) -> int | Operand | None:
        """The instruction if it votes, what it moves, or None."""
        last = [op for op in self.function.instructions[index].ops if op.writes(register)][-1]
        if last.name == "mov" and last.guard is None:
            return last.src[0]
        return index if last.name.startswith("vote.") and last.guard is None else None

    @cached_property
    def _origins(self) -> dict[tuple[str, int], int | Operand | None]:
        return {}

    def _waits(self, loop: set[int]) -> bool:
        """Whether a loop is left depends on what one of its own instructions sees of other threads."""
        self.account.spend(len(loop), CONTROL_FLOW)
        instructions = self.function.instructions
        exits = [b for b in loop if b != END and any(s not in loop for s in self.within.successors(b))]
        controls = [instructions[k].control for b in exits for k in range(self.starts[b], self.ends[b])]
        work = [c.guard.reg.name for c in controls if c is not None and c.guard is not None]
        wanted = set(work)
        while work:
            name = work.pop()
            self.account.spend(len(self.definitions.get(name, ())), CONTROL_FLOW)
            for at, _ in self.definitions.get(name, ()):
                for op in instructions[at].ops if self.block_of[at] in loop else ():
                    if op.writes(name):
                        if _shows_others(instructions[at]):
                            return True
                        more = {s.name for s in op.src if isinstance(s, Reg)} - wanted
                        wanted |= more
                        work += more
        return False

    @cached_property
    def unheld(self) -> dict[int, frozenset[str]]:
        """block -> the convergence barriers that lanes may not be in at its end."""
        self.account.spend(len(self.function.instructions), CONTROL_FLOW)
        return unheld(self)

    def yields(self, block: int) -> bool:
        """Whether there is a yielding block between the branch that ends `block` and its post-dominator."""
        return bool(self.yielding) and not self.yielding.isdisjoint(self.region(block) | {block})

    @cached_property
    def routines(self) -> dict[int, frozenset[int]]:
        """first block of a routine with several calls -> its blocks, with those of its callees."""
        return {s: frozenset(reached((s,), self.within.successors)) - {END} for s in set(self.calls.values())}

    @cached_property
    def overwritten(self) -> dict[int, frozenset[str]]:
        """first block of a routine -> the registers written in it or its callees."""
        return {
            start: frozenset(
                d.name
                for b in blocks
                for i in self.function.instructions[self.starts[b] : self.ends[b]]
                for op in i.ops
                for d in op.dst
                if d is not None
            )
            for start, blocks in self.routines.items()
        }

    @cached_property
    def ending(self) -> dict[int, int]:
        """first block of a routine -> an instruction in it or its callees at which lanes may end."""
        out: dict[int, int] = {}
        for start, blocks in self.routines.items():
            last = [self.function.instructions[self.ends[b] - 1] for b in blocks]
            ends = [
                i.index for i in last if i.control is not None and i.control.kind == "exit" or is_unresolved(i.control)
            ]
            out |= {start: min(ends)} if ends else {}
        return out

    @cached_property
    def recursive(self) -> frozenset[int]:
        """The blocks of routines with several calls and of their callees: recursive ones, as `link` copies others.

        Lanes at different depths wait at one convergence barrier, which their calls save and restore, for lanes other
        than those from which they have diverged: they may return diverged (kernel 10034 of bench/adversary/kernels:
        seven requests of three warps behind a barrier of the block).
        """
        return frozenset().union(*self.routines.values())

    @cached_property
    def giving_way(self) -> frozenset[int]:
        """The first blocks of routines in which, or in whose callees, lanes may yield."""
        return frozenset(start for start, blocks in self.routines.items() if not blocks.isdisjoint(self.yielding))
