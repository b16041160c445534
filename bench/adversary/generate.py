"""Generates a kernel from a seed: one feature in rotation, possibly some others, and random statements in between.

program(17).source()      CUDA C++; the same text on every machine
program(17).shapes        its launches
"""

from __future__ import annotations

from math import prod

from bench.adversary import (  # noqa: F401 (they register their features)
    features_agreed,
    features_algorithms,
    features_block,
    features_bounds,
    features_layout,
    features_memory,
    features_ranked,
    features_scanned,
    features_warp,
)
from bench.adversary.builder import BARRIER, PLACES, SLOTS, VARIABLES, WORDS, Builder
from bench.adversary.dice import Dice
from bench.adversary.features import FEATURES
from bench.adversary.program import Line, Program, Routine, Shape, Statement
from bench.adversary.writer import FOLD

NAMES = tuple(sorted(FEATURES))
LAUNCHES = 3  # per kernel
OTHERS = 2  # the maximum number of features in addition to the first

# Features in which every thread of a block has to reach every barrier and every shuffle, so that none exits early.
TOGETHER = frozenset(
    (
        "through_shared",
        "kept_pointers",
        "copies",
        "shuffles",
        "votes",
        "warp_loops",
        "tiles",
        "barriers",
        "mbarriers",
        "matrices",
        "clusters",
        "rewritten",
        "agreed",
        "tickets",
        "few",
        "ranks",
        "scans",
        "block_scans",
        "searches",
        "digits",
        "segments",
        "double_buffers",
        "chased",
        "sorts",
        "roles",
        "collectives",
        "merge_paths",
        "packed_ranks",
        "cases",
        "delivered",
        "candidates",
        "lane_sums",
    )
)
LEAVING = frozenset(("early_return",))

BLOCKS = (
    (1, 1, 1),
    (7, 1, 1),
    (16, 1, 1),
    (31, 1, 1),
    (32, 1, 1),
    (33, 1, 1),
    (48, 1, 1),
    (64, 1, 1),
    (97, 1, 1),
    (128, 1, 1),
    (160, 1, 1),
    (256, 1, 1),
    (8, 8, 1),
    (16, 5, 1),
    (5, 7, 1),
    (3, 5, 7),
    (10, 3, 2),
    (1, 33, 1),
    (2, 2, 17),
    (20, 4, 1),
    (33, 3, 1),
    (24, 1, 4),
    (16, 16, 1),
    (8, 4, 1),
)
WHOLE = ((32, 1, 1), (64, 1, 1), (128, 1, 1), (256, 1, 1), (16, 16, 1), (8, 4, 2), (32, 3, 1), (4, 8, 3), (8, 8, 1))
MANY = ((96, 1, 1), (128, 1, 1), (33, 3, 1), (64, 2, 1))  # grids for blocks of one warp
MANIER = ((256, 1, 1), (300, 1, 1), (97, 3, 1))  # grids for blocks of part of a warp
GRIDS = ((1, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 3, 2), (5, 1, 1), (1, 2, 1))
CLUSTERS = ((2, 1, 1), (1, 2, 1), (4, 1, 1), (3, 1, 1), (2, 2, 1), (1, 1, 2), None)
UNSIGNED = (0, 1, 2, 3, 5, 7, 8, 16, 31, 33, 64, 100, 129, 1000, 0xFFFF, 0x80000003)
SIGNED = (-1000, -7, -1, 0, 1, 3, 9, 33, 257)


def chosen(seed: int, dice: Dice) -> list[str]:
    """The features of a seed; the first is chosen in rotation."""
    first = NAMES[seed % len(NAMES)]
    refused = TOGETHER if first in LEAVING else LEAVING if first in TOGETHER else frozenset()
    others = [name for name in NAMES if name != first and name not in refused]
    names = [first, *dice.sample(others, dice.below(OTHERS + 1))]
    return names if not LEAVING & set(names) else [name for name in names if name not in TOGETHER or name == first]


