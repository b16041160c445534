"""Random programs with convergence barriers: a few kinds of steps, combined as compilers do and as they never would.

    program = random_program(7, "nested")     a tuple of steps, the same for the same seed
    code = assemble(program)                  128-bit words

Every lane has its own *word*, from which it takes the next bit, cyclically, for each decision, and a number of
*records* after which it exits. A program therefore terminates whatever its steps are, unless its lanes wait for each
other forever.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from . import words

MOST_WORDS = 640  # of a program: the room for it in the frame (`frame.py`)


@dataclass(frozen=True)
class Step:
    """One step. kind:

        record           (number) records the number and the lanes that are converged here, and exits after the last
                         record
        decide           the predicate becomes the next bit of the lane's word
        branch           (target) in the lanes selected by `when`
        open, sync       BSSY number, with the place after `target`; BSYNC number
        leave            BREAK number, in the lanes selected by `when`
        save, clear, restore      BMOV number from and to the register `register`; clear: BMOV.CLEAR
        jump             an indirect branch: to `target` if the predicate is false, to `other` if it is true
        switch           an indirect branch to one of `targets` (4 or 8), by the next bits of the lane's word, lowest first
        yield, warpsync (mask `number`), warpsync_all, exit, nop
    when: None = all lanes, otherwise those in which the predicate has this value.
    """

    kind: str
    number: int = 0
    target: int | str = 0
    when: bool | None = None
    other: int | str = 0
    register: int = 0
    targets: tuple[int | str, ...] = ()

    @property
    def bits(self) -> int:
        """The bits of a word by which lanes choose among the targets."""
        return len(self.targets).bit_length() - 1


Program = tuple[Step, ...]


# --- words --------------------------------------------------------------------------------------

_POINTER, _LINE, _WORD, _LEFT, _DONE, _ONE, _MASK, _PLACE = 2, 4, 8, 9, 10, 12, 13, 20
_SAVED = 24  # the first register in which barriers are saved
_CASES = 32  # the first register with a place of a switch
LANES, WARPS = 32, 4  # warps that run a program, each with its own words
_RECORD_BYTES = 16
STRIDE = _RECORD_BYTES * LANES * WARPS
_DECIDED, _MORE = 0, 1  # predicates


def _guard(when: bool | None) -> words.Guard:
    return words.ALWAYS if when is None else words.Guard(_DECIDED, not when)


def _length(step: Step, variant: str = "") -> int:
    if step.kind == "switch":
        return 2 * len(step.targets) + 2 + 2 * step.bits
    return {"record": 10 if variant == "~" else 8, "decide": 2, "jump": 4, "warpsync": 2, "exit": 2}.get(step.kind, 1)


def assemble(program: Program, variant: str = "", first_warp: int = 1) -> bytes:
    """The program with its prologue and epilogue.

    Parameters of the kernel: the address of the records, the lanes' words and numbers of records, a counter of lanes
    that have exited. first_warp: the warps before it do something else.

    variant: "+" sets the bit of every instruction with which a warp may keep its turn; "~" adds a load from memory,
    which is waited for, after every record.
    """
    begin = _begin(first_warp)
    places, at = [], len(begin)
    for step in program:
        places.append(at)
        at += _length(step, variant)
    end = at
    places.append(end)
    out = list(begin)
    for step in program:
        out += _words(step, places, end, len(out), variant)
    out += [words.atomic_add(_DONE, _ONE), words.exit_()]
    if len(out) > MOST_WORDS:
        raise ValueError(f"{len(out)} words are more than {MOST_WORDS}")
    if variant == "+":
        out = [words.keeping(one) for one in out]
    return b"".join(out)


def _begin(first_warp: int) -> list[bytes]:
    return [
        words.thread(0),
        words.memory_descriptor(),
        words.add(0, 0, -first_warp * LANES),
        words.parameter(_POINTER, 0x210),
        words.wide(_POINTER, 0, _RECORD_BYTES, _POINTER),
        words.parameter(14, 0x218),
        words.wide(14, 0, 8, 14),
        words.load(_WORD, 14),
        words.load(_LEFT, 14, 4),
        words.parameter(_DONE, 0x220),
        words.mov(_ONE, 1),
        words.mov(_PLACE + 1, 0),
        words.mov(7, 0),
        *(words.mov(_SAVED + k, 0) for k in range(8)),
    ]


def _words(step: Step, places: list[int], end: int, at: int, variant: str) -> list[bytes]:
    """The instructions of a step. at: the number of its first word."""
    guard = _guard(step.when)
    match step.kind:
        case "record":
            out = [
                words.vote(4),
                words.clock(6),
                words.mov(5, step.number),
                words.store(_POINTER, 4),
                words.add(_POINTER, _POINTER, STRIDE),
                words.add(_LEFT, _LEFT, -1),
                words.is_not_zero(_MORE, _LEFT),
            ]
            slow = [words.load(7, 14), words.nop()] if variant == "~" else []
            return [*out, *slow, words.bra(end - (at + len(out) + len(slow) + 1), words.Guard(_MORE, True))]
        case "decide":
            return [words.and_bit(_DECIDED, _WORD, 1), words.rotate(_WORD, _WORD)]
        case "branch":
            return [words.bra(places[step.target] - (at + 1), guard)]
        case "open":
            return [words.bssy(step.number, places[step.target] + 1 - at, guard)]
        case "sync":
            return [words.bsync(step.number, guard)]
        case "leave":
            return [words.break_(step.number, guard)]
        case "save" | "clear":
            return [words.save(_SAVED + step.register, step.number, step.kind == "clear")]
        case "restore":
            return [words.restore(step.number, _SAVED + step.register)]
        case "jump":
            return [
                words.mov(_PLACE, places[step.target] * words.WORD),
                words.mov(_PLACE, places[step.other] * words.WORD, words.Guard(_DECIDED)),
                words.nop(),
                words.ret(_PLACE, -(at + 4)),
            ]
        case "switch":
            return _switch(step.targets, places, at)
        case "yield":
            return [words.yield_()]
        case "warpsync":
            return [words.mov(_MASK, step.number), words.warpsync(_MASK)]
        case "warpsync_all":
            return [words.warpsync_all()]
        case "exit":
            return [words.atomic_add(_DONE, _ONE, guard), words.exit_(guard)]
        case "nop":
            return [words.nop()]
    raise ValueError(step.kind)


def _switch(targets: tuple[int, ...], places: list[int], at: int) -> list[bytes]:
    """Chooses among the places of the targets, by halves, and branches there."""
    count = len(targets)
    out = [words.mov(_CASES + k, places[target] * words.WORD) for k, target in enumerate(targets)]
    step = 1
    while step < count:
        out += [words.and_bit(_DECIDED, _WORD, 1), words.rotate(_WORD, _WORD)]
        chosen = words.Guard(_DECIDED)
        out += [words.copy(_CASES + k, _CASES + k + step, chosen) for k in range(0, count, 2 * step)]
        step *= 2
    out += [words.copy(_PLACE, _CASES), words.nop()]
    return [*out, words.brx(_PLACE, -(at + len(out) + 1))]


# --- generation -----------------------------------------------------------------------------------


class _Writer:
    """Steps with labels as targets."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.steps: list[Step] = []
        self.labels: dict[str, int] = {}
        self.numbers = 0

    def label(self) -> str:
        self.numbers += 1
        return f"L{self.numbers}"

    def here(self, label: str) -> None:
        self.labels[label] = len(self.steps)

    def put(self, kind: str, number: int = 0, target: str = "", when: bool | None = None, **more) -> None:
        self.steps.append(Step(kind, number, target, when, **more))

    def record(self) -> None:
        self.put("record", len(self.steps))

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def program(self) -> Program:
        place = lambda target: self.labels[target] if isinstance(target, str) and target else len(self.steps)
        return tuple(
            replace(s, target=place(s.target), other=place(s.other), targets=tuple(map(place, s.targets)))
            if s.kind in ("branch", "open", "jump", "switch")
            else s
            for s in self.steps
        )


