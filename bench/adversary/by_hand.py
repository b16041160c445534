"""Kernels written by hand to break the engine (`kernels/`), in many builds, to be measured.

python -m bench.adversary.by_hand FOLDER [NUMBER…]            a plan, as `plan` makes them
python -m bench.adversary.by_hand FOLDER --kernels OTHER      … of the kernels in another folder
python -m bench.adversary.gpu run FOLDER -o OUT               on the GPU machine
python -m bench.adversary compare FOLDER OUT --isa sass       the claims against the counters

The first lines of a kernel list its launches, `// launch GRID BLOCK n=N [cluster=C] [shared=BYTES]`, where GRID, BLOCK
and C may have up to three dimensions (16x8x2), and BYTES is the dynamic shared memory; all kernels have the same
parameters. The file NUMBER-name.cu has the kernel kNUMBER.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.adversary import builds, plan
from bench.adversary.program import Fill, Parameter, Program, Routine, Shape

KERNELS = Path(__file__).parent / "kernels"
BUILDS = (
    "nvcc-O3",
    "nvcc-O0",
    "nvcc-G",
    "nvrtc-O1",
    "nvcc-r24",
    "nvcc-fast",
    "nvcc-rdc",
    "nvcc-ptxas-O0",
)
PARAMETERS = (
    Parameter("out", "unsigned*", "buffer", 8, "out"),
    Parameter("src", "const unsigned*", "buffer", 8, "src"),
    Parameter("n", "unsigned", "number", 4),
    Parameter("f", "float", "number", 4),
)
F = 1.5
BUFFERS = {"out": Fill(), "src": Fill(step=7, shift=3, modulo=1024)}
_SIZE = r"\d+(?:x\d+){0,2}"
_NOTED = re.compile(
    rf"^// launch ({_SIZE}) ({_SIZE}) n=(\d+)(?: cluster=({_SIZE}))?(?: shared=(\d+))?\s*$", re.MULTILINE
)


@dataclass(frozen=True)
class Written(Program):
    """A program whose source is a file."""

    text: str = ""

    def source(self) -> str:
        return self.text


def programs(numbers: frozenset[int] = frozenset(), folder: Path = KERNELS, suffix: str = ".cu") -> Iterator[Written]:
    """The kernels of the folder with these numbers, or all, in order."""
    for path in sorted(folder.glob(f"*{suffix}")):
        if not numbers or int(path.stem.split("-")[0]) in numbers:
            yield read(path.stem, path.read_text())


def read(stem: str, text: str) -> Written:
    """The program of a file "NUMBER-name", with the launches that its text lists."""
    number, name = stem.split("-", 1)
    return Written(
        int(number),
        f"k{number}",
        (name,),
        (),
        (),
        Routine("", ()),
        PARAMETERS,
        BUFFERS,
        {},
        tuple(_shape(*noted) for noted in _NOTED.findall(text)),
        text=text,
    )


def _shape(grid: str, block: str, n: str, cluster: str, shared: str) -> Shape:
    return Shape(
        _size(grid), _size(block), _size(cluster) if cluster else None, int(shared or 0), {"n": int(n), "f": F}
    )


def _size(text: str) -> tuple[int, int, int]:
    x, y, z = (*map(int, text.split("x")), 1, 1)[:3]
    return x, y, z


def compiled(made: Iterable[Written], names: Iterable[str]) -> Iterator[tuple[Program, builds.Built | str]]:
    for program in made:
        for build in names:
            try:
                yield program, builds.compile_build(program, build)
            except builds.NotBuilt as error:
                yield program, f"{program.seed} {build}: {error}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.adversary.by_hand")
    parser.add_argument("out", type=Path, metavar="FOLDER")
    parser.add_argument("numbers", type=int, nargs="*", metavar="NUMBER")
    parser.add_argument("--kernels", type=Path, default=KERNELS, metavar="FOLDER")
    parser.add_argument("--build", action="append", choices=list(builds.EVERY), metavar="NAME")
    chosen = parser.parse_args()
    made = programs(frozenset(chosen.numbers), chosen.kernels)
    plan.write(chosen.out, compiled(made, chosen.build or BUILDS), 99)


if __name__ == "__main__":
    main()
