"""Lowers bit logic, shifts, bit fields, moves and predicates.

LOP3.LUT P0, RZ, R5, 0x1f, RZ, 0xc0, !PT    t = and(R5, 31); P0 = setp.ne(t, 0)
SHF.L.U64.HI R7, R2, 0x3, R3                t = shl.64(cat(R2, R3), 3); R7 = extract(t, 32)
PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x8     P0 = lop3.1(P1, P2, true) table 0x80
R2P PR, R7, 0x5                             P0, P2 = bits 0 and 2 of R7
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.frontend.sass import places
from ptxaudit.frontend.sass.builder import (
    FALSE,
    PAIR_BITS,
    TRUE,
    WORD_BITS,
    ZERO32,
    Builder,
    NoMeaning,
    bare,
    machine_register,
    register,
)
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Number, Operand, Register, Word
from ptxaudit.ir import nodes as ir

PREDICATES = 7  # P0 to P6; P7 is PT
# Truth tables (index 4a + 2b + c) of operations on two of three sources, so that formulas stay simple.
_TWO_SOURCES = (
    (0, 1, {0xC0: "and", 0xFC: "or", 0x3C: "xor"}),
    (0, 2, {0xA0: "and", 0xFA: "or", 0x5A: "xor"}),
    (1, 2, {0x88: "and", 0xEE: "or", 0x66: "xor"}),
)
_ONE_SOURCE = {0xF0: 0, 0xCC: 1, 0xAA: 2}
_ONE_INVERTED = {0x0F: 0, 0x33: 1, 0x55: 2}


# --- three-input logic ----------------------------------------------------------------------


def logic(b: Builder) -> None:
    """LOP3 and ULOP3, with the predicate that tells whether the result is nonzero."""
    operands = list(b.operands)
    test = operands.pop(0) if isinstance(operands[0], Register) and operands[0].is_predicate else None
    if len(operands) < 5 or not isinstance(operands[4], Number):
        raise NoMeaning
    destination, table = operands[0], operands[4].value & 0xFF
    other = b.predicate(operands[5]) if len(operands) > 5 else FALSE
    value = _three_input(b, table, [b.integer(o) for o in operands[1:4]])
    if test is not None and not test.is_zero:
        some = b.compute("setp.ne", value, ZERO32, result=1)
        kind = "and" if b.has("PAND") else "or"
        if other != (TRUE if kind == "and" else FALSE):
            some = b.compute(kind, some, other, bits=1)
        b.write_predicate(test, some)
    b.write(destination, "mov", value)


def _three_input(b: Builder, table: int, sources: list[ir.Operand], bits: int = WORD_BITS) -> ir.Operand:
    """The simplest operation with this truth table."""
    ones = ir.Const((1 << bits) - 1, bits)
    for source, (true_rows, weight) in zip(sources, ((0xF0, 4), (0xCC, 2), (0xAA, 1))):
        if source == ir.Const(0, bits):  # only the rows where it is zero count
            rows = table & ~true_rows & 0xFF
            table = rows | rows << weight
        elif source == ones:
            rows = table & true_rows
            table = rows | rows >> weight
    if table in (0x00, 0xFF):
        return ones if table else ir.Const(0, bits)
    if table in _ONE_SOURCE:
        return sources[_ONE_SOURCE[table]]
    if table in _ONE_INVERTED:
        return b.compute("not", sources[_ONE_INVERTED[table]], bits=bits)
    for first, second, tables in _TWO_SOURCES:
        if table in tables:
            return b.compute(tables[table], sources[first], sources[second], bits=bits)
    return b.compute("lop3", *sources, bits=bits, attrs=(table,))


def predicate_logic(b: Builder) -> None:
    """PLOP3 and UPLOP3: two functions of three predicates, or of the signs of registers (R7.SIGN)."""
    operands = b.operands
    tables = [o.value & 0xFF for o in operands[5:] if isinstance(o, Number)]
    if len(operands) != 7 or len(tables) != 2:
        raise NoMeaning
    sources = [_truth(b, o) for o in operands[2:5]]
    out = [
        (destination, b.compute("mov", _three_input(b, table, sources, 1), bits=1))
        for destination, table in zip(operands[:2], tables)
        if b.destination(destination) is not None
    ]
    for destination, value in out:
        b.write_predicate(destination, value)


def _truth(b: Builder, operand: Operand) -> ir.Operand:
    """A predicate, or whether a register is negative."""
    if not isinstance(operand, Register) or operand.is_predicate:
        return b.predicate(operand)
    if operand.suffixes != ("SIGN",):
        raise NoMeaning("a register used as a predicate")
    return b.compute("setp.lt.s", b.word(bare(operand)), ZERO32, result=1)


# --- shifts and bit fields ------------------------------------------------------------------


def funnel_shift(b: Builder) -> None:
    """SHF and USHF: one half of the shifted pair c:a; the type determines where the count is clamped."""
    destination, low, count, high = (b.operand(i) for i in range(4))
    left, upper, wrap = b.has("L"), b.has("HI"), b.has("W")
    wide_count = b.has("U64", "S64")
    signed = b.has("S32", "S64")
    a, n, c = b.integer(low), b.integer(count), b.integer(high)
    limit = PAIR_BITS if wide_count else WORD_BITS
    if wrap:
        n = ir.Const(n.value & (limit - 1)) if isinstance(n, ir.Const) else b.compute("and", n, ir.Const(limit - 1))
    if left and not upper and not wide_count:
        return b.write(destination, "shl", a, n)
    if left and not upper:  # shl clamps at 32, from where the lower half is zero
        return b.write(destination, "shl", a, n)
    if not left and upper and a == ZERO32:
        return b.write(destination, "shr.s" if signed else "shr.u", c, n)
    if not wide_count and not (signed and not left):
        mode = "wrap" if wrap else "clamp"
        if left and upper:
            return b.write(destination, "shf.l", a, c, n, attrs=(mode,))
        if not left and not upper:
            return b.write(destination, "shf.r", a, c, n, attrs=(mode,))
    if not wide_count:
        n = b.compute("min.u", n, ir.Const(WORD_BITS))
    both = b.compute("cat", a, c, bits=PAIR_BITS)
    shifted = b.compute("shl" if left else "shr.s" if signed else "shr.u", both, n, bits=PAIR_BITS)
    b.write(destination, "extract", shifted, attrs=(WORD_BITS if upper else 0,))


def sign_extend(b: Builder) -> None:
    """SGXT and USGXT: the low n bits, sign- or zero-extended."""
    mode = "wrap" if b.has("W") else "clamp"
    b.write(
        b.operand(0),
        "szext.u" if b.has("U32") else "szext.s",
        b.integer(b.operand(1)),
        b.integer(b.operand(2)),
        attrs=(mode,),
    )


def bit_mask(b: Builder) -> None:
    mode = "wrap" if b.has("W") else "clamp"
    b.write(b.operand(0), "bmsk", b.integer(b.operand(1)), b.integer(b.operand(2)), attrs=(mode,))


def find_leading_one(b: Builder) -> None:
    if len(b.operands) != 2:
        raise NoMeaning
    b.write(b.operand(0), "bfind.u" if b.has("U32") else "bfind.s", b.integer(b.operand(1)), attrs=(b.has("SH"),))


def _one_source(name: str) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        if len(b.operands) != 2 or b.marks:
            raise NoMeaning
        b.write(b.operand(0), name, b.integer(b.operand(1)))

    return lower


_PERMUTE_MODES = {"F4E": "f4e", "B4E": "b4e", "RC8": "rc8", "ECL": "ecl", "ECR": "ecr", "RC16": "rc16"}


def permute(b: Builder) -> None:
    """PRMT a, selector, c: bytes of c:a."""
    mode = next((_PERMUTE_MODES[mark] for mark in b.marks if mark in _PERMUTE_MODES), "")
    if b.marks and not mode:
        raise NoMeaning
    a, selector, c = (b.integer(b.operand(i)) for i in (1, 2, 3))
    field = (
        _PERMUTED_FIELDS.get(selector.value & 0xFFFF)
        if isinstance(selector, ir.Const) and c == ZERO32 and not mode
        else None
    )
    if field:
        return b.write(b.operand(0), "bfe.u", a, ir.Const(field[0]), ir.Const(field[1]))
    b.write(b.operand(0), "prmt", a, c, selector, attrs=(mode,))


# Selectors that extract one field of `a` and fill up with bytes of `c`, for c = 0: (bit, length).
_PERMUTED_FIELDS = {
    **{filler + byte: (8 * byte, 8) for filler in (0x4440, 0x5550, 0x6660, 0x7770) for byte in range(4)},
    0x5410: (0, 16),
    0x7610: (0, 16),
    0x7710: (0, 16),
    0x5432: (16, 16),
    0x7632: (16, 16),
    0x7732: (16, 16),
}


# --- moves and selections -------------------------------------------------------------------


def move(b: Builder) -> None:
    """MOV, UMOV, with one 32-bit source, or a pair for .64."""
    if b.has("64"):
        source = b.operand(1)
        return b.write_pair(
            b.operand(0), b.literal(source, PAIR_BITS) if isinstance(source, Number) else b.pair(source)
        )
    b.write(b.operand(0), "mov", b.integer(b.operand(1)))


def select(b: Builder) -> None:
    """SEL and USEL: p ? a : b."""
    destination, first, second, chosen = (b.operand(i) for i in range(4))
    if b.has("64"):
        value = b.compute("select", b.pair(first), b.pair(second), b.predicate(chosen), bits=PAIR_BITS)
        return b.write_pair(destination, value)
    write_selection(b, destination, b.integer(first), b.integer(second), b.predicate(chosen))


def write_selection(
    b: Builder, destination: Operand, first: ir.Operand, second: ir.Operand, chosen: ir.Operand
) -> None:
    if chosen in (TRUE, FALSE):
        return b.write(destination, "mov", first if chosen == TRUE else second)
    b.write(destination, "select", first, second, chosen)


def read_special(b: Builder) -> None:
    """S2R, S2UR, CS2R, CS2UR: a special register; CS2R writes a pair unless .32."""
    destination, source = b.operand(0), b.operand(1)
    if not isinstance(source, Word):
        raise NoMeaning
    count = 2 if b.root in ("CS2R", "CS2UR") and not b.has("32") else 1
    registers = b.registers(destination, count)
    if source.text in ("SRZ", "URZ"):
        values: list[ir.Operand] = [ZERO32] * count
    elif source.text == places.CGA_SIZE:
        values = [ZERO32]  # the tables that it selects hold the same values: see lift._cluster_slots
    else:
        name = places.special_register(source.text)
        values = [ir.Special(name) if name else ir.Unknown(f"special register {source.text}")]
        values += [ir.Unknown(f"upper half of special register {source.text}")] * (count - 1)
    for target, value in zip(registers, values):
        if target is not None:
            b.emit("mov", (target,), (value,))


# --- predicates as bits ---------------------------------------------------------------------


def _byte(suffixes: tuple[str, ...]) -> int:
    return next((int(s[1:]) for s in suffixes if s in ("B0", "B1", "B2", "B3")), 0)


def predicates_to_register(b: Builder) -> None:
    """P2R and UP2UR: the predicates of a mask, inserted into one byte of a source.

    The eighth bit of a mask, which would be PT's, inserts 0 (measured on an H100: bench/encodings).
    """
    destination, names, source, mask = (b.operand(i) for i in range(4))
    kind = {"PR": "P", "UPR": "UP"}.get(names.text) if isinstance(names, Word) else None
    if kind is None or not isinstance(mask, Number):
        raise NoMeaning
    shift, bits = 8 * _byte(b.marks), mask.value & 0xFF
    value = b.integer(source)
    if value != ZERO32:
        value = b.compute("and", value, ir.Const(~(bits << shift) & 0xFFFFFFFF))
    for k in range(PREDICATES):
        if not bits >> k & 1:
            continue
        wide = b.compute("zext", machine_register(kind, k))
        bit = b.compute("shl", wide, ir.Const(k + shift)) if k + shift else wide
        value = bit if value == ZERO32 else b.compute("or", value, bit)
    b.write(destination, "mov", value)


def register_to_predicates(b: Builder) -> None:
    """R2P and UR2UP: the bits of a byte, written to the predicates of a mask."""
    names, source, mask = (b.operand(i) for i in range(3))
    kind = {"PR": "P", "UPR": "UP"}.get(names.text) if isinstance(names, Word) else None
    if kind is None or not isinstance(mask, Number) or not isinstance(source, Register):
        raise NoMeaning
    shift = 8 * (_byte(b.marks) or _byte(source.suffixes))
    value: ir.Operand = ZERO32 if source.is_zero else register(bare(source))
    for k in range(PREDICATES):
        if mask.value >> k & 1:
            bit = b.compute("and", value, ir.Const(1 << (k + shift)))
            yes = b.compute("setp.ne", bit, ZERO32, result=1)
            b.emit("mov", (machine_register(kind, k),), (yes,), 1)


_SHIFTS = (
    "L (U32|S32) HI? / L (U64|S64) HI? / L W (U32|S32) HI? / R (U32|S32) HI? / R (U64|S64) HI? / R W (U32|S32) HI?"
)
_BYTES = "(B0|B1|B2|B3)?"
_BYTE_SUFFIXES = ".B0 .B1 .B2 .B3"

LOWERINGS = {
    **dict.fromkeys(("LOP3", "ULOP3"), Row(logic, "LUT PAND?", "P?RI{3}NP?", "~")),
    **dict.fromkeys(("PLOP3", "UPLOP3"), Row(predicate_logic, "LUT", "P{2}[PR]{3}N{2}", ".SIGN")),
    **dict.fromkeys(("SHF", "USHF"), Row(funnel_shift, _SHIFTS, "RI{3}")),
    # if the length is in constant memory, the disassembler prints another bank and offset than the code has (seen on
    # sm_75 to sm_89)
    **dict.fromkeys(("SGXT", "USGXT"), Row(sign_extend, "W? U32?", "RI[RN]")),
    **dict.fromkeys(("BMSK", "UBMSK"), Row(bit_mask, "W?", "RI{2}")),
    **dict.fromkeys(("FLO", "UFLO"), Row(find_leading_one, "U32? SH?", "RI", "~")),
    **dict.fromkeys(("POPC", "UPOPC"), Row(_one_source("popc"), "", "RI", "~")),
    **dict.fromkeys(("BREV", "UBREV"), Row(_one_source("brev"), "", "RI", "~")),
    **dict.fromkeys(("PRMT", "UPRMT"), Row(permute, f"({'|'.join(_PERMUTE_MODES)})?", "RI{3}")),
    "MOV": Row(move, "(64|SPILL)?", "RI"),
    "UMOV": Row(move, "64?", "RI"),
    "MOV32I": Row(move, "", "RI"),
    **dict.fromkeys(("SEL", "USEL"), Row(select, "64?", "RI{2}P", "-")),
    **dict.fromkeys(("S2R", "S2UR"), Row(read_special, "", "RW")),
    **dict.fromkeys(("CS2R", "CS2UR"), Row(read_special, "32?", "RW")),
    **dict.fromkeys(("P2R", "UP2UR"), Row(predicates_to_register, _BYTES, "RWIN")),
    **dict.fromkeys(("R2P", "UR2UP"), Row(register_to_predicates, _BYTES, "WRN", _BYTE_SUFFIXES)),
}
