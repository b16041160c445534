"""Truth values that are supposed to be true or false: one case of an answer.

p = (n < 4), supposed true      p, wherever it is computed, is True; so is what is computed from it: !p, p ? 1 : 0

A value that is one number in the whole launch has that number wherever it is computed. Any other belongs to one
execution of an instruction, and is supposed to be the same in all warps that execute it: so it is not settled in trips
of a loop that are tried together.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import throughout
from ptxaudit.engine.domain.value import Uniform, Value, fingerprint, squeeze

Truths = tuple[tuple[Uniform, bool], ...]  # the unknowns, with what each is supposed to be


class Supposed:
    """What is supposed. A value is settled where it is computed, so that all later values agree with it.

    blocks: the dimensions in which the last run had blocks one by one: the executions of two runs correspond to each
    other until they differ by a supposed value only if these are the same.
    """

    def __init__(self, truths: Truths = ()):
        self.truths = truths
        self.blocks: frozenset[int] = frozenset()
        self._by_identity = {u.identity: (u, truth) for u, truth in truths}
        self._of_inverse = {of: (u, not truth) for u, truth in truths if (of := _inverted(u)) is not None}

    def __repr__(self) -> str:
        return f"Supposed({', '.join(f'{u.name}: {truth}' for u, truth in self.truths)})"

    def with_(self, *more: tuple[Uniform, bool]) -> Supposed:
        """More truth values are supposed."""
        return Supposed((*self.truths, *more))

    def settled(self, value: Value, trying: bool) -> Value:
        """The value, if it is a predicate that depends on a supposed truth value alone, as numbers.

        trying: trips of a loop are tried together.
        """
        if value.base.dtype != np.bool_ or len(value.terms) != 1 or value.alternatives is not None:
            return value
        ((unknown, where),) = value.terms
        found = self._by_identity.get(unknown.identity)
        if found is None and self._of_inverse and value.poison is None and throughout(where):
            found = self._of_inverse.get(fingerprint(squeeze(value)))
        if found is None or trying and not found[0].launch_wide:
            return value
        return Value(value.base ^ where if found[1] else value.base, (), None, value.poison, value.why)


def _inverted(u: Uniform) -> bytes | None:
    """The fingerprint of the value whose inverse an unknown is (`affine.invert`); None if it is no inverse."""
    if not isinstance(u.key, tuple) or u.key[0] != "not":
        return None
    _, _, (of,) = u.key
    return of if isinstance(of, bytes) else None
