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
from dataclasses import dataclass, field

import numpy as np

from ptxaudit.engine.domain import affine, comparisons
from ptxaudit.engine.domain.value import (
    Lost,
    Uniform,
    Value,
    constant,
    fits_signed,
    least,
    opaque,
    same,
    signed,
    span,
    sure_bits,
    unknown,
)
from ptxaudit.engine.ops.halves import UpperHalf, as_plain, whole_of
from ptxaudit.ir.reasons import Kind, Reason, sentence

PERIODS = (1, 2, 3, 4, 6, 8)  # trips a round: one, or the stages of a ring
HISTORY = 2 * max(PERIODS) + 1
AT_ONCE = (1 << 24, 1 << 16, 1 << 10, 1 << 6)  # rounds that are tried together, largest first
WORTH = 4  # fewer rounds than this are run one by one
SPIN = 16  # trips after which a loop that others wait for is looked at
SPINS = Reason(Kind.SPINS)


class Returned(Exception):
    """The round is back at the head of the loop. Carries the cohort."""

    def __init__(self, cohort):
        self.cohort = cohort


class NotAffine(Exception):
    """The round does something with k that has no closed form."""


class Unsafe(Exception):
    """What was taken as known of shared memory (`shadow`) may be otherwise. loads: the instructions that took it so,
    where the run may be right without them."""

    def __init__(self, reason: Reason, loads: frozenset[int] = frozenset()):
        super().__init__(sentence(reason))
        self.reason, self.loads = reason, loads


@dataclass
class Round:
    """A round that is being run with k as an unknown."""

    head: int
    symbol: Uniform
    laps: int  # arrivals at the head that end the round
    limit: int  # rounds for which every comparison stays as it is
    requests: list = field(default_factory=list)  # arguments of SiteRecord.add, in order

    def mentions(self, value: Value | None) -> bool:
        return value is not None and any(u is self.symbol or u == self.symbol for u, _ in value.terms)

    def moves_as_a_whole(self, address: Value, active: np.ndarray, shift: int) -> bool:
        """Each round shifts the addresses of all active lanes alike, by a multiple of `shift` bytes, which changes no
        count.
        """
        for u, c in address.terms:
            if u == self.symbol:
                if c.shape[1] == 1:
                    return not (active.any(axis=1, keepdims=True) & (signed(c) % shift != 0)).any()
                steps = np.broadcast_to(signed(c).astype(np.int64), active.shape)
                first = np.take_along_axis(steps, active.argmax(axis=1)[:, None], 1)
                return not ((steps != first) & active).any() and not (np.where(active, steps, 0) % shift).any()
        return True

    def compare(self, relation: str, a: Value, b: Value, active: np.ndarray) -> Value:
        """A comparison as it is for k = 0; lowers `limit` to where it changes in an active lane."""
        if any(v.poison is not None or v.valid is not None for v in (a, b)):
            raise NotAffine
        if any(u != self.symbol for v in (a, b) for u, _ in v.terms):
            raise NotAffine
        kind, _, sign = relation.partition(".")
        if not (fits_signed(a) and fits_signed(b) and comparisons.apart_by_less_than_half(a, b)):
            raise NotAffine
        if sign == "u" and (span(a)[0] < 0 or span(b)[0] < 0):
            raise NotAffine
        difference = affine.subtract(a, b)
        base = np.broadcast_to(signed(difference.base).astype(np.int64), active.shape)
        step = np.zeros((1, 1), np.int64)
        for _, c in difference.terms:
            step = signed(c).astype(np.int64)
        step = np.broadcast_to(step, active.shape)
        truth, change = _first_change(kind, base, step)
        if active.any():
            self.limit = min(self.limit, int(change[active].min()))
        return Value(np.ascontiguousarray(truth))


