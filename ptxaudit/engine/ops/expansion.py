"""Boole's expansion: any operation on sources that depend on one uniform truth value u and on no other unknown.

    f(u) = f(0) + u · (f(1) − f(0))

(33·u + 32·!u) · lane & 2047, a table of constants indexed by u, a comparison with a number: each stays a function of u,
so that later values that depend on the same u are correlated with it, and `answer` can list its two cases.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain.truths import as_number, is_truth, truth_of
from ptxaudit.engine.domain.value import Uniform, Value, either, lane_uniform
from ptxaudit.ir.reasons import Reason


def expanded(u: Uniform, values: tuple[Value, ...], compute: Callable[[tuple[Value, ...]], Value]) -> Value | None:
    """The result of an operation by the expansion; None if it has no form.

    u: the `only_truth` of the sources. compute: the operation, of sources without unknowns.
    """
    zero, one = (compute(tuple([_with(v, bit) for v in values])) for bit in (0, 1))
    if any(v.terms or v.valid is not None or v.alternatives is not None or type(v) is not Value for v in (zero, one)):
        return None
    poison, why = either(zero.poison, one.poison), zero.why or one.why
    if zero.base.dtype == bool:
        return _predicate(u, zero.base, one.base, poison, why)
    step = one.base - zero.base
    if not anywhere(step != 0):
        return Value(zero.base, (), None, poison, why)
    number = _number(u, zero.bits)
    return None if number is None else Value(zero.base, ((number, step),), None, poison, why)


def only_truth(values: tuple[Value, ...]) -> Uniform | None:
    """The one truth value that is the only unknown of the values."""
    found: Uniform | None = None
    for v in values:
        if v.poison is not None or v.valid is not None or v.alternatives is not None or type(v) is not Value:
            return None
        for u, _ in v.terms:
            if not is_truth(u) or found is not None and found != truth_of(u):
                return None
            found = truth_of(u)
        if len(v.terms) > 1:  # the same one in two forms
            return None
    return found


def _with(value: Value, bit: int) -> Value:
    """The value if its truth value is 0 or 1."""
    if not bit or not value.terms:
        return Value(value.base)
    ((_, c),) = value.terms
    return Value(value.base ^ c if value.base.dtype == bool else value.base + c)


def _number(u: Uniform, bits: int) -> Uniform | None:
    """The unknown as a number of a width."""
    return as_number(u, bits) if u.bits == 1 else u if u.bits == bits else None


def _predicate(
    u: Uniform, zero: np.ndarray, one: np.ndarray, poison: np.ndarray | None, why: Reason | None
) -> Value | None:
    """The predicate that is `zero` or `one`: known where both agree; where they do not, u itself or unknown."""
    differ = zero ^ one
    if not anywhere(differ):
        return Value(zero, (), None, poison, why)
    if poison is not None or u.bits > 1 or not lane_uniform(differ) or anywhere(zero & differ):
        return None
    return Value(zero, ((u, differ),))
