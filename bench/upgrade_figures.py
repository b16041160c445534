"""The figures of a source under four releases of NVRTC: the whole comparison against the four compiles alone.

What is no compile starts once, however long the source is: Python with its packages, and the disassembler, which takes
about half a second for one instruction as for ten thousand. So the shorter the compiles, the greater the ratio.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.measure import CHECKOUT, Cost, best, cost

RELEASES = ("11.8", "12.4", "12.9", "13.5")
SOURCES = (
    "samples/hgemm/hgemm.cu",
    "samples/flash_attention/flash_attention.cu",
    "samples/transpose/transpose.cu",
    "samples/radix_sort/radix_sort.cu",
)
RUNS = 3
GOAL = 1.5

_COMPILES = """\
import os, sys
from pathlib import Path
from ptxaudit import nvrtc, nvrtc_remote, toolchains
for release in sys.argv[2:]:
    nvrtc.compile_source(Path(sys.argv[1]), tool=toolchains.get("nvrtc", release))
for worker in list(nvrtc_remote._workers.values()):
    worker.close()
times = os.times()
print(times.children_user + times.children_system)
"""


def compiles(source: Path, folder: Path) -> float:
    """Processor seconds of the processes of NVRTC alone that compile a source, one a release."""
    said, found = folder / "compiles.txt", []
    for _ in range(RUNS):
        cost([sys.executable, "-c", _COMPILES, str(source), *RELEASES], folder, said)
        found.append(float(said.read_text()))
    return min(found)


def compared(source: Path, folder: Path) -> Cost:
    """What the comparison of the releases takes, the compiles in it."""
    launch = source.parent / "launch.toml"
    told = ["--launch", str(launch)] if launch.exists() else []
    command = [
        sys.executable,
        "-m",
        "ptxaudit",
        "diff",
        str(source),
        *told,
        *(word for release in RELEASES for word in ("--toolchain", release)),
    ]
    return best(command, folder, RUNS, statuses=(0, 1))


def four_releases(folder: Path) -> Iterator[Figure]:
    """A source under four releases of NVRTC, over their four compiles alone."""
    from ptxaudit.frontend.compile import toolchain_fetch

    for release in RELEASES:
        toolchain_fetch.ensure("nvrtc", release)
    for name in SOURCES:
        source = CHECKOUT / name
        whole, alone = compared(source, folder), compiles(source, folder)
        yield Figure(
            f"{source.name} under four releases, over the four compiles alone",
            whole.seconds / alone,
            GOAL,
            "",
            f"{whole.seconds:.2f} s against {alone:.2f} s",
        )
