"""The table of operations: what a row says of one, and the table itself, which `table` fills.

    OPS["add"]  ->  Row(np.add on arrays, "ss", affine=the rule on values, range=the sum of ranges, linear=True, …)

A row is all that the engine knows of an operation: its meaning on numbers (`concrete`), and a sound transfer function
for each abstract domain in which it has one. Where one lacks (None, False), the result of
unknown sources is unknown there.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ptxaudit.base.records import Record

Run = Callable[..., Any]  # (bits, attrs, one array for each source); arrays, as many as there are results


class Origin(Enum):
    """What an address that an operation makes may point into (points-to analysis: Andersen 1994, ch. 4)."""

    OPAQUE = "not known"
    NUMBER = "nothing: the result is a number"
    SOURCE = "what its first source does"
    EITHER = "what its first source does, or its second"
    SUM = "what one of its sources does: an address and offsets"
    ADDEND = "what its third source does: the product is a number"
    PIECE = "a part of what its source does"
    PAIR = "what the two words of it do together"
    MIXED = "nothing if all its sources are numbers, else not known"


class Row(Record, eq=False):
    """One operation. `concrete(op_bits, attrs, *arrays)`; `undefined(…)` marks lanes without a result.

    candidates: in place of `concrete` where only a few numbers are known of which the result is one: (all of them,
    first axis new; the lanes where it may be another). widths: which sources are read at the operation's width
    ("same"), as they are ("own"), or at 32 bits ("count"), one letter each: s, o, c, p (predicate), h (half the width).
    predicate: the result is one.

    affine: on values that are affine in unknowns, `affine(op, *values)`, None where it has no rule for these. bits: on
    numbers of which some bits are known, `bits(op, *tristates)`, None where no bit of the result is. range: on ranges
    of offsets, `range(op, *ranges)`. linear: of sources that change by the same in every trip of a loop the result
    does. lone: of a predicate that is not known, `lone(op, *values)`: whether it holds in one lane of a warp at most,
    and whether it fails so. strict: nothing is known of it where nothing is known of one source. origin: where an
    address that it makes points.
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
    origin: Origin = Origin.OPAQUE

    def letters(self, count: int) -> str:
        """The letters of so many sources: "o*" stands for any number."""
        own = self.widths.rstrip("*")
        return own if len(own) == count else (own + own[0] * count)[:count]


# Every operation as it is on any machine; what a unit was not measured for is as documents bound it.
OPS: dict[str, Row] = {}


def source_bits(letter: str, op_bits: int, own_bits: int) -> int:
    """The width at which a source is read, by its letter in `Row.widths`."""
    return {"s": op_bits, "o": own_bits, "c": 32, "p": 1, "h": op_bits // 2}[letter]
