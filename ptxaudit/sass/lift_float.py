"""Lowers the floating point that index arithmetic meets: conversions, sums, products, comparisons.

    I2F.U32.RP R4, R6                    R4 = i2f.u(R6) toward +∞
    MUFU.RCP R4, R4                      R4 = mufu.rcp(R4)
    F2I.FTZ.U32.TRUNC.NTZ R3, R2         R3 = f2i.u(R2) toward zero
    HFMA2.MMA R5, -RZ, RZ, 0, 1.78e-07   R5 = 0x00000003       (how a constant is made on the half-float pipe)

Division by a variable reaches machine code as such sequences. What has no exact meaning (most
of MUFU, half-float arithmetic) is left to `clobber`.
"""

from __future__ import annotations

from functools import lru_cache

from .. import ir
from .builder import NOT_NUMBERS, PAIR_BITS, WORD_BITS, Builder, NoMeaning, bare, float_bits
from .lift_integer import COMBINE, write_comparison
from .lift_logic import write_selection
from .rows import Row
from .syntax import Number, Operand, Register

_ROUNDING = {"RM": "rm", "RP": "rp", "RZ": "rz", "FLOOR": "rm", "CEIL": "rp", "TRUNC": "rz"}
_FROM_BITS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "U32": 32, "S32": 32, "U64": 64, "S64": 64}
_HALF = 16
_CANONICAL_HALF_NAN = 0x7FFF
_ONE = 0x3F800000          # 1.0


def _rounding(b: Builder) -> str:
    return _rounding_of(b.marks)


@lru_cache(maxsize=None)
def _rounding_of(marks: tuple[str, ...]) -> str:
    return next((_ROUNDING[mark] for mark in marks if mark in _ROUNDING), "rn")


def _attrs(b: Builder) -> tuple:
    return _rounding(b), b.has("FTZ")


def _arithmetic(name: str, bits: int):
    def lower(b: Builder) -> None:
        attrs = _attrs(b)
        sources = [b.real(o, bits) for o in b.operands[1:]]
        if bits == PAIR_BITS:
            b.write_pair(b.operand(0), b.compute(name, *sources, bits=bits, attrs=attrs))
        else:
            b.write(b.operand(0), name, *sources, attrs=attrs)
    return lower


def minimum(b: Builder) -> None:
    """FMNMX: the least where the predicate holds, else the greatest."""
    selector = b.operand(3)
    if not isinstance(selector, Register) or not selector.is_zero or not selector.is_predicate:
        raise NoMeaning
    b.write(b.operand(0), "fmax" if selector.negated else "fmin", b.real(b.operand(1)), b.real(b.operand(2)), attrs=("rn", b.has("FTZ")))


def select(b: Builder) -> None:
    """FSEL: p ? a : b, with |x| and signs."""
    write_selection(b, b.operand(0), _flushed(b, 1), _flushed(b, 2), b.predicate(b.operand(3)))


def _flushed(b: Builder, position: int, bits: int = WORD_BITS) -> ir.Operand:
    """A source with subnormals as zeros where the opcode says .FTZ."""
    value = b.real(b.operand(position), bits)
    return b.compute("fmul", value, ir.Const(_ONE), attrs=("rn", True)) if b.has("FTZ") else value


def minimum_of_three(b: Builder) -> None:
    """FMNMX3: the least or the greatest of three; a NaN counts only where all are."""
    selector = b.operand(4)
    if not isinstance(selector, Register) or not selector.is_zero or not selector.is_predicate:
        raise NoMeaning
    name, attrs = "fmax" if selector.negated else "fmin", ("rn", b.has("FTZ"))
    first = b.compute(name, b.real(b.operand(1)), b.real(b.operand(2)), attrs=attrs)
    b.write(b.operand(0), name, first, b.real(b.operand(3)), attrs=attrs)


def _packed(name: str):
    """FADD2, FMUL2, FFMA2: the same on two 32-bit floats in a pair of registers."""
    def lower(b: Builder) -> None:
        attrs = _attrs(b)
        sources = [_halves(b, operand) for operand in b.operands[1:]]
        values = [b.compute(name, *(source[half] for source in sources), attrs=attrs) for half in (0, 1)]
        for register, value in zip(b.registers(b.operand(0), 2), values):
            if register is not None:
                b.emit("mov", (register,), (value,))
    return lower


