"""Draws a request to global or local memory: its 128-byte lines, the four sectors of each, and the lanes in them.

              0–31          32–63         64–95         96–127
    line +0   0–7 32 B      8–15 32 B     16–23 32 B    24–30 28 B
    line +1   31 4 B        ·             ·             ·

A cell names the lanes that touch the sector and the number of its 32 bytes that they use; a dot is a sector that is
not transferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ptxaudit.hardware.memory.rules import LINE, SECTOR, WORD

MOST_LINES = 40
SECTORS = LINE // SECTOR

Cell = tuple[str, int]  # the lanes that touch a sector, and how many of its bytes they use


def sector_map(space: str, width: int, addresses: Sequence[int] | np.ndarray, active: np.ndarray) -> list[str]:
    """The picture as lines of text. addresses: (lanes,) in bytes; width: bytes per lane."""
    lines, count = sector_lines(space, width, addresses, np.flatnonzero(active).tolist())
    rows = [["", *(f"{at * SECTOR}–{at * SECTOR + SECTOR - 1}" for at in range(SECTORS))]]
    rows += [
        [f"line +{line}", *("·" if cell is None else f"{cell[0]} {cell[1]} B" for cell in cells)]
        for line, cells in lines
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(SECTORS + 1)]
    out = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if count > MOST_LINES:
        out.append(f"and {count - MOST_LINES} more lines")
    return out


def sector_lines(
    space: str, width: int, addresses: Sequence[int] | np.ndarray, lanes: Iterable[int]
) -> tuple[list[tuple[int, list[Cell | None]]], int]:
    """([(offset in lines from the first, its four sectors), …], number of lines).

    The list has the first MOST_LINES lines that the lanes touch.
    """
    touched: dict[tuple[int, int], dict[int, set[int]]] = {}
    for lane in lanes:
        for byte in _bytes(space, lane, int(addresses[lane]), width):
            touched.setdefault((byte // LINE, byte % LINE // SECTOR), {}).setdefault(lane, set()).add(byte)
    lines = sorted({line for line, _ in touched})
    first = lines[0] if lines else 0
    shown = [(line - first, [_cell(touched.get((line, at))) for at in range(SECTORS)]) for line in lines[:MOST_LINES]]
    return shown, len(lines)


def _bytes(space: str, lane: int, address: int, width: int) -> Iterable[int]:
    """The locations of a lane's bytes. In local memory, word w of lane l is at 128·w + 4·l."""
    every = range(address, address + width)
    return every if space == "global" else (LINE * (byte // WORD) + WORD * lane + byte % WORD for byte in every)


def _cell(lanes: dict[int, set[int]] | None) -> Cell | None:
    return None if lanes is None else (_ranges(sorted(lanes)), len(set().union(*lanes.values())))


def _ranges(lanes: list[int]) -> str:
    """0, 1, 2, 5 -> "0–2,5"."""
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ",".join(f"{a}–{b}" if a < b else str(a) for a, b in runs)
