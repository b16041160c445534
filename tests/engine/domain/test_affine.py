"""The affine domain against its plain twin: the same operations with the unknowns replaced by numbers.

Random chains of operations run once on values with uniform unknowns and then, for several choices of the unknowns, on
plain numbers. Wherever the domain claims to know something (all bits, or the low `valid` bits), it must agree in
every lane.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from fingerprints import PRINTS, remember_fingerprints  # noqa: F401 (used by every test)

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import (
    DTYPES,
    EVERYWHERE,
    Uniform,
    Value,
    constant,
    known,
    signed,
    sure_bits,
    unknown,
)
from ptxaudit.engine.ops import halves
from ptxaudit.engine.ops.operations import apply
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

LANES = 32


BINARY = (
    "add",
    "sub",
    "mul",
    "and",
    "or",
    "xor",
    "min.s",
    "max.s",
    "min.u",
    "max.u",
    "div.u",
    "rem.u",
    "div.s",
    "rem.s",
    "mulhi.u",
    "mulhi.s",
)
COMPARE = ("setp.eq", "setp.ne", "setp.lt.s", "setp.lt.u", "setp.ge.s", "setp.gt.u", "setp.le.u")


def symbols(rng: random.Random) -> list[tuple[Uniform, list[int]]]:
    """Unknowns with their declared facts, and numbers that satisfy these."""
    stage = Uniform("stage", 32, 0, 0, 3, key="stage")
    n = Uniform("n", 32, key="n")
    aligned = Uniform("base", 32, 7, 0, 1 << 17, key="base")
    small = Uniform("k", 32, 2, 0, 1 << 20, key="k")
    negative = Uniform("d", 32, 0, -100, 100, key="d")
    return [
        (stage, [0, 1, 2, 3]),
        (n, [0, 1, 7, 0x80000000, 0xFFFFFFFF, rng.getrandbits(32)]),
        (aligned, [0, 128, 1 << 16, rng.randrange(0, 1 << 10) * 128]),
        (small, [0, 4, 1 << 18, rng.randrange(0, 1 << 18) * 4]),
        (negative, [-100, -1, 0, 1, 99]),
    ]


def evaluate(value: Value, numbers: dict[str, int]) -> np.ndarray | None:
    """The value with its unknowns replaced by numbers, or None where it contains a derived unknown."""
    if value.poison is not None:
        return None
    total = np.broadcast_to(value.base, (1, LANES)).copy()
    for u, c in value.terms:
        number = number_of(u, numbers)
        if number is None:
            return None
        if total.dtype == bool:
            return None
        total = total + np.broadcast_to(c, (1, LANES)) * total.dtype.type(number & ((1 << value.bits) - 1))
    return total


def number_of(u: Uniform, numbers: dict[str, int]) -> int | None:
    if u.name in numbers:
        return numbers[u.name]
    if isinstance(u.key, tuple) and u.key[0] == "*":
        a, b = number_of(u.key[1], numbers), number_of(u.key[2], numbers)
        return None if a is None or b is None else a * b
    if isinstance(u.key, tuple) and u.key[0] in ("bit", "quotient"):
        whole = evaluate(PRINTS[u.key[2]], numbers)
        if whole is None:
            return None
        number = int(signed(whole)[0, 0])
        return number >> u.key[1] & 1 if u.key[0] == "bit" else number >> u.key[1]
    if isinstance(u.key, tuple) and u.key[0] == "/":
        a = number_of(u.key[2], numbers)
        return None if a is None else a >> u.key[1]
    if isinstance(u.key, tuple) and u.key[0] in ("zext", "sext"):
        return times_wrapped(u.key[0], PRINTS[u.key[1]], numbers)
    return None


def times_wrapped(name: str, value: Value, numbers: dict[str, int]) -> int | None:
    """The extended sum minus the sum in 64 bits, in units of 2**32: the same in all lanes."""
    narrow = evaluate(value, numbers)
    wide = evaluate(
        Value(value.base.astype(np.uint64), tuple((u, c.astype(np.uint64)) for u, c in value.terms)), numbers
    )
    if narrow is None or wide is None:
        return None
    extended = narrow.astype(np.uint64) if name == "zext" else signed(narrow).astype(np.int64).view(np.uint64)
    (missing,) = set((extended - wide).ravel().tolist())
    assert missing % (1 << 32) == 0
    return missing >> 32


def random_program(rng: random.Random, bits: int):
    """A list of (op, source positions); positions index the values computed so far."""
    steps = []
    for _ in range(rng.randrange(2, 9)):
        kind = rng.random()
        if kind < 0.55:
            steps.append((Op(rng.choice(BINARY), bits=bits), 2))
        elif kind < 0.65:
            steps.append((Op(rng.choice(("neg", "not", "abs")), bits=bits), 1))
        elif kind < 0.8:
            steps.append((Op(rng.choice(("shl", "shr.u", "shr.s")), bits=bits), "shift"))
        elif kind < 0.87:
            steps.append((Op("lop3", bits=bits, attrs=(rng.randrange(256),)), 3))
        elif kind < 0.92:
            steps.append((Op("bfe.u", bits=bits), "field"))
        else:
            steps.append((Op("mad", bits=bits), 3))
    return steps


@pytest.mark.parametrize("seed", range(300))
def test_affine_values_hold_for_every_value_of_the_unknowns(seed):
    rng = random.Random(seed)
    bits = 32
    syms = symbols(rng)
    lane = known(np.arange(LANES, dtype=DTYPES[bits])[None, :])
    pool = [
        lane,
        lane,
        constant(rng.choice((1, 3, 4, 7, 8, 16, 31, 32, 64, 127, 128, 0xFFFFFFF0)), bits),
        constant(rng.getrandbits(5), bits),
    ] + [unknown(u, bits) for u, _ in syms]
    for _ in range(2):  # start with index-like expressions, so that claims are frequent
        u = rng.choice(syms)[0]
        pool.append(
            apply(
                Op("add", bits=bits),
                (
                    apply(Op("mul", bits=bits), (unknown(u, bits), constant(rng.choice((1, 4, 16, 128, 512)), bits))),
                    apply(Op("shl", bits=bits), (lane, constant(rng.randrange(5), 32))),
                ),
            )
        )
    chosen = []
    for op, arity in random_program(rng, bits):
        if arity == "shift":
            picks = (rng.randrange(len(pool)), None)
            extra = constant(rng.randrange(0, 36), 32)
            values = (pool[picks[0]], extra)
        elif arity == "field":
            picks = (rng.randrange(len(pool)),)
            values = (pool[picks[0]], constant(rng.randrange(32), 32), constant(rng.randrange(1, 33), 32))
        else:
            picks = tuple(rng.randrange(len(pool)) for _ in range(arity))
            values = tuple(pool[p] for p in picks)
        chosen.append((op, picks, values))
        pool.append(apply(op, values))
    first = len(pool) - len(chosen)
    for _trial in range(6):
        numbers = {u.name: rng.choice(options) for u, options in syms}
        plain: list[Value] = []
        for p in pool[:first]:
            concrete = evaluate(p, numbers)
            plain.append(known(concrete))
        for k, (op, picks, values) in enumerate(chosen):
            sources = tuple(plain[p] if p is not None else v for p, v in zip(picks + (None,) * 3, values))
            plain.append(apply(op, sources))
            claimed = pool[first + k]
            number = evaluate(claimed, numbers)
            truth = plain[-1]
            if number is None or truth.poison is not None:
                continue
            truth = np.broadcast_to(truth.base, (1, LANES))
            valid = claimed.valid if claimed.valid is not None else claimed.bits
            mask = truth.dtype.type((1 << valid) - 1)
            assert ((number & mask) == (truth & mask)).all(), (op, values, claimed, numbers)


@pytest.mark.parametrize("seed", range(200))
def test_affine_forms_in_bits_of_an_unknown(seed):
    """Swizzles with an unknown row, and shifts of an unknown: affine in the unknown's bits."""
    rng = random.Random(seed)
    u = Uniform("row", 32, 2, 0, 1 << 10, key="row")
    lane = known(np.arange(LANES, dtype=np.uint32)[None, :])
    factor, offset = constant(rng.choice((1, 2, 4, 16)), 32), constant(rng.randrange(8), 32)
    pattern = apply(
        Op("and"), (apply(Op("shl"), (lane, constant(rng.randrange(4), 32))), constant(rng.choice((7, 15, 28, 31)), 32))
    )
    mix = Op(rng.choice(("xor", "and", "or")))
    shift, distance = Op(rng.choice(("shr.u", "shr.s"))), constant(rng.randrange(1, 7), 32)

    def program(row: Value) -> tuple[Value, Value]:
        place = apply(Op("add"), (apply(Op("mul"), (row, factor)), offset))
        return apply(mix, (place, pattern)), apply(shift, (apply(Op("add"), (lane, place)), distance))

    claimed = program(unknown(u))
    assert claimed[0].poison is None, "a bitwise operation on a uniform unknown has a form"
    for number in (0, 4, 8, 64, rng.randrange(1 << 8) * 4):
        for value, truth in zip(claimed, program(constant(number, 32))):
            got = evaluate(value, {"row": number})
            if value.poison is None:
                assert got is not None
                assert (got == np.broadcast_to(truth.base, (1, LANES))).all()


