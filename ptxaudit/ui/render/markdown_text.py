"""Escapes text for Markdown, and limits a comment on a pull request to its maximum length."""

from __future__ import annotations

from itertools import accumulate, takewhile

from ptxaudit.base.words import plural

LONGEST = 60_000  # characters: GitHub's limit for a comment is 65,536


def fitting(blocks: list[str], tables: list[str]) -> list[str]:
    """The blocks, with as many kernel tables as fit into a comment, and the number left out."""
    left = LONGEST - sum(map(len, blocks))
    shown = sum(1 for _ in takewhile(lambda length: length <= left, accumulate(map(len, tables))))
    more = [f"and {plural(len(tables) - shown, 'more kernel')}"] if shown < len(tables) else []
    return [*blocks, *tables[:shown], *more]


def plain(text: str) -> str:
    """Text in one line, with Markdown characters escaped."""
    return (
        escaped(" ".join(text.split())).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("`", "\\`")
    )


def code(text: str) -> str:
    """Text for a code span between two backticks, even inside a table."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|")


def escaped(text: str) -> str:
    """Text escaped for HTML in Markdown."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
