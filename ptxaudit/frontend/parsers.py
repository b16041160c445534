"""Lark parsers of the two grammars, built from tables stored beside the grammars.

    parser("ptx")  ->  Lark, 15 ms; 130 ms without tables for this grammar and this release of Lark

The tables are JSON, which nothing executes. After a change of a grammar, `python -m ptxaudit.frontend.parsers`
regenerates them.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import lark
from lark import Lark
from lark.lexer import BasicLexer, ContextualLexer, Scanner, _create_unless

from ptxaudit.base import resources

OPTIONS: dict[str, dict[str, Any]] = {
    "ptx": {
        "lexer": "contextual",
        "start": ["module", "items", "statements", "data", "operand"],
        "maybe_placeholders": True,
    },
    "sass": {"start": ["start"], "maybe_placeholders": False},
}


class _OneByOne(Scanner):
    """Tries terminals one by one, so that each is compiled once rather than once per set of acceptable terminals."""

    def _build_mres(self, terminals: Any, max_size: int) -> Any:
        return super()._build_mres(terminals, 1)  # type: ignore[no-untyped-call]  # Lark has no types there


class _Lexer(BasicLexer):
    def _build_scanner(self) -> Scanner:
        rules = self.g_regex_flags, self.re, self.use_bytes
        terminals, self.callback = _create_unless(self.terminals, *rules)  # type: ignore[no-untyped-call]
        return _OneByOne(terminals, *rules)  # type: ignore[no-untyped-call]


class _Contextual(ContextualLexer):
    BasicLexer = _Lexer


@functools.cache
def parser(name: str) -> Lark:
    """The parser of `grammars/NAME.lark`."""
    grammar = resources.grammar(f"{name}.lark")
    return _from_tables(name, grammar) or built(name, grammar)


def built(name: str, grammar: str) -> Lark:
    """Builds the parser from its grammar, without tables."""
    return Lark(grammar, parser="lalr", **OPTIONS[name])


def _from_tables(name: str, grammar: str) -> Lark | None:
    """The parser, or None if the tables are for another grammar or this Lark cannot load them."""
    try:
        tables = json.loads(resources.grammar(f"{name}.tables.json"))
        if tables["of"] != _of(name, grammar):
            return None
        table = tables["data"]["parser"]["parser"]
        table["tokens"] = dict(enumerate(table["tokens"]))
        table["states"] = dict(
            enumerate({int(token): action for token, action in state.items()} for state in tables["states"])
        )
        memo = {int(number): value for number, value in tables["memo"].items()}
        load: Callable[..., Lark] = Lark._load_from_dict  # as the standalone parsers that Lark generates do
        return load(tables["data"], memo, _plugins={"ContextualLexer": _Contextual})
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _of(name: str, grammar: str) -> list[str]:
    """The key that tables must match: the release of Lark, and a hash of the grammar with its options."""
    release = ".".join(lark.__version__.split(".")[:2])
    return [release, hashlib.sha256(f"{OPTIONS[name]}{grammar}".encode()).hexdigest()]


def tables_text(name: str) -> str:
    """The tables of a grammar as JSON, one line per state."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    grammar = resources.grammar(f"{name}.lark")
    data, memo = built(name, grammar).memo_serialize([TerminalDef, Rule])
    data["options"] = {
        key: value
        for key, value in data["options"].items()
        if key not in ("cache", "lexer_callbacks", "edit_terminals")
    }
    table = data["parser"]["parser"]
    states, tokens = table.pop("states"), table.pop("tokens")
    if list(states) != list(range(len(states))) or list(tokens) != list(range(len(tokens))):
        raise ValueError("Lark numbers its states in another way than tables have them")
    table["tokens"] = list(tokens.values())
    return "".join(_pieces({"of": _of(name, grammar), "memo": memo, "data": data}, list(states.values())))


def _pieces(document: dict[str, Any], states: list[dict[int, Any]]) -> Iterator[str]:
    write = functools.partial(json.dumps, separators=(",", ":"))
    yield "{" + ",\n".join(f"{write(key)}:{write(value)}" for key, value in document.items())
    yield ',\n"states":[\n' + ",\n".join(map(write, states)) + "]}\n"


def main() -> None:
    """Writes the tables of both grammars."""
    for name in OPTIONS:
        file = resources.grammar_file(f"{name}.lark").with_suffix(".tables.json")
        file.write_text(tables_text(name), encoding="utf-8")
        print(file)


if __name__ == "__main__":
    main()
