"""The kernels measured on a GPU: their cubins, launches and counts under tests/data.

    for launch in load("samples_sm90"): comparison = launch.compare()

Each folder there has `cubins.tar.xz` and `launches.json.gz`; its README documents their origin.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from paths import DATA, ROOT

from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.frontend.artifacts.cubin import Cubin, read_cubin
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.report.assemble import SourceLines, kernel_entry
from ptxaudit.report.code_facts import code_facts
from ptxaudit.report.model import Kernel
from ptxaudit.review.compare import Comparison, Counted, Profile, Verdict, compare

SETS = ("kernels_sm90", "samples_sm90", "idioms_sm90")
BUDGET = 20.0  # seconds per launch, in steps; the slowest takes 2


class Lifted:
    """A cubin, lifted on first use."""

    def __init__(self, cubin: Cubin, code: dict[str, Any]) -> None:
        self._cubin, self._code = cubin, code

    @cached_property
    def module(self) -> ir.Module:
        return lift_module(self._cubin, self._code)


@dataclass(frozen=True)
class Measured:
    """One launch: the kernel, what was specified, and the counts."""

    set: str
    at: int  # position in the set
    lifted: Lifted
    launch: Launch
    profile: Profile

    @property
    def module(self) -> ir.Module:
        return self.lifted.module

    def __str__(self) -> str:
        return f"{self.set}[{self.at}] {self.launch.kernel}"

    def entry(self) -> Kernel:
        """The report's entry, as `ptxaudit audit` makes it."""
        function = link(self.module, self.module.functions[self.launch.kernel])
        machine = machines.get(function.arch)
        result = engine.evaluate(
            function, graph.build(function), launch=self.launch, machine=machine, account=Account.for_budget(BUDGET)
        )
        return kernel_entry(
            function,
            result,
            input=self.set,
            machine=machine,
            launch=self.launch,
            lines=SourceLines(),
            facts=code_facts(self.module, function, {}),
        )

    def compare(self) -> Comparison:
        return compare(self.entry(), self.profile)


@lru_cache
def measuring() -> ModuleType:
    """bench/measure_kernels.py, which filled the buffers of the measured launches."""
    spec = importlib.util.spec_from_file_location("measure_kernels", ROOT / "bench" / "measure_kernels.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_data(launch: Measured) -> Measured:
    """The same launch with the contents of its buffers, from the launch.toml and data.toml of its folder."""
    script = measuring()
    entries = document(launch.set)["launches"]
    entry = entries[launch.at]
    folder = next(folder for folder in script.samples() if folder.name == entry["workload"])
    tables = [
        table
        for table in script.read_toml(folder / "launch.toml")["launch"]
        if fnmatchcase(entry["kernel"], table["kernel"])
    ]
    before = [
        other
        for other in entries[: launch.at]
        if (other["cubin"], other["kernel"]) == (entry["cubin"], entry["kernel"])
    ]
    params = list(tables[len(before)].get("params", []))
    for at, value in enumerate(params):
        if value == "?":
            filled = [b for b in script.buffers(folder) if b.param == at and fnmatchcase(entry["kernel"], b.kernel)]
            params[at] = filled[0].data() if filled else zeros()
    return replace(launch, launch=replace(launch.launch, params=params, param_bytes=None))


@lru_cache
def zeros() -> np.ndarray:
    return np.zeros(measuring().BUFFER_BYTES, np.uint8)


@lru_cache
def document(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress((DATA / name / "launches.json.gz").read_bytes()))


@lru_cache
def cubins(name: str) -> dict[str, bytes]:
    with tarfile.open(DATA / name / "cubins.tar.xz") as archive:
        return {Path(member.name).name: archive.extractfile(member).read() for member in archive if member.isfile()}


@lru_cache
def load(name: str) -> list[Measured]:
    """All launches of a set; one process of the disassembler handles its cubins."""
    files = [read_cubin(data, file) for file, data in cubins(name).items()]
    modules = {cubin.file: Lifted(cubin, code) for cubin, code in zip(files, disassemble(files), strict=True)}
    return [
        Measured(name, at, modules[entry["cubin"]], launch_of(entry), profile_of(entry))
        for at, entry in enumerate(document(name)["launches"])
    ]


def launch_of(entry: dict[str, Any]) -> Launch:
    return Launch(
        entry["kernel"],
        grid=entry["grid"],
        block=entry["block"],
        cluster=[blocks or 1 for blocks in entry["cluster"]],
        dynamic_shared=entry["dynamic_shared"],
        param_bytes=entry["param_bytes"],
    )


def profile_of(entry: dict[str, Any]) -> Profile:
    counted = tuple(
        Counted(offset, text, executed, wavefronts, ideal)
        for offset, text, wavefronts, ideal, executed, _ in entry["sites"]
    )
    counters = {kind.removeprefix("_"): round(value) for kind, value in entry["hardware"].items() if value is not None}
    return Profile(entry["kernel"], counted, counters, tuple(entry["grid"]), tuple(entry["block"]))


def everything() -> Iterator[Measured]:
    for name in SETS:
        yield from load(name)


def main() -> None:
    """Prints the figures that the tests check, one line per set."""
    from collections import Counter

    print(f"{'set':16}{'launches':>10}" + "".join(f"{verdict:>11}" for verdict in Verdict))
    for name in SETS:
        found = [(launch, launch.compare()) for launch in load(name)]
        count = Counter(row.verdict for _, comparison in found for row in comparison.rows)
        print(f"{name:16}{len(found):>10}" + "".join(f"{count[verdict]:>11,}" for verdict in Verdict))
        for launch, comparison in found:
            for row in comparison.rows:
                if row.verdict in (Verdict.DIFFERS, Verdict.UNLISTED, Verdict.DISPUTED):
                    print(
                        f"  {row.verdict} {launch.launch.kernel}+{row.offset:#x} {row.site.opcode if row.site else ''}:"
                        f" {row.why}"
                    )


if __name__ == "__main__":
    main()
