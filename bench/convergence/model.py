"""A warp of sm_90 as the measurements say that it parts and meets: the plain machine that `programs` are held against.

run(program, words)  ->  [(number, mask), …]       the records in order, as the GPU writes them
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .programs import LANES, Program

FULL = (1 << LANES) - 1
END = -1


class Stuck(Exception):
    """All lanes that are left wait."""


@dataclass(frozen=True)
class Rules:
    """What is held against the measurements."""

    stray_merge: str = "all"
    other: str = "keep"
    after: str = "zero"
    exit: str = "opened"
    idle: str = "stray"


@dataclass
class Warp:
    """Lanes of one word and one number of records are one *kind*: they are always together. kinds: masks."""

    program: Program
    kinds: list[int]
    word: list[int]
    left: list[int]
    rules: Rules
    predicate: int = 0
    barriers: list[int] = field(default_factory=lambda: [0] * 16)
    dirty: list[bool] = field(default_factory=lambda: [False] * 16)
    saved: list[list[int]] = field(default_factory=lambda: [[0] * LANES for _ in range(8)])
    alive: int = FULL
    stack: list[tuple[int, int, bool]] = field(default_factory=list)  # (place, mask, covered)
    blocked: dict[int, tuple[int, int]] = field(default_factory=dict)  # kind -> (barrier, place behind)
    strays: dict[int, int] = field(default_factory=dict)  # kind -> place
    syncing: dict[int, tuple[int, int]] = field(default_factory=dict)
    records: list[tuple[int, int]] = field(default_factory=list)
    steps: int = 0
    opened: dict = field(default_factory=dict)
    trace: bool = False
    choices: list = field(default_factory=list)

    def log(self, *what):
        if self.trace:
            print("      ", *[hex(x) if isinstance(x, int) and x > 99 else x for x in what])

    def show(self):
        w = {}
        for k, (b, p) in self.blocked.items():
            w[b, p] = w.get((b, p), 0) | self.kinds[k]
        s = {}
        for k, p in self.strays.items():
            s[p] = s.get(p, 0) | self.kinds[k]
        return {k: hex(v) for k, v in w.items()}, "strays", {k: hex(v) for k, v in s.items()}

    def run(self) -> list[tuple[int, int]]:
        self.stack.append((0, FULL, False))
        while self.alive:
            place, mask = self.pick()
            while mask:
                self.steps += 1
                if self.steps > 20000:
                    raise Stuck
                place, mask = self.step(place, mask)
        return self.records

    # --- who runs

    def pick(self):
        self.log("pick from", [(p, hex(m), c) for p, m, c in self.stack], *self.show())
        if not self.stack:
            return self.idle()
        place, mask, covered = self.stack.pop()
        if covered:
            for k in [k for k, g in enumerate(self.stack) if g[0] == place][::-1]:
                mask |= self.stack.pop(k)[1]
        if covered or self.rules.stray_merge == "all":
            for k in [k for k, p in self.strays.items() if p == place]:
                mask |= self.kinds[k]
                del self.strays[k]
        return place, mask

    def idle(self):
        if not self.strays and not self.blocked:
            self.log("STUCK")
            raise Stuck
        pool = self.blocked if self.blocked and self.strays else self.strays or self.blocked
        if self.rules.idle == "all":
            pool = {**self.blocked, **self.strays}
        leader = max(pool, key=lambda k: self.kinds[k])
        mask = 0
        if leader in self.strays:
            place = self.strays[leader]
            for k in [k for k, p in self.strays.items() if p == place]:
                mask |= self.kinds[k]
                del self.strays[k]
            return place, mask
        number, place = self.blocked[leader]
        for k in [k for k, g in self.blocked.items() if g == (number, place)]:
            mask |= self.kinds[k]
            del self.blocked[k]
        if self.rules.after == "zero":
            self.barriers[number] = 0
        if self.rules.after == "minus":
            self.barriers[number] &= ~mask
        self.log("idle", number, place, hex(mask))
        return place, mask

    def push(self, place, mask):
        if self.stack:
            self.stack[-1] = (*self.stack[-1][:2], True)
        self.stack.append((place, mask, False))

    def part(self, a, at, b, bt):
        """Two groups at two places: fewer lanes first, b where they are as many. -> who goes on"""
        if not a:
            return bt, b
        if not b:
            return at, a
        if a.bit_count() < b.bit_count():
            self.push(bt, b)
            return at, a
        self.push(at, a)
        return bt, b

    def lanes(self, mask: int):
        return [k for k, kind in enumerate(self.kinds) if kind & mask]

    def when(self, step, mask):
        return mask if step.when is None else mask & (self.predicate if step.when else ~self.predicate)

    # --- steps

    def step(self, place, mask):
        if place >= len(self.program):
            return self.leave(mask, 0, 0)
        s = self.program[place]
        following = place + 1
        if s.kind not in ("nop", "decide"):
            self.log(
                place,
                hex(mask),
                s.kind,
                s.number,
                s.target,
                s.when,
                [hex(b) + "!" * d for b, d in zip(self.barriers[:3], self.dirty)],
                *self.show(),
            )
        if s.kind == "record":
            self.records.append((s.number, mask))
            gone = 0
            for k in self.lanes(mask):
                self.left[k] -= 1
                if not self.left[k]:
                    gone |= self.kinds[k]
            return self.part(gone, len(self.program), mask & ~gone, following)
        if s.kind == "decide":
            for k in self.lanes(mask):
                bit = self.word[k] & 1
                self.predicate = self.predicate | self.kinds[k] if bit else self.predicate & ~self.kinds[k]
                self.word[k] = self.word[k] >> 1 | bit << 31
            return following, mask
        if s.kind == "branch":
            taken = self.when(s, mask)
            return self.part(taken, s.target, mask & ~taken, following)
        if s.kind == "jump":
            taken = mask & self.predicate
            return self.part(taken, s.other, mask & ~taken, s.target)
        if s.kind == "open":
            opening = self.when(s, mask)
            if opening:
                self.dirty[s.number] = bool(self.barriers[s.number])
                self.opened[s.number] = self.steps
                self.barriers[s.number] |= opening
            return following, mask
        if s.kind == "leave":
            self.barriers[s.number] &= ~self.when(s, mask)
            return self.broken(s.number, following, mask)
        if s.kind in ("save", "clear"):
            for k in self.lanes(mask):
                self.saved[s.register][k] = self.barriers[s.number]
            if s.kind == "clear":
                self.barriers[s.number] = 0
            return following, mask
        if s.kind == "restore":
            self.barriers[s.number] = self.saved[s.register][self.lanes(mask)[0]]
            return following, mask
        if s.kind == "sync":
            return self.sync(s.number, following, mask)
        if s.kind in ("warpsync", "warpsync_all"):
            named = FULL if s.kind == "warpsync_all" else s.number
            for k in self.lanes(mask):
                self.syncing[k] = (following, named | mask)
            self.check_syncs()
            return END, 0
        if s.kind == "exit":
            gone = self.when(s, mask)
            if not gone:
                return following, mask
            return self.leave(gone, following, mask & ~gone)
        return following, mask

    # --- barriers

    def stopped(self):
        have = 0
        for k in self.blocked:
            have |= self.kinds[k]
        return have

    def sync(self, number, following, mask):
        if not mask & self.barriers[number]:
            return following, mask
        for k in self.lanes(mask):
            self.blocked.pop(k, None)
            self.blocked[k] = number, following
        if self.barriers[number] & self.alive & ~self.stopped():
            return END, 0
        return following, self.release(number, following)

    def release(self, number, place):
        """Opens a barrier: the lanes that go on at this place."""
        inside = self.barriers[number]
        on = [k for k, (b, _) in self.blocked.items() if b == number and self.kinds[k] & inside]
        go = 0
        for k in on:
            if not self.dirty[number] or self.blocked[k][1] == place:
                go |= self.kinds[k]
            else:
                self.strays[k] = self.blocked[k][1]
            del self.blocked[k]
        self.barriers[number] = 0
        self.log("release", number, hex(go), *self.show())
        return go

    def complete(self, number):
        """Somebody waits at this barrier, and nobody is missing."""
        return (
            any(b == number for b, _ in self.blocked.values())
            and not self.barriers[number] & self.alive & ~self.stopped()
        )

    def first_place(self, number):
        return [p for b, p in self.blocked.values() if b == number][-1]

    def broken(self, number, following, mask):
        if not self.complete(number):
            return following, mask
        place = self.first_place(number)
        go = self.release(number, place)
        return self.part(go, place, mask, following)

    def check_syncs(self):
        have = 0
        for k in self.syncing:
            have |= self.kinds[k]
        ok = [k for k, (p, named) in self.syncing.items() if named & self.alive & ~have == 0]
        groups = {}
        for k in ok:
            groups[self.syncing[k][0]] = groups.get(self.syncing[k][0], 0) | self.kinds[k]
            del self.syncing[k]
        for p, m in groups.items():
            self.push(p, m)

    def leave(self, gone, following, rest):
        self.alive &= ~gone
        self.check_syncs()
        ready = [n for n in range(16) if self.complete(n)]
        if not ready:
            return following, rest
        where = lambda n: [k for k, (b, _) in self.blocked.items() if b == n]
        match self.rules.exit:
            case "opened":
                ready.sort(key=lambda n: self.opened[n], reverse=True)
            case "high":
                ready.sort(reverse=True)
            case "lane":
                ready.sort(key=lambda n: max(self.kinds[k] for k in where(n)), reverse=True)
            case "lowlane":
                ready.sort(key=lambda n: min(self.kinds[k] & -self.kinds[k] for k in where(n)))
            case "recent":
                ready.sort(key=lambda n: max(list(self.blocked).index(k) for k in where(n)), reverse=True)
            case "few":
                ready.sort(key=lambda n: sum(self.kinds[k].bit_count() for k in where(n)))
            case "many":
                ready.sort(key=lambda n: -sum(self.kinds[k].bit_count() for k in where(n)))
            case "lowpc":
                ready.sort(key=lambda n: self.first_place(n))
        self.choices.append(
            (
                len(self.records),
                [(n, hex(sum(self.kinds[k] for k in where(n))), self.first_place(n)) for n in ready],
                len(self.stack),
                hex(gone),
                hex(rest),
                [hex(self.barriers[n]) + "!" * self.dirty[n] for n in ready],
                hex(self.alive),
            )
        )
        for number in ready:
            place = self.first_place(number)
            go = self.release(number, place)
            if go:
                return self.part(go, place, rest, following)
        return following, rest


def run(program: Program, lanes: list[tuple[int, int]], rules: Rules = Rules(), trace=False) -> list[tuple[int, int]]:
    """lanes: (word, records) of each."""
    return warp(program, lanes, rules, trace).run()


def warp(program, lanes, rules=Rules(), trace=False):
    kinds: dict[tuple[int, int], int] = {}
    for k, lane in enumerate(lanes):
        kinds[lane] = kinds.get(lane, 0) | 1 << k
    return Warp(program, list(kinds.values()), [w for w, _ in kinds], [n for _, n in kinds], rules, trace=trace)