@pytest.mark.parametrize("extension", ["zext", "sext"])
@pytest.mark.parametrize("zeros", [5, 7])
def test_sign_extended_index_wraps_uniformly(extension, zeros):
    """A 32-bit index used as a 64-bit address: the bits that decide sectors are known for every block index."""
    block = Uniform("block", 32, zeros, key="block")
    lanes = np.arange(LANES, dtype=np.uint32)[None, :]

    def extended(first: int) -> Value:
        index = apply(Op("add", bits=32), (unknown(block), known(lanes + np.uint32(first))))
        return apply(Op(extension, bits=64), (index,))

    claimed = extended(1 << zeros + 1)
    assert claimed.valid is None and len(claimed.terms) == 2
    for number in (0, 1 << 31, (1 << 31) - (1 << zeros), (1 << 32) - (1 << zeros), (1 << 32) - (1 << zeros + 1)):
        index = (lanes.astype(np.uint64) + np.uint64((1 << zeros + 1) + number)).astype(np.uint32)
        assert (evaluate(claimed, {"block": number}) == apply(Op(extension, bits=64), (known(index),)).base).all()
    assert extended(1).valid == 32 if zeros == 5 else extended(97).valid == 32, "lanes on both sides of a multiple"
    if zeros == 7:
        assert extended(96).valid is None


