"""Audits global and local memory in a folder of PTX files, like `bench.corpus` for shared memory.

Which share of the sites is answered, and at what cost compared with shared memory alone?

    python -m bench.corpus_memory FOLDER [-o bench/corpus_memory.json] [--kernels 8] [--budget 20]

FOLDER has one folder per package, each with PTX files; `--kernels` kernels are taken from each file, by the hash of
their names. Three audits per file, one after the other in one process:

    shared          `--space shared`, nothing specified: for its time
    nothing         `--space all`, nothing specified
    launch          `--space all` with a grid of 4 blocks, a block (the file's; otherwise 256 threads, or as many as it
                    allows), and every pointer a multiple of 256, as cudaMalloc returns them; no parameter has a value

A site is answered as `bench.corpus` defines it, with sectors in place of wavefronts. The results file has only names
and counts. Seconds are processor time, including parsing once in each of the audits; kernels with shared memory, on
which `bench.corpus` reports, are timed separately: `--space shared` only reads the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from bench.corpus import RATIO, TOP, reason_class
from bench.processor_time import TooLong, at_most
from ptxaudit.base.errors import InputError
from ptxaudit.base.version import __version__
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir.nodes import Function
from ptxaudit.report.model import MemorySite, Report
from ptxaudit.review.audit import run

KERNELS, BUDGET = 8, 20.0  # per file; seconds per kernel
BLOCKS, THREADS, ALIGNED = 4, 256, 256
ANSWERED = ("exact", "invariant", "conditional", "unreached")
ASKED = ("nothing", "launch")
SPACES = ("global", "local")


def answers(site: MemorySite) -> bool:
    """Whether a site has an answer per request, as `bench.corpus` defines it."""
    if str(site.status) in ANSWERED:
        return True
    if site.per_request is None:
        return False
    low, high = site.per_request.low, site.per_request.high
    return str(site.status) == "data-dependent" or str(site.status) == "bounded" and high <= RATIO * low


def launch_of(kernel: Function) -> Launch:
    block = kernel.block or (min(THREADS, kernel.max_threads or THREADS), 1, 1)
    return Launch(kernel.name, grid=(BLOCKS,), block=block)


def asked_of(kernels: list[Function]) -> dict[str, Options]:
    every = {"kernels": tuple(kernel.name for kernel in kernels), "isa": "ptx", "budget": None}
    launches = tuple(launch_of(kernel) for kernel in kernels)
    return {
        "shared": Options(**every),
        "nothing": Options(space="all", **every),
        "launch": Options(space="all", launches=launches, assume={"*": ALIGNED}, **every),
    }


class Counts:
    """The sums: sites by status, and those answered, by audit and memory."""

    def __init__(self) -> None:
        self.kernels = 0
        self.status: dict[tuple[str, str], Counter] = defaultdict(Counter)
        self.answered: Counter = Counter()
        self.from_data: Counter = Counter()
        self.open: dict[tuple[str, str], Counter] = defaultdict(Counter)
        self.seconds: dict[bool, Counter] = {True: Counter(), False: Counter()}  # by whether shared memory is accessed
        self.packages: dict[str, Counter] = defaultdict(Counter)
        self.faults: list[dict[str, str]] = []

    def add(self, package: str, asked: str, report: Report) -> None:
        for kernel in report.kernels:
            for site in kernel.memory:
                key = asked, site.space
                self.status[key][str(site.status)] += 1
                good = answers(site)
                self.answered[key] += good
                self.from_data[key] += good and str(site.status) == "data-dependent"
                if not good:
                    self.open[key][f"{site.status}: {reason_class(site.reason or '')}"] += 1
                if site.space == "global":
                    self.packages[package][f"{asked} answered"] += good
                    self.packages[package]["sites"] += asked == "nothing"

    def results(self) -> dict:
        def of(key: tuple[str, str]) -> dict:
            sites = sum(self.status[key].values())
            share = lambda part: round(part / sites, 4) if sites else None
            return {
                "sites": sites,
                "answered_share": share(self.answered[key]),
                "answered_share_without_data_dependent": share(self.answered[key] - self.from_data[key]),
                "status": dict(self.status[key].most_common()),
                "open_reasons": dict(self.open[key].most_common(TOP)),
            }

        seconds = lambda shared: {name: round(number, 1) for name, number in self.seconds[shared].items()}
        ratio = lambda of: round(of["nothing"] / of["shared"], 2) if of["shared"] else None
        return {
            "tool": f"ptxaudit {__version__}",
            "kernels": self.kernels,
            "memories": {space: {asked: of((asked, space)) for asked in ASKED} for space in SPACES},
            "packages": {name: dict(counts) for name, counts in sorted(self.packages.items())},
            "processor_seconds": {"with_shared": seconds(True), "without": seconds(False)},
            "all_over_shared": ratio(self.seconds[True]),
            "all_over_shared_of_every_kernel": ratio(self.seconds[True] + self.seconds[False]),
            "faults": self.faults,
        }


def one_file(counts: Counts, package: str, path: Path, kernels: list[Function], budget: float) -> None:
    """Audits these kernels three times; if one audit fails, the file is recorded as a fault and not counted."""
    spent, reports = {}, {}
    for asked, options in asked_of(kernels).items():
        start = time.process_time()
        try:
            with at_most(budget * len(kernels)):
                reports[asked] = run([str(path)], options)
        except (TooLong, InputError) as error:
            what = "time-out" if isinstance(error, TooLong) else str(error)
            counts.faults.append({"file": path.name, "asked": asked, "what": what})
            return
        spent[asked] = time.process_time() - start
    counts.kernels += len(kernels)
    counts.seconds[has_shared(kernels[0])].update(spent)
    counts.packages[package]["kernels"] += len(kernels)
    for asked in ASKED:
        counts.add(package, asked, reports[asked])


def has_shared(kernel: Function) -> bool:
    """Whether the kernel itself accesses shared memory."""
    return any(i.site is not None and i.site.of == "shared" for i in kernel.instructions)


def in_order(names: list[Function]) -> list[Function]:
    return sorted(names, key=lambda kernel: hashlib.sha256(kernel.name.encode()).digest())


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("-o", "--output", type=Path, help="the results file to write")
    arguments.add_argument("--kernels", type=int, default=KERNELS, help="of a file")
    arguments.add_argument("--budget", type=float, default=BUDGET, help="seconds a kernel")
    options = arguments.parse_args()
    counts = Counts()
    for path in sorted(options.folder.rglob("*.ptx")):
        package = path.relative_to(options.folder).parts[0] if path.parent != options.folder else options.folder.name
        kernels = list(lift_module(parse_module(path.read_text("utf-8", "replace"), path.name)).kernels())
        chosen = in_order(kernels)[: options.kernels]
        for shared in (True, False):
            if alike := [kernel for kernel in chosen if has_shared(kernel) == shared]:
                one_file(counts, package, path, alike, options.budget)
        print(f"{path}: {counts.kernels} kernels", file=sys.stderr, flush=True)
        if options.output:  # after each file, so that the results are complete so far
            options.output.write_text(json.dumps(counts.results(), indent=1) + "\n", encoding="utf-8")
    print(json.dumps(counts.results(), indent=1))
    return 1 if counts.faults else 0


if __name__ == "__main__":
    sys.exit(main())
