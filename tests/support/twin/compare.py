"""Compares the engine with the interpreter, site by site."""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import Status
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir.link import link

from . import count
from .code import Imm, Mem, flatten
from .generate import BLOCKS
from .memory import junk
from .needed import names
from .run import Machine

GUESSES = (1, 2, 3)
MACHINE = machines.get("sm_90")


@dataclass
class Seen:
    """The twin's requests of one site."""

    requests: int = 0
    active: int = 0
    elsewhere: int = 0  # executions of a generic access to other memory
    elsewhere_active: int = 0  # those with an active lane
    low: int = 0
    high: int = 0
    ideal: int = 0
    each: set = field(default_factory=set)  # (low, high) of single requests
    uncounted: bool = False
    trace: int = 0  # a hash of all addresses, in order


def lifted(text: str, kernel: str | None = None):
    """(linked function, graph) of a kernel."""
    module = lift_module(parse_module(text))
    name = kernel or module.kernels()[0].name
    function = link(module, module.functions[name])
    return function, graph.build(function)


def parameter_buffer(code, values, seed: int = 0) -> bytes:
    """The raw buffer: specified numbers, and for None pointers that are multiples of 256."""
    out = bytearray()
    for k, ((_name, size, align), value) in enumerate(zip(code.parameters, values)):
        while len(out) % align:
            out.append(0)
        if value is None:
            value = (
                ((junk("pointer", seed, k) & 0x3FFFFFFF) << 8) + (1 << 40) if size == 8 else junk("value", seed, k) % 64
            )
        if isinstance(value, (bytes, bytearray)):
            out += bytes(value).ljust(size, b"\0")
        else:
            out += (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return bytes(out)


def watch(
    text: str, kernel: str, grid, block, parameters: bytes, places=None, **options
) -> tuple[dict[int, Seen], Machine]:
    """line -> Seen of every site that the twin executed. places: addresses of variables, if not the twin's own."""
    memo: dict = {}
    seen: dict[int, Seen] = defaultdict(Seen)
    machine = Machine(text, kernel, grid, block, parameters, **options)
    machine.places |= places or {}
    steps = {s.line: s for c in machine.codes.values() for s in c.steps}

    def note(request):
        s = seen[request.line]
        s.trace = hash((s.trace, request.lanes, *request.addresses.items()))
        if request.elsewhere:
            s.elsewhere += 1
            s.elsewhere_active += bool(request.lanes)
            return
        s.requests += 1
        if not request.addresses:
            return
        s.active += 1
        step = steps[request.line]
        if "matrix" in step.opcode and len(request.addresses) < 32:  # undefined if lanes are missing
            s.uncounted = True
            return
        size = step.operands[2].value if step.opcode.startswith("cp.async") else None
        key = (
            step.opcode,
            size,
            tuple(request.addresses.items()),
            tuple((request.sources or {}).items()),
            request.zeros,
        )
        if key not in memo:
            added = step.operands[-1] if step.opcode.startswith(("atom", "red")) else None
            memo[key] = count.score(
                step.opcode,
                size,
                request.addresses,
                request.sources,
                added.value if isinstance(added, Imm) else None,
                request.zeros,
            )
        low, high, ideal = memo[key]
        if low is None:
            s.uncounted = True
            return
        s.low, s.high, s.ideal = s.low + low, s.high + high, s.ideal + ideal
        s.each.add((low, high))

    machine.record = note
    machine.run()
    return seen, machine


def computed_from(codes, opcodes: set[str]) -> set[int]:
    """The lines of steps with an address that is computed, in registers, from the results of these opcodes."""
    lines: set[int] = set()
    for code in codes if opcodes else ():
        tainted: set[str] = set()
        before = -1
        while len(tainted) > before:
            before = len(tainted)
            for step in code.steps:
                if not step.operands or isinstance(step.operands[0], Mem):
                    continue
                target, *sources = map(names, step.operands)
                if step.opcode in opcodes or any(tainted & source for source in sources):
                    tainted |= target
        lines |= {s.line for s in code.steps for o in s.operands if isinstance(o, Mem) and names(o) & tainted}
    return lines


GENERIC_LOAD = re.compile(r"\bld\.(?!shared|local|global|param|const)")


@dataclass
class Figure:
    """The engine's answer for all copies of one site (a called function has one copy per call)."""

    status: Status
    reason: str
    requests: int | None
    active_requests: int | None
    wavefronts: int | None
    ideal: int | None
    bounds: tuple | None
    per_request: tuple | None
    place: int
    text: str


def figures(function, result) -> list[Figure]:
    """The engine's sites, with the copies of each PTX line added up."""
    by_line = defaultdict(list)
    for site in result.sites:
        by_line[function.instructions[site.index].place].append(site)
    out = []
    for line, sites in by_line.items():
        text = function.instructions[sites[0].index].text.strip()
        least = next((s for s in sites if s.status not in (Status.EXACT, Status.UNREACHED)), None)
        live = [s for s in sites if s.status != Status.UNREACHED]
        add = lambda values: None if any(v is None for v in values) else sum(values)
        total = lambda name: add([getattr(s, name) for s in live])
        status = least.status if least else Status.EXACT if live else Status.UNREACHED
        bounds = (
            None if any(s.bounds is None for s in live) or not live else tuple(map(sum, zip(*(s.bounds for s in live))))
        )
        per = (
            None
            if any(s.per_request is None for s in live) or not live
            else (min(s.per_request[0] for s in live), max(s.per_request[1] for s in live))
        )
        if status == Status.INVARIANT and (
            per is None or per[0] != per[1] or any(s.status not in (Status.INVARIANT, Status.UNREACHED) for s in sites)
        ):
            status = Status.BOUNDED
        out.append(
            Figure(
                status,
                least.reason if least else "",
                total("requests"),
                total("active_requests"),
                total("wavefronts"),
                total("ideal"),
                bounds,
                per,
                line,
                text,
            )
        )
    return out


@dataclass
class Verdict:
    """exact: sites with an exact answer; others: status and reason of the rest; wrong: sentences.

    unchecked: sentences about disagreements that rest on what the twin does not know.
    """

    exact: int = 0
    sites: int = 0
    others: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    unchecked: list = field(default_factory=list)
    seconds: float = 0.0  # of the engine

    def disagrees(self, found: list[tuple[int, str]], seen: dict[int, Seen], machine: Machine, again) -> None:
        """Adds (line, sentence) of each disagreement. again(guess): the twin's requests with other guesses.

        If the twin guessed, a site is unchecked whose requests change with the guesses, or whose address is computed
        from one in registers; so is every site if the twin lacks what a store has written.
        """
        of_guesses = computed_from(machine.codes.values(), machine.guessed)
        others = [again(k) for k in GUESSES] if found and machine.guessed and not machine.unwritten else []
        for line, sentence in found:
            if (
                line in of_guesses
                or machine.unwritten
                or any(seen.get(line, Seen()) != other.get(line, Seen()) for other in others)
            ):
                self.unchecked.append(f"{sentence} (the twin does not know {', '.join(sorted(machine.guessed))})")
            else:
                self.wrong.append(sentence)


def full(
    text: str,
    kernel: str,
    grid,
    block,
    params,
    dynamic: int = 0,
    seed: int = 0,
    verdict: Verdict | None = None,
    **options,
) -> Verdict:
    """With everything specified: exact answers must equal the twin's."""
    function, flow = lifted(text, kernel)
    launch = Launch(
        kernel, grid=grid, block=block, params=params, dynamic_shared=dynamic, cluster=options.get("cluster")
    )
    return launched(text, function, flow, launch, seed, verdict, **options)


def told(kernel, verdict: Verdict, **options) -> Verdict:
    """`full` of a generated kernel."""
    return full(
        kernel.text,
        kernel.name,
        kernel.grid,
        kernel.block,
        kernel.params,
        kernel.dynamic,
        kernel.seed,
        verdict,
        cluster=kernel.cluster,
        **options,
    )


def launched(
    text: str,
    function,
    flow,
    launch: Launch,
    seed: int = 0,
    verdict: Verdict | None = None,
    answer: list[Figure] | None = None,
    **options,
) -> Verdict:
    """The same for a lifted kernel; parameters that the launch does not specify are pointers.

    answer: the engine's, if already known.
    """
    verdict = verdict or Verdict()
    if answer is None:
        begin = time.perf_counter()
        answer = answered(function, flow, launch)
        verdict.seconds += time.perf_counter() - begin
    run = partial(
        watch,
        text,
        function.name,
        launch.grid,
        launch.block,
        filled(function, launch, seed),
        dynamic_shared=launch.dynamic_shared or 0,
        seed=seed,
        cluster=launch.cluster or function.cluster or (1, 1, 1),
        **{k: v for k, v in options.items() if k != "cluster"},
    )
    seen, machine = run()
    wrong: list[tuple[int, str]] = []
    unscored = {
        i.place for i in function.instructions if i.site is not None and i.site.unscored
    }  # the twin does not score them
    for site in answer:
        s = seen.get(site.place, Seen())
        verdict.sites += 1
        where = f"{function.name} seed {seed} line {site.place} {site.text}: "
        if site.place in unscored:
            verdict.others.append((site.status.value, site.reason))
            continue
        if site.status == Status.UNREACHED:
            verdict.exact += 1
            if s.requests or s.elsewhere:
                wrong.append((site.place, where + f"unreached, but {s.requests + s.elsewhere} requests"))
            continue
        if site.status == Status.EXACT:
            verdict.exact += 1
            may_merge = launch.cluster is not None and GENERIC_LOAD.search(
                site.text
            )  # in clusters, which the twin's rule ignores
            ideal = min(s.ideal, site.ideal) if may_merge else s.ideal
            mine = (s.requests + s.elsewhere, s.active + s.elsewhere_active, s.low, s.high, ideal)
            theirs = (site.requests, site.active_requests, site.wavefronts, site.wavefronts, site.ideal)
            if mine != theirs and not s.uncounted:
                wrong.append((site.place, where + f"engine {theirs}, twin {mine}"))
            continue
        verdict.others.append((site.status.value, site.reason))
        issued = s.requests + s.elsewhere, s.active + s.elsewhere_active
        if any(mine not in (None, theirs) for mine, theirs in zip((site.requests, site.active_requests), issued)):
            claimed = site.requests, site.active_requests
            wrong.append((site.place, where + f"{site.status.value}: engine's requests {claimed}, twin's {issued}"))
        wrong += [(site.place, where + w) for w in ranges(site, s)]
    verdict.disagrees(wrong, seen, machine, lambda guess: run(guess=guess)[0])
    return verdict


def filled(function, launch: Launch, seed: int) -> bytes:
    """The parameter buffer with a pointer, a multiple of 256, for every parameter that the launch does not specify."""
    given, known = launch.buffer(function)
    out = bytearray(given)
    for k, p in enumerate(function.parameters):
        if not any(known[p.offset : p.offset + p.size]):
            value = (
                ((junk("pointer", seed, k) & 0x3FFFFFFF) << 8) + (1 << 40)
                if p.size == 8
                else junk("value", seed, k) % 64
            )
            out[p.offset : p.offset + p.size] = value.to_bytes(max(p.size, 8), "little")[: p.size]
    return bytes(out)


def ranges(site, s: Seen) -> list[str]:
    """Where an answer that is not exact excludes what the twin observed."""
    out = []
    if s.uncounted:
        return out
    if (
        site.bounds is not None
        and site.requests is not None
        and not (site.bounds[0] <= s.low and s.high <= site.bounds[1])
    ):
        out.append(f"{site.status.value}: bounds {site.bounds}, twin {s.low, s.high} ({site.reason})")
    if site.per_request is not None and s.each:
        low, high = min(e[0] for e in s.each), max(e[1] for e in s.each)
        if not (site.per_request[0] <= low and high <= site.per_request[1]):
            out.append(f"{site.status.value}: per request {site.per_request}, twin {low, high} ({site.reason})")
    return out


def answered(function, flow, launch: Launch | None, facts: Facts = Facts()) -> list[Figure]:
    """The engine's answers for a lifted kernel."""
    return figures(function, engine.evaluate(function, flow, launch=launch, machine=MACHINE, facts=facts))


def partly(
    text: str,
    kernel: str,
    grid,
    block,
    params,
    told,
    dynamic: int = 0,
    seed: int = 0,
    runs: int = 3,
    facts: Facts = Facts(),
    with_launch: bool = True,
    rng=None,
    verdict: Verdict | None = None,
    answer: list[Figure] | None = None,
    blocks: Sequence[tuple[int, int, int]] = (),
    **options,
) -> Verdict:
    """With parameters or the launch not specified: ranges must contain the results for values of the unknowns.

    answer: the engine's, if already known. blocks: those of further runs, if no block is specified.
    """
    verdict = verdict or Verdict()
    if answer is None:
        specified = [p if t else None for p, t in zip(params, told)]
        cluster = options.get("cluster")
        launch = Launch(kernel, grid=grid, block=block, params=specified, dynamic_shared=dynamic, cluster=cluster)
        function, flow = lifted(text, kernel)
        begin = time.perf_counter()
        answer = answered(function, flow, launch if with_launch else None, facts)
        verdict.seconds += time.perf_counter() - begin
    codes, _ = flatten(text)
    for run in range(runs):
        values = [
            p
            if t or run == 0 or p is None
            else rng.randbytes(len(p))
            if isinstance(p, bytes)
            else rng.choice([rng.randrange(64), rng.randrange(1 << 32), 32, 33])
            for p, t in zip(params, told)
        ]
        cluster = options.get("cluster") or (1, 1, 1)
        its_grid = grid if with_launch or run == 0 else tuple(rng.randrange(1, 3) * c for c in cluster)
        its_block = rng.choice(blocks) if blocks and run else block
        one = partial(
            watch,
            text,
            kernel,
            its_grid,
            its_block,
            parameter_buffer(codes[kernel], values, seed + run),
            dynamic_shared=dynamic,
            seed=seed + run,
            **options | {"cluster": cluster},
        )
        seen, machine = one()
        wrong: list[tuple[int, str]] = []
        for site in answer:
            s = seen.get(site.place, Seen())
            where = f"seed {seed} line {site.place} {site.text} with {values}, grid {its_grid}, block {its_block}: "
            if run == 0:
                verdict.sites += 1
                verdict.exact += site.status in (Status.EXACT, Status.INVARIANT, Status.UNREACHED)
                if site.status not in (Status.EXACT, Status.INVARIANT, Status.UNREACHED):
                    verdict.others.append((site.status.value, site.reason))
            if site.status == Status.UNREACHED and (s.requests or s.elsewhere):
                wrong.append((site.place, where + f"unreached, but {s.requests + s.elsewhere} requests"))
            elif s.uncounted:
                continue
            elif site.status == Status.EXACT:
                mine = (s.requests + s.elsewhere, s.active + s.elsewhere_active, s.low, s.high, s.ideal)
                theirs = (site.requests, site.active_requests, site.wavefronts, site.wavefronts, site.ideal)
                if mine != theirs:
                    wrong.append((site.place, where + f"exact: engine {theirs}, twin {mine}"))
            elif site.status == Status.INVARIANT and s.each and s.each != {site.per_request}:
                wrong.append((site.place, where + f"invariant {site.per_request}, twin {s.each}"))
            else:
                wrong += [(site.place, where + w) for w in ranges(site, s)]
        verdict.disagrees(wrong, seen, machine, lambda guess, one=one: one(guess=guess)[0])
    return verdict


def not_told(seed: int, kernel, verdict: Verdict, runs: int = 3, **options) -> Verdict:
    """`partly`, with a choice by the seed of what is not specified.

    Either the launch, with or without its block, or parameters.
    """
    rng = random.Random(seed)
    mode = rng.randrange(4)
    told = [mode == 1 and p is not None and rng.random() < 0.5 for p in kernel.params]
    facts = Facts(block=kernel.block) if mode == 0 else Facts()
    blocks = BLOCKS if mode == 3 and ".reqntid" not in kernel.text else ()
    return partly(
        kernel.text,
        kernel.name,
        kernel.grid,
        kernel.block,
        kernel.params,
        told,
        kernel.dynamic,
        seed,
        runs,
        facts,
        mode not in (0, 3),
        rng,
        verdict,
        blocks=blocks,
        cluster=kernel.cluster,
        **options,
    )
