"""Lowers integer arithmetic: sums with carries, products, scaled sums, minima, comparisons.

    IADD3 R4, P0, R2, -R6, RZ            R4, P0 = add3.carry(R2, not R6, 0, 1, 0)
    IADD3.X R5, R3, ~R7, RZ, P0, !PT     R5 = add3.carry(R3, not R7, 0, P0, 0)
    IMAD.HI.U32 R3, R3, R5, R2           R3 = (R3 · R5 + R3:R2) >> 32

The meanings were inferred from ptxas's translation of small PTX programs, and verified by running the lifted code
(tests/frontend/test_lift_values.py).
"""

from __future__ import annotations

from msgspec.structs import replace

from ptxaudit.frontend.sass.builder import FALSE, PAIR_BITS, TRUE, WORD_BITS, ZERO32, Builder, NoMeaning
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import ZERO, Number, Operand, Register
from ptxaudit.ir import nodes as ir

HALF_BITS = 16
_NOTHING = ir.Const(0, PAIR_BITS)


def _split(b: Builder) -> tuple[Operand, list[Operand], list[Operand]]:
    """(destination, predicate results, sources) of an instruction that may write carries."""
    destination, rest = b.operand(0), list(b.operands[1:])
    carries = []
    while len(rest) > 1 and isinstance(rest[0], Register) and rest[0].is_predicate:
        carries.append(rest.pop(0))
    if len(carries) == 1 and b.has_second_predicate_alone():
        carries.insert(0, replace(carries[0], number=ZERO))
    return destination, carries, rest


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero and not operand.is_predicate


def _no_predicates(b: Builder, operands: list[Operand]) -> None:
    if any(isinstance(o, Register) and not o.is_zero for o in operands):
        raise NoMeaning


def add(b: Builder) -> None:
    """IADD3, UIADD3, IADD, VIADD and their .X and .64 forms: a sum of two or three sources."""
    destination, carries, sources = _split(b)
    extended = b.has("X")
    bits = PAIR_BITS if b.has("64") else WORD_BITS
    carry_in = [sources.pop() for _ in range(_trailing_predicates(sources))][::-1]
    if extended != bool(carry_in) or len(sources) not in (2, 3):
        raise NoMeaning
    if not extended and all(_is_zero(c) or c.is_zero for c in carries):
        return _plain_sum(b, destination, sources, bits)
    _carried_sum(b, destination, carries, sources, carry_in, bits)


def _trailing_predicates(sources: list[Operand]) -> int:
    count = 0
    while count < len(sources) and isinstance(sources[-1 - count], Register) and sources[-1 - count].is_predicate:
        count += 1
    return count


def _plain_sum(b: Builder, destination: Operand, sources: list[Operand], bits: int) -> None:
    """A difference without carries is `sub`, so that formulas stay simple."""
    plain = [s for s in sources if not s.negated or isinstance(s, Number)]
    taken = [s for s in sources if s.negated and not isinstance(s, Number)]
    terms = [s for s in plain if not _is_zero(s)]
    value: ir.Operand = ir.Const(0, bits)
    for position, source in enumerate(terms):
        read = b.integer(source) if bits == WORD_BITS else b.pair(source)
        value = read if position == 0 else b.compute("add", value, read, bits=bits)
    for source in taken:
        if _is_zero(source):
            continue
        read = b.word(source) if bits == WORD_BITS else b._pair(source)
        value = b.compute("sub", value, read, bits=bits)
    _write(b, destination, value, bits)


def _write(b: Builder, destination: Operand, value: ir.Operand, bits: int) -> None:
    """Writes the value to its destination; if possible, the operation that computed it writes there directly."""
    if bits == PAIR_BITS:
        return b.write_pair(destination, value)
    last = b.ops[-1] if b.ops else None
    register = b.destination(destination)
    if register is None:
        return
    if last is not None and last.dst == (value,) and last.guard is None and last.name != "load":
        b.ops.pop()
        b.emit(last.name, (register,), last.src, last.bits, last.attrs)
    else:
        b.emit("mov", (register,), (value,))


