"""Generic addresses and shared memory: which lie in its window, and which there may be another block's.

The window of shared memory holds that of all blocks of a cluster, 16 MiB each; machine code makes
addresses of its own as (SR_CgaCtaId << 24) + offset. Where the bits from 24 on are not certainly those of
the block itself, the access may leave it, and then other counters see it (banks.access.UNSCORED["remote"]).
"""

from __future__ import annotations

import numpy as np

from ..banks.access import UNSCORED
from ..ir import Function, Special
from ..reasons import Kind
from . import affine
from .effects import View
from .value import Lost, Value, array_zeros, constant, signed

RANK_BIT = 24
WORD_BITS = 32
ALONE = (1, 1, 1)
REMOTE = Lost(Kind.REMOTE, given=(UNSCORED["remote"],))


def clustered(function: Function, launch) -> bool:
    """The launch is known to have clusters of several blocks."""
    size = launch.cluster if launch is not None and launch.cluster else function.cluster
    return size is not None and int(np.prod(size)) > 1


def shared_window(address: Value, active: np.ndarray) -> Value | Lost | None:
    """A generic address: its place in shared memory, None where it is elsewhere, or why that is not known."""
    in_lanes = lambda c: np.broadcast_to(c, active.shape)[active]
    if address.poison is not None and (np.broadcast_to(address.poison, active.shape) & active).any():
        return Lost(Kind.GENERIC, cause=address.why)
    for u, c in address.terms:
        if u.kind == "window" and u.key == "shared" or "shared_window" in u.name:
            whole = 1 << WORD_BITS if u.name.endswith("_hi") else 1      # machine code reads the upper word of the window's base
            if not (in_lanes(c) == whole).all():
                return Lost(Kind.GENERIC_IN_SOME_LANES)
            rest = tuple(t for t in address.terms if t[0] is not u)
            return Value(address.base, rest, address.valid, address.poison, address.why)
    if not address.terms or any(u.kind in ("pointer", "variable", "window") for u, _ in address.terms):
        return None
    return Lost(Kind.GENERIC, unknowns=affine.unknowns_of(address))


def may_be_remote(address: Value, active: np.ndarray, view: View) -> bool:
    """An address within the window of shared memory that is not certainly one of the block's own.

    address: without the window's base; of lanes where `active` is false it does not matter.
    """
    env = view.env
    if env.cluster == ALONE or address.poison is not None and (address.poison & active).any():
        return False                                  # (what is not known at all is left to who asks)
    rank = view.read(Special("cga_ctaid", 32)) if env.function.isa == "sass" else constant(0, 32)
    rest = affine.subtract(affine.fit(address, 32), affine.scale(rank, np.full((1, 1), 1 << RANK_BIT, np.uint32)))
    if any(u.zeros + array_zeros(c) >= RANK_BIT for u, c in rest.terms):
        return True
    base = np.broadcast_to(signed(rest.base), active.shape)[active]
    return bool(((base < -(1 << RANK_BIT - 1)) | (base >= 1 << RANK_BIT)).any())
