"""Slices: the instructions that determine some accesses and whether they execute.

    0  mov r1, tid.x          slice of 3: {0, 1, 3}; branch 1 is relevant to 3,
    1  @p bra 4               `r9 = …` at 2 is not.
    2  mul r9, r9, r9
    3  store shared [r1]
    4  exit

The search goes backwards from the accesses through registers (and past guarded definitions, which do not kill), local
memory, and the branches that determine whether an instruction executes: Weiser, "Program slicing", ICSE 1981. Only
the slice is ever evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.base.work import SLICED, Account
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.nodes import Instruction, Op, Reg
from ptxaudit.ir.operands import (
    BARRIER_MOVES,
    SHARED_SPACES,
    SharedWrites,
    control_reads,
    guard_reads,
    reads,
    site_reads,
    sources_of,
    writes_local,
)
from ptxaudit.ir.reaching import ReachingDefinitions

SLICING = "slicing for the accesses"


class Slice(Record, eq=False):
    """instructions: indices of what to execute; branches: those whose outcome matters; ops: the operations of each
    instruction whose results the slice reads.
    """

    instructions: frozenset[int]
    branches: frozenset[int]
    ops: dict[int, tuple[Op, ...]] = field(default_factory=dict)


class Slicer:
    """One backward search. `Graph.slice` describes the arguments; ordering: branches that belong to every slice."""

    def __init__(
        self,
        flow: ReachingDefinitions,
        account: Account,
        ordering: Iterable[int],
        follow_loads: bool,
        shared: SharedWrites | None,
        barriers: bool,
    ):
        self.flow, self.account, self.follow_loads, self.shared = flow, account, follow_loads, shared
        self.instructions = flow.function.instructions
        self.wanted: set[int] = set()
        self.branches = set(ordering)
        self._pending = list(self.branches)
        self._blocks_done: set[int] = set()
        self._defining: set[int] = set()  # instructions whose results the slice reads
        self._read: set[str] = set()  # all registers that the slice reads
        self._seen: set[Definition] = set()
        self._work = _moving_barriers(flow) if barriers else []
        self._local_done = False

    def slice(self, roots: Iterable[int], whether: Sequence[int], held: Iterable[tuple[Reg, int]]) -> Slice:
        """The slice of `roots`.

        roots: accesses; whether: accesses of which only their execution matters; held: registers, each with the index
        of an instruction that reads it.
        """
        self._work = [*roots, *self._work]
        for index in whether:
            self._decided(self.flow.block_of[index])
        for index in whether:
            guards = guard_reads(self.instructions[index])
            self._read.update([r.name for r in guards])
            self._ask(guards, index)
        for reg, index in held:
            self._read.add(reg.name)
            self._ask([reg], index)
        while self._work or self._pending:
            if self._pending:
                self._take_branch(self._pending.pop())
            elif (index := self._work.pop()) not in self.wanted:
                self._take(index)
        needed = self._operations()
        needed.update((k, ()) for k in whether if k not in self.wanted)
        return Slice(frozenset(self.wanted.union(whether)), frozenset(self.branches), needed)

    def _ask(self, regs: list[Reg], index: int) -> None:
        """Adds the definitions of registers that an instruction reads."""
        definitions, seen = self.flow.definitions, self._seen
        for reg in regs:
            writes = definitions.get(reg.name, ())
            if len(writes) < 2:
                found = [at for at, _ in writes]
            else:
                node = self.flow.read.read(reg.name, index)
                if node is None or node in seen:
                    continue
                if isinstance(node, Joined):
                    new = reached((node,), self.flow.read.following, seen)
                    self.account.spend(len(new), SLICING)
                    found = [at for at in new if not isinstance(at, Joined)]
                else:
                    seen.add(node)
                    self.account.spend(1, SLICING)
                    found = [node]
            self._defining.update(found)
            self._work.extend([at for at in found if at not in self.wanted])

    def _take_branch(self, index: int) -> None:
        regs = control_reads(self.instructions[index])
        self._read.update([r.name for r in regs])
        self._ask(regs, index)
        if self.instructions[index].ops:
            self._work.append(index)
        self._decided(self.flow.block_of[index])

    def _take(self, index: int) -> None:
        self.wanted.add(index)
        self.account.spend(SLICED, SLICING)
        instruction = self.instructions[index]
        regs = reads(instruction, self.follow_loads, True, self.shared)
        self._ask(regs, index)
        if len(instruction.ops) > 1 or instruction.site is not None or not self.follow_loads:
            regs = reads(instruction, True, shared=self.shared)  # also what its own operations write
        self._read.update([r.name for r in regs])
        if self.flow.block_of[index] not in self._blocks_done:
            self._decided(self.flow.block_of[index])
        if not self._local_done and any(True for op in instruction.ops if op.name == "load" and op.space == "local"):
            self._local_done = True
            self._work += _writing_local(self.flow)

    def _decided(self, block: int) -> None:
        """Adds the branches that determine whether a block executes."""
        if block in self._blocks_done:
            return
        self._blocks_done.add(block)
        for controller in self.flow.controllers.get(block, ()):
            last = self.flow.ends[controller] - 1
            if last not in self.branches:
                self.branches.add(last)
                self._pending.append(last)

    def _operations(self) -> dict[int, tuple[Op, ...]]:
        """The needed operations of each instruction."""
        writers = self.shared.writers if self.shared is not None else ()
        needed = {k: _needed(self.instructions[k].ops, self._read, k in writers) for k in self.wanted}
        return needed | {
            k: _of_the_site(self.instructions[k], needed[k])
            for k in self.wanted - self._defining - self.branches
            if k not in writers
        }


def _moving_barriers(flow: ReachingDefinitions) -> list[int]:
    """Instructions that save, restore or clear a convergence barrier."""
    return [
        i.index
        for i in flow.function.instructions
        if i.ops and any(op.name in BARRIER_MOVES for op in i.ops) and flow.block_of[i.index] in flow.reachable
    ]


def _writing_local(flow: ReachingDefinitions) -> list[int]:
    """Instructions that may write local memory."""
    return [i.index for i in flow.function.instructions if any(writes_local(op) for op in i.ops)]


def _needed(ops: tuple[Op, ...], read: set[str], writes_shared: bool) -> tuple[Op, ...]:
    """The operations whose results the slice reads, and the stores to memory that it may load from."""
    kept = []
    for op in ops:
        if writes_local(op) or op.name in BARRIER_MOVES or writes_shared and op.space in SHARED_SPACES:
            kept.append(op)
            continue
        for d in op.dst:
            if d is not None and d.name in read:
                kept.append(op)
                break
    return ops if len(kept) == len(ops) else tuple(kept)


def _of_the_site(instruction: Instruction, ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """For an access whose results the slice does not read: the operations that compute its operands, and stores."""
    names = {r.name for r in site_reads(instruction)}
    kept = []
    for op in reversed(ops):
        if op.name in ("store", "call", "clobber", *BARRIER_MOVES) or any(
            d is not None and d.name in names for d in op.dst
        ):
            kept.append(op)
            names.update(r.name for r in sources_of(op))
    return tuple(reversed(kept))
