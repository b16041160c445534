"""Writes a table of kernels by release as text, JSON, Markdown or HTML, the summary first.

    k.cu under 3 releases: got worse at 13.5
    13.5: 4 worse, 40 same; wavefronts 20,448 → 20,964 (+516)

    life  sass, grid 2×2, block 256
      release     wavefronts   excess  registers  spills  instructions  sites
      12.4 … 12.9     20,448      648         31       0           586
      13.5          20,964 ▲  1,128 ▲       32 ▲       0         767 ▲  4 worse, 40 same

▲ and ▼ mark figures that are worse or better than in the release above. Consecutive releases without a change share
one line; if there are several kernels, the unchanged ones share one table.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import PurePath

from ptxaudit.base.records import Record
from ptxaudit.base.words import cut_at, listing, plural
from ptxaudit.report.measures import MEASURES, Figure
from ptxaudit.report.model import Kernel
from ptxaudit.review.diff.matrix import SHOWN, Column, Matrix, Row, Step
from ptxaudit.review.diff.reports import KernelDiff
from ptxaudit.review.diff.verdict import QUIET, Verdict, excess_of, paid_of
from ptxaudit.ui.render.change_rows import LONGEST_HEAD, figure_text, grown, summary_lines
from ptxaudit.ui.render.markdown_text import code, plain
from ptxaudit.ui.render.rows import ABSENT
from ptxaudit.ui.render.short_names import short_name

WORSE, BETTER = " ▲", " ▼"
NUMERIC = frozenset(SHOWN)
LONGEST_PROBLEM = 120  # characters: stderr has the full text


class Line(Record):
    """One row of a kernel's table. first, last: positions in `Row.columns`; cells: without the release."""

    first: int
    last: int
    cells: tuple[str, ...]


