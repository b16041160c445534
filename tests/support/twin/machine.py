"""The engine on machine code, compared with the twin on the PTX that it was compiled from.

The PTX is changed for ptxas: volatile accesses, which it neither merges nor removes, stores in place of loads
(`instrument.stored`), and one shared array in place of all, which begins at the end of the window's reserved part.
Each site of the machine code belongs to a line of the PTX.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.answer.result import Status
from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.artifacts.lines import ptx_lines
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.ir import graph
from ptxaudit.ir.link import link

from . import compare, instrument
from .code import flatten
from .run import Machine, TooLong

ALL = "s_all"
RESERVED = 1024
WINDOW = 0xFFFFFF
ARCH = "sm_90"


def variant(kernel) -> str:
    """The kernel with volatile accesses to one array."""
    places, at = {}, 0
    for name, size in instrument.shared_variables(kernel.text):
        places[name] = at
        at += size or kernel.dynamic
    out = []
    of_table = instrument.table_sites(kernel.text)
    for number, line in enumerate(kernel.text.splitlines(), 1):
        access = instrument.match(line)
        if instrument.SHARED_VARIABLE.search(line):
            continue
        found = re.match(r"(\tmov\.u32 %\w+, )(s_\w+);", line)
        if found:
            register = found[1].split()[-1].rstrip(",")
            line = f"{found[1]}{ALL};\n\tadd.u32 {register}, {register}, {places[found[2]]};"
        elif access and access["op"].startswith("ld.") and number not in of_table:
            zeros, text = instrument.stored(access["op"], access["rest"])
            out += zeros
            line = f"\t{access['guard'] or ''}{text.replace('.shared', '.volatile.shared', 1)};"
        else:
            line = re.sub(r"\b(ld|st)\.shared\.", r"\1.volatile.shared.", line)
        out.append(line)
    out.insert(
        next(k for k, line in enumerate(out) if line.startswith(".address_size")) + 1,
        f".shared .align 16 .b8 {ALL}[{max(at, 16)}];",
    )
    return "\n".join(out) + "\n"


def runs(kernel, most_steps: int = 12_000) -> list[list]:
    """The requests of two runs of the twin that differ in unwritten memory and registers. Raises TooLong."""
    buffer = compare.parameter_buffer(flatten(kernel.text)[0]["k"], kernel.params, kernel.seed)
    out, places = [], None
    for seed in (kernel.seed, kernel.seed + 1):
        machine = Machine(
            kernel.text,
            "k",
            kernel.grid,
            kernel.block,
            buffer,
            dynamic_shared=kernel.dynamic,
            seed=seed,
            most_steps=most_steps,
            cluster=kernel.cluster or (1, 1, 1),
        )
        places = machine.places = places or machine.places
        out.append(
            [(r.block, r.warp, r.line, tuple(r.addresses.items()), r.lanes) for r in machine.run() if not r.elsewhere]
        )
    return out


def settled(kernel) -> list | None:
    """The twin's requests, or None if they depend on unwritten memory or registers.

    Also None if generic addresses leave the window.
    """
    try:
        first, second = runs(kernel)
    except TooLong:
        return None
    generic = {
        number
        for number, found in instrument.sites(kernel.text)
        if instrument.PLACE.search(found["rest"])["base"].startswith("%rd")
    }
    size = sum(n or kernel.dynamic for _, n in instrument.shared_variables(kernel.text))
    outside = any(
        line in generic and any(not RESERVED <= a <= size for _, a in addresses) for _, _, line, addresses, _ in first
    )
    return first if first == second and not outside else None


@dataclass
class Seen:
    """One PTX line: its requests with an active lane.

    patterns: (lane, bytes above the first lane's address) of each request, since the engine knows addresses up to a
    shift of the whole warp.
    """

    active: int = 0
    wavefronts: int | None = 0
    patterns: Counter = field(default_factory=Counter)
    complete: bool = True  # the pattern of every request is known
    why: str = ""

    def note(self, addresses: dict[int, int], times: int = 1) -> None:
        first = addresses[min(addresses)]
        self.patterns[tuple((lane, a - first & WINDOW) for lane, a in sorted(addresses.items()))] += times

    def lanes(self) -> Counter:
        """How often each set of lanes acted together."""
        out: Counter = Counter()
        for pattern, times in self.patterns.items():
            out[tuple(lane for lane, _ in pattern)] += times
        return out


def twin_side(kernel, text: str) -> dict[int, Seen]:
    buffer = compare.parameter_buffer(flatten(text)[0]["k"], kernel.params, kernel.seed)
    counted, machine = compare.watch(
        text,
        "k",
        kernel.grid,
        kernel.block,
        buffer,
        seed=kernel.seed,
        cluster=kernel.cluster or (1, 1, 1),
        places={("shared", ALL): RESERVED},
    )
    machine = Machine(
        text, "k", kernel.grid, kernel.block, buffer, seed=kernel.seed, cluster=kernel.cluster or (1, 1, 1)
    )
    machine.places["shared", ALL] = RESERVED
    out: dict[int, Seen] = {
        line: Seen(s.active, None if s.uncounted or s.low != s.high else s.low) for line, s in counted.items()
    }
    for r in machine.run():
        if r.addresses:
            out[r.line].note(r.addresses)
    return out


def assembled(kernels) -> list[tuple]:
    """(kernel, text, cubin, function, engine's result, addresses by record) of each, disassembled together."""
    texts = [variant(k) for k in kernels]
    cubins = [read_cubin(assemble(t, ARCH).cubin, f"{k.seed}.cubin") for k, t in zip(kernels, texts)]
    return list(zip(kernels, texts, cubins, (lift_module(c, code) for c, code in zip(cubins, disassemble(cubins)))))


def engine_side(kernel, cubin, module) -> dict[int, Seen]:
    """The engine's answers for the machine code, by PTX line."""
    function = link(module, module.functions["k"])
    buffer = compare.parameter_buffer(flatten(kernel.text)[0]["k"], kernel.params, kernel.seed)
    launch = Launch("k", grid=kernel.grid, block=kernel.block, param_bytes=buffer, cluster=kernel.cluster)
    record_of: dict[int, SiteRecord] = {}
    taken: dict[int, list] = defaultdict(list)
    add, access = SiteRecord.add, Accesses.access

    def note(self, addresses, active, weights, *more, **rounds):
        if not rounds:  # a loop in closed form yields one round's addresses for all
            taken[id(self)].append((addresses.copy(), active.copy(), weights.copy()))
        return add(self, addresses, active, weights, *more, **rounds)

    def watch(self, instruction, site, cohort, view):
        record_of[instruction.index] = self.run.records[instruction.index]
        return access(self, instruction, site, cohort, view)

    SiteRecord.add, Accesses.access = note, watch
    try:
        result = engine.evaluate(function, graph.build(function), launch=launch, machine=compare.MACHINE)
    finally:
        SiteRecord.add, Accesses.access = add, access
    table = ptx_lines(cubin)
    out: dict[int, Seen] = defaultdict(Seen)
    for site in result.sites:
        instruction = function.instructions[site.index]
        source = table.at("k", instruction.place)
        if source is None or site.status == Status.UNREACHED:
            continue
        seen = out[source.line]
        if site.status != Status.EXACT:
            seen.wavefronts, seen.complete, seen.why = None, False, f"{site.status.value}: {site.reason}"
            continue
        seen.active += site.active_requests
        if seen.wavefronts is not None:
            seen.wavefronts += site.wavefronts
        count = 0
        record = record_of.get(site.index)  # None: a copy, which is counted with its original
        for addresses, active, weights in taken[id(record)] if record else ():
            for row, mask, weight in zip(addresses.tolist(), active.tolist(), weights.tolist()):
                if any(mask):
                    count += weight
                    seen.note({lane: a for lane, (a, acts) in enumerate(zip(row, mask)) if acts}, weight)
        seen.complete &= count == site.active_requests
    return out


# ptxas lets one lane act for all where an atomic's address is uniform, and moves loads past an exit of lanes that do
# not need them.
SKIPPED = ("atom", "red", "ld")


def compared(kernels) -> compare.Verdict:
    """Requests must have the same patterns and wavefronts, unless ptxas reconverges lanes differently than
    post-dominators.
    """
    verdict = compare.Verdict()
    for kernel, text, cubin, module in assembled(kernels):
        lines = text.splitlines()
        operation = lambda line: lines[line - 1].split()[1 if lines[line - 1].startswith("\t@") else 0]
        twin, engine = twin_side(kernel, text), engine_side(kernel, cubin, module)
        for line, seen in sorted(engine.items()):
            mine = twin.get(line, Seen())
            verdict.sites += 1
            if seen.why:
                verdict.others.append(("", seen.why))
                continue
            verdict.exact += 1
            if operation(line).startswith(SKIPPED):
                continue
            where = f"seed {kernel.seed} line {line} {lines[line - 1].strip()}: "
            if seen.active != mine.active or seen.complete and seen.lanes() != mine.lanes():
                verdict.others.append(
                    (
                        "together",
                        where + f"active requests of the machine code {seen.active}, of the twin {mine.active}",
                    )
                )
            elif mine.wavefronts is not None and seen.wavefronts != mine.wavefronts:
                verdict.wrong.append(
                    where + f"wavefronts of the machine code {seen.wavefronts}, of the twin {mine.wavefronts}"
                )
            elif seen.complete and seen.patterns != mine.patterns:
                verdict.wrong.append(
                    where + f"patterns of the machine code {list((seen.patterns - mine.patterns).items())[:1]}, "
                    f"of the twin {list((mine.patterns - seen.patterns).items())[:1]}"
                )
        for line, mine in sorted(twin.items()):
            if (
                mine.active
                and line not in engine
                and not operation(line).startswith(SKIPPED)
                and ".volatile" in lines[line - 1]
            ):
                verdict.wrong.append(
                    f"seed {kernel.seed} line {line} {lines[line - 1].strip()}: no site of the machine code"
                )
    return verdict
