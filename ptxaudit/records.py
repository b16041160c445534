"""What the many small values of a module are made of: dataclasses that nothing changes.

    @record
    class Reg:                      Reg("%r1", 32) == Reg("%r1", 32); a key of dicts; no other attributes
        name: str
        bits: int
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Class]) -> type[Class]:
    """A dataclass with slots, frozen for the type checker only: at run time that makes each one four times
    as slow to build, and a megabyte of PTX is a hundred thousand of them."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
