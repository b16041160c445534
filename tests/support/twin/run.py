"""Runs a kernel, warp by warp and lane by lane, and records every request.

Every lane has its own place; the lanes of a warp at the lowest place execute one step together. Lanes that diverge at
a branch reconverge at its meeting place (`meeting`): lanes that reach it wait for the others that have not exited.
With policy="stack", a textbook stack of (place, meeting place, lanes) is used instead: for kernels on which the two
differ, PTX does not determine the number of requests. Blocks run one after another. Warps of a block alternate at
barriers, where a wait is not over, and after TURN steps, so that a warp may wait for what another one writes. Lanes
that wait, or come to the same state again, let diverged lanes of their warp run. If no warp can end any more, Waiting
says where each is. With `turns`, warps alternate after every
step, in a random order with that seed, which exposes races.

Unwritten memory holds a hash of its address, and unwritten registers hold junk: answers that the engine calls exact
may depend on neither.
"""

from __future__ import annotations

import random
from collections import defaultdict

from .across import Across
from .barriers import Barriers
from .code import Code, Many, Step, Symbol, flatten
from .instructions import LANES, Frame, Instructions, Request, is_site
from .meeting import END, meeting
from .memory import Bytes, junk
from .needed import needed

TURN = 1000  # steps after which other warps have their turn
FUNCTIONS, FUNCTION_BYTES = 1 << 41, 256  # where functions are assumed to be
MAY_PART = ("bra", "brx", "exit", "trap", "ret", "call")


class TooLong(Exception):
    """The run exceeded its number of steps."""


class Waiting(TooLong):
    """Warps wait for something that none of them will write."""


