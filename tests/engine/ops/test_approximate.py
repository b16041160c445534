"""Candidates for results of special functions: only documented ones, and all that an H100 returns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ptxaudit.engine.domain.value import Uniform, Value, known
from ptxaudit.engine.ops import approximate, mufu, operations
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason, sentence

RNG = np.random.default_rng(11)
BORDERS = np.array(
    [
        0,
        1,
        0x007FFFFF,
        0x00800000,
        0x3F7FFFFF,
        0x3F800000,
        0x3F800001,
        0x40000000,
        0x40490FDB,
        0x42C80000,
        0x43000000,
        0x7E7FFFFF,
        0x7E800000,
        0x7F000000,
        0x7F7FFFFF,
        0x7F800000,
        0x7FC00000,
        0x7F800001,
    ],
    np.uint32,
)


def inputs(count: int = 400) -> np.ndarray:
    """(1, n) bit patterns of 32-bit floats."""
    near_one = (127 + RNG.integers(-8, 9, count) << 23 | RNG.integers(0, 1 << 23, count)).astype(np.uint32)
    anything = RNG.integers(0, 1 << 32, count, np.uint32)
    return np.concatenate([BORDERS, BORDERS | np.uint32(1 << 31), near_one, near_one | np.uint32(1 << 31), anything])[
        None
    ]


@pytest.mark.parametrize("name", approximate.MUFU)
def test_mufu_candidates_contain_the_results_of_sm_90(name):
    bits = inputs()
    numbers, beyond = approximate.MUFU[name].candidates(32, (), bits)
    measured = mufu.FUNCTIONS[name.removeprefix("mufu.")](bits)
    there = (numbers == measured).any(axis=0) | beyond
    assert there.all(), [(hex(x), hex(m)) for x, m in zip(bits[~there], measured[~there])][:5]


@pytest.mark.parametrize("name, function", [("rcp", lambda x: 1 / x), ("div.full", None)])
def test_candidates_are_within_the_documented_error(name, function):
    bits = inputs(60)
    attrs = ("rn", False)
    if function is None:
        other = np.roll(bits, 7)
        numbers, beyond = approximate.PTX[name].candidates(32, attrs, bits, other)
        units = 2
    else:
        numbers, beyond = approximate.PTX[f"{name}.approx"].candidates(32, attrs, bits)
        units = 1
    for k in range(bits.shape[1]):
        x = float(bits[0, k : k + 1].view(np.float32)[0])
        y = None if function else float(other[0, k : k + 1].view(np.float32)[0])
        if not np.isfinite(x) or x == 0 or y is not None and (not np.isfinite(y) or y == 0) or beyond[0, k]:
            continue
        exact = 1 / Fraction(x) if function else Fraction(x) / Fraction(y)
        for candidate in {int(n) for n in numbers[:, 0, k]}:
            value = float(np.uint32(candidate).view(np.float32))
            if np.isinf(value):
                assert abs(exact) > Fraction(2) ** 127
                continue
            exponent = max(abs(exact).numerator.bit_length() - abs(exact).denominator.bit_length(), -126)
            assert abs(Fraction(value) - exact) <= units * Fraction(2) ** (exponent - 23) * Fraction(1 + 2.0**-19)


def test_reciprocal_of_a_power_of_two_is_exact():
    powers = (np.arange(2, 250, dtype=np.uint32) << np.uint32(23))[None]
    numbers, _ = approximate.MUFU["mufu.rcp"].candidates(32, (), powers)
    assert (numbers == mufu.rcp(powers)).all()


def test_reciprocal_has_at_most_four_candidates():
    numbers, beyond = approximate.MUFU["mufu.rcp"].candidates(32, (), inputs())
    assert not beyond.any() and len(numbers) <= 4


def test_division_is_known_despite_an_approximate_reciprocal():
    n = known(np.arange(32, dtype=np.uint32)[None] * np.uint32(77))
    d = known(np.full((1, 1), 13, np.uint32))
    apply = lambda name, *values, **more: operations.apply(Op(name, **more), values, 3)
    r = apply("mufu.rcp", apply("i2f.u", d, attrs=("rp",)))
    assert (
        r.alternatives is not None and str(r.why) == "the result of mufu.rcp, known only to within its documented error"
    )
    q = apply(
        "f2i.u", apply("fmul", apply("i2f.u", n, attrs=("rn",)), r, attrs=("rn", False)), attrs=("rzi", False, True)
    )
    assert not q.known  # 13 divides some of them: the product is next to an integer
    middle = apply(
        "i2f.u",
        apply("add", apply("mul", n, known(np.full((1, 1), 2, np.uint32))), known(np.full((1, 1), 1, np.uint32))),
        attrs=("rn",),
    )
    q = apply(
        "f2i.u",
        apply(
            "fmul",
            middle,
            apply("fmul", r, known(np.full((1, 1), 0x3F000000, np.uint32)), attrs=("rn", False)),
            attrs=("rn", False),
        ),
        attrs=("rzi", False, True),
    )
    assert q.known and (q.base == np.arange(32) * 77 // 13).all()


def test_approximation_of_an_unknown_names_its_source():
    n = Uniform("n", 32, key="n")
    value = Value(np.zeros((1, 32), np.uint32), ((n, np.arange(32, dtype=np.uint32)[None, :]),))
    out = operations.apply(Op("rcp.approx", bits=32, attrs=("rn", False)), (value,), 7)
    assert out.poison.all() and sentence(out.why) == sentence(Reason(Kind.UNKNOWN_SOURCES, 7, ("rcp.approx",), (n,)))
