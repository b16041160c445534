"""Parses PTX text into a `syntax.Module`, with `grammars/ptx.lark`.

    .version 8.0                           Module("8.0", ("sm_90",), 64, (
    .target sm_90                              Function(".entry", "k", parameters=(…,), body=Block((
    .address_size 64                   ->          Variable(".reg", (".b32",), (Declarator("%r", 3),)),
    .entry k(.param .u64 k_param_0)                Instruction("ret"))),),))
    { .reg .b32 %r<3>; ret; }

A file is read line by line. A line that is whole statements by itself is built through its
shape (`shapes`); the rest (headers, braces, statements over several lines) goes to Lark's LALR
parser token by token, and the built lines between follow as one token STATEMENTS, ITEMS or DATA.
Whatever goes wrong on that way is settled by parsing the whole file with Lark alone, whose
answer or error is the final one. `parse_plain` is that twin.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken
from lark.lexer import LexerState, LineCounter, TextSlice

from .. import resources
from ..errors import InputError
from . import expected
from . import syntax as s
from .build import build
from .shapes import Shapes

STARTS = ("module", "items", "statements", "data", "operand")
NEWEST_VERSION = (9, 5)
"""The PTX version that the grammar was last held against; newer files are tried all the same."""


def parse_module(text: str, file: str = "<ptx>") -> s.Module:
    """The syntax tree of a PTX file. InputError (with line and column) when it is not PTX."""
    _check(text, file)
    try:
        tree = _parse_by_lines(_without_block_comments(text))
    except UnexpectedInput:
        return parse_plain(text, file)
    return _named(build(tree), file)


def parse_plain(text: str, file: str = "<ptx>") -> s.Module:
    """The same by Lark alone: slower, and the reference."""
    _check(text, file)
    try:
        tree = parser().parse(text, start="module")
    except UnexpectedInput as error:
        raise _input_error(error, text, file) from None
    return _named(build(tree), file)


def parse_statements(text: str) -> tuple[s.Statement, ...]:
    """What may stand in a function's body, by Lark alone: for tests and snippets."""
    try:
        return build(parser().parse(text, start="statements"))
    except UnexpectedInput as error:
        raise _input_error(error, text, "<ptx>") from None


def _named(module: s.Module, file: str) -> s.Module:
    return s.Module(module.version, module.target, module.address_size, module.items, file)


# --- the parser and its tables ------------------------------------------------------------------

@functools.cache
def parser() -> Lark:
    """Lark with its tables, from the user's cache folder where that can be written."""
    grammar = resources.grammar("ptx.lark")
    return Lark(grammar, parser="lalr", lexer="contextual", start=list(STARTS),
                maybe_placeholders=True, cache=_cache_file(grammar) or False)


def _cache_file(grammar: str) -> str | None:
    """Where Lark keeps its tables (pickled, so nowhere that others can write), or None."""
    import lark
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("ptxaudit", appauthor=False))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    key = hashlib.sha256(f"{grammar}{lark.__version__}{sys.version}".encode()).hexdigest()[:16]
    return str(folder / f"ptx-{key}.tables")


@functools.cache
def _shapes() -> Shapes:
    return Shapes(parser())


@functools.cache
def _instruction_line() -> re.Pattern:
    """An instruction on a line of its own: guard, opcode and the text of its operands."""
    pattern = {t.name: t.pattern.to_regexp() for t in parser().terminals}
    return re.compile(rf"\s*(?:(@\s*!?\s*{pattern['NAME']})\s+)?({pattern['OPCODE']})"
                      r"(?![\w.:])([^;\"/]*);\s*(?://.*)?$")


