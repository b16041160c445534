"""Parameters of calls and device functions as registers: reading and writing their bytes.

    .param .align 8 .b8 p[16];        p+0, p+8: two registers of 64 bits
    st.param.f32 [p+4], %f1;          p+0 = bfi(%f1, p+0, 32, 32)
    ld.param.v2.b64 {%rd1,%rd2}, [p]; %rd1 = mov(p+0); %rd2 = mov(p+8)

Caller and callee divide a parameter in the same way, because both have the same declaration.
"""

from __future__ import annotations

from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter
from ptxaudit.frontend.ptx.scope import Pieces
from ptxaudit.frontend.ptx.types import BYTE, Type
from ptxaudit.ir import nodes as ir


def pieces_of(e: Emitter, operand: s.Operand) -> Pieces | None:
    """The pieces that `[name+offset]` refers to, None for anything else."""
    if isinstance(operand, s.Memory) and isinstance(operand.base, s.Name):
        symbol = e.scope[operand.base.text]
        if isinstance(symbol, Pieces):
            return symbol
    return None


def load_piece(e: Emitter, pieces: Pieces, offset: int, element: Type, target: ir.Reg | None) -> None:
    """target = the element at a byte offset, extended by its sign."""
    if target is None:
        return
    value = _read(e, pieces, offset * BYTE, element.bits)
    if target.bits > element.bits:
        e.emit("sext" if element.kind == "s" else "zext", (target,), (value,), target.bits)
    else:
        e.emit("mov", (target,), (value,), target.bits)


def _read(e: Emitter, pieces: Pieces, at: int, bits: int) -> ir.Operand:
    first, inside = divmod(at, pieces.bits)
    if first >= len(pieces.regs) or bits > 64:
        return ir.Unknown("bytes outside of a parameter", bits)
    if bits == pieces.bits and not inside:
        return pieces.regs[first]
    if inside + bits <= pieces.bits:
        return e.compute("extract", (pieces.regs[first],), bits, (inside,))
    count = bits // pieces.bits
    parts = pieces.regs[first : first + count]
    if inside or bits % pieces.bits or len(parts) < count:
        return ir.Unknown("bytes across the pieces of a parameter", bits)
    return e.compute("cat", parts, bits)


def store_piece(e: Emitter, pieces: Pieces, offset: int, element: Type, value: ir.Operand) -> None:
    """The element at a byte offset = the low bits of value."""
    bits, (first, inside) = element.bits, divmod(offset * BYTE, pieces.bits)
    if value.bits > bits:
        value = e.compute("trunc", (value,), bits)
    if first >= len(pieces.regs):
        return
    piece = pieces.regs[first]
    if bits == pieces.bits and not inside:
        e.emit("mov", (piece,), (value,), bits)
    elif inside + bits <= pieces.bits:
        wide = e.compute("zext", (value,), pieces.bits)
        e.emit("bfi", (piece,), (wide, piece, ir.Const(inside), ir.Const(bits)), pieces.bits)
    elif not inside and bits % pieces.bits == 0 and bits <= 64:
        for i, part in enumerate(pieces.regs[first : first + bits // pieces.bits]):
            e.emit("extract", (part,), (value,), pieces.bits, (i * pieces.bits,))
    else:
        touched = pieces.regs[first : (offset * BYTE + bits - 1) // pieces.bits + 1]
        for part in touched:
            e.emit("mov", (part,), (ir.Unknown("bytes across the pieces of a parameter", pieces.bits),), pieces.bits)
