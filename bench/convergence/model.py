"""A model of how a warp of sm_90 diverges and reconverges, as measured: `programs` are compared with it.

run(program, words)  ->  [(number, mask), …]       the records in order, as the GPU writes them
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bench.convergence.programs import LANES, Program, Step

FULL = (1 << LANES) - 1
END = -1
AT_BRANCH = 0.5  # after the beginning of a step that chooses a place and branches there
MOST_STEPS = 20_000
BARRIERS = 16


class Stuck(Exception):
    """All remaining lanes wait."""


@dataclass
class Warp:
    """One warp. Lanes with the same word and number of records are one *kind*: they always run together. kinds:
    masks.
    """

    program: Program
    kinds: list[int]
    word: list[int]
    left: list[int]
    predicate: int = 0
    barriers: list[int] = field(default_factory=lambda: [0] * BARRIERS)
    dirty: list[bool] = field(default_factory=lambda: [False] * BARRIERS)
    saved: list[list[int]] = field(default_factory=lambda: [[0] * LANES for _ in range(8)])
    alive: int = FULL
    stack: list[tuple[float, int, bool]] = field(default_factory=list)  # (place, mask, covered)
    blocked: dict[int, tuple[int, int]] = field(default_factory=dict)  # kind -> (barrier, place after it)
    strays: dict[int, int] = field(default_factory=dict)  # kind -> place
    syncing: dict[int, tuple[int, int]] = field(default_factory=dict)
    records: list[tuple[int, int]] = field(default_factory=list)
    done: int = 0  # lanes whose last record was the latest
    steps: int = 0
    opened: dict[int, int] = field(default_factory=dict)  # barrier -> step at which it was last opened

    def run(self) -> list[tuple[int, int]]:
        self.stack.append((0, FULL, False))
        while self.alive:
            place, mask = self.pick()
            while mask:
                self.steps += 1
                if self.steps > MOST_STEPS:
                    raise Stuck
                place, mask = self.step(place, mask)
        return self.records

    # --- scheduling

    def pick(self) -> tuple[float, int]:
        """(place, lanes) of the group on top, including the groups at the same place that it absorbs."""
        if not self.stack:
            return self.idle()
        place, mask, covered = self.stack.pop()
        if covered:
            for k in [k for k, group in enumerate(self.stack) if group[0] == place][::-1]:
                mask |= self.stack.pop(k)[1]
        return place, mask | self.strays_at(place)

    def strays_at(self, place: float) -> int:
        """The lanes that a barrier released there while its others continued elsewhere: they continue now."""
        mask = 0
        for k in [k for k, at in self.strays.items() if at == place]:
            mask |= self.kinds[k]
            del self.strays[k]
        return mask

    def idle(self) -> tuple[int, int]:
        """All remaining lanes wait: those at the barrier with the lowest number continue, or, if there is none, the
        strays.
        """
        if not self.strays and not self.blocked:
            raise Stuck
        if not self.blocked:
            leader = max(self.strays, key=lambda k: self.kinds[k])
            return self.strays[leader], self.strays_at(self.strays[leader])
        leader = min(self.blocked, key=lambda k: self.blocked[k][0])
        number, place = self.blocked[leader]
        mask = 0
        for k in [k for k, group in self.blocked.items() if group == (number, place)]:
            mask |= self.kinds[k]
            del self.blocked[k]
        self.barriers[number] = 0
        return place, mask

    def cover(self) -> None:
        """Marks the group on top as suspended while another one runs."""
        if self.stack:
            self.stack[-1] = (*self.stack[-1][:2], True)

    def push(self, place: float, mask: int) -> None:
        self.cover()
        self.stack.append((place, mask, False))

    def part(self, a: int, at: int, b: int, bt: int) -> tuple[int, int]:
        """Two groups of lanes at two places: fewer lanes first, b in a tie. Returns where to continue, and who."""
        if not a:
            return bt, b
        if not b:
            return at, a
        if a.bit_count() < b.bit_count():
            self.push(bt, b)
            return at, a
        self.push(at, a)
        return bt, b

    def lanes(self, mask: int) -> list[int]:
        return [k for k, kind in enumerate(self.kinds) if kind & mask]

    def when(self, step: Step, mask: int) -> int:
        return mask if step.when is None else mask & (self.predicate if step.when else ~self.predicate)

    # --- steps

    def step(self, place: float, mask: int) -> tuple[float, int]:
        """One step of the running lanes: where they continue, and which."""
        if place >= len(self.program):
            return self.leave(mask, 0, 0)
        step, following = self.program[int(place)], int(place) + 1
        match step.kind:
            case "record":
                return self.part(self.record(step.number, mask), len(self.program), mask & ~self.done, following)
            case "decide":
                self.decide(mask)
            case "branch":
                taken = self.when(step, mask)
                return self.part(taken, step.target, mask & ~taken, following)
            case "jump":
                ahead = [step.other if self.predicate & kind else step.target for kind in self.kinds]
                return self.indirect(ahead, place, mask)
            case "switch":
                return self.switch(step, place, mask)
            case "open":
                self.open(step.number, self.when(step, mask))
            case "leave":
                self.barriers[step.number] &= ~self.when(step, mask)
                return self.broken(step.number, following, mask)
            case "save" | "clear":
                for k in self.lanes(mask):
                    self.saved[step.register][k] = self.barriers[step.number]
                if step.kind == "clear":
                    self.barriers[step.number] = 0
            case "restore":
                self.barriers[step.number] = self.saved[step.register][self.lanes(mask)[0]]
            case "sync":
                return self.sync(step.number, following, mask)
            case "warpsync":
                return self.warpsync(step.number, following, mask)
            case "warpsync_all":
                return self.warpsync(FULL, following, mask)
            case "exit":
                gone = self.when(step, mask)
                return self.leave(gone, following, mask & ~gone) if gone else (following, mask)
        return following, mask

    def record(self, number: int, mask: int) -> int:
        """The lanes whose last record it was."""
        self.records.append((number, mask))
        self.done = 0
        for k in self.lanes(mask):
            self.left[k] -= 1
            if not self.left[k]:
                self.done |= self.kinds[k]
        return self.done

    def decide(self, mask: int) -> None:
        for k in self.lanes(mask):
            bit = self.word[k] & 1
            self.predicate = self.predicate | self.kinds[k] if bit else self.predicate & ~self.kinds[k]
            self.word[k] = self.word[k] >> 1 | bit << 31

    def switch(self, step: Step, place: float, mask: int) -> tuple[int, int]:
        """As `indirect`; lanes take the bits of their word when they leave."""
        ahead = [step.targets[word & len(step.targets) - 1] for word in self.word]
        following, going = self.indirect(ahead, place, mask)
        for k in self.lanes(going):
            self.word[k] = (self.word[k] >> step.bits | self.word[k] << LANES - step.bits) & FULL
        return following, going

    def indirect(self, ahead: list[int], place: float, mask: int) -> tuple[int, int]:
        """The lanes that go where the lowest lane goes, or, if these are more than half, where the lowest of the others
        goes; the rest remain at the branch, behind the instructions that choose the place. ahead: where each kind goes.
        """

        def with_lowest(of: int) -> tuple[int, int]:
            target = ahead[self.lanes(of & -of)[0]]
            return target, self.union(k for k in self.lanes(mask) if ahead[k] == target)

        target, taken = with_lowest(mask)
        if mask != taken and 2 * taken.bit_count() > mask.bit_count():
            target, taken = with_lowest(mask & ~taken)
        if mask != taken:
            self.push(int(place) + AT_BRANCH, mask & ~taken)
        return target, taken

    def open(self, number: int, opening: int) -> None:
        if opening:
            self.dirty[number] = bool(self.barriers[number])
            self.opened[number] = self.steps
            self.barriers[number] |= opening

    def warpsync(self, named: int, following: int, mask: int) -> tuple[int, int]:
        """Lanes continue at once if no lane that they name is missing.

        Those that already wait at another WARPSYNC stay until the lanes that they name arrive.
        """
        if not named & self.alive & ~mask:
            self.cover()
            return following, mask
        for k in self.lanes(mask):
            self.syncing[k] = (following, named | mask)
        self.check_syncs()
        return END, 0

    # --- barriers

    def stopped(self) -> int:
        """The lanes that wait, at a barrier or a WARPSYNC."""
        return self.union(self.blocked) | self.union(self.syncing)

    def union(self, kinds: Iterable[int]) -> int:
        mask = 0
        for k in kinds:
            mask |= self.kinds[k]
        return mask

    def sync(self, number: int, following: int, mask: int) -> tuple[int, int]:
        if not mask & self.barriers[number]:
            return following, mask
        if not self.barriers[number] & self.alive & ~self.stopped() & ~mask:
            return following, self.release(number, following) | mask
        for k in self.lanes(mask):
            self.blocked.pop(k, None)
            self.blocked[k] = number, following
        return END, 0

    def release(self, number: int, place: int) -> int:
        """Opens a barrier; returns the lanes that continue at this place."""
        inside = self.barriers[number]
        go = 0
        for k in [k for k, (b, _) in self.blocked.items() if b == number and self.kinds[k] & inside]:
            if not self.dirty[number] or self.blocked[k][1] == place:
                go |= self.kinds[k]
            else:
                self.strays[k] = self.blocked[k][1]
            del self.blocked[k]
        self.barriers[number] = 0
        return go

    def complete(self, number: int) -> bool:
        """Whether a lane waits at this barrier and none is missing."""
        return (
            any(b == number for b, _ in self.blocked.values())
            and not self.barriers[number] & self.alive & ~self.stopped()
        )

    def last_place(self, number: int) -> int:
        """Where the lanes that came to the barrier last continue."""
        return [place for b, place in self.blocked.values() if b == number][-1]

    def broken(self, number: int, following: int, mask: int) -> tuple[int, int]:
        if not self.complete(number):
            return following, mask
        place = self.last_place(number)
        return self.part(self.release(number, place), place, mask, following)

    def check_syncs(self) -> None:
        """Lanes that wait for no missing lane become suspended groups that will continue."""
        have = self.union(self.syncing)
        groups: dict[int, int] = {}
        for k in [k for k, (_, named) in self.syncing.items() if not named & self.alive & ~have]:
            place, _ = self.syncing.pop(k)
            groups[place] = groups.get(place, 0) | self.kinds[k]
        for place, mask in groups.items():
            self.push(place, mask)

    def leave(self, gone: int, following: int, rest: int) -> tuple[int, int]:
        """Lanes exit: of the barriers that open, the one that BSSY opened last goes first."""
        self.alive &= ~gone
        self.check_syncs()
        for number in sorted(
            (n for n in range(BARRIERS) if self.complete(n)), key=lambda n: self.opened[n], reverse=True
        ):
            place = self.last_place(number)
            if go := self.release(number, place):
                return self.part(go, place, rest, following)
        return following, rest


def run(program: Program, lanes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The records of a program. lanes: (word, records) of each. Raises Stuck."""
    kinds: dict[tuple[int, int], int] = {}
    for k, lane in enumerate(lanes):
        kinds[lane] = kinds.get(lane, 0) | 1 << k
    return Warp(program, list(kinds.values()), [w for w, _ in kinds], [n for _, n in kinds]).run()
