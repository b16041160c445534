"""Builds syntax values from parse trees: one function per grammar rule, in the grammar's order.

    Tree("memory", [Tree("binary", [Tree("name", ["%r4"]), "+", Tree("integer", ["8"])])])
    -> Memory(Name("%r4"), 8)

Tokens are strings with a `line`. A rule's function receives its children, already built.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, overload

from lark import Tree

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import INTEGER, NESTING
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.versions import check_version

TOO_DEEP = "braces, brackets or operators are nested too deeply"


def build(node: Any, depth: int = 0) -> Any:
    """The syntax value of a parse tree; a token is its own value. Raises InputError if the tree is too deep."""
    if isinstance(node, Tree):
        if depth > NESTING.most:
            raise NESTING.passed(TOO_DEEP, line=line_of(node))
        children = [build(child, depth + 1) for child in node.children]
        try:
            return RULES[node.data](children)
        except InputError as error:  # a limit is exceeded
            error.line = error.line or line_of(node)
            raise
    return node


def line_of(tree: Tree[Any]) -> int | None:
    """The line of a tree's first token."""
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, Tree):
            line: int | None = getattr(node, "line", None)
            if line is not None:
                return line
        else:
            stack += reversed(node.children)
    return None


# --- constants: "Integer Constants", "Floating-Point Constants", "Constant Expressions" ----------

MOST_DIGITS = (
    2 + INTEGER.most
)  # of a binary integer, with its prefix; longer integers of other bases are truncated to their width
SHOWN_DIGITS = 20


@functools.lru_cache(maxsize=1 << 14)
def integer(text: str) -> s.Int:
    """Parses `0x1F`, `0b101`, `017` (octal) or `42`, each with an optional U."""
    digits = text.rstrip("U")
    if len(digits) > MOST_DIGITS:
        raise INTEGER.passed(f"the integer {digits[:SHOWN_DIGITS]}… is too long")
    lowered = digits.lower()
    if lowered.startswith("0x"):
        value = int(lowered, 16)
    elif lowered.startswith("0b"):
        value = int(lowered, 2)
    elif digits.startswith("0") and set(digits) <= set("01234567"):
        value = int(digits, 8)
    else:
        value = int(digits)
    return s.Int(value, len(digits) != len(text))


def real(text: str) -> s.Float:
    """Parses `0f3F800000` (32 bits), `0d3FF0000000000000` (64 bits), or a decimal number (64 bits)."""
    prefix = text[:2].lower()
    if prefix == "0f":
        return s.Float(int(text[2:], 16), 32)
    if prefix == "0d":
        return s.Float(int(text[2:], 16), 64)
    return s.Float(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)


# Operator precedence: the manual's table "Operator Precedence".
PRECEDENCE = {
    "*": 10,
    "/": 10,
    "%": 10,
    "+": 9,
    "-": 9,
    ">>": 8,
    "<<": 8,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "==": 6,
    "!=": 6,
    "&": 5,
    "^": 4,
    "|": 3,
    "&&": 2,
    "||": 1,
}


def binary(children: Sequence[Any]) -> s.Operand:
    """Applies precedence to a flat `a op b op c`, left to right; `p|q` of names is a Pair."""
    if len(children) == 3 and children[1] == "|" and isinstance(children[0], s.Name | s.Vector):
        return s.Pair(children[0], children[2])
    if len(children) // 2 > NESTING.most:
        raise NESTING.passed(TOO_DEEP, line=getattr(children[1], "line", None))
    values = [_bare(children[0])]
    operators: list[str] = []

    def reduce_one() -> None:
        right, left = values.pop(), values.pop()
        values.append(s.Binary(operators.pop(), left, right))

    for operator, value in zip(children[1::2], children[2::2]):
        operator = str(operator)
        while operators and PRECEDENCE[operators[-1]] >= PRECEDENCE[operator]:
            reduce_one()
        operators.append(operator)
        values.append(_bare(value))
    while operators:
        reduce_one()
    return values[0]


