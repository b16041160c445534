"""Aligns the lines of one file in two versions, of which only the lines with accesses are known.

    old lines  11 load   12 store               14 load
    new lines            12 load    13 store    15 load     one line was inserted above
    aligned    11→12     12→13                  14→15

Three alignments compete: unchanged line numbers, lines with equal text (if the reports contain it), and lines with
equal neighbourhoods (accesses and distance to the previous line). Text decides if both sides have it; otherwise the
alignment that pairs more accesses, and unchanged line numbers on a tie.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ptxaudit.base.sequences import align

WINDOW = 3  # lines that one statement may span


@dataclass
class Line:
    """One line as the sites of a kernel describe it: its text, and the accesses on it."""

    number: int
    text: str | None = None
    accesses: list[str] = field(default_factory=list)


FileLines = dict[str, dict[int, Line]]
LineMap = dict[int, int]


def align_lines(old: dict[int, Line], new: dict[int, Line]) -> LineMap:
    """Old line number -> corresponding new line number, for one file."""
    olds, news = sorted(old.values(), key=_number), sorted(new.values(), key=_number)
    if all(line.text is not None for line in (*olds, *news)):
        return _align_by(olds, news, [line.text for line in olds], [line.text for line in news], movable=True)
    same = {number: number for number in old if number in new}
    moved = _align_by(olds, news, _neighbourhoods(olds), _neighbourhoods(news))
    return max(same, moved, key=lambda lines: _agreement(lines, old, new))


def statements(old: dict[int, Line], new: dict[int, Line], aligned: LineMap) -> LineMap:
    """Line of the new side -> first line of its statement, for the lines with sites: compilers attribute a statement
    to any of its lines."""
    carried = Carried(aligned)
    texts = {carried(number): line.text for number, line in old.items()}
    texts |= {number: line.text for number, line in new.items()}
    heads: LineMap = {}
    before = None
    for number in sorted(texts):
        goes_on = before is not None and number - before <= WINDOW and _goes_on(texts[before])
        heads[number] = heads[before] if goes_on and before is not None else number
        before = number
    return heads


def _goes_on(text: str | None) -> bool:
    """The line's text is known, and leaves a parenthesis open or ends with an operator."""
    code = (text or "").split("//")[0].rstrip()
    return code.count("(") > code.count(")") or code.endswith(tuple(",+-*/%=&|^?<>(["))


def _align_by(
    olds: list[Line], news: list[Line], old_tokens: Sequence[Any], new_tokens: Sequence[Any], movable: bool = False
) -> LineMap:
    """Aligns lines with equal tokens, also across reordering if they are movable; between those in order, remaining
    lines are aligned with each other."""
    pairs = align(old_tokens, new_tokens)
    result = {olds[i].number: news[j].number for i, j in pairs}
    if movable:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for line, token in reversed(list(zip(olds, old_tokens, strict=True))):
            if line.number not in result:
                waiting[token].append(line.number)
        taken = {news[j].number for _, j in pairs}
        result.update(
            {
                queue.pop(): line.number
                for line, token in zip(news, new_tokens, strict=True)
                if line.number not in taken and (queue := waiting.get(token))
            }
        )
    taken = set(result.values())
    ends = [(-1, -1), *pairs, (len(olds), len(news))]
    for (i, j), (next_i, next_j) in zip(ends, ends[1:], strict=False):
        between_old = [line for line in olds[i + 1 : next_i] if line.number not in result]
        between_new = [line for line in news[j + 1 : next_j] if line.number not in taken]
        if len(between_old) == len(between_new):  # rewritten in place
            result.update({a.number: b.number for a, b in zip(between_old, between_new, strict=True)})
        else:
            shapes = align(
                [sorted(line.accesses) for line in between_old], [sorted(line.accesses) for line in between_new]
            )
            result.update({between_old[a].number: between_new[b].number for a, b in shapes})
    return result


def _neighbourhoods(lines: list[Line]) -> list[Hashable]:
    gaps = [0, *(b.number - a.number for a, b in zip(lines, lines[1:], strict=False))]
    return [(gap, tuple(line.accesses)) for gap, line in zip(gaps, lines, strict=False)]


def _agreement(lines: LineMap, old: dict[int, Line], new: dict[int, Line]) -> int:
    """The number of accesses that an alignment pairs."""
    count = 0
    for old_line, new_line in lines.items():
        theirs = list(new[new_line].accesses)
        for access in old[old_line].accesses:
            if access in theirs:
                theirs.remove(access)
                count += 1
    return count


def _number(line: Line) -> int:
    return line.number


class Carried:
    """Maps old lines of a file to new line numbers; a line without a counterpart moves with the nearest line above
    that has one."""

    def __init__(self, lines: LineMap) -> None:
        self._lines, self._known = lines, sorted(lines)

    def __call__(self, line: int) -> int:
        if line in self._lines:
            return self._lines[line]
        at = bisect_left(self._known, line)
        return line if at == 0 else line + self._lines[self._known[at - 1]] - self._known[at - 1]
