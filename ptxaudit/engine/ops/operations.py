"""The results of operations on values that are not fully known: by exact rules if they exist, else derived or opaque.

`apply(op, values)` is the only entry point. If all sources are known, it runs the row of `OPS`. Otherwise it tries,
in this order:

1. the affine rule of the operation, which keeps the form `base + Σ coeff·u`;
2. if the only unknown is a truth value, both results (`expansion`);
3. for uniform values, a derived unknown named by the expression;
4. the low bits: sums, products and left shifts of partly known values are known in as many low bits as their sources;
5. opaque, with the reason of the first opaque source.

Sources that are one of a few numbers are evaluated for each alternative (`alternatives`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as changed
from functools import cache, lru_cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain import alternatives
from ptxaudit.engine.domain.affine import (
    derived,
    fit,
    give_up,
    unknowns_of,
)
from ptxaudit.engine.domain.known_bits import folded, has_constants, known_part, total, whole_part, with_bits
from ptxaudit.engine.domain.lane_classes import of_result
from ptxaudit.engine.domain.value import (
    BITS,
    DTYPES,
    EVERYWHERE,
    Terms,
    Value,
    because,
    combine_terms,
    constant,
    either,
    is_number,
    opaque,
    same_terms,
    some,
    span,
)
from ptxaudit.engine.ops import mufu, packed
from ptxaudit.engine.ops.expansion import expanded, only_truth
from ptxaudit.engine.ops.floats import division_check
from ptxaudit.engine.ops.halves import UpperHalf, WithParts
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.engine.ops.row import OPS, Row, source_bits
from ptxaudit.engine.ops.tristates import product
from ptxaudit.hardware.machine_model import SpecialFunctions
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

UNITS = {
    mufu.UNIT: {
        f"mufu.{name}": Row(lambda bits, attrs, a, run=run: run(a), "s") for name, run in mufu.FUNCTIONS.items()
    }
}
"""Special function unit -> its functions, bit-exact: a row for each operation."""

# Functions of their sources alone: approximations, whose last bits no document specifies.
_OF_ITS_SOURCES = (
    "mufu.",
    "sqrt.approx",
    "rsqrt.approx",
    "rcp.approx",
    "ex2.approx",
    "lg2.approx",
    "sin.approx",
    "cos.approx",
    "tanh.approx",
    "div.approx",
    "div.full",
)


_BITWISE = ("and", "or", "xor", "lop3")  # each bit of the result depends only on the bits at its place
_OF_PAIRS = ("cat", "extract", "add3.carry", "shf.l")  # operations on register pairs
_SIGNS = {"add": 1, "sub": -1}  # of operations that keep unknowns separate
_APART = frozenset((*_SIGNS, "mov"))  # … and constants as well


def of_its_sources(name: str) -> bool:
    """Whether equal sources yield equal results, although no document specifies them."""
    return name.startswith(_OF_ITS_SOURCES)


meaning_of = OPS.get


def ever_known(name: str) -> bool:
    """Whether some machine has a meaning for the operation."""
    return name in OPS or any(name in unit for unit in UNITS.values())


@cache
def on_machine(special: SpecialFunctions) -> dict[str, Row]:
    """The operations with more precise rows on a machine than in `OPS`: name -> row."""
    unit = UNITS.get(special.unit, {})
    found = {name: row for name, row in unit.items() if name.removeprefix("mufu.") in special.measured}
    if special.division_check:
        found["fsetp.check"] = replace(OPS["fsetp.check"], concrete=division_check, undefined=None)
    return found


@lru_cache(1 << 12)
def _source_types(row: Row, bits: int, count: int) -> tuple[np.dtype | None, ...]:
    """The types as which an operation of a width reads its `count` sources; None: unchanged."""
    return tuple(
        None if letter == "o" else np.dtype(DTYPES[source_bits(letter, bits, bits)]) for letter in row.letters(count)
    )


def number_of(value: Value) -> int | None:
    """The value of a known scalar, else None."""
    return int(value.base.flat[0]) if value.known and value.base.size == 1 else None


def _symbolic(op: Op, values: tuple[Value, ...]) -> Value | tuple[Value, ...] | None:
    """The result by the affine rule of an operation, or None if it has none for these sources."""
    rule = OPS[op.name].affine if op.name in OPS else None
    return None if rule is None else rule(op, *values)


def apply(op: Op, values: tuple[Value, ...], index: int = -1, row: Row | None = None) -> Value | tuple[Value, ...]:
    """The results of an operation: a Value, or a tuple for rows with several results. `_applied` has the parameters."""
    if (row := row or meaning_of(op.name)) is not None and (known := _of_numbers(row, op, values)) is not None:
        return known
    out = _with_bits_known(op, values, index, row)
    for one in out if isinstance(out, tuple) else (out,):
        if one.poison is not None:
            of_result(one, values)
            if row is not None and row.lone is not None and one.bits == 1 and not any(one is v for v in values):
                one.lone = row.lone(op, *values)
    return out


def one_result(op: Op, values: tuple[Value, ...], index: int = -1, row: Row | None = None) -> Value:
    """As `apply`, of an operation that has one result."""
    out = apply(op, values, index, row)
    assert isinstance(out, Value)
    return out


def _with_bits_known(op: Op, values: tuple[Value, ...], index: int, row: Row | None) -> Value | tuple[Value, ...]:
    """The results, with the known bits of unknown lanes."""
    for v in values:
        if v.terms and v.poison is not None and op.name not in _APART:
            values = tuple([folded(v) if has_constants(v) else v for v in values])
            break
    out = _applied(op, values, index, row)
    first = out[0] if isinstance(out, tuple) else out
    if (
        op.name == "shl"
        and first.valid is not None
        and first.poison is None
        and values[0].sure is not None
        and not values[0].terms
    ):
        first = Value(first.base, (), None, EVERYWHERE, first.why)
    if first.poison is None or first.sure is not None or first.alternatives is not None or isinstance(first, UpperHalf):
        return out
    better = _refined(op, values, first)
    return out if better is first else (better, *out[1:]) if isinstance(out, tuple) else better


def _of_numbers(row: Row, op: Op, values: tuple[Value, ...]) -> Value | tuple[Value, ...] | None:
    """The results of sources that are plain numbers, as most are.

    None if a source is not, or if the operation is undefined in a lane or has only candidates.
    """
    if row.candidates is not None:
        return None
    bases = []
    for v, t in zip(values, _source_types(row, op.bits, len(values))):
        if not is_number(v):
            return None
        base = v.base
        bases.append(base if t is None or base.dtype is t else fit(v, BITS[t]).base)
    if row.undefined is not None and anywhere(row.undefined(op.bits, op.attrs, *bases)):
        return None
    arrays = row.concrete(op.bits, op.attrs, *bases)
    return tuple([Value(each) for each in arrays]) if isinstance(arrays, tuple) else Value(arrays)


def _refined(op: Op, values: tuple[Value, ...], out: Value) -> Value:
    """A result that is unknown in some lanes, with its known bits there."""
    rule = OPS[op.name].bits if op.name in OPS else None
    if rule is None or any(v.alternatives is not None for v in values):
        return out
    if any(v.terms for v in values):
        if (kept := _with_truths(rule, op, values, out)) is not None:
            return kept
        terms = _terms(op, values)
        if terms is None:
            found = None if out.terms else rule(op, *(whole_part(v) for v in values))
            return out if found is None else with_bits(out, found)
        assert out.poison is not None  # only such values are refined
        if not throughout(out.poison) and (out.valid is not None or not same_terms(terms, out.terms)):
            return out
        out = Value(out.base, terms, None, out.poison, out.why)
    parts = [known_part(v) for v in values]
    if op.name in ("add", "mad") and op.bits > 1 and {part.bits.dtype for part in parts} == {out.base.dtype}:
        addend = parts[0] if op.name == "add" else product(*parts[:2])
        return out if addend is None else total(out, addend, parts[-1])
    found = rule(op, *parts)
    return out if found is None else with_bits(out, found)


def _with_truths(rule: Callable[..., Any], op: Op, values: tuple[Value, ...], out: Value) -> Value | None:
    """The result with bits that are uniform truth values."""
    if op.name == "select":
        a, b, choice = values
        return packed.selected(a, b, choice, out) or packed.agreed(a, b, out)
    return packed.bitwise(rule, op, values, out) if op.name in _BITWISE else None


def _terms(op: Op, values: tuple[Value, ...]) -> Terms | None:
    """The unknowns in a sum or in a multiple by a constant, which stay separate from the known bits.

    None if the operation is neither, or there are too many.
    """
    if any(v.bits != op.bits for v in values[: 1 if op.name == "shl" else None]):
        return None
    if op.name in _SIGNS:
        return combine_terms(values[0].terms, values[1].terms, _SIGNS[op.name])
    if op.name not in ("mul", "mad", "shl"):
        return None
    a, b = values[:2]
    factor = number_of(b)
    if factor is None and op.name != "shl":
        a, factor = b, number_of(a)
    if factor is None or op.name == "shl" and factor >= op.bits:
        return None
    times = constant(1 << factor if op.name == "shl" else factor, op.bits).base
    terms = tuple([(u, d) for u, c in a.terms if some(d := c * times)])
    return combine_terms(terms, values[2].terms) if op.name == "mad" else terms


def _applied(op: Op, values: tuple[Value, ...], index: int, row: Row | None) -> Value | tuple[Value, ...]:
    """The results of an operation, without the known bits of unknown lanes except those of bitwise operations.

    values: one per source, of any width; they are converted to the row's. index: the instruction, for reasons. row:
    the operation's row on the current machine, if it differs from `OPS`.
    """
    row = row or meaning_of(op.name)
    if row is None:
        return _without_meaning(op, values, index)
    if row.strict:
        for v in values:
            if v.poison is EVERYWHERE:
                return opaque(1 if row.predicate else op.bits, because(*values))
    elif (
        op.name == "select"
        and values[2].poison is EVERYWHERE
        and values[0].poison is EVERYWHERE
        and values[0] is not values[1]
    ):
        return opaque(op.bits, because(*values))
    values = tuple(
        [
            v if t is None or v.base.dtype == t else fit(v, BITS[t])
            for v, t in zip(values, _source_types(row, op.bits, len(values)))
        ]
    )
    known = numbers = True  # in all lanes, in all lanes that are not poisoned
    several = row.candidates is not None
    for v in values:
        if v.terms or v.valid is not None:
            known = numbers = False
        elif v.poison is not None:
            known = False
        if v.alternatives is not None:
            several = True
    if several and (out := _several(row, op, values, index, numbers)) is not None:
        return out
    if known:
        return _computed(row, op, values, index)
    if numbers:
        return _poisoned(row, op, values, index)
    out = _symbolic(op, values)
    if row.results == 1 and (u := only_truth(values)) is not None and _may_gain(out, values):
        both = expanded(u, values, lambda plain: one_result(op, plain, index, row))
        out = out if both is None else UpperHalf(out.whole, both) if isinstance(out, UpperHalf) else both
    if type(out) is Value and out.poison is EVERYWHERE:  # no affine form, but perhaps uniform
        out = derived(op.name, values, out.bits, op.attrs) or out
    if out is None:
        out = _lane_by_lane(row, op, values, index)
    return _given_up(row, op, values, index) if out is None else out


def _may_gain(out: Value | tuple[Value, ...] | None, values: tuple[Value, ...]) -> bool:
    """Whether the expansion may be stronger than the affine rule's result: that is not a function of the sources' own
    unknowns.
    """
    if out is None:
        return True
    if isinstance(out, UpperHalf):
        return out.poison is not None
    if type(out) is not Value:  # several results
        return False
    own = {u for v in values for u, _ in v.terms}
    return out.poison is not None or out.valid is not None or any(u not in own for u, _ in out.terms)


def _without_meaning(op: Op, values: tuple[Value, ...], index: int) -> Value:
    """The result of an operation without a row: equal sources yield equal results, whatever these are."""
    same_everywhere = derived(op.name, values, op.bits, op.attrs) if of_its_sources(op.name) and values else None
    return same_everywhere or opaque(op.bits, because(*values) or Reason(Kind.NO_MEANING, index, (op.name,)))


def _computed(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value | tuple[Value, ...]:
    """The results of known numbers."""
    arrays = row.concrete(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        bad = row.undefined(op.bits, op.attrs, *(v.base for v in values))
        if anywhere(bad):
            return Value(arrays, poison=bad, why=Reason(Kind.UNDEFINED, index, (op.name,)))
    return tuple([Value(each) for each in arrays]) if isinstance(arrays, tuple) else Value(arrays)


def _given_up(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value | tuple[Value, ...]:
    """The results if they have no form: a uniform unknown if the sources are uniform, else opaque."""
    bits = 1 if row.predicate else op.bits
    shared = derived(op.name, values, bits, op.attrs) if row.results == 1 else None
    if shared is None:
        return give_up(values, bits, Kind.UNKNOWN_SOURCES, index, (op.name,))
    return shared if row.range is None or row.predicate or bits == 1 else _bounded(shared, row, op, values)


def _bounded(shared: Value, row: Row, op: Op, values: tuple[Value, ...]) -> Value:
    """A uniform unknown with the range that follows from those of its sources."""
    assert row.range is not None
    found = row.range(op, *(_range(v) for v in values))
    if found is None or found.low < 0 or found.high >> op.bits - 1:
        return shared
    ((symbol, factor),) = shared.terms
    return Value(shared.base, ((changed(symbol, low=found.low, high=found.high), factor),))


def _range(value: Value) -> Range:
    """The range of a number, read as unsigned."""
    most = (1 << value.bits) - 1
    ends = (0, most) if value.bits == 1 else span(value)
    return Range(*ends) if ends is not None and 0 <= ends[0] and ends[1] <= most else Range(0, most)


def _several(
    row: Row, op: Op, values: tuple[Value, ...], index: int, numbers: bool
) -> Value | tuple[Value, ...] | None:
    """The result if the operation has candidates or a source has alternatives; None if these are too many."""
    if row.candidates is not None:
        return (
            _candidates(row, op, values, index)
            if numbers
            else _derived(row, op, values) or give_up(values, op.bits, Kind.UNKNOWN_SOURCES, index, (op.name,))
        )
    if not numbers:
        return alternatives.symbolic(lambda plain: apply(op, plain, index, row), values)
    if op.name == "mov":
        return values[0]
    if op.name == "select":
        return alternatives.selected(values)
    undefined = row.undefined
    return alternatives.elementwise(
        lambda *bases: row.concrete(op.bits, op.attrs, *bases),
        None if undefined is None else lambda *bases: undefined(op.bits, op.attrs, *bases),
        values,
        op.name,
        index,
    )


def _derived(row: Row, op: Op, values: tuple[Value, ...]) -> Value | None:
    """A uniform unknown for the result of an operation that has only candidates, if its sources determine it."""
    return None if row.chosen else derived(op.name, values, op.bits, op.attrs)


def _candidates(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value:
    """The result on numbers of an operation that has only candidates."""
    why = because(*values) or Reason(Kind.WITHIN_ERROR, index, (op.name,))
    together = alternatives.of_all(values)
    if together is None:
        return opaque(op.bits, why)
    axes, bases, unknown = together
    assert row.candidates is not None
    numbers, beyond = row.candidates(op.bits, op.attrs, *bases)
    if throughout(beyond) and not axes:  # nothing is known but that it is a function of its sources
        return _derived(row, op, values) or opaque(op.bits, why)
    beyond = beyond.any(axis=0)
    if numbers.shape[0] * numbers.shape[1] > alternatives.MOST:
        return opaque(op.bits, why)
    uniform = all(base.shape[-1] == 1 for base in bases)
    return alternatives.chosen(numbers, either(unknown, beyond if anywhere(beyond) else None), axes, uniform, why)


def _lane_by_lane(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value | tuple[Value, ...] | None:
    """The result in lanes without unknowns, such as lanes that others left behind in a loop; None if there are none."""
    unknown = None
    for v in values:
        if v.valid is not None:
            return None
        for _, c in v.terms:
            unknown = either(unknown, c != 0)
        unknown = either(unknown, v.poison)
    assert unknown is not None  # something is unknown in some lane
    if throughout(unknown):
        return None
    out = row.concrete(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        unknown = unknown | row.undefined(op.bits, op.attrs, *(v.base for v in values))
    why = because(*values) or Reason(Kind.UNKNOWN_SOURCES, index, (op.name,), unknowns_of(*values))
    return (
        tuple(Value(o, poison=unknown, why=why) for o in out)
        if isinstance(out, tuple)
        else Value(out, poison=unknown, why=why)
    )


def _poisoned(row: Row, op: Op, values: tuple[Value, ...], index: int) -> Value | tuple[Value, ...]:
    """The results of numbers in the lanes where all sources are known; the other lanes are poisoned."""
    if op.name == "mov":
        return values[0]
    if op.name in _OF_PAIRS and any(isinstance(v, WithParts) for v in values):
        out = _symbolic(op, values)
        if out is not None:
            return out
    if op.name in (*_BITWISE, "select", "mul", "prmt"):
        bitwise = op.name in _BITWISE and op.bits > 1  # `_refined` finds the known bits
        if bitwise and all(v.base.size == 1 and (v.poison is None or v.poison is EVERYWHERE) for v in values):
            return opaque(op.bits, because(*values))
        out = _symbolic(op, values)
        assert not isinstance(out, tuple)  # each has one result
        if out is not None and not (bitwise and out.poison is not None and throughout(out.poison)):
            return out
        if bitwise:
            return opaque(op.bits, because(*values))
    poison = None
    for v in values:
        poison = either(poison, v.poison)
    why = because(*values)
    assert poison is not None
    if throughout(poison):
        if row.results > 1:
            return tuple(opaque(op.bits if i == 0 else 1, why) for i in range(row.results))
        bits = 1 if row.predicate else op.bits
        return _partly_known(op, values, why) or opaque(bits, why)
    arrays = row.concrete(op.bits, op.attrs, *(v.base for v in values))
    if row.undefined is not None:
        poison = poison | row.undefined(op.bits, op.attrs, *(v.base for v in values))
    if isinstance(arrays, tuple):
        return tuple(Value(each, poison=poison, why=why) for each in arrays)
    return Value(arrays, poison=poison, why=why)


def _partly_known(op: Op, values: tuple[Value, ...], why: Reason | None) -> Value | None:
    """The low zero bits of an opaque value: `loaded << 2` is a multiple of 4, of `loaded & 31` nothing is known."""
    if op.name == "shl":
        n = number_of(values[1])
        if n is not None and 0 < n < op.bits:
            return Value(np.zeros((1, 1), DTYPES[op.bits]), (), n, None, why)
    return None
