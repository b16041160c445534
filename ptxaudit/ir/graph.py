"""The graphs of a function: control flow, post-dominators, control dependence, reaching definitions, slices.

`build(function)` cuts the instructions into basic blocks and computes what control depends on.
`Graph.slice` goes backwards from the shared-memory accesses, through registers (through guarded
definitions, which do not end a search) and through the branches that decide whether an
instruction runs; only that slice is ever evaluated. Nothing here knows the instruction set.

    0  mov r1, tid.x          slice of 3: {0, 1, 3}; branch 1 is relevant to 3,
    1  @p bra 4               `r9 = …` at 2 is not.
    2  mul r9, r9, r9
    3  store shared [r1]
    4  exit
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from ptxaudit.base.quiet import no_collection
from ptxaudit.base.work import INSTRUCTION, SLICED, Account
from ptxaudit.ir.dataflow.definitions import Definitions, Joined, Reached
from ptxaudit.ir.dataflow.dominance import immediate_dominators
from ptxaudit.ir.nodes import RUNTIME, Control, Function, Guard, Instruction, Op, Reg, Site

if TYPE_CHECKING:
    from ptxaudit.ir.divergence import Divergence

END = -1  # the virtual block after every exit
CONTROL_FLOW = "looking at the control flow"
DEFINITIONS = "looking for what defines a register"
SLICING = "looking for what decides the accesses"


def sources_of(op: Op) -> list[Reg]:
    """Registers that an operation reads, its guard included."""
    regs = [s for s in op.src if isinstance(s, Reg)]
    if op.guard:
        regs.append(op.guard.reg)
    return regs


def tree_spans(parents: dict[int, int], root: int) -> dict[int, tuple[int, int]]:
    """node -> its own number in a tree, counted from the root down, and the highest number below it: a node lies below
    another when its number lies in the other's span. (In a tree of dominators: when the other dominates it.)

    parents: node -> the one above it; the root may be its own parent, or have none.
    """
    below: dict[int, list[int]] = {}
    for node, parent in parents.items():
        if node != parent:
            below.setdefault(parent, []).append(node)
    spans: dict[int, tuple[int, int]] = {}
    number, stack = 0, [(root, iter(below.get(root, ())))]
    first = {root: 0}
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            spans[node] = first[node], number
            stack.pop()
        else:
            number += 1
            first[child] = number
            stack.append((child, iter(below.get(child, ()))))
    return spans


def opaque_load(op: Op) -> bool:
    """Reads memory whose content no one told: the result is unknown whatever the address."""
    return op.name in ("load", "atom") and not (op.space in ("param", "local") or op.space.startswith("const"))


def overwrites(op: Op, site: Site) -> bool:
    """It may write what the address of a site is made of: the access comes before it."""
    return opaque_load(op) or site.of == "local" and op.name == "load"


BARRIER_MOVES = ("barrier.save", "barrier.clear", "barrier.restore")  # of convergence barriers, into registers and back


def writes_local(op: Op) -> bool:
    """It may write local memory."""
    return op.name == "call" or op.name in ("store", "clobber") and op.space in ("local", "generic")


SHARED_SPACES = ("shared", "shared::cluster", "generic")  # of operations that may touch shared memory


@dataclass(frozen=True)
class SharedWrites:
    """What is followed of shared memory (engine/memory/tables.py). writers: instructions that may write it; valued:
    those of them whose values may be known; barriers: instructions that order accesses."""

    writers: frozenset[int] = frozenset()
    valued: frozenset[int] = frozenset()
    barriers: frozenset[int] = frozenset()


def is_unresolved(control: Control | None) -> bool:
    """A call of the program's own code that is not followed: lanes may end in it, or come back apart."""
    return control is not None and control.kind == "call" and not control.targets and control.callee not in RUNTIME


def parts_if(instruction: Instruction) -> bool:
    """Lanes go different ways at it if they do not agree."""
    control = instruction.control
    return control is not None and (control.kind == "switch" or control.guard is not None)


