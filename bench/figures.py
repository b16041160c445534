"""The figures, each a function that measures it and states its goal."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.compiled_figures import cubin, library, spaces
from bench.figure import Figure
from bench.measure import CHECKOUT, MEGABYTE, audit, best, cost
from bench.report_figures import recording, reports
from bench.speed_figures import thirty, tiny
from bench.upgrade_figures import four_releases, two_libraries

SAMPLES = CHECKOUT / "samples"
ARCH = "sm_90"

# Samples that together are one translation unit with a megabyte of PTX.
MEGABYTE_OF = ("gemm", "sgemm", "hgemm", "flash_attention", "cooperative_groups", "cluster", "fft", "convolution")


# --- one small kernel ------------------------------------------------------------------------

_COMPILE = """\
import sys, time
from ptxaudit.frontend.compile import nvrtc
nvrtc._library()
start = time.process_time()
nvrtc.compile_source(sys.argv[1])
print(time.process_time() - start)
"""


_TO_PTX = """\
import sys
from ptxaudit.frontend.compile import nvrtc
print(nvrtc.compile_source(sys.argv[1], arch=sys.argv[2]).ptx)
"""


def ptx_of(source: Path, folder: Path) -> Path:
    """The PTX of a source, compiled in a separate process: the memory of this process counts in its children's peak."""
    target = folder / f"{source.stem}.ptx"
    cost([sys.executable, "-c", _TO_PTX, str(source), ARCH], folder, target)
    return target


def small_kernel(folder: Path) -> Iterator[Figure]:
    """From .cu to report: process time beyond NVRTC's own compilation."""
    source = folder / "small.cu"
    source.write_text((SAMPLES / "basic" / "basic.cu").read_text())
    whole = best(audit("small.cu", "--grid", "1", "--block", "32"), folder).seconds
    said = folder / "compile.txt"
    compiling = []
    for _ in range(3):
        cost([sys.executable, "-c", _COMPILE, str(source)], folder, said)
        compiling.append(float(said.read_text()))
    note = f"{whole:.2f} s, of them {min(compiling):.2f} s in NVRTC"
    yield Figure("one small kernel, .cu to report, beyond NVRTC's own compile", whole - min(compiling), 0.6, "s", note)


# --- a megabyte of PTX -----------------------------------------------------------------------


def megabyte_source() -> str:
    """Several samples as one source, each in its own namespace, with all includes first."""
    includes, bodies = [], []
    for name in MEGABYTE_OF:
        text = (SAMPLES / name / f"{name}.cu").read_text()
        includes += re.findall(r"^#include.*$", text, re.MULTILINE)
        body = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)
        bodies.append(f"namespace {name}_sample {{\n{body}\n}}\n")
    return "\n".join([*dict.fromkeys(includes), *bodies])


def megabyte(folder: Path) -> Iterator[Figure]:
    """1 MB of PTX parsed and audited with nothing specified, compared with ptxas on the same file."""
    from ptxaudit.frontend.compile import toolchains

    source = folder / "megabyte.cu"
    source.write_text(megabyte_source())
    ptx = ptx_of(source, folder)
    audited = best(audit("megabyte.ptx"), folder, 2)
    ptxas = best([toolchains.get("ptxas").path, f"-arch={ARCH}", "megabyte.ptx", "-o", "megabyte.cubin"], folder, 1)
    size = ptx.stat().st_size / MEGABYTE
    note = f"{audited.seconds:.2f} s against {ptxas.seconds:.2f} s"
    yield Figure(
        f"{size:.1f} MB of PTX parsed and audited, over ptxas on the same file",
        audited.seconds / ptxas.seconds,
        1,
        "",
        note,
    )
    yield Figure("its peak memory", audited.megabytes, 300, "MB")


# --- a launch with its real grid -------------------------------------------------------------


def gemm(folder: Path) -> Iterator[Figure]:
    """One launch of the tiled GEMM of samples/gemm at 4096 x 4096 x 4096, in this process, after its compilation."""
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.review.audit import audit as in_process

    ptx = ptx_of(SAMPLES / "gemm" / "gemm.cu", folder)
    size, tile = 4096, 128
    seconds = {}
    for n in (tile, size):
        blocks = n // tile
        launch = Launch("gemm_int4<8>", grid=(blocks, blocks), block=(16, 16), params=(None, None, None, n, n))
        times = []
        for _ in range(3):
            start = time.process_time()
            report = in_process(ptx, kernels=("gemm_int4<8>",), launches=(launch,))
            times.append(time.process_time() - start)
        assert report.sites and all(site.settled for site in report.sites)
        seconds[n] = min(times)
    note = f"parsing of all 6 kernels of the file included; a grid of one block takes {seconds[tile]:.2f} s"
    yield Figure("a GEMM of 4096³, 1,024 blocks of 512 steps", seconds[size], 1, "s", note)


# --- requests given directly -----------------------------------------------------------------


def scoring(folder: Path) -> Iterator[Figure]:
    """Requests given by hand: 100,000 in one call, and a single one; each kind of counting with its slowest data."""
    from bench.scoring import CASES, MANY, measure

    found = {case.name: measure(case) for case in CASES}
    for name, goal, unit, seconds in (
        (f"{MANY:,} requests scored in one call", 0.5, "s", {name: one.many for name, one in found.items()}),
        ("one request", 50, "µs", {name: 1e6 * one.one for name, one in found.items()}),
    ):
        slowest = max(seconds, key=seconds.get)
        yield Figure(name, seconds[slowest], goal, unit, f"{slowest}: the slowest of {len(found)} kinds")


FIGURES: dict[str, Callable[[Path], Iterator[Figure]]] = {
    "small": small_kernel,
    "tiny": tiny,
    "thirty": thirty,
    "megabyte": megabyte,
    "gemm": gemm,
    "scoring": scoring,
    "cubin": cubin,
    "library": library,
    "spaces": spaces,
    "releases": four_releases,
    "libraries": two_libraries,
    "reports": reports,
    "recording": recording,
}


def as_json(figures: list[Figure]) -> str:
    """The figures as JSON, for programs that track them."""
    return json.dumps([vars(figure) | {"ratio": figure.ratio} for figure in figures], indent=2, ensure_ascii=False)
