"""The cuda.tile kernels to compile: operations by type and tile, with rows that are multiples of 16 bytes or not.

    python -m bench.languages.tile_cases FOLDER

Needs cuda.tile and the tileiras of CUDA 13.5, which compiles for sm_90; no GPU.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    export_kernel,
)

from bench.languages import tile_kernels as kernels
from bench.languages.plan import ARCH, Buffer, Compiled, write
from ptxaudit.frontend.artifacts.cubin import read_cubin

FIRST_SEED = 21000  # of the plan's numbers, after those for Triton
TYPES = {"float16": ct.float16, "float32": ct.float32, "int32": ct.int32, "int8": ct.int8}
Shape = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """One kernel. arrays: (type, shape) of each; constants: sizes of its tiles; divisible: divides the row length."""

    kernel: Any
    arrays: tuple[tuple[str, Shape], ...]
    constants: tuple[int, ...]
    grid: tuple[int, int, int] = (1, 1, 1)
    divisible: int = 16


def products() -> Iterator[Case]:
    for m, n, k, size, inner in (
        (64, 64, 32, 128, 128),
        (32, 32, 32, 64, 128),
        (128, 64, 32, 128, 64),
        (16, 32, 64, 64, 128),
        (64, 128, 64, 128, 128),
        (128, 128, 64, 128, 128),
    ):
        arrays = (("float16", (size, inner)), ("float16", (inner, size)), ("float32", (size, size)))
        for divisible in (16, 1):
            yield Case(kernels.product, arrays, (m, n, k), (size // m, size // n, 1), divisible)
    for m, n, d in ((64, 64, 64), (32, 32, 64), (128, 64, 64), (64, 32, 128), (16, 64, 32)):
        for divisible in (16, 1):
            yield Case(kernels.attention, (("float16", (128, d)),) * 4, (m, n, d), divisible=divisible)


def tiles() -> Iterator[Case]:
    for type_ in TYPES:
        for m, n in ((32, 32), (64, 16), (64, 64), (16, 128)):
            size = 256 if type_ == "int8" else 128
            whole, rows = (type_, (size, size)), (type_, (size, n))
            for divisible in (16, 1):
                yield Case(kernels.transpose, (whole, whole), (m, n), (size // m, size // n, 1), divisible)
                yield Case(kernels.column_sums, ((type_, (m, size)), (type_, (16, size))), (m, n), divisible=divisible)
                if type_ != "int8":
                    yield Case(kernels.running_sums, (rows, rows), (m, n), (2, 1, 1), divisible)
                    yield Case(kernels.both_sums, (rows, rows), (m, n), divisible=divisible)
                if type_.startswith("float"):
                    yield Case(kernels.softmax, (rows, rows), (m, n), (2, 1, 1), divisible)


def array(type_: str, divisible: int) -> ArrayConstraint:
    """A matrix with contiguous rows."""
    return ArrayConstraint(
        TYPES[type_],
        2,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=[],
        may_alias_internally=False,
        stride_constant=(None, 1),
        stride_divisible_by=(divisible, 1),
        shape_divisible_by=divisible,
        base_addr_divisible_by=16,
    )


def compile_case(number: int, case: Case) -> Compiled:
    """Compiles a kernel. Each array is a pointer, its two sizes and its two strides, of 4 bytes each."""
    taken = [array(type_, case.divisible) for type_, _ in case.arrays]
    signature = KernelSignature(
        [*taken, *map(ConstantConstraint, case.constants)], CallingConvention.cutile_python_v1()
    )
    out = io.BytesIO()
    export_kernel(case.kernel, [signature], out, gpu_code=ARCH, output_format="cubin")
    name = f"tile{number:03}"
    (kernel,) = (function for function in read_cubin(out.getvalue(), name).functions if function.entry)
    return Compiled(
        name,
        next(name for name, one in vars(kernels).items() if one is case.kernel),
        out.getvalue(),
        "",
        kernel.name,
        case.grid,
        kernel.info.reqntid,
        0,
        tuple(one for type_, (rows, columns) in case.arrays for one in (Buffer(type_), rows, columns, columns, 1)),
        f"cuda.tile {version('cuda-tile')}",
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), (compile_case(i, one) for i, one in enumerate([*products(), *tiles()])), FIRST_SEED)
