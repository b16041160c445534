"""One round of a loop with the number of rounds as an unknown k: what it computes, and for which k that holds.

    add r1, r1, 4         r1 = now + 4 k, before and after
    setp p, r1, 1000      as for k = 0, for k below some limit

An operation without such a form ends the round (`NotAffine`), and the loop is executed trip by trip.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxaudit.engine.domain import affine, comparisons
from ptxaudit.engine.domain.lanes import varies
from ptxaudit.engine.domain.value import Uniform, Value, signed


class NotAffine(Exception):
    """The round uses k in a way that has no closed form."""


@dataclass
class Round:
    """A round that is executed with k as an unknown."""

    head: int
    symbol: Uniform
    laps: int  # arrivals at the head that end the round
    limit: int  # rounds for which no comparison changes
    requests: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(
        default_factory=list
    )  # the function and arguments that add each to a record
    long: bool = False  # the loop has many trips: worth more effort
    forgets: bool = False  # … and what atomic operations change in memory may become unknown
    live: Container[str] | None = None  # registers that may be read before a trip writes them; None: possibly all

    def ends(self, block: int, pc: int, cohort: Any) -> bool:
        """Whether a cohort that reaches a basic block, which begins at pc, stops there."""
        return False

    def note(self, add: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        """Keeps a request, to be added to a record if the round is confirmed."""
        self.requests.append((add, arguments))

    def mentions(self, value: Value | None) -> bool:
        return value is not None and any(u is self.symbol or u == self.symbol for u, _ in value.terms)

    def moves_as_a_whole(self, address: Value, active: np.ndarray, shift: int) -> bool:
        """Whether a round shifts all active lanes by the same multiple of `shift` bytes, which changes no count."""
        for u, c in address.terms:
            if u == self.symbol:
                return not varies(c, active) and not ((signed(c) % shift != 0) & active).any()
        return True

    def compare(self, relation: str, a: Value, b: Value, active: np.ndarray) -> Value:
        """A comparison as it is for k = 0; lowers `limit` to the first k at which it changes in an active lane."""
        if any(v.poison is not None or v.valid is not None for v in (a, b)):
            raise NotAffine
        if any(u != self.symbol for v in (a, b) for u, _ in v.terms):
            raise NotAffine
        kind, _, sign = relation.partition(".")
        difference = affine.subtract(a, b)
        if not comparisons.difference_compares(sign, a, b, difference):
            raise NotAffine
        base = np.broadcast_to(signed(difference.base).astype(np.int64), active.shape)
        step = np.zeros((1, 1), np.int64)
        for _, c in difference.terms:
            step = signed(c).astype(np.int64)
        step = np.broadcast_to(step, active.shape)
        truth, change = _first_change(kind, base, step)
        if active.any():
            self.limit = min(self.limit, int(change[active].min()))
        return Value(np.ascontiguousarray(truth))


def _first_change(kind: str, base: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(is `base <kind> 0`, the smallest k ≥ 1 at which `base + step·k <kind> 0` differs from that)."""
    never = np.int64(1) << 62
    up, down = step > 0, step < 0
    rise = np.where(up, step, 1)
    fall = np.where(down, -step, 1)
    if kind in ("eq", "ne"):
        zero = base == 0
        moving = step != 0
        safe = np.where(moving, step, 1)
        meets = moving & (base % safe == 0) & (-base // safe > 0)
        change = np.where(zero, np.where(moving, 1, never), np.where(meets, -base // safe, never))
        return (zero if kind == "eq" else ~zero), change
    if kind in ("lt", "ge"):  # the sign changes between −1 and 0
        negative = base < 0
        change = np.where(negative, np.where(up, -(base // rise), never), np.where(down, base // fall + 1, never))
        return (negative if kind == "lt" else ~negative), change
    positive = base > 0  # le, gt: between 0 and 1
    change = np.where(positive, np.where(down, -(-base // fall), never), np.where(up, (-base) // rise + 1, never))
    return (positive if kind == "gt" else ~positive), change