def written(form: str, matrix: Matrix, everything: bool = False) -> str:
    """The matrix in a format: text, json, markdown or html. everything: each unchanged release has its own line."""
    if form == "json":
        return json.dumps(matrix.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return {"text": matrix_text, "markdown": matrix_markdown, "html": matrix_html}[form](matrix, everything)


def matrix_text(matrix: Matrix, everything: bool = False) -> str:
    """The summary, a table per kernel, and the totals."""
    blocks = ["\n".join(summary(matrix))]
    for head, columns, lines in _tables(matrix, everything):
        blocks.append("\n".join([head, *(f"  {line}" for line in _aligned(columns, lines))]))
    return "\n\n".join(blocks) + "\n"


def matrix_markdown(matrix: Matrix, everything: bool = False) -> str:
    """The same as Markdown."""
    first, *rest = summary(matrix)
    blocks = [f"### ptxaudit: {plain(first)}", "  \n".join(map(plain, rest))]
    for head, columns, lines in _tables(matrix, everything):
        rows = ["| " + " | ".join(map(plain, line)) + " |" for line in (columns, *lines)]
        rows.insert(1, "|" + "|".join("---:" if name in NUMERIC else "---" for name in columns) + "|")
        blocks.append("\n".join([f"**`{code(head)}`**", "", *rows]))
    return "\n\n".join(block for block in blocks if block) + "\n"


def matrix_html(matrix: Matrix, everything: bool = False) -> str:
    """The same as one HTML page."""
    body = [
        f"<h1>ptxaudit: {escape(summary(matrix)[0])}</h1>",
        *(f"<p>{escape(line)}</p>" for line in summary(matrix)[1:]),
    ]
    for head, columns, lines in _tables(matrix, everything):
        body.append(
            f"<h2><code>{escape(head)}</code></h2>\n<table>\n<tr>"
            + "".join(f"<th>{escape(name)}</th>" for name in columns)
            + "</tr>"
        )
        body += ["<tr>" + "".join(f"<td{_tone(cell)}>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines]
        body.append("</table>")
    return _PAGE.replace("TITLE", escape(summary(matrix)[0])).replace("BODY", "\n".join(body))


def _tone(cell: str) -> str:
    return ' class="bad"' if cell.endswith(WORSE) else ' class="good"' if cell.endswith(BETTER) else ""


def summary(matrix: Matrix) -> list[str]:
    """What is compared, where it got worse, what each release changed, and which releases could not be audited."""
    columns = matrix.columns
    releases = list(dict.fromkeys(column.label for column in columns))
    archs = list(dict.fromkeys(column.arch for column in columns if column.arch))
    what = plural(len(releases), "release") if len(releases) > 1 else ""
    what = " for ".join(filter(None, (what, plural(len(archs), "architecture") if len(archs) > 1 else "")))
    worse = [columns[step.new].name for step in matrix.steps if step.diff.got_worse]
    lines = [
        f"{PurePath(matrix.input).name} under {what}: "
        + (f"got worse at {listing(worse)}" if worse else "nothing got worse")
    ]
    for at, column in enumerate(columns):
        if column.report is None:
            lines.append(f"{column.name}: {_problem(column)}")
        lines += [
            f"{columns[step.old].name} to {column.name}: {_step(step)}" for step in matrix.steps if step.new == at
        ]
    return lines


def _step(step: Step) -> str:
    """ "4 worse, 40 same; wavefronts 20,448 → 20,964 (+516)"."""
    first = summary_lines(step.diff)[0]
    counts = first.partition(": ")[2] or first
    changed = [grown(name, *both) for name, both in step.diff.totals.items() if both[0] != both[1]]
    return "; ".join(filter(None, (counts, ", ".join(changed))))


def _problem(column: Column) -> str:
    return (
        cut_at(column.problems[0].what.splitlines()[0], LONGEST_PROBLEM)
        if column.problems
        else "nothing could be checked"
    )


# --- the tables -----------------------------------------------------------------------------

Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]  # head, columns, lines


def _tables(matrix: Matrix, everything: bool) -> Iterator[Table]:
    """A table per changed kernel, the greatest change first, one table of the unchanged kernels, then the totals."""
    of_step = {step.new: _by_kernel(step) for step in matrix.steps}
    same: list[tuple[Row, Line]] = []
    for row in sorted(matrix.rows, key=lambda row: -_change(row, of_step)):
        shown = _shown([row])
        lines = _lines(matrix, row, shown, of_step, everything)
        if len(matrix.rows) > 1 and len(row.columns) > 1 and len(lines) == 1:
            same.append((row, lines[0]))
        else:
            yield (
                _head(row),
                ("release", *shown, "sites"),
                [(_release(matrix, row.columns, line), *line.cells) for line in lines],
            )
    if same:
        yield _unchanged([row for row, _ in same])
    if len(matrix.rows) > 1:
        yield from _totals(matrix)


def _shown(rows: Iterable[Row]) -> tuple[str, ...]:
    """The figures that are known for at least one of the rows."""
    return tuple(
        name
        for name in SHOWN
        if any(
            _cell(name, None, row.figure(name, at), kernel) != ABSENT
            for row in rows
            for at, kernel in enumerate(row.kernels)
        )
    )


def _unchanged(rows: Sequence[Row]) -> Table:
    """The kernels that are the same in all columns, one line each."""
    shown = _shown(rows)
    lines = [(_head(row), *(_cell(name, None, row.figure(name, 0), row.kernels[0]) for name in shown)) for row in rows]
    return f"nothing changed in {plural(len(rows), 'kernel')}", ("kernel", *shown), lines


def _head(row: Row) -> str:
    kernel = row.kernel
    name = short_name(kernel.demangled, LONGEST_HEAD)
    return f"{name}  {kernel.arch} {kernel.isa}, {kernel.launch or 'no launch specified'}"


def _by_kernel(step: Step) -> dict[int, KernelDiff]:
    return {id(entry.new): entry for entry in step.diff.kernels if entry.new is not None}


def _change(row: Row, of_step: dict[int, dict[int, KernelDiff]]) -> int:
    """The sort key of a kernel: the change in wavefronts over all releases, plus 1 for each that made it worse."""
    entries = [
        entry
        for at, kernel in zip(row.columns, row.kernels, strict=True)
        if (entry := of_step.get(at, {}).get(id(kernel))) is not None
    ]
    return sum(abs(entry.impact) + entry.got_worse for entry in entries)


def _lines(
    matrix: Matrix, row: Row, shown: Sequence[str], of_step: dict[int, dict[int, KernelDiff]], everything: bool
) -> list[Line]:
    lines: list[Line] = []
    above: int | None = None
    for at, (column, kernel) in enumerate(zip(row.columns, row.kernels, strict=True)):
        if kernel is None:
            why = _problem(matrix.columns[column]) if matrix.columns[column].report is None else "not in it"
            lines.append(Line(at, at, (*("–" for _ in shown), why)))
            continue
        entry = of_step.get(column, {}).get(id(kernel))
        figures = [(row.figure(name, at), None if above is None else row.figure(name, above)) for name in shown]
        quiet = entry is not None and all(change.verdict in QUIET for change in entry.every)
        if (
            not everything
            and above == at - 1
            and quiet
            and all(new == old for new, old in figures)
            and lines[-1].last == above
        ):
            lines[-1] = Line(lines[-1].first, at, lines[-1].cells)
        else:
            lines.append(
                Line(
                    at,
                    at,
                    (
                        *(_cell(name, old, new, kernel) for name, (new, old) in zip(shown, figures, strict=True)),
                        _sites(entry),
                    ),
                )
            )
        above = at
    return lines


def _least(name: str, kernel: Kernel | None) -> str:
    """A lower bound of a sum over the launch, from the sites with known figures; a dash if there is none."""
    interval = {"wavefronts": paid_of, "excess": excess_of}.get(name)
    if interval is None or kernel is None or kernel.launch is None:
        return figure_text(None)
    low = sum(found[0] for site in kernel.sites if (found := interval(site)) is not None)
    return f"≥{figure_text(low)}" if low else figure_text(None)


def _cell(name: str, old: Figure | None, new: Figure | None, kernel: Kernel | None = None) -> str:
    """The figure, marked if it is worse or better than above; a lower bound if it is unknown."""
    if new is None:
        return _least(name, kernel)
    if old is None or old == new:
        return figure_text(new)
    return figure_text(new) + (WORSE if (new > old) is not MEASURES[name].less_is_worse else BETTER)


def _sites(entry: KernelDiff | None) -> str:
    """The verdicts of the sites since the release above."""
    if entry is None or entry.old is None:
        return ""
    counts = Counter(change.verdict for change in entry.every)
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in Verdict if counts[verdict])


def _release(matrix: Matrix, columns: Sequence[int], line: Line) -> str:
    first, last = (matrix.columns[columns[at]].label for at in (line.first, line.last))
    return first if line.first == line.last else f"{first} … {last}"


def _totals(matrix: Matrix) -> Iterator[Table]:
    """The totals over all kernels, a table per architecture."""
    archs = list(dict.fromkeys(column.arch for column in matrix.columns))
    for arch in archs:
        places = [at for at, column in enumerate(matrix.columns) if column.arch == arch and column.report is not None]
        shown = [name for name in SHOWN if any(matrix.total(name, at) is not None for at in places)]
        lines = []
        for before, at in zip([None, *places], places, strict=False):
            cells = [
                _cell(name, None if before is None else matrix.total(name, before), matrix.total(name, at))
                for name in shown
            ]
            lines.append((matrix.columns[at].label, *cells))
        names = tuple(name if MEASURES[name].summed else f"most {name}" for name in shown)
        if shown and lines:
            yield " ".join(filter(None, ("all kernels", arch))), ("release", *names), lines


def _aligned(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells in aligned columns, figures to the right with room for their marks."""
    cells = [columns, *lines]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    marked = [any(line[at].endswith((WORSE, BETTER)) for line in lines) for at in range(len(columns))]
    numeric = [name.removeprefix("most ") in NUMERIC for name in columns]
    for line in cells:
        fields = []
        for at, cell in enumerate(line):
            room = "" if not marked[at] or cell.endswith((WORSE, BETTER)) else "  "
            fields.append((cell + room).rjust(widths[at]) if numeric[at] else cell.ljust(widths[at]))
        yield "  ".join(fields).rstrip()


_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; }
table { border-collapse: collapse; margin: .6em 0 1.6em; }
th, td { text-align: left; padding: .2em .9em .2em 0; border-bottom: 1px solid #8884;
         font-variant-numeric: tabular-nums; }
.bad { color: #c0392b; } .good { color: #1e8449; }
code { font: 13px/1.4 ui-monospace, monospace; }
</style>
</head>
<body>
BODY
</body>
</html>
"""
