"""Reads PTX line by line, without Lark where that is possible: nearly everywhere inside of functions.

    \tadd.s32 \t%r3, %r1, 4;      an opcode, and operands one by one: Instruction("add.s32", (Name("%r3"), …))
    .reg .b32 %r<9>;              another statement, built through its shape (`shapes`)
    {                             braces of a line of their own: a Block is begun
    .visible .entry k(            to Lark, token by token

What was built goes to Lark as one token STATEMENTS, ITEMS or DATA in its place. An opcode, an operand, a guard or a
label is only taken here if it is one by the grammar: by its terminals, or by Lark itself (through its shape).
"""

from __future__ import annotations

import re
from typing import Any

from lark import Lark, ParseTree, TextSlice, Token
from lark.lexer import LexerState, LineCounter

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import NESTING
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.build import TOO_DEEP
from ptxaudit.frontend.ptx.printer import operand_text
from ptxaudit.frontend.ptx.shapes import Shapes

RUNS = ("STATEMENTS", "ITEMS", "DATA")


def parse_by_lines(text: str, lark: Lark, shapes: Shapes) -> ParseTree:
    """Lark's parse tree of a module, with lists of built values in it for runs of lines. Raises UnexpectedInput as Lark
    does, perhaps at another place, and perhaps for a text that Lark takes as a whole; InputError for more than a limit
    allows.
    """
    at = [0]
    try:
        return _parsed(text, lark, shapes, at)
    except InputError as error:
        error.line = error.line or at[0] or None
        raise


def _parsed(text: str, lark: Lark, shapes: Shapes, at: list[int]) -> ParseTree:
    """at: gets the number of the line that is read."""
    reader, built = Reader(lark, shapes), Built(lark)
    opcodes, guards, operand = reader.opcodes, reader.guards, reader.operands.__getitem__
    outside_of_braces = _COMMA.split
    run = built.run
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split(None, 1)
        at[0] = number
        if built.kind == "STATEMENTS" and len(words) == 2:
            try:  # the commonest at once
                opcode, written = words
                guard = None
                if opcode[0] == "@":
                    guard = guards[opcode]
                    opcode, written = written.split(None, 1)
                opcode = opcodes[opcode]
                if opcode and written[-1] == ";":
                    written = written[:-1]
                    pieces = written.split(", ") if "{" not in written else outside_of_braces(written)
                    values = tuple(map(operand, pieces))
                    printed = f"{opcode} {written}" if guard is None else f"{words[0]} {opcode} {written}"
                    run.append(s.Instruction(opcode, values, guard, number, printed))
                    continue
            except (KeyError, ValueError):  # not operands one by one as they are printed, or no operands
                pass
        if words and not words[0].startswith("//"):
            reader.read(line, number, built)
            run = built.run
        elif reader.begun:
            reader.begun += "\n"  # what follows stands a line further on
    reader.end(built)
    return built.end()


class Built:
    """What is built so far. run: the values since Lark was last asked; kind: what they are called where they stand,
    "" where Lark is in mid-statement."""

    def __init__(self, lark: Lark):
        self.parser = lark.parse_interactive("", start="module")
        self.lexer = lark.parser.lexer
        self.run: list[Any] = []
        self.kind = ""
        self.around: list[list[Any]] = []  # the runs outside of braces that were begun in `run`

    def begin_block(self, number: int) -> None:
        if len(self.around) >= NESTING.most:
            raise NESTING.passed(TOO_DEEP, line=number)
        self.around.append(self.run)
        self.run = []

    def end_block(self) -> None:
        block = s.Block(tuple(self.run))
        self.run = self.around.pop()
        self.run.append(block)

    def leave_to_lark(self, text: str, number: int) -> None:
        """What was built, then the tokens of a text that begins on a line."""
        self._feed()
        counter = LineCounter("\n")  # type: ignore[no-untyped-call]  # Lark has no types there
        counter.line = number
        state = self.parser.parser_state
        for token in self.lexer.lex(LexerState(TextSlice(text, 0, len(text)), counter), state):
            self.parser.feed_token(token)
        allowed = state.parse_conf.states[state.position]
        self.kind = next((kind for kind in RUNS if kind in allowed), "")

    def end(self) -> ParseTree:
        self._feed()
        tree: ParseTree = self.parser.feed_eof()  # type: ignore[no-untyped-call]  # Lark has no types there
        return tree

    def _feed(self) -> None:
        for run in self.around:
            self._feed_run(run)
            self.parser.feed_token(Token("LBRACE", "{"))
        self._feed_run(self.run)
        self.around, self.run = [], []

    def _feed_run(self, run: list[Any]) -> None:
        if run:
            token = Token(self.kind, "")
            token.value = run
            self.parser.feed_token(token)


