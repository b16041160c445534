"""Sums over the requests of a site that have a figure."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ptxaudit.hardware.scores import Scores

EVIDENCE = ("by rule", "measured")  # the weaker first


def most(a: int | None, b: int | None) -> int | None:
    """The greater of two figures of which there may be none."""
    if a is None:
        return b
    return a if b is None else max(a, b)


class Totals(Struct, eq=False):
    """Sums over scored requests. ideal, ideal_most: the least and the most that their ideals may come to. lines,
    lines_low: so with k; line_class_max: of any request at most, line_class_low: of some request at least,
    line_class_each: of each at least."""

    low: int = 0
    high: int = 0
    ideal: int = 0
    ideal_most: int = 0
    ways: int = 0
    per_low: int | None = None
    per_high: int | None = None
    ideal_low: int | None = None
    ideal_high: int | None = None
    lines: int = 0
    lines_ideal: int = 0
    lines_low: int = 0
    line_class_max: int = 0
    line_class_low: int = 0
    line_class_each: int | None = None
    uncounted: bool = False  # cp.async.cg: no counter sees its wavefronts


class Widened(Scores, kw_only=True):
    """What a rule gives, widened over all that is open of the requests. ideal, ideal_most: the least and the most that
    the ideal may be; lines, lines_low: so, the most first."""

    ideal_most: np.ndarray

    @classmethod
    def of(cls, scores: Scores) -> Widened:
        """Copies, to be widened."""
        least = scores.lines if scores.lines_low is None else scores.lines_low
        return cls(
            np.array(scores.low),
            np.array(scores.high),
            np.array(scores.ideal),
            np.array(scores.ways),
            None if scores.lines is None else np.array(scores.lines),
            None if scores.lines_ideal is None else np.array(scores.lines_ideal),
            scores.evidence,
            None if least is None else np.array(least),
            ideal_most=np.array(scores.ideal),
        )
