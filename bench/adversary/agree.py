"""Compares claims with each other, without a GPU: an answer must not depend on the amount specified or on the ISA.

    python -m bench.adversary agree 0:500              generated kernels
    python -m bench.adversary agree 0:500 --arch sm_75 --arch sm_120      … for other architectures, by sm_90's rules
    python -m bench.adversary agree --plan FOLDER      the launches of a plan, as `plan` or `by_hand` makes them

If two claims contradict each other, one is wrong, whatever the hardware does:

    tellings   an exact figure lies in every range that is found with less specified, and equals every other exact
               figure, in shared, global and local memory
    lanes      a PTX site and its machine instruction have the same number of active lanes in total, wherever lanes
               reconverge
    addresses  … and, with the same number of requests, the same distances between the addresses of each request
"""

from __future__ import annotations

import struct
import tarfile
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.adversary import builds, plan, telling
from bench.adversary.generate import program
from ptxaudit.base.status import Status
from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx.lift import lift_module as lift_ptx
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.pipeline.memory_sites import memories, with_sites
from ptxaudit.report.assemble import SourceLines, kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.report.model import Kernel
from ptxaudit.report.pairing import BY_MAP, pair, ptx_map, side

BUDGET = 20.0
FIRST_BUFFER, BUFFER_STEP = 0x7F0000000000, 1 << 16  # where buffers are assumed to be, as in the harness
TELLINGS = ("told", "placed", "bytes", "shape", "block", "nothing")


@dataclass(frozen=True)
class Clash:
    """Two claims that contradict each other. where: the launch; what: the site; first, second: the claims in words."""

    where: str
    what: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.where}\n    {self.what}\n    {self.first}\n    {self.second}"


@dataclass(frozen=True)
class Audited:
    """One kernel under one telling: the report's entry, and the engine's results.

    sites: by instruction of the function, as several may have one place: accesses on one line of PTX, and the copies
    of a routine. by_id: the same by the id of the report's site.
    """

    function: ir.Function
    flow: graph.Graph
    entry: Kernel
    sites: Mapping[int, SiteResult]
    by_id: Mapping[int, SiteResult]


def check(seed: int, build: str, arch: str = "", tellings: Sequence[str] = TELLINGS) -> tuple[list[Clash], int]:
    """(the clashes in one build of a seed, the number of sites examined)."""
    made = program(seed)
    try:
        built = builds.compile_build(made, build, arch)
    except builds.NotBuilt as error:
        return [Clash(f"seed {seed} {build} {arch}", "not compiled", str(error)[:300], "")], 0
    launches = list(plan.entries(made, build, len(made.shapes)))
    return among(built.cubin, built.ptx, launches, tellings)


def among(
    data: bytes, ptx_text: str, launches: Sequence[dict[str, Any]], tellings: Sequence[str] = TELLINGS
) -> tuple[list[Clash], int]:
    """`check` of a cubin and its PTX ("": none), for launches as in a plan, of one kernel."""
    name, build, features = (launches[0][key] for key in ("kernel", "build", "features"))
    cubin = read_cubin(data, f"{name}.{build}")
    module = lift_module(cubin, disassemble([cubin])[0])
    ptx = lift_ptx(parse_module(ptx_text, name)) if ptx_text else None
    out: list[Clash] = []
    count = 0
    for number, launch in enumerate(launches):
        launch["addresses"] = {
            p["name"]: FIRST_BUFFER + BUFFER_STEP * list(launch["buffers"]).index(p["value"])
            for p in launch["parameters"]
            if p["kind"] == "buffer"
        }
        launch["param_bytes"] = _bytes(launch)
        where = (
            f"seed {launch['seed']} {build} launch {number} {' '.join(features)}, grid {launch['grid']} block "
            f"{launch['block']}"
        )
        try:
            kernel = module.functions[name]
            under = {
                how: audited(module, name, launch, how) for how in tellings if telling.applies(how, launch, kernel)
            }
            out += among_tellings(where, under)
            count += len(under[tellings[0]].sites)
            if ptx is not None:
                out += between_sets(where, audited(ptx, name, launch, tellings[0]), under[tellings[0]], ptx_map(cubin))
        except Exception:
            out.append(Clash(where, "the engine failed", traceback.format_exc(limit=-3), ""))
    return out, count


