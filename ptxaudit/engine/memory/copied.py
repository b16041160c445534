"""The source of an asynchronous copy (cp.async), as far as it affects counts: its addresses, and which lanes copy.

cp.async.ca.shared.global [s], [g], 16, %size;     sources: g by lane;  filled: lanes in which size is 0
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import array_zeros, constant, lane_uniform
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.ir.nodes import Site

LINE_BITS = 7  # bits of an offset in a 128-byte line of global memory


def sources(site: Site, view: View, active: np.ndarray) -> np.ndarray | None:
    """Global byte addresses (n, LANES) up to a shift by whole lines, or None if unknown. active: lanes that copy."""
    assert site.source is not None  # this is a copy
    value = view.read(site.source)
    if site.source_offset:
        value = affine.add(value, constant(site.source_offset, value.bits))
    if value.poison is not None and (np.broadcast_to(value.poison, active.shape) & active).any():
        return None
    if value.valid is not None:  # lanes may differ above that
        return None
    for u, c in value.terms:
        if not lane_uniform(c) or u.zeros + array_zeros(c) < LINE_BITS:
            return None
    return np.broadcast_to(value.base.astype(np.int64), active.shape)


def may_fill(site: Site) -> bool:
    """Whether the copy reads memory of another kind than its destination, and some lanes may read nothing."""
    return site.of != "shared" and (site.ignore is not None or site.source_size is not None)


def reading(site: Site, view: View, active: np.ndarray) -> np.ndarray | None:
    """The active lanes that read the source of a copy; None if unknown.

    A lane that copies only some of its bytes reads as one that copies all: they lie in one sector (measured,
    docs/hardware.md).
    """
    zeros = _reading_nothing(site, view, active)
    return None if zeros is None else active & ~zeros


def filled(site: Site, view: View, active: np.ndarray, width: int | None) -> np.ndarray | None:
    """(n, LANES) lanes that write zeros instead of copying; None if all copy, or unknown. width: bytes per lane."""
    if site.ignore is None and site.source_size is None:
        return None
    zeros = _reading_nothing(site, view, active, width, parts=False)
    return None if zeros is None else zeros & active


def _reading_nothing(
    site: Site, view: View, active: np.ndarray, width: int | None = None, parts: bool = True
) -> np.ndarray | None:
    """Lanes that read nothing, because of a predicate or a size of 0; None if unknown.

    parts: lanes may copy only some of the `width` bytes.
    """
    out = np.zeros(active.shape, bool)
    if site.ignore is not None:
        ignored, undecided = guard_mask(view, site.ignore)
        if undecided is not None:
            return None
        out |= ignored
    if site.source_size is not None:
        size = view.read(site.source_size)
        if not size.known or not parts and ((size.base != 0) & (size.base != width) & active).any():
            return None
        out |= size.base == 0
    return out