@dataclass(frozen=True)
class Manner:
    """How structured programs are written: probabilities of the constructs at each place.

    barriers: ifs and loops between BSSY and BSYNC; proper: lanes that leave them early execute BREAK; reused: barrier
    numbers are drawn from this many, 0 = one for each depth; yields, warpsyncs, indirect, early (exits), gotos,
    saves; switches: a choice is one of 4 or 8 cases, some of which fall through to the next.
    """

    barriers: float = 1.0
    proper: float = 1.0
    reused: int = 0
    yields: float = 0.0
    warpsyncs: float = 0.0
    indirect: float = 0.0
    early: float = 0.1
    gotos: float = 0.0
    saves: float = 0.0
    switches: float = 0.0


MANNERS = {
    "bare": Manner(barriers=0.0, early=0.1),
    "nested": Manner(),
    "halfway": Manner(barriers=0.5, proper=0.8, gotos=0.1),
    "careless": Manner(barriers=0.8, proper=0.3, gotos=0.2),
    "reused": Manner(barriers=0.9, proper=0.9, reused=2, gotos=0.1),
    "yielding": Manner(barriers=0.8, yields=0.25, gotos=0.1),
    "waiting": Manner(barriers=0.7, warpsyncs=0.15, gotos=0.1),
    "indirect": Manner(barriers=0.6, indirect=0.5, gotos=0.1),
    "saving": Manner(barriers=0.9, reused=2, saves=0.3),
    "switching": Manner(barriers=0.6, switches=0.6, early=0.05, gotos=0.05),
    "cases": Manner(barriers=0.0, switches=0.8, early=0.05),
}