def _bytes(launch: Mapping[str, Any]) -> str:
    """The parameter buffer: every parameter at a multiple of its size, structures at multiples of 4."""
    data = bytearray()
    for p in launch["parameters"]:
        size, value = p["size"], p["value"]
        data += bytes(-len(data) % min(size, 8 if p["kind"] != "bytes" else 4))
        base = (
            FIRST_BUFFER + BUFFER_STEP * list(launch["buffers"]).index(value)
            if p["kind"] in ("buffer", "low", "high")
            else 0
        )
        number = {"buffer": base, "low": base & 0xFFFFFFFF, "high": base >> 32}.get(p["kind"], value)
        if p["kind"] == "bytes":
            data += bytes.fromhex(number)
        elif isinstance(number, float):
            data += struct.pack("<f" if size == 4 else "<d", number)
        else:
            data += (number % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(data).hex()


def audited(module: ir.Module, name: str, launch: Mapping[str, Any], how: str) -> Audited:
    return audited_under(module, name, telling.TELLINGS[how](launch, module.functions[name]), BUDGET)


def audited_under(module: ir.Module, name: str, launch: Launch | None, budget: float) -> Audited:
    """The kernel with this much specified, by the rules of sm_90."""
    kernel = module.functions[name]
    function = with_sites(link(module, kernel), memories("all"))
    flow = graph.build(function)
    machine = machines.get("sm_90")
    result = engine.evaluate(function, flow, launch=launch, machine=machine, account=Account.for_budget(budget))
    entry = kernel_entry(
        function,
        result,
        input=name,
        machine=machine,
        launch=launch,
        lines=SourceLines(),
        facts=code_facts(module, function, {}),
    )
    shared = [site for site in result.sites if function.site(site.index).of == "shared"]
    by_id = {listed.id: site for listed, site in zip(entry.sites, shared, strict=True)}
    return Audited(function, flow, entry, {site.index: site for site in result.sites}, by_id)


# --- the same code, with more and with less specified -------------------------------------------


def among_tellings(where: str, under: Mapping[str, Audited]) -> Iterator[Clash]:
    names = list(under)
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            for index, one in under[first].sites.items():
                other = under[second].sites.get(index)
                function = under[first].function
                instruction, of = function.instructions[index], function.site(index).of
                why = excluded(one, other) or excluded(other, one) if other is not None else "it is not listed"
                if why:
                    yield Clash(
                        where,
                        f"+{instruction.place:#x} {instruction.text} ({of}): {why}",
                        f"{first}: {words(one)}",
                        f"{second}: {words(other) if other else 'no site'}",
                    )


def excluded(exact: SiteResult, other: SiteResult) -> str:
    """Why an exact claim and another one contradict each other; "" if they do not, or if the first is not exact."""
    if exact.status is Status.UNREACHED:
        return "reached or not" if other.status is Status.EXACT and other.active_requests else ""
    if exact.status is not Status.EXACT or not exact.active_requests:
        return ""
    if other.status is Status.UNREACHED:
        return "reached or not"
    for name in ("requests", "active_requests", "wavefronts", "ideal", "ways"):
        mine, theirs = getattr(exact, name), getattr(other, name)
        if (
            theirs is not None
            and mine is not None
            and (other.status is Status.EXACT or name == "requests")
            and mine != theirs
        ):
            return name
    if (
        other.bounds is not None
        and exact.wavefronts is not None
        and not other.bounds[0] <= exact.wavefronts <= other.bounds[1]
    ):
        return "bounds"
    costs = [p.low for p in exact.patterns if p.low == p.high]
    spans = [(c.low, c.high) for c in other.conditions] or (
        [other.per_request] if other.per_request is not None else []
    )
    if costs and spans and exact.wavefronts is not None:
        low, high = min(s[0] for s in spans), max(s[1] for s in spans)
        if min(costs) < low or max(costs) > high:
            return f"a request costs {min(costs)} to {max(costs)}"
    return ""


def words(site: SiteResult) -> str:
    parts = [
        str(site.status),
        f"requests {site.requests}",
        f"active {site.active_requests}",
        f"wavefronts {site.wavefronts}",
        f"bounds {site.bounds}",
        f"a request {site.per_request}",
        *(f"[{c.when}: {c.low}..{c.high}]" for c in site.conditions[:4]),
        site.formula[:100],
        str(site.reason or "")[:160],
    ]
    return ", ".join(part for part in parts if part)


# --- PTX and machine code -----------------------------------------------------------------------


def between_sets(where: str, ptx: Audited, sass: Audited, known: Any) -> Iterator[Clash]:
    pairs = pair(
        ptx.function.name,
        side(ptx.function, ptx.flow, ptx.entry, None),
        side(sass.function, sass.flow, sass.entry, known),
    )
    ours, theirs = {s.id: s for s in ptx.entry.sites}, {s.id: s for s in sass.entry.sites}
    for one in pairs:
        if one.what != "kept" or one.by != BY_MAP or one.hoisted or len(one.ptx) != 1 or len(one.sass) != 1:
            continue
        here, there = ours[one.ptx[0]], theirs[one.sass[0]]
        if (here.width, here.access) != (there.width, there.access):
            continue
        first, second = ptx.by_id[here.id], sass.by_id[there.id]
        a, b = traffic(first), traffic(second)
        if a is None or b is None or a == b:
            continue
        here_lanes, there_lanes = (sum(len(shape) * times for shape, times in x.items()) for x in (a, b))
        if here_lanes != there_lanes or a.total() == b.total():  # with equal requests, lanes reconverged alike
            yield Clash(
                where,
                f"{'lanes' if here_lanes != there_lanes else 'addresses'}: line {here.ptx_line} {here.text} -> "
                f"+{there.offset:#x} {there.text}",
                f"PTX: {here_lanes} lanes, {words(first)}",
                f"machine code: {there_lanes} lanes, {words(second)}",
            )


def traffic(site: SiteResult) -> Counter[tuple[int, ...]] | None:
    """How often each set of addresses (relative to the lowest) is accessed together; None if any are unknown."""
    if site.status is Status.UNREACHED:
        return Counter()
    if (
        site.status is not Status.EXACT
        or not site.active_requests
        or sum(p.count for p in site.patterns) != site.active_requests
    ):
        return None
    out: Counter[tuple[int, ...]] = Counter()
    for p in site.patterns:
        addresses = np.sort(np.asarray(p.addresses)[p.active])
        out[tuple((addresses - addresses[0]).tolist())] += p.count
    return out


# --- many seeds ---------------------------------------------------------------------------------


def run(
    seeds: Iterable[int], count: int, jobs: int, only: Sequence[str] = (), archs: Sequence[str] = ()
) -> Iterator[tuple[list[Clash], int]]:
    """Checks `count` builds of every seed, in rotation, for each of these architectures."""
    work = [
        (seed, build, arch)
        for seed in seeds
        for build in (only or plan.builds_of(seed, count))
        for arch in archs or ("",)
    ]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_one, work, chunksize=2)


