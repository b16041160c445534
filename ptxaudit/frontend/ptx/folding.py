"""Constant expressions: their values as ptxas computes them, with 64 bits, signed or unsigned.

    0x10, -8, !5, 1 < 2               .s64
    5U, 0x8000000000000000, ~0        .u64: a suffix, no room in .s64, a complement
    -1 < 0U                           0: the usual conversions make both operands unsigned
    -8 >> 1, -8 / 2, -8 % 3           arithmetic, signed, and always unsigned

"Integer Constant Expression Evaluation", https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.base.records import Record
from ptxaudit.frontend.ptx import syntax as s

BITS = 64
FULL = (1 << BITS) - 1
MOST_SIGNED = FULL >> 1


class Number(Record):
    """The value of an expression: within the range of .u64 or of .s64."""

    value: int
    unsigned: bool


def folded(operand: s.Operand) -> int | None:
    """The value of an integer constant expression; None if it contains names or other constants, or has no value."""
    number = _number(operand)
    return None if number is None else number.value


def signed(value: int) -> int:
    """The low 64 bits as .s64."""
    value &= FULL
    return value - (1 << BITS) if value > MOST_SIGNED else value


def _of(value: int, unsigned: bool) -> Number:
    return Number(value & FULL if unsigned else signed(value), unsigned)


def _number(operand: s.Operand) -> Number | None:
    match operand:
        case s.Int(value=value, unsigned=unsigned):
            return _of(value, unsigned or abs(value) > MOST_SIGNED)
        case s.Unary(operator=operator, value=inner):
            number = _number(inner)
            return None if number is None else _unary(operator, number)
        case s.Binary(operator=operator, left=left, right=right):
            a, b = _number(left), _number(right)
            return None if a is None or b is None else _binary(operator, a, b)
        case s.Ternary(condition=condition, then=then, otherwise=otherwise):
            c, a, b = _number(condition), _number(then), _number(otherwise)
            if c is None or a is None or b is None or a.unsigned != b.unsigned:
                return None  # of two types: the manual makes it unsigned, ptxas leaves it as it is
            return a if c.value else b
        case s.Group(items=(inner,)):
            return _number(inner)
        case s.Cast(type=".s64" | ".u64" as kind, value=inner):
            number = _number(inner)
            return None if number is None else _of(number.value, kind == ".u64")
    return None


def _unary(operator: str, a: Number) -> Number | None:
    match operator:
        case "-":
            return _of(-a.value, a.unsigned)
        case "+":
            return a
        case "~":
            return _of(~a.value, True)
        case "!":
            return Number(int(not a.value), False)
    return None


def _quotient(a: int, b: int) -> int | None:
    """Rounded towards zero."""
    if not b:
        return None
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_ARITHMETIC: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a and b),
    "||": lambda a, b: bool(a or b),
}


def _binary(operator: str, a: Number, b: Number) -> Number | None:
    if operator in ("<<", ">>"):
        if not 0 <= b.value < BITS:
            return None
        return _of(a.value << b.value if operator == "<<" else a.value >> b.value, a.unsigned)
    if operator == "%":
        divisor = b.value & FULL
        return _of((a.value & FULL) % divisor, True) if divisor else None
    unsigned = a.unsigned or b.unsigned
    x, y = _of(a.value, unsigned).value, _of(b.value, unsigned).value
    if operator in _COMPARISONS:
        return Number(int(_COMPARISONS[operator](x, y)), False)
    value = _ARITHMETIC[operator](x, y)
    return None if value is None else _of(value, unsigned)
