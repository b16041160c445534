"""Unknown truth values, tracked lane by lane through the bits of registers, in code without branches.

    @p r1 = r2;  r3 = zext p;  r3 = r3 << 4;  …  q = (r3 & 16) != 0;  @q ld.shared [r1]      q is p: r1 is r2

A compiler that runs out of predicates keeps them in bits of registers (P2R, LOP3). Each truth value has a number; for
each register the analysis knows which bits equal which truth value, or its negation. A bit of a result equals a truth
value if it is 0 in all lanes assuming that value to be false, and 1 assuming it to be true, whatever else is unknown.
So the rules for known bits (`ops.tristates`) also determine where truth values go, and need not know of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import count
from operator import or_

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain.known_bits import Tristate, resized, whole_part
from ptxaudit.engine.domain.value import BITS, Value, is_number
from ptxaudit.engine.ops.row import OPS
from ptxaudit.ir.nodes import Op

Bits = dict[int, tuple[int, int]]  # truth value -> the bits that equal it, and those that equal its negation

Rule = Callable[..., Tristate | None]

NOWHERE: Bits = {}
_BITWISE = ("and", "or", "xor", "not", "lop3")  # each bit of the result depends only on the bits at its place
TAKEN_UP = ("zext", "select")  # operations that turn a predicate, their last source, into a number

_numbers = count()


def new_number() -> int:
    """The number of a new truth value."""
    return next(_numbers)


def of_bit(bits: Bits) -> tuple[int, bool] | None:
    """The truth value that the lowest bit equals, and whether it is negated."""
    return next(((n, not same & 1) for n, (same, opposite) in bits.items() if (same | opposite) & 1), None)


def _equal(a: Tristate, b: Tristate) -> Tristate:
    unknown = a.unknown | b.unknown
    differ = (a.bits ^ b.bits) & ~unknown != 0
    known = differ | (unknown == 0)
    return Tristate(~differ & known, ~known)


def _different(a: Tristate, b: Tristate) -> Tristate:
    equal = _equal(a, b)
    return Tristate(~equal.bits & ~equal.unknown, equal.unknown)


_OF_TRUTHS: dict[str, Rule] = {  # where the table has no rule for known bits
    "setp.eq": lambda op, a, b: _equal(resized(a, op.bits), resized(b, op.bits)),
    "setp.ne": lambda op, a, b: _different(resized(a, op.bits), resized(b, op.bits)),
}


def may_hold(*values: Value) -> bool:
    """Whether the result of a choice between these values is worth searching for a truth value.

    It is if each is a single number, or has some known bits, as registers have that hold predicates.
    """
    return all(is_number(v) and v.base.size == 1 or type(v) is Value and v.sure is not None for v in values)


def _rule_of(name: str) -> Rule | None:
    """The rule of an operation for known bits."""
    row = OPS.get(name)
    return _OF_TRUTHS.get(name) or (None if row is None or row.results > 1 else row.bits)


def carried(op: Op, values: Sequence[Value], bits: Sequence[Bits], mask: np.ndarray) -> Bits:
    """The truth values in the result of an operation. values, bits: of each source; mask: the active lanes."""
    if op.name == "mov":
        return bits[0]
    rule = _rule_of(op.name)
    if rule is None or any(type(v) is not Value or v.alternatives is not None for v in values):
        return NOWHERE
    parts = [whole_part(v) for v in values]
    several = sum(1 for each in bits if each) > 1
    if op.name in _BITWISE and not several:
        every = [_all_places(each) for each in bits]
        zero_one, one_zero = _moved(rule, op, parts, [(places, 0) for places in every], mask)
        found = {n: _through(*at, zero_one, one_zero) for each in bits for n, at in each.items()}
    else:
        numbers = dict.fromkeys(number for each in bits for number in each)
        found = {n: _moved(rule, op, parts, [each.get(n, (0, 0)) for each in bits], mask) for n in numbers}
    return {n: at for n, at in found.items() if any(at)}


def chosen(
    number: int, opposite: bool, values: Sequence[Value], bits: Sequence[Bits], undecided: Value, mask: np.ndarray
) -> Bits:
    """The truth values in the result of a choice by a predicate that is a truth value, or its negation.

    Those in both operands, and the predicate itself where bits of both are known and differ.
    """
    first, second = bits
    found = {n: (at[0] & second[n][0], at[1] & second[n][1]) for n, at in first.items() if n in second}
    select = Op("select", bits=values[0].bits)
    own = [{number: each[number]} if number in each else NOWHERE for each in bits]
    choosing = {number: (0, 1) if opposite else (1, 0)}
    for n, at in carried(select, (*values, undecided), (*own, choosing), mask).items():
        before = found.get(n, (0, 0))
        found[n] = at[0] | before[0], at[1] | before[1]
    return {n: at for n, at in found.items() if any(at)}


def _all_places(bits: Bits) -> int:
    return reduce(or_, (same | opposite for same, opposite in bits.values()), 0)


def _through(same: int, opposite: int, zero_one: int, one_zero: int) -> tuple[int, int]:
    """The bits of a truth value after a bitwise operation that copies some bits and inverts others."""
    return same & zero_one | opposite & one_zero, same & one_zero | opposite & zero_one


def _moved(
    rule: Rule, op: Op, parts: Sequence[Tristate], places: Sequence[tuple[int, int]], mask: np.ndarray
) -> tuple[int, int]:
    """The bits of the result that equal a truth value, and those that equal its negation. places: in each source."""
    off, on = (rule(op, *(_where(p, *at, truth) for p, at in zip(parts, places))) for truth in (False, True))
    if off is None or on is None:
        return 0, 0
    zero_one = _everywhere(~off.bits & ~off.unknown & on.bits, mask)
    return zero_one, _everywhere(off.bits & ~on.bits & ~on.unknown, mask)


def _where(part: Tristate, same: int, opposite: int, truth: bool) -> Tristate:
    """The known bits of a number assuming that a truth value, which some of its bits equal, is true or false."""
    width, as_own = (1 << BITS[part.bits.dtype]) - 1, part.bits.dtype.type
    if not (same | opposite) & width:
        return part
    clear, ones = ~as_own((same | opposite) & width), as_own((same if truth else opposite) & width)
    return Tristate(part.bits & clear | ones, part.unknown & clear)


def _everywhere(array: np.ndarray, mask: np.ndarray) -> int:
    """The bits that are set in all active lanes."""
    if not anywhere(array):
        return 0
    if array.size > 1:
        array = np.broadcast_to(array, mask.shape)[mask]
    return int(np.bitwise_and.reduce(array, axis=None))
