"""Guesses the lengths of an array's rows from its addresses and its declaration.

    lanes 0, 128, 256, …          rows of 128 bytes
    lanes 0, 4, … 60, 64, 68      rows of 64 bytes: a warp is two rows of a block, 16 lanes each
    float tile[16][17]            rows of 68 bytes, whatever the addresses are (`declared`)

A proof works with any length: none depends on the guess. A good guess makes a good search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.answer.kept import Requests
from ptxaudit.review.fix.arrays import Array

MOST_PITCHES = 10
_FIRST = 64  # requests of a site that are examined


def pitches(array: Array, line: int, declared: Iterable[int] = ()) -> list[int]:
    """Bytes that rows may have, the likeliest first: declared ones, then distances between lanes, a line of all banks
    (`line` bytes), then distances between requests."""
    between_lanes: Counter[int] = Counter()
    between_requests: Counter[int] = Counter()
    for use in array.uses:
        for r in use.requests:
            weight = 1 if r.weights is None else int(r.weights[:_FIRST].sum())
            for step in lane_steps(r, use.access.width or 1):
                between_lanes[step] += weight
            for step in _request_steps(r):
                between_requests[step] += 1
    sizes = [size for size in array.sizes if size]
    most = max(sizes) if sizes else 1 << 30
    unit = array.width
    fragments = [use.fragment for use in array.uses if use.fragment]
    found = [
        *declared,
        *fragments,
        *(step for step, _ in between_lanes.most_common()),
        line,
        *(step for step, _ in between_requests.most_common()),
    ]
    return list(dict.fromkeys(step for step in found if unit < step < most and step % unit == 0))[:MOST_PITCHES]


def lane_steps(r: Requests, width: int) -> set[int]:
    """Distances between neighbouring lanes, and the weights of the lane number's bits where a new digit of the
    address begins: where a bit's weight is not twice that of the bit below it."""
    steps: set[int] = set()
    offsets, active = r.offsets[:_FIRST], r.active[:_FIRST]
    both, between = active[:, 1:] & active[:, :-1], np.abs(np.diff(offsets))
    bits = [1 << bit for bit in range(offsets.shape[1].bit_length() - 1)]
    worths, there = (offsets[:, bits] - offsets[:, :1]).tolist(), (active[:, bits] & active[:, :1]).tolist()
    for of_bits, on in zip(worths, there):
        before = 0
        for worth, both_on in zip(of_bits, on):
            if not both_on:
                break
            if worth != 2 * before:
                steps.add(abs(worth))
            before = worth
    steps.update(between[both].tolist())
    return {step for step in steps if step > width}


def _request_steps(r: Requests) -> set[int]:
    """Distances between requests, and the steps of unknown parts."""
    first = distinct(np.where(r.active, r.offsets, np.iinfo(np.int64).max).min(axis=1)[:_FIRST])
    return {int(step) for step in np.diff(first)} | {abs(move.step) for move in r.moves}
