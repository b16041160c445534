"""The figures of compiled files: one cubin, a library of 1,000 kernels, 1,000 cubins, and a rerun.

The kernels are those of samples/, each assembled for several architectures: real code of all sizes. Assembling them
takes some minutes; only the audit is measured.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.figure import Figure
from bench.measure import CHECKOUT, MEGABYTE, Cost, audit, best, cost

SAMPLES = CHECKOUT / "samples"
ARCHITECTURES = (
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
    "sm_89",
    "sm_88",
)  # architectures that support all, or nearly all, of the PTX for sm_90
CUBINS = ("scan", "transpose", "flash_attention", "hgemm", "gemm")
MANY = 1000
LARGE = 1400  # kernels of a large library, in seven architectures
JOBS = 4
EACH = 0.75  # share of each processor's time that is useful when the work is divided
CORES = 2  # on which ptxas runs
_ENTRY = re.compile(r"\.entry\s+(\w+)")

_ALL_PTX = """\
import sys
from pathlib import Path
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile.nvrtc import compile_source
for source in sys.argv[2:]:
    try:
        Path(sys.argv[1], Path(source).stem + ".ptx").write_text(compile_source(source, arch="sm_90").ptx)
    except InputError:
        pass          # needs sm_90a
"""


def samples_ptx(folder: Path) -> list[Path]:
    """The PTX of all samples, compiled in one separate process."""
    made = folder / "ptx"
    if not made.is_dir():
        made.mkdir()
        cost([sys.executable, "-c", _ALL_PTX, str(made), *map(str, sorted(SAMPLES.glob("*/*.cu")))], folder)
    return sorted(made.glob("*.ptx"))


def assembled(folder: Path) -> tuple[Path, Path]:
    """(a folder of one-kernel cubins, a fat binary of the same kernels), at least MANY of them."""
    from ptxaudit.frontend.compile import toolchains

    one, all_of, library = folder / "one", folder / "all", folder / "library.fatbin"
    if library.exists():
        return one, library
    one.mkdir()
    all_of.mkdir()
    ptxas = toolchains.get("ptxas").path
    tasks: list[list[str]] = []
    for arch in ARCHITECTURES:
        for source in samples_ptx(folder):
            text = re.sub(r"^\.target sm_\w+", f".target {arch}", source.read_text(), flags=re.MULTILINE)
            ptx = all_of / f"{arch}-{source.name}"
            ptx.write_text(text)
            tasks.append([ptxas, f"-arch={arch}", str(ptx), "-o", str(ptx.with_suffix(".cubin"))])
            tasks += [
                [ptxas, f"-arch={arch}", "-e", name, str(ptx), "-o", str(one / f"{arch}-{source.stem}-{at}.cubin")]
                for at, name in enumerate(_ENTRY.findall(text))
            ]
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(lambda task: subprocess.run(task, capture_output=True, check=False), tasks))
    packer = Path(toolchains.get("nvcc").path).parent / "fatbinary"
    images = [
        f"--image3=kind=elf,sm={cubin.name[3:].partition('-')[0]},file={cubin}"
        for cubin in sorted(all_of.glob("*.cubin"))
    ]
    subprocess.run(
        [str(packer), f"--create={library}", "-64", "--compress-all", *images], check=True, capture_output=True
    )
    assert len(list(one.glob("*.cubin"))) >= MANY
    return one, library


def cubin(folder: Path) -> Iterator[Figure]:
    """The audit of one cubin, with nothing specified, compared with the disassembler alone."""
    from ptxaudit.frontend.compile import toolchains

    nvdisasm = toolchains.get("nvdisasm").path
    ptx = {path.stem: path for path in samples_ptx(folder)}
    for name in CUBINS:
        target = folder / f"{name}.cubin"
        subprocess.run(
            [toolchains.get("ptxas").path, "-arch=sm_90", str(ptx[name]), "-o", str(target)],
            check=True,
            capture_output=True,
        )
        alone, audited = best([nvdisasm, target.name], folder, 3), best(audit(target.name), folder, 3)
        size = target.stat().st_size / 1000
        note = f"{audited.seconds:.2f} s against {alone.seconds:.2f} s, {size:.0f} kB"
        yield Figure(f"{name}.cubin audited, over the disassembler alone", audited.seconds / alone.seconds, 2, "", note)


def library(folder: Path) -> Iterator[Figure]:
    """A library and a folder of a thousand kernels, with nothing specified, and the folder again, unchanged."""
    one, fat = assembled(folder)
    for what, given in (("one library", fat), (f"{MANY:,} cubins", one)):
        found = cost(audit(given.name, "--format", "json", "-o", "report.json"), folder)
        note = f"process time, as if on one core; {(folder / 'report.json').stat().st_size / MEGABYTE:.0f} MB of JSON"
        yield Figure(f"{what}, of {MANY:,} kernels", found.seconds, 90, "s", note)
        yield Figure("its peak memory", found.megabytes, 500, "MB")
        if given is fat:
            yield from large(given, folder, found)
    again = ["env", f"XDG_CACHE_HOME={folder / 'cache'}", sys.executable, "-m", "ptxaudit", "audit", one.name]
    yield Figure(f"the {MANY:,} cubins again, nothing changed", best(again, folder, 2).seconds, 2, "s")


def large(fat: Path, folder: Path, found: Cost) -> Iterator[Figure]:
    """Extrapolates the time for a library of LARGE kernels; and measures how much faster several processes are."""
    kernels = len(json.loads((folder / "report.json").read_text(encoding="utf-8"))["kernels"])
    note = f"{found.seconds:.1f} s for {kernels:,}"
    yield Figure(f"of such a library, {LARGE:,} kernels", found.seconds * LARGE / kernels, 60, "s", note)
    jobs = min(JOBS, len(os.sched_getaffinity(0)))
    if jobs > 1:  # with one processor, nothing can be divided
        divided = cost(audit(fat.name, "--format", "json", "-o", "divided.json", "--jobs", str(jobs)), folder)
        note = f"{divided.elapsed:.1f} s against {found.elapsed:.1f} s, as long as the machine does nothing else"
        name = f"the library by {jobs} processes, time from beginning to end over that of one"
        yield Figure(name, divided.elapsed / found.elapsed, 1 / (EACH * jobs), "", note)


def spaces(folder: Path) -> Iterator[Figure]:
    """The samples with --space all, relative to shared memory alone, as PTX and as machine code."""
    from ptxaudit.frontend.compile import toolchains

    ptx = samples_ptx(folder)
    made = folder / "cubins"
    made.mkdir(exist_ok=True)
    for path in ptx:
        subprocess.run(
            [toolchains.get("ptxas").path, "-arch=sm_90", str(path), "-o", str(made / f"{path.stem}.cubin")],
            capture_output=True,
            check=False,
        )
    for what, given in (("PTX", "ptx"), ("machine code", "cubins")):
        alone, every = (best(audit(given, *more), folder, 3).seconds for more in ((), ("--space", "all")))
        note = f"{every:.2f} s against {alone:.2f} s, {len(ptx)} files"
        yield Figure(f"the samples' {what}, all memories over shared memory alone", every / alone, 1.6, "", note)
