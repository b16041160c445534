"""The bytes of shared memory that a run tracks, and the order of accesses to them.

Warps are executed in any order that the block's barriers allow: all warps of a block wait at a barrier of all
threads, and the time between two such barriers is an *epoch*. A byte that is read is known only if every order in
which the hardware may execute the threads yields the same value:

- it was written in an earlier epoch, and by no one in this one; or
- it was written in this epoch only by the same warp, before the load: by the same thread, in machine code by lanes
  that were issued together with the load's (accesses of lanes issued together are in order), before a barrier of
  the whole warp, or in an order that follows from these and from barriers of some lanes (`happens_before`);
- and no one overwrites it in this epoch unordered with the load. This is detected at the store, whichever is executed
  first: the value read then depends on the order, and the run is repeated without trusting that load (`Unsafe`).

Bytes that were never written are unknown. Reading a value that contains a block index requests a run with concrete
block indices (`BlocksNeeded`). `shared` has the effects of loads and stores on the bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.base.work import REQUEST, Account, elements
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Value, is_block_index, signed
from ptxaudit.engine.memory.cells import REASONS, VALUE, Bytes, Cells, Unsafe
from ptxaudit.engine.memory.clusters import own_place
from ptxaudit.engine.memory.environment import SHARED_WINDOW, Environment
from ptxaudit.engine.memory.happens_before import HappensBefore, Meetings, Past
from ptxaudit.engine.memory.registers import View
from ptxaudit.ir.reasons import Kind, Reason

BYTE = 8
MOST_CELLS = 1 << 21  # bytes of all blocks that are executed together
READ = frozenset((*REASONS.values(), Kind.READ_UNPLACED))
FOLLOWING = "following what is in shared memory"
PASSES = 30  # over the bytes of an access, and over all memory when it grows


class BlocksNeeded(Exception):
    """The run needs concrete block indices in these dimensions."""

    def __init__(self, dimensions: set[int]):
        self.dimensions = dimensions


class Touch(Record):
    """Who performs an access.

    kind: (n,) class of each row's block; warp: (n,) its number there; synced: (n,) when all its lanes last
        synchronised.
    group: (n, LANES) lanes that are certainly issued together with each; lanes: (n, LANES) those that perform each
        access, with these; active: (n, LANES); past: what precedes the access, None: nothing of other lanes.
    """

    kind: np.ndarray
    warp: np.ndarray
    synced: np.ndarray
    group: np.ndarray
    lanes: np.ndarray
    active: np.ndarray
    past: Past | None


Mark = tuple[np.ndarray, np.ndarray, np.ndarray, Meetings]  # epochs, free blocks, times, what precedes what
Places = list[tuple[Cells, np.ndarray, np.ndarray]]  # (n, LANES) offsets, and the lanes that access them


class Shadow:
    """Shared memory of all blocks of one run.

    unknown: (classes,) nothing in the block is known any more. free: nor can a store contradict what a load took as
    known before in the epoch, so that neither stores nor barriers of the block matter.
    """

    def __init__(
        self,
        env: Environment,
        low: np.ndarray,
        high: np.ndarray,
        ask_for_blocks: bool,
        account: Account,
    ):
        """low, high: (rows, 3) block indices of each row's class; account: pays for tracking, or raises Exhausted."""
        self.account = account
        self.env, self.ask_for_blocks = env, ask_for_blocks
        self.kind = _classes(low, high)
        classes = int(self.kind.max()) + 1
        self.warp = env.warp[:, 0].astype(np.int16)
        self.synced = np.full(len(self.kind), -1, np.int64)
        self.order = HappensBefore(len(self.kind), lambda size: account.spend(elements(size), FOLLOWING))
        self.epoch = np.zeros(classes, np.int32)
        self.unknown, self.free = np.zeros(classes, bool), np.zeros(classes, bool)
        self.clock = 0
        self._trying = False
        self.trusted: set[int] = set()  # loads that were taken as known since it was last cleared
        self.reasons = [Reason(kind) for kind in REASONS.values()]
        self.cells: dict[str, Cells] = {}
        self.sizes = {v.name: v.size for v in env.function.variables if v.space.startswith("shared")}

    # --- rows ---

    def whole_blocks(self, cuts: dict[int, tuple[int, list[int]]]) -> dict[int, tuple[int, list[int]]]:
        """Extends cuts of block indices to all warps of the blocks concerned."""
        by_class: dict[int, tuple[int, set[int]]] = {}
        for row, (d, points) in cuts.items():
            first, together = by_class.setdefault(int(self.kind[row]), (d, set()))
            if first == d:
                together.update(points)
        return {
            row: (by_class[k][0], sorted(by_class[k][1])) for row, k in enumerate(self.kind.tolist()) if k in by_class
        }

    def expand(self, index: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Replaces the rows by copies: new row i is old row index[i], of the class low[i] to high[i]."""
        old, self.kind = self.kind[index], _classes(low, high)
        origin = np.zeros(int(self.kind.max()) + 1, np.int64)
        origin[self.kind] = old
        self.warp, self.synced = self.warp[index], self.synced[index]
        self.order.expand(index)
        self.epoch, self.unknown, self.free = self.epoch[origin], self.unknown[origin], self.free[origin]
        for cells in self.cells.values():
            cells.take(origin)
        self._check_size()

    def _check_size(self) -> None:
        cells = sum(c.value.size for c in self.cells.values())
        if cells > MOST_CELLS:
            raise Unsafe(Reason(Kind.MANY_BYTES))
        self.account.spend(PASSES * elements(cells), FOLLOWING)

    def mark(self) -> Mark:
        """A round of a loop begins. Returns the state that must be restored if it is given up.

        Each mark is followed by `restore` or `keep`, before the next one.
        """
        assert not self._trying
        self._trying = True
        for cells in self.cells.values():
            cells.begin(self.clock)
        return self.epoch.copy(), self.free.copy(), self.synced.copy(), self.order.mark()

    def restore(self, mark: Mark) -> None:
        self._trying = False
        self.epoch, self.free, self.synced, order = mark
        self.order.restore(order)
        for cells in self.cells.values():
            cells.undo()

    def keep(self, rounds: int) -> None:
        """What has happened since the mark remains, and stands for so many rounds."""
        self._trying = False
        for cells in self.cells.values():
            cells.keep(rounds)

    def met(self, rows: np.ndarray) -> None:
        """Records that all living lanes of these warps have synchronised."""
        self.clock += 1
        self.synced[rows] = self.clock

    def some_met(self, rows: np.ndarray, mask: np.ndarray) -> None:
        """Records that these lanes of these warps, (n, LANES) bool, are together, or have waited for each other."""
        self.order.meet(rows, mask, self.clock)

    # --- reasons ---

    def _reason(self, values: list[Value] | None) -> int:
        """The number of the reason why one of the stored values is unknown."""
        return self._number(REASONS[VALUE], next((v.why for v in values or () if v.why is not None), None))

    def _number(self, kind: Kind, because: Reason | None) -> int:
        """The number of a reason with this cause; a cause that is a read of shared memory is itself the reason."""
        reason = because if because is not None and because.kind in READ else Reason(kind, cause=because)
        if reason not in self.reasons:
            if len(self.reasons) > np.iinfo(np.uint8).max:
                return VALUE
            self.reasons.append(reason)
        return self.reasons.index(reason)

    # --- places ---

    def _tracked(self, touch: Touch) -> bool:
        """Whether stores of any of these blocks matter."""
        return bool((touch.active.any(axis=1) & ~self.free[touch.kind]).any())

    def _places(self, address: Value | Reason, active: np.ndarray, size: int, view: View) -> tuple[Places, np.ndarray]:
        """([(cells, (n, LANES) offsets, (n, LANES) lanes that access them)], lanes whose place is unknown).

        size: bytes that must lie within one variable.
        """
        if isinstance(address, Reason):
            return [], active.copy()
        address = own_place(address, self.env, view.rows)
        if address.valid is not None:
            return [], active.copy()
        names, owner, astray = self._owners(address, active)
        if self.env.function.absolute_shared:
            names.append("")
            owner = np.where(owner < 0, len(names) - 1, owner)
        astray |= active & (owner < 0)
        offsets = np.broadcast_to(signed(address.base), active.shape).astype(np.int64)
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

    def _owners(self, address: Value, active: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
        """(names of variables, (n, LANES) each lane's variable or -1, lanes whose address contains anything else).

        Raises BlocksNeeded if that is only block indices.
        """
        spread: Callable[[np.ndarray], np.ndarray] = lambda a: np.broadcast_to(a, active.shape)
        lost = active & spread(address.poison) if address.poison is not None else np.zeros(active.shape, bool)
        astray, names, owner = lost, list[str](), np.full(active.shape, -1)
        by_block, others = set[int](), False
        for u, c in address.terms:
            there = spread(c != 0) & active
            if u.kind == "shared":
                astray = astray | there & (spread(c != 1) | (owner >= 0))
                owner = np.where(there, len(names), owner)
                names.append(u.key[1])
            elif there.any():
                astray = astray | there
                if is_block_index(u):
                    by_block.add(u.key[1])
                else:
                    others = True
        if by_block and not others and self.ask_for_blocks and not lost.any():
            raise BlocksNeeded(by_block)
        return names, owner, astray

    def _cells(self, name: str) -> Cells:
        """The bytes of a variable; all variables without a size of their own begin at one place."""
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
            if self._trying:
                self.cells[name].begin(self.clock)
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
            many(touch.lanes[row, lane]),
            many(row * LANES + lane),
            byte,
            touch.past,
        )


def _classes(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(rows,) numbers of the classes of blocks."""
    return np.unique(np.concatenate([low, high], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
