"""Dataclasses as rows of JSON and back, by their annotations: quick, compact, and nothing in them can execute.

    packed(Span(1, 2))                   ->  [1, 2]
    unpacked(Span, [1, 2])               ->  Span(low=1, high=2)

A row has a value for each field, in order. Read back it is equal to what was written, for classes whose fields are
strings, numbers, enums of strings, dataclasses, tuples of these, and dicts of what JSON holds.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

Class = TypeVar("Class")
Change = Callable[[Any], Any]
Plan = tuple[
    Callable[[Any], tuple], tuple[tuple[int, Change, Change], ...]
]  # all fields; place, packing and unpacking of some


def packed(value: Any) -> list[Any]:
    """The row of a dataclass."""
    get, changed = _plan(type(value))
    row = list(get(value))
    for place, pack, _ in changed:
        row[place] = pack(row[place])
    return row


def unpacked(cls: type[Class], row: Any) -> Class:
    """The dataclass of a row. TypeError, ValueError or LookupError for what is none."""
    _, changed = _plan(cls)
    for place, _, unpack in changed:
        row[place] = unpack(row[place])
    return cls(*row)


@cache
def _plan(cls: type) -> Plan:
    hints = typing.get_type_hints(cls)
    names = [one.name for one in fields(cls)]
    get = attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
    found = ((place, _change(hints[name])) for place, name in enumerate(names))
    return get, tuple((place, *change) for place, change in found if change is not None)


def _change(hint: Any) -> tuple[Change, Change] | None:
    """(packing, unpacking) of values of a type, None for those that JSON has."""
    if isinstance(hint, types.UnionType):
        (inner,) = [one for one in typing.get_args(hint) if one is not type(None)]
        change = _change(inner)
        return change and (_unless_none(change[0]), _unless_none(change[1]))
    if is_dataclass(hint):
        return packed, lambda row: unpacked(hint, row)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return str, hint
    if typing.get_origin(hint) is tuple:
        change = _change(typing.get_args(hint)[0])
        return (list, _tuples) if change is None else (_each(list, change[0]), _each(tuple, change[1]))
    if hint is Any or typing.get_origin(hint) is dict and typing.get_args(hint)[1] is Any:
        return _same, _tuples
    return None


def _same(value: Any) -> Any:
    return value


def _unless_none(change: Change) -> Change:
    return lambda value: None if value is None else change(value)


def _each(kind: type, change: Change) -> Change:
    return lambda values: kind([change(value) for value in values]) if values else kind()


def _tuples(value: Any) -> Any:
    """What JSON gives, its lists as tuples; the values of a dict too."""
    if isinstance(value, list):
        return tuple([_tuples(item) for item in value])
    if isinstance(value, dict):
        return {key: item if isinstance(item, dict) else _tuples(item) for key, item in value.items()}
    return value