def _halves(b: Builder, operand: Operand) -> list[ir.Operand]:
    """The two floats of a pair, or one for both (R4.F32, a literal)."""
    if isinstance(operand, Number):
        return [ir.Const(float_bits(operand, WORD_BITS))] * 2
    plain = isinstance(operand, Register) and not (operand.is_predicate or operand.negated or operand.absolute)
    if not plain:
        raise NoMeaning
    if operand.suffixes == ("F32",):
        return [b.word(Register(operand.kind, operand.number))] * 2
    if operand.suffixes != ("F32x2", "HI_LO") and not operand.is_zero:
        raise NoMeaning
    return [ir.Const(0) if register is None else register for register in b.registers(bare(operand), 2)]


_RELATIONS = frozenset({"LT", "LE", "GT", "GE", "EQ", "NE", "LTU", "LEU", "GTU", "GEU", "EQU", "NEU", "NUM", "NAN"})


def _compare(bits: int):
    def lower(b: Builder) -> None:
        relation = next((mark.lower() for mark in b.marks if mark in _RELATIONS), None)
        yes = b.compute(f"fsetp.{relation}", _flushed(b, 2, bits), _flushed(b, 3, bits), bits=bits, result=1)
        write_comparison(b, yes, b.operand(0), b.operand(1), b.predicate(b.operand(4)))
    return lower


def division_check(b: Builder) -> None:
    """FCHK P, a, b: whether a / b has to go the slow way."""
    b.write_predicate(b.operand(0), b.compute("fsetp.check", b.real(b.operand(1)), b.real(b.operand(2)), bits=WORD_BITS, result=1))


# --- conversions ----------------------------------------------------------------------------

def from_integer(b: Builder) -> None:
    """I2F, I2FP, UI2F, UI2FP: a signed or unsigned integer of 8 to 64 bits to a float of 32 or 64 bits."""
    form = next((mark for mark in b.marks if mark in _FROM_BITS), "S32")
    sign, width = ("u" if form[0] == "U" else "s"), _FROM_BITS[form]
    source = b.operand(1)
    if width == PAIR_BITS:
        value = b.pair(source)
    elif width == WORD_BITS:
        value = b.integer(source)
    else:
        value = b.compute(f"szext.{sign}", b.integer(source), ir.Const(width), attrs=("clamp",))
    bits = PAIR_BITS if b.has("F64") else WORD_BITS
    if bits == PAIR_BITS:
        b.write_pair(b.operand(0), b.compute(f"i2f.{sign}", value, bits=bits, attrs=(_rounding(b),)))
    else:
        b.write(b.operand(0), f"i2f.{sign}", value, attrs=(_rounding(b),))


def to_integer(b: Builder) -> None:
    """F2I, UF2I: a float to an integer of 32 or 64 bits."""
    source_bits = PAIR_BITS if b.has("F64") else WORD_BITS
    bits = PAIR_BITS if b.has("U64", "S64") else WORD_BITS
    sign = "u" if b.has("U32", "U64") else "s"
    attrs = (_rounding(b) + "i", b.has("FTZ"))
    value = b.compute(f"f2i.{sign}", b.real(b.operand(1), source_bits), bits=bits, attrs=attrs)
    if bits == PAIR_BITS:
        b.write_pair(b.operand(0), value)
    else:
        b.write(b.operand(0), "mov", value)


def convert(b: Builder) -> None:
    """F2F between 32 and 64 bits, FRND within 32."""
    widths = [int(mark[1:]) for mark in b.marks if mark in ("F32", "F64")]
    if b.root == "FRND":
        return b.write(b.operand(0), "f2f", b.real(b.operand(1)), attrs=(_rounding(b) + "i", b.has("FTZ")))
    to, source = widths
    value = b.compute("f2f", b.real(b.operand(1), source), bits=to, attrs=(_rounding(b), b.has("FTZ")))
    if to == PAIR_BITS:
        b.write_pair(b.operand(0), value)
    else:
        b.write(b.operand(0), "mov", value)


def special_function(b: Builder) -> None:
    """MUFU: a named function; only the reciprocal has a meaning downstream."""
    b.write(b.operand(0), f"mufu.{b.marks[0].lower()}", b.real(b.operand(1)))


# --- half floats ----------------------------------------------------------------------------

def half_constant(b: Builder) -> None:
    """HFMA2 R, -RZ, RZ, high, low: a constant as two half-float literals."""
    destination, first, second, high, low = b.operands
    if not (_zero(first) and first.negated and _zero(second) and not second.negated and isinstance(high, Number) and isinstance(low, Number)):
        raise NoMeaning
    value = _half_bits(high) << _HALF | _half_bits(low)
    b.write(destination, "mov", ir.Const(value))


def _half_bits(literal: Number) -> int:
    """A half of a constant. 0x7fff is printed as +QNAN: whatever NaN stands there, the sum is that one."""
    is_nan = literal.text in NOT_NUMBERS and not literal.negated
    return _CANONICAL_HALF_NAN if is_nan else float_bits(literal, _HALF)


