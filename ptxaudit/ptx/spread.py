"""Puts the lanes' accesses in the place of wmma.load and wmma.store, for the generation that the kernel is audited for.

    wmma.store.d…row.m16n16k16.shared.f32 [p], {…}, n      st.shared.b64 at p + 4·n·(l / 4) + 8·(l % 4), twice, 32 bytes apart,
                                                           and both again 8 rows on: four instructions of one place and text

What comes of an access is a row of `fragments`. The instructions of one place, opcode and text are one site, whose requests are those of
all of them: as the machine code of the access has them.
"""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from .fragments import Requests, Steps, requests
from .types import BYTE

WORD = 32
_ZERO, _ONE = ir.Const(0), ir.Const(1)
_DATA = ir.Unknown("an element of a wmma fragment")


def spread(function: ir.Function, generation: str) -> ir.Function:
    """The function with its fragments' accesses written out; the function itself where it has none.

    generation: `machine_model.Machine.fragments`; of an access that does not exist there the site stays, with its reason.
    """
    found = {i.index: made for i in function.instructions if i.site is not None and i.opcode.startswith("wmma.")
             and (made := requests(i.opcode, generation)) is not None}
    if not found:
        return function
    starts, at = [], 0
    for i in function.instructions:
        starts.append(at)
        at += len(found[i.index].starts) if i.index in found else 1
    starts.append(at)
    out: list[ir.Instruction] = []
    for i in function.instructions:
        control = i.control
        if control is not None and control.targets:
            control = replace(control, targets=tuple(starts[target] for target in control.targets))
        if i.index in found:
            out += _accesses(i, found[i.index], len(out))
        else:
            out.append(replace(i, index=len(out), control=control) if control is not i.control or i.index != len(out) else i)
    return replace(function, instructions=tuple(out))


def _accesses(instruction: ir.Instruction, made: Requests, index: int) -> list[ir.Instruction]:
    """One instruction for each request; the first computes what all need, the last writes the fragment's registers."""
    old = next(op for op in instruction.ops if op.name == instruction.opcode)
    e = _Writer(index, instruction.guard, [op for op in instruction.ops if op is not old])
    bits = old.src[0].bits
    pitch = e.pitch(old.src[1] if len(old.src) > 1 else ir.Const(made.ldm), made.element, bits)
    base = e.add(e.add(old.src[0], e.lanes(made.byte), bits), e.times(e.lanes(made.line), pitch, bits), bits)
    out = []
    for number, (line, byte) in enumerate(made.starts):
        offset = old.offset + byte
        place = base
        if isinstance(pitch, ir.Const):
            offset += line * pitch.value
        if made.store:
            place = base if isinstance(pitch, ir.Const) else e.add(base, e.times(ir.Const(line), pitch, bits), bits)
            e.emit("store", (), (place, *[_DATA] * max(1, _width(made.opcode) // made.element)), made.element, (made.element,), old.space, offset)
        elif number == len(made.starts) - 1:
            e.emit(old.name, old.dst, (base,), WORD, (), old.space, old.offset)
        # whole rows, multiples of 16 bytes, are a uniform shift that changes no count: left out where they are not known
        site = ir.Site(made.opcode, base, offset, instruction.site.space, instruction.guard)
        out.append(replace(instruction, index=index + number, ops=tuple(e.ops), site=site))
        e.ops = []
    return out


def _width(opcode: str) -> int:
    """Bits a lane of a plain access: st.shared.b64."""
    return int(opcode.rpartition(".b")[2])


class _Writer:
    """The operations of one access; folds what is constant."""

    def __init__(self, index: int, guard: ir.Guard | None, ops: list[ir.Op]):
        self.index, self.guard, self.ops, self.made = index, guard, ops, 0

    def emit(self, name: str, dst: tuple, src: tuple, bits: int, attrs: tuple = (), space: str = "", offset: int = 0) -> None:
        self.ops.append(ir.Op(name, dst, src, bits, attrs, self.guard, space, offset))

    def compute(self, name: str, src: tuple, bits: int) -> ir.Reg:
        self.made += 1
        register = ir.Reg(f"%wmma{self.index}.{self.made}@", bits)
        self.emit(name, (register,), src, bits)
        return register

    def pitch(self, ldm: ir.Operand, element: int, bits: int) -> ir.Operand:
        """Bytes from one row to the next."""
        if isinstance(ldm, ir.Const):
            return ir.Const(ldm.value * element // BYTE)
        if element < BYTE:
            ldm = self.compute("shr.u", (ldm, ir.Const((BYTE // element).bit_length() - 1)), WORD)
        return self.times(ir.Const(max(1, element // BYTE)), ldm, bits)

    def lanes(self, steps: Steps) -> ir.Operand:
        """The sum of the steps of the lane's bits, each run of doubling ones at once."""
        total: ir.Operand = ir.Const(0)
        bit = 0
        while bit < len(steps):
            end = bit + 1
            while end < len(steps) and steps[end] == 2 * steps[end - 1]:
                end += 1
            if steps[bit]:
                part: ir.Operand = ir.Special("laneid")
                if bit:
                    part = self.compute("shr.u", (part, ir.Const(bit)), WORD)
                if end < len(steps):
                    part = self.compute("and", (part, ir.Const((1 << end - bit) - 1)), WORD)
                total = self.add(total, self.times(part, ir.Const(steps[bit]), WORD), WORD)
            bit = end
        return total

    def add(self, a: ir.Operand, b: ir.Operand, bits: int) -> ir.Operand:
        if _ZERO in (a, b):
            return b if a == _ZERO else a
        return self.compute("add", (self.wide(a, bits), self.wide(b, bits)), bits)

    def times(self, a: ir.Operand, b: ir.Operand, bits: int) -> ir.Operand:
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return ir.Const(a.value * b.value)
        if _ZERO in (a, b):
            return _ZERO
        if _ONE in (a, b):
            return self.wide(b if a == _ONE else a, bits)
        return self.compute("mul", (self.wide(a, bits), self.wide(b, bits)), bits)

    def wide(self, operand: ir.Operand, bits: int) -> ir.Operand:
        """A number of 32 bits at the width of the address: strides are positive."""
        if operand.bits >= bits:
            return operand
        return ir.Const(operand.value, bits) if isinstance(operand, ir.Const) else self.compute("sext", (operand,), bits)
