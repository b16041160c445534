"""The syntax tree of a PTX module: the constructs of `grammars/ptx.lark`, as frozen values.

    @%p1 ld.shared.v2.f32 {%f1, %f2}, [%r4+8];

    Instruction("ld.shared.v2.f32", guard=Guard("%p1"), line=…, operands=(
        Vector((Name("%f1"), Name("%f2"))), Memory(Name("%r4"), 8)))

The tree is independent of the meaning of opcodes. Numbers are values, not spellings: `0x10` and `16` are the same
`Int`. Comparisons ignore `line` (1-based, in the PTX text), so that modules are equal if only their lines differ.
"""

from __future__ import annotations

from typing import Any

from ptxaudit.base.records import KeyedRecord, Record

# --- operands: "Instruction Operands", "Constant Expressions" ---------------------------------


class Name(Record):
    """A register, variable, label, function or special register: `%r1`, `tab`, `%tid.x`, `_`."""

    text: str


class Int(Record):
    """An integer constant. `unsigned`: it has the suffix U."""

    value: int
    unsigned: bool = False


class Float(Record):
    """A floating-point constant by its bits; `width` 32 (`0f…`) or 64 (`0d…` and `1.5`)."""

    bits: int
    width: int


class Unary(Record):
    """`-x`, `+x`, `~x`, and `!p`, the negation of a predicate operand."""

    operator: str
    value: Operand


class Binary(Record):
    """`a + b` and the other operators of constant expressions."""

    operator: str
    left: Operand
    right: Operand


class Ternary(Record):
    """`condition ? then : otherwise`."""

    condition: Operand
    then: Operand
    otherwise: Operand


class Cast(Record):
    """`(.s64) value`."""

    type: str
    value: Operand


class Apply(Record):
    """`generic(symbol)`: the generic address of a variable, in initialisers."""

    function: str
    argument: Operand


class Mask(Record):
    """`0xff00(symbol)`: one byte of an address, in initialisers."""

    mask: int
    value: Operand


class Index(Record):
    """`name[3]`: an element of an array."""

    name: str
    index: Operand


class Pair(Record):
    """`p|q`: two destinations."""

    first: Operand
    second: Operand


class Vector(Record):
    """`{a, b}`: vector operands, and the braces of initialisers."""

    items: tuple[Operand, ...]


class Field(Record):
    """`filter_mode = linear` in the initialiser of a sampler."""

    name: str
    value: Operand


class Memory(Record):
    """`[base+offset]`: offset in bytes, or None if not written (unoptimised code writes 0).

    rest: the operands after a comma inside: `[texture, {%f1, %f2}]`.
    """

    base: Operand
    offset: int | None = None
    rest: tuple[Operand, ...] = ()


class Group(Record):
    """`(a, b)`: the results or arguments of a call; with one item, a parenthesised expression."""

    items: tuple[Operand, ...] = ()


Operand = (
    Name | Int | Float | Unary | Binary | Ternary | Cast | Apply | Mask | Index | Pair | Vector | Field | Memory | Group
)

# --- statements -----------------------------------------------------------------------------


class Guard(Record):
    """`@name` or `@!name` before an instruction."""

    name: str
    negated: bool = False


class Instruction(KeyedRecord):
    """One instruction. The opcode includes its modifiers: `cvt.rn.f16x2.f32`.

    text: the result of `printer.instruction_text`, "" if not known at construction.
    """

    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    line: int = 0
    text: str = ""

    def key(self) -> tuple[Any, ...]:
        return self.opcode, self.operands, self.guard


class Label(Record):
    """`name:`."""

    name: str


class Declarator(Record):
    """One variable of a declaration.

    count: N of `%r<N>`, which declares %r0 … %r(N-1). dimensions: None for `[]`.
    """

    name: str
    count: int | None = None
    dimensions: tuple[Operand | None, ...] = ()
    initial: Operand | None = None


