"""Audits machine code from packages with nothing specified and with a launch: what does specifying one gain?

    python -m bench.specified NAME=FILE|FOLDER… [-o bench/specified.json] [--images 26] [--kernels 40]

NAME identifies the package in the results; it may be given several times. From each file, up to `--images` images of
`--arch`, evenly spread, are taken, and from each image up to `--kernels` kernels that access shared memory. A results
file that exists keeps its rows of other packages. The launch has 64 blocks of the size for which the kernel was
compiled (`.maxntid`, `__launch_bounds__`) or of 256 threads; numbers of 4 bytes are 100,000, smaller ones 1; pointers,
structures and data are not specified. Whatever depends on data therefore stays unknown: a shuffle by rank, a table, a
search. Kernels that take structures, which are not specified, have a separate row. The results file has only names and
counts, no third-party code.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import Any

from ptxaudit.base.errors import InputError
from ptxaudit.base.version import __version__
from ptxaudit.base.work import DEFAULT_BUDGET, Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.frontend.artifacts.container import Image, images, read_images
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph, nodes
from ptxaudit.ir.link import link
from ptxaudit.ir.reasons import Kind

GRID, BLOCK, NUMBER = 64, 256, 100_000
BUDGET = DEFAULT_BUDGET  # of the engine, as for the command
SUFFIXES = (".so", ".cubin", ".fatbin", ".a", ".o")
POINTER = 8  # bytes
ANSWERED = ("exact", "invariant")
RANGES = ("bounded", "data-dependent", "conditional")
ASKED = ("nothing", "launch")


@dataclass
class Row:
    """The results for one package's sites under one specification."""

    status: Counter[str] = field(default_factory=Counter)
    ratios: list[float] = field(default_factory=list)  # high / low of a request's wavefronts, for ranges
    reasons: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, results: list[SiteResult], seconds: float) -> None:
        self.seconds += seconds
        for site in results:
            status = str(site.status)
            self.status[status] += 1
            if status in RANGES and site.per_request:
                low, high = site.per_request
                self.ratios.append(high / max(low, 1))
            if status not in (*ANSWERED, "unreached") and site.reason:
                self.reasons[_deepest(site).text] += 1

    def record(self) -> dict[str, Any]:
        reached = sum(self.status.values()) - self.status["unreached"]
        answered = sum(self.status[one] for one in ANSWERED)
        return {
            "sites": sum(self.status.values()),
            "share": round(answered / max(reached, 1), 4),
            "median_of_ranges": median_low(self.ratios) if self.ratios else None,
            "status": dict(self.status.most_common()),
            "reasons": dict(self.reasons.most_common(8)),
            "seconds": round(self.seconds, 1),
        }


def _deepest(site: SiteResult) -> Kind:
    return list(site.reason.all_of_it())[-1].kind


def spread(found: Sequence[Any], most: int) -> Sequence[Any]:
    """At most `most` of the items, evenly spread."""
    return found[:: max(1, -(-len(found) // most))]


def files(path: Path) -> list[Path]:
    """The file, or the files in a folder that may contain machine code."""
    return [path] if path.is_file() else [one for one in sorted(path.rglob("*")) if one.name.endswith(SUFFIXES)]


def kernels(path: Path, arch: str, most_images: int, most: int) -> Iterator[tuple[nodes.Module, nodes.Function]]:
    """Kernels in a file that access shared memory."""
    chosen = spread([one for one in images(str(path)) if one.kind == "cubin" and one.arch == arch], most_images)
    for image, data in read_images(chosen):
        yield from kernels_of(image, data, most)


def kernels_of(image: Image, data: bytes | InputError, most: int) -> Iterator[tuple[nodes.Module, nodes.Function]]:
    """Kernels in an image that access shared memory, at most `most`. Raises InputError for a damaged one."""
    if isinstance(data, InputError):
        raise data
    cubin = read_cubin(data, image.name)
    (code,) = disassemble([cubin])
    module = lift_module(cubin, code)
    found = [f for f in module.functions.values() if f.entry and any(one.site for one in f.instructions)]
    for function in spread(sorted(found, key=lambda one: one.name), most):
        yield module, function


def launch_of(function: nodes.Function) -> Launch:
    """The launch that the module's docstring describes."""
    values = {4: NUMBER, 2: 1, 1: 1}
    parameters = [values.get(one.size) for one in function.parameters]
    block = function.block or (function.max_threads or BLOCK,)
    return Launch(function.name, grid=(GRID,), block=block, params=parameters or None, dynamic_shared=0)


def examine(module: nodes.Module, function: nodes.Function, rows: dict[str, Row]) -> None:
    """Audits one kernel under both specifications."""
    linked = link(module, function)
    made = graph.build(linked)
    for how, launch in zip(ASKED, (None, launch_of(function)), strict=True):
        begun = time.process_time()
        account = Account.for_budget(BUDGET)
        found = engine.evaluate(linked, made, launch=launch, machine=machines.get(linked.arch), account=account)
        rows[how].add(list(found.sites), time.process_time() - begun)


def _rows_of(package: str) -> tuple[str, str]:
    """The names of a package's rows: of its kernels without structures, and with."""
    return package, f"{package}, structures"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.specified", description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", metavar="NAME=PATH")
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--images", type=int, default=26)
    parser.add_argument("--kernels", type=int, default=40)
    chosen = parser.parse_args()
    rows: dict[str, dict[str, Row]] = defaultdict(lambda: {how: Row() for how in ASKED})
    counts: Counter[str] = Counter()
    for name, _, path in (one.partition("=") for one in chosen.packages):
        for file in files(Path(path)):
            for module, function in kernels(file, chosen.arch, chosen.images, chosen.kernels):
                row = _rows_of(name)[any(one.size > POINTER for one in function.parameters)]
                examine(module, function, rows[row])
                counts[row] += 1
                print(f"{row}: {counts[row]} kernels", end="\r", file=sys.stderr, flush=True)
    selection = {"images": chosen.images, "kernels_per_image": chosen.kernels}
    before = json.loads(chosen.out.read_text("utf-8"))["packages"] if chosen.out and chosen.out.exists() else {}
    named = {name for one in chosen.packages for name in _rows_of(one.partition("=")[0])}
    kept = {name: row for name, row in before.items() if name not in named}
    measured = {
        name: {"kernels": counts[name], **selection, **{how: one[how].record() for how in ASKED}}
        for name, one in rows.items()
    }
    found = {
        "tool": f"ptxaudit {__version__}",
        "arch": chosen.arch,
        "packages": dict(sorted((kept | measured).items())),
    }
    text = json.dumps(found, indent=1) + "\n"
    if chosen.out:
        chosen.out.write_text(text, "utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