def _complement(b: Builder, operand: Operand, bits: int) -> tuple[ir.Operand, int]:
    """(a source for an adder, ones to add): −x is the complement plus one."""
    read = b.word if bits == WORD_BITS else b._pair
    if isinstance(operand, Number):
        return b.literal(operand, bits), 0
    value = read(operand)
    if operand.negated or operand.inverted:
        return b.compute("not", value, bits=bits), int(operand.negated)
    return value, 0


def _carried_sum(
    b: Builder, destination: Operand, carries: list[Operand], sources: list[Operand], carry_in: list[Operand], bits: int
) -> None:
    values, ones = [], 0
    for source in sources:
        value, more = _complement(b, source, bits)
        values.append(value)
        ones += more
    ins = [b.predicate(c) for c in carry_in] + [TRUE] * ones
    ins = [value for value in ins if value != FALSE]
    if len(ins) > 2 or len(carries) > 2:
        raise NoMeaning
    ins += [FALSE] * (2 - len(ins))
    values += [ir.Const(0, bits)] * (3 - len(values))
    out = [b.destination(c) for c in carries] + [None] * (2 - len(carries))
    if bits == WORD_BITS:
        b.emit("add3.carry", (b.destination(destination), *out), (*values, *ins), bits)
        return
    wide = b.temporary(bits)
    b.emit("add3.carry", (wide, *out), (*values, *ins), bits)
    b.write_pair(destination, wide)


# --- products -------------------------------------------------------------------------------


def multiply_add(b: Builder) -> None:
    """IMAD and UIMAD: a·b + c, low half; .WIDE both halves; .HI the upper half; .X with a carry."""
    destination, carries, sources = _split(b)
    if b.has("X"):
        if not (isinstance(sources[-1], Register) and sources[-1].is_predicate):
            raise NoMeaning
        carry_in = [sources.pop()]
    else:
        carry_in = []
    if len(sources) != 3:
        raise NoMeaning
    if b.has("WIDE", "HI"):
        return _wide_product(b, destination, carries, sources, carry_in)
    first, second, third = sources
    if not carry_in and not [c for c in carries if not c.is_zero]:
        return _product(b, destination, first, second, third)
    product = ZERO32 if _is_zero(first) or _is_zero(second) else b.compute("mul", b.integer(first), b.integer(second))
    value, ones = _complement(b, third, WORD_BITS)
    ins = [b.predicate(c) for c in carry_in] + [TRUE] * ones
    ins += [FALSE] * (2 - len(ins))
    out = [b.destination(c) for c in carries] + [None] * (2 - len(carries))
    b.emit("add3.carry", (b.destination(destination), *out[:2]), (product, value, ZERO32, *ins[:2]))


def _product(b: Builder, destination: Operand, first: Operand, second: Operand, third: Operand) -> None:
    """The special cases of a·b + c: moves, shifts, sums."""
    if _is_zero(first) or _is_zero(second):
        return b.write(destination, "mov", b.integer(third))
    if isinstance(second, Number) and second.text == "0x1" and not second.negated:
        a = b.integer(first)
        if third.negated and not isinstance(third, Number):
            return b.write(destination, "sub", a, b.word(third))
        return b.write(destination, "add", a, b.integer(third))
    if _is_zero(third):
        return b.write(destination, "mul", b.integer(first), b.integer(second))
    b.write(destination, "mad", b.integer(first), b.integer(second), b.integer(third))


def _wide_product(
    b: Builder, destination: Operand, carries: list[Operand], sources: list[Operand], carry_in: list[Operand]
) -> None:
    first, second, third = sources
    sign = "u" if b.has("U32") else "s"
    out = [b.destination(c) for c in carries]
    plain = not carry_in and not any(out)
    if b.has("HI") and plain and _is_zero(third):
        return b.write(destination, f"mulhi.{sign}", b.integer(first), b.integer(second))
    if plain and not third.negated and not third.inverted:
        wide = b.compute(f"madwide.{sign}", b.integer(first), b.integer(second), b.pair(third), bits=PAIR_BITS)
    else:
        product = b.compute(f"mulwide.{sign}", b.integer(first), b.integer(second), bits=PAIR_BITS)
        value, ones = _complement(b, third, PAIR_BITS)
        ins = [b.predicate(c) for c in carry_in] + [TRUE] * ones
        ins += [FALSE] * (2 - len(ins))
        wide = b.temporary(PAIR_BITS)
        b.emit("add3.carry", (wide, *out, *[None] * (2 - len(out))), (product, value, _NOTHING, *ins[:2]), PAIR_BITS)
    if b.has("HI"):
        b.write(destination, "extract", wide, attrs=(WORD_BITS,))
    else:
        b.write_pair(destination, wide)


