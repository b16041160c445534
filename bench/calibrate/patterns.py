"""Address patterns of the lanes of one request, in units of the access's width. Seeded: the same each time.

destinations(random, 16, 40)     40 named patterns of 32 units each
masks(random, 20)                20 masks of active lanes
sources(random, 16, "rows")      32 source offsets in bytes
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

LANES = 32
WINDOW = 32 << 10  # bytes of shared memory that a request may access
SOURCE_WINDOW = 64 << 10  # bytes of global memory
EVERYONE = (1 << LANES) - 1
LINE = 128

_STRIDES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 20, 24, 31, 32, 33)


def units(width: int) -> int:
    """The number of units of this width in the window."""
    return WINDOW // width


def destinations(random: Random, width: int, count: int) -> Iterator[tuple[str, list[int]]]:
    """(name, unit of each lane): half regular, half random."""
    regular = [*_regular(width)]
    random.shuffle(regular)
    half = count // 2
    yield from regular[:half]
    for i in range(count - min(half, len(regular))):
        yield _random(random, width, i)


def _regular(width: int) -> Iterator[tuple[str, list[int]]]:
    for stride in _STRIDES:
        if stride * (LANES - 1) < units(width):
            yield f"stride{stride}", [stride * lane for lane in range(LANES)]
    for flip in (1, 3, 8, 15, 31):
        yield f"xor{flip}", [lane ^ flip for lane in range(LANES)]
    for rows in (2, 4, 8, 16):
        for pitch in (LINE, LINE + 16, LINE + 32, 64, 80):
            per = LANES // rows
            step = pitch // width if width <= 16 else 0
            yield f"rows{rows}x{pitch}", [lane // per * step + lane % per for lane in range(LANES)]
            yield f"columns{rows}x{pitch}", [lane % rows * step + lane // rows for lane in range(LANES)]
    for size in (2, 4, 8):
        yield f"same{size}", [lane // size for lane in range(LANES)]
        yield f"apart{size}", [lane // size * 37 % units(width) for lane in range(LANES)]
        yield f"again{size}", [lane % size for lane in range(LANES)]
    yield "swizzle", [lane // 8 * 8 + (lane % 8 ^ lane // 8) for lane in range(LANES)]


def _random(random: Random, width: int, i: int) -> tuple[str, list[int]]:
    span = min((2, 4, 8, 16, 32, 64, 128, 512, 4096)[i % 9], units(width))
    free = [random.randrange(span) for _ in range(LANES)]
    kind = i % 4
    if kind == 1:  # partners i^1 agree
        free = [free[lane & ~1] for lane in range(LANES)]
    elif kind == 2:  # partners i^2 agree
        free = [free[lane & ~2] for lane in range(LANES)]
    elif kind == 3:  # a permutation of consecutive units
        free = random.sample(range(LANES), LANES)
    return f"random{i}", free


def masks(random: Random, count: int, none: bool = False) -> Iterator[int]:
    """Masks: all lanes most often, then halves, single lanes, random ones of several densities."""
    fixed = [EVERYONE, 0xFFFF, 0xFFFF0000, 0x55555555, 0xFF, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFF, *([0] if none else [])]
    for i in range(count):
        if i % 2 == 0:
            yield EVERYONE
        elif i // 2 < len(fixed):
            yield fixed[i // 2]
        else:
            keep = (1, 2, 4, 6, 7)[i // 2 % 5]
            mask = sum(1 << lane for lane in range(LANES) if random.randrange(8) < keep)
            yield mask or 2


def sources(random: Random, width: int, kind: str) -> list[int]:
    """Source offsets in bytes, each a multiple of the width."""
    per = LINE // width
    if kind == "contiguous":
        return [width * lane for lane in range(LANES)]
    if kind == "rows":  # rows of a tile in a matrix with a pitch
        across = random.choice([2, 4, 8, 16])
        pitch = random.choice([128, 144, 256, 320, 512, 1024, 1152, 2048])
        return [lane // across * pitch + lane % across * width for lane in range(LANES)]
    if kind == "stride":
        return _strided(random, width)
    if kind == "lines":  # a few lines, random words
        lines = random.sample(range(64), random.choice([2, 2, 3, 4, 5, 8]))
        return [random.choice(lines) * LINE + random.randrange(per) * width for _ in range(LANES)]
    if kind == "permuted":
        start = random.randrange(4) * 32
        return [start + width * unit for unit in random.sample(range(LANES), LANES)]
    if kind == "near":
        return [random.randrange(4 * per) * width for _ in range(LANES)]
    return [random.randrange(SOURCE_WINDOW // width) * width for _ in range(LANES)]


def _strided(random: Random, width: int) -> list[int]:
    stride = random.choice([2, 3, 4, 5, 8, 16]) * width
    return [lane * stride for lane in range(LANES)]


SOURCE_KINDS = ("contiguous", "rows", "stride", "lines", "permuted", "near", "random")
