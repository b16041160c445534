"""Kernels in C, PTX and Python (`kernels/`, `numba_kernels`), built by clang, ptxas and Numba, to be measured.

python -m bench.languages.written_cases FOLDER --clang PROGRAM     a plan, as `bench.adversary.plan` makes them

PROGRAM is a clang with the NVPTX target (`zig clang`, of the package ziglang, is one); without it, kernels in C are
left out. Needs no GPU; Numba only for its kernels. The first lines of a file list its launches, as in
`bench.adversary.by_hand`. All kernels have the parameters (out, src, n, f).
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.adversary import by_hand, plan
from bench.adversary.builds import SECONDS, Built, NotBuilt
from bench.adversary.program import Parameter, Program

KERNELS = Path(__file__).parent / "kernels"
ARCH = "sm_90"
CLANG = ("O0", "O1", "O2", "O3")
PTXAS = ("O3", "O0")
FIRST_OF_NUMBA = 9701
ELEMENTS = 4096  # of each buffer, of 4 bytes
FIELDS = {"meminfo": 0, "parent": 0, "items": ELEMENTS, "itemsize": 4, "shape": ELEMENTS, "strides": 4}
ARRAYS = {f"{array}.{field}": value for array in ("out", "src") for field, value in FIELDS.items()}


def in_c(numbers: frozenset[int], clang: Sequence[str]) -> Iterator[tuple[Program, Built | str]]:
    for program in by_hand.programs(numbers, KERNELS, ".c"):
        for level in CLANG:
            try:
                text = _compiled(program, clang, level)
                yield program, _assembled(text, f"clang-{level}", "O0" if level == "O0" else "O3")
            except NotBuilt as error:
                yield program, f"{program.name} {level}: {error}"


def _compiled(program: by_hand.Written, clang: Sequence[str], level: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "kernel.c"), Path(folder, "kernel.ptx")
        source.write_text(program.source())
        options = ["--target=nvptx64-nvidia-cuda", f"-march={ARCH}", f"-{level}", "-w", f"-I{KERNELS}"]
        command = [*clang, *options, "-S", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode or not made.is_file():
            raise NotBuilt(done.stdout + done.stderr)
        return made.read_text()


def in_ptx(numbers: frozenset[int]) -> Iterator[tuple[Program, Built | str]]:
    for program in by_hand.programs(numbers, KERNELS, ".ptx"):
        for level in PTXAS:
            try:
                yield program, _assembled(program.source(), f"ptxas-{level}", level)
            except NotBuilt as error:
                yield program, f"{program.name} {level}: {error}"


def _assembled(text: str, build: str, level: str) -> Built:
    from ptxaudit.base.errors import InputError
    from ptxaudit.frontend.compile.ptxas import assemble

    try:
        made = assemble(text, ARCH, options=(f"-{level}",))
    except InputError as error:
        raise NotBuilt(error.detail or str(error)) from None
    return Built(build, ARCH, made.cubin, text, Path(made.tool.path).name)


def in_numba() -> Iterator[tuple[Program, Built | str]]:
    from numba import cuda, types

    from bench.languages import numba_kernels

    array = types.Array(types.uint32, 1, "C")
    for number, (kernel, launches) in enumerate(numba_kernels.LAUNCHES.items(), FIRST_OF_NUMBA):
        for optimised in (True, False):
            text, _ = cuda.compile(
                kernel,
                (array, array, types.uint32, types.float32),
                cc=(9, 0),
                device=False,
                output="ptx",
                opt=optimised,
                abi="numba",
            )
            entry = text.split(".visible .entry ", 1)[1].split("(", 1)[0]
            notes = "\n".join(f"// launch {launch}" for launch in launches)
            made = by_hand.read(f"{number}-{kernel.__name__}", notes)
            shapes = tuple(replace(one, values={**ARRAYS, **one.values}) for one in made.shapes)
            made = replace(made, name=entry, parameters=tuple(_parameters()), shapes=shapes)
            yield made, _assembled(text, f"numba-{'O3' if optimised else 'O0'}", "O3" if optimised else "O0")


def _parameters() -> Iterator[Parameter]:
    """Numba's: for an array its owner, sizes, address, shape and strides."""
    for name in ("out", "src"):
        yield from (Parameter(f"{name}.{field}", "", "number", 8) for field in list(FIELDS)[:4])
        yield Parameter(f"{name}.data", "", "buffer", 8, name)
        yield from (Parameter(f"{name}.{field}", "", "number", 8) for field in list(FIELDS)[4:])
    yield from by_hand.PARAMETERS[2:]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.languages.written_cases")
    parser.add_argument("out", type=Path, metavar="FOLDER")
    parser.add_argument("numbers", type=int, nargs="*", metavar="NUMBER")
    parser.add_argument("--clang", type=shlex.split, metavar="PROGRAM")
    parser.add_argument("--numba", action="store_true", help="also those for Numba")
    chosen = parser.parse_args()
    numbers = frozenset(chosen.numbers)

    def made() -> Iterator[tuple[Program, Built | str]]:
        if chosen.clang:
            yield from in_c(numbers, chosen.clang)
        yield from in_ptx(numbers)
        if chosen.numba:
            yield from in_numba()

    plan.write(chosen.out, made(), 99)


if __name__ == "__main__":
    main()
