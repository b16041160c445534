"""Truth values that are not known but the same in all lanes, as predicates and as numbers.

p = (n < 4)        False + True·p
zext(p), p ? 1 : 0 one number, 0 or 1: the same unknown for both
"""

from __future__ import annotations

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.value import Uniform, Value, squeeze


def truth(p: Value) -> Uniform | None:
    """The unknown that a predicate is, the same in all lanes of all rows; None where it is not one alone."""
    p = squeeze(p)
    if not p.uniform or p.poison is not None or len(p.terms) != 1 or anywhere(p.base):
        return None
    u, coefficient = p.terms[0]
    return u if throughout(coefficient) else None


def as_number(u: Uniform, bits: int) -> Uniform:
    """A truth value as a number, 0 or 1."""
    return Uniform(u.name, bits, 0, 0, 1, "choice", ("choice", u), u.data, blocks=u.blocks)