# --- scaled sums ----------------------------------------------------------------------------


def scaled_add(b: Builder) -> None:
    """LEA and ULEA: (a << n) + b; .HI the upper half of c:a shifted; .SX32 with a's sign for c."""
    destination, carries, sources = _split(b)
    carry_in = [sources.pop()] if b.has("X") else []
    high, signed = b.has("HI"), b.has("SX32")
    if len(sources) != (4 if high and not signed else 3):
        raise NoMeaning
    shift = sources[-1]
    first, second = sources[0], sources[1]
    if first.inverted or not isinstance(shift, Number):
        raise NoMeaning
    n = shift.value
    negative = first.negated
    base = b.word(first)
    if not high:
        shifted = b.compute("shl", base, ir.Const(n)) if n else base
    elif signed:
        shifted = b.compute("shr.s", base, ir.Const(WORD_BITS - n if n else WORD_BITS))
    elif _is_zero(sources[2]):
        shifted = b.compute("shr.u", base, ir.Const(WORD_BITS - n)) if n else ZERO32
    else:
        shifted = b.compute("shf.l", base, b.integer(sources[2]), ir.Const(n), attrs=("wrap",))
    if high and negative:
        raise NoMeaning
    used = [c for c in carries if not c.is_zero]
    if not used and not carry_in:
        if negative:
            return b.write(destination, "sub", b.integer(second), shifted)
        if _is_zero(second):
            return b.write(destination, "mov", shifted)
        return b.write(destination, "add", shifted, b.integer(second))
    value, ones = _complement(b, second, WORD_BITS)
    if negative:
        shifted, ones = b.compute("not", shifted), ones + 1
    ins = [b.predicate(c) for c in carry_in] + [TRUE] * ones
    if len(ins) > 2:
        raise NoMeaning
    ins += [FALSE] * (2 - len(ins))
    out = [b.destination(c) for c in carries] + [None] * (2 - len(carries))
    b.emit("add3.carry", (b.destination(destination), *out), (shifted, value, ZERO32, *ins))


# --- minima, maxima, absolute values --------------------------------------------------------


def _choice(b: Builder, operand: Operand) -> str | None:
    """ "min" or "max" for a constant selector, None if it depends on a predicate."""
    if not isinstance(operand, Register) or not operand.is_predicate:
        raise NoMeaning
    return ("max" if operand.negated else "min") if operand.is_zero else None


def minimum(b: Builder) -> None:
    """IMNMX, VIMNMX, VIMNMX3, UIMNMX, UVIMNMX: the minimum if the last predicate holds, else the maximum."""
    if b.has("S64", "U64"):
        return _wide_minimum(b)
    destination, carries, sources = _split(b)
    _no_predicates(b, carries)
    selector = sources.pop()
    _extreme(b, destination, [b.integer(source) for source in sources], selector)


def _wide_minimum(b: Builder) -> None:
    """IMNMX.S64 PT, PT, R2, R4, R6, PT, !PT."""
    first, second, destination, x, y, selector, last = b.operands if len(b.operands) == 7 else [Number("0x0")] * 7
    if not all(isinstance(o, Register) and o.is_zero for o in (first, second, last)):
        raise NoMeaning
    sign = "u" if b.has("U64") else "s"
    choice = _choice(b, selector)
    values = [
        b.compute(f"{kind}.{sign}", b.pair(x), b.pair(y), bits=PAIR_BITS)
        for kind in ((choice,) if choice else ("min", "max"))
    ]
    if not choice:
        values = [b.compute("select", *values, b.predicate(selector), bits=PAIR_BITS)]
    b.write_pair(destination, values[0])


