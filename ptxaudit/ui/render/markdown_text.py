"""Text in Markdown: what is no mark-up in it, and how much of it a comment on a pull request holds."""

from __future__ import annotations

from itertools import accumulate, takewhile

from ptxaudit.base.words import plural

LONGEST = 60_000  # characters: a comment on GitHub holds 65,536


def fitting(blocks: list[str], tables: list[str]) -> list[str]:
    """The blocks, with as many of the tables of kernels as a comment holds, and how many it does not."""
    left = LONGEST - sum(map(len, blocks))
    shown = sum(1 for _ in takewhile(lambda length: length <= left, accumulate(map(len, tables))))
    more = [f"and {plural(len(tables) - shown, 'more kernel')}"] if shown < len(tables) else []
    return [*blocks, *tables[:shown], *more]


def plain(text: str) -> str:
    """Text in one line, in which nothing is Markdown."""
    return (
        escaped(" ".join(text.split())).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("`", "\\`")
    )


def code(text: str) -> str:
    """What stands between two backticks, in a table too."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|")


def escaped(text: str) -> str:
    """The same in HTML, which Markdown takes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
