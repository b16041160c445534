"""Plans the requests to measure: for each instruction patterns, masks, and sources or values if it takes them.

    write(Path("plan.json.gz"), "sm_90", "instructions")

Parts: `instructions` (patterns and masks for every kernel), `matrices` (partial warps), `copies` (cp.async.ca:
sources in and out of L1, several in flight), `zeros` (source size and ignore-src), `classes` (which source lines
share a class), `partial` (cp.async.cg of fewer than 16 bytes), `prefetching` (cp.async.ca.L2::128B), `generic`
(generic addresses), `merges` (wide loads of every kind), `sparse` (wide accesses with inactive lanes), `few` (wide
loads from one, two or three places, with inactive lanes), `scattered` (wide loads by one to ten lanes), `probe` (a
small part of each: a first look).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import Any

from bench.calibrate.build import available
from bench.calibrate.patterns import EVERYONE, LANES, LINE, SOURCE_KINDS, destinations, masks, sources

SEED = 7
SIZES = (4, 8, 16)
Request = dict[str, Any]
WHOLE_WARPS = ("ldmatrix", "stmatrix")
_COMMON = {"load": 8, "store": 6, "atomic": 5, "generic load": 16, "generic store": 8, "generic atomic": 8, "loop": 6}
_RARE = ("volatile",)


def write(output: Path, arch: str, part: str, only: str = "*") -> None:
    """Writes the plan of a part, or several. only: kernels, as globs separated by commas."""
    requests = [
        one
        for name in part.split(",")
        for one in PARTS[name](arch)
        if any(fnmatchcase(one["kernel"], glob) for glob in only.split(","))
    ]
    output.write_bytes(
        gzip.compress(json.dumps({"arch": arch, "requests": requests}, separators=(",", ":")).encode(), mtime=0)
    )
    print(f"{output}: {len(requests)} requests")


def request(kernel: str, pattern: str, addresses: list[int], active: int = EVERYONE, **more: Any) -> Request:
    return {"kernel": kernel, "pattern": pattern, "active": active, "addresses": addresses, **more}


def instructions(arch: str) -> Iterator[Request]:
    random = Random(SEED + 1)
    for one in available(arch):
        if one.kind == "copy" or one.ptx.startswith(WHOLE_WARPS):
            continue
        count = (
            3
            if any(word in one.name for word in _RARE)
            else 16
            if "128" in one.name and "atom" in one.name
            else _COMMON[one.kind]
        )
        patterns = [*destinations(random, one.width, count)]
        for (name, units), mask in zip(patterns, masks(random, 2 * count, none=one.off == "guard")):
            mask = mask if one.kind != "generic load" else EVERYONE
            yield request(
                one.name, name, [one.width * u for u in units], mask, values=[random.randrange(6) for _ in range(LANES)]
            )


def matrices(arch: str) -> Iterator[Request]:
    random = Random(SEED + 2)
    for one in available(arch):
        if not one.ptx.startswith(WHOLE_WARPS):
            continue
        for i, (name, units) in enumerate(destinations(random, 16, 10)):
            mask, threads = EVERYONE, LANES
            if i % 5 in (1, 2):
                mask = random.choice(
                    [
                        0xFF,
                        0xFFFF,
                        0xFFFFFF00,
                        0x7FFFFFFF,
                        0xFFFFFFFE,
                        0x0F0F0F0F,
                        0xFFFF0000,
                        random.getrandbits(32) | 1,
                    ]
                )
            elif i % 5 == 3:
                threads = random.choice([1, 7, 8, 12, 16, 17, 24, 31])
                mask = (1 << threads) - 1
            yield request(one.name, name, [16 * u for u in units], mask, threads=threads)


def copies(arch: str) -> Iterator[Request]:
    random = Random(SEED + 3)
    for size in SIZES:
        for i, (name, units) in enumerate(destinations(random, size, 42)):
            kind = SOURCE_KINDS[1:][i % 6]
            addresses, from_ = [size * u for u in units], sources(random, size, kind)
            mask = [*masks(random, 24)][i % 24] if i % 3 == 2 else EVERYONE
            yield request(f"ca{size}", f"{name}/{kind}", addresses, mask, sources=from_)
            # some lines or lanes are already in L1; then other sectors of the lines; then all
            lines = {s // LINE: random.randrange(2) for s in from_}
            by_line = [lines[s // LINE] for s in from_]
            by_lane = [random.randrange(2) for _ in range(LANES)]
            other = [1 | random.choice((32, 64, 96)) for _ in range(LANES)]
            for how, values in (("lines", by_line), ("lanes", by_lane), ("sectors", other)):
                yield request(
                    f"ca{size}_mixed", f"{name}/{kind}/touched {how}", addresses, mask, sources=from_, values=values
                )
        for i in range(10):  # rows of a tile, copied in halves: the second meets lines in flight
            rows = (
                [lane // 4 * 512 + lane % 4 * size for lane in range(LANES)] if i % 2 else sources(random, size, "rows")
            )
            to = (
                [size * random.randrange(64) for _ in range(LANES)] if i > 4 else [size * lane for lane in range(LANES)]
            )
            second = [s + (64 if i % 3 else 4 * size) for s in rows]
            yield request(f"ca{size}_flight2", "halves", to * 2, sources=rows + second)


def zeros(arch: str) -> Iterator[Request]:
    """Source sizes of 0 and the whole size, then any in between; the ignore-src predicate."""
    random = Random(SEED + 4)
    for name, size in (("ca4", 4), ("ca8", 8), ("ca16", 16), ("cg16", 16)):
        for i, (pattern, units) in enumerate(destinations(random, size, 24)):
            mask = [*masks(random, 12)][i % 12]
            mask = random.choice([EVERYONE, mask])
            one = random.random()
            values = [size if random.random() < one else 0 for _ in range(LANES)]
            if i % 4 == 3:
                values = [random.randrange(size + 1) for _ in range(LANES)]
            if i % 8 == 0:
                values = [0 if i % 16 else size] * LANES
            from_ = sources(random, size, "contiguous" if i % 2 else SOURCE_KINDS[i // 2 % 7])
            addresses = [size * u for u in units]
            yield request(f"{name}_srcsize", pattern, addresses, mask, sources=from_, values=values)
            if i % 2:
                yield request(
                    f"{name}_ignore", pattern, addresses, mask, sources=from_, values=[int(v == 0) for v in values]
                )


def zeros_of_lines(arch: str) -> Iterator[Request]:
    """Zeros beside copies of every kind of source, which are in L1 or not; and of one word that all lanes read."""
    random = Random(SEED + 8)
    for size in SIZES:
        for i, (pattern, units) in enumerate(destinations(random, size, 28)):
            kind = SOURCE_KINDS[i % 7]
            from_ = sources(random, size, kind) if i % 4 else [random.randrange(8) * size] * LANES
            share = random.choice((0.1, 0.5, 0.9))
            off = [int(random.random() < share) for _ in range(LANES)]
            for how, values in (("srcsize", [0 if one else size for one in off]), ("ignore", off)):
                for touched in ("", "_touched"):
                    name = f"{pattern}/{kind if i % 4 else 'one word'}"
                    yield request(
                        f"ca{size}_{how}{touched}", name, [size * u for u in units], sources=from_, values=values
                    )


def regular_zeros(arch: str) -> Iterator[Request]:
    """Zeros beside copies in regular patterns with conflict-free destinations.

    Sources: one word, distinct words, and two words in alternation; the words are in L1, or another word of their
    sector is, or none.
    """
    patterns = (0x55555555, 0xAAAAAAAA, 0xFFFF, 0x11111111, 0x77777777, 0x00FF00FF, 0x01010101, 0xFEFEFEFE, 0x5A0FF11E)
    for size in SIZES:
        from_ = {
            "one word": [16] * LANES,
            "own words": [size * (lane % (LINE // size)) for lane in range(LANES)],
            "two words": [16 + 16 * (lane % 2) for lane in range(LANES)],
        }
        for kind, sources_ in from_.items():
            for swap in (0, 2):
                addresses = [size * (lane ^ swap) for lane in range(LANES)]
                for pattern in patterns:
                    off = [pattern >> lane & 1 for lane in range(LANES)]
                    kept = [0 if one else size for one in off]
                    for how in ("srcsize", "srcsize_touched", "ignore", "ignore_touched", "ignore_near_touched"):
                        values = off if "ignore" in how else kept
                        name = f"xor{swap}/{kind}" + ("/another word in L1" if "near" in how else "")
                        yield request(f"ca{size}_{how}", name, addresses, sources=sources_, values=values)


def partial(arch: str) -> Iterator[Request]:
    """cp.async.cg of fewer than 16 bytes: mixes of zeros, parts and whole copies, repeated; a quarter-warp alone."""
    random = Random(SEED + 5)
    for i, (pattern, units) in enumerate(destinations(random, 16, 48)):
        mixes = (0, 16, *range(1, 16)), (1, 15), (8, 16), (0, 8), (4,)
        values = [random.choice(mixes[i % 5]) for _ in range(LANES)]
        mask = (EVERYONE, 0xFF, 0xFF00, EVERYONE, 0xFFFF)[i // 3 % 5]
        kind = ("contiguous", "rows", "permuted", "lines")[i % 4]
        one = request(
            "cg16_srcsize",
            f"{pattern}/{kind}",
            [16 * u for u in units],
            mask,
            sources=sources(random, 16, kind),
            values=values,
        )
        yield from (one, dict(one)) if i % 4 == 0 else (one,)
    straight = [16 * lane for lane in range(LANES)]
    for lines in range(1, 9):  # eight lanes into some destination lines, each lane to its own banks
        for step in (1, 3, 4):
            to = [LINE * step * (lane % lines) + 16 * lane for lane in range(8)] + straight[8:]
            yield request(
                "cg16_srcsize", f"{lines} lines, {step} apart", to, 0xFF, sources=straight, values=[8] * LANES
            )


def prefetching(arch: str) -> Iterator[Request]:
    """cp.async.ca that also prefetches the neighbourhood of its sources into L2."""
    random = Random(SEED + 6)
    for one in available(arch):
        if "_l2_" not in one.name:
            continue
        for i, (name, units) in enumerate(destinations(random, one.width, 12)):
            kind = SOURCE_KINDS[i % 6]
            mask = EVERYONE if i % 3 else [*masks(random, 24)][2 * i + 1]
            yield request(
                one.name,
                f"{name}/{kind}",
                [one.width * u for u in units],
                mask,
                sources=sources(random, one.width, kind),
            )


def merges(arch: str) -> Iterator[Request]:
    """Wide loads whose lanes i^1 or i^2 agree, or do not, by every kind of load."""
    random = Random(SEED + 7)
    for one in available(arch):
        if (
            one.kind not in ("load", "generic load")
            or one.width < 8
            or one.off == "guard"
            or one.ptx.startswith(WHOLE_WARPS)
        ):
            continue
        free = [random.randrange(64) for _ in range(LANES)]
        rows = {
            "same": [0] * LANES,
            "straight": [*range(LANES)],
            "pairs": [lane // 2 for lane in range(LANES)],
            "again8": [lane % 8 for lane in range(LANES)],
            "pairs apart": [free[lane & ~1] for lane in range(LANES)],
            "pairs i^2": [lane & ~2 for lane in range(LANES)],
            "pairs i^2 apart": [free[lane & ~2] for lane in range(LANES)],
            "one pair not": [*(lane // 2 for lane in range(LANES - 1)), 40],
        }
        for name, units in rows.items():
            for mask in (
                (EVERYONE, 0x5555_5555, 0x00FF_0FF0) if "pairs" in name and "apart" not in name else (EVERYONE,)
            ):
                yield request(one.name, name, [one.width * u for u in units], mask)


def sparse(arch: str) -> Iterator[Request]:
    """Wide accesses with inactive lanes: which masks make a load take twice as long for a group, and what one costs."""
    random = Random(SEED + 8)
    made: list[Request] = []
    for name, count in (
        ("lds64", 1500),
        ("lds128", 1500),
        ("lds64_guard", 300),
        ("lds128_guard", 300),
        ("lds_v2_b32", 100),
        ("lds_v4_b32", 100),
        ("sts64", 250),
        ("sts128", 250),
        ("ld_generic_v2", 150),
        ("ld_generic_v4", 150),
    ):
        width = 16 if name.endswith(("128", "128_guard", "v4", "v4_b32")) else 8
        for i in range(count):
            mask = _sparse_mask(random, i)
            span = random.choice((8, 16, 16, 32, 64, 64, 256, 256))
            free = [random.randrange(span) for _ in range(LANES)]
            agree, units = _agreeing(random, i // 7, free)
            made.append(request(name, f"sparse {agree} of {span}", [width * unit for unit in units], mask))
    made += [request("lds64", "seed 1332", addresses, mask) for mask, addresses in _OF_A_KERNEL]
    random.shuffle(made)
    yield from made


def few(arch: str) -> Iterator[Request]:
    """Wide loads from one, two or three places, with inactive lanes: the cost of lanes that read the same."""
    random = Random(SEED + 9)
    for name in ("lds64", "lds128", "lds64_guard", "lds128_guard"):
        width = 16 if "128" in name else 8
        for i in range(100):
            places = [random.randrange(64) for _ in range(1 + i % 3)]
            runs = random.choice((1, 2, 4, 7, 13))
            units = [places[lane // runs % len(places)] for lane in range(LANES)]
            mask = EVERYONE
            for _ in range(1 + i // 3 % 3):
                mask &= random.getrandbits(32) | random.getrandbits(32) * (i % 2)
            yield request(name, f"few {len(places)} by {runs}", [width * unit for unit in units], mask or 1)


# Requests of one LDS.128, by lane (bench/adversary, seed 96138), for which the load counter had one wavefront more in 5
# of 40 launches.
_OF_FEW_LANES: tuple[dict[int, int], ...] = (
    {1: 0, 2: 16, 9: 128, 13: 192, 17: 256, 25: 384, 27: 416},
    {1: 0, 3: 32, 10: 144, 20: 304, 31: 480},
    {1: 0, 6: 80, 17: 256, 30: 464},
    {16: 0, 31: 240},
)


def scattered(arch: str) -> Iterator[Request]:
    """Wide loads by one to ten lanes, anywhere in the warp; and the requests of a kernel, 32 times each."""
    random = Random(96138)
    made: list[Request] = []
    for places in _OF_FEW_LANES:
        mask = sum(1 << lane for lane in places)
        for name in ("lds128", "lds128_guard"):
            for base in (0, 16, 64, 512):
                addresses = [places.get(lane, 0) + base for lane in range(LANES)]
                made += [request(name, "seed 96138", addresses, mask) for _ in range(4)]
    for _ in range(1600):
        name = random.choice(("lds128", "lds128_guard", "lds64", "lds64_guard"))
        width = 16 if "128" in name else 8
        count = random.randrange(1, 11)
        mask = sum(1 << lane for lane in random.sample(range(LANES), count))
        span = random.choice((4, 16, 32, 64, 64))
        rising = random.random() < 0.5
        units = [random.randrange(span) for _ in range(LANES)]
        units = sorted(units) if rising else units
        made.append(request(name, f"few lanes of {span}", [width * unit for unit in units], mask))
    random.shuffle(made)
    yield from made


def _sparse_mask(random: Random, i: int) -> int:
    """A mask in which some pairs, i^1 or i^2 or both, have at most one lane; others of any density."""
    kind, mask = i % 7, 0
    if kind == 0:
        return EVERYONE
    if kind == 1:
        return sum(1 << lane for lane in range(LANES) if random.random() < random.choice((0.2, 0.5, 0.9))) or 1
    for quad in range(0, LANES, 4):
        choices = {
            2: (0b0001, 0b0010, 0b0100, 0b1000),
            3: (0b0001, 0b0010, 0b0100, 0b1000, 0b1001, 0b0110),
            4: (0b0101, 0b1010, 0b1001, 0b0110),
            5: (0b0011, 0b1100, 0b1001, 0b0110),
            6: (0b0001, 0b0010, 0b0100, 0b1000, 0b1001, 0b0110, 0b0011, 0b1100, 0b0101, 0b1010, 0),
        }[kind]
        mask |= random.choice(choices) << quad
    if random.randrange(4) == 0:
        mask &= random.choice((0xFFFF, 0xFFFF0000, 0xFFFFFF, 0xFF, 0xF0F0F0F0, 0x7FFFFFFF, 0xFFFFF800))
    if random.randrange(6) == 0:
        mask |= 1 << random.randrange(LANES)
    return mask or 1


def _agreeing(random: Random, i: int, free: list[int]) -> tuple[str, list[int]]:
    """(name, units): unchanged, or so that lanes i^1, i^2 or whole quads agree, everywhere or in all but one lane."""
    kind = i % 6
    if kind < 2:
        return "free", free
    keep = (~1, ~2, ~3, ~1)[kind - 2]
    units = [free[lane & keep] for lane in range(LANES)]
    if kind == 5:
        units[random.randrange(LANES)] = free[0] + 1
    return f"agreeing {~keep}{' but one' if kind == 5 else ''}", units


# requests of an LDS.64 for which a launch counted more than was claimed
_OF_A_KERNEL: tuple[tuple[int, list[int]], ...] = (
    (
        0xF73BDC00,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            24,
            80,
            136,
            0,
            472,
            1488,
            1656,
            1824,
            0,
            1936,
            56,
            224,
            0,
            0,
            1576,
            1632,
            1688,
            0,
            2024,
            24,
            80,
            1328,
        ],
    ),
    (
        0xDEE77800,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1160,
            136,
            304,
            472,
            0,
            576,
            744,
            912,
            0,
            0,
            224,
            272,
            328,
            0,
            664,
            720,
            776,
            2024,
            0,
            80,
            248,
        ],
    ),
    (
        0xF73BDC00,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1592,
            1160,
            728,
            0,
            2032,
            40,
            688,
            1344,
            0,
            480,
            1136,
            1784,
            0,
            0,
            1096,
            664,
            232,
            0,
            1536,
            1112,
            680,
            848,
        ],
    ),
    (
        0xDEE77800,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            672,
            728,
            1384,
            2032,
            0,
            1176,
            1824,
            432,
            0,
            0,
            1784,
            1352,
            928,
            0,
            184,
            1800,
            1368,
            1536,
            0,
            680,
            1328,
        ],
    ),
    (
        0xF73BDC00,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            320,
            672,
            1032,
            0,
            768,
            336,
            208,
            72,
            0,
            784,
            648,
            520,
            0,
            0,
            1880,
            184,
            536,
            0,
            272,
            624,
            976,
            1632,
        ],
    ),
    (
        0xDEE77800,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1456,
            1032,
            896,
            768,
            0,
            1472,
            1344,
            1208,
            0,
            0,
            520,
            872,
            1224,
            0,
            960,
            1320,
            1672,
            272,
            0,
            976,
            848,
        ],
    ),
    (
        0x66199800,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1456,
            544,
            0,
            0,
            1904,
            992,
            0,
            0,
            296,
            1432,
            0,
            0,
            0,
            0,
            960,
            48,
            0,
            0,
            1408,
            496,
            0,
        ],
    ),
    (
        0xCCC33000,
        [
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            544,
            1680,
            0,
            0,
            992,
            72,
            0,
            0,
            0,
            0,
            1656,
            744,
            0,
            0,
            48,
            1184,
            0,
            0,
            496,
            1632,
        ],
    ),
)


def classes(arch: str) -> Iterator[Request]:
    """Two lanes, two source lines d apart: one more wavefront if both lines are in one class.

    The class is a linear function of the line's bits: for each bit one of four differences is in class 0.
    """
    straight = [4 * lane for lane in range(LANES)]
    for bit in range(14, 24):
        for low in (0, 1, 2, 3):
            yield request(
                "ca4",
                f"two-lines {(1 << bit) + low}",
                straight,
                3,
                sources=[0, ((1 << bit) + low) * LINE + 4] + [0] * (LANES - 2),
            )


def probe(arch: str) -> Iterator[Request]:
    random = Random(SEED)
    straight = [4 * lane for lane in range(LANES)]
    far = sorted({*range(1, 40), *(1 << i for i in range(6, 15)), *(random.randrange(40, 1 << 14) for _ in range(260))})
    for d in far:
        yield request("ca4", f"two-lines {d}", straight, 3, sources=[0, d * LINE + 4] + [0] * (LANES - 2))
    for d in (1, 2, 3, 4, 5, 8):
        two = [0, d * LINE] + [0] * (LANES - 2)
        yield request("ca4", f"two-lines-one-bank {d}", straight, 3, sources=two)
        yield request("ca4_touched", f"two-lines-one-bank-touched {d}", straight, 3, sources=two)
        yield request(
            "ca4_touched", f"two-lines-touched {d}", straight, 3, sources=[0, d * LINE + 4] + [0] * (LANES - 2)
        )
    for word in range(LANES):
        yield request("ca4", f"one-line {word}", straight, 3, sources=[0, 4 * word] + [0] * (LANES - 2))
    for size in SIZES:
        for i, (name, units) in enumerate(destinations(random, size, 40)):
            kind = SOURCE_KINDS[i % 7]
            from_ = sources(random, size, kind)
            for kernel in [f"ca{size}"] * 3 + [f"ca{size}_touched"] * 2:
                yield request(kernel, f"{name}/{kind}", [size * u for u in units], sources=from_)
    for one in available(arch):
        for name, units in destinations(random, one.width, 4):
            more = {"sources": [one.width * lane for lane in range(LANES)] * one.requests} if one.kind == "copy" else {}
            yield request(
                one.name,
                name,
                [one.width * u for u in units] * one.requests,
                values=[lane % 5 for lane in range(LANES)] * one.requests,
                **more,
            )


def generic(arch: str) -> Iterator[Request]:
    return (
        one
        for one in instructions(arch)
        if "generic" in one["kernel"] or "128" in one["kernel"] and "atom" in one["kernel"]
    )


PARTS = {
    "merges": merges,
    "sparse": sparse,
    "few": few,
    "scattered": scattered,
    "partial": partial,
    "prefetching": prefetching,
    "generic": generic,
    "instructions": instructions,
    "matrices": matrices,
    "copies": copies,
    "zeros": zeros,
    "zeros-of-lines": zeros_of_lines,
    "regular-zeros": regular_zeros,
    "classes": classes,
    "probe": probe,
}
