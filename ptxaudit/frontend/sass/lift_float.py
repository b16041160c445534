"""Lowers the floating-point operations that occur in index arithmetic: conversions, sums, products, comparisons.

    I2F.U32.RP R4, R6                    R4 = i2f.u(R6) toward +∞
    MUFU.RCP R4, R4                      R4 = mufu.rcp(R4)
    F2I.FTZ.U32.TRUNC.NTZ R3, R2         R3 = f2i.u(R2) toward zero
    HFMA2.MMA R5, -RZ, RZ, 0, 1.78e-07   R5 = 0x00000003       (a constant made on the half-precision pipe)

Division by a variable becomes such sequences in machine code. Operations without an exact model (half-precision
arithmetic) are left to `clobber`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ptxaudit.frontend.sass.builder import (
    NOT_NUMBERS,
    PAIR_BITS,
    WORD_BITS,
    Builder,
    NoMeaning,
    bare,
    float_bits,
    register,
)
from ptxaudit.frontend.sass.lift_integer import COMBINE, write_comparison
from ptxaudit.frontend.sass.lift_logic import write_selection
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Memory, Number, Operand, Register
from ptxaudit.ir import nodes as ir

_ROUNDING = {"RM": "rm", "RP": "rp", "RZ": "rz", "FLOOR": "rm", "CEIL": "rp", "TRUNC": "rz"}
_FROM_BITS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "U32": 32, "S32": 32, "U64": 64, "S64": 64}
_HALF = 16
_CANONICAL_HALF_NAN = 0x7FFF
_ONE = 0x3F800000  # 1.0


def _rounding(b: Builder) -> str:
    return _rounding_of(b.marks)


@cache
def _rounding_of(marks: tuple[str, ...]) -> str:
    return next((_ROUNDING[mark] for mark in marks if mark in _ROUNDING), "rn")


def _attrs(b: Builder) -> tuple[Any, ...]:
    if b.has("SAT"):
        return _rounding(b), b.has("FTZ"), True
    return _rounding(b), b.has("FTZ")


def _arithmetic(name: str, bits: int) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        attrs = _attrs(b)
        sources = [b.real(o, bits) for o in b.operands[1:]]
        if bits == PAIR_BITS:
            b.write_pair(b.operand(0), b.compute(name, *sources, bits=bits, attrs=attrs))
        else:
            b.write(b.operand(0), name, *sources, attrs=attrs)

    return lower


def minimum(b: Builder) -> None:
    """FMNMX: the minimum if the predicate holds, else the maximum."""
    selector = b.operand(3)
    if not isinstance(selector, Register) or not selector.is_zero or not selector.is_predicate:
        raise NoMeaning
    b.write(
        b.operand(0),
        "fmax" if selector.negated else "fmin",
        b.real(b.operand(1)),
        b.real(b.operand(2)),
        attrs=("rn", b.has("FTZ")),
    )


def select(b: Builder) -> None:
    """FSEL: p ? a : b, with |x| and signs."""
    write_selection(b, b.operand(0), _flushed(b, 1), _flushed(b, 2), b.predicate(b.operand(3)))


def _flushed(b: Builder, position: int, bits: int = WORD_BITS) -> ir.Operand:
    """A source, with subnormals flushed to zero if the opcode has .FTZ."""
    value = b.real(b.operand(position), bits)
    return b.compute("fmul", value, ir.Const(_ONE), attrs=("rn", True)) if b.has("FTZ") else value


def minimum_of_three(b: Builder) -> None:
    """FMNMX3: the minimum or maximum of three; the result is NaN only if all are."""
    selector = b.operand(4)
    if not isinstance(selector, Register) or not selector.is_zero or not selector.is_predicate:
        raise NoMeaning
    name, attrs = "fmax" if selector.negated else "fmin", ("rn", b.has("FTZ"))
    first = b.compute(name, b.real(b.operand(1)), b.real(b.operand(2)), attrs=attrs)
    b.write(b.operand(0), name, first, b.real(b.operand(3)), attrs=attrs)


def _packed(name: str) -> Callable[[Builder], None]:
    """FADD2, FMUL2, FFMA2: the operation on two 32-bit floats in a register pair."""

    def lower(b: Builder) -> None:
        attrs = _attrs(b)
        sources = [_halves(b, operand) for operand in b.operands[1:]]
        values = [b.compute(name, *(source[half] for source in sources), attrs=attrs) for half in (0, 1)]
        for target, value in zip(b.registers(b.operand(0), 2), values):
            if target is not None:
                b.emit("mov", (target,), (value,))

    return lower


def _halves(b: Builder, operand: Operand) -> list[ir.Operand]:
    """The two floats of a pair, or one for both (R4.F32, a literal)."""
    if isinstance(operand, Number):
        return [ir.Const(float_bits(operand, WORD_BITS))] * 2
    if not isinstance(operand, Register) or operand.is_predicate or operand.negated or operand.absolute:
        raise NoMeaning
    if operand.suffixes == ("F32",):
        return [b.word(Register(operand.kind, operand.number))] * 2
    if operand.suffixes != ("F32x2", "HI_LO") and not operand.is_zero:
        raise NoMeaning
    return [ir.Const(0) if register is None else register for register in b.registers(bare(operand), 2)]


_RELATIONS = frozenset({"LT", "LE", "GT", "GE", "EQ", "NE", "LTU", "LEU", "GTU", "GEU", "EQU", "NEU", "NUM", "NAN"})


def _compare(bits: int) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        relation = next((mark.lower() for mark in b.marks if mark in _RELATIONS), None)
        yes = b.compute(f"fsetp.{relation}", _flushed(b, 2, bits), _flushed(b, 3, bits), bits=bits, result=1)
        write_comparison(b, yes, b.operand(0), b.operand(1), b.predicate(b.operand(4)))

    return lower


def division_check(b: Builder) -> None:
    """FCHK P, a, b: whether a / b needs the slow path."""
    b.write_predicate(
        b.operand(0), b.compute("fsetp.check", b.real(b.operand(1)), b.real(b.operand(2)), bits=WORD_BITS, result=1)
    )


# --- conversions ----------------------------------------------------------------------------

_FLOAT_BITS = {"F16": _HALF, "F32": WORD_BITS, "F64": PAIR_BITS}
_HALVES: dict[tuple[str, ...], int] = {(): 0, ("H0",): 0, ("H0_H0",): 0, ("H1",): _HALF, ("H1_H1",): _HALF}


def _half(b: Builder, operand: Operand) -> ir.Operand:
    """A 16-bit float from a register, with |x| and sign applied."""
    if not isinstance(operand, Register) or operand.is_predicate or operand.suffixes not in _HALVES:
        raise NoMeaning
    return _half_at(b, operand, _HALVES[operand.suffixes])


def _half_at(b: Builder, operand: Operand, place: int) -> ir.Operand:
    """A 16-bit float from bit `place` of a register or constant, with |x| and sign applied."""
    if isinstance(operand, Register) and not operand.is_predicate:
        word: ir.Operand = ir.Const(0) if operand.is_zero else register(operand)
    elif isinstance(operand, Memory) and operand.is_constant:
        word = b.constant(operand)
    else:
        raise NoMeaning
    value = b.compute("extract", word, bits=_HALF, attrs=(place,))
    if operand.absolute:
        value = b.compute("fabs", value, bits=_HALF)
    return b.compute("fneg", value, bits=_HALF) if operand.negated else value


def _real(b: Builder, operand: Operand, bits: int) -> ir.Operand:
    return _half(b, operand) if bits == _HALF else b.real(operand, bits)


def _write_float(b: Builder, value: ir.Operand, bits: int) -> None:
    """Writes a result of 16 (the upper half is zero: measured), 32 or 64 bits."""
    if bits == PAIR_BITS:
        b.write_pair(b.operand(0), value)
    else:
        b.write(b.operand(0), "zext" if bits == _HALF else "mov", value)


def from_integer(b: Builder) -> None:
    """I2F, I2FP, UI2F, UI2FP: a signed or unsigned integer of 8 to 64 bits to a float of 16 to 64 bits."""
    form = next((mark for mark in b.marks if mark in _FROM_BITS), "S32")
    sign, width = ("u" if form[0] == "U" else "s"), _FROM_BITS[form]
    source = b.operand(1)
    if width == PAIR_BITS:
        value = b.pair(source)
    elif width == WORD_BITS:
        value = b.integer(source)
    else:
        value = b.compute(f"szext.{sign}", b.integer(source), ir.Const(width), attrs=("clamp",))
    bits = next((_FLOAT_BITS[mark] for mark in b.marks if mark in _FLOAT_BITS), WORD_BITS)
    if bits == WORD_BITS:
        return b.write(b.operand(0), f"i2f.{sign}", value, attrs=(_rounding(b),))
    _write_float(b, b.compute(f"i2f.{sign}", value, bits=bits, attrs=(_rounding(b),)), bits)


def to_integer(b: Builder) -> None:
    """F2I, UF2I."""
    _to_integer(b, b.operand(1))


def to_byte(b: Builder) -> None:
    """F2IP.U8.F32.NTZ R, RZ, a, RZ. Other sources were not measured."""
    if not (b.operand(1).is_zero and b.operand(3).is_zero):
        raise NoMeaning
    _to_integer(b, b.operand(2))


def _to_integer(b: Builder, operand: Operand) -> None:
    """A float to an integer of 8 to 64 bits; NaN becomes zero (.NTZ), or the sign bit alone."""
    source_bits = next((_FLOAT_BITS[mark] for mark in b.marks if mark in _FLOAT_BITS), WORD_BITS)
    form = next((mark for mark in b.marks if mark in _FROM_BITS), "S32")
    sign, bits = ("u" if form[0] == "U" else "s"), _FROM_BITS[form]
    source = _real(b, operand, source_bits)
    attrs = (_rounding(b) + "i", b.has("FTZ"), b.has("NTZ"))
    if bits == WORD_BITS:
        return b.write(b.operand(0), "mov", b.compute(f"f2i.{sign}", source, bits=bits, attrs=attrs))
    value = b.compute(f"f2i.{sign}", source, bits=bits, attrs=attrs)
    if bits == PAIR_BITS:
        return b.write_pair(b.operand(0), value)
    if sign == "u" or b.has("NTZ"):
        return b.write(b.operand(0), "zext" if sign == "u" else "sext", value)
    not_a_number = b.compute(
        "fsetp.nan", source, source, bits=source_bits, result=1
    )  # then the upper bits are zero: measured
    wide = [b.compute(name, value) for name in ("zext", "sext")]
    b.write(b.operand(0), "select", *wide, not_a_number)


def convert(b: Builder) -> None:
    """F2F between 16, 32 and 64 bits; FRND to integral values of the same width."""
    widths = [_FLOAT_BITS[mark] for mark in b.marks if mark in _FLOAT_BITS]
    if b.root == "FRND":
        bits = widths[0] if widths else WORD_BITS
        value = b.compute("f2f", _real(b, b.operand(1), bits), bits=bits, attrs=(_rounding(b) + "i", b.has("FTZ")))
        return _write_float(b, value, bits)
    if len(widths) != 2 or widths[0] == widths[1]:
        raise NoMeaning
    to, source = widths
    _write_float(b, b.compute("f2f", _real(b, b.operand(1), source), bits=to, attrs=(_rounding(b), b.has("FTZ"))), to)


def pack_halves(b: Builder) -> None:
    """F2FP.F16.F32.PACK_AB R, high, low: two 32-bit floats as 16-bit ones in one register."""
    high, low = (b.compute("f2f", b.real(b.operand(at)), bits=_HALF, attrs=(_rounding(b), False)) for at in (1, 2))
    b.write(b.operand(0), "cat", low, high)


# MUFU on 16-bit floats writes the lower half of its register; the upper half was not measured
_UPPER_HALF = ir.Unknown("the upper half of what MUFU gives for 16 bits", _HALF)
_NARROW: dict[tuple[str, ...], str] = {("F16",): ".f16", ("BF16",): ".bf16"}


def special_function(b: Builder) -> None:
    """MUFU: a function by its name, whose results depend on the machine."""
    name, narrow = f"mufu.{b.marks[0].lower()}", b.marks[1:]
    if not narrow:
        return b.write(
            b.operand(0), name, _upper_word(b, b.operand(1)) if name.endswith("64h") else b.real(b.operand(1))
        )
    if b.operand(1).negated or b.operand(1).absolute:
        raise NoMeaning
    b.write(b.operand(0), "cat", b.compute(name + _NARROW[narrow], _half(b, b.operand(1)), bits=_HALF), _UPPER_HALF)


def _upper_word(b: Builder, operand: Operand) -> ir.Operand:
    """The upper half of a double: the word in a register or constant, or the upper word of a literal."""
    if isinstance(operand, Number):
        number = b.real(operand, PAIR_BITS)
        assert isinstance(number, ir.Const)  # a literal
        return ir.Const(number.value >> WORD_BITS)
    return b.real(operand)


# --- half floats ----------------------------------------------------------------------------


def half_constant(b: Builder) -> None:
    """HFMA2 R, -RZ, RZ, high, low: a constant as two half-precision literals."""
    destination, first, second, high, low = b.operands
    if not (
        _zero(first)
        and first.negated
        and _zero(second)
        and not second.negated
        and isinstance(high, Number)
        and isinstance(low, Number)
    ):
        raise NoMeaning
    value = _half_bits(high) << _HALF | _half_bits(low)
    b.write(destination, "mov", ir.Const(value))


def _half_bits(literal: Number) -> int:
    """The bits of one half of a constant. 0x7fff is printed as +QNAN, and is the sum for every NaN literal."""
    is_nan = literal.text in NOT_NUMBERS and not literal.negated
    return _CANONICAL_HALF_NAN if is_nan else float_bits(literal, _HALF)


def _zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero


def compare_halves(b: Builder) -> None:
    """HSETP2 P, Q, a, b, R: compares the lower halves into P and the upper into Q, each combined with R.

    As setp.f16x2 of PTX.
    """
    relation = next(mark.lower() for mark in b.marks if mark in _RELATIONS)
    kind, other = next(COMBINE[mark] for mark in b.marks if mark in COMBINE), b.predicate(b.operands[-1])
    sources = [_both_halves(b, operands) for operands in _sources(b.operands[2:-1])]
    bits = WORD_BITS if b.has("BF16_V2") else _HALF
    out = []
    for target, *values in zip(b.operands[:2], *sources):
        if b.destination(target) is not None:
            yes = b.compute(f"fsetp.{relation}", *values, bits=bits, result=1)
            out.append((target, b.compute(kind, yes, other, bits=1)))
    for target, value in out:
        b.write_predicate(target, value)


_PLACES: dict[tuple[str, ...], tuple[int, int]] = {(): (0, _HALF), ("H0_H0",): (0, 0), ("H1_H1",): (_HALF, _HALF)}


def _sources(operands: Sequence[Operand]) -> list[tuple[Operand, ...]]:
    """The two sources of an operation on halves; a literal is printed as two, for the upper and the lower half."""
    first, *rest = operands
    return [(first,), tuple(rest)]


def _both_halves(b: Builder, operands: tuple[Operand, ...]) -> tuple[ir.Operand, ir.Operand]:
    """The lower and the upper half of a source, or one for both; bfloat16 values extended to 32-bit floats."""
    if all(isinstance(o, Number) for o in operands):
        bits = WORD_BITS if b.has("BF16_V2") else _HALF
        upper, lower = (ir.Const(float_bits(o, bits), bits) for o in operands if isinstance(o, Number))
        return lower, upper
    (operand,) = operands
    halves = [_half_at(b, operand, place) for place in _PLACES[operand.suffixes]]
    if b.has("BF16_V2"):
        halves = [b.compute("shl", b.compute("zext", half), ir.Const(_HALF)) for half in halves]
    return halves[0], halves[1]


def half_to_float(b: Builder) -> None:
    """HADD2.F32 R, -RZ, R5.H0_H0 (in either order): one half as a 32-bit float."""
    first, second = b.operands[1:]
    nothing, source = (first, second) if _zero(first) else (second, first)
    if not (_zero(nothing) and nothing.negated and isinstance(source, Register) and not source.is_zero):
        raise NoMeaning
    if not source.suffixes:
        raise NoMeaning
    b.write(b.operand(0), "f2f", _half(b, source), attrs=("rn", False))


_MODES = "(RM|RP|RZ)?"
_RELATION = f"({'|'.join(sorted(_RELATIONS))})"
_COMBINE = f"({'|'.join(COMBINE)})"
_INTEGER = f"({'|'.join(_FROM_BITS)})"
_OF_PAIRS = ".F32 .F32x2 .HI_LO"
_WHOLE = "(FLOOR|CEIL|TRUNC)?"
_FLOAT = f"({'|'.join(_FLOAT_BITS)})"
_OF_HALVES = ".H0 .H1 .H0_H0 .H1_H1"

LOWERINGS = {
    **dict.fromkeys(("FADD", "UFADD"), Row(_arithmetic("fadd", WORD_BITS), f"FTZ? {_MODES} SAT?", "RV{2}", "- |")),
    **dict.fromkeys(("FMUL", "UFMUL"), Row(_arithmetic("fmul", WORD_BITS), f"FTZ? {_MODES} SAT?", "RV{2}", "- |")),
    **dict.fromkeys(("FFMA", "UFFMA"), Row(_arithmetic("fma", WORD_BITS), f"FTZ? {_MODES} SAT?", "RV{3}", "- |")),
    "DADD": Row(_arithmetic("fadd", PAIR_BITS), _MODES, "RV{2}", "- |"),
    "DMUL": Row(_arithmetic("fmul", PAIR_BITS), _MODES, "RV{2}", "- |"),
    "DFMA": Row(_arithmetic("fma", PAIR_BITS), _MODES, "RV{3}", "- |"),
    "FADD2": Row(_packed("fadd"), f"FTZ? {_MODES}", "RV{2}", _OF_PAIRS),
    "FMUL2": Row(_packed("fmul"), f"FTZ? {_MODES}", "RV{2}", _OF_PAIRS),
    "FFMA2": Row(_packed("fma"), f"FTZ? {_MODES}", "RV{3}", _OF_PAIRS),
    "FMNMX3": Row(minimum_of_three, "FTZ?", "RV{3}P", "- |"),
    "FMNMX": Row(minimum, "FTZ?", "RV{2}P", "- |"),
    **dict.fromkeys(("FSEL", "UFSEL"), Row(select, "FTZ?", "RV{2}P", "- |")),
    **dict.fromkeys(("FSETP", "UFSETP"), Row(_compare(WORD_BITS), f"{_RELATION} FTZ? {_COMBINE}", "PPV{2}P", "- |")),
    "DSETP": Row(_compare(PAIR_BITS), f"{_RELATION} {_COMBINE}", "PPV{2}P", "- |"),
    "FCHK": Row(division_check, "DIVIDE?", "PV{2}", "- |"),
    **dict.fromkeys(
        ("I2F", "UI2F"), Row(from_integer, f"{_FLOAT}? {_INTEGER}? {_MODES}", "RI", ".B0 .B1 .B2 .B3 .H0 .H1")
    ),
    **dict.fromkeys(("I2FP", "UI2FP"), Row(from_integer, f"F32 (S32|U32) {_MODES}", "RI")),
    **dict.fromkeys(
        ("F2I", "UF2I"), Row(to_integer, f"FTZ? {_INTEGER}? {_FLOAT}? {_WHOLE} NTZ?", "RV", f"- | {_OF_HALVES}")
    ),
    "F2IP": Row(to_byte, f"U8 F32 {_WHOLE} NTZ", "RRVR", "- |"),
    "F2F": Row(convert, f"FTZ? {_FLOAT} {_FLOAT} {_MODES}", "RV", f"- | {_OF_HALVES}"),
    "FRND": Row(convert, f"FTZ? {_FLOAT}? {_WHOLE}", "RV", f"- | {_OF_HALVES}"),
    "F2FP": Row(pack_halves, "(F16 F32)? PACK_AB RZ?", "RV{2}", "- |"),  # before sm_89 the widths are not written
    "MUFU": Row(
        special_function, "(RCP|RSQ|SQRT|EX2|LG2|SIN|COS|TANH) (F16|BF16)? / RCP64H / RSQ64H", "RV", f"- | {_OF_HALVES}"
    ),
    "HFMA2": Row(half_constant, "MMA?", "RRRVV", "-"),
    "HSETP2": Row(compare_halves, f"BF16_V2? {_RELATION} {_COMBINE}", "PP[RC]([RC]|[NF]{2})P", "- | .H0_H0 .H1_H1"),
    "HADD2": Row(half_to_float, "F32", "RRR", f"- | {_OF_HALVES}"),
}
