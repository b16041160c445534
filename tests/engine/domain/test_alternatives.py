"""Values with alternatives: every law is checked against all outcomes, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ptxaudit.engine.answer import alike
from ptxaudit.engine.domain import affine, alternatives
from ptxaudit.engine.domain.value import Uniform, Value, constant, known, squeeze, unknown
from ptxaudit.engine.exec.control import is_uniform
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import Registers, View, blend, take
from ptxaudit.engine.ops import operations
from ptxaudit.hardware import banks, machines
from ptxaudit.ir.nodes import Const, Function, Guard, Op, Reg
from ptxaudit.ir.reasons import Kind, Reason

WHY = Reason(Kind.CHOICE, 7)
RNG = np.random.default_rng(5)
OPS = (
    "add",
    "sub",
    "mul",
    "and",
    "or",
    "xor",
    "min.u",
    "max.s",
    "shl",
    "shr.u",
    "setp.lt.u",
    "setp.eq",
    "mulhi.u",
    "div.u",
)


def several(numbers, uniform: bool = False) -> Value:
    """A value on one axis: numbers (n, rows, lanes)."""
    return alternatives.chosen(np.array(numbers, np.uint32)[:, None], None, (), uniform, WHY)


def outcomes(*values: Value):
    """Each value, for every combination of outcomes of their axes."""
    axes = list(dict.fromkeys(axis for v in values if v.alternatives for axis in v.alternatives.axes))
    for chosen in itertools.product(*(range(axis.size) for axis in axes)):
        at = dict(zip(axes, chosen))
        out = []
        for v in values:
            own = v.alternatives
            if own is None:
                out.append(v.base)
                continue
            k = 0
            for axis in own.axes:
                k = k * axis.size + at[axis]
            out.append(own.bases[k])
        yield tuple(np.broadcast_to(a, (2, 4)) for a in out)


def random_value(count: int) -> Value:
    numbers = RNG.integers(0, 6, (count, 2, 4)).astype(np.uint32)
    numbers[:, 0, :2] = numbers[0, 0, :2]  # some lanes agree
    return several(numbers)


@pytest.mark.parametrize("name", OPS)
def test_operations_apply_to_every_alternative(name):
    row = operations.meaning_of(name)
    for _ in range(5):
        a, b = random_value(3), random_value(2)
        for x, y in ((a, b), (a, a), (a, constant(3, 32)), (operations.apply(Op("add"), (a, b)), a)):
            out = operations.apply(Op(name), (x, y))
            whole, undefined = None, np.zeros((2, 4), bool)
            for base_x, base_y, *result in outcomes(*(v for v in (x, y, out))):
                expected = row.concrete(32, (), base_x, base_y)
                bad = np.zeros((2, 4), bool) if row.undefined is None else row.undefined(32, (), base_x, base_y)
                undefined |= bad
                agree = np.broadcast_to(expected, (2, 4))
                lost = out.alternatives.unknown if out.alternatives is not None else out.poison
                sure = ~undefined if lost is None else ~np.broadcast_to(lost, (2, 4))
                if result:
                    assert (result[0] == agree)[sure].all()
                whole = agree if whole is None else whole
                differs = agree != whole
                poison = np.zeros((2, 4), bool) if out.poison is None else np.broadcast_to(out.poison, (2, 4))
                assert poison[differs & sure].all()


def test_alternatives_of_one_event_are_correlated():
    a = random_value(3)
    assert (operations.apply(Op("sub"), (a, a)).base == 0).all() and operations.apply(Op("sub"), (a, a)).known
    assert not operations.apply(Op("sub"), (a, random_value(3))).known


def test_equal_alternatives_collapse_to_a_known_value():
    a = several([[[8, 9, 10, 11]] * 2, [[9, 9, 11, 11]] * 2])
    half = operations.apply(Op("shr.u"), (a, constant(2, 32)))
    assert half.known and half.alternatives is None and (half.base == 2).all()


def test_too_many_alternatives_become_unknown():
    value = random_value(4)
    for _ in range(4):
        value = operations.apply(Op("add"), (value, several(RNG.integers(0, 1 << 30, (4, 2, 4)))))
    assert value.alternatives is None and value.poison.all() and value.why == WHY


def test_sum_keeps_unknowns_beside_alternatives():
    base = unknown(Uniform("shared", 32, 4, kind="shared", key="s"))
    total = operations.apply(Op("add"), (base, several([[[0, 4, 8, 12]] * 2, [[0, 8, 8, 12]] * 2])))
    assert [u.name for u, _ in total.terms] == ["shared"] and total.poison.tolist() == [[False, True, False, False]] * 2
    assert affine.add(total, constant(4, 32)).alternatives.bases[1].tolist() == [[4, 12, 12, 16]] * 2


def test_guarded_quotient_correction_holds_in_every_alternative():
    """q + 1 where the remainder is not less than the divisor, as division corrects its estimate: right in every
    alternative.
    """
    registers = Registers(2)
    n, d = known(np.array([[20, 21, 22, 23]] * 2, np.uint32)), constant(7, 32)
    estimate = several([[[2, 3, 3, 3]] * 2, [[1, 2, 2, 2]] * 2])
    mask = np.ones((2, 4), bool)
    env = Environment(Function("k", "sass", "sm_90", ()), mask, (), None)
    registers.values |= {"n": n, "d": d, "q": estimate}
    view = View(registers, env, None, mask, True)
    q, r, p, t = Reg("q", 32), Reg("r", 32), Reg("p", 1), Reg("t", 32)
    for op in (
        Op("mul", (t,), (q, Reg("d", 32))),
        Op("sub", (r,), (Reg("n", 32), t)),
        Op("setp.ge.u", (p,), (r, Reg("d", 32))),
        Op("add", (q,), (q, Const(1)), guard=Guard(p)),
    ):
        execute(op, view, 0)
    assert view.read(q).known and (view.read(q).base == np.array([2, 3, 3, 3])).all()
    registers.values["q"] = estimate
    for op in (Op("setp.lt.u", (p,), (r, Reg("d", 32))), Op("add", (q,), (q, Const(1)), guard=Guard(p, negated=True))):
        execute(op, view, 0)
    assert view.read(q).known and (view.read(q).base == np.array([2, 3, 3, 3])).all()


def test_blend_keeps_alternatives():
    a, b = random_value(2), random_value(2)
    mask = np.array([[True, False, True, False]] * 2)
    both = blend(a, b, mask)
    for x, y, mixed in outcomes(a, b, both):
        assert (mixed == np.where(mask, y, x)).all()
    row = take(both, np.array([1]))
    assert row.base.shape[0] == 1 and (row.base == both.base[1]).all()
    registers = Registers(2, {"r": a})
    env = Environment(Function("k", "sass", "sm_90", ()), np.ones((2, 4), bool), (), None)
    view = View(registers, env, np.array([1]), np.ones((1, 4), bool), False)
    view.write(Reg("r", 32), take(b, np.array([1])), None)
    for x, y, mixed in outcomes(a, b, registers.values["r"]):
        assert (mixed[0] == x[0]).all() and (mixed[1] == y[1]).all()


@pytest.mark.parametrize("which", ["old", "new", "both"])
def test_rows_beyond_the_tracked_limit_need_equal_alternatives(which, monkeypatch):
    """The number of rows may grow after a value was made: a merge or a result with it is known where all alternatives
    agree.
    """
    a = random_value(4) if which != "new" else known(np.full((2, 4), 7, np.uint32))
    b = random_value(4) if which != "old" else known(np.full((2, 4), 9, np.uint32))
    mask = np.array([[True, False, True, False]] * 2)
    moved = operations.apply(Op("add"), (unknown(Uniform("shared", 32, 4, kind="shared", key="s")), random_value(2)))
    monkeypatch.setattr(alternatives, "MOST_NUMBERS", 8)
    mixed = blend(a, b, mask)
    assert mixed.alternatives is None
    for x, y, _ in outcomes(a, b, known(np.zeros((2, 4), np.uint32))):
        right = (mixed.base == np.where(mask, y, x)) | (False if mixed.poison is None else mixed.poison)
        assert right.all()
    inverted = affine.invert(moved)
    assert inverted.alternatives is None and (inverted.poison == moved.poison).all()


def test_uniform_alternatives_become_one_unknown():
    spread = np.arange(4, dtype=np.uint32) * 4
    shifted = operations.apply(Op("add"), (several([[[64]] * 2, [[96]] * 2], uniform=True), known(spread[None])))
    one = alternatives.as_unknown(shifted)
    ((symbol, coefficient),) = one.terms
    assert one.poison is None and (symbol.zeros, symbol.low, symbol.high) == (5, 0, 32) and (coefficient == 1).all()
    other = alternatives.as_unknown(operations.apply(Op("shl"), (shifted, constant(1, 32))))
    assert other is not None and other.poison is not None or other.terms[0][0] != symbol
    apart = several([[[0, 4, 8, 12]] * 2, [[0, 4, 8, 16]] * 2])
    assert alternatives.as_unknown(apart) is apart  # lanes choose independently
    truth = operations.apply(Op("setp.lt.u"), (several([[[1]] * 2, [[9]] * 2], uniform=True), constant(5, 32)))
    lanes = np.ones((2, 4), bool)
    assert not is_uniform(random_value(2), lanes) and is_uniform(truth, lanes)
    assert squeeze(alternatives.as_unknown(truth)).terms


# --- requests -------------------------------------------------------------------------------


def settled(numbers, opcode: str = "LDS", active=None, uniform: bool = False) -> bool:
    """Whether a request of one warp is scored as if it had the first of several alternative addresses (n, lanes)."""
    numbers = np.array(numbers, np.uint32)[:, None]
    address = alternatives.chosen(numbers[:, None], None, (), uniform, WHY)
    mask = np.ones((1, 32), bool) if active is None else active
    return alike.settled(address, mask, machines.get("sm_80"), banks.classify(opcode)).alternatives is None


def test_cost_of_a_request_over_alternative_addresses():
    words = np.arange(32) * 4
    beside = words.copy()
    beside[5] = words[5] + 128  # another word of the same bank: also free of conflicts
    assert settled([words, beside])
    beside[5] = words[6] + 128  # a word in another lane's bank
    assert not settled([words, beside])
    assert settled([words, words + 4], uniform=True) and not settled(
        [words, words + 4]
    )  # uniform: one choice for all lanes; independent lanes have 2**32 combinations
    assert not settled([words, words + 2])  # the alternative would be misaligned
    two = words.copy()
    two[5], two[6] = words[6] + 128, words[5] + 128  # no conflict if both lanes take it, one if a single lane does
    off = np.ones((1, 32), bool)
    assert not settled([words, two]) and settled([words, two], uniform=True)
    off[0, 5] = False
    beside[5] = words[6] + 128
    assert settled([words, beside], active=off)  # an inactive lane
    assert settled([words, beside], "ATOMS.ADD", active=off)
