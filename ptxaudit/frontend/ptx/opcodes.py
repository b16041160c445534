"""PTX arithmetic and logic: one row per base name, which gives the IR operation for a list of modifiers.

    mad.lo.s32   -> Plain("mad", 32, (32, 32, 32))        one operation on plain operands
    mad.hi.s32   -> a function of (emitter, operands)     several operations
    tex.2d…      -> None                                  unmodelled: opaque, under its name

A row declares the modifiers that it supports, and rejects (None) unsupported combinations; the lifter then makes the
destinations of the instruction opaque. Nothing is ignored. Memory and control have their own tables (`memory.ROWS`,
`control.ROWS`), as do moves, conversions and comparisons (`moves.ROWS`). Section names are those of
https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ptxaudit.base.records import Record
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter, NoMeaning
from ptxaudit.frontend.ptx.folding import folded
from ptxaudit.frontend.ptx.types import TYPES, Type
from ptxaudit.ir import nodes as ir

Lower = Callable[[Emitter, tuple[s.Operand, ...]], None]


class Opcode(Record, dict=True):
    """`mad.wide.s32`: base "mad", modifiers ("wide", "s32")."""

    text: str

    @cached_property
    def base(self) -> str:
        return self.text.partition(".")[0]

    @cached_property
    def modifiers(self) -> tuple[str, ...]:
        return tuple(self.text.split(".")[1:])

    @cached_property
    def types(self) -> tuple[Type, ...]:
        return tuple(TYPES[m] for m in self.modifiers if m in TYPES)

    @cached_property
    def plain(self) -> frozenset[str]:
        """The modifiers that are not types."""
        return frozenset(m for m in self.modifiers if m not in TYPES)


class Plain(Record):
    """One operation: `name` at `bits`; widths: of the sources; floating: constants are floats.

    otherwise: lowers the opcode if an operand is neither a register nor a number.
    """

    name: str
    bits: int
    widths: tuple[int, ...]
    attrs: tuple[Any, ...] = ()
    floating: bool = False
    otherwise: Lower | None = None


Resolve = Callable[[Opcode], Plain | Lower | None]


class Row(Record, dict=True):
    """resolve(opcode) -> a Plain, a Lower, or None.

    section: the manual's section on the opcode.
    modifiers: the supported modifiers besides types (a trailing "*" matches any ending).
    """

    resolve: Resolve
    section: str
    modifiers: str = ""

    @cached_property
    def _declared(self) -> tuple[frozenset[str], tuple[str, ...]]:
        words = self.modifiers.split()
        return frozenset(w for w in words if w[-1] != "*"), tuple(w[:-1] for w in words if w[-1] == "*")

    def refuses(self, opcode: Opcode) -> str:
        """An undeclared modifier, in words; "" if all are declared."""
        whole, beginnings = self._declared
        for modifier in opcode.modifiers:
            if modifier not in TYPES and modifier not in whole and not (beginnings and modifier.startswith(beginnings)):
                return f".{modifier} is not supported here"
        return ""


ROUNDINGS = ("rn", "rz", "rm", "rp")
CARRY = "%cc@"  # the condition code register, under a name that no register of a program has
COUNT_BITS = 32  # shift counts, positions and lengths are 32-bit operands


# --- integers: "Integer Arithmetic Instructions" -----------------------------------------------


def integer(name: str, sources: int, by_sign: bool = False) -> Callable[[Opcode], Plain | None]:
    """`name.type`, all operands of one width; by_sign: the operation's name ends in .s or .u."""

    def resolve(o: Opcode) -> Plain | None:
        if o.plain or len(o.types) != 1 or o.types[0].kind not in "sub":
            return None
        kind, bits = o.types[0].kind, o.types[0].bits
        return Plain(f"{name}.{'s' if kind == 's' else 'u'}" if by_sign else name, bits, (bits,) * sources)

    return resolve


def either(on_integers: Resolve, on_floats: Resolve) -> Resolve:
    """Two rows of one base name, distinguished by the type."""

    def resolve(o: Opcode) -> Plain | Lower | None:
        if not o.types:
            return None
        return (on_floats if o.types[-1].kind == "f" else on_integers)(o)

    return resolve


