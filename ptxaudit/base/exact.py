"""Keys of what users specify: equal only for values that are the same to a program that reads their bytes.

0.0 == -0.0, 1 == 1.0 == True           in Python
exactly(0.0) != exactly(-0.0), …        and a NaN is equal to the same NaN
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


def exactly(value: Any) -> Hashable:
    """A key of a number, a text, or a list or mapping of them."""
    if isinstance(value, (tuple, list)):
        return tuple(map(exactly, value))
    if isinstance(value, Mapping):
        return frozenset((name, exactly(one)) for name, one in value.items())
    if isinstance(value, float):
        return type(value), struct.pack("<d", value)
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):  # of NumPy
        return type(value), str(value.dtype), value.shape, value.tobytes()
    return type(value), value


def distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """The values, each once, in the order of their first occurrence."""
    return tuple({exactly(value): value for value in values}.values())
