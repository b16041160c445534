"""Shows the code of a changed site in both builds side by side, aligned by opcode.

        old                                    new
      >  0210  LDS.128 R4, [R2+0x10]          >  0200  LDS R4, [R2+0x10]
                                              >  0210  LDS R5, [R2+0x14]
         0220  FFMA R8, R4, R9, R8               0240  FFMA R8, R4, R9, R8

With line information these are the instructions of the site's source line, otherwise those around it. > marks
accesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from ptxaudit.base.records import Record
from ptxaudit.base.sequences import align
from ptxaudit.base.words import cut_at
from ptxaudit.pipeline.code_lines import CodeBook, CodeLine
from ptxaudit.report.model import AnySite, Kernel
from ptxaudit.review.diff.reports import KernelDiff
from ptxaudit.review.diff.verdict import Change

Codes = tuple[CodeBook, CodeBook]  # of the old and the new side

AROUND = 5  # instructions before and after an access without a line
MOST = 24  # instructions per side
LONGEST = 58  # characters of an instruction
_GUARD = re.compile(r"@!?U?[P%]\w+\s+")


class Pair(Record):
    """One row: an instruction per side, None without a counterpart; marked: it is an access of the changed site."""

    old: CodeLine | None
    new: CodeLine | None
    marked: tuple[bool, bool]


def pairs_of(entry: KernelDiff, row: Sequence[Change], codes: Codes | None) -> list[Pair]:
    """The rows of one change; [] if neither side's code is known."""
    if codes is None:
        return []
    sides = []
    for book, kernel, sites in (
        (codes[0], entry.old, [s for one in row for s in one.olds]),
        (codes[1], entry.new, [s for one in row for s in one.news]),
    ):
        sides.append(_excerpt(book.code(kernel), kernel, sites) if kernel is not None and sites else ([], set()))
    (old, old_marks), (new, new_marks) = sides
    if not old and not new:
        return []
    out: list[Pair] = []

    def put(i: int | None, j: int | None) -> None:
        a, b = old[i] if i is not None else None, new[j] if j is not None else None
        out.append(Pair(a, b, (a is not None and a.place in old_marks, b is not None and b.place in new_marks)))

    i = j = 0
    for at, there in [*align([_token(line) for line in old], [_token(line) for line in new]), (len(old), len(new))]:
        for one, other in zip_longest(range(i, at), range(j, there)):  # instructions without a counterpart share a row
            put(one, other)
        if at < len(old):
            put(at, there)
        i, j = at + 1, there + 1
    return out


def code_lines_of(entry: KernelDiff, row: Sequence[Change], codes: Codes | None) -> list[str]:
    """The same as text: two columns with a heading."""
    pairs = pairs_of(entry, row, codes)
    if not pairs:
        return []
    cells = [(_cell(pair.old, pair.marked[0]), _cell(pair.new, pair.marked[1])) for pair in pairs]
    width = max(len("old"), *(len(old) for old, _ in cells))
    return [f"{'old':<{width}}  new".rstrip(), *(f"{old:<{width}}  {new}".rstrip() for old, new in cells)]


def _cell(line: CodeLine | None, marked: bool) -> str:
    return "" if line is None else f"{'>' if marked else ' '} {line.place:04x}  {cut_at(line.text, LONGEST)}"


def _excerpt(code: Sequence[CodeLine], kernel: Kernel, sites: Sequence[AnySite]) -> tuple[list[CodeLine], set[int]]:
    """The instructions to show of a side, and the places of the accesses."""
    marks = {place for site in sites if (place := site.ptx_line if kernel.isa == "ptx" else site.offset) is not None}
    source = sites[0].source
    of_line = [
        line
        for line in code
        if source is not None and line.file is not None and (line.file, line.line) == (source.file, source.line)
    ]
    if of_line and any(line.place in marks for line in of_line):
        return _around(of_line, marks, MOST // 2), marks
    return _around(code, marks, AROUND), marks


def _around(code: Sequence[CodeLine], marks: Iterable[int], before: int) -> list[CodeLine]:
    """At most MOST instructions, starting a few before the first access."""
    places = set(marks)
    first = next((at for at, line in enumerate(code) if line.place in places), None)
    if first is None:
        return []
    last = max(at for at, line in enumerate(code) if line.place in places)
    start = max(0, min(first - before, len(code) - MOST)) if before > AROUND else max(0, first - before)
    return list(code[start : min(start + MOST, last + before + 1)])


def _token(line: CodeLine) -> str:
    """The opcode alone, because registers and places differ between builds."""
    return _GUARD.sub("", line.text).split(" ")[0].rstrip(";")
