"""Every operation of the intermediate representation, one row each: this module fills the table (`row.OPS`).

A row is the operation's concrete semantics and its transfer function in each abstract domain. To add an operation,
add a row here and a case to test_operations_table.py, which also lists what rows lack; docs/operations.md shows
them. Operations that lanes perform together (shuffles, votes) are in `ir.warp_operations`, memory in `exec.effects`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.engine.domain import affine, known_bits
from ptxaudit.engine.domain.bits import bitwise
from ptxaudit.engine.domain.comparisons import compare
from ptxaudit.engine.domain.lane_classes import of_equality
from ptxaudit.engine.domain.value import BITS, constant, resize, sign_extended, signed
from ptxaudit.engine.ops import approximate, concrete, ranges, symbolic, tristates
from ptxaudit.engine.ops.contracted import CONTRACTED
from ptxaudit.engine.ops.floats import FLOATS
from ptxaudit.engine.ops.narrow import NARROW
from ptxaudit.engine.ops.row import OPS, Origin, Row

__all__ = ["OPS"]


def _pair(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapts a function of two arrays that needs neither the width nor attributes."""
    return lambda bits, attrs, a, b: function(a, b)


def _signed_pair(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda bits, attrs, a, b: function(signed(a), signed(b)).view(a.dtype)


def _with_sign(function: Callable[..., Any], is_signed: bool) -> Callable[..., Any]:
    return lambda bits, attrs, *arrays: function(bits, *arrays, is_signed)


def _with_sign_and_attributes(function: Callable[..., Any], is_signed: bool) -> Callable[..., Any]:
    return lambda bits, attrs, *arrays: function(bits, attrs, *arrays, is_signed)


def _comparison(relation: str, is_signed: bool) -> Callable[..., Any]:
    function = concrete.COMPARISONS[relation]

    def run(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if is_signed and a.dtype != bool:
            a, b = signed(a), signed(b)
        result: np.ndarray = function(a, b)
        return result

    return run


def _resized(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    return resize(a, bits)


def _negated(bits: int, attrs: tuple[Any, ...], a: np.ndarray) -> np.ndarray:
    result: np.ndarray = ~a + a.dtype.type(1)
    return result


def _multiply_add(bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    result: np.ndarray = a * b + c
    return result


def _product(bits: int, a: np.ndarray, b: np.ndarray, is_signed: bool) -> np.ndarray:
    result: np.ndarray = concrete.wide(bits, a, is_signed) * concrete.wide(bits, b, is_signed)
    return result


def _product_and_sum(bits: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, is_signed: bool) -> np.ndarray:
    result: np.ndarray = _product(bits, a, b, is_signed) + c
    return result


def _distance(bits: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, is_signed: bool) -> np.ndarray:
    """sad: |a − b| + c."""
    x, y = (signed(a), signed(b)) if is_signed else (a, b)
    result: np.ndarray = np.maximum(x, y).view(a.dtype) - np.minimum(x, y).view(a.dtype) + c
    return result


def _named(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Adapts a rule shared by several operations, which needs the name."""
    return lambda op, *values: rule(op.name, *values)


def _bitwise(name: str, function: Callable[..., Any], truth: int, lone: Callable[..., Any] | None = None) -> Row:
    return Row(
        _pair(function),
        "ss",
        affine=lambda op, a, b: bitwise(name, a, b, function),
        bits=tristates.bitwise(truth),
        range=ranges.and_ if name == "and" else lambda op, a, b: ranges.below(a, b),
        lone=lone,
        origin=Origin.SUM,
    )


_LONE: dict[str, Callable[..., tuple[bool, bool]]] = {
    "eq": lambda op, a, b: (of_equality(op, a, b), False),
    "ne": lambda op, a, b: (False, of_equality(op, a, b)),
}

OPS |= {
    # data movement
    "mov": Row(
        lambda bits, attrs, a: a, "s", affine=lambda op, a: a, range=ranges.same, linear=True, origin=Origin.SOURCE
    ),
    "zext": Row(
        _resized,
        "o",
        strict=True,
        affine=lambda op, a: affine.fit(a, op.bits),
        range=ranges.same,
        linear=True,
        bits=tristates.fitted,
        origin=Origin.NUMBER,
    ),
    "sext": Row(
        lambda bits, attrs, a: sign_extended(bits, a),
        "o",
        strict=True,
        affine=lambda op, a: affine.sign_extend(a, op.bits),
        linear=True,
        bits=tristates.sign_extended,
        origin=Origin.NUMBER,
    ),
    "trunc": Row(
        _resized,
        "o",
        strict=True,
        affine=lambda op, a: affine.fit(a, op.bits),
        range=ranges.same,
        linear=True,
        bits=tristates.fitted,
        origin=Origin.PIECE,
    ),
    "extract": Row(
        concrete.extract,
        "o",
        affine=symbolic.extracted,
        range=ranges.piece,
        linear=True,
        bits=tristates.extracted,
        origin=Origin.PIECE,
    ),
    "cat": Row(
        concrete.cat,
        "o*",
        affine=symbolic.concatenated,
        range=ranges.joined,
        linear=True,
        bits=tristates.concatenated,
        origin=Origin.PAIR,
    ),
    "select": Row(
        lambda bits, attrs, a, b, p: np.where(p, a, b),
        "ssp",
        affine=lambda op, a, b, p: symbolic.selected(a, b, p),
        range=lambda op, a, b, p: a.united(b),
        bits=tristates.selected,
        origin=Origin.EITHER,
    ),
    "prmt": Row(
        concrete.prmt,
        "ccc",
        affine=lambda op, *values: symbolic.permuted(values, op.attrs),
        bits=tristates.permuted,
        origin=Origin.MIXED,
    ),
    # arithmetic
    "add": Row(
        _pair(np.add),
        "ss",
        affine=lambda op, a, b: affine.add(a, b),
        range=lambda op, a, b: ranges.plus(a, b, op.bits),
        linear=True,
        strict=True,
        bits=tristates.of_width(known_bits.add),
        origin=Origin.SUM,
    ),
    "sub": Row(
        _pair(np.subtract),
        "ss",
        affine=lambda op, a, b: affine.subtract(a, b),
        range=ranges.minus,
        linear=True,
        strict=True,
        bits=tristates.of_width(tristates.subtract),
        origin=Origin.SUM,
    ),
    "mul": Row(
        _pair(np.multiply),
        "ss",
        affine=lambda op, a, b: affine.multiply(a, b),
        range=lambda op, a, b: ranges.times(a, b),
        linear=True,
        bits=tristates.of_width(tristates.product),
        origin=Origin.NUMBER,
    ),
    "mad": Row(
        _multiply_add,
        "sss",
        affine=lambda op, a, b, c: affine.add(affine.multiply(a, b), c),
        range=ranges.mad,
        linear=True,
        bits=tristates.of_width(tristates.multiplied_and_added),
        origin=Origin.ADDEND,
    ),
    **{
        f"mulhi.{sign}": Row(
            _with_sign(concrete.mulhi, sign == "s"),
            "ss",
            range=ranges.of_sign(sign, ranges.upper_product),
            origin=Origin.NUMBER,
        )
        for sign in "us"
    },
    **{
        f"mulwide.{sign}": Row(
            _with_sign(_product, sign == "s"),
            "hh",
            affine=symbolic.wide_product,
            range=(lambda op, a, b: ranges.times(a, b)) if sign == "u" else ranges.times_signed,
            linear=True,
            bits=tristates.wide_product if sign == "u" else None,
            origin=Origin.NUMBER,
        )
        for sign in "us"
    },
    **{
        f"madwide.{sign}": Row(
            _with_sign(_product_and_sum, sign == "s"),
            "hhs",
            affine=symbolic.wide_product,
            range=ranges.mad if sign == "u" else ranges.times_signed,
            linear=True,
            bits=tristates.wide_product if sign == "u" else None,
            origin=Origin.ADDEND,
        )
        for sign in "us"
    },
    "neg": Row(
        _negated,
        "s",
        affine=lambda op, a: affine.subtract(constant(0, op.bits), a),
        linear=True,
        strict=True,
        bits=tristates.of_width(tristates.negate),
        origin=Origin.NUMBER,
    ),
    "abs": Row(lambda bits, attrs, a: np.where(signed(a) < 0, ~a + a.dtype.type(1), a), "s", origin=Origin.NUMBER),
    "min.u": Row(
        _pair(np.minimum),
        "ss",
        affine=_named(symbolic.extremum),
        range=ranges.minimum,
        bits=tristates.of_width(tristates.minimum),
        origin=Origin.EITHER,
    ),
    "max.u": Row(
        _pair(np.maximum),
        "ss",
        affine=_named(symbolic.extremum),
        range=ranges.maximum,
        bits=tristates.of_width(known_bits.either),
        origin=Origin.EITHER,
    ),
    "min.s": Row(
        _signed_pair(np.minimum),
        "ss",
        affine=_named(symbolic.extremum),
        range=ranges.signed_extremum,
        bits=tristates.of_width(known_bits.either),
        origin=Origin.EITHER,
    ),
    "max.s": Row(
        _signed_pair(np.maximum),
        "ss",
        affine=_named(symbolic.extremum),
        range=ranges.signed_extremum,
        bits=tristates.of_width(known_bits.either),
        origin=Origin.EITHER,
    ),
    **{
        f"{name}.{sign}": Row(
            lambda bits, attrs, a, b, is_signed=sign == "s", rest=name == "rem": concrete.divide(
                bits, a, b, is_signed, rest
            ),
            "ss",
            concrete.by_zero,
            affine=_named(symbolic.divided_by_a_power),
            range=ranges.of_sign(sign, ranges.remainder if name == "rem" else ranges.quotient),
            origin=Origin.NUMBER,
        )
        for name in ("div", "rem")
        for sign in "us"
    },
    "add3.carry": Row(
        concrete.add3_carry,
        "ssspp",
        results=3,
        affine=symbolic.sum_with_carry,
        range=ranges.sum3,
        linear=True,
        bits=tristates.sum_with_carry,
        origin=Origin.SUM,
    ),
    **{f"sad.{sign}": Row(_with_sign(_distance, sign == "s"), "sss", origin=Origin.NUMBER) for sign in "us"},
    # logic and shifts
    "and": _bitwise("and", np.bitwise_and, 0b1000, lambda op, a, b: (a.lone[0] or b.lone[0], False)),
    "or": _bitwise("or", np.bitwise_or, 0b1110, lambda op, a, b: (False, a.lone[1] or b.lone[1])),
    "xor": _bitwise("xor", np.bitwise_xor, 0b0110),
    "not": Row(
        lambda bits, attrs, a: ~a,
        "s",
        affine=lambda op, a: affine.invert(a),
        strict=True,
        bits=tristates.of_width(tristates.invert),
        origin=Origin.NUMBER,
        range=ranges.inverse,
    ),
    "cnot": Row(lambda bits, attrs, a: (a == 0).astype(a.dtype), "s", origin=Origin.NUMBER),
    "lop3": Row(
        concrete.lop3,
        "sss",
        affine=lambda op, a, b, c: symbolic.lop3(op.attrs[0], op.bits, a, b, c),
        range=ranges.lop3,
        bits=tristates.bitwise(None),
        origin=Origin.SUM,
    ),
    "shl": Row(
        concrete.shift_left,
        "sc",
        affine=symbolic.shift_left,
        range=ranges.shift_left,
        linear=True,
        bits=tristates.shifted(tristates.up, 0),
        origin=Origin.NUMBER,
    ),
    "shr.u": Row(
        concrete.shift_right,
        "sc",
        affine=symbolic.shift_down,
        range=ranges.shift_right,
        strict=True,
        bits=tristates.shifted(tristates.down, 0),
        origin=Origin.NUMBER,
    ),
    "shr.s": Row(
        concrete.shift_right_signed,
        "sc",
        affine=symbolic.shift_down,
        range=lambda op, a, n: None if a.high >> op.bits - 1 else ranges.shift_right(op, a, n),
        strict=True,
        bits=tristates.shifted(tristates.signed_down, 1),
        origin=Origin.NUMBER,
    ),
    **{
        f"shf.{way}": Row(
            partial(concrete.funnel, left=way == "l"),
            "ccc",
            affine=lambda op, *values: symbolic.funnel(op.name, values, op.attrs),
            range=ranges.funnel_left if way == "l" else None,
            origin=Origin.NUMBER,
        )
        for way in "lr"
    },
    "bfe.u": Row(
        _with_sign_and_attributes(concrete.bfe, False),
        "scc",
        concrete.beyond_the_field,
        affine=symbolic.field,
        range=ranges.field,
        bits=tristates.field,
        origin=Origin.NUMBER,
    ),
    "bfe.s": Row(_with_sign_and_attributes(concrete.bfe, True), "scc", concrete.beyond_the_field, origin=Origin.NUMBER),
    "bfi": Row(concrete.bfi, "sscc", concrete.beyond_the_field, origin=Origin.SUM),
    "bmsk": Row(concrete.bmsk, "cc", origin=Origin.NUMBER),
    "szext.u": Row(
        _with_sign_and_attributes(concrete.szext, False),
        "sc",
        affine=symbolic.field,
        origin=Origin.NUMBER,
    ),
    "szext.s": Row(_with_sign_and_attributes(concrete.szext, True), "sc", origin=Origin.NUMBER),
    "brev": Row(concrete.brev, "s", origin=Origin.NUMBER),
    "popc": Row(
        lambda bits, attrs, a: np.bitwise_count(a).astype(np.uint32),
        "o",
        range=ranges.ones,
        bits=tristates.counted,
        origin=Origin.NUMBER,
    ),
    "clz": Row(
        lambda bits, attrs, a: concrete.leading_zeros(a, BITS[a.dtype]).astype(np.uint32), "o", origin=Origin.NUMBER
    ),
    **{
        f"bfind.{sign}": Row(
            lambda bits, attrs, a, is_signed=sign == "s": concrete.bfind(BITS[a.dtype], attrs, a, is_signed),
            "o",
            origin=Origin.NUMBER,
        )
        for sign in "us"
    },
    "fns": Row(concrete.fns, "ccc", concrete.outside, origin=Origin.NUMBER),
    # comparisons
    **{
        f"setp.{name}": Row(
            _comparison(name.partition(".")[0], name.endswith(".s")),
            "ss",
            predicate=True,
            affine=lambda op, a, b, name=name: compare(name, a, b),
            lone=_LONE.get(name),
            strict=True,
            origin=Origin.NUMBER,
        )
        for name in ("eq", "ne", *(f"{relation}.{sign}" for relation in ("lt", "le", "gt", "ge") for sign in "us"))
    },
    # floating point
    **{name: replace(row, strict=True, origin=Origin.NUMBER) for name, row in (FLOATS | NARROW).items()},
    **{name: replace(row, origin=Origin.NUMBER) for name, row in approximate.MUFU.items()},
    **approximate.PTX,
    **CONTRACTED,
}
