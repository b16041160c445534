"""Lifts the functions of a cubin to `ir`: one lowering function an opcode, tables of them by kind.

    Line("@!P0", "LDS.128", "R4, [R3+UR4+0x100]")
 -> Instruction(place=0x1c0, opcode="LDS.128", guard=@!P0,
        ops=(t0.32 = add(R3, UR4); @!P0 R4, R5, R6, R7 = load shared(t0.32 + 256)), site=Site("LDS.128", t0.32, 256, …))

A kernel is lifted together with the functions that it calls in other sections: their
instructions follow its own, as registers are the machine's and not a function's. An opcode
that no table has, or a form that its lowering does not cover, becomes an operation with the
opcode as its name that writes every register the instruction may write (`clobber`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .. import ir
from ..artifacts.cubin import INSTRUCTION_BYTES, CodeSection, Cubin, Relocation, read_cubin
from ..errors import InputError
from . import lift_control, lift_float, lift_integer, lift_logic, lift_memory, lift_warp, places
from .builder import PAIR_BITS, WORD_BITS, Builder, Context, NoMeaning, symbol_address
from .clobber import clobber
from .disassemble import Line, disassemble
from .parse import parse_operands
from .syntax import Number, Operand, Register, Word

LOWERINGS = {
    **lift_integer.LOWERINGS, **lift_logic.LOWERINGS, **lift_float.LOWERINGS, **lift_memory.LOWERINGS,
    **lift_warp.LOWERINGS, **lift_control.LOWERINGS,
}
# Relocation types (by number, as `nvdisasm` shows their places): which half of the address an instruction's literal takes.
_LOW, _HIGH, _WORDS, _CALL = 56, 57, (55, 59), 75

_GUARDS: dict[str, ir.Guard] = {
    f"@{sign}{kind}{number}": ir.Guard(ir.Reg(f"{kind}{number}", 1, kind == "UP"), bool(sign))
    for kind in ("P", "UP") for number in range(7) for sign in ("", "!")
}
_ALWAYS, _NEVER = ("", "@PT", "@UPT"), ("@!PT", "@!UPT")


def lift_cubin(data: bytes, file: str, tool: str | None = None) -> ir.Module:
    """All functions of the cubin in `data`. InputError when it cannot be read or disassembled."""
    cubin = read_cubin(data, file)
    return lift_module(cubin, disassemble([cubin], tool)[0])


def lift_module(cubin: Cubin, lines: dict[str, tuple[Line, ...] | InputError], sources=None) -> ir.Module:
    """The functions of a cubin, given its disassembly. A function that did not decode is left out
    (its InputError stays in `lines`); InputError when that is every one.

    sources: (function name, byte offset) -> ir.Source, where the file has line information.
    """
    good = {f.name: f for f in cubin.functions if not isinstance(lines.get(f.name), InputError)}
    if cubin.functions and not good:
        raise next(error for error in lines.values() if isinstance(error, InputError))
    called: set[str] = set()
    functions = {}
    for entry_turn in (True, False):
        for function in good.values():
            if function.entry == entry_turn and function.name not in called:
                part = _sections(function, good)
                called |= {f.name for f in part[1:]}
                functions[function.name] = lift_function(cubin, part, lines, sources)
    return ir.Module(cubin.file, "sass", cubin.arch, functions, cubin.version, cubin.producer)


def _sections(function: CodeSection, functions: dict[str, CodeSection]) -> list[CodeSection]:
    """A function and those that it calls in other sections, directly or through them."""
    out = [function]
    for section in out:
        for relocation in section.relocations:
            callee = functions.get(relocation.symbol.section.removeprefix(".text."))
            if relocation.type == _CALL and callee is not None and callee not in out:
                out.append(callee)
    return out


@dataclass(frozen=True, slots=True)
class _Layout(Context):
    """A section's place in a lifted function. first: index of its first instruction; starts: of every section's."""

    first: int = 0
    starts: dict[str, int] = field(default_factory=dict)
    returns: frozenset[int] = frozenset()      # places that some literal of the section names: return addresses

    def index_at(self, offset: int) -> int | None:
        """The instruction index of a byte offset in this section."""
        if offset % INSTRUCTION_BYTES or not 0 <= offset < len(self.function.code):
            return None
        return self.first + offset // INSTRUCTION_BYTES

    def call_index(self, place: int, operand: Operand) -> int | None:
        """The index that a call goes to, None when it is not known or would not come back to the next instruction."""
        if not isinstance(operand, Number) or place + INSTRUCTION_BYTES not in self.returns:
            return None
        for relocation in self.function.relocations:
            if relocation.offset == place:
                start = self.starts.get(relocation.symbol.section.removeprefix(".text."))
                if start is None:
                    return None
                return start + (relocation.symbol.offset + relocation.addend) // INSTRUCTION_BYTES
        return self.index_at(operand.value)


def lift_function(cubin: Cubin, sections: list[CodeSection], lines: dict[str, tuple[Line, ...]], sources=None) -> ir.Function:
    """One function, its own section first, then those of the functions it calls."""
    starts, end = {}, 0
    for section in sections:
        starts[section.name] = end
        end += len(lines[section.name])
    function = sections[0]
    instructions: list[ir.Instruction] = []
    for section in sections:
        layout = _layout(cubin, section, function, lines[section.name], starts)
        instructions += _instructions(layout, lines[section.name], sources)
    info = function.info
    notes = tuple(f"{section.name} is called; its code follows from offset {starts[section.name] * INSTRUCTION_BYTES:#x} on"
                  for section in sections[1:])
    threads = info.max_threads
    return ir.Function(
        name=function.name, isa="sass", arch=cubin.arch, instructions=tuple(instructions), entry=function.entry,
        parameters=tuple(ir.Parameter(f"{function.name}_param_{p.ordinal}", p.offset, p.size, pointer=p.pointer)
                         for p in info.parameters),
        variables=tuple(_variables(cubin, sections)),
        shared_static=function.shared_static, block=info.reqntid,
        max_threads=threads[0] * threads[1] * threads[2] if threads else None,
        cluster=info.cluster, notes=notes)


def _layout(cubin: Cubin, section: CodeSection, kernel: CodeSection, lines: tuple[Line, ...], starts: dict[str, int]) -> _Layout:
    base = kernel.info.param_base
    relocated = {r.offset: known for r in section.relocations if (known := _relocated(r, section)) is not None}
    returns = {int(line.operands.rpartition(" ")[2], 16) for line in lines
               if line.opcode in ("MOV", "IMAD.MOV.U32", "HFMA2.MMA", "UMOV") and line.operands.rpartition(" ")[2].startswith("0x")}
    returns |= {operand.value for operand, half in relocated.values() if isinstance(operand, ir.Const) and not half}
    return _Layout(section, cubin.sm, places.param_base(cubin.sm) if base is None else base, relocated,
                   starts[section.name], starts, frozenset(returns))


def _relocated(relocation: Relocation, section: CodeSection) -> tuple[ir.Operand, int] | None:
    """What a relocation puts in place of an instruction's literal: (address, which half), None for calls."""
    symbol = relocation.symbol
    if relocation.type == _CALL:
        return None
    if symbol.section == f".text.{section.name}" and relocation.type in (_LOW, _HIGH):
        return ir.Const(symbol.offset + relocation.addend, PAIR_BITS), int(relocation.type == _HIGH)
    if relocation.type in (_LOW, _HIGH):
        return symbol_address(symbol, relocation.addend), int(relocation.type == _HIGH)
    if relocation.type in _WORDS:
        return symbol_address(symbol, relocation.addend, WORD_BITS), 0
    return ir.Unknown(f"the address of {symbol.name} by relocation type {relocation.type}", PAIR_BITS), 0