def program(seed: int, only: tuple[str, ...] | None = None) -> Program:
    """The kernel of a seed. only: features to use instead of those that the seed chooses."""
    b = Builder(seed)
    dice = b.dice
    names = list(only) if only else chosen(seed, dice)
    if dice.chance(35):
        b.families(*dice.sample(("division", "packed", "bits", "funnel", "wide", "float"), 1))
    if dice.chance(40):
        b.source()
    for name in names:
        FEATURES[name](b)
    if not b.may_leave:
        b.writer.leave = None
    body: list[Statement] = []
    for item in b.items:
        if dice.chance(30):
            body += b.writer.body(4, 1)
        body.append(item)
    body += b.writer.body(5, 0)
    return Program(
        seed,
        f"k{seed}",
        tuple(names),
        tuple(_preamble(b)),
        tuple(b.routines),
        Routine(_head(b), (*_prologue(b), *body, *_epilogue(b))),
        tuple(b.parameters),
        b.buffers,
        b.symbols,
        tuple(_shapes(b)),
        b.after_routines,
        b.renamed,
    )


def _preamble(b: Builder) -> list[str]:
    shared = [array.declaration for array in b.writer.arrays] if b.file_scope else []
    slots = [f"__shared__ unsigned sx[{SLOTS}];"] if b.slots and b.file_scope else []
    return [*dict.fromkeys(b.preamble), FOLD, *shared, *slots, *b.preamble_after_arrays]


def _head(b: Builder) -> str:
    parameters = ", ".join(f"{p.type} {p.name}" for p in b.parameters)
    return f'extern "C" __global__ void {b.qualifier} k{b.seed}({parameters})'


def _prologue(b: Builder) -> list[Statement]:
    local = [] if b.file_scope else [Line(array.declaration, True) for array in b.writer.arrays]
    if b.slots and not b.file_scope:
        local.append(Line(f"__shared__ unsigned sx[{SLOTS}];", True))
    return [
        *local,
        Line(PLACES, True),
        Line("const unsigned nt = blockDim.x * blockDim.y * blockDim.z, warp = t >> 5; (void)warp;", True),
        Line(
            "const unsigned g0 = nt * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)), g = g0 + t;",
            True,
        ),
        Line("unsigned acc = t * 17u, u0 = t * 3u, u1 = n + t, u2 = g;", True),
        Line(VARIABLES, True),
        *b.declared,
    ]


def _epilogue(b: Builder) -> list[Statement]:
    last = [Line(f"acc += fold({array.name}[t & {array.count - 1}u]);") for array in b.writer.arrays]
    return [*([BARRIER] if not b.may_leave else []), *last, Line("out[g & 2047u] = acc + u0 + u1 + u2;", True)]


# --- launches -----------------------------------------------------------------------------------


def _shapes(b: Builder) -> list[Shape]:
    out: list[Shape] = []
    for _at in range(LAUNCHES):
        block = b.dice.choice(WHOLE if b.full_warps else BLOCKS)
        if b.threads:
            block = (b.threads, 1, 1)
        cluster = b.dice.choice(CLUSTERS) if b.clusters else None
        grid = b.dice.choice(GRIDS)
        if b.many_blocks:
            whole = b.full_warps or b.dice.chance(70)
            grid, block = (b.dice.choice(MANY), (32, 1, 1)) if whole else (b.dice.choice(MANIER), (13, 1, 1))
        if cluster:
            grid = tuple(blocks * b.dice.choice((1, 1, 2)) for blocks in cluster)
        if prod(grid) * prod(block) > WORDS:
            grid = cluster or (1, 1, 1)
        out.append(
            Shape(
                grid,
                block,
                cluster,
                b.dynamic,
                {p.name: _value(b, p.type, p.size) for p in b.parameters if p.kind in ("number", "bytes")},
            )
        )
    return out


def _value(b: Builder, type: str, size: int) -> int | str:
    if type == "int":
        return b.dice.choice(SIGNED)
    if type == "unsigned":
        return b.dice.choice(UNSIGNED)
    return b"".join(b.dice.below(1 << 16).to_bytes(4, "little") for _ in range(size // 4)).hex()
