"""Finds the best layouts of an array, family by family, and states for which families it tried all.

Paddings, skews and orders with one row length are finitely many, because counts repeat after a line (128 bytes if
only banks matter): all are tried. So are CuTe's swizzles; `linear` covers all linear ones. A layout that reaches the
bound for *all* layouts (`bounds`) ends the search of its family at once: it is an optimum among all layouts. The
search is limited by counted steps, not by time; a family that it cuts short is not reported as complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, product

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine.answer.tabulate import line_of
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.review.fix.arrays import Array
from ptxaudit.review.fix.cost import Costs, Figure, NotProvable
from ptxaudit.review.fix.layouts import SAME, Chain, Layout, Order, Pad, Skew, Xor
from ptxaudit.review.fix.linear import best_map

STEPS, STEPS_A_SITE = 600_000, 40_000  # steps of the search for one array, and for each of its sites
MOST_BITS = 12  # of a row number
KEPT = 6  # candidates kept per family, in case limits or other kernels refuse some
_AT_ONCE = 16  # layouts scored together
_WORD = 4
_FRAGMENT_STEP = 16  # bytes: distances between rows must be multiples of this for wmma


class Found(Record):
    """A layout and its cost. parts: for each use the bytes of narrower accesses, 0 = unchanged; () = all unchanged.
    whole: every layout of its family was tried; floor: no layout that keeps these vectors costs less."""

    layout: Layout
    figure: Figure
    parts: tuple[int, ...] = ()
    whole: bool = True
    floor: bool = False


class Search:
    """The search for one array. pitches: bytes that rows may have; element: bytes of an element of its declaration, 1
    if unknown; declared: rows of the declaration, the only ones that may be cut; parts: as in `Costs`. Raises
    NotProvable if the array has too many requests."""

    def __init__(
        self,
        machine: Machine,
        array: Array,
        pitches: Sequence[int],
        element: int = 1,
        declared: Sequence[int] = (),
        parts: tuple[int, ...] = (),
        account: Account | None = None,
    ):
        self.machine, self.array, self.pitches, self.element, self.declared, self.parts = (
            machine,
            array,
            pitches,
            element,
            declared,
            parts,
        )
        self.account = account or Account(STEPS + STEPS_A_SITE * len(array.uses))
        self.costs = Costs(machine, array.uses, array.align, parts, self.account)
        self.widths = sorted(
            {part or use.access.width or 1 for use, part in zip(array.uses, parts or [0] * len(array.uses))}
        )
        self.unit = self.widths[-1] if self.widths else 1
        self.banks = machine.banks * machine.word  # bytes after which banks repeat
        self.line = max(
            [self.banks, *(line_of(machine, use.access) for use in array.uses)]
        )  # bytes after which every count repeats
        self.now = self.costs.total(SAME)
        # a wmma access has one distance between all its rows: no other layout can be used with it
        self.fragments = {use.fragment for use in array.uses if use.fragment is not None}

    @cached_property
    def floor(self) -> Figure:
        """The bound for all layouts. Raises NotProvable."""
        return self.costs.least(self.unit)

    def found(self, quick: bool = False) -> list[Found]:
        """The best layouts of each family that cost less than the present one, best first within a family. quick:
        searches a family only if the ones before it leave something to save."""
        out = self._pads()
        if not self.fragments:
            for family in (self._swizzles, self._skews, self._orders, lambda: self._narrower(out)):
                if quick and self._done(out):
                    break
                out += family()
        return out

    @property
    def ended(self) -> int | None:
        """The steps after which the search ended with layouts untried; None if it was complete."""
        limit = self.account.limit
        return limit if limit is not None and self.account.spent > limit else None

    # --- families ---

    def _pads(self) -> list[Found]:
        found: list[Found] = []
        for row in self.pitches:
            if self.fragments <= {row} and not (self.fragments and row % _FRAGMENT_STEP):
                step = max(self._step(row), _FRAGMENT_STEP if self.fragments else 1)
                fewer = range(-((row - self._used(row)) // step * step), 0, step)
                found += self._best(
                    [Pad(((row, more),)) for more in (*fewer, *range(step, self.line, step)) if more > -self.line], True
                )
                if self._done(found):
                    return found
        return found if self.fragments else [*found, *self._nested_pads(found)]

    def _step(self, row: int) -> int:
        """Bytes by which rows of this length may grow: whole elements, unless the row is an element of the
        declaration."""
        return self.unit if row == self.element else max(self.unit, self.element)

    def _used(self, row: int) -> int:
        """Bytes of a row up to the last accessed one; all if unknown, or if the declaration has no such row."""
        if row not in self.declared or row == self.element:
            return row
        try:
            return min(row, self.costs.used(row))
        except NotProvable:
            return row

    def _nested_pads(self, found: list[Found]) -> list[Found]:
        """Paddings of two dimensions, for arrays of three or more: only those that are better than padding one."""
        step, best = max(self.unit, self.element), min((f.figure.weight for f in found), default=self.now.weight)
        out: list[Found] = []
        rows = sorted(row for row in self.declared if row != self.element)
        for inner, outer in ((a, b) for a in rows for b in rows if a < b and b % a == 0):
            layouts = [
                Pad(((inner, a), (outer, b)))
                for a, b in product(range(0, self.line, step), range(step, self.line, step))
                if a
            ]
            out += [f for f in self._best(layouts, True) if f.figure.weight < best]
            if self._done(out):
                break
        return out

    def _skews(self) -> list[Found]:
        found: list[Found] = []
        for row in self.pitches:
            found += self._best(
                [Skew(row, step) for step in range(self._step(row), min(row, self.line), self._step(row))],
                row <= self.line,
            )
            if self._done(found):
                break
        return found

    def _orders(self) -> list[Found]:
        sizes = set(self.array.sizes)
        found: list[Found] = []
        size = sizes.pop() if len(sizes) == 1 else None
        if size is None:
            return found
        for row in self.pitches:
            units = dict.fromkeys((max(self.unit, self.element), self.unit))
            for unit in (unit for unit in units if size % row == 0 and row % unit == 0 and unit < row < size):
                found += self._best([Order(row, size // row, unit, more) for more in range(0, self.line, unit)], True)
        return found

    def _swizzles(self) -> list[Found]:
        found: list[Found] = []
        rows = [row for row in dict.fromkeys((*self.pitches, self.banks)) if _low_bit(row) > self.unit]
        for row in rows:
            found += self._best(list(self._shifted(row)), False)
            if self._done(found):
                return found
        for row in self.pitches:
            short = 1 << (self._used(row) - 1).bit_length()
            if short < row and short % self.unit == 0:
                first = Pad(((row, short - row),))
                found += self._best([Chain(first, swizzle) for swizzle in self._shifted(short)], False)
        for row in dict.fromkeys((self.banks, *(row for row in rows if row & row - 1))):
            best = min((f.figure.weight for f in found), default=self.now.weight)
            layout, whole = best_map(
                self.costs, Xor(row, ()), self.unit, self.banks, self._bits(row), self.floor, best, self.account
            )
            if layout is not None:
                found = [*self._best([layout], whole), *found]
            elif whole and not row & row - 1:  # CuTe's own is as good as any linear one
                found = [replace(f, whole=f.whole or f.figure.weight == best) for f in found]
            if self._done(found):
                break
        return sorted(found, key=lambda f: f.figure.weight)

    def _shifted(self, row: int) -> Iterator[Xor]:
        """CuTe's swizzles, on rows of any length: a run of bits of the row number mapped onto bits of the column."""
        low, top, bits = (
            (max(self.unit, _low_bit(self.element)) - 1).bit_length(),
            min(_low_bit(row), self.banks).bit_length() - 1,
            self._bits(row),
        )
        for target in range(low, top):
            for count in range(1, top - target + 1):
                for source in range(bits - count + 1):
                    yield Xor(row, (0,) * source + tuple(1 << target + bit for bit in range(count)))

    def _bits(self, row: int) -> int:
        """The number of bits of row numbers in the array."""
        size = max((size for size in self.array.sizes if size), default=1 << 16)
        return min(MOST_BITS, max(1, (-(-size // row) - 1).bit_length()))

    def _narrower(self, so_far: list[Found]) -> list[Found]:
        """Splits vectors into narrower accesses, with and without padding, if that costs less than any layout that
        keeps them."""
        best, found = min((_spent(f.figure) for f in so_far), default=_spent(self.now)), []
        for parts in self._taken_apart():
            try:
                narrow = Search(
                    self.machine, self.array, self.pitches, self.element, self.declared, parts, self.account
                )
                floor = narrow.floor
            except (NotProvable, Exhausted):
                continue
            if _spent(floor) < best:
                same = Found(SAME, narrow.now, floor=narrow.now.weight <= floor.weight)
                found += [replace(f, parts=parts) for f in (same, *narrow._pads()) if _spent(f.figure) < best]
        return sorted(found, key=lambda f: _spent(f.figure))[:KEPT]

    def _taken_apart(self) -> list[tuple[int, ...]]:
        """Which of the widest accesses to make narrower: all stores, all loads, or both."""
        widest = [use.access.operation if use.access.width == self.unit > _WORD else "" for use in self.array.uses]
        if self.parts or not set(widest) <= {"load", "store", ""}:
            return []
        others = max((use.access.width or 1 for use, kind in zip(self.array.uses, widest) if not kind), default=_WORD)
        to = max(_WORD, others)
        choices = [
            tuple(to if kind in kinds else 0 for kind in widest) for kinds in (("store",), ("load",), ("load", "store"))
        ]
        return list(dict.fromkeys(choice for choice in choices if any(choice)))

    # --- comparing ---

    def _best(self, layouts: Sequence[Layout], whole: bool) -> list[Found]:
        """The best of the layouts that keep vectors and cost less than now."""
        found: list[Found] = []
        size = max((size for size in self.array.sizes if size), default=1 << 14)
        keeping = (layout for layout in layouts if all(layout.keeps(width) for width in self.widths))
        smallest_first = sorted(keeping, key=lambda layout: layout.size(size))
        of_one_period = len({layout.period for layout in smallest_first}) == 1
        for batch in _by_period(smallest_first):
            if of_one_period and sum(f.figure.weight <= self.floor.weight for f in found) >= KEPT:
                break  # the remaining ones are larger, and cost no less
            try:
                figures = self.costs.totals(batch)
            except NotProvable:
                whole = False
                continue
            except Exhausted:  # as would every later batch
                whole = False
                break
            found += [
                Found(layout, figure) for layout, figure in zip(batch, figures) if figure.weight < self.now.weight
            ]
        found.sort(key=lambda f: (f.figure.weight, f.layout.size(size)))
        return [
            replace(f, parts=self.parts, whole=whole, floor=f.figure.weight <= self.floor.weight) for f in found[:KEPT]
        ]

    @staticmethod
    def _done(found: list[Found]) -> bool:
        return any(f.floor for f in found)


def _spent(figure: Figure) -> int:
    """Wavefronts, whatever their ideal."""
    return figure.low + figure.high


def _low_bit(number: int) -> int:
    return number & -number


def _by_period(layouts: Iterable[Layout]) -> Iterator[list[Layout]]:
    """Layouts of one period together, in batches."""
    groups: dict[object, list[Layout]] = {}
    for layout in layouts:
        groups.setdefault(layout.period, []).append(layout)
    for group in groups.values():
        rest = iter(group)
        while batch := list(islice(rest, _AT_ONCE)):
            yield batch
