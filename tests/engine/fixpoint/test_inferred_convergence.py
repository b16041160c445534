"""Requests that inference finds where branches are not known, against a plain machine that takes every branch at random.

Programs of convergence barriers, WARPSYNCs and YIELDs (`bench.convergence`), of whose branches one part depends on
unknown data of each lane, the other on a parameter that is not specified. Every record stores to one bank from all
lanes, so that a request costs as many wavefronts as it has lanes; or a lane stores one word further in each trip than
its neighbour below, so that lanes conflict only if they are in different trips. Lanes that wait for lanes which yield
may continue without them, or not.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from convergence_programs import ADDRESS, PLACE, P, T, _instructions, _Kernel
from machine_code import STATED

from bench.convergence.model import END, Stuck, Warp
from bench.convergence.programs import Manner, Program, _Structured
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
FIRST_OF_TRIPS = 64  # register of the address of the first record
MANNERS = {
    "nested": Manner(early=0.0),
    "yielding": Manner(barriers=0.8, yields=0.2, early=0.0),
    "waiting": Manner(barriers=0.4, yields=0.1, warpsyncs=0.25, early=0.0),
    "bare": Manner(barriers=0.1, yields=0.1, warpsyncs=0.3, early=0.0),
}


class _Adverse(Warp):
    """The machine with branches that all lanes take alike (at the places `alike`), and with YIELD."""

    chosen: random.Random
    alike: dict[int, bool]

    def step(self, place: int, mask: int) -> tuple[int, int]:
        step = self.program[place] if place < len(self.program) else None
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


def _function(program: Program, alike: set[int], by_trip: bool = False) -> tuple[ir.Function, dict[int, int]]:
    """(kernel, site -> number of its record). by_trip: each record has an address that changes from trip to trip."""
    targets: dict[int, int] = {}
    for _final in (False, True):
        k, numbers = _Kernel(), {}
        k.put("S2R R0, SR_TID.X", ir.Op("mov", (PLACE,), (ir.Special("tid.x"),)))
        k.put("IMAD R4, R0, 0x80, RZ", ir.Op("mul", (ADDRESS,), (PLACE, ir.Const(ROW))))
        for step in program if by_trip else ():
            if step.kind == "record":
                place = ir.Reg(f"R{FIRST_OF_TRIPS + step.number}", 32)
                k.put("IMAD.SHL R, R0, 0x4, RZ", ir.Op("mul", (place,), (PLACE, ir.Const(WORD))))
        k.put("LDC R9", ir.Op("load", (SPECIFIED,), (ir.Const(0),), 32, (32,), space="param"))
        for place, step in enumerate(program):
            targets[place] = len(k.out)
            if step.kind == "record":
                numbers[len(k.out)] = step.number
                place = ir.Reg(f"R{FIRST_OF_TRIPS + step.number}", 32) if by_trip else ADDRESS
                store = ir.Op("store", (), (place, ir.Const(0)), 32, space="shared")
                k.put("STS [R], RZ", store, site=with_access(ir.Site("STS", place), ()))
                if by_trip:
                    k.put("IADD3 R, R, 0x7c, RZ", ir.Op("add", (place,), (place, ir.Const(TRIP))))
            elif step.kind == "decide":
                _decide(k, place if place in alike else None)
            else:
                _instructions(step, k, targets)
        targets[len(program)] = targets[-1] = len(k.out)
        k.put("EXIT", control=ir.Control("exit"))
    parameters = (ir.Parameter("n", 0, 4),)
    code = tuple(k.out)
    return ir.Function("program", "sass", "sm_90", code, shared_static=4096, parameters=parameters, **STATED), numbers


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


def _claims(program: Program, alike: set[int], by_trip: bool = False) -> dict[int, SiteResult]:
    function, numbers = _function(program, alike, by_trip)
    launch = Launch("program", grid=(1,), block=(LANES,), params=(None,))
    found = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90"))
    return {numbers[site.index]: site for site in found.sites}


def _records(program: Program, alike: set[int], chosen: random.Random) -> list[tuple[int, int]]:
    groups = [1 << k for k in range(LANES)]
    bits = chosen.getrandbits(32)
    warp = _Adverse(program, groups, [chosen.getrandbits(32) for _ in groups], [LONG] * LANES)
    warp.chosen, warp.alike = chosen, {place: bool(bits >> place % 32 & 1) for place in alike}
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


def checked_by_trip(seed: int, manner: str) -> int:
    """Compares the costs of requests whose lanes are in different trips with the claims: the sites of several trips that
    are claimed to cost one wavefront a request.
    """
    chosen = random.Random(seed)
    program = _program(seed, manner)
    alike = {place for place, step in enumerate(program) if step.kind == "decide" and chosen.random() < 0.6}
    claims = _claims(program, alike, by_trip=True)
    repeated = set()
    for _ in range(RUNS):
        trips: Counter[tuple[int, int]] = Counter()
        for number, mask in _records(program, alike, chosen):
            banks: dict[int, set[int]] = defaultdict(set)
            for lane in (k for k in range(LANES) if mask >> k & 1):
                word = lane + TRIP // WORD * trips[number, lane]
                banks[word % LANES].add(word)
                trips[number, lane] += 1
            low, high = claims[number].per_request or (1, LANES)
            assert low <= max(map(len, banks.values())) <= high, (seed, manner, number, bin(mask), claims[number])
        repeated |= {number for (number, _), count in trips.items() if count > 1}
    return sum(claims[number].per_request == (1, 1) for number in repeated)


@pytest.mark.parametrize("manner", MANNERS)
def test_lanes_that_are_together_in_different_trips_may_conflict(manner):
    """Two groups that are suspended at one instruction continue together, whichever trips of a loop they are in."""
    assert sum(checked_by_trip(seed, manner) for seed in (13, 21, 30, 32, 38)) > 0  # not all of them are left open


@pytest.mark.parametrize("manner", MANNERS)
def test_inferred_requests_have_the_lanes_that_a_plain_machine_has_together(manner):
    """Among the seeds are programs in which lanes let each other go at two WARPSYNCs, and continue separately."""
    found = [checked(seed, manner) for seed in (1, 3, 9, 16, 28, 35)]
    assert sum(together for _, together in found) > 5  # not all of them are left open