def _extreme(b: Builder, destination: Operand, values: list[ir.Operand], selector: Operand) -> None:
    """The minimum or maximum of values, or of each of their halves if the opcode says so; .RELU: at least 0."""
    sign = "u" if b.has("U32", "U16x2") else "s"
    halves, choice = b.has("S16x2", "U16x2"), _choice(b, selector)
    bits = HALF_BITS if halves else WORD_BITS
    results = []
    for kind in (choice,) if choice else ("min", "max"):
        parts = []
        for part in zip(*(_halves(b, value) for value in values)) if halves else (values,):
            result = part[0]
            for other in part[1:]:
                result = b.compute(f"{kind}.{sign}", result, other, bits=bits)
            parts.append(b.compute("max.s", result, ir.Const(0, bits), bits=bits) if b.has("RELU") else result)
        results.append(b.compute("cat", *parts) if halves else parts[0])
    if choice:
        b.write(destination, "mov", results[0])
    else:
        b.write(destination, "select", *results, b.predicate(selector))


def _halves(b: Builder, value: ir.Operand) -> list[ir.Operand]:
    return [b.compute("extract", value, bits=HALF_BITS, attrs=(at,)) for at in (0, HALF_BITS)]


def _added(b: Builder, first: Operand, second: Operand) -> ir.Operand:
    """The sum of two sources, or of each of their halves if the opcode says so."""
    if not b.has("16x2", "S16x2", "U16x2"):
        return b.compute("add", b.integer(first), b.integer(second))
    negative = not isinstance(second, Number) and second.negated
    if first.negated or negative and b.root != "VIADD":  # VIADD.16x2 negates each half separately
        raise NoMeaning("a sign on half-word operands")
    pairs = zip(_halves(b, b.integer(first)), _halves(b, b.word(second)))
    return b.compute("cat", *[b.compute("sub" if negative else "add", x, y, bits=HALF_BITS) for x, y in pairs])


def add_minimum(b: Builder) -> None:
    """VIADDMNMX: the minimum or maximum of a + b and c."""
    destination, carries, sources = _split(b)
    _no_predicates(b, carries)
    if len(sources) != 4:
        raise NoMeaning
    first, second, third, selector = sources
    _extreme(b, destination, [_added(b, first, second), b.integer(third)], selector)


def vector_add(b: Builder) -> None:
    """VIADD: a + b; .16x2 on halves."""
    if not b.has("16x2"):
        return add(b)
    b.write(b.operand(0), "mov", _added(b, b.operand(1), b.operand(2)))


def difference(b: Builder) -> None:
    """VABSDIFF: c plus the absolute difference of a and b."""
    b.write(b.operand(0), "sad.u" if b.has("U32") else "sad.s", *[b.integer(b.operand(k)) for k in (1, 2, 3)])


def differences(b: Builder) -> None:
    """VABSDIFF4.U8: the absolute differences of the bytes of a and b, each in its byte; .ACC: c plus their sum.

    Without .ACC all four bytes are written and c is not read, as by vabsdiff4 of PTX.
    """
    first, second, total = (b.integer(b.operand(k)) for k in (1, 2, 3))
    packed: ir.Operand = ZERO32
    for k in range(4):
        pair = _field(b, first, 8 * k, 8, False), _field(b, second, 8 * k, 8, False)
        if b.has("ACC"):
            total = b.compute("sad.u", *pair, total)
        else:
            packed = b.compute("or", packed, b.compute("shl", b.compute("sad.u", *pair, ZERO32), ir.Const(8 * k)))
    b.write(b.operand(0), "mov", total if b.has("ACC") else packed)