def first_of(*rows: Resolve) -> Resolve:
    """The first of several rows that supports the opcode."""

    def resolve(o: Opcode) -> Plain | Lower | None:
        return next((found for row in rows if (found := row(o)) is not None), None)

    return resolve


def carried(subtract: bool, reads_carry: bool) -> Callable[[Opcode], Lower | None]:
    """add.cc, addc, sub.cc, subc: "Extended-Precision Integer Arithmetic Instructions"."""

    def resolve(o: Opcode) -> Lower | None:
        if o.plain - {"cc"} or len(o.types) != 1:
            return None
        bits, writes = o.types[0].bits, "cc" in o.plain

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, a, b = operands
            with_carry(e, e.target(d), e.value(a, bits), e.value(b, bits), bits, subtract, reads_carry, writes)

        return lower

    return resolve


def with_carry(
    e: Emitter,
    target: ir.Reg | None,
    a: ir.Operand,
    b: ir.Operand,
    bits: int,
    subtract: bool,
    reads: bool,
    writes: bool,
) -> None:
    """target = a ± b with the carry flag.

    Subtraction adds the complement, so the flag means "no borrow", and an addition that reads it as a carry adds it
    (ptxas from 11.8 to 13.5, at -O0 and -O3).
    """
    flag = ir.Reg(CARRY, 1)
    if subtract:
        b = e.compute("not", (b,), bits)
    carry = flag if reads else ir.Const(int(subtract), 1)
    out = flag if writes else None
    e.emit("add3.carry", (target, out, None), (a, b, ir.Const(0, bits), carry, ir.Const(0, 1)), bits)


def add_or_sub(name: str) -> Resolve:
    plain, carry, packed = integer(name, 2), carried(name == "sub", False), halves(name)
    limited = saturated(name)
    return lambda o: (
        carry(o)
        if "cc" in o.plain
        else limited(o)
        if "sat" in o.plain
        else packed(o)
        if name == "add" and o.text.endswith("16x2")
        else plain(o)
    )


def saturated(name: str) -> Callable[[Opcode], Lower | None]:
    """add.sat.s32, sub.sat.s32: limited to the range of the type."""

    def resolve(o: Opcode) -> Lower | None:
        if set(o.modifiers) != {"sat", "s32"} or len(o.modifiers) != 2:
            return None

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, *sources = operands
            a, b = (e.compute("sext", (e.value(x, 32),), 64) for x in sources)
            most = e.compute("min.s", (e.compute(name, (a, b), 64), ir.Const((1 << 31) - 1, 64)), 64)
            limited = e.compute("max.s", (most, ir.Const(-(1 << 31) & (1 << 64) - 1, 64)), 64)
            e.emit("trunc", (e.target(d),), (limited,), 32)

        return lower

    return resolve


def extreme(name: str) -> Resolve:
    """min, max of integers; .relu: at least 0."""
    plain, packed = integer(name, 2, True), halves(name)

    def resolve(o: Opcode) -> Plain | Lower | None:
        if o.text.endswith("16x2"):
            return packed(o)
        if o.modifiers not in (("relu", "s32"), ("s32", "relu")):
            return plain(o)

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, a, b = operands
            e.emit(
                "max.s", (e.target(d),), (e.compute(f"{name}.s", (e.value(a, 32), e.value(b, 32)), 32), ir.Const(0)), 32
            )

        return lower

    return resolve


def halves(name: str) -> Callable[[Opcode], Plain | Lower | None]:
    """add, min, max of .u16x2 and .s16x2: each half separately."""

    def resolve(o: Opcode) -> Lower | None:
        signed, positive = "s16x2" in o.modifiers, "relu" in o.plain
        if (
            len(o.types) != 1
            or not signed
            and "u16x2" not in o.modifiers
            or o.plain - {"relu"}
            or positive
            and (not signed or name == "add")
        ):
            return None
        full = name if name == "add" else f"{name}.{'s' if signed else 'u'}"

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            d, *sources = operands
            values = [e.value(source, 32) for source in sources]
            parts = []
            for at in (0, 16):
                part = e.compute(full, tuple(e.compute("extract", (value,), 16, (at,)) for value in values), 16)
                parts.append(e.compute("max.s", (part, ir.Const(0, 16)), 16) if positive else part)
            e.emit("cat", (e.target(d),), tuple(parts), 32)

        return lower

    return resolve


