"""Encodes the parameters of a launch as bytes: one text per parameter.

    encoded("i32", 1024)            "i:00040000"
    encoded("p", 0x7f2c4a000000)    "p:0000004a2c7f0000"
    encoded("p04000000", 0x7f…)     "p:…04000000"       a structure that begins with a pointer
    encoded("?128", None)           "?:128"             128 unknown bytes; 0: the size is unknown, too

"p" is a pointer, "i" and "f" are numbers, "b" is anything else.
"""

from __future__ import annotations

import struct
from typing import Any

ADDRESS_MASK = (1 << 64) - 1

ALIGNED = 0xFF  # the bits of a pointer that distinguish launches: cudaMalloc returns multiples of 256

_INTEGERS = {f"{sign}{bits}": max(1, bits // 8) for sign in "iu" for bits in (1, 8, 16, 32, 64)}
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
FLOATS = frozenset((*_FLOATS, "bf16"))
_DOUBLE = struct.Struct("<d")


def encoded(kind: str, value: Any) -> str:
    """A parameter as text. Raises ValueError, struct.error or TypeError for a value that does not match its kind."""
    if kind.startswith("p"):
        return "p:" + (int(value) & ADDRESS_MASK).to_bytes(8, "little").hex() + kind[1:]
    if kind.startswith("?"):
        return "?:" + kind[1:]
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return "i:" + (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little").hex()
    if kind in _FLOATS:
        return "f:" + struct.pack(_FLOATS[kind], value).hex()
    if kind == "bf16":
        return "b:" + struct.pack("<f", value)[2:].hex()
    return f"{kind}:{bytes(value).hex()}"


def distinct(kind: str, value: Any) -> Any:
    """What distinguishes launches in a parameter of this kind: the lowest bits of a pointer, the bits of a float."""
    if kind[0] == "p":
        return value & ALIGNED
    return _DOUBLE.pack(value) if kind in FLOATS else value


def bits(number: Any) -> Any:
    """What distinguishes a number of Python or numpy from others of its class: 0.0 and -0.0 are equal, their bits are
    not. Raises TypeError for an array.
    """
    kind = number.__class__
    if kind is int or kind is bool:
        return number
    if kind is float:
        return _DOUBLE.pack(number)
    if kind is complex:
        return _DOUBLE.pack(number.real), _DOUBLE.pack(number.imag)
    if hasattr(number, "__setitem__"):
        raise TypeError("not a number")
    return number.tobytes()