def _bare(value: s.Operand) -> s.Operand:
    """An operator's operand without its parentheses."""
    return value.items[0] if isinstance(value, s.Group) and len(value.items) == 1 else value


def unary(operator: str, value: s.Operand) -> s.Operand:
    """A unary operation; the sign of a constant becomes part of the constant."""
    value = _bare(value)
    if operator == "-" and isinstance(value, s.Int) and not value.unsigned:
        return s.Int(-value.value)
    if operator == "-" and isinstance(value, s.Float):
        return s.Float(value.bits ^ 1 << value.width - 1, value.width)
    return s.Unary(str(operator), value)


def memory(operands: Sequence[s.Operand]) -> s.Memory:
    """`[base+constant, rest…]`: added constants go into the offset."""
    base, offset = operands[0], None
    while (
        isinstance(base, s.Binary)
        and base.operator in "+-"
        and isinstance(base.right, s.Int)
        and not base.right.unsigned
    ):
        offset = (offset or 0) + (base.right.value if base.operator == "+" else -base.right.value)
        base = base.left
    return s.Memory(base, offset, tuple(operands[1:]))


def elements(children: Sequence[Any]) -> tuple[s.Operand, ...]:
    """The items of braces; a run of plain numbers is a single token."""
    flat: list[s.Operand] = []
    for child in children:
        if isinstance(child, tuple):
            flat += child
        else:
            flat.append(child)
    return tuple(flat)


_DIGITS = re.compile("[0-9]+")


def numbers(text: str) -> tuple[s.Int, ...]:
    return tuple(map(integer, _DIGITS.findall(text)))


# --- statements and module -------------------------------------------------------------------


@overload
def _number(token: str) -> int: ...
@overload
def _number(token: None) -> None: ...
@overload
def _number(token: str | None) -> int | None: ...
def _number(token: str | None) -> int | None:
    return None if token is None else integer(str(token)).value


def _run(children: Sequence[Any]) -> tuple[Any, ...]:
    """Statements, with each run of lines that the parser built beforehand put in its place."""
    flat: list[Any] = []
    for child in children:
        value = getattr(child, "value", None)
        if type(value) is list:
            flat += value
        else:
            flat.append(child)
    return tuple(flat)


ADDRESS_SIZES = (32, 64)  # "PTX Module Directives: .address_size"


def _module(c: Sequence[Any]) -> s.Module:
    version, target, size, *items = c
    check_version(version, version.line)
    if size is not None and _number(size) not in ADDRESS_SIZES:
        raise InputError(
            f".address_size is {size}, and not 32 or 64", "is the PTX file complete and unmodified?", line=size.line
        )
    return s.Module(str(version), target, _number(size), _run(items))


def _function(c: Sequence[Any]) -> s.Function:
    name_at = next(i for i, child in enumerate(c) if i > 1 and isinstance(child, str))
    *tuning, body = (*c[name_at + 2 :], None) if not isinstance(c[-1], s.Block) else c[name_at + 2 :]
    return s.Function(
        str(c[1]),
        str(c[name_at]),
        c[name_at - 1],
        c[name_at + 1],
        body,
        c[0],
        tuple(c[2 : name_at - 1]),
        tuple(tuning),
        c[1].line,
    )


def _tuning(c: Sequence[Any]) -> s.Tuning | s.Attribute:
    if isinstance(c[0], s.Attribute):
        return c[0]
    return s.Tuning(str(c[0]), tuple(_number(v) for v in c[1:] if v is not None))


def _variable(c: Sequence[Any]) -> s.Variable:
    declarators = [i for i, child in enumerate(c) if isinstance(child, s.Declarator)]
    first = declarators[0]
    return s.Variable(str(c[1]), tuple(c[2:first]), tuple(c[first:]), c[0], c[1].line)


