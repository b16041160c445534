"""Writes one scored request: as text with the figure, the reasons and the lane-by-bank map, or as a dict for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.text import Text

from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.scoring import Score
from ptxaudit.ui.render.bankmap import DEFAULT_WIDTH, bank_map

SCHEMA = "ptxaudit/score/1"


def request_text(
    score: Score,
    addresses: Sequence[int],
    active: int | None = None,
    sources: Sequence[int] | None = None,
    zero_filled: int = 0,
    width: int | None = None,
) -> Text:
    """The lines that `ptxaudit score` prints. Arguments as for `score_request`."""
    machine, row = machines.get(score.machine), _rows(score, addresses, active, sources, zero_filled)
    text = Text()
    text.append(f"{score.access.opcode} on {score.machine}: ", "bold")
    text.append(
        figure(score), "bold green" if score.excess == 0 else "bold yellow" if score.excess is None else "bold red"
    )
    text.append(f"  ({_evidence(score)})\n")
    for sentence in banks.reasons(machine, score.access, *row):
        text.append(f"  {sentence}\n")
    text.append(f"  rule: {machine.known_rule(score.access).says}\n", "dim")
    if score.note:
        text.append(f"  note: {score.note}\n", "yellow")
    text.append("\n")
    text.append(bank_map(machine, score.access, row[0], _drawn(score, row), width=width or DEFAULT_WIDTH))
    return text


def figure(score: Score) -> str:
    """ "8 wavefronts, ideal 4, excess 4, 2 ways" """
    if score.bounds is None:
        k = "k not exact" if score.line_class_max is None else f"k = {score.line_class_max}"
        return f"{k}, ideal {score.lines_ideal}"
    low, high = score.bounds
    ways = "" if score.ways is None else f", {score.ways} ways" if score.ways > 1 else ""
    if score.wavefronts is None:
        return f"{low} to {high} wavefronts, ideal {score.ideal}{ways}"
    excess = f", excess {score.excess}" if score.excess else ""
    return f"{low} wavefront{'' if low == 1 else 's'}, ideal {score.ideal}{excess}{ways}"


def _evidence(score: Score) -> str:
    if score.evidence == "measured":
        measured = machines.get(score.machine).measurements.requests
        return f"measured, {measured.get(score.access.sass) or measured[score.access.loop]:,} requests"
    return score.evidence


def request_dict(
    score: Score,
    addresses: Sequence[int],
    active: int | None = None,
    sources: Sequence[int] | None = None,
    zero_filled: int = 0,
) -> dict[str, Any]:
    """The JSON of one scored request. Arguments as for `score_request`."""
    machine, row = machines.get(score.machine), _rows(score, addresses, active, sources, zero_filled)
    access = score.access
    return {
        "schema": SCHEMA,
        "opcode": access.opcode,
        "machine": score.machine,
        "access": access.access,
        "width": access.width,
        "sass": access.sass or None,
        "wavefronts": score.wavefronts,
        "bounds": None if score.bounds is None else list(score.bounds),
        "ideal": score.ideal,
        "excess": score.excess,
        "ways": score.ways,
        "line_class_max": score.line_class_max,
        "lines_ideal": score.lines_ideal,
        "evidence": score.evidence,
        "rule": machine.known_rule(access).says,
        "reasons": list(banks.reasons(machine, access, *row)),
        "note": score.note or None,
        "groups": [
            {
                "lanes": list(part.lanes),
                "active": list(part.active),
                "wavefronts": part.wavefronts,
                "slots": [
                    {"slot": slot, "words": [{"address": word, "lanes": list(lanes)} for word, lanes in words.items()]}
                    for slot, words in part.slots.items()
                ],
            }
            for part in banks.groups(machine, access, row[0], _drawn(score, row))
        ],
    }


_Given = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]


def _drawn(score: Score, row: _Given) -> np.ndarray:
    """The active lanes; for cp.async.cg only those that copy, as zero-filling touches no line."""
    _, active, _, zeros = row
    drawn: np.ndarray = active & ~zeros if score.access.bypass and zeros is not None else active
    return drawn


def _rows(
    score: Score, addresses: Sequence[int], active: int | None, sources: Sequence[int] | None, zero_filled: int
) -> _Given:
    """(addresses, active, sources, zero_filled) as arrays with one value per lane."""
    lanes = machines.get(score.machine).lanes

    def bits(mask: int) -> np.ndarray:
        return np.array([bool(mask >> lane & 1) for lane in range(lanes)])

    return (
        np.asarray(addresses, np.int64),
        np.ones(lanes, bool) if active is None else bits(active),
        None if sources is None else np.asarray(sources, np.int64),
        bits(zero_filled) if zero_filled else None,
    )