class Machine:
    """One kernel under one launch.

    parameters: the raw parameter buffer. seed: decides the addresses of variables. guess: decides the guesses of what
    the twin does not know. After a run, `guessed` has the opcodes of guesses, `unwritten` says whether one of them may
    have written memory.
    """

    def __init__(
        self,
        text: str,
        kernel: str,
        grid,
        block,
        parameters: bytes,
        dynamic_shared: int = 0,
        seed: int = 0,
        most_steps: int = 3_000_000,
        cluster=(1, 1, 1),
        record=None,
        needed_only: bool = False,
        policy: str = "lanes",
        turns: int | None = None,
        guess: int = 0,
    ):
        self.codes, self.globals = flatten(text)
        self.kernel = self.codes[kernel]
        self.grid, self.block, self.cluster = grid, block, cluster
        self.parameters, self.dynamic = parameters, dynamic_shared
        self.steps, self.most = 0, most_steps
        self.policy = policy
        self.turns = None if turns is None else random.Random(turns)
        self.requests: list[Request] = []
        self.record = record
        self.seed = seed
        self.guess, self.guessed, self.unwritten = guess, set(), False
        self.changes = 0  # of memory, and of what warps wait for
        self.warps: list[Warp] = []  # of the block that runs
        self.entries = {name: FUNCTIONS + FUNCTION_BYTES * k for k, name in enumerate(self.codes)}
        self.places: dict[tuple[str, str], int] = {}
        self.memory = Bytes(("global", seed))
        self._place_variables()
        self.needed_only = needed_only

    def meetings_of(self, code: Code) -> list[int]:
        if code.meetings is None:
            code.meetings = meeting(code)
        return code.meetings

    def runs(self, code: Code, at: int) -> bool:
        """Whether a step must be executed."""
        if not self.needed_only:
            return True
        if code.needed is None:
            code.needed = needed(code)
        return at in code.needed

    def _place_variables(self) -> None:
        everything = list(self.globals.values()) + [v for c in self.codes.values() for v in c.variables.values()]
        for space, start in (("shared", 1024), ("local", 0), ("global", 1 << 32), ("const", 1 << 36)):
            at = start
            for v in sorted((v for v in everything if v.space == space), key=lambda v: v.size == 0):
                at += junk(self.seed, v.name) % 5 * v.align
                at = -(-at // v.align) * v.align
                self.places[space, v.name] = at
                if v.data is not None:
                    self.memory.put(at, v.data)
                at += v.size if v.size else self.dynamic if space == "shared" else 0
        for v in everything:
            for offset, size, name, added in v.names:
                found = (p for (_, other), p in self.places.items() if other == name)
                address = self.entries.get(name) or next(found, None)
                if address is not None:
                    self.memory.store(self.places[v.space, v.name] + offset, size, address + added)

    def run(self) -> list[Request]:
        for z in range(self.grid[2]):
            for y in range(self.grid[1]):
                for x in range(self.grid[0]):
                    self.run_block((x, y, z))
        return self.requests

    def whereabouts(self) -> str:
        """Where the warps of the block are, in words."""
        at = [(w.number, w.step) for w in self.warps if not w.ended and w.step is not None]
        unknown = f" (the twin does not know {', '.join(sorted(self.guessed))})" if self.guessed else ""
        return "; ".join(f"warp {number} at line {step.line}, {step.opcode}" for number, step in at) + unknown

    def counted(self) -> None:
        """Counts a step of a warp. Raises TooLong."""
        self.steps += 1
        if self.steps > self.most:
            raise TooLong(f"no end in {self.most} steps: {self.whereabouts()}")

    def run_block(self, where) -> None:
        threads = self.block[0] * self.block[1] * self.block[2]
        shared = Bytes(("shared", where, self.seed))
        warps = [
            Warp(self, where, w, range(w * LANES, min(threads, (w + 1) * LANES)), shared)
            for w in range(-(-threads // LANES))
        ]
        self.warps, ready = warps, list(warps)
        waiting: dict[int, list[Warp]] = defaultdict(list)
        arrived: dict[int, int] = defaultdict(int)
        while ready or any(waiting.values()):
            if not ready:  # the rest waits for lanes that have exited
                number = min(n for n, ws in waiting.items() if ws)
                ready, arrived[number] = _answered(waiting.pop(number)), 0
            warp = ready.pop(0 if self.turns is None else self.turns.randrange(len(ready)))
            try:
                arrival = next(warp.running)
            except StopIteration:
                self.changes += 1
                continue
            if arrival is None:
                ready.append(warp)
                if all(w.waits_since == self.changes for w in ready):
                    raise Waiting(f"these wait for ever: {self.whereabouts()}")
                continue
            self.changes += 1
            number, count, waits = arrival
            arrived[number] += LANES
            if waits:
                waiting[number].append(warp)
            else:
                ready.append(warp)
            alive = sum(not w.ended for w in warps)
            if arrived[number] >= (count or alive * LANES):
                ready += _answered(waiting.pop(number, []))  # bar.arrive waits for nobody
                arrived[number] = 0


def _answered(warps: list[Warp]) -> list[Warp]:
    """The warps that waited for each other; after a bar.red each knows the predicates of all."""
    for warp in warps:
        warp.answer = [yes for other in warps for yes in other.asked]
    return warps


class Warp(Instructions, Across, Barriers):
    def __init__(self, machine: Machine, where, number: int, threads: range, shared: Bytes):
        self.machine, self.where, self.number, self.shared = machine, where, number, shared
        bx, by, _ = machine.block
        self.tid = [(t % bx, t // bx % by, t // (bx * by)) for t in threads]
        self.local = [Bytes(("local", where, number, lane, machine.seed)) for lane in range(LANES)]
        self.exited: set[int] = set(range(len(self.tid), LANES))
        self.ended = False
        self.step: Step | None = None  # the last one
        self.ran = 0  # steps since the last turn
        self.frames: list[Frame] = []
        self.resting: set[int] = set()  # lanes after a wait that was not over, while others may run
        self.states: set[int] = set()  # at each end of a turn since the last change
        self.states_since = 0  # the number of changes at that time
        self.repeats = 0  # how often it has come to the same state again since then
        self.waits_since = -1  # the number of changes, once no lanes come further
        self.asked: list[bool] = []  # of the lanes that reached a bar.red
        self.answer: list[bool] = []  # of all lanes that reached it
        self.running = self._run()

    def _run(self):
        frame = Frame(self.machine.kernel)
        yield from self.function(frame, [l for l in range(LANES) if l not in self.exited])
        self.ended = True

    def function(self, frame: Frame, lanes: list[int]):
        """Runs an activation to its end.

        A generator: yields (barrier, threads or None, whether it waits), or None where another warp may take its
        turn.
        """
        self.frames.append(frame)
        yield from self._by_stack(frame, lanes) if self.machine.policy == "stack" else self._by_lanes(frame, lanes)
        self.frames.pop()

    def _turn(self, active=()):
        """Lets other warps run; and other lanes than these, if they have come to the same state again."""
        self.ran, changes = 0, self.machine.changes
        if self.states_since != changes:
            self.states, self.states_since, self.repeats = set(), changes, 0
        state = hash((id(self.step), *(f.state() for f in self.frames)))
        if state in self.states:
            self.repeats += 1
            self.resting.update(active)
            if self.repeats > LANES or len(self.frames[-1].places) == len(active) or not active:
                self.waits_since = changes
        self.states.add(state)
        yield None

    def _by_lanes(self, frame: Frame, lanes: list[int]):
        code, machine = frame.code, self.machine
        meetings = machine.meetings_of(code)
        place = frame.places = dict.fromkeys(lanes, 0)
        count = len(code.steps)
        expected: dict[tuple[int, int], set[int]] = {}  # (lane, meeting place) -> the lanes to wait for
        while True:
            place = {l: at for l, at in place.items() if at != END and at < count and l not in self.exited}
            frame.places = place
            if not place:
                return
            at, active = self._next(place, expected, self.resting)
            if self.resting.issuperset(active) and active:
                self.resting.clear()
                if self.ran:
                    yield from self._turn()
            if not active:  # the lanes that they wait for wait themselves, elsewhere
                for l in place:
                    expected.pop((l, at), None)
                continue
            self.resting.difference_update(active)
            if expected:
                for l in active:
                    expected.pop((l, at), None)
            if not expected and len(active) == len(place):
                at = yield from self._straight(frame, active, at)
                place = dict.fromkeys(active, at)
                if at >= count:
                    continue
            step = code.steps[at]
            base = step.base
            acting = yield from self._begun(frame, step, active)
            for l in active:
                place[l] = at + 1
            if base in ("bra", "brx"):
                for l in acting:
                    name = (
                        step.operands[0].name
                        if base == "bra"
                        else code.tables[step.operands[1].name][self.value(frame, step.operands[0], l, 32)]
                    )
                    place[l] = code.labels[name]
                if len({place[l] for l in active}) > 1 and meetings[at] != END:
                    if not any((l, meetings[at]) in expected for l in active):
                        expected |= dict.fromkeys(((l, meetings[at]) for l in active), set(active))
            elif base in ("exit", "trap") or base == "ret" and code.entry:
                self.exited.update(acting)
            elif base == "ret":
                for l in acting:
                    place[l] = END
            else:
                yield from self._plain(frame, step, base, active, acting, at)

    @staticmethod
    def _next(
        place: dict[int, int], expected: dict[tuple[int, int], set[int]], resting: set[int]
    ) -> tuple[int, list[int]]:
        """The lowest place with lanes that wait for none and do not rest, and the lanes there that wait for none.

        If there is none, the lowest place with resting lanes; or the lowest of all, and no lanes.
        """
        places = sorted(set(place.values()))
        rests: tuple[int, list[int]] | None = None
        for at in places:
            here = sorted(l for l, own in place.items() if own == at)
            if not expected:
                if not resting.issuperset(here):
                    return at, here
                rests = rests or (at, here)
                continue
            come: dict[int, bool] = {}  # for each set of lanes that are waited for
            free = []
            for l in here:
                others = expected.get((l, at), ())
                if id(others) not in come:
                    come[id(others)] = all(place.get(other, at) == at for other in others)
                if come[id(others)]:
                    free.append(l)
            if free and not resting.issuperset(free):
                return at, free
            rests = rests or ((at, free) if free else None)
        return rests or (places[0], [])

    def _straight(self, frame: Frame, active: list[int], at: int):
        """Runs all remaining lanes up to a step that may diverge or end them. Returns its place."""
        steps = frame.code.steps
        while at < len(steps) and (step := steps[at]).base not in MAY_PART:
            acting = yield from self._begun(frame, step, active)
            yield from self._plain(frame, step, step.base, active, acting, at)
            at += 1
        return at

    def _begun(self, frame: Frame, step: Step, active: list[int]):
        """Counts a step. Returns the lanes in which its guard holds."""
        machine = self.machine
        self.step = step
        machine.counted()
        self.ran += 1
        if machine.turns is not None:
            yield None
        elif self.ran >= TURN:
            yield from self._turn(active)
        if step.guard is None:
            return active
        return [l for l, p in zip(active, self.values(frame, step.guard, active, 1)) if bool(p) != step.negated]

    def _plain(self, frame: Frame, step: Step, base: str, active, acting, at: int):
        """A step that does not branch."""
        if base in ("bar", "barrier") and "warp" not in step.opcode and "cluster" not in step.opcode:
            if acting:
                yield from self._barrier(frame, step, acting)
        elif base == "call":
            if acting:
                yield from self._call(frame, step, acting)
        elif self.machine.runs(frame.code, at) or is_site(step):
            self.execute(frame, step, active, acting)

    def _barrier(self, frame: Frame, step: Step, acting: list[int]):
        """Waits, or only arrives. A bar.red combines the predicates of these lanes with those of all others."""
        reduces = "red" in step.opcode.split(".")
        target, *operands = step.operands if reduces else (None, *step.operands)
        self.asked = [bool(self.value(frame, operands[-1], l, 1)) for l in acting] if reduces else []
        operands = operands[:-1] if reduces else operands
        number = self.value(frame, operands[0], acting[0], 32) if operands else 0
        count = self.value(frame, operands[1], acting[0], 32) if len(operands) > 1 else None
        yield number, count, "arrive" not in step.opcode
        if reduces:
            words = step.opcode.split(".")
            result = sum(self.answer) if "popc" in words else any(self.answer) if "or" in words else all(self.answer)
            for lane in acting:
                self.write(frame, target, lane, int(result))

    def _by_stack(self, frame: Frame, lanes: list[int]):
        code, machine = frame.code, self.machine
        meetings = machine.meetings_of(code)
        returned: set[int] = set()
        stack = [[0, END, lanes]]
        while stack:
            top = stack[-1]
            at, meet, members = top
            active = [l for l in members if l not in self.exited and l not in returned]
            if not active or at == meet or at == END or at >= len(code.steps):
                stack.pop()
                continue
            step = code.steps[at]
            base = step.base
            self.step = step
            machine.counted()
            self.ran += 1
            if self.ran >= TURN or self.resting:
                self.resting.clear()
                yield from self._turn()
            acting = (
                active
                if step.guard is None
                else [l for l, p in zip(active, self.values(frame, step.guard, active, 1)) if bool(p) != step.negated]
            )
            if base == "bra":
                ways = defaultdict(list)
                ways[code.labels[step.operands[0].name]] += acting
                ways[at + 1] += self._others(active, acting)
                self._part(stack, ways, meetings[at])
            elif base == "brx":
                ways = defaultdict(list)
                table = code.tables[step.operands[1].name]
                for l in acting:
                    ways[code.labels[table[self.value(frame, step.operands[0], l, 32)]]].append(l)
                ways[at + 1] += self._others(active, acting)
                self._part(stack, ways, meetings[at])
            elif base in ("exit", "trap") or base == "ret" and code.entry:
                self.exited.update(acting)
                top[0] = at + 1
            elif base == "ret":
                returned.update(acting)
                top[0] = at + 1
            else:
                top[0] = at + 1
                yield from self._plain(frame, step, base, active, acting, at)

    @staticmethod
    def _others(active, acting):
        chosen = set(acting)
        return [l for l in active if l not in chosen]

    @staticmethod
    def _part(stack, ways: dict, meet: int) -> None:
        ways = {at: lanes for at, lanes in ways.items() if lanes}
        if len(ways) == 1:
            stack[-1][0] = next(iter(ways))
            return
        stack[-1][0] = meet
        for at, lanes in ways.items():
            stack.append([at, meet, lanes])

    def _call(self, frame: Frame, step: Step, lanes: list[int]):
        operands = list(step.operands)
        results = operands.pop(0).items if isinstance(operands[0], Many) else ()
        target = operands.pop(0)
        given = operands.pop(0).items if operands and isinstance(operands[0], Many) else ()
        if isinstance(target, Symbol):
            yield from self._called(frame, step, self.machine.codes.get(target.name), given, results, lanes)
            return
        by_target: dict[int, list[int]] = {}
        for lane, address in zip(lanes, self.values(frame, target, lanes, 64)):
            by_target.setdefault(address, []).append(lane)
        functions = {at: self.machine.codes[name] for name, at in self.machine.entries.items()}
        for address, its_lanes in by_target.items():
            yield from self._called(frame, step, functions.get(address), given, results, its_lanes)

    def _called(self, frame: Frame, step: Step, callee: Code | None, given, results, lanes: list[int]):
        """Calls one function; what a function without a body does is a guess."""
        if callee is None:
            self.machine.guessed.add(step.opcode)
            return
        inner = Frame(callee, frame.depth + 1)
        for (formal, size, _), actual in zip(callee.parameters, given):
            inner.params[formal] = [bytearray(b) for b in self._param(frame, actual.name, size)]
        yield from self.function(inner, lanes)
        for (formal, size, _), actual in zip(callee.results, results):
            source, target = self._param(inner, formal, size), self._param(frame, actual.name, size)
            for l in lanes:
                target[l][:] = source[l]


def requests(text, kernel: str, grid, block, parameters: bytes = b"", **options) -> list[Request]:
    """Every request of every site, in the order in which the twin executes them."""
    return Machine(text, kernel, grid, block, parameters, **options).run()
