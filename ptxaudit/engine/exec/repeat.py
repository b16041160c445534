"""Loops in closed form: many trips of a loop at the cost of a few.

When all warps stand at the head of a loop together, and what changed since the last trips (or
since as many trips as a ring has stages) is the same twice, one more round is run with a number k
of rounds as an unknown: each register is `now + step·k`. If that round ends in `now + step·(k+1)`, if its
comparisons stay as they are for k below some K, and if k moves each address only as a whole, then
K rounds are known: K times the requests of one, and the registers at k = K − 1.

    for (i = tid; i < 1000000; i += 32) sum += s[i & 31];      5 trips, then 31,240 at once, then the rest
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import (
    Uniform,
    Value,
    constant,
    least,
    opaque,
    same,
    sure_bits,
    unknown,
)
from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.exec.side_by_side import SideBySide
from ptxaudit.engine.memory.cells import Unsafe
from ptxaudit.engine.ops.halves import UpperHalf, as_plain, whole_of
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.reasons import Kind, Reason

if TYPE_CHECKING:
    from ptxaudit.engine.memory.registers import Name

    Kept = dict[Name, Value]  # what registers hold
    Steps = dict[Name, Value | "_Still"]

PERIODS = (1, 2, 3, 4, 6, 8)  # trips a round: one, or the stages of a ring
HISTORY = 2 * max(PERIODS) + 1
AT_ONCE = (1 << 24, 1 << 16, 1 << 10, 1 << 6)  # rounds that are tried together, largest first
WORTH = 4  # fewer rounds than this are run one by one
SPIN = 16  # trips after which a loop that others wait for is looked at
SPINS = Reason(Kind.SPINS)


class Returned(Exception):
    """The round is back at the head of the loop. Carries the cohort."""

    def __init__(self, cohort: Cohort):
        self.cohort = cohort


class Repeats:
    """Watches the heads of loops for one simulation."""

    def __init__(self, run: Run, warps: Warps, meetings: Meetings, accesses: Accesses, drain: Callable[[], None]):
        """drain: runs until no cohort is left."""
        self.run, self.warps, self.meetings, self.accesses, self._drained = run, warps, meetings, accesses, drain
        self.heads = _heads(run.graph)
        self.arrivals: dict[int, tuple[bytes, int, deque[Kept]]] = {}
        self.turns: dict[int, tuple[bytes, int, Kept | None]] = {}
        self.side_by_side = SideBySide(run, warps, meetings, accesses, drain)

    def arrive(self, block: int, cohort: Cohort) -> Cohort:
        """At a loop head, alone: the cohort, some rounds later where that is possible."""
        if self.run.round is not None:
            if block == self.run.round.head:
                self.run.round.laps -= 1
                if self.run.round.laps < 0:
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
        done = count > 1 and self.side_by_side.expected(block, history[-1], history[-2])
        done = done and self.side_by_side.several(block, cohort, history[-1], history[-2])
        if not done and count > 4 and (count - 1) & (count - 2) == 0:  # 5, 9, 17, 33, …
            done = self._attempt(block, cohort, history)
            done = done or self.side_by_side.several(block, cohort, *reversed(list(history)[-3:]))
        if done:
            self.arrivals.pop(block, None)
        return cohort

    def turn(self, block: int, cohort: Cohort) -> None:
        """At a loop head while other cohorts wait: the loop must not wait for them, now that shared memory is
        followed.
        """
        shadow = self.run.shadow
        assert shadow is not None  # the loop would be left to `arrive`
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
            raise Unsafe(SPINS, frozenset(shadow.trusted))
        look = count >= SPIN - 1 and (count + 1) & count == 0  # and compare at the next arrival
        if look:
            shadow.trusted.clear()
        self.turns[block] = (who, count, dict(now) if look else None)

    def forget(self) -> None:
        """Rows were renumbered: what was seen no longer fits."""
        self.arrivals.clear()

    def _attempt(self, block: int, cohort: Cohort, history: deque[Kept]) -> bool:
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

    def _rounds(self, block: int, cohort: Cohort, now: Kept, steps: Steps, period: int) -> _Found:
        """As many rounds of a period as go on alike. What is not known of a few of them is not known of more: where
        most are too many, the fewest tell whether any number between is worth a try."""
        found = self._run_round(block, cohort, now, steps, period, AT_ONCE[0])
        if found is not _Found.TOO_MANY:
            return found
        if self._run_round(block, cohort, now, steps, period, AT_ONCE[-1], trial=True) is _Found.TOO_MANY:
            return _Found.NO_FORM
        for most in AT_ONCE[1:]:
            found = self._run_round(block, cohort, now, steps, period, most)
            if found is not _Found.TOO_MANY:
                return found
        return _Found.NO_FORM

    def _run_round(
        self, block: int, cohort: Cohort, now: Kept, steps: Steps, period: int, most: int, trial: bool = False
    ) -> _Found:
        """trial: all is left as it was."""
        run = self.run
        symbol = Uniform("k", 64, 0, 0, most, "rounds", ("rounds", block))
        saved = (
            run.registers.values,
            run.alive,
            self.meetings.barriers,
            {i: v if isinstance(v, int) else v.copy() for i, v in self.accesses.visits.items()},
            self.meetings.same_way.copy(),
        )
        groups = self.warps.saved()
        start: Kept = {}
        for name, value in now.items():
            step = steps.get(name)
            if step is None:
                start[name] = opaque(value.bits, Reason(Kind.ROUNDS_DIFFER))
            elif step is _STILL:
                start[name] = value
            elif isinstance(step, UpperHalf):
                start[name] = UpperHalf(affine.add(whole_of(value), affine.multiply(step.whole, unknown(symbol, 64))))
            else:
                start[name] = affine.add(value, affine.multiply(step, unknown(symbol, value.bits)))
        run.registers.values = dict(start)
        run.alive = run.alive.copy()
        self.meetings.barriers = {k: v.copy() for k, v in self.meetings.barriers.items()}
        shadow = run.shadow
        order = None if shadow is None else shadow.mark()
        if shadow is not None:
            shadow.trusted.clear()
        self.run.round = Round(block, symbol, period, most)
        lap = self.run.round
        try:
            returned = self._drive(cohort)
            ok = (
                returned is not None
                and returned.rows.shape == cohort.rows.shape
                and (returned.rows == cohort.rows).all()
                and (returned.mask == cohort.mask).all()
                and returned.state == cohort.state
            )
            ok = ok and (run.alive == saved[1]).all() and self.warps.as_before(groups)
            ok = ok and self._inductive(start, steps, run.registers.values)
            found = _Found.NO_FORM if not ok else _Found.SOON_OVER if lap.limit < WORTH else _Found.DONE
        except (NotAffine, Unsafe):
            found = _Found.TOO_MANY
        finally:
            self.run.round = None
            run.heap, run.waiting, run.held = [], [], []
        done = found is _Found.DONE and not trial
        if done and shadow is not None and lap.limit >= AT_ONCE[0] and all(step is _STILL for step in steps.values()):
            raise Unsafe(SPINS, frozenset(shadow.trusted))
        if not done:
            if shadow is not None and order is not None:
                shadow.restore(order)
            run.registers.values, run.alive, self.meetings.barriers, self.accesses.visits, self.meetings.same_way = (
                saved
            )
            self.warps.restore(groups)
            return found
        rounds = min(lap.limit, most)
        run.registers.values = {n: _at(v, symbol, rounds - 1) for n, v in run.registers.values.items()}
        for add, arguments in lap.requests:
            add(*arguments, times=rounds)
        for i, visits in self.accesses.visits.items():
            self.accesses.visits[i] = visits + (visits - saved[3][i]) * (rounds - 1)
        return found

    def _drive(self, cohort: Cohort) -> Cohort | None:
        """Run one round; the cohort at its end, None when warps did not stay together."""
        run = self.run
        run.heap, run.waiting, run.held = [], [], []
        current = type(cohort)(cohort.pc, cohort.rows, cohort.mask, cohort.calls, *cohort.state)
        run.push(current)
        try:
            self._drained()
        except Returned as end:
            return end.cohort if not (run.heap or run.held or self.warps.others()) else None
        return None

    def _inductive(self, start: Kept, steps: Steps, after: Kept) -> bool:
        """Every register that was taken to move by its step has moved by it."""
        for name, value in start.items():
            step = steps.get(name)
            if step is None:
                continue
            now = after.get(name)
            if now is None:
                return False
            if isinstance(step, UpperHalf):
                if not same(whole_of(now), affine.add(whole_of(value), step.whole)):
                    return False
                continue
            if step is _STILL and isinstance(value, UpperHalf) and same(whole_of(now), whole_of(value)):
                continue
            if step is _STILL:
                if now is not value and not same(now, value):
                    return False
            elif not same(now, affine.add(value, step)):
                return False
        return True


class _Found(Enum):
    """What became of rounds that were tried."""

    DONE = "they are done"
    NO_FORM = "they have no closed form"
    TOO_MANY = "fewer at once may have one"
    SOON_OVER = "a comparison changes before that pays"


class _Still(Enum):
    """A register that does not change."""

    STILL = 0


_STILL: Final = _Still.STILL


def _half_step(value: UpperHalf, a: Value, b: Value) -> Value | _Still | None:
    """The step of a number that a register has the upper half of, as the upper half of that."""
    wholes = whole_of(value), whole_of(a), whole_of(b)
    if any(w.poison is not None or w.valid is not None for w in wholes):
        return None
    step = affine.subtract(wholes[0], wholes[1])
    if step.terms or not same(step, affine.subtract(wholes[1], wholes[2])):
        return None
    return _STILL if not step.base.any() else UpperHalf(step)


def _steps(now: Kept, before: Kept, earlier: Kept) -> Steps:
    """name -> the step of a round, _STILL, or missing where the last two rounds differ."""
    out: Steps = {}
    for name, value in now.items():
        a, b = before.get(name), earlier.get(name)
        if a is value and b is value:
            out[name] = _STILL
            continue
        if a is None or b is None or a.bits != value.bits or b.bits != value.bits:
            continue
        if isinstance(value, UpperHalf):
            step = _half_step(value, a, b)
            if step is not None:
                out[name] = step
            continue
        if same(value, a) and same(a, b):
            out[name] = _STILL
        elif value.base.dtype != bool and value.poison is None and a.poison is None and b.poison is None:
            step = affine.subtract(value, a)
            if step.valid is None and not step.terms and same(step, affine.subtract(a, b)):
                out[name] = step
        elif value.poison is not None and value.poison.all():
            if a.poison is not None and a.poison.all():
                out[name] = _STILL
    return out


def _alike(a: Value, b: Value) -> bool:
    """Nothing tells the two apart, unknown lanes included."""
    if a.poison is None or b.poison is None:
        return same(a, b)
    bare = [Value(v.base, v.terms, v.valid) for v in (a, b)]
    first, second = (sure_bits(Value(v.base, (), None, v.poison, v.why, v.sure)) for v in (a, b))
    return _equal(first, second) and _equal(a.poison, b.poison) and same(*bare)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Where they are broadcast against each other."""
    one, other = np.broadcast_arrays(a, b)
    return np.array_equal(one, other)


def _at(value: Value, symbol: Uniform, number: int) -> Value:
    """The value with k replaced by a number."""
    if isinstance(value, UpperHalf):
        return UpperHalf(_at(value.whole, symbol, number), as_plain(value))
    for u, c in value.terms:
        if u == symbol:
            rest = Value(
                value.base, tuple(t for t in value.terms if t[0] != symbol), value.valid, value.poison, value.why
            )
            moved = affine.scale(Value(c), constant(number, value.bits).base)
            return Value(rest.base + moved.base, rest.terms, least(rest.valid, None), rest.poison, rest.why)
    return value


def _heads(graph: Graph) -> frozenset[int]:
    """Blocks that some block they dominate leads back to."""
    idom = graph.dominators

    def dominates(a: int, b: int) -> bool:
        while True:
            if a == b:
                return True
            up = idom.get(b)
            if up is None or up == b:
                return False
            b = up

    return frozenset(
        h for p, h in graph.cfg.edges if h >= 0 and p >= 0 and h <= p and h in idom and p in idom and dominates(h, p)
    )
