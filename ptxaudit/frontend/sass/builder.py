"""The builder that lowering functions use: reads operands, creates temporaries and collects operations.

    @P0 IADD3 R2, -R4, c[0x0][0x210], RZ        t0.32 = load.32 param(0)
                                           ->   @P0 R2 = sub.32(t0.32, R4)

A lowering function takes a Builder and appends to it. Only operations that write registers of the program carry the
instruction's guard; temporaries (`t0.32`, `t1.64`) are local to one instruction and always written, so that every
read of one has a single definition.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.cubin import CODE_PREFIX, INSTRUCTION_BYTES, MODULE_SHARED, CodeSection, Symbol
from ptxaudit.frontend.sass import places
from ptxaudit.frontend.sass.syntax import Memory, Number, Operand, Register
from ptxaudit.ir import nodes as ir

WORD_BITS = 32
PAIR_BITS = 64
_FLOAT_FORMATS = {16: "<e", 32: "<f", 64: "<d"}
NOT_NUMBERS = frozenset({"QNAN", "NAN", "SNAN"})
_LITERAL_AT = slice(4, 8)  # bytes of an instruction with its 32-bit literal, or the upper half of a 64-bit one
_PREDICATES_AT = 81, 84  # bits of an instruction with the numbers of its predicate results
_NO_PREDICATE = 7
TRUE = ir.Const(1, 1)
FALSE = ir.Const(0, 1)
ZERO32 = ir.Const(0, WORD_BITS)
NEVER = ir.Guard(ir.Reg("PT", 1), True)


class NoMeaning(Exception):
    """The lowering does not support this form, for the given reason; the instruction's results become opaque."""


class Computed(Record):
    """A call through registers.

    targets: (the registers' value for it, index of its first instruction) of each function that the call may enter
    and that returns to the next instruction.
    open: whether it may enter other functions, too.
    """

    targets: tuple[tuple[ir.Operand, int], ...]
    open: bool


class Context(Record):
    """The context in which the instructions of one section are lowered.

    first: index of its first instruction in the lifted function.
    relocated: byte offset of an instruction -> the value of its relocated literal, and which 32-bit half of it is
    used.
    calls: byte offset of a call -> "call" (returns to the next instruction) or "branch", and the target's index.
    missing: byte offset of a call -> the called function, if that is in another object.
    computed: byte offset of a call through registers -> its possible targets.
    """

    function: CodeSection
    sm: int
    param_base: int
    relocated: dict[int, tuple[ir.Operand, int]] = field(default_factory=dict)
    first: int = 0
    calls: dict[int, tuple[str, int]] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    computed: dict[int, Computed] = field(default_factory=dict)

    def index_at(self, offset: int) -> int | None:
        """The instruction index of a byte offset in the section."""
        if offset % INSTRUCTION_BYTES or not 0 <= offset < len(self.function.code):
            return None
        return self.first + offset // INSTRUCTION_BYTES


