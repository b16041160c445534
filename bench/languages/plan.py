"""Turns compiled kernels into a plan for `bench.adversary.gpu`.

    write(Path("build/triton"), [Compiled("triton000", "matmul", cubin, ptx, "matmul", …)])

Buffers contain small integers given by a formula, so that they are the same on every machine.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.adversary.launching import SLOT_BYTES
from bench.adversary.plan import CUBINS, PTX, add, store
from bench.adversary.program import Fill

ARCH = "sm_90"
BYTES = {
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "int64": 8,
}
SMALL = 13  # upper limit of the elements: exact in every type, and so small that sums of products do not overflow


@dataclass(frozen=True)
class Buffer:
    """A pointer parameter. type: NumPy's name for the type of its elements."""

    type: str
    step: int = 7919

    def fill(self) -> Fill:
        return Fill(self.type, SLOT_BYTES // BYTES[self.type], self.step, modulo=SMALL)


ZEROS = Fill("uint32", SLOT_BYTES // 4, step=0, modulo=1)


@dataclass(frozen=True)
class Compiled:
    """One kernel and its launch.

    arguments: a Buffer, or a number of 4 bytes, in order; scratch: pointers that the compiler adds after them, to
    zeros.
    """

    name: str
    feature: str
    cubin: bytes
    ptx: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int
    arguments: tuple[Buffer | int | float, ...]
    compiler: str
    scratch: int = 0

    def launch(self, seed: int) -> dict[str, Any]:
        buffers = {f"b{i}": one.fill() for i, one in enumerate(self.arguments) if isinstance(one, Buffer)}
        parameters = [
            _pointer(f"b{i}")
            if isinstance(one, Buffer)
            else {"name": f"n{i}", "kind": "number", "size": 4, "value": one}
            for i, one in enumerate(self.arguments)
        ]
        for i in range(self.scratch):
            buffers[f"scratch{i}"] = ZEROS
            parameters.append(_pointer(f"scratch{i}"))
        return {
            "seed": seed,
            "build": self.compiler.split()[0],
            "features": [self.feature],
            "cubin": f"{self.name}.cubin",
            "kernel": self.entry,
            "grid": list(self.grid),
            "block": list(self.block),
            "cluster": [0, 0, 0],
            "dynamic_shared": self.dynamic_shared,
            "parameters": parameters,
            "buffers": {name: asdict(fill) for name, fill in buffers.items()},
            "symbols": {},
            "compiler": self.compiler,
            "arch": ARCH,
        }


def _pointer(buffer: str) -> dict[str, Any]:
    return {"name": buffer, "kind": "buffer", "size": 8, "value": buffer}


def write(folder: Path, compiled: Iterable[Compiled], first_seed: int) -> None:
    """Writes the files of a plan."""
    folder.mkdir(parents=True, exist_ok=True)
    launches = []
    with tarfile.open(folder / CUBINS, "w:xz") as cubins, tarfile.open(folder / PTX, "w:xz") as texts:
        for seed, one in enumerate(compiled, first_seed):
            launches.append(one.launch(seed))
            add(cubins, f"{one.name}.cubin", one.cubin)
            if one.ptx:
                add(texts, f"{one.name}.ptx", one.ptx.encode())
    store(folder, launches)
