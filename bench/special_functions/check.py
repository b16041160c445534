"""Compares every input of every function with the measurements, by checksums."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from ptxaudit.engine.ops import mufu

BLOCK = 1 << 16


def check(measured: Path) -> None:
    data = np.load(measured)
    print(data["device"])
    for key in data.files:
        if key.startswith("checksums/"):
            name, began = key.split("/")[1], time.perf_counter()
            wrong = differing(name, data[key])
            print(
                f"{name}: {len(wrong)} of 65,536 blocks of inputs differ {' '.join(map(hex, wrong[:8]))}".rstrip()
                + ", "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )


def differing(name: str, sums: np.ndarray, blocks=range(BLOCK)) -> list[int]:
    """The blocks (upper 16 bits of the input) whose checksum differs."""
    low = np.arange(BLOCK, dtype=np.uint32)
    run = mufu.FUNCTIONS[name]
    return [
        b
        for b in blocks
        if _mixed(low + np.uint32(b << 16), run(low + np.uint32(b << 16))).sum(dtype=np.uint64) != sums[b]
    ]


def _mixed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`mix` of functions.cu."""
    h = (x.astype(np.uint64) << np.uint64(32) | y) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return h ^ (h >> np.uint64(32))