class Builder:
    """One instruction being lowered. marks: the parts of the opcode after the first dot."""

    def __init__(
        self,
        context: Context,
        place: int,
        guard: ir.Guard | None,
        opcode: str,
        operands: tuple[Operand, ...],
        cluster_slots: frozenset[str] = frozenset(),
    ):
        """cluster_slots: registers that hold the offset of one of the driver's cluster tables."""
        self.context, self.place, self.guard = context, place, guard
        self.cluster_slots = cluster_slots
        self.opcode, self.operands = opcode, operands
        self.root, self.marks, self._marks = _parts(opcode)
        self.ops: list[ir.Op] = []
        self.site: ir.Site | None = None
        self.control: ir.Control | None = None
        self.refused = ""  # the reason why it is unsupported
        self._temporaries = 0

    def has(self, *marks: str) -> bool:
        """Whether the opcode has one of the marks."""
        return not self._marks.isdisjoint(marks)

    def operand(self, position: int) -> Operand:
        if not -len(self.operands) <= position < len(self.operands):
            raise NoMeaning("too few operands")
        return self.operands[position]

    # --- writing ---

    def temporary(self, bits: int) -> ir.Reg:
        self._temporaries += 1
        return _temporary(self._temporaries - 1, bits)

    def emit(
        self,
        name: str,
        dst: tuple[ir.Reg | None, ...],
        src: tuple[ir.Operand, ...],
        bits: int = WORD_BITS,
        attrs: tuple[Any, ...] = (),
        space: str = "",
        offset: int = 0,
        read_only: bool = False,
        ordered: bool = False,
    ) -> None:
        """Writes registers of the program, under the guard."""
        self.ops.append(ir.Op(name, dst, src, bits, attrs, self.guard, space, offset, read_only, ordered))

    def compute(
        self, name: str, *src: ir.Operand, bits: int = WORD_BITS, result: int | None = None, attrs: tuple[Any, ...] = ()
    ) -> ir.Reg:
        """Writes a new temporary of `result` bits (by default the operation's own)."""
        out = self.temporary(bits if result is None else result)
        self.ops.append(ir.Op(name, (out,), src, bits, attrs))
        return out

    def write(
        self, operand: Operand, name: str, *src: ir.Operand, attrs: tuple[Any, ...] = (), bits: int = WORD_BITS
    ) -> None:
        """Writes one 32-bit or predicate register; nothing for RZ and PT."""
        destination = self.destination(operand)
        if destination is not None:
            self.emit(name, (destination,), src, bits, attrs)

    def write_pair(self, operand: Operand, value: ir.Operand) -> None:
        """Writes a 64-bit value to a register pair."""
        low, high = self.registers(operand, 2)
        self.split(value, low, high)

    def split(self, value: ir.Operand, low: ir.Reg | None, high: ir.Reg | None) -> None:
        if low is not None:
            self.emit("extract", (low,), (value,), WORD_BITS, (0,))
        if high is not None:
            self.emit("extract", (high,), (value,), WORD_BITS, (WORD_BITS,))

    def write_predicate(self, operand: Operand, value: ir.Operand) -> None:
        destination = self.destination(operand)
        if destination is not None:
            self.emit("mov", (destination,), (value,), 1)

    # --- registers ---

    @staticmethod
    def destination(operand: Operand) -> ir.Reg | None:
        """The register that an operand names as a result, None for RZ and PT."""
        plain = _bare(operand)
        return None if plain.is_zero else register(plain)

    @staticmethod
    def registers(operand: Operand, count: int) -> list[ir.Reg | None]:
        """`count` registers, beginning with the named one."""
        plain = _bare(operand)
        if plain.is_zero:
            return [None] * count
        return [register(plain, k) for k in range(count)]

    @staticmethod
    def both(operand: Register) -> tuple[ir.Reg, ir.Reg]:
        """The two registers of a pair. Raises NoMeaning for RZ."""
        plain = _bare(operand)
        if plain.is_zero:
            raise NoMeaning("RZ as a register pair")
        return register(plain), register(plain, 1)

    # --- reading integers ---

    def integer(self, operand: Operand) -> ir.Operand:
        """A 32-bit source with its sign or inversion applied."""
        value = self.word(operand)
        if operand.absolute:
            value = self.compute("abs", value)
        if isinstance(operand, Number) or not (operand.negated or operand.inverted):
            return value
        return self.compute("neg" if operand.negated else "not", value)

    def word(self, operand: Operand) -> ir.Operand:
        """A 32-bit source without its sign (a literal with it)."""
        if isinstance(operand, Register):
            if operand.is_predicate:
                raise NoMeaning("a predicate used as a number")
            value: ir.Operand = ZERO32 if operand.is_zero else register(operand)
            return self._part(value, operand.suffixes) if operand.suffixes else value
        if isinstance(operand, Number):
            return self.literal(operand)
        if isinstance(operand, Memory) and operand.is_constant:
            return self._part(self.constant(operand), operand.suffixes)
        raise NoMeaning("an operand that is not a number")

    def literal(self, number: Number, bits: int = WORD_BITS) -> ir.Operand:
        """An integer literal, or the value that a relocation puts in its place."""
        relocated = self.context.relocated.get(self.place)
        if relocated is not None:
            value, half = relocated
            if bits != WORD_BITS or isinstance(value, ir.Unknown) or number.absolute or number.inverted:
                raise NoMeaning("a literal that the linker replaces")
            if isinstance(value, ir.Const):
                return ir.Const(value.value >> half * WORD_BITS & 0xFFFFFFFF)
            return value if value.bits == bits else self.compute("extract", value, attrs=(half * WORD_BITS,))
        if not number.is_integer or number.absolute:
            raise NoMeaning("a literal that is not an integer")
        whole = number.value
        if number.inverted:
            whole = ~whole
        return ir.Const(whole & ((1 << bits) - 1), bits)

    def _part(self, value: ir.Operand, suffixes: tuple[str, ...]) -> ir.Operand:
        """Applies byte and half-word selectors of integer sources."""
        for suffix in suffixes:
            match suffix:
                case "B0" | "B1" | "B2" | "B3":
                    value = self.compute("bfe.u", value, ir.Const(8 * int(suffix[1])), ir.Const(8))
                case "H0" | "H1":
                    value = self.compute("bfe.u", value, ir.Const(16 * int(suffix[1])), ir.Const(16))
                case _:
                    raise NoMeaning(f"an operand with .{suffix}")
        return value

    def pair(self, operand: Operand) -> ir.Operand:
        """A 64-bit source with its sign or inversion applied."""
        value = self._pair(operand)
        if operand.absolute:
            raise NoMeaning("the absolute value of a register pair")
        if isinstance(operand, Number) or not (operand.negated or operand.inverted):
            return value
        return self.compute("neg" if operand.negated else "not", value, bits=PAIR_BITS)

    def _pair(self, operand: Operand) -> ir.Operand:
        if isinstance(operand, Register) and not operand.is_predicate:
            if set(operand.suffixes) - {"64"}:
                raise NoMeaning(f"a pair with .{operand.suffixes[0]}")
            if operand.is_zero:
                return ir.Const(0, PAIR_BITS)
            return self.compute("cat", *self.both(bare(operand)), bits=PAIR_BITS)
        if isinstance(operand, Number):
            if operand.is_integer and operand.value >= 1 << (WORD_BITS - 1):
                raise NoMeaning("a 32-bit literal as a 64-bit operand, zero- or sign-extended")
            return self.literal(operand, PAIR_BITS)
        if isinstance(operand, Memory) and operand.is_constant and not set(operand.suffixes) - {"64"}:
            return self.compute("cat", *self.constants(operand, 2), bits=PAIR_BITS)
        raise NoMeaning("an operand that is not a register pair")

    # --- reading floats ---

    def real(self, operand: Operand, bits: int = WORD_BITS) -> ir.Operand:
        """A floating-point source of 32 or 64 bits with |x| and sign applied."""
        if isinstance(operand, Number):
            return ir.Const(self._nan_bits(bits) if operand.text in NOT_NUMBERS else float_bits(operand, bits), bits)
        if operand.inverted or isinstance(operand, (Register, Memory)) and operand.suffixes:
            raise NoMeaning("an unsupported modifier of a float operand")
        value = self.word(operand) if bits == WORD_BITS else self._pair(operand)
        if operand.absolute:
            value = self.compute("fabs", value, bits=bits)
        return self.compute("fneg", value, bits=bits) if operand.negated else value

    def _nan_bits(self, bits: int) -> int:
        """The pattern of a NaN literal, which its text does not show; some select integers (0x7fffffff)."""
        word = self.context.function.code[self.place : self.place + INSTRUCTION_BYTES][_LITERAL_AT]
        return int.from_bytes(word, "little") << (bits - WORD_BITS)

    # --- reading predicates ---

    def has_second_predicate_alone(self) -> bool:
        """Whether PT is the first of two predicate results, and the second is another: its text shows only that."""
        code = int.from_bytes(self.context.function.code[self.place : self.place + INSTRUCTION_BYTES], "little")
        first, second = (code >> at & _NO_PREDICATE for at in _PREDICATES_AT)
        return first == _NO_PREDICATE and second != _NO_PREDICATE

    def predicate(self, operand: Operand) -> ir.Operand:
        """A 1-bit source; PT is true."""
        named = _expect_predicate(operand)
        if named.is_zero:
            return FALSE if named.negated else TRUE
        value = register(named)
        return self.compute("not", value, bits=1) if named.negated else value

    def condition(self, operand: Operand) -> ir.Guard | None:
        """The guard narrowed by a predicate operand: None = always, NEVER = in no lane."""
        named = _expect_predicate(operand)
        if named.is_zero:
            return NEVER if named.negated else self.guard
        if self.guard is None:
            return ir.Guard(register(named), named.negated)
        own: ir.Operand = self.guard.reg
        if self.guard.negated:
            own = self.compute("not", own, bits=1)
        return ir.Guard(self.compute("and", own, self.predicate(operand), bits=1))

    # --- constant banks ---

    def constant(self, operand: Memory) -> ir.Operand:
        return self.constants(operand, 1)[0]

    def constants(self, operand: Memory, count: int, bits: int = WORD_BITS, signed: bool = False) -> list[ir.Operand]:
        """`count` elements of a constant bank, beginning at c[bank][address]."""
        if operand.name != "c" or len(operand.brackets) != 2:
            return [ir.Unknown(f"{operand.name}[…] names a constant bank at run time")] * count
        bank, index, offset = constant_place(operand)
        if index is None or index.name in self.cluster_slots and bank == 0 and offset < self.context.param_base:
            return [self._static_constant(bank, offset + k * bits // 8, bits, signed) for k in range(count)]
        if bank != 0:
            return self._load(f"const:{bank}", index, offset, count, bits, signed)
        return self._load("param", index, offset - self.context.param_base, count, bits, signed)

    def _load(
        self, space: str, address: ir.Operand, offset: int, count: int, bits: int, signed: bool
    ) -> list[ir.Operand]:
        out = tuple(self.temporary(WORD_BITS) for _ in range(count))
        self.ops.append(ir.Op("load", out, (address,), WORD_BITS, (bits, signed), None, space, offset))
        return list(out)

    def _static_constant(self, bank: int, offset: int, bits: int, signed: bool) -> ir.Operand:
        if bank == 0:
            base = self.context.param_base
            if offset >= base:
                return self._load("param", ir.Const(offset - base), 0, 1, bits, signed)[0]
            name = places.driver_constant(self.context.sm, offset)
            if name is None or bits != WORD_BITS:
                return ir.Unknown(f"c[0x0][{offset:#x}] is set by the driver")
            return ir.Special(name)
        for relocation in self.context.function.bank_relocations.get(bank, ()):
            if relocation.offset <= offset < relocation.offset + 8:
                address = symbol_address(relocation.symbol, relocation.addend)
                return self.compute("extract", address, attrs=((offset - relocation.offset) * 8,))
        return self._load(f"const:{bank}", ir.Const(offset), 0, 1, bits, signed)[0]


def bare(operand: Register) -> Register:
    """A register without signs and suffixes."""
    return (
        operand
        if not (operand.suffixes or operand.negated or operand.absolute or operand.inverted)
        else Register(operand.kind, operand.number)
    )


def _bare(operand: Operand) -> Register:
    """The operand. Raises NoMeaning for anything but a plain register."""
    if not isinstance(operand, Register) or operand.suffixes or operand.negated or operand.absolute or operand.inverted:
        raise NoMeaning("a destination that is not a plain register")
    return operand


def _expect_predicate(operand: Operand) -> Register:
    if (
        not isinstance(operand, Register)
        or not operand.is_predicate
        or operand.suffixes
        or operand.absolute
        or operand.inverted
    ):
        raise NoMeaning("an operand that is not a predicate")
    return operand


@cache
def _parts(opcode: str) -> tuple[str, tuple[str, ...], frozenset[str]]:
    root, *marks = opcode.split(".")
    return root, tuple(marks), frozenset(marks)


@cache
def machine_register(kind: str, number: int) -> ir.Reg:
    """The IR register of "R", "UR", "P" or "UP" and a number."""
    return ir.Reg(f"{kind}{number}", 1 if kind in ("P", "UP") else WORD_BITS, kind in ("UR", "UP"))


def register(operand: Register, plus: int = 0) -> ir.Reg:
    """The IR register of a syntax register that is not RZ or PT, or the one `plus` numbers after it."""
    return machine_register(operand.kind, operand.number + plus)


@cache
def _temporary(number: int, bits: int) -> ir.Reg:
    return ir.Reg(f"t{number}.{bits}", bits)


def float_bits(number: Number, bits: int) -> int:
    """The bit pattern of a floating-point literal that is a number or infinite."""
    if number.text in NOT_NUMBERS or number.absolute or number.inverted:
        raise NoMeaning("a literal that is not a number")
    if number.text.startswith("0x"):
        value = int(number.text, 16)
    else:
        value = int.from_bytes(struct.pack(_FLOAT_FORMATS[bits], float(number.text)), "little")
    return value ^ (1 << (bits - 1)) if number.negated else value


def constant_place(operand: Memory) -> tuple[int, ir.Reg | None, int]:
    """(bank, index register or None, byte offset) of c[bank][…]."""
    if len(operand.brackets) != 2 or len(operand.brackets[0]) != 1 or not isinstance(operand.brackets[0][0], Number):
        raise NoMeaning("a constant bank that is not named by a number")
    bank = operand.brackets[0][0]
    index, offset = None, 0
    for term in operand.brackets[1]:
        if isinstance(term, Number):
            offset += term.value
        elif isinstance(term, Register) and not term.is_predicate and index is None and bare(term) == term:
            index = None if term.is_zero else register(term)
        else:
            raise NoMeaning("an unsupported address in a constant bank")
    return bank.value, index, offset


SHARED_SECTIONS = (".nv.shared", MODULE_SHARED)
_SPACES = {**dict.fromkeys(SHARED_SECTIONS, "shared"), ".nv.constant": "const", ".nv.local": "local"}


def symbol_address(symbol: Symbol, addend: int, bits: int = PAIR_BITS) -> ir.Address:
    """The address that a relocation requires."""
    if symbol.section.startswith(CODE_PREFIX):
        return ir.Address(symbol.section.removeprefix(CODE_PREFIX), ir.CODE, symbol.offset + addend, bits)
    space = next((space for prefix, space in _SPACES.items() if symbol.section.startswith(prefix)), "global")
    return ir.Address(symbol.name, space, addend, bits)
