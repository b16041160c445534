"""Words for unknown numbers, from their names.

    param_2                                parameter 2
    param_2[4:8]                           parameter 2 (bytes 4 to 7)
    trip of k.cu:26                        the trip of k.cu:26
    !((param_0[28:32] > 0) | (n == 0) …    a value computed from parameter 0 (bytes 28 to 31), n …

A formula that is too long to read is described by its inputs; its name may already be truncated ("…").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from ptxaudit.base.words import listing

LONG_NAME = 60  # characters; longer names are described by their inputs
MOST_NAMED = 3  # inputs of a formula


class Unknown(Protocol):
    """An unknown number, as a reason refers to it. data: it is computed from unspecified data."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def data(self) -> bool: ...


_NOUNS = frozenset(("trip", "change", "choice", "value", "vote", "answer", "active"))  # first words of names
_NUMBERED = re.compile(r"\bparam_(\d+)\b(?:\[(\d+):(\d+)\])?")  # a parameter without a name
_WINDOW = re.compile(r"%(shared|local)_window_(?:lo|hi)")  # a special register with the start of the window
_PART = re.compile(r"\[\d+:\d+\]|/\d+$")  # of a variable: pitches[4:8]
_LOADED = re.compile(r"(?:value loaded|answer of the barrier|__syncthreads_\w+|(?:vote|shfl)\.\w+) at [^\s()]+")
_SOURCE = re.compile(
    rf"{_LOADED.pattern}|(?:choice|change) (?:at|in) [^\s()]+|trip of (?:loop \d+ at )?[^\s()]+"
    r"|a parameter at an unknown index|%\w+(?:\.\w+)*|[A-Za-z_]\w*(?:(?:::|\.)\w+)*(?:\[\d+:\d+\])?"
    r"(?![\w(]|(?:(?:::|\.)\w+)+\()"  # not the name of an operation, as in mulhi.u(
)
_BYTES = re.compile(r"(.+)\[(\d+):(\d+)\]")  # of a variable
_WITHIN = frozenset(("wraps",))  # operators that appear in formulas as words
_ENDING = re.compile(r"[\w.:\[]*…[0-9a-f]*$|…")  # the end of a truncated name


def called(name: str) -> str:
    """The words for an unknown in a sentence: "parameter 2", "the trip of k.cu:26", "a value computed from n"."""
    if len(name) > LONG_NAME:
        found = sources(name)
        return f"a value computed from {listed(found)}" if found else name[:LONG_NAME] + "…"
    first, space, _ = name.partition(" ")
    return f"the {name}" if space and first in _NOUNS else in_formula(name)


def in_formula(formula: str) -> str:
    """A formula with words for its parameters and for the windows of generic addresses."""
    return _WINDOW.sub(r"the generic address of \1 memory", _NUMBERED.sub(_parameter, formula))


def _parameter(found: re.Match[str]) -> str:
    number, begin, end = found.groups()
    return f"parameter {number}" + (f" (bytes {begin} to {int(end) - 1})" if begin else "")


def sources(formula: str) -> list[str]:
    """The inputs of a formula, in words, each once."""
    return list(dict.fromkeys(map(called, _joined(_parts(formula)))))


def _parts(formula: str) -> list[str]:
    """The names in a formula; if it is truncated, those before the cut."""
    found = _SOURCE.findall(_ENDING.sub(" ", formula))
    return [one for one in found if one not in _WITHIN and len(one) <= LONG_NAME]


def _joined(names: Iterable[str]) -> list[str]:
    """The names, each once; adjacent bytes of one variable are merged."""
    given = list(names)
    parts: dict[str, list[tuple[int, int]]] = {}
    for name in given:
        of = _BYTES.fullmatch(name)
        parts.setdefault(of[1] if of else name, []).extend([(int(of[2]), int(of[3]))] if of else [])
    out = []
    for name, spans in parts.items():
        if name in given:
            out.append(name)
            continue
        merged: list[tuple[int, int]] = []
        for begin, end in sorted(spans):
            if merged and begin <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((begin, end))
        out += [f"{name}[{begin}:{end}]" for begin, end in merged]
    return out


def of_unknowns(unknowns: Iterable[Unknown]) -> list[str]:
    """The inputs of unknowns, each once; of data only the places where it is loaded."""
    return list(dict.fromkeys(map(called, _joined(one for unknown in unknowns for one in _of(unknown)))))


def _of(unknown: Unknown) -> list[str]:
    """The names of its inputs."""
    name = unknown.name
    if unknown.data and (loaded := _LOADED.findall(name)):
        return loaded
    return _parts(name) if len(name) > LONG_NAME else [name] if name and name not in _WITHIN else []


def listed(names: Sequence[str]) -> str:
    """The first few names, and whether there are others."""
    return listing([*names[:MOST_NAMED], *(["others"] if len(names) > MOST_NAMED else [])])


def named(unknowns: Iterable[Unknown]) -> str:
    """Unknowns by name; long names are formulas."""
    return ", ".join(
        dict.fromkeys(_of_data(u.name) if u.data and len(u.name) > LONG_NAME else called(u.name) for u in unknowns)
    )


def _of_data(formula: str) -> str:
    """The words for a long formula of data: "the value loaded at k.cu:12 and others"."""
    first, *others = dict.fromkeys(_LOADED.findall(formula)) or [""]
    return f"{called(first)}{' and others' if others else ''}" if first else "data loaded from memory"


def is_source(name: str) -> bool:
    """Whether a name is that of a value that is loaded, or that warps or lanes agree on, rather than a formula."""
    return _LOADED.fullmatch(name) is not None


def without_inversion(name: str) -> tuple[str, bool]:
    """The name of a truth value without the inversions and the brackets around it, and whether it is inverted."""
    inverted = False
    while name.startswith("!"):
        name, inverted = name[1:], not inverted
    return (name[1:-1] if name.startswith("(") and name.endswith(")") and _closes_last(name) else name), inverted


def _closes_last(name: str) -> bool:
    """Whether the last bracket of a name closes the first."""
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return at == len(name) - 1
    return False


def option(unknown: Unknown) -> str:
    """The option that specifies it: "--param n"; "" if there is none."""
    if unknown.kind == "parameter":
        whole = _PART.sub("", unknown.name)
        numbered = _NUMBERED.fullmatch(whole)
        return f"--param {numbered[1] if numbered else whole}"
    if unknown.kind == "symbol":
        return f"--symbol {_PART.sub('', unknown.name)}"
    return "--block" if unknown.kind == "block shape" else ""
