"""Writes how well a GPU's counters agree with the rules: a table by instruction, then the requests that disagree."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ptxaudit.hardware.calibration import Agreement, Measurement

SCHEMA = "ptxaudit/calibration/1"


def agreements_view(measurement: Measurement, agreements: list[Agreement], shown: int) -> RenderableType:
    """The table of one data file."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("instruction", no_wrap=True)
    table.add_column("situation", ratio=1)
    for heading in ("requests", "exact", "in range", "no figure", "wrong"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in agreements:
        style = "red" if one.wrong else "green" if one.exact == one.requests else ""
        table.add_row(
            one.opcode,
            one.situation,
            str(one.requests),
            Text(f"{one.exact} of {one.requests}", style),
            str(one.held or ""),
            str(one.unscored or ""),
            Text(str(len(one.wrong) or ""), "red"),
        )
    rows: list[RenderableType] = [
        Text(f"{measurement.file}: {measurement.device}, driver {measurement.driver}, {measurement.profiler}", "bold"),
        Text(f"rules of {measurement.machine.name}"),
        table,
        Text(summary(agreements), "bold red" if any(a.wrong for a in agreements) else "bold"),
    ]
    for one in agreements:
        for wrong in one.wrong[:shown]:
            expected = str(wrong.low) if wrong.low == wrong.high else f"{wrong.low} to {wrong.high}"
            rows.append(
                Text(
                    f"{one.opcode}: request {wrong.place} was counted as {wrong.counted}, the rules say {expected}",
                    "red",
                )
            )
    return Group(*rows, Text())


def summary(agreements: list[Agreement]) -> str:
    """ "2,462 requests: 2,462 exact" """
    total = sum(a.requests for a in agreements)
    parts = [
        (sum(a.exact for a in agreements), "exact"),
        (sum(a.held for a in agreements), "in a range that holds"),
        (sum(a.unscored for a in agreements), "without a figure"),
        (sum(len(a.wrong) for a in agreements), "wrong"),
    ]
    return f"{total:,} requests: " + ", ".join(f"{n:,} {what}" for n, what in parts if n)


def agreements_dict(agreed: list[tuple[Measurement, list[Agreement]]]) -> dict[str, Any]:
    """Several data files as JSON."""
    return {
        "schema": SCHEMA,
        "files": [
            {
                "file": m.file,
                "device": m.device,
                "driver": m.driver,
                "profiler": m.profiler,
                "machine": m.machine.name,
                "instructions": [
                    {
                        "opcode": a.opcode,
                        "situation": a.situation or None,
                        "requests": a.requests,
                        "exact": a.exact,
                        "in_range": a.held,
                        "no_figure": a.unscored,
                        "wrong": [
                            {"request": w.place, "counted": w.counted, "low": w.low, "high": w.high} for w in a.wrong
                        ],
                        "rule": a.rule,
                    }
                    for a in agreements
                ],
            }
            for m, agreements in agreed
        ],
    }
