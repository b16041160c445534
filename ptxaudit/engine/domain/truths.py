"""Unknown truth values that are uniform, as predicates and as numbers.

p = (n < 4)        False + True·p
zext(p), p ? 1 : 0 one number, 0 or 1: the same unknown for both
"""

from __future__ import annotations

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.value import DTYPES, Uniform, Value, as_uniform


def truth(p: Value) -> Uniform | None:
    """The unknown that a predicate equals in all lanes of all rows; None if it is no single unknown."""
    one = as_uniform(p)
    if one is None or len(one.terms) != 1 or anywhere(one.base):
        return None
    u, coefficient = one.terms[0]
    return u if throughout(coefficient) else None


def as_number(u: Uniform, bits: int) -> Uniform:
    """A truth value as a number, 0 or 1."""
    key = "choice", u
    return Uniform(u.name, bits, 0, 0, 1, "choice", key, u.data, blocks=u.blocks, launch_wide=u.launch_wide)


def extended(p: Value, bits: int) -> Value | None:
    """A predicate as a number, 0 or 1: in each lane known, or one unknown. None for others."""
    if len(p.terms) != 1 or p.poison is not None or p.valid is not None:
        return None
    ((u, coefficient),) = p.terms
    if anywhere(p.base & coefficient):  # its negation
        return None
    return Value(p.base.astype(DTYPES[bits]), ((as_number(u, bits), coefficient.astype(DTYPES[bits])),))


def is_truth(u: Uniform) -> bool:
    """Whether an unknown is 0 or 1."""
    return u.bits == 1 or (u.low, u.high) == (0, 1)


def truth_of(u: Uniform) -> Uniform:
    """The predicate of which `as_number` made this number; any other unknown unchanged."""
    predicate = u.key[1] if u.kind == "choice" and isinstance(u.key, tuple) and u.key[0] == "choice" else u
    return predicate if isinstance(predicate, Uniform) else u