def dot_product(o: Opcode) -> Lower | None:
    """dp4a: c plus the products of the bytes of a and b; dp2a: of the halves of a and the lower or upper bytes of b."""
    if (
        len(o.types) != 2
        or any(t.bits != 32 or t.kind not in "su" for t in o.types)
        or len(o.plain) != (o.base == "dp2a")
    ):
        return None
    bits, begin = (8, 0) if o.base == "dp4a" else (16, 16 if "hi" in o.plain else 0)
    first, second = (f"bfe.{t.kind}" for t in o.types)

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, c = operands
        x, y, total = e.value(a, 32), e.value(b, 32), e.value(c, 32)
        for k in range(32 // bits):
            factors = (
                e.compute(first, (x, ir.Const(bits * k), ir.Const(bits)), 32),
                e.compute(second, (y, ir.Const(begin + 8 * k), ir.Const(8)), 32),
            )
            total = e.compute("mad", (*factors, total), 32)
        e.emit("mov", (e.target(d),), (total,), 32)

    return lower


def multiply(o: Opcode) -> Plain | Lower | None:
    """mul.{lo,hi,wide}."""
    if len(o.types) != 1 or len(o.plain) != 1 or o.types[0].kind not in "su":
        return None
    (part,), (kind, bits) = o.plain, (o.types[0].kind, o.types[0].bits)
    match part:
        case "lo":
            return Plain("mul", bits, (bits, bits))
        case "hi":
            return Plain(f"mulhi.{kind}", bits, (bits, bits))
        case "wide":
            return Plain(f"mulwide.{kind}", 2 * bits, (bits, bits))
    return None


def multiply_add(o: Opcode) -> Plain | Lower | None:
    """mad.{lo,hi,wide}, mad.{lo,hi}.cc and madc."""
    part = o.plain - {"cc"}
    if len(o.types) != 1 or len(part) != 1 or o.types[0].kind not in "su":
        return None
    (which,), (kind, bits) = part, (o.types[0].kind, o.types[0].bits)
    carry = "cc" in o.plain or o.base == "madc"
    if carry and bits < 32:  # not in the manual; ptxas makes other products of the upper halves
        return None
    if which == "wide" and not carry:
        return Plain(f"madwide.{kind}", 2 * bits, (bits, bits, 2 * bits))
    if which == "lo" and not carry:
        return Plain("mad", bits, (bits, bits, bits))
    product = {"lo": "mul", "hi": f"mulhi.{kind}"}.get(which)
    if product is None:
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, c = operands
        high = e.compute(product, (e.value(a, bits), e.value(b, bits)), bits)
        if carry:
            with_carry(e, e.target(d), high, e.value(c, bits), bits, False, o.base == "madc", "cc" in o.plain)
        else:
            e.emit("add", (e.target(d),), (high, e.value(c, bits)), bits)

    return lower


def multiply_24(o: Opcode) -> Lower | None:
    """mul24.lo and mad24.lo: the low 32 bits of a product of 24-bit numbers."""
    if o.plain != {"lo"} or len(o.types) != 1 or o.types[0].bits != 32:
        return None
    extend = "szext.s" if o.types[0].kind == "s" else "szext.u"

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, *sources = operands
        a, b = (e.compute(extend, (e.value(x, 32), ir.Const(24)), 32, ("clamp",)) for x in sources[:2])
        if len(sources) == 3:
            e.emit("mad", (e.target(d),), (a, b, e.value(sources[2], 32)), 32)
        else:
            e.emit("mul", (e.target(d),), (a, b), 32)

    return lower


def sum_of_differences(o: Opcode) -> Plain | None:
    if o.plain or len(o.types) != 1 or o.types[0].kind not in "su":
        return None
    bits = o.types[0].bits
    return Plain(f"sad.{o.types[0].kind}", bits, (bits,) * 3)


def bit_count(
    name: str, by_sign: bool = False, modifiers: frozenset[str] = frozenset()
) -> Callable[[Opcode], Plain | None]:
    """popc, clz, bfind: any source width, 32-bit result."""

    def resolve(o: Opcode) -> Plain | None:
        if o.plain - modifiers or len(o.types) != 1 or o.types[0].kind not in "sub":
            return None
        full = f"{name}.{'s' if o.types[0].kind == 's' else 'u'}" if by_sign else name
        return Plain(full, 32, (o.types[0].bits,), ("shiftamt" in o.plain,) if modifiers else ())

    return resolve


def fields(
    name: str, widths: Callable[[int], tuple[int, ...]], by_sign: bool = False, attrs: bool = False
) -> Callable[[Opcode], Plain | None]:
    """Bit-field instructions: some operands at the full width, positions and lengths at 32 bits."""

    def resolve(o: Opcode) -> Plain | None:
        rest = o.plain - ({"clamp", "wrap"} if attrs else set())
        if rest or len(o.types) != 1:
            return None
        kind, bits = o.types[0].kind, o.types[0].bits
        mode = ("wrap" if "wrap" in o.plain else "clamp",) if attrs else ()
        return Plain(f"{name}.{'s' if kind == 's' else 'u'}" if by_sign else name, bits, widths(bits), mode)

    return resolve


def insert(o: Opcode) -> Lower | None:
    """bfi. A field with constant position and length becomes a shift and masks, which keep more knowledge."""
    if o.plain or len(o.types) != 1:
        return None
    bits = o.types[0].bits

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, place, length = operands
        target, inserted, around = e.target(d), e.value(a, bits), e.value(b, bits)
        at, size = folded(place), folded(length)
        if at is None or size is None:
            sources = inserted, around, e.value(place, COUNT_BITS), e.value(length, COUNT_BITS)
            return e.emit("bfi", (target,), sources, bits)
        at, size, full = at & 0xFF, size & 0xFF, (1 << bits) - 1
        field = ((1 << size) - 1) << at & full
        if not field:
            return e.emit("mov", (target,), (around,), bits)
        moved = e.compute("shl", (inserted, ir.Const(at)), bits)
        if at + size < bits:
            moved = e.compute("and", (moved, ir.Const(field, bits)), bits)
        e.emit("or", (target,), (moved, e.compute("and", (around, ir.Const(full & ~field, bits)), bits)), bits)

    return lower


# --- logic and shifts: "Logic and Shift Instructions" --------------------------------------------


def logic(name: str, sources: int) -> Callable[[Opcode], Plain | None]:
    def resolve(o: Opcode) -> Plain | None:
        if o.plain or len(o.types) != 1 or o.types[0].kind not in "bpsu":
            return None
        return Plain(name, o.types[0].bits, (o.types[0].bits,) * sources)

    return resolve


def lookup_3(o: Opcode) -> Lower | None:
    """lop3.b32 d, a, b, c, table."""
    if o.modifiers != ("b32",):
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, c, table = operands
        number = folded(table)
        if number is None:
            raise e.error("the table of lop3 is not a constant")
        e.emit("lop3", (e.target(d),), (e.value(a, 32), e.value(b, 32), e.value(c, 32)), 32, (number & 0xFF,))

    return lower


def shift(o: Opcode) -> Plain | Lower | None:
    if o.plain or len(o.types) != 1 or o.types[0].kind not in "bsu":
        return None
    kind, bits = o.types[0].kind, o.types[0].bits
    name = "shl" if o.base == "shl" else "shr.s" if kind == "s" else "shr.u"
    if bits != 16:
        return Plain(name, bits, (bits, COUNT_BITS))

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b = operands
        count = e.value(b, COUNT_BITS)
        if isinstance(count, ir.Const) and (count.value & 0xFFFF) < bits <= count.value:
            raise NoMeaning("ptxas takes the low 16 bits of this count")
        e.emit(name, (e.target(d),), (e.value(a, bits), count), bits)

    return lower


def funnel_shift(o: Opcode) -> Plain | None:
    if len(o.plain) != 2 or o.types != (TYPES["b32"],):
        return None
    side, mode = o.plain & {"l", "r"}, o.plain & {"wrap", "clamp"}
    if not side or not mode:
        return None
    return Plain(f"shf.{min(side)}", 32, (32, 32, 32), (min(mode),))


def permute(o: Opcode) -> Plain | None:
    modes = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}
    if o.types != (TYPES["b32"],) or o.plain - modes or len(o.plain) > 1:
        return None
    return Plain("prmt", 32, (32, 32, 32), (min(o.plain, default=""),))


