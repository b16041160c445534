"""Records are compared and hashed by their fields, and are immutable."""

from __future__ import annotations

import copy
import pickle
from functools import cached_property
from typing import Any

import pytest
from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.records import KeyedRecord, Record


class Place(Record):
    name: str
    at: int = 3
    more: list[int] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.at + 1


class Line(KeyedRecord):
    text: str
    number: int = 0

    def key(self) -> tuple[Any, ...]:
        return (self.text,)


class Other(Line):
    pass


class Kept(Record, dict=True):
    numbers: tuple[int, ...]

    @cached_property
    def total(self) -> list[int]:
        return [sum(self.numbers)]


def test_records_with_equal_fields_are_equal():
    assert Place("a") == Place("a", 3, []) != Place("a", 4) and Place("a", more=[1]) != Place("a")
    assert repr(Place("a", more=[1])) == "Place(name='a', at=3, more=[1])"
    assert replace(Place("a"), at=9).end == 10
    assert pickle.loads(pickle.dumps(Place("a", 4))) == copy.deepcopy(Place("a", 4)) == Place("a", 4)
    assert Place("a").more is not Place("a").more


def test_records_with_a_key_are_compared_by_it():
    assert Line("a", 1) == Line("a", 2) != Line("b", 1) and len({Line("a", 1), Line("a", 2)}) == 1
    assert Line("a") != Other("a") and Other("a") != Line("a") and Line("a") != "a"


def test_missing_extra_and_assigned_fields_raise():
    with pytest.raises(TypeError, match="name"):
        Place()
    with pytest.raises(TypeError, match="colour"):
        Place("a", colour="red")
    for name in ("colour", "name"):
        with pytest.raises(AttributeError):
            setattr(Place("a"), name, "red")


def test_cached_properties_do_not_take_part_in_comparison():
    one = Kept((1, 2))
    assert one.total is one.total == [3]
    assert replace(one, numbers=(4,)).total == [4] and one == Kept((1, 2))
