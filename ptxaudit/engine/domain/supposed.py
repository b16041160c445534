"""Truth values that are one number in the whole launch, supposed to be true or false: one case of an answer.

p = (n < 4), supposed true      p, wherever it is computed, is True; so is what is computed from it: !p, p ? 1 : 0
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import throughout
from ptxaudit.engine.domain.value import Uniform, Value, fingerprint, squeeze

Truths = tuple[tuple[Uniform, bool], ...]  # the unknowns, with what each is supposed to be


class Supposed:
    """What is supposed. A value is settled where it is computed, so that all later values agree with it."""

    def __init__(self, truths: Truths = ()):
        self.truths = truths
        self._by_identity = {u.identity: truth for u, truth in truths}
        self._of_inverse = {of: not truth for u, truth in truths if (of := _inverted(u)) is not None}

    def __repr__(self) -> str:
        return f"Supposed({', '.join(f'{u.name}: {truth}' for u, truth in self.truths)})"

    def with_(self, unknown: Uniform, truth: bool) -> Supposed:
        """One more truth value is supposed."""
        return Supposed((*self.truths, (unknown, truth)))

    def settled(self, value: Value) -> Value:
        """The value, if a predicate that depends on a supposed truth value alone, as a number."""
        if value.base.dtype != np.bool_ or len(value.terms) != 1 or value.alternatives is not None:
            return value
        ((unknown, where),) = value.terms
        truth = self._by_identity.get(unknown.identity)
        if truth is None and self._of_inverse and value.poison is None and throughout(where):
            truth = self._of_inverse.get(fingerprint(squeeze(value)))
        if truth is None:
            return value
        return Value(value.base ^ where if truth else value.base, (), None, value.poison, value.why)


def _inverted(u: Uniform) -> bytes | None:
    """The fingerprint of the value whose inverse an unknown is (`affine.invert`); None if it is no inverse."""
    if not isinstance(u.key, tuple) or u.key[0] != "not":
        return None
    _, _, (of,) = u.key
    return of if isinstance(of, bytes) else None
