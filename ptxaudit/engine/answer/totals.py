"""Sums over the requests of a site that have a figure."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ptxaudit.hardware.scores import Scores

EVIDENCE = ("by rule", "measured")  # the weaker first


def most(a: int | None, b: int | None) -> int | None:
    """The greater of two figures, either of which may be missing."""
    if a is None:
        return b
    return a if b is None else max(a, b)


class Totals(Struct, eq=False):
    """Sums over scored requests.

    ideal, ideal_most: lower and upper bound of the sum of ideals. lines, lines_low: upper and lower bound of the sum
    of k. line_class_max: the most that any request may have; line_class_low: what some request has at least;
    line_class_each: what each has at least.
    """

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
    """The scores of a rule, widened over everything that is unknown about the requests.

    ideal, ideal_most: lower and upper bound of the ideal; lines_low, lines: of the lines.
    """

    ideal_most: np.ndarray

    @classmethod
    def of(cls, scores: Scores) -> Widened:
        """Copies the scores, to be widened."""
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
