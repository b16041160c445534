"""The declaration of the forms of an opcode that a lowering supports: marks, operands, and their modifiers.

    "IMAD": Row(multiply_add, "(MOV|SHL|IADD)? U32? / X / WIDE U32? X?", "RP?VVVP?", "- ~")

    IMAD.WIDE.U32 R2, R4, -0x3, R6         is declared
    IMAD.WIDE.FOO R2, R4, 0x3, R6          ".FOO" is not
    IMAD R2, |R4|, 0x3, R6                 "|…|" is not
    IMAD R2, R4, 0x3                       "RRN" is not

Nothing is ignored: an instruction with a mark, an operand or a modifier that its row does not declare is not lowered,
and its results become opaque for that reason (`lower`).

marks: the dotted parts of an opcode after the first, in order; alternatives in parentheses, "?" after an optional
part, " / " between whole patterns. operands: a regular expression with one letter per operand:

    R register    P predicate    N integer    F other number    C constant bank    M memory    W word    J jump
    V = any of R N F C    I = any of R N C

modifiers: signs and suffixes that operands may have: "-" "~" "|" (absolute) "+" ".H0_H0" …; "!" of predicates needs
no declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ptxaudit.base.records import Record
from ptxaudit.frontend.sass.syntax import Jump, Memory, Number, Operand, Register, Word

if TYPE_CHECKING:
    from ptxaudit.frontend.sass.builder import Builder

_WORD = re.compile(r"[A-Za-z0-9_]+")


class Row(Record, dict=True):
    """lower: writes the operations. The other fields: see the module."""

    lower: Callable[[Builder], None]
    marks: str = ""
    operands: str = ""
    modifiers: str = ""

    @cached_property
    def _marks(self) -> re.Pattern[str]:
        """Matches ".MARK.MARK": each word of the pattern with its dot."""
        patterns = (
            "".join(_WORD.sub(r"(?:\\.\g<0>)", part) for part in pattern.split()) for pattern in self.marks.split(" / ")
        )
        return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))

    @cached_property
    def _operands(self) -> re.Pattern[str]:
        return re.compile(self.operands.replace("V", "[RNFC]").replace("I", "[RNC]"))

    @cached_property
    def _modifiers(self) -> frozenset[str]:
        return frozenset(self.modifiers.split())

    def refuses(self, opcode: str, operands: tuple[Operand, ...]) -> str:
        """The undeclared part of an instruction, in words; "" if all of it is declared."""
        return self._refused_marks(opcode) or self._refused_operands(operands)

    def _refused_marks(self, opcode: str) -> str:
        marks = opcode[len(opcode.partition(".")[0]) :]
        if self._marks.fullmatch(marks):
            return ""
        unknown = [mark for mark in marks.split(".")[1:] if mark not in _WORD.findall(self.marks)]
        return (
            f".{unknown[0]} is not supported here"
            if unknown
            else f"{marks or 'an opcode without marks'} is not supported"
        )

    def _refused_operands(self, operands: tuple[Operand, ...]) -> str:
        kinds = "".join([kind(operand) for operand in operands])
        if not self._operands.fullmatch(kinds):
            return f"operands of the kinds {kinds or 'none'} are not supported"
        for operand in operands:
            for modifier in modifiers(operand):
                if modifier not in self._modifiers:
                    return f"an operand with {modifier} is not supported"
        return ""


def kind(operand: Operand) -> str:
    """The letter of an operand."""
    match operand:
        case Register():
            return "P" if operand.is_predicate else "R"
        case Number():
            return "N" if operand.is_integer else "F"
        case Memory():
            return "C" if operand.is_constant else "M"
        case Word():
            return "W"
        case Jump():
            return "J"
    raise TypeError(operand)


@lru_cache(maxsize=1 << 12)
def modifiers(operand: Operand) -> tuple[str, ...]:
    """The modifiers of an operand: signs, |…| and suffixes. (Those within brackets are checked with the address.)"""
    if isinstance(operand, Jump):
        return modifiers(operand.register)
    predicate = isinstance(operand, Register) and operand.is_predicate
    signs = [
        sign
        for sign, carried in (
            ("-", operand.negated and not predicate and not isinstance(operand, Number)),
            ("~", operand.inverted),
            ("|", operand.absolute),
        )
        if carried
    ]
    return (*signs, *[f".{suffix}" for suffix in getattr(operand, "suffixes", ())])
