"""Tensors in explicit shared-memory layouts, recorded while a profiler counts (bench/recorded/measure.py).

    python gluon_program.py        on a GPU, with torch

Each case stores a tensor in one register layout and loads it in another; its number of blocks is its index in CASES,
counted from 1. Triton's own estimate for each access comes from `triton_estimates.py`.
"""

from dataclasses import dataclass
from typing import Any

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

WARPS = 4
ROWS, COLUMNS = (1, 0), (0, 1)  # the contiguous dimension first: the last, or the first


def blocked(each, lanes, order=ROWS, warps=None):
    """A register layout: elements per thread, threads per warp, in rows and columns of the tensor."""
    return gl.BlockedLayout(
        list(each), list(lanes), list(warps or ((WARPS, 1) if order == ROWS else (1, WARPS))), list(order)
    )


def swizzled(vec, per_phase, max_phase, order=ROWS):
    return gl.SwizzledSharedLayout(vec, per_phase, max_phase, list(order))


@dataclass(frozen=True)
class Case:
    """dtype: NumPy's; shape: of the tensor; stored, loaded: register layouts; shared: the layout between them."""

    dtype: str
    shape: tuple[int, int]
    stored: Any
    loaded: Any
    shared: Any


ROW, COLUMN = blocked((1, 1), (1, 32)), blocked((1, 1), (32, 1), COLUMNS)
ROW_4, COLUMN_4 = blocked((1, 4), (4, 8)), blocked((4, 1), (8, 4), COLUMNS)
ROW_8 = blocked((1, 8), (4, 8))
PLAIN = swizzled(1, 1, 1)
FLOATS = (
    (ROW, COLUMN, PLAIN),
    (ROW, COLUMN, swizzled(1, 1, 32)),
    (ROW, COLUMN, swizzled(1, 1, 8)),
    (ROW, COLUMN, swizzled(1, 4, 4)),
    (COLUMN, ROW, swizzled(1, 1, 1, COLUMNS)),
    (ROW, COLUMN, gl.PaddedSharedLayout.with_identity_for([[32, 1]], [32, 32], [1, 0])),
    (ROW, COLUMN, gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 32], [1, 0])),
    (ROW_4, COLUMN, gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 32], [1, 0])),
    (ROW_4, ROW, PLAIN),
    (ROW_4, COLUMN, swizzled(4, 1, 8)),
    (ROW_4, COLUMN_4, swizzled(4, 1, 8)),
    (COLUMN_4, ROW_4, PLAIN),
    (blocked((1, 2), (8, 4)), blocked((2, 1), (4, 8), COLUMNS), PLAIN),
    (blocked((1, 2), (2, 16)), blocked((2, 2), (16, 2)), swizzled(2, 1, 4)),
    (blocked((1, 4), (32, 1)), ROW_4, PLAIN),
    (blocked((1, 4), (16, 2)), blocked((1, 4), (8, 4)), PLAIN),
    (blocked((1, 1), (8, 4)), blocked((1, 1), (4, 8)), swizzled(1, 2, 2)),
)
HALVES = (
    (ROW, COLUMN, PLAIN),
    (ROW_8, COLUMN, swizzled(8, 1, 8)),
    (ROW_8, blocked((8, 1), (4, 8), COLUMNS), swizzled(8, 1, 4)),
    (blocked((1, 2), (1, 32)), blocked((2, 1), (32, 1), COLUMNS), swizzled(2, 1, 8)),
    (blocked((1, 4), (2, 16)), blocked((1, 8), (32, 1)), PLAIN),
)
OTHERS = (
    ("float64", (ROW, COLUMN, PLAIN)),
    ("float64", (blocked((1, 2), (4, 8)), COLUMN, swizzled(2, 1, 8))),
    ("int8", (ROW, COLUMN, PLAIN)),
    ("int8", (blocked((1, 16), (8, 4)), blocked((1, 4), (32, 1)), swizzled(16, 1, 4))),
)
CASES = (
    *(Case("float32", (32, 32), *one) for one in FLOATS),
    *(Case("float16", (64, 64), *one) for one in HALVES),
    *(Case(dtype, (32, 64), *one) for dtype, one in OTHERS),
    Case("float32", (4, 16), blocked((1, 1), (2, 16)), blocked((1, 1), (1, 32)), PLAIN),  # lanes that hold the same
    Case("float32", (64, 8), blocked((1, 1), (4, 8)), blocked((1, 4), (32, 1)), PLAIN),
)


@gluon.jit
def through(
    x,
    y,
    R: gl.constexpr,
    C: gl.constexpr,
    STORED: gl.constexpr,
    LOADED: gl.constexpr,
    SHARED: gl.constexpr,
):
    first = gl.program_id(0) * R * C
    i = gl.arange(0, R, layout=gl.SliceLayout(1, STORED))
    j = gl.arange(0, C, layout=gl.SliceLayout(0, STORED))
    values = gl.load(x + first + i[:, None] * C + j[None, :])
    tile = gl.allocate_shared_memory(x.dtype.element_ty, [R, C], SHARED)
    tile.store(values)
    again = tile.load(LOADED)
    i = gl.arange(0, R, layout=gl.SliceLayout(1, LOADED))
    j = gl.arange(0, C, layout=gl.SliceLayout(0, LOADED))
    gl.store(y + first + i[:, None] * C + j[None, :], again)


def main():
    import numpy
    import torch

    for at, case in enumerate(CASES):
        rows, columns = case.shape
        x = torch.from_numpy(numpy.zeros((at + 1) * rows * columns, case.dtype)).cuda()
        y = torch.from_numpy(numpy.zeros((at + 1) * rows * columns, case.dtype)).cuda()
        through[(at + 1,)](x, y, rows, columns, case.stored, case.loaded, case.shared, num_warps=WARPS)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
