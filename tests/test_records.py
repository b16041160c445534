"""Records are dataclasses in all but what they cost."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, fields, replace

import pytest

from ptxaudit.base.records import record


@record
class Place:
    """Where something is."""

    name: str
    at: int = 3
    more: list[int] = field(default_factory=list, compare=False)
    hidden: int = field(default=1, repr=False)

    @property
    def end(self) -> int:
        return self.at + 1


@dataclass
class Twin:
    name: str
    at: int = 3
    more: list[int] = field(default_factory=list, compare=False)
    hidden: int = field(default=1, repr=False)


@record
class Named:
    name: str = "it"

    def __repr__(self) -> str:
        return self.name


@record
class Empty:
    pass


GIVEN = [(("a",), {}), (("a", 4), {}), (("a",), {"more": [1], "hidden": 2}), ((), {"name": "b", "at": 0})]


@pytest.mark.parametrize("values, named", GIVEN)
def test_as_a_dataclass(values, named):
    mine, twin = Place(*values, **named), Twin(*values, **named)
    assert [getattr(mine, one.name) for one in fields(Place)] == [getattr(twin, one.name) for one in fields(Twin)]
    assert repr(mine) == repr(twin).replace("Twin", "Place")
    for other_values, other_named in GIVEN:
        assert (mine == Place(*other_values, **other_named)) == (twin == Twin(*other_values, **other_named))
    assert mine != twin and hash(mine) == hash(copy.copy(mine))
    assert replace(mine, at=9).end == 10 and replace(mine, at=9).name == mine.name
    assert pickle.loads(pickle.dumps(mine)) == copy.deepcopy(mine) == mine


def test_what_is_missing_or_too_much_is_said():
    with pytest.raises(TypeError, match="name"):
        Place()
    with pytest.raises(TypeError, match="colour"):
        Place("a", colour="red")
    with pytest.raises(AttributeError):
        Place("a").colour = "red"


def test_each_has_its_own_list_and_its_own_methods():
    assert Place("a").more is not Place("a").more
    assert repr(Named()) == "it" and Empty() == Empty() and len({Empty(), Empty()}) == 1
