"""Draws one request as an SVG picture: a column per bank, a row per wavefront, the lanes served in each cell.

    picture(sm_90, LDS.64, addresses, active)   "<svg …"

Cells of one group of lanes share a colour; a red frame marks lanes that had to wait. The picture shows only what
`banks.groups` computes; the rows of a cp.async.ca with sources are its rounds (`banks.copies`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access, Machine
from ptxaudit.hardware.banks.anatomy import banks_of, lane_text
from ptxaudit.hardware.machine_model import Count, Counted
from ptxaudit.ui.render.bankmap import stacks

CELL, ROW = 24, 20  # pixels
LABEL = 150
HEAD = 38
COLOURS = ("#cfe2ff", "#d9f2d9", "#fff0c2", "#ecd9f7")  # by group of lanes
LATE, INK, FAINT = "#c62828", "#1a1a1a", "#666666"
MOST_LANES_SHOWN = 2


class Cell(Record):
    """The lanes that one slot serves in one row; late: it had to wait for the row before."""

    slot: int
    lanes: tuple[int, ...]
    late: bool


class Row(Record):
    """One wavefront: its label, the number of its group, its cells."""

    label: str
    group: int
    cells: tuple[Cell, ...]


def picture(
    machine: Machine,
    access: Access,
    addresses: Sequence[int] | np.ndarray,
    active: Sequence[bool] | np.ndarray | None = None,
    sources: Sequence[int] | np.ndarray | None = None,
    title: str = "",
) -> str:
    """The SVG of one request. Arguments as for one row of `banks.score`; active: a boolean per lane, None = all.

    Raises InputError where `banks.score` does, and ValueError for cp.async.cg, which has no wavefronts to draw.
    """
    on = np.ones(machine.lanes, bool) if active is None else np.asarray(active, bool)
    count = machine.known_rule(access).count
    if count.what is Counted.LINES:
        raise ValueError(f"{access.opcode} has no wavefronts to draw")
    rows = (
        [*_rounds(count, addresses, on, sources)]
        if sources is not None
        else [*_rows(machine, access, count, addresses, on)]
    )
    wide = LABEL + CELL * machine.banks + 10
    high = HEAD + ROW * len(rows) + 10
    said = title or f"{access.opcode} on {machine.name}"
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
            'role="img" font-family="sans-serif" font-size="11">'
        ),
        f"<title>{escape(said)}</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        _text(8, 14, said, INK, "start", bold=True),
        _text(LABEL - 8, HEAD - 6, "bank", FAINT, "end"),
    ]
    lines += [_text(LABEL + CELL * bank + CELL // 2, HEAD - 6, str(bank), FAINT) for bank in range(machine.banks)]
    for number, row in enumerate(rows):
        lines += _row_lines(machine, count, row, HEAD + ROW * number)
    return "\n".join([*lines, "</svg>", ""])


def _rows(
    machine: Machine, access: Access, count: Count, addresses: Sequence[int] | np.ndarray, active: np.ndarray
) -> Iterator[Row]:
    for number, part in enumerate(banks.groups(machine, access, addresses, active)):
        if not part.active:
            continue
        columns = stacks(count, part)
        shared = (
            {lanes[0]: lanes for words in part.slots.values() for lanes in words.values()}
            if count.what is Counted.WORDS
            else {}
        )
        if count.what is Counted.ONCE:
            yield Row(
                lane_text(part.lanes),
                number,
                tuple(Cell(slot, tuple(lane for lane, _ in stack), False) for slot, stack in columns.items()),
            )
            continue
        for depth in range(max(map(len, columns.values()))):
            cells = tuple(
                Cell(slot, shared.get(stack[depth][0], (stack[depth][0],)), depth > 0)
                for slot, stack in columns.items()
                if depth < len(stack)
            )
            yield Row(lane_text(part.lanes) if depth == 0 else "", number, cells)


def _rounds(
    count: Count, addresses: Sequence[int] | np.ndarray, active: np.ndarray, sources: Sequence[int] | np.ndarray
) -> Iterator[Row]:
    from ptxaudit.hardware.banks.copies import slots
    from ptxaudit.hardware.banks.few import rounds_in_l1

    to, source = (row.tolist() for row in slots(count, np.asarray(addresses, np.int64), np.asarray(sources, np.int64)))
    for group, start in enumerate(range(0, len(to), count.lanes)):
        members = [lane for lane in range(start, start + count.lanes) if active[lane]]
        served = rounds_in_l1([to[lane] for lane in members], [source[lane] for lane in members], count.lanes)
        for turn in range(1, max(served, default=0) + 1):
            cells = tuple(
                Cell(to[lane], (lane,), turn > 1) for lane, its in zip(members, served, strict=True) if its == turn
            )
            yield Row(lane_text(tuple(members)) if turn == 1 else "", group, cells)


def _row_lines(machine: Machine, count: Count, row: Row, top: int) -> Iterator[str]:
    yield _text(LABEL - 8, top + 14, row.label, INK, "end")
    for cell in row.cells:
        covered = banks_of(machine, count, cell.slot)
        x, wide = LABEL + CELL * covered[0], CELL * len(covered)
        yield (
            f'<rect x="{x + 1}" y="{top + 1}" width="{wide - 2}" height="{ROW - 2}"'
            f' fill="{COLOURS[row.group % len(COLOURS)]}" stroke="{LATE if cell.late else FAINT}"'
            f' stroke-width="{1.5 if cell.late else 0.5}"/>'
        )
        yield _text(x + wide // 2, top + 14, _lanes(cell.lanes, len(covered)), INK)


def _lanes(lanes: tuple[int, ...], wide: int) -> str:
    """As many lanes as fit: "5", "4 5", or "4+7" for lane 4 and seven others."""
    if len(lanes) <= (1 if wide == 1 else MOST_LANES_SHOWN):
        return " ".join(map(str, lanes))
    return f"{lanes[0]}+{len(lanes) - 1}"


def _text(x: int, y: int, text: str, colour: str, anchor: str = "middle", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
