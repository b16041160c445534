"""Lowers PTX on packed halves, bfloat16 and 8-bit floats, by rows like those of `opcodes`.

    add.f16x2 %r3, %r1, %r2            each half of %r1 and %r2 separately
    cvt.f32.bf16 %f1, %h1              a bfloat16 number is the upper half of a 32-bit float
    cvt.rn.satfinite.e4m3x2.f32        %h1 = f2f.e4m3(%f2) | f2f.e4m3(%f1) << 8

"Half Precision Floating Point Instructions", "Half Precision Comparison Instructions" and "cvt" of the PTX ISA. What
they leave open about NaN is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter
from ptxaudit.frontend.ptx.opcodes import ROUNDINGS, Lower, Opcode, Row, first_of
from ptxaudit.frontend.ptx.opcodes import ROWS as OPCODES
from ptxaudit.frontend.ptx.types import TYPES
from ptxaudit.ir import nodes as ir

HALF, WORD, PAIR, BYTE = 16, 32, 64, 8
_NAN = 0x7FFF
# name of a type -> (whether there are two, whether they are bfloat16)
TYPE_NAMES = {"f16x2": (True, False), "bf16": (False, True), "bf16x2": (True, True), "f16": (False, False)}
ONES = {False: 0x3C00, True: 0x3F80}  # 1.0 as a 16-bit float and as a bfloat16
BYTES = {"e4m3x2": "e4m3", "e5m2x2": "e5m2"}


def type_names(o: Opcode) -> list[str]:
    return [m for m in o.modifiers if m in TYPES]


def parts(e: Emitter, operand: s.Operand, packed: bool) -> list[ir.Operand]:
    """The halves of an operand, lowest first."""
    if not packed:
        value = e.value(operand, HALF, True)
        return [e.compute("trunc", (value,), HALF) if value.bits > HALF else value]
    word = e.value(operand, WORD)
    return [e.compute("extract", (word,), HALF, (at,)) for at in (0, HALF)]


def float_source(e: Emitter, operand: s.Operand, bits: int) -> ir.Operand:
    """A float as the source of a conversion, which may be in the low bits of a wider register."""
    value = e.value(operand, bits, True)
    return e.compute("trunc", (value,), bits) if value.bits > bits else value


def write(e: Emitter, operand: s.Operand, values: list[ir.Operand]) -> None:
    """Writes a result of one or two halves."""
    target = e.target(operand)
    if len(values) == 2:
        e.emit("cat", (target,), tuple(values), WORD)
    else:
        wider = target is not None and target.bits > HALF
        e.emit("zext" if wider else "mov", (target,), tuple(values), WORD if wider else HALF)


def as_float(e: Emitter, value: ir.Operand, bfloat: bool) -> ir.Operand:
    """A half for operations that are the same on 32-bit floats: a bfloat16 number as one of these."""
    if not bfloat:
        return value
    return e.compute("shl", (e.compute("zext", (value,), WORD), ir.Const(HALF)), WORD)


def arithmetic(name: str) -> Callable[[Opcode], Lower | None]:
    """add, sub, mul and fma of f16x2, bf16 and bf16x2."""

    def resolve(o: Opcode) -> Lower | None:
        names = type_names(o)
        if len(names) != 1 or names[0] not in TYPE_NAMES or names[0] == "f16":
            return None
        packed, bfloat = TYPE_NAMES[names[0]]
        if o.plain - ({"rn"} if bfloat else {"rn", "ftz", "sat"}):
            return None
        attrs: tuple[object, ...] = ("rn", "ftz" in o.plain, *([True] if "sat" in o.plain else []))
        if name == "fmul":
            attrs = (*attrs[:2], "sat" in o.plain, ir.ANY_NAN)

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, *sources = operands
            out: list[ir.Operand] = []
            for values in zip(*[parts(e, source, packed) for source in sources], strict=True):
                if bfloat and name == "fsub":
                    values = values[0], e.compute("fneg", values[1:], HALF)
                full = f"{'fadd' if name == 'fsub' else name}.bf16" if bfloat else name
                out.append(e.compute(full, values, HALF, () if bfloat else attrs))
            write(e, d, out)

        return lower

    return resolve


def sign(name: str) -> Callable[[Opcode], Lower | None]:
    """neg and abs of f16x2, bf16 and bf16x2; of NaN, the result is unspecified."""

    def resolve(o: Opcode) -> Lower | None:
        names = type_names(o)
        if len(names) != 1 or names[0] not in TYPE_NAMES or names[0] == "f16" or o.plain:
            return None
        packed, bfloat = TYPE_NAMES[names[0]]

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, a = operands
            out: list[ir.Operand] = []
            for value in parts(e, a, packed):
                number = as_float(e, value, bfloat)
                lost = e.compute("fsetp.nan", (number, number), WORD if bfloat else HALF, result=1)
                unknown = ir.Unknown(f"{o.text} of NaN", HALF)
                out.append(e.compute("select", (unknown, e.compute(name, (value,), HALF), lost), HALF))
            write(e, d, out)

        return lower

    return resolve


def extreme(name: str) -> Callable[[Opcode], Lower | None]:
    """min and max of f16x2, bf16 and bf16x2; .NaN: NaN if either source is, also for f16 and f32."""

    def resolve(o: Opcode) -> Lower | None:
        names = type_names(o)
        if len(names) != 1 or o.plain - {"ftz", "NaN"}:
            return None
        if names[0] == "f32" and "NaN" in o.plain:
            packed, bfloat, bits, nan = False, False, WORD, 0x7FFFFFFF
        elif names[0] in TYPE_NAMES and ("NaN" in o.plain or names[0] != "f16"):
            packed, bfloat = TYPE_NAMES[names[0]]
            bits, nan = WORD if bfloat else HALF, _NAN
        else:
            return None
        if bfloat and "ftz" in o.plain:
            return None

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, *sources = operands
            columns = [[e.value(x, WORD, True)] if names[0] == "f32" else parts(e, x, packed) for x in sources]
            out: list[ir.Operand] = []
            for values in zip(*columns, strict=True):
                floats = tuple(as_float(e, value, bfloat) for value in values)
                value: ir.Operand = e.compute(name, floats, bits, ("rn", "ftz" in o.plain, False, ir.ANY_NAN))
                if bfloat:
                    value = e.compute("extract", (value,), HALF, (HALF,))
                if "NaN" in o.plain:
                    lost = e.compute("fsetp.nan", floats, bits, result=1)
                    width = WORD if names[0] == "f32" else HALF
                    value = e.compute("select", (ir.Const(nan, width), value, lost), width)
                out.append(value)
            if names[0] == "f32":
                e.emit("mov", (e.target(d),), tuple(out), WORD)
            else:
                write(e, d, out)

        return lower

    return resolve


def compared(e: Emitter, name: str, sources: tuple[s.Operand, ...], packed: bool, bfloat: bool) -> list[ir.Reg]:
    """Whether the halves of two sources compare by the operation `name`, lowest first."""
    columns = [[as_float(e, v, bfloat) for v in parts(e, x, packed)] for x in sources]
    return [e.compute(name, pair, WORD if bfloat else HALF, result=1) for pair in zip(*columns, strict=True)]


# --- conversions: "cvt" -------------------------------------------------------------------------


def convert(o: Opcode) -> Lower | None:
    """cvt from and to bfloat16, packed halves, 8-bit floats, and cvt.rna.tf32."""
    names = type_names(o)
    if len(names) != 2:
        return None
    to, source = names
    rounding = o.plain & set(ROUNDINGS)
    rest, mode = o.plain - rounding, min(rounding, default="")
    if len(rounding) > 1:
        return None
    if to in ("f16x2", "bf16x2") and source == "f32" and mode in ("rn", "rz"):
        return _packed(to == "bf16x2", mode, rest)
    if to in BYTES and source in ("f32", "f16x2") and mode == "rn" and rest - {"relu"} == {"satfinite"}:
        return _to_bytes(BYTES[to], source == "f32", "relu" in rest)
    if to == "f16x2" and source in BYTES and mode == "rn" and not rest:
        return _from_bytes(BYTES[source])
    if o.text == "cvt.rna.tf32.f32":
        return _to_tf32
    if to == "bf16" and mode and rest <= {"relu"} and (source == "f32" or not rest):
        return _to_bfloat(source, mode, "relu" in rest)
    return None


def _to_bfloat(source: str, mode: str, positive: bool) -> Lower | None:
    t = TYPES[source]
    if t.kind not in "suf" or t.kind != "f" and t.bits == PAIR:
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a = operands
        value = e.value(a, t.bits, t.kind == "f")
        value = e.compute("trunc", (value,), t.bits) if value.bits > t.bits else value
        if t.kind != "f":
            value = e.compute(f"i2f.{t.kind}", (value,), PAIR, ("rn",))
        write(e, d, [e.compute("f2f.bf16", (value,), HALF, (mode, positive))])

    return lower


def _packed(bfloat: bool, mode: str, rest: frozenset[str]) -> Lower | None:
    if rest - ({"relu"} if bfloat else set()):
        return None
    name, second = ("f2f.bf16", "relu" in rest) if bfloat else ("f2f", False)

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, high, low = operands
        write(e, d, [e.compute(name, (float_source(e, x, WORD),), HALF, (mode, second)) for x in (low, high)])

    return lower


def _to_bytes(byte: str, two: bool, positive: bool) -> Lower:
    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, *sources = operands
        if two:
            high, low = (float_source(e, x, WORD) for x in sources)
        else:
            low, high = parts(e, sources[0], True)
        first, last = (e.compute(f"f2f.{byte}", (value,), HALF, (positive,)) for value in (low, high))
        write(e, d, [e.compute("or", (first, e.compute("shl", (last, ir.Const(BYTE)), HALF)), HALF)])

    return lower


def _from_bytes(byte: str) -> Lower:
    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a = operands
        (word,) = parts(e, a, False)
        codes = [e.compute("bfe.u", (word, ir.Const(at), ir.Const(BYTE)), HALF) for at in (0, BYTE)]
        write(e, d, [e.compute(f"{byte}.f2f", (code,), HALF) for code in codes])

    return lower


def _to_tf32(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
    """To the nearest number of 10 bits, ties away from zero; the low 13 bits are zeros, as ptxas makes them."""
    d, a = operands
    x = float_source(e, a, WORD)
    moved = e.compute("and", (e.compute("add", (x, ir.Const(0x1000)), WORD), ir.Const(0xFFFFE000)), WORD)
    infinite = e.compute("fsetp.eq", (e.compute("fabs", (x,), WORD), ir.Const(0x7F800000)), WORD, result=1)
    number = e.compute("select", (x, moved, infinite), WORD)
    lost = e.compute("fsetp.nan", (x, x), WORD, result=1)
    e.emit("select", (e.target(d),), (ir.Unknown("a tf32 NaN", WORD), number, lost), WORD)


# --- rows -------------------------------------------------------------------------------------

_RESOLVED: dict[str, Callable[[Opcode], Lower | None]] = {
    **{base: arithmetic(f"f{base}") for base in ("add", "sub", "mul")},
    "fma": arithmetic("fma"),
    **{base: sign(f"f{base}") for base in ("neg", "abs")},
    **{base: extreme(f"f{base}") for base in ("min", "max")},
}
ROWS: dict[str, Row] = {
    base: Row(
        first_of(resolve, OPCODES[base].resolve),
        OPCODES[base].section,
        OPCODES[base].modifiers + (" NaN" if base in ("min", "max") else ""),
    )
    for base, resolve in _RESOLVED.items()
}
"""Rows of `opcodes` that these types extend."""
