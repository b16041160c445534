"""The bytes of a variable in shared memory: who wrote each byte and when, and what a load may take as known.

These are the rules of `shadow`, byte by byte: a load sees what an earlier epoch wrote, or the same warp in order. A
store that is unordered with another store of its epoch makes the byte unknown; one that is unordered with a load
shows that the load was trusted too early (`Unsafe`). Atomic operations on a word that are unordered with each other
leave it known if they commute (`updates`) and nothing else writes to the word in their epoch: a store to one of its
bytes that is unordered with them makes all of the word unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import distinct
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.domain.value import DTYPES
from ptxaudit.engine.memory.happens_before import Past
from ptxaudit.engine.memory.updates import MIXED, PLAIN, WIDTHS, Update
from ptxaudit.ir.reasons import Kind, Reason, sentence

BITS = 8  # of a byte
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

    def some(self, index: np.ndarray) -> Bytes:
        return replace(self, **{name: getattr(self, name)[index] for name in self.__struct_fields__ if name != "past"})

    def by_several(self, group: np.ndarray, lanes: np.ndarray) -> Bytes:
        """The same bytes, each accessed by several lanes. group: the lanes that are issued with all of them."""
        return replace(self, group=group, lanes=lanes, lane=np.where(group == self.group, self.lane, -1))


Get = Callable[[str], np.ndarray]  # a field of the cells of an access
Place = tuple[np.ndarray, np.ndarray]  # classes of blocks, offsets
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
    "update": (np.uint16, PLAIN),
    "width": (np.uint8, 0),
    "place": (np.uint8, 0),
    "counts": (bool, False),
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
    update, width, place: the atomic operations in that epoch (`Update.number`), the bytes of their word, and which of
        them this byte is. counts: it grows by the same amount in each round of the loop that is tried.
    seen, reader, reading, readers, loaded, by: the same for loads that were taken as known, and the instruction.
    log: what was there before each change of the round that is tried; None: there is no such round. begun: when it
        began; added: bytes, and what it adds to their words.
    """

    __slots__ = (*_FIELDS, "added", "begun", "limit", "log")

    log: list[tuple[Place, dict[str, np.ndarray]]] | None
    begun: int
    added: list[tuple[Place, np.ndarray]]

    value: np.ndarray
    known: np.ndarray
    why: np.ndarray
    blocks: np.ndarray
    written: np.ndarray
    writer: np.ndarray
    writing: np.ndarray
    writers: np.ndarray
    stored: np.ndarray
    update: np.ndarray
    width: np.ndarray
    place: np.ndarray
    counts: np.ndarray
    seen: np.ndarray
    reader: np.ndarray
    reading: np.ndarray
    readers: np.ndarray
    loaded: np.ndarray
    by: np.ndarray

    def __init__(self, classes: int, limit: int):
        self.limit, self.log, self.begun, self.added = limit, None, 0, []
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

    def begin(self, clock: int) -> None:
        """A round of a loop begins at this time: changes can be undone, and content may only grow (NotAffine)."""
        self.log, self.begun, self.added = [], clock, []

    def undo(self) -> None:
        """Ends the round and takes it back."""
        for place, fields in reversed(self.log or ()):
            for name, values in fields.items():
                getattr(self, name)[place] = values
        self.log, self.added = None, []

    def keep(self, rounds: int) -> None:
        """Ends the round, which stands for so many."""
        for place, added in self.added:
            old = np.ascontiguousarray(self.value[place]).view(added.dtype)
            self.value[place] = (old + added * added.dtype.type(rounds)).view(np.uint8)
            self.counts[place] = False
        self.log, self.added = None, []

    def _in_round(
        self, at: Bytes, update: Update, old: np.ndarray, new: np.ndarray, known: np.ndarray, forget: bool
    ) -> np.ndarray:
        """(words,) those that the operation increases alike in each round of a loop, and that nothing else in it uses.

        old, new: (words,) what it does to them, if `known`. forget: other words that it changes become unknown in
        `known`; else it raises NotAffine.
        """
        flat: Callable[[str], np.ndarray] = lambda name: getattr(self, name).reshape(-1)[at.cell]
        some: Callable[[np.ndarray], np.ndarray] = lambda a: np.logical_or.reduce(a.reshape(-1, update.size), axis=1)
        counts, held = some(flat("counts")), some(flat("known"))
        used = some(flat("loaded") > self.begun) | some(flat("stored") > self.begun) & ~counts
        changed = held & (~known | (new != old) | counts)
        grows: np.ndarray = changed & known & (update.kind == "add")
        if (changed & used).any() or not forget and (changed & ~grows).any():
            raise NotAffine
        known &= grows | ~changed
        return grows

    def _changes(self, cell: np.ndarray) -> None:
        """Called before these bytes change."""
        if self.log is not None:
            kind, offset = np.divmod(cell, self.size)
            self.log.append(((kind, offset), {name: getattr(self, name)[kind, offset] for name in _FIELDS}))

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
            order, first, reduced = by_cell(at.cell, np.flatnonzero(some))
            alike = reduced(np.minimum, value) == reduced(np.maximum, value)
            keep = order[first]
            group, lanes = reduced(np.bitwise_and, at.group), reduced(np.bitwise_or, at.lanes)
            one = at.some(keep).by_several(group, lanes)
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
        updated = (get("written") >= epoch) & (get("update") != PLAIN)
        same = sure & get("known") & (get("value") == value) & (not lasting) & ~updated
        self._check_order(get, at, ~same)
        if get("counts").any():
            raise NotAffine
        mine = get("writer") == at.warp
        ordered = (get("written") < epoch) | _in_order(get, at, *STORES)
        if (updated & ~ordered).any():
            self._forget_words(flat, at, updated & ~ordered)
        self._changes(at.cell)
        sure = sure & ~get("frozen") & (not lasting)
        now = np.where(ordered, sure, same & sure)
        flat["why"][at.cell] = np.where(get("frozen") | lasting, COPY, np.where(sure | clash, ORDER, why))
        flat["blocks"][at.cell] = np.where(ordered, blocks, blocks | get("blocks")) if not lasting else 0
        if lasting:
            flat["frozen"][at.cell] = True
        flat["value"][at.cell], flat["known"][at.cell] = value, now
        flat["update"][at.cell] = np.where(updated, MIXED, PLAIN)
        self._note_writer(flat, at, clock, ordered, mine)

    def update_words(
        self,
        at: Bytes,
        clock: int,
        update: Update,
        operands: np.ndarray,
        sure: np.ndarray,
        blocks: np.ndarray,
        why: int,
        forget: bool,
    ) -> None:
        """Performs an atomic operation on words, whose bytes are adjacent in `at`.

        operands: (m, 1 or 2) of each lane; sure, blocks: (m,) whether they are known, dimensions of block indices.
        forget: in a round of a loop, words may become unknown.
        """
        start, warp, group, lanes = (a[:: update.size] for a in (at.cell, at.warp, at.group, at.lanes))
        many: Callable[[np.ndarray], np.ndarray] = lambda a: np.repeat(a, update.size)
        for one in distinct(warp) if len(distinct(start)) < len(start) else (None,):
            some = np.arange(len(start)) if one is None else np.flatnonzero(warp == one)
            order, first, reduced = by_cell(start, some)
            keep = order[first]
            words = at.some((keep[:, None] * update.size + np.arange(update.size)).reshape(-1))
            words = words.by_several(many(reduced(np.bitwise_and, group)), many(reduced(np.bitwise_or, lanes)))
            if (np.diff(start[keep]) < update.size).any():  # misaligned
                unknown = np.zeros(len(words.cell), np.uint8)
                self.write(words, clock, unknown, unknown != 0, unknown, False, why)
                continue
            together, known, count = update.together(operands[order], sure[order], first)
            of_blocks = np.where(reduced(np.logical_and, sure | (blocks != 0)), reduced(np.bitwise_or, blocks), 0)
            clash = reduced(np.logical_and, sure) & ~known
            self._update_words(
                words, clock, update, (together, known, count), of_blocks, np.where(clash, ORDER, why), forget
            )

    def _update_words(
        self,
        at: Bytes,
        clock: int,
        update: Update,
        by: tuple[np.ndarray, np.ndarray, np.ndarray],
        blocks: np.ndarray,
        why: np.ndarray,
        forget: bool,
    ) -> None:
        """Performs an operation once per word. by: as of `Update.together`; blocks, why: (words,)."""
        flat = {name: getattr(self, name).reshape(-1) for name in _FIELDS}
        get: Get = lambda name: flat[name][at.cell]
        each: Callable[[np.ndarray], np.ndarray] = lambda a: np.logical_and.reduce(a.reshape(-1, update.size), axis=1)
        many: Callable[[np.ndarray], np.ndarray] = lambda a: np.repeat(a, update.size)
        operands, sure, count = by
        self._check_order(get, at, np.ones(len(at.cell), bool))
        now, mine = get("written") >= at.epoch, get("writer") == at.warp
        ordered = ~now | _in_order(get, at, *STORES)
        updated = now & (get("update") != PLAIN)
        own = updated & (get("width") == update.size) & (get("place") == at.byte)
        if (updated & ~own).any():  # words of other sizes
            self._forget_words(flat, at, updated & ~own)
        alike = ~now | own & (get("update") == update.number) & (update.number != MIXED)
        commutes, here = each(alike), get("known") & ~get("frozen")
        possible = (commutes | each(ordered)) & each(own | ~updated)
        known = possible & each(here) & sure
        old = np.ascontiguousarray(get("value")).view(DTYPES[update.size * BITS])
        new = np.where(known, update.applied(old, operands, count), 0).astype(old.dtype)
        grows = None if self.log is None else self._in_round(at, update, old, new, known, forget)
        self._changes(at.cell)
        of_blocks = np.bitwise_or.reduce(get("blocks").reshape(-1, update.size), axis=1) | blocks
        asked = possible & each(here | (get("blocks") != 0)) & (sure | (blocks != 0)) & ~known
        unknown = np.where(get("frozen"), COPY, np.where(get("known"), many(why), get("why")))
        flat["why"][at.cell] = np.where(many(possible), unknown, np.where(get("frozen"), COPY, ORDER))
        flat["blocks"][at.cell] = many(np.where(asked, of_blocks, 0))
        flat["value"][at.cell], flat["known"][at.cell] = new.view(np.uint8), many(known)
        flat["update"][at.cell] = many(np.where(commutes, update.number, MIXED))
        flat["width"][at.cell], flat["place"][at.cell] = update.size, at.byte
        self._note_writer(flat, at, clock, ordered, mine)
        if grows is not None and grows.any():
            place = np.divmod(at.cell[many(grows)], self.size)
            self.value[place], self.counts[place] = old[grows].view(np.uint8), True
            self.added.append((place, (new - old)[grows]))

    def _check_order(self, get: Get, at: Bytes, changed: np.ndarray) -> None:
        """Raises Unsafe if loads that are unordered with this store have taken the content as known."""
        torn = (get("seen") >= at.epoch) & ~_in_order(get, at, *LOADS) & changed
        if torn.any():
            raise Unsafe(Reason(Kind.RACE), frozenset(distinct(get("by")[torn]).tolist()))

    def _forget_words(self, flat: dict[str, np.ndarray], at: Bytes, some: np.ndarray) -> None:
        """Makes words unknown, of which something else writes a byte, unordered with their atomic operations.

        Any of their bytes may depend on the order, by a carry. Raises Unsafe if one was taken as known.
        """
        first, epoch = at.cell[some] - flat["place"][at.cell[some]], at.epoch[some]
        size = flat["width"][at.cell[some]]
        for width in WIDTHS:
            of = size == width
            cell = (first[of, None] + np.arange(width)).reshape(-1)
            seen = flat["seen"][cell] >= np.repeat(epoch[of], width)
            if seen.any():
                raise Unsafe(Reason(Kind.RACE), frozenset(distinct(flat["by"][cell[seen]]).tolist()))
            if self.log is not None and flat["known"][cell].any():
                raise NotAffine
            self._changes(cell)
            flat["known"][cell], flat["why"][cell], flat["blocks"][cell] = False, ORDER, 0

    def _note_writer(
        self, flat: dict[str, np.ndarray], at: Bytes, clock: int, ordered: np.ndarray, mine: np.ndarray
    ) -> None:
        """Records who writes. ordered: where all earlier stores of the epoch precede this one; mine: by this warp."""
        together, every = flat["writing"][at.cell] & at.group, flat["writers"][at.cell] | at.lanes
        flat["writing"][at.cell] = np.where(ordered, at.group, np.where(mine, together, 0))
        flat["writers"][at.cell] = np.where(ordered, at.lanes, np.where(mine, every, 0))
        flat["writer"][at.cell] = np.where(ordered | mine, at.warp, SEVERAL)
        flat["written"][at.cell], flat["stored"][at.cell] = at.epoch, clock

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
        if (sure & get("counts")).any():
            raise NotAffine
        if sure.any():
            self._note(flat, at, np.flatnonzero(sure), clock, index)
        return value, sure, why, {d for d in range(3) if asked >> d & 1}

    def _note(self, flat: dict[str, np.ndarray], at: Bytes, some: np.ndarray, clock: int, index: int) -> None:
        order, first, reduced = by_cell(at.cell, some)
        warp, most = reduced(np.minimum, at.warp), reduced(np.maximum, at.warp)
        keep = order[first]
        cell = at.cell[keep]
        group = np.where(warp == most, reduced(np.bitwise_and, at.group), 0)
        lanes = reduced(np.bitwise_or, at.lanes)
        after = _in_order(lambda name: flat[name][at.cell], at, *LOADS)
        warp = np.where(warp == most, warp, SEVERAL)
        epoch = at.epoch[keep]
        self._changes(cell)
        old = flat["reader"][cell]
        fresh = (flat["seen"][cell] < epoch) | (old == warp) & (warp != SEVERAL) & reduced(np.logical_and, after)
        flat["reading"][cell] = np.where(fresh, group, np.where(old == warp, flat["reading"][cell] & group, 0))
        flat["readers"][cell] = np.where(fresh, lanes, flat["readers"][cell] | lanes)
        flat["reader"][cell] = np.where(fresh | (old == warp), warp, SEVERAL)
        flat["seen"][cell], flat["loaded"][cell], flat["by"][cell] = epoch, clock, index


def by_cell(
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