def _parameter(c: Sequence[Any]) -> s.Variable:
    return s.Variable(str(c[0]), tuple(c[1:-1]), (c[-1],), (), c[0].line)


def _declarator(c: Sequence[Any]) -> s.Declarator:
    name, count, *dimensions, initial = c
    return s.Declarator(str(name), _number(count), tuple(d[0] for d in dimensions), initial)


def _instruction(c: Sequence[Any]) -> s.Instruction:
    guard, opcode, *modifiers, operands = c
    return s.Instruction("".join((opcode, *modifiers)), operands or (), guard, opcode.line)


def _location(c: Sequence[Any]) -> s.Location:
    file, line, column, function, sign, offset, *at = c
    shift = (_number(offset) or 0) * (-1 if sign == "-" else 1)
    return s.Location(
        _number(file),
        _number(line),
        _number(column),
        None if function is None else str(function),
        shift,
        None if function is None else (_number(at[0]), _number(at[1]), _number(at[2])),
    )


def _section_cell(c: Sequence[Any]) -> s.SectionName:
    name, sign, offset = c
    return s.SectionName(str(name), (_number(offset) or 0) * (-1 if sign == "-" else 1))


def _names(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(str, tokens))


RULES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "module": _module,
    "target": _names,
    "items": _run,
    "function": _function,
    "linkage": _names,
    "parameters": lambda c: tuple(p for p in c if p is not None),
    "parameter": _parameter,
    "tuning": _tuning,
    "body": lambda c: s.Block(_run(c)),
    "variable": _variable,
    "qualifier": lambda c: str(c[0]),
    "align": lambda c: s.Align(_number(c[0])),
    "attribute": lambda c: s.Attribute(tuple(c)),
    "attribute_value": lambda c: (str(c[0]), tuple(_number(v) for v in c[1:] if v is not None)),
    "declarator": _declarator,
    "dimension": tuple,
    "statements": _run,
    "block": lambda c: c[0],
    "label": lambda c: s.Label(str(c[0])),
    "table": lambda c: s.Table(str(c[0]), str(c[1]), _names(c[2:])),
    "prototype": lambda c: s.Prototype(str(c[0]), c[1], str(c[2]), c[3], tuple(c[4:])),
    "instruction": _instruction,
    "guard": lambda c: s.Guard(str(c[1]), c[0] is not None),
    "operands": tuple,
    "ternary": lambda c: s.Ternary(*map(_bare, c)),
    "binary": binary,
    "unary": lambda c: unary(*c),
    "cast": lambda c: s.Cast(str(c[0]), _bare(c[1])),
    "integer": lambda c: integer(str(c[0])),
    "real": lambda c: real(c[0]),
    "name": lambda c: s.Name(str(c[0])),
    "apply": lambda c: s.Apply(str(c[0]), c[1]),
    "mask": lambda c: s.Mask(_number(c[0]), c[1]),
    "index": lambda c: s.Index(str(c[0]), c[1]),
    "vector": lambda c: s.Vector(c[0] or ()),
    "memory": memory,
    "group": lambda c: s.Group(c[0] or ()),
    "elements": elements,
    "numbers": lambda c: numbers(c[0]),
    "field": lambda c: s.Field(str(c[0]), c[1]),
    "file": lambda c: s.File(_number(c[0]), c[1][1:-1], None if c[2] is None else (_number(c[2]), _number(c[3]))),
    "location": _location,
    "section": lambda c: s.Section(str(c[0]), _run(c[1:])),
    "data": _run,
    "datum": lambda c: s.Datum(str(c[0]), elements(c[1:])),
    "section_cell": _section_cell,
    "pragma": lambda c: s.Pragma(tuple(str(t)[1:-1] for t in c)),
    "alias": lambda c: s.Alias(str(c[0]), str(c[1])),
}
"""A builder for every rule and alias of the grammar; a test compares this table with the grammar."""
