"""What an unspecified block shape decides in a slice: `shapes_of`, a taint analysis.

mov r1, %tid.y          tainted by the shape
add r2, r2, r1          tainted by r1
@p bra …                with p tainted: the shape decides whether the controlled instructions execute
mov r3, 4               if controlled so: r3 is tainted after the point where the paths join
st.local [a], r1        if r1 is tainted, or controlled so: taints every load from local memory
st.shared [r2]          a site whose address the shape decides
st.shared [r4]          if controlled so: a site whose active lanes the shape decides
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum

from ptxaudit.base.records import Record
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Instruction, Reg, Special
from ptxaudit.ir.operands import control_reads, guard_reads, site_reads
from ptxaudit.ir.slices import Slice
from ptxaudit.ir.warp_operations import COUNTS_LANES

_SHAPE = ("tid.", "ntid.", "warpid", "nwarpid")  # depend on how threads are divided into warps

Name = str | tuple[int, str]  # a register, or one that an instruction both writes and reads
_LOCAL = -1, "local memory"


class Shape(Enum):
    """What the block's shape decides of a site.

    If the shape is not specified, a block's last warp may always have fewer lanes.
    """

    SPECIFIED = "specified"
    DECIDES_NOTHING = "not specified; it decides nothing else"
    DECIDES_LANES = "not specified; it decides which lanes take part"
    DECIDES_ADDRESS = "not specified; it decides the address"

    @property
    def decides(self) -> bool:
        return self in (Shape.DECIDES_LANES, Shape.DECIDES_ADDRESS)


class _Made(Record):
    """An operation with its sources and results.

    shaped: the block's shape decides a source; stores: it writes to local memory, which counts as one location.
    """

    index: int
    sources: frozenset[Name]
    results: tuple[Name, ...]
    shaped: bool
    stores: bool = False


def is_two_dimensional(function: Function, part: Slice) -> bool:
    """The slice reads a thread index other than x."""
    return any(
        True
        for k in part.instructions
        for op in function.instructions[k].ops
        for s in op.src
        if isinstance(s, Special) and s.name in ("tid.y", "tid.z")
    )


def shapes_of(function: Function, graph: Graph, part: Slice, accesses: Iterable[int]) -> dict[int, Shape]:
    """What an unspecified block shape decides of each access."""
    taint = _Taint(function, graph, part)
    return {k: taint.of_site(k) for k in accesses}


class _Taint:
    """What the block's shape decides: registers (`places`), and branches that decide what executes (`deciding`)."""

    def __init__(self, function: Function, graph: Graph, part: Slice):
        self.instructions, self.graph = function.instructions, graph
        self.places: set[Name] = set()
        self.deciding: set[int] = set()
        self.controlled: dict[
            int, frozenset[int]
        ] = {}  # block -> the deciding branches that control it, directly or through others
        self._open = [made for k in sorted(part.instructions) for made in _made(self.instructions[k])]
        self._branches = tuple(part.branches)
        before = None
        while before != (
            len(self.places),
            len(self.deciding),
        ):  # another round is needed only if this one found another branch
            before = len(self.places), len(self.deciding)
            self._spread()
            self._decide()

    def of_site(self, index: int) -> Shape:
        instruction = self.instructions[index]
        guards = guard_reads(instruction)
        address = [r for r in site_reads(instruction) if r not in guards]
        if self._shaped(index, address):
            return Shape.DECIDES_ADDRESS
        if self.controlled.get(self.graph.block_of[index]) or self._shaped(index, guards):
            return Shape.DECIDES_LANES
        return Shape.DECIDES_NOTHING

    def _spread(self) -> None:
        """Propagates taint in text order, and again while a loop carries it back."""
        before = -1
        while len(self.places) > before:
            before, rest = len(self.places), []
            for made in self._open:
                if (
                    made.shaped
                    or any(place in self.places or self._chosen(place, made.index) for place in made.sources)
                    or made.stores
                    and self.controlled.get(self.graph.block_of[made.index])
                ):
                    self.places.update(made.results)
                else:
                    rest.append(made)
            self._open = rest

    def _decide(self) -> None:
        block_of = self.graph.block_of
        new = {
            block_of[b] for b in self._branches if self._shaped(b, control_reads(self.instructions[b]))
        } - self.deciding
        if not new:
            return
        self.deciding |= new
        controls = defaultdict(list)
        for block, controllers in self.graph.controllers.items():
            for c in controllers:
                controls[c].append(block)
        found: dict[int, set[int]] = defaultdict(set)
        for branch in self.deciding:
            for block in reached(controls.get(branch, ()), lambda block: controls.get(block, ())):
                found[block].add(branch)
        self.controlled = {block: frozenset(branches) for block, branches in found.items()}

    def _shaped(self, index: int, registers: list[Reg]) -> bool:
        return any(
            place in self.places or self._chosen(place, index)
            for r in registers
            for place in _read_last(self.instructions[index], r.name)
        )

    def _chosen(self, place: Name, index: int) -> bool:
        """One of several definitions reaches it, by a branch that the shape decides."""
        if not self.controlled or not isinstance(place, str) or len(self.graph.definitions.get(place, ())) < 2:
            return False
        none: frozenset[int] = frozenset()
        here = self.controlled.get(self.graph.block_of[index], none)
        made = self.graph.reaching(place, index)
        return len(made) > 1 and any(self.controlled.get(self.graph.block_of[at], none) - here for at in made)


def _made(instruction: Instruction) -> Iterator[_Made]:
    """The operations of an instruction that have results, or store to local memory.

    What one of them writes and a later one reads is local to the instruction, as other instructions reuse names of
    temporaries. (Values loaded through generic addresses are unknown anyway.)
    """
    surely: set[str] = set()
    perhaps: set[str] = set()
    for op in instruction.ops:
        stores = op.name == "store" and op.space == "local"
        if not op.dst and not stores:
            continue
        names = [s.name for s in op.src if isinstance(s, Reg)] + ([op.guard.reg.name] if op.guard is not None else [])
        sources = [(instruction.index, name) for name in names if name in surely or name in perhaps] + [
            name for name in names if name not in surely
        ]
        if op.name == "load" and op.space == "local":
            sources.append(_LOCAL)
        results = [d.name for d in op.dst if d is not None]
        lanes = (
            op.name.partition(".")[0] in COUNTS_LANES and op.name != "vote.diverged"
        )  # (which chooses between two ways to do the same)
        shaped = lanes or any(isinstance(s, Special) and s.name.startswith(_SHAPE) for s in op.src)
        made = *results, *((instruction.index, name) for name in results), *((_LOCAL,) if stores else ())
        yield _Made(instruction.index, frozenset(sources), made, shaped, stores)
        (surely if op.guard is None else perhaps).update(results)


def _read_last(instruction: Instruction, name: str) -> Iterator[Name]:
    """The names through which a register may reach the site or the control of an instruction, which read it last: an
    unconditional result of the instruction hides earlier definitions, except that of a load, which is written after
    its address is read.
    """
    own = [op for op in instruction.ops if op.writes(name)]
    if own:
        yield instruction.index, name
    if not any(op.guard is None and op.name not in ("load", "atom") for op in own):
        yield name
