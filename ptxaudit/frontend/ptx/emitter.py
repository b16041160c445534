"""Turns the operands of one instruction into IR operands and collects its effects.

    add.s32 %r1, %r2, -4;       target(%r1) -> Reg   value(%r2), value(-4) -> Reg, Const(0xFFFFFFFC)
    ld.shared.f32 %f1, [s+8];   address([s+8]) -> (Address("s", "shared", bits=32), 8)

One emitter serves a function; the lifter passes it the scope and the guard of each instruction. The rows of
`opcodes`, `memory` and `control` use it.
"""

from __future__ import annotations

import functools
import struct
from typing import Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.folding import folded, signed
from ptxaudit.frontend.ptx.scope import Callee, Data, Pieces, Place, Registers, Scope, Symbol, predefined
from ptxaudit.frontend.ptx.writer import Writer
from ptxaudit.ir import nodes as ir

SHARED_ADDRESS_BITS = 32
GENERIC_ADDRESS_BITS = 64


class NoMeaning(ValueError):
    """The row does not support these operands of its instruction."""


class Emitter(Writer):
    """The effects of the current instruction, `ops`, `control` and `site`, and the state needed to record them."""

    def __init__(self, address_bits: int = GENERIC_ADDRESS_BITS):
        super().__init__("%t")
        self.address_bits = address_bits
        self.scope = Scope(None)
        self.opcode = ""
        self.line = 0
        self.following = 0  # the instruction behind it
        self.control: ir.Control | None = None
        self.site: ir.Site | None = None
        self.astray: InputError | None = None  # the first branch to a missing label
        self.addressed = False  # the address of a variable was used

    def begin(self, scope: Scope, guard: ir.Guard | None, opcode: str, line: int) -> None:
        self.scope, self.guard, self.opcode, self.line = scope, guard, opcode, line
        self.ops, self.control, self.site, self.addressed = [], None, None, False

    # --- effects ---

    def keep_what_the_site_reads(self) -> None:
        """Copies registers that the instruction overwrites, because a site's operands are read after its operations."""
        written = {target.name for op in self.ops for target in op.dst if target is not None}
        if self.site is None or not written:
            return
        for field in ("address", "source", "source_size"):
            register = getattr(self.site, field)
            if isinstance(register, ir.Reg) and register.name in written:
                copy = self.temporary(register.bits)
                self.ops.insert(0, ir.Op("mov", (copy,), (register,), register.bits))
                changed: dict[str, Any] = {field: copy}
                self.site = replace(self.site, **changed)

    def targets_at(self, labels: tuple[str, ...]) -> tuple[int, ...]:
        """The instructions at labels. A missing label is an error if everything else is in order."""
        targets = [self.scope.label(name) for name in labels]
        there = tuple([target for target in targets if target is not None])
        if len(there) < len(targets) and self.astray is None:
            name = labels[targets.index(None)]
            self.astray = InputError(
                f"the label {name} is not in the function", "is the PTX file complete?", line=self.line
            )
        return there

    def registers(self, operand: s.Operand) -> tuple[ir.Reg, ...] | None:
        """The registers that an operand names, single or in braces; None if it names anything else."""
        scope = self.scope
        if type(operand) is s.Name:
            symbol = scope[operand.text]
            return (symbol,) if type(symbol) is ir.Reg else symbol.regs if type(symbol) is Registers else None
        if type(operand) is not s.Vector:
            return None
        found: list[ir.Reg] = []
        for item in operand.items:
            register = scope[item.text] if type(item) is s.Name else None
            if type(register) is not ir.Reg:
                return None
            found.append(register)
        return tuple(found)

    # --- destinations ---

    def target(self, operand: s.Operand) -> ir.Reg | None:
        """The register that is written, None for `_`. Raises InputError for anything else."""
        if type(operand) is s.Name:
            symbol = self.scope[operand.text]
            if type(symbol) is ir.Reg:
                return symbol
            if operand.text == "_":
                return None
            if symbol is None:
                raise self.error(f"{operand.text} is not declared")
        raise self.error(f"the destination of {self.opcode} is not a register")

    def targets(self, operand: s.Operand) -> tuple[ir.Reg | None, ...]:
        """All registers of a destination: of `{a, b}`, of `p|q`, or a single one."""
        registers = self.registers(operand)
        if registers is not None:
            return registers
        if type(operand) is s.Vector:
            return tuple([t for item in operand.items for t in self.targets(item)])
        if type(operand) is s.Pair:
            return self.targets(operand.first) + self.targets(operand.second)
        return (self.target(operand),)

    # --- sources ---

    def value(self, operand: s.Operand, bits: int, floating: bool = False) -> ir.Operand:
        """A source operand, read at `bits`; an Unknown with its reason if it cannot be expressed."""
        if type(operand) is s.Name:
            symbol = self.scope[operand.text]
            if type(symbol) is ir.Reg:
                return symbol
            return self._named(operand.text, symbol, bits)
        if type(operand) is s.Int:
            if floating:
                return ir.Unknown("an integer constant where a float is meant", bits)
            return constant(operand.value, bits)
        if type(operand) is s.Float:
            return float_constant(operand, bits)
        number = folded(operand)
        if number is not None:
            return ir.Const(number & (1 << bits) - 1, bits)
        if type(operand) is s.Unary and operand.operator == "!":
            return self.compute("not", (self.value(operand.value, 1),), 1)
        if type(operand) is s.Binary and operand.operator in "+-":
            place, shift = self.value(operand.left, bits), folded(operand.right)
            if isinstance(place, ir.Address) and shift is not None:
                shift = signed(shift if operand.operator == "+" else -shift)
                return ir.Address(place.name, place.space, place.offset + shift, bits)
        return ir.Unknown(f"an operand of {self.opcode}", bits)

    def _named(self, name: str, symbol: Symbol | None, bits: int) -> ir.Operand:
        match symbol:
            case Data(variable):
                self.addressed = True
                return ir.Address(variable.name, variable.space, 0, bits)
            case Place(offset):
                return ir.Const(offset, bits)
            case Pieces():
                return ir.Unknown("the address of a parameter of a device function", bits)
            case Callee():
                return ir.Address(symbol.name, ir.CODE, 0, bits)
            case Registers():
                return ir.Unknown("a vector register used whole", bits)
        known = predefined(name)
        if known is not None:
            return known
        if name.rpartition(".")[2] in ("b0", "b1", "b2", "b3", "h0", "h1"):  # video instructions
            return self.value(s.Name(name.rpartition(".")[0]), bits)
        if self.scope.label(name) is not None or self.scope.table(name) is not None:
            return ir.Unknown("the address of a label", bits)
        if name.startswith("%"):  # possibly from a newer PTX version
            return ir.Unknown(f"{name} is neither declared nor a special register that is known", bits)
        raise self.error(f"{name} is not declared")

    def values(self, operand: s.Operand, bits: int) -> tuple[ir.Operand, ...]:
        """The items of `{a, b}` or of a vector register, or a single value."""
        registers = self.registers(operand)
        if registers is not None:
            return registers
        if type(operand) is s.Vector:
            return tuple([v for item in operand.items for v in self.values(item, bits)])
        return (self.value(operand, bits),)

    def address(self, operand: s.Operand, space: str) -> tuple[ir.Operand, int]:
        """(base, offset in bytes) of `[base+offset]`."""
        bits = SHARED_ADDRESS_BITS if space.startswith("shared") else self.address_bits
        if type(operand) is not s.Memory:
            return ir.Unknown(f"the address of {self.opcode}", bits), 0
        base = operand.base
        if type(base) is s.Index:
            return ir.Unknown("an array element as an address", bits), 0
        value = self.value(base, bits)
        if isinstance(value, ir.Address) and not space:
            return ir.Unknown("a variable's address without its state space", bits), 0
        return value, operand.offset or 0

    def everything(self, operand: s.Operand) -> tuple[ir.Operand, ...]:
        """Every register or constant in an operand, for unmodelled operations."""
        registers = self.registers(operand)
        if registers is not None:
            return registers
        match operand:
            case s.Name(text="_"):
                return ()
            case s.Vector(items=items) | s.Group(items=items):
                inner = items
            case s.Memory(base=base, rest=rest):
                inner = (base, *rest)
            case s.Pair(first=first, second=second):
                inner = (first, second)
            case _:
                return self.values(operand, self.address_bits)
        return tuple([v for item in inner for v in self.everything(item)])

    def error(self, what: str) -> InputError:
        return InputError(what, "is the PTX file complete and unmodified?", line=self.line)


@functools.lru_cache(maxsize=1 << 12)
def constant(value: int, bits: int) -> ir.Const:
    """An integer constant at a width: the same few all over a module."""
    return ir.Const(value & (1 << bits) - 1, bits)


def float_constant(operand: s.Float, bits: int) -> ir.Operand:
    """The constant's bits at a width; a 64-bit constant (`0d…`) used at 32 bits is rounded, as the manual says."""
    if operand.width == bits:
        return ir.Const(operand.bits, bits)
    if operand.width == 64 and bits == 32:
        number = struct.unpack("<d", struct.pack("<Q", operand.bits))[0]
        try:
            return ir.Const(struct.unpack("<I", struct.pack("<f", number))[0], bits)
        except OverflowError:
            return ir.Unknown("a constant beyond 32-bit floats", bits)
    return ir.Unknown(f"a {operand.width}-bit float constant at {bits} bits", bits)