@pytest.mark.parametrize(
    "base, coefficient, exact",
    [(0xBFE00000, 128, True), (0xBFE00000, 0xFFFFFF80, True), (0xFFFFFE00, 128, False), (0x100, 0xFFFFFF80, False)],
)
def test_lower_word_above_2_to_the_31_stays_exact_as_unsigned(base, coefficient, exact):
    """Read as unsigned it does not wrap for any block; read as signed it is negative."""
    block = Uniform("ctaid.y", 32, 0, 0, 3, "block", ("ctaid", 1))
    lanes = np.arange(LANES, dtype=np.uint32)[None, :]
    low = Value(lanes * np.uint32(16) + np.uint32(base), ((block, np.full((1, 1), coefficient, np.uint32)),))
    pair = apply(Op("cat", bits=64), (low, constant(0x7FB6, 32)))
    assert (pair.valid is None) is exact
    for number in range(4):
        word = (low.base + np.uint32(coefficient * number & 0xFFFFFFFF)).astype(np.uint64)
        truth, got = word + (np.uint64(0x7FB6) << np.uint64(32)), evaluate(pair, {"ctaid.y": number})
        mask = np.uint64((1 << (pair.valid or 64)) - 1)
        assert (got & mask == truth & mask).all()


@pytest.mark.parametrize("seed", range(200))
def test_comparisons_and_extensions_hold_for_every_value(seed):
    rng = random.Random(seed)
    syms = symbols(rng)
    lane = known(np.arange(LANES, dtype=np.uint32)[None, :])
    u, options = rng.choice(syms)
    scale = constant(rng.choice((1, 2, 4, 128, 0xFFFFFFFC)), 32)
    value = apply(
        Op("add"),
        (apply(Op("mul"), (unknown(u), scale)), apply(Op("mul"), (lane, constant(rng.choice((0, 1, 4, 132)), 32)))),
    )
    other = rng.choice((constant(rng.choice((0, 1, 3, 4, 100, 1 << 20, 0x80000000)), 32), lane, value))
    claims = {name: apply(Op(name, bits=32), (value, other)) for name in COMPARE}
    claims["zext"] = apply(Op("zext", bits=64), (value,))
    claims["sext"] = apply(Op("sext", bits=64), (value,))
    claims["cut"] = apply(Op("trunc", bits=32), (apply(Op("shl", bits=64), (claims["sext"], constant(3, 32))),))
    claims["high"] = apply(Op("extract", bits=32, attrs=(32,)), (claims["sext"],))
    for number in options:
        numbers = {u.name: number}
        a = known(evaluate(value, numbers))
        b = other if other.known else known(evaluate(other, numbers))
        truths = {name: apply(Op(name, bits=32), (a, b)) for name in COMPARE}
        truths["zext"] = apply(Op("zext", bits=64), (a,))
        truths["sext"] = apply(Op("sext", bits=64), (a,))
        truths["cut"] = apply(Op("trunc", bits=32), (apply(Op("shl", bits=64), (truths["sext"], constant(3, 32))),))
        truths["high"] = apply(Op("extract", bits=32, attrs=(32,)), (truths["sext"],))
        for name, claimed in claims.items():
            got = evaluate(claimed, numbers)
            if got is None:
                continue
            truth = np.broadcast_to(truths[name].base, (1, LANES))
            if truth.dtype != bool and claimed.valid is not None:
                mask = truth.dtype.type((1 << claimed.valid) - 1)
                got, truth = got & mask, truth & mask
            assert (got == truth).all(), (name, value, other, numbers)