# --- floats: "Floating Point Instructions", "Half Precision Floating Point Instructions" ------------


def approximate(sources: int) -> Callable[[Opcode], Plain | None]:
    """An operation whose last bits depend on the chip: equal inputs give equal results. Its whole opcode names it."""

    def resolve(o: Opcode) -> Plain | None:
        if len(o.types) != 1 or not o.plain & {"approx", "full"}:
            return None
        bits = o.types[0].bits
        return Plain(o.text, bits, (bits,) * sources, (), True)

    return resolve


def floating(
    name: str,
    sources: int,
    demand: bool = False,
    modifiers: frozenset[str] = frozenset({"ftz"}),
    any_nan: bool = False,
) -> Callable[[Opcode], Plain | None]:
    """IEEE operations on f16, f32, f64; .relu and .NaN are not supported, packed and other formats are in `narrow`.

    demand: a rounding must be specified; without one the opcode is an approximation (`div.full.f32`).
    any_nan: NaN results depend on ptxas (`ir.ANY_NAN`).
    """

    def resolve(o: Opcode) -> Plain | None:
        rounding = o.plain & set(ROUNDINGS)
        if o.plain - rounding - modifiers or len(rounding) > 1 or len(o.types) != 1 or o.types[0].kind != "f":
            return None
        if demand and not rounding:
            return None
        bits, saturates = o.types[0].bits, "sat" in o.plain
        if saturates and bits == 64:
            return None
        attrs = (min(rounding, default="rn"), "ftz" in o.plain, *([True] if saturates else []))
        if any_nan:
            attrs = (*attrs[:2], saturates, ir.ANY_NAN)
        return Plain(name, bits, (bits,) * sources, attrs, True)

    return resolve


