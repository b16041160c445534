"""Uniform truth values in single bits of a register whose other bits are unknown.

    r = anything & ~8;  @p r = r | 8        ->  r = (unknown, but bit 3 is 0) + 8·p
    q = (r & 8) != 0                        ->  8·p != 0: one answer for all lanes, though r differs by lane

Compilers save predicates in this way. The form is that of values with known bits (`known_bits`): a rest and a sum of
unknowns. If each unknown is 0 or 1, and its coefficient consists of bits that are zero in the rest and in all other
coefficients, the sum has no carries: each bit is a bit of the rest or an unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.affine import brief
from ptxaudit.engine.domain.known_bits import Tristate, either, known_part, with_bits
from ptxaudit.engine.domain.naming import expression
from ptxaudit.engine.domain.truths import as_number, truth
from ptxaudit.engine.domain.value import EVERYWHERE, MAX_TERMS, Terms, Uniform, Value, constant, same_terms, some


class Packed(Record, eq=False):
    """rest: the bits that equal no unknown. terms: unknowns that are 0 or 1, with masks of the bits that equal them."""

    rest: Tristate
    terms: Terms

    @property
    def unknown(self) -> Tristate:
        """The same bits with the unknowns as unknown bits."""
        mask = self.rest.unknown
        for _, c in self.terms:
            mask = mask | c
        return Tristate(self.rest.bits, mask)


def packed(value: Value) -> Packed | None:
    """A value in this form, or None if it does not have it."""
    if value.valid is not None or value.alternatives is not None or value.bits == 1:
        return None
    rest = known_part(value)
    taken = rest.bits | rest.unknown
    for u, c in value.terms:
        if (u.low, u.high) != (0, 1) or anywhere(c & taken != 0):
            return None
        taken = taken | c
    return Packed(rest, value.terms)


def bitwise(rule: Callable[..., Any], op: Any, values: tuple[Value, ...], out: Value) -> Value | None:
    """The result of a bitwise operation, otherwise known as `out`; None if no unknown reaches it.

    rule: the operation on tristate numbers.
    """
    parts = [packed(v) if v.bits == out.bits else None for v in values]
    if not any(part is not None and part.terms for part in parts):
        return None
    anything = Tristate(constant(0, out.bits).base, constant(-1, out.bits).base)
    sources = [anything if part is None else part.unknown for part in parts]
    kept: list[tuple[Uniform, np.ndarray]] = []
    for k, part in enumerate(parts):
        for u, c in part.terms if part is not None else ():
            zero, one = (_with(sources[k], c, bit) for bit in (False, True))
            off, on = (rule(op, *sources[:k], which, *sources[k + 1 :]) for which in (zero, one))
            kept.append((u, c & ~off.bits & ~off.unknown & on.bits))
    return _joined(rule(op, *sources), kept, out)


def _with(source: Tristate, mask: np.ndarray, bit: bool) -> Tristate:
    """The number with the bits of a mask known: all set, or all clear."""
    return Tristate(source.bits | mask if bit else source.bits & ~mask, source.unknown & ~mask)


def selected(a: Value, b: Value, p: Value, out: Value) -> Value | None:
    """a or b as a uniform truth value selects, otherwise known as `out`; None if no bit is a truth value.

    A bit that is a truth value or known in both operands is a truth value, or known, in the result.
    """
    chooses = truth(p)
    return None if chooses is None else _either(a, b, as_number(chooses, a.bits), out)


def agreed(a: Value, b: Value, out: Value) -> Value | None:
    """a or b as each lane selects: bits that are the same truth value in both are that truth value."""
    return _either(a, b, None, out)


def alike(a: Value, b: Value) -> bool:
    """Whether two values in this form have the same terms and the same known bits."""
    first, second = packed(a), packed(b)
    if first is None or second is None:
        return False
    return same_terms(first.terms, second.terms) and all(
        throughout(x == y) for x, y in ((first.rest.bits, second.rest.bits), (first.rest.unknown, second.rest.unknown))
    )


def _either(a: Value, b: Value, u: Uniform | None, out: Value) -> Value | None:
    first, second = packed(a), packed(b)
    if first is None or second is None or not a.bits == b.bits == out.bits:
        return None
    kept = []
    for v, here in _alike(first):
        for w, there in _alike(second):
            both = here & there
            if v == w and isinstance(v, Uniform):
                kept.append((v, both))
            elif v != w and u is not None and some(both):
                kept.append((_one_of(u, v, w), both))
    return _joined(either(first.unknown, second.unknown), kept, out)


def _alike(part: Packed) -> list[tuple[Uniform | bool, np.ndarray]]:
    """The uniform bits: masks of each truth value, unknown or known."""
    sure = ~part.unknown.unknown
    return [*part.terms, (True, part.rest.bits & sure), (False, ~part.rest.bits & sure)]


def _one_of(u: Uniform, a: Uniform | bool, b: Uniform | bool) -> Uniform:
    """The truth value u ? a : b."""
    if a is True and b is False:
        return u
    made = [u, *(one for one in (a, b) if isinstance(one, Uniform))]
    key = "select", *(int(one) if isinstance(one, bool) else one for one in (u, a, b))
    name = brief(expression("select", [_name(a), _name(b), u.name]))
    return Uniform(
        name,
        u.bits,
        0,
        0,
        1,
        "choice",
        key,
        any(one.data for one in made),
        blocks=reduce(or_, (one.blocks for one in made)),
        launch_wide=all(one.launch_wide for one in made),
    )


def _name(one: Uniform | bool) -> str:
    return str(int(one)) if isinstance(one, bool) else one.name


def _joined(found: Tristate, kept: list[tuple[Uniform, np.ndarray]], out: Value) -> Value | None:
    """A result from its tristate number and masks of bits that equal unknowns, at most MAX_TERMS of these."""
    terms: dict[Uniform, np.ndarray] = {}
    for u, c in kept:
        if some(c):
            terms[u] = terms[u] | c if u in terms else c
    if not terms:
        return None
    terms = dict(list(terms.items())[:MAX_TERMS])
    unknown = found.unknown
    for c in terms.values():
        unknown = unknown & ~c
    bits = found.bits & ~unknown
    for c in terms.values():
        bits = bits & ~c
    return with_bits(Value(bits, tuple(terms.items()), None, EVERYWHERE, out.why), Tristate(bits, unknown))
