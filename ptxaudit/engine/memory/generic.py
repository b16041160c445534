"""Generic addresses: what converts an address of one memory into one, and back, and what asks in which memory it lies.

cvta.shared g, s        g = window of shared memory + s: the window's base is an unknown of its own
isspacep.shared p, g    p, because that is what g is made of
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import POINTER_LIMIT, Uniform, Value, opaque, unknown
from ptxaudit.engine.memory.clusters import remote
from ptxaudit.engine.memory.environment import WINDOW_ZEROS
from ptxaudit.engine.memory.registers import View
from ptxaudit.engine.memory.spaces import GLOBAL, LOCAL, OPEN, SHARED, spaces_of, within
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason


def generic_results(op: Op, view: View, address: Value, index: int) -> Value:
    """Generic addresses: shared ones carry the window's base as an unknown of their own."""
    space = op.attrs[0] if op.attrs else "global"
    window = Uniform(f"{space} window", 64, WINDOW_ZEROS, 0, POINTER_LIMIT, "window", (space, "whole"))
    if op.name == "cvta":
        wide = affine.fit(address, op.bits)
        return affine.add(wide, unknown(window, op.bits)) if space in ("shared", "local") else wide
    if op.name == "cvta.to":
        if space in ("shared", "local"):
            if any(u.kind == "window" and u.key[0] == space for u, _ in address.terms):
                address = within(address)
            elif address.poison is None:
                return opaque(op.bits, Reason(Kind.NOT_IN_SPACE, index, (space,)))
        return affine.fit(address, op.bits)
    return _in_space(address, space, view, index)


_SPACES = {"shared": SHARED, "shared::cluster": SHARED, "local": LOCAL, "global": GLOBAL}


def _in_space(address: Value, space: str, view: View, index: int) -> Value:
    """isspacep: a lane's address lies in the space of the one base that it has; the lanes may differ."""
    shape = np.broadcast_shapes(
        address.base.shape, *(c.shape for _, c in address.terms), () if address.poison is None else address.poison.shape
    )
    found = spaces_of(address, shape)
    inside, unknown = found == _SPACES.get(space, -1), found == OPEN
    if (
        any(u.kind == "variable" and u.address and u.key[0] != "global" for u, _ in address.terms)
        or space == "shared"
        and remote(within(address), found == SHARED, view) is not None
    ):
        unknown = np.ones((1, 1), bool)  # a constant; perhaps another block's memory
    why = Reason(Kind.STATE_SPACE, index)
    return Value(inside, poison=unknown, why=why) if unknown.any() else Value(inside)
