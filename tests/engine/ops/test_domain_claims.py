"""Claims of operations about values that are not fully known, compared with numbers in place of the unknowns.

Random chains of operations of all widths run once on values with unknowns: counts that are never 0, numbers near
where they wrap, different numbers in two warps, numbers per lane with some known bits, predicates. Then they run on
plain numbers, several times. Every claim must hold in every lane: the known numbers, the known bits of others, the
range and low zeros of each derived unknown, and rejoined halves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from fingerprints import PRINTS, remember_fingerprints  # noqa: F401 (used by every test)

from ptxaudit.engine.domain.lane_classes import classes_of
from ptxaudit.engine.domain.value import Uniform, Value, constant, known, resize, unknown
from ptxaudit.engine.ops.halves import UpperHalf
from ptxaudit.engine.ops.operations import apply
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

ROWS, LANES = 2, 32
TRIALS = 5
EDGES = (0, 1, 3, 4, 31, 32, 127, 128, 1 << 16, 1 << 21, 0x3FFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFF80, 0xFFFFFFFF)

SAME = (*"add sub mul and or xor min.s max.s min.u max.u div.u rem.u div.s rem.s mulhi.u mulhi.s".split(),)
ONE = ("neg", "not", "abs", "cnot", "brev", "mov")
RELATIONS = ("eq", "ne", *(f"{relation}.{sign}" for relation in ("lt", "le", "gt", "ge") for sign in "us"))


class NotFollowed(Exception):
    """The number of an unknown does not follow from those of others."""


def modulo_of(number: int, bits: int) -> int:
    return number & (1 << bits) - 1


def in_lanes(array: np.ndarray) -> np.ndarray:
    return np.broadcast_to(array, (ROWS, LANES))


class Numbers:
    """Numbers for the unknowns, in each row: chosen ones, and those that follow from them."""

    def __init__(self, chosen: dict[str, int]):
        self.chosen = chosen
        self.found: dict[bytes, tuple[int, ...]] = {}

    def of(self, u: Uniform) -> tuple[int, ...]:
        if u.identity not in self.found:
            self.found[u.identity] = self._of(u)
            self._declared(u)
        return self.found[u.identity]

    def _declared(self, u: Uniform) -> None:
        """Checks the declared range and low zeros of an unknown."""
        for number in self.found[u.identity]:
            assert number % (1 << min(u.zeros, u.bits)) == 0, (u, number)
            if u.low is not None and u.high is not None:
                assert (number - u.low) % (1 << u.bits) <= u.high - u.low, (u, u.low, u.high, number)

    def _of(self, u: Uniform) -> tuple[int, ...]:
        if isinstance(u.key, str):
            return (self.chosen[u.key],) * ROWS
        if u.kind == "constant":
            return (u.key,) * ROWS
        match u.key:
            case ("*", Uniform() as first, Uniform() as second):
                return tuple(a * b for a, b in zip(self.of(first), self.of(second)))
            case ("/", int(n), Uniform() as of):
                return tuple(number >> n for number in self.of(of))
            case ("choice", Uniform() as of):
                return tuple(number & 1 for number in self.of(of))
            case ("select", a, b, c):
                choice, yes, no = (self.of(one) if isinstance(one, Uniform) else (one,) * ROWS for one in (a, b, c))
                return tuple(x if chosen else y for chosen, x, y in zip(choice, yes, no))
            case ("bit", int(bit), bytes(of)):
                return tuple(int(number) >> bit & 1 for number in self.value(PRINTS[of])[:, 0])
            case ("quotient", int(n), bytes(of)):
                return tuple(number >> n for number in self.integers(PRINTS[of]))
            case ("sum", bytes(of)):
                return self.integers(PRINTS[of])
            case ("upper half", of):
                return tuple(int(number) >> 32 for number in self.value(of.value)[:, 0])
            case (str(name), tuple(attrs), tuple(prints)):
                sources = tuple(known(np.array(self.value(PRINTS[of])[:, :1])) for of in prints)
                return tuple(int(n) for n in in_lanes(_derived(name, attrs, sources, u.bits).base)[:, 0])
        raise NotFollowed(u)

    def integers(self, value: Value) -> tuple[int, ...]:
        """A sum of unknowns as integers, without wrapping, in each row."""
        base = in_lanes(value.base)[:, 0].view(f"i{value.bits // 8}")
        totals = [int(number) for number in base]
        for u, c in value.terms:
            factors = np.ascontiguousarray(in_lanes(c)[:, 0]).view(f"i{value.bits // 8}")
            totals = [t + int(f) * n for t, f, n in zip(totals, factors, self.of(u))]
        return tuple(totals)

    def value(self, value: Value) -> np.ndarray:
        """(ROWS, LANES): base plus unknowns."""
        total = in_lanes(value.base).copy()
        for u, c in value.terms:
            number = np.array([[modulo_of(n, value.bits)] for n in self.of(u)], object).astype(total.dtype)
            total = total ^ (in_lanes(c) & number) if value.bits == 1 else total + in_lanes(c) * number
        return total


def _derived(name: str, attrs: tuple, sources: tuple[Value, ...], bits: int) -> Value:
    """The number of an unknown that an operation on these made."""
    if name == "bit0":
        return known(resize(sources[0].base, 1))
    if name == "carry":
        return apply(Op("add3.carry", (), (), attrs[0]), sources)[attrs[1]]
    width = sources[0].bits if name.startswith("setp") else bits
    out = apply(Op(name, (), (), width, attrs), sources)
    if not isinstance(out, Value) or not out.known:
        raise NotFollowed(name)
    return out


class Made:
    """A value of a chain: the claims about it, and how it is made, from unknowns or by an operation on others."""

    def __init__(self, claimed: Value, op: Op | None = None, sources: tuple[Made, ...] = (), result: int = 0):
        self.claimed, self.op, self.sources, self.result = claimed, op, sources, result

    @property
    def bits(self) -> int:
        return self.claimed.bits


def beginnings(rng: random.Random) -> tuple[list[Made], list[tuple[Uniform, list[int]]]]:
    """The start of a chain: constants, lanes, unknowns and sums of them, numbers and predicates per lane."""
    n = rng.getrandbits(32)
    declared: list[tuple[Uniform, list[int]]] = [
        (Uniform("shape", 32, 0, 1, 1024, "block shape", key="shape"), [1, 2, 32, 511, 1024]),
        (Uniform("stage", 32, 0, 0, 3, key="stage"), [0, 1, 2, 3]),
        (Uniform("n", 32, 0, None, None, "parameter", key="n"), [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, n]),
        (Uniform("d", 32, 0, -100, -3, key="d"), [-100, -64, -4, -3]),
        (Uniform("base", 32, 7, 0, 1 << 17, key="base"), [0, 128, 1 << 16, 1 << 17]),
        (Uniform("wide", 64, 4, None, None, "pointer", key="wide", address=True), [0, 16, 1 << 40, (1 << 64) - 16]),
        (Uniform("q", 1, 0, 0, 1, "choice", key="q"), [0, 1]),
    ]
    lane = np.arange(LANES, dtype=np.uint32)[None, :]
    warp = np.array([[rng.choice((0, 1, 32))], [rng.choice((4, 128, 0x80000000))]], np.uint32)
    pool = [Made(known(lane)), Made(known(lane + warp)), Made(known(warp)), Made(constant(rng.choice(EDGES), 32))]
    pool += [Made(unknown(u)) for u, _ in declared]
    for _ in range(3):  # sums near the points where they wrap
        u = rng.choice(declared[:5])[0]
        scale, edge = rng.choice((1, 4, 128, 1 << 20, 1 << 21, -1, -4, -(1 << 21))), rng.choice(EDGES)
        base = lane * np.uint32(rng.choice((0, 0, 1, 4, 64))) + np.uint32(edge)
        pool.append(Made(Value(base, ((u, np.full((1, 1), scale & 0xFFFFFFFF, np.uint32)),))))
    pool.append(Made(Value(np.zeros((1, 1), np.uint32), poison=np.ones((1, 1), bool), why=Reason(Kind.LOADED))))
    pool.append(Made(Value(np.zeros((1, 1), bool), poison=lane < rng.choice((8, 32)), why=Reason(Kind.LOADED))))
    return pool, declared


def steps(rng: random.Random, pool: list[Made]) -> Iterator[tuple[Op, tuple[Made, ...], int]]:
    """Operations on values of the pool, with their operands and the number of results."""

    def some(bits: int) -> Made:
        return rng.choice([m for m in pool if m.bits == bits] or [Made(constant(rng.choice(EDGES), bits))])

    def number(*options: int) -> Made:
        return Made(constant(rng.choice(options), 32))

    while True:
        bits = rng.choice((32, 32, 32, 64))
        shift = rng.choice((number(0, 1, 2, 3, 7, 16, 31, 32, 35, 63, 64), some(32)))
        yield rng.choice(
            (
                lambda: (Op(rng.choice(SAME), (), (), bits), (some(bits), some(bits)), 1),
                lambda: (
                    Op(rng.choice(SAME[:6]), (), (), bits),
                    (some(bits), Made(constant(rng.choice(EDGES), bits))),
                    1,
                ),
                lambda: (Op(rng.choice(ONE), (), (), bits), (some(bits),), 1),
                lambda: (Op(rng.choice(("shl", "shr.u", "shr.s")), (), (), bits), (some(bits), shift), 1),
                lambda: (Op("mad", (), (), bits), (some(bits), some(bits), some(bits)), 1),
                lambda: (Op("lop3", (), (), 32, (rng.randrange(256),)), (some(32), some(32), some(32)), 1),
                lambda: (Op(f"setp.{rng.choice(RELATIONS)}", (), (), bits), (some(bits), some(bits)), 1),
                lambda: (Op("select", (), (), bits), (some(bits), some(bits), some(1)), 1),
                lambda: (Op(rng.choice(("and", "or", "xor")), (), (), 1), (some(1), some(1)), 1),
                lambda: (Op("not", (), (), 1), (some(1),), 1),
                lambda: (Op(rng.choice(("zext", "sext")), (), (), bits), (some(rng.choice((1, 32))),), 1),
                lambda: (Op("trunc", (), (), rng.choice((8, 16, 32))), (some(64),), 1),
                lambda: (Op(rng.choice(("zext", "sext")), (), (), 32), (some(rng.choice((8, 16))),), 1),
                lambda: (Op("extract", (), (), 32, (rng.choice((0, 32)),)), (some(64),), 1),
                lambda: (Op("cat", (), (), 64), (some(32), some(32)), 1),
                lambda: (Op(f"mulwide.{rng.choice('us')}", (), (), 64), (some(32), some(32)), 1),
                lambda: (Op(f"madwide.{rng.choice('us')}", (), (), 64), (some(32), some(32), some(64)), 1),
                lambda: (Op("bfe.u", (), (), bits), (some(bits), number(0, 3, 31, 40), number(0, 1, 8, 32)), 1),
                lambda: (Op("bfi", (), (), 32), (some(32), some(32), number(0, 3, 31), number(0, 1, 8, 32)), 1),
                lambda: (
                    Op("prmt", (), (), 32),
                    (some(32), some(32), number(0x3210, 0x5410, 0x9910, 0x4140, 0x7632)),
                    1,
                ),
                lambda: (
                    Op(f"shf.{rng.choice('lr')}", (), (), 32, (rng.choice(("wrap", "clamp")),)),
                    (some(32), some(32), number(0, 1, 5, 31, 32, 33)),
                    1,
                ),
                lambda: (
                    Op(f"szext.{rng.choice('us')}", (), (), 32, (rng.choice(("wrap", "clamp")),)),
                    (some(32), number(0, 1, 8, 31, 32, 33, 64, 255)),
                    1,
                ),
                lambda: (Op(f"sad.{rng.choice('us')}", (), (), bits), (some(bits), some(bits), some(bits)), 1),
                lambda: (Op("bmsk", (), (), 32, (rng.choice(("wrap", "clamp")),)), (some(32), number(0, 8, 32, 33)), 1),
                lambda: (Op(rng.choice(("clz", "popc", "bfind.u", "bfind.s")), (), (), 32), (some(bits),), 1),
                lambda: (Op("extract", (), (), rng.choice((8, 16)), (rng.choice((0, 8, 16)),)), (some(32),), 1),
                lambda: (Op("cat", (), (), 32), (some(16), some(16)), 1),
                lambda: (Op("popc", (), (), 32), (some(32),), 1),
                lambda: (
                    Op("add3.carry", (), (), 32),
                    (some(32), some(32), rng.choice((some(32), number(0))), some(1), Made(constant(0, 1))),
                    3,
                ),
            )
        )()


def truth_of(
    made: Made, numbers: Numbers, loaded: random.Random, done: dict[Made, np.ndarray | None]
) -> np.ndarray | None:
    """Its number if all unknowns are numbers; None where it has no result."""
    if made in done:
        return done[made]
    if made.op is None:
        out = numbers.value(made.claimed)
        if made.claimed.poison is not None:
            top = 1 << min(made.bits, 32)
            free = np.array([[loaded.randrange(top) for _ in range(LANES)] for _ in range(ROWS)]).astype(out.dtype)
            out = np.where(in_lanes(made.claimed.poison), free, out)
    else:
        sources = [truth_of(s, numbers, loaded, done) for s in made.sources]
        if any(s is None for s in sources):
            done[made] = None
            return None
        result = apply(made.op, tuple(known(np.array(s)) for s in sources))
        one = result[made.result] if isinstance(result, tuple) else result
        out = None if one.poison is not None else in_lanes(one.base)
    done[made] = out
    return out


def held(claimed: Value, truth: np.ndarray, numbers: Numbers) -> None:
    """Checks every claim."""
    if isinstance(claimed, UpperHalf) and claimed.whole.poison is None:
        whole = numbers.value(claimed.whole)
        assert ((whole >> np.uint64(32)).astype(np.uint32) == truth).all()
    if (classes := classes_of(claimed)) is not None:
        assert (np.take_along_axis(truth, in_lanes(classes).astype(int), 1) == truth).all()
    poison = in_lanes(np.zeros((1, 1), bool) if claimed.poison is None else claimed.poison)
    if poison.all() and claimed.sure is None:
        return
    if truth.dtype == bool:
        assert ((numbers.value(claimed) == truth) | poison).all()
        return
    every = (1 << claimed.bits) - 1
    mask = truth.dtype.type(every if claimed.valid is None else (1 << claimed.valid) - 1)
    sure = truth.dtype.type(0) if claimed.sure is None else in_lanes(claimed.sure)
    mask = np.where(poison, sure, mask)
    rest = truth - (numbers.value(claimed) - in_lanes(claimed.base))
    assert (rest & mask == in_lanes(claimed.base) & mask).all()


@pytest.mark.parametrize("seed", range(250))
def test_claims_about_random_chains_of_operations_hold(seed):
    rng = random.Random(seed)
    pool, declared = beginnings(rng)
    for op, sources, results in (step for step, _ in zip(steps(rng, pool), range(12))):
        out = apply(op, tuple(s.claimed for s in sources))
        made = out if isinstance(out, tuple) else (out,)
        assert len(made) == results
        pool += [Made(one, op, sources, at) for at, one in enumerate(made)]
    for trial in range(TRIALS):
        numbers = Numbers({u.key: rng.choice(options) for u, options in declared})
        done: dict[Made, np.ndarray | None] = {}
        for made in pool:
            truth = truth_of(made, numbers, rng, done)
            if made.op is None or truth is None:
                continue
            try:
                held(made.claimed, truth, numbers)
            except NotFollowed:
                continue
            except AssertionError as wrong:
                wrong.add_note(f"{made.op} of {[s.claimed for s in made.sources]} -> {made.claimed}, {numbers.chosen}")
                raise
