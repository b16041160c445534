"""Describes the tokens that a parser expected, with terminals renamed to terms that a reader of PTX uses."""

from __future__ import annotations

from collections.abc import Iterable

from lark import Lark

WORDS = {
    "OPCODE": "an instruction",
    "LABEL": "a label",
    "NAME": "a name",
    "INT": "an integer",
    "FLOAT": "a floating-point constant",
    "STRING": "a quoted string",
    "SPACE": "a state space such as .reg",
    "QUALIFIER": "a type",
    "DIRECTIVE": "a directive",
    "LINKAGE": ".visible, .extern, .weak or .common",
    "FUNCTION": ".entry or .func",
    "TABLE": ".branchtargets",
    "VERSION": "a version such as 8.0",
    "SECTION": "a section name",
    "SIGN": "+ or -",
    "OPERATOR": "an operator",
    "NUMBERS": "numbers",
    "$END": "the end of the file",
}
HIDDEN = {"ITEMS", "STATEMENTS", "DATA", "NOT", "TILDE", "COMMENT", "WHITESPACE", "OPERATOR", "NUMBERS", "MODIFIERS"}
MANY = 8


def words(terminals: Iterable[str], lark: Lark) -> str:
    """A list such as `an instruction, a label, `}` …`, of at most MANY items."""
    literal = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    named = sorted({WORDS.get(t) or f"`{literal.get(t, t)}`" for t in terminals if t not in HIDDEN})
    named.sort(key=lambda word: (word.startswith("`."), not word.startswith("`")))
    if not named:
        return "something else"
    more = " …" if len(named) > MANY else ""
    return ", ".join(named[:MANY]) + more
