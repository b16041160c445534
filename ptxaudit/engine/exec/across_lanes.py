"""Operations across the lanes of a warp: shuffles, votes, matches, reductions (PTX ISA, "Parallel Synchronization").

shfl.up r1, r2, 1          lane n gets the value of lane n - 1; lane 0 its own
vote.ballot r1, p          one word for all lanes, if the active lanes are known
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.lanes import FULL_MASK, LANES, first_active, pack, unpack, varies
from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    Uniform,
    Value,
    as_uniform,
    because,
    known,
    known_in,
    mapped,
    one_per_warp,
    opaque,
    squeeze,
    unknown,
)
from ptxaudit.engine.exec.members import members, several
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import Guarded, Results, View, active_lanes, as_uniform_in, fill, place_at
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason


def _shuffle(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    """shfl: PTX ISA "shfl.sync". A lane outside its segment keeps its own value."""
    a, b, c = (view.read(s) for s in op.src[:3])
    b, c = (v if v.known else fill(v, active_lanes(view, guard)) for v in (b, c))  # only of active lanes
    named = view.read(op.src[3]) if len(op.src) > 3 else None
    broadcast = kind == "idx" and _of_one_lane(b, c, named, view, guard)
    if not (b.known and c.known):
        if broadcast:
            return *_one_for_all(op, view.env, op.bits, index), known(EVERYWHERE)
        lost = because(b, c)
        lost = lost if lost is not None and lost.data else Reason(Kind.SHUFFLE_LANE, index)
        return opaque(op.bits, lost), opaque(1, lost)
    source, inside = _read_from(kind, b.base, c.base)
    n = view.mask.shape[0]
    source = np.broadcast_to(source, (n, LANES))
    wide = mapped(a, lambda array: np.broadcast_to(array, (n, LANES)))
    pick: Callable[[np.ndarray], np.ndarray] = lambda array: np.take_along_axis(array, source, 1)
    idle = ~pick(active_lanes(view, guard))
    if named is not None and named.known and not named.uniform:  # a lane of another group does not participate
        idle = idle | (pick(np.broadcast_to(named.base, (n, LANES))) != named.base)
    unknown = idle if wide.poison is None else idle | pick(wide.poison)
    poison: np.ndarray | None = unknown
    why = wide.why if wide.poison is not None else None
    if not anywhere(unknown & active_lanes(view, guard)):
        poison = None
    elif why is None:
        why = Reason(Kind.SHUFFLE_INACTIVE, index)
    value = squeeze(Value(pick(wide.base), tuple((u, pick(co)) for u, co in wide.terms), wide.valid, poison, why))
    if broadcast and poison is not None:
        value = one_per_warp(value, _number_of(op, view.env, op.bits, index))
        if anywhere(idle & active_lanes(view, guard)):  # undefined, and not by itself the same in all lanes
            value = Value(value.base, value.terms, value.valid, idle, Reason(Kind.SHUFFLE_INACTIVE, index))
    return value, known(np.broadcast_to(inside, (n, LANES)))


def _read_from(kind: str, step: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the lane that each lane reads, whether it is in the lane's segment). step, bounds: sources of a shuffle."""
    lane = np.arange(LANES, dtype=np.int64)[None, :]
    step, clamp, segment = (
        x & 31 for x in (step.astype(np.int64), bounds.astype(np.int64), bounds.astype(np.int64) >> 8)
    )
    max_lane, min_lane = (lane & segment) | (clamp & ~segment & 31), lane & segment
    match kind:
        case "up":
            source = lane - step
            inside = source >= max_lane
        case "down":
            source = lane + step
            inside = source <= max_lane
        case "bfly":
            source = lane ^ step
            inside = source <= max_lane
        case _:
            source = min_lane | (step & ~segment & 31)
            inside = source <= max_lane
    return np.where(inside, source, lane), inside


