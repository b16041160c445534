"""Writes a value as a formula in the lane and the unknowns, for people.

base 0, 4, 8, … 124                         4*lane
base (l/8)*128 + ((l%8)^(l/8))*16           16*b0 ^ 32*b1 ^ 64*b2 ^ 144*b3 ^ 288*b4  (b0…b4: the lane's bits)
anything else                               {0, 1, 4, 9, …}[lane], the numbers of the first warp
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.naming import operand
from ptxaudit.engine.domain.value import EVERYWHERE, Value, signed
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.reasons import sentence

LANE_BITS = 5
_LANE = np.arange(LANES)


def formula(value: Value, offset: int = 0, function: Function | None = None) -> str:
    """The first row of value + offset as text.

    function: names the instructions that made it unknown.
    """
    if value.poison is not None and (value.poison is EVERYWHERE or value.poison.all()):
        return f"not known: {sentence(value.why, function)}" if value.why else "not known"
    parts = [_symbol(u.name, _first_row(c)) for u, c in value.terms]
    lanes = _lanes(_first_row(value.base, offset))
    if lanes != "0" or not parts:
        parts.append(lanes)
    text = " + ".join(parts)
    if value.valid is not None:
        text += f" (mod 2^{value.valid})"
    if value.poison is not None:
        text += " in some lanes"
    return text.replace("+ -", "- ")


def _first_row(array: np.ndarray, offset: int = 0) -> list[int]:
    """The numbers of the first row, one for all lanes or one per lane, plus an offset that wraps around as they do."""
    bits = 8 * array.itemsize
    if array.dtype == bool:
        bits_of_lanes: list[int] = array[0].astype(int).tolist()
        return bits_of_lanes
    if array.shape[1] == 1:
        number = array.item(0) + offset & (1 << bits) - 1
        return [number - (number >> bits - 1 << bits)]
    row = array[0] + np.array(offset & (1 << bits) - 1, array.dtype) if offset else array[0]
    result: list[int] = signed(np.ascontiguousarray(row)).tolist()
    return result


def _symbol(name: str, factors: list[int]) -> str:
    inner = _lanes(factors)
    if _alike(factors):
        return operand(name) if factors[0] == 1 else f"{inner}*{operand(name)}"
    return f"({inner})*{operand(name)}"


def _alike(numbers: list[int]) -> bool:
    return numbers.count(numbers[0]) == len(numbers)


def _lanes(numbers: list[int]) -> str:
    """Numbers per lane as sums over groups of lane bits."""
    if _alike(numbers):
        return str(numbers[0])
    constant = numbers[0]
    linear = _linear(tuple([n - constant for n in numbers]))
    if linear:
        return f"{linear} + {constant}" if constant else linear
    return _other(tuple(numbers))


@lru_cache(1 << 12)
def _linear(numbers: tuple[int, ...]) -> str:
    """A sum of multiples of lane bits as text; "" if the numbers are not such a sum.

    (Cached, as the accesses of an unrolled loop differ by a constant.)
    """
    weights = [numbers[1 << i] for i in range(LANE_BITS)]
    found = [0]
    for w in weights:
        found += [n + w for n in found]
    wrapped = (1 << 64) - 1  # no value has more bits
    return _weighted(weights) if not any((f - n) & wrapped for f, n in zip(found, numbers)) else ""


@lru_cache(1 << 12)
def _other(listed: tuple[int, ...]) -> str:
    """As an XOR of lane bits, as a function of the lane modulo a power of two, or as a list."""
    numbers, constant = np.array(listed, np.int64), listed[0]
    parts = np.zeros(LANES, np.int64)
    for i in range(LANE_BITS):
        parts ^= np.where(_LANE >> i & 1, listed[1 << i] ^ constant, 0)
    if (parts ^ constant == numbers).all():
        pieces = [f"{listed[1 << i] ^ constant}*b{i}" for i in range(LANE_BITS) if listed[1 << i] != constant]
        return " ^ ".join(pieces) + (f" ^ {constant}" if constant else "") + "  (b0…b4: the lane's bits)"
    for width in (2, 4, 8, 16):
        if (numbers == numbers[_LANE % width]).all():
            inner = listed[:width]  # Python integers: the ends of the 64-bit range may be among them
            step = inner[1] - inner[0]
            if all(n == constant + step * i for i, n in enumerate(inner)):
                return f"{step}*(lane%{width})" + (f" + {constant}" if constant else "")
    return "{" + ", ".join(map(str, listed)) + "}[lane]"


def _weighted(weights: list[int]) -> str:
    """Formats weights of lane bits; a run of bits whose weights double is one field."""
    pieces = []
    i = 0
    while i < LANE_BITS:
        w = weights[i]
        j = i
        while j + 1 < LANE_BITS and weights[j + 1] == 2 * weights[j] and w:
            j += 1
        if w:
            field = (
                "lane"
                if (i, j) == (0, LANE_BITS - 1)
                else f"(lane%{1 << (j + 1)})"
                if i == 0
                else f"(lane/{1 << i})"
                if j == LANE_BITS - 1
                else f"(lane/{1 << i}%{1 << (j - i + 1)})"
            )
            pieces.append(field if w == 1 else f"{w}*{field}")
        i = j + 1
    return " + ".join(pieces)
