"""ptxas's translation of wmma.load and wmma.store: the machine instructions, and the addresses of their lanes.

    wmma.load.a.…row.m16n16k16.shared.f16     one LDSM.16.M88.4: lane l addresses row l % 16, byte 16·(l / 16)
    wmma.store.d.…row.m16n16k16.shared.f32    four STS.64: row l / 4 + 8·i, columns 2·(l % 4) + 8·j and the next one
    wmma.load.b.…row.m16n16k16.shared.s8      eight LDS.U8: row 4·(l % 4) + i, column l / 4 + 8·j

PTX does not specify which lane holds which element ("Matrix Fragments for WMMA"). ptxas has one translation of each
access, which was read from its machine code: releases 11.8, 12.9, 13.0 and 13.5 agree, for a stride in a register, a
constant stride and none, and for sm_80 to sm_120 (`bench/fragments.py` reads it again, tests/frontend/test_fragments.py
compares). Three generations differ:

- sm_80 and later. Lane l is at row g = l / 4 of 8 and at place t = l % 4 of 4. Each place is a *run* of consecutive
  elements along the inner axis (k of a and b; the columns of c and d): 4 bytes of them, and 2 elements for
  accumulators. If memory is contiguous along that axis (*natural*: a row-major, b column-major, c and d row-major), a
  run is one access; otherwise each element of a run is one. 16-bit elements are transposed in registers, so both
  layouts read 8 rows of 16 bytes. Factors of up to 16 bits are loaded by LDSM of such blocks, two along the outer axis
  at a time and all along the inner one; 8-bit factors across the layout, element by element. Accumulators of m8n32k16
  are laid out as those of the transposed product. Without `.shared` there is no LDSM, but LD of 4 bytes per lane.
- sm_75: LDSM of at most two blocks, the outer axis first; integer accumulators of m8n32k16 are not transposed.
- sm_70, sm_72: no LDSM; 16-bit factors and their accumulators are held by groups of eight lanes, one group for each
  quarter of the product.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

from ptxaudit.base.records import Record
from ptxaudit.hardware.machine_model import MATRIX_ROW_BYTES, MATRIX_ROWS

LANE_BITS = 5
PLACES = 4  # number of runs side by side, indexed by t
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
_OPCODE = re.compile(
    r"wmma\.(?:load\.([abc])|store\.(d))\.sync(?:\.aligned)?\.(row|col)\.m(\d+)n(\d+)k(\d+)(\.shared(?:::cta)?)?\.(\w+)$"
)

Steps = tuple[int, int, int, int, int]
Made = tuple[str, Steps, Steps, Iterable[tuple[int, int]]]  # the opcode, line, byte and starts of Requests


class Requests(Record):
    """The machine instructions of one access, all of one kind.

    opcode: the PTX that becomes the same instruction.
    line, byte: what each bit of the lane's number adds to the row in memory (rows are `ldm` elements apart) and to
    the byte in it.
    starts: (row, byte) of lane 0, one for each instruction.
    element: bits of one element in memory.
    ldm: elements, if the instruction does not specify it.
    """

    opcode: str
    line: Steps
    byte: Steps
    starts: tuple[tuple[int, int], ...]
    element: int
    ldm: int
    store: bool


class _Access(Record):
    """The parts of an opcode. m, n, k: extents of the product."""

    operand: str
    layout: str
    m: int
    n: int
    k: int
    shared: bool
    type: str

    @property
    def bits(self) -> int:
        return BITS[self.type]

    @property
    def factor(self) -> bool:
        return self.operand in "ab"

    @property
    def space(self) -> str:
        return ".shared" if self.shared else ""

    @property
    def extents(self) -> tuple[int, int]:
        """(rows in memory, elements in each)."""
        rows, columns = {"a": (self.m, self.k), "b": (self.k, self.n)}.get(self.operand, (self.m, self.n))
        return (rows, columns) if self.layout == "row" else (columns, rows)

    def plain(self, width: int) -> str:
        """The load or store of `width` bytes per lane."""
        return f"{'st' if self.operand == 'd' else 'ld'}{self.space}.b{8 * width}"


@lru_cache(maxsize=1024)
def requests(opcode: str, generation: str) -> Requests | None:
    """An opcode's translation on a generation (`machine_model.Machine.fragments`), None if it does not exist there."""
    found = _OPCODE.match(opcode)
    if found is None or found[8] not in BITS:
        return None
    a = _Access(found[1] or found[2], found[3], int(found[4]), int(found[5]), int(found[6]), bool(found[7]), found[8])
    if a.type not in EXIST.get(generation, ()):
        return None
    natural = a.layout == ("col" if a.operand == "b" or not a.factor and _transposed(a, generation) else "row")
    if generation == VOLTA and a.type in ("f16", "f32"):
        made = _of_octets(a, natural)
    elif a.shared and generation != VOLTA and a.factor and (natural or a.bits == 16) and a.bits <= 16:
        made = _matrices(a, natural, 2 if generation == TURING else 4)
    else:
        made = _of_quads(a, natural)
    opcode, line, byte, starts = made
    return Requests(opcode, line, byte, tuple(starts), a.bits, a.extents[1], a.operand == "d")


