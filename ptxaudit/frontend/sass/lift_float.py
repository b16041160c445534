"""Lowers the floating-point operations that occur in index arithmetic: conversions, sums, products, comparisons.

    I2F.U32.RP R4, R6                    R4 = i2f.u(R6) toward +∞
    MUFU.RCP R4, R4                      R4 = mufu.rcp(R4)
    F2I.FTZ.U32.TRUNC.NTZ R3, R2         R3 = f2i.u(R2) toward zero
    F2FP.BF16.F32.PACK_AB R6, R5, R4     R6 = f2f.bf16(R4) | f2f.bf16(R5) << 16

Division by a variable becomes such sequences in machine code. Packed halves are in `lift_half`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec.structs import replace

from ptxaudit.frontend.sass.builder import (
    FALSE,
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
HALF_BITS = 16
_BYTE = 8
_NAN = 0x7FFFFFFF
_ONE = 0x3F800000  # 1.0
_SMALL, _LARGE = 0x0D800000, 0x71800000  # 2**-100, 2**100
_EXPONENT_AT = 23
_SCALES = ("D2", "D4", "D8", "M2", "M4", "M8")


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
            attrs = _rounding(b), False, False, ir.IN_THIS_ORDER
            b.write_pair(b.operand(0), b.compute(name, *sources, bits=bits, attrs=attrs))
        else:
            b.write(b.operand(0), name, *sources, attrs=attrs)

    return lower


def minimum(b: Builder) -> None:
    """FMNMX: the minimum if the predicate holds, else the maximum. .NAN: NaN if either source is."""
    selector = b.operand(3)
    if not isinstance(selector, Register) or not selector.is_zero or not selector.is_predicate:
        raise NoMeaning
    sources = [b.real(b.operand(at)) for at in (1, 2)]
    name, attrs = "fmax" if selector.negated else "fmin", ("rn", b.has("FTZ"))
    if not b.has("NAN"):
        return b.write(b.operand(0), name, *sources, attrs=attrs)
    lost = b.compute("fsetp.nan", *sources, result=1)
    b.write(b.operand(0), "select", ir.Const(_NAN), b.compute(name, *sources, attrs=attrs), lost)


def select(b: Builder) -> None:
    """FSEL: p ? a : b, with |x| and signs. With .FTZ a NaN stays as it is (measured)."""
    first, second = (_flushed_number(b, b.real(b.operand(at))) for at in (1, 2))
    write_selection(b, b.operand(0), first, second, b.predicate(b.operand(3)))


def _flushed(b: Builder, position: int, bits: int = WORD_BITS) -> ir.Operand:
    """A source, with subnormals flushed to zero if the opcode has .FTZ; then a NaN may be another one."""
    value = b.real(b.operand(position), bits)
    return _without_subnormals(b, value) if b.has("FTZ") else value


def _flushed_number(b: Builder, value: ir.Operand) -> ir.Operand:
    """A float, with subnormals flushed to zero if the opcode has .FTZ; a NaN stays as it is."""
    if not b.has("FTZ"):
        return value
    return b.compute("select", value, _without_subnormals(b, value), b.compute("fsetp.nan", value, value, result=1))


def _without_subnormals(b: Builder, value: ir.Operand) -> ir.Operand:
    return b.compute("fmul", value, ir.Const(_ONE), attrs=("rn", True))


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


RELATIONS = frozenset({"LT", "LE", "GT", "GE", "EQ", "NE", "LTU", "LEU", "GTU", "GEU", "EQU", "NEU", "NUM", "NAN"})


def _compare(bits: int) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        relation = next((mark.lower() for mark in b.marks if mark in RELATIONS), None)
        yes = b.compute(f"fsetp.{relation}", _flushed(b, 2, bits), _flushed(b, 3, bits), bits=bits, result=1)
        write_comparison(b, yes, b.operand(0), b.operand(1), b.predicate(b.operand(4)))

    return lower


def compare_extremes(b: Builder) -> None:
    """DSETP.MAX.AND P, Q, a, b, PT: whether a is the maximum; Q: whether both are NaN.

    So ptxas computes min.f64 and max.f64, by which P is unknown if a and b are equal, or both are NaN.
    """
    last = b.operand(4)
    if not (isinstance(last, Register) and last.is_zero and not last.negated):
        raise NoMeaning
    x, y = (b.real(b.operand(at), PAIR_BITS) for at in (2, 3))
    extreme = b.compute("fmax" if b.has("MAX") else "fmin", x, y, bits=PAIR_BITS, attrs=("rn", False))
    same = b.compute("setp.eq", x, y, bits=PAIR_BITS, result=1)
    first = b.compute("setp.eq", extreme, x, bits=PAIR_BITS, result=1)
    unknown = ir.Unknown(f"which of two equal numbers {b.opcode} takes", 1)
    chosen = b.compute("select", unknown, first, same, bits=1)
    lost = [b.compute("fsetp.nan", value, value, bits=PAIR_BITS, result=1) for value in (x, y)]
    both = b.compute("and", *lost, bits=1)
    nan = b.compute("select", ir.Unknown(f"what {b.opcode} says of NaN", 1), FALSE, both, bits=1)
    b.write_predicate(b.operand(0), chosen)
    b.write_predicate(b.operand(1), nan)


def _of_comparison(b: Builder) -> None:
    compare_extremes(b) if b.has("MAX", "MIN") else _compare(PAIR_BITS)(b)


def scaled_product(b: Builder) -> None:
    """FMUL.M8: 8 · a · b; .D2: a · b / 2. Unknown near the limits of normal numbers."""
    (scale,) = b.marks
    factor = ir.Const(_ONE + ((1 if scale[0] == "M" else -1) * (int(scale[1]).bit_length() - 1) << _EXPONENT_AT))
    x, y = b.real(b.operand(1)), b.real(b.operand(2))
    product = b.compute("fmul", x, y, attrs=("rn", False))
    size = b.compute("fabs", product)
    inside = b.compute(
        "and",
        b.compute("fsetp.ge", size, ir.Const(_SMALL), result=1),
        b.compute("fsetp.le", size, ir.Const(_LARGE), result=1),
        bits=1,
    )
    zero = b.compute("or", *[b.compute("fsetp.eq", v, ir.Const(0), result=1) for v in (x, y)], bits=1)
    known = b.compute("or", inside, zero, bits=1)
    result = b.compute("fmul", product, factor, attrs=("rn", False))
    b.write(b.operand(0), "select", result, ir.Unknown(f"the result of {b.opcode} near the limits"), known)


def multiply(b: Builder) -> None:
    scaled_product(b) if b.has(*_SCALES) else _arithmetic("fmul", WORD_BITS)(b)


def division_check(b: Builder) -> None:
    """FCHK P, a, b: whether a / b needs the slow path."""
    b.write_predicate(
        b.operand(0), b.compute("fsetp.check", b.real(b.operand(1)), b.real(b.operand(2)), bits=WORD_BITS, result=1)
    )


# --- conversions ----------------------------------------------------------------------------

_FLOAT_BITS = {"F16": HALF_BITS, "BF16": HALF_BITS, "F32": WORD_BITS, "F64": PAIR_BITS}
_HALVES: dict[tuple[str, ...], int] = {(): 0, ("H0",): 0, ("H0_H0",): 0, ("H1",): HALF_BITS, ("H1_H1",): HALF_BITS}


def half(b: Builder, operand: Operand) -> ir.Operand:
    """A 16-bit float from a register, with |x| and sign applied."""
    if not isinstance(operand, Register) or operand.is_predicate or operand.suffixes not in _HALVES:
        raise NoMeaning
    return half_at(b, operand, _HALVES[operand.suffixes])


def half_at(b: Builder, operand: Operand, place: int) -> ir.Operand:
    """A 16-bit float from bit `place` of a register or constant, with |x| and sign applied."""
    if isinstance(operand, Register) and not operand.is_predicate:
        word: ir.Operand = ir.Const(0) if operand.is_zero else register(operand)
    elif isinstance(operand, Memory) and operand.is_constant:
        word = b.constant(operand)
    else:
        raise NoMeaning
    value = b.compute("extract", word, bits=HALF_BITS, attrs=(place,))
    if operand.absolute:
        value = b.compute("fabs", value, bits=HALF_BITS)
    return b.compute("fneg", value, bits=HALF_BITS) if operand.negated else value


def widened(b: Builder, value: ir.Operand) -> ir.Operand:
    """A bfloat16 number as a 32-bit float."""
    return b.compute("shl", b.compute("zext", value), ir.Const(HALF_BITS))


def _real(b: Builder, operand: Operand, bits: int) -> ir.Operand:
    return half(b, operand) if bits == HALF_BITS else b.real(operand, bits)


def _write_float(b: Builder, value: ir.Operand, bits: int) -> None:
    """Writes a result of 16 (the upper half is zero: measured, but not for bfloat16), 32 or 64 bits."""
    if bits == HALF_BITS and b.has("BF16"):
        return b.write(b.operand(0), "cat", value, ir.Unknown(f"the upper half of what {b.opcode} gives", HALF_BITS))
    if bits == PAIR_BITS:
        b.write_pair(b.operand(0), value)
    else:
        b.write(b.operand(0), "zext" if bits == HALF_BITS else "mov", value)


def from_integer(b: Builder) -> None:
    """I2F, I2FP, UI2F, UI2FP: a signed or unsigned integer of 8 to 64 bits to a float of 16 to 64 bits."""
    form = next((mark for mark in b.marks if mark in _FROM_BITS), "S32")
    sign, width = ("u" if form[0] == "U" else "s"), _FROM_BITS[form]
    source = b.operand(1)
    if width == PAIR_BITS:
        value = _long(b, source)
    elif width == WORD_BITS:
        value = b.integer(source)
    else:
        value = b.compute(f"szext.{sign}", b.integer(source), ir.Const(width), attrs=("clamp",))
    bits = next((_FLOAT_BITS[mark] for mark in b.marks if mark in _FLOAT_BITS), WORD_BITS)
    if bits == WORD_BITS:
        return b.write(b.operand(0), f"i2f.{sign}", value, attrs=(_rounding(b),))
    if b.has("BF16"):
        if width == PAIR_BITS or _rounding(b) != "rn":
            raise NoMeaning  # a double holds other integers exactly
        exact = b.compute(f"i2f.{sign}", value, bits=PAIR_BITS, attrs=("rn",))
        return _write_float(b, b.compute("f2f.bf16", exact, bits=HALF_BITS, attrs=("rn", False)), bits)
    _write_float(b, b.compute(f"i2f.{sign}", value, bits=bits, attrs=(_rounding(b),)), bits)


def _long(b: Builder, source: Operand) -> ir.Operand:
    """A 64-bit integer; a literal is its upper half (measured)."""
    if not isinstance(source, Number):
        return b.pair(source)
    word = b.literal(source, WORD_BITS)
    if not isinstance(word, ir.Const):
        raise NoMeaning("a 64-bit literal that the linker writes")
    return ir.Const(word.value << WORD_BITS, PAIR_BITS)


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
    if b.has("BF16"):
        source, source_bits = widened(b, source), WORD_BITS
    _flushes_words(b, source_bits)
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


def _flushes_words(b: Builder, *widths: int) -> None:
    """Refuses .FTZ of other widths than 32 bits: it flushes them, too (measured), but not as PTX says."""
    if b.has("FTZ") and set(widths) != {WORD_BITS}:
        raise NoMeaning(".FTZ of a conversion between other widths than 32 bits")


def convert(b: Builder) -> None:
    """F2F between 16, 32 and 64 bits; FRND to integral values of the same width."""
    widths = [_FLOAT_BITS[mark] for mark in b.marks if mark in _FLOAT_BITS]
    if b.root == "FRND":
        bits = widths[0] if widths else WORD_BITS
        _flushes_words(b, bits)
        value = b.compute("f2f", _real(b, b.operand(1), bits), bits=bits, attrs=(_rounding(b) + "i", b.has("FTZ")))
        return _write_float(b, value, bits)
    if b.marks[:1] == ("BF16",):
        return _to_bfloat(b)
    if len(widths) != 2 or widths[0] == widths[1] or b.has("BF16"):
        raise NoMeaning
    to, source = widths
    if HALF_BITS in widths:
        _flushes_words(b, to, source)
    if to == PAIR_BITS:
        return _write_float(b, _as_double(b, source), to)
    _write_float(b, b.compute("f2f", _real(b, b.operand(1), source), bits=to, attrs=(_rounding(b), b.has("FTZ"))), to)


def _as_double(b: Builder, bits: int) -> ir.Operand:
    """A float as a double. A NaN keeps its fraction, even with .FTZ, and its sign, whatever the operand's modifiers
    (measured)."""
    operand = b.operand(1)
    if isinstance(operand, Number):
        return b.compute("f2f", _real(b, operand, bits), bits=PAIR_BITS, attrs=(_rounding(b), b.has("FTZ")))
    value = _flushed_number(b, _real(b, replace(operand, negated=False, absolute=False), bits))
    value = b.compute("f2f", value, bits=PAIR_BITS, attrs=(_rounding(b), False))
    for name, applies in (("fabs", operand.absolute), ("fneg", operand.negated)):
        value = b.compute(name, value, bits=PAIR_BITS) if applies else value
    return value


def _to_bfloat(b: Builder) -> None:
    """F2F.BF16.F32, F2F.BF16.F16, F2F.BF16.F32.RP."""
    if b.marks[1] not in ("F32", "F16"):
        raise NoMeaning
    source = _real(b, b.operand(1), _FLOAT_BITS[b.marks[1]])
    _write_float(b, b.compute("f2f.bf16", source, bits=HALF_BITS, attrs=(_rounding(b), False)), HALF_BITS)


def pack(b: Builder) -> None:
    """F2FP: two floats in one register, the second source lowest.

    F2FP.F16.F32.PACK_AB R, high, low; .BF16; .E4M3 and .E5M2: as bytes of the lower half; .UNPACK_B: two bytes of a
    register as 16-bit floats.
    """
    byte = next((mark.lower() for mark in b.marks if mark in ("E4M3", "E5M2")), "")
    if b.has("UNPACK_B"):
        word = _half_at_once(b, b.operand(1))
        codes = [b.compute("bfe.u", word, ir.Const(at), ir.Const(_BYTE), bits=HALF_BITS) for at in (0, _BYTE)]
        return b.write(b.operand(0), "cat", *[b.compute(f"{byte}.f2f", code, bits=HALF_BITS) for code in codes])
    high: ir.Operand
    low: ir.Operand
    if not byte:
        name, second = ("f2f.bf16", b.has("RELU")) if b.has("BF16") else ("f2f", False)
        high, low = (
            b.compute(name, b.real(b.operand(at)), bits=HALF_BITS, attrs=(_rounding(b), second)) for at in (1, 2)
        )
        return b.write(b.operand(0), "cat", low, high)
    if not b.operand(-1).is_zero:
        raise NoMeaning("a register into which bytes are merged")
    if b.has("F32"):
        high, low = (b.real(b.operand(at)) for at in (1, 2))
    else:
        low, high = (half_at(b, b.operand(1), at) for at in (0, HALF_BITS))
    first, last = (b.compute(f"f2f.{byte}", v, bits=HALF_BITS, attrs=(b.has("RELU"),)) for v in (low, high))
    both = b.compute("or", first, b.compute("shl", last, ir.Const(_BYTE), bits=HALF_BITS), bits=HALF_BITS)
    b.write(b.operand(0), "cat", both, ir.Unknown(f"the upper half of what {b.opcode} gives", HALF_BITS))


def _half_at_once(b: Builder, operand: Operand) -> ir.Operand:
    """The 16 bits of a source that hold two bytes."""
    if not isinstance(operand, Register) or operand.negated or operand.absolute:
        raise NoMeaning
    return half(b, operand)


# MUFU on 16-bit floats writes the lower half of its register; the upper half was not measured
_UPPER_HALF = ir.Unknown("the upper half of what MUFU gives for 16 bits", HALF_BITS)
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
    b.write(b.operand(0), "cat", b.compute(name + _NARROW[narrow], half(b, b.operand(1)), bits=HALF_BITS), _UPPER_HALF)


def _upper_word(b: Builder, operand: Operand) -> ir.Operand:
    """The upper half of a double: the word in a register or constant, or the upper word of a literal."""
    if isinstance(operand, Number):
        number = b.real(operand, PAIR_BITS)
        assert isinstance(number, ir.Const)  # a literal
        return ir.Const(number.value >> WORD_BITS)
    return b.real(operand)


_MODES = "(RM|RP|RZ)?"
RELATION = f"({'|'.join(sorted(RELATIONS))})"
_COMBINE = f"({'|'.join(COMBINE)})"
_INTEGER = f"({'|'.join(_FROM_BITS)})"
_OF_PAIRS = ".F32 .F32x2 .HI_LO"
_WHOLE = "(FLOOR|CEIL|TRUNC)?"
_FLOAT = f"({'|'.join(_FLOAT_BITS)})"
OF_HALVES = ".H0 .H1 .H0_H0 .H1_H1"

LOWERINGS = {
    **dict.fromkeys(("FADD", "UFADD"), Row(_arithmetic("fadd", WORD_BITS), f"FTZ? {_MODES} SAT?", "RV{2}", "- |")),
    **dict.fromkeys(("FMUL", "UFMUL"), Row(multiply, f"FTZ? {_MODES} SAT? / ({'|'.join(_SCALES)})", "RV{2}", "- |")),
    **dict.fromkeys(("FFMA", "UFFMA"), Row(_arithmetic("fma", WORD_BITS), f"FTZ? {_MODES} SAT?", "RV{3}", "- |")),
    "DADD": Row(_arithmetic("fadd", PAIR_BITS), _MODES, "RV{2}", "- |"),
    "DMUL": Row(_arithmetic("fmul", PAIR_BITS), _MODES, "RV{2}", "- |"),
    "DFMA": Row(_arithmetic("fma", PAIR_BITS), _MODES, "RV{3}", "- |"),
    "FADD2": Row(_packed("fadd"), f"FTZ? {_MODES}", "RV{2}", _OF_PAIRS),
    "FMUL2": Row(_packed("fmul"), f"FTZ? {_MODES}", "RV{2}", _OF_PAIRS),
    "FFMA2": Row(_packed("fma"), f"FTZ? {_MODES}", "RV{3}", _OF_PAIRS),
    "FMNMX3": Row(minimum_of_three, "FTZ?", "RV{3}P", "- |"),
    "FMNMX": Row(minimum, "FTZ? NAN?", "RV{2}P", "- |"),
    **dict.fromkeys(("FSEL", "UFSEL"), Row(select, "FTZ?", "RV{2}P", "- |")),
    **dict.fromkeys(("FSETP", "UFSETP"), Row(_compare(WORD_BITS), f"{RELATION} FTZ? {_COMBINE}", "PPV{2}P", "- |")),
    "DSETP": Row(_of_comparison, f"{RELATION} {_COMBINE} / (MAX|MIN) AND", "PPV{2}P", "- |"),
    "FCHK": Row(division_check, "DIVIDE?", "PV{2}", "- |"),
    **dict.fromkeys(
        ("I2F", "UI2F"), Row(from_integer, f"{_FLOAT}? {_INTEGER}? {_MODES}", "RI", ".B0 .B1 .B2 .B3 .H0 .H1")
    ),
    **dict.fromkeys(("I2FP", "UI2FP"), Row(from_integer, f"F32 (S32|U32) {_MODES}", "RI")),
    **dict.fromkeys(
        ("F2I", "UF2I"), Row(to_integer, f"FTZ? {_INTEGER}? {_FLOAT}? {_WHOLE} NTZ?", "RV", f"- | {OF_HALVES}")
    ),
    "F2IP": Row(to_byte, f"U8 F32 {_WHOLE} NTZ", "RRVR", "- |"),
    "F2F": Row(convert, f"FTZ? {_FLOAT} {_FLOAT} {_MODES}", "RV", f"- | {OF_HALVES}"),
    "FRND": Row(convert, f"FTZ? {_FLOAT}? {_WHOLE}", "RV", f"- | {OF_HALVES}"),
    "F2FP": Row(
        pack,
        "(F16 F32)? PACK_AB RZ? / RELU? BF16 F32? PACK_AB RZ? / SATFINITE RELU? (E4M3|E5M2) F32 PACK_AB_MERGE_C"
        " / SATFINITE RELU? (E4M3|E5M2) F16 UNPACK_B_MERGE_C / F16 (E4M3|E5M2) UNPACK_B",
        "RV{2}|RVVR|RRR|RR",
        f"- | {OF_HALVES}",
    ),  # before sm_89 the widths are not written
    "MUFU": Row(
        special_function, "(RCP|RSQ|SQRT|EX2|LG2|SIN|COS|TANH) (F16|BF16)? / RCP64H / RSQ64H", "RV", f"- | {OF_HALVES}"
    ),
}
