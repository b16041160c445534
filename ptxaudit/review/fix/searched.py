"""Caches the search for one array, for all arrays with the same requests.

A library has a kernel for several types, shapes and architectures: of the arrays that are searched in one with a
thousand kernels, only a third are distinct. Two arrays are alike if the search sees no difference: the requests, byte
by byte, with rules that count alike, sizes and rows. Their names and declarations do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from msgspec.structs import astuple, replace

from ptxaudit.base.work import Account
from ptxaudit.engine.answer.kept import Requests
from ptxaudit.hardware.machine_model import OTHERWISE, Machine, Rule
from ptxaudit.review.fix.arrays import Array, Use
from ptxaudit.review.fix.cost import Costs, Figure
from ptxaudit.review.fix.layouts import Layout
from ptxaudit.review.fix.pitches import pitches
from ptxaudit.review.fix.search import Found, Search

MOST_KEPT = 4096  # answers: each takes some kilobytes
QUICK_PITCHES = 3  # row lengths that a quick search tries
_SAID = ("says", "source", "why")  # a rule's fields that describe it and affect no figure
_COLUMNS = ("offsets", "active", "weights", "sources", "filled")

T = TypeVar("T")


class _Kept:
    """The most recently used answers. Thread-safe."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable, find: Callable[[], T]) -> T:
        """The cached result of `find`, or a new one. (Exceptions are not cached.)"""
        with self._lock:
            if key in self._answers:
                self._answers[key] = self._answers.pop(key)  # now the most recent
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
    """One array with its search results. rows: of its declaration; element: bytes of its elements, 1 if unknown;
    steps: of work for the array, and for each of its sites; quick: as in `Search.found`, with the likeliest row
    lengths only. Each answer raises NotProvable or Exhausted if there is none."""

    def __init__(
        self, machine: Machine, array: Array, rows: Sequence[int], element: int, steps: tuple[int, int], quick: bool
    ):
        self._machine, self._array, self._rows, self._element, self._quick = machine, array, rows, element, quick
        self._steps = steps[0] + steps[1] * len(array.uses)
        written = [_written(machine, use) for use in array.uses]
        # a canonical order, so that the order of uses in the code does not matter
        self._order = sorted(range(len(written)), key=written.__getitem__)
        self._uses = tuple(array.uses[at] for at in self._order)
        asked = (machine.banks, machine.word, machine.lanes, array.align, *(written[at] for at in self._order))
        self._requests = _digest_of(repr(asked).encode())

    @cached_property
    def _search(self) -> Search:
        return Search(
            self._machine,
            replace(self._array, uses=self._uses),
            (),  # set before `found` is called
            self._element,
            self._rows,
            account=Account(self._steps),
        )

    @cached_property
    def _pitches(self) -> list[int]:
        return pitches(self._array, self._machine.banks * self._machine.word, self._rows)

    @cached_property
    def costs(self) -> Costs:
        """The array's costs, without an account."""
        return Costs(self._machine, self._array.uses, self._array.align)

    @property
    def counted(self) -> bool:
        """As in `Costs`."""
        return self.costs.counted

    @cached_property
    def now(self) -> Figure:
        """The array's present cost."""
        return kept.get(("now", self._requests, self._steps), lambda: self._search.now)

    @cached_property
    def bounds(self) -> tuple[Figure, Figure]:
        """The array's present cost, and the bound for all layouts."""
        key = "bounds", self._requests, self._steps
        return kept.get(key, lambda: (self._search.now, self._search.floor))

    def found(self) -> tuple[list[Found], int | None]:
        """As `Search.found`, with the steps after which the search ended, None if it was complete."""
        lengths, sizes = tuple(self._pitches), tuple(self._array.sizes)
        key = "found", self._requests, sizes, lengths, tuple(self._rows), self._element, self._steps, self._quick
        found, ended = kept.get(key, self._find)
        return [replace(one, parts=self._in_my_order(one.parts)) if one.parts else one for one in found], ended

    def _find(self) -> tuple[list[Found], int | None]:
        self._search.pitches = self._pitches[: QUICK_PITCHES if self._quick else None]
        return self._search.found(self._quick), self._search.ended

    def under(self, layout: Layout, parts: tuple[int, ...] = (), align: int | None = None) -> tuple[Figure, ...]:
        """The figures of the array's uses. parts: as in `Costs`; align: of its beginning, None = unchanged."""
        align = align or self._array.align
        parts = tuple(parts[at] for at in self._order) if any(parts) else ()
        figures = kept.get(
            ("under", self._requests, layout, parts, align), lambda: self._costs(parts, align).under(layout)
        )
        return self._in_my_order(figures)

    def _costs(self, parts: tuple[int, ...], align: int) -> Costs:
        costs = Costs(self._machine, self._uses, align, parts)
        if not parts and "_search" in self.__dict__:  # reuses its prepared requests
            costs.groups = self._search.costs.groups
        return costs

    def _in_my_order(self, ordered: Sequence[T]) -> tuple[T, ...]:
        """Values per use, in the order of the array's uses."""
        of = dict(zip(self._order, ordered))
        return tuple(of[at] for at in range(len(ordered)))


def _written(machine: Machine, use: Use) -> str:
    """All that decides a use's cost under a layout, as text; independent of the spelling of its opcode."""
    rules = _rules(machine, use.access.operation)
    access = astuple(replace(use.access, opcode="", sass="", loop=""))
    return repr((access, rules, machine.refusal(use.access), use.fragment, *map(_digest, use.requests)))


@lru_cache(maxsize=256)
def _rules(machine: Machine, operation: str) -> bytes:
    """The rules for an operation, and for the loads and stores that may replace it."""
    rules = [
        tuple(getattr(rule, name) for name in Rule.__struct_fields__ if name not in _SAID)
        for rule in machine.rules
        if rule.operation in (operation, OTHERWISE.get(operation), "load", "store")
    ]
    return _digest_of(repr(rules).encode())


def _digest_of(*parts: bytes) -> bytes:
    whole = blake2b(digest_size=32)
    for part in parts:
        whole.update(part)
    return whole.digest()


def _digest(r: Requests) -> Hashable:
    """A digest of the requests, without the name of what they access, and without whether their lanes are surely
    active."""
    columns = [getattr(r, name) for name in _COLUMNS]
    content = _digest_of(*(b"" if c is None else np.ascontiguousarray(c).tobytes() for c in columns))
    return r.moves, tuple(None if c is None else (c.shape, c.dtype.str) for c in columns), content
