"""Truth values tracked through the bits of registers, compared with every number that such registers can hold."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.memory import same_truths
from ptxaudit.engine.ops.row import OPS
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

WIDTH = 5  # the tested bits; those above are known zeros
TRUTHS = {"p": 1, "q": 2}
WHY = Reason(Kind.LOADED)
MASK = np.ones((1, 2), bool)
OPERATIONS = {  # name -> (attributes, widths of the sources: 32, 1 for a predicate, (number,) for a constant)
    "mov": ((), (32,)),
    "not": ((), (32,)),
    "and": ((), (32, 32)),
    "or": ((), (32, 32)),
    "xor": ((), (32, 32)),
    "lop3": ((0xE2,), (32, 32, 32)),
    "shl": ((), (32, (2,))),
    "shr.u": ((), (32, (1,))),
    "add": ((), (32, 32)),
    "select": ((), (32, 32, 1)),
    "zext": ((), (1,)),
    "setp.eq": ((), (32, (0,))),
    "setp.ne": ((), (32, (4,))),
}


def register(rng, width, kinds_of_bits="0011?pqPQ"):
    """(a value, the positions of its truth values, for each of two lanes the kinds of its bits)."""
    if isinstance(width, tuple):
        return Value(np.full((1, 1), width[0], np.uint32)), {}, None
    bits = WIDTH if width == 32 else 1
    kinds = [rng.choice(kinds_of_bits) for _ in range(bits)]
    other = "0" if "?" not in kinds_of_bits else "01?"
    lanes = [[rng.choice(other) if kind in "01?" else kind for kind in kinds] for _ in range(2)]
    ones, unknown = (
        np.array([[sum(1 << n for n, kind in enumerate(lane) if kind in which) for lane in lanes]], np.uint32)
        for which in ("1", "?pqPQ")
    )
    if width == 1:
        ones, unknown = ones.astype(bool), unknown.astype(bool)
    value = Value(ones, poison=unknown if width == 1 else unknown != 0, why=WHY, sure=None if width == 1 else ~unknown)
    places = {
        number: tuple(sum(1 << n for n, kind in enumerate(kinds) if kind == which) for which in (name, name.upper()))
        for name, number in TRUTHS.items()
    }
    return value, {number: at for number, at in places.items() if any(at)}, lanes


def numbers(width, kinds, truths):
    """All numbers with these kinds of bits. kinds: None for a constant."""
    if kinds is None:
        return [width[0]]
    fixed = {"0": (0,), "1": (1,), "?": (0, 1)}
    fixed |= {name: (truth,) for name, truth in truths.items()}
    fixed |= {name.upper(): (1 - truth,) for name, truth in truths.items()}
    choices = itertools.product(*(fixed[kind] for kind in kinds))
    return [sum(bit << n for n, bit in enumerate(bits)) for bits in choices]


def concrete(name, attrs, widths, sources):
    arrays = [np.full((1, 1), n, bool if width == 1 else np.uint32) for n, width in zip(sources, widths, strict=True)]
    return int(OPS[name].concrete(32, attrs, *arrays).flat[0])


@pytest.mark.parametrize("name", OPERATIONS)
def test_tracked_truth_bits_hold_for_every_number(name):
    attrs, widths = OPERATIONS[name]
    rng, some = random.Random(name), 0
    for _ in range(150):
        given = [register(rng, width, "00000pqP" if "setp" in name else "0011?pqPQ") for width in widths]
        if sum(lane.count("?") for *_, lanes in given if lanes for lane in lanes) > 8:
            continue
        op = Op(name, attrs=attrs, bits=32)
        found = same_truths.carried(op, [value for value, *_ in given], [at for _, at, _ in given], MASK)
        some += bool(found)
        for lane, p, q in itertools.product((0, 1), (0, 1), (0, 1)):
            truths = {"p": p, "q": q}
            each = [numbers(w, lanes and lanes[lane], truths) for w, (*_, lanes) in zip(widths, given, strict=True)]
            for sources in itertools.product(*each):
                result = concrete(name, attrs, widths, sources)
                for which, number in TRUTHS.items():
                    same, opposite = found.get(number, (0, 0))
                    ones, zeros = (same, opposite) if truths[which] else (opposite, same)
                    assert result & (same | opposite) == ones, (name, given, sources, found)
                    assert result & zeros == 0
    assert some > 5


@pytest.mark.parametrize("opposite", [False, True])
def test_truth_bits_of_a_selection_hold_for_both_choices(opposite):
    rng, some = random.Random(opposite), 0
    undecided = Value(np.zeros((1, 1), bool), poison=np.ones((1, 1), bool), why=WHY)
    for _ in range(150):
        given = [register(rng, 32, "0011?ppqPQ") for _ in range(2)]
        values, bits, kinds = zip(*given)
        found = same_truths.chosen(TRUTHS["p"], opposite, values, bits, undecided, MASK)
        some += bool(found)
        for lane, p, q in itertools.product((0, 1), (0, 1), (0, 1)):
            truths = {"p": p, "q": q}
            for result in numbers(32, kinds[p == opposite][lane], truths):
                for which, number in TRUTHS.items():
                    same, turned = found.get(number, (0, 0))
                    assert result & (same | turned) == (same if truths[which] else turned), (given, found)
    assert some > 50


def test_sum_of_a_truth_value_with_itself_shifts_it():
    """p + p is twice p: its lowest bit is 0, and the next one is p."""
    p = Value(np.zeros((1, 1), np.uint32), poison=np.ones((1, 1), bool), why=WHY, sure=np.full((1, 1), ~np.uint32(1)))
    found = same_truths.carried(Op("add", bits=32), [p, p], [{1: (1, 0)}, {1: (1, 0)}], MASK)
    assert found == {1: (2, 0)}


def test_inactive_lanes_do_not_affect_truth_bits():
    values = [
        Value(
            np.array([[0, 9]], np.uint32),
            poison=np.array([[True, False]]),
            why=WHY,
            sure=np.array([[30, 31]], np.uint32),
        ),
        Value(np.full((1, 1), 1, np.uint32)),
    ]
    asked = Op("and", bits=32), values, [{1: (1, 0)}, {}]
    assert same_truths.carried(*asked, np.array([[True, False]])) == {1: (1, 0)}


def test_comparison_ignores_bits_beyond_its_width():
    """The comparison of 16 bits ignores a difference in higher bits."""
    p = Value(
        np.full((1, 1), 1 << 20, np.uint32), poison=np.ones((1, 1), bool), why=WHY, sure=np.full((1, 1), ~np.uint32(1))
    )
    zero = Value(np.zeros((1, 1), np.uint32))
    for bits, found in ((16, {1: (0, 1)}), (32, {})):
        assert same_truths.carried(Op("setp.eq", bits=bits), [p, zero], [{1: (1, 0)}, {}], MASK) == found