def _first_change(kind: str, base: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(is `base <kind> 0`, the smallest k ≥ 1 at which `base + step·k <kind> 0` differs from that)."""
    never = np.int64(1) << 62
    up, down = step > 0, step < 0
    rise = np.where(up, step, 1)
    fall = np.where(down, -step, 1)
    if kind in ("eq", "ne"):
        zero = base == 0
        moving = step != 0
        safe = np.where(moving, step, 1)
        meets = moving & (base % safe == 0) & (-base // safe > 0)
        change = np.where(zero, np.where(moving, 1, never), np.where(meets, -base // safe, never))
        return (zero if kind == "eq" else ~zero), change
    if kind in ("lt", "ge"):  # the sign changes between −1 and 0
        negative = base < 0
        change = np.where(negative, np.where(up, -(base // rise), never), np.where(down, base // fall + 1, never))
        return (negative if kind == "lt" else ~negative), change
    positive = base > 0  # le, gt: between 0 and 1
    change = np.where(positive, np.where(down, -(-base // fall), never), np.where(up, (-base) // rise + 1, never))
    return (positive if kind == "gt" else ~positive), change


class Repeats:
    """Watches the heads of loops for one simulation."""

    def __init__(self, simulation):
        self.simulation = simulation
        graph = simulation.graph
        self.heads = _heads(graph)
        self.arrivals: dict[int, tuple[bytes, int, deque]] = {}
        self.turns: dict[int, tuple[bytes, int, dict | None]] = {}
        self.round: Round | None = None

    def arrive(self, block: int, cohort):
        """At a loop head, alone: the cohort, some rounds later where that is possible."""
        if self.round is not None:
            if block == self.round.head:
                self.round.laps -= 1
                if self.round.laps < 0:
                    raise Returned(cohort)
            return cohort
        who = cohort.rows.tobytes() + cohort.mask.tobytes() + repr(cohort.calls).encode()
        known, count, history = self.arrivals.get(block, (b"", 0, None))
        if known != who:
            count, history = 0, deque(maxlen=HISTORY)
        history.append(dict(self.simulation.registers.values))
        count += 1
        self.arrivals[block] = (who, count, history)
        if count > 4 and (count - 1) & (count - 2) == 0:  # 5, 9, 17, 33, …
            if self._attempt(block, cohort, history):
                self.arrivals.pop(block, None)
        return cohort

    def turn(self, block: int, cohort) -> None:
        """At a loop head while other cohorts wait: the loop must not wait for them, now that shared memory is
        followed.
        """
        who = cohort.rows.tobytes() + cohort.mask.tobytes()
        known, count, before = self.turns.get(block, (b"", 0, None))
        count = count + 1 if known == who else 0
        now = self.simulation.registers.values
        if (
            count >= SPIN
            and before is not None
            and now.keys() == before.keys()
            and all(v is before[n] or _alike(v, before[n]) for n, v in now.items())
        ):
            raise Unsafe(SPINS, frozenset(self.simulation.shadow.trusted))
        look = count >= SPIN - 1 and (count + 1) & count == 0  # and compare at the next arrival
        if look:
            self.simulation.shadow.trusted.clear()
        self.turns[block] = (who, count, dict(now) if look else None)

    def no_round(self) -> None:
        """Something happens that a round in closed form cannot have."""
        if self.round is not None:
            raise NotAffine

    def forget(self) -> None:
        """Rows were renumbered: what was seen no longer fits."""
        self.arrivals.clear()

    def _attempt(self, block: int, cohort, history) -> bool:
        for period in PERIODS:
            if len(history) < 2 * period + 1:
                break
            steps = _steps(history[-1], history[-1 - period], history[-1 - 2 * period])
            for most in AT_ONCE:
                done = self._run_round(block, cohort, history[-1], steps, period, most)
                if done is None:
                    continue
                if done:
                    return True
                break
        return False

    def _run_round(self, block: int, cohort, now: dict, steps: dict, period: int, most: int) -> bool | None:
        """True: many rounds are done; False: this period has no closed form; None: try fewer at once."""
        sim = self.simulation
        symbol = Uniform("k", 64, 0, 0, most, "rounds", ("rounds", block))
        saved = (
            sim.registers.values,
            sim.alive,
            sim.barriers,
            {i: v.copy() for i, v in sim.visits.items()},
            sim.same_way.copy(),
        )
        groups = sim.warps.saved()
        start = {}
        for name, value in now.items():
            step = steps.get(name)
            if step is None:
                start[name] = opaque(value.bits, Lost(Kind.ROUNDS_DIFFER))
            elif step is _STILL:
                start[name] = value
            elif isinstance(step, UpperHalf):
                start[name] = UpperHalf(affine.add(whole_of(value), affine.multiply(step.whole, unknown(symbol, 64))))
            else:
                start[name] = affine.add(value, affine.multiply(step, unknown(symbol, value.bits)))
        sim.registers.values = dict(start)
        sim.alive = sim.alive.copy()
        sim.barriers = {k: v.copy() for k, v in sim.barriers.items()}
        order = None if sim.shadow is None else sim.shadow.mark()
        if order is not None:
            sim.shadow.trusted.clear()
        self.round = Round(block, symbol, period, most)
        lap = self.round
        try:
            returned = self._drive(cohort)
            ok = (
                returned is not None
                and returned.rows.shape == cohort.rows.shape
                and (returned.rows == cohort.rows).all()
                and (returned.mask == cohort.mask).all()
                and returned.state == cohort.state
            )
            ok = ok and (sim.alive == saved[1]).all() and sim.warps.as_before(groups) and lap.limit >= WORTH
            ok = ok and self._inductive(start, steps, sim.registers.values)
        except (NotAffine, Unsafe):
            ok = None
        finally:
            self.round = None
            sim.heap, sim.waiting, sim.held = [], [], []
        if ok and sim.shadow is not None and lap.limit >= AT_ONCE[0] and all(step is _STILL for step in steps.values()):
            raise Unsafe(SPINS, frozenset(sim.shadow.trusted))
        if not ok:
            if order is not None:
                sim.shadow.restore(order)
            sim.registers.values, sim.alive, sim.barriers, sim.visits, sim.same_way = saved
            sim.warps.restore(groups)
            return ok if ok is None else False
        rounds = min(lap.limit, most)
        sim.registers.values = {n: _at(v, symbol, rounds - 1) for n, v in sim.registers.values.items()}
        for record, arguments in lap.requests:
            record.add(*arguments, times=rounds)
        for i, visits in sim.visits.items():
            visits += (visits - saved[3][i]) * (rounds - 1)
        return True

    def _drive(self, cohort):
        """Run one round; the cohort at its end, None when warps did not stay together."""
        sim = self.simulation
        sim.heap, sim.waiting, sim.held = [], [], []
        current = type(cohort)(cohort.pc, cohort.rows, cohort.mask, cohort.calls, *cohort.state)
        sim.push(current)
        try:
            sim.drain()
        except Returned as end:
            return end.cohort if not (sim.heap or sim.held or sim.others()) else None
        return None

    def _inductive(self, start: dict, steps: dict, after: dict) -> bool:
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


_STILL = object()  # a register that does not change


def _half_step(value: UpperHalf, a: Value, b: Value) -> object | None:
    """The step of a number that a register has the upper half of, as the upper half of that."""
    wholes = whole_of(value), whole_of(a), whole_of(b)
    if any(w.poison is not None or w.valid is not None for w in wholes):
        return None
    step = affine.subtract(wholes[0], wholes[1])
    if step.terms or not same(step, affine.subtract(wholes[1], wholes[2])):
        return None
    return _STILL if not step.base.any() else UpperHalf(step)


def _steps(now: dict, before: dict, earlier: dict) -> dict:
    """name -> the step of a round, _STILL, or missing where the last two rounds differ."""
    out: dict = {}
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
            out[name] = _STILL if a.poison is not None and a.poison.all() else None
            if out[name] is None:
                del out[name]
    return out


def _alike(a: Value, b: Value) -> bool:
    """Nothing tells the two apart, unknown lanes included."""
    if a.poison is None or b.poison is None:
        return same(a, b)
    bare = [Value(v.base, v.terms, v.valid) for v in (a, b)]
    bits = [sure_bits(Value(v.base, (), None, v.poison, v.why, v.sure)) for v in (a, b)]
    return (
        np.array_equal(*np.broadcast_arrays(*bits))
        and np.array_equal(*np.broadcast_arrays(a.poison, b.poison))
        and same(*bare)
    )


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


def _heads(graph) -> frozenset[int]:
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
