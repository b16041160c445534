"""The base class of the project's value types: immutable structs.

    class Reg(Record):              Reg("%r1", 32) == Reg("%r1", 32); hashable; no other attributes
        name: str
        bits: int

They are quick to build, since a megabyte of PTX has a hundred thousand of them, and quick to define, since an audit
has some hundred classes: a frozen dataclass takes twelve times as long to build, and sixty times to define.
"""

from __future__ import annotations

from typing import Any, dataclass_transform

from msgspec import Struct, field


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """Compared and hashed by its fields."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class KeyedRecord(Record, eq=False):
    """Compared and hashed by `key`, the fields that identify it."""

    def key(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self.key() == other.key() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key())