class _Structured(_Writer):
    def __init__(self, seed: int, manner: Manner):
        super().__init__(seed)
        self.manner = manner
        self.scopes: list[
            tuple[str, str, int | None]
        ] = []  # enclosing loops and ifs: (where it ends, where it continues, barrier)
        self.saved = 0

    def write(self) -> Program:
        self.record()
        self.block(3)
        self.record()
        return self.program()

    def block(self, depth: int) -> None:
        for _ in range(self.random.choice((1, 2, 2, 3))):
            self.statement(depth)
            if len(self.steps) > 70:
                return

    def statement(self, depth: int) -> None:
        manner, chance = self.manner, self.chance
        self.record()
        if chance(manner.yields):
            self.put("yield")
        if chance(manner.warpsyncs):
            self.put("warpsync_all") if chance(0.3) else self.put(
                "warpsync", self.random.choice((0xFFFFFFFF, 0xFFFF, 0xFFFF0000, 0x55555555))
            )
        if chance(manner.early):
            self.put("decide")
            self.put("exit", when=True)
        if self.scopes and chance(0.35):
            self.leave_early()
        if depth and len(self.steps) < 70:
            (self.loop if chance(0.45) else self.choice)(depth - 1)

    def barrier(self) -> int | None:
        if not self.chance(self.manner.barriers):
            return None
        return self.random.randrange(self.manner.reused) if self.manner.reused else len(self.scopes)

    def scoped(self, inside: Callable[[str, str], None], loop: bool) -> None:
        """One if or loop, between BSSY and BSYNC."""
        end, head, barrier = self.label(), self.label() if loop else "", self.barrier()
        saved = barrier is not None and self.chance(self.manner.saves)
        register, self.saved = self.saved % 8, self.saved + saved
        if saved:
            self.put("clear" if self.chance(0.7) else "save", barrier, register=register)
        if barrier is not None:
            self.put("open", barrier, end)
        self.scopes.append((end, head, barrier))
        inside(end, head)
        self.scopes.pop()
        self.here(end)
        if barrier is not None:
            self.put("sync", barrier)
        if saved:
            self.put("restore", barrier, register=register)
        self.record()

    def cases(self, depth: int) -> None:
        def inside(end: str, _: str) -> None:
            labels = [self.label() for _ in range(self.random.choice((3, 4, 4, 6, 8)))]
            count = 4 if len(labels) <= 4 else 8
            targets = [*labels, *(self.random.choice([*labels, end]) for _ in range(count - len(labels)))]
            self.random.shuffle(targets)
            self.put("switch", targets=tuple(targets))
            for label in labels:
                self.here(label)
                self.block(depth) if self.chance(0.3) else self.record()
                if self.chance(0.6):
                    self.put("branch", 0, end)

        self.scoped(inside, False)

    def choice(self, depth: int) -> None:
        if self.manner.switches and self.chance(self.manner.switches):
            return self.cases(depth)

        def inside(end: str, _: str) -> None:
            otherwise = self.label()
            self.put("decide")
            if self.chance(self.manner.indirect):
                first = self.label()
                self.put("jump", 0, first, other=otherwise)
                self.here(first)
            else:
                self.put("branch", 0, otherwise, self.chance(0.5))
            self.block(depth)
            if self.chance(0.7):
                self.put("branch", 0, end)
            self.here(otherwise)
            if self.chance(0.7):
                self.block(depth)

        self.scoped(inside, False)

    def loop(self, depth: int) -> None:
        def inside(end: str, head: str) -> None:
            self.here(head)
            self.block(depth)
            self.record()
            self.put("decide")
            self.put("branch", 0, head, self.chance(0.5))

        self.scoped(inside, True)

    def leave_early(self) -> None:
        """Break, continue, or goto the end of an enclosing scope."""
        outward = self.random.randrange(len(self.scopes))
        end, head, barrier = self.scopes[outward]
        target = head if head and self.chance(0.4) else end
        if self.chance(self.manner.gotos) and self.labels:
            target = self.random.choice([*self.labels, *(s[0] for s in self.scopes)])
        self.put("decide")
        when = self.chance(0.5)
        for _, _, inner in reversed(self.scopes[outward + 1 :]):
            if inner is not None and inner != barrier and self.chance(self.manner.proper):
                self.put("leave", inner, when=when)
        self.put("branch", 0, target, when)


