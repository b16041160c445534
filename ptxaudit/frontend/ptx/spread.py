"""Replaces wmma.load and wmma.store by the lanes' accesses, for the audited generation.

    wmma.store.d…row.m16n16k16.shared.f32 [p], {…}, n
    ->  st.shared.b64 at p + 4·n·(l / 4) + 8·(l % 4), twice, 32 bytes apart, and both again 8 rows further on:
        four instructions with the same place and text

A row of `fragments` describes the translation of an access. The instructions of one access form one site, which has
the requests of all of them, as in the machine code of the access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from ptxaudit.frontend.ptx.fragments import Requests, requests
from ptxaudit.frontend.ptx.types import BYTE
from ptxaudit.frontend.ptx.writer import Writer
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import nodes as ir

WORD = 32
_DATA = ir.Unknown("an element of a wmma fragment")


def spread(function: ir.Function, generation: str) -> ir.Function:
    """The function with its fragments' accesses expanded; the function itself if it has none.

    generation: `machine_model.Machine.fragments`. An access that does not exist there keeps its site, with the
    reason.
    """
    found = {
        i.index: made
        for i in function.instructions
        if i.site is not None and i.opcode.startswith("wmma.") and (made := requests(i.opcode, generation)) is not None
    }
    if not found:
        return function
    starts, at = [], 0
    for i in function.instructions:
        starts.append(at)
        at += len(found[i.index].starts) if i.index in found else 1
    starts.append(at)
    lanes, constants = _Lanes(), _constants(function, found.keys())
    out: list[ir.Instruction] = []
    origin: list[tuple[str, int]] = []
    for i in function.instructions:
        control = i.control
        if control is not None and control.targets:
            control = replace(control, targets=tuple(starts[target] for target in control.targets))
        if i.index in found:
            out += _accesses(i, found[i.index], len(out), lanes, constants)
        else:
            out.append(
                replace(i, index=len(out), control=control) if control is not i.control or i.index != len(out) else i
            )
        origin += [function.origin_of(i.index)] * (len(out) - len(origin))
    out[0] = replace(out[0], ops=(*lanes.ops, *out[0].ops))
    return replace(function, instructions=tuple(out), origin=tuple(origin))


def _constants(function: ir.Function, accesses: Iterable[int]) -> dict[ir.Reg, ir.Const]:
    """The registers with strides that are written only once, by a constant."""
    wanted = {
        source
        for k in accesses
        for op in function.instructions[k].ops
        for source in op.src[1:]
        if type(source) is ir.Reg
    }
    written: dict[ir.Reg, list[ir.Op]] = {register: [] for register in wanted}
    for i in function.instructions:
        for op in i.ops:
            for d in op.dst:
                if d is not None and d in written:
                    written[d].append(op)
    return {
        register: constant
        for register, ops in written.items()
        if len(ops) == 1
        and ops[0].name == "mov"
        and ops[0].guard is None
        and isinstance(constant := ops[0].src[0], ir.Const)
    }


def _accesses(
    instruction: ir.Instruction, made: Requests, index: int, lanes: _Lanes, constants: dict[ir.Reg, ir.Const]
) -> list[ir.Instruction]:
    """One instruction per request; the first computes what all need, the last writes the fragment's registers."""
    old = next(op for op in instruction.ops if op.name == "opaque")
    e = Writer(
        f"%wmma{index}.", instruction.guard, [op for op in instruction.ops if op.name not in ("opaque", "clobber")]
    )
    base, pitch, row = _first_row(e, old, made, lanes, constants)
    out = []
    for number, (line, byte) in enumerate(made.starts):
        offset = old.offset + byte + line * (pitch or 0)
        if made.store:
            place = base
            if line and row is not None:
                place = _plus(e, base, row(line), old.src[0].bits)
            e.emit(
                "store",
                (),
                (place, *[_DATA] * max(1, _width(made.opcode) // made.element)),
                made.element,
                (made.element,),
                old.space,
                offset,
            )
        elif number == len(made.starts) - 1:
            e.emit(old.name, old.dst, (base,), WORD, old.attrs, old.space, old.offset)
        # whole rows, multiples of 16 bytes, are a uniform shift that changes no count: left out if unknown
        site = ir.Site(
            made.opcode,
            base,
            offset,
            "shared" if instruction.site is None else instruction.site.space,
            instruction.guard,
            again=number > 0,
            fragment=len(made.starts),
            rows_apart=pitch,
        )
        out.append(replace(instruction, index=index + number, ops=tuple(e.ops), site=with_access(site, e.ops)))
        e.ops = []
    return out


def _first_row(
    e: Writer, old: ir.Op, made: Requests, lanes: _Lanes, constants: dict[ir.Reg, ir.Const]
) -> tuple[ir.Operand, int | None, Callable[[int], ir.Operand] | None]:
    """Each lane's address in the first row, the pitch, and the offsets of other rows.

    The pitch is the bytes from one row to the next, or None if unknown; then the third item computes the offset of a
    row.
    """
    where, *stride = old.src
    bits = where.bits
    ldm: ir.Operand = stride[0] if stride else ir.Const(made.ldm)
    if isinstance(ldm, ir.Reg):
        ldm = constants.get(ldm, ldm)
    if isinstance(ldm, ir.Const):
        pitch = ldm.value * made.element // BYTE
        by_lane = lanes.of([pitch * line + byte for line, byte in zip(made.line, made.byte)], bits)
        return _plus(e, where, by_lane, bits), pitch, None
    size = max(1, made.element // BYTE)
    if made.element < BYTE:
        ldm = e.compute("shr.u", (ldm, ir.Const((BYTE // made.element).bit_length() - 1)), WORD)
    if bits > WORD:
        ldm = e.compute("sext", (ldm,), bits)  # strides are positive
    line_of_lane = lanes.of([size * line for line in made.line], bits)
    assert line_of_lane is not None  # rows differ between lanes in every fragment
    rows = e.compute("mul", (line_of_lane, ldm), bits)
    base = _plus(e, _plus(e, where, rows, bits), lanes.of(made.byte, bits), bits)
    return base, None, lambda line: e.compute("mul", (ldm, ir.Const(size * line, bits)), bits)


def _plus(e: Writer, a: ir.Operand, b: ir.Operand | None, bits: int) -> ir.Operand:
    """The sum; a alone if there is nothing to add."""
    return a if b is None else e.compute("add", (a, b), bits)


def _width(opcode: str) -> int:
    """The bits per lane of a plain access: st.shared.b64."""
    return int(opcode.rpartition(".b")[2])


class _Lanes(Writer):
    """The terms that lanes add to an address, computed once, at the kernel's first instruction."""

    def __init__(self) -> None:
        super().__init__("%wmma.")
        self.known: dict[tuple[tuple[int, ...], int], ir.Reg | None] = {}

    def of(self, steps: Sequence[int], bits: int) -> ir.Reg | None:
        """The sum of `steps` over the lane's set bits, one product per run of doubling steps; None if it is zero."""
        key = tuple(steps), bits
        if key not in self.known:
            self.known[key] = self._sum(steps, bits)
        return self.known[key]

    def _sum(self, steps: Sequence[int], bits: int) -> ir.Reg | None:
        total: ir.Reg | None = None
        bit = 0
        while bit < len(steps):
            end = bit + 1
            while end < len(steps) and steps[end] == 2 * steps[end - 1]:
                end += 1
            if steps[bit]:
                part = self.compute("shr.u", (ir.Special("laneid"), ir.Const(bit)), WORD)
                part = self.compute("and", (part, ir.Const((1 << end - bit) - 1)), WORD)
                part = self.compute("mul", (part, ir.Const(steps[bit])), WORD)
                total = part if total is None else self.compute("add", (total, part), WORD)
            bit = end
        return total if total is None or bits == WORD else self.compute("zext", (total,), bits)
