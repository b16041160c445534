"""The rows of the table of operations, and the table, which the module `table` fills.

    OPS["add"]  ->  Row(np.add on arrays, "ss", affine=the rule on values, range=the sum of ranges, linear=True, …)

A row is all that the engine knows of an operation: its concrete semantics (`concrete`), and a sound transfer function
for each abstract domain that supports it. Where one is missing (None, False), that domain knows nothing of the result
of unknown sources.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ptxaudit.base.records import Record

Run = Callable[..., Any]  # (bits, attrs, one array per source) -> one array per result


class Origin(Enum):
    """Where an address that an operation computes may point (points-to analysis: Andersen 1994, ch. 4)."""

    OPAQUE = "anywhere"
    NUMBER = "nowhere: the result is a number"
    SOURCE = "where its first source points"
    EITHER = "where its first or its second source points"
    SUM = "where one of its sources points: an address plus offsets"
    ADDEND = "where its third source points: the product is a number"
    PIECE = "a part of the pointer that is its source"
    PAIR = "where the pointer made of its two words points"
    MIXED = "nowhere if all its sources are numbers, else anywhere"


class Row(Record, eq=False):
    """One operation. `concrete(op_bits, attrs, *arrays)`; `undefined(…)` marks lanes without a result.

    candidates: replaces `concrete` if the result is only known to be one of a few numbers: (all of them along a new
        first axis, lanes where it may be another).
    widths: how each source is read, one letter each: s at the operation's width ("same"), o at its own, c at 32 bits
        ("count"), p as a predicate, h at half the width. predicate: the result is one.
    affine: on values that are affine in unknowns, `affine(op, *values)`; None if it has no rule for these.
    bits: on numbers with known bits, `bits(op, *tristates)`; None if no bit of the result is known.
    range: on ranges of offsets, `range(op, *ranges)`.
    linear: if each source changes by a constant in every trip of a loop, so does the result.
    lone: of an unknown predicate, `lone(op, *values)`: whether it is true in at most one lane of a warp, and whether
        it is false in at most one.
    strict: the result is opaque if any source is.
    chosen: which of its candidates results is chosen anew in each execution, so that equal sources may differ in it.
    origin: where an address that it computes points.
    """

    concrete: Run
    widths: str
    undefined: Run | None = None
    results: int = 1
    predicate: bool = False
    candidates: Run | None = None
    affine: Callable[..., Any] | None = None
    bits: Callable[..., Any] | None = None
    range: Callable[..., Any] | None = None
    linear: bool = False
    lone: Callable[..., tuple[bool, bool]] | None = None
    strict: bool = False
    chosen: bool = False
    origin: Origin = Origin.OPAQUE

    def letters(self, count: int) -> str:
        """The letters of `count` sources: "o*" stands for any number."""
        own = self.widths.rstrip("*")
        return own if len(own) == count else (own + own[0] * count)[:count]


# Every operation as on any machine: functions that were measured on some are here as documents bound them.
OPS: dict[str, Row] = {}


def source_bits(letter: str, op_bits: int, own_bits: int) -> int:
    """The width at which a source with this letter of `Row.widths` is read."""
    return {"s": op_bits, "o": own_bits, "c": 32, "p": 1, "h": op_bits // 2}[letter]
