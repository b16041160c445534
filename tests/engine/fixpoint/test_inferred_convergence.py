"""Requests that inference finds where branches are not known, against a plain machine that takes every branch at random.

Programs of convergence barriers, WARPSYNCs and YIELDs (`bench.convergence`), of whose branches one part depends on
unknown data of each lane, the other on a parameter that is not specified. Every record stores to one bank from all
lanes, so that a request costs as many wavefronts as it has lanes; or the word of a lane depends on the trip that it is
in, or on what it kept at other records (a vote, a sum, a shuffle). Lanes that wait for lanes which yield may continue
without them, or not.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Set
from dataclasses import replace

import pytest
from convergence_programs import ADDRESS, PLACE, P, T, _instructions, _Kernel
from machine_code import STATED

from bench.convergence.model import END, Stuck, Warp
from bench.convergence.programs import Manner, Program, Step, _Structured
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir

DATA, SPECIFIED = ir.Reg("R8", 32), ir.Reg("R9", 32)
LANES, ROW = 32, 128  # bytes between the words of two lanes, which are in one bank
WORD, TRIP = 4, 124  # bytes between the words of two lanes in one trip, and of one lane in two trips
LONG = 1 << 30  # records of a lane: more than any program makes
RUNS = 12  # of a program
KEPT = ir.Reg("R60", 32)
FIRST_OF_TRIPS = 64  # register of the address of the first record
FIRST_KNOWN, PACE = 300, 5  # register that counts how often a lane was at the first place; what each time adds to it
SOURCE, NEVER = 5, -1  # lane whose value a shuffle returns; what it returns if that is inactive
MANNERS = {
    "nested": Manner(early=0.0),
    "yielding": Manner(barriers=0.8, yields=0.2, early=0.0),
    "waiting": Manner(barriers=0.4, yields=0.1, warpsyncs=0.25, early=0.0),
    "bare": Manner(barriers=0.1, yields=0.1, warpsyncs=0.3, early=0.0),
}


class _Adverse(Warp):
    """The machine with branches that all lanes take alike (at the places `alike`), that each lane takes as its number and
    how often it was there say (at the places `known`), and with YIELD.
    """

    chosen: random.Random
    alike: dict[int, bool]
    known: Counter[tuple[int, int]]  # place, lane -> how often

    def step(self, place: int, mask: int) -> tuple[int, int]:
        step = self.program[place] if place < len(self.program) else None
        if step is not None and step.kind == "decide" and (place, -1) in self.known:
            for lane in (k for k in range(LANES) if mask >> k & 1):
                bit = (lane + PACE * self.known[place, lane]) >> 2 & 1
                self.known[place, lane] += 1
                self.predicate = self.predicate & ~(1 << lane) | bit << lane
            return place + 1, mask
        if step is not None and step.kind == "decide" and place in self.alike:
            self.predicate = self.predicate | mask if self.alike[place] else self.predicate & ~mask
            return place + 1, mask
        if step is not None and step.kind == "yield" and self.chosen.random() < 0.7:
            self.stack.insert(0, (place + 1, mask, True))
            for number in {number for number, _ in self.blocked.values()}:
                if not self.barriers[number] & self.alive & ~self.stopped() & ~mask and self.chosen.random() < 0.7:
                    at = self.last_place(number)
                    left = self.barriers[number] & mask
                    self.push(at, self.release(number, at))
                    self.barriers[number] = left
            return END, 0
        return super().step(place, mask)

    def stopped(self) -> int:
        """Without those at a WARPSYNC: inference assumes that the lanes it names come (docs/convergence.md)."""
        return self.union(self.blocked)

    def idle(self) -> tuple[int, int]:
        raise Stuck  # lanes that wait forever have no requests to be compared


def _program(seed: int, manner: str) -> Program:
    """Without WARPSYNCs of some lanes, and without branches to the next step, which no compiler writes."""
    written = _Structured(seed, MANNERS[manner]).write()
    kinds = {"warpsync": "warpsync_all"}
    nowhere = {place for place, step in enumerate(written) if step.kind == "branch" and step.target == place + 1}
    return tuple(
        replace(step, kind="nop" if place in nowhere else kinds.get(step.kind, step.kind))
        for place, step in enumerate(written)
    )


def _function(
    program: Program, alike: set[int], kept: str = "", known: Set[int] = frozenset()
) -> tuple[ir.Function, dict[int, int]]:
    """(kernel, site -> number of its record). kept: what decides the words that records store to (`Words`)."""
    targets: dict[int, int] = {}
    for _final in (False, True):
        k, numbers = _Kernel(), {}
        k.put("S2R R0, SR_TID.X", ir.Op("mov", (PLACE,), (ir.Special("tid.x"),)))
        k.put("IMAD R4, R0, 0x80, RZ", ir.Op("mul", (ADDRESS,), (PLACE, ir.Const(ROW))))
        for step in program if kept == "trip" else ():
            if step.kind == "record":
                k.put("IMAD.SHL R, R0, 0x4, RZ", ir.Op("mul", (_of_trip(step),), (PLACE, ir.Const(WORD))))
        for place in sorted(known):
            k.put("MOV R, RZ", ir.Op("mov", (ir.Reg(f"R{FIRST_KNOWN + place}", 32),), (ir.Const(0),)))
        k.put("MOV R60, RZ", ir.Op("mov", (KEPT,), (ir.Const(0),)))
        k.put("LDC R9", ir.Op("load", (SPECIFIED,), (ir.Const(0),), 32, (32,), space="param"))
        for place, step in enumerate(program):
            targets[place] = len(k.out)
            if step.kind == "record" and kept not in ("", "trip"):
                _keep_or_store(k, step, kept, numbers)
            elif step.kind == "record":
                numbers[len(k.out)] = step.number
                place = _of_trip(step) if kept else ADDRESS
                store = ir.Op("store", (), (place, ir.Const(0)), 32, space="shared")
                k.put("STS [R], RZ", store, site=with_access(ir.Site("STS", place), ()))
                if kept:
                    k.put("IADD3 R, R, 0x7c, RZ", ir.Op("add", (place,), (place, ir.Const(TRIP))))
            elif step.kind == "decide" and place in known:
                _decide_by_lane(k, ir.Reg(f"R{FIRST_KNOWN + place}", 32))
            elif step.kind == "decide":
                _decide(k, place if place in alike else None)
            else:
                _instructions(step, k, targets)
        targets[len(program)] = targets[-1] = len(k.out)
        k.put("EXIT", control=ir.Control("exit"))
    parameters = (ir.Parameter("n", 0, 4),)
    code = tuple(k.out)
    return ir.Function("program", "sass", "sm_90", code, shared_static=4096, parameters=parameters, **STATED), numbers


def _of_trip(step: Step) -> ir.Reg:
    """The register of the address that a record stores to in the next trip."""
    return ir.Reg(f"R{FIRST_OF_TRIPS + step.number}", 32)


def _keep_or_store(k: _Kernel, step: Step, kept: str, numbers: dict[int, int]) -> None:
    """Records with an even number keep something; the others store to word lane·(1 + kept % 4)."""
    number = ir.Const(step.number)
    if step.number % 2:
        k.put("LOP3.LUT R2, R60, 0x3", ir.Op("and", (T,), (KEPT, ir.Const(3))))
        k.put("IADD3 R2, R2, 0x1, RZ", ir.Op("add", (T,), (T, ir.Const(1))))
        k.put("IMAD R2, R2, R0, RZ", ir.Op("mul", (T,), (T, PLACE)), ir.Op("shl", (T,), (T, ir.Const(2))))
        numbers[len(k.out)] = step.number
        store = ir.Op("store", (), (T, ir.Const(0)), 32, space="shared")
        k.put("STS [R2], RZ", store, site=with_access(ir.Site("STS", T), ()))
    elif kept == "vote":
        k.put("VOTE.ANY R60, PT, PT", ir.Op("vote.ballot", (KEPT,), (ir.Const(1, 1),), 32))
        k.put("POPC R60, R60", ir.Op("popc", (KEPT,), (KEPT,)))
    elif kept == "sum":
        k.put("IADD3 R60, R60, NUMBER, RZ", ir.Op("add", (KEPT,), (KEPT, number)))
    else:
        k.put("IADD3 R2, R0, NUMBER, RZ", ir.Op("add", (T,), (PLACE, number)))
        k.put("SHFL.IDX PT, R60, R2", ir.Op("shfl.idx", (KEPT, None), (T, ir.Const(SOURCE), ir.Const(31)), 32))


class Words:
    """The words to which the lanes of each record store, in one run; None where a record stores nothing, or where a
    lane has read a value from an inactive lane.
    """

    def __init__(self, kept: str):
        self.kept, self.values, self.trips = kept, [0] * LANES, Counter[tuple[int, int]]()

    def of(self, number: int, mask: int) -> list[int] | None:
        lanes = [k for k in range(LANES) if mask >> k & 1]
        if self.kept == "trip":
            self.trips.update((number, lane) for lane in lanes)
            return [lane + TRIP // WORD * (self.trips[number, lane] - 1) for lane in lanes]
        if number % 2:
            values = [self.values[lane] for lane in lanes]
            return None if NEVER in values else [k * (1 + v % 4) for k, v in zip(lanes, values, strict=True)]
        for lane in lanes:
            self.values[lane] = {
                "vote": len(lanes),
                "sum": self.values[lane] + number if self.values[lane] != NEVER else NEVER,
                "shuffle": SOURCE + number if SOURCE in lanes else NEVER,
            }[self.kept]
        return None


def _decide(k: _Kernel, bit: int | None) -> None:
    if bit is None:
        k.put("LDG R8", ir.Op("load", (DATA,), (PLACE,), 32, (32,), space="global"))
        source, bit = DATA, 0
    else:
        source = SPECIFIED
    k.put(
        "decide",
        ir.Op("shr.u", (T,), (source, ir.Const(bit % 32))),
        ir.Op("and", (T,), (T, ir.Const(1))),
        ir.Op("setp.ne", (P,), (T, ir.Const(0)), 32),
    )


def _decide_by_lane(k: _Kernel, times: ir.Reg) -> None:
    k.put(
        "decide",
        ir.Op("mul", (T,), (times, ir.Const(PACE))),
        ir.Op("add", (T,), (T, PLACE)),
        ir.Op("shr.u", (T,), (T, ir.Const(2))),
        ir.Op("and", (T,), (T, ir.Const(1))),
        ir.Op("setp.ne", (P,), (T, ir.Const(0)), 32),
    )
    k.put("IADD3 R, R, 0x1, RZ", ir.Op("add", (times,), (times, ir.Const(1))))


def _claims(program: Program, alike: set[int], kept: str = "", known: Set[int] = frozenset()) -> dict[int, SiteResult]:
    function, numbers = _function(program, alike, kept, known)
    launch = Launch("program", grid=(1,), block=(LANES,), params=(None,))
    found = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90"))
    return {numbers[site.index]: site for site in found.sites}


def _records(
    program: Program, alike: set[int], chosen: random.Random, known: Set[int] = frozenset()
) -> list[tuple[int, int]]:
    groups = [1 << k for k in range(LANES)]
    bits = chosen.getrandbits(32)
    warp = _Adverse(program, groups, [chosen.getrandbits(32) for _ in groups], [LONG] * LANES)
    warp.chosen, warp.alike = chosen, {place: bool(bits >> place % 32 & 1) for place in alike}
    warp.known = Counter({(place, -1): 1 for place in known})
    try:
        return warp.run()
    except Stuck:
        return warp.records[: len(warp.records) // 2] if warp.steps else []


def checked(seed: int, manner: str) -> tuple[int, int]:
    """Compares a program's requests with the claims about them: (sites, those with one cost of several lanes)."""
    chosen = random.Random(seed)
    program = _program(seed, manner)
    alike = {place for place, step in enumerate(program) if step.kind == "decide" and chosen.random() < 0.6}
    claims = _claims(program, alike)
    for _ in range(RUNS):
        for number, mask in _records(program, alike, chosen):
            low, high = claims[number].per_request or (1, LANES)
            assert low <= mask.bit_count() <= high, (seed, manner, number, bin(mask), claims[number])
    return len(claims), sum(site.per_request == (LANES, LANES) for site in claims.values())