def _variables(cubin: Cubin, sections: list[CodeSection]) -> Iterator[ir.Variable]:
    """Constant banks with their contents, and the shared variables that a relocatable object names."""
    for bank, data in sorted(sections[0].banks.items()):
        if bank in _BANKS_WITHOUT_TABLES or sections[0].bank_relocations.get(bank):
            continue
        for name, offset, size in _tables(sections[0], bank, len(data)):
            content = data[offset:offset + size]
            if any(content):              # all zeros: the program fills it before the launch
                yield ir.Variable(name, f"const:{bank}", size, address=offset, data=content)
    symbols = {r.symbol for section in sections for r in section.relocations if r.symbol.section.startswith(".nv.shared")}
    for symbol in sorted(symbols, key=lambda s: s.name):
        yield ir.Variable(symbol.name, "shared", symbol.size)


_BANKS_WITHOUT_TABLES = (0, 4)     # parameters; addresses of variables, which relocations describe
_USER_BANK = 3                     # __constant__ variables


def _tables(function: CodeSection, bank: int, size: int) -> list[tuple[str, int, int]]:
    if bank == _USER_BANK and function.constants:
        return [(symbol.name, symbol.offset, symbol.size) for symbol in function.constants]
    return [(f"c[{bank:#x}]", 0, size)]