# Operands between commas that are outside of braces, brackets and parentheses.
_OPERAND = re.compile(r"(?:\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|[^,{}\[\]()])+")
_BLOCK_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def _without_block_comments(text: str) -> str:
    """Block comments as blanks, lines kept."""
    if "/*" not in text:
        return text
    return _BLOCK_COMMENT.sub(
        lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/*") else m[0], text)


# --- line by line ---------------------------------------------------------------------------------

class _Operands(dict):
    """Operand text -> Operand, for the text of one file; missing ones through their shape."""

    def __missing__(self, text: str) -> s.Operand:
        value = _shapes().parse("operand", text.strip())
        if value is None:
            raise KeyError(text)
        self[text] = value
        return value


class _Guards(dict):
    """`@!%p1` -> Guard."""

    def __missing__(self, text: str) -> s.Guard:
        name = text[1:].strip()
        negated = name.startswith("!")
        self[text] = guard = s.Guard(name[1:].strip() if negated else name, negated)
        return guard


def _parse_by_lines(text: str):
    """The parse tree of a module in which runs of lines are lists of built values."""
    lark = parser()
    interactive = lark.parse_interactive("", start="module")
    state = interactive.parser_state
    states = state.parse_conf.states
    lexer = lark.parser.lexer
    shapes = _shapes()
    instruction = _instruction_line().match
    operands, guards = _Operands({"": None}), _Guards({None: None})
    operand = operands.__getitem__
    known: dict[tuple[str, str], list] = {}      # lines that came before and carry no line number
    run: list = []
    runs = ""                                    # what a run is called here; "" in mid-statement
    for number, line in enumerate(text.split("\n"), 1):
        if runs == "STATEMENTS" and (match := instruction(line)):
            guard, opcode, written = match.groups()
            try:
                if not written or written.isspace():
                    values = ()
                elif "{" in written or "(" in written:
                    values = tuple(map(operand, _OPERAND.findall(written)))
                    if written.count(",") + 1 < len(values):
                        raise KeyError(written)
                else:
                    values = tuple(map(operand, written.split(",")))
                run.append(s.Instruction(opcode, values, guards[guard], number))
                continue
            except KeyError:
                pass                             # not operands one by one: the grammar decides
        stripped = line.strip()
        if not stripped or stripped.startswith("//"):
            continue
        if runs:
            values = known.get((runs, stripped))
            if values is None:
                bare = stripped.split("//")[0] if '"' not in stripped else stripped
                values = shapes.parse(runs.lower(), bare, number)
                if values is not None and not any(map(_has_line, values)):
                    known[runs, stripped] = values
            if values is not None:
                run += values
                continue
        if run:
            _feed_run(interactive, runs, run)
            run = []
        line_counter = LineCounter("\n")
        line_counter.line = number
        for token in lexer.lex(LexerState(TextSlice(line, 0, len(line)), line_counter), state):
            interactive.feed_token(token)
        allowed = states[state.position]
        runs = next((kind for kind in ("STATEMENTS", "ITEMS", "DATA") if kind in allowed), "")
    if run:
        _feed_run(interactive, runs, run)
    return interactive.feed_eof()


def _has_line(value: object) -> bool:
    return isinstance(value, s.Instruction | s.Variable | s.Function | s.Block)


def _feed_run(interactive, kind: str, run: list) -> None:
    token = Token(kind, "")
    token.value = run
    interactive.feed_token(token)


# --- errors -----------------------------------------------------------------------------------------

def _check(text: str, file: str) -> None:
    """InputError for what is no PTX at first sight."""
    if not text.strip():
        raise InputError("the PTX file is empty", "compile it again", file)
    if "\0" in text.rstrip("\0"):
        raise InputError("this is binary data, not PTX text",
                         "give a .cubin or .fatbin file its own suffix", file)
    if not re.search(r"^\s*\.version\b", text, re.MULTILINE):
        raise InputError("this is not PTX: it has no .version directive",
                         "PTX begins with .version, .target and .address_size", file, 1, 1)


def _input_error(error: UnexpectedInput, text: str, file: str) -> InputError:
    """Lark's error in the words of a user."""
    hint = ""
    found = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", text, re.MULTILINE)
    if found and (int(found[1]), int(found[2])) > NEWEST_VERSION:
        newest = ".".join(map(str, NEWEST_VERSION))
        hint = (f"the file says .version {found[1]}.{found[2]}, newer than {newest}, the newest "
                "that this grammar knows: compile for an older PTX version, or update ptxaudit")
    ended = isinstance(error, UnexpectedEOF) or (
        isinstance(error, UnexpectedToken) and error.token.type == "$END")
    if ended:
        lines = text.rstrip().split("\n")
        wanted = expected.words(getattr(error, "expected", ()) or (), parser())
        return InputError(f"the file ends in the middle of a statement; expected {wanted}",
                          hint or "the file looks truncated: compile it again",
                          file, len(lines), len(lines[-1]) + 1)
    if isinstance(error, UnexpectedCharacters):
        found_text = text[error.pos_in_stream:].split("\n")[0][:24].rstrip()
        wanted = expected.words(error.allowed or (), parser())
    else:
        found_text = str(error.token)[:40]
        wanted = expected.words(error.expected, parser())
    return InputError(f"unexpected `{found_text}`; expected {wanted}", hint, file, error.line, error.column)
