"""Plans launches: cubins of many builds, and a plan of their blocks, parameters and contents of memory.

    FOLDER/plan.json.gz     [{seed, build, features, cubin, kernel, grid, …, parameters, buffers, symbols}, …]
    FOLDER/cubins.tar.xz    the cubins of the plan
    FOLDER/ptx.tar.xz       the PTX of each cubin, which measuring does not need
    FOLDER/sources.tar.xz   the kernels: later versions of the generator make other kernels from the same seeds

The plan is self-contained: measuring it does not need the generator.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bench.adversary import builds
from bench.adversary.generate import NAMES, program
from bench.adversary.program import Program, Shape

PLAN, CUBINS, PTX, SOURCES = "plan.json.gz", "cubins.tar.xz", "ptx.tar.xz", "sources.tar.xz"


def builds_of(seed: int, count: int) -> list[str]:
    """The builds of a seed, in rotation: successive seeds of a feature use all of them."""
    again, feature = divmod(seed, len(NAMES))
    first = again + 3 * feature
    return list(dict.fromkeys(builds.NAMES[(first + 5 * at) % len(builds.NAMES)] for at in range(count)))


def entries(made: Program, build: str, most: int) -> Iterator[dict[str, Any]]:
    """The launches of one build of a program."""
    for shape in made.shapes[:most]:
        yield {
            "seed": made.seed,
            "build": build,
            "features": list(made.features),
            "cubin": f"{made.name}.{build}.cubin",
            "kernel": made.name,
            "grid": list(shape.grid),
            "block": list(shape.block),
            "cluster": list(shape.cluster or (0, 0, 0)),
            "dynamic_shared": shape.dynamic_shared,
            "parameters": [_parameter(p, shape) for p in made.parameters],
            "buffers": {name: asdict(fill) for name, fill in made.buffers.items()},
            "symbols": {name: asdict(fill) for name, fill in made.symbols.items()},
        }


def _parameter(p: Any, shape: Shape) -> dict[str, Any]:
    value = shape.values[p.name] if p.kind in ("number", "bytes") else p.value
    return {"name": p.name, "kind": p.kind, "size": p.size, "value": value}


def make(
    folder: Path,
    seeds: Iterable[int],
    count: int,
    most: int,
    jobs: int = 2,
    only_builds: tuple[str, ...] = (),
    features: tuple[str, ...] = (),
) -> None:
    """Compiles `count` builds of every seed and writes the plan, with at most `most` launches per build.

    features: each seed's kernel consists of one of these, in rotation, instead of those that the seed chooses.
    """
    work = [
        (seed, build, features[seed % len(features)] if features else "")
        for seed in seeds
        for build in (only_builds or builds_of(seed, count))
    ]
    write(folder, _compiled(work, jobs), most)


def _compiled(work: list[tuple[int, str, str]], jobs: int) -> Iterator[tuple[Program, builds.Built | str]]:
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(_one), work, chunksize=4)


def _one(work: tuple[int, str, str]) -> tuple[Program, builds.Built | str]:
    seed, build, feature = work
    made = program(seed, (feature,) if feature else None)
    try:
        return made, builds.compile_build(made, build)
    except builds.NotBuilt as error:
        return made, f"seed {seed} {build}: {error}"


def write(folder: Path, compiled: Iterable[tuple[Program, builds.Built | str]], most: int) -> None:
    """Writes the files of a plan; prints what did not compile."""
    folder.mkdir(parents=True, exist_ok=True)
    plan: list[dict[str, Any]] = []
    kept: set[str] = set()
    archive = lambda name: tarfile.open(folder / name, "w:xz")
    with archive(CUBINS) as cubins, archive(PTX) as texts, archive(SOURCES) as sources:
        for made, built in compiled:
            if isinstance(built, str):
                print(f"not compiled: {built[:40]} … {built[-300:]}")
                continue
            new = list(entries(made, built.build, most))
            plan += [entry | {"compiler": built.compiler, "arch": built.arch} for entry in new]
            add(cubins, new[0]["cubin"], built.cubin)
            add(texts, new[0]["cubin"].replace(".cubin", ".ptx"), built.ptx.encode())
            if made.name not in kept:
                kept.add(made.name)
                add(sources, f"{made.name}.cu", made.source().encode())
    store(folder, plan)


def store(folder: Path, plan: list[dict[str, Any]]) -> None:
    """Writes the launches of a plan beside its cubins."""
    (folder / PLAN).write_bytes(gzip.compress(json.dumps(plan, separators=(",", ":")).encode(), mtime=0))
    print(f"{folder}: {len(plan)} launches of {len({entry['cubin'] for entry in plan})} cubins")


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    """Adds a file to an archive, reproducibly."""
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def read(folder: Path) -> list[dict[str, Any]]:
    return json.loads(gzip.decompress((folder / PLAN).read_bytes()))
