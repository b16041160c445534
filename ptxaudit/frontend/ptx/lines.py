"""Reads PTX line by line, mostly without Lark inside functions.

    \tadd.s32 \t%r3, %r1, 4;      an opcode and separate operands: Instruction("add.s32", (Name("%r3"), …))
    .reg .b32 %r<9>;              another statement, built through its shape (`shapes`)
    {                             a brace on a line of its own: begins a Block
    .visible .entry k(            passed to Lark, token by token

Built values are passed to Lark as one token STATEMENTS, ITEMS or DATA in their place. An opcode, operand, guard or
label is accepted here only if it is valid by the grammar: by its terminals, or by Lark itself (through its shape).
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
    """Lark's parse tree of a module, in which runs of lines are lists of built values.

    Raises UnexpectedInput like Lark, but possibly at another position, and possibly for a text that Lark accepts as a
    whole; InputError if a limit is exceeded.
    """
    at = [0]
    try:
        return _parsed(text, lark, shapes, at)
    except InputError as error:
        error.line = error.line or at[0] or None
        raise


def _parsed(text: str, lark: Lark, shapes: Shapes, at: list[int]) -> ParseTree:
    """at: receives the number of the current line."""
    reader, built = Reader(lark, shapes), Built(lark)
    opcodes, guards, operand = reader.opcodes, reader.guards, reader.operands.__getitem__
    outside_of_braces = _COMMA.split
    run = built.run
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split(None, 1)
        at[0] = number
        if built.kind == "STATEMENTS" and len(words) == 2:
            try:  # the most common form first
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
            except (KeyError, ValueError):  # not separate operands as they are printed, or no operands
                pass
        if words and not words[0].startswith("//"):
            reader.read(line, number, built)
            run = built.run
        elif reader.begun:
            reader.begun += "\n"  # the rest is one line further down
    reader.end(built)
    return built.end()


class Built:
    """The values built so far.

    run: the values since Lark last received tokens.
    kind: the token that stands for them at this position, "" if Lark is within a statement.
    """

    def __init__(self, lark: Lark):
        self.parser = lark.parse_interactive("", start="module")
        self.lexer = lark.parser.lexer
        self.run: list[Any] = []
        self.kind = ""
        self.around: list[list[Any]] = []  # the runs of the blocks that enclose `run`

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
        """Passes the built values to Lark, then the tokens of a text that begins on line `number`."""
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
    """Builds values from the lines of one file."""

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
        self.begun, self.begun_at = "", 0  # a statement over several lines, and its first line
        self.known: dict[tuple[str, str], tuple[Any, ...]] = {}  # values of lines that occurred before

    def read(self, line: str, number: int, built: Built) -> None:
        """Adds a line to the built values, passes it to Lark, or waits for the rest of its statement."""
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
        """Passes a statement that is incomplete at the end of the file to Lark."""
        if self.begun:
            built.kind = "STATEMENTS"
            built.leave_to_lark(self.begun, self.begun_at)

    def _statements(self, text: str, number: int, built: Built) -> None:
        """Adds consecutive statements and braces as long as they are complete; passes the rest to Lark."""
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
        if text and not end and self.opcodes[text.split(None, 1)[0]]:  # an instruction whose semicolon is still missing
            self.begun, self.begun_at, built.kind = text, number, ""
        elif text:
            built.leave_to_lark(text, number)

    def _statement(self, text: str, number: int, built: Built) -> bool:
        """Adds the text if it is a statement, and returns whether it is."""
        value = self._instruction(text, number)
        if value is None:  # a shape is one line
            return "\n" not in text and self._whole(text, number, built)
        built.run.append(value)
        return True

    def _whole(self, text: str, number: int, built: Built) -> bool:
        """Adds whatever is allowed here, through its shape, and returns whether that is possible."""
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
        except KeyError:  # not separate operands: the grammar decides
            return None

    def _several(self, written: str) -> tuple[s.Operand, ...]:
        """The operands between commas. Raises KeyError if they are invalid."""
        if not written or written.isspace():
            return ()
        if "{" not in written and "(" not in written:
            pieces = written.split(",")
        else:
            pieces = _OPERAND.findall(written)
            if ",".join(pieces) != written:  # something else is between them
                raise KeyError(written)
        return tuple([self.operands.read(piece.strip()) for piece in pieces])


# The separator of printed operands, outside of braces.
_COMMA = re.compile(r", (?![^{]*\})")
# Operands between commas that are outside of braces, brackets and parentheses.
_OPERAND = re.compile(r"(?:\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|[^,{}\[\]()])+")

# Nodes that may occur identically in many places, except for the line of a declaration.
REPEATED = {s.Variable, s.Location, s.Pragma, s.Label, s.Datum}


def _on_line(value: Any, number: int) -> Any:
    if type(value) is s.Variable:
        return s.Variable(value.space, value.qualifiers, value.declarators, value.linkage, number)
    return value


class Operands(dict[str, s.Operand]):
    """Operand text -> Operand, for one file.

    Raises KeyError if the text is not an operand, or is not as operands are printed; `read` accepts that, too. Names
    and memory references are built directly, others through their shape.
    """

    def __init__(self, terminal: dict[str, str], shapes: Shapes):
        self.is_name = re.compile(terminal["NAME"]).fullmatch
        self.is_place = re.compile(rf"\[({terminal['NAME']})(?:\+(0|-?[1-9][0-9]{{0,18}}))?\]").fullmatch
        self.shapes = shapes
        self.otherwise: dict[str, s.Operand] = {}  # operands in other spellings

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
        """The operand, in any spelling. Raises KeyError if it is invalid."""
        try:
            return self[text]
        except KeyError:
            return self._other(text)

    def _other(self, text: str) -> s.Operand:
        value = self.otherwise.get(text)
        if value is None:
            value = self._vector(text) if text[:1] == "{" else None
            if value is None and "/" not in text and ("," not in text or text[0] in "{[("):  # no comment, one operand
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
    """A word -> itself if it is an opcode, else ""."""

    def __init__(self, terminal: dict[str, str]):
        self.is_opcode = re.compile(terminal["OPCODE"]).fullmatch

    def __missing__(self, word: str) -> str:
        self[word] = opcode = word if self.is_opcode(word) else ""
        return opcode


class Guards(dict[str | None, s.Guard | None]):
    """`@!%p1` -> Guard, None -> None. Raises KeyError for an invalid guard."""

    def __init__(self, terminal: dict[str, str]):
        super().__init__({None: None})
        self.is_guard = re.compile(rf"@\s*(!?)\s*({terminal['NAME']})").fullmatch

    def __missing__(self, text: str | None) -> s.Guard:
        match = None if text is None else self.is_guard(text)
        if match is None:
            raise KeyError(text)
        self[text] = guard = s.Guard(match[2], bool(match[1]))
        return guard
