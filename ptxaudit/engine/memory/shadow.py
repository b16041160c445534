"""What a run knows of the bytes in shared memory: a load of known bytes yields numbers, any other stays as it is.

Warps are run in no order but that of the block's barriers: those of a block wait where all threads meet, and the time
between two such meetings is an *epoch*. A byte that is read is known only if whatever thread order the hardware takes
gives the same:

- it was written in an earlier epoch, and in this one by nobody; or
- it was written in this epoch by the same warp alone, before the load: by the same thread, in machine code by lanes
that
  were issued together with the load's (accesses of one issue after the other are in order), or before a barrier of the
  whole warp;
- and nobody overwrites it in this epoch in no order with the load. That is found at the store, whichever is run first:
then
  what has been said rests on luck, and the run is made anew with that load trusted no more (`Unsafe`).

Stores of unknown values, atomic operations and matrices make their bytes unknown; what an asynchronous copy writes
stays unknown for good; a store whose place is not known makes what it can reach (`reach`) unknown, or all that its
block has for good. Bytes that were never written are not known. A value with a block index in it asks for a run on
numbers (`BlocksNeeded`) where it is read.

A loop is closed (`repeat`) only where each round leaves the bytes as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.base.records import Record
from ptxaudit.base.work import REQUEST, Account, elements
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import DTYPES, Value, known, resize, signed, squeeze
from ptxaudit.engine.memory.cells import LATER, NEVER, PLACE, REASONS, UNORDERED, VALUE, Bytes, Cells, Unsafe
from ptxaudit.engine.memory.environment import LANES, SHARED_WINDOW, Environment
from ptxaudit.engine.memory.registers import View, blend, fill
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.ir.nodes import Special
from ptxaudit.ir.reasons import Kind, Reason

BYTE = 8
MOST_CELLS = 1 << 21  # bytes of all blocks that are run together
ALONE = (1, 1, 1)
READ = frozenset((*REASONS.values(), Kind.READ_UNPLACED))
FOLLOWING = "following what is in shared memory"
PASSES = 30  # over the bytes of an access, and of all memory where there is more of it
RANK_BIT = 24  # machine code numbers the blocks of a cluster from this bit of a shared address on


class BlocksNeeded(Exception):
    """The run needs block indices of these dimensions as numbers."""

    def __init__(self, dimensions: set[int]):
        self.dimensions = dimensions


class Touch(Record):
    """Who accesses. kind: (n,) class of each row's block; warp: (n,) its number there; synced: (n,) when all its lanes
    last met; group: (n, LANES) lanes that are certainly issued together with each; active: (n, LANES)."""

    kind: np.ndarray
    warp: np.ndarray
    synced: np.ndarray
    group: np.ndarray
    active: np.ndarray


Places = list[tuple[Cells, np.ndarray, np.ndarray]]  # (n, LANES) offsets, and which lanes go there


class Shadow:
    """Shared memory of all blocks of one run."""

    def __init__(
        self,
        env: Environment,
        low: np.ndarray,
        high: np.ndarray,
        valued: frozenset[int],
        distrusted: frozenset[int],
        ask_for_blocks: bool,
        account: Account,
    ):
        """low, high: (rows, 3) block indices of each row's class; valued: stores whose values may be known;
        distrusted: loads whose values are not taken as known; account: pays for it, else Exhausted."""
        self.account = account
        self.env, self.valued, self.distrusted, self.ask_for_blocks = env, valued, distrusted, ask_for_blocks
        self.kind = _classes(low, high)
        classes = int(self.kind.max()) + 1
        self.warp = env.warp[:, 0].astype(np.int16)
        self.synced = np.full(len(self.kind), -1, np.int64)
        self.epoch = np.zeros(classes, np.int32)
        self.unknown = np.zeros(classes, bool)
        self.clock = 0
        self.trusted: set[int] = set()  # loads that have been taken as known since someone cleared it
        self.reasons = [Reason(kind) for kind in REASONS.values()]
        self.cells: dict[str, Cells] = {}
        self.sizes = {v.name: v.size for v in env.function.variables if v.space.startswith("shared")}

    # --- rows ---

    def touch(self, rows: np.ndarray, group: np.ndarray, active: np.ndarray) -> Touch:
        return Touch(self.kind[rows], self.warp[rows], self.synced[rows], group, active)

    def whole_blocks(self, cuts: dict[int, tuple[int, list[int]]]) -> dict[int, tuple[int, list[int]]]:
        """Cuts of block indices for all warps of the blocks that they are about."""
        by_class: dict[int, tuple[int, set[int]]] = {}
        for row, (d, points) in cuts.items():
            first, together = by_class.setdefault(int(self.kind[row]), (d, set()))
            if first == d:
                together.update(points)
        return {
            row: (by_class[k][0], sorted(by_class[k][1])) for row, k in enumerate(self.kind.tolist()) if k in by_class
        }

    def expand(self, index: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """New row i is a copy of row index[i], of the class low[i] to high[i]."""
        old, self.kind = self.kind[index], _classes(low, high)
        origin = np.zeros(int(self.kind.max()) + 1, np.int64)
        origin[self.kind] = old
        self.warp, self.synced = self.warp[index], self.synced[index]
        self.epoch, self.unknown = self.epoch[origin], self.unknown[origin]
        for cells in self.cells.values():
            cells.take(origin)
        self._check_size()

    def _check_size(self) -> None:
        cells = sum(c.value.size for c in self.cells.values())
        if cells > MOST_CELLS:
            raise Unsafe(Reason(Kind.MANY_BYTES))
        self.account.spend(PASSES * elements(cells), FOLLOWING)

    def mark(self) -> tuple[np.ndarray, np.ndarray]:
        """What a round of a loop that is given up has to put back."""
        return self.epoch.copy(), self.synced.copy()

    def restore(self, mark: tuple[np.ndarray, np.ndarray]) -> None:
        self.epoch, self.synced = mark

    def met(self, rows: np.ndarray) -> None:
        """All living lanes of these warps have met."""
        self.clock += 1
        self.synced[rows] = self.clock

    # --- accesses ---

    def store(
        self,
        address: Value | Reason,
        touch: Touch,
        values: list[Value] | None,
        size: int,
        index: int,
        view: View,
        lap: Round | None,
        lasting: bool = False,
        within: Callable[[], Range | None] = lambda: None,
    ) -> None:
        """values: of the elements side by side, each of as many bits as is stored; None: `size` bytes that are not
        known. within: where the address is at all events, asked when it is not known. lap: the round of a loop that is
        run for many; lasting: they arrive some time later."""
        if not self._tracked(touch):
            return
        if lap is not None and (
            isinstance(address, Reason) or any(lap.mentions(v) for v in (address, *(values or ())))
        ):
            raise NotAffine
        places, astray = self._places(address, touch.active, size, view)
        if astray.any():
            if self.env.cluster != ALONE:
                raise Unsafe(Reason(Kind.STORE_TO_CLUSTER, index))
            reach = within()
            cells = (
                None
                if reach is None or reach.low < 0 or not reach.name and not self.env.function.absolute_shared
                else self._cells(reach.name)
            )
            if cells is None or reach is None or reach.high + size > cells.limit:
                self.lose(touch, astray, lap)
            else:
                self._somewhere(cells, reach.low, reach.high + size, touch, astray, lasting, lap)
            if not self._tracked(touch):
                return
        value, is_known, blocks = _content(values, size, touch.active.shape)
        self.clock += 1
        for cells, offsets, lanes in places:
            at = self._bytes(cells, offsets, lanes & ~self.unknown[touch.kind][:, None], touch, size)
            pick: Callable[[np.ndarray], np.ndarray] = lambda a: a[at.lane // LANES, at.lane % LANES, at.byte]
            new, sure = pick(value), pick(is_known)
            if lap is not None:
                there, before = cells.known.reshape(-1)[at.cell], cells.value.reshape(-1)[at.cell]
                if (there & ~(sure & (new == before))).any() or index in self.valued and not (sure & there).all():
                    raise NotAffine  # the rounds do not leave the bytes as they were
            cells.write(at, self.clock, new, sure, pick(blocks), lasting, self._reason(values))

    def _somewhere(
        self, cells: Cells, low: int, end: int, touch: Touch, lanes: np.ndarray, lasting: bool, lap: Round | None
    ) -> None:
        """These lanes write somewhere between two offsets."""
        if end > cells.size:
            cells.grow(end)
            self._check_size()
        self.clock += 1
        rows = np.flatnonzero(lanes.any(axis=1) & ~self.unknown[touch.kind])
        for kind in distinct(touch.kind[rows]):
            mine = rows[touch.kind[rows] == kind]
            alone = len(mine) == 1
            self.account.spend(PASSES * elements(end - low), FOLLOWING)
            cell = kind * cells.size + np.arange(low, end)
            if lap is not None and cells.known.reshape(-1)[cell].any():
                raise NotAffine
            full: Callable[[Any, type[Any]], np.ndarray] = lambda number, dtype: np.full(len(cell), number, dtype)
            group = np.bitwise_and.reduce(touch.group[mine[0]][lanes[mine[0]]]) if alone else 0
            at = Bytes(
                cell,
                full(self.epoch[kind], np.int32),
                full(touch.warp[mine[0]] if alone else UNORDERED, np.int16),
                full(touch.synced[mine[0]] if alone else -1, np.int64),
                full(group, np.uint32),
                cell,
                cell,
            )
            cells.write_diverged(
                at, self.clock, full(0, np.uint8), full(False, bool), full(0, np.uint8), lasting, why=PLACE
            )

    def load(
        self,
        address: Value | Reason,
        touch: Touch,
        bits: int,
        defaults: tuple[Value, ...],
        index: int,
        view: View,
        lap: Round | None,
        widen: Callable[[Value, int], Value],
    ) -> tuple[Value, ...]:
        """The elements of a load, side by side in memory: numbers where they are known, else as in `defaults`.
        widen: extends an element to a register's bits."""
        if isinstance(address, Reason) or bits not in DTYPES or bits == 1:
            return defaults
        each = bits // BYTE
        size = each * len(defaults)
        places, astray = self._places(address, touch.active, size, view)
        if lap is not None and lap.mentions(address):
            if any(c.known.any() for c in self.cells.values()):
                raise NotAffine
            return defaults
        n = touch.active.shape[0]
        value, sure = np.zeros((n, LANES, size), np.uint8), np.zeros((n, LANES, size), bool)
        why = np.full((n, LANES, size), NEVER, np.uint8)
        if astray.any():
            why[astray] = self._number(Kind.READ_UNPLACED, address.why)
        why[self.unknown[touch.kind]] = PLACE
        if index in self.distrusted:
            why[:] = LATER
        self.clock += 1
        for cells, offsets, lanes in places if index not in self.distrusted else ():
            lanes = lanes & ~self.unknown[touch.kind][:, None]
            at = self._bytes(cells, offsets, lanes, touch, size)
            put: Callable[[np.ndarray, np.ndarray], None] = lambda array, what: array.__setitem__(
                (at.lane // LANES, at.lane % LANES, at.byte), what
            )
            read_value, read_sure, read_why, asked = cells.read(at, self.clock, index)
            if asked and self.ask_for_blocks:
                raise BlocksNeeded(asked)
            put(value, read_value)
            put(sure, read_sure)
            put(why, read_why)
            if read_sure.any():
                self.trusted.add(index)
        out = []
        for k, default in enumerate(defaults):
            part = slice(k * each, (k + 1) * each)
            mine: np.ndarray = np.logical_and.reduce(sure[:, :, part], axis=2)
            word: np.ndarray = np.zeros((n, LANES), DTYPES[bits])
            for b in range(each):
                word |= value[:, :, k * each + b].astype(DTYPES[bits]) << DTYPES[bits](BYTE * b)
            out.append(
                _joined(
                    default,
                    widen(known(word), k),
                    mine,
                    touch.active,
                    self.reasons[int(why[:, :, part][touch.active].max(initial=NEVER))].at(index),
                )
            )
        return tuple(out)

    def lose(self, touch: Touch, lanes: np.ndarray, lap: Round | None) -> None:
        """These lanes write somewhere, now or later: nothing in their blocks is known any more."""
        if lap is not None:
            raise NotAffine
        rows = np.flatnonzero(lanes.any(axis=1) & ~self.unknown[touch.kind])
        for kind in distinct(touch.kind[rows]):
            mine = rows[touch.kind[rows] == kind]
            for cells in self.cells.values():
                self.account.spend(REQUEST + elements(cells.size), FOLLOWING)
                seen = cells.seen[kind] >= self.epoch[kind]
                if not seen.any():
                    continue
                group = np.bitwise_and.reduce(touch.group[mine][lanes[mine]])
                behind = (cells.reader[kind] == touch.warp[mine[0]]) & (
                    (cells.reading[kind] & group) | (cells.loaded[kind] < touch.synced[mine[0]])
                ).astype(bool)
                touched = seen if len(mine) > 1 else seen & ~behind
                if touched.any():
                    raise Unsafe(Reason(Kind.STORE_UNPLACED), frozenset(distinct(cells.by[kind][touched]).tolist()))
            self.unknown[kind] = True

    def _reason(self, values: list[Value] | None) -> int:
        """The number of the reason why one of the values that are stored is not known."""
        return self._number(REASONS[VALUE], next((v.why for v in values or () if v.why is not None), None))

    def _number(self, kind: Kind, because: Reason | None) -> int:
        """The number of a reason with its own cause; of the first one where memory is read by what was read there."""
        reason = because if because is not None and because.kind in READ else Reason(kind, cause=because)
        if reason not in self.reasons:
            if len(self.reasons) > np.iinfo(np.uint8).max:
                return VALUE
            self.reasons.append(reason)
        return self.reasons.index(reason)

    # --- places ---

    def _tracked(self, touch: Touch) -> bool:
        """False where there is nothing left to know of any of these blocks."""
        return bool((touch.active.any(axis=1) & ~self.unknown[touch.kind]).any())

    def _places(self, address: Value | Reason, active: np.ndarray, size: int, view: View) -> tuple[Places, np.ndarray]:
        """([(cells, (n, LANES) offsets, (n, LANES) lanes that go there)], lanes whose place is not known).

        size: bytes that must lie within one variable."""
        if isinstance(address, Reason):
            return [], active.copy()
        address = affine.fit(self._own(address, view), 32)
        if address.valid is not None:
            return [], active.copy()
        spread: Callable[[np.ndarray], np.ndarray] = lambda a: np.broadcast_to(a, active.shape)
        astray = active & spread(address.poison) if address.poison is not None else np.zeros(active.shape, bool)
        owner: np.ndarray = np.full(active.shape, -1)
        names: list[str] = []
        by_block: set[int] = set()
        others = False  # unknowns that are no block indices
        for u, c in address.terms:
            there = spread(c != 0) & active
            if u.kind == "shared":
                astray |= there & (spread(c != 1) | (owner >= 0))
                owner = np.where(there, len(names), owner)
                names.append(u.key[1])
            elif there.any():
                astray |= there
                if u.kind == "block" and u.key[0] == "ctaid":
                    by_block.add(u.key[1])
                else:
                    others = True
        if (
            by_block
            and not others
            and self.ask_for_blocks
            and (address.poison is None or not (spread(address.poison) & active).any())
        ):
            raise BlocksNeeded(by_block)
        if self.env.function.absolute_shared:
            names.append("")
            owner = np.where(owner < 0, len(names) - 1, owner)
        astray |= active & (owner < 0)
        offsets = spread(signed(address.base)).astype(np.int64)
        out = []
        for k, name in enumerate(names):
            lanes = active & ~astray & (owner == k)
            cells = self._cells(name)
            outside = lanes & ((offsets < 0) | (offsets + size > cells.limit))
            astray |= outside
            lanes &= ~outside
            if lanes.any():
                end = int(offsets[lanes].max()) + size
                if end > cells.size:
                    cells.grow(end)
                    self._check_size()
                out.append((cells, offsets, lanes))
        return out, astray

    def _own(self, address: Value, view: View) -> Value:
        """The address without the block's own rank in its cluster."""
        if self.env.cluster == ALONE or not self.env.function.absolute_shared:
            return address
        rank = view.read(Special("cga_ctaid", 32))
        return affine.subtract(affine.fit(address, 32), affine.scale(rank, np.full((1, 1), 1 << RANK_BIT, np.uint32)))

    def _cells(self, name: str) -> Cells:
        """The bytes of a variable; those without a size of their own begin at one place."""
        size = self.sizes.get(name, 0)
        if not size:
            name = ""
            size = (
                SHARED_WINDOW
                if self.env.dynamic_shared is None or self.env.function.absolute_shared
                else self.env.dynamic_shared
            )
        if name not in self.cells:
            self.cells[name] = Cells(len(self.epoch), size)
        return self.cells[name]

    def _bytes(self, cells: Cells, offsets: np.ndarray, lanes: np.ndarray, touch: Touch, size: int) -> Bytes:
        row, lane = np.nonzero(lanes)
        cell = touch.kind[row] * cells.size + offsets[row, lane]
        many: Callable[[np.ndarray], np.ndarray] = lambda a: np.repeat(a, size)
        self.account.spend(REQUEST + PASSES * elements(len(row) * size), FOLLOWING)
        byte = np.tile(np.arange(size), len(row))
        return Bytes(
            many(cell) + byte,
            many(self.epoch[touch.kind[row]]),
            many(touch.warp[row]),
            many(touch.synced[row]),
            many(touch.group[row, lane]),
            many(row * LANES + lane),
            byte,
        )


def _classes(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(rows,) numbers of the classes of blocks."""
    return np.unique(np.concatenate([low, high], axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _content(
    values: list[Value] | None, size: int, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the bytes that are stored, (n, LANES, size) arrays: what, whether that is known, and the dimensions of block
    indices in it.
    """
    value, sure, blocks = (
        np.zeros((*shape, size), np.uint8),
        np.zeros((*shape, size), bool),
        np.zeros((*shape, size), np.uint8),
    )
    at = 0
    for v in values or ():
        each = v.bits // BYTE
        fine = np.ones(shape, bool) if v.valid is None else np.zeros(shape, bool)
        if v.poison is not None:
            fine &= ~v.poison
        dims = np.zeros(shape, np.uint8)
        free = fine
        for u, c in v.terms:
            there = np.broadcast_to(c != 0, shape)
            if u.kind == "block" and u.key[0] == "ctaid":
                dims |= np.where(there, np.uint8(1 << u.key[1]), np.uint8(0))
            else:
                free = free & ~there
            fine = fine & ~there
        word = np.broadcast_to(v.base, shape)
        for b in range(each):
            value[:, :, at + b] = resize(word >> v.base.dtype.type(BYTE * b), BYTE) if b else resize(word, BYTE)
            sure[:, :, at + b] = fine
            blocks[:, :, at + b] = np.where(free, dims, 0)
        at += each
    return value, sure, blocks


def _joined(default: Value, read: Value, mine: np.ndarray, active: np.ndarray, why: Reason) -> Value:
    """`read` in the lanes `mine`, `default` in the others; what is in lanes that are not active does not matter."""
    if not (active & ~mine).any():
        return squeeze(fill(read, active))
    if default.poison is not None:
        default = Value(default.base, default.terms, default.valid, default.poison, why, default.sure)
    return blend(default, read, mine) if (mine & active).any() else default
