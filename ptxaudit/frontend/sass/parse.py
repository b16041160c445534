"""Parses operand strings with `grammars/sass.lark`, each operand once and each shape once.

    "R2, P0, R4.reuse, 0x10"  ->  (Register("R", 2), Register("P", 0), Register("R", 4), Number("0x10"))

A kernel has some hundred operands in ten thousand combinations, so each is parsed separately. Two operands have the
same shape if they differ only in the numbers of registers and in hexadecimal literals. The grammar parses one operand
of each shape; the result is a list of small functions that make the operands of that shape from their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

from lark import Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.frontend import parsers
from ptxaudit.frontend.sass.syntax import ZERO, Jump, Memory, Number, Operand, Register, Word

_SLOT = re.compile(r"(?<![A-Za-z0-9_.])(?:U?[RP](\d+)\b|(0x[0-9a-f]+))")
_REGISTER = re.compile(r"(U?[RP])(\d+|Z|T)$")

Maker = Callable[[list[str]], Operand]
Signed = Register | Number | Word | Memory


class _Build(Transformer[Token, tuple[Maker, ...]]):
    """Turns the tree of one string into functions of the numbers in it."""

    def __init__(self, slots: dict[int, int]):
        super().__init__()
        self._slots = slots  # position in the string -> index of the number there

    @v_args(inline=True)
    def register(self, name: Token, *suffixes: Token) -> Maker:
        found = _REGISTER.match(name)
        assert found is not None and name.start_pos is not None  # by the grammar
        kind, number = found.groups()
        marks = _marks(suffixes)
        if not number.isdigit():
            fixed = Register(kind, ZERO, marks)
            return lambda numbers: fixed
        slot = self._slots[name.start_pos]
        return lambda numbers: _register(kind, int(numbers[slot]), marks)

    @v_args(inline=True)
    def number(self, text: Token) -> Maker:
        slot = self._slots.get(text.start_pos or 0)
        if slot is None:
            fixed = Number(str(text))
            return lambda numbers: fixed
        return lambda numbers: Number(numbers[slot])

    @v_args(inline=True)
    def word(self, name: Token, *suffixes: Token) -> Maker:
        fixed = Number(str(name)) if name in ("INF", "QNAN", "SNAN", "NAN") else Word("".join((name, *suffixes)))
        return lambda numbers: fixed

    def numbers(self, texts: list[Token]) -> Maker:
        fixed = Word("{" + ",".join(texts) + "}")
        return lambda numbers: fixed

    @v_args(inline=True)
    def with_sign(self, sign: Token, inner: Callable[[list[str]], Signed]) -> Maker:
        if sign == "+":
            return inner
        if sign == "~":
            return lambda numbers: replace(inner(numbers), inverted=True)
        return lambda numbers: replace(inner(numbers), negated=True)

    @v_args(inline=True)
    def absolute(self, inner: Callable[[list[str]], Signed], *suffixes: Token) -> Maker:
        marks = _marks(suffixes)

        def make(numbers: list[str]) -> Operand:
            value = inner(numbers)
            if marks and isinstance(value, (Register, Memory)):
                return replace(value, absolute=True, suffixes=value.suffixes + marks)
            return replace(value, absolute=True)

        return make

    def bracket(self, terms: list[Maker]) -> list[Maker]:
        return [term for term in terms if term is not None]

    def memory(self, children: list[Any]) -> Maker:
        name = str(children[0]) if isinstance(children[0], Token) and children[0].type == "NAME" else ""
        brackets = [child for child in children if isinstance(child, list)]
        marks = _marks(child for child in children if isinstance(child, Token) and child.type == "SUFFIX")
        return lambda numbers: Memory(name, tuple(tuple(term(numbers) for term in terms) for terms in brackets), marks)

    def jump(self, children: list[Any]) -> Maker:
        register, *sign, text = children
        slot = self._slots.get(text.start_pos)
        negative = sign == ["-"]

        def make(numbers: list[str]) -> Operand:
            value = int(text if slot is None else numbers[slot], 0)
            return Jump(register(numbers), -value if negative else value)

        return make

    def start(self, makers: list[Maker | None]) -> tuple[Maker, ...]:
        return tuple(maker for maker in makers if maker is not None)


def _marks(suffixes: Iterable[Token]) -> tuple[str, ...]:
    return tuple(str(suffix)[1:] for suffix in suffixes)


@cache
def _register(kind: str, number: int, marks: tuple[str, ...]) -> Register:
    return Register(kind, number, marks)


@cache
def _shapes() -> dict[str, tuple[Maker, ...]]:
    return {}


def parse_operands(text: str) -> tuple[Operand, ...]:
    """The operands in an instruction's text after the opcode. Raises InputError if the grammar does not match."""
    text = text.replace(".reuse", "")  # a hint to the register cache
    if not text:
        return ()
    if "{" in text:  # a list of numbers, which contains commas
        whole: tuple[Operand, ...] = _parsed(text)
        return whole
    return tuple([operand for part in text.split(", ") for operand in _parsed(part)])


@lru_cache(maxsize=1 << 16)
def _parsed(text: str) -> tuple[Operand, ...]:
    """The operand between two commas, or the operands of a whole text."""
    numbers: list[str] = []

    def blank(match: re.Match[str]) -> str:
        number = match[1] or match[2]
        numbers.append(number)
        return f"{match[0][: -len(number)]}#"

    shape = _SLOT.sub(blank, text)
    makers = _shapes().get(shape)
    if makers is None:
        makers = _shapes()[shape] = _makers(text)
    return tuple(maker(numbers) for maker in makers)


def _makers(text: str) -> tuple[Maker, ...]:
    slots = {match.start(): position for position, match in enumerate(_SLOT.finditer(text))}
    try:
        makers: tuple[Maker, ...] = _Build(slots).transform(parsers.parser("sass").parse(text))
        return makers
    except (UnexpectedInput, VisitError) as error:
        raise InputError(
            f"operands unknown to the grammar: {text}",
            "report this with the file; the instruction is treated as unmodelled",
            detail=str(error),
        ) from error


def parse_plain(text: str) -> tuple[Operand, ...]:
    """Parses without shapes, always by the grammar: the twin that tests compare `parse_operands` with."""
    text = text.replace(".reuse", "")
    numbers = [match[1] or match[2] for match in _SLOT.finditer(text)]
    return tuple(maker(numbers) for maker in _makers(text)) if text else ()
