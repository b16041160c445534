"""What loads and stores do: parameters, constants, given buffers, each lane's local memory, and generic addresses.

st.local [8], r1;  ld.local r2, [8]      a cell of local memory is a value as a register's is
ld.global r1, [r2]                       nothing is known of it, unless the launch gives the buffer
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import (
    DTYPES,
    POINTER_LIMIT,
    Uniform,
    Value,
    constant,
    fingerprint,
    opaque,
    squeeze,
    unknown,
)
from ptxaudit.engine.memory.clusters import remote
from ptxaudit.engine.memory.environment import WINDOW_ZEROS, Environment
from ptxaudit.engine.memory.registers import Guarded, Results, View, active_lanes, blend, forget_local, place_at, take
from ptxaudit.engine.memory.spaces import GLOBAL, LOCAL, OPEN, SHARED, spaces_of, within
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.operands import promised
from ptxaudit.ir.reasons import Kind, Reason

CELLS = (8, 16, 32, 64, 128)  # bits that a lane stores to local memory at once, an element of a vector by itself

MOST_PLACES = 64  # places of a local array that one access may reach


def memory_results(op: Op, view: View, index: int, guard: Guarded) -> Results | None:
    address = view.read(op.src[0]) if op.src else constant(0, 64)
    if op.name == "atom":
        return tuple(opaque(d.bits if d else 32, Reason(Kind.LOADED_BY_ATOMIC, index)) for d in op.dst)
    if op.offset:
        address = affine.add(address, constant(op.offset, address.bits))
    if op.space == "local":
        return _local(op, view, address, index, guard)
    if op.name == "store":
        if op.space == "generic" and _may_be_local(op, view, address, index, guard):
            forget_local(view.registers)
        return None
    bits = op.attrs[0] if op.attrs else op.bits
    is_signed = bool(op.attrs[1]) if len(op.attrs) > 1 else False
    out = []
    private = op.space == "generic" and _may_be_local(
        op, view, address, index, guard
    )  # one place, another content in each lane
    for k, d in enumerate(op.dst):
        at = affine.add(address, constant(k * bits // 8, address.bits)) if k else address
        specified = None
        if view.env.facts.memory is not None and op.space in ("global", "generic") and bits in DTYPES:
            specified = view.env.facts.memory.load(at, bits, index)
        if specified is None:
            unknown = opaque(bits if bits in DTYPES else 64, Reason(Kind.MAY_BE_LOCAL, index))
            specified = unknown if private else _load(op.space, at, bits, view, index)
        out.append(widen(specified, d.bits if d else bits, is_signed))
    return tuple(out)


def _may_be_local(op: Op, view: View, address: Value, index: int, guard: Guarded) -> bool:
    """A generic address that may be one of local memory in an active lane."""
    if not view.env.makes_local_addresses:
        return False
    active = active_lanes(view, guard)
    found = spaces_of(address, active.shape, view.env.spaces(index, op))
    return bool((active & ((found == OPEN) | (found == LOCAL))).any())


def widen(value: Value, bits: int, is_signed: bool) -> Value:
    if value.bits == bits or bits not in DTYPES:  # registers of 128 bits hold nothing that is followed
        return value
    if is_signed and value.bits < bits:
        return affine.sign_extend(value, bits)
    return affine.fit(value, bits)


def _load(space: str, address: Value, bits: int, view: View, index: int) -> Value:
    env = view.env
    if bits not in DTYPES:
        return opaque(64, Reason(Kind.LOADED_WIDE, index, (bits,)))
    if space == "param":
        return _parameter(address, bits, env, index)
    if space.startswith("const"):
        value = env.constants.load(space, address, bits)
        if value is not None:
            return value
    flat = squeeze(address)
    together = view.exact or promised(env.function.instructions[index])  # else lanes may read it at several times
    if together and flat.uniform and flat.poison is None and flat.valid is None:
        key = "load", index, fingerprint(flat), bits, env.serial()
        name = f"value loaded at {place_at(env, index)}"
        return unknown(Uniform(name, bits, kind="loaded", key=key, data=True, address=bits == 64))
    return opaque(bits, Reason(Kind.LOADED, index))


def _parameter(address: Value, bits: int, env: Environment, index: int) -> Value:
    """Bits of the parameters, at an offset that may differ from warp to warp and from lane to lane."""
    offsets = sorted(set(address.base.flat)) if address.known else ()  # (np.unique loads numpy.ma)
    if 0 < len(offsets) <= MOST_PLACES:
        first, *others = map(int, offsets)
        value = env.parameter(first, bits)
        for offset in others:
            value = blend(value, env.parameter(offset, bits), address.base == offset)
        return value
    flat = squeeze(address)
    if flat.uniform and flat.poison is None and flat.valid is None:
        return unknown(
            Uniform(
                "a parameter at an index that is not known",
                bits,
                key=("parameter at", fingerprint(flat), bits),
                address=bits == 64,
            )
        )
    return opaque(bits, Reason(Kind.PARAMETER_INDEX, index))


Place = tuple[Uniform | None, int, np.ndarray | None]


def _places(address: Value, mask: np.ndarray) -> list[Place] | None:
    """[(symbol, offset, lanes that go there or None for all)] of a local address; None where it is not known."""
    flat = squeeze(address)
    if (
        flat.poison is not None
        or flat.valid is not None
        or len(flat.terms) > 1
        or any((c != 1).any() for _, c in flat.terms)
    ):
        return None
    symbol = flat.terms[0][0] if flat.terms else None
    number: Callable[[int], int] = lambda n: n - (1 << 32) if n >= 1 << 31 else n
    if flat.base.size == 1:
        return [(symbol, number(int(flat.base.flat[0]) & 0xFFFFFFFF), None)]
    wide = np.broadcast_to(flat.base, mask.shape)
    numbers = distinct(wide[mask])
    if len(numbers) > MOST_PLACES:
        return None
    return [(symbol, number(int(n) & 0xFFFFFFFF), mask & (wide == n)) for n in numbers]


def _local(op: Op, view: View, address: Value, index: int, guard: Guarded) -> Results | None:
    """Spills and local arrays: a cell a place, with a value for each lane; a store to places not known forgets all."""
    bits = op.attrs[0] if op.attrs else op.bits
    active = view.mask if guard is None else guard
    places = _places(address, active)
    if op.name == "store":
        if places is None:
            forget_local(view.registers)
        for place in places or ():
            _store_local(op, view, place, bits, index, guard)
        return None
    is_signed = bool(op.attrs[1]) if len(op.attrs) > 1 else False
    out = []
    for k, d in enumerate(op.dst):
        missing = opaque(bits if bits in DTYPES else 64, Reason(Kind.LOCAL_PLACE, index))
        value = missing
        for symbol, start, lanes in places or ():
            cell = view.registers.values.get(("local", symbol, start + k * bits // 8, bits))
            cell = missing if cell is None else cell if view.rows is None else take(cell, view.rows)
            value = cell if lanes is None else blend(value, cell, lanes)
        out.append(widen(value, d.bits if d else bits, is_signed))
    return tuple(out)


def perhaps_written(op: Op, view: View, index: int) -> None:
    """An operation that may write local memory, where it is not known whether a lane executes it: nothing is known of
    the places to which it may go."""
    if op.name == "store":
        address = view.read(op.src[0])
        if op.offset:
            address = affine.add(address, constant(op.offset, address.bits))
        if op.space == "generic" and not _may_be_local(op, view, address, index, None):
            return
        places = _places(address, view.mask) if op.space == "local" else None
        if places is not None:
            for place in places:
                _store_local(op, view, place, op.attrs[0] if op.attrs else op.bits, index, None, perhaps=True)
            return
    forget_local(view.registers)


def _store_local(
    op: Op, view: View, place: Place, bits: int, index: int, guard: Guarded, perhaps: bool = False
) -> None:
    cells = view.registers.values
    symbol, first, lanes = place
    for key in [
        k for k in cells if type(k) is tuple and k[1] != symbol and not (_is_variable(k[1]) and _is_variable(symbol))
    ]:
        del cells[key]  # counted from another place, which may be anywhere beside this one
    mask = lanes if lanes is not None else view.mask if guard is None else guard
    size = bits // 8
    for k, source in enumerate(op.src[1:]):
        start = first + k * size
        name = ("local", symbol, start, bits)
        for wide in CELLS:  # those that it overlaps: there may be thousands of others
            for at in range(start - wide // 8 + 1, start + size):
                if (key := ("local", symbol, at, wide)) in cells and key != name:
                    del cells[key]
        if perhaps:
            value = opaque(bits if bits in DTYPES else 64, Reason(Kind.LOCAL_PLACE, index))
        elif bits in DTYPES:
            value = affine.fit(view.read(source), bits)
        else:
            value = opaque(64, Reason(Kind.WIDE_SPILL, index))
        view._store(name, value, mask, view.full and guard is None and lanes is None)


def _is_variable(symbol: Uniform | None) -> bool:
    """Where a variable begins: two of them do not overlap."""
    return symbol is not None and symbol.kind == "variable"


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
