"""Uses of a shared array's name in the source that a new layout would break unseen by the comparison of requests.

    { float s[4]; s[i] = … }                  another variable of the same name: its indices must stay as they are
    &tile[1][0] - &tile[0][0]                 the difference of two addresses: a number that the layout changes
    decltype(tile), sizeof(tile)              the type of the array: the layout changes its size
    count(tile)                               a template that deduces a bound and computes with it

Like `cpp`, this reads tokens, not C++. A difference that is taken through variables is not seen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from ptxaudit.review.fix.cpp import Access, Declaration, Text

_BEFORE_VALUES = frozenset(
    ("return", "else", "do", "case", "goto", "throw", "new", "delete", "sizeof", "typename", "and", "or", "not", "xor")
)  # names that an expression may follow; after any other one, a name is declared
_ENDS = frozenset((";", "{", "}"))
_CASTS = frozenset(("reinterpret_cast", "static_cast", "const_cast"))
_TYPE = frozenset(("*", "&", "::", "<", ">", ","))


def redeclared(text: Text, declaration: Declaration) -> int | None:
    """The line that declares another variable of the same name inside the array's scope, None if there is none."""
    for access in text.accesses(declaration):
        at = _token_at(text, access.start)
        before = text.tokens[at - 1]
        if (
            before.kind == "name"
            and before.text not in _BEFORE_VALUES
            or before.text == ","
            and _declares(text, at - 1)
        ):
            return access.line
    return None


def _declares(text: Text, at: int) -> bool:
    """The statement with this comma begins with two names, a type and a variable."""
    while at > 0 and text.tokens[at - 1].text not in _ENDS:
        if text.tokens[at - 1].text in ("(", "["):
            return False
        at = text.openings.get(at - 1, at - 1)
    first, second = text.tokens[at], text.tokens[at + 1]
    return first.kind == second.kind == "name" and first.text not in _BEFORE_VALUES


def differences(text: Text, declaration: Declaration) -> Iterator[int]:
    """Lines that subtract an address inside the array, or from one."""
    for access in text.accesses(declaration):
        if not loose(access, declaration) or access.of_size:
            continue
        first, last = _token_at(text, access.start), _token_at(text, access.end, end=True)
        while last + 1 < len(text.tokens) and text.tokens[last + 1].text == ")":
            last += 1
        if text.tokens[last + 1 if last + 1 < len(text.tokens) else last].text == "-" or _subtracted(text, first):
            yield access.line


def deduced(text: Text, declaration: Declaration) -> Iterator[tuple[int, str]]:
    """(line, function) of calls that pass the array to a function template of the file whose body uses a bound that it
    deduces from the array."""
    for access in text.accesses(declaration):
        if access.indices or access.of_size or access.of_address:
            continue
        at = _token_at(text, access.start) - 1
        while at > 0 and text.tokens[at].text not in (*_ENDS, "("):
            at = text.openings.get(at, at) - 1
        name = at - 1
        if text.tokens[name].text == ">":
            name = (_angle(text, name) or name) - 1
        if text.tokens[at].text == "(" and _uses_bounds(text, text.tokens[name].text):
            yield access.line, text.tokens[name].text


def _uses_bounds(text: Text, function: str) -> bool:
    """A template of this name has an array parameter, a bound of which is a template parameter that its body uses."""
    for at, token in enumerate(text.tokens[:-1]):
        end = text.pairs.get(at + 1) if token.text == function and text.tokens[at + 1].text == "(" else None
        if end is None or end + 1 >= len(text.tokens) or text.tokens[end + 1].text != "{":
            continue
        names = text.template_names(at)
        inside = text.tokens[at + 2 : end]
        bounds = {
            second.text for first, second in zip(inside, inside[1:]) if first.text == "[" and second.text in names
        }
        if bounds and any(token.text in bounds for token in text.tokens[end + 1 : text.pairs.get(end + 1, end + 1)]):
            return True
    return False


def loose(access: Access, declaration: Declaration) -> bool:
    """It does not name one element's value: some indices are missing, or an address is taken."""
    return len(access.indices) < len(declaration.dims) or access.of_address


def _subtracted(text: Text, at: int) -> bool:
    """The expression before which a binary minus stands, without casts and brackets, begins at this token."""
    while at > 1:
        before = text.tokens[at - 1].text
        if before in ("(", "&", "*"):
            at -= 1
        elif before == ")" and at - 1 in text.openings and _is_cast(text, text.openings[at - 1], at - 1):
            at = text.openings[at - 1]
        elif before == ">" and (opening := _angle(text, at - 1)) and text.tokens[opening - 1].text in _CASTS:
            at = opening - 1
        else:
            return before == "-" and (
                text.tokens[at - 2].kind in ("name", "number") or text.tokens[at - 2].text in (")", "]")
            )
    return False


def _is_cast(text: Text, opening: int, closing: int) -> bool:
    inside = text.tokens[opening + 1 : closing]
    return bool(inside) and all(token.kind == "name" or token.text in _TYPE for token in inside)


def _angle(text: Text, at: int) -> int | None:
    """The angle bracket that the one at this token closes."""
    depth = 0
    while at > 0 and text.tokens[at].text not in _ENDS:
        depth += {">": 1, ">>": 2, "<": -1}.get(text.tokens[at].text, 0)
        if depth == 0:
            return at
        at -= 1
    return None


def _token_at(text: Text, place: int, end: bool = False) -> int:
    """The number of the token that begins, or ends, at a place of the text."""
    return bisect_left(text.tokens, place, key=lambda token: token.end if end else token.start)
