"""Atomic counters from which each block of the grid draws one number: which block draws which is not known, but
together they draw 0, 1, 2 …, each once, if the launch tells where the counter starts.

    @first atom.add r, [counter], 1;  @first st [s], r;  barrier;  ld tile, [s]     tile: 0 to gridDim - 1, in any order

Sums over the grid are then those of blocks that draw their own index, as long as nothing else tells the blocks apart
(blocks are symmetric: a permutation of them changes no sum). The code shows which instructions may draw, and that
nothing else writes the counter (`counters`); that each block draws once is seen when it is run (`Draws`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, constant, words_at
from ptxaudit.engine.memory import given
from ptxaudit.engine.memory.clusters import ALONE
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.given import SPACES
from ptxaudit.engine.memory.origins import Base, Origins
from ptxaudit.engine.memory.references import Otherwise, Reference
from ptxaudit.engine.memory.registers import Results, View
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op, Special

LOOKING = "looking for what tells blocks apart"
_IN_CLUSTERS = ("cluster_ctaid", "cluster_ctarank", "cga_ctaid")
_OF_BLOCKS = ("ctaid", "clusterid", *_IN_CLUSTERS)
DRAWS = ("add", "inc")  # atomic operations that may
ASSUMED = "pointers that are not specified do not lead to a counter that is"


class Counter(Record):
    """A buffer of the launch that one instruction alone may write: its address and its bytes."""

    address: int
    data: np.ndarray

    def start(self, place: int, bits: int) -> int | None:
        """What is at an address when the kernel starts; None where that is outside."""
        at = place - self.address
        if not 0 <= at <= len(self.data) - bits // 8:
            return None
        return int(words_at(self.data, np.array([at]), bits)[0])


class Counters(Record):
    """by: instruction -> the counter from which it may draw. open: pointers that are not specified are taken to lead
    elsewhere. taken: the instructions of which a run took what they draw as known."""

    by: dict[int, Counter]
    open: bool
    taken: set[int] = field(default_factory=set)

    def sentences(self) -> tuple[str, ...]:
        """What the answers rest on, for the report."""
        return ((given.ASSUMED, ASSUMED) if self.open else (given.ASSUMED,)) if self.taken else ()


def drawn(op: Op) -> bool:
    """An atomic operation of global memory whose result, a number of its width, may be one that is drawn."""
    written = [d for d in op.dst if d is not None]
    kind = op.attrs[0] if op.name == "atom" and op.space in SPACES and op.attrs else None
    return kind in DRAWS and len(written) == 1 and written[0].bits == op.bits


def counters(
    graph: Graph, origins: Origins, buffers: Iterable[tuple[int, np.ndarray]], variables: Mapping[str, int]
) -> Counters | None:
    """None where there are none. variables: name -> address, of those of the buffers that are variables."""
    places = sorted(buffers, key=lambda buffer: buffer[0])
    writers: list[set[int]] = [set() for _ in places]
    draws: dict[int, int] = {}
    assumed = False
    for instruction in graph.function.instructions:
        if graph.block_of[instruction.index] not in graph.reachable:
            continue
        control = instruction.control
        if control is not None and control.kind in ("call", "switch") and not control.targets:
            return None
        for op in instruction.ops:
            if op.name == "clobber" and op.space in SPACES:
                return None
            if op.name not in ("store", "atom") or op.space not in SPACES:
                continue
            bases = origins.bases(instruction.index, op)
            if bases is None:
                return None
            reached, open_ones = _reached(bases, origins, places, variables)
            assumed = assumed or open_ones
            for at in reached:
                writers[at].add(instruction.index)
            if drawn(op) and len(reached) == 1 and not open_ones:
                draws[instruction.index] = min(reached)
    alone = {index: Counter(*places[at]) for index, at in draws.items() if writers[at] == {index}}
    return Counters(alone, assumed) if alone else None


def open_counters(graph: Graph, origins: Origins) -> dict[int, int]:
    """Byte offset, among the parameters, of a pointer that is not specified -> bits of the numbers that one instruction
    may draw through it, if no other writes there."""
    writers: dict[int, set[int]] = defaultdict(set)
    draws: dict[int, tuple[int, int]] = {}
    for instruction in graph.function.instructions:
        for op in instruction.ops:
            if op.name not in ("store", "atom") or op.space not in SPACES:
                continue
            bases = origins.bases(instruction.index, op)
            if bases is None:
                return {}
            through = [base.key for base in bases if base.kind == "parameter" and origins.specified(base) is None]
            for key in through:
                writers[key].add(instruction.index)
            if drawn(op) and len(bases) == len(through) == 1:
                draws[through[0]] = instruction.index, op.bits
    return {key: bits for key, (index, bits) in draws.items() if writers[key] == {index}}


def _reached(
    bases: Iterable[Base], origins: Origins, places: list[tuple[int, np.ndarray]], variables: Mapping[str, int]
) -> tuple[set[int], bool]:
    """(positions of the buffers that an address may point into, whether it may be made of a pointer that is not
    specified)."""
    reached: set[int] = set()
    open_ones = False
    for base in bases:
        if base.kind == "window":
            continue
        number = variables.get(base.key) if base.kind == "variable" else origins.specified(base)
        if number is None:
            open_ones = open_ones or base.kind == "parameter"
            continue
        reached |= {at for at, (begin, data) in enumerate(places) if begin <= number <= begin + len(data)}
    return reached, open_ones


# --- in a run -------------------------------------------------------------------------------


class NotOnce(Exception):
    """Not every block is seen to draw exactly one number."""


class Draws:
    """The memory that counters are, in a run in which nothing but what is drawn tells blocks apart: each block draws
    the index that it has itself."""

    def __init__(self, env: Environment, counters: Counters, no_round: Callable[[], None]):
        """no_round: called where something happens that a round of a loop in closed form cannot have."""
        self.env, self.counters, self._no_round = env, counters, no_round
        self.drawn = np.zeros(env.rows, np.int64)  # how often each row has
        self.lost = np.zeros(env.rows, bool)  # rows of which it is not known what they do
        self._by: int | None = None  # the instruction that did

    def expand(self, index: np.ndarray) -> None:
        """New row i is old row index[i]."""
        self.drawn, self.lost = self.drawn[index], self.lost[index]

    def lose(self, view: View) -> None:
        """What these lanes do is not modelled: they may have ended, or drawn."""
        self._no_round()
        self.lost[slice(None) if view.rows is None else view.rows] = True

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        return otherwise()

    def store(self, at: Reference) -> Results | None:
        """One lane of each of these warps draws, if any does; NotOnce where more may."""
        if at.op.name != "atom" or at.index not in self.counters.by:
            return None
        rows = slice(None) if at.view.rows is None else at.view.rows
        if not at.certain or not at.view.exact or self.lost[rows].any():
            raise NotOnce
        self._no_round()
        lanes = at.active.sum(axis=1)
        if lanes.max() > 1 or self._by not in (None, at.index):
            raise NotOnce
        self._by = at.index
        self.drawn[rows] += lanes
        return tuple([self._number(at) for _ in at.op.dst])

    def _number(self, at: Reference) -> Value:
        """What the counter holds before any block draws, and what is added for each block before this one."""
        where, amount = _one_number(at.address, at.active), _one_number(at.view.read(at.op.src[1]), at.active)
        bits = at.op.bits
        start = None if where is None else self.counters.by[at.index].start(where, bits)
        if start is None or amount is None:
            raise NotOnce
        block, first = self._block(at.view, bits), constant(start, bits)
        if at.op.attrs[0] == "add":
            return affine.add(affine.multiply(block, constant(amount, bits)), first)
        if start + self._blocks - 1 > amount:  # it would begin anew
            raise NotOnce
        return affine.add(block, first)

    @property
    def _blocks(self) -> int:
        grid = self.env.grid
        assert grid is not None  # of a launch
        return grid[0] * grid[1] * grid[2]

    def _block(self, view: View, bits: int) -> Value:
        """The index of each row's block, counted along x, then y, then z."""
        grid = self.env.grid
        assert grid is not None
        out = constant(0, bits)
        for d in (2, 1, 0):
            own = affine.fit(view.read(Special(f"ctaid.{'xyz'[d]}", 32)), bits)
            out = affine.add(affine.multiply(out, constant(grid[d], bits)), own)
        return out

    def check(self) -> int | None:
        """The instruction that every block has executed, once; None: no block has. NotOnce where neither holds."""
        some = self.drawn > 0
        if not some.any():
            return None
        warps = self.env.warp[:, 0]
        mine = warps == warps[some.argmax()]
        if (self.drawn[mine] != 1).any() or self.drawn[~mine].any():
            raise NotOnce
        return self._by


def _one_number(value: Value, active: np.ndarray) -> int | None:
    """What all active lanes hold; None where that is not known, or not the same."""
    lost = [c != 0 for _, c in value.terms] + ([] if value.poison is None else [value.poison])
    if value.valid is not None or any((unknown & active).any() for unknown in lost):
        return None
    numbers = np.broadcast_to(value.base, active.shape)[active]
    return int(numbers[0]) if (numbers == numbers[0]).all() else None


def tells_blocks_apart(ops: Iterable[Op], env: Environment) -> bool:
    """Some operation reads where its block is, and blocks of the launch differ in that."""
    for op in ops:
        for source in op.src:
            if not isinstance(source, Special) or not source.name.startswith(_OF_BLOCKS):
                continue
            stem, _, dimension = source.name.partition(".")
            if stem in _IN_CLUSTERS and env.cluster == ALONE:
                continue
            if stem in _IN_CLUSTERS or env.grid is None or not dimension or env.grid["xyz".index(dimension)] > 1:
                return True
    return False
