"""Writes the result of a search over releases: what changed where, then a table of the audited releases.

k.cu from 12.4 to 13.5: 10 releases can be had, 5 were audited

  kernel  isa   figure      first changed in    from      to
  life    sass  wavefronts  13.1              20,448  20,964  after 13.0
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ptxaudit.base.words import plural
from ptxaudit.review.diff.bisection import Bisection, Found
from ptxaudit.review.diff.matrix import Matrix
from ptxaudit.ui.render.change_rows import LONGEST_NAME, figure_text
from ptxaudit.ui.render.matrix import matrix_text
from ptxaudit.ui.render.short_names import short_name

COLUMNS = ("kernel", "isa", "figure", "first changed in", "from", "to", "")


def bisection_text(found: Bisection, note: str = "") -> str:
    """The whole text. note: why there may be more releases."""
    had = [column for column in found.tested if column.report is not None]
    lines = [
        f"{PurePath(found.input).name} from {found.releases[0]} to {found.releases[-1]}:"
        f" {plural(len(found.releases), 'release')} can be had, {len(had)} {'was' if len(had) == 1 else 'were'} audited"
    ]
    lines += [
        f"{column.label}: {column.problems[0].what.splitlines()[0]}"
        for column in found.tested
        if column.report is None and column.problems
    ]
    blocks = ["\n".join([*lines, *([note] if note else [])])]
    if found.found:
        blocks.append("\n".join(_table(found)))
    elif len(had) > 1:
        blocks.append("no figure changed")
    if len(had) > 1:
        blocks.append(matrix_text(Matrix(found.input, tuple(found.tested))).rstrip("\n"))
    return "\n\n".join(blocks) + "\n"


def _table(found: Bisection) -> Iterator[str]:
    cells = [COLUMNS, *(_cells(one) for one in found.found)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]
    for line in cells:
        yield (
            "  "
            + "  ".join(
                cell.rjust(width) if name in ("from", "to") else cell.ljust(width)
                for name, cell, width in zip(COLUMNS, line, widths, strict=True)
            )
        ).rstrip()


def _cells(one: Found) -> tuple[str, ...]:
    name = short_name(one.kernel.demangled, LONGEST_NAME)
    skipped = f", or in {', '.join(one.skipped)}, which could not be audited" if one.skipped else ""
    return (
        name,
        one.kernel.isa,
        one.figure,
        one.first,
        figure_text(one.old),
        figure_text(one.new),
        f"after {one.before}{skipped}",
    )