class _Flat(_Writer):
    """Blocks that branch to each other and open, wait at and leave barriers at random."""

    def write(self, barriers: int, share: float, switches: float = 0) -> Program:
        labels = [self.label() for _ in range(self.random.randint(4, 12))]
        for label in labels:
            self.here(label)
            if barriers and self.chance(share):
                self.put("open", self.random.randrange(barriers), self.random.choice(labels))
            self.record()
            if barriers and self.chance(share * 0.8):
                self.put("sync", self.random.randrange(barriers))
                self.record()
            if barriers and self.chance(share * 0.3):
                self.put("decide")
                self.put("leave", self.random.randrange(barriers), when=self.random.choice((None, True, False)))
            if switches and self.chance(switches):
                self.put("switch", targets=tuple(self.random.choice(labels) for _ in range(self.random.choice((4, 8)))))
            for _ in range(self.random.choice((1, 1, 2))):
                self.put("decide")
                self.put("branch", 0, self.random.choice(labels), self.chance(0.5))
            if self.chance(0.2):
                self.put("branch", 0, self.random.choice(labels))
        self.record()
        return self.program()


def random_program(seed: int, manner: str) -> Program:
    """The program of a seed.

    manner: one of MANNERS, or "flat" (no barriers), "tables" (flat, with switches), "any1", "any3" (barriers anywhere,
    with that many numbers).
    """
    for attempt in range(100):
        number = seed * 100 + attempt
        if manner == "flat":
            program = _Flat(number).write(0, 0)
        elif manner == "tables":
            program = _Flat(number).write(0, 0, 0.4)
        elif manner.startswith("any"):
            program = _Flat(number).write(int(manner[3:]), 0.5)
        else:
            program = _Structured(number, MANNERS[manner]).write()
        if sum(_length(step, "~") for step in program) + 40 < MOST_WORDS and any(
            s.kind in ("branch", "switch") for s in program
        ):
            return program
    raise ValueError(f"no program of {manner}, {seed}")


def lane_words(seed: int) -> list[tuple[int, int]]:
    """(word, records) of each lane of the WARPS warps: groups of lanes of several sizes share the same pair."""
    chosen = random.Random(seed ^ 0x5EED)
    out = []
    for warp in range(WARPS):
        kinds = [(chosen.getrandbits(32), chosen.randint(20, 60)) for _ in range((2, 3, 5, 12)[warp])]
        out += [chosen.choice(kinds) for _ in range(LANES)]
    return out
