"""Names of unknown numbers in the terms of the source: threadIdx.y, a parameter, the trip count of a line's loop.

    tid.y                        threadIdx.y
    and(8192*trip, 8192)         (8192*(trip of k.cu:26) & 8192)
    setp.lt.s(n, 16)             (n < 16)

Names decide nothing: unknowns are distinguished by their keys (`value.Uniform`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ptxaudit.base.demangle import demangle

_SPECIAL = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
_INFIX = {"and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "div": "/", "rem": "%", "mul": "*"}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CALLED = {"min": "min", "max": "max", "abs": "abs"}  # whatever the type


def special(stem: str, dim: str) -> str:
    """The name of a special register in CUDA C++."""
    return f"{_SPECIAL[stem]}.{dim}" if stem in _SPECIAL else f"%{stem}.{dim}"


@lru_cache(maxsize=4096)
def variable(name: str) -> str:
    """The name of a variable of a function or file as the source spells it: _ZZ4gemmPfE2As is As."""
    return demangle(name).rpartition("::")[2] if name.startswith("_Z") else name


def operand(name: str) -> str:
    """A name as an operand of an expression, parenthesised where needed."""
    return name if " " not in name or _is_one(name) else f"({name})"


def expression(operation: str, sources: Sequence[str]) -> str:
    """An operation in C++ syntax, or by its own name if C++ has no such operator. sources: formulas, as sums."""
    stem, _, kind = operation.partition(".")
    if stem in _INFIX and len(sources) == 2:
        left, right = (_factors if stem in ("mul", "div", "rem") else _sums)(*sources)
        return f"({left} {_INFIX[stem]} {right})"
    if stem == "setp" and len(sources) == 2 and (relation := _COMPARED.get(kind.partition(".")[0])):
        return f"({sources[0]} {relation} {sources[1]})"
    if stem == "fsetp" and len(sources) == 2 and (relation := _COMPARED.get(kind.removesuffix("u"))):
        if not any(_is_number(source) for source in sources):  # a number here is the bits of a float, except 0
            return f"({sources[0]} {relation} {sources[1]})"
    if stem == "select" and len(sources) == 3:
        return f"({sources[2]} ? {sources[0]} : {sources[1]})"
    if stem == "not" and len(sources) == 1:
        return f"!{operand(sources[0])}"
    if stem == "bit0" and len(sources) == 1:
        return f"({sources[0]} & 1)"
    if stem == "zext" and len(sources) == 1:
        return sources[0]
    return f"{_CALLED.get(stem, operation)}({', '.join(sources)})"


def _sums(left: str, right: str) -> tuple[str, str]:
    """The operands of an operator that binds less tightly than a sum."""
    return left, right


def _factors(left: str, right: str) -> tuple[str, str]:
    """The operands of an operator that binds as tightly as a product."""
    return operand(left), f"({right})" if not _is_one(right) and re.search(r"[ */%]", right) else right


def _is_one(name: str) -> bool:
    """Whether the name needs no parentheses: it is wholly in one pair, or a call."""
    head, bracket, _ = name.partition("(")
    if not bracket or not name.endswith(")") or " " in head or any(sign in head for sign in "*/+-!"):
        return False
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == ")":
            return at == len(name) - 1
    return False


def _is_number(source: str) -> bool:
    return source != "0" and source.removeprefix("-").isdecimal()
