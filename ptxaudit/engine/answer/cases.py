"""The cases of a conditional answer: each holds for every request of the site that meets its words.

    4·lane·pitch                     pitch mod 32 in {0}, unless pitch mod 1073741824 in {0}: 32;  in {2, 6, … 30}: 2; …
    … in some visits 8·lane·pitch    each case has the range of both tables at such a pitch
    … in some visits 4·lane          each case includes the cost of those requests, too
    lanes that may be inactive       each case begins at the cost of the fewest lanes that may be active

A request of a site may be observed several times (in several visits, on several paths). Which of these a launch makes
is unknown, so a case covers all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.engine.answer.result import Case, ranges
from ptxaudit.engine.domain.truths import truth_of
from ptxaudit.engine.domain.value import Uniform
from ptxaudit.ir.unknown_words import called

MOST_TURNS = 64
TWO = 2
Figure = tuple[int, int, int | None]  # the least and the most that a request costs, and its ideal; None: several


class Table(Record, eq=False):
    """The cost of a request as a function of an unknown.

    usual: by the unknown modulo `period`; odd: at single numbers, instead, modulo `turn` if that is not 0. Numbers in
    neither make the access fault. prefix: words of the block's shape that the table is for.
    """

    unknown: Uniform
    prefix: str
    period: int
    turn: int
    usual: dict[int, Figure]
    odd: dict[int, Figure]

    def at(self, n: int) -> Figure | None:
        """The figure at a number; None if the access faults there."""
        return self.odd.get(n % self.turn if self.turn else n, self.usual.get(n % self.period))

    def widened(self, other: Figure) -> Table:
        """With the cost of further requests in every case."""
        return replace(
            self,
            usual={n: hull(figure, other) for n, figure in self.usual.items()},
            odd={n: hull(figure, other) for n, figure in self.odd.items()},
        )

    def cases(self) -> Iterator[Case]:
        """One case per figure, ordered by the least number of each: those by residue first."""
        name = called(self.unknown.name)
        if not self.usual and len(self.odd) == TWO and (words := _of_two(self.unknown)) is not None:
            figures = [figure for _, figure in sorted(self.odd.items(), reverse=True)]
            if name.startswith("!("):
                name, words = name.removeprefix("!"), words[::-1]
            yield from (Case(f"{self.prefix}{name} {word}", *figure) for word, figure in zip(words, figures))
            return
        odd = {n: figure for n, figure in self.odd.items() if figure != self.usual.get(n % self.period)}
        among = f"{name} mod {self.turn} in" if self.turn else f"{name} exactly in"
        for figure, where in _by_figure(self.usual):
            apart = [n for n in sorted(odd) if n % self.period in where]
            unless = f", unless {among} {ranges(apart)}" if apart else ""
            yield Case(f"{self.prefix}{name} mod {self.period} in {ranges(where)}{unless}", *figure)
        for figure, where in _by_figure(odd):
            yield Case(f"{self.prefix}{among} {ranges(where)}", *figure)


def hull(one: Figure, other: Figure) -> Figure:
    """The cost of either request."""
    return min(one[0], other[0]), max(one[1], other[1]), one[2] if one[2] == other[2] else None


def united(tables: Sequence[Table]) -> Table:
    """One table for requests of several, of the same unknown."""
    first, *others = tables
    for other in others:
        first = _united(first, other)
    return first


def _united(one: Table, other: Table) -> Table:
    if one.turn != other.turn:
        turn = max(one.turn, other.turn)
        one, other = (_turning(table, turn) for table in (one, other))
        if one.turn != other.turn:
            one, other = _by_residue(one), _by_residue(other)
    period = lcm(one.period, other.period)
    usual = {n: (one.usual.get(n % one.period), other.usual.get(n % other.period)) for n in range(period)}
    odd = {n: (one.at(n), other.at(n)) for n in {*one.odd, *other.odd}}
    return replace(one, period=period, usual=_of_both(usual), odd=_of_both(odd))


def _of_both(pairs: dict[int, tuple[Figure | None, Figure | None]]) -> dict[int, Figure]:
    """Where one of the two accesses faults, the launch does."""
    return {n: hull(a, b) for n, (a, b) in pairs.items() if a is not None and b is not None}


def _turning(table: Table, turn: int) -> Table:
    """The table with its single numbers modulo a multiple of its own `turn`; itself if these would be many."""
    if not table.turn or turn % table.turn or turn // table.turn > MOST_TURNS:
        return table
    odd = {n + start: figure for n, figure in table.odd.items() for start in range(0, turn, table.turn)}
    return replace(table, turn=turn, odd=odd)


def _by_residue(table: Table) -> Table:
    """The table without single numbers, which are in the range of their residues."""
    usual = dict(table.usual)
    for n, figure in table.odd.items():
        if (residue := n % table.period) in usual:
            usual[residue] = hull(usual[residue], figure)
        else:
            usual[residue] = figure
    return replace(table, usual=usual, odd={}, turn=0)


def _of_two(u: Uniform) -> tuple[str, str] | None:
    """The words after the name of an unknown for its greater and its lesser number; None: the numbers say it."""
    predicate = truth_of(u)
    if "choice" in (u.kind if predicate is u else "", predicate.kind):  # of a path, or of one of two predicates
        return "goes one way", "goes the other way"
    return ("is true", "is false") if predicate.bits == 1 else None


def _by_figure(figures: dict[int, Figure]) -> list[tuple[Figure, list[int]]]:
    """The numbers of each figure, ordered by the least."""
    folded: dict[Figure, list[int]] = {}
    for n, figure in sorted(figures.items()):
        folded.setdefault(figure, []).append(n)
    return list(folded.items())
