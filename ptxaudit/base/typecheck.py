"""Holds records that were read from a file against their own annotations.

Span(low="1", high=2)      ->  ValueError: low of Span is '1'
Site(…, bounds=(1, 2, 3))  ->  ValueError: bounds of Site has 3 entries, not 2
"""

from __future__ import annotations

import types
import typing
from dataclasses import is_dataclass
from functools import cache
from typing import Any

Plan = tuple[
    tuple[tuple[str, frozenset[type]], ...],
    tuple[str, ...],
    tuple[tuple[str, frozenset[type], int | None, bool], ...],
    tuple[tuple[str, type, type], ...],
]


def check_types(value: Any) -> None:
    """Raises ValueError for a field of a dataclass, or of one inside it, that has another type than it should."""
    fields, inner, several, tables = _plan(type(value))
    for name, allowed in fields:
        if type(getattr(value, name)) not in allowed:
            raise ValueError(f"{name} of {type(value).__name__} is {getattr(value, name)!r}")
    for name in inner:
        if (found := getattr(value, name)) is not None:
            check_types(found)
    for name, elements, length, nested in several:
        found = getattr(value, name)
        if not found:
            continue
        if length is not None and len(found) != length:
            raise ValueError(f"{name} of {type(value).__name__} has {len(found)} entries, not {length}")
        for one in found:
            if type(one) not in elements:
                raise ValueError(f"{name} of {type(value).__name__} has {one!r} in it")
            if nested:
                check_types(one)
    for name, keys, values in tables:
        for key, one in (getattr(value, name) or {}).items():
            if type(key) is not keys or type(one) is not values:
                raise ValueError(f"{name} of {type(value).__name__} has {key!r}: {one!r} in it")


@cache
def _plan(cls: type) -> Plan:
    """Of each field: the types that it may have; of those that are dataclasses, the name; of tuples the types of
    the elements, how many there are, whether these are dataclasses; of dicts the types of keys and values. Any is not
    looked at."""
    fields, inner, several, tables = [], [], [], []
    for name, hint in typing.get_type_hints(cls).items():
        options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        fields.append((name, frozenset(typing.get_origin(option) or option for option in options)))
        if any(is_dataclass(option) for option in options):
            inner.append(name)
        for option in options:
            arguments = typing.get_args(option)
            if typing.get_origin(option) is tuple and Any not in arguments:
                elements = frozenset(one for one in arguments if one is not Ellipsis)
                several.append(
                    (
                        name,
                        elements,
                        None if Ellipsis in arguments else len(arguments),
                        any(map(is_dataclass, elements)),
                    )
                )
            if (
                typing.get_origin(option) is dict
                and Any not in arguments
                and all(isinstance(one, type) for one in arguments)
            ):
                tables.append((name, *arguments))
    return tuple(fields), tuple(inner), tuple(several), tuple(tables)
