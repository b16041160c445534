"""Reads PTX for the twin: a tokenizer and recursive descent, by the manual's syntax, without code of the package.

    @%p1 ld.shared.v2.f32 {%f1, %f2}, [%r4+8];

    Instruction("ld.shared.v2.f32", (Vector((Name("%f1"), Name("%f2"))), Memory(Name("%r4"), 8)), Guard("%p1", False), 1)

Numbers are Python's, floats are their bits. Constant expressions keep their shape; `code.fold` evaluates them.
Directives that only debuggers read (`.loc`, `.file`, `.section`, `.pragma`) are skipped.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

# --- the tree ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name:
    text: str


@dataclass(frozen=True)
class Number:
    """An integer, or the bits of a float; width: that of a float, otherwise 0."""

    value: int
    width: int = 0


@dataclass(frozen=True)
class Unary:
    operator: str
    value: object


@dataclass(frozen=True)
class Binary:
    operator: str
    left: object
    right: object


@dataclass(frozen=True)
class Ternary:
    condition: object
    then: object
    otherwise: object


@dataclass(frozen=True)
class Apply:
    """`generic(symbol)` and `0xff(symbol)`, which only a linker knows."""

    function: object
    argument: object


@dataclass(frozen=True)
class Index:
    name: str
    index: object


@dataclass(frozen=True)
class Vector:
    """`{a, b}` and `p|q`."""

    items: tuple


@dataclass(frozen=True)
class Group:
    """`(a, b)`."""

    items: tuple


@dataclass(frozen=True)
class Memory:
    """`[base+offset]`; anything after a comma in the brackets is ignored."""

    base: object
    offset: int = 0


@dataclass(frozen=True)
class Guard:
    name: str
    negated: bool


@dataclass(frozen=True)
class Instruction:
    opcode: str
    operands: tuple
    guard: Guard | None
    line: int


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Table:
    """`name: .branchtargets a, b;`"""

    name: str
    targets: tuple


@dataclass(frozen=True)
class Declarator:
    """count: that of `%r<count>`; dimensions: None for `[]`."""

    name: str
    count: int | None
    dimensions: tuple
    initial: object


@dataclass(frozen=True)
class Variable:
    """types: words such as "v4" and "f32"; align: bytes, None if not specified."""

    space: str
    types: tuple
    align: int | None
    declarators: tuple


@dataclass(frozen=True)
class Block:
    statements: tuple


@dataclass(frozen=True)
class Function:
    entry: bool
    name: str
    results: tuple
    parameters: tuple
    body: Block | None


@dataclass(frozen=True)
class Module:
    items: tuple


# --- tokens -----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""(?P<blank>\s+ | //[^\n]* | /\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\])*")
      | (?P<float>0[fF][0-9a-fA-F]{8} | 0[dD][0-9a-fA-F]{16} | \d+(?:\.\d*(?:[eE][+-]?\d+)? | [eE][+-]?\d+))
      | (?P<integer>(?:0[xX][0-9a-fA-F]+ | 0[bB][01]+ | \d+)U?)
      | (?P<word>(?:[A-Za-z_$]|%(?=[A-Za-z_$]))[\w$]*(?:(?:\.|::)\w+)*)
      | (?P<directive>\.[A-Za-z_][\w$]*(?:(?:\.|::)\w+)*(?:\[\d+\])?)
      | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^~!?:;,(){}\[\]=@])""",
    re.VERBOSE | re.DOTALL,
)
_SPACES = frozenset("reg sreg const global local param shared tex".split())
_LINKAGE = frozenset((".extern", ".visible", ".weak", ".common"))
# From the lowest precedence to the highest: "Operator Precedence"
_OPERATORS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)


class NotPtx(Exception):
    """Text that this parser does not read."""


def tokens(text: str) -> list[tuple[str, str, int]]:
    """(kind, text, line) of each token, and a final one of kind ""."""
    out, at, line = [], 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise NotPtx(f"line {line}: {text[at : at + 20]!r}")
        if found.lastgroup == "directive":  # `.reg.b32` is two of them
            out += (("directive", part, line) for part in re.findall(r"\.[^.]+", found[0]))
        elif found.lastgroup != "blank":
            out.append((found.lastgroup, found[0], line))
        line += found[0].count("\n")
        at = found.end()
    return [*out, ("", "", line)]


