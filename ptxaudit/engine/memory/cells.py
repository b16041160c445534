"""The bytes of a variable in shared memory: who wrote each byte and when, and what a load may take as known.

These are the rules of `shadow`, byte by byte: a load sees what an earlier epoch wrote, or the same warp in order. A
store that is unordered with another store of its epoch makes the byte unknown; one that is unordered with a load
shows that the load was trusted too early (`Unsafe`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.base.records import Record
from ptxaudit.engine.memory.happens_before import Past
from ptxaudit.ir.reasons import Kind, Reason, sentence

GRAIN = 1 << 10  # bytes by which cells grow
SEVERAL = -2  # replaces the warp that has read or written, if there are several
UNORDERED = -3  # replaces the warp that writes, if there are several

# Why a byte is unknown; further numbers stand for further reasons (`Shadow.reasons`).
NEVER, VALUE, ORDER, COPY, PLACE, LATER = range(6)
REASONS = {
    NEVER: Kind.READ_NEVER_WRITTEN,
    VALUE: Kind.READ_UNKNOWN_VALUE,
    ORDER: Kind.READ_NO_ORDER,
    COPY: Kind.READ_COPIED,
    PLACE: Kind.READ_AFTER_UNPLACED_STORE,
    LATER: Kind.READ_BETWEEN_BARRIERS,
}


class Unsafe(Exception):
    """Something taken as known of shared memory (`shadow`) may differ.

    loads: the instructions that took it as known; without trusting them, the run may be right.
    """

    def __init__(self, reason: Reason, loads: frozenset[int] = frozenset()):
        super().__init__(sentence(reason))
        self.reason, self.loads = reason, loads


class BarriersUnclear(Unsafe):
    """The barriers that the run has executed do not say which of them all threads of the block reach."""


class Bytes(Record):
    """An access byte by byte, (m,) arrays.

    cell; of its lane: epoch, warp, the time when the whole warp last synchronised (synced), the lanes that are issued
    with it (group), all lanes that access the byte, with those (lanes), and row * LANES + lane, -1 for several (lane);
    byte: which byte of the access it is; past: what precedes the access, None: nothing of other lanes.
    """

    cell: np.ndarray
    epoch: np.ndarray
    warp: np.ndarray
    synced: np.ndarray
    group: np.ndarray
    lanes: np.ndarray
    lane: np.ndarray
    byte: np.ndarray
    past: Past | None

    def before(self, some: np.ndarray, when: np.ndarray) -> np.ndarray:
        """(k,) uint32: the lanes whose accesses up to the time `when` precede the bytes `some`."""
        words: np.ndarray = self.group[some]
        one = self.lane[some] >= 0
        if self.past is not None and one.any():
            words = words.copy()
            words[one] |= self.past.words(self.lane[some[one]], when[one])
        return words


Get = Callable[[str], np.ndarray]  # a field of the cells of an access
_FIELDS: dict[str, tuple[type[Any], int]] = {
    "value": (np.uint8, 0),
    "known": (bool, False),
    "why": (np.uint8, NEVER),
    "frozen": (bool, False),
    "blocks": (np.uint8, 0),
    "written": (np.int32, -1),
    "writer": (np.int16, -1),
    "writing": (np.uint32, 0),
    "writers": (np.uint32, 0),
    "stored": (np.int64, -1),
    "seen": (np.int32, -1),
    "reader": (np.int16, -1),
    "reading": (np.uint32, 0),
    "readers": (np.uint32, 0),
    "loaded": (np.int64, -1),
    "by": (np.int32, -1),
}


LOADS = "reader", "reading", "readers", "loaded"
STORES = "writer", "writing", "writers", "stored"


class Cells:
    """The bytes of one variable, (classes of blocks, bytes) arrays.

    value, known, why; frozen: never known again; blocks: dimensions (one bit each) of block indices in the stored
        value.
    written, writer, writing, writers, stored: epoch, warp, lanes issued together, all lanes and time of the last store
        and of those that are unordered with it.
    seen, reader, reading, readers, loaded, by: the same for loads that were taken as known, and the instruction.
    log: what changes, while that may have to be taken back.
    """

    __slots__ = (*_FIELDS, "limit", "log")

    log: list[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]] | None

    value: np.ndarray
    known: np.ndarray
    why: np.ndarray
    blocks: np.ndarray
    written: np.ndarray
    writer: np.ndarray
    writing: np.ndarray
    writers: np.ndarray
    stored: np.ndarray
    seen: np.ndarray
    reader: np.ndarray
    reading: np.ndarray
    readers: np.ndarray
    loaded: np.ndarray
    by: np.ndarray

    def __init__(self, classes: int, limit: int):
        self.limit, self.log = limit, None
        for name, (dtype, start) in _FIELDS.items():
            setattr(self, name, np.full((classes, 0), start, dtype))

    @property
    def size(self) -> int:
        result: int = self.value.shape[1]
        return result

    def grow(self, size: int) -> None:
        size = min(-(-size // GRAIN) * GRAIN, self.limit)
        for name, (dtype, start) in _FIELDS.items():
            old = getattr(self, name)
            new = np.full((old.shape[0], size), start, dtype)
            new[:, : old.shape[1]] = old
            setattr(self, name, new)

    def take(self, origin: np.ndarray) -> None:
        for name in _FIELDS:
            setattr(self, name, getattr(self, name)[origin])

    def _keep(self, cell: np.ndarray, get: Get) -> None:
        """Logs what is about to change."""
        if self.log is not None:
            self.log.append((cell // self.size, cell % self.size, {name: get(name) for name in _FIELDS}))

    def undo(self, since: int) -> None:
        """Takes back what was logged after the first `since` entries."""
        for kind, offset, fields in reversed(self.log[since:] if self.log is not None else ()):
            for name, values in fields.items():
                getattr(self, name)[kind, offset] = values
        if self.log is not None:
            del self.log[since:]

    def write(
        self,
        at: Bytes,
        clock: int,
        value: np.ndarray,
        sure: np.ndarray,
        blocks: np.ndarray,
        lasting: bool,
        why: int = VALUE,
    ) -> None:
        """Stores bytes.

        value, sure, blocks: (m,) the values, whether they are known, dimensions of block indices in them; lasting:
        they arrive later; why: the reason for unknown values.
        """
        if not len(at.cell):
            return
        if len(distinct(at.cell)) == len(at.cell):
            return self.write_diverged(at, clock, value, sure, blocks, lasting, why=why)
        for warp in distinct(at.warp):  # one by one: nothing orders them, which `write_diverged` detects
            some = at.warp == warp
            order, first, reduced = _by_cell(at.cell, np.flatnonzero(some))
            alike = reduced(np.minimum, value) == reduced(np.maximum, value)
            keep = order[first]
            one = Bytes(
                at.cell[keep],
                at.epoch[keep],
                at.warp[keep],
                at.synced[keep],
                group := reduced(np.bitwise_and, at.group),
                reduced(np.bitwise_or, at.lanes),
                np.where(group == at.group[keep], at.lane[keep], -1),
                at.byte[keep],
                at.past,
            )
            self.write_diverged(
                one,
                clock,
                value[keep],
                reduced(np.logical_and, sure) & alike,
                reduced(np.bitwise_or, blocks),
                lasting,
                ~alike & reduced(np.logical_and, sure),
                why,
            )

    def write_diverged(
        self,
        at: Bytes,
        clock: int,
        value: np.ndarray,
        sure: np.ndarray,
        blocks: np.ndarray,
        lasting: bool,
        clash: np.ndarray | bool = False,
        why: int = VALUE,
    ) -> None:
        """Stores at most one byte per cell. clash: where threads store different values."""
        flat = {name: getattr(self, name).reshape(-1) for name in _FIELDS}
        get: Get = lambda name: flat[name][at.cell]
        epoch = at.epoch
        same = sure & get("known") & (get("value") == value) & (not lasting)
        torn = (get("seen") >= epoch) & ~_in_order(get, at, *LOADS) & ~same
        if torn.any():
            raise Unsafe(Reason(Kind.RACE), frozenset(distinct(get("by")[torn]).tolist()))
        mine = get("writer") == at.warp
        self._keep(at.cell, get)
        ordered = (get("written") < epoch) | _in_order(get, at, *STORES)
        sure = sure & ~get("frozen") & (not lasting)
        now = np.where(ordered, sure, same & sure)
        flat["why"][at.cell] = np.where(get("frozen") | lasting, COPY, np.where(sure | clash, ORDER, why))
        flat["blocks"][at.cell] = np.where(ordered, blocks, blocks | get("blocks")) if not lasting else 0
        if lasting:
            flat["frozen"][at.cell] = True
        flat["value"][at.cell], flat["known"][at.cell] = value, now
        flat["writing"][at.cell] = np.where(ordered, at.group, np.where(mine, get("writing") & at.group, 0))
        flat["writers"][at.cell] = np.where(ordered, at.lanes, np.where(mine, get("writers") | at.lanes, 0))
        flat["writer"][at.cell] = np.where(ordered | mine, at.warp, SEVERAL)
        flat["written"][at.cell], flat["stored"][at.cell] = epoch, clock

    def read(self, at: Bytes, clock: int, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, set[int]]:
        """(value, whether it is known, why not, dimensions of block indices that would make it known) of each byte.

        Records what was taken as known by the instruction `index`.
        """
        flat = {name: getattr(self, name).reshape(-1) for name in _FIELDS}
        get: Get = lambda name: flat[name][at.cell]
        epoch = at.epoch
        ordered = (get("written") < epoch) | _in_order(get, at, *STORES)
        sure = get("known") & ordered
        asked = int(np.bitwise_or.reduce(np.where(ordered & ~sure, get("blocks"), 0), initial=0))
        why = np.where(sure, NEVER, np.where(get("known"), LATER, get("why")))
        value = get("value")
        if sure.any():
            self._note(flat, at, np.flatnonzero(sure), clock, index)
        return value, sure, why, {d for d in range(3) if asked >> d & 1}

    def _note(self, flat: dict[str, np.ndarray], at: Bytes, some: np.ndarray, clock: int, index: int) -> None:
        order, first, reduced = _by_cell(at.cell, some)
        warp, most = reduced(np.minimum, at.warp), reduced(np.maximum, at.warp)
        keep = order[first]
        cell = at.cell[keep]
        group = np.where(warp == most, reduced(np.bitwise_and, at.group), 0)
        lanes = reduced(np.bitwise_or, at.lanes)
        after = _in_order(lambda name: flat[name][at.cell], at, *LOADS)
        warp = np.where(warp == most, warp, SEVERAL)
        epoch = at.epoch[keep]
        self._keep(cell, lambda name: flat[name][cell])
        old = flat["reader"][cell]
        fresh = (flat["seen"][cell] < epoch) | (old == warp) & (warp != SEVERAL) & reduced(np.logical_and, after)
        flat["reading"][cell] = np.where(fresh, group, np.where(old == warp, flat["reading"][cell] & group, 0))
        flat["readers"][cell] = np.where(fresh, lanes, flat["readers"][cell] | lanes)
        flat["reader"][cell] = np.where(fresh | (old == warp), warp, SEVERAL)
        flat["seen"][cell], flat["loaded"][cell], flat["by"][cell] = epoch, clock, index


def _by_cell(
    cell: np.ndarray, some: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Callable[[np.ufunc, np.ndarray], np.ndarray]]:
    """(bytes of an access sorted by cell, where each cell begins, a reduction of arrays (m,) to numbers per cell)."""
    order = some[np.argsort(cell[some], kind="stable")]
    ordered = cell[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return order, first, lambda function, array: function.reduceat(array[order], first)


def _in_order(get: Get, at: Bytes, who: str, together: str, every: str, when: str) -> np.ndarray:
    """Where the last accesses of `who`, by the lanes `every`, of which `together` took part in each, up to `when`, came
    before this one in the same warp.

    They did if the whole warp has synchronised since, or if those of one lane that took part in each did, or those of
    all lanes.
    """
    mine = get(who) == at.warp
    result: np.ndarray = mine & (((get(together) & at.group) != 0) | (get(when) < at.synced))
    open_ones = np.flatnonzero(mine & ~result)
    if len(open_ones):
        before = at.before(open_ones, get(when)[open_ones])
        of_all = get(every)[open_ones]
        result[open_ones] = (get(together)[open_ones] & before != 0) | (of_all != 0) & (of_all & ~before == 0)
    return result
