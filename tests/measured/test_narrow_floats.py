"""8-bit floats, bfloat16 and packed halves, against the results of an H100 (tests/data/narrow_sm90.txt.gz)."""

from __future__ import annotations

import gzip
from collections import Counter

import numpy as np
import pytest
from paths import DATA

from ptxaudit.engine.ops import OPS

KEPT = DATA / "narrow_sm90.txt.gz"
LOW, HIGH = range(2)  # halves of a word
CONSTANT = 0x8001  # the third source of fma in the measured program

# measured name: (operation, attributes, least number of results that are known)
INTO_BYTES = {
    "cvt.e4m3x2": ("f2f.e4m3", (False,), 20),
    "cvt.relu.e4m3x2": ("f2f.e4m3", (True,), 19),
    "cvt.e5m2x2": ("f2f.e5m2", (False,), 20),
    "cvt.relu.e5m2x2": ("f2f.e5m2", (True,), 19),
}
INTO_HALVES = {
    "cvt.rn.bf16x2": ("f2f.bf16", ("rn", False), 24),
    "cvt.rz.bf16x2": ("f2f.bf16", ("rz", False), 24),
    "cvt.rn.relu.bf16x2": ("f2f.bf16", ("rn", True), 23),
}
FROM_BYTES = {"f16x2.e4m3x2": ("e4m3.f2f", (), 508), "f16x2.e5m2x2": ("e5m2.f2f", (), 500)}
OF_HALVES = {
    "add.bf16x2": ("fadd.bf16", (), 837),
    "mul.bf16x2": ("fmul.bf16", (), 817),
    "fma.rn.bf16x2": ("fma.bf16", (), 817),
    "add.f16x2": ("fadd", ("rn", False), 1152),
    "mul.f16x2": ("fmul", ("rn", False), 1152),
    "add.ftz.f16x2": ("fadd", ("rn", True), 1152),
    "add.sat.f16x2": ("fadd", ("rn", False, True), 1152),
    "min.f16x2": ("fmin", ("rn", False), 1152),
}


def half(word: int, which: int) -> int:
    return word >> 16 * which & 0xFFFF


def cases(name: str, a: int, b: int, result: int):
    """(sources, the measured result) of each operation that the instruction performs."""
    if name in INTO_BYTES:
        yield [np.uint32(a)], result >> 8
    elif name in INTO_HALVES:
        yield [np.uint32(a)], half(result, HIGH)
    elif name in FROM_BYTES:
        yield from (([np.uint16(a >> 8 * k & 0xFF)], half(result, k)) for k in (LOW, HIGH))
    else:
        third = [np.uint16(CONSTANT)] if name.startswith("fma") else []
        yield from (([np.uint16(half(a, k)), np.uint16(half(b, k)), *third], half(result, k)) for k in (LOW, HIGH))


@pytest.fixture(scope="module")
def measured() -> dict[str, list[tuple[int, int, int]]]:
    found: dict[str, list[tuple[int, int, int]]] = {}
    for line in gzip.decompress(KEPT.read_bytes()).decode().splitlines():
        name, *numbers = line.split()
        a, b, result = (int(number, 16) for number in numbers)
        found.setdefault(name, []).append((a, b, result))
    return found


@pytest.mark.parametrize("name", [*INTO_BYTES, *INTO_HALVES, *FROM_BYTES, *OF_HALVES])
def test_narrow_float_results_equal_the_hardware_or_are_unknown(name: str, measured) -> None:
    operation, attributes, known = (INTO_BYTES | INTO_HALVES | FROM_BYTES | OF_HALVES)[name]
    row, counts = OPS[operation], Counter[str]()
    for numbers in measured[name]:
        for sources, result in cases(name, *numbers):
            arrays = [np.full((1, 1), source) for source in sources]
            if row.undefined is not None and row.undefined(16, attributes, *arrays).any():
                counts["unknown"] += 1
                continue
            assert row.concrete(16, attributes, *arrays).item() == result, (name, sources)
            counts["equal"] += 1
    assert counts["equal"] >= known