@pytest.mark.parametrize("seed", range(100))
def test_bitwise_operations_know_the_determined_bits(seed):
    """Bitwise operations on uniform numbers with some known bits, compared bit by bit."""
    rng = random.Random(seed)
    name, count = rng.choice((("and", 2), ("or", 2), ("xor", 2), ("lop3", 3)))
    table = rng.randrange(256)
    of_bits = {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "lop3": lambda a, b, c: table >> (a << 2 | b << 1 | c) & 1,
    }[name]
    sources = [(rng.getrandbits(32), rng.choice((0, 0xFFFFFFFF, rng.getrandbits(32)))) for _ in range(count)]
    values = []
    for number, sure in sources:
        base = constant(number, 32).base
        values.append(
            Value(base)
            if sure == 0xFFFFFFFF
            else Value(base, poison=EVERYWHERE, why=Reason(Kind.LOADED), sure=constant(sure, 32).base)
        )
    out = apply(Op(name, bits=32, attrs=(table,) if name == "lop3" else ()), tuple(values))
    found, claimed = int(out.base.flat[0]), int(np.broadcast_to(sure_bits(out), (1, 1))[0, 0])
    for bit in range(32):
        may = [(number >> bit & 1,) if sure >> bit & 1 else (0, 1) for number, sure in sources]
        results = {of_bits(*choice) for choice in itertools.product(*may)}
        assert bool(claimed >> bit & 1) == (len(results) == 1)
        assert len(results) == 2 or results == {found >> bit & 1}


# --- results that hold for all unknowns ---


