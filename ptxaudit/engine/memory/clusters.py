"""Generic addresses and shared memory: which lie in its window, and which there may be another block's.

The window of shared memory holds that of all blocks of a cluster, 16 MiB each; machine code makes
addresses of its own as (SR_CgaCtaId << 24) + offset. Where the bits from 24 on are not certainly those of
the block itself, the access may leave it, and then other counters see it (hardware.unscored.UNSCORED["remote"]).
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Uniform, Value, constant, signed
from ptxaudit.engine.memory.registers import View
from ptxaudit.engine.memory.spaces import OF, OPEN, spaces_of, within
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware.unscored import UNSCORED
from ptxaudit.ir.nodes import Function, Special
from ptxaudit.ir.reasons import Kind, Reason

RANK_BIT = 24
ALONE = (1, 1, 1)
REMOTE = Reason(Kind.REMOTE, given=(UNSCORED["remote"],))


def clustered(function: Function, launch: Launch | None) -> bool:
    """The launch is known to have clusters of several blocks."""
    size = launch.cluster if launch is not None and launch.cluster else function.cluster
    return size is not None and int(np.prod(size)) > 1


class Located(Record):
    """A generic access. lanes, open: (rows, LANES) active lanes that go to shared memory, and of which that is not
    known; place: the address in shared memory in the former; why: it is not known of the others, None where it is.
    idle: (rows,) no lane is active, and the address is one of shared memory all the same. never: no address that is
    made so lies in it."""

    place: Value
    lanes: np.ndarray
    open: np.ndarray
    why: Reason | None
    idle: np.ndarray
    never: bool = False


def located(address: Value, active: np.ndarray, origins: frozenset[str] | None, of: str = "shared") -> Located:
    """origins: the spaces that the address may lie in by what it is made of; None: any. of: the memory that is looked
    at, in place of shared memory in what is said of `Located`."""
    found = spaces_of(address, active.shape, origins)
    space = OF[of]
    lanes, unknown = active & (found == space), active & (found == OPEN)
    why = None
    if unknown.any():
        kind, given = (Kind.GENERIC, ()) if of == "shared" else (Kind.GENERIC_SPACE, (of,))
        why = Reason(kind, given=given, unknowns=affine.unknowns_of(address), cause=address.why)
    idle = ~active.any(axis=1) & (found == space).any(axis=1)
    return Located(
        within(address) if of != "global" else address,
        lanes,
        unknown,
        why,
        idle,
        origins is not None and of not in origins,
    )


def remote(address: Value, active: np.ndarray, view: View) -> Reason | None:
    """Why an address within the window of shared memory is not certainly one of the block's own; None: it is.

    address: without the window's base; of lanes where `active` is false it does not matter.
    """
    env = view.env
    if env.cluster == ALONE:
        return None
    if address.poison is not None and (address.poison & active).any():
        if env.cluster is None:
            return None  # (what is not known at all is left to who asks)
        return Reason(Kind.MAY_BE_REMOTE, cause=address.why)
    rank = view.read(Special("cga_ctaid", 32)) if env.function.absolute_shared else constant(0, 32)
    rest = affine.subtract(affine.fit(address, 32), affine.scale(rank, np.full((1, 1), 1 << RANK_BIT, np.uint32)))
    base = np.broadcast_to(signed(rest.base), active.shape)[active]
    apart = any(_leaves(u, c, active) for u, c in rest.terms)
    return REMOTE if apart or ((base < -(1 << RANK_BIT - 1)) | (base >= 1 << RANK_BIT)).any() else None


def _leaves(unknown: Uniform, coefficients: np.ndarray, active: np.ndarray) -> bool:
    """One step of the unknown takes an active lane out of all that a block has. (An unknown that steps less is taken to
    stay in its array.)
    """
    of_lanes = np.abs(np.broadcast_to(signed(coefficients).astype(np.int64), active.shape)[active])
    return bool((of_lanes << min(unknown.zeros, RANK_BIT) >= 1 << RANK_BIT - 1).any())
