"""Lowers arithmetic on packed halves, of 16-bit floats (the default) or bfloat16 (.BF16_V2).

    HADD2 R4, R5, -R6.H0_H0              each half of R5 minus the lower half of R6
    HFMA2.MMA R9, R0, 1, 1, R5           each half of R0 times 1.0, plus that of R5; a literal is printed as two
    HFMA2.MMA R5, -RZ, RZ, 0, 1.78e-07   R5 = 0x00000003       (a constant made on the half-precision pipe)
    HSET2.BF.LE.AND R5, R0, R5, PT       1.0 or 0 in each half

Both halves are computed and rounded separately, as f16x2 and bf16x2 of PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxaudit.frontend.sass.builder import NOT_NUMBERS, WORD_BITS, Builder, NoMeaning, float_bits
from ptxaudit.frontend.sass.lift_float import HALF_BITS, OF_HALVES, RELATION, RELATIONS, half, half_at, widened
from ptxaudit.frontend.sass.lift_integer import COMBINE
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Number, Operand, Register
from ptxaudit.ir import nodes as ir

_CANONICAL_NAN = 0x7FFF
_ONES = {False: 0x3C00, True: 0x3F80}  # 1.0 as a 16-bit float and as a bfloat16
_SIGN = 1 << HALF_BITS - 1
# suffix of a source -> for the lower and the upper half of the operation, the source's bit and whether it is negated.
# The suffix names the upper half first: .H0_NH1 is (-b, a) of (a, b), for products of complex numbers (measured).
_PLACES: dict[tuple[str, ...], tuple[tuple[int, bool], tuple[int, bool]]] = {
    (): ((0, False), (HALF_BITS, False)),
    ("H0_H0",): ((0, False), (0, False)),
    ("H1_H1",): ((HALF_BITS, False), (HALF_BITS, False)),
    ("H0_NH1",): ((HALF_BITS, True), (0, False)),
}
Halves = tuple[ir.Operand, ir.Operand]


def _sources(operands: Sequence[Operand]) -> list[tuple[Operand, ...]]:
    """The sources of an operation on halves; a literal is printed as two, for the upper and the lower half."""
    out: list[tuple[Operand, ...]] = []
    waiting = list(operands)
    while waiting:
        count = 2 if isinstance(waiting[0], Number) else 1
        out.append(tuple(waiting[:count]))
        del waiting[:count]
    return out


def _both_halves(b: Builder, operands: tuple[Operand, ...]) -> Halves:
    """The lower and the upper half of a source, 16 bits each."""
    if isinstance(operands[0], Number):
        upper, lower = (ir.Const(_literal(b, o), HALF_BITS) for o in operands if isinstance(o, Number))
        return lower, upper
    (operand,) = operands
    out = []
    if (places := _PLACES.get(getattr(operand, "suffixes", ()))) is None:
        raise NoMeaning("a part of a register that is no half")
    if places == _PLACES["H0_NH1",] and operand.absolute:
        raise NoMeaning("the absolute values of halves, of which one is negated")
    for place, negated in places:
        value = half_at(b, operand, place)
        out.append(b.compute("fneg", value, bits=HALF_BITS) if negated else value)
    return out[0], out[1]


def _literal(b: Builder, literal: Number) -> int:
    if not b.has("BF16_V2"):
        return float_bits(literal, HALF_BITS)
    bits = float_bits(literal, WORD_BITS)
    if bits & (1 << HALF_BITS) - 1:
        raise NoMeaning("a literal that is no bfloat16 number")
    return bits >> HALF_BITS


def _as_float(b: Builder, value: ir.Operand) -> ir.Operand:
    """A half for operations that are the same on 32-bit floats: a bfloat16 number as one of these."""
    if not b.has("BF16_V2"):
        return value
    return ir.Const(value.value << HALF_BITS) if isinstance(value, ir.Const) else widened(b, value)


def _bits(b: Builder) -> int:
    """The width of what `_as_float` returns."""
    return WORD_BITS if b.has("BF16_V2") else HALF_BITS


def _arithmetic(name: str) -> Callable[[Builder], None]:
    """HADD2, HMUL2, HFMA2."""

    def lower(b: Builder) -> None:
        pairs = zip(*[_both_halves(b, operands) for operands in _sources(b.operands[1:])])
        if b.has("BF16_V2"):
            out = [b.compute(f"{name}.bf16", *pair, bits=HALF_BITS) for pair in pairs]
        else:
            attrs = ("rn", False, True) if b.has("SAT") else ("rn", False)
            out = [b.compute(name, *pair, bits=HALF_BITS, attrs=attrs) for pair in pairs]
        b.write(b.operand(0), "cat", *out)

    return lower


_fused = _arithmetic("fma")


def fused(b: Builder) -> None:
    """HFMA2; of zeros and a literal, a constant."""
    first, second, *third = b.operands[1:]
    if (
        is_zero(first)
        and first.negated
        and is_zero(second)
        and not second.negated
        and len(third) == 2
        and not b.has("SAT")
    ):
        high, low = third
        if isinstance(high, Number) and isinstance(low, Number) and not b.has("BF16_V2"):
            return b.write(b.operand(0), "mov", ir.Const(_half_bits(high) << HALF_BITS | _half_bits(low)))
    _fused(b)


def _half_bits(literal: Number) -> int:
    """The bits of one half of a constant. 0x7fff is printed as +QNAN, and is the sum for every NaN literal."""
    is_nan = literal.text in NOT_NUMBERS and not literal.negated
    return _CANONICAL_NAN if is_nan else float_bits(literal, HALF_BITS)


def is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero


def minimum(b: Builder) -> None:
    """HMNMX2: the minimum if the predicate is PT, the maximum if it is !PT. .NAN: NaN if either is."""
    selector = b.operand(-1)
    if not isinstance(selector, Register) or not selector.is_zero:
        raise NoMeaning("a minimum or maximum chosen by a predicate")
    name, bits, out = "fmax" if selector.negated else "fmin", _bits(b), []
    for pair in zip(*[_both_halves(b, operands) for operands in _sources(b.operands[1:-1])]):
        floats = [_as_float(b, value) for value in pair]
        value = b.compute(name, *floats, bits=bits, attrs=("rn", False))
        if bits == WORD_BITS:
            value = b.compute("extract", value, bits=HALF_BITS, attrs=(HALF_BITS,))
        if b.has("NAN"):
            lost = b.compute("fsetp.nan", *floats, bits=bits, result=1)
            value = b.compute("select", ir.Const(_CANONICAL_NAN, HALF_BITS), value, lost, bits=HALF_BITS)
        out.append(value)
    b.write(b.operand(0), "cat", *out)


def _compared(b: Builder, operands: Sequence[Operand], other: ir.Operand) -> list[ir.Operand]:
    """Whether the lower and the upper halves of two sources compare, each combined with a predicate."""
    relation = next(mark.lower() for mark in b.marks if mark in RELATIONS)
    kind = next(COMBINE[mark] for mark in b.marks if mark in COMBINE)
    out: list[ir.Operand] = []
    for pair in zip(*[_both_halves(b, each) for each in _sources(operands)]):
        floats = [_as_float(b, value) for value in pair]
        yes = b.compute(f"fsetp.{relation}", *floats, bits=_bits(b), result=1)
        out.append(b.compute(kind, yes, other, bits=1))
    return out


def compare(b: Builder) -> None:
    """HSETP2 P, Q, a, b, R: compares the lower halves into P and the upper into Q, as setp.f16x2 of PTX."""
    for target, value in zip(b.operands[:2], _compared(b, b.operands[2:-1], b.predicate(b.operands[-1]))):
        b.write_predicate(target, value)


def set_halves(b: Builder) -> None:
    """HSET2: all ones in each half that compares, else 0; .BF: 1.0."""
    true = ir.Const(_ONES[b.has("BF16_V2")] if b.has("BF") else (1 << HALF_BITS) - 1, HALF_BITS)
    truths = _compared(b, b.operands[1:-1], b.predicate(b.operands[-1]))
    b.write(
        b.operand(0), "cat", *[b.compute("select", true, ir.Const(0, HALF_BITS), p, bits=HALF_BITS) for p in truths]
    )


def add(b: Builder) -> None:
    """HADD2; HADD2.F32 R, -RZ, R5.H0_H0 (in either order): one half as a 32-bit float."""
    if not b.has("F32"):
        return _sum(b)
    first, second = b.operands[1:3]
    nothing, source = (first, second) if is_zero(first) else (second, first)
    if not (is_zero(nothing) and nothing.negated and isinstance(source, Register) and not source.is_zero):
        raise NoMeaning
    if source.suffixes not in (("H0_H0",), ("H1_H1",), ("H0",), ("H1",)):
        raise NoMeaning
    b.write(b.operand(0), "f2f", half(b, source), attrs=("rn", False))


_sum = _arithmetic("fadd")

_COMBINE = f"({'|'.join(COMBINE)})"
_SOURCE = "([RC]|[NF]{2})"
_OF_PACKED = "- | .H0_H0 .H1_H1 .H0_NH1"

LOWERINGS = {
    "HADD2": Row(add, "F32 / SAT? / BF16_V2", f"R{_SOURCE}{{2}}", f"{_OF_PACKED} {OF_HALVES}"),
    "HMUL2": Row(_arithmetic("fmul"), "SAT? / BF16_V2", f"R{_SOURCE}{{2}}", _OF_PACKED),
    "HFMA2": Row(fused, "MMA? (SAT|BF16_V2)?", f"R{_SOURCE}{{3}}", _OF_PACKED),
    "HMNMX2": Row(minimum, "BF16_V2? NAN?", f"R{_SOURCE}{{2}}P", _OF_PACKED),
    "HSET2": Row(set_halves, f"BF16_V2? BF? {RELATION} {_COMBINE}", f"R{_SOURCE}{{2}}P", _OF_PACKED),
    "HSETP2": Row(compare, f"BF16_V2? {RELATION} {_COMBINE}", f"PP[RC]{_SOURCE}P", "- | .H0_H0 .H1_H1"),
}
