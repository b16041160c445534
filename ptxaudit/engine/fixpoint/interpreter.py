"""Abstract interpretation of a slice: the abstract requests of each site, without execution.

Each block is entered with one state: the registers of all rows, the lanes that may be active, and whether that mask is
certain. Where known values decide branches, lanes are followed individually and loops are unrolled; elsewhere both
paths are taken and values are joined:

- if all lanes take the same path, the join is a uniform unknown (double buffers, ring stages), - if lanes may diverge,
lanes in which the values differ are opaque.

A loop that cannot be unrolled is entered with an induction hypothesis for each register that it carries from trip to
trip; the hypothesis is kept only if running the body confirms it (`hypothesis`). For a good first hypothesis, what the
loops carry is run ahead if it is a small part of the slice (`Paths.carried`), or the steps are derived from the code
(`trips`): most loops are then run once. Nothing is assumed that was not verified.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from ptxaudit.base.arrays import anywhere
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account, elements
from ptxaudit.engine.answer.tabulate import Observation
from ptxaudit.engine.domain.lane_classes import classes_of, refined
from ptxaudit.engine.domain.value import (
    Uniform,
    opaque,
)
from ptxaudit.engine.exec import warp_step
from ptxaudit.engine.exec.control import is_uniform, why_undecided
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.fixpoint.hypothesis import Hypothesis
from ptxaudit.engine.fixpoint.loops import Loop, Paths
from ptxaudit.engine.fixpoint.meets import INFERRING
from ptxaudit.engine.fixpoint.states import OUTER, State, without_trips
from ptxaudit.engine.fixpoint.transfers import Followed, Transfers, Undecided
from ptxaudit.engine.memory import copied
from ptxaudit.engine.memory.clusters import ALONE
from ptxaudit.engine.memory.generic import located
from ptxaudit.engine.memory.registers import Registers, View, guard_mask
from ptxaudit.engine.memory.rows import Rows
from ptxaudit.hardware import banks
from ptxaudit.ir.blocks import END
from ptxaudit.ir.nodes import Guard, Instruction, Op, Site
from ptxaudit.ir.reasons import Kind, Reason, one_of_each
from ptxaudit.ir.weak_order import Element, Order, blocks_of

UNROLL_TRIPS = 1024  # trips of a loop followed one by one before it is generalised
UNROLL_SHARE = 1 / 60  # of all steps: a loop that is not unrolled within it is generalised, too
OPEN_TRIPS = 64  # trips of a loop with an unknown branch
OPEN_SHARE = 1 / 6  # of all steps, for all such loops together that are known to end
ALL_TRIPS = 2048  # trips of all loops together: an inner loop is followed again in each trip of the outer ones
WIDEN_PASSES = 12


class Mark(Record):
    """What a run of a loop may change, as it was before: numbers of observations, arriving states, decisions."""

    seen: dict[int, int]
    incoming: dict[int, list[tuple[int, State]]]
    kinds: dict[int, frozenset[str] | None]


class Interpreter(Transfers):
    """Runs the blocks in a weak topological order. `seen` collects the requests of each site."""

    def __init__(self, paths: Paths, rows: Rows, accesses: Mapping[int, banks.Access], account: Account):
        """account: pays for the run, or raises Exhausted."""
        super().__init__(paths, rows, account)
        self.accesses = accesses
        rows.env.made = rows.env.made or {}
        self.ahead: Interpreter | None = (
            None  # one that has run only what the loops carry: its results are likely to hold
        )
        self._rest = iter(paths.order or ())  # the part of the order that is not begun
        self._begun: Order = []  # the element of the order that is being run
        self.seen: dict[int, list[Observation]] = defaultdict(list)
        self.failure: Reason | None = None  # why nothing is known of any site
        self.trips = 0  # trips followed one by one, in all loops
        self.widening = 0  # the number of enclosing loops that are being widened
        # for loops inside one that is widened, by head: those that cannot be unrolled, now or when less is known in a
        # later pass; and the hypothesis that held in the last pass, with which the next one begins
        self.stuck: set[int] = set()
        self.settled: dict[int, Hypothesis] = {}
        self.unrolled: dict[int, int] = {}  # head of a loop that was unrolled -> the number of trips the last time
        self.begun: dict[int, State] = {}  # head -> the state at the beginning of the loop's last trip
        self.held: dict[
            int, tuple[Hypothesis, bool]
        ] = {}  # head -> the hypothesis that held last, and whether lanes left in different trips
        self.open_steps = account.share(OPEN_SHARE)
        self._loose = set(paths.yielding) | set(self.graph.calls)  # blocks from which lanes come back in any order
        self._may_part = bool(paths.yielding) or self.function.explicit_reconvergence

    def run(self) -> None:
        registers = Registers(self.rows.env.rows)
        start = State(registers, self.rows.env.exists)
        if self.paths.order is None:
            self.failure = Reason(Kind.IRREDUCIBLE)
            return
        self.incoming[0].append((-2, start))
        for element in self._rest:
            self._begun = [element]
            self._run_elements(self._begun)
        self._begun = []

    def unfinished(self) -> list[int]:
        """The accesses whose observations are incomplete, as the run was aborted."""
        left = blocks_of([*self._begun, *self._rest])
        return [k for k in self.accesses if self.graph.block_of[k] in left]

    def _run_elements(self, elements: Iterable[Element]) -> None:
        for element in elements:
            if isinstance(element, int):
                self._run_vertex(element)
            else:
                self._run_loop(*element)

    def _run_vertex(self, block: int) -> None:
        arriving = self.incoming.pop(block, [])
        if block == END or not arriving:
            return
        self._run_block(block, self.join(block, arriving))

    def _run_loop(self, head: int, body: Order) -> None:
        arriving = self.incoming.pop(head, [])
        if not arriving:
            return
        loop = self.paths.loop(head, body)
        if any(b != head and self.incoming.get(b) for b in loop.inside):
            self.failure = Reason(Kind.SEVERAL_ENTRIES, self.graph.starts[head])
            for b in loop.inside:
                self.incoming.pop(b, None)
            return
        entry = self.join(head, arriving)
        mark = self._mark(loop)
        if self.trips > ALL_TRIPS:
            self.stuck.add(head)
        trial = self._trial(loop, entry)
        if self._hopeless(loop, trial):
            self.stuck.add(head)
        if head in self.stuck or not self._unroll(loop, entry):
            if self.unrolling and head in self.stuck:  # widened, its branches are no more decided than before
                self.pass_open(loop.inside)
            self._rollback(mark)
            self._widen(loop, entry, mark, trial)

    def _trial(self, loop: Loop, state: State) -> View:
        """The effect of a trip from this state, as far as the loop's code shows it."""
        view = self._view(state.copy())
        for k, op in loop.trip.steps:
            execute(op, view, k)
        return view

    def _hopeless(self, loop: Loop, trial: View) -> bool:
        """The condition of the loop's first exit is unknown, so that it cannot be unrolled."""
        if self.ahead is not None and loop.head in self.ahead.held and loop.head not in self.ahead.unrolled:
            return True
        return (
            bool(loop.trip.leaving)
            and (guard := loop.trip.leaving[0]) is not None
            and guard_mask(trial, guard)[1] is not None
        )

    def _mark(self, loop: Loop) -> Mark:
        """What a run of the loop may change, as it is before."""
        return Mark(
            {k: len(self.seen[k]) for k in loop.sites},
            {b: list(self.incoming.get(b, ())) for b in loop.targets},
            {b: self.branches.kinds.get(b) for b in loop.inside},
        )

    def _rollback(self, mark: Mark, decisions: bool = True) -> None:
        for k, count in mark.seen.items():
            del self.seen[k][count:]
        self.incoming.update((b, list(states)) for b, states in mark.incoming.items())
        if decisions:
            for b, kind in mark.kinds.items():
                if kind is None:
                    self.branches.kinds.pop(b, None)
                else:
                    self.branches.kinds[b] = kind

    def _pass(self, loop: Loop, state: State) -> list[tuple[int, State]]:
        """Runs one trip, head and body; returns the states that come back to the head."""
        self.begun[loop.head] = state.copy()
        self._run_block(loop.head, state)
        self._run_elements(loop.body)
        return self.incoming.pop(loop.head, [])

    def _unroll(self, loop: Loop, entry: State) -> bool:
        """Follows the loop trip by trip while the lanes that leave it are known.

        False: they are not, or lanes may be in different trips.
        """
        if self._out_of_step(loop, entry):
            return False
        self.unrolling += 1
        followed = Followed(loop, entry.exact and loop.inside.isdisjoint(self._loose))
        self.followed.append(followed)
        widening, self.widening = self.widening, 0
        state = entry.copy()
        begun = self.account.spent
        limit = begun + self.account.share(UNROLL_SHARE)
        try:
            for trip in range(UNROLL_TRIPS):
                self.trips += 1
                back = self._pass(loop, state)
                if not back:
                    self.unrolled[loop.head] = trip + 1
                    return True
                if self._out_of_step(loop, entry, *(arrived for _, arrived in back)):
                    return False
                if not trip and followed.opened and self.ahead is not None:  # as many trips as in the run ahead
                    whole = (self.account.spent - begun) * self.ahead.unrolled.get(loop.head, 0)
                    limit = max(limit, begun + min(2 * whole, self.open_steps))
                state = self.folded(loop.head, back, None, "trip")  # lanes known to differ
                if self.account.spent > limit or followed.opened and trip >= OPEN_TRIPS:
                    return False
            return False
        except Undecided:
            self.stuck.add(loop.head)
            return False
        finally:
            self.unrolling -= 1
            self.followed.pop()
            if followed.opened:
                self.open_steps -= self.account.spent - begun
            self.widening = widening

    def _widen(self, loop: Loop, entry: State, mark: Mark, trial: View) -> None:
        """Finds a state at the head that every trip preserves; see `hypothesis`."""
        head = loop.head
        unrolling, self.unrolling = self.unrolling, 0
        if not self.widening:
            self.stuck -= loop.inside
            self.settled = {h: s for h, s in self.settled.items() if h not in loop.inside}
        self.widening += 1
        supposed = self._inductive(loop, entry, mark, trial)
        self.settled[head] = supposed
        self.held[head] = supposed, self._exits_diverge(loop)
        self.unrolling = unrolling
        self.widening -= 1
        if unrolling and self._decisions_open(loop):
            self.pass_open(loop.inside)
        if self._exits_diverge(loop):
            self._forget_trips(loop)

    def _inductive(self, loop: Loop, entry: State, mark: Mark, trial: View) -> Hypothesis:
        """The last hypothesis. The last trip that was run began with what holds in all trips."""
        supposed, apart = self._supposed(loop, entry, trial)
        holds, in_step = supposed, entry.in_step
        named = partial(self.paths.changed, loop)
        for attempt in range(WIDEN_PASSES):
            self._rollback(mark, decisions=False)
            self.fresh += 1  # a step derived from this trip count is not confirmed by the next trip
            trip = Uniform(f"trip of {loop.place}", 64, 0, 0, None, "loop", ("trip", loop.head, self.fresh))
            start = supposed.state(entry, trip, named)
            start.classes, start.one_group, start.single = None, False, False  # lanes may be in it in some trips only
            start.in_step = in_step
            if not attempt and start.exact and not apart:
                apart = self._leaves_diverged(loop, start)
            if start.exact and (apart or self._exits_diverge(loop)):
                start.weaken(*(self.causes[b] for b in loop.exits if b in self.causes))
            seen = self._seen_to_diverge(loop)
            back = self._pass(loop, start.copy())
            if not back:
                break
            arrived = self.join_back(loop, back)
            changed = self._seen_to_diverge(loop) != seen
            changed |= supposed.weakened(loop, entry, start, arrived, trip, not attempt)
            changed |= supposed.begin_with(loop, entry, arrived, trip)
            if (start.exact or apart) and self._exits_diverge(loop) is not apart:
                changed, apart = True, False
            if in_step and not arrived.in_step:
                changed, in_step = True, False
            if not changed:
                break
        else:
            holds = supposed.nothing()
            self._pass_again(loop, mark, start := holds.state(entry, trip, named), in_step)
        if self._out_of_step(loop, entry, start):
            start = holds.state(entry, trip, named)
            self._by_lane(loop, start, holds)
            self._pass_again(loop, mark, start, in_step=False)
        return supposed

    def _seen_to_diverge(self, loop: Loop) -> list[int]:
        """Of a loop with a WARPSYNC, the branches at which lanes may diverge: which lanes meet there depends on those
        behind it, too.
        """
        if loop.inside.isdisjoint(self.paths.with_warpsync):
            return []
        return [b for b in loop.forks if self.branches.any(b, "varying", "divergent")]

    def _pass_again(self, loop: Loop, mark: Mark, start: State, in_step: bool) -> None:
        """Runs a trip for an unknown subset of the lanes, in place of the last one."""
        self._rollback(mark, decisions=False)
        start.exact, start.classes, start.one_group, start.in_step = False, None, False, in_step
        self._pass(loop, start)

    def _out_of_step(self, loop: Loop, entry: State, *states: State) -> bool:
        """Diverged groups of lanes may be in different trips of a loop and join each other there: as one yields in it,
        or in machine code as groups suspended at one instruction continue together (docs/convergence.md).

        (Measured: seed 720270 of bench/adversary/random_ptx at -O0, 553 wavefronts of 318 requests whose lanes would
        take one in any one trip; without a yield, kernel 9989 of bench/adversary/kernels at -O0, 44 of 43.)
        """
        diverged = not entry.in_step or not all(state.in_step for state in states)
        yields = self._yields(loop)
        if not self.function.explicit_reconvergence:
            return diverged and yields
        waits = yields or not loop.inside.isdisjoint(self.paths.with_warpsync)
        return diverged or waits and not entry.grouped or self.trips_diverge(loop)

    def _yields(self, loop: Loop) -> bool:
        """Lanes may yield in the loop, or in what is called there."""
        return not loop.inside.isdisjoint(self.paths.yielding | self.given_way) or any(
            self.graph.calls.get(b) in self.graph.giving_way for b in loop.inside & self._loose
        )

    def _by_lane(self, loop: Loop, start: State, supposed: Hypothesis) -> None:
        """Forgets trip counts: everything that changes from trip to trip may differ between lanes."""
        values = start.registers.values
        why = one_of_each(Kind.YIELD if self._yields(loop) else Kind.TRIPS_TOGETHER)
        for name, kind in supposed.kinds.items():
            if kind != "same" and name in values and name not in self.uniform:
                values[name] = without_trips(values[name], why)

    def _decisions_open(self, loop: Loop) -> bool:
        return any(self.branches.any(b, "uniform", "varying") for b in loop.forks)

    def _supposed(self, loop: Loop, entry: State, trial: View) -> tuple[Hypothesis, bool]:
        """The first hypothesis, and whether lanes leave the loop in different trips.

        It is the one that held when the loop was run last, or in the run ahead; otherwise each register stays the
        same, or moves by the step that the loop's code shows.
        """
        head = loop.head
        if head in self.settled:
            return self.settled[head], False
        if self.ahead is not None and head in self.ahead.held:
            held, apart = self.ahead.held[head]
            return held.of(loop.carried), apart and entry.exact
        blame = self.held[head][0].blame if head in self.held else {}
        supposed = Hypothesis(head, self.graph.starts[head], dict.fromkeys(loop.carried, "same"), blame=blame)
        for name in loop.trip.moved:
            supposed.guess(name, entry.registers.values.get(name), trial.registers.values.get(name))
        return supposed, False

    def _leaves_diverged(self, loop: Loop, start: State) -> bool:
        """Lanes leave the loop in different trips, as far as its code shows."""
        trial = self._trial(loop, start)
        return any(
            guard is not None and not is_uniform(trial.read(guard.reg), trial.mask) for guard in loop.trip.leaving
        )

    def _exits_diverge(self, loop: Loop) -> bool:
        """Lanes of one warp may leave the loop in different trips."""
        return (
            any(self.branches.any(b, "varying", "divergent") for b in loop.exits)
            or any(self.branches.any(b, "varying") for b in loop.outward)
            or any(self.branches.any(b, "uniform") and self._of_some(b, loop) for b in loop.exits)
        )

    def _of_some(self, block: int, loop: Loop) -> bool:
        """Only some lanes of a warp that began the trip reach a block: the others took another path through the
        loop.
        """
        here, start = self.after.get(block), self.begun.get(loop.head)
        if here is None or start is None or here.mask is start.mask and here.exact == start.exact:
            return False
        return start.exact and not here.exact or anywhere(here.mask.any(axis=1) & (start.mask & ~here.mask).any(axis=1))

    def _forget_trips(self, loop: Loop) -> None:
        """Forgets trip counts in what the loop changed, as lanes that left in different trips differ in them."""
        causes = [self.causes[b] for b in loop.forks if b in self.causes]
        why = Reason(
            Kind.LOOP_EXITS_DIVERGE,
            self.graph.ends[loop.head] - 1,
            cause=next((c for c in causes if c.data), causes[0] if causes else None),
        )
        cells = self.settled[loop.head].changed_cells
        for b in loop.targets:
            states = self.incoming.get(b, []) if b not in loop.inside else []
            for i, (source, state) in enumerate(states):
                if source not in loop.inside:
                    continue
                state = state.copy()
                begun = self.begun[loop.head].registers.values
                for name, value in state.registers.values.items():
                    written = name in loop.written if isinstance(name, str) else begun.get(name) is not value
                    written = written or name in cells
                    if value.terms and written and any(u.kind not in OUTER for u, _ in value.terms):
                        state.registers.values[name] = without_trips(value, why)
                states[i] = (source, state)

    def _run_block(self, block: int, state: State) -> None:
        """Runs a block, and changes the given state."""
        self.account.spend(self.paths.cost(block), INFERRING)
        if block in self.paths.yielding:
            self._give_way(block, state)
        view = self._view(state)
        for instruction, ops in self.paths.steps(block):
            k = instruction.index
            watched = instruction.site if k in self.accesses and k in self.part.instructions else None
            state, view = warp_step.step(self, instruction, ops, watched, state, view)
            control = instruction.control
            if control is not None and control.kind == "yield" and control.guard is not None:
                self._sleep(block, control.guard, view, state)
                view = self._view(state)
            if control is not None and (
                control.kind == "part"
                or self._may_part
                and warp_step.gathers(control, self.function.explicit_reconvergence, bool(self.graph.diverging))
            ):
                if control.kind == "part":
                    self._part(instruction, view, state)
                else:
                    state = self.restore(block, state, firm=True)
                view = self._view(state)
        self.account.spend(elements(self.rows.env.work_done()), INFERRING)
        self.after[block] = state
        self._leave(block, state, view)

    def _sleep(self, block: int, guard: Guard, view: View, state: State) -> None:
        """Handles lanes that yield under a guard: the others need not wait for them."""
        if not is_uniform(view.read(guard.reg), state.mask):
            self.given_way.add(block)
            state.diverge(one_of_each(Kind.YIELD))

    @staticmethod
    def _part(instruction: Instruction, view: View, state: State) -> None:
        """Lanes that name different masks continue diverged."""
        control = instruction.control
        if control is None or control.selector is None or not is_uniform(view.read(control.selector), state.mask):
            state.diverge(one_of_each(Kind.MASKS_NAMED, instruction.index))

    def perform(self, op: Op, instruction: Instruction, state: State, view: View) -> tuple[State, View]:
        """Executes an operation in all rows of a state."""
        execute(op, view, instruction.index)
        return state, view

    def observe(self, instruction: Instruction, site: Site, state: State, view: View) -> None:
        """Records an access of the lanes that may make it."""
        taking = warp_step.participants(instruction, site, view, state.mask)
        exact, undecided_by, mask, classes = state.exact, state.undecided_by, taking.lanes, state.parts
        single = state.single
        if taking.undecided is not None:
            if not is_uniform(taking.undecided, state.mask):
                exact, classes = False, refined(classes, classes_of(taking.undecided))
                single = single or taking.undecided.lone[0]
                undecided_by = undecided_by + (why_undecided(taking.undecided, instruction.index),)
            if taking.decides is not None:
                view = view.where(taking.decides)
        if copied.may_fill(site):
            reading = copied.reading(site, view, mask)
            if reading is None:
                exact, undecided_by = False, (*undecided_by, one_of_each(Kind.PREDICATE, instruction.index))
                classes = None
            else:
                mask = reading
        address, offset = warp_step.base_of(site, view, instruction.index), site.offset
        self.seen[instruction.index].append(
            Observation(address, offset, mask, exact, undecided_by, site.space, None, classes, single)
        )

    def placed(self, o: Observation, index: int) -> Observation:
        """An observation with its generic address resolved, unknown if it may be another block's.

        Called once per run, as most observations are rolled back.
        """
        if o.space != "generic":
            return o
        env, of = self.rows.env, self.function.site(index).of
        found = located(o.address, o.mask, env, index, of=of)
        place, unknown = found.place, found.remote
        if unknown is None and of == "shared" and env.cluster not in (None, ALONE):
            unknown = found.why
        if unknown is not None:
            place = opaque(o.address.bits, unknown)
        return replace(o, base=place, offset=0, located=found)
