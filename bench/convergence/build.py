"""Compiles the kernels of `sources` with several sets of options; needs no GPU.

python -m bench.convergence.build FOLDER --first 0 --count 200 [--ways O3,O0,G]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .frame import Frame
from .sources import source

WAYS = {
    "O3": ("-lineinfo",),
    "O1": ("-lineinfo", "-Xptxas", "-O1"),
    "O0": ("-lineinfo", "-Xptxas", "-O0"),
    "G": ("-G",),
    "r24": ("-lineinfo", "-maxrregcount=24"),
}
KERNELS = 20  # per source


def compile_one(nvcc: str, file: Path, way: str) -> str:
    """Compiles FOLDER/kNNN.cu to FOLDER/kNNN.WAY.cubin; returns the compiler's messages if that failed."""
    out = file.with_suffix(f".{way}.cubin")
    done = subprocess.run(
        [nvcc, "-arch=sm_90", "-cubin", "-w", *WAYS[way], "-o", out, file], capture_output=True, text=True
    )
    return f"{file.name} {way}: {done.stderr}" if done.returncode else ""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--no-syncs", action="store_true", help="without shuffles and __syncwarp")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    Frame.build().save(options.folder / "frame")
    files = []
    for first in range(options.first, options.first + options.count, KERNELS):
        files.append(options.folder / f"k{first:05}.cu")
        files[-1].write_text(source(range(first, first + KERNELS), not options.no_syncs), encoding="utf-8")
    with ThreadPoolExecutor(options.jobs) as pool:
        said = list(
            pool.map(
                lambda task: compile_one(options.nvcc, *task),
                [(f, way) for f in files for way in options.ways.split(",")],
            )
        )
    print(*(s for s in said if s), sep="\n")
    return int(any(said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
