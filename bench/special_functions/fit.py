"""Derives the interpolator's coefficients from the results of whole periods.

Every result bounds V of `ptxaudit.engine.ops.mufu` from both sides: the bits below its last place are truncated. In
each segment V is linear in three integers, found near the least-squares fit; for the right ones, the bounds on the
constant from all 2**17 inputs leave an interval with one number of the form (c0 << grain) + bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ptxaudit.engine.ops import mufu

SIZE = 1 << mufu.X_BITS
NEAR = 3  # distance from the fit within which integers are tried, in steps
# function: (exponents of its period, in order; bits of V below a result between 1 and 2; steps of slope and curvature)
PERIODS = {
    "rcp": ((127,), 17, (1, 1)),
    "rsq": ((127, 128), 17, (1, 1)),
    "sqrt": ((127, 128), 18, (1, 1)),
    "ex2": ((127,), 17, (1, 1)),
    "lg2": ((128,), 17, (1, 1)),
    "sin": ((125,), 18, (16, 4)),
}


def show(measured: Path) -> None:
    """Prints the tables of ptxaudit/hardware/special_functions.json."""
    data = np.load(measured)
    for name in PERIODS:
        rows = fitted(
            name, {int(key.split("/")[2]): data[key] for key in data.files if key.startswith(f"period/{name}/")}
        )
        print(as_json(name, rows))


def as_json(name: str, rows: Sequence[Sequence[int]]) -> str:
    """A member of the file, in lines of 118 characters."""
    lines = [""]
    for row in rows:
        text = "[" + ",".join(map(str, row)) + "],"
        if len(lines[-1]) + len(text) > 116:
            lines.append("")
        lines[-1] += text
    return "\n  ".join([f' "{name}": [', *lines])[:-1] + "\n ]"


def fitted(name: str, periods: dict[int, np.ndarray], only: range | None = None) -> list[tuple[int, int, int]]:
    """(c0, c1, c2) of each segment. periods: exponent field -> results for all fractions; only: some segments."""
    exponents, below, steps = PERIODS[name]
    results = np.concatenate([periods[e] for e in exponents])
    low, width = bounds(name, results, below, only)
    segments = [_segment(name, *of_one, steps) for of_one in zip(low, width)]
    grain, bias = mufu.FORMS[name]
    out = []
    for first, last, slope, curvature in segments:
        constant = first + (bias - first) % (1 << grain)
        if constant > last:
            raise ValueError(f"{name}: no constant of the form in {first:#x} … {last:#x}")
        out.append((constant - bias >> grain, slope, curvature))
    return out


def bounds(name: str, results: np.ndarray, below: int, only: range | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(the least V, number of V) that give each result, (segments, inputs per segment). only: some segments."""
    if name == "sin":  # the second quarter mirrors the first
        results = results[::-1]
    results = results.reshape(-1, SIZE // 2 if name == "rcp" else SIZE)  # 16 bits of its fraction are interpolated
    some = np.arange(len(results)) if only is None else np.array(only)
    results = results[some]
    significand = (results & np.uint32(mufu.LOW)).astype(np.int64) | mufu.ONE
    exponent = (results >> np.uint32(mufu.FRACTION)).astype(np.int64)
    if name == "sin":  # V keeps all exponents
        up = exponent - mufu.BIAS + below
        width = np.where(exponent == 0, 1 << below, 1 << np.clip(up, 4, None))  # the last four bits of V are zeros
        low = np.where(up >= 0, significand << np.clip(up, 0, None), significand >> np.clip(-up, 0, None))
        low = np.where(exponent == 0, 0, low)
    else:
        first = {"rcp": mufu.BIAS - 1, "rsq": mufu.BIAS - 1}.get(name)
        whole = np.zeros(results.shape, bool) if first is None else exponent == first + 1  # 1 itself
        low = np.where(whole, 2 * mufu.ONE, significand) - (mufu.ONE if name == "lg2" else 0) << below
        width = np.full(low.shape, 1 << below)
        if name == "rsq":  # the result for 1 is exact, whatever V is
            width[some == 0, 0] <<= 1
            low[some == 0, 0] -= 1 << below
    if name == "rcp":  # as 17 bits, the last of which is zero
        low, width = (np.repeat(part, 2, axis=1) for part in (low, width))
    return low, width


def _segment(name: str, low: np.ndarray, width: np.ndarray, steps: tuple[int, int]) -> tuple[int, int, int, int]:
    """(the least and the largest constant, slope, curvature)."""
    x = np.arange(SIZE, dtype=np.int64)
    square = mufu.squares().astype(np.int64) << 2
    if name == "rcp":
        x, square, low, width = x[::2], square[::2], low[::2], width[::2]
    middle = low + width / 2
    columns = np.stack([np.ones(len(x)), x / SIZE, square / SIZE], 1)
    fit = np.linalg.lstsq(columns, middle, rcond=None)[0] / SIZE
    rounded = [round(fit[k + 1] / step) * step for k, step in enumerate(steps)]
    for far in range(NEAR + 1):
        for up in range(-far, far + 1):
            for out in range(-far, far + 1):
                if max(abs(up), abs(out)) != far:
                    continue
                slope, curvature = rounded[0] + up * steps[0], rounded[1] + out * steps[1]
                rest = slope * x + curvature * square
                first, last = int((low - rest).max()), int((low + width - 1 - rest).min())
                if first <= last:
                    return first, last, slope, curvature
    raise ValueError(f"{name}: no integers near {fit}")
