"""Resolves the names of a function, with distinct names for registers of inner scopes.

    .reg .b32 %r<3>;            %r1 -> Reg("%r1", 32)
    { .reg .b64 %r1; … }        %r1 -> Reg("%r1@1", 64) inside, the outer one unchanged
    .shared .align 4 .b8 s[64]; s   -> Data(Variable("s", "shared", 64, 4))

Kernel parameters are offsets in the parameter buffer (`Place`). Parameters of device functions and calls are groups
of registers (`Pieces`), because only the code itself can access them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import PARAMETER
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.types import BYTE, SPECIALS, TYPES, WARP_SIZE, special_bits
from ptxaudit.ir import nodes as ir

PIECE_BITS = 64  # the widest register that holds a part of a parameter
ADDRESSES = 1 << 64
PIECE_BYTES = 1 << 10  # of memory for such a register and the operation that zeroes it
MOST_DIGITS = 10  # of a register's number


class Place(Record):
    """A kernel parameter: byte offset in the parameter buffer."""

    offset: int


class Pieces(Record):
    """A parameter of a device function or a call as consecutive registers, each of `bits` bits."""

    regs: tuple[ir.Reg, ...]
    bits: int


class Data(Record):
    """A variable in a state space."""

    variable: ir.Variable


class Callee(Record):
    """The name of a function. defined: whether this module contains its body."""

    name: str
    defined: bool = False


class Registers(Record):
    """A vector register `.reg .v2 .f32 v`: its components v.x, v.y."""

    regs: tuple[ir.Reg, ...]


Symbol = ir.Reg | Place | Pieces | Data | Callee | Registers

COMPONENTS = ("xr", "yg", "zb", "wa")
DIGITS = "0123456789"


class Shape(Record):
    """The qualifiers of a declaration."""

    type: str  # "u64", "b8"; "" if there is none
    bits: int  # of one element; a vector counts as one element
    elements: int  # of a vector, else 1
    align: int | None  # bytes, of the variable itself
    pointer: bool  # `.ptr`
    pointer_align: int  # bytes, of the pointee


def shape_of(variable: s.Variable) -> Shape:
    """Reads the qualifiers of a declaration in order: those after `.ptr` describe the pointee."""
    kind, elements, align, pointer, pointer_align = "", 1, None, False, 1
    for qualifier in variable.qualifiers:
        match qualifier:
            case s.Align(bytes=n) if pointer:
                pointer_align = n
            case s.Align(bytes=n):
                align = n
            case ".ptr":
                pointer = True
            case str() if qualifier[1:] in TYPES:
                kind = qualifier[1:]
            case ".v2" | ".v4" | ".v8":
                elements = int(qualifier[2:])
    bits = TYPES[kind].bits if kind else 32
    return Shape(kind, bits * elements, elements, align, pointer, pointer_align)


def dimensions(declarator: s.Declarator, initial_items: int = 0) -> int:
    """Number of elements of an array; 1 for a scalar, 0 for `[]` without an initialiser."""
    count = 1
    for extent in declarator.dimensions:
        if extent is None:
            count *= initial_items
        elif isinstance(extent, s.Int):
            count *= extent.value
        else:
            raise InputError("the size of an array is not a plain number")
    if count < 0 or count >= ADDRESSES:
        raise InputError(
            "an array has more elements than there are addresses, or fewer than none",
            "is the PTX file complete and unmodified?",
        )
    return count


def parameter_bytes(variable: s.Variable, declarator: s.Declarator, shape: Shape) -> int:
    """The size of a parameter in bytes. Raises InputError if it is too long, or its type is smaller than a byte."""
    if shape.bits < BYTE:
        raise InputError(
            f"the parameter {declarator.name} is of type .{shape.type}, which none can be",
            "is the PTX file complete and unmodified?",
            line=variable.line,
        )
    size = shape.bits // BYTE * dimensions(declarator)
    PARAMETER.check(size, f"the parameter {declarator.name} is too long", line=variable.line)
    return size


class Scope(dict[str, "Symbol"]):
    """The names declared between two braces, with their meanings.

    Looks up undeclared names in the enclosing scopes; None if nothing declares them.
    """

    def __init__(self, parent: Scope | None, suffix: str = "", room: int = 0):
        """room: number of registers that may be created with their declaration; others are created on first use."""
        self.parent = parent
        self.suffix = suffix
        self.room = room
        self.ranges: dict[str, tuple[int, int]] = {}  # prefix -> (count, bits)
        self.labels: dict[str, int] = {}
        self.tables: dict[str, s.Table | s.Prototype] = {}
        self.borrowed: list[str] = []  # registers of enclosing scopes, kept here until a declaration may hide them

    def __missing__(self, name: str) -> Symbol | None:
        symbol: Symbol | None = self._from_range(name)
        if symbol is None and self.parent is not None:
            symbol = self.parent[name]
            if type(symbol) is ir.Reg:
                self[name] = symbol
                self.borrowed.append(name)
        return symbol

    def _from_range(self, name: str) -> ir.Reg | None:
        if not self.ranges:
            return None
        stem = name.rstrip(DIGITS)
        number = name[len(stem) :]
        if number[:1] == "0" and len(number) > 1:  # %r007 is number 7 of %r00<…>
            number = number.lstrip("0") or "0"
            stem = name[: len(name) - len(number)]
        declared = self.ranges.get(stem)
        if declared is None or not number or len(number) > MOST_DIGITS or int(number) >= declared[0]:
            return None
        self[name] = register = ir.Reg(name + self.suffix, declared[1])
        return register

    def _make(self, stem: str, count: int, bits: int) -> None:
        """Creates the registers of a range, like `_from_range`; functions share equal ones."""
        self.room -= count
        made = _numbered(stem, self.suffix, bits)
        made += [(name := f"{stem}{number}", ir.Reg(name + self.suffix, bits)) for number in range(len(made), count)]
        self.update(dict(made[:count]) | self)

    def label(self, name: str) -> int | None:
        """The instruction at a label, by its index in the function; None if there is no such label."""
        return next((scope.labels[name] for scope in self._outward() if name in scope.labels), None)

    def table(self, name: str) -> s.Table | s.Prototype | None:
        """The branch targets or the prototype of that name."""
        return next((scope.tables[name] for scope in self._outward() if name in scope.tables), None)

    def _outward(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    # --- declarations ---

    def declare_registers(self, variable: s.Variable) -> tuple[ir.Reg, ...]:
        """Declares `.reg`; returns the registers that are declared individually."""
        shape = shape_of(variable)
        bits = shape.bits // shape.elements
        declared = []
        for name in self.borrowed:
            del self[name]
        self.borrowed = []
        for d in variable.declarators:
            if d.count is not None:
                self.ranges[d.name] = (d.count, bits)
                if d.count <= self.room and d.name[-1] not in DIGITS:
                    self._make(d.name, d.count, bits)
            elif shape.elements > 1:
                regs = tuple(ir.Reg(f"{d.name}.{c[0]}{self.suffix}", bits) for c in COMPONENTS[: shape.elements])
                self[d.name] = Registers(regs)
                for register, names in zip(regs, COMPONENTS):
                    for letter in names:
                        self[f"{d.name}.{letter}"] = register
            else:
                register = ir.Reg(d.name + self.suffix, bits)
                self[d.name] = register
                declared.append(register)
        return tuple(declared)

    def declare_pieces(self, variable: s.Variable, account: Account) -> tuple[ir.Reg, ...]:
        """Declares a `.param` of a device function or a call: registers that hold its bytes.

        Raises Exhausted if the account cannot pay for them.
        """
        shape = shape_of(variable)
        out: list[ir.Reg] = []
        for d in variable.declarators:
            size = parameter_bytes(variable, d, shape)
            piece = shape.bits if not d.dimensions else (shape.align or 1) * BYTE
            piece = min(piece, PIECE_BITS)
            while size * BYTE % piece:
                piece //= 2
            account.hold(size * BYTE // piece * PIECE_BYTES, "the parameters of functions and calls")
            regs = tuple(ir.Reg(f"{d.name}+{at}{self.suffix}", piece) for at in range(0, size, piece // BYTE))
            self[d.name] = Pieces(regs, piece)
            out += regs
        return tuple(out)


@functools.lru_cache(maxsize=32)
def _numbered(stem: str, suffix: str, bits: int) -> list[tuple[str, ir.Reg]]:
    """Names and registers of a range, as many as were ever needed: `_make` appends to the list."""
    return []


def predefined(name: str) -> ir.Operand | None:
    """Special registers and predefined constants."""
    if name[1:] in SPECIALS and name.startswith("%"):
        return ir.Special(name[1:], special_bits(name[1:]))
    if name == "WARP_SZ":
        return ir.Const(WARP_SIZE)
    return None
