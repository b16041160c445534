"""Audits measured launches under every telling and collects the verdict on each claim.

check(folder, results, jobs=2)  ->  [Checked(seed=17, build="nvcc-O0", telling="told", findings=…), …]
"""

from __future__ import annotations

import gzip
import json
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bench.adversary import claims, memory_claims, ptx_check, telling, truth
from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.hardware import machines
from ptxaudit.report.assemble import SourceLines, kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.review.compare import compare

BUDGET = 20.0  # seconds per launch and telling
CHUNK = 12  # cubins per task of a process
CHIP = 66  # blocks: with fewer, the hardware's totals are the sums over the sites


@dataclass(frozen=True)
class Checked:
    """One launch under one telling. error: a traceback if the engine failed; seconds: the time it took."""

    seed: int
    build: str
    features: tuple[str, ...]
    number: int
    launch: str
    telling: str
    findings: tuple[claims.Finding, ...]
    error: str = ""
    seconds: float = 0.0


def audit(one: truth.Truth, how: str, isa: str, space: str = "shared") -> Checked:
    """Audits one launch: its machine code, and also its PTX if `isa` is "both". space: "all": global and local memory,
    too."""
    e = one.entry
    begun = time.perf_counter()
    found: tuple[claims.Finding, ...] = ()
    error = ""
    try:
        found = tuple(_findings(one, how, isa, space))
    except Exception:
        error = traceback.format_exc(limit=-4)
    return Checked(
        e["seed"],
        e["build"],
        tuple(e["features"]),
        e["number"],
        str(one),
        how,
        found,
        error,
        time.perf_counter() - begun,
    )


def _findings(one: truth.Truth, how: str, isa: str, space: str) -> Iterator[claims.Finding]:
    e = one.entry
    launch = telling.EVERY[how](e, one.module.functions[e["kernel"]])
    function, flow = one.shared.kernel(e["kernel"], space)
    machine = machines.get(function.arch)
    evaluate = partial(
        engine.evaluate,
        function,
        flow,
        launch=launch,
        machine=machine,
        facts=telling.FACTS.get(how, Facts()),
        account=Account.for_budget(BUDGET),
    )
    result = evaluate() if launch else one.shared.without_launch(e["kernel"], evaluate, space)
    entry = kernel_entry(
        function,
        result,
        input=one.cubin.file,
        machine=machine,
        launch=launch,
        lines=SourceLines(),
        facts=code_facts(one.module, function, {}),
    )
    of_shared = [site for site in result.sites if function.site(site.index).of == "shared"]
    by_place = {function.instructions[site.index].place: site for site in of_shared}
    comparison = compare(entry, one.profile)
    comparison = replace(comparison, rows=tuple(row for row in comparison.rows if one.told(row.offset)))
    ran = dict(one.placed())
    yield from claims.findings(comparison, by_place, ran, one.elsewhere, prod(e["grid"]) < CHIP)
    if space != "shared":
        yield from memory_claims.findings([site for site in entry.memory if one.told(site.offset or 0)], ran)
    if isa == "both":
        yield from ptx_check.findings(one, how, entry, function)


def _chunk(
    folder: Path, results: Sequence[Path], cubins: Sequence[str], tellings: Sequence[str], isa: str, space: str
) -> list[Checked]:
    out = []
    for one in truth.load(folder, results, frozenset(cubins)):
        function = one.module.functions[one.entry["kernel"]]
        out += [audit(one, how, isa, space) for how in tellings if telling.applies(how, one.entry, function)]
    return out


def check(
    folder: Path,
    results: Sequence[Path],
    tellings: Sequence[str] = tuple(telling.TELLINGS),
    jobs: int = 2,
    seeds: Iterable[int] = (),
    builds: Iterable[str] = (),
    isa: str = "sass",
    space: str = "shared",
) -> Iterator[Checked]:
    """Checks all launches in files of results, several cubins at a time; only the given seeds and builds, if any."""
    cubins = cubins_of(results, set(seeds), set(builds))
    chunks = [cubins[at : at + CHUNK] for at in range(0, len(cubins), CHUNK)]
    if jobs == 1:
        for chunk in chunks:
            yield from _chunk(folder, results, chunk, tellings, isa, space)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(_chunk, *zip(*((folder, results, chunk, tellings, isa, space) for chunk in chunks))):
            yield from found


def cubins_of(results: Sequence[Path], seeds: set[int], builds: set[str]) -> list[str]:
    """The measured cubins, in order."""
    entries: list[dict[str, Any]] = [
        e for path in results for e in json.loads(gzip.decompress(path.read_bytes()))["launches"]
    ]
    return list(
        dict.fromkeys(
            e["cubin"] for e in entries if (not seeds or e["seed"] in seeds) and (not builds or e["build"] in builds)
        )
    )