def checked_words(seed: int, manner: str, kept: str) -> int:
    """Compares the costs of requests with the claims: the sites reached with several lanes that have one cost."""
    chosen = random.Random(seed)
    program = _program(seed, manner)
    alike = {place for place, step in enumerate(program) if step.kind == "decide" and chosen.random() < 0.6}
    claims = _claims(program, alike, kept)
    reached = set()
    for _ in range(RUNS):
        words = Words(kept)
        for number, mask in _records(program, alike, chosen):
            stored = words.of(number, mask)
            if not stored:
                continue
            banks: dict[int, set[int]] = defaultdict(set)
            for word in stored:
                banks[word % LANES].add(word)
            low, high = claims[number].per_request or (1, LANES)
            assert low <= max(map(len, banks.values())) <= high, (seed, manner, number, bin(mask), claims[number])
            reached |= {number} if len(stored) > 1 and low == high else set()
    return len(reached)


@pytest.mark.parametrize("manner", MANNERS)
def test_lanes_that_are_together_in_different_trips_may_conflict(manner):
    """Two groups that are suspended at one instruction continue together, whichever trips of a loop they are in."""
    assert sum(checked_words(seed, manner, "trip") for seed in (13, 21, 30, 32, 38)) > 0  # not all are left open


@pytest.mark.parametrize(
    "manner, seeds", [("nested", (0, 3)), ("yielding", (0, 1, 4)), ("waiting", (2, 3, 4)), ("bare", (2, 21, 33))]
)
def test_lanes_that_are_known_at_some_branches_and_unknown_at_others(manner, seeds):
    """Among the seeds are programs in which lanes that wait at a WARPSYNC behind an unknown branch let others go."""
    exact = 0
    for seed in seeds:
        chosen, program = random.Random(seed), _program(seed, manner)
        alike, known = set(), set()
        for place, step in enumerate(program):
            which = chosen.random() if step.kind == "decide" else 1
            if which < 0.7:
                (alike if which < 0.3 else known).add(place)
        claims = _claims(program, alike, known=known)
        exact += sum(site.status == "exact" for site in claims.values())
        for _ in range(RUNS):
            for number, mask in _records(program, alike, chosen, known):
                low, high = claims[number].per_request or (1, LANES)
                assert low <= mask.bit_count() <= high, (seed, number, bin(mask), claims[number])
    assert exact > 2


@pytest.mark.parametrize("kept", ["vote", "sum", "shuffle"])
@pytest.mark.parametrize("manner", MANNERS)
def test_what_diverged_groups_kept_differs_between_lanes_that_are_together_later(manner, kept):
    assert sum(checked_words(seed, manner, kept) for seed in (2, 6, 11)) > 0


@pytest.mark.parametrize("manner", MANNERS)
def test_inferred_requests_have_the_lanes_that_a_plain_machine_has_together(manner):
    """Among the seeds are programs in which lanes let each other go at two WARPSYNCs, and continue separately."""
    found = [checked(seed, manner) for seed in (1, 3, 9, 16, 28, 35)]
    assert sum(together for _, together in found) > 5  # not all of them are left open
