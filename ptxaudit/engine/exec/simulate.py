"""Runs the slice of a kernel as the hardware would, all warps of a launch at once.

Rows are warps. A *cohort* is a set of rows, with a mask of lanes each, that stand at the same
instruction with the same call stack. A branch on which the lanes of a warp disagree splits
it into two cohorts; SASS names convergence barriers at which they go on together (`convergence`).
PTX names none: there they meet where ptxas would let them, at the branch's post-dominator
(`Graph.meeting`), or before it where they happen to stand at the same instruction, as the two ways
into the body of `if (a || b)` do. The cohort that is furthest behind runs first, so that warps that
took different ways meet again.

Blocks that cannot differ are one class of rows with a weight. `%ctaid` starts as an unknown with a
range; a comparison that the range does not decide splits the rows at the block indices where
its result changes (`split`). An operation that has no affine form in `%ctaid` asks for a run with
every block index known (`NeedBlocks`).

Branches on values that are not known are stepped over: what they may have changed becomes opaque,
the accesses inside are marked, and the answer for those is left to `infer`.

With a plan of `tables`, numbers that are written to shared memory and read back are followed (`followed`); the
warps of a block then wait for each other at its barriers.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import networkx as nx
import numpy as np

from ptxaudit.base.errors import InputError
from ptxaudit.base.work import BLOCK, OPERATION, REQUEST, Account, elements
from ptxaudit.engine.answer import residues
from ptxaudit.engine.answer.kept import Keeper
from ptxaudit.engine.answer.record import Elsewhere, Mixed, Nowhere, SiteRecord
from ptxaudit.engine.answer.tabulate import line_of
from ptxaudit.engine.domain import affine, alike
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.block_ranges import block_terms, decide, dimensions, made_of
from ptxaudit.engine.domain.known_bits import most_wavefronts
from ptxaudit.engine.domain.value import Lost, Value, array_zeros, constant, known, opaque, signed, squeeze
from ptxaudit.engine.exec.convergence import Warps, either_state
from ptxaudit.engine.exec.effects import (
    FULL_MASK,
    Registers,
    View,
    execute,
    forget_local,
    guard_mask,
    pack,
    take,
    unpack,
)
from ptxaudit.engine.exec.followed import Followed
from ptxaudit.engine.exec.repeat import NotAffine, Repeats, Round
from ptxaudit.engine.exec.states import doubt_of, is_uniform
from ptxaudit.engine.memory import clusters, copied, given
from ptxaudit.engine.memory.environment import LANES, Environment
from ptxaudit.engine.memory.shadow import BlocksNeeded
from ptxaudit.engine.memory.tables import Plan
from ptxaudit.engine.ops.halves import UpperHalf
from ptxaudit.hardware import banks
from ptxaudit.ir import frames
from ptxaudit.ir.graph import (
    BARRIER_MOVES,
    END,
    SHARED_SPACES,
    Graph,
    Slice,
    is_unresolved,
    opaque_load,
    overwrites,
    writes_local,
)
from ptxaudit.ir.nodes import Const, Control, Guard, Instruction, Reg
from ptxaudit.ir.reasons import Kind, first_of

MAX_ROWS = 1 << 15  # warps run together; more block classes than this are given up
MAX_CALLS = 256
MOST_SPLITS = 200  # of the rows at one comparison
RUNNING = "running the launch"
OWN_LANE = np.left_shift(1, np.arange(LANES)).astype(np.uint32)


class NeedBlocks(Exception):
    """The run needs every block index of these dimensions as a number."""

    def __init__(self, dimensions: set[int]):
        self.dimensions = dimensions


class TooManyRows(Exception):
    """The launch has more kinds of warps than are run together."""


@dataclass
class Cohort:
    """rows: (n,) indices; mask: (n, LANES); pc: instruction; calls: return addresses, outermost first."""

    pc: int
    rows: np.ndarray
    mask: np.ndarray
    calls: tuple[int, ...] = ()
    doubt: Lost | None = None  # lanes may have left before: counts are upper bounds
    parted: Lost | None = None  # lanes may not be together: one issue here may be several

    @property
    def state(self) -> tuple:
        """What a part of the cohort inherits."""
        return self.doubt, self.parted

    @property
    def place(self) -> tuple[int, ...]:
        """How far it is: the calls that it is in, outermost first, and its instruction there. What is called is at the
        place of its call, wherever its code stands."""
        return *(behind - 1 for behind in self.calls), self.pc

    def at(self, pc: int) -> Cohort:
        """The same, gone on to another instruction."""
        self.pc = pc
        return self

    def some(self, rows: np.ndarray) -> Cohort:
        """A part of the rows."""
        return Cohort(self.pc, self.rows[rows], self.mask[rows], self.calls, *self.state)


class Simulation:
    """One run. After `run()`, `records` holds the requests of every site."""

    def __init__(
        self,
        graph: Graph,
        part: Slice,
        env: Environment,
        records: dict[int, SiteRecord],
        low: np.ndarray,
        high: np.ndarray,
        account: Account,
        allow_blocks: bool,
        plan: Plan | None = None,
    ):
        """low, high: (rows, 3) first and last block index of each row's class; account: pays for the run, else it
        raises Exhausted; allow_blocks: NeedBlocks may be raised; plan: what is followed of shared memory (then Unsafe
        may be raised)."""
        self.graph, self.part, self.env, self.records = graph, part, env, records
        self.instructions = graph.function.instructions
        self.registers = Registers(env.rows)
        self.low, self.high = low, high
        self.account, self.allow_blocks = account, allow_blocks
        self.alive = env.exists.copy()
        self.called_apart: dict = {}  # where lanes that call different functions meet in PTX: ptxas need not let them
        self.barriers: dict = {}
        # PTX: with which lanes each has gone the same way since lanes met for certain; others it meets where ptxas lets
        # them
        self.same_way = np.full((env.rows, LANES), FULL_MASK, np.uint32)
        self.went_apart = False
        self.visits = {i: np.zeros(env.rows, np.int64) for i in records}
        self.heap: list = []
        self.waiting: list[tuple[Cohort, object]] = []
        self.held: list[tuple[Cohort, int]] = []  # at a barrier of the block, with its number
        self.serial = 0
        self.running: Cohort | None = None  # where a run that is broken off stood, but for those that wait
        self._work = 0  # steps that are not paid for yet
        self.explicit = graph.function.explicit_reconvergence
        self._regions: dict[int, tuple] = {}
        self._undecided_exits: set[int] = set()
        self.repeats = Repeats(self)
        self.warps = Warps(self)
        self.followed = None if plan is None else Followed(self, plan)
        self.shadow = None if self.followed is None else self.followed.shadow
        self._weigh()
        self.symbolic_blocks = bool((self.high > self.low).any())

    # --- rows ---

    def _weigh(self) -> None:
        self.weights = np.prod(self.high - self.low + 1, axis=1)

    def push(self, cohort: Cohort) -> None:
        if len(cohort.rows):
            self.serial += 1
            heapq.heappush(self.heap, (cohort.place, self.serial, cohort))

    def run(self) -> None:
        rows = np.arange(self.env.rows)
        self.push(Cohort(0, rows, self.env.exists.copy()))
        try:
            self.drain()
        except BlocksNeeded as need:
            raise NeedBlocks(need.dimensions) from None
        self.running = None
        self._pay()

    def drain(self) -> None:
        """Run until no cohort is left."""
        while self.heap or self.held or self.others():
            self.warps.resume()
            if not self.heap:
                if not self.held or not self.followed.pass_barriers():
                    self._release_all()
                continue
            _, _, cohort = heapq.heappop(self.heap)
            cohort = self._join(cohort)
            if self.repeats.round is None:  # a round that is tried leaves nothing behind
                self.running = cohort
            self._run_block(cohort)

    def others(self) -> bool:
        """There are cohorts that wait for lanes of their warps, or are suspended."""
        return bool(self.waiting or self.warps.blocked or self.warps.suspended or self.warps.syncing)

    def go_on(self, cohorts: list[Cohort]) -> Cohort | None:
        """These run: the one that there is, at once."""
        if len(cohorts) == 1:
            return cohorts[0]
        for cohort in cohorts:
            self.push(cohort)
        return None

    def waits_at(self, pc: int) -> bool:
        """Lanes wait there for others, whether they come together or apart."""
        control = self.instructions[pc].control if pc < len(self.instructions) else None
        return control is not None and control.kind == "sync"

    def hardware_place(self, pc: int):
        """What tells an instruction of the machine from others: of what is called from several places there are
        copies.
        """
        if pc >= len(self.instructions):
            return pc
        instruction = self.instructions[pc]
        control = instruction.control
        if control is not None and control.kind == "call" and control.targets:
            # one of the calls that a computed one may be: lanes that have chosen are on their way to different
            # functions
            return instruction.place, instruction.opcode, self.instructions[control.targets[0]].place
        return instruction.place, instruction.opcode, instruction.text

    def unfinished(self) -> frozenset[int]:
        """The blocks that a run that was broken off may still have come to."""
        standing = (
            [c for _, _, c in self.heap]
            + [c for c, _ in self.waiting]
            + [c for c, _ in self.held]
            + self.warps.standing()
        )
        standing += [self.running] if self.running is not None else []
        places = {self.graph.block_of[k] for c in standing for k in (c.pc, *c.calls) if k < len(self.instructions)}
        return frozenset(places.union(*(nx.descendants(self.graph.cfg, b) for b in places)))

    def _join(self, cohort: Cohort) -> Cohort:
        """Take in the other cohorts at the same place whose warps are others."""
        kept, place = [], cohort.place
        while self.heap and self.heap[0][0] == place:
            item = heapq.heappop(self.heap)
            other = item[2]
            together = np.intersect1d(other.rows, cohort.rows).size > 0
            if not together and other.state != cohort.state:
                kept.append(item)
            elif together:
                cohort = self._merged(cohort, other)
            else:
                rows = np.concatenate([cohort.rows, other.rows])
                order = np.argsort(rows, kind="stable")
                cohort = Cohort(
                    cohort.pc,
                    rows[order],
                    np.concatenate([cohort.mask, other.mask])[order],
                    cohort.calls,
                    *cohort.state,
                )
        for item in kept:
            heapq.heappush(self.heap, item)
        return cohort

    @staticmethod
    def _merged(a: Cohort, b: Cohort) -> Cohort:
        """Two cohorts at one place, with warps that have lanes in both."""
        rows = np.union1d(a.rows, b.rows)
        mask = np.zeros((len(rows), LANES), bool)
        mask[np.searchsorted(rows, a.rows)] |= a.mask
        mask[np.searchsorted(rows, b.rows)] |= b.mask
        return Cohort(a.pc, rows, mask, a.calls, *either_state(a.state, b.state))

    def _view(self, cohort: Cohort) -> View:
        whole = len(cohort.rows) == self.registers.rows
        alive = self.alive if whole else self.alive[cohort.rows]
        return View(
            self.registers,
            self.env,
            None if whole else cohort.rows,
            cohort.mask,
            whole and not (alive & ~cohort.mask).any(),
            exact=not (cohort.parted or self.loose(cohort)),
            alive=alive,
        )

    def loose(self, cohort: Cohort) -> bool:
        """It is not known which lanes of some of its warps are together."""
        return bool(self.warps.loose[cohort.rows].any())

    # --- running ---

    def _run_block(self, cohort: Cohort) -> None:
        """Run to the next place where cohorts may meet or part."""
        pc = cohort.pc
        wanted, branches = self.part.instructions, self.part.branches
        while True:
            if pc >= len(self.instructions):
                left = self._exit(cohort, cohort.mask)  # those that waited for these
                if left is not None:
                    self.push(left)
                return
            block = self.graph.block_of[pc]
            end = self.graph.ends[block]
            self._pay()
            if not self.explicit and pc == self.graph.starts[block]:
                met = self._meet(cohort, ("at", block, len(cohort.calls)), pc)
                if met is None:
                    return
                cohort = met
            if (
                block in self.repeats.heads
                and pc == self.graph.starts[block]
                and not (self.heap or self.held or self.others())
            ):
                cohort.pc = pc
                cohort = self.repeats.arrive(block, cohort)
            elif self.shadow is not None and block in self.repeats.heads and pc == self.graph.starts[block]:
                self.repeats.turn(block, cohort)
            view = self._view(cohort)
            while pc < end:
                instruction = self.instructions[pc]
                if pc in wanted:
                    cohort, view = self._step(instruction, cohort, view)
                if instruction.control is not None:
                    break
                pc += 1
            else:
                cohort.pc = pc
                if self.heap or self.others():
                    return self.push(cohort)
                continue
            cohort.pc = pc
            following = self._transfer(instruction, cohort, pc in branches)
            if following is None:
                return
            cohort = following
            pc = cohort.pc
            if self.heap or self.others():
                return self.push(cohort)

    def _pay(self) -> None:
        """For the block that begins, and what was done since the last one."""
        work, self._work = self._work, 0
        self.account.spend(BLOCK + work + elements(self.env.work_done()), RUNNING)

    def _step(self, instruction: Instruction, cohort: Cohort, view: View):
        lap = self.repeats.round
        watched = instruction.site is not None and instruction.index in self.records
        self._work += OPERATION * len(self.part.ops[instruction.index])
        for op in self.part.ops[instruction.index]:
            if op.name in BARRIER_MOVES:
                self._move_barrier(op, cohort, view)
                continue
            if op.attrs in (frames.SAVE, frames.RESTORE):
                if lap is not None:
                    raise NotAffine
                op = frames.saved_at(op, len(cohort.calls))
            if watched and overwrites(op, instruction.site):  # before it overwrites its own address
                self._access(instruction, cohort, view)
                watched = False
            if (
                self.followed is not None
                and op.space in SHARED_SPACES
                and self.followed.touch(op, instruction, cohort, view)
            ):
                continue
            if lap is not None and self._moves(op, lap):
                self._run_in_round(op, lap, view, instruction.index)
            elif self.symbolic_blocks and self._depends_on_block(op):
                cohort = self._run_on_blocks(op, cohort, view, instruction.index)
                view = self._view(cohort)
            else:
                execute(op, view, instruction.index)
        if watched:
            self._access(instruction, cohort, view)
        return cohort, view

    def _move_barrier(self, op, cohort: Cohort, view: View) -> None:
        """BMOV: the lanes of a convergence barrier into a register, out of one, or none."""
        name = op.src[0].name
        if op.name == "barrier.save":
            if op.dst[0] is None:
                return
            word = self.warps.word(name, cohort)
            value = opaque(op.dst[0].bits, Lost(Kind.MASKS_NAMED)) if word is None else known(word[:, None])
            view.write(op.dst[0], value, None)
        elif op.name == "barrier.clear":
            self.warps.load(name, cohort, np.zeros(len(cohort.rows), np.uint32))
        else:
            value = view.read(op.src[1])
            first = cohort.mask.argmax(axis=1)[:, None]
            words = np.broadcast_to(value.base.astype(np.uint32), cohort.mask.shape) if value.known else None
            self.warps.load(name, cohort, None if words is None else np.take_along_axis(words, first, 1)[:, 0])

    def _told(self, op) -> bool:
        """A load that may be of memory whose content the launch tells."""
        return self.env.facts.memory is not None and op.name == "load" and op.space in given.SPACES

    # --- rounds of a loop ---

    def _moves(self, op, lap: Round) -> bool:
        """An operation on a value with the number of rounds in it."""
        if opaque_load(op) and not self._told(op):
            return False
        return any(isinstance(s, Reg) and lap.mentions(self.registers.values.get(s.name)) for s in op.src)

    def _run_in_round(self, op, lap: Round, view: View, index: int) -> None:
        if op.name.startswith("setp."):
            a, b = (affine.fit(view.read(s), op.bits) for s in op.src)
            guard, doubt = guard_mask(view, op.guard)
            if doubt is not None:
                raise NotAffine
            result = lap.compare(op.name.removeprefix("setp."), a, b, view.mask if guard is None else guard)
            if op.dst[0] is not None:
                view.write(op.dst[0], result, guard)
            return
        before = {u for s in op.src for u, _ in view.read(s).terms}
        execute(op, view, index)
        for d in op.dst:
            if d is not None:
                after = view.read(d)
                if after.poison is not None or after.valid is not None or any(u not in before for u, _ in after.terms):
                    raise NotAffine

    # --- block indices ---

    def _depends_on_block(self, op) -> bool:
        if opaque_load(op) and not self._told(op):
            return False
        values = self.registers.values
        for s in op.src:
            if isinstance(s, Reg):
                v = values.get(s.name)
                if v is not None and v.terms and any(u.kind == "block" for u, _ in v.terms):
                    return True
        return False

    def _run_on_blocks(self, op, cohort: Cohort, view: View, index: int) -> Cohort:
        """An operation on a value with %ctaid in it: keep it affine, split the rows, or ask for numbers."""
        if op.name.startswith("setp."):
            return self._compare_blocks(op, cohort, index)
        before = {u for s in op.src for u in block_terms(view.read(s))}
        execute(op, view, index)
        if op.name == "add3.carry":
            return cohort
        for d in op.dst:
            if d is None:
                continue
            after = view.read(d)
            if isinstance(after, UpperHalf) and not self._told(op):
                continue
            derived = any(made_of(u, before) for u, _ in after.terms) or bool(after.terms) and self._told(op)
            lost = after.poison is not None or after.valid is not None and after.valid < min(after.bits, 32)
            if (derived or lost) and self.allow_blocks:
                raise NeedBlocks(dimensions(before))
        return cohort

    def _compare_blocks(self, op, cohort: Cohort, index: int) -> Cohort:
        """A comparison with %ctaid in it: split rows until every row's range decides it."""
        for _ in range(MOST_SPLITS):
            view = self._view(cohort)
            a, b = (affine.fit(view.read(s), op.bits) for s in op.src)
            decided = decide(op.name.removeprefix("setp."), a, b, self.low[cohort.rows], self.high[cohort.rows])
            if decided is None:
                only = all(u.kind == "block" for v in (a, b) for u, _ in v.terms)
                if only and self.allow_blocks and a.poison is None and b.poison is None:
                    raise NeedBlocks(dimensions(block_terms(a) | block_terms(b)))
                break
            result, cuts = decided
            if not cuts:
                guard, doubt = guard_mask(view, op.guard)
                if doubt is not None:
                    result = opaque(1, Lost(Kind.GUARDED_COMPARISON, index))
                if op.dst[0] is not None:
                    view.write(op.dst[0], result, guard)
                return cohort
            cohort = self.split(cohort, {int(cohort.rows[at]): cut for at, cut in cuts.items()})
        execute(op, self._view(cohort), index)
        return cohort

    def split(self, cohort: Cohort, cuts: dict[int, tuple[int, list[int]]]) -> Cohort:
        """Copy rows so that each copy has one side of its cuts; returns the cohort in the new numbering."""
        if self.repeats.round is not None:
            raise NotAffine
        if self.shadow is not None:
            cuts = self.shadow.whole_blocks(cuts)
        self.repeats.forget()
        index, low, high = [], [], []
        for row in range(self.registers.rows):
            if row not in cuts:
                index.append(row)
                low.append(self.low[row])
                high.append(self.high[row])
                continue
            d, points = cuts[row]
            edges = [int(self.low[row, d])] + points + [int(self.high[row, d]) + 1]
            for a, b in zip(edges, edges[1:]):
                l, h = self.low[row].copy(), self.high[row].copy()
                l[d], h[d] = a, b - 1
                index.append(row)
                low.append(l)
                high.append(h)
        index = np.array(index)
        if len(index) > MAX_ROWS:
            raise TooManyRows
        self.account.spend(
            elements(len(index) * LANES * len(self.registers.values)) + len(self.registers.values), RUNNING
        )
        self.low, self.high = np.array(low), np.array(high)
        self._weigh()
        self.registers.expand(index)
        self.alive = self.alive[index]
        self.barriers = {k: v[index] for k, v in self.barriers.items()}
        self.same_way = self.same_way[index]
        self.visits = {k: v[index] for k, v in self.visits.items()}
        env = self.env
        env.exists, env.warp = env.exists[index], env.warp[index]
        env.tid = tuple(take(t, index) if isinstance(t, Value) else t if t.shape[0] == 1 else t[index] for t in env.tid)
        env.concrete_block = {d: v[index] for d, v in env.concrete_block.items()}

        def placed(c: Cohort) -> tuple[Cohort, np.ndarray]:
            position = np.full(int(index.max()) + 1, -1)
            position[c.rows] = np.arange(len(c.rows))
            where = position[index]
            rows = np.flatnonzero(where >= 0)
            return Cohort(c.pc, rows, c.mask[where[rows]], c.calls, *c.state), where[rows]

        def renumber(c: Cohort) -> Cohort:
            return placed(c)[0]

        self.warps.expand(index, placed)
        self.heap = [(p, s, renumber(c)) for p, s, c in self.heap]
        self.waiting = [(renumber(c), b) for c, b in self.waiting]
        self.held = [(renumber(c), b) for c, b in self.held]
        if self.shadow is not None:
            self.shadow.expand(index, self.low, self.high)
        return renumber(cohort)

    # --- accesses ---

    def _access(self, instruction: Instruction, cohort: Cohort, view: View) -> None:
        site, record = instruction.site, self.records[instruction.index]
        self._work += REQUEST
        guard, doubt = guard_mask(view, site.guard or instruction.guard)
        weights = self.weights[cohort.rows]
        parted = cohort.parted or (self.warps.why if self.loose(cohort) else None)
        if self.repeats.round is not None and (doubt is not None or cohort.doubt or parted):
            raise NotAffine
        if doubt is not None:
            why = Lost(Kind.TAKES_PART, instruction.index, cause=doubt_of(doubt, instruction.index))
            if not cohort.doubt and not parted and site.space != "generic":
                possible = (
                    cohort.mask if doubt.poison is None or doubt.terms else cohort.mask & (doubt.base | doubt.poison)
                )
                together = doubt.poison is None and squeeze(doubt).uniform and not record.access.unscored
                most = (
                    self._whole_cost(instruction, view.where(site.guard or instruction.guard), cohort.mask, record)
                    if together
                    else None
                )
                record.add_maybe(possible, weights, why, most)
                return
            record.doubt = first_of(record.doubt, why)
            return
        active = cohort.mask if guard is None else guard
        if cohort.doubt or parted:
            record.doubt = first_of(record.doubt, first_of(cohort.doubt, parted))
            return
        record.meeting_assumed = record.meeting_assumed or self._meeting_assumed(cohort)
        visits = self.visits[instruction.index]
        trip = visits[cohort.rows]
        visits[cohort.rows] = trip + active.any(axis=1)
        if record.access.unscored:
            return self._note(record, (active, active, weights, trip))
        address = view.read(site.address)
        if site.offset:
            address = affine.add(address, constant(site.offset, address.bits))
        if site.space == "generic":
            found = clusters.located(address, active, self.env.spaces(instruction.index), site.of)
            lost = found.why or (clusters.remote(found.place, found.lanes, view) if site.of == "shared" else None)
            if lost is not None:
                record.doubt = first_of(record.doubt, lost)
                return
            some = found.lanes.any(axis=1)
            away = ~some & ~found.idle
            if away.any():  # another memory: no shared access
                self._note(Elsewhere(record), (weights[away], weights[away & active.any(axis=1)]))
                if away.all():
                    return
                weights = np.where(away, 0, weights)
            others = active & ~found.lanes & some[:, None]
            if others.any():
                self._note(Mixed(record), (weights, banks.passes(record.machine, record.access, others)))
            address, active = found.place, found.lanes
        if copied.may_fill(site):
            reading = copied.reading(site, view, active)
            if reading is None:
                if self.repeats.round is not None:
                    raise NotAffine
                return record.add_maybe(
                    active, weights, Lost(Kind.TAKES_PART, instruction.index, cause=Lost(Kind.PREDICATE))
                )
            active = reading
        place = address  # the one that it has; below, one that costs the same
        if (
            address.alternatives is not None
            and site.source is None
            and site.of == "shared"
            and self.repeats.round is None
        ):
            address = alike.settled(address, active, record.machine, record.access)
        known = self._addresses(address, active, record, instruction.index)
        if isinstance(known, Lost):
            if self.repeats.round is not None and not known.data:
                raise NotAffine
            self.account.spend(BLOCK, RUNNING)
            return self._note(
                Nowhere(record),
                (
                    active,
                    weights,
                    known,
                    most_wavefronts(record.machine, record.access, as_unknown(address), 0, active),
                ),
            )
        numbers, zeros, line = known
        from_where = None
        if site.source is not None and record.machine.source_shift(record.access) > 1:
            from_where = copied.sources(site, view, active)
        if site.of == "global":
            moved = residues.Request(numbers, active, weights, trip, from_where, np.arange(len(cohort.rows)))
            low, high = self.low[cohort.rows], self.high[cohort.rows]
            return self._note_moving(
                record,
                address,
                residues.by_blocks(moved, address, low, high, record.machine.invariant_shift(record.access)),
                zeros,
            )
        filled = copied.filled(site, view, active, record.access.width) if site.of == "shared" else None
        lap = self.repeats.round
        if lap is not None and (
            line or not lap.moves_as_a_whole(address, active, record.machine.invariant_shift(record.access))
        ):
            raise NotAffine
        self._note(
            record, (numbers, active, weights, trip, from_where, zeros, line, filled, self.env.warp[cohort.rows, 0])
        )
        if record.kept is not None:
            self._note(record.kept, (place, active, weights, from_where, filled))

    def _note_moving(self, record: SiteRecord, address: Value, request: residues.Request, zeros: int) -> None:
        """Requests of global memory; in a round, those of all rounds."""
        lap = self.repeats.round
        if lap is None:
            return residues.put(record, request, zeros)
        if not lap.moves_as_a_whole(address, request.active, 1):
            raise NotAffine
        steps = next((c for u, c in address.terms if u == lap.symbol), np.zeros((1, 1), np.int64))
        of_rows = (
            np.broadcast_to(steps, (int(request.rows.max()) + 1, steps.shape[1])) if steps.shape[0] == 1 else steps
        )
        moving = residues.Moving(
            record,
            residues.of_first(of_rows[request.rows], request.active),
            record.machine.invariant_shift(record.access),
        )
        self._note(moving, (request, zeros))

    def _note(self, record: SiteRecord | Keeper | Elsewhere | Nowhere, arguments: tuple) -> None:
        """One more request, or one a round of the loop that is closed."""
        if self.repeats.round is None:
            record.add(*arguments)
        else:
            self.repeats.round.requests.append((record, arguments))

    def _whole_cost(
        self, instruction: Instruction, view: View, mask: np.ndarray, record: SiteRecord
    ) -> np.ndarray | None:
        """(3, n): the least and the most wavefronts of each row's request if all its lanes take part, and its ideal;
        None where that is not known."""
        site = instruction.site
        address = view.read(site.address)
        if site.offset:
            address = affine.add(address, constant(site.offset, address.bits))
        known = self._addresses(address, mask, record, instruction.index)
        if isinstance(known, Lost) or record.access.bypass or record.access.space == "global":
            return None
        numbers, zeros, line = known
        if line or 1 << zeros < record.machine.invariant_shift(record.access):
            return None
        try:
            scores = banks.score(record.machine, record.access, np.where(mask, numbers, 0), mask, None)
            return np.stack([scores.low, scores.high, scores.ideal])
        except InputError:
            return None

    def _addresses(
        self, address: Value, active: np.ndarray, record: SiteRecord, instruction: int
    ) -> tuple[np.ndarray, int, int] | Lost:
        """((n, LANES) int64 addresses up to a uniform shift, low zero bits of that shift, 0 or the bytes
        up to a multiple of which each lane is known), or why they are not known."""
        address = as_unknown(address)
        if address.poison is not None and (np.broadcast_to(address.poison, active.shape) & active).any():
            return address.why or Lost(Kind.ADDRESS, instruction)
        line, wide = 0, record.access.space == "global"
        if address.valid is not None and address.valid < (address.bits if wide else min(address.bits, 32)):
            line = line_of(record.machine, record.access)
            if (1 << address.valid) % line or record.access.bypass or wide:
                return address.why or Lost(Kind.LOW_BITS, instruction)
        zeros = 32
        for u, c in address.terms:
            if c.shape[1] > 1:
                every = np.broadcast_to(c, active.shape)
                first = np.take_along_axis(every, active.argmax(axis=1)[:, None], 1)
                if ((every != first) & active).any():
                    if u.kind == "block" and self.allow_blocks:
                        raise NeedBlocks(dimensions({u}))
                    return Lost(Kind.MULTIPLIES, instruction, unknowns=(u,))
            if u.kind != "rounds" and not (
                wide and residues.is_block_index(u)
            ):  # `Round.moves_as_a_whole` answers for those
                zeros = min(zeros, u.zeros + array_zeros(c))
        base = signed(address.base if wide else affine.fit(address, 32).base).astype(np.int64)
        return base if base.shape == active.shape else np.broadcast_to(base, active.shape), zeros, line

    # --- control ---

    def _transfer(self, instruction: Instruction, cohort: Cohort, relevant: bool) -> Cohort | None:
        """Where the cohort goes after its block's last instruction; None when it is in the heap or done."""
        c = instruction.control
        following = instruction.index + 1
        match c.kind:
            case "branch":
                return self._branch(instruction, c, cohort, relevant)
            case "switch":
                return self._switch(instruction, c, cohort, relevant)
            case "exit":
                return self._leave_kernel(instruction, c, cohort, relevant)
            case "call":
                return self._call(instruction, c, cohort)
            case "ret":
                return self._return(instruction, c, cohort, relevant)
            case "open":
                self._open(c, cohort)
            case "sync":
                cohort.pc = following
                return self.go_on(self.warps.sync(c.barrier.name, cohort))
            case "leave":
                return self._leave_barrier(c, cohort, following)
            case "warpsync" | "part":
                return self._warpsync(c, cohort, following)
            case "yield":
                self._yield(instruction, cohort)
            case "barrier":
                if not self.explicit and c.guard is None:
                    self._all_meet(cohort)  # ptxas puts a WARPSYNC before it where lanes may have parted
                if self.followed is not None and instruction.index in self.followed.plan.barriers:
                    return self.followed.hold(cohort, following, self.followed.plan.barriers[instruction.index])
        cohort.pc = following
        return cohort

    def _lanes_of(self, guard: Guard | None, cohort: Cohort):
        """(lanes in which a control guard holds or None for all, doubt)."""
        return guard_mask(self._view(cohort), guard) if guard is not None else (None, None)

    def _branch(self, instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        target, following = c.targets[0], instruction.index + 1
        if c.guard is None:
            cohort.pc = target
            return cohort
        if not relevant:
            return self._step_over(instruction, cohort, None)
        taken, doubt = self._lanes_of(c.guard, cohort)
        if doubt is not None:
            return self._step_over(instruction, cohort, doubt)
        rest = cohort.mask & ~taken
        return self._part(instruction, cohort, [(target, taken), (following, rest)])

    def _switch(self, instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        if not relevant:
            return self._step_over(instruction, cohort, None)
        value = (
            self._view(cohort).read(c.selector)
            if c.selector is not None
            else opaque(32, Lost(Kind.BRANCH_TARGET, instruction.index))
        )
        unknown_here = (
            value.poison is not None and (np.broadcast_to(value.poison, cohort.mask.shape) & cohort.mask).any()
        )
        if value.terms or value.valid is not None or unknown_here or not c.targets:
            return self._step_over(instruction, cohort, value)
        chosen = np.broadcast_to(value.base.astype(np.int64), cohort.mask.shape)
        if (chosen[cohort.mask] >= len(c.targets)).any():
            return self._step_over(instruction, cohort, opaque(32, Lost(Kind.BRANCH_TARGET, instruction.index)))
        parts = []
        for k in np.unique(chosen[cohort.mask]):
            parts.append((c.targets[int(k)], cohort.mask & (chosen == k)))
        if c.choices and not self.explicit:
            meeting = self.graph.meeting.get(self.graph.block_of[instruction.index], END)
            self.called_apart["at", meeting, len(cohort.calls)] = Lost(Kind.CALLED_APART, instruction.index)
        return self._part(instruction, cohort, parts)

    def _part(self, instruction, cohort: Cohort, parts) -> Cohort | None:
        """Send each part of the lanes its way; lanes of one warp that part open a convergence barrier."""
        somewhere = [(pc, mask, mask.any(axis=1)) for pc, mask in parts]
        somewhere = [(pc, mask, some) for pc, mask, some in somewhere if some.any()]
        if len(somewhere) == 1 and somewhere[0][2].all() and (somewhere[0][1] == cohort.mask).all():
            cohort.pc = somewhere[0][0]
            return cohort
        if not self.explicit:
            torn = sum(some.astype(int) for _, _, some in somewhere) > 1
            if torn.any():
                self._expect(instruction, cohort, torn)
        return self._apart(
            [Cohort(pc, cohort.rows[some], mask[some], cohort.calls, *cohort.state) for pc, mask, some in somewhere]
        )

    def _apart(self, parts: list[Cohort]) -> Cohort | None:
        """Parts of one cohort go on."""
        if self.explicit:
            return self.go_on(self.warps.choose(parts))
        for part in parts:
            self._apart_from_now(part, pack(part.mask))
            self.push(part)
        return None

    def _meeting_assumed(self, cohort: Cohort) -> bool:
        """PTX: lanes of a warp are together here because they are taken to meet where their ways do."""
        if not self.went_apart:
            return False
        first = np.take_along_axis(self.same_way[cohort.rows], cohort.mask.argmax(axis=1)[:, None], 1)
        return bool((pack(cohort.mask) & ~first).any())

    def _apart_from_now(self, cohort: Cohort, words: np.ndarray) -> None:
        """PTX: lanes go the same way as those of their word at most. words: (n or 1, LANES or 1) uint32."""
        self.went_apart = True
        ways = self.same_way[cohort.rows]
        self.same_way[cohort.rows] = np.where(cohort.mask, ways & words, ways)

    def _surely_met(self, cohort: Cohort) -> None:
        if not self.went_apart:
            return
        ways = self.same_way[cohort.rows]
        self.same_way[cohort.rows] = np.where(cohort.mask, pack(cohort.mask), ways)

    def _expect(self, instruction, cohort: Cohort, torn: np.ndarray) -> None:
        """Lanes that part meet at the post-dominator of the branch, unless they already wait for one there."""
        meeting = self.graph.meeting.get(self.graph.block_of[instruction.index], END)
        if meeting != END:
            self._expect_at(meeting, cohort, torn)

    def _expect_at(self, meeting: int, cohort: Cohort, torn: np.ndarray) -> None:
        name = ("at", meeting, len(cohort.calls))
        words = self.barriers.setdefault(name, np.zeros((self.registers.rows, LANES), np.uint32))
        rows = cohort.rows[torn]
        mask = cohort.mask[torn]
        already = ((words[rows] != 0) & mask).any(axis=1)
        rows, mask = rows[~already], mask[~already]
        words[rows] = np.where(mask, pack(mask), words[rows])

    def _open(self, c: Control, cohort: Cohort) -> None:
        lanes, doubt = self._lanes_of(c.guard, cohort)
        self.warps.open(c.barrier.name, cohort, cohort.mask if lanes is None else lanes)
        if doubt is not None:
            self.warps.doubt(c.barrier.name, cohort)

    def _leave_barrier(self, c: Control, cohort: Cohort, following: int) -> Cohort | None:
        cohort.pc = following
        lanes, doubt = self._lanes_of(c.guard, cohort)
        if doubt is not None:
            self.warps.doubt(c.barrier.name, cohort)
            return cohort
        return self.go_on(self.warps.leave(c.barrier.name, cohort, cohort.mask if lanes is None else lanes))

    def _meet(self, cohort: Cohort, name, pc: int) -> Cohort | None:
        """At a post-dominator: wait if lanes of this warp are expected here."""
        words = self.barriers.get(name)
        if words is None or not (words[cohort.rows] != 0).any():
            return cohort
        return self._sync(name, cohort, pc)

    def _sync(self, name, cohort: Cohort, pc: int) -> Cohort | None:
        """Go on at pc when every living lane that is expected has come; otherwise wait."""
        words = self.barriers.get(name)
        cohort.pc = pc
        if words is None:
            return cohort
        first = cohort.mask.argmax(axis=1)
        expected = (unpack(words[cohort.rows, first][:, None]) & self.alive[cohort.rows]) | cohort.mask
        return self._gather(cohort, expected, ("sync", name, pc), words)

    def _warpsync(self, c: Control, cohort: Cohort, pc: int) -> Cohort | None:
        """Lanes wait for those that they name. Lanes that come together go on together even if they name
        different masks, except at `part`. (Measured: WarpExchange of CUB in bench/kernels/cub_exchange names
        both halves of the warp at a plain WARPSYNC, and each access behind it is one request.)"""
        cohort.pc = pc
        words = None
        if c.selector is not None:
            value = self._view(cohort).read(c.selector)
            if not value.known:
                return cohort
            words = np.broadcast_to(value.base.astype(np.uint32), cohort.mask.shape)
        named = c.selector.value if isinstance(c.selector, Const) else 0
        return self.go_on(self.warps.warpsync(cohort, words, named, c.kind == "part"))

    def _yield(self, instruction: Instruction, cohort: Cohort) -> None:
        """Some lanes of a warp spin: those that wait for them at a convergence barrier may go on before
        they come, so that the one that is waited for can make way. (Measured: the STS after the probing loop of
        samples/hash_table is issued once for each group of lanes that leaves the loop together.)"""
        alone = (self.alive[cohort.rows] & ~cohort.mask).any(axis=1)
        self.warps.loosen(cohort.rows[alone], Lost(Kind.YIELD))

    def _all_meet(self, cohort: Cohort) -> None:
        """All living lanes of these warps come together for certain."""
        self.warps.loose[cohort.rows] = False
        cohort.parted = None
        self._surely_met(cohort)

    def _gather(self, cohort: Cohort, expected: np.ndarray, key, words) -> Cohort | None:
        if key[1] in self.called_apart:
            self.warps.loosen(
                cohort.rows[((words[cohort.rows] != 0) & cohort.mask).any(axis=1)], self.called_apart[key[1]]
            )
            cohort.parted = cohort.parted or self.called_apart[key[1]]
        complete = (expected == cohort.mask).all(axis=1)
        if complete.all():
            if not self.loose(cohort):
                cohort.parted = None  # the barrier holds until all have come
            words[cohort.rows] = np.where(cohort.mask, 0, words[cohort.rows])
            return cohort
        # others of the same warp may be waiting here already
        mask = cohort.mask.copy()
        still = []
        kind, states = np.zeros(len(cohort.rows), int), [cohort.state]  # of each warp: what its lanes bring along
        for other, other_key in self.waiting:
            if other_key != key or other.calls != cohort.calls:
                still.append((other, other_key))
                continue
            shared = np.isin(other.rows, cohort.rows)
            position = np.searchsorted(cohort.rows, other.rows[shared])
            mask[position] |= other.mask[shared]
            for k in np.unique(kind[position]) if other.state != cohort.state else ():
                kind[position[kind[position] == k]] = len(states)
                states.append(either_state(states[k], other.state))
            if (~shared).any():
                still.append((other.some(~shared), other_key))
        self.waiting = still
        complete = ((expected & ~mask) == 0).all(axis=1)
        for k in np.unique(kind):
            of_kind = kind == k
            ready = Cohort(
                cohort.pc, cohort.rows[complete & of_kind], mask[complete & of_kind], cohort.calls, *states[k]
            )
            late = Cohort(
                cohort.pc, cohort.rows[~complete & of_kind], mask[~complete & of_kind], cohort.calls, *states[k]
            )
            if self.loose(ready) and not ready.parted:
                ready.parted = Lost(Kind.YIELD)
            if len(late.rows):
                self.waiting.append((late, key))
            if len(ready.rows):
                words[ready.rows] = np.where(ready.mask, 0, words[ready.rows])
            self.push(ready)
        return None

    def ordered(self, cohort: Cohort, named: int) -> None:
        """Its lanes have waited for those that they name."""
        self._surely_met(cohort)
        if self.followed is not None and named and len(cohort.rows):
            self.followed.ordered(cohort, named)

    def _lose(self, cohort: Cohort) -> None:
        """What these warps do to shared memory is not followed."""
        if self.followed is not None:
            self.followed.lose(cohort)

    def _release_all(self) -> None:
        """Nothing else can run: lanes that are waited for will not come (they ended, or wait elsewhere)."""
        if (
            not self.waiting
        ):  # machine code never waits here, and lanes at a bar.warp.sync of PTX are no lanes of a post-dominator
            return self.warps.idle()
        waiting, self.waiting = self.waiting, []
        first = min(c.pc for c, _ in waiting)
        for cohort, key in waiting:
            if cohort.pc == first:
                words = self.barriers[key[1]]
                words[cohort.rows] = np.where(cohort.mask, 0, words[cohort.rows])
                self.push(cohort)
            else:
                self.waiting.append((cohort, key))

    def _leave_kernel(self, instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        lanes, doubt = self._lanes_of(c.guard, cohort) if c.guard is not None and relevant else (None, None)
        if c.guard is not None and not relevant:
            cohort.pc = instruction.index + 1
            return cohort
        if doubt is not None and self.repeats.round is not None:
            raise NotAffine
        if doubt is not None:
            if instruction.index in self._undecided_exits and cohort.doubt:
                return self._give_up(cohort, instruction.index, cohort.doubt)
            self._undecided_exits.add(instruction.index)
            self._lose(cohort)
            cohort.doubt = first_of(
                cohort.doubt, Lost(Kind.ENDS, instruction.index, cause=doubt_of(doubt, instruction.index))
            )
            cohort.pc = instruction.index + 1
            return cohort
        gone = cohort.mask if lanes is None else lanes
        return self._exit(cohort, gone, instruction.index + 1)

    def _exit(self, cohort: Cohort, gone: np.ndarray, following: int | None = None) -> Cohort | None:
        self.alive[cohort.rows] &= ~gone
        rest = cohort.mask & ~gone
        some = rest.any(axis=1)
        left = (
            Cohort(following, cohort.rows[some], rest[some], cohort.calls, *cohort.state)
            if some.any() and following is not None
            else None
        )
        if self.explicit and (self.warps.blocked or self.warps.syncing or self.warps.suspended):
            return self.go_on(self.warps.exited(cohort.rows[gone.any(axis=1)], left))
        return left

    def _call_unresolved(self, instruction, c: Control, cohort: Cohort) -> Cohort | None:
        """What is called is not known: lanes may end in it, and those that come back may do so apart."""
        if self.repeats.round is not None:
            raise NotAffine
        why = Lost(Kind.CALL_NOT_FOLLOWED, instruction.index)
        if instruction.index in self._undecided_exits and cohort.doubt:
            return self._give_up(cohort, instruction.index, cohort.doubt)
        lanes, doubt = self._lanes_of(c.guard, cohort)
        some = (cohort.mask if lanes is None else lanes).any(axis=1)
        if not some.all():
            self.push(cohort.some(~some).at(instruction.index + 1))
        if not some.any():
            return None
        self._undecided_exits.add(instruction.index)
        self._enter_hidden({self.graph.block_of[instruction.index]})
        calling = cohort.some(some).at(instruction.index + 1)
        self._lose(calling)
        self.warps.loosen(calling.rows, why)
        calling.doubt, calling.parted = first_of(calling.doubt, why), first_of(calling.parted, why)
        return calling

    def _enter_hidden(self, blocks: set[int]) -> None:
        """What is called in some of these blocks may run, wherever it is."""
        index = next((k for k in self.graph.unresolved if self.graph.block_of[k] in blocks), None)
        if index is not None:
            for k, record in self.records.items():
                if self.graph.block_of[k] in self.graph.hidden:
                    record.doubt = first_of(record.doubt, Lost(Kind.HIDDEN, index))

    def _call(self, instruction, c: Control, cohort: Cohort) -> Cohort | None:
        following = instruction.index + 1
        if not c.targets:
            return self._call_unresolved(instruction, c, cohort) if is_unresolved(c) else cohort.at(following)
        if len(cohort.calls) >= MAX_CALLS:
            return self._give_up(cohort, instruction.index, Lost(Kind.CALL_DEPTH, instruction.index))
        lanes, doubt = self._lanes_of(c.guard, cohort)
        if doubt is not None:
            return self._step_over(instruction, cohort, doubt)
        inside = cohort.mask if lanes is None else lanes
        some = inside.any(axis=1)
        rest = cohort.mask & ~inside
        left = rest.any(axis=1)
        if left.any():
            if not self.explicit and (some & left).any() and following < len(self.instructions):
                self._expect_at(self.graph.block_of[following], cohort, some & left)  # who does not call waits
        return self._parts(cohort, (c.targets[0], inside, cohort.calls + (following,)), (following, rest, cohort.calls))

    def _parts(self, cohort: Cohort, *parts) -> Cohort | None:
        """The lanes of a cohort go on at (pc, lanes, calls)."""
        some = [(pc, mask, calls, mask.any(axis=1)) for pc, mask, calls in parts]
        out = [
            Cohort(pc, cohort.rows[rows], mask[rows], calls, *cohort.state)
            for pc, mask, calls, rows in some
            if rows.any()
        ]
        return out[0] if len(out) == 1 else self._apart(out)

    def _return(self, instruction, c: Control, cohort: Cohort, relevant: bool) -> Cohort | None:
        if not cohort.calls:
            return self._leave_kernel(instruction, c, cohort, relevant)
        lanes, doubt = self._lanes_of(c.guard, cohort)
        if doubt is not None:
            return self._step_over(instruction, cohort, doubt)
        going = cohort.mask if lanes is None else lanes
        return self._parts(
            cohort,
            (cohort.calls[-1], going, cohort.calls[:-1]),
            (instruction.index + 1, cohort.mask & ~going, cohort.calls),
        )

    # --- what is not known ---

    def _region(self, block: int):
        """(meeting block, sites inside, registers written inside, None among them where local memory is) of
        the branch that ends a block."""
        if block not in self._regions:
            inside = self.graph.region(block)
            sites, written = [], {}
            for b in inside:
                for k in range(self.graph.starts[b], self.graph.ends[b]):
                    if k in self.records:
                        sites.append(k)
                    if k in self.part.instructions:
                        for op in self.part.ops[k]:
                            for d in op.dst:
                                if d is not None:
                                    written[d.name] = d
                            if writes_local(op):
                                written[""] = None
            self._regions[block] = (self.graph.postdominators.get(block, END), sites, list(written.values()))
        return self._regions[block]

    def _step_over(self, instruction, cohort: Cohort, doubt: Value | None) -> Cohort | None:
        """Go to the post-dominator. doubt None: nothing inside matters."""
        block = self.graph.block_of[instruction.index]
        meeting, sites, written = self._region(block)
        uniform = doubt is not None and is_uniform(doubt)
        if not self.explicit and not uniform and self.graph.may_differ(instruction.index):
            self._apart_from_now(cohort, OWN_LANE)
        if doubt is not None:
            doubt = as_unknown(doubt)
            if self.repeats.round is not None:
                raise NotAffine
            why = doubt_of(doubt, instruction.index)
            if self.followed is not None and self.followed.matters(block):
                self.followed.lose(cohort)
            for k in sites:
                record = self.records[k]
                record.doubt = first_of(record.doubt, Lost(Kind.RUNS, instruction.index, cause=why))
            self._enter_hidden(self.graph.region(block))
            view = self._view(cohort)
            yields = self.graph.yields(block) or bool(instruction.control.choices)
            parts_inside = yields and self._may_part_inside(instruction, view)  # all may take one way, and part on it
            for reg in written:
                if reg is None:
                    forget_local(self.registers)
                else:
                    view.write(reg, opaque(reg.bits, why), None)
            apart = not uniform and self.graph.may_part(instruction.index) or parts_inside
            if apart and yields:
                self.warps.loosen(cohort.rows, Lost(Kind.YIELD))
            if apart and (yields or self.explicit):
                cohort.parted = first_of(cohort.parted, Lost(Kind.PARTED, instruction.index, cause=why))
        if meeting == END and not cohort.calls:
            return self._exit(cohort, cohort.mask)
        if cohort.calls and (meeting == END or self.graph.starts[meeting] == cohort.calls[-1]):  # all ways return
            return Cohort(cohort.calls[-1], cohort.rows, cohort.mask, cohort.calls[:-1], *cohort.state)
        cohort.pc = self.graph.starts[meeting]
        return cohort

    def _may_part_inside(self, instruction: Instruction, view: View) -> bool:
        """Lanes that take one way may part before they are at the post-dominator of the branch."""
        registers = self.graph.parted_by(self.graph.block_of[instruction.index])
        return registers is None or not all(
            self._followed_here(reg, instruction.index) and is_uniform(view.read(reg)) for reg in registers
        )

    def _followed_here(self, reg: Reg, index: int) -> bool:
        """What the run holds of a register is what it has there: whatever may have written it was run."""
        ops = self.part.ops
        return all(
            any(d is not None and d.name == reg.name for op in ops.get(k, ()) for d in op.dst)
            for k in self.graph.reaching(reg.name, index)
        )

    def _give_up(self, cohort: Cohort, index: int, reason: Lost) -> None:
        """These warps are not followed further: no count of what lies ahead is certain."""
        self._lose(cohort)
        block = self.graph.block_of[index]
        ahead = nx.descendants(self.graph.cfg, block) | {block}
        self._enter_hidden(set(self.graph.cfg) if cohort.calls else ahead)
        for k, record in self.records.items():
            if cohort.calls or self.graph.block_of[k] in ahead:
                record.doubt = first_of(record.doubt, reason)
