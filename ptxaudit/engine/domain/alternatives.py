"""Values that are one of a few known numbers: one *alternative* for each outcome of an event that is not known exactly.

    r = MUFU.RCP x        on a machine whose unit was not measured: 1/x to one unit, two or three numbers per lane
    q = F2I(r · n)        computed for each alternative; where all of them agree, q is known again

An `Axis` is one event with a few outcomes. A value depends on some axes and has one alternative for each combination
of their outcomes. Values that depend on the same axis are correlated: the same outcome holds for both, lane by lane;
outcomes of different axes are combined in all pairs. Combining loses no outcome, and never counts one event as two.

Lanes in which the alternatives differ are poisoned in the value, with a reason, so that code that ignores
alternatives sees opaque lanes. `operations.apply` computes with all alternatives, `effects` keeps them in registers;
everything else drops them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from ptxaudit.engine.domain.lanes import ROWS_AT_HAND
from ptxaudit.engine.domain.outcomes import Alternatives, Axis
from ptxaudit.engine.domain.value import (
    NOWHERE,
    Terms,
    Uniform,
    Value,
    array_zeros,
    because,
    either,
    lane_uniform,
    opaque,
    same_terms,
    signed,
)
from ptxaudit.ir.reasons import Kind, Reason

MOST = 64  # alternatives of one value; beyond them it is opaque
MOST_NUMBERS = 1 << 22  # rows × lanes × alternatives of one value


def chosen(
    numbers: np.ndarray, unknown: np.ndarray | None, before: tuple[Axis, ...], uniform: bool, why: Reason
) -> Value:
    """The result of an operation that yields one of n `numbers` (n, K, rows, lanes) in each of K alternatives."""
    axes = (Axis(len(numbers), uniform), *before)
    return _value(axes, numbers.reshape(-1, *numbers.shape[2:]), unknown, why)


def of_all(values: tuple[Value, ...]) -> tuple[tuple[Axis, ...], list[np.ndarray], np.ndarray | None] | None:
    """(axes, each value's numbers in all alternatives, unknown lanes) of values without terms; None if too many."""
    axes = _axes(values)
    if axes is None:
        return None
    unknown = None
    for value in values:
        unknown = either(unknown, _unknown(value))
    return axes, [_bases(value, axes) for value in values], unknown


def elementwise(
    run: Callable[..., Any], undefined: Callable[..., Any] | None, values: tuple[Value, ...], name: str, index: int
) -> Value | tuple[Value, ...] | None:
    """Applies a row of `operations` to every alternative of values without unknowns; None if there are too many."""
    together = of_all(values)
    if together is None:
        return None
    axes, bases, unknown = together
    out = run(*bases)
    why = because(*values) or Reason(Kind.UNDEFINED, index, (name,))
    if undefined is not None:
        unknown = either(unknown, _in_any(undefined(*bases)))
    if isinstance(out, tuple):
        return tuple(_value(axes, each, unknown, why) for each in out)
    return _value(axes, out, unknown, why)


def selected(values: tuple[Value, ...]) -> Value | None:
    """p ? a : b of values without unknowns: an unknown lane matters only where it is selected."""
    axes = _axes(values)
    if axes is None:
        return None
    a, b, p = (_bases(value, axes) for value in values)
    unknown = _unknown(values[2])
    lost_a, lost_b = (NOWHERE if (bad := _unknown(value)) is None else bad for value in values[:2])
    unknown = either(unknown, _in_any(np.where(p, lost_a, lost_b)))
    return _value(axes, np.where(p, a, b), unknown, because(*values) or Reason(Kind.CHOICE))


def symbolic(
    run: Callable[[tuple[Value, ...]], Value | tuple[Value, ...]], values: tuple[Value, ...]
) -> Value | tuple[Value, ...] | None:
    """Applies an operation with unknowns in its sources to each alternative; the results' unknowns must agree."""
    axes = _axes(values)
    if axes is None:
        return None
    bases = [_bases(value, axes) for value in values]
    size = prod(axis.size for axis in axes)
    pick: Callable[[np.ndarray, int], np.ndarray] = lambda array, k: array[k] if len(array) > 1 else array[0]
    outs = [
        run(tuple(Value(pick(b, k), v.terms, v.valid, _unknown(v), v.why) for b, v in zip(bases, values)))
        for k in range(size)
    ]
    single = [out for out in outs if isinstance(out, Value)]
    if len(single) < len(outs):
        several = [out for out in outs if isinstance(out, tuple)]
        return tuple(_joined(axes, each, values) for each in zip(*several))
    return _joined(axes, single, values)


def changed(value: Value, of_values: Callable[[Value], Value], of_arrays: Callable[[np.ndarray], np.ndarray]) -> Value:
    """The value with one change made to all alternatives: to values if they have unknowns, else to arrays."""
    own = value.alternatives
    assert own is not None
    if value.terms or value.valid is not None:
        out = symbolic(lambda plain: of_values(plain[0]), (value,))
        assert out is None or isinstance(out, Value)  # each alternative has one result
        return of_values(Value(value.base, value.terms, value.valid, value.poison, value.why)) if out is None else out
    return _value(own.axes, of_arrays(own.bases), own.unknown, value.why)


def mapped(value: Value, change: Callable[[np.ndarray], np.ndarray]) -> Value:
    """The value with `change` applied to each of its arrays (rows, lanes), to select other rows or lanes."""
    own = value.alternatives
    assert own is not None
    bases = np.stack([change(base) for base in own.bases])
    unknown = None if own.unknown is None else change(own.unknown)
    return _value(own.axes, bases, unknown, value.why, tuple((u, change(c)) for u, c in value.terms), value.valid)


def blended(old: Value, new: Value, mask: np.ndarray) -> Value | None:
    """new where the mask is true, old elsewhere; None if either has unknowns, or there are too many alternatives."""
    if old.terms or new.terms or old.valid is not None or new.valid is not None:
        return None
    axes = _axes((old, new))
    if axes is None and new.alternatives is not None:  # the old value is seldom read again
        old = Value(old.base, poison=old.poison, why=old.why)
        axes = _axes((old, new))
    if axes is None:
        return None
    lost_new, lost_old = (NOWHERE if (bad := _unknown(value)) is None else bad for value in (new, old))
    unknown: np.ndarray = np.where(mask, lost_new, lost_old)
    return _value(axes, np.where(mask, _bases(new, axes), _bases(old, axes)), unknown, because(new, old))


def as_unknown(value: Value) -> Value:
    """A value whose alternatives differ by a uniform distance, as a sum with an unknown that says which of them it is.

    The distances must be the same in all lanes of each row. Other values are returned unchanged.
    """
    own = value.alternatives
    if own is None or not all(axis.uniform for axis in own.axes):
        return value
    bases = own.bases if own.unknown is None else np.where(own.unknown, own.bases[:1], own.bases)
    truth = bases.dtype == bool
    apart = bases ^ bases[:1] if truth else bases - bases[:1]
    if (
        not lane_uniform(apart.reshape(-1, apart.shape[-1]))
        or truth
        and (value.terms or own.unknown is not None or not lane_uniform(bases[0]))
    ):
        return value
    where = ROWS_AT_HAND.key if apart.shape[1] > 1 else b""
    digest = blake2b(apart.tobytes() + where, digest_size=8).digest()
    key = ("alternatives", tuple(axis.serial for axis in own.axes), digest)
    if truth:
        differ = apart[..., :1].any(axis=0)
        first = bases[0][:, :1]  # p and its negation change alike
        start = blake2b((first & differ).tobytes(), digest_size=8).digest()
        return Value(first & ~differ, ((Uniform("one of two", 1, 0, 0, 1, key=(*key, start)), differ),))
    numbers = signed(apart)
    which = Uniform("one of several", value.bits, array_zeros(apart), int(numbers.min()), int(numbers.max()), key=key)
    return Value(value.base, (*value.terms, (which, np.ones((1, 1), bases.dtype))), value.valid, own.unknown, value.why)


# --- parts ----------------------------------------------------------------------------------


def _axes(values: tuple[Value, ...]) -> tuple[Axis, ...] | None:
    """All axes on which the values depend; None if that makes too many alternatives."""
    axes = tuple(dict.fromkeys(axis for v in values if v.alternatives is not None for axis in v.alternatives.axes))
    size = prod(axis.size for axis in axes)
    rows, lanes = (max(v.base.shape[at] for v in values) for at in (0, 1))
    return axes if size <= MOST and size * rows * lanes <= MOST_NUMBERS else None


def _unknown(value: Value) -> np.ndarray | None:
    return value.poison if value.alternatives is None else value.alternatives.unknown


def _bases(value: Value, axes: tuple[Axis, ...]) -> np.ndarray:
    """(K, rows, lanes) for the product of `axes`; (1, rows, lanes) if the value depends on none."""
    own = value.alternatives
    if own is None:
        alone: np.ndarray = value.base[None]
        return alone
    if own.axes == axes:
        return own.bases
    place = own.bases.shape[1:]
    mine = [axis for axis in axes if axis in own.axes]
    sizes = [axis.size for axis in own.axes]
    ordered = own.bases.reshape(*sizes, *place)
    ordered = np.moveaxis(ordered, [own.axes.index(axis) for axis in mine], range(len(mine)))
    spread = ordered.reshape(*(axis.size if axis in own.axes else 1 for axis in axes), *place)
    return np.broadcast_to(spread, (*(axis.size for axis in axes), *place)).reshape(-1, *place)


def _in_any(bad: np.ndarray) -> np.ndarray | None:
    """Lanes that are true in any alternative, or None."""
    if bad.ndim > 2:
        bad = np.logical_or.reduce(bad, axis=tuple(range(bad.ndim - 2)))
    return bad if bad.any() else None


def _value(
    axes: tuple[Axis, ...],
    bases: np.ndarray,
    unknown: np.ndarray | None,
    why: Reason | None,
    terms: Terms = (),
    valid: int | None = None,
) -> Value:
    """The value with these alternatives, without axes that make no difference."""
    if unknown is not None and not unknown.any():
        unknown = None
    sizes = tuple(axis.size for axis in axes)
    if len(bases) == 1 and axes:  # no source depended on them
        axes = ()
    else:
        bases = bases.reshape(*sizes, *bases.shape[1:])
        kept: list[Axis] = []
        for axis in axes:
            at = len(kept)
            alike = bases == bases.take([0], axis=at)
            if (alike if unknown is None else alike | unknown).all():
                bases = bases.take(0, axis=at)
            else:
                kept.append(axis)
        axes = tuple(kept)
        bases = bases.reshape(-1, *bases.shape[len(axes) :])
    if not axes:
        return Value(bases[0], terms, valid, unknown, why if unknown is not None or valid is not None else None)
    differ = (bases[1:] != bases[:1]).any(axis=0)
    return Value(
        bases[0],
        terms,
        valid,
        differ if unknown is None else differ | unknown,
        why,
        alternatives=Alternatives(axes, bases, unknown),
    )


def _joined(axes: tuple[Axis, ...], outs: Sequence[Value], values: tuple[Value, ...]) -> Value:
    """The results of all alternatives as one value."""
    first = outs[0]
    why = because(*outs) or because(*values)
    for other in outs[1:]:
        if other.valid != first.valid or other.bits != first.bits or not same_terms(first.terms, other.terms):
            return opaque(first.bits, why)
    unknown = None
    for out in outs:
        unknown = either(unknown, out.poison)
    bases = np.stack(np.broadcast_arrays(*(out.base for out in outs)))
    return _value(axes, bases, unknown, why, first.terms, first.valid)
