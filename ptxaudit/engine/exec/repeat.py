"""Loops in closed form: many trips of a loop at the cost of a few.

When all warps are at the head of a loop together, and the change over the last trips (or over as many trips as a ring
has stages) was the same twice, one more round is executed with the number k of rounds as an unknown: each register is
`now + step·k`. If that round ends in `now + step·(k+1)`, if the outcomes of its comparisons do not change for k below
some K (`domain.rounds`), and if k moves each address as a whole, then K rounds are known: K times the requests of one,
and the registers at k = K − 1.

    for (i = tid; i < 1000000; i += 32) sum += s[i & 31];      5 trips, then 31,240 at once, then the rest
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container
from enum import Enum
from functools import cached_property, partial

import numpy as np

from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import (
    Uniform,
    Value,
    opaque,
    same,
    sure_bits,
    unknown,
)
from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.engine.exec.aside import Aside
from ptxaudit.engine.exec.attempts import attempt
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.induction import Held, Steps, after_trips, as_number, at_trip, moves_by, stays, steps_between
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import NeverLeft, Run
from ptxaudit.engine.exec.side_by_side import SideBySide
from ptxaudit.engine.memory.cells import Unsafe
from ptxaudit.engine.memory.registers import Name
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.reasons import Kind, Reason

PERIODS = (1, 2, 3, 4, 6, 8)  # trips per round: one, or the stages of a ring
HISTORY = 2 * max(PERIODS) + 1
AT_ONCE = (1 << 24, 1 << 16, 1 << 10, 1 << 6)  # rounds that are tried together, largest first
LOOKED = 256  # trips of any loops, doubled each time, after which to check whether a run can still learn anything
LONG = 32  # trips after which rounds may drop registers and step over branches: longer loops run to their end then
PATIENCE = 1 << 12  # trips after which rounds may forget what atomic operations change in shared memory
WORTH = 4  # fewer rounds than this are executed one by one
SPIN = 16  # trips after which a loop that others wait for is checked for progress
SPINS = Reason(Kind.SPINS)


class Returned(Exception):
    """The round is back at the head of the loop. Carries the cohort."""

    def __init__(self, cohort: Cohort):
        self.cohort = cohort


class NothingLeft(Exception):
    """The run can learn nothing more about the accesses ahead."""


class Repeats:
    """Watches the heads of loops for one simulation."""

    def __init__(self, run: Run, warps: Warps, meetings: Meetings, accesses: Accesses, drain: Callable[[], None]):
        """drain: runs until no cohort is left."""
        self.run, self.warps, self.meetings, self.accesses, self._drained = run, warps, meetings, accesses, drain
        self.heads = _heads(run.graph)
        self.arrivals: dict[int, tuple[bytes, int, deque[Held]]] = {}
        self.turns: dict[int, tuple[bytes, int, Held | None]] = {}
        self.side_by_side = SideBySide(run, warps, meetings, accesses, drain)
        self.aside = Aside(run, warps)
        self.trips = 0
        self.long = self.forgets = False

    def at_head(self, block: int, cohort: Cohort) -> Cohort:
        """At a loop head: the cohort, some rounds later if possible."""
        run = self.run
        if run.round is None:
            self._look(cohort)
        if not (run.heap or run.held or self.warps.others()):
            return self.arrive(block, cohort)
        if run.shadow is None and run.round is None and run.explicit:  # other cohorts cannot affect the loop
            return self.arrive(block, cohort, alone=False)
        if run.shadow is not None or run.round is None:
            self.turn(block, cohort)
        return cohort

    def _look(self, cohort: Cohort) -> None:
        """Raises NothingLeft if no access ahead can have a count any more."""
        self.trips += 1
        if self.trips < LOOKED or self.trips & (self.trips - 1):
            return
        if self.run.shadow is not None or self.run.env.counters is not None:  # hypotheses must still be checked
            return
        ahead = self.warps.accesses_of([*self.warps.everywhere(), cohort])
        if all(self.run.records[i].undecided is not None for i in ahead):
            raise NothingLeft

    def arrive(self, block: int, cohort: Cohort, alone: bool = True) -> Cohort:
        """At a loop head: the cohort, some rounds later if possible. alone: no other cohort waits or runs later."""
        if self.run.round is not None:
            if block == self.run.round.head:
                self.run.round.laps -= 1
                if self.run.round.laps < 0:
                    self.run.registers.values = self.aside.own(self.run.registers.values)
                    raise Returned(cohort)
            return cohort
        who = cohort.rows.tobytes() + cohort.mask.tobytes() + repr(cohort.calls).encode()
        before = self.arrivals.get(block)
        if before is not None and before[0] == who:
            _, count, history = before
        else:
            count, history = 0, deque(maxlen=HISTORY)
        history.append(dict(self.run.registers.values))
        count += 1
        self.arrivals[block] = (who, count, history)
        self.long, self.forgets = count > LONG, count > PATIENCE
        if not alone:
            due = count > 4 and (count - 1) & (count - 2) == 0
            if due and self.aside.rounds(cohort, history, lambda own: self._attempt(block, cohort, own)):
                self.arrivals.pop(block, None)
            return cohort
        done = count > 1 and self.side_by_side.expected(block, history[-1], history[-2])
        done = done and self.side_by_side.several(block, cohort, history[-1], history[-2])
        if not done and count > 4 and (count - 1) & (count - 2) == 0:  # 5, 9, 17, 33, …
            done = self._attempt(block, cohort, history)
            done = done or self.side_by_side.several(block, cohort, *reversed(list(history)[-3:]))
        if done:
            self.arrivals.pop(block, None)
        return cohort

    def turn(self, block: int, cohort: Cohort) -> None:
        """At a loop head while other cohorts wait: checks that the loop does not wait for them."""
        who = cohort.rows.tobytes() + cohort.mask.tobytes()
        known, count, before = self.turns.get(block, (b"", 0, None))
        count = count + 1 if known == who else 0
        now = self.run.registers.values
        if (
            count >= SPIN
            and before is not None
            and now.keys() == before.keys()
            and all(v is before[n] or _alike(v, before[n]) for n, v in now.items())
        ):
            raise self._never_left(cohort)
        look = count >= SPIN - 1 and (count + 1) & count == 0  # and compare at the next arrival
        if look and self.run.shadow is not None:
            self.run.shadow.trusted.clear()
        self.turns[block] = (who, count, dict(now) if look else None)

    def forget(self) -> None:
        """Discards the history, as rows were renumbered."""
        self.arrivals.clear()

    def _attempt(self, block: int, cohort: Cohort, history: deque[Held]) -> bool:
        ending: list[int] = []  # periods whose rounds soon end
        for period in PERIODS:
            if len(history) < 2 * period + 1:
                break
            if any(period % shorter == 0 for shorter in ending):  # each of its rounds is several of those
                continue
            steps = _steps(history[-1], history[-1 - period], history[-1 - 2 * period])
            found = self._rounds(block, cohort, history[-1], steps, period)
            if found is _Found.DONE:
                return True
            if found is _Found.SOON_OVER:
                ending.append(period)
        return False

    def _rounds(self, block: int, cohort: Cohort, now: Held, steps: Steps, period: int) -> _Found:
        """Executes as many rounds of a period as behave alike.

        What is unknown in a few rounds is unknown in more, so a trial with the fewest shows whether any number is
        worth trying; mostly it is not.
        """
        found = self._run_round(block, cohort, now, steps, period, AT_ONCE[-1], trial=True)
        if found is not _Found.DONE:
            return found
        for most in AT_ONCE:
            found = self._run_round(block, cohort, now, steps, period, most)
            if found is not _Found.TOO_MANY:
                return found
        return _Found.NO_FORM

    def _run_round(
        self, block: int, cohort: Cohort, now: Held, steps: Steps, period: int, most: int, trial: bool = False
    ) -> _Found:
        """Executes one round with k as an unknown. trial: the state is left as it was."""
        run, accesses, shadow = self.run, self.accesses, self.run.shadow
        symbol = Uniform("k", 64, 0, 0, most, "rounds", ("rounds", block))
        visited = dict(accesses.visits)
        if shadow is not None:
            shadow.trusted.clear()
        with attempt(run, self.warps, self.meetings, accesses) as tried:
            start = _begun(now, steps, symbol)
            run.registers.values = dict(start)
            run.round = lap = Round(
                block, symbol, period, most, long=self.long, forgets=self.forgets, live=self._live(block)
            )
            try:
                self._drive(cohort)
            except (NotAffine, Unsafe):
                return _Found.TOO_MANY
            except Returned as end:
                held = end.cohort.again(cohort) and tried.unchanged(run.registers.rows)
                if not (held and _inductive(start, _left_to_the_next(steps, lap.live), run.registers.values)):
                    return _Found.NO_FORM
            else:
                return _Found.NO_FORM
            if lap.limit < WORTH:
                return _Found.SOON_OVER
            if all(step is None for step in steps.values()):  # forever, whatever the others hold
                raise self._never_left(cohort)
            if trial:
                return _Found.DONE
            tried.kept, tried.rounds = True, min(lap.limit, most)
        rounds = tried.rounds
        run.registers.values = {n: at_trip(v, symbol.key, rounds - 1) for n, v in run.registers.values.items()}
        for add, arguments in lap.requests:
            add(*arguments, times=rounds)
        for i, visits in accesses.visits.items():
            accesses.visits[i] = visits + (visits - visited[i]) * (rounds - 1)
        return _Found.DONE

    def _live(self, block: int) -> Container[str] | None:
        """The registers that a trip may read from the last one: a round may drop the others, unless more than addresses
        depends on them. None: none may be dropped.
        """
        if not self.long or self.run.shadow is not None or self._copies:
            return None
        return self.side_by_side.live[block]

    @cached_property
    def _copies(self) -> bool:
        """Some accesses have a source, too."""
        sites = (self.run.instructions[i].site for i in self.run.records)
        return any(site is not None and site.source is not None for site in sites)

    def _never_left(self, cohort: Cohort) -> NeverLeft | Unsafe:
        """The error to raise: lanes do the same forever, unless they read what another warp writes to shared memory."""
        shadow = self.run.shadow
        if shadow is not None:
            return Unsafe(SPINS, frozenset(shadow.trusted))
        return NeverLeft(cohort.pc, cohort.undecided is None)

    def _drive(self, cohort: Cohort) -> None:
        """Executes one round. Raises Returned at its end, unless warps did not stay together."""
        self.run.push(cohort.copy())
        self._drained()


class _Found(Enum):
    """The outcome of rounds that were tried."""

    DONE = "they are done"
    NO_FORM = "they have no closed form"
    TOO_MANY = "fewer at once may have one"
    SOON_OVER = "a comparison changes before that pays"


def _steps(now: Held, before: Held, earlier: Held) -> Steps:
    """What both of the last two rounds added to registers; without registers for which they differ."""
    last, first = steps_between(before, now), steps_between(earlier, before)
    agree: Callable[[Value | None, Value | None], bool] = lambda a, b: (
        a is b or a is not None and b is not None and same(as_number(a), as_number(b))
    )
    return {name: step for name, step in last.items() if name in first and agree(step, first[name])}


def _begun(now: Held, steps: Steps, symbol: Uniform) -> dict[Name, Value]:
    """The registers at the beginning of a round after `symbol` rounds."""
    start: dict[Name, Value] = {}
    for name, value in now.items():
        if name not in steps:
            start[name] = opaque(value.bits, Reason(Kind.ROUNDS_DIFFER))
        else:
            step = steps[name]
            start[name] = value if step is None else after_trips(value, step, partial(unknown, symbol))
    return start


def _left_to_the_next(steps: Steps, live: Container[str] | None) -> Steps:
    """Without the registers that a trip reads only after its own writes."""
    return steps if live is None else {n: step for n, step in steps.items() if type(n) is not str or n in live}


def _inductive(start: Held, steps: Steps, after: Held) -> bool:
    """Every register has moved by its supposed step."""
    for name, step in steps.items():
        value, now = start[name], after.get(name)
        if now is None or not (stays(value, now) if step is None else moves_by(value, now, step)):
            return False
    return True


def _alike(a: Value, b: Value) -> bool:
    """The two are indistinguishable, including their unknown lanes."""
    if a.poison is None or b.poison is None:
        return same(a, b)
    bare = [Value(v.base, v.terms, v.valid) for v in (a, b)]
    first, second = (sure_bits(Value(v.base, (), None, v.poison, v.why, v.sure)) for v in (a, b))
    return _equal(first, second) and _equal(a.poison, b.poison) and same(*bare)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """The arrays are equal after broadcasting."""
    one, other = np.broadcast_arrays(a, b)
    return np.array_equal(one, other)


def _heads(graph: Graph) -> frozenset[int]:
    """The heads of natural loops: blocks that are the target of an edge from a block they dominate."""
    reached = graph.dominators.keys()
    return frozenset(h for p, h in graph.cfg.edges if 0 <= h <= p and {h, p} <= reached and graph.dominates(h, p))
