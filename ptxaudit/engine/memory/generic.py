"""Generic addresses: the memory that an access refers to, and the operations that create, convert and test them.

ld.generic [window of shared memory + s]      shared memory, at s (`located`, used by each memory)
cvta.shared g, s                              g = window of shared memory + s, the window an unknown of its own
isspacep.shared p, g                          p is true, because g contains that window
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import EVERYWHERE, NOWHERE, POINTER_LIMIT, Uniform, Value, opaque, unknown
from ptxaudit.engine.memory.clusters import remote
from ptxaudit.engine.memory.environment import WINDOW_ZEROS, Environment
from ptxaudit.engine.memory.registers import View
from ptxaudit.engine.memory.spaces import OF, OPEN, PARAM, SHARED, spaces_of, within
from ptxaudit.ir.nodes import Function, Op
from ptxaudit.ir.reasons import Kind, Reason

# space -> the window from which its addresses are computed (a test of any other space needs more than origins)
NEVER_OTHERS = {"shared": "shared", "shared::cluster": "shared", "local": "local"}

HOST_POINTERS = "isspacep: pointers that the host gives lead to global memory, none to constant memory"


class Located(Record):
    """Where a generic access goes.

    lanes, open: (rows, LANES) active lanes that refer to the memory in question, and those that may.
    place: the address in it; why: the reason for the open lanes, None if there are none.
    idle: (rows,) no lane is active, but the address still lies in that memory.
    remote: why an address in shared memory may belong to another block.
    never: no address with these origins lies in the memory.
    """

    place: Value
    lanes: np.ndarray
    open: np.ndarray
    why: Reason | None
    idle: np.ndarray
    remote: Reason | None
    never: bool


def located(
    address: Value,
    active: np.ndarray,
    env: Environment,
    index: int,
    *,
    op: Op | None = None,
    of: str = "shared",
    rows: np.ndarray | None = None,
) -> Located:
    """Where an access goes, by the value of its address and its origins at the instruction `index` or for an operation.

    of: the memory in question; rows: the rows of the address, None: all.
    """
    origins = env.spaces(index, op)
    found = spaces_of(address, origins)
    possible = origins is None or of in origins or of == "global" and "param" in origins
    lanes, why = active & (found == OF[of]), None
    unknown = active & ((found == OPEN) | (found == PARAM) & (of == "global")) & possible
    if unknown.any():
        kind, given = (Kind.GENERIC, ()) if of == "shared" else (Kind.GENERIC_SPACE, (of,))
        why = Reason(kind, given=given, unknowns=affine.unknowns_of(address), cause=address.why)
    place = within(address) if of != "global" else address
    return Located(
        place,
        lanes,
        unknown,
        why,
        idle=~active.any(axis=1) & (found == OF[of]).any(axis=1),
        remote=remote(place, lanes | unknown, env, rows) if of == "shared" else None,
        never=not possible,
    )


def generic_results(op: Op, view: View, address: Value, index: int) -> Value:
    """The result of cvta, cvta.to or isspacep. Generic addresses contain the base of their window as an unknown."""
    space = op.attrs[0] if op.attrs else "global"
    zeros = 0 if space == "param" else WINDOW_ZEROS
    window = Uniform(f"{space} window", 64, zeros, 0, POINTER_LIMIT, "window", (space, "whole"))
    if op.name == "cvta":
        wide = affine.fit(address, op.bits)
        return affine.add(wide, unknown(window, op.bits)) if space in OF and space != "global" else wide
    if op.name == "cvta.to":
        if space in ("shared", "local"):
            if any(u.kind == "window" and u.key[0] == space for u, _ in address.terms):
                address = within(address)
            elif address.poison is None:
                return opaque(op.bits, Reason(Kind.NOT_IN_SPACE, index, (space,)))
        return affine.fit(address, op.bits)
    return _in_space(op, address, space, view, index)


def _in_space(op: Op, address: Value, space: str, view: View, index: int) -> Value:
    """isspacep: a lane's address lies in the space of its only base; lanes may differ.

    Where the value is undecided, the origins may exclude the space.
    """
    found = spaces_of(address)
    shape = np.broadcast_shapes(address.base.shape, found.shape)
    inside, unknown = found == (OF | {"shared::cluster": SHARED}).get(space, -1), found == OPEN
    unknown = unknown | (found == PARAM) & (space not in NEVER_OTHERS)
    if (
        any(u.kind == "variable" and u.address and u.key[0] != "global" for u, _ in address.terms)
        or space == "shared"
        and remote(within(address), np.broadcast_to(found == SHARED, shape), view.env, view.rows) is not None
    ):
        unknown = EVERYWHERE  # a constant, or perhaps another block's memory
    if unknown.any() and space in NEVER_OTHERS and (origins := view.env.spaces(index, op)) is not None:
        if NEVER_OTHERS[space] not in origins:
            inside, unknown = inside & ~unknown, NOWHERE
    why = Reason(Kind.STATE_SPACE, index)
    return Value(inside, poison=unknown, why=why) if unknown.any() else Value(inside)


def assumed(function: Function) -> tuple[str, ...]:
    """What the answers rest on where code asks whether an address is one of global memory, or of constant memory. (QSPC
    of machine code takes both for global memory, and compares with the limits of constant memory, which nobody knows.)
    """
    asked = not function.explicit_reconvergence and any(
        op.name == "isspacep" and op.attrs[0] in ("global", "const") for i in function.instructions for op in i.ops
    )
    return (HOST_POINTERS,) if asked else ()