def _of_one_lane(lane: Value, clamp: Value, named: Value | None, view: View, guard: Guarded) -> bool:
    """All lanes read the value of the same lane, whichever it is, and are together: all that exist, or, if the active
    lanes are unknown, all that reach the instruction.
    """
    whole = clamp.known and throughout((clamp.base & 0x1F1F) == 0x1F)
    every = named is None or named.known and throughout(named.base == FULL_MASK)
    if not (whole and view.grouped and every and as_uniform(lane) is not None):
        return False
    if not view.exact:
        return True
    exists, active = view.env.exists if view.rows is None else view.env.exists[view.rows], active_lanes(view, guard)
    return throughout((active == exists) | ~np.logical_or.reduce(active, axis=1, keepdims=True))


def _members(op: Op, at: int, view: View, guard: Guarded) -> np.ndarray | None:
    """As `members`, for an operation whose source `at` is the member mask, if it has one."""
    return members(view.read(op.src[at]) if len(op.src) > at else None, active_lanes(view, guard))


def _at_once(op: Op, at: int, view: View) -> bool:
    """All active lanes execute an operation at once: they are converged, or wait there for the lanes of the member mask
    that is its source `at`. (Diverged groups of lanes execute one that names no mask at different times.)
    """
    return view.grouped or len(op.src) > at


def _of_its_group(bits: int, index: int) -> Value:
    """An unknown result that differs between groups of lanes."""
    return opaque(bits, Reason(Kind.OF_ITS_GROUP, index))


def _diverged(op: Op, view: View, index: int, guard: Guarded) -> Results:
    """Whether a living lane of a mask is inactive or does not vote yes: one answer for all active lanes.

    If the living lanes are unknown, they are at least the active ones and at most those that exist.
    """
    own, mask = (as_unknown(view.read(s)) for s in op.src)
    active = active_lanes(view, guard)
    words = known_in(mask, active)
    if words is not None and view.exact and not varies(words, active):
        named = unpack(first_active(words, active)[:, 0])
        open_lanes = (
            active
            if own.terms or own.valid is not None
            else active & own.poison
            if own.poison is not None
            else active & False
        )
        yes = active & own.base.astype(bool) & ~open_lanes
        exists = view.env.exists if view.rows is None else view.env.exists[view.rows]
        least, most = (active, exists) if view.alive is None else (view.alive, view.alive)
        missing = (named & least & ~yes & ~open_lanes).any(axis=1, keepdims=True)
        if throughout(missing | ~(named & most & ~yes).any(axis=1, keepdims=True)):
            return (known(missing),)
    return _one_for_all(op, view.env, 1, index) if view.grouped else (_of_its_group(1, index),)


