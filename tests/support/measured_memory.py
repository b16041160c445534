"""The kernels of bench/memory as measured on a GPU: tests/data/memory_sm90.

for launch in load(): launch.results()      {offset: (ir.Instruction, SiteResult)} of one memory
"""

from __future__ import annotations

import gzip
import json
import tarfile
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from paths import DATA

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.pipeline.memory_sites import with_sites

KEPT = DATA / "memory_sm90"
MEMORIES = ("global", "local")
COLUMNS = {"sectors": 0, "ideal": 1, "local": 2, "tags": 3, "requests": 4, "lanes": 5}


@dataclass(frozen=True)
class Counted:
    """One instruction of one launch as the profiler counted it."""

    place: int
    sass: str
    numbers: tuple[int, ...]

    def __getattr__(self, name: str) -> int:
        return self.numbers[COLUMNS[name]]

    @property
    def head(self) -> str:
        words = self.sass.split()
        return (words[1] if words[0].startswith("@") else words[0]).partition(".")[0]


@dataclass(frozen=True)
class Measured:
    """One launch: what was specified, and the counts."""

    entry: dict[str, Any]
    module: ir.Module
    indices: np.ndarray

    def __str__(self) -> str:
        return " ".join(f"{key}={self.entry[key]}" for key in ("kernel", "grid", "block", "n", "s", "at", "indices"))

    @property
    def counted(self) -> list[Counted]:
        return [Counted(place, sass, tuple(numbers)) for place, sass, *numbers in self.entry["sites"]]

    @property
    def launch(self) -> Launch:
        """With the addresses of the pointers, and the content of `idx`."""
        e = self.entry
        data = bytes.fromhex(e["param_bytes"])
        first, second = (int.from_bytes(data[at : at + 8], "little") for at in (0, 8))
        return Launch(
            e["kernel"],
            grid=tuple(e["grid"]),
            block=tuple(e["block"]),
            params=[first, second, self.indices, e["n"], e["s"]],
        )

    def results(self, wanted: tuple[str, ...] = MEMORIES) -> dict[tuple[int, str], tuple[ir.Instruction, SiteResult]]:
        """By offset and memory."""
        function = with_sites(link(self.module, self.module.functions[self.entry["kernel"]]), wanted)
        found = engine.evaluate(function, graph.build(function), launch=self.launch, machine=machines.get("sm_90"))
        sites = [(function.instructions[site.index], site) for site in found.sites]
        return {(i.place, i.site.of): (i, site) for i, site in sites}


@lru_cache
def document() -> dict[str, Any]:
    return json.loads(gzip.decompress((KEPT / "launches.json.gz").read_bytes()))


@lru_cache
def load() -> list[Measured]:
    """All launches; one process of the disassembler handles the cubins."""
    with tarfile.open(KEPT / "cubins.tar.xz") as archive:
        files = [read_cubin(archive.extractfile(member).read(), member.name) for member in archive]
    modules = {cubin.file: lift_module(cubin, code) for cubin, code in zip(files, disassemble(files), strict=True)}
    indices = {name: np.array(numbers, np.int32) for name, numbers in document()["indices"].items()}
    return [Measured(entry, modules[entry["cubin"]], indices[entry["indices"]]) for entry in document()["launches"]]
