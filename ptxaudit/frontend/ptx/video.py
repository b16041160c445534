"""Lowers scalar video instructions on whole 32-bit operands, by rows like those of `opcodes`.

    vshr.u32.u32.u32.clamp.add %r4, %r1, %r2, %r3     %t = shr.u(%r1, %r2);  %r4 = add(%t, %r3)

CUB's radix sort and others combine a shift and an addition in one of them. Operands that select bytes or half-words
(`%r1.b0`), saturation, and the other secondary operations are not supported.
"""

from __future__ import annotations

from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter, NoMeaning
from ptxaudit.frontend.ptx.opcodes import Lower, Opcode, Row
from ptxaudit.ir import nodes as ir

SECTION = "Scalar Video Instructions"
SELECTORS = ("b0", "b1", "b2", "b3", "h0", "h1")
_LAST_SHIFT = 31


def scalar(o: Opcode) -> Lower | None:
    """vadd, vsub, vshl, vshr with 32-bit types, alone or with `.add` of a third operand."""
    shifts = o.base in ("vshl", "vshr")
    modes = o.plain & {"clamp", "wrap"}
    if len(o.types) != 3 or any(t.bits != 32 or t.kind not in "su" for t in o.types):
        return None
    if o.plain - modes - {"add"} or len(modes) != shifts:
        return None
    name = {"vadd": "add", "vsub": "sub", "vshl": "shl", "vshr": f"shr.{o.types[1].kind}"}[o.base]
    if shifts and o.types[2].kind != "u":
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, *sources = operands
        if any(_selects(x) for x in operands):
            raise NoMeaning("an operand that selects bytes or half-words is not supported")
        a, b, *c = (e.value(x, 32) for x in sources)
        if "wrap" in modes:
            b = e.compute("and", (b, ir.Const(_LAST_SHIFT)), 32)
        if "add" in o.plain:
            e.emit("add", (e.target(d),), (e.compute(name, (a, b), 32), *c), 32)
        else:
            e.emit(name, (e.target(d),), (a, b), 32)

    return lower


def _selects(operand: s.Operand) -> bool:
    return type(operand) is s.Name and operand.text.rpartition(".")[2] in SELECTORS


def differences(o: Opcode) -> Lower | None:
    """vabsdiff4.u32.u32.u32: the absolute differences of the bytes of a and b, each in its byte; .add: c plus them.

    Without a mask all four bytes are written, so that c is not read.
    """
    adds = o.modifiers[3:] == ("add",)
    if o.modifiers[:3] != ("u32", "u32", "u32") or o.modifiers[3:] and not adds:
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, b, c = operands
        if any(_selects(x) for x in operands):
            raise NoMeaning("an operand that selects bytes is not supported")
        x, y, total = e.value(a, 32), e.value(b, 32), e.value(c, 32) if adds else ir.Const(0)
        for k in range(4):
            first, second = (e.compute("bfe.u", (value, ir.Const(8 * k), ir.Const(8)), 32) for value in (x, y))
            if adds:
                total = e.compute("sad.u", (first, second, total), 32)
                continue
            byte = e.compute("shl", (e.compute("sad.u", (first, second, ir.Const(0)), 32), ir.Const(8 * k)), 32)
            total = e.compute("or", (total, byte), 32)
        e.emit("mov", (e.target(d),), (total,), 32)

    return lower


ROWS: dict[str, Row] = {name: Row(scalar, SECTION, "clamp wrap add") for name in ("vadd", "vsub", "vshl", "vshr")} | {
    "vabsdiff4": Row(differences, "SIMD Video Instructions", "add")
}
