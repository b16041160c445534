"""Arrays with requests written by hand, for tests of layouts."""

from __future__ import annotations

import numpy as np
from msgspec import structs
from reports import site

from ptxaudit.engine.answer.kept import Requests
from ptxaudit.hardware import banks
from ptxaudit.review.fix.arrays import Array, Use


def request_of(offsets, active=None, weight: int | None = None, moves=()) -> Requests:
    """One request: one offset per lane. weight: how often it is made, None = unknown."""
    active = np.ones(32, bool) if active is None else np.asarray(active, bool)
    offsets = np.where(active, np.asarray(offsets, np.int64), 0)
    return Requests(
        "tile", offsets[None], active[None], None if weight is None else np.array([weight], np.int64), tuple(moves)
    )


def use_of(opcode: str, *requests: Requests, index: int = 0) -> Use:
    """A site with these requests."""
    access = banks.classify(opcode)
    return Use(index, structs.replace(site(10 + index), id=f"k@k.cu:{10 + index}:{opcode}"), access, tuple(requests))


def array_of(size: int, *uses: Use) -> Array:
    """An array of `size` bytes with these sites."""
    return Array("tile", "tile", 0, size, 16, tuple(structs.replace(use, index=at) for at, use in enumerate(uses)))
