"""Writes docs/reference/*.md from the commands, the Python API and the table of reasons: `make reference`.

python -m bench.reference_doc          writes them
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

import ptxaudit
from ptxaudit.ir.reasons import Kind, Reason, Words
from ptxaudit.ui.cli import main

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Written by `make reference`. Do not edit. -->\n\n"

API = """\
All of it is in the module `ptxaudit`. What is wrong with an input is an `InputError`, whose text says which file, where in it, and what to
do. The HTML report, JSON and the rest are made of a `Report`; its JSON has a schema, `ptxaudit/report/schemas/report-1.schema.json`.
"""

REASONS = """\
Why a site has no exact figure: `reason_kind` in JSON, and the words that reports make of it, with names in braces for what they name. *Data*: what data
decide, so that the site is called data-dependent.
"""


def pages() -> dict[str, str]:
    """The text of each page, by file name."""
    parts = {
        "commands": ("Commands", commands()),
        "python": ("Python", [API, *names()]),
        "reasons": ("Reasons", [REASONS, *reasons()]),
    }
    return {f"{name}.md": f"# {title}\n\n{MADE}" + "\n".join(made) for name, (title, made) in parts.items()}


def commands() -> Iterator[str]:
    context = click.Context(main, info_name="ptxaudit")
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context, terminal_width=100, max_content_width=100)
        yield f"## {name}\n\n```text\n{command.get_help(own)}\n```\n"


def names() -> Iterator[str]:
    for name in ptxaudit.__all__:
        what = getattr(ptxaudit, name)
        if callable(what):
            yield f"## {name}\n\n```text\n{inspect.getdoc(what)}\n```\n" + _signature(name, what)


def _signature(name: str, what: object) -> str:
    """The parameters, one per line; none for an exception."""
    if not callable(what) or (isinstance(what, type) and issubclass(what, Exception)):
        return ""
    parameters = [
        re.sub(r"<function (\w+) at \w+>", r"\1", str(parameter).replace("'", ""))
        for parameter in inspect.signature(what).parameters.values()
    ]
    return f"\n```text\n{name}(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + ")\n```\n"


def reasons() -> Iterator[str]:
    rows = [f"| `{kind.text}` | {_words(kind)} | {'yes' if kind.row.data else ''} |" for kind in Kind]
    yield "\n".join(["| kind | words | data |", "|---|---|---|", *rows]) + "\n"


_LISTS = {"names", "options", "pointers", "addresses", "specified"}


class Named:
    """An unknown that reports would name."""

    name, kind, data = "{name}", "parameter", False


class Placeholders(Words):
    """Placeholders for the parts of a reason, since there is no program."""

    def of(self, part: object) -> str:
        return str(part)

    def cause(self, reason: object) -> str:
        return "{cause}"


def _words(kind: Kind) -> str:
    words = kind.row.words
    if isinstance(words, str):
        return words
    names = kind.row.names or ("…",)
    given = tuple([f"{{{name}}}"] if name in _LISTS else f"{{{name}}}" for name in names)
    return words(Reason(kind, given=given, unknowns=(Named(),), cause=Reason(Kind.ADDRESS)), Placeholders())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