def dot_product(b: Builder) -> None:
    """IDP.4A: c plus the products of the bytes of a and b; IDP.2A: of a's halves and b's lower or upper bytes."""
    first, second, total = (b.integer(b.operand(k)) for k in (1, 2, 3))
    bits, begin = (8, 0) if b.has("4A") else (HALF_BITS, HALF_BITS if b.has("HI") else 0)
    signed = [mark[0] == "S" for mark in b.marks[-2:]]
    for k in range(WORD_BITS // bits):
        total = b.compute(
            "mad", _field(b, first, bits * k, bits, signed[0]), _field(b, second, begin + 8 * k, 8, signed[1]), total
        )
    b.write(b.operand(0), "mov", total)


def _field(b: Builder, value: ir.Operand, begin: int, length: int, signed: bool) -> ir.Operand:
    return b.compute("bfe.s" if signed else "bfe.u", value, ir.Const(begin), ir.Const(length))


def saturate(b: Builder) -> None:
    """I2I.U8.S32.SAT, I2I.U16.S32.SAT; of I2I.S16.S32.SAT, the upper half was not measured."""
    value = _limited(b, b.operand(1))
    if not b.has("S16"):
        return b.write(b.operand(0), "mov", value)
    low = b.compute("extract", value, bits=HALF_BITS, attrs=(0,))
    b.write(b.operand(0), "cat", low, ir.Unknown(f"the upper half of what {b.opcode} gives", HALF_BITS))


def _limited(b: Builder, operand: Operand) -> ir.Operand:
    """A signed integer limited to the range of the first type in the opcode."""
    kind, width = b.marks[0][0], int(b.marks[0][1:])
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "S" else (0, (1 << width) - 1)
    least, most = (ir.Const(number & (1 << WORD_BITS) - 1) for number in (low, high))
    return b.compute("min.s", b.compute("max.s", b.integer(operand), least), most)


def pack(b: Builder) -> None:
    """I2IP.U4.S32.SAT R, a, b, c.24: a and b limited to 4 bits, b lowest, below the low 24 bits of c: cvt.pack."""
    width = int(b.marks[0][1:])
    above, rest = WORD_BITS - 2 * width, b.operand(3)
    if not (isinstance(rest, Register) and (rest.is_zero or rest.suffixes == ((str(above),) if width < 8 else ()))):
        raise NoMeaning
    mask = ir.Const((1 << width) - 1)
    first, second = (b.compute("and", _limited(b, b.operand(at)), mask) for at in (1, 2))
    result = b.compute("or", b.compute("shl", first, ir.Const(width)), second)
    if above:
        upper = b.compute("shl", b.word(replace(rest, suffixes=())), ir.Const(2 * width))
        result = b.compute("or", upper, result)
    b.write(b.operand(0), "mov", result)


def absolute(b: Builder) -> None:
    b.write(b.operand(0), "abs", b.integer(b.operand(1)))


# --- comparisons ----------------------------------------------------------------------------

_RELATIONS = {"LT": "lt", "LE": "le", "GT": "gt", "GE": "ge", "EQ": "eq", "NE": "ne"}
_STRICT = {"le": "lt", "ge": "gt", "lt": "lt", "gt": "gt"}
COMBINE = {"AND": "and", "OR": "or", "XOR": "xor"}


def _compare(b: Builder, relation: str, unsigned: bool, x: ir.Operand, y: ir.Operand, bits: int) -> ir.Operand:
    name = relation if relation in ("eq", "ne") else f"{relation}.{'u' if unsigned else 's'}"
    return b.compute(f"setp.{name}", x, y, bits=bits, result=1)


def write_comparison(b: Builder, yes: ir.Operand, first: Operand, second: Operand, other: ir.Operand) -> None:
    """P, Q = yes ∘ other, (not yes) ∘ other, where ∘ is the opcode's AND, OR or XOR."""
    kind = next((COMBINE[mark] for mark in b.marks if mark in COMBINE), None)
    if kind is None:
        raise NoMeaning
    neutral = {"and": TRUE, "or": FALSE, "xor": FALSE}[kind]
    out = []
    for destination, value in ((first, yes), (second, None)):
        register = b.destination(destination)
        if register is None:
            continue
        if value is None:
            value = b.compute("not", yes, bits=1)
        if other != neutral:
            value = b.compute(kind, value, other, bits=1)
        out.append((destination, value))
    for destination, value in out:
        b.write_predicate(destination, value)


def compare(b: Builder) -> None:
    """ISETP and UISETP; .EX continues a comparison of lower halves; .U64/.S64 compare pairs."""
    relation = next((_RELATIONS[mark] for mark in b.marks if mark in _RELATIONS), None)
    if relation is None:
        raise NoMeaning
    unsigned = b.has("U32", "U64")
    bits = PAIR_BITS if b.has("U64", "S64") else WORD_BITS
    read = b.pair if bits == PAIR_BITS else b.integer
    x, y = read(b.operand(2)), read(b.operand(3))
    yes = _compare(b, relation, unsigned, x, y, bits)
    if b.has("EX"):
        below = b.predicate(b.operand(5))
        same = _compare(b, "eq", unsigned, x, y, bits) if relation != "eq" else yes
        settled = {"eq": FALSE, "ne": yes}.get(relation) or _compare(b, _STRICT[relation], unsigned, x, y, bits)
        equal = b.compute("and", same, below, bits=1)
        yes = equal if settled == FALSE else b.compute("or", settled, equal, bits=1)
    write_comparison(b, yes, b.operand(0), b.operand(1), b.predicate(b.operand(4)))


_SUM = Row(add, "X? / 64", "RP{0,2}I{2,3}P{0,2}", "- ~")
_VECTOR_SUM = Row(vector_add, "16x2?", "RI{2}", "-")
_PRODUCT = Row(
    multiply_add, "(MOV|SHL|IADD)? U32? / U32? X / WIDE U32? / WIDE U32 X / HI U32? / HI U32 X", "RP?I{3}P?", "- ~"
)
_SCALED = Row(scaled_add, "X? / HI X? SX32?", "RP?I{2}I?NP?", "- ~")
_EXTREMES = "U32 / S32? RELU? / U16x2 / S16x2 RELU?"
_MINIMUM = Row(minimum, _EXTREMES, "RP{0,2}I{2}P", "-")
_EITHER_MINIMUM = Row(minimum, "(S32|U32)? / S64 / U64", "RI{2}P|P{2}RI{2}P{2}", "-")
_RELATION = f"({'|'.join(_RELATIONS)})"
_COMBINE = f"({'|'.join(COMBINE)})"
_COMPARISON = Row(compare, f"{_RELATION} U32? {_COMBINE} EX? / {_RELATION} (S64|U64) {_COMBINE}", "PPI{2}P{1,2}", "-")

LOWERINGS = {
    **dict.fromkeys(("IADD3", "UIADD3", "IADD", "UIADD"), _SUM),
    **dict.fromkeys(("VIADD", "UVIADD"), _VECTOR_SUM),
    **dict.fromkeys(("IMAD", "UIMAD"), _PRODUCT),
    **dict.fromkeys(("LEA", "ULEA"), _SCALED),
    **dict.fromkeys(("IMNMX", "UIMNMX"), _EITHER_MINIMUM),
    **dict.fromkeys(("VIMNMX", "UVIMNMX"), _MINIMUM),
    **dict.fromkeys(("VIMNMX3", "UVIMNMX3"), Row(minimum, _EXTREMES, "RP{0,2}I{3}P", "-")),
    **dict.fromkeys(("VIADDMNMX", "UVIADDMNMX"), Row(add_minimum, _EXTREMES, "RP{0,2}I{3}P", "-")),
    **dict.fromkeys(("IABS", "UIABS"), Row(absolute, "", "RI", "-")),
    **dict.fromkeys(("ISETP", "UISETP"), _COMPARISON),
    "VABSDIFF": Row(difference, "U32?", "RI{3}"),
    "VABSDIFF4": Row(differences, "U8 ACC?", "RI{3}"),
    "IDP": Row(dot_product, "4A (U8|S8) (U8|S8) / 2A (LO|HI) (U16|S16) (U8|S8)", "RI{3}"),
    "I2I": Row(saturate, "(U8|U16|S16) S32 SAT", "RI"),
    "I2IP": Row(pack, "(U2|S2|U4|S4|U8|S8|U16|S16) S32 SAT", "RI{2}R", ".24 .28"),
}
