"""Truth values that are supposed to be true or false: one case of an answer.

p = (n < 4), supposed true      p, wherever it is computed, is True; so is what is computed from it: !p, p ? 1 : 0
q, at its first visit           True in each warp that computes it for the first time

A value that is one number in the whole launch is supposed wherever it is computed. Any other belongs to one visit of a
warp to the instruction that computes it (`Visit`): one truth value per warp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import Uniform, Value, fingerprint, squeeze
from ptxaudit.ir.nodes import Reg


class Visit(Record):
    """A warp computes a register at an instruction for the nth time, from 0."""

    index: int
    register: str
    nth: int


class Supposed:
    """What is supposed.

    launch_wide: unknowns, with what each is supposed to be; of_warps: visits, with what the truth values that they
    compute are supposed to be. Of the runs so far, made: by identity of an unknown, and by fingerprint of the value
    that equals it, the visit that computes it; unclear: instructions that were executed otherwise than by whole warps,
    one visit after the other; skipped: blocks that were stepped over.
    """

    def __init__(
        self, launch_wide: Iterable[tuple[Uniform, bool]] = (), of_warps: Iterable[tuple[Visit, bool]] = ()
    ) -> None:
        self.launch_wide, self.of_warps = tuple(launch_wide), dict(of_warps)
        self.made: dict[bytes, Visit] = {}
        self.unclear: set[int] = set()
        self.skipped: set[int] = set()
        self._by_identity = {u.identity: truth for u, truth in self.launch_wide}
        self._of_inverse = {of: not truth for u, truth in self.launch_wide if (of := inverse_of(u)) is not None}
        self._at = {(visit.index, visit.register) for visit in self.of_warps}
        self._unknown: dict[tuple[int, str], set[int]] = defaultdict(set)  # of `made`: the visits of each

    def with_launch_wide(self, unknown: Uniform, truth: bool) -> Supposed:
        """One more truth value of the launch is supposed."""
        return Supposed((*self.launch_wide, (unknown, truth)), self.of_warps.items())

    def with_visit(self, visit: Visit, truth: bool) -> Supposed:
        """One more truth value of each warp is supposed."""
        return Supposed(self.launch_wide, (*self.of_warps.items(), (visit, truth)))

    def __len__(self) -> int:
        return len(self.launch_wide) + len(self.of_warps)

    def settled(self, value: Value) -> Value:
        """The value, if it is a predicate that depends on one truth value of the launch alone, as numbers."""
        if not _is_truth(value):
            return value
        ((unknown, where),) = value.terms
        truth = self._by_identity.get(unknown.identity)
        if truth is None and self._of_inverse and _is_unknown(value):
            truth = self._of_inverse.get(fingerprint(squeeze(value)))
        return value if truth is None else _known(value, truth)

    def visited(self, value: Value, reg: Reg, index: int, visits: np.ndarray) -> Value:
        """The same for a predicate that equals a truth value of each warp.

        visits: (n,) how often each row has computed it before.
        """
        if not _is_truth(value) or value.terms[0][0].launch_wide or not _is_unknown(value):
            return value
        if (index, reg.name) in self._at:
            for visit, truth in self.of_warps.items():
                here = visits == visit.nth
                if (visit.index, visit.register) == (index, reg.name) and value.terms and here.any():
                    value = _known_in(value, truth, here[:, None])
        if len(value.terms) == 1 and len(visits) and (visits == visits[0]).all():
            visit = Visit(index, reg.name, int(visits[0]))
            for key in (value.terms[0][0].identity, fingerprint(squeeze(value))):
                if self.made.setdefault(key, visit) is visit:
                    self._unknown[index, reg.name].add(visit.nth)
        return value

    def visit_of(self, unknown: Uniform) -> tuple[Visit, bool] | None:
        """The visit that computes a truth value, or its inverse: then False; None if none does."""
        if (visit := self.made.get(unknown.identity)) is not None:
            return visit, True
        visit = self.made.get(inverse_of(unknown) or b"")
        return None if visit is None else (visit, False)

    def visits_like(self, visit: Visit) -> int:
        """In how many visits of its instruction the truth value was unknown."""
        return len(self._unknown[visit.index, visit.register])


def _is_truth(value: Value) -> bool:
    return value.base.dtype == np.bool_ and len(value.terms) == 1 and value.alternatives is None


def _is_unknown(value: Value) -> bool:
    """It equals its truth value in all lanes."""
    ((_, where),) = value.terms
    return value.poison is None and throughout(where) and not anywhere(value.base)


def _known(value: Value, truth: bool) -> Value:
    """The predicate, if its truth value is this."""
    ((_, where),) = value.terms
    return Value(value.base ^ where if truth else value.base, (), None, value.poison, value.why)


def _known_in(value: Value, truth: bool, rows: np.ndarray) -> Value:
    """The predicate, if in these rows its truth value is this. rows: (n, 1) bool."""
    ((unknown, where),) = value.terms
    if rows.all() or not anywhere(where & ~rows):
        return _known(value, truth)
    base = value.base ^ (where & rows) if truth else value.base | np.zeros_like(rows)
    return Value(base, ((unknown, where & ~rows),), None, value.poison, value.why)


def inverse_of(u: Uniform) -> bytes | None:
    """The fingerprint of the value whose inverse an unknown is (`affine.invert`); None if it is no inverse."""
    if not isinstance(u.key, tuple) or u.key[0] != "not":
        return None
    _, _, (of,) = u.key
    return of if isinstance(of, bytes) else None