class Reader:
    """Builds values out of the lines of one file."""

    def __init__(self, lark: Lark, shapes: Shapes):
        terminal = {t.name: t.pattern.to_regexp() for t in lark.terminals}
        self.shapes = shapes
        self.operands = Operands(terminal, shapes)
        self.opcodes = Opcodes(terminal)
        self.guards = Guards(terminal)
        self.is_label = re.compile(rf"({terminal['LABEL']})\s*:").fullmatch
        # An instruction on a line of its own: guard, opcode and the text of its operands.
        self.instruction = re.compile(
            rf"(?:(@\s*!?\s*{terminal['NAME']})\s+)?({terminal['OPCODE']})(?![\w.:])([^;\"/]*);\s*(?://.*)?"
        ).fullmatch
        self.begun, self.begun_at = "", 0  # a statement over several lines, and where it begins
        self.known: dict[tuple[str, str], tuple[Any, ...]] = {}  # of lines that came before

    def read(self, line: str, number: int, built: Built) -> None:
        """Adds a line to what is built, or leaves it to Lark, or waits for the rest of its statement."""
        bare = line.strip() if '"' in line else line.partition("//")[0].strip()
        if bare[-1:] == ":" and built.kind == "STATEMENTS" and (label := self.is_label(bare)):
            built.run.append(s.Label(label[1]))
        elif self.begun:
            self.begun += f"\n{bare}"
            if ";" in bare:
                text, self.begun, built.kind = self.begun, "", "STATEMENTS"
                self._statements(text, self.begun_at, built)
        elif built.kind == "STATEMENTS" and '"' not in bare:
            self._statements(bare, number, built)
        elif not (built.kind and self._whole(bare, number, built)):
            built.leave_to_lark(line, number)

    def end(self, built: Built) -> None:
        """At the end of the file: a statement that is not whole is left to Lark."""
        if self.begun:
            built.kind = "STATEMENTS"
            built.leave_to_lark(self.begun, self.begun_at)

    def _statements(self, text: str, number: int, built: Built) -> None:
        """Statements one after another, and braces, as far as they are whole; the rest is left to Lark."""
        while text:
            if text[0] == "{":
                built.begin_block(number)
                text = text[1:].lstrip()
            elif text[0] == "}" and built.around:
                built.end_block()
                text = text[1:].lstrip()
            else:
                statement, end, rest = text.partition(";")
                if not self._statement(statement + end, number, built):
                    break
                number += statement.count("\n")
                text = rest.lstrip()
        if text and not end and self.opcodes[text.split(None, 1)[0]]:  # an instruction without its semicolon yet
            self.begun, self.begun_at, built.kind = text, number, ""
        elif text:
            built.leave_to_lark(text, number)

    def _statement(self, text: str, number: int, built: Built) -> bool:
        """Whether the text is a statement; then it is added."""
        value = self._instruction(text, number)
        if value is None:  # a shape has one line
            return "\n" not in text and self._whole(text, number, built)
        built.run.append(value)
        return True

    def _whole(self, text: str, number: int, built: Built) -> bool:
        """The same for whatever may stand here, through its shape."""
        values = self.known.get((built.kind, text))
        if values is not None:
            built.run += [_on_line(value, number) for value in values]
            return True
        values = self.shapes.parse(built.kind.lower(), text, number)
        if values is None:
            return False
        if all(type(value) in REPEATED for value in values):
            self.known[built.kind, text] = values
        built.run += values
        return True

    def _instruction(self, line: str, number: int) -> s.Instruction | None:
        match = self.instruction(line)
        if match is None:
            return None
        guard, opcode, written = match.groups()
        try:
            return s.Instruction(opcode, self._several(written), self.guards[guard], number)
        except KeyError:  # not operands one by one: the grammar decides
            return None

    def _several(self, written: str) -> tuple[s.Operand, ...]:
        """The operands between commas. KeyError where they are none."""
        if not written or written.isspace():
            return ()
        if "{" not in written and "(" not in written:
            pieces = written.split(",")
        else:
            pieces = _OPERAND.findall(written)
            if written.count(",") + 1 < len(pieces):
                raise KeyError(written)
        return tuple([self.operands.read(piece.strip()) for piece in pieces])


