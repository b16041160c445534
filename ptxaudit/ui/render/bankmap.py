"""Draws the lane-by-bank map of one request: a column per bank (or slot of banks), a row per wavefront.

    lanes 0-31: 2 wavefronts
    bank   0   1   2   3 …
       1   0!      1!
       2  16!     17!

A cell names the first lane on a word. `+`: more lanes are on the same word; `!`: the lane collides with others in its
bank; `#`: both. Plain text and colour come from one `rich` Text: `.plain` is the map in a pipe, which is also what a
console without a terminal prints.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.text import Text

from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access, Group, Machine
from ptxaudit.hardware.banks.anatomy import banks_of, lane_text
from ptxaudit.hardware.machine_model import Count, Counted

DEFAULT_WIDTH = 140  # 32 banks side by side
COLLIDES, SHARES, BOTH = "!", "+", "#"
STYLES = {COLLIDES: "bold red", SHARES: "cyan", BOTH: "bold red", "": "", "head": "dim", "title": "bold"}
_LEGEND = {
    SHARES: "more lanes on the same word",
    COLLIDES: "collides",
    BOTH: "collides, and more lanes on the same word",
}


def bank_map(
    machine: Machine,
    access: Access,
    addresses: Sequence[int] | np.ndarray,
    active: Sequence[bool] | np.ndarray,
    width: int = DEFAULT_WIDTH,
) -> Text:
    """The map of one request, group by group, without a final newline.

    addresses: of each lane, in bytes; active: a boolean per lane; width: in columns. Raises InputError where
    `banks.score` does.
    """
    parts = banks.groups(machine, access, addresses, active)
    count = machine.known_rule(access).count
    busy = [part for part in parts if part.active]
    if not busy:
        return Text("no lane is active", style=STYLES["head"])
    if count.what is Counted.LINES:
        return _line_map(count, parts)
    used: set[str] = set()
    text = Text()
    at_least = "" if _exact(machine, access, addresses, active) else "at least "
    for part in busy:
        title = f"{lane_text(part.lanes)}: {at_least}{_wavefronts(part)}"
        if len(part.active) < len(part.lanes):
            title += f", {len(part.active)} active"
        text.append(title + "\n", STYLES["title"])
        _append_group(text, machine, count, part, width, used)
    if used - {""}:
        text.append("; ".join(f"{mark} {_LEGEND[mark]}" for mark in _LEGEND if mark in used), STYLES["head"])
    else:
        text.right_crop(1)
    return text


def _exact(
    machine: Machine, access: Access, addresses: Sequence[int] | np.ndarray, active: Sequence[bool] | np.ndarray
) -> bool:
    scores = banks.score(machine, access, np.asarray(addresses, np.int64)[None, :], np.asarray(active, bool)[None, :])
    return bool(scores.low[0] == scores.high[0])


def _wavefronts(part: Group) -> str:
    return "1 wavefront" if part.wavefronts == 1 else f"{part.wavefronts} wavefronts"


def stacks(count: Count, part: Group) -> dict[int, list[tuple[int, str]]]:
    """{slot: [(lane, mark), …]}: the cells of each column of a group, from the top."""
    result = {}
    for slot, words in part.slots.items():
        once = count.what is Counted.WORDS  # lanes on the same word are served together
        alone = count.what is Counted.LANES  # … or even those separately
        cells = [
            (lane, not alone and len(lanes) > 1) for lanes in words.values() for lane in (lanes[:1] if once else lanes)
        ]
        collides = (len(cells) if alone else len(words)) > 1
        result[slot] = [
            (lane, (BOTH if collides else SHARES) if shares else COLLIDES if collides else "") for lane, shares in cells
        ]
    return result


def _append_group(text: Text, machine: Machine, count: Count, part: Group, width: int, used: set[str]) -> None:
    columns = stacks(count, part)
    heads = {slot: _head(machine, count, slot) for slot in range(count.slots)}
    cell = 1 + max(max(map(len, heads.values())), len(str(part.lanes[-1])) + 1)
    label = 6
    fit = max(1, (width - label) // cell)
    if fit < count.slots:
        fit = 1 << fit.bit_length() - 1  # two rows of 16 banks rather than 23 and 9
    for start in range(0, count.slots, fit):
        slots = range(start, min(start + fit, count.slots))
        depth = max((len(columns.get(slot, ())) for slot in slots), default=0)
        if not depth:
            continue
        text.append(f"{'bank':>{label}}", STYLES["head"])
        text.append("".join(f"{heads[slot] + ' ':>{cell}}" for slot in slots).rstrip() + "\n", STYLES["head"])
        for row in range(depth):
            text.append(f"{row + 1:>{label}}", STYLES["head"])
            gap = ""
            for slot in slots:
                stack = columns.get(slot, ())
                if row >= len(stack):
                    gap += " " * cell
                    continue
                lane, mark = stack[row]
                used.add(mark)
                text.append(gap)
                text.append(f"{lane:>{cell - 1}}{mark}", STYLES[mark])
                gap = "" if mark else " "
            text.append("\n")


def _head(machine: Machine, count: Count, slot: int) -> str:
    covered = banks_of(machine, count, slot)
    return str(covered[0]) if len(covered) == 1 else f"{covered[0]}-{covered[-1]}"


def _line_map(count: Count, parts: tuple[Group, ...]) -> Text:
    """cp.async.cg: the groups of lanes that write each destination line, by line class."""
    columns = [
        [f"{lane_text(part.lanes).split()[1]}>{line:#x}" for part in parts for line in part.slots.get(c, ())]
        for c in range(count.slots)
    ]
    k = max(map(len, columns))
    cell = 2 + max((len(entry) for column in columns for entry in column), default=0)
    text = Text(
        f"lanes > {count.row}-byte destination line, by line mod {count.slots}: k = {k}\n", style=STYLES["title"]
    )
    text.append(("class".rjust(6) + "".join(f"{c:>{cell}}" for c in range(count.slots))) + "\n", STYLES["head"])
    for row in range(k):
        text.append(f"{row + 1:>6}", STYLES["head"])
        line = "".join(f"{column[row] if row < len(column) else '':>{cell}}" for column in columns)
        text.append(line.rstrip() + "\n", STYLES[COLLIDES] if row else "")
    text.right_crop(1)
    return text
