"""What the many small values of a module are made of: dataclasses that nothing changes.

    @record
    class Reg:                      Reg("%r1", 32) == Reg("%r1", 32); a key of dicts; no other attributes
        name: str
        bits: int

They are quick to build, since a megabyte of PTX is a hundred thousand of them: frozen for the type checker only, as
freezing at run time takes four times as long. And they are quick to define: `dataclass` compiles each method of a
class by itself, which for the hundred classes of an audit takes longer than to load numpy; here that is one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Class]) -> type[Class]:
    """A dataclass with slots, equal and hashed by its fields. A method that the class has itself stays."""
    made = dataclass(slots=True, init=False, repr=False, eq=False)(cls)
    for name, method in {**_compiled(fields(made)), "__repr__": _text}.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made


def _compiled(own: Sequence[Field]) -> dict[str, Any]:
    """The methods that name the fields, as `dataclass` would write them."""
    known: dict[str, Any] = {"_missing": MISSING}
    head, body = ["self"], ["pass"]
    for one in own:
        name, default, factory = one.name, f"_default_{one.name}", f"_factory_{one.name}"
        known |= {default: one.default, factory: one.default_factory}
        if one.default_factory is not MISSING:
            head.append(f"{name}=_missing")
            body.append(f"self.{name} = {factory}() if {name} is _missing else {name}")
        else:
            head.append(name if one.default is MISSING else f"{name}={default}")
            body.append(f"self.{name} = {name}")
    compared = [one.name for one in own if one.compare]
    mine, others = ("".join(f"{of}.{name}, " for name in compared) for of in ("self", "other"))
    methods: dict[str, Any] = {}
    exec(
        f"def __init__({', '.join(head)}):\n  "
        + "\n  ".join(body)
        + f"\ndef __eq__(self, other):\n  return ({mine}) == ({others}) if other.__class__ is self.__class__ else"
        f" NotImplemented\ndef __hash__(self):\n  return hash(({mine}))\n",
        known,
        methods,
    )
    return methods


def _text(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"
