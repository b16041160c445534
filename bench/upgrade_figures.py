"""The figures of comparing a source under four releases of NVRTC, and two libraries.

The first are relative to the four compilations alone. Everything but compilation has a fixed cost, however long the
source is: Python with its packages, and the disassembler, which takes a quarter of a second for one instruction as
for ten thousand. The shorter the compilations, the greater the ratio. A source is compiled each time; if the code is
the same as before, the rest comes from the cache.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.figure import Figure
from bench.measure import CHECKOUT, Cost, best, cost

RELEASES = ("11.8", "12.4", "12.9", "13.5")
OF_CUB = ("12.6", "12.8", "12.9", "13.5")  # NVRTC cannot compile the headers of older ones
SOURCES: dict[str, Sequence[str]] = {  # with the releases
    "bench/kernels/cub_exchange/cub_exchange.cu": OF_CUB,
    "bench/kernels/cub_sort/cub_sort.cu": OF_CUB,
    "samples/hgemm/hgemm.cu": RELEASES,
    "samples/flash_attention/flash_attention.cu": RELEASES,
    "samples/transpose/transpose.cu": RELEASES,
    "samples/radix_sort/radix_sort.cu": RELEASES,
}
ASSEMBLERS = ("12.4", "13.5")
OF_LIBRARY = ("sm_80", "sm_90")
RUNS = 3
GOAL = 1.5

_COMPILES = """\
import os, sys
from pathlib import Path
from ptxaudit.frontend.compile import nvrtc, nvrtc_remote, toolchains
for release in sys.argv[2:]:
    nvrtc.compile_source(Path(sys.argv[1]), tool=toolchains.get("nvrtc", release))
for worker in list(nvrtc_remote._workers.values()):
    worker.close()
times = os.times()
print(times.children_user + times.children_system)
"""


def compiles(source: Path, releases: Sequence[str], folder: Path) -> float:
    """Processor seconds of NVRTC's processes that compile a source, one per release, alone."""
    said, found = folder / "compiles.txt", []
    for _ in range(RUNS):
        cost([sys.executable, "-c", _COMPILES, str(source), *releases], folder, said)
        found.append(float(said.read_text()))
    return min(found)


def by_nvcc(source: Path, folder: Path) -> float:
    """Processor seconds of one compilation of a source by nvcc, as in a build."""
    from ptxaudit.frontend.compile import toolchains
    from ptxaudit.frontend.options import DEFAULT_ARCH

    command = [toolchains.get("nvcc").path, "-cubin", f"-arch={DEFAULT_ARCH}", "-lineinfo", str(source)]
    return best([*command, "-o", str(folder / "nvcc.cubin")], folder, RUNS).seconds


def compared(source: Path, releases: Sequence[str], folder: Path, *options: str) -> Cost:
    """The cost of comparing the releases, including the compilations."""
    named = [word for release in releases for word in ("--toolchain", release)]
    command = [sys.executable, "-m", "ptxaudit", "diff", str(source), *named, *options]
    return best(command, folder, RUNS, statuses=(0, 1))


def four_releases(folder: Path) -> Iterator[Figure]:
    """A source under four releases of NVRTC, over the four compilations alone; and over four compilations by nvcc."""
    from ptxaudit.frontend.compile import toolchain_fetch

    for release in (*RELEASES, *OF_CUB):
        toolchain_fetch.ensure("nvrtc", release)
    for name, releases in SOURCES.items():
        source = CHECKOUT / name
        told = ["--launch", str(source.with_name("launch.toml"))]
        alone, commands = compiles(source, releases, folder), len(releases) * by_nvcc(source, folder)
        for what, options in (("", ["--no-cache"]), (", again", [])):
            whole = compared(source, releases, folder, *told, *options)
            yield Figure(
                f"{source.name} under four releases{what}, over the four compiles alone",
                whole.seconds / alone,
                GOAL,
                "",
                f"{whole.seconds:.2f} s against {alone:.2f} s",
            )
            yield Figure(
                f"{source.name} under four releases{what}, over as many commands of nvcc",
                whole.seconds / commands,
                GOAL,
                "",
                f"{whole.seconds:.2f} s against {commands:.2f} s",
            )


_OLDER_PTX = """\
import sys
from pathlib import Path
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import nvrtc, toolchains
for source in sys.argv[3:]:
    try:
        made = nvrtc.compile_source(source, arch="sm_80", tool=toolchains.get("nvrtc", sys.argv[2]))
        Path(sys.argv[1], Path(source).stem + ".ptx").write_text(made.ptx)
    except InputError:
        pass          # needs a newer architecture
"""


def libraries(folder: Path) -> tuple[int, list[Path]]:
    """(kernels, the two libraries): the samples' PTX from one compiler, assembled by two releases of ptxas."""
    from ptxaudit.frontend.compile import toolchain_fetch, toolchains

    made = folder / "older"
    made.mkdir()
    for kind, release in (("nvrtc", ASSEMBLERS[0]), *(("ptxas", release) for release in ASSEMBLERS)):
        toolchain_fetch.ensure(kind, release)
    sources = sorted((CHECKOUT / "samples").glob("*/*.cu"))
    cost([sys.executable, "-c", _OLDER_PTX, str(made), ASSEMBLERS[0], *map(str, sources)], folder)
    packer = Path(toolchains.get("nvcc").path).parent / "fatbinary"
    kernels, packed = 0, []
    for release in ASSEMBLERS:
        ptxas, images = toolchains.get("ptxas", release).path, []
        kernels = 0
        for arch in OF_LIBRARY:
            for ptx in sorted(made.glob("*.ptx")):
                cubin = made / f"{release}-{arch}-{ptx.stem}.cubin"
                done = subprocess.run([ptxas, f"-arch={arch}", str(ptx), "-o", str(cubin)], capture_output=True)
                if done.returncode == 0:
                    kernels += ptx.read_text().count(".entry")
                    images.append(f"--image3=kind=elf,sm={arch[3:]},file={cubin}")
        packed.append(folder / f"ptxas-{release}.fatbin")
        subprocess.run([str(packer), f"--create={packed[-1]}", "-64", *images], check=True, capture_output=True)
    return kernels, packed


def two_libraries(folder: Path) -> Iterator[Figure]:
    """Two libraries of the same kernels by two releases of ptxas, compared, and again."""
    kernels, (old, new) = libraries(folder)
    cache = ["env", f"XDG_CACHE_HOME={folder / 'compared'}"]
    command = [*cache, sys.executable, "-m", "ptxaudit", "diff", str(old), str(new), "-o", "diff.txt"]
    first, again = (cost(command, folder, statuses=(0, 1)) for _ in range(2))
    for what, found, goal in (("", first, 40), (", again", again, 3)):
        yield Figure(f"two libraries of {kernels:,} kernels compared{what}", found.seconds, goal, "s")
