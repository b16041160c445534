"""Writes a value as a formula in the lane and the unknowns, for people.

    base 0, 4, 8, … 124                         4*lane
    base (l/8)*128 + ((l%8)^(l/8))*16           128*(lane/8) + 16*((lane%8)^(lane/8)) as bits: 16*b0 ^ … 
    anything else                               the numbers of the first warp
"""

from __future__ import annotations

import numpy as np

from .env import LANES
from .value import Value, signed

LANE_BITS = 5


def formula(value: Value, row: int = 0) -> str:
    """The value of one row as text."""
    if value.poison is not None and value.poison.all():
        return f"not known: {value.why.reason}" if value.why else "not known"
    parts = [_symbol(u.name, _row(c, row)) for u, c in value.terms]
    lanes = _lanes(_row(value.base, row))
    if lanes != "0" or not parts:
        parts.append(lanes)
    text = " + ".join(parts)
    if value.valid is not None:
        text += f" (mod 2^{value.valid})"
    if value.poison is not None:
        text += " in some lanes"
    return text.replace("+ -", "- ")


def _row(array: np.ndarray, row: int) -> np.ndarray:
    a = array[min(row, array.shape[0] - 1)]
    return signed(np.ascontiguousarray(a)).astype(np.int64) if a.dtype != bool else a.astype(np.int64)


def _symbol(name: str, factor: np.ndarray) -> str:
    if factor.size == 1 or (factor == factor[0]).all():
        k = int(factor[0])
        return name if k == 1 else f"{k}*{name}"
    inner = _lanes(factor)
    return f"({inner})*{name}"


def _lanes(numbers: np.ndarray) -> str:
    """Numbers per lane as sums over groups of lane bits."""
    if numbers.size == 1 or (numbers == numbers[0]).all():
        return str(int(numbers[0]))
    constant = int(numbers[0])
    weights = [int(numbers[1 << i]) - constant for i in range(LANE_BITS)]
    lane = np.arange(LANES)
    total = sum(w * (lane >> i & 1) for i, w in enumerate(weights))
    if (total + constant == numbers).all():
        return _weighted(weights, constant)
    parts = np.zeros(LANES, np.int64)
    for i in range(LANE_BITS):
        parts ^= np.where(lane >> i & 1, int(numbers[1 << i]) ^ constant, 0)
    if (parts ^ constant == numbers).all():
        pieces = [f"{int(numbers[1 << i]) ^ constant}*b{i}" for i in range(LANE_BITS) if int(numbers[1 << i]) != constant]
        return " ^ ".join(pieces) + (f" ^ {constant}" if constant else "") + "  (b0…b4: the lane's bits)"
    for width in (2, 4, 8, 16):
        if (numbers == numbers[lane % width]).all() and width < LANES:
            inner = numbers[:width]
            step = int(inner[1] - inner[0])
            if (inner == inner[0] + step * np.arange(width)).all():
                return f"{step}*(lane%{width})" + (f" + {int(inner[0])}" if inner[0] else "")
    return "{" + ", ".join(map(str, numbers.tolist())) + "}[lane]"


def _weighted(weights: list[int], constant: int) -> str:
    """Runs of lane bits whose weights double are one field."""
    pieces = []
    i = 0
    while i < LANE_BITS:
        w = weights[i]
        j = i
        while j + 1 < LANE_BITS and weights[j + 1] == 2 * weights[j] and w:
            j += 1
        if w:
            field = "lane" if (i, j) == (0, LANE_BITS - 1) else f"(lane%{1 << (j + 1)})" if i == 0 else \
                f"(lane/{1 << i})" if j == LANE_BITS - 1 else f"(lane/{1 << i}%{1 << (j - i + 1)})"
            pieces.append(field if w == 1 else f"{w}*{field}")
        i = j + 1
    if constant:
        pieces.append(str(constant))
    return " + ".join(pieces)
