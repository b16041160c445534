"""Flattens a PTX function: a list of steps, with labels as positions and every name looked up in its scope.

{ .reg .b32 t; mov.b32 t, %tid.x; }  ->  Step(opcode="mov.b32", operands=(Reg("t@3", 32), Special("tid.x")))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from . import parse as s

WIDTH = {
    "pred": 1,
    "b8": 8,
    "u8": 8,
    "s8": 8,
    "b16": 16,
    "u16": 16,
    "s16": 16,
    "f16": 16,
    "bf16": 16,
    "b32": 32,
    "u32": 32,
    "s32": 32,
    "f32": 32,
    "f16x2": 32,
    "bf16x2": 32,
    "u16x2": 32,
    "s16x2": 32,
    "b64": 64,
    "u64": 64,
    "s64": 64,
    "f64": 64,
    "b128": 128,
}


@dataclass(frozen=True)
class Reg:
    name: str
    bits: int


@dataclass(frozen=True)
class Imm:
    value: int


@dataclass(frozen=True)
class Special:
    name: str


@dataclass(frozen=True)
class Place:
    """The address of a variable. space: "shared", "global", "const", "local", "param"."""

    space: str
    name: str


@dataclass(frozen=True)
class Symbol:
    """A label, a table, a function: anything that is only a name."""

    name: str


@dataclass(frozen=True)
class Mem:
    base: object
    offset: int


@dataclass(frozen=True)
class Many:
    """A vector, a group or a pair."""

    items: tuple


@dataclass(frozen=True)
class Not:
    value: object


@dataclass(frozen=True)
class Step:
    opcode: str
    operands: tuple
    guard: Reg | None
    negated: bool
    line: int

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The parts of the opcode."""
        return tuple(self.opcode.split("."))

    @cached_property
    def base(self) -> str:
        return self.words[0]


@dataclass
class Variable:
    space: str
    name: str
    size: int
    align: int
    data: bytes | None
    names: list[tuple[int, int, str, int]] = field(default_factory=list)  # offset, bytes, name, what is added to it


@dataclass
class Code:
    """One function.

    labels: name -> position in `steps`; tables: name -> label names; meetings, needed: computed on first use
    (`meeting`, `needed`).
    """

    name: str
    entry: bool
    steps: list[Step] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    parameters: list[tuple[str, int, int]] = field(default_factory=list)  # name, bytes, alignment
    results: list[tuple[str, int, int]] = field(default_factory=list)
    meetings: list[int] | None = None
    needed: set[int] | None = None


def fold(x) -> int:
    """The value of a constant expression."""
    match x:
        case s.Number(value=v):
            return v
        case s.Unary(operator=o, value=v):
            v = fold(v)
            return {"-": -v, "+": v, "~": ~v, "!": int(not v)}[o]
        case s.Binary(operator=o, left=a, right=b):
            a, b = fold(a), fold(b)
            return {
                "+": lambda: a + b,
                "-": lambda: a - b,
                "*": lambda: a * b,
                "/": lambda: int(a / b),
                "%": lambda: a % b,
                "<<": lambda: a << b,
                ">>": lambda: a >> b,
                "&": lambda: a & b,
                "|": lambda: a | b,
                "^": lambda: a ^ b,
                "<": lambda: int(a < b),
                ">": lambda: int(a > b),
                "==": lambda: int(a == b),
                "!=": lambda: int(a != b),
                "<=": lambda: int(a <= b),
                ">=": lambda: int(a >= b),
                "&&": lambda: int(bool(a and b)),
                "||": lambda: int(bool(a or b)),
            }[o]()
        case s.Ternary(condition=c, then=a, otherwise=b):
            return fold(a) if fold(c) else fold(b)
        case s.Group(items=(one,)):
            return fold(one)
    raise ValueError(f"not a constant: {x}")


