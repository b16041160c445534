"""Leaves statements out of a kernel while the claim about one of its sites stays the same.

Without a GPU the reduced claim cannot be checked, since the counts are those of the whole kernel. The smallest kernel
with the same claim is printed. With `--plan` all intermediate kernels become a plan: once measured, `compare` shows
which of their claims are wrong too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.adversary import builds, plan, telling, truth
from bench.adversary.claims import claim_of
from bench.adversary.generate import program
from bench.adversary.program import Program, variants
from ptxaudit.engine import evaluate as engine
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir.link import link
from ptxaudit.report.assemble import SourceLines, kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.report.model import Kernel

BUDGET = 20.0
MOST = 400  # kernels that are tried


def reduce(
    folder: Path, results: Sequence[Path], seed: int, build: str, number: int, place: int, how: str, chain: Path | None
) -> None:
    """Prints the smallest kernel found, the claim, and the counts of the whole kernel. Raises SystemExit."""
    whole = next(
        (
            one
            for one in truth.load(folder, results, frozenset((f"k{seed}.{build}.cubin",)))
            if one.entry["number"] == number
        ),
        None,
    )
    if whole is None:
        raise SystemExit(f"no launch {number} of seed {seed}, {build}, in these results")
    now = program(seed)
    if list(now.features) != list(whole.entry["features"]):  # planned with --feature
        now = program(seed, tuple(whole.entry["features"]))
    claims = _claims(now, build, whole.entry, how)
    site = next((key for at, key in claims if at == place), None)
    if site is None:
        raise SystemExit(f"no site at {place:#x}: " + ", ".join(f"{at:#x}" for at, _ in claims))
    steps, tried, going = [now], 0, True
    while going and tried < MOST:
        going = False
        for smaller in variants(now):
            tried += 1
            if any(key == site for _, key in _claims(smaller, build, whole.entry, how)):
                now, going = smaller, True
                steps.append(now)
                break
            if tried >= MOST:
                break
    print(now.source())
    ran = next(
        (
            f"{one.warps} requests, {one.wavefronts} wavefronts, {one.threads} lanes"
            for at, one in whole.placed()
            if at == place
        ),
        "it did not run",
    )
    print(f"// {site[0]}\n// claimed: {site[1]}\n// counted in the whole kernel: {ran}")
    if chain:
        _write(chain, steps, build)


def _claims(made: Program, build: str, entry: Any, how: str) -> list[tuple[int, tuple[str, str]]]:
    """(place, (text of the source line, claim)) of every site; empty if the kernel does not compile."""
    try:
        built = builds.compile_build(made, build)
    except builds.NotBuilt:
        return []
    text = made.source().splitlines()
    kernel = _audited(built.cubin, made, entry, how)
    line = lambda site: text[site.source.line - 1].strip() if site.source and site.source.line <= len(text) else ""
    return [(site.offset or 0, (line(site), claim_of(site))) for site in kernel.sites]


def _audited(data: bytes, made: Program, entry: Any, how: str) -> Kernel:
    cubin = read_cubin(data, made.name)
    module = lift_module(cubin, disassemble([cubin])[0])
    kernel = module.functions[made.name]
    launch = telling.TELLINGS[how](entry, kernel)
    function = link(module, kernel)
    machine = machines.get(function.arch)
    result = engine.evaluate(function, graph.build(function), launch=launch, machine=machine, budget=BUDGET)
    return kernel_entry(
        function,
        result,
        input=made.name,
        machine=machine,
        launch=launch,
        lines=SourceLines(),
        facts=code_facts(module, function, {}),
    )


def _write(folder: Path, steps: Sequence[Program], build: str) -> None:
    """Writes a plan of all steps, each a kernel with the number of the step in its name."""
    named = [
        replace(
            step,
            name=f"{step.name}s{at}",
            kernel=replace(step.kernel, head=step.kernel.head.replace(step.name, f"{step.name}s{at}")),
        )
        for at, step in enumerate(steps)
    ]
    plan.write(folder, ((step, builds.compile_build(step, build)) for step in named), len(steps[0].shapes))
