"""Abstract interpretation of a slice: what every request of a site looks like, without running it.

Each block is entered with one state: the registers of all rows, the lanes that may be active, and
whether that mask is certain. Where branches are decided by what is known, lanes are followed one by
one, and loops are unrolled; where they are not, both ways are taken and values meet:

- a choice that all lanes make alike leaves a uniform unknown behind (double buffers, ring stages),
- a choice that lanes make apart leaves opaque lanes where the values differ.

A loop that cannot be unrolled is entered with an induction hypothesis for each register that it
carries from trip to trip, which is kept only if running the body bears it out (`hypothesis`). To begin
with a good one, what the loops carry is run ahead where it is a small part of all (`Paths.carried`), or
the steps are read off the code (`trips`): most loops are then run once. Nothing is assumed that was not verified.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from ptxaudit.base.work import BLOCK, OPERATION, Account, Exhausted, elements
from ptxaudit.engine.answer.kept import Keeper, Kept
from ptxaudit.engine.answer.observe import Conclusions, Seen
from ptxaudit.engine.answer.result import SiteResult, Status, unfinished
from ptxaudit.engine.answer.tabulate import Observation
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    Lost,
    Uniform,
    Value,
    because,
    constant,
    opaque,
    same,
    signed,
    squeeze,
    unknown,
)
from ptxaudit.engine.exec.effects import FULL_MASK, Registers, View, blend, execute, forget_local, guard_mask
from ptxaudit.engine.exec.states import (
    OUTER,
    Branches,
    State,
    common_zeros,
    doubt_of,
    either_doubts,
    is_uniform,
    lanes_that_agree,
    without_trips,
)
from ptxaudit.engine.fixpoint import together
from ptxaudit.engine.fixpoint.hypothesis import Hypothesis
from ptxaudit.engine.fixpoint.loops import Loop, Paths, blocks_of
from ptxaudit.engine.fixpoint.rows import Rows, rows_for
from ptxaudit.engine.fixpoint.shape import Shape, is_two_dimensional, shapes_of
from ptxaudit.engine.memory import clusters, copied
from ptxaudit.engine.memory.environment import LANES
from ptxaudit.hardware import banks
from ptxaudit.ir.graph import END, Graph, is_unresolved, overwrites
from ptxaudit.ir.nodes import Const, Control, Function
from ptxaudit.ir.reasons import Kind, one_of_each
from ptxaudit.ir.reducible import reducible

UNROLL_TRIPS = 1024  # trips of a loop followed one by one before it is generalised
UNROLL_SHARE = 1 / 60  # of all steps: what is not unrolled in so many is generalised too
ALL_TRIPS = 2048  # trips of all loops together: one inside others is followed anew in each of theirs
WIDEN_PASSES = 12
INFERRING = "inferring the requests"
LONG = (
    15_000  # instructions in a slice from which on narrow blocks are not looked at: sites stay conditional on the shape
)
MOST_DEAD = 2  # a state is rid of registers that are read no more when they are so many times the others


class Undecided(Exception):
    """A branch in a loop that is being unrolled is not decided by what is known."""


@dataclass(frozen=True)
class Inference:
    """One result per site, and the assumptions that the answers rest on."""

    sites: dict[int, SiteResult]
    assumed: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """What a run of a loop may change, as it was before: numbers of observations, arriving states, decisions."""

    seen: dict[int, int]
    incoming: dict[int, list]
    kinds: dict[int, frozenset[str] | None]


@dataclass(frozen=True)
class Question:
    """What is asked of a function. paths: its slice, and the order of running it. accesses: sites in it. twins: access
    -> the first copy of the same instruction, which answers for all. named: an access that answers -> what the caller
    calls it. origin: for each instruction what the caller calls it; None: the same.
    """

    paths: Paths
    accesses: dict
    twins: dict[int, int]
    named: dict[int, int]
    origin: list[int] | None = None


def infer(
    function: Function,
    graph: Graph,
    launch,
    told,
    machine,
    facts,
    accesses: dict,
    twins: dict[int, int],
    account: Account,
) -> Inference:
    """Answers per request for the sites in `accesses` ({index: banks.Access}). What the account does not pay for is
    unknown.

    twins: access -> the first copy of the same instruction, which answers for all.
    launch: with grid and block, or None. told: a launch whose parameters count although its shape is not told.
    """
    try:
        paths = _paths(function, graph.apart, accesses, account)
        narrow = len(paths.part.instructions) <= LONG and is_two_dimensional(function, paths.part)
        question = Question(paths, accesses, twins, {t: t for t in twins.values()})
        if paths.order is None:
            question = _with_single_entries(question, account)
            if facts.origins is not None:
                facts = replace(facts, origins=facts.origins.of_copy(question.paths.graph))
        batches = rows_for(question.paths.function, launch, told, facts, narrow)
        observed = _observed(question, batches, account)
        shapes = {} if batches[0].shape_known else _shapes(question)
    except Exhausted as spent:
        return Inference({t: unfinished(t, spent) for t in dict.fromkeys(twins[i] for i in accesses)}, ())
    conclusions = Conclusions(machine, account, question.paths.function)
    return Inference(_concluded(question, observed, shapes, conclusions, facts.keep), batches[0].assumed)


def _concluded(
    question: Question, observed: Observed, shapes: dict[int, Shape], conclusions: Conclusions, keep: bool
) -> dict[int, SiteResult]:
    """The answers, by what the caller calls the accesses. keep: with their requests."""
    out = {}
    for index in question.accesses:
        if question.twins[index] != index:
            continue
        name = question.named[index]
        if observed.failure:
            out[name] = SiteResult(name, Status.UNKNOWN, observed.failure)
        elif index in observed.left:
            out[name] = unfinished(name, observed.left[index])
        else:
            try:
                access, seen = question.accesses[index], observed.seen.get(index, [])
                out[name] = conclusions.conclude(name, access, seen, shapes.get(index, Shape.TOLD))
                if (most := observed.together.get(index, 1)) > 1:
                    out[name] = together.of_several(
                        out[name], most, banks.bounds(conclusions.machine, access, 1, LANES)[1]
                    )
                if keep:
                    out[name] = replace(out[name], kept=_kept(access, seen, question.origin))
            except Exhausted as spent:
                out[name] = unfinished(name, spent)
        if question.origin is not None and out[name].reason is not None:
            out[name] = replace(out[name], reason=out[name].reason.moved(question.origin))
    return out


def _paths(function: Function, graph: Graph, accesses: dict, account: Account) -> Paths:
    return Paths(function, graph, graph.slice(accesses, follow_loads=True, account=account), account)


def _with_single_entries(question: Question, account: Account) -> Question:
    """The same, asked of a function whose loops have one entry each because some of its blocks are copies; the question
    itself where there is no such function."""
    split = reducible(question.paths.function, question.paths.graph, account)
    if split is None:
        return question
    origin = {i: old for i, old in enumerate(split.origin) if old in question.accesses}
    first: dict[int, int] = {}  # an access that answers -> the first copy of it or of its twins
    for i, old in origin.items():
        first.setdefault(question.twins[old], i)
    accesses = {i: question.accesses[old] for i, old in origin.items()}
    return Question(
        _paths(split.function, split.graph.apart, accesses, account),
        accesses,
        {i: first[question.twins[old]] for i, old in origin.items()},
        {i: old for old, i in first.items()},
        split.origin,
    )


@dataclass(frozen=True)
class Observed:
    """seen: an access that answers -> its requests in all batches of rows. left: those of which these are not all,
    because the account did not pay for more. failure: why nothing is known of any. together: an access -> of how many
    requests that were seen one may be made up (1 where it is not here)."""

    seen: dict[int, list[Seen]]
    left: dict[int, Exhausted]
    failure: Lost | None
    together: dict[int, int]


def _observed(question: Question, batches: list[Rows], account: Account) -> Observed:
    seen: dict[int, list[Seen]] = defaultdict(list)
    left: dict[int, Exhausted] = {}
    joined: dict[int, int] = {}
    failure: Lost | None = None
    carried = question.paths.carried() if question.paths.order is not None else None
    for rows in batches:
        interpreter = Interpreter(question.paths, rows, question.accesses, account)
        try:
            if carried is not None:
                interpreter.ahead = Interpreter(carried, rows, {}, account)
                interpreter.ahead.run()
            interpreter.run()
        except Exhausted as spent:
            later = question.accesses if rows is not batches[-1] else interpreter.unfinished()
            left |= {question.twins[index]: spent for index in later}
        failure = failure or interpreter.failure
        for index, observations in interpreter.seen.items():
            if observations:
                seen[question.twins[index]] += [Seen(rows.group, interpreter.placed(o, index)) for o in observations]
        for index, most in _together(question, interpreter).items():
            joined[index] = max(most, joined.get(index, 1))
        if left:
            break
    return Observed(seen, left, failure, joined)


def _together(question: Question, interpreter: Interpreter) -> dict[int, int]:
    """Of how many requests in these rows one may be made up, for the accesses of which copies were seen."""
    if not question.paths.graph.yielding:
        return {}
    copies: dict[int, list[list[Observation]]] = defaultdict(list)
    for index, observations in interpreter.seen.items():
        if observations:
            copies[question.twins[index]].append(observations)
    return {index: together.most_together(every) for index, every in copies.items() if len(every) > 1}


def _kept(access, seen: list[Seen], origin: list[int] | None) -> Kept:
    """The requests of a site with their places: those of the assumed shape of the block, where several were looked
    at.
    """
    keeper = Keeper(access)
    for o in (s.observation for s in seen if s.group == seen[0].group):
        why = o.located.why if o.located is not None else None
        if why is not None:
            return Kept(access, missing=why if origin is None else why.moved(origin))
        if o.located is None or o.lanes.any():
            keeper.add(o.address, o.lanes, None, certain=o.exact)
    return keeper.kept()


def _shapes(question: Question) -> dict[int, Shape]:
    """What the block's shape decides of each access that answers, for all of its copies."""
    paths = question.paths
    out: dict[int, Shape] = {}
    for index, shape in shapes_of(paths.function, paths.graph, paths.part, question.accesses).items():
        twin = question.twins[index]
        out[twin] = max(out.get(twin, shape), shape, key=_MOST_LAST.index)
    return out


