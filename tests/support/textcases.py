"""Reads tests that are text: a file of cases, each with its input and expected output.

==== name of the case
input
---- kind of output
expected output
"""

from __future__ import annotations

from dataclasses import dataclass

from paths import CASES


@dataclass(frozen=True)
class TextCase:
    """title; input; outputs: kind -> expected text. Texts have no final line break."""

    title: str
    input: str
    outputs: dict[str, str]

    def __str__(self) -> str:
        return self.title


def read(name: str) -> list[TextCase]:
    """The cases of tests/cases/NAME; lines before the first case are its introduction."""
    found = []
    for block in ("\n" + (CASES / name).read_text()).split("\n==== ")[1:]:
        head, *sections = block.split("\n---- ")
        title, _, text = head.partition("\n")
        outputs = dict(section.rstrip("\n").partition("\n")[::2] for section in sections)
        found.append(TextCase(title, text.rstrip("\n"), outputs))
    return found
