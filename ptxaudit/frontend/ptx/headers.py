"""Removes function bodies from PTX: the rest specifies the kernels, with their parameters and bounds.

    .entry k(.param .u64 p) .maxntid 64 { .reg .u32 %r<5>; mov.u32 %r1, %tid.x; ret; }
 -> .entry k(.param .u64 p) .maxntid 64 { }

Libraries contain megabytes of PTX, and listing them needs no bodies.
"""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"^[^\n/\"{}]*\.(?:entry|func)\b", re.MULTILINE)
_MARK = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|[{};]", re.DOTALL)


def without_bodies(text: str) -> str:
    """The text with empty function bodies. After an unclosed body it stays as it is."""
    out: list[str] = []
    at = 0
    while found := _FUNCTION.search(text, at):
        body = _body(text, found.end())
        if body is None:  # a declaration, or truncated
            out.append(text[at : found.end()])
            at = found.end()
            continue
        begin, end = body
        out.append(text[at : begin + 1])
        at = end
    out.append(text[at:])
    return "".join(out)


def _body(text: str, at: int) -> tuple[int, int] | None:
    """The positions of a function's opening and closing brace, searched from its directive; None if it has no body."""
    depth, begin = 0, 0
    for mark in _MARK.finditer(text, at):
        match mark[0]:
            case "{":
                begin, depth = begin if depth else mark.start(), depth + 1
            case "}":
                depth -= 1
                if depth <= 0:
                    return (begin, mark.start()) if depth == 0 else None
            case ";" if depth == 0:
                return None
    return None
