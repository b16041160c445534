"""Numbers at which operations differ, by type: extremes, subnormals, NaN, ties, lengths beyond a register's."""

from __future__ import annotations

from random import Random

import numpy as np

from ptxaudit.frontend.ptx.types import TYPES

LANES, POSITIONS = 128, 4
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "tf32": (8, 23), "f64": (11, 52)}  # exponent, fraction
PAIRS = {"f16x2": "f16", "bf16x2": "bf16"}
CLASSES = ["pred", "count", *(f"{kind}{bits}" for bits in (16, 32, 64) for kind in "sub"), *FORMATS, *PAIRS]
OTHER_WORDS = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}
ALIKE = 0.2


def kind_of(name: str) -> str:
    """The class that holds inputs of a type."""
    return name if name in CLASSES else OTHER_WORDS.get(TYPES[name].bits, "b16")


def bits(name: str) -> int:
    kind = kind_of(name)
    return {"pred": 1, "count": 32}.get(kind) or TYPES[kind].bits


def register(name: str, k: int) -> str:
    return f"%{kind_of(name)}_{k}"


def number(name: str, rng: Random) -> int:
    """The bits of one number of a class."""
    kind, width = kind_of(name), bits(name)
    if kind == "count":
        return rng.choice(
            (rng.randrange(70), rng.randrange(33), 31, 32, 33, 63, 64, 0, 255, 256, 0xFFFFFFFF, rng.getrandbits(32))
        )
    if kind in PAIRS:
        return number(PAIRS[kind], rng) | number(PAIRS[kind], rng) << 16
    if kind in FORMATS:
        return _float(*FORMATS[kind], rng)
    full, top = (1 << width) - 1, 1 << width - 1
    some = (
        0,
        1,
        full,
        top,
        top - 1,
        top + 1,
        2,
        full - 1,
        0x7F,
        0x80,
        0xFF,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x800000,
        0x7FFFFF,
    )
    return (
        rng.choice(
            (
                rng.choice(some),
                rng.getrandbits(width),
                rng.getrandbits(rng.randint(1, width)),
                full - rng.getrandbits(rng.randint(1, width)),
            )
        )
        & full
    )


def _float(exponent: int, fraction: int, rng: Random) -> int:
    sign, one, most = rng.getrandbits(1) << exponent + fraction, (1 << exponent - 1) - 1, (1 << exponent) - 1
    low = rng.choice((0, 1, (1 << fraction) - 1, 1 << fraction - 1, rng.getrandbits(fraction)))
    match rng.randrange(10):
        case 0:
            return sign | rng.choice((0, most << fraction, 1, (1 << fraction) - 1, one << fraction))
        case 1:  # NaN, of both sorts
            return sign | most << fraction | max(low, 1)
        case 2:  # subnormal
            return sign | low
        case 3:
            return rng.getrandbits(1 + exponent + fraction)
        case 4 | 5:  # near integers, and halves of them
            places = rng.randint(0, min(one, fraction + 12))
            keep = max(fraction - places - rng.randrange(3), 0)
            return sign | one + places << fraction | rng.getrandbits(fraction) >> keep << keep
        case 6:
            return sign | rng.choice((1, most - 1, one - fraction, one + fraction)) << fraction | low
    return sign | max(0, min(most - 1, one + rng.randint(-12, 12))) << fraction | low


def values(seed: int = 1) -> dict[str, np.ndarray]:
    """By register: numbers of 64 bits for all lanes. Some lanes have equal numbers, or opposite ones."""
    rng, out = Random(seed), {}
    for kind in CLASSES:
        width = bits(kind)
        columns = [[number(kind, rng) for _ in range(LANES)] for _ in range(POSITIONS)]
        for k in range(1, POSITIONS):
            for lane in range(LANES):
                if rng.random() < ALIKE and kind not in ("pred", "count"):
                    columns[k][lane] = columns[0][lane] ^ rng.choice((0, 0, 1, 1 << width - 1))
        out |= {register(kind, k): np.array(column, np.uint64) for k, column in enumerate(columns)}
    return out


def constant(name: str, rng: Random) -> str:
    """A constant of a class, as PTX writes it."""
    kind = kind_of(name)
    if kind == "pred":
        return "%pred_0"
    value = number(name, rng)
    if kind == "f32":
        return f"0f{value:08X}"
    if kind == "f64":
        return f"0d{value:016X}"
    if kind in ("s16", "s32", "s64", "count") and value >> bits(name) - 1:
        return str(value - (1 << bits(name)))
    return f"{value:#x}"


def special_words(name: str) -> list[int]:
    """As `special_constants`, as bits."""
    kind, width = kind_of(name), bits(name)
    if kind in PAIRS:
        return [low | high << 16 for low in special_words(PAIRS[kind]) for high in special_words(PAIRS[kind])[::3]]
    if kind not in FORMATS:
        return [0, 1, 2, (1 << width) - 1, 1 << width - 1, 4, 31, 32, 33, 255]
    exponent, fraction = FORMATS[kind]
    one, top = (1 << exponent - 1) - 1 << fraction, 1 << exponent + fraction
    infinite = (1 << exponent) - 1 << fraction
    unit, quiet = 1 << fraction, infinite | 1 << fraction - 1
    numbers = [one, one + unit, 0, infinite, 1, unit, quiet, infinite | 1, quiet | 1]
    return [number | sign for number in numbers for sign in (0, top)]


def special_constants(name: str) -> list[str]:
    """Constants of a class with which an assembler simplifies: neutral elements, NaN, powers of two."""
    kind = kind_of(name)
    if kind in ("f32", "f64"):
        written = "0f{:08X}" if kind == "f32" else "0d{:016X}"
        return [written.format(number) for number in special_words(name)]
    if kind in FORMATS or kind in PAIRS or kind == "pred":
        return []
    return ["0", "1", "2", "-1", "4", "31", "32", "33", "255", str(-(1 << bits(name) - 1))]
