"""Small words for people: numbers with separators, intervals, plurals."""

from __future__ import annotations


def number(value: int | None) -> str:
    """12345 -> "12,345"; None -> a dash."""
    return "–" if value is None else f"{value:,}"


def interval(low: int, high: int) -> str:
    """"8" when both ends are equal, else "8–16"."""
    return number(low) if low == high else f"{number(low)}–{number(high)}"


def plural(count: int, word: str, several: str = "") -> str:
    """"1 site", "2 sites"."""
    return f"{count:,} {word if count == 1 else several or word + 's'}"


def listing(items: list[str], last: str = "and") -> str:
    """"a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""