def approximation(sources: int, *kinds: str) -> Callable[[Opcode], Plain | None]:
    """Approximations on f32: `approx`, and for divisions `full`; rows of `engine.ops.approximate`."""

    def resolve(o: Opcode) -> Plain | None:
        kind = o.plain & set(kinds)
        if len(kind) != 1 or o.plain - kind - {"ftz"} or o.types != (TYPES["f32"],):
            return None
        return Plain(f"{o.base}.{min(kind)}", 32, (32,) * sources, ("rn", "ftz" in o.plain), True)

    return resolve


def copy_sign(o: Opcode) -> Lower | None:
    """copysign.f32, copysign.f64: the sign of the first source, all else of the second."""
    if o.modifiers not in (("f32",), ("f64",)):
        return None
    bits = o.types[0].bits

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b = operands
        sources = (e.value(a, bits, True), e.value(b, bits, True), ir.Const(1 << bits - 1, bits))
        e.emit("lop3", (e.target(d),), sources, bits, (0xE4,))  # where the third has a bit the first, else the second

    return lower


INTEGER, EXTENDED = "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions"
FLOAT, LOGIC = "Floating Point Instructions", "Logic and Shift Instructions"

_ROUNDED = "rn rz rm rp ftz"
_FORMS = frozenset({"ftz", "sat"})
_APPROXIMATE = Row(approximate(1), FLOAT, "approx ftz")

