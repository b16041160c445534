"""Lowers PTX moves, conversions, comparisons and selections, by rows like those of `opcodes`.

setp.lt.and.s32 %p1, %r1, %r2, %p3    %t = setp.lt.s(%r1, %r2);  %p1 = and(%t, %p3)
mov.b32 %r1, {%rs1, %rs2}             %r1 = cat(%rs1, %rs2)
cvt.sat.u8.s32 %rs1, %r1              clamped, then zero-extended to %rs1's 16 bits
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ptxaudit.frontend.ptx import narrow
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter, NoMeaning
from ptxaudit.frontend.ptx.opcodes import ROUNDINGS, Lower, Opcode, Plain, Row
from ptxaudit.frontend.ptx.types import TYPES, Type
from ptxaudit.ir import nodes as ir

# --- "Data Movement and Conversion Instructions": mov, selp, cvta, isspacep -------------------------


def move(o: Opcode) -> Plain | Lower | None:
    """mov of values, addresses and special registers; packing and unpacking of vectors."""
    if o.plain - {"v2", "v4"} or len(o.types) != 1:
        return None
    bits, floating = o.types[0].bits, o.types[0].kind == "f"
    if o.plain:

        def many(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            copies = [e.compute("mov", (value,), bits) for value in e.values(operands[1], bits)]
            for target, value in zip(e.targets(operands[0]), copies):
                e.emit("mov", (target,), (value,), bits)

        return many

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a = operands
        if type(d) is s.Vector:
            unpack(e, e.targets(d), e.value(a, bits), bits)
        elif type(a) is s.Vector:
            if bits not in (16, 32, 64):
                raise NoMeaning(f"{bits} bits of parts are not supported")
            e.emit("cat", (e.target(d),), e.values(a, bits // len(a.items)), bits)
        else:
            e.emit("mov", (e.target(d),), (e.value(a, bits, floating),), bits)

    return Plain("mov", bits, (bits,), (), floating, lower)


def unpack(e: Emitter, targets: tuple[ir.Reg | None, ...], value: ir.Operand, bits: int) -> None:
    """Extracts an equal part of the bits into each target, lowest first."""
    part = bits // len(targets)
    if bits > 64 or part not in (8, 16, 32):
        raise NoMeaning(f"parts of {part} of {bits} bits are not supported")
    if value in targets:  # the source must not change between the extracts
        value = e.compute("mov", (value,), bits)
    for i, target in enumerate(targets):
        if target is not None:
            e.emit("extract", (target,), (value,), part, (i * part,))


def select(o: Opcode) -> Plain | None:
    if o.plain or len(o.types) != 1 or o.types[0].bits > 64:
        return None
    bits, floating = o.types[0].bits, o.types[0].kind == "f"

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, p = operands
        e.emit("select", (e.target(d),), (e.value(a, bits, floating), e.value(b, bits, floating), e.value(p, 1)), bits)

    return Plain("select", bits, (bits, bits, 1), (), floating, lower)


def select_by_sign(o: Opcode) -> Lower | None:
    """slct.dtype.{s32,f32} d, a, b, c: a if c >= 0, else b (also for NaN)."""
    if len(o.types) != 2 or o.types[1] not in (TYPES["s32"], TYPES["f32"]):
        return None
    bits, floating = o.types[0].bits, o.types[0].kind == "f"
    test = ("fsetp.ge", ir.Const(0)) if o.types[1].kind == "f" else ("setp.ge.s", ir.Const(0))

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, c = operands
        p = e.compute(test[0], (e.value(c, 32, o.types[1].kind == "f"), test[1]), 32, result=1)
        e.emit("select", (e.target(d),), (e.value(a, bits, floating), e.value(b, bits, floating), p), bits)

    return lower


def convert_address(o: Opcode) -> Lower | None:
    """cvta and cvta.to."""
    spaces = [m for m in o.modifiers if m.partition("::")[0] in ("const", "global", "local", "shared", "param")]
    if len(spaces) != 1 or len(o.types) != 1:
        return None
    bits, name = o.types[0].bits, "cvta.to" if "to" in o.plain else "cvta"
    space = spaces[0].partition("::")[0]

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a = operands
        e.emit(name, (e.target(d),), (e.value(a, bits),), bits, (space,))

    return lower


def is_space(o: Opcode) -> Lower | None:
    if len(o.modifiers) != 1:
        return None
    space = o.modifiers[0]

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        p, a = operands
        e.emit("isspacep", (e.target(p),), (e.value(a, e.address_bits),), 1, (space.partition("::")[0],))

    # A shared address of another block of the cluster is in shared::cluster, but not in shared::cta.
    return lower


# --- conversions: "cvt" -------------------------------------------------------------------------


def convert(o: Opcode) -> Lower | None:
    """cvt between integers and floats, with rounding, .ftz and .sat; cvt.pack."""
    if "pack" in o.plain:
        return pack(o)
    if (found := narrow.convert(o)) is not None:
        return found
    rounding = o.plain & {*ROUNDINGS, "rni", "rzi", "rmi", "rpi"}
    if o.plain - rounding - {"ftz", "sat"} or len(rounding) > 1 or len(o.types) != 2:
        return None
    to, source = o.types
    mode, ftz, saturate = min(rounding, default=""), "ftz" in o.plain, "sat" in o.plain
    if o.modifiers[-1] == "bf16" and to.kind in "suf" and not saturate and not ftz and to.bits > 8:
        return _convert_float(to, TYPES["f32"], mode, False, False, _bfloat)
    if to.kind not in "sufb" or source.kind not in "sufb":
        return None
    if to.kind == "f" or source.kind == "f":
        return _convert_float(to, source, mode, ftz, saturate)

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a = operands
        target, value = e.target(d), narrowed(e, e.value(a, source.bits), source.bits)
        if saturate:
            value = clamped(e, value, source, to)
        write(e, target, value, source, to)

    return lower


_PACK = re.compile(r"cvt\.pack\.sat\.([us])(2|4|8|16)\.s32(\.b32)?")


def pack(o: Opcode) -> Lower | None:
    """cvt.pack: two integers clamped to fewer bits, the second lowest; above them the low bits of a third source."""
    if not (found := _PACK.fullmatch(o.text)):
        return None
    to, source = Type(found[1], int(found[2])), TYPES["s32"]
    if bool(found[3]) == (to.bits == 16):
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, *values = operands
        high, low = (
            e.compute("and", (clamped(e, e.value(value, 32), source, to), ir.Const((1 << to.bits) - 1)), 32)
            for value in values[:2]
        )
        result = e.compute("or", (e.compute("shl", (high, ir.Const(to.bits)), 32), low), 32)
        for above in values[2:]:
            result = e.compute("or", (e.compute("shl", (e.value(above, 32), ir.Const(2 * to.bits)), 32), result), 32)
        e.emit("mov", (e.target(d),), (result,), 32)

    return lower


def narrowed(e: Emitter, value: ir.Operand, bits: int) -> ir.Operand:
    """The low bits of a register that is wider than the type it is read as."""
    if value.bits > bits:
        return e.compute("trunc", (value,), bits)
    return value


def write(e: Emitter, target: ir.Reg | None, value: ir.Operand, source: Type, to: Type) -> None:
    """target = value converted from source to to, then extended to the register by to's sign."""
    if target is None:
        return
    extend = "sext" if source.kind == "s" else "zext"
    if to.bits >= source.bits:
        name, wide = extend, to.bits
    else:
        name, wide = "trunc", to.bits
    if name != "trunc" and to.bits == source.bits:
        name = "mov"
    if target.bits <= to.bits:
        e.emit(name, (target,), (value,), wide)
    else:
        middle = e.compute(name, (value,), wide)
        e.emit("sext" if to.kind == "s" else "zext", (target,), (middle,), target.bits)


