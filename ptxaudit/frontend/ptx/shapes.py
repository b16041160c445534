"""Parses each shape of a line once: names and numbers become placeholders, and the tree is kept.

    [%rd4+16]   ->  shape  [N+I]  with tokens  %rd4, 16
    first time:     Lark parses "[%p+0]"; its tree, with holes for the two tokens, is the template
    afterwards:     the template is filled:  Memory(Name("%rd4"), 16)

Real PTX repeats a few dozen operand shapes and a few hundred line shapes, so nearly no line goes through Lark. The
grammar remains the only definition: a template is Lark's result for the same shape, and filling it runs the same rule
functions (`build.RULES`) on the new tokens.
"""

from __future__ import annotations

import re
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from ptxaudit.base.limits import NESTING
from ptxaudit.base.records import Record
from ptxaudit.frontend.ptx.build import RULES, TOO_DEEP


class Leaf(str):
    """A token of a filled template: its text and its line."""

    __slots__ = ("line",)

    line: int


class Hole(Record):
    """The place of token number `index` of the line."""

    index: int


class Template(Record):
    """A parse tree with holes: `rule` applied to children (templates, holes, texts, None)."""

    rule: str
    children: tuple[Any, ...]

    def fill(self, tokens: list[str], line: int) -> Any:
        """The syntax value with `tokens` in the holes, as if Lark had parsed the line itself."""
        children = []
        for child in self.children:
            kind = type(child)
            if kind is Template:
                children.append(child.fill(tokens, line))
            elif child is None:
                children.append(None)
            else:
                leaf = Leaf(tokens[child.index] if kind is Hole else child)
                leaf.line = line
                children.append(leaf)
        return RULES[self.rule](children)


# What replaces a token of each terminal. In a line, names without a leading sign may be opcodes or keywords, and names
# with a dot are no labels: only operand shapes have holes for them.
PLACEHOLDERS = {"NUMBERS": "0,0,0,0,0,0,0,0", "FLOAT": "0f00000000", "INT": "0", "NAME": "%p"}


class Shapes:
    """The templates of one grammar. `start` names a start symbol: "operand", "statements", …"""

    def __init__(self, lark: Lark):
        self.lark = lark
        pattern = {t.name: t.pattern.to_regexp() for t in lark.terminals}
        # Not within a longer word, a type (".b32") or a qualified modifier ("L2::128B").
        alone = r"(?<![\w.$%:])"
        groups = "|".join(f"(?P<{name}>{pattern[name]})" for name in PLACEHOLDERS)
        self._operand_tokens = re.compile(f"{alone}(?:{groups})")
        in_line = groups.replace("(?P<NAME>", r"(?P<NAME>(?=[%$_][\w$]*(?![\w$.]))")
        self._line_tokens = re.compile(f"{alone}(?:{in_line})")
        self._templates: dict[tuple[str, str], Template | None] = {}

    def parse(self, start: str, text: str, line: int = 0) -> Any:
        """The syntax value of `text` as a `start`, or None if it is not a complete one."""
        template, tokens = self._template(start, text)
        return None if template is None else template.fill(tokens, line)

    def _template(self, start: str, text: str) -> tuple[Template | None, list[str]]:
        tokens: list[str] = []

        def replace(match: re.Match[str]) -> str:
            tokens.append(match.group())
            return f"\0{match.lastgroup}\0"

        if '"' in text:  # strings are rare, and their contents are not tokens
            shape = text
        else:
            pattern = self._operand_tokens if start == "operand" else self._line_tokens
            shape = pattern.sub(replace, text)
        key = (start, shape)
        if key not in self._templates:
            self._templates[key] = self._parse_shape(start, shape, tokens)
        return self._templates[key], tokens

    def _parse_shape(self, start: str, shape: str, tokens: list[str]) -> Template | None:
        holes: dict[int, tuple[int, str]] = {}
        text = ""
        for position, piece in enumerate(shape.split("\0")):
            if position % 2:
                piece = PLACEHOLDERS[piece]
                holes[len(text)] = (len(holes), piece)
            text += piece
        try:
            tree = self.lark.parse(text, start=start)
        except UnexpectedInput:
            return None
        template: Template | None = _with_holes(tree, holes)
        if holes:  # a token of the line is not a token of the tree
            return None
        return template


def _with_holes(node: Any, holes: dict[int, tuple[int, str]], depth: int = 0) -> Any:
    if isinstance(node, Tree):
        if depth > NESTING.most:
            raise NESTING.passed(TOO_DEEP)
        return Template(str(node.data), tuple(_with_holes(child, holes, depth + 1) for child in node.children))
    if isinstance(node, Token):
        hole = holes.get(node.start_pos) if node.start_pos is not None else None
        if hole is not None and node.start_pos is not None and hole[1] == str(node):
            del holes[node.start_pos]
            return Hole(hole[0])
        return str(node)
    return node
