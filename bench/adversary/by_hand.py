"""Kernels written by hand to break the engine (`kernels/`), in many builds, to be measured.

python -m bench.adversary.by_hand FOLDER [NUMBER…]            a plan, as `plan` makes them
python -m bench.adversary.gpu run FOLDER -o OUT               on the GPU machine
python -m bench.adversary compare FOLDER OUT --isa sass       the claims against the counters

The first lines of a kernel list its launches, `// launch GRID BLOCK n=N [cluster=C]`; all kernels have the same
parameters.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
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
_NOTED = re.compile(r"// launch (\d+) (\d+) n=(\d+)(?: cluster=(\d+))?$", re.MULTILINE)


@dataclass(frozen=True)
class Written(Program):
    """A program whose source is a file."""

    text: str = ""

    def source(self) -> str:
        return self.text


def programs(numbers: frozenset[int] = frozenset()) -> Iterator[Written]:
    """The kernels with these numbers, or all, in order."""
    for path in sorted(KERNELS.glob("*.cu")):
        number, name = path.stem.split("-", 1)
        if numbers and int(number) not in numbers:
            continue
        text = path.read_text()
        yield Written(
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


def _shape(grid: str, block: str, n: str, cluster: str) -> Shape:
    return Shape(
        (int(grid), 1, 1), (int(block), 1, 1), (int(cluster), 1, 1) if cluster else None, 0, {"n": int(n), "f": F}
    )


def compiled(numbers: frozenset[int], names: tuple[str, ...]) -> Iterator[tuple[Program, builds.Built | str]]:
    for made in programs(numbers):
        for build in names:
            try:
                yield made, builds.compile_build(made, build)
            except builds.NotBuilt as error:
                yield made, f"{made.seed} {build}: {error}"


if __name__ == "__main__":
    plan.write(Path(sys.argv[1]), compiled(frozenset(map(int, sys.argv[2:])), BUILDS), 99)