VOLTA, TURING, AMPERE = "volta", "turing", "ampere"
_INTEGERS = ("s8", "u8", "s32")
EXIST = {VOLTA: ("f16", "f32", *_INTEGERS), TURING: ("f16", "f32", *_INTEGERS, "s4", "u4", "b1"), AMPERE: tuple(BITS)}


def _transposed(a: _Access, generation: str) -> bool:
    """Whether the accumulators are laid out as those of the transposed product."""
    return (a.m, a.n) == (8, 32) and a.type in {TURING: ("f16", "f32"), AMPERE: ("f16", "f32", "s32")}.get(
        generation, ()
    )


# --- sm_75 and later ------------------------------------------------------------------------


def _of_quads(a: _Access, natural: bool) -> Made:
    """Four lanes side by side on each of eight rows."""
    rows, elements = a.extents
    size = a.bits // 8
    run = 1 if a.factor else 2
    if a.bits <= 16:
        run = 32 // a.bits
    if natural or a.bits == 16:
        width = run * a.bits // 8
        starts = product(range(0, rows, MATRIX_ROWS), range(0, elements * a.bits // 8, PLACES * width))
        return a.plain(width), (0, 0, 1, 2, 4), (width, 2 * width, 0, 0, 0), starts
    starts = product(
        (j + i for j in range(0, rows, PLACES * run) for i in range(run)), range(0, elements * size, MATRIX_ROWS * size)
    )
    return a.plain(size), (run, 2 * run, 0, 0, 0), (0, 0, size, 2 * size, 4 * size), starts


def _matrices(a: _Access, natural: bool, most: int) -> Made:
    """LDSM: eight lanes address the rows of a block of 8 x 16 bytes; bits 3 and 4 of the lane select the block."""
    rows, elements = a.extents
    down, right = rows // MATRIX_ROWS, elements * a.bits // 8 // MATRIX_ROW_BYTES
    outer, inner = (down, right) if natural else (right, down)
    outer_step, inner_step = (MATRIX_ROWS, 0), (0, MATRIX_ROW_BYTES)
    if not natural:
        outer_step, inner_step = inner_step, outer_step
    inner_first = a.operand == "b" and outer == 2  # of m16n16k16
    along_outer = min(2, outer, most // inner if inner_first else most)
    along_inner = min(inner, most // along_outer)
    steps = [outer_step] * (along_outer > 1) + [inner_step] * (along_inner > 1) + [(0, 0)] * 2
    if inner_first and along_outer > 1 and along_inner > 1:
        steps[:2] = steps[1::-1]
    line = (1, 2, 4, steps[0][0], steps[1][0])
    byte = (0, 0, 0, steps[0][1], steps[1][1])
    starts = (
        (o * outer_step[0] + i * inner_step[0], o * outer_step[1] + i * inner_step[1])
        for o in range(0, outer, along_outer)
        for i in range(0, inner, along_inner)
    )
    return (
        f"ldmatrix.sync.aligned.m8n8.x{along_outer * along_inner}{'' if natural else '.trans'}.shared.b16",
        line,
        byte,
        starts,
    )


# --- sm_70 and sm_72: 16-bit factors and their accumulators -----------------------------------

# what bits 2 and 3 of the lane add to the row and to the column of the product
_QUARTERS = {(16, 16): ((8, 0), (0, 8)), (32, 8): ((8, 16), (0, 0)), (8, 32): ((0, 0), (8, 16))}


def _of_octets(a: _Access, natural: bool) -> Made:
    """Eight lanes, four of them in each half-warp, for each quarter of the product."""
    down, right = _QUARTERS[a.m, a.n]
    if a.factor:
        x, y = down if a.operand == "a" else right
        if natural:
            return a.plain(16), (1, 2, x, y, 4), (0, 0, 0, 0, 0), ((0, 0), (0, 16))
        return a.plain(8), (1, 2, 0, 0, 0), (0, 0, 2 * x, 2 * y, 8), ((i, 0) for i in range(0, a.k, 4))
    (mx, my), (nx, ny) = down, right
    if a.type == "f16":
        if natural:
            return a.plain(16), (1, 2, mx, my, 4), (0, 0, 2 * nx, 2 * ny, 0), ((0, 0),)
        return a.plain(2), (0, 0, nx, ny, 0), (2, 4, 2 * mx, 2 * my, 8), ((i, 0) for i in range(8))
    if natural:
        return a.plain(8), (1, 0, mx, my, 4), (0, 8, 4 * nx, 4 * ny, 0), product((0, 2), (0, 16))
    return a.plain(4), (0, 2, nx, ny, 0), (4, 0, 4 * mx, 4 * my, 16), product((0, 1, 4, 5), (0, 8))