# --- instructions ---------------------------------------------------------------------------

def _instructions(layout: _Layout, lines: tuple[Line, ...], sources) -> Iterator[ir.Instruction]:
    memo: dict[Line, tuple] = {}
    slots: set[str] = set()           # registers that hold the offset of a cluster table (see places.CGA_SIZE)
    shift = layout.first * INSTRUCTION_BYTES
    for position, line in enumerate(lines):
        place = position * INSTRUCTION_BYTES
        known = memo.get(line) if place not in layout.relocated and not slots else None
        if known is None:
            builder = _lower(layout, line, place, frozenset(slots))
            known = (builder.guard, tuple(builder.ops), builder.control, builder.site) if builder else (None, (), None, None)
            if builder is None or builder.control is None and place not in layout.relocated and not slots and builder.root != "CALL":
                memo[line] = known
        slots = _cluster_slots(slots, line)
        guard, ops, control, site = known
        source = sources(layout.function.name, place) if sources is not None else None
        yield ir.Instruction(layout.first + position, shift + place, line.opcode, line.text, guard, ops, control, site, source)


def _lower(layout: _Layout, line: Line, place: int, slots: frozenset[str]) -> Builder | None:
    """The lowered instruction, None when its guard is never true."""
    if line.guard in _NEVER:
        return None
    guard = None if line.guard in _ALWAYS else _GUARDS.get(line.guard)
    try:
        operands = parse_operands(line.operands)
    except InputError:
        operands = ()
    b = Builder(layout, place, guard, line.opcode, operands, slots)
    lowering = LOWERINGS.get(b.root)
    if not operands and line.operands:
        b.ops.append(ir.Op(line.opcode, (), (ir.Unknown("operands that the grammar does not know"),)))
        lift_control.forget_everything(b)
        return b
    try:
        if lowering is None:
            raise NoMeaning
        lowering(b)
    except NoMeaning:
        b.control = b.site = None
        clobber(b)
        lift_memory.unscored_site(b)
    return b


def _cluster_slots(slots: set[str], line: Line) -> set[str]:
    """Follows `CS2R.32 R5, SR_CgaSize; IMAD R5, R5, -0xa0, RZ; [R2UR UR5, R5;] LDC R5, c[0x0][R5+0x2ac]`."""
    if places.CGA_SIZE in line.operands:
        return slots | {line.operands.partition(",")[0]}
    if not slots:
        return slots
    written, _, rest = line.operands.partition(", ")
    if line.opcode in ("IMAD", "R2UR") and rest.partition(",")[0] in slots:
        return slots | {written}
    return slots - {written}


def without_meaning(module: ir.Module) -> Counter:
    """Opcodes whose results are opaque, with how many instructions of the module have them."""
    return Counter(i.opcode for function in module.functions.values() for i in function.instructions
                   if any(op.name == i.opcode and op.dst for op in i.ops))
