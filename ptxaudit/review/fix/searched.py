"""What the search for one array gave, shared by all arrays to which the same requests are made.

A library has a kernel for several types, shapes and architectures: of the arrays that are searched in one of a thousand
kernels, a third differ. Two arrays are alike where the search sees no difference: the requests, byte by byte, by rules
that count alike, sizes and rows. What they are called and where they are declared, the search does not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from msgspec.structs import astuple

from ptxaudit.base.work import Account
from ptxaudit.engine.answer.kept import Requests
from ptxaudit.hardware.machine_model import OTHERWISE, Machine, Rule
from ptxaudit.review.fix.arrays import Array, Use
from ptxaudit.review.fix.cost import Costs, Figure
from ptxaudit.review.fix.layouts import Layout
from ptxaudit.review.fix.pitches import pitches
from ptxaudit.review.fix.search import Found, Search

MOST_KEPT = 4096  # answers: each is some kilobytes
QUICK_PITCHES = 3  # lengths of rows that a quick search tries
_SAID = ("says", "source", "why")  # what a rule says of itself, which decides no figure
_COLUMNS = ("offsets", "active", "weights", "sources", "filled")

T = TypeVar("T")


class _Kept:
    """The answers that were asked for last. For any thread."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable, find: Callable[[], T]) -> T:
        """What `find` gives, or gave. (What it raises is not kept.)"""
        with self._lock:
            if key in self._answers:
                self._answers[key] = self._answers.pop(key)  # the last to go
                return cast(T, self._answers[key])
        found = find()
        with self._lock:
            self._answers[key] = found
            if len(self._answers) > MOST_KEPT:
                del self._answers[next(iter(self._answers))]
        return found

    def clear(self) -> None:
        with self._lock:
            self._answers.clear()


kept = _Kept()


class Searched:
    """One array, and what is found for it. rows: of its declaration; element: bytes of its elements, 1 where not known;
    steps: of work for the array, and for each of its sites; quick: as of `Search.found`, by the likeliest lengths of
    rows. Each answer raises NotProvable or Exhausted where there is none."""

    def __init__(
        self, machine: Machine, array: Array, rows: Sequence[int], element: int, steps: tuple[int, int], quick: bool
    ):
        self._machine, self._array, self._rows, self._element, self._quick = machine, array, rows, element, quick
        self._steps = steps[0] + steps[1] * len(array.uses)
        requests = tuple(_plain(machine, use) for use in array.uses)
        scored = machine.banks, machine.word, machine.lanes, requests, array.align
        self._key = (*scored, tuple(array.sizes), tuple(rows), element, self._steps, quick)

    @cached_property
    def _search(self) -> Search:
        array = self._array
        lengths = pitches(array, self._machine.banks * self._machine.word, self._rows)
        return Search(
            self._machine,
            array,
            lengths[: QUICK_PITCHES if self._quick else None],
            self._element,
            self._rows,
            account=Account(self._steps),
        )

    @cached_property
    def costs(self) -> Costs:
        """Those of the array, on nobody's account."""
        costs = Costs(self._machine, self._array.uses, self._array.align)
        if "_search" in self.__dict__:
            costs.groups = self._search.costs.groups
        return costs

    @property
    def counted(self) -> bool:
        """As of `Costs`."""
        return self.costs.counted

    @property
    def now(self) -> Figure:
        return self._bounds[0]

    @property
    def floor(self) -> Figure:
        return self._bounds[1]

    @cached_property
    def _bounds(self) -> tuple[Figure, Figure]:
        return kept.get(("bounds", self._key), lambda: (self._search.now, self._search.floor))

    def found(self) -> list[Found]:
        """As of `Search.found`."""
        return kept.get(("found", self._key), lambda: self._search.found(self._quick))

    def under(self, layout: Layout, parts: tuple[int, ...] = (), align: int | None = None) -> tuple[Figure, ...]:
        """The figures of the array's uses. parts: as of `Costs`; align: of its beginning, None = as it is."""
        if not any(parts) and align is None:
            return kept.get(("under", self._key, layout), lambda: self.costs.under(layout))
        align = align or self._array.align
        return kept.get(
            ("under", self._key, layout, parts, align),
            lambda: Costs(self._machine, self._array.uses, align, parts).under(layout),
        )


def _plain(machine: Machine, use: Use) -> Hashable:
    """All that decides what a use costs under a layout, equal where that is."""
    rules = _rules(machine, use.access.operation)
    return astuple(use.access), rules, machine.refusal(use.access), use.fragment, tuple(map(_digest, use.requests))


@lru_cache(maxsize=256)
def _rules(machine: Machine, operation: str) -> Hashable:
    """Of an operation, and of the loads and stores that may take its place."""
    return tuple(
        tuple(getattr(rule, name) for name in Rule.__struct_fields__ if name not in _SAID)
        for rule in machine.rules
        if rule.operation in (operation, OTHERWISE.get(operation), "load", "store")
    )


def _digest(r: Requests) -> Hashable:
    """Of what the requests are: not of the name of what they access, nor of whether their lanes surely take part."""
    columns = [getattr(r, name) for name in _COLUMNS]
    whole = blake2b(digest_size=32)
    for column in columns:
        whole.update(b"" if column is None else np.ascontiguousarray(column).tobytes())
    return r.moves, tuple(None if c is None else (c.shape, c.dtype.str) for c in columns), whole.digest()
