"""Formats numbers, intervals, plurals and lists for people."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: int | None) -> str:
    """12345 -> "12,345"; None -> a dash."""
    return "–" if value is None else f"{value:,}"


def interval(low: int, high: int) -> str:
    """ "8" when both ends are equal, else "8–16"."""
    return number(low) if low == high else f"{number(low)}–{number(high)}"


def plural(count: int, word: str, several: str = "") -> str:
    """ "1 site", "2 sites"."""
    return f"{count:,} {word if count == 1 else several or word + 's'}"


def listing(items: list[str], last: str = "and") -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""


def nearest(word: str, known: Iterable[str], also: Iterable[str] = ()) -> str:
    """The known word closest to this one; "" if none is near. also: spellings of the word that are tried first."""
    from difflib import get_close_matches

    words = list(known)
    exact = next((one for one in also if one in words), "")
    return exact or next(iter(get_close_matches(word, words, 1)), "")


def cut_at(text: str, most: int) -> str:
    """The text; if it is longer than `most`, its beginning and an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def bare_name(function: str) -> str:
    """A demangled name without return type and parameters: "void a::k<int, 2>(float*)" -> "a::k<int, 2>"."""
    depth = start = 0
    for at, letter in enumerate(function):
        parameters = (
            letter == "("
            and not function.startswith("(anonymous namespace)", at)
            and not function.endswith("operator", 0, at)
        )
        if depth == 0 and parameters:
            return function[start:at]
        if letter in "<({[":
            depth += 1
        elif letter in ">)}]":
            depth -= 1
        elif depth == 0 and letter == " ":
            start = at + 1
    return function[start:]


def sequence(numbers: list[int], most: int = 12) -> str:
    """ "16, 16, 8", cut after `most`."""
    return ", ".join(number(n) for n in numbers[:most]) + (", …" if len(numbers) > most else "")
