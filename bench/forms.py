"""Collects the forms of instructions: opcodes with their modifiers and kinds of operands, no third-party code.

    python bench/forms.py WHEEL|LIBRARY|FOLDER|SOURCE.cu|SOURCE.ptx… [--megabytes 8]     adds to
                                                            tests/data/sass_forms.txt and tests/data/ptx_opcodes.txt

    LEA.HI.X R, R, R, R, #, P        a line of machine code: registers, predicates and numbers only by their kind
    mul.wide.u32                     a line of PTX

From every wheel, library or folder, `--megabytes` of machine code for each architecture are read, spread over its
images. Sources are compiled at several optimization levels, CUDA sources also for several architectures.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from bench.artifacts import OLDEST, ROOT, binaries, spread
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.container import images, read_images
from ptxaudit.frontend.artifacts.cubin import Cubin, read_cubin
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.sass.disassemble import disassemble

SASS, PTX = ROOT / "tests" / "data" / "sass_forms.txt", ROOT / "tests" / "data" / "ptx_opcodes.txt"
ARCHITECTURES = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120")
MOST_IMAGES, MOST_FUNCTIONS = 60, 60
_REGISTER = re.compile(r"(?<![A-Za-z0-9_.])(U?[RP])(?:\d+|Z|T)\b")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])(0x[0-9a-f]+|\d+(\.\d+)?(e[-+]?\d+)?)(?![A-Za-z0-9_])")
_COMMENT = re.compile(r"//[^\n]*")
_TARGET = re.compile(r"\.target\s+(\w+)")
_STATEMENT = re.compile(
    r"(?:^|[;{}:])\s*(?:@!?[%\w$]+\s+)?([a-z][a-z0-9_]*(?:\s*\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)+)\s", re.M
)


def form(opcode: str, operands: str) -> str:
    """LEA.HI.X, "R3, R4.reuse, R5, R9, 0x2, P0" -> "LEA.HI.X R, R, R, R, #, P"."""
    registers = _REGISTER.sub(r"\1", operands.replace(".reuse", ""))
    return f"{opcode} {_NUMBER.sub('#', registers)}".rstrip()


def of_cubins(cubins: list[Cubin]) -> set[str]:
    return {
        form(line.opcode, line.operands)
        for functions in disassemble(cubins)
        for lines in functions.values()
        if not isinstance(lines, InputError)
        for line in lines
    }


def of_ptx(text: str) -> set[str]:
    return {re.sub(r"\s", "", found[1]) for found in _STATEMENT.finditer(_COMMENT.sub("", text))}


def of_source(path: Path) -> Iterator[tuple[set[str], set[str]]]:
    """(forms of machine code, of PTX) for every architecture and optimization level; PTX has one architecture."""
    text = path.read_text()
    target = _TARGET.search(text) if path.suffix == ".ptx" else None
    for arch in ARCHITECTURES if target is None else (target[1],):
        try:
            ptx = text if target else compile_source(text, arch=arch).ptx
            yield set(), of_ptx(ptx)
            for level in ((), ("-O0",), ("-O1",)):
                yield of_cubins([read_cubin(assemble(ptx, arch, level).cubin, path.name)]), set()
        except InputError as error:
            print(f"{path.name} {arch}: {error.what[:80]}")


def of_binary(path: Path, limit: int) -> Iterator[tuple[set[str], set[str]]]:
    left: dict[str, int] = defaultdict(lambda: limit)
    with tempfile.TemporaryDirectory() as folder:
        for _, file in binaries(path, Path(folder)):
            try:
                found = images(str(file))
            except InputError:
                continue
            of = defaultdict(list)
            for image in found:
                if image.kind == "ptx" or int(image.arch[3:].rstrip("af")) >= OLDEST:
                    of[image.kind, image.arch].append(image)
            for key, group in of.items():
                for image, data in read_images(spread(group, MOST_IMAGES)):
                    if left[key] <= 0:
                        break
                    if isinstance(data, InputError):
                        continue
                    if image.kind == "ptx":
                        left[key] -= len(data)
                        yield set(), of_ptx(data.decode(errors="replace"))
                        continue
                    try:
                        cubin = read_cubin(data, image.name)
                        some = tuple(spread(list(cubin.functions), MOST_FUNCTIONS))
                        left[key] -= sum(len(function.code) for function in some)
                        yield of_cubins([replace(cubin, functions=some, elf=b"")]), set()
                    except InputError:
                        continue


def add(path: Path, lines: Iterable[str]) -> int:
    """Adds lines to a file of sorted lines; returns the number of lines."""
    known = set(path.read_text().splitlines()) if path.exists() else set()
    all_lines = sorted({*known, *lines} - {""})
    path.write_text("\n".join(all_lines) + "\n")
    return len(all_lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=float, default=8)
    arguments = parser.parse_args()
    for path in arguments.paths:
        sass, ptx = set(), set()
        for more, text in (
            of_source(path) if path.suffix in (".cu", ".ptx") else of_binary(path, int(arguments.megabytes * 2**20))
        ):
            sass |= more
            ptx |= text
        print(f"{path.name}: {add(SASS, sass)} forms of machine code, {add(PTX, ptx)} opcodes of PTX", flush=True)


if __name__ == "__main__":
    main()