_MOST_LAST = tuple(Shape)


class Interpreter:
    """Runs the blocks in a weak topological order. `seen` collects the requests of each site."""

    def __init__(self, paths: Paths, rows: Rows, accesses: dict, account: Account):
        """account: pays for the run, else it raises Exhausted."""
        self.function, self.graph, self.part, self.paths = paths.function, paths.graph, paths.part, paths
        self.rows, self.accesses, self.account = rows, accesses, account
        self.ahead: Interpreter | None = (
            None  # one that has run what the loops carry, by itself: what it found is likely to hold
        )
        self._rest = iter(paths.order or ())  # of the order, what is not begun
        self._begun: list = []  # the element of the order that is being run
        self.called_apart: set[int] = set()  # blocks at whose end lanes of a warp call different functions
        self.uniform = {
            d.name for ops in self.part.ops.values() for op in ops for d in op.dst if d is not None and d.uniform
        }
        self.seen: dict[int, list[Observation]] = defaultdict(list)
        self.failure: Lost | None = None  # why nothing is known of any site
        self.incoming: dict[int, list[tuple[int, State]]] = defaultdict(
            list
        )  # block -> (from where, state)s that arrived
        self.after: dict[int, State] = {}  # block -> state after it, masks only of interest
        self.branches = Branches()
        self.causes: dict[int, Lost] = {}  # block -> why its branch is not decided
        self.fresh = 0  # unknowns made so far: they are told apart by it
        self.trips = 0  # followed one by one, in all loops
        self.unrolling = self.widening = 0  # loops around this place that are just followed so, or widened
        # of loops inside one that is widened, by head: those that cannot be unrolled, now or when less is known in a
        # later pass around them; and the state that the last pass found to hold, where the next begins
        self.stuck: set[int] = set()
        self.settled: dict[int, Hypothesis] = {}
        self.unrolled: set[int] = set()  # heads of loops that were, once at least
        self.begun: dict[int, State] = {}  # head -> what the last trip of the loop that was run began with
        self.held: dict[
            int, tuple[Hypothesis, bool]
        ] = {}  # head -> what held last, and whether lanes left in different trips
        self.given_way: set[int] = (
            set()
        )  # blocks in which some lanes of a warp yield: those that wait for them may go on
        self._may_part = bool(self.graph.yielding) or self.function.explicit_reconvergence
        self._seen_mask, self._whole = rows.env.exists, bool(rows.env.exists.all())

    def run(self) -> None:
        registers = Registers(self.rows.env.rows)
        start = State(registers, self.rows.env.exists)
        if self.paths.order is None:
            self.failure = Lost(Kind.IRREDUCIBLE)
            return
        self.incoming[0].append((-2, start))
        for element in self._rest:
            self._begun = [element]
            self._run_elements(self._begun)
        self._begun = []

    def unfinished(self) -> list[int]:
        """The accesses of which a run that was broken off has not seen everything."""
        left = blocks_of([*self._begun, *self._rest])
        return [k for k in self.accesses if self.graph.block_of[k] in left]

    # --- order of running ---

    def _run_elements(self, elements) -> None:
        for element in elements:
            if isinstance(element, int):
                self._run_vertex(element)
            else:
                self._run_loop(*element)

    def _run_vertex(self, block: int) -> None:
        arriving = self.incoming.pop(block, [])
        if block == END or not arriving:
            return
        self._run_block(block, self._join(block, arriving))

    def _run_loop(self, head: int, body: list) -> None:
        arriving = self.incoming.pop(head, [])
        if not arriving:
            return
        loop = self.paths.loop(head, body)
        if any(b != head and self.incoming.get(b) for b in loop.inside):
            self.failure = Lost(Kind.SEVERAL_ENTRIES, self.graph.starts[head])
            for b in loop.inside:
                self.incoming.pop(b, None)
            return
        entry = self._join(head, arriving)
        mark = self._mark(loop)
        if self.trips > ALL_TRIPS:
            self.stuck.add(head)
        trial = self._trial(loop, entry)
        if self._hopeless(loop, trial):
            self.stuck.add(head)
        if head in self.stuck or not self._unroll(loop, entry):
            if self.unrolling and head in self.stuck:  # widened, its branches are no more decided than before
                raise Undecided
            self._rollback(mark)
            self._widen(loop, entry, mark, trial)

    def _trial(self, loop: Loop, state: State) -> View:
        """What the loop's code shows of a trip from this state."""
        view = self._view(state.copy())
        for k, op in loop.trip.steps:
            execute(op, view, k)
        return view

    def _hopeless(self, loop: Loop, trial: View) -> bool:
        """It cannot be told from what is known whether lanes leave the loop where they first can."""
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
        """One trip: run head and body, return what comes back to the head."""
        self.begun[loop.head] = state.copy()
        self._run_block(loop.head, state)
        self._run_elements(loop.body)
        return self.incoming.pop(loop.head, [])

    def _unroll(self, loop: Loop, entry: State) -> bool:
        """Follow the loop trip by trip while every branch in it is decided. False: it is not."""
        self.unrolling += 1
        widening, self.widening = self.widening, 0
        state = entry.copy()
        limit = self.account.spent + self.account.share(UNROLL_SHARE)
        try:
            for _trip in range(UNROLL_TRIPS):
                self.trips += 1
                back = self._pass(loop, state)
                if not back:
                    self.unrolled.add(loop.head)
                    return True
                state = self._folded(loop.head, back, None, "trip")  # of lanes that are known to be different ones
                if self.account.spent > limit:
                    return False
            return False
        except Undecided:
            self.stuck.add(loop.head)
            return False
        finally:
            self.unrolling -= 1
            self.widening = widening

    def _widen(self, loop: Loop, entry: State, mark: Mark, trial: View) -> None:
        """Find a state at the head that every trip keeps; see `hypothesis`."""
        head = loop.head
        unrolling, self.unrolling = self.unrolling, 0
        if not self.widening:
            self.stuck -= loop.inside
            self.settled = {h: s for h, s in self.settled.items() if h not in loop.inside}
        self.widening += 1
        supposed, apart = self._supposed(loop, entry, trial)
        for attempt in range(WIDEN_PASSES):
            self._rollback(mark, decisions=False)
            self.fresh += 1  # a step that is made of this count of trips is not borne out by the next one
            trip = Uniform(f"trip{self.fresh}", 64, 0, 0, None, "loop", ("trip", head, self.fresh))
            start = supposed.state(entry, trip)
            if not attempt and start.exact and not apart:
                apart = self._leaves_apart(loop, start)
            if start.exact and (apart or self._exits_apart(loop)):
                start.exact = False
                start.doubts = either_doubts(
                    start.doubts, tuple(self.causes[b] for b in loop.exits if b in self.causes)
                )
            back = self._pass(loop, start.copy())
            if not back:
                break
            arrived = self._join_back(loop, back)
            changed = supposed.weakened(loop, entry, start, arrived, trip, not attempt)
            changed |= supposed.begin_with(loop, entry, arrived, trip)
            if (start.exact or apart) and self._exits_apart(loop) is not apart:
                changed, apart = True, False
            if not changed:
                break
        else:
            self._rollback(mark, decisions=False)
            start = supposed.nothing().state(entry, trip)
            start.exact = False
            self._pass(loop, start)
        self.settled[head] = supposed
        self.held[head] = supposed, self._exits_apart(loop)
        self.unrolling = unrolling
        self.widening -= 1
        if unrolling and self._decisions_open(loop):
            raise Undecided
        if self._exits_apart(loop):
            self._forget_trips(loop)

    def _decisions_open(self, loop: Loop) -> bool:
        return any(self.branches.any(b, "uniform", "varying") for b in loop.forks)

    def _supposed(self, loop: Loop, entry: State, trial: View) -> tuple[Hypothesis, bool]:
        """What to begin with, and whether lanes leave the loop in different trips: what held when the loop was run
        last, or for the one that ran ahead; else each register stays the same, or moves by the step that the loop's
        code shows."""
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

    def _leaves_apart(self, loop: Loop, start: State) -> bool:
        """As far as the loop's code shows, its lanes leave it in different trips."""
        trial = self._trial(loop, start)
        return any(guard is not None and not is_uniform(trial.read(guard.reg)) for guard in loop.trip.leaving)

    def _exits_apart(self, loop: Loop) -> bool:
        """Lanes of one warp may leave the loop in different trips."""
        return (
            any(self.branches.any(b, "varying", "apart") for b in loop.exits)
            or any(self.branches.any(b, "varying") for b in loop.outward)
            or any(self.branches.any(b, "uniform") and self._of_some(b, loop) for b in loop.exits)
        )

    def _of_some(self, block: int, loop: Loop) -> bool:
        """Only some lanes of a warp that began the trip come to a block: the others are on another way through the
        loop.
        """
        here, start = self.after.get(block), self.begun.get(loop.head)
        if here is None or start is None or here.mask is start.mask and here.exact == start.exact:
            return False
        return (
            start.exact
            and not here.exact
            or bool((here.mask.any(axis=1) & (start.mask & ~here.mask).any(axis=1)).any())
        )

    def _forget_trips(self, loop: Loop) -> None:
        """After lanes have left in different trips, what the loop changed differs between them."""
        causes = [self.causes[b] for b in loop.forks if b in self.causes]
        why = Lost(
            Kind.LOOP_LEFT_APART,
            self.graph.ends[loop.head] - 1,
            cause=next((c for c in causes if c.data), causes[0] if causes else None),
        )
        for b in loop.targets:
            states = self.incoming.get(b, ()) if b not in loop.inside else ()
            for i, (source, state) in enumerate(states):
                if source not in loop.inside:
                    continue
                state = state.copy()
                for name, value in state.registers.values.items():
                    if value.terms and name in loop.written and any(u.kind not in OUTER for u, _ in value.terms):
                        state.registers.values[name] = without_trips(value, why)
                states[i] = (source, state)

    # --- one block ---

    def _run_block(self, block: int, state: State) -> None:
        """Run it from a state that is its own to change."""
        self.account.spend(self.paths.cost(block), INFERRING)
        if block in self.graph.yielding:
            self._give_way(block, state)
        view = self._view(state)
        for instruction, ops in self.paths.steps(block):
            k = instruction.index
            watched = k in self.accesses and k in self.part.instructions
            for op in ops:
                if watched and overwrites(op, instruction.site):  # before it overwrites its own address
                    self._observe(instruction, view, state)
                    watched = False
                execute(op, view, k)
            if watched:
                self._observe(instruction, view, state)
            control = instruction.control
            if control is not None and (control.kind == "part" or self._may_part and self._together(control)):
                if control.kind == "part":
                    self._part(instruction, view, state)
                else:
                    state = self._restore(block, state, firm=True)
                view = self._view(state)
        self.account.spend(elements(self.rows.env.work_done()), INFERRING)
        self.after[block] = state
        self._leave(block, state)

    def _give_way(self, block: int, state: State) -> None:
        """Where only some lanes of a warp yield, those that wait for them may go on without them."""
        some = state.mask.any(axis=1)
        if not state.exact or (self.rows.env.exists & ~state.mask)[some].any():
            self.given_way.add(block)

    def _view(self, state: State) -> View:
        """All rows of a state. (Lanes that do not exist hold values too, which are not to be taken for the others'.)"""
        if state.mask is not self._seen_mask:  # few masks, in many blocks
            self._seen_mask, self._whole = state.mask, bool(state.mask.all())
        return View(
            state.registers,
            self.rows.env,
            None,
            state.mask,
            self._whole,
            state.exact,
            bool(state.doubts) and any(d.data for d in state.doubts),
        )

    @staticmethod
    def _part(instruction, view: View, state: State) -> None:
        """Lanes that name different masks go on apart."""
        if not is_uniform(view.read(instruction.control.selector)):
            state.exact = False
            state.doubts += (one_of_each(Kind.MASKS_NAMED, instruction.index),)

    def _together(self, control) -> bool:
        """All living lanes of the warp go on together (PTX: ptxas puts a WARPSYNC before a block's barrier)."""
        if control.kind == "warpsync" and isinstance(control.selector, Const):
            return control.selector.value == FULL_MASK
        return (
            control.kind == "warpsync"
            and control.selector is None
            or control.kind == "barrier"
            and control.guard is None
            and not self.function.explicit_reconvergence
        )

    def _observe(self, instruction, view: View, state: State) -> None:
        site = instruction.site
        guard, doubt = guard_mask(view, site.guard or instruction.guard)
        exact, doubts = state.exact, state.doubts
        mask = state.mask if guard is None else guard
        if doubt is not None:
            reason = doubt_of(doubt, instruction.index)
            if not is_uniform(doubt):
                exact = False
                doubts = doubts + (reason,)
                if doubt.poison is not None and not doubt.terms:
                    mask = state.mask & (doubt.base | doubt.poison)
        if doubt is not None:
            view = view.where(site.guard or instruction.guard)
        if copied.may_fill(site):
            reading = copied.reading(site, view, mask)
            if reading is None:
                exact, doubts = False, (*doubts, one_of_each(Kind.PREDICATE, instruction.index))
            else:
                mask = reading
        address, offset = view.read(site.address), site.offset
        self.seen[instruction.index].append(Observation(address, offset, mask, exact, doubts, site.space))

    def placed(self, o: Observation, index: int) -> Observation:
        """A request that was seen, with its generic address where that may not be this block's; asked once a run: most
        are put back.
        """
        if o.space != "generic":
            return o
        env = self.rows.env
        of = self.function.instructions[index].site.of
        found = clusters.located(o.address, o.mask, env.spaces(index), of)
        if of != "shared":
            return replace(o, base=found.place, offset=0, located=found)
        remote = clusters.remote(found.place, found.lanes | found.open, View(None, env, None, o.mask, False))
        if remote is not None or found.why is not None and env.cluster not in (None, clusters.ALONE):
            lost = opaque(o.address.bits, remote or found.why)
            return replace(o, base=lost, offset=0, located=replace(found, place=lost))
        return replace(o, base=found.place, offset=0, located=found)

    def _leave(self, block: int, state: State) -> None:
        """Sends the state at the end of a block to those that may come next."""
        last = self.function.instructions[self.graph.ends[block] - 1]
        control, successors = last.control, self.paths.successors(block)
        if block in self.graph.calls:
            self._call(block, control, state)
        elif is_unresolved(control):
            self._call_unresolved(block, control, state)
        elif len(successors) == 1 and not (control and control.guard and control.kind in ("exit", "ret")):
            self._go(block, successors[0], state)
        elif control.kind == "switch":
            self._switch(block, control, state, successors)
        elif control.kind in ("ret", "call") and control.guard is None:
            for s in successors:
                self._go(block, s, state)
            if control.kind == "ret":
                self.branches.put(block, "uniform")
        else:
            ends = control.kind == "exit" or control.kind == "ret" and successors == [END]
            fall = self._block_at(last.index + 1)
            if not self.paths.relevant(block):
                self._go(block, fall if ends else successors[0], state)
            elif control.kind == "ret":  # behind the calls of its routine, or nowhere
                self._branch(block, control, state, [s for s in successors if s != fall], fall)
            else:
                self._branch(
                    block,
                    control,
                    state,
                    [END if ends or not control.targets else self._block_at(control.targets[0])],
                    fall,
                )

    def _block_at(self, index: int) -> int:
        """The block of an instruction; END behind the last."""
        return self.graph.block_of[index] if index < len(self.graph.block_of) else END

    def _call_unresolved(self, block: int, control: Control, state: State) -> None:
        """What is called is not known: lanes may end in it, and those that come back may do so apart."""
        last = self.graph.ends[block] - 1
        lanes, doubt = guard_mask(self._view(state), control.guard)
        if self.paths.relevant(block) and (doubt is not None or lanes is None or lanes.any()):
            state.exact, state.doubts = False, either_doubts(state.doubts, (one_of_each(Kind.CALL_NOT_FOLLOWED, last),))
            self.branches.put(block, "varying")
        self._go(block, self._block_at(last + 1), state)

    def _call(self, block: int, control, state: State) -> None:
        """A routine that others call too: it is run beside its callers, who go on without what it wrote."""
        start = self.graph.calls[block]
        if self.paths.relevant(block):
            part = state.of(state.mask)
            if control.guard is not None:
                view = self._view(state)
                part.mask, doubt = guard_mask(view, control.guard)
                if doubt is not None:
                    part.mask, part.exact = state.mask, False
                    part.doubts = either_doubts(state.doubts, (doubt_of(doubt, self.graph.ends[block] - 1),))
            if part.mask.any():
                self._go(block, start, part)
                if start in self.graph.giving_way:
                    self._give_way(block, part)
        values, overwritten = state.registers.values, self.graph.overwritten[start]
        why = Lost(Kind.ROUTINE, self.graph.ends[block] - 1, (control.callee or "a routine",))
        forget_local(state.registers)
        for name in values.keys() & overwritten:
            values[name] = opaque(values[name].bits, why)
        if start in self.graph.ending:
            state.exact, state.doubts = (
                False,
                either_doubts(state.doubts, (one_of_each(Kind.MAY_END, self.graph.ending[start]),)),
            )
        for s in self.graph.cfg.successors(block):
            if s != start:
                self._go(block, s, state)

    def _branch(self, block: int, control: Control, state: State, targets: list[int], fall: int) -> None:
        """Lanes in which the guard holds go to the target (one of the targets), others to what follows; where it is not
        known, all of them both ways."""
        guard = self._view(state).read(control.guard.reg)
        if control.guard.negated:
            guard = affine.invert(guard)
        mask = state.mask
        undecided = guard.terms or guard.valid is not None or guard.poison is not None and (guard.poison & mask).any()
        if not undecided:
            taken = mask & guard.base
            rest = mask & ~guard.base
            torn = (taken.any(axis=1) & rest.any(axis=1)).any()
            if torn:
                self.branches.put(block, "apart")
            if len(targets) > 1:
                self.branches.put(block, "uniform")
            for s, lanes in (*((t, taken) for t in targets), (fall, rest)):
                if s != END and lanes.any():
                    self._go(block, s, state.of(lanes))
            return
        uniform = is_uniform(guard) or not self.graph.may_part(self.graph.ends[block] - 1)
        if self.unrolling:
            raise Undecided
        why = doubt_of(guard, self.graph.ends[block] - 1)
        self.branches.put(block, "uniform" if uniform else "varying")
        self.causes[block] = why
        doubts = state.doubts if uniform else either_doubts(state.doubts, (why,))
        for s, value in (*((t, True) for t in targets), (fall, False)):
            if s == END:
                continue
            part = state.of(mask)
            if not uniform:
                part.exact, part.doubts = False, doubts
                if guard.poison is not None and guard.poison is not EVERYWHERE and not guard.terms:
                    part.mask = mask & (guard.poison | (guard.base == value))
                    if not part.mask.any():
                        continue
            self._go(block, s, part, control.guard.reg.name, constant(value ^ control.guard.negated, 1))

    def _switch(self, block: int, control: Control, state: State, successors: list[int]) -> None:
        value = (
            self._view(state).read(control.selector)
            if control.selector is not None
            else opaque(32, Lost(Kind.BRANCH_TARGET, self.graph.ends[block] - 1))
        )
        chosen = np.broadcast_to(value.base.astype(np.int64), state.mask.shape)
        if value.known and control.targets and (chosen[state.mask] < len(control.targets)).all():
            self.branches.put(block, "apart")
            if control.choices and any(len(np.unique(row[lanes])) > 1 for row, lanes in zip(chosen, state.mask)):
                self.called_apart.add(block)
            for k in np.unique(chosen[state.mask]):
                part = state.of(state.mask & (chosen == k))
                if block in self.called_apart and not self.function.explicit_reconvergence:
                    part.exact, part.doubts = (
                        False,
                        either_doubts(state.doubts, (one_of_each(Kind.CALLED_APART, self.graph.ends[block] - 1),)),
                    )
                self._go(block, self.graph.block_of[control.targets[int(k)]], part)
            return
        if self.unrolling:
            raise Undecided
        uniform = is_uniform(value) or not self.graph.may_part(self.graph.ends[block] - 1)
        self.branches.put(block, "uniform" if uniform else "varying")
        if control.choices and not uniform:
            self.called_apart.add(block)
        for s in successors:
            part = state.of(state.mask)
            if not uniform:
                part.exact = False
                part.doubts = state.doubts + (doubt_of(value, self.graph.ends[block] - 1),)
            self._go(block, s, part)

    def _go(self, source: int, target: int, state: State, predicate: str = "", known: Value | None = None) -> None:
        """The state at the end of a block is one of those that begin another, without most registers that are read no
        more: all of them where lanes that are not active, or a loop's other trips, would mix in what they hold.

        predicate, known: on a way that a predicate opened, the predicate is known.
        """
        if target != END and target in self.paths.live:  # else nothing lies there that matters
            values, live = state.registers.values, self.paths.live[target]
            if len(values) > MOST_DEAD * len(live) + MOST_DEAD or target in self.paths.heads or not state.mask.all():
                kept = {n: values[n] for n in live if n in values}
                if self.paths.local:
                    kept |= {n: v for n, v in values.items() if type(n) is tuple}
            else:
                kept = dict(values)
            if predicate in live:
                kept[predicate] = known
            self.incoming[target].append(
                (source, State(Registers(state.registers.rows, kept), state.mask, state.exact, state.doubts))
            )

    # --- meeting ---

    def _join(self, block: int, arriving) -> State:
        if block in self.graph.overwritten:  # what a routine is called with: one of these at a time
            return self._folded(block, arriving, None if self.graph.yielding else False, together=False)
        return self._restore(block, self._folded(block, arriving, len(arriving) > 1 and self._apart(block)))

    def _join_back(self, loop: Loop, arriving) -> State:
        """What several back edges bring to the head."""
        return self._folded(loop.head, arriving, any(self.branches.any(b, "varying") for b in loop.forks), "back")

    def _folded(self, block: int, arriving, apart: bool | None, *mark: str, together: bool = True) -> State:
        """All arriving states in one, the first, with what `_merge` is to know of them. mark: tells unknowns of one
        meeting from another's."""
        out = arriving[0][1]
        self.fresh += 1
        for n, (_, state) in enumerate(arriving[1:]):
            self._merge(block, out, state, apart, (block, *mark, self.fresh, n), together)
        return out

    def _restore(self, block: int, state: State, firm: bool = False) -> State:
        """Where all lanes of a dominator arrive, its mask holds again. firm: a barrier that no `yield` opens."""
        d = self.paths.gathered(block)
        while d in self.after:
            before = self.after[d]
            if not firm and (
                self._loosened(d, block) or self.function.explicit_reconvergence and not self._held(d, block)
            ):
                break
            if state.mask is before.mask or not (state.mask & ~before.mask).any():
                state.mask, state.exact, state.doubts = before.mask, before.exact, before.doubts
            if before.exact or not firm:
                break
            d = self.paths.gathered(d)
        return state

    def _loosened(self, dominator: int, block: int) -> bool:
        """Between the two, lanes leave a loop that yields in different trips, or call different functions where that is
        left to ptxas.
        """
        called_apart = frozenset() if self.function.explicit_reconvergence else self.called_apart
        if not self.graph.yielding and not called_apart:
            return False
        between = self.paths.on_the_way(dominator, block)
        if called_apart & (between | {dominator}):
            return True
        return not between.isdisjoint(self.graph.yielding | self.given_way) and any(
            self.branches.any(b, "varying", "apart") for b in between | {dominator}
        )

    def _held(self, dominator: int, block: int) -> bool:
        """Machine code: lanes that part between the two meet again, because no branch parts them, or a barrier waits
        for all.
        """
        return self.paths.gathers(dominator, block) or not any(
            self.branches.any(b, "varying", "apart") for b in self.paths.on_the_way(dominator, block) | {dominator}
        )

    def _apart(self, block: int) -> bool:
        """Lanes may come here from different ways: an undecided branch on the way differs between lanes."""
        return self.paths.dominators.get(block) is None or any(
            self.branches.any(b, "varying") for b in self.paths.between(block)
        )

    def _some_missing(self, block: int) -> tuple[Lost, ...]:
        """Where lanes of a warp come from different ways: why those of one of them may not come (but go elsewhere, all
        together).
        """
        d, ways = self.paths.dominators.get(block), self.paths.between(block)
        stay = ways - {d}
        return tuple(
            self.causes.get(b) or one_of_each(Kind.BRANCH_OPEN, self.graph.ends[b] - 1)
            for b in sorted(ways - {block})
            if self.branches.any(b, "uniform")
            and (after := self.graph.postdominators.get(b, END)) != block
            and after not in stay
        )

    def _apart_at(self, block: int) -> tuple[Lost, ...]:
        """Machine code: why lanes of a warp that come from different ways go on apart."""
        if not self.function.explicit_reconvergence or self.paths.waits(block):
            return ()
        return (one_of_each(Kind.NO_BARRIER, self.graph.starts[block]),)

    def _let_go(self, block: int) -> tuple[Lost, ...]:
        """Where lanes of a warp come from different ways: those that waited for others may have gone on when these gave
        way.
        """
        if not self.given_way:
            return ()
        d = self.paths.dominators.get(block)
        while d is not None and not self.paths.loops[d] <= self.paths.loops[block]:
            d = self.paths.dominators.get(d) if self.paths.dominators.get(d) != d else None
        if d is not None and self.given_way.isdisjoint(self.paths.on_the_way(d, block) | {d}):
            return ()
        return (one_of_each(Kind.YIELD),)

    def _merge(self, block: int, out: State, other: State, apart: bool | None, key, together: bool) -> None:
        """Fold another state at a block into `out`. together: lanes of both then go on at the same time."""
        alike = out.mask is other.mask or bool((out.mask == other.mask).all())
        exclusive = together and not alike and not (out.mask & other.mask).any()
        values, others, live = out.registers.values, other.registers.values, self.paths.live[block]
        differing = [n for n, v in values.items() if others.get(n) is not v] + [n for n in others if n not in values]
        self.account.spend(BLOCK + len(values) // 4 + 2 * OPERATION * len(differing), INFERRING)
        for name in differing:
            a, b = values.get(name), others.get(name)
            if name not in live and not isinstance(name, tuple):
                values.pop(name, None)  # read no more
                continue
            if a is None or b is None:
                if isinstance(name, tuple):
                    values.pop(name, None)
                else:  # lanes that come from where it was never written cannot mean anything by reading it
                    values[name] = a if a is not None else b
                continue
            if a.base.dtype != b.base.dtype:
                values[name] = opaque(a.bits, Lost(Kind.TWO_WIDTHS, given=(name,)))
            elif same(a, b):
                continue
            elif exclusive:
                values[name] = blend(a, b, other.mask)
            else:
                met = self._meet(
                    name, a, b, apart is not False and name not in self.uniform, key, out.doubts + other.doubts
                )
                values[name] = met if alike or not together else _where_both(met, a, b, out.mask, other.mask)
        out.exact = out.exact and other.exact and (exclusive or alike)
        if (
            exclusive
            and out.exact
            and (out.mask.any(axis=1) & other.mask.any(axis=1)).any()
            and (doubts := self._some_missing(block) or self._apart_at(block) or self._let_go(block))
        ):
            out.exact, out.doubts = False, either_doubts(out.doubts, doubts)
        out.mask = out.mask if alike else out.mask | other.mask
        out.doubts = either_doubts(out.doubts, other.doubts)

    def _meet(self, name, a: Value, b: Value, apart: bool, key, doubts: tuple[Lost, ...]) -> Value:
        """One of two values, by a choice that is not known."""
        if apart:
            return lanes_that_agree(name, a, b, doubts)
        if a.poison is not None or b.poison is not None:
            return opaque(a.bits, because(a, b) or Lost(Kind.ONE_OF_TWO, given=(name,)))
        self.fresh += 1
        if a.base.dtype == bool:
            if squeeze(a).uniform and squeeze(b).uniform:
                u = Uniform(f"{name}?", 1, 0, 0, 1, "choice", (key, name, self.fresh))
                return Value(np.zeros((1, 1), bool), ((u, np.ones((1, 1), bool)),))
            return lanes_that_agree(name, a, b, doubts)
        difference = squeeze(affine.subtract(a, b))
        if difference.valid is not None:
            return opaque(a.bits, Lost(Kind.ONE_OF_TWO, given=(name,)))
        if difference.uniform:
            low = high = None
            if not difference.terms and difference.base.size == 1:
                d = int(signed(difference.base).flat[0])
                low, high = min(0, d), max(0, d)
            u = Uniform(
                f"{name}?",
                a.bits,
                common_zeros(difference),
                low,
                high,
                "choice",
                (key, name, self.fresh),
                address=affine.addresses(difference),
            )
            return affine.add(b, unknown(u))
        if not difference.terms:
            u = Uniform(f"way{key[0]}", a.bits, 0, 0, 1, "choice", ("way", key))
            return affine.add(b, affine.scale(unknown(u), difference.base))
        return opaque(a.bits, Lost(Kind.ONE_OF_TWO, given=(name,)))


def _where_both(met: Value, a: Value, b: Value, mine: np.ndarray, others: np.ndarray) -> Value:
    """What the lanes hold that may come with either value; those that come with one of them only hold that."""
    for value, only in ((a, mine & ~others), (b, others & ~mine)):
        if only.any():
            met = blend(met, value, only)
    return met
