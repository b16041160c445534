"""Assembles the random PTX of the tests (`tests/support/twin/generate.py`) with ptxas, to be measured.

Compares the effect of each operation on an address with the hardware, not with a second reading of the manual.

python -m bench.adversary.random_ptx FOLDER 0:500             a plan, as `plan` makes them
python -m bench.adversary.random_ptx FOLDER 0:500 11.8 12.4   … assembled by the ptxas of these CUDA releases in
rotation
python -m bench.adversary.gpu run FOLDER -o OUT               on the GPU machine
python -m bench.adversary compare FOLDER OUT --isa sass       the claims against the counters

Loads are volatile, and the loaded values are stored, so that ptxas keeps every access (`tests/support/twin/machine.py`).
"""

from __future__ import annotations

import re
import sys
import tarfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.adversary import plan
from bench.adversary.program import Fill

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from twin import generate, machine  # noqa: E402

SIZES = {"u32": 4, "s32": 4, "u64": 8}
BUFFER = Fill(step=7, modulo=1 << 20)  # contents of the targets of pointers
# parted: lanes that the hardware may have diverged name each other in masks, which it rejects; cluster: clusters access
# the memory of other blocks
LEFT_OUT = frozenset(("parted", "cluster"))
BUILDS = {"ptxas": (), "ptxas-O1": ("-O1",), "ptxas-O0": ("-O0",), "ptxas-O2": ("-O2",)}
OLDEST = ".version 7.8"  # the oldest PTX version with sm_90: ptxas of CUDA 11.8 accepts it
_PARAMETER = re.compile(r"\.param (?:\.align \d+ )?\.(u32|s32|u64|b8)( \.ptr)?[\w. ]* k_param_(\d+)(?:\[(\d+)\])?")


def write(folder: Path, seeds: range, releases: tuple[str, ...] = ()) -> None:
    """Assembles the kernels of the seeds and writes their plan; prints those that ptxas rejects.

    Optimisation levels, and releases, are used in rotation.
    """
    from ptxaudit.base.errors import InputError
    from ptxaudit.frontend.compile import toolchain_fetch
    from ptxaudit.frontend.compile.ptxas import assemble

    tools = [toolchain_fetch.ensure("ptxas", release) for release in releases] or [None]
    prefixes = [f"{release}-" for release in releases] or [""]

    folder.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    with (
        tarfile.open(folder / plan.CUBINS, "w:xz") as cubins,
        tarfile.open(folder / plan.PTX, "w:xz") as texts,
        tarfile.open(folder / plan.SOURCES, "w:xz") as sources,
    ):
        for at, seed in enumerate(seeds):
            build = list(BUILDS)[at % len(BUILDS)]
            turn = at // len(BUILDS) % len(tools)
            kernel = generate.kernel(seed, small=seed % 3 > 0)
            if kernel.features & LEFT_OUT:
                continue
            text = machine.variant(kernel)
            if releases:
                text = re.sub(r"\.version \S+", OLDEST, text, count=1)
            try:
                made = assemble(text, machine.ARCH, options=BUILDS[build], tool=tools[turn])
            except InputError as error:
                print(f"seed {seed}: {str(error)[-300:]}")
                continue
            entry = _entry(kernel, text, prefixes[turn] + build)
            plan.add(cubins, entry["cubin"], made.cubin)
            plan.add(texts, entry["cubin"].replace(".cubin", ".ptx"), text.encode())
            plan.add(sources, entry["cubin"].replace(".cubin", ".cu"), kernel.text.encode())
            entries.append(entry | {"compiler": "ptxas", "arch": machine.ARCH})
    plan.store(folder, entries)


def _entry(kernel: generate.Kernel, text: str, build: str) -> dict[str, Any]:
    parameters = []
    head = text[text.index(".entry") :].split("{", 1)[0]
    for (kind, pointer, _, size), value in zip(_PARAMETER.findall(head), kernel.params, strict=True):
        if pointer:
            parameters.append(("buffer", 8, "buffer"))
        elif size:
            parameters.append(("bytes", int(size), bytes(value).hex()))
        else:
            parameters.append(("number", SIZES[kind], value))
    return {
        "seed": kernel.seed,
        "build": build,
        "features": sorted(kernel.features),
        "cubin": f"random{kernel.seed}.{build}.cubin",
        "kernel": kernel.name,
        "grid": list(kernel.grid),
        "block": list(kernel.block),
        "cluster": list(kernel.cluster or (0, 0, 0)),
        "dynamic_shared": kernel.dynamic,
        "parameters": [
            {"name": f"k_param_{at}", "kind": kind, "size": size, "value": value}
            for at, (kind, size, value) in enumerate(parameters)
        ],
        "buffers": {"buffer": asdict(BUFFER)},
        "symbols": {},
    }


if __name__ == "__main__":
    first, last = map(int, sys.argv[2].split(":"))
    write(Path(sys.argv[1]), range(first, last), tuple(sys.argv[3:]))
