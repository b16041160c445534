"""What inference needs of a function's control flow: the order of its blocks, its loops, and the live registers.

order      0, 1, (2, [3, (4, [5])]), 6       blocks; a loop is its head and, in order, the rest of it
live       block -> registers that are read there or later before they are written
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cached_property

from ptxaudit.base.records import Record
from ptxaudit.base.work import BLOCK, INSTRUCTION, OPERATION, Account
from ptxaudit.engine.fixpoint.trips import Piece, Trip, trip_of
from ptxaudit.engine.fixpoint.warpsyncs import Warpsyncs
from ptxaudit.engine.memory.registers import Name
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.digraph import Digraph
from ptxaudit.ir.dataflow.dominance import immediate_dominators, tree_spans
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.live import live_at
from ptxaudit.ir.nodes import Function, Instruction, Op, Reg
from ptxaudit.ir.placed import place_of_change, place_of_loop
from ptxaudit.ir.slices import Slice
from ptxaudit.ir.weak_order import Order, blocks_of, loops_of, note_loops, weak_order

ORDERING = "looking at the loops"
LOCAL = ("local",)  # represents all of local memory among the names of registers
MOST_CARRIED = 0.2  # share of a slice up to which what the loops carry is run ahead, so that the rest is run once


class Loop(Record):
    """The invariable properties of a loop.

    head: the block at which every trip begins. body: the order of the rest. inside: all of its blocks; targets: those
    and their successors. sites: the accesses in it, by instruction. written: the registers that it writes; carried:
    those of them that the next trip reads; LOCAL in both represents local memory. forks, exits: blocks that end in a
    jump, blocks that may leave it. outward: blocks whose post-dominator is outside of it. trip: what its code shows of
    a trip. place: its location, in words.
    """

    head: int
    body: Order
    inside: frozenset[int]
    targets: tuple[int, ...]
    sites: tuple[int, ...]
    written: frozenset[Name]
    carried: tuple[Name, ...]
    forks: tuple[int, ...]
    exits: tuple[int, ...]
    outward: tuple[int, ...]
    trip: Trip
    place: str


class Paths:
    """What all rows of a function share: its control flow without irrelevant branches, its order, and live registers.

    reduced: the control flow; order: a weak topological order, None if there is none; loops: block -> heads of the
    loops that contain it; heads: of all loops; dominators: immediate ones; live: block -> registers that are read
    there or later before they are certainly written (joins are per register, and most registers of a long kernel are
    dead at any point).
    """

    def __init__(self, function: Function, graph: Graph, part: Slice, account: Account):
        """account: pays for it, or raises Exhausted."""
        self.function, self.graph, self.part, self.account = function, graph, part, account
        self._successors: dict[int, list[int]] = {}
        account.spend(INSTRUCTION * (len(graph.starts) + len(part.instructions)), ORDERING)
        self.reduced = self._reduced_cfg()
        self.order = weak_order(self.reduced, 0)
        self.loops: dict[int, frozenset[int]] = {}
        note_loops(self.order or [], frozenset(), self.loops)
        self.heads = frozenset().union(*self.loops.values())
        self.dominators = {b: d for b, d in immediate_dominators(self.reduced, 0).items() if d is not None}
        self._loops: dict[int, Loop] = {}
        self._names: dict[int, str] = {}
        self._steps: dict[int, list[tuple[Instruction, tuple[Op, ...]]]] = {}
        self._gathered: dict[int, int | None] = {}
        self._ways: dict[tuple[int, int], frozenset[int]] = {}
        self._moves: dict[str, tuple[frozenset[int], frozenset[int]]] = {}
        self._between: dict[int, frozenset[int]] = {}
        self._regions: dict[int, set[int]] = {}
        self._costs: dict[int, int] = {}

    def loop(self, head: int, body: Order) -> Loop:
        """The loop at a head of the order."""
        if head not in self._loops:
            inside = frozenset({head} | blocks_of(body))
            self.account.spend(
                INSTRUCTION * sum(1 + self.graph.ends[b] - self.graph.starts[b] for b in inside), ORDERING
            )
            ways = {b: set(self.reduced.successors(b)) for b in inside}
            last: Callable[[int], Instruction] = lambda b: self.function.instructions[self.graph.ends[b] - 1]
            sites = (
                k
                for b in inside
                for k in range(self.graph.starts[b], self.graph.ends[b])
                if self.function.instructions[k].site is not None
            )
            written = self._written(inside)
            carried = tuple(n for n in written if n == LOCAL or n in self.live[head])
            exits = tuple(b for b in inside if not ways[b] <= inside)
            self._loops[head] = Loop(
                head,
                body,
                inside,
                tuple(inside.union(*ways.values())),
                tuple(sites),
                frozenset(written),
                carried,
                exits=exits,
                forks=tuple(b for b in inside if last(b).control is not None),
                outward=tuple(b for b in inside if self.graph.postdominators.get(b, END) not in inside),
                trip=self._trip(head, body, inside, exits, frozenset(written), carried),
                place=self._named(head),
            )
        return self._loops[head]

    def _named(self, head: int) -> str:
        """The location of a loop; several loops of one line (which a compiler made of one) are numbered."""
        if not self._names:
            places = {
                loop[0]: place_of_loop(self.function, self.graph, blocks_of([loop]))
                for loop in loops_of(self.order or [])
            }
            count, met = Counter(places.values()), Counter[str]()
            for one, place in sorted(places.items()):
                met[place] += 1
                self._names[one] = f"loop {met[place]} at {place}" if count[place] > 1 else place
        return self._names[head]

    def changed(self, loop: Loop, register: Name) -> str:
        """The name of the change that a loop has made to a register so far."""
        at = place_of_change(self.function, self.graph, loop.inside, register) if isinstance(register, str) else None
        return f"change at {at}" if at else f"change in {loop.place}"

    def _trip(
        self,
        head: int,
        body: Order,
        inside: frozenset[int],
        exits: tuple[int, ...],
        written: frozenset[Name],
        carried: tuple[Name, ...],
    ) -> Trip:
        """What the loop's code shows of a trip. once: blocks on every path back to the head."""
        once = inside.intersection(*(self._above(b, head) for b in self.reduced.predecessors(head) if b in inside))
        pieces = []
        for element in (head, *body):
            for b in sorted(blocks_of([element])):
                control = self.function.instructions[self.graph.ends[b] - 1].control
                pieces.append(
                    Piece(
                        tuple(self._ops_of(b)),
                        b in once and element == b,
                        element != b,
                        b in exits,
                        control.guard if control is not None else None,
                    )
                )
        return trip_of(pieces, written, carried)

    def _above(self, block: int, top: int) -> set[int]:
        """A block and its dominators, up to `top`."""
        out = {block}
        while block != top:
            block = self.dominators[block]
            out.add(block)
        self.account.spend(len(out), ORDERING)
        return out

    def _ops_of(self, block: int) -> Iterator[tuple[int, Op]]:
        """The operations of the slice in a block, each with its instruction."""
        for k in range(self.graph.starts[block], self.graph.ends[block]):
            if k in self.part.instructions:
                for op in self.part.ops[k]:
                    yield k, op

    def _written(self, inside: frozenset[int]) -> tuple[Name, ...]:
        """The registers that these blocks write, each once, and LOCAL if they store to local memory."""
        names: dict[Name, None] = {}
        for b in inside:
            for _, op in self._ops_of(b):
                names.update((d.name, None) for d in op.dst if d is not None)
                if op.name == "store" and op.space == "local":
                    names[LOCAL] = None
        return tuple(names)

    def _reduced_cfg(self) -> Digraph[int]:
        """The control flow without irrelevant branches."""
        g: Digraph[int] = Digraph()
        for b in sorted(reached((0,), lambda b: self.successors(b) if b != END else ()) - {END}):
            g.add_nodes((b,))
            g.add_edges((b, s) for s in self.successors(b))
        return g

    def carried(self) -> Paths | None:
        """The same for only what the loops carry from trip to trip; None if that is nothing, or much of the slice."""
        held: dict[tuple[str, int], Reg] = {}
        for head, body in loops_of(self.order or []):
            live, inside = self.live[head], self.loop(head, body).inside
            held.update(
                ((d.name, head), d)
                for b in inside
                for _, op in self._ops_of(b)
                for d in op.dst
                if d is not None and d.name in live
            )
        if not held:
            return None
        part = self.graph.slice(
            (),
            follow_loads=True,
            account=self.account,
            held=[(reg, self.graph.starts[head]) for (_, head), reg in held.items()],
        )
        return (
            Paths(self.function, self.graph, part, self.account)
            if len(part.instructions) <= MOST_CARRIED * len(self.part.instructions)
            else None
        )

    def relevant(self, block: int) -> bool:
        """The slice contains the branch at the end of the block."""
        return self.graph.ends[block] - 1 in self.part.branches

    @cached_property
    def yielding(self) -> frozenset[int]:
        """Blocks in which lanes may yield, or with an irrelevant branch after which they may.

        (The regions that irrelevant branches remove from the control flow are disjoint, so each is visited once.)
        """
        return frozenset(b for b in self.reduced if b in self.graph.yielding or b in self._giving_way_unseen)

    @cached_property
    def diverging_unseen(self) -> frozenset[int]:
        """Blocks with an irrelevant branch after which some lanes of a warp may yield."""
        return frozenset(b for b in self._giving_way_unseen if self.graph.may_differ(self.graph.ends[b] - 1))

    @cached_property
    def _giving_way_unseen(self) -> frozenset[int]:
        if not self.graph.yielding:
            return frozenset()
        left_out = (
            b for b in self.reduced if b != END and not self.relevant(b) and len(self.graph.cfg.successors(b)) > 1
        )
        return frozenset(b for b in left_out if self.graph.yields(b))

    def successors(self, block: int) -> list[int]:
        """The successors of a block; after an irrelevant branch, its post-dominator."""
        if block not in self._successors:
            successors = sorted(self.graph.cfg.successors(block))
            if len(successors) > 1 and not self.relevant(block):
                successors = [self.graph.postdominators.get(block, END)]
            self._successors[block] = successors
        return self._successors[block]

    def steps(self, block: int) -> list[tuple[Instruction, tuple[Op, ...]]]:
        """The instructions of a block that matter, each with its operations that do."""
        if block not in self._steps:
            wanted = self.part.instructions
            here = self.function.instructions[self.graph.starts[block] : self.graph.ends[block]]
            self._steps[block] = [
                (i, self.part.ops[i.index] if i.index in wanted else ())
                for i in here
                if i.index in wanted or i.control is not None
            ]
        return self._steps[block]

    def cost(self, block: int) -> int:
        """The steps of running it, without those for the elements of its results."""
        if block not in self._costs:
            steps = self.steps(block)
            self._costs[block] = BLOCK + OPERATION * sum(len(ops) + (i.site is not None) for i, ops in steps)
        return self._costs[block]

    @cached_property
    def live(self) -> dict[int, dict[str, None]]:
        """block -> the registers that are read there, or later before they are written."""
        return live_at(self.graph, self.part, self.reduced, lambda steps: self.account.spend(steps, ORDERING))

    @cached_property
    def local(self) -> bool:
        """The slice stores to local memory, whose cells are registers with other names."""
        return any(
            op.space in ("local", "generic") and op.name in ("store", "clobber")
            for ops in self.part.ops.values()
            for op in ops
        )

    def always(self, dominator: int, block: int) -> bool:
        """The block post-dominates `dominator`: every path from there to the end contains it."""
        first, last = self._spans.get(block, (1, 0))
        result: bool = first < self._spans.get(dominator, (0, 0))[0] <= last
        return result

    def gathered(self, block: int) -> int | None:
        """The nearest dominator of a block all of whose lanes arrive there, in no more trips than they left.

        (The next one further up is the same of this one.)
        """
        if block not in self._gathered:
            d = self.dominators.get(block)
            while d is not None and self.always(d, block) and not self.loops[d] <= self.loops[block]:
                self.account.spend(1, ORDERING)
                d = self.dominators.get(d) if self.dominators.get(d) != d else None
            # if a path from the nearest dominator bypasses the block, so does one from those above
            self._gathered[block] = d if d is not None and d != block and self.always(d, block) else None
        return self._gathered[block]

    def between(self, block: int) -> frozenset[int]:
        """The blocks on the paths to a block from its nearest dominator, including that one, and the block itself if it
        is in a cycle of these paths.
        """
        if block not in self._between:
            d = self.dominators.get(block)
            before: Callable[[int], Iterable[int]] = lambda b: self.reduced.predecessors(b) if b != d else ()
            seen = reached(self.reduced.predecessors(block), before)
            self.account.spend(len(seen), ORDERING)
            self._between[block] = frozenset(seen)
        return self._between[block]

    def on_the_way(self, dominator: int, block: int) -> frozenset[int]:
        """The blocks on the paths from a dominator to a block, without the dominator.

        They include the block itself if a loop leads back to it.
        """
        key = dominator, block
        if key not in self._ways:
            before: Callable[[int], list[int]] = lambda b: [p for p in self.graph.cfg.predecessors(b) if p != dominator]
            between = reached(before(block), before)
            self.account.spend(len(between), ORDERING)
            self._ways[key] = frozenset(between)
        return self._ways[key]

    def behind(self, branches: Set[int], within: Set[int]) -> set[int]:
        """The blocks to which lanes may come from branches on paths within others: while these are there, those that
        have diverged from them may wait."""
        after: Callable[[int], list[int]] = lambda b: [s for s in self.graph.cfg.successors(b) if s in within]
        found = reached((s for b in branches for s in after(b)), after)
        self.account.spend(len(found), ORDERING)
        return found

    def region(self, branch: int) -> set[int]:
        """A branch with the blocks on the paths to its post-dominator, and of what is called there."""
        if branch not in self._regions:
            self._regions[branch] = self.graph.region(branch) | {branch}
        return self._regions[branch]

    def meeting(self, branch: int) -> int:
        """The post-dominator of a branch; END if none is known."""
        return END if self.graph.calls else self.graph.postdominators.get(branch, END)

    def waits(self, block: int) -> bool:
        """Lanes that reach a block wait there at a convergence barrier."""
        control = self.function.instructions[self.graph.starts[block]].control if block != END else None
        return control is not None and control.kind == "sync"

    def gathers(self, dominator: int, block: int, inside: Set[int] | None = None) -> bool:
        """The block is a BSYNC of a barrier which all lanes that continue from the dominator are in, and stay in.

        inside: the blocks on their way (None: the dominator dominates the block, and they are all between the two).
        """
        control = self.function.instructions[self.graph.starts[block]].control if self.waits(block) else None
        if control is None or control.barrier is None:
            return False
        name = control.barrier.name
        if inside is not None and name in self.graph.unheld[dominator]:
            return False
        opening, leaving = self._barrier_moves(name)
        inside = self.on_the_way(dominator, block) if inside is None else inside
        at = dominator
        while at not in opening:
            up = self.graph.dominators.get(at)
            if up is None or up == at:
                return False
            at = up
        return not inside & leaving and (name in self._saved or not inside & opening)

    def reconverges(self, branch: int, block: int) -> bool:
        """Lanes that diverge at a branch wait for each other at its post-dominator, before any is at a block."""
        after, region = self.graph.postdominators.get(branch, END), self.region(branch)
        if region.isdisjoint(self.graph.cfg.predecessors(branch)):
            region = region - {branch}  # no lane is there again before it waits
        if after in (END, block) or block in region:
            return False
        return self.gathers(branch, after, region)

    @cached_property
    def with_warpsync(self) -> frozenset[int]:
        """The blocks of machine code in which lanes wait at a WARPSYNC."""
        self.account.spend(INSTRUCTION * len(self.function.instructions), ORDERING)
        return frozenset(
            self.graph.block_of[i.index]
            for i in self.function.instructions
            if i.control is not None and i.control.kind in ("warpsync", "part")
        )

    @cached_property
    def warpsyncs(self) -> Warpsyncs:
        return Warpsyncs(self.graph, self.account)

    def _barrier_moves(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """The blocks that open a barrier, and those in which lanes leave it."""
        if name not in self._moves:
            found: dict[str, set[int]] = {"open": set(), "leave": set()}
            for i in self.function.instructions:
                c = i.control
                if c is not None and c.kind in found and c.barrier is not None and c.barrier.name == name:
                    found[c.kind].add(self.graph.block_of[i.index])
            self.account.spend(INSTRUCTION * len(self.function.instructions), ORDERING)
            self._moves[name] = frozenset(found["open"]), frozenset(found["leave"])
        return self._moves[name]

    @cached_property
    def _saved(self) -> frozenset[str]:
        """The barriers that are saved while others use them."""
        self.account.spend(INSTRUCTION * len(self.function.instructions), ORDERING)
        return frozenset(
            barrier.name
            for i in self.function.instructions
            for op in i.ops
            if op.name == "barrier.save" and isinstance(barrier := op.src[0], Reg)
        )

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """The spans in the tree of post-dominators from the end."""
        return tree_spans(self.graph.postdominators, END)