def clamped(e: Emitter, value: ir.Operand, source: Type, to: Type) -> ir.Operand:
    """The value limited to the range of `to`, at source's width."""

    def limits(t: Type) -> tuple[int, int]:
        return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.kind == "s" else (0, (1 << t.bits) - 1)

    sign = "s" if source.kind == "s" else "u"
    (low, high), (wanted_low, wanted_high) = limits(source), limits(to)
    mask = (1 << source.bits) - 1
    if low < wanted_low:
        value = e.compute(f"max.{sign}", (value, ir.Const(wanted_low & mask, source.bits)), source.bits)
    if high > wanted_high:
        value = e.compute(f"min.{sign}", (value, ir.Const(wanted_high & mask, source.bits)), source.bits)
    return value


def _bfloat(e: Emitter, operand: s.Operand) -> ir.Operand:
    """A bfloat16 number as a 32-bit float."""
    (value,) = narrow.parts(e, operand, False)
    return narrow.as_float(e, value, True)


def _convert_float(
    to: Type,
    source: Type,
    mode: str,
    ftz: bool,
    saturate: bool,
    read: Callable[[Emitter, s.Operand], ir.Operand] | None = None,
) -> Lower | None:
    """read: gives the source as a float of its type."""
    number = read or (lambda e, operand: narrow.float_source(e, operand, source.bits))
    if to.kind == source.kind == "f":
        if saturate and 64 in (to.bits, source.bits):
            return None
        if ftz and to.bits == 16 and mode in ("rm", "rp"):  # ptxas for sm_90 does not flush the source
            return None
        form: tuple[object, ...] = (mode or "rn", ftz, True) if saturate else (mode or "rn", ftz)
        if (to == source or 64 in (to.bits, source.bits)) and not saturate:  # perhaps a copy, or folded
            form = (*form, False, ir.ANY_NAN)

        def between(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            value = number(e, operands[1])
            if read is not None and to == source:  # of bfloat16, without a rounding, and a NaN as it is
                return e.emit("mov", (e.target(operands[0]),), (value,), to.bits)
            e.emit("f2f", (e.target(operands[0]),), (value,), to.bits, form)

        return between
    if source.kind == "f":  # float to integer always saturates
        if to.kind not in "su" or to.bits == 8 and source.bits != 32 or mode not in ("rni", "rzi", "rmi", "rpi"):
            return None

        attrs = (mode, ftz, source.bits != 64 and to.bits != 64)  # NaN becomes zero if neither side has 64 bits

        def to_integer(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            target = e.target(operands[0])
            value = number(e, operands[1])
            if target is not None and target.bits > to.bits:
                short = e.compute(f"f2i.{to.kind}", (value,), to.bits, attrs)
                e.emit("sext" if to.kind == "s" else "zext", (target,), (short,), target.bits)
            else:
                e.emit(f"f2i.{to.kind}", (target,), (value,), to.bits, attrs)

        return to_integer
    if saturate or source.kind not in "su":
        return None

    def from_integer(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        value = narrowed(e, e.value(operands[1], source.bits), source.bits)
        e.emit(f"i2f.{source.kind}", (e.target(operands[0]),), (value,), to.bits, (mode or "rn",))

    return from_integer


# --- "Comparison and Selection Instructions": setp, set ---------------------------------------------

COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
FLOAT_COMPARISONS = COMPARISONS | {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}


def comparison(name: str, t: Type) -> str | None:
    """The IR row of a comparison operator at a type."""
    if t.kind == "f":
        return f"fsetp.{name}" if name in FLOAT_COMPARISONS else None
    if name in ("eq", "ne"):
        return f"setp.{name}" if t.kind in "sub" else None
    if name in UNSIGNED:
        return f"setp.{UNSIGNED[name]}.u" if t.kind in "ub" else None
    if name in COMPARISONS:
        return f"setp.{name}.{'s' if t.kind == 's' else 'u'}" if t.kind in "sub" else None
    return None


def _compared(o: Opcode, t: Type) -> tuple[str, str] | None:
    """(IR comparison, boolean operator or ""). `.ftz` is left to the caller."""
    rest = [m for m in o.modifiers if m not in TYPES and m != "ftz"]
    if not rest:
        return None
    name = comparison(rest[0], t)
    if name is None or len(rest) > 2 or rest[1:] and rest[1] not in ("and", "or", "xor"):
        return None
    return name, rest[1] if rest[1:] else ""


def set_predicate(o: Opcode) -> Plain | Lower | None:
    """setp, with one or two results and a boolean operator."""
    if len(o.types) != 1:
        return None
    if o.types[0].kind == "x":
        return _set_predicates_of_halves(o)
    t, ftz = o.types[0], "ftz" in o.plain
    if ftz and (t.kind != "f" or t.bits == 64):
        return None
    compared = _compared(o, t)
    if compared is None:
        return None
    name, boolean = compared
    bits, floating = t.bits, t.kind == "f"

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, *c = operands
        targets = _two(e.targets(d))
        sources = tuple(_flushed(e, e.value(x, bits, floating), bits, ftz) for x in (a, b))
        if not boolean and len(targets) == 1:
            e.emit(name, targets, sources, bits)
            return
        t1 = e.compute(name, sources, bits, result=1)
        other = e.value(c[0], 1) if boolean else None
        if other is not None and len(targets) == 2:  # it may be the first of the two targets
            other = e.compute("mov", (other,), 1)
        for target, negate in zip(targets, (False, True)):
            if target is None:
                continue
            truth = e.compute("not", (t1,), 1) if negate else t1
            e.emit(boolean or "mov", (target,), (truth,) if other is None else (truth, other), 1)

    return lower if boolean or ftz else Plain(name, bits, (bits, bits), (), floating, lower)


def _two(targets: tuple[ir.Reg | None, ...]) -> tuple[ir.Reg | None, ...]:
    """The targets of a comparison, which must differ: the manual does not say which result the same one holds."""
    if len(targets) == 2 and targets[0] is not None and targets[0] == targets[1]:
        raise NoMeaning("one predicate for both results is not supported")
    return targets


ONES = {16: 0x3C00, 32: 0x3F800000}  # 1.0


def _flushed(e: Emitter, value: ir.Operand, bits: int, ftz: bool) -> ir.Operand:
    """A float with subnormal numbers as zeros."""
    return e.compute("fmul", (value, ir.Const(ONES[bits], bits)), bits, ("rn", True)) if ftz else value


def _set_predicates_of_halves(o: Opcode) -> Lower | None:
    """setp of f16x2, bf16 and bf16x2: of two, the first result compares the lower halves, the second the upper."""
    name = narrow.type_names(o)[0]
    compared = _compared(o, TYPES["f16"])
    if name not in narrow.TYPE_NAMES or compared is None or "ftz" in o.plain:
        return None
    packed, bfloat = narrow.TYPE_NAMES[name]
    operation, boolean = compared

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, *c = operands
        targets = _two(e.targets(d))
        truths = narrow.compared(e, operation, (a, b), packed, bfloat)
        other = e.compute("mov", (e.value(c[0], 1),), 1) if boolean else None
        if not packed and len(targets) == 2:
            truths.append(e.compute("not", (truths[0],), 1))
        for target, truth in zip(targets, truths):
            if target is not None:
                e.emit(boolean or "mov", (target,), (truth,) if other is None else (truth, other), 1)

    return lower


def _set_halves(o: Opcode) -> Lower | None:
    """set of f16, f16x2, bf16 and bf16x2 to floats of the same type, or to integers: all ones in each half or whole."""
    to, source = narrow.type_names(o)
    compared = _compared(o, TYPES["f16"])
    if source not in narrow.TYPE_NAMES or compared is None or "ftz" in o.plain:
        return None
    (packed, bfloat), (name, boolean) = narrow.TYPE_NAMES[source], compared
    integers = ("u32", "s32") if packed else ("u16", "s16", "u32", "s32")
    if to not in (source, *integers):
        return None
    bits = TYPES[to].bits if not packed else narrow.HALF
    true = narrow.ONES[bfloat] if to == source else (1 << bits) - 1

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, *c = operands
        truths: list[ir.Operand] = list(narrow.compared(e, name, (a, b), packed, bfloat))
        if boolean:
            truths = [e.compute(boolean, (truth, e.value(c[0], 1)), 1) for truth in truths]
        values: list[ir.Operand] = [
            e.compute("select", (ir.Const(true, bits), ir.Const(0, bits), truth), bits) for truth in truths
        ]
        if bits == narrow.HALF:
            narrow.write(e, d, values)
        else:
            e.emit("mov", (e.target(d),), tuple(values), bits)
        if not packed and (to == source or bits > narrow.HALF):
            _converted_without_guard(e, d)

    return lower


def _converted_without_guard(e: Emitter, d: s.Operand) -> None:
    """Makes the result of a guarded `set` unknown in the other lanes.

    ptxas (13.5, at -O0 and -O3) compares under the guard, and then converts the register in all lanes.
    """
    target = e.target(d)
    if e.guard is not None and target is not None:
        unknown = ir.Unknown(f"{e.opcode} under a predicate that does not hold", target.bits)
        others = ir.Guard(e.guard.reg, not e.guard.negated)
        e.ops.append(ir.Op("mov", (target,), (unknown,), target.bits, (), others))


def set_value(o: Opcode) -> Lower | None:
    """set.op.dtype.stype d, a, b: all ones or 1.0 if the comparison holds, else 0."""
    if len(o.types) != 2:
        return None
    if narrow.type_names(o)[1] in narrow.TYPE_NAMES:
        return _set_halves(o)
    if o.types[0].bits != 32:
        return None
    (to, t), ftz = o.types, "ftz" in o.plain
    compared = _compared(o, t)
    if compared is None or to.kind not in "suf" or ftz and (t.kind != "f" or t.bits == 64):
        return None
    name, boolean = compared
    bits, floating = t.bits, t.kind == "f"
    true = ONES[32] if to.kind == "f" else 0xFFFFFFFF

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, *c = operands
        sources = tuple(_flushed(e, e.value(x, bits, floating), bits, ftz) for x in (a, b))
        p = e.compute(name, sources, bits, result=1)
        if boolean:
            p = e.compute(boolean, (p, e.value(c[0], 1)), 1)
        e.emit("select", (e.target(d),), (ir.Const(true), ir.Const(0), p), 32)
        if to.kind == "f" or bits < 32:
            _converted_without_guard(e, d)

    return lower


_RELATIONS = " ".join(sorted(FLOAT_COMPARISONS | UNSIGNED.keys() | {"and", "or", "xor"}))
MOVEMENT, COMPARISON = "Data Movement and Conversion Instructions", "Comparison and Selection Instructions"

ROWS: dict[str, Row] = {
    "mov": Row(move, MOVEMENT, "v2 v4"),
    "selp": Row(select, COMPARISON),
    "slct": Row(select_by_sign, COMPARISON),
    "setp": Row(set_predicate, COMPARISON, f"{_RELATIONS} ftz"),
    "set": Row(set_value, COMPARISON, f"{_RELATIONS} ftz"),
    "cvta": Row(
        convert_address, MOVEMENT, "to const global local shared shared::cta shared::cluster param param::entry"
    ),
    "isspacep": Row(is_space, MOVEMENT, "const global local shared shared::cta param param::entry"),
    "cvt": Row(convert, MOVEMENT, "rn rz rm rp rna rni rzi rmi rpi ftz sat pack relu satfinite"),
}
