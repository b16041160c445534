"""Reads the members of a structure that the same file declares.

struct Two { float x, y; };  ->  [("x", "float", 4), ("y", "float", 4)]
"""

from __future__ import annotations

from ptxaudit.review.fix.cpp import SIZES
from ptxaudit.review.fix.declared import Declared


def structure_members(declared: Declared) -> list[tuple[str, str, int]]:
    """(name, type, bytes) of the members of an array's structure; [] if they cannot be determined."""
    text, name = declared.text, declared.type
    for at, token in enumerate(text.tokens[:-2]):
        if token.text in ("struct", "class") and text.tokens[at + 1].text == name and text.tokens[at + 2].text == "{":
            out: list[tuple[str, str, int]] = []
            kind = ""
            words: list[str] = []
            for inner in text.tokens[at + 3 : text.pairs.get(at + 2, at + 3)]:
                if inner.text in (",", ";"):
                    *before, member = words or [""]
                    kind = " ".join(before) or kind
                    if not member or kind not in SIZES:
                        return []
                    out.append((member, kind, SIZES[kind]))
                    words = []
                    kind = "" if inner.text == ";" else kind
                elif inner.kind == "name":
                    words.append(inner.text)
                else:
                    return []
            return out
    return []