def _element(variable: s.Variable) -> tuple[int, int, int]:
    """(bits of an element, vector length, alignment) of a declaration."""
    bits, vector = 8, 1
    for word in variable.types:
        if word in WIDTH:
            bits = WIDTH[word]
        elif word in ("v2", "v4"):
            vector = int(word[1])
    return bits, vector, variable.align or max(1, bits // 8 * vector)


def _initial(value, bits: int, count: int) -> tuple[bytes, list[tuple[int, int, str, int]]]:
    """(data, names): zeros where the address of a name plus a number is wanted."""
    out, names = b"", []

    def put(v):
        nonlocal out
        if isinstance(v, s.Vector):
            for item in v.items:
                put(item)
            return
        try:
            number = fold(v)
        except ValueError:
            names.append((len(out), bits // 8, *_address(v)))
            number = 0
        out += (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")

    put(value)
    return out.ljust(count * bits // 8, b"\0"), names


def _address(x) -> tuple[str, int]:
    """(name, number) of `name`, `generic(name)` and these plus a number. Raises ValueError."""
    match x:
        case s.Name(text=name):
            return name, 0
        case s.Apply(function="generic", argument=a) | s.Group(items=(a,)):
            return _address(a)
        case s.Binary(operator="+" | "-" as sign, left=a, right=b):
            name, number = _address(a)
            return name, number + (fold(b) if sign == "+" else -fold(b))
    raise ValueError(f"not an address: {x}")


def declared(variable: s.Variable) -> list[Variable]:
    bits, vector, align = _element(variable)
    out = []
    for d in variable.declarators:
        count = vector
        for n in d.dimensions:
            count *= 0 if n is None else fold(n)
        if d.initial is not None and None in d.dimensions:
            count = len(d.initial.items)
        data, names = None, []
        if d.initial is not None:
            try:
                data, names = _initial(d.initial, bits, count)
            except ValueError:
                data = None
        elif variable.space in ("global", "const"):
            data = bytes(count * bits // 8)
        out.append(Variable(variable.space, d.name, count * bits // 8, align, data, names))
    return out


class Scope:
    def __init__(self, outer=None):
        self.names, self.ranges, self.outer = {}, {}, outer

    def find(self, name: str):
        if name in self.names:
            return self.names[name]
        stem = name.rstrip("0123456789")
        if stem != name and stem in self.ranges:
            mark, bits = self.ranges[stem]
            return Reg(f"{name}@{mark}", bits)
        return self.outer.find(name) if self.outer else None


class Flattener:
    """Walks one function's body."""

    def __init__(self, code: Code, module: Scope):
        self.code, self.module, self.marks = code, module, 0

    def body(self, block: s.Block, scope: Scope) -> None:
        self.marks += 1
        mark = self.marks
        for statement in block.statements:  # labels belong to their block, and may follow their use
            if isinstance(statement, s.Label | s.Table):
                scope.names[statement.name] = Symbol(f"{statement.name}@{mark}" if mark > 1 else statement.name)
        for statement in block.statements:
            match statement:
                case s.Variable(space="reg"):
                    bits = _element(statement)[0]
                    for d in statement.declarators:
                        if d.count is not None:
                            scope.ranges[d.name] = (mark, bits)
                        else:
                            scope.names[d.name] = Reg(f"{d.name}@{mark}", bits)
                case s.Variable():
                    for v in declared(statement):
                        name = (
                            f"{v.name}@{mark}"
                            if v.space == "param"
                            else v.name
                            if self.code.entry
                            else f"{v.name}@{self.code.name}"
                        )
                        v.name = name
                        self.code.variables[name] = v
                        for d in statement.declarators:
                            if d.name == name.split("@")[0]:
                                scope.names[d.name] = Place(v.space, name)
                case s.Table(name=name, targets=targets):
                    self.code.tables[scope.find(name).name] = tuple(
                        self.operand(s.Name(t), scope).name for t in targets
                    )
                case s.Label(name=name):
                    self.code.labels[scope.find(name).name] = len(self.code.steps)
                case s.Block():
                    self.body(statement, Scope(scope))
                case s.Instruction():
                    guard = statement.guard
                    self.code.steps.append(
                        Step(
                            statement.opcode,
                            tuple(self.operand(o, scope) for o in statement.operands),
                            scope.find(guard.name) if guard else None,
                            guard.negated if guard else False,
                            statement.line,
                        )
                    )

    def operand(self, o, scope: Scope):
        match o:
            case s.Name(text=text):
                found = scope.find(text)
                if found is not None:
                    return found
                if text.startswith("%"):
                    return Special(text[1:])
                if text == "WARP_SZ":
                    return Imm(32)
                return Symbol(text)
            case s.Memory(base=base, offset=offset):
                return Mem(self.operand(base, scope), offset)
            case s.Vector(items=items) | s.Group(items=items):
                return Many(tuple(self.operand(i, scope) for i in items))
            case s.Unary(operator="!", value=v):
                return Not(self.operand(v, scope))
            case s.Index(name=name, index=index):
                return Symbol(f"{name}[{index}]")
        return Imm(fold(o))


@lru_cache(maxsize=64)
def flatten(text: str) -> tuple[dict[str, Code], dict[str, Variable]]:
    """(functions with a body, module variables) of PTX text."""
    module = s.parse(text)
    scope = Scope()
    variables: dict[str, Variable] = {}
    for item in module.items:
        if isinstance(item, s.Variable):
            for v in declared(item):
                variables[v.name] = v
                scope.names[v.name] = Place(v.space, v.name)
    codes = {}
    for item in module.items:
        if not isinstance(item, s.Function) or item.body is None:
            continue
        code = Code(item.name, item.entry)
        inner = Scope(scope)
        for group, out in ((item.parameters, code.parameters), (item.results, code.results)):
            for variable in group:
                if variable.space == "reg":
                    raise NotImplementedError("register parameters")
                for v in declared(variable):
                    out.append((v.name, v.size, v.align))
                    inner.names[v.name] = Place("param", v.name)
        Flattener(code, scope).body(item.body, inner)
        codes[item.name] = code
    return codes, variables