def _one(work: tuple[int, str, str]) -> tuple[list[Clash], int]:
    return check(*work)


def run_plan(
    folder: Path, jobs: int, seeds: Iterable[int] = (), only: Sequence[str] = ()
) -> Iterator[tuple[list[Clash], int]]:
    """Checks the cubins of a plan, or those of these seeds and builds."""
    wanted = set(seeds)
    launches: dict[str, list[dict[str, Any]]] = {}
    for entry in plan.read(folder):
        if (not wanted or entry["seed"] in wanted) and (not only or entry["build"] in only):
            launches.setdefault(entry["cubin"], []).append(entry)
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(_planned, folder), launches, launches.values(), chunksize=2)


def _planned(folder: Path, cubin: str, launches: Sequence[dict[str, Any]]) -> tuple[list[Clash], int]:
    data, text = (_member(folder / plan.CUBINS, cubin), _member(folder / plan.PTX, cubin.replace(".cubin", ".ptx")))
    return among(data, text.decode(), launches)


def _member(archive: Path, name: str) -> bytes:
    """The contents of a file in an archive; nothing if there is none."""
    if not archive.exists():
        return b""
    with tarfile.open(archive) as files:
        try:
            found = files.extractfile(name)
        except KeyError:
            found = None
        return found.read() if found else b""
