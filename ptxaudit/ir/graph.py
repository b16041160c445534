"""The graph of a function: control flow, definitions, divergence, slices.

Each of these is a module that uses only those before it: `blocks`, `control_flow`, `reaching`, `divergence`,
`slices`. `build(function)` cuts the blocks; everything else is computed once, on first use. Nothing here knows the
instruction set.

    0  mov r1, tid.x          slice of 3: {0, 1, 3}; branch 1 is relevant to 3,
    1  @p bra 4               `r9 = …` at 2 is not.
    2  mul r9, r9, r9
    3  store shared [r1]
    4  exit
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

from ptxaudit.base.quiet import no_collection
from ptxaudit.base.work import Account
from ptxaudit.ir.blocks import END, parts_if
from ptxaudit.ir.dataflow.digraph import Digraph
from ptxaudit.ir.divergence import Divergence, divergence
from ptxaudit.ir.nodes import Function, Reg
from ptxaudit.ir.operands import SharedWrites
from ptxaudit.ir.reaching import ReachingDefinitions
from ptxaudit.ir.slices import SLICING, Slice, Slicer

MOST_SLICES = 16  # kept per function


class Graph(ReachingDefinitions):
    """All queries on one function, whichever module answers them.

    too_tangled: the steps after which `reducible` gave up on it.
    """

    too_tangled: int | None = None

    def slice(
        self,
        roots: Iterable[int],
        follow_loads: bool = False,
        whether: Iterable[int] = (),
        account: Account | None = None,
        shared: SharedWrites | None = None,
        held: Sequence[tuple[Reg, int]] = (),
        barriers: bool = False,
    ) -> Slice:
        """The instructions that determine the accesses at the indices `roots`, and whether those at `whether` execute.

        shared: values loaded from shared memory are traced to the stores that wrote them.
        held: also traces registers, each with the index of an instruction that reads it.
        barriers: also traces where convergence barriers are saved.
        account: pays for it. Raises Exhausted if it is used up.
        """
        account = account or self.account
        roots, whether = tuple(roots), tuple(whether)
        asked = roots, follow_loads, whether, shared, tuple(held), barriers
        if asked in self._slices:
            found, steps = self._slices[asked]
            account.spend(steps, SLICING)
            return found
        before = account.spent
        found = Slicer(self, account, self.ordering, follow_loads, shared, barriers).slice(roots, whether, held)
        if len(self._slices) >= MOST_SLICES:
            self._slices.clear()
        self._slices[asked] = found, account.spent - before
        return found

    @cached_property
    def _slices(self) -> dict[Hashable, tuple[Slice, int]]:
        """The slices so far, which other launches ask for again, and the steps that each took."""
        return {}

    @cached_property
    def ordering(self) -> frozenset[int]:
        """Instructions of every slice: those that determine which lanes continue together, and unmodelled calls."""
        return frozenset(self._ordering_lanes() | self.unresolved)

    def _ordering_lanes(self) -> set[int]:
        """Instructions that determine which lanes of a warp continue together."""
        parting = self.divergence.parting if self.divergence is not None else frozenset()
        return set(parting) | {
            i.index
            for i in self.function.instructions
            if i.control is not None
            and (
                i.control.kind in ("warpsync", "part", "leave")
                or i.control.kind == "switch"
                and i.control.choices
                or i.control.kind == "yield"
                and i.control.guard is not None
            )
            and self.block_of[i.index] in self.reachable
        }

    @cached_property
    def divergence(self) -> Divergence | None:
        """The branches that may diverge; None for PTX, whose branches do not say where lanes reconverge."""
        return self._differences if self.function.explicit_reconvergence else None

    @cached_property
    def _differences(self) -> Divergence:
        return divergence(self)

    def may_diverge(self, index: int) -> bool:
        """Whether lanes that execute a branch together may diverge at it."""
        return self.divergence is None or self.divergence.differs(index)

    @cached_property
    def diverging(self) -> frozenset[int]:
        """The first blocks of recursive routines in which, or in whose callees, lanes may diverge (`recursive`)."""
        last = {block: self.function.instructions[self.ends[block] - 1] for block in self.recursive}
        apart = {block for block, i in last.items() if parts_if(i) and self.may_differ(i.index)}
        return frozenset(start for start, blocks in self.routines.items() if apart & blocks)

    def may_differ(self, index: int) -> bool:
        """Whether the condition of a branch may differ between lanes, in either instruction set."""
        return self._differences.differs(index)

    def behind_branches(self) -> frozenset[int]:
        """PTX: the instructions that lanes may reach in several groups, as they diverged at a branch."""
        return self._differences.parted()

    def may_differ_in_address(self, index: int) -> bool:
        """Lanes that make an access together may have different addresses, by what the code says."""
        return self._differences.differs_in_address(index)

    def arrives_diverged(self, block: int) -> bool:
        """Machine code: whether lanes that go the same way at the end of a block may arrive at its post-dominator
        diverged."""
        return self.divergence is not None and self.divergence.arrives_diverged(block)

    def diverged_by(self, block: int) -> frozenset[Reg] | None:
        """The registers that make lanes diverge between `block` and its post-dominator, if their values differ between
        lanes at the branch that ends `block`. None: lanes may diverge there whatever their registers hold.
        """
        if self.divergence is not None:
            return self.divergence.diverged_by(block)
        ends = (self.function.instructions[self.ends[b] - 1] for b in self.region(block) if b != block)
        return None if any(parts_if(i) for i in ends) else frozenset()


@no_collection()
def build(function: Function, account: Account | None = None) -> Graph:
    """Basic blocks and the control-flow graphs. Every block has a path to END.

    account: pays for this, and for facts about the function that are computed later. Raises Exhausted.
    """
    return Graph.cut(function, account or Account())


def flat(function: Function) -> Graph:
    """A graph with all instructions in one block, for uses that ignore control flow."""
    count = len(function.instructions)
    cfg = Digraph([(0, END)])
    return Graph(function, [0], [count], [0] * count, cfg, cfg, {})
