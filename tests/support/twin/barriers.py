"""Barriers in shared memory: mbarrier, and the copies that arrive at them (PTX ISA, "mbarrier").

    init [b], 2      phase 0: two arrivals pending
    arrive [b]       gives the phase, 0; one pending
    arrive [b]       the phase is over: phase 1, two pending
    try_wait s       whether the phase of the state s is over; .parity: whether the last phase of this parity is

Copies are complete when they are issued. A wait that is not over gives the turn to other lanes and warps.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arith import NoMeaning, mask
from .code import Mem


@dataclass
class Barrier:
    """One mbarrier.

    expected: arrivals of each phase; pending: those of this one; bytes: still to be copied, unless they are `untold`,
    as the twin does not know a copy that arrives at it.
    """

    expected: int
    pending: int
    phase: int = 0
    bytes: int = 0
    untold: bool = False

    def arrive(self, count: int = 1) -> None:
        self.pending -= count
        self._complete()

    def copied(self, size: int) -> None:
        self.bytes -= size
        self._complete()

    def _complete(self) -> None:
        if self.pending == 0 and (self.bytes == 0 or self.untold):
            self.phase, self.pending = self.phase + 1, self.expected

    @property
    def state(self) -> int:
        return self.phase << 32 | self.pending


class Barriers:
    """Part of a warp; `value`, `write` and `_shared_addresses` are those of `Instructions`."""

    def _barrier_at(self, address: int) -> Barrier:
        found = self.shared.barriers.get(address)
        if found is None:
            raise NoMeaning(f"no mbarrier at {address:#x} of the block's own shared memory")
        return found

    def _mbarrier(self, frame, step, words, acting) -> None:
        kind, barriers = words[0], self.shared.barriers
        if kind == "pending_count":
            for l in acting:
                self.write(frame, step.operands[0], l, self.value(frame, step.operands[1], l, 64) & mask(32))
            return
        at = next(k for k, o in enumerate(step.operands) if isinstance(o, Mem))
        addresses = self._shared_addresses(frame, step, step.operands[at], acting)
        after = step.operands[at + 1 :]
        number = lambda l, bits=32: self.value(frame, after[0], l, bits)
        self.machine.changes += kind not in ("test_wait", "try_wait")
        for l in acting:
            address = addresses[l]
            if kind == "init":
                barriers[address] = Barrier(number(l), number(l))
                continue
            barrier = self._barrier_at(address)
            if kind == "inval":
                del barriers[address]
            elif kind in ("test_wait", "try_wait"):
                phase = barrier.phase
                over = phase & 1 != number(l) & 1 if "parity" in words else phase != number(l, 64) >> 32
                self.write(frame, step.operands[0], l, int(over))
                if not over:
                    self.resting.add(l)
            elif kind == "expect_tx":
                barrier.bytes += number(l)
            elif kind == "complete_tx":
                barrier.copied(number(l))
            elif kind in ("arrive", "arrive_drop"):
                if at:
                    self.write(frame, step.operands[0], l, barrier.state)
                transaction = "expect_tx" in words
                count = number(l) if after and not transaction else 1
                barrier.bytes += number(l) if transaction else 0
                barrier.expected -= count if kind == "arrive_drop" else 0
                barrier.arrive(count)
            else:
                raise NoMeaning(step.opcode)

    def _copied(self, frame, step, words, acting) -> None:
        """cp.async.mbarrier.arrive, and cp.async.bulk from and to the block's own shared memory.

        The groups of copies need nothing.
        """
        if "commit_group" in words or "wait_group" in words or "wait_all" in words:
            return
        places = [o for o in step.operands if isinstance(o, Mem)]
        self.machine.changes += 1
        if "mbarrier" in words:  # with .noinc the arrival is among those expected; else it was added to them
            for address in self._shared_addresses(frame, step, places[0], acting).values():
                self._barrier_at(address).arrive(int("noinc" in words))
            return
        spaces = [w.split("::")[0] for w in words if w.split("::")[0] in ("shared", "global")]
        unknown = {"tensor", "prefetch", "reduce", "multicast::cluster"} & set(words)
        if unknown or len(spaces) != 2 or "shared" not in spaces:
            for place in places:
                for address in self._shared_addresses(frame, step, place, acting).values():
                    if address in self.shared.barriers:
                        self.shared.barriers[address].untold = True
            raise NoMeaning(step.opcode)
        memories = {"shared": self.shared, "global": self.machine.memory}
        to, of = (
            self._shared_addresses(frame, step, place, acting)
            if space == "shared"
            else self._addresses(frame, place, acting)
            for space, place in zip(spaces, places)
        )
        barriers = self._shared_addresses(frame, step, places[2], acting) if len(places) > 2 else {}
        for l in acting:
            size = self.value(frame, step.operands[2], l, 32)
            target, source = memories[spaces[0]], memories[spaces[1]]
            target.put(to[l], bytes(source.load(of[l] + k, 1) for k in range(size)))
            if l in barriers:
                self._barrier_at(barriers[l]).copied(size)
