"""Cuts the bodies of functions out of PTX: what is left says what kernels there are, with parameters and bounds.

    .entry k(.param .u64 p) .maxntid 64 { .reg .u32 %r<5>; mov.u32 %r1, %tid.x; ret; }
 -> .entry k(.param .u64 p) .maxntid 64 { }

A library holds megabytes of PTX, and its listing needs none of that.
"""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"^[^\n/\"{}]*\.(?:entry|func)\b", re.MULTILINE)
_MARK = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|[{};]", re.DOTALL)


def without_bodies(text: str) -> str:
    """The text with empty function bodies. Text that is not closed stays as it is from there on."""
    out: list[str] = []
    at = 0
    while found := _FUNCTION.search(text, at):
        body = _body(text, found.end())
        if body is None:  # a declaration, or cut off
            out.append(text[at : found.end()])
            at = found.end()
            continue
        begin, end = body
        out.append(text[at : begin + 1])
        at = end
    out.append(text[at:])
    return "".join(out)


def _body(text: str, at: int) -> tuple[int, int] | None:
    """Where a function's braces open and close, from behind its directive on; None where it has none."""
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
