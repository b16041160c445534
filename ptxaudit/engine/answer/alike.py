"""Resolves addresses with a few alternatives, if all of them cost the same.

    lane 5: s + 8 or s + 12, the others known        32-bit load: one wavefront either way, an exact figure

Each lane chooses its alternative independently, unless all lanes share the outcome.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.at_most import moves_nothing
from ptxaudit.engine.domain.outcomes import Alternatives
from ptxaudit.engine.domain.value import ADDRESS_BITS, Value, resize, signed
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.machine_model import Machine

MOST_OF_ONE = 64  # combinations for one request
MOST = 4096  # … for all requests of an instruction together


def settled(address: Value, active: np.ndarray, machine: Machine, access: Access) -> Value:
    """The address with its first alternative, if each request costs the same with all of them; otherwise unchanged.

    active: (rows, lanes).
    """
    own = address.alternatives
    if (
        own is None
        or access.bypass
        or address.valid is not None
        or not moves_nothing(address, active, machine.invariant_shift(access))
    ):
        return address
    if own.unknown is not None and (own.unknown & active).any():
        return address
    numbers = np.broadcast_to(signed(resize(own.bases, ADDRESS_BITS)).astype(np.int64), (len(own.bases), *active.shape))
    requests: list[np.ndarray] = []
    whose: list[np.integer[Any]] = []
    for row in np.flatnonzero(((numbers != numbers[:1]).any(axis=0) & active).any(axis=1)):
        ways = _ways(numbers[:, row], active[row], own)
        if ways is None or len(requests) + len(ways) > MOST:
            return address
        requests += ways
        whose += [row] * len(ways)
    if requests and not _cost_the_same(np.array(requests), np.array(whose), active, machine, access):
        return address
    return Value(own.bases[0], address.terms, None, own.unknown, address.why)


def _ways(numbers: np.ndarray, active: np.ndarray, own: Alternatives) -> list[np.ndarray] | None:
    """All addresses (lanes) that a request may have, from its alternatives (K, lanes); None if there are too many."""
    if all(axis.uniform for axis in own.axes):
        return list(numbers)
    choices = [sorted(set(column)) if on else [int(column[0])] for column, on in zip(numbers.T.tolist(), active)]
    if prod(map(len, choices)) > MOST_OF_ONE:
        return None
    return [np.array(chosen, np.int64) for chosen in product(*choices)]


def _cost_the_same(
    requests: np.ndarray, whose: np.ndarray, active: np.ndarray, machine: Machine, access: Access
) -> bool:
    try:
        scores = banks.score(machine, access, requests, active[whose])
    except InputError:  # one of them would be misaligned
        return False
    first = np.searchsorted(whose, whose)
    return all((figures == figures[first]).all() for figures in (scores.low, scores.high, scores.ideal, scores.ways))