def _vote(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    if kind == "diverged":
        return _diverged(op, view, index, guard)
    p = view.read(op.src[0])
    bits = 32 if kind == "ballot" else 1
    groups = _members(op, 1, view, guard)
    certain = p.known and p.base.shape[1] == 1 and kind != "ballot"  # independent of the participating lanes
    if groups is None or several(groups) and not (view.exact or certain):
        return (_of_its_group(bits, index),)
    if p.terms or p.valid is not None or p.poison is not None and anywhere(p.poison & groups.any(axis=1)):
        alike = not several(groups) and _at_once(op, 1, view)
        return _one_for_all(op, view.env, bits, index) if alike else (_of_its_group(bits, index),)
    if not view.exact and not certain:
        if not _at_once(op, 1, view):
            return (_of_its_group(bits, index),)
        key = "vote", index, view.env.serial()
        return (unknown(_number(f"vote at {place_at(view.env, index)}", bits, key, bits == 1)),)
    yes = groups & p.base[:, None, :]
    match kind:
        case "ballot":
            return (known(pack(yes)),)
        case "any":
            out = yes.any(axis=2)
        case "all":
            out = (yes == groups).all(axis=2)
        case _:
            out = (yes == groups).all(axis=2) | ~yes.any(axis=2)
    return (known(out),)


def _number(name: str, bits: int, key: object, data: bool) -> Uniform:
    """An unknown number or truth value that all lanes share."""
    low, high = (0, 1) if bits == 1 else (None, None)
    return Uniform(name, bits, 0, low, high, "loaded", key, data)


def _number_of(op: Op, env: Environment, bits: int, index: int) -> Uniform:
    """An unknown result that all lanes share."""
    return _number(f"{op.name} at {place_at(env, index)}", bits, (op.name, index, env.serial()), True)


def _one_for_all(op: Op, env: Environment, bits: int, index: int) -> Results:
    return (unknown(_number_of(op, env, bits, index)),)


def _match(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    a = view.read(op.src[0])
    groups = _members(op, 1, view, guard)
    wide = known_in(a, active_lanes(view, guard))
    if wide is None or not view.exact or groups is None:
        why = a.why or Reason(Kind.MATCH, index)
        return opaque(32, why), opaque(1, why)
    mask = pack((wide[:, :, None] == wide[:, None, :]) & groups)
    if kind == "all":
        every = pack(groups)
        agreed = mask == every
        if not several(groups):
            agreed = (agreed | ~groups[:, 0]).all(axis=1, keepdims=True)
        return known(np.where(agreed, every, np.uint32(0))), known(agreed)
    return known(mask), known(EVERYWHERE)


def _activemask(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    if not view.exact:
        if not view.grouped:
            return (_of_its_group(32, index),)
        key = "activemask", index, view.env.serial()
        return (unknown(_number(f"active mask at {place_at(view.env, index)}", 32, key, view.data)),)
    return (known(pack(active_lanes(view, guard))[:, None]),)


def _elect(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    groups = _members(op, 0, view, guard)
    if not view.exact or groups is None:
        unknown = Reason(Kind.ELECT, index)
        return opaque(32, unknown), opaque(1, unknown)
    first = groups.argmax(axis=2)
    return known(first.astype(np.uint32)), known(np.arange(LANES)[None, :] == first)


def _first_lane(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    """The number of the first active lane: known even where the active lanes are not, if none of them has another."""
    a = view.read(op.src[0])
    if (same := as_uniform_in(view, a, guard)) is not None:
        return (same,)
    first = active_lanes(view, guard).argmax(axis=1)[:, None]
    shape = (view.mask.shape[0], LANES)
    pick: Callable[[np.ndarray], np.ndarray] = lambda array: np.take_along_axis(np.broadcast_to(array, shape), first, 1)
    if view.exact and a.valid is None and (a.poison is None or not anywhere(pick(a.poison))):
        return (Value(pick(a.base), tuple((u, pick(c)) for u, c in a.terms)),)
    return _one_for_all(op, view.env, op.bits, index) if view.grouped else (_of_its_group(op.bits, index),)


_REDUCE = {
    "add": np.add,
    "min.s": np.minimum,
    "min.u": np.minimum,
    "max.s": np.maximum,
    "max.u": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _redux(op: Op, kind: str, view: View, index: int, guard: Guarded) -> Results:
    a = view.read(op.src[0])
    groups = _members(op, 1, view, guard)
    wide = known_in(a, active_lanes(view, guard))
    if groups is None or wide is None or not (view.exact and kind in _REDUCE):
        alike = groups is not None and not several(groups) and _at_once(op, 1, view)
        return _one_for_all(op, view.env, 32, index) if alike else (_of_its_group(32, index),)
    if kind.endswith(".s"):
        wide = np.ascontiguousarray(wide).view(np.int32)
    neutral = {
        "add": 0,
        "or": 0,
        "xor": 0,
        "and": FULL_MASK,
        "min.u": FULL_MASK,
        "max.u": 0,
        "min.s": 2**31 - 1,
        "max.s": -(2**31),
    }[kind]
    out = _REDUCE[kind].reduce(np.where(groups, wide[:, None, :], wide.dtype.type(neutral)), axis=2)
    return (known(np.ascontiguousarray(out).astype(wide.dtype).view(np.uint32)),)


ACROSS: dict[str, Callable[[Op, str, View, int, Guarded], Results]] = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "activemask": _activemask,
    "elect": _elect,
    "redux": _redux,
    "readfirstlane": _first_lane,
}