ROWS: dict[str, Row] = {
    "add": Row(either(add_or_sub("add"), floating("fadd", 2, modifiers=_FORMS)), INTEGER, f"cc sat {_ROUNDED}"),
    "sub": Row(either(add_or_sub("sub"), floating("fsub", 2, modifiers=_FORMS)), INTEGER, f"cc sat {_ROUNDED}"),
    "addc": Row(carried(False, True), EXTENDED, "cc"),
    "subc": Row(carried(True, True), EXTENDED, "cc"),
    "mul": Row(
        either(multiply, floating("fmul", 2, modifiers=_FORMS, any_nan=True)), INTEGER, f"lo hi wide sat {_ROUNDED}"
    ),
    "mad": Row(either(multiply_add, floating("fma", 3, modifiers=_FORMS)), INTEGER, f"lo hi wide cc sat {_ROUNDED}"),
    "madc": Row(multiply_add, EXTENDED, "lo hi cc"),
    "mul24": Row(multiply_24, INTEGER, "lo"),
    "mad24": Row(multiply_24, INTEGER, "lo"),
    "sad": Row(sum_of_differences, INTEGER),
    "div": Row(
        either(
            integer("div", 2, True),
            first_of(floating("fdiv", 2, demand=True), approximation(2, "approx", "full"), approximate(2)),
        ),
        INTEGER,
        f"approx full {_ROUNDED}",
    ),
    "rem": Row(integer("rem", 2, True), INTEGER),
    "abs": Row(either(integer("abs", 1), floating("fabs", 1, modifiers=frozenset(), any_nan=True)), INTEGER),
    "neg": Row(either(integer("neg", 1), floating("fneg", 1, modifiers=frozenset(), any_nan=True)), INTEGER),
    "min": Row(either(extreme("min"), floating("fmin", 2, any_nan=True)), INTEGER, "ftz relu"),
    "max": Row(either(extreme("max"), floating("fmax", 2, any_nan=True)), INTEGER, "ftz relu"),
    "dp4a": Row(dot_product, INTEGER),
    "dp2a": Row(dot_product, INTEGER, "lo hi"),
    "popc": Row(bit_count("popc"), INTEGER),
    "clz": Row(bit_count("clz"), INTEGER),
    "bfind": Row(bit_count("bfind", True, frozenset({"shiftamt"})), INTEGER, "shiftamt"),
    "fns": Row(logic("fns", 3), INTEGER),
    "brev": Row(logic("brev", 1), INTEGER),
    "bfe": Row(fields("bfe", lambda n: (n, COUNT_BITS, COUNT_BITS), by_sign=True), INTEGER),
    "bfi": Row(insert, INTEGER),
    "szext": Row(fields("szext", lambda n: (n, COUNT_BITS), by_sign=True, attrs=True), INTEGER, "clamp wrap"),
    "bmsk": Row(fields("bmsk", lambda n: (COUNT_BITS, COUNT_BITS), attrs=True), INTEGER, "clamp wrap"),
    "and": Row(logic("and", 2), LOGIC),
    "or": Row(logic("or", 2), LOGIC),
    "xor": Row(logic("xor", 2), LOGIC),
    "not": Row(logic("not", 1), LOGIC),
    "cnot": Row(logic("cnot", 1), LOGIC),
    "lop3": Row(lookup_3, LOGIC),
    "shl": Row(shift, LOGIC),
    "shr": Row(shift, LOGIC),
    "shf": Row(funnel_shift, LOGIC, "l r wrap clamp"),
    "prmt": Row(permute, "Data Movement and Conversion Instructions", "f4e b4e rc8 ecl ecr rc16"),
    "fma": Row(floating("fma", 3, modifiers=_FORMS), FLOAT, f"sat {_ROUNDED}"),
    "copysign": Row(copy_sign, FLOAT),
    "rcp": Row(
        first_of(floating("frcp", 1, demand=True), approximation(1, "approx"), approximate(1)),
        FLOAT,
        f"approx {_ROUNDED}",
    ),
    "sqrt": Row(
        first_of(floating("fsqrt", 1, demand=True), approximation(1, "approx"), approximate(1)),
        FLOAT,
        f"approx {_ROUNDED}",
    ),
    **dict.fromkeys(
        ("rsqrt", "ex2", "lg2"), Row(first_of(approximation(1, "approx"), approximate(1)), FLOAT, "approx ftz")
    ),
    **dict.fromkeys(("sin", "cos", "tanh"), _APPROXIMATE),
}