class Attribute(Record):
    """`.attribute(.managed)`, `.attribute(.unified(1, 2))`: (name, numbers) pairs."""

    values: tuple[tuple[str, tuple[int, ...]], ...]


class Align(Record):
    """`.align bytes`."""

    bytes: int


class Variable(KeyedRecord):
    """A declaration of registers, variables or parameters.

    space: ".reg", ".shared", ".param", … qualifiers: in order, words such as ".v4", ".f32",
    ".ptr", ".global", and Align and Attribute nodes.
    """

    space: str
    qualifiers: tuple[str | Align | Attribute, ...]
    declarators: tuple[Declarator, ...]
    linkage: tuple[str, ...] = ()
    line: int = 0

    def key(self) -> tuple[Any, ...]:
        return self.space, self.qualifiers, self.declarators, self.linkage


class Block(Record):
    """`{ … }`: a separate scope for names."""

    statements: tuple[Statement, ...]


class Location(Record):
    """`.loc file line column[, function_name label+offset, inlined_at file line column]`."""

    file: int
    line: int
    column: int
    function: str | None = None
    function_offset: int = 0
    inlined_at: tuple[int, int, int] | None = None


class Pragma(Record):
    """`.pragma "text";`."""

    texts: tuple[str, ...]


class Table(Record):
    """`name: .branchtargets a, b;` or `.calltargets`."""

    name: str
    kind: str
    targets: tuple[str, ...]


class Tuning(Record):
    """A directive of a function: `.maxntid 128, 1, 1`, `.noreturn`, `.abi_preserve 4`."""

    name: str
    values: tuple[int, ...] = ()


class Prototype(Record):
    """`name: .callprototype (results) _ (parameters) directives;`."""

    name: str
    results: tuple[Variable, ...] | None
    function: str
    parameters: tuple[Variable, ...] | None
    tuning: tuple[Tuning | Attribute, ...] = ()


Statement = Instruction | Label | Variable | Block | Location | Pragma | Table | Prototype

# --- module ---------------------------------------------------------------------------------


class Function(KeyedRecord):
    """`.entry` or `.func`; body None for a declaration; results None if none are written."""

    kind: str
    name: str
    results: tuple[Variable, ...] | None = None
    parameters: tuple[Variable, ...] | None = None
    body: Block | None = None
    linkage: tuple[str, ...] = ()
    before: tuple[Tuning | Attribute, ...] = ()  # directives between `.func` and the name
    tuning: tuple[Tuning | Attribute, ...] = ()  # directives after the parameters
    line: int = 0

    def key(self) -> tuple[Any, ...]:
        signature = self.kind, self.name, self.results, self.parameters, self.linkage
        return *signature, self.body, self.before, self.tuning


class File(Record):
    """`.file index "path"[, timestamp, size]`."""

    index: int
    path: str
    stamp: tuple[int, int] | None = None


class SectionName(Record):
    """`.debug_str` or `.debug_str+12` as a datum."""

    name: str
    offset: int = 0


class Datum(Record):
    """`.b8 1, 2, 3` in a section."""

    type: str
    values: tuple[Operand | SectionName, ...]


class Section(Record):
    """`.section .debug_str { … }`."""

    name: str
    data: tuple[Datum | Label, ...]


class Alias(Record):
    """`.alias name, target;`."""

    name: str
    target: str


Item = Function | Variable | File | Section | Alias | Pragma | Location


class Module(KeyedRecord):
    """A PTX file. version "8.5"; target ("sm_90", "debug"); address_size 32, 64 or None.

    producer: the compiler according to the leading comments ("NVIDIA NVVM Compiler, release 13.0, V13.0.88").
    """

    version: str
    target: tuple[str, ...]
    address_size: int | None
    items: tuple[Item, ...]
    file: str = "<ptx>"
    producer: str = ""

    def key(self) -> tuple[Any, ...]:
        return self.version, self.target, self.address_size, self.items