@dataclass(frozen=True)
class Slice:
    """What has to be run. instructions: indices; branches: those whose outcome matters; ops: what an
    instruction does that anything in the slice reads."""

    instructions: frozenset[int]
    branches: frozenset[int]
    ops: dict[int, tuple[Op, ...]] = field(default_factory=dict, compare=False, repr=False)


@dataclass
class Graph:
    """Basic blocks of one function. Blocks are numbered in instruction order; END = -1.

    account: pays for what is found out of the function once, whoever asks for it first; Exhausted where it cannot.
    """

    function: Function
    starts: list[int]  # first instruction of each block
    ends: list[int]  # one past the last
    block_of: list[int]  # instruction -> block
    cfg: nx.DiGraph
    within: nx.DiGraph  # the same, but a routine that is called from several places comes back to none of them
    calls: dict[int, int]  # block that ends in a call of such a routine -> the routine's first block
    problems: list[str] = field(default_factory=list)
    account: Account = field(default_factory=Account, compare=False, repr=False)

    def _look_at_all(self) -> None:
        """Pays for something that visits every edge of the control flow."""
        self.account.spend(INSTRUCTION * (self.cfg.number_of_nodes() + self.cfg.number_of_edges()), CONTROL_FLOW)

    @property
    def apart(self) -> Graph:
        """The graph in which such a routine is run beside its callers, once for all of them: no way through it leads
        from one caller to another. What it writes is not known to who called it (`overwritten`)."""
        return self._apart if self.calls else self

    @cached_property
    def _apart(self) -> Graph:
        return replace(self, cfg=self.within)

    @cached_property
    def overwritten(self) -> dict[int, frozenset[str]]:
        """routine's first block -> the registers that are written in it, or in what it calls."""
        out = {}
        for start in set(self.calls.values()):
            blocks = nx.descendants(self.within, start) | {start}
            out[start] = frozenset(
                d.name
                for b in blocks
                if b != END
                for i in self.function.instructions[self.starts[b] : self.ends[b]]
                for op in i.ops
                for d in op.dst
                if d is not None
            )
        return out

    @cached_property
    def ending(self) -> dict[int, int]:
        """routine's first block -> an instruction in it, or in what it calls, at which lanes may end."""
        out = {}
        for start in set(self.calls.values()):
            last = [
                self.function.instructions[self.ends[b] - 1]
                for b in nx.descendants(self.within, start) | {start}
                if b != END
            ]
            ends = [
                i.index for i in last if i.control is not None and i.control.kind == "exit" or is_unresolved(i.control)
            ]
            out |= {start: min(ends)} if ends else {}
        return out

    @cached_property
    def giving_way(self) -> frozenset[int]:
        """The first blocks of such routines in which, or in what they call, lanes yield."""
        return frozenset(
            start
            for start in set(self.calls.values())
            if not self.yielding.isdisjoint(nx.descendants(self.within, start) | {start})
        )

    @cached_property
    def _coming_back(self) -> nx.DiGraph:
        """`within` without the ways into such routines: every call is one step."""
        if not self.calls:
            return self.cfg
        out = self.within.copy()
        out.remove_edges_from(self.calls.items())
        return out

    @cached_property
    def reachable(self) -> frozenset[int]:
        return frozenset(nx.descendants(self.cfg, 0) | {0})

    @cached_property
    def loose_call(self) -> Instruction | None:
        """A call that is not followed: its target is not known, or it cannot be told where it returns."""
        return self.function.instructions[min(self.unresolved)] if self.unresolved else None

    @cached_property
    def unresolved(self) -> frozenset[int]:
        """The calls that are not followed."""
        return frozenset(
            i.index
            for i in self.function.instructions
            if is_unresolved(i.control) and self.block_of[i.index] in self.reachable
        )

    @cached_property
    def loose_jump(self) -> Instruction | None:
        """A jump of which no target is known: it may lead to any instruction, also to those that other ways reach."""
        return next(
            (
                i
                for i in self.function.instructions
                if i.control is not None
                and i.control.kind == "switch"
                and not i.control.targets
                and self.block_of[i.index] in self.reachable
            ),
            None,
        )

    @cached_property
    def hidden(self) -> frozenset[int]:
        """Blocks into which a call that is not followed may lead: all of what is called, and what nothing else
        reaches.
        """
        if self.loose_call is None:
            return frozenset()
        instructions = self.function.instructions
        out = {b for b in self.cfg.nodes if b != END and b not in self.reachable}
        stack = [
            self.block_of[t]
            for i in instructions
            if i.control is not None and i.control.kind == "call"
            for t in i.control.targets
        ]
        while stack:
            b = stack.pop()
            if b not in out:
                out.add(b)
                last = instructions[self.ends[b] - 1].control
                if last is None or last.kind != "ret" or last.guard is not None:
                    stack.extend(s for s in self.cfg.successors(b) if s != END and s not in out)
        return frozenset(out)

    @cached_property
    def postdominators(self) -> dict[int, int]:
        """block -> its immediate post-dominator (END at the end)."""
        self._look_at_all()
        ipdom = immediate_dominators(_reversed(self._coming_back), END)
        return {b: d for b, d in ipdom.items() if b != END and d is not None}

    @cached_property
    def meeting(self) -> dict[int, int]:
        """block -> where lanes that part at its end meet again (END: nowhere).

        The post-dominator when ways that only lead to the kernel's end are left out: lanes that
        return early leave the barrier, the others meet. ptxas places its BSYNC so. One way to the end
        always stays, that with the most behind it: what follows a loop is not an early return.
        """
        self._look_at_all()
        kept = self._coming_back.copy()
        exits = {b for b in self.cfg.nodes if b != END and self.only_exits(b)}
        idom, tails = self.dominators, self._tails(exits)
        ways = []
        for u in self.cfg.nodes:
            successors = list(self._coming_back.successors(u))
            if u == END or len(successors) < 2 or u not in idom:
                continue
            ending = [
                (size, u, v) for v in dict.fromkeys(successors) if (size := self._tail(v, u, exits, tails)) is not None
            ]
            if len(ending) < len(successors):
                ways += ending
        for _, u, v in sorted(ways):
            kept.remove_edge(u, v)
            self.account.spend(len(kept), CONTROL_FLOW)
            if not nx.has_path(kept, u, END):
                kept.add_edge(u, v)
        ipdom = immediate_dominators(_reversed(kept), END)
        return {b: d for b, d in ipdom.items() if b != END and d is not None}

    def only_exits(self, block: int) -> bool:
        """A block that does nothing but end."""
        return all(
            i.site is None and not i.ops for i in self.function.instructions[self.starts[block] : self.ends[block]]
        ) and list(self.within.successors(block)) == [END]

    def _tail(self, block: int, source: int, exits: set[int], tails: dict[int, int]) -> int | None:
        """The number of blocks from `block` to the end, where all of them are reached through it alone, and it from
        `source`; else None.
        """
        if block == END or block in exits:
            return 0
        return tails.get(block) if all(p == source for p in self.within.predecessors(block)) else None

    def _tails(self, exits: set[int]) -> dict[int, int]:
        """block -> the number of blocks that it dominates, for those from which no edge leads to any other; but for
        `exits`.

        (Not the entry, to which whatever leads is dominated by it.) An edge leads out of what each block dominates on
        the way from its source up the tree of dominators to what its target lies below (or to the target itself):
        counted in the source, taken back there.
        """
        self._look_at_all()
        dominators = self.dominators
        leaving: dict[int, int] = defaultdict(int)
        size: dict[int, int] = defaultdict(int)
        for b in self._dominated:
            if b == END or b in exits:
                continue
            size[b] = 1
            if any(p not in self._dominated for p in self.within.predecessors(b)):
                leaving[dominators.get(b, b)] += (
                    1  # reached from where nothing comes to: of what b itself dominates it is no matter
                )
            for s in self.within.successors(b):
                if s != END and s not in exits:
                    stop = s if self.dominates(s, b) else dominators[s]
                    leaving[b] += 1
                    leaving[stop] -= 1
        for b in sorted(self._dominated, key=lambda b: -self._dominated[b][0]):
            if (up := dominators.get(b)) is not None and up != b:
                size[up] += size[b]
                leaving[up] += leaving[b]
        return {b: size[b] for b in self._dominated if b and not leaving[b]}

    @cached_property
    def dominators(self) -> dict[int, int]:
        self._look_at_all()
        return {b: d for b, d in immediate_dominators(self.within, 0).items() if d is not None}

    @cached_property
    def controllers(self) -> dict[int, set[int]]:
        """block -> the blocks whose last instruction decides whether it runs."""
        out: dict[int, set[int]] = defaultdict(set)
        ipdom, climbed = self.postdominators, 0
        for a in self.within.nodes:
            successors = list(self.within.successors(a))
            if a == END or len(successors) < 2:
                continue
            stop = ipdom.get(a, END)
            for b in successors:
                runner = b
                while runner != stop and runner != END:
                    out[runner].add(a)
                    climbed += 1
                    nxt = ipdom.get(runner, END)
                    if nxt == runner:
                        break
                    runner = nxt
            self.account.spend(climbed, CONTROL_FLOW)
            climbed = 0
        return out

    def region(self, block: int) -> set[int]:
        """Blocks on the paths from a branch block to its post-dominator, both exclusive."""
        stop = self.postdominators.get(block, END)
        seen: set[int] = set()
        stack = [s for s in self.within.successors(block) if s != stop and s != END]
        while stack:
            b = stack.pop()
            if b in seen:
                continue
            seen.add(b)
            stack.extend(s for s in self.within.successors(b) if s != stop and s != END and s not in seen)
        self.account.spend(len(seen), CONTROL_FLOW)
        return seen

    @cached_property
    def yielding(self) -> frozenset[int]:
        """Blocks in which lanes that wait at a convergence barrier may be let go before the others come.

        Those with a YIELD; in PTX, where ptxas is still to place it, the loops that go on until an atomic
        operation of theirs succeeds.
        """
        if self.function.explicit_reconvergence:
            return frozenset(
                self.block_of[i.index]
                for i in self.function.instructions
                if i.control is not None and i.control.kind == "yield"
            )
        if not any(True for i in self.function.instructions for op in i.ops if op.name == "atom"):
            return frozenset()
        loops = [
            self._loop(source, head)
            for source, head in self.within.edges
            if head != END and self.dominates(head, source)
        ]
        return frozenset().union(*(loop for loop in loops if self._waits(loop)))

    def dominates(self, block: int, other: int) -> bool:
        """Every way from the entry to the other block leads through this one, or it is the same. False for blocks that
        are not reached."""
        if block == other:
            return True
        first, last = self._dominated.get(block, (1, 0))
        return first <= self._dominated.get(other, (-1, 0))[0] <= last

    @cached_property
    def _dominated(self) -> dict[int, tuple[int, int]]:
        return tree_spans(self.dominators, 0)

    def _loop(self, source: int, head: int) -> set[int]:
        """The natural loop of a back edge."""
        loop, stack = {head, source}, [source] if source != head else []
        while stack:
            for p in self.within.predecessors(stack.pop()):
                if p not in loop:
                    loop.add(p)
                    stack.append(p)
        self.account.spend(len(loop), CONTROL_FLOW)
        return loop

    def _waits(self, loop: set[int]) -> bool:
        """Whether a loop is left is decided by what its own atomic operations return."""
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
                    if any(d is not None and d.name == name for d in op.dst):
                        if op.name == "atom":
                            return True
                        more = {s.name for s in op.src if isinstance(s, Reg)} - wanted
                        wanted |= more
                        work += more
        return False

    def yields(self, block: int) -> bool:
        """There is such a block between the branch that ends `block` and its post-dominator."""
        return bool(self.yielding) and not self.yielding.isdisjoint(self.region(block) | {block})

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
        """Where what an instruction reads of a register comes from, as a sparse graph."""
        return Definitions(self.definitions, self.block_of, self.ends, self.before)

    @cached_property
    def _joined(self) -> dict[Joined, frozenset[int]]:
        return {}

    @cached_property
    def before(self) -> dict[int, tuple[int, ...]]:
        """block -> the blocks that may come just before it."""
        return {b: tuple(self.cfg.predecessors(b)) for b in self.cfg}

    def reaching(self, register: str, index: int) -> frozenset[int]:
        """Instructions whose definition of `register` may be the one read at `index`."""
        node = self.read.read(register, index)
        if not isinstance(node, Joined):
            return frozenset() if node is None else frozenset((node,))
        if node not in self._joined:
            self._joined[node] = self._come_together(node)
        return self._joined[node]

    def _come_together(self, node: Joined) -> frozenset[int]:
        """The instructions whose writes may be those that come together there; what is known of others is not looked
        for again."""
        found: set[int] = set()
        stack, seen = [node], {node}
        while stack:
            for source in self.read.sources(stack.pop()):
                if not isinstance(source, Joined):
                    found.add(source)
                elif source in self._joined:
                    found |= self._joined[source]
                elif source not in seen:
                    seen.add(source)
                    stack.append(source)
        self._define(len(seen))
        return frozenset(found)

    def _define(self, steps: int) -> None:
        self.account.spend(steps, DEFINITIONS)

    # --- slices ---

    def reads(
        self,
        instruction: Instruction,
        follow_loads: bool = False,
        entering: bool = False,
        shared: SharedWrites | None = None,
    ) -> list[Reg]:
        """Registers that decide an instruction's results, access and control.

        entering: without those that its own operations write first, such as temporaries. shared: what it reads of
        shared memory, or writes there, counts among its results.
        """
        ops = instruction.ops
        if follow_loads and shared is None and instruction.site is None and len(ops) == 1 and ops[0].name != "store":
            return sources_of(ops[0])  # as most
        regs: list[Reg] = []
        written: set[str] = set()
        place: set[str] | None = None  # what is written before memory is accessed
        for op in instruction.ops:
            if place is None and op.name in ("load", "atom", "store"):
                place = set(written)
            if shared is not None and op.name in ("load", "store", "atom") and op.space in SHARED_SPACES:
                all_of_it = op.name == "store" and instruction.index in shared.valued
                read = [s for s in (op.src if all_of_it else op.src[:1]) if isinstance(s, Reg)] + (
                    [op.guard.reg] if op.guard else []
                )
            elif opaque_load(op) and not follow_loads:
                read = [op.guard.reg] if op.guard else []
            elif op.name == "store" and op.space not in ("local",):
                read = []
            else:
                read = sources_of(op)
            regs += [r for r in read if r.name not in written]
            if entering and op.guard is None:
                written.update(d.name for d in op.dst if d is not None)
        place = written if place is None else place
        return regs + [r for r in self.site_reads(instruction) if r.name not in place]

    @staticmethod
    def site_reads(instruction: Instruction) -> list[Reg]:
        site = instruction.site
        if site is None:
            return []
        regs = [o for o in (site.address, site.source, site.source_size) if isinstance(o, Reg)]
        return regs + Graph.guard_reads(instruction)

    @staticmethod
    def guard_reads(instruction: Instruction) -> list[Reg]:
        """Predicates that decide which lanes take part in an access, or at a barrier."""
        site = instruction.site
        guards = (site.guard, site.ignore, instruction.guard) if site is not None else (instruction.guard,)
        return [g.reg for g in guards if isinstance(g, Guard)]

    @staticmethod
    def control_reads(instruction: Instruction) -> list[Reg]:
        control = instruction.control
        if control is None:
            return []
        regs = [control.guard.reg] if control.guard else []
        if isinstance(control.selector, Reg) and control.kind in ("switch", "warpsync", "part"):
            regs.append(control.selector)
        return regs

    def slice(
        self,
        roots,
        follow_loads: bool = False,
        whether=(),
        account: Account | None = None,
        shared: SharedWrites | None = None,
        held: Sequence[tuple[Reg, int]] = (),
        barriers: bool = False,
    ) -> Slice:
        """Everything that decides the accesses at the instruction indices `roots`, and whether those at `whether` run.

        shared: values that are read from shared memory are followed to where they were written.
        held: registers as well, each with the index of an instruction at which it is read.
        barriers: also what convergence barriers are saved in.
        account: pays for it. Raises Exhausted where it cannot.
        """
        account = account or self.account
        instructions, definitions, block_of = self.function.instructions, self.definitions, self.block_of
        wanted: set[int] = set()
        branches = set(self.ordering)
        pending_branches = list(branches)
        blocks_done: set[int] = set()
        defining: set[int] = set()  # whose results something in the slice reads
        read: set[str] = set()  # what something in it reads at all
        work = [*roots, *(self._moving_barriers() if barriers else ())]
        local_done = False
        for index in whether:
            self._controlled(block_of[index], blocks_done, branches, pending_branches)

        reached = Reached(self.read, lambda steps: account.spend(steps, SLICING))

        def ask(regs: list[Reg], index: int) -> None:
            for reg in regs:
                writes = definitions.get(reg.name, ())
                found = reached.of(reg.name, index) if len(writes) > 1 else [at for at, _ in writes]
                defining.update(found)
                work.extend([at for at in found if at not in wanted])

        for index in whether:
            guards = self.guard_reads(instructions[index])
            read.update([r.name for r in guards])
            ask(guards, index)
        for reg, index in held:
            read.add(reg.name)
            ask([reg], index)
        while work or pending_branches:
            if pending_branches:
                b = pending_branches.pop()
                regs = self.control_reads(instructions[b])
                read.update([r.name for r in regs])
                ask(regs, b)
                if instructions[b].ops:
                    work.append(b)
                self._controlled(block_of[b], blocks_done, branches, pending_branches)
                continue
            index = work.pop()
            if index in wanted:
                continue
            wanted.add(index)
            account.spend(SLICED, SLICING)
            instruction = instructions[index]
            regs = self.reads(instruction, follow_loads, True, shared)
            ask(regs, index)
            if len(instruction.ops) > 1 or instruction.site is not None or not follow_loads:
                regs = self.reads(instruction, True, shared=shared)  # also what one operation writes and the next reads
            read.update([r.name for r in regs])
            if block_of[index] not in blocks_done:
                self._controlled(block_of[index], blocks_done, branches, pending_branches)
            if not local_done and any(True for op in instruction.ops if op.name == "load" and op.space == "local"):
                local_done = True
                work += self._writing_local()
        writers = shared.writers if shared is not None else ()
        needed = {k: self._needed(instructions[k].ops, read, k in writers) for k in wanted}
        needed |= {
            k: self._of_the_site(instructions[k], needed[k]) for k in wanted - defining - branches if k not in writers
        }
        needed.update((k, ()) for k in whether if k not in wanted)
        return Slice(frozenset(wanted.union(whether)), frozenset(branches), needed)

    @cached_property
    def ordering(self) -> frozenset[int]:
        """Instructions that say which lanes of a warp go on together, and calls that are not followed: they are of
        every slice.
        """
        return frozenset(self._ordering_lanes() | self.unresolved)

    def _ordering_lanes(self) -> set[int]:
        """Instructions that say which lanes of a warp go on together."""
        parting = self.divergence.parting if self.divergence is not None else frozenset()
        return set(parting) | {
            i.index
            for i in self.function.instructions
            if i.control is not None
            and (i.control.kind in ("warpsync", "part", "leave") or i.control.kind == "switch" and i.control.choices)
            and self.block_of[i.index] in self.reachable
        }

    @cached_property
    def divergence(self) -> Divergence | None:
        """What the code says of branches that may part lanes; None for PTX, whose branches do not say where lanes
        meet.
        """
        return self._differences if self.function.explicit_reconvergence else None

    @cached_property
    def _differences(self) -> Divergence:
        from ptxaudit.ir.divergence import Divergence  # which asks for what this module is

        return Divergence(self)

    def may_part(self, index: int) -> bool:
        """Lanes that run together may go different ways at a branch."""
        return self.divergence is None or self.divergence.differs(index)

    def may_differ(self, index: int) -> bool:
        """What decides a branch may differ between lanes, by what the code says in either instruction set."""
        return self._differences.differs(index)

    def parted_by(self, block: int) -> frozenset[Reg] | None:
        """The registers that part lanes, if their values differ from lane to lane where the branch that ends `block`
        is, at a branch between there and its post-dominator; None: lanes may go different ways there whatever they
        hold."""
        if self.divergence is not None:
            return self.divergence.parted_by(block)
        ends = (self.function.instructions[self.ends[b] - 1] for b in self.region(block) if b != block)
        return None if any(parts_if(i) for i in ends) else frozenset()

    def _moving_barriers(self) -> list[int]:
        """Instructions that save a convergence barrier, put it back or clear it."""
        return [
            i.index
            for i in self.function.instructions
            if i.ops and any(op.name in BARRIER_MOVES for op in i.ops) and self.block_of[i.index] in self.reachable
        ]

    def _writing_local(self) -> list[int]:
        """Instructions that may write local memory."""
        return [i.index for i in self.function.instructions if any(writes_local(op) for op in i.ops)]

    @staticmethod
    def _needed(ops: tuple[Op, ...], read: set[str], writes_shared: bool) -> tuple[Op, ...]:
        """Those of an instruction's operations whose results something in the slice reads, and what is stored where it
        may look.
        """
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

    def _of_the_site(self, instruction: Instruction, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        """Of the operations of an access whose results no one reads: those that make its own operands, and stores."""
        names = {r.name for r in self.site_reads(instruction)}
        kept = []
        for op in reversed(ops):
            if op.name in ("store", "call", "clobber", *BARRIER_MOVES) or any(
                d is not None and d.name in names for d in op.dst
            ):
                kept.append(op)
                names.update(r.name for r in sources_of(op))
        return tuple(reversed(kept))

    def _controlled(self, block, done, branches, pending):
        if block in done:
            return
        done.add(block)
        for controller in self.controllers.get(block, ()):
            last = self.ends[controller] - 1
            if last not in branches:
                branches.add(last)
                pending.append(last)

    def sites(self) -> list[int]:
        """Indices of the shared-memory accesses."""
        return [i.index for i in self.function.instructions if i.site is not None]


@no_collection()
def build(function: Function, account: Account | None = None) -> Graph:
    """Basic blocks and the control-flow graphs, with every block joined to END in the end.

    account: pays for this and for all that is found out later of the function once. Raises Exhausted where it cannot.
    """
    account = account or Account()
    instructions = function.instructions
    account.spend(INSTRUCTION * len(instructions), CONTROL_FLOW)
    count = len(instructions)
    leaders = {0}
    for i in instructions:
        c = i.control
        if c is None or c.kind in ("barrier", "open", "leave", "warpsync", "part", "yield"):
            continue
        if c.kind == "sync":
            leaders.add(i.index)
            leaders.add(i.index + 1)
            continue
        leaders.update(t for t in c.targets if 0 <= t < count)
        leaders.add(i.index + 1)
    starts = sorted(x for x in leaders if x < count)
    ends = starts[1:] + [count]
    block_of = [0] * count
    for b, (s, e) in enumerate(zip(starts, ends)):
        for k in range(s, e):
            block_of[k] = b
    routines = _routines(instructions, account)
    problems: list[str] = []
    cfg = _flow(instructions, starts, ends, block_of, routines, problems, account)
    shared = {r.start for r in routines if len(r.calls) > 1 and r.returns}
    within, calls = cfg, {}
    if shared:
        within = _flow(
            instructions, starts, ends, block_of, [r for r in routines if r.start not in shared], [], account
        )
        for r in routines:
            for call in r.calls if r.start in shared else ():
                calls[block_of[call]] = block_of[r.start]
                if call + 1 < count:
                    within.add_edge(block_of[call], block_of[call + 1])
    return Graph(function, starts, ends, block_of, cfg, within, calls, problems, account)


def flat(function: Function) -> Graph:
    """All instructions in one block, for who does not look at the control flow."""
    count = len(function.instructions)
    cfg = nx.DiGraph([(0, END)])
    return Graph(function, [0], [count], [0] * count, cfg, cfg, {})


@dataclass(frozen=True)
class _Routine:
    """start: its first instruction. calls: the instructions that call it. returns: those that end it."""

    start: int
    calls: tuple[int, ...]
    returns: tuple[int, ...]


def _routines(instructions, account: Account) -> list[_Routine]:
    """What is called, where it is known."""
    count = len(instructions)
    calls: dict[int, list[int]] = defaultdict(list)
    for i in instructions:
        if i.control is not None and i.control.kind == "call" and i.control.targets:
            calls[i.control.targets[0]].append(i.index)
    out = []
    for start, callers in calls.items():
        returns, seen, stack = [], set(), [start]
        while stack:
            k = stack.pop()
            if k in seen or k >= count:
                continue
            seen.add(k)
            c = instructions[k].control
            if c is None or c.kind in ("call", "barrier", "open", "sync", "leave", "warpsync", "part", "yield"):
                stack.append(k + 1)
            elif c.kind == "ret":
                returns.append(k)
                if c.guard:
                    stack.append(k + 1)
            else:
                stack += [*c.targets, *((k + 1,) if c.guard else ())]
        account.spend(len(seen), CONTROL_FLOW)
        out.append(_Routine(start, tuple(callers), tuple(returns)))
    return out


def _flow(
    instructions, starts, ends, block_of, routines: list[_Routine], problems: list[str], account: Account
) -> nx.DiGraph:
    """Blocks and what follows them; these routines come back behind all of their calls."""
    count = len(instructions)
    behind: dict[int, set[int]] = defaultdict(set)  # ret -> where it comes back to
    for r in routines:
        for k in r.returns:
            behind[k].update(call + 1 for call in r.calls if call + 1 < count)
    cfg = nx.DiGraph()
    cfg.add_nodes_from(range(len(starts)))
    cfg.add_node(END)
    for b, e in enumerate(ends):
        last = instructions[e - 1]
        for t in _successors(last, count, sorted(behind.get(last.index, ())), problems):
            cfg.add_edge(b, END if t == END else block_of[t])
    if not count:
        cfg.add_edge(0, END)
    account.spend(INSTRUCTION * cfg.number_of_edges(), CONTROL_FLOW)
    _join_to_end(cfg)
    return cfg


def _successors(last: Instruction, count: int, call_returns: list[int], problems: list[str]) -> list[int]:
    following = last.index + 1 if last.index + 1 < count else END
    c = last.control
    if c is None:
        return [following]
    match c.kind:
        case "branch":
            out = list(c.targets)
            return out + [following] if c.guard else out
        case "switch":
            if not c.targets:
                problems.append(f"the targets of {last.text.strip()} are not known")
            return list(c.targets) or [END]
        case "exit":
            return [END, following] if c.guard else [END]
        case "ret":
            out = list(call_returns) or [END]
            return out + [following] if c.guard else out
        case "call":
            if is_unresolved(c):
                return [END, following]  # lanes may end in it
            out = list(c.targets) or [following]
            return out + [following] if c.guard and c.targets else out
    return [following]


def _reversed(cfg: nx.DiGraph) -> nx.DiGraph:
    """All edges the other way round. (DiGraph.reverse copies what is attached to each of them deeply.)"""
    out = nx.DiGraph()
    out.add_nodes_from(cfg.nodes)
    out.add_edges_from((v, u) for u, v in cfg.edges)
    return out


def _join_to_end(cfg: nx.DiGraph) -> None:
    """Give endless loops an edge to END, so that post-dominators exist everywhere."""
    reaches = nx.ancestors(cfg, END) | {END}
    for b in sorted((n for n in cfg.nodes if n not in reaches), reverse=True):
        stack = [b] if b not in reaches else []
        if stack:
            cfg.add_edge(b, END)
        while stack:
            n = stack.pop()
            if n not in reaches:
                reaches.add(n)
                stack += cfg.predecessors(n)
