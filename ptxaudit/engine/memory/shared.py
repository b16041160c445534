"""The memory of the state space "shared", and of generic addresses that lie there, if a run tracks its contents.

    store shared [s + 4 tid], tid ^ 1       bytes, with who wrote them and when
    x = load shared [s + 4 lane]            numbers, where they are certain (`shadow` defines when)

There is one for each run that has a plan (`tables`). Stores of unknown values make their bytes unknown, and so do
atomic operations whose order matters (`updates`); bytes that an asynchronous copy writes stay unknown; a store to an
unknown place makes the bytes that it can reach (`reach`) unknown, or else all bytes of its block permanently. A loop is
summarised in closed form (`repeat`) only if each round leaves the bytes unchanged, or adds the same to words that it
does not use otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import distinct
from ptxaudit.base.work import REQUEST, Account, elements
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.lanes import FULL_MASK, LANE_BITS, LANES, pack
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import DTYPES, Value, is_block_index, known, opaque, squeeze
from ptxaudit.engine.memory import matrices
from ptxaudit.engine.memory.cells import LATER, NEVER, PLACE, UNORDERED, Bytes, Cells, Unsafe, by_cell
from ptxaudit.engine.memory.clusters import ALONE
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.generic import located
from ptxaudit.engine.memory.references import Otherwise, Reference
from ptxaudit.engine.memory.registers import Results, View, blend, fill
from ptxaudit.engine.memory.shadow import BYTE, FOLLOWING, PASSES, BlocksNeeded, Places, Shadow, Touch
from ptxaudit.engine.memory.tables import Plan
from ptxaudit.engine.memory.updates import WIDTHS, Updates, operands_of
from ptxaudit.hardware.machine_model import MATRIX_ROW_BYTES
from ptxaudit.ir.nodes import COPY_ASYNC, MATRICES, STORE_MATRIX
from ptxaudit.ir.reasons import Kind, Reason

WIDEST = 16  # bytes that a lane accesses at once


class Shared(Shadow):
    """Shared memory with tracked contents, of all blocks of one run."""

    def __init__(
        self,
        env: Environment,
        low: np.ndarray,
        high: np.ndarray,
        plan: Plan,
        ask_for_blocks: bool,
        account: Account,
        lap: Callable[[], Round | None],
    ):
        """low, high, ask_for_blocks, account: as for `Shadow`. lap: the current round of a loop, if any."""
        super().__init__(env, low, high, ask_for_blocks, account)
        self.plan, self._lap = plan, lap
        self._updates = Updates()

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        if not at.certain:
            return otherwise()
        active, all_of_them, place = self._place(at)
        if not all_of_them:
            return otherwise()
        defaults, lap = otherwise(), self._lap()
        if isinstance(place, Reason) or at.bits not in DTYPES or at.bits == 1:
            return defaults
        if lap is not None and lap.mentions(place):
            if any(c.known.any() for c in self.cells.values()):
                raise NotAffine
            return defaults
        each = at.bits // BYTE
        if at.op.space == MATRICES:
            value, sure, why = self._matrices(at, place, active)
        else:
            value, sure, why = self._read(at, place, self._touch(at.view, active), each * len(defaults))
        out = []
        for k, default in enumerate(defaults):
            part = slice(k * each, (k + 1) * each)
            mine: np.ndarray = np.logical_and.reduce(sure[:, :, part], axis=2)
            word = np.ascontiguousarray(value[:, :, part]).view(DTYPES[at.bits])[:, :, 0]
            reason = self.reasons[int(why[:, :, part][active].max(initial=NEVER))].at(at.index)
            out.append(_joined(default, at.extended(known(word), k), mine, active, reason))
        return tuple(out)

    def _matrices(self, at: Reference, place: Value, active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bytes of each lane's registers after a load of matrices, as of `_read`.

        They are known in warps all of whose lanes load together; else the instruction is undefined.
        """
        lanes, transposed = at.op.attrs[2:]
        reading = active & self._whole(at, active)[:, None] & (np.arange(LANES) < lanes)
        found = self._read(at, place, self._together(at.view, reading), MATRIX_ROW_BYTES)
        value, sure, why = (matrices.registers_of(a, len(at.op.dst), transposed) for a in found)
        return value, sure, why

    def _whole(self, at: Reference, active: np.ndarray) -> np.ndarray:
        """(rows,) whether certainly all lanes of the warp act together."""
        together: np.ndarray = np.logical_and.reduce(active, axis=1) & (at.certain and at.view.exact)
        return together

    def _together(self, view: View, active: np.ndarray) -> Touch:
        """As `_touch`, for an access of rows whose data are in other lanes than their addresses.

        In PTX, no thread is alone in having made it: only barriers order it with other accesses.
        """
        touch = self._touch(view, active)
        if self.env.function.explicit_reconvergence:
            return touch
        return replace(touch, group=np.zeros_like(touch.group), lanes=np.full_like(touch.lanes, FULL_MASK), past=None)

    def _read(self, at: Reference, place: Value, touch: Touch, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bytes that each lane loads, whether they are known, and why not: (n, LANES, size) arrays."""
        places, astray = self._places(place, touch.active, size, at.view)
        shape = (*touch.active.shape, size)
        value, sure, why = np.zeros(shape, np.uint8), np.zeros(shape, bool), np.full(shape, NEVER, np.uint8)
        if astray.any():
            why[astray] = self._number(Kind.READ_UNPLACED, place.why)
        why[self.unknown[touch.kind]] = PLACE
        self.clock += 1
        if at.index in self.plan.distrusted:
            why[:] = LATER
            return value, sure, why
        for cells, offsets, lanes in places:
            bytes_ = self._bytes(cells, offsets, lanes & ~self.unknown[touch.kind][:, None], touch, size)
            read_value, read_sure, read_why, asked = cells.read(bytes_, self.clock, at.index)
            if asked and self.ask_for_blocks:
                raise BlocksNeeded(asked)
            where = bytes_.lane // LANES, bytes_.lane % LANES, bytes_.byte
            value[where], sure[where], why[where] = read_value, read_sure, read_why
            if read_sure.any():
                self.trusted.add(at.index)
        return value, sure, why

    def store(self, at: Reference) -> Results | None:
        """Performs a store; returns what an atomic operation returns, if that is known."""
        active, all_of_them, place = self._place(at)
        if at.op.space == "generic" and not active.any():
            return None
        if isinstance(place, Reason) and self.env.cluster != ALONE:
            raise Unsafe(Reason(Kind.STORE_TO_CLUSTER, at.index))
        values, size, lanes = self._written(at)
        if not at.certain or at.index not in self.plan.writes.valued:
            values = None  # the operations that compute them are not in the slice
        if lanes < LANES:
            active = active & (np.arange(LANES) < lanes)
        of_matrices, lap, lasting = at.op.name == STORE_MATRIX, self._lap(), at.op.name == COPY_ASYNC
        touch = self._together(at.view, active) if of_matrices else self._touch(at.view, active)
        if not self._tracked(touch):
            return None
        if lap is not None and isinstance(place, Value) and at.op.name == "atom" and not lap.mentions(place):
            pass  # the operands do not matter if the words are unknown
        elif lap is not None and (isinstance(place, Reason) or any(lap.mentions(v) for v in (place, *(values or ())))):
            raise NotAffine
        places, astray = self._places(place, active, size, at.view)
        if astray.any():
            self._astray(at, touch, astray, size, lasting)
            if not self._tracked(touch):
                return None
        if at.op.name == "atom" and values is not None:
            before = self._before(at, place, touch, places, size) if all_of_them and at.certain else None
            self.clock += 1
            self._update(at, values, size, touch, places)
            return before
        self.clock += 1
        value, is_known, blocks = self._stored(at, values, size, active)
        for cells, offsets, going in places:
            bytes_ = self._bytes(cells, offsets, going & ~self.free[touch.kind][:, None], touch, size)
            where = bytes_.lane // LANES, bytes_.lane % LANES, bytes_.byte
            new, sure = value[where], is_known[where]
            if lap is not None:
                there, before = cells.known.reshape(-1)[bytes_.cell], cells.value.reshape(-1)[bytes_.cell]
                follows = at.index in self.plan.writes.valued
                if (there & ~(sure & (new == before))).any() or follows and not (sure & there).all():
                    raise NotAffine  # the rounds change the bytes
            cells.write(bytes_, self.clock, new, sure, blocks[where], lasting, self._reason(values))
        return None

    def _before(self, at: Reference, place: Value | Reason, touch: Touch, places: Places, size: int) -> Results | None:
        """What an atomic operation returns: the words before it, as a load would find them, in lanes that share their
        word with no other one; which of several comes first is unknown.
        """
        widths = [(at.op.bits if d is None else d.bits) // BYTE for d in at.op.dst]
        if not any(at.op.dst) or sum(widths) != size or not set(widths) <= set(WIDTHS) or isinstance(place, Reason):
            return None
        alone = np.zeros_like(touch.active)
        for cells, offsets, going in places:
            words = (touch.kind[:, None] * cells.size + offsets).reshape(-1)
            order, first, _ = by_cell(words, np.flatnonzero(going))
            count = np.diff(np.append(first, len(order)))
            alone.reshape(-1)[order[first[count == 1]]] = True
        value, sure, _ = self._read(at, place, replace(touch, active=alone), size)
        why, out, start = Reason(Kind.LOADED_BY_ATOMIC, at.index), [], 0
        for d, width in zip(at.op.dst, widths, strict=True):
            part, start = slice(start, start + width), start + width
            mine: np.ndarray = alone & np.logical_and.reduce(sure[:, :, part], axis=2)
            word = np.ascontiguousarray(value[:, :, part]).view(DTYPES[width * BYTE])[:, :, 0]
            out.append(_joined(opaque(width * BYTE, why), known(word), mine, at.active, why))
        return tuple(out)

    def _stored(
        self, at: Reference, values: list[Value] | None, size: int, active: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bytes that each lane writes, as of `_content`."""
        if values is None or at.op.name != STORE_MATRIX:
            return _content(values, size, active.shape)
        value, sure, blocks = _content(values, values[0].bits // BYTE * len(values), active.shape)
        whole = self._whole(at, at.active)[:, None, None]
        of_lanes = value, sure & whole, np.where(whole, blocks, 0)
        value, sure, blocks = (matrices.rows_of(a, at.op.attrs[1]) for a in of_lanes)
        return value, sure, blocks

    def _update(self, at: Reference, values: list[Value], size: int, touch: Touch, places: Places) -> None:
        """An atomic operation on words whose address is known."""
        count = operands_of(at.op)
        value, is_known, blocks = _content(values, size * count, touch.active.shape)
        operands = value.view(DTYPES[size * BYTE])
        sure: np.ndarray = np.logical_and.reduce(is_known, axis=2)
        by_block = np.logical_and.reduce(is_known | (blocks != 0), axis=2)
        of_lanes: np.ndarray = np.where(by_block, np.bitwise_or.reduce(blocks, axis=2), 0)
        update = self._updates.of(at.op, size, operands[touch.active], sure[touch.active])
        why, lap = self._reason(values), self._lap()
        forget = lap is not None and lap.forgets
        for cells, offsets, going in places:
            bytes_ = self._bytes(cells, offsets, going & ~self.free[touch.kind][:, None], touch, size)
            lane = bytes_.lane[::size]
            where = lane // LANES, lane % LANES
            cells.update_words(bytes_, self.clock, update, operands[where], sure[where], of_lanes[where], why, forget)

    def _astray(self, at: Reference, touch: Touch, lanes: np.ndarray, size: int, lasting: bool) -> None:
        """These lanes write to an unknown place, within the range of their address."""
        if self.env.cluster != ALONE:
            raise Unsafe(Reason(Kind.STORE_TO_CLUSTER, at.index))
        reach = self.plan.reach.of(at.index, at.op) if at.op.space == "shared" else None
        if reach is not None and reach.low >= 0 and (reach.name or self.env.function.absolute_shared):
            cells = self._cells(reach.name)
            if reach.high + size <= cells.limit:
                return self._somewhere(cells, reach.low, reach.high + size, touch, lanes, lasting)
        self._lose(touch, lanes)

    def _somewhere(self, cells: Cells, low: int, end: int, touch: Touch, lanes: np.ndarray, lasting: bool) -> None:
        """These lanes write somewhere between two offsets."""
        if end > cells.size:
            cells.grow(end)
            self._check_size()
        self.clock += 1
        rows = np.flatnonzero(lanes.any(axis=1) & ~self.free[touch.kind])
        for kind in distinct(touch.kind[rows]):
            mine = rows[touch.kind[rows] == kind]
            alone = len(mine) == 1
            self.account.spend(PASSES * elements(end - low), FOLLOWING)
            cell = kind * cells.size + np.arange(low, end)
            if self._lap() is not None and cells.known.reshape(-1)[cell].any():
                raise NotAffine
            full: Callable[[Any, type[Any]], np.ndarray] = lambda number, dtype: np.full(len(cell), number, dtype)
            groups, by = (
                of[mine[0]][lanes[mine[0]]] if alone else np.zeros(1, np.uint32) for of in (touch.group, touch.lanes)
            )
            at = Bytes(
                cell,
                full(self.epoch[kind], np.int32),
                full(touch.warp[mine[0]] if alone else UNORDERED, np.int16),
                full(touch.synced[mine[0]] if alone else -1, np.int64),
                full(np.bitwise_and.reduce(groups), np.uint32),
                full(np.bitwise_or.reduce(by), np.uint32),
                full(-1, np.int64),
                full(0, np.int64),
                None,
            )
            cells.write_diverged(
                at, self.clock, full(0, np.uint8), full(False, bool), full(0, np.uint8), lasting, why=PLACE
            )

    def lose(self, view: View) -> None:
        """These lanes execute something that is not modelled: they may write anything."""
        self._lose(self._touch(view, view.mask), view.mask)

    def _lose(self, touch: Touch, lanes: np.ndarray) -> None:
        """These lanes write somewhere, now or later: everything in their blocks becomes unknown."""
        if self._lap() is not None:
            raise NotAffine
        rows = np.flatnonzero(lanes.any(axis=1) & ~self.free[touch.kind])
        for kind in distinct(touch.kind[rows]):
            mine = rows[touch.kind[rows] == kind]
            self.free[kind] = True
            for cells in self.cells.values():
                self.account.spend(REQUEST + elements(cells.size), FOLLOWING)
                seen = cells.seen[kind] >= self.epoch[kind]
                if not seen.any():
                    continue
                self.free[kind] = False  # what others store before the next barrier may precede these loads
                group = np.bitwise_and.reduce(touch.group[mine][lanes[mine]])
                behind = (cells.reader[kind] == touch.warp[mine[0]]) & (
                    (cells.reading[kind] & group) | (cells.loaded[kind] < touch.synced[mine[0]])
                ).astype(bool)
                touched = seen if len(mine) > 1 else seen & ~behind
                if touched.any():
                    raise Unsafe(Reason(Kind.STORE_UNPLACED), frozenset(distinct(cells.by[kind][touched]).tolist()))
            self.unknown[kind] = True

    def _place(self, at: Reference) -> tuple[np.ndarray, bool, Value | Reason]:
        """(lanes that access shared memory, or may; whether all active ones do; the address, or why it is unknown)."""
        active = at.active
        if at.op.space != "generic":
            return active, True, at.address
        found = located(at.address, active, self.env, at.index, op=at.op, rows=at.view.rows)
        going = found.lanes | found.open
        all_of_them = bool(going.any()) and np.array_equal(found.lanes, active)
        return going, all_of_them, found.why or found.remote or found.place

    def _touch(self, view: View, active: np.ndarray) -> Touch:
        """Who performs the access.

        The lanes of a cohort are certainly issued together; in PTX each lane is alone, as the compiler may move
        accesses of one thread past those of another.
        """
        rows = np.arange(len(view.mask)) if view.rows is None else view.rows
        together = view.mask if self.env.function.explicit_reconvergence and view.exact else None
        group = np.broadcast_to(LANE_BITS if together is None else pack(together)[:, None], view.mask.shape)
        self.order.accessed[rows] = self.clock + 1
        past = self.order.past(rows, together)
        return Touch(self.kind[rows], self.warp[rows], self.synced[rows], group, group, active, past)

    def _written(self, at: Reference) -> tuple[list[Value] | None, int, int]:
        """(values of adjacent elements, or None if unknown; bytes per lane; how many lanes write, from lane 0)."""
        op = at.op
        if op.name == "store":
            known = at.bits in DTYPES and at.bits != 1
            return at.stored() if known else None, at.bits * (len(op.src) - 1) // BYTE, LANES
        if op.name == STORE_MATRIX:
            return self._words(at) if op.attrs else None, MATRIX_ROW_BYTES, op.attrs[0] if op.attrs else LANES
        site = self.env.function.instructions[at.index].site
        access = None if site is None else site.access
        width = (None if access is None else access.width) or WIDEST
        words, count = self._words(at), operands_of(op)
        modelled = width in WIDTHS and count and sum(v.bits for v in words) == count * width * BYTE
        return words if modelled else None, width, LANES

    def _words(self, at: Reference) -> list[Value]:
        """The operands after the address, in words of the operation's width."""
        return (
            [affine.fit(at.view.read(source), at.op.bits) for source in at.op.src[1:]] if at.op.bits in DTYPES else []
        )


def _content(
    values: list[Value] | None, size: int, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The stored bytes, whether they are known, and dimensions of block indices in them: (n, LANES, size) arrays."""
    all_of_it = (*shape, size)
    value, sure, blocks = np.zeros(all_of_it, np.uint8), np.zeros(all_of_it, bool), np.zeros(all_of_it, np.uint8)
    at = 0
    for v in values or ():
        each = v.bits // BYTE
        part = slice(at, at + each)
        fine = np.ones(shape, bool) if v.valid is None else np.zeros(shape, bool)
        if v.poison is not None:
            fine &= ~v.poison
        dims, free = np.zeros(shape, np.uint8), fine
        for u, c in v.terms:
            there = np.broadcast_to(c != 0, shape)
            if is_block_index(u):
                dims |= np.where(there, np.uint8(1 << u.key[1]), np.uint8(0))
            else:
                free = free & ~there
            fine = fine & ~there
        value[:, :, part] = np.ascontiguousarray(np.broadcast_to(v.base, shape)).view(np.uint8).reshape(*shape, each)
        sure[:, :, part], blocks[:, :, part] = fine[:, :, None], np.where(free, dims, 0)[:, :, None]
        at += each
    return value, sure, blocks


def _joined(default: Value, read: Value, mine: np.ndarray, active: np.ndarray, why: Reason) -> Value:
    """`read` in the lanes `mine`, `default` in the others; inactive lanes do not matter."""
    if not (active & ~mine).any():
        return squeeze(fill(read, active))
    if default.poison is not None:
        default = Value(default.base, default.terms, default.valid, default.poison, why, default.sure)
    return blend(default, read, mine) if (mine & active).any() else default