def _zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero


_HALVES = {("H0_H0",): 0, ("H1_H1",): _HALF}


def half_to_float(b: Builder) -> None:
    """HADD2.F32 R, -RZ, R5.H0_H0 (or the other way round): one half as a 32-bit float."""
    first, second = b.operands[1:]
    nothing, source = (first, second) if _zero(first) else (second, first)
    if not (_zero(nothing) and nothing.negated and isinstance(source, Register) and not source.is_zero):
        raise NoMeaning
    if source.negated or source.absolute or source.suffixes not in _HALVES:
        raise NoMeaning
    half = b.compute("extract", b.registers(bare(source), 1)[0], bits=_HALF, attrs=(_HALVES[source.suffixes],))
    b.write(b.operand(0), "f2f", half, attrs=("rn", False))


_MODES = "(RM|RP|RZ)?"
_RELATION = f"({'|'.join(sorted(_RELATIONS))})"
_COMBINE = f"({'|'.join(COMBINE)})"
_INTEGER = f"({'|'.join(_FROM_BITS)})"
_OF_PAIRS = ".F32 .F32x2 .HI_LO"
_WHOLE = "(FLOOR|CEIL|TRUNC)?"
# NTZ: of what is no number zero, which is so of 32 bits from 32 only
_TO_INTEGER = f"FTZ? (U32|S32)? {_WHOLE} NTZ / FTZ? (U64|S64) {_WHOLE} / (U32|S32|U64|S64)? F64 {_WHOLE}"

LOWERINGS = {
    **dict.fromkeys(("FADD", "UFADD"), Row(_arithmetic("fadd", WORD_BITS), f"FTZ? {_MODES}", "RV{2}", "- |")),
    **dict.fromkeys(("FMUL", "UFMUL"), Row(_arithmetic("fmul", WORD_BITS), f"FTZ? {_MODES}", "RV{2}", "- |")),
    **dict.fromkeys(("FFMA", "UFFMA"), Row(_arithmetic("fma", WORD_BITS), f"FTZ? {_MODES}", "RV{3}", "- |")),
    "DADD": Row(_arithmetic("fadd", PAIR_BITS), _MODES, "RV{2}", "- |"), "DMUL": Row(_arithmetic("fmul", PAIR_BITS), _MODES, "RV{2}", "- |"),
    "DFMA": Row(_arithmetic("fma", PAIR_BITS), _MODES, "RV{3}", "- |"),
    "FADD2": Row(_packed("fadd"), f"FTZ? {_MODES}", "RV{2}", _OF_PAIRS), "FMUL2": Row(_packed("fmul"), f"FTZ? {_MODES}", "RV{2}", _OF_PAIRS),
    "FFMA2": Row(_packed("fma"), f"FTZ? {_MODES}", "RV{3}", _OF_PAIRS), "FMNMX3": Row(minimum_of_three, "FTZ?", "RV{3}P", "- |"),
    "FMNMX": Row(minimum, "FTZ?", "RV{2}P", "- |"), **dict.fromkeys(("FSEL", "UFSEL"), Row(select, "FTZ?", "RV{2}P", "- |")),
    **dict.fromkeys(("FSETP", "UFSETP"), Row(_compare(WORD_BITS), f"{_RELATION} FTZ? {_COMBINE}", "PPV{2}P", "- |")),
    "DSETP": Row(_compare(PAIR_BITS), f"{_RELATION} {_COMBINE}", "PPV{2}P", "- |"), "FCHK": Row(division_check, "DIVIDE?", "PV{2}", "- |"),
    **dict.fromkeys(("I2F", "UI2F"), Row(from_integer, f"F64? {_INTEGER}? {_MODES}", "RI", ".B0 .B1 .B2 .B3 .H0 .H1")),
    **dict.fromkeys(("I2FP", "UI2FP"), Row(from_integer, f"F32 (S32|U32) {_MODES}", "RI")),
    **dict.fromkeys(("F2I", "UF2I"), Row(to_integer, _TO_INTEGER, "RV", "- |")),
    "F2F": Row(convert, f"FTZ? (F32 F64|F64 F32) {_MODES}", "RV", "- |"), "FRND": Row(convert, "FTZ? (FLOOR|CEIL|TRUNC)?", "RV", "- |"),
    "MUFU": Row(special_function, "(RCP|RSQ|SQRT|EX2|LG2|SIN|COS|TANH|RCP64H|RSQ64H)", "RV", "- |"),
    "HFMA2": Row(half_constant, "MMA?", "RRRVV", "-"), "HADD2": Row(half_to_float, "F32", "RRR", "- .H0_H0 .H1_H1"),
}
