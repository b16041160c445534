"""Repairs every source in samples/, bench/kernels/ and bench/repairs/; compiles and predicts it before and after.

    samples/transpose  ->  transpose.before.cubin, transpose.after.cubin, and in plan.json for each launch of a repaired
                           kernel
                           {"kernel": "float_32_pitch_32", "repairs": ["tile: pad the row to 33 floats"],
                            "before": {"wavefronts": 4224, "ideal": 256}, "after": {"wavefronts": 256, …}, …}

Predictions are for the machine code, under its launches in launch.toml. Sources of other projects are included if a
folder with their checkouts is given (`projects.toml` lists them, with commits).
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ptxaudit import audit
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.launch.launch_file import launches_from
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part
from ptxaudit.pipeline.examine import examine
from ptxaudit.report.model import Kernel
from ptxaudit.review.fix.patch import Patch, patch
from ptxaudit.review.fix.repairs import repairs_of

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = (ROOT / "samples", ROOT / "bench" / "kernels", ROOT / "bench" / "repairs")
PROJECTS = Path(__file__).resolve().parent / "projects.toml"
ARCH = "sm_90"


@dataclass(frozen=True)
class Case:
    """One source with its launches.

    origin: its folder, or project; compile: further arguments of `compile_source`; data: tables of data.toml, for the
    machine that measures.
    """

    name: str
    source: Path
    launches: list[dict[str, Any]]
    origin: str
    compile: dict[str, Any] = field(default_factory=dict)
    data: list[dict[str, Any]] = field(default_factory=list)


def cases(projects: Path | None) -> Iterator[Case]:
    """All available sources."""
    for parent in FOLDERS:
        for folder in sorted(parent.iterdir()):
            source = folder / f"{folder.name}.cu"
            if source.is_file():
                expected = _toml(folder / "expect.toml")
                if expected.get("arch", ARCH) == ARCH and "machine" not in expected:
                    yield Case(
                        folder.name,
                        source,
                        _toml(folder / "launch.toml").get("launch", []),
                        folder.parent.name,
                        expected.get("compile", {}),
                        _toml(folder / "data.toml").get("buffer", []),
                    )
    for table in _toml(PROJECTS).get("source", []) if projects else []:
        source = projects / table["repository"].replace("/", "+") / table["path"]
        if not source.is_file():
            print(f"{source}: not there; it is {table['path']} of {table['repository']} at {table['commit']}")
        elif hashlib.sha256(source.read_bytes()).hexdigest() != table["sha256"]:
            print(f"{source}: not the file of {table['commit']}")
        else:
            origin = f"{table['repository']}@{table['commit'][:8]}"
            yield Case(
                table["name"], source, table["launch"], origin, table.get("compile", {}), table.get("buffer", [])
            )


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def build(folder: Path, projects: Path | None = None) -> None:
    """Writes cubins and plan.json."""
    folder.mkdir(parents=True, exist_ok=True)
    launches, compiler = [], ""
    for case in cases(projects):
        source = folder / f"{case.name}.cu"
        source.write_bytes(case.source.read_bytes())
        for at, made in enumerate(_repaired(case, source)):
            name, figures, ptx = f"{case.name}_{at}", {}, ""
            for side, text in (
                ("before", case.source.read_text(encoding="utf-8")),
                ("after", next(iter(made.texts.values()))),
            ):
                source.write_text(text, encoding="utf-8")
                compiled = compile_source(source, arch=ARCH, **_arguments(case))
                cubin = folder / f"{name}.{side}.cubin"
                cubin.write_bytes(compiled.cubin)
                figures[side] = audit(
                    cubin, launches=launches_from(case.launches), kernels=(made.applied[0].found.examined.entry.name,)
                )
                compiler, ptx = compiled.compiler, ptx or compiled.ptx
            mine = list(_planned(case, name, made, figures, ptx))
            launches += mine
            print(f"{name}: {len(mine)} launches of {made.applied[0].found.examined.entry.demangled[:60]}", flush=True)
        source.unlink()
    (folder / "plan.json").write_text(json.dumps({"compiler": compiler, "arch": ARCH, "launches": launches}, indent=1))


def _arguments(case: Case) -> dict[str, Any]:
    return {
        name: value for name, value in case.compile.items() if name in ("include", "defines", "std", "instantiate")
    } | ({"include": [*case.compile.get("include", ()), str(case.source.parent)]})


def _repaired(case: Case, source: Path) -> Iterator[Patch]:
    """For each kernel, the patch with all its repairs that can be written, ignoring the source's other kernels."""
    options = Options(launches=launches_from(case.launches), arch=ARCH, **case.compile)
    part = Part()
    every = list(examine([str(source)], replace(options, keep=True), part))
    for problem in part.problems:
        print(f"{case.name}: {problem.what}")
    for name in dict.fromkeys(examined.entry.name for examined in every):
        kernels = [examined for examined in every if examined.entry.name == name]
        made = patch(repairs_of(kernels), kernels, [str(source)], replace(options, kernels=(name,)))
        if made.applied:
            yield made
        for one, why in made.refused:
            print(f"    {name}, {one.array.name}: {why}"[:160])


def _planned(case: Case, name: str, made: Patch, reports: dict[str, Any], ptx: str) -> Iterator[dict[str, Any]]:
    """Every launch of a repaired kernel whose cost is predicted as a number, before and after."""
    repairs: dict[str, list[str]] = {}
    for one in made.applied:
        said = f"{one.found.array.name}: {one.repair.code.summary}"
        repairs.setdefault(one.found.examined.entry.name, []).append(said)
    after = {(kernel.name, str(kernel.launch)): kernel for kernel in reports["after"].kernels}
    for kernel in reports["before"].kernels:
        other = after.get((kernel.name, str(kernel.launch)))
        table = next((t for t in case.launches if fnmatchcase(kernel.name, t["kernel"]) and _same(t, kernel)), None)
        if (
            kernel.name not in repairs
            or other is None
            or table is None
            or not (kernel.totals.complete and other.totals.complete)
        ):
            continue
        yield {
            "case": name,
            "origin": case.origin,
            "kernel": kernel.name,
            "demangled": kernel.demangled,
            "repairs": list(dict.fromkeys(repairs[kernel.name])),
            "table": table,
            "data": case.data,
            "bytes": [kernel.shared_static, other.shared_static],
            "free": _free(ptx, kernel.name),
            "instructions": [kernel.instructions, other.instructions],
            "before": _totals(kernel),
            "after": _totals(other),
        }


def _same(table: dict[str, Any], kernel: Kernel) -> bool:
    launch = kernel.launch
    return (
        launch is not None
        and list(launch.grid or ()) == ([*table["grid"], 1, 1])[:3]
        and list(launch.block or ()) == ([*table["block"], 1, 1])[:3]
    )


def _totals(kernel: Kernel) -> dict[str, int]:
    return {"wavefronts": kernel.totals.wavefronts, "ideal": kernel.totals.wavefronts - kernel.totals.excess}


def _free(ptx: str, kernel: str) -> int | None:
    """A dimension of the grid that the kernel does not read: blocks added in it repeat the same work."""
    body = re.search(rf"\.entry {re.escape(kernel)}\(.*?^\}}", ptx, re.DOTALL | re.MULTILINE)
    text = body[0] if body else ""
    return next((d for d in (2, 1, 0) if text and f"ctaid.{'xyz'[d]}" not in text and "%clusterid" not in text), None)
