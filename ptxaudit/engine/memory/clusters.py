"""Distributed shared memory: addresses that may belong to another block of the cluster.

The window of shared memory contains that of all blocks of a cluster, 16 MiB each; machine code computes its own
addresses as (SR_CgaCtaId << 24) + offset. If the bits from 24 on are not certainly those of the block itself, the
access may leave it, and then other counters count it (hardware.unscored.UNSCORED["remote"]).
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Uniform, Value, signed
from ptxaudit.engine.memory.environment import RANK_BIT, Environment
from ptxaudit.engine.memory.registers import take
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware.unscored import UNSCORED
from ptxaudit.ir.nodes import Function, Special
from ptxaudit.ir.reasons import Kind, Reason

ALONE = (1, 1, 1)
REMOTE = Reason(Kind.REMOTE, given=(UNSCORED["remote"],))


def clustered(function: Function, launch: Launch | None) -> bool:
    """Whether the launch is known to have clusters of several blocks."""
    size = launch.cluster if launch is not None and launch.cluster else function.cluster
    return size is not None and int(np.prod(size)) > 1


def own_place(address: Value, env: Environment, rows: np.ndarray | None) -> Value:
    """A 32-bit shared address without the rank of the block itself. rows: the rows of the address; None: all."""
    address = affine.fit(address, 32)
    if env.cluster == ALONE or not env.function.absolute_shared:
        return address
    rank = env.operand(Special("cga_ctaid", 32))
    rank = rank if rows is None else take(rank, rows)
    return affine.subtract(address, affine.scale(rank, np.full((1, 1), 1 << RANK_BIT, np.uint32)))


def remote(address: Value, active: np.ndarray, env: Environment, rows: np.ndarray | None) -> Reason | None:
    """Why an address in the window of shared memory may belong to another block; None: it does not.

    address: without the window's base; only lanes in `active` matter. rows: as in `own_place`.
    """
    if env.cluster == ALONE:
        return None
    if address.poison is not None and (address.poison & active).any():
        if env.cluster is None:
            return None  # (the caller handles a wholly unknown address)
        return Reason(Kind.MAY_BE_REMOTE, cause=address.why)
    rest = own_place(address, env, rows)
    base = np.broadcast_to(signed(rest.base), active.shape)[active]
    apart = any(_leaves(u, c, active) for u, c in rest.terms)
    return REMOTE if apart or ((base < -(1 << RANK_BIT - 1)) | (base >= 1 << RANK_BIT)).any() else None


def _leaves(unknown: Uniform, coefficients: np.ndarray, active: np.ndarray) -> bool:
    """Whether one step of the unknown moves an active lane out of the block's memory.

    An unknown with smaller steps is assumed to stay in its array.
    """
    of_lanes = np.abs(np.broadcast_to(signed(coefficients).astype(np.int64), active.shape)[active])
    return bool((of_lanes << min(unknown.zeros, RANK_BIT) >= 1 << RANK_BIT - 1).any())