# What stands between operands, as it is printed, outside of braces.
_COMMA = re.compile(r", (?![^{]*\})")
# Operands between commas that are outside of braces, brackets and parentheses.
_OPERAND = re.compile(r"(?:\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|[^,{}\[\]()])+")

# What may stand in many places alike, but for the line of a declaration.
REPEATED = {s.Variable, s.Location, s.Pragma, s.Label, s.Datum}


def _on_line(value: Any, number: int) -> Any:
    if type(value) is s.Variable:
        return s.Variable(value.space, value.qualifiers, value.declarators, value.linkage, number)
    return value


class Operands(dict[str, s.Operand]):
    """Operand text -> Operand, for the text of one file. KeyError for what is none, or is printed with another text:
    `read` takes that, too. Names and places are made at once, others through their shape."""

    def __init__(self, terminal: dict[str, str], shapes: Shapes):
        self.is_name = re.compile(terminal["NAME"]).fullmatch
        self.is_place = re.compile(rf"\[({terminal['NAME']})(?:\+(0|-?[1-9][0-9]{{0,18}}))?\]").fullmatch
        self.shapes = shapes
        self.otherwise: dict[str, s.Operand] = {}  # those of other spellings

    def __missing__(self, text: str) -> s.Operand:
        if self.is_name(text):
            value: s.Operand = s.Name(text)
        elif place := self.is_place(text):
            base, offset = place.groups()
            value = s.Memory(self[base], None if offset is None else int(offset))
        elif text[:1] == "{" and text[-1] == "}":
            value = s.Vector(tuple([self[item] for item in text[1:-1].split(", ")]))
        else:
            value = self._other(text)
            if operand_text(value) != text:
                raise KeyError(text)
        self[text] = value
        return value

    def read(self, text: str) -> s.Operand:
        """The operand, however it is spelled. KeyError for what is none."""
        try:
            return self[text]
        except KeyError:
            return self._other(text)

    def _other(self, text: str) -> s.Operand:
        value = self.otherwise.get(text)
        if value is None:
            value = self._vector(text) if text[:1] == "{" else None
            if value is None and "/" not in text and ("," not in text or text[0] in "{[("):  # no comment, no several
                value = self.shapes.parse("operand", text)
            if value is None:
                raise KeyError(text)
            self.otherwise[text] = value
        return value

    def _vector(self, text: str) -> s.Vector | None:
        """`{a, b}` of operands; None for anything else."""
        inner = text[1:-1]
        if text[-1] != "}" or "{" in inner or "[" in inner or "(" in inner:
            return None
        try:
            return s.Vector(tuple([self.read(item.strip()) for item in inner.split(",")]))
        except KeyError:
            return None


class Opcodes(dict[str, str]):
    """A word -> itself where it is an opcode, else ""."""

    def __init__(self, terminal: dict[str, str]):
        self.is_opcode = re.compile(terminal["OPCODE"]).fullmatch

    def __missing__(self, word: str) -> str:
        self[word] = opcode = word if self.is_opcode(word) else ""
        return opcode


class Guards(dict[str | None, s.Guard | None]):
    """`@!%p1` -> Guard, None -> None. KeyError for what is none."""

    def __init__(self, terminal: dict[str, str]):
        super().__init__({None: None})
        self.is_guard = re.compile(rf"@\s*(!?)\s*({terminal['NAME']})").fullmatch

    def __missing__(self, text: str | None) -> s.Guard:
        match = None if text is None else self.is_guard(text)
        if match is None:
            raise KeyError(text)
        self[text] = guard = s.Guard(match[2], bool(match[1]))
        return guard