@pytest.mark.parametrize("seed", range(200))
def test_carries_and_shifts_of_bounded_unknowns(seed):
    """The carries of a sum, and its bits from some position on, are known only if they are equal for all numbers in the
    unknowns' ranges.
    """
    rng = random.Random(seed)
    bits = rng.choice((32, 32, 64))
    x = Uniform("x", 32, 0, 0, rng.choice((1, 26, 1 << 16)), key="x")
    near = rng.choice((0, (1 << 32) - 4096, (1 << 32) - (1 << 20), 0x7F000000, 1 << 31)) + rng.randrange(4096)
    step = rng.choice((1, 4, 128, 1 << 21, -4))
    base = np.array([[near + rng.choice((0, 4, 64)) * lane for lane in range(LANES)]], np.int64).astype(DTYPES[bits])
    moving = Value(base, ((x, np.full((1, 1), step, np.int64).astype(DTYPES[bits])),))
    other = constant(rng.choice((0, 4096, (1 << 32) - 8, rng.getrandbits(32))), bits)
    numbers = sorted({0, 1, x.high // 2, x.high})
    at = lambda n: Value(base + DTYPES[bits](step * n & (1 << bits) - 1))
    no = constant(0, 1)
    if bits == 32:
        found = apply(Op("add3.carry", (), (), 32), (moving, other, constant(0, 32), no, no))
        for n in numbers:
            for mine, true in zip(
                found[1:], apply(Op("add3.carry", (), (), 32), (at(n), other, constant(0, 32), no, no))[1:]
            ):
                assert (
                    mine.poison is not None
                    or (np.broadcast_to(mine.base, (1, LANES)) == np.broadcast_to(true.base, (1, LANES))).all()
                )
    shift = rng.choice((2, 7, 20, 31) + (32,) * (bits == 64))
    for name in ("shr.u", "shr.s"):
        mine = apply(Op(name, (), (), bits), (moving, constant(shift, 32)))
        if mine.known:
            for n in numbers:
                assert (
                    np.broadcast_to(mine.base, (1, LANES))
                    == apply(Op(name, (), (), bits), (at(n), constant(shift, 32))).base
                ).all()


def test_high_word_and_sign_of_a_bounded_index_are_known():
    block = Uniform("ctaid.x", 32, 0, 0, 1000, "block", ("ctaid", 0))
    index = Value(np.arange(LANES, dtype=np.uint32)[None, :], ((block, np.full((1, 1), 128, np.uint32)),))
    sign = apply(Op("shr.s", (), (), 32), (index, constant(31, 32)))
    assert sign.known and not sign.base.any()
    low = constant(0xC4000000, 32)
    _, carry, twice = apply(Op("add3.carry", (), (), 32), (low, index, constant(0, 32), constant(0, 1), constant(0, 1)))
    assert carry.known and not carry.base.any() and not twice.base.any()
    _, carry, _ = apply(
        Op("add3.carry", (), (), 32), (constant(0xFFFFFF00, 32), index, constant(0, 32), constant(0, 1), constant(0, 1))
    )
    assert not carry.known


def test_halves_from_different_warps_are_not_rejoined():
    """The upper half names the number that it was extracted from, with the warps at that time; after blocks are tracked
    separately there are more rows.
    """
    pointer = Uniform("p", 64, key=("param", 0, 64))
    whole = affine.add(unknown(pointer), known(np.array([[0], [64]], np.uint64)))
    low, high = (apply(Op("extract", bits=32, attrs=(at,)), (whole,)) for at in (0, 32))
    assert halves.rejoin(low, high) is not None
    three = affine.add(
        affine.fit(unknown(pointer), 32), known(np.broadcast_to(np.array([[0], [64], [64]], np.uint32), (3, LANES)))
    )
    assert halves.rejoin(three, high) is None
    of_rows = Value(np.zeros((1, 1), np.uint32), ((pointer, np.ones((3, 1), np.uint32)),))
    assert halves.rejoin(of_rows, high) is None


@pytest.mark.parametrize("base", [0xFFFFFFC0, 0, 0x40, 0x80000000])
@pytest.mark.parametrize("low, high", [(1 << 20, (1 << 24) - 16), (0, 1 << 20), (-(1 << 10), -1)])
def test_sum_that_wraps_a_constant_number_of_times_is_extended(base: int, low: int, high: int) -> None:
    """A stack pointer less the size of a frame wraps once: extended to 64 bits it is the lower number."""
    u = Uniform("u", 32, 0, low, high, "special", "u")
    value = affine.add(known(np.uint32(base) + 4 * np.arange(LANES, dtype=np.uint32)[None, :]), unknown(u))
    wide = affine.zero_extend(value, 64)
    numbers = np.array([low, low + 4, (low + high) // 2, high])[:, None] + base + 4 * np.arange(LANES)
    wraps = {number >> 32 for number in numbers.ravel().tolist()}
    if len(wraps) > 1:
        assert len(wide.terms) != 1 or wide.valid == 32
        return
    assert wide.valid is None and wide.poison is None and len(wide.terms) == 1
    for number, row in zip((low, low + 4, (low + high) // 2, high), numbers):
        found = (wide.base + wide.terms[0][1] * np.uint64(number & (1 << 64) - 1)).ravel()
        assert found.tolist() == [int(one) & 0xFFFFFFFF for one in row]
