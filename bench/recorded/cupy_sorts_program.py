"""Sorts of seeded integers by CuPy, one length for each: launches that differ only in their data are recorded once."""

from __future__ import annotations

import cupy
import numpy

TYPES = ("u4", "i4", "u8", "i8", "u2", "i2", "u1", "i1")
DRAWS = ("of the whole type", "below 100", "many of few values")
FIRST, STEP = 4001, 173  # lengths, of one tile to several


def keys(count: int, code: str, draw: str) -> numpy.ndarray:
    rng, type_ = numpy.random.default_rng(count), numpy.iinfo(code)
    if draw == "of the whole type":
        return rng.integers(type_.min, type_.max, count, dtype=code)
    some = rng.integers(0, min(100 if draw == "below 100" else 65_536, int(type_.max)), count, dtype=code)
    return some if draw == "below 100" else numpy.where(rng.random(count) < 0.9, some // 64, some)


count = FIRST
for draw in DRAWS:
    for code in TYPES:
        array = keys(count, code, draw)
        assert (cupy.asnumpy(cupy.sort(cupy.asarray(array))) == numpy.sort(array)).all()
        cupy.argsort(cupy.asarray(keys(count + STEP, code, draw)))
        count += 2 * STEP
cupy.cuda.Device().synchronize()
