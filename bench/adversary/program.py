"""The output of the generator: a kernel as a tree of statements, with its launches.

    Nest((("if (u0 & 1) {", (Line("acc += s0[t & 255];"),)), ("} else {", ())), "}")
    ->  if (u0 & 1) {
            acc += s0[t & 255];
        } else {
        }

Every variable is declared before the first statement and every index is masked into its array. Any statement can
therefore be left out (`variants`): the rest still compiles, terminates and stays in its own memory.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from bench.adversary.arithmetic import helpers_of

INDENT = "    "


@dataclass(frozen=True)
class Line:
    """One statement. fixed: others need it (a label, a declaration), so that it is never left out."""

    text: str
    fixed: bool = False


@dataclass(frozen=True)
class Nest:
    """Heads, each with the statements it encloses, and a tail. With empty heads it is kept or left out as one.

    plain: its first body may replace it (it contains no `break` and no label).
    """

    parts: tuple[tuple[str, tuple[Statement, ...]], ...]
    tail: str = "}"
    plain: bool = True
    fixed: bool = False


@dataclass(frozen=True)
class Group:
    """Statements that are kept or left out together: a write, a barrier and the read after it."""

    body: tuple[Statement, ...]
    fixed: bool = False


Statement = Line | Nest | Group


def render(body: tuple[Statement, ...], depth: int = 1) -> Iterator[str]:
    """The lines of statements."""
    margin = INDENT * depth
    for one in body:
        if isinstance(one, Line):
            yield margin + one.text
        elif isinstance(one, Group):
            yield from render(one.body, depth)
        else:
            for head, inner in one.parts:
                yield margin + head
                yield from render(inner, depth + 1)
            yield margin + one.tail


@dataclass(frozen=True)
class Routine:
    """A device function, or the kernel. head: the text before its opening brace."""

    head: str
    body: tuple[Statement, ...]

    def lines(self) -> Iterator[str]:
        yield self.head + " {"
        yield from render(self.body)
        yield "}"


# --- launches -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fill:
    """Contents given by a formula that needs no library: element i is low + ((i * step) ^ (i >> shift)) % modulo.

    stored: instead, all of them, compressed by zlib, as base64.
    """

    type: str = "uint32"  # NumPy's name
    count: int = 4096
    step: int = 1
    shift: int = 31
    modulo: int = 1 << 31
    low: int = 0
    stored: str = ""

    def data(self) -> Any:
        """The elements, as an array of `type`."""
        import numpy as np

        if self.stored:
            return np.frombuffer(zlib.decompress(base64.b64decode(self.stored)), self.type).copy()
        i = np.arange(self.count, dtype=np.uint64)
        return (
            (i * np.uint64(self.step) ^ i >> np.uint64(self.shift)) % np.uint64(self.modulo) + np.uint64(self.low)
        ).astype(self.type)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    kind: "buffer" (`value` names it), "low" or "high" (a half of a buffer's address), "number" (its value is per
    launch), or "bytes" (a structure: hexadecimal digits per launch). type: as in the source; size: bytes.
    """

    name: str
    type: str
    kind: str
    size: int
    value: str = ""


@dataclass(frozen=True)
class Shape:
    """One launch. values: of the parameters of kind "number" and "bytes", by name."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None = None
    dynamic_shared: int = 0
    values: dict[str, int | float | str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Program:
    """One generated kernel. buffers: the targets of pointers, by name; symbols: what the host writes into variables."""

    seed: int
    name: str
    features: tuple[str, ...]
    preamble: tuple[str, ...]  # includes, helpers, variables
    routines: tuple[Routine, ...]
    kernel: Routine
    parameters: tuple[Parameter, ...]
    buffers: dict[str, Fill] = field(hash=False)
    symbols: dict[str, Fill] = field(hash=False)
    shapes: tuple[Shape, ...] = ()
    tables: str = ""  # between the routines and the kernel
    renamed: dict[str, str] = field(default_factory=dict, hash=False)

    def source(self) -> str:
        lines = [f"// seed {self.seed}: {', '.join(self.features)}", *self.preamble]
        for routine in self.routines:
            lines += ["", *routine.lines()]
        text = "\n".join([*lines, self.tables, *self.kernel.lines()]) + "\n"
        helpers = "\n".join(helpers_of(text))
        text = f"{helpers}\n{text}" if helpers else text
        return re.sub(r"(?<![\\\w])\w+", lambda match: self.renamed.get(match[0], match[0]), text)


# --- leaving statements out ---------------------------------------------------------------------


def variants(program: Program) -> Iterator[Program]:
    """The program with one statement less, or with one nest replaced by its body; large reductions first."""
    found: list[tuple[int, Program]] = []
    for at, routine in enumerate((*program.routines, program.kernel)):
        for body in _smaller(routine.body):
            found.append((_size(body), _with_routine(program, at, replace(routine, body=body))))
    yield from (one for _, one in sorted(found, key=lambda pair: pair[0]))


def _with_routine(program: Program, at: int, routine: Routine) -> Program:
    if at == len(program.routines):
        return replace(program, kernel=routine)
    return replace(program, routines=(*program.routines[:at], routine, *program.routines[at + 1 :]))


def _smaller(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    for at, one in enumerate(body):
        before, after = body[:at], body[at + 1 :]
        if not one.fixed:
            yield before + after
        if isinstance(one, Nest):
            if one.plain and not one.fixed:
                for _, inner in one.parts:
                    yield before + inner + after
            for place, (head, inner) in enumerate(one.parts):
                for less in _smaller(inner):
                    yield (
                        *before,
                        replace(one, parts=(*one.parts[:place], (head, less), *one.parts[place + 1 :])),
                        *after,
                    )
        elif isinstance(one, Group) and one.fixed:
            for less in _smaller(one.body):
                yield (*before, replace(one, body=less), *after)


def _size(body: tuple[Statement, ...]) -> int:
    return sum(1 for _ in render(body))