def number(text: str) -> Number:
    prefix = text[:2].lower()
    if prefix in ("0f", "0d"):
        return Number(int(text[2:], 16), 32 if prefix == "0f" else 64)
    digits = text.rstrip("U")
    if prefix in ("0x", "0b"):
        return Number(int(digits, 0))
    if digits.isdigit():
        return Number(int(digits, 8 if digits[0] == "0" and set(digits) <= set("01234567") else 10))
    return Number(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)


# --- the parser -------------------------------------------------------------------------------------------------------


class Parser:
    def __init__(self, text: str):
        self.tokens, self.at = tokens(text), 0

    @property
    def next(self) -> str:
        return self.tokens[self.at][1]

    @property
    def kind(self) -> str:
        return self.tokens[self.at][0]

    def take(self, expected: str | None = None) -> str:
        kind, text, line = self.tokens[self.at]
        if not kind or expected not in (None, text):
            raise NotPtx(f"line {line}: {text!r}" + (f" in place of {expected!r}" if expected else ""))
        self.at += 1
        return text

    def found(self, text: str) -> bool:
        """Consumes the token if it is the next one."""
        here = self.next == text and self.kind != "string"
        self.at += here
        return here

    def listed(self, one, end: str) -> tuple:
        """one, one, … end"""
        out = []
        while not self.found(end):
            out.append(one())
            if self.next != end:
                self.take(",")
        return tuple(out)

    # module

    def module(self) -> Module:
        items = []
        while self.kind:
            item = self.item()
            if item is not None:
                items.append(item)
        return Module(tuple(items))

    def item(self):
        while self.next in _LINKAGE:
            self.take()
        if self.next in (".entry", ".func"):
            return self.function()
        if self.is_space():
            return self.variable()
        return self.passed_over()

    def passed_over(self) -> None:
        """Skips a directive that decides no address: to its terminator, or to the end of its line if it has none."""
        line, first = self.tokens[self.at][2], self.take()
        if not first.startswith("."):
            raise NotPtx(f"line {line}: {first!r}")
        if first == ".section":
            while self.take() != "}":
                pass
        elif first in (".alias", ".pragma", ".callprototype"):
            while self.take() != ";":
                pass
        else:
            while self.kind and self.tokens[self.at][2] == line and self.next not in ("{", "}", ";"):
                self.take()

    def is_space(self) -> bool:
        return self.kind == "directive" and re.split(r"::|\[", self.next[1:])[0] in _SPACES

    def function(self) -> Function:
        entry = self.take() == ".entry"
        while self.kind == "directive":
            self.tuning()
        results = self.listed(self.parameter, ")") if self.found("(") else ()
        name = self.take()
        parameters = self.listed(self.parameter, ")") if self.found("(") else ()
        while self.kind == "directive":
            self.tuning()
        body = None if self.found(";") else self.block()
        return Function(entry, name, results, parameters, body)

    def tuning(self) -> None:
        """`.maxntid 128, 1, 1`, `.attribute(…)`, `.noreturn`."""
        self.take()
        if self.found("("):
            depth = 1
            while depth:
                depth += {"(": 1, ")": -1}.get(self.take(), 0)
        while self.kind == "integer":
            self.take()
            self.found(",")

    # declarations

    def parameter(self) -> Variable:
        space, types, align = self.declared()
        return Variable(space, types, align, (self.declarator(),))

    def variable(self) -> Variable:
        space, types, align = self.declared()
        declarators = [self.declarator()]
        while self.found(","):
            declarators.append(self.declarator())
        self.take(";")
        return Variable(space, types, align, tuple(declarators))

    def declared(self) -> tuple[str, tuple, int | None]:
        """Everything before the names. An alignment after .ptr is that of the pointee."""
        space = re.split(r"::|\[", self.take()[1:])[0]
        types, align, pointee = [], None, False
        while self.kind == "directive":
            word = self.take()
            if word == ".align":
                align, _ = (align, self.take()) if pointee else (int(self.take(), 0), None)
            elif word == ".attribute":
                self.at -= 1
                self.tuning()
            elif word == ".ptr":
                pointee = True
            elif not pointee:
                types.append(word[1:])
        return space, tuple(types), align

    def declarator(self) -> Declarator:
        name, count = self.take(), None
        if self.found("<"):
            count = int(self.take(), 0)
            self.take(">")
        dimensions = []
        while self.found("["):
            dimensions.append(None if self.next == "]" else self.expression())
            self.take("]")
        return Declarator(name, count, tuple(dimensions), self.expression() if self.found("=") else None)

    # statements

    def block(self) -> Block:
        self.take("{")
        out = []
        while not self.found("}"):
            statement = self.statement()
            if statement is not None:
                out.append(statement)
        return Block(tuple(out))

    def statement(self):
        if self.next == "{":
            return self.block()
        if self.is_space():
            return self.variable()
        if self.kind == "directive":
            return self.passed_over()
        if self.kind == "word" and self.tokens[self.at + 1][1] == ":":
            name = self.take()
            self.take(":")
            if self.next in (".branchtargets", ".calltargets"):
                self.take()
                return Table(name, self.listed(self.take, ";"))
            return self.passed_over() if self.next == ".callprototype" else Label(name)
        return self.instruction()

    def instruction(self) -> Instruction:
        guard = None
        if self.found("@"):
            negated = self.found("!")
            guard = Guard(self.take(), negated)
        line = self.tokens[self.at][2]
        if self.kind != "word":
            raise NotPtx(f"line {line}: {self.next!r}")
        opcode = self.take()
        while self.kind == "directive":  # ld .shared .u32
            opcode += self.take()
        return Instruction(opcode, self.listed(self.expression, ";"), guard, line)

    # operands

    def expression(self):
        value = self.binary()
        if not self.found("?"):
            return value
        then = self.expression()
        self.take(":")
        return Ternary(value, then, self.expression())

    def binary(self, level: int = 0):
        if level == len(_OPERATORS):
            return self.unary()
        left = self.binary(level + 1)
        while self.kind == "sign" and self.next in _OPERATORS[level]:
            operator = self.take()
            right = self.binary(level + 1)
            names = operator == "|" and isinstance(left, Name | Vector)
            left = Vector((left, right)) if names else Binary(operator, left, right)
        return left

    def unary(self):
        if self.kind == "sign" and self.next in "+-~!":
            operator, value = self.take(), self.unary()
            if operator == "-" and isinstance(value, Number):
                return Number(value.value ^ 1 << value.width - 1, value.width) if value.width else Number(-value.value)
            return Unary(operator, value)
        return self.primary()

    def primary(self):
        match self.kind:
            case "integer" | "float":
                value = number(self.take())
                return Apply(value, self.one_in_parentheses()) if self.next == "(" else value
            case "word":
                name = self.take()
                if self.next == "(":
                    return Apply(name, self.one_in_parentheses())
                if self.found("["):
                    index = self.expression()
                    self.take("]")
                    return Index(name, index)
                return Name(name)
        opened = self.take()
        if opened == "{":
            return Vector(self.listed(self.element, "}"))
        if opened == "[":
            return self.memory(self.listed(self.expression, "]"))
        if opened != "(":
            raise NotPtx(f"line {self.tokens[self.at - 1][2]}: {opened!r}")
        if self.kind == "directive":  # a cast
            self.take()
            self.take(")")
            return self.unary()
        return Group(self.listed(self.expression, ")"))

    def element(self):
        """An element in braces; `filter_mode = linear` is also one."""
        value = self.expression()
        return self.expression() if self.found("=") else value

    def one_in_parentheses(self):
        self.take("(")
        value = self.expression()
        self.take(")")
        return value

    @staticmethod
    def memory(items: tuple) -> Memory:
        base, offset = items[0], 0
        while isinstance(base, Binary) and base.operator in "+-" and isinstance(base.right, Number):
            offset += base.right.value if base.operator == "+" else -base.right.value
            base = base.left
        return Memory(base, offset)


def parse(text: str) -> Module:
    """Raises NotPtx if the text is not PTX."""
    return Parser(text).module()
